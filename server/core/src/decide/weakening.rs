//! Weakenings: what the agent made easier than it was at the pinned start. While one is open the loop is never done;
//! it is reported to the next iteration, and lifted when it is restored or when the user accepts it. The
//! user's own edits move the pin. What counts as weaker is decided in [`crate::tamper`].

use std::collections::{BTreeMap, BTreeSet};

use crate::check::{CheckResult, Status, TestCounts, counts};
use crate::journal::{ChangeStats, PauseReason, Record, Round, SnapshotWhen, Weakening};
use crate::loop_state::{
    LoopState, PartialRollback, SnapshotFacts, SnapshotRef, VolatileState, WeakeningState,
};
use crate::tamper::{ProtectionRules, WeakeningFinding};
use loopkeeper_task::criterion::{Check, CriterionId};
use loopkeeper_text::clauses::{join_clauses, join_with_commas};
use loopkeeper_text::message::Message;
use loopkeeper_text::moment::Moment;
use loopkeeper_text::tr;
use loopkeeper_text::words::counted;

use super::{Decision, Effect, RefusalReason, exit, undo};

/// Maximum number of edited paths that are listed.
const MAX_PATHS: usize = 200;

/// The comparison that the keeper makes when it takes a snapshot.
#[derive(Debug, Clone)]
pub struct WeakeningScan {
    pub watch: ProtectionRules,
    pub start: String,
    pub pins: BTreeMap<String, String>,
    /// The tree after the last iteration and its checks.
    pub last_tree: String,
    pub partial_rollbacks: Vec<PartialRollback>,
    /// What the task says, as far as the loop knows it: a file that it mentions is the work.
    pub task: String,
}

impl WeakeningScan {
    /// The tree that holds the version of `path` that counts.
    pub fn version_of(&self, path: &str) -> &str {
        self.pins.get(path).unwrap_or(&self.start)
    }

    /// The tree that holds the version of `path` from which an edit of the user differs.
    pub fn last_version_of(&self, path: &str) -> &str {
        let last = self.partial_rollbacks.iter().rev().find(|it| is_at_or_below(path, &it.path));
        last.map_or(&self.last_tree, |it| &it.tree)
    }
}

/// `None` before there is anything to compare with.
pub fn inspection(state: &LoopState) -> Option<WeakeningScan> {
    let start = start_tree(state)?;
    let criteria: Vec<_> = state.criteria.pinned.iter().map(|it| &it.criterion).collect();
    let judge = state.spec.judge.as_ref().map_or(&[][..], |it| it.argv.as_slice());
    Some(WeakeningScan {
        watch: ProtectionRules::new(&criteria, &state.spec.settings.protected, &state.tree.artefacts)
            .allowing(&state.spec.settings.may_change)
            .judged_by(judge, &state.spec.root),
        start: start.to_owned(),
        pins: state.weakening.pins.clone(),
        last_tree: state.weakening.last_tree.clone(),
        partial_rollbacks: state.weakening.partial_rollbacks.clone(),
        task: text_of_task(state),
    })
}

fn text_of_task(state: &LoopState) -> String {
    let spec = &state.spec;
    let prompt = spec.inline_prompt.as_deref().unwrap_or_default();
    let criteria = state.criteria.pinned.iter().map(|it| it.criterion.name.as_str());
    let plan = spec.plan.iter().map(|it| it.title.as_str());
    [spec.title.as_str(), prompt].into_iter().chain(criteria).chain(plan).collect::<Vec<_>>().join("\n")
}

/// The tree that files are compared with unless they are pinned to a later one.
fn start_tree(state: &LoopState) -> Option<&str> {
    let start = &state.weakening.start;
    if start.is_empty() { state.tree_after(0) } else { Some(start) }
}

/// The open weakenings.
pub fn current_weakenings(state: &LoopState) -> impl Iterator<Item = &Weakening> {
    let fewer = |it: &Weakening| {
        let result = it.criterion.as_ref().and_then(|id| state.criteria.results.get(id));
        result.is_some_and(|result| decreased_test_count(state, result).is_some())
    };
    state.weakening.weakened.iter().filter(move |it| !it.path.is_empty() || fewer(it))
}

