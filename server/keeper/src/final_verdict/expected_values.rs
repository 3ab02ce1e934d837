//! Runs goals on tests that expect other values. A goal that still passes does not depend on its tests: the work compares
//! equal to everything, reads its tests, ends their run, or patches what runs them.
//!
//! Most goals take one run, in which as many tests fail as were changed. Otherwise further runs find tests whose other
//! values nothing noticed. An assertion that is not reached, or a file that the goal does not run, is no fault: it counts
//! only if a plain failure in its place, or an error of syntax, makes the goal fail.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use loopkeeper_core::check::{CheckResult, Status};
use loopkeeper_core::decide::weakening::WeakeningScan;
use loopkeeper_core::journal::Round;
use loopkeeper_core::mutants::MutatedValuesRun;
use loopkeeper_core::settings::MutantPolicy;
use loopkeeper_source::mutants::expected_values::{
    ExpectedValue, batches, expected_values, with_other_values,
};
use loopkeeper_source::mutants::is_source;
use loopkeeper_system::snapshots::SnapshotStore;
use loopkeeper_task::criterion::{Check, Criterion};
use loopkeeper_text::{sanitize, tr};
use tokio::time::{Instant, timeout_at};

use super::mutants::shorten_timeout;
use super::room::{PinnedEntry, RoomLayout};
use super::{NoVerdict, VerdictRequest, all_pass, run_in_room};
use crate::run_context::{RunContext, SnapshotFailure};

/// A goal that takes longer gets one run, and those that confirm what it shows.
const FAST_MS: u64 = 3_000;
/// For all runs of one goal; a slow goal gets the time of two runs.
const TIME_BUDGET: Duration = Duration::from_secs(30);
/// Runs with one value of each test.
const MAX_BATCHES: usize = 3;
/// Runs in which fewer tests fail than were changed, before the rest counts as noticed.
const MAX_ROUNDS: usize = 5;
/// Assertions that are tried alone.
const MAX_ALONE: usize = 4;
/// Files that are read, judges first.
const MAX_FILES: usize = 1_000;
const MAX_BYTES: usize = 256 * 1024;
const MAX_TOTAL_BYTES: usize = 8 * 1024 * 1024;

/// Fails goals that do not depend on the values that their tests expect.
pub(super) async fn apply_unnoticed(
    runtime: &RunContext,
    request: &VerdictRequest,
    layout: &RoomLayout,
    round: &mut Round,
) -> Result<(), NoVerdict> {
    let passes = |it: &Criterion| round.result(&it.id).is_some_and(|it| it.status == Status::Pass);
    let is_goal = |it: &&Criterion| {
        request.goals.contains(it) && matches!(it.check, Some(Check::Command { .. })) && passes(it)
    };
    let goals: Vec<Criterion> = request.criteria.iter().filter(is_goal).cloned().collect();
    let is_off = runtime.spec.settings.mutants == MutantPolicy::Off;
    if goals.is_empty() || is_off || !all_pass(round, &request.criteria) {
        return Ok(());
    }
    let tests = read_tests(runtime, request).await?;
    if tests.values.is_empty() {
        return Ok(());
    }
    for mut goal in goals {
        let Some(sound) = round.result(&goal.id).cloned() else { continue };
        let end = Instant::now() + TIME_BUDGET.max(Duration::from_millis(sound.duration_ms) * 2);
        shorten_timeout(runtime, &mut goal, sound.duration_ms);
        let is_fast = sound.duration_ms <= FAST_MS;
        let trial = GoalTrial { runtime, request, layout, tests: &tests, goal, is_fast, end };
        if let Some(value) = trial.find_unnoticed().await? {
            let fact = sanitize::line(&runtime.redactor.redact(&tests.describe(&value)));
            let same = round.results.iter_mut().filter(|it| it.criterion == sound.criterion);
            same.for_each(|it| (it.status, it.fact) = (Status::Fail, fact.clone()));
        }
    }
    Ok(())
}

/// The tests of the start, as they are now.
#[derive(Default)]
struct TestFiles {
    texts: BTreeMap<String, String>,
    /// Those that the start has as well.
    values: Vec<ExpectedValue>,
}

impl TestFiles {
    /// Reads judges, and sources of Rust that contain tests.
    fn read(
        scan: &WeakeningScan,
        store: &SnapshotStore,
        (tree, judges): (&str, &[String]),
    ) -> Result<Self, SnapshotFailure> {
        let is_rust = |it: &String| Path::new(it).extension().is_some_and(|it| it == "rs");
        let sources = store.paths(tree)?.into_iter().filter_map(|it| String::from_utf8(it).ok());
        let sources = sources.filter(|it| is_rust(it) && !judges.contains(it));
        let read = |tree: &str, path: &str| {
            let bytes = store.file(tree, path, MAX_BYTES).ok().flatten()?;
            String::from_utf8(bytes).ok()
        };
        let mut tests = Self::default();
        let mut rest = MAX_TOTAL_BYTES;
        for path in judges.iter().filter(|it| is_source(it)).cloned().chain(sources).take(MAX_FILES) {
            let Some(after) = read(tree, &path).filter(|it| it.len() <= rest) else { continue };
            let Some(before) = read(scan.version_of(&path), &path) else { continue };
            rest -= after.len();
            tests.add(path, &before, after);
        }
        Ok(tests)
    }

