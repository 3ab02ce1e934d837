//! Facts of the project that select a breaker preset: size and typical iteration time. Facts that are expensive to
//! obtain are left out.

use std::fs;
use std::path::Path;

use loopkeeper_core::settings::preset::ProjectFacts;

use super::follow::LoopTailer;
use super::resolved_task::ResolvedTask;
use loopkeeper_system::git;
use loopkeeper_system::state_dir::workspace::Workspace;

/// A longer journal is not read for this.
const MAX_JOURNAL_BYTES: u64 = 1024 * 1024;

/// The facts about the project that are available without waiting.
pub fn project(workspace: Option<&Workspace>, work: &ResolvedTask) -> ProjectFacts {
    let tracked = git::count_tracked(&work.root);
    let share = |tests: u64, files: u64| (tests * 100).checked_div(files);
    let project = ProjectFacts {
        files: tracked.map(|it| it.files),
        tests: tracked.and_then(|it| share(it.tests, it.files)),
        iteration_ms: workspace.and_then(usual_length),
        ..ProjectFacts::default()
    };
    project.with_task(&work.task.title, &work.task.criteria)
}

/// The median over the iterations of the last loop.
fn usual_length(workspace: &Workspace) -> Option<u64> {
    let journal = workspace.loops().ok()?.pop()?.journal();
    usual_length_in(&journal)
}

fn usual_length_in(journal: &Path) -> Option<u64> {
    fs::metadata(journal).ok().filter(|it| it.len() <= MAX_JOURNAL_BYTES)?;
    let mut following = LoopTailer::new(journal);
    following.advance().ok()?;
    let mut lengths: Vec<u64> =
        following.state()?.history.outlines().map(|it| it.figures.duration_ms).collect();
    lengths.sort_unstable();
    lengths.get(lengths.len() / 2).copied()
}