/// Weakenings that are still to be reported: restored files are judged by the next scan of the tree.
pub fn unreported(state: &LoopState) -> impl Iterator<Item = &Weakening> {
    current_weakenings(state).filter(|it| !state.weakening.restored.contains(&it.path))
}

/// Whether the file is compared with its version at the start, because the user has not edited it since.
pub fn is_of_start(state: &LoopState, weakening: &Weakening) -> bool {
    let protection = &state.weakening;
    !weakening.path.is_empty()
        && protection.start.is_empty()
        && !protection.pins.contains_key(&weakening.path)
}

pub fn has_unresolved(state: &LoopState) -> bool {
    current_weakenings(state).next().is_some()
}

/// The weakenings after an iteration, each with the iteration that introduced it.
pub(super) fn weakenings_after(
    state: &LoopState,
    live: &VolatileState,
    round: Option<&Round>,
) -> Vec<Weakening> {
    let since = |same: &dyn Fn(&&Weakening) -> bool| {
        state.weakening.weakened.iter().find(same).map_or(state.iteration, |it| it.since)
    };
    let of_file = |it: &WeakeningFinding| Weakening {
        path: it.path.clone(),
        what: it.what.clone(),
        criterion: it.criterion.clone(),
        since: since(&|old| old.path == it.path),
        by_verdict: false,
    };
    // A weakening that a final verdict found stays open until the agent edits the file, or another verdict exists.
    let judged = state
        .weakening
        .weakened
        .iter()
        .filter(|it| it.by_verdict && !live.after_agent.snapshot.changed.contains(&it.path));
    let mut all: Vec<Weakening> = judged.cloned().collect();
    let of_files = live
        .after_agent
        .snapshot
        .weakened
        .iter()
        .filter(|it| all.iter().all(|judged| judged.path != it.path));
    let of_files: Vec<_> = of_files.map(of_file).collect();
    all.extend(of_files);
    let Some(round) = round else {
        all.extend(state.weakening.weakened.iter().filter(|it| it.path.is_empty()).cloned());
        return all;
    };
    if !all.is_empty() {
        // A file explains why fewer tests run.
        return all;
    }
    if allows_any(state, &live.after_agent.snapshot.changed) {
        return all;
    }
    for result in &round.results {
        let Some((ran, before)) = decreased_test_count(state, result) else { continue };
        let name = state.criteria.pinned.iter().find(|it| it.criterion.id == result.criterion);
        let name = name.map_or(tr!("a check"), |it| it.criterion.name.as_str());
        let tests = counted(ran, "test");
        all.push(Weakening {
            path: String::new(),
            what: tr!("{name} runs {tests}, {before} at the start", name, tests, before),
            criterion: Some(result.criterion.clone()),
            since: since(&|old| old.path.is_empty() && old.criterion.as_ref() == Some(&result.criterion)),
            by_verdict: false,
        });
    }
    all
}

/// A check that passes with fewer tests than it ran before the first iteration.
pub(super) fn decreased_test_count(state: &LoopState, result: &CheckResult) -> Option<(u64, u64)> {
    let before = *state.weakening.tests.get(&result.criterion)?;
    if state.weakening.changed_allowed_files {
        return None;
    }
    let ran = match result.tests {
        Some(tests) => tests.ran(),
        None if always_prints_counts(state, &result.criterion) => 0,
        None => return None,
    };
    (result.status == Status::Pass && ran < before).then_some((ran, before))
}

/// An iteration has ended. If it changed what the task allows to change, fewer tests may be what the task orders. A change
/// of more files than its record names counts as one.
pub(super) fn record_allowed_changes(state: &mut LoopState, changes: &ChangeStats) {
    let may_change = !state.spec.settings.may_change.is_empty();
    state.weakening.changed_allowed_files |=
        may_change && (changes.count > changes.files.len() as u64 || allows_any(state, &changes.files));
}

/// Whether the task allows one of the files to change.
fn allows_any(state: &LoopState, paths: &[String]) -> bool {
    let globs = &state.spec.settings.may_change;
    let rules = ProtectionRules::new(&[], &[], &BTreeSet::new()).allowing(globs);
    paths.iter().any(|it| rules.is_allowed(it))
}