    fn add(&mut self, path: String, before: &str, after: String) {
        let old: BTreeSet<&str> = before.lines().map(str::trim).collect();
        let lines: Vec<&str> = after.lines().collect();
        let is_old = |it: &ExpectedValue| {
            lines.get(it.line as usize - 1).is_some_and(|line| old.contains(line.trim()))
        };
        let values: Vec<ExpectedValue> = expected_values(&path, &after).into_iter().filter(is_old).collect();
        if !values.is_empty() {
            self.values.extend(values);
            self.texts.insert(path, after);
        }
    }

    fn describe(&self, value: &ExpectedValue) -> String {
        let text = self.texts.get(&value.path).map(String::as_str).unwrap_or_default();
        let (before, after) = value.describe(text);
        let place = format!("{}:{}", value.path, value.line);
        tr!("still passes if {place} expects {after} in place of {before}", place, after, before)
    }
}

async fn read_tests(runtime: &RunContext, request: &VerdictRequest) -> Result<TestFiles, NoVerdict> {
    let Some(scan) = request.scan.clone() else { return Ok(TestFiles::default()) };
    let judges: Vec<String> =
        request.judges_of_start.iter().filter_map(|it| Some(it.to_str()?.to_owned())).collect();
    let tree = request.tree.clone();
    let read = move |store: &mut SnapshotStore| TestFiles::read(&scan, store, (&tree, &judges));
    Ok(runtime.with_store(read).await?)
}

/// The runs of one goal.
struct GoalTrial<'a> {
    runtime: &'a RunContext,
    request: &'a VerdictRequest,
    layout: &'a RoomLayout,
    tests: &'a TestFiles,
    goal: Criterion,
    is_fast: bool,
    end: Instant,
}

impl GoalTrial<'_> {
    /// A value that the goal does not depend on.
    async fn find_unnoticed(&self) -> Result<Option<ExpectedValue>, NoVerdict> {
        let batches = batches(self.tests.values.clone());
        for (number, batch) in
            batches.into_iter().take(if self.is_fast { MAX_BATCHES } else { 1 }).enumerate()
        {
            let count = batch.len();
            let unnoticed = self.unnoticed_among(batch).await?;
            let is_whole = number == 0 && unnoticed.len() == count;
            if let Some(found) = self.confirm(unnoticed, is_whole).await? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The values of a batch that no run notices.
    async fn unnoticed_among(&self, batch: Vec<ExpectedValue>) -> Result<Vec<ExpectedValue>, NoVerdict> {
        let mut rest = batch;
        for _ in 0..MAX_ROUNDS {
            let Some(result) = self.run_with_others(&rest).await? else { return Ok(Vec::new()) };
            let before = rest.len();
            rest = match MutatedValuesRun::of(rest, &result) {
                MutatedValuesRun::Settled => return Ok(Vec::new()),
                MutatedValuesRun::Unnoticed(values) => return Ok(values),
                MutatedValuesRun::Rest(values) => values,
            };
            if !self.is_fast {
                return Ok(Vec::new());
            }
            if rest.len() == before {
                return self.unnoticed_alone(rest).await;
            }
        }
        Ok(Vec::new())
    }

    async fn unnoticed_alone(&self, values: Vec<ExpectedValue>) -> Result<Vec<ExpectedValue>, NoVerdict> {
        let mut unnoticed = Vec::new();
        for value in values.into_iter().take(MAX_ALONE) {
            let Some(result) = self.run_with_others(std::slice::from_ref(&value)).await? else { break };
            if result.status == Status::Pass {
                unnoticed.push(value);
            }
        }
        Ok(unnoticed)
    }

    /// The first of the values whose place decides whether the goal passes. `is_whole`: no value of any test is noticed,
    /// so that it is sufficient that the goal reads the file.
    async fn confirm(
        &self,
        values: Vec<ExpectedValue>,
        is_whole: bool,
    ) -> Result<Option<ExpectedValue>, NoVerdict> {
        for value in values.into_iter().take(MAX_ALONE) {
            let text = self.tests.texts.get(&value.path).map(String::as_str).unwrap_or_default();
            let broken = is_whole.then(|| value.with_syntax_error(text));
            for edited in value.with_failure(text).into_iter().chain(broken) {
                let entries = vec![(value.path.clone(), edited)];
                let Some(result) = self.run(entries).await? else { return Ok(None) };
                if result.status == Status::Fail {
                    return Ok(Some(value));
                }
            }
        }
        Ok(None)
    }

    async fn run_with_others(&self, values: &[ExpectedValue]) -> Result<Option<CheckResult>, NoVerdict> {
        let paths: BTreeSet<&String> = values.iter().map(|it| &it.path).collect();
        let edited = |path: &String| {
            let text = self.tests.texts.get(path).map(String::as_str).unwrap_or_default();
            (path.clone(), with_other_values(text, values.iter().filter(|it| it.path == *path)))
        };
        self.run(paths.into_iter().map(edited).collect()).await
    }

    /// `None`: the time is over.
    async fn run(&self, files: Vec<(String, String)>) -> Result<Option<CheckResult>, NoVerdict> {
        let entry = |(path, text): (String, String)| PinnedEntry::edited(self.runtime, &path, text);
        let layout = self.layout.with_entries(files.into_iter().map(entry).collect());
        let goal = std::slice::from_ref(&self.goal);
        let running = run_in_room(self.runtime, self.request, goal, &layout);
        let Ok(ran) = timeout_at(self.end, Box::pin(running)).await else { return Ok(None) };
        Ok(ran?.0.result(&self.goal.id).cloned())
    }
}
