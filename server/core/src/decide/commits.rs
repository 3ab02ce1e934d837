//! `git.commit = "server"`: one commit per iteration, of its changes that no commit contains yet. It is made when none
//! of them can be rolled back any more, and recorded afterwards. After a takeover the commit is requested again and
//! found by its mark.

use crate::check::Status;
use crate::journal::Record;
use crate::loop_state::{LoopState, SnapshotRange, StopMode, VolatileState};
use crate::settings::CommitPolicy;
use loopkeeper_task::PlanItem;
use loopkeeper_task::criterion::Check;
use loopkeeper_text::clauses::and_more;
use loopkeeper_text::sanitize;
use loopkeeper_text::tr;

use super::next_step::NextStep;
use super::{CommitOutcome, Decision, Effect, checkpoint, regression};

/// Maximum length of a subject; most tools cut longer ones.
const SUBJECT_CHARS: usize = 72;

/// The commit to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitPlan {
    pub iteration: u32,
    /// The target branch; `None`: whichever is checked out.
    pub branch: Option<String>,
    pub spans: Vec<SnapshotRange>,
    pub subject: String,
    pub body: String,
    /// The trailer that identifies the commit.
    pub mark: String,
}

/// The commit of the last iteration, if it is due. No other decision is made before it is finished.
pub(super) fn next(state: &LoopState, live: &VolatileState) -> Option<NextStep> {
    if live.work.is_committing {
        return Some(NextStep::nothing());
    }
    let pending = &state.git.uncommitted;
    if !makes_commits(state) || pending.spans.is_empty() || pending.tried >= state.iteration {
        return None;
    }
    if regression::is_pending(state, live) {
        return None;
    }
    Some(NextStep::commit(Effect::Commit(Box::new(plan_commit(state)))))
}

/// The commit was made or failed: the loop continues either way.
pub(super) fn handle_committed(
    state: &LoopState,
    live: &mut VolatileState,
    made: CommitOutcome,
) -> Vec<Decision> {
    live.work.is_committing = false;
    let CommitOutcome { iteration, commit, subject, note } = made;
    let is_made = commit.is_some();
    let record = Decision::Record(Record::Committed { iteration, commit, subject, note });
    let can_judge = state.is_between_iterations() && state.stop != Some(StopMode::Now);
    if is_made && can_judge && live.work.rollback().is_none() && has_failing_clean_check(state) {
        return [vec![record], NextStep::round_once(state, live).take(live)].concat();
    }
    vec![record, Decision::Effect(Effect::Continue)]
}

/// A `clean` check fails because of files that no commit contains yet.
fn has_failing_clean_check(state: &LoopState) -> bool {
    let mut clean =
        state.criteria.pinned.iter().filter(|it| matches!(it.criterion.check, Some(Check::Clean)));
    clean.any(|it| state.status_of(&it.criterion.id) != Some(Status::Pass))
}

/// Adds the changes of a finished iteration.
pub(super) fn add_iteration_changes(state: &mut LoopState) {
    let (before, after) = (state.tree_before(), state.tree_after(state.iteration));
    if let (Some(before), Some(after)) = (before.map(str::to_owned), after.map(str::to_owned))
        && makes_commits(state)
    {
        state.git.uncommitted.add(&before, &after);
    }
}

/// Files were rolled back: the next commit must revert those that were already committed.
pub(super) fn rolled_back(state: &mut LoopState, from: &str, to: &str) {
    if makes_commits(state) {
        state.git.uncommitted.add(from, to);
    }
}

pub(super) fn apply_commit_record(state: &mut LoopState, record: &Record) {
    let Record::Committed { iteration, subject, note, commit } = record else { return };
    state.git.uncommitted.tried = state.git.uncommitted.tried.max(*iteration);
    state.git.uncommitted.note.clone_from(note);
    if commit.is_some() || note.is_none() {
        state.git.uncommitted.spans.clear();
    }
    state.history.edit(*iteration, |row| {
        row.commits.extend(subject.clone());
        row.commit.clone_from(commit);
    });
}

fn makes_commits(state: &LoopState) -> bool {
    state.spec.settings.git.commit == CommitPolicy::Server
}

fn plan_commit(state: &LoopState) -> CommitPlan {
    let sentence = state.last_iteration().map(|it| sanitize::line(&it.sentence)).unwrap_or_default();
    CommitPlan {
        iteration: state.iteration,
        branch: state.git.branch.home.clone(),
        spans: state.git.uncommitted.spans.clone(),
        subject: sanitize::line_within(&subject(state), SUBJECT_CHARS),
        body: tr!("Iteration {number}: {sentence}.", number = state.iteration, sentence),
        mark: format!("Ralph-Iteration: {}/{}", state.spec.loop_id, state.iteration),
    }
}

/// `feat: [ID] - [Title]`, of the plan item that was done, otherwise of the criterion that turned.
fn subject(state: &LoopState) -> String {
    let done = checkpoint::newly_done(state);
    if let Some(first) = done.first() {
        return format!("feat: {}", and_more(item_title(first), done.len() - 1));
    }
    let turned: Vec<&str> = newly_passing(state).collect();
    match turned.first() {
        Some(first) => format!("feat: {}", and_more((*first).to_owned(), turned.len() - 1)),
        None => {
            tr!("ralph: iteration {number} of {task}", number = state.iteration, task = state.spec.task.0)
        }
    }
}

/// The id of a checkbox item is not meaningful to users.
fn item_title(item: &PlanItem) -> String {
    if item.place.file.rsplit_once('.').is_some_and(|(_, end)| end == "json") {
        format!("{} - {}", item.id, item.title)
    } else {
        item.title.clone()
    }
}

fn newly_passing(state: &LoopState) -> impl Iterator<Item = &str> {
    let results = state.last_iteration().map(|it| it.row.as_slice()).unwrap_or_default();
    let passes = |id: &_| results.iter().any(|(of, status)| of == id && *status == Status::Pass);
    let criteria = state.criteria.pinned.iter().map(|it| &it.criterion);
    let turned = criteria.filter(move |it| passes(&it.id) && !state.criteria.passing_before.contains(&it.id));
    turned.map(|it| it.name.as_str())
}