fn always_prints_counts(state: &LoopState, id: &CriterionId) -> bool {
    let pinned = state.criteria.pinned.iter().find(|it| it.criterion.id == *id);
    let check = pinned.and_then(|it| it.criterion.check.as_ref());
    matches!(check, Some(Check::Command { command, .. }) if counts::always_prints_counts(command))
}

/// For the summary of an iteration.
pub(super) fn summary_clause(weakened: &[Weakening]) -> Option<String> {
    not_done_clause(weakened.iter())
}

/// For the sentence of a limit: without it, a loop whose checks pass would seem to be done.
pub(super) fn limit_clause(state: &LoopState) -> Option<String> {
    not_done_clause(current_weakenings(state))
}

fn not_done_clause<'a>(weakened: impl Iterator<Item = &'a Weakening>) -> Option<String> {
    let mut weakened = weakened.peekable();
    weakened.peek()?;
    Some(tr!("not counted as done: {weakened}", weakened = describe_weakenings(weakened)))
}

fn describe_weakenings<'a>(weakened: impl Iterator<Item = &'a Weakening>) -> String {
    let all: Vec<&str> = weakened.map(|it| it.what.as_str()).collect();
    let shown = join_clauses(all.get(..3).unwrap_or(&all));
    match all.len().saturating_sub(3) {
        0 => shown,
        more => tr!("{clauses}; and {more} more", clauses = shown, more),
    }
}

/// Everything else is done, and a whole iteration that was informed of the weakening did not resolve it: further ones
/// would only cost.
pub(super) fn needs_user(state: &LoopState, now: Moment) -> Option<Message> {
    if !worked_with_weakening(state) || exit::completed(state, now).is_none() {
        return None;
    }
    let id = &state.spec.loop_id;
    let restore = restore_hints(state);
    let accept = state.spec.attended.then(|| tr!("`loopkeeper accept {id}` accepts it as it is", id));
    let ways: Vec<String> = restore.into_iter().chain(accept).chain(permission_hint(state)).collect();
    let weakened = describe_weakenings(current_weakenings(state));
    let message = Message::new(tr!("every check passes, but {weakened}: not counted as done", weakened));
    Some(if ways.is_empty() { message } else { message.with_hint(join_with_commas(&ways)) })
}

/// The commands that restore the files to the start of the loop that changed them.
fn restore_hints(state: &LoopState) -> Vec<String> {
    let mut by_loop: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for weakened in current_weakenings(state).filter(|it| !it.path.is_empty()) {
        let inherited = state.spec.unaccepted.iter().find(|it| {
            it.path == weakened.path && state.weakening.pins.get(&it.path).is_some_and(|pin| *pin == it.tree)
        });
        let loop_id = inherited.map_or(state.spec.loop_id.as_str(), |it| it.loop_id.as_str());
        by_loop.entry(loop_id).or_default().insert(&weakened.path);
    }
    let command = |(id, paths): (&str, BTreeSet<&str>)| {
        let paths: Vec<&str> = paths.into_iter().take(3).collect();
        tr!("`loopkeeper rollback {id} 0 {paths}` restores it", id, paths = paths.join(" "))
    };
    by_loop.into_iter().map(command).collect()
}

/// The files that a task can allow to change: those of the work tree, except for installed packages.
fn permission_hint(state: &LoopState) -> Option<String> {
    let is_package = |it: &&Weakening| it.by_verdict && it.criterion.is_none();
    let is_inside = |it: &&Weakening| !it.path.is_empty() && !it.path.starts_with(['/', '~']);
    let files = current_weakenings(state).filter(|it| is_inside(it) && !is_package(it));
    let paths: BTreeSet<&str> = files.map(|it| it.path.as_str()).collect();
    let paths: Vec<&str> = paths.into_iter().take(3).collect();
    let allows = || tr!("a task that lists {paths} under `May change` allows it", paths = paths.join(", "));
    (!paths.is_empty()).then(allows)
}

/// Whether the loop is paused because of weakenings, and some are still to be reported.
pub fn is_blocking(state: &LoopState) -> bool {
    is_paused_for_weakening(state) && unreported(state).next().is_some()
}

fn is_paused_for_weakening(state: &LoopState) -> bool {
    state.pause.as_ref().is_some_and(|it| it.reason == PauseReason::Agent) && worked_with_weakening(state)
}

