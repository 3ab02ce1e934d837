//! Computes the changes of an iteration, without the files that the checks write.

use std::collections::BTreeSet;

use crate::drift::MAX_FILES;
use crate::journal::{ChangeStats, LineStats};
use crate::loop_state::{LoopState, VolatileState};

const MAX_NAMED_FILES: usize = 20;

/// Changed files, and artefacts that the agent edited by hand: those count as work from now on.
pub(super) struct WorkDelta {
    pub(super) changes: ChangeStats,
    pub(super) edited_artefacts: Vec<String>,
    /// The first [`MAX_FILES`] changed files.
    pub(super) paths: Vec<String>,
}

/// `wrote`: files written by the checks after the agent. An artefact that changed during the run and was not written
/// again by the checks is the agent's own edit.
pub(super) fn work_of_iteration(state: &LoopState, live: &VolatileState, wrote: &[String]) -> WorkDelta {
    let wrote: BTreeSet<&str> = wrote.iter().map(String::as_str).collect();
    let (artefacts, files): (Vec<&String>, Vec<&String>) =
        live.after_agent.snapshot.changed.iter().partition(|it| state.tree.artefacts.contains(*it));
    let edited: Vec<String> =
        artefacts.into_iter().filter(|it| !wrote.contains(it.as_str())).cloned().collect();
    let work: Vec<&String> = files.into_iter().chain(&edited).collect();
    let named = work.iter().copied().take(MAX_NAMED_FILES);
    let lines_of = |path: &String| {
        live.after_agent.snapshot.lines.as_ref().and_then(|it| it.get(path)).copied().unwrap_or_default()
    };
    let counted = live.after_agent.snapshot.lines.is_some() && !work.is_empty();
    WorkDelta {
        changes: ChangeStats {
            count: work.len() as u64,
            files: named.clone().cloned().collect(),
            committed: has_new_commit(state, live),
            lines: counted.then(|| work.iter().fold(LineStats::default(), |sum, it| sum + lines_of(it))),
            autorun: live.after_agent.snapshot.autorun.iter().take(MAX_NAMED_FILES).cloned().collect(),
            strays: Vec::new(),
            per_file: if counted { named.map(lines_of).collect() } else { Vec::new() },
        },
        paths: work.iter().copied().take(MAX_FILES).cloned().collect(),
        edited_artefacts: edited,
    }
}

/// An empty or an amended commit has the same tree: no progress.
fn has_new_commit(state: &LoopState, live: &VolatileState) -> bool {
    match (&state.git.head_before, &live.after_agent.snapshot.head) {
        (Some(before), Some(after)) => before.commit != after.commit && before.tree != after.tree,
        (None, Some(_)) => true,
        (_, None) => false,
    }
}

/// Paths that checks wrote although they are no artefacts: the round did not judge a single tree.
pub(super) fn unexpected_writes<'a>(state: &LoopState, wrote: &'a [String]) -> Vec<&'a String> {
    wrote.iter().filter(|it| !state.tree.artefacts.contains(*it)).collect()
}