/// Whether a whole iteration was informed of a weakening since the user last resumed the loop.
fn worked_with_weakening(state: &LoopState) -> bool {
    let last = state.last_iteration().filter(|it| !it.is_provider_failure());
    last.is_some_and(|last| {
        last.number > state.weakening.resumed && current_weakenings(state).any(|it| it.since < last.number)
    })
}

/// The user accepts the current weakenings.
pub(super) fn accept(state: &LoopState, by: Option<String>) -> Vec<Decision> {
    let after = |it: &SnapshotRef<'_>| it.when == SnapshotWhen::After;
    let tree = state.tree.snapshots.iter().rev().find(after).map(|it| it.tree.to_owned());
    let (Some(tree), true) = (tree, unreported(state).next().is_some()) else {
        let message = tr!("nothing is weakened: there is nothing to accept").into();
        return vec![Decision::Effect(Effect::Refuse { code: RefusalReason::Conflict, message })];
    };
    let of_path = |it: &Weakening| (!it.path.is_empty()).then(|| it.path.clone());
    let of_check = |it: &CheckResult| decreased_test_count(state, it).map(|_| it.criterion.clone());
    let record = Record::WeakeningAccepted {
        paths: unreported(state).filter_map(of_path).collect(),
        criteria: state.criteria.results.values().filter_map(of_check).collect(),
        tree,
        by,
    };
    let resumed = is_paused_for_weakening(state).then_some(Decision::Record(Record::Resumed {}));
    [Decision::Record(record)]
        .into_iter()
        .chain(resumed)
        .chain([Decision::Effect(Effect::Continue)])
        .collect()
}

/// Files that the user changed between two iterations are compared with the edited version from then on.
pub(super) fn user_edit_step(state: &LoopState, snapshot: &SnapshotFacts) -> Option<Decision> {
    if snapshot.edited.is_empty() || undo::is_interrupted(state) {
        return None;
    }
    let all = snapshot.edited.len() > MAX_PATHS;
    let paths = if all { Vec::new() } else { snapshot.edited.clone() };
    Some(Decision::Record(Record::ProtectedEdited { paths, all, tree: snapshot.tree.clone() }))
}

/// The user edited these protected files; `None`: too many to name them. They are compared with `tree`.
fn apply_user_edit(state: &mut LoopState, paths: Option<&Vec<String>>, tree: &str) {
    let protection = &mut state.weakening;
    let Some(paths) = paths else {
        // The baseline of the judges has changed.
        protection.verdict = None;
        protection.weakened.retain(|it| it.path.is_empty());
        protection.pins.clear();
        tree.clone_into(&mut protection.start);
        return;
    };
    pin_paths(protection, paths, tree);
}

pub(super) fn apply_record(state: &mut LoopState, record: &Record) {
    if let Record::WeakeningAccepted { paths, criteria, tree, .. } = record {
        apply_acceptance(state, paths, criteria, tree);
    } else if let Record::ProtectedEdited { paths, all, tree } = record {
        apply_user_edit(state, (!all).then_some(paths), tree);
    }
}

/// The user accepted these files and the test counts of these checks.
fn apply_acceptance(state: &mut LoopState, paths: &[String], criteria: &[CriterionId], tree: &str) {
    pin_paths(&mut state.weakening, paths, tree);
    state.weakening.accepted.extend(paths.iter().cloned());
    for id in criteria {
        if let Some(result) = state.criteria.results.get(id) {
            state.weakening.tests.insert(id.clone(), result.tests.map_or(0, TestCounts::ran));
        }
    }
    state.weakening.weakened.retain(|it| !it.path.is_empty());
}

/// These files are compared with `tree`, so an earlier verdict is void.
fn pin_paths(protection: &mut WeakeningState, paths: &[String], tree: &str) {
    protection.verdict = None;
    protection.weakened.retain(|it| !paths.contains(&it.path));
    protection.pins.extend(paths.iter().map(|it| (it.clone(), tree.to_owned())));
}

/// The weakened files that equal their baseline in `tree`, or were not weakened yet.
pub fn restored_files(state: &LoopState, tree: &str, paths: &[String], refused: &[String]) -> Vec<String> {
    let baseline_of = |path: &str| state.weakening.pins.get(path).map(String::as_str).or(start_tree(state));
    let is_restored = |it: &&Weakening| {
        is_among(&it.path, paths)
            && (baseline_of(&it.path) == Some(tree) || is_before(state, it, tree))
            && (refused.is_empty() || !is_among(&it.path, refused))
    };
    let weakened = state.weakening.weakened.iter().filter(|it| !it.path.is_empty());
    weakened.filter(is_restored).map(|it| it.path.clone()).collect()
}

/// Whether the tree is the one right before the iteration that weakened the file. A final verdict may find a weakening
/// long after it was made.
fn is_before(state: &LoopState, weakening: &Weakening, tree: &str) -> bool {
    let since = weakening.since;
    let before = state.tree_at(since, SnapshotWhen::Before);
    let earlier = since.checked_sub(1).and_then(|it| state.tree_after(it));
    !weakening.by_verdict && is_of_start(state, weakening) && [before, earlier].contains(&Some(tree))
}

/// Files that were rolled back to another tree than their baseline are weakened again. A rollback is not an edit of the
/// user: it puts back what the loop itself left.
pub(super) fn rolled_back(
    state: &mut LoopState,
    (paths, restored): (&[String], &[String]),
    (from, after): (&str, &str),
) {
    if paths.is_empty() || from == state.weakening.last_tree {
        state.weakening.set_last_tree(after);
    } else {
        state.weakening.add_partial_rollbacks(paths, after);
    }
    state.weakening.restored.retain(|it| !is_among(it, paths));
    state.weakening.restored.extend(restored.iter().cloned());
}

/// Whether the path is one of those named or below one; true if none is named.
fn is_among(path: &str, named: &[String]) -> bool {
    named.is_empty() || named.iter().any(|it| is_at_or_below(path, it))
}

fn is_at_or_below(path: &str, named: &str) -> bool {
    let rest = path.strip_prefix(named.trim_end_matches('/'));
    rest.is_some_and(|it| it.is_empty() || it.starts_with('/'))
}

/// Called before the results of a round are stored. If a round between iterations runs fewer tests than the one before,
/// and the user changed files, the user removed them.
pub(super) fn record_removed_tests(state: &mut LoopState, iteration: Option<u32>, round: &Round) {
    let is_edited = round.tree_before != state.weakening.last_tree;
    let last = state.tree.snapshots.last();
    let is_recorded = last.is_some_and(|it| it.when == SnapshotWhen::Before && it.tree == round.tree_before);
    // Files that checks write are not edits of the user. Edits up to the snapshot before an iteration are recorded.
    if iteration.is_some() || !is_edited || is_recorded {
        state.weakening.set_last_tree(&round.tree_after);
    }
    let is_by_user = is_edited && !undo::is_interrupted(state);
    if iteration.is_none() && is_by_user && round.tree_before != state.tree.judged {
        for result in &round.results {
            let ran = |it: &CheckResult| it.tests.map(TestCounts::ran);
            let before = state.criteria.results.get(&result.criterion).and_then(ran);
            let (Some(before), Some(now)) = (before, ran(result)) else { continue };
            if let Some(tests) = state.weakening.tests.get_mut(&result.criterion) {
                // Tests beyond the expected ones were added by the agent.
                *tests -= before.min(*tests).saturating_sub(now);
            }
        }
    }
}

/// Files that a rollback restored to their baseline are no longer weakened once a round between iterations has run on
/// them.
pub(super) fn resolve_restored(state: &mut LoopState, iteration: Option<u32>) {
    if iteration.is_none() {
        let restored = std::mem::take(&mut state.weakening.restored);
        state.weakening.weakened.retain(|it| !restored.contains(&it.path));
    }
}

/// The first round that counts the tests of a check sets the expected number.
pub(super) fn record_first_counts(state: &mut LoopState, iteration: u32, round: &Round) {
    if iteration == 0 {
        state.weakening.set_last_tree(&round.tree_after);
    }
    for result in &round.results {
        if let Some(tests) = result.tests {
            state.weakening.tests.entry(result.criterion.clone()).or_insert(tests.ran());
        }
    }
}
