//! Tasks, loops and results for tests, written like real ones.

use loopkeeper_core::liveness::KeeperLiveness;
use std::collections::{BTreeMap, BTreeSet};

use super::{LatestResult, TaskView, TrustState};
use crate::{LoopStatus, StatusFacts, status};
use loopkeeper_core::check::{
    CheckResult, DependencyProvider, Location, MissingDependency, MissingKind, Status,
};
use loopkeeper_core::decide::sim::{Sim, Turn, spec};
use loopkeeper_core::decide::{LoopState, Phase};
use loopkeeper_core::strays::DuplicateConfiguration;
use loopkeeper_lint::LintCache;
use loopkeeper_task::criterion::CriterionId;
use loopkeeper_task::{self as task, Task, TaskDocument};
use loopkeeper_text::moment::Moment;

pub(crate) const PROMPT: &str = "# Pay\n\nDone when:\n\n- tests: `$ cargo test`\n- lint: `$ cargo clippy`\n";
pub(crate) const URI: &str = "file:///w/PROMPT.md";

/// One task with all facts about it, owned.
pub(crate) struct World {
    pub(crate) documents: Vec<TaskDocument>,
    pub(crate) task: Task,
    pub(crate) results: Vec<(CheckResult, bool)>,
    pub(crate) output: Option<&'static str>,
    pub(crate) state: Option<LoopState>,
    pub(crate) status: Option<LoopStatus>,
    pub(crate) checking: bool,
    pub(crate) editor_trusted: bool,
    pub(crate) unknown: usize,
    /// The hash of the page that was shown to the user.
    pub(crate) shown: Option<&'static str>,
    pub(crate) untrusted: BTreeSet<CriterionId>,
    pub(crate) live: bool,
    pub(crate) strays: Vec<String>,
    pub(crate) leftovers: Vec<DuplicateConfiguration>,
}

impl World {
    pub(crate) fn of(documents: &[(&str, &str)]) -> Self {
        let document =
            |(path, text): &(&str, &str)| TaskDocument { path: (*path).into(), text: (*text).into() };
        let documents: Vec<_> = documents.iter().map(document).collect();
        Self {
            task: task::parse_task(&documents),
            documents,
            results: Vec::new(),
            output: None,
            state: None,
            status: None,
            checking: false,
            editor_trusted: true,
            unknown: 0,
            shown: None,
            untrusted: BTreeSet::new(),
            live: true,
            strays: Vec::new(),
            leftovers: Vec::new(),
        }
    }

    pub(crate) fn prompt() -> Self {
        Self::of(&[("PROMPT.md", PROMPT)])
    }

    /// Sets one result per criterion: `p`ass, `f`ail, `t`imed out, `z`ero tests, `c`ould not run, `u`nstable, `-` never
    /// run; then its fact.
    pub(crate) fn with_results(mut self, results: &[(char, &str)]) -> Self {
        let criteria = self.task.criteria.iter();
        let found = criteria.zip(results).filter_map(|(it, (letter, fact))| result(&it.id, *letter, fact));
        self.results = found.map(|it| (it, false)).collect();
        self
    }

    pub(crate) fn stale(mut self) -> Self {
        self.results.iter_mut().for_each(|it| it.1 = true);
        self
    }

    pub(crate) fn with_output(mut self, uri: &'static str) -> Self {
        self.output = Some(uri);
        self
    }

    pub(crate) fn with_locations(mut self, locations: &[(&str, u32, &str)]) -> Self {
        let location = |(file, line, message): &(&str, u32, &str)| Location {
            file: (*file).into(),
            line: *line,
            message: (*message).into(),
            ..Location::default()
        };
        if let Some((first, _)) = self.results.first_mut() {
            first.locations = locations.iter().map(location).collect();
        }
        self
    }

    /// Runs a loop over the task's criteria until the script ends, with its results.
    pub(crate) fn played(self, start: &'static str, turns: Vec<Turn>) -> Self {
        let sim = Sim::new(spec(self.task.criteria.clone()), start, turns);
        self.after(sim.run())
    }

    /// A completed loop that added these files, to which nothing refers.
    pub(super) fn with_strays(self, paths: &[&str]) -> Self {
        let mut sim = Sim::new(spec(self.task.criteria.clone()), "ff", vec![Turn::new("pp")]);
        sim.strays = paths.iter().map(ToString::to_string).collect();
        self.after(sim.run())
    }

    /// A loop whose breaker opened permanently after iterations without changes.
    pub(crate) fn tripped(self) -> Self {
        let mut once = spec(self.task.criteria.clone());
        once.settings.breaker.max_trips = 1;
        let sim = Sim::new(once, "ff", vec![Turn::idle("ff"), Turn::idle("ff"), Turn::idle("ff")]);
        self.after(sim.run())
    }

    /// The same before its trial iteration.
    pub(crate) fn cooling(self) -> Self {
        let idle = vec![Turn::idle("ff"), Turn::idle("ff"), Turn::idle("ff")];
        let mut sim = Sim::new(spec(self.task.criteria.clone()), "ff", idle);
        while sim.state.breaker.resumes_at.is_none() {
            assert!(sim.step(), "the breaker opens");
        }
        self.after(sim)
    }

    pub(crate) fn after(mut self, sim: Sim) -> Self {
        if self.results.is_empty() {
            self.results = sim.state.criteria.results.values().map(|it| (it.clone(), false)).collect();
        }
        self.strays = sim.state.strays().into_iter().map(str::to_owned).collect();
        self.state = Some(sim.state);
        self.with_keeper(Some(4711))
    }

    /// The same without a running keeper.
    pub(crate) fn without_keeper(self) -> Self {
        self.with_keeper(None)
    }

    fn with_keeper(mut self, pid: Option<u32>) -> Self {
        let facts = StatusFacts {
            now: Moment { wall: 1_795_000_900_000, awake: 1_900_000 },
            keeper: pid
                .map_or(KeeperLiveness::Gone, |it| KeeperLiveness::Alive { pid: Some(it), stopped: false }),
            damaged: false,
            activity: Some("editing src/pay.rs".into()),
        };
        self.status = self.state.as_ref().map(|it| status(it, &facts));
        self
    }

    pub(crate) fn damaged(mut self) -> Self {
        let facts = StatusFacts { damaged: true, ..StatusFacts::default() };
        self.status = self.state.as_ref().map(|it| status(it, &facts));
        self
    }

    pub(crate) fn with_view<T>(&self, view: impl FnOnce(&TaskView<'_>) -> T) -> T {
        let latest = |(result, stale)| LatestResult { result, stale, output: self.output };
        let entry = |it: &'_ (CheckResult, bool)| it.0.criterion.clone();
        let results: BTreeMap<CriterionId, LatestResult<'_>> =
            self.results.iter().map(|it| (entry(it), latest((&it.0, it.1)))).collect();
        view(&TaskView {
            reference: URI,
            task: &self.task,
            documents: &self.documents,
            status: self.status.as_ref(),
            state: self.state.as_ref(),
            results: &results,
            checking: self.checking,
            trust: TrustState {
                editor: self.editor_trusted,
                unknown: self.unknown,
                criteria: &self.untrusted,
                shown: self.shown,
            },
            live: self.live,
            strays: &self.strays,
            leftovers: &self.leftovers,
            lints: &LintCache::default(),
        })
    }
}

fn result(id: &CriterionId, letter: char, fact: &str) -> Option<CheckResult> {
    let status = match letter {
        'p' => Status::Pass,
        't' => Status::TimedOut,
        'z' => Status::NoTestsRan,
        'c' | 'm' | 'g' => Status::CouldNotRun,
        'u' => Status::Unstable,
        '-' => return None,
        _ => Status::Fail,
    };
    let missing = match letter {
        'm' => Some((DependencyProvider::Machine, MissingKind::Program)),
        'g' => Some((DependencyProvider::Project, MissingKind::File)),
        _ => None,
    };
    let missing = missing.map(|(owner, kind)| MissingDependency {
        kind,
        name: "it".to_owned(),
        owner,
        remedy: "install it".to_owned(),
    });
    Some(CheckResult { duration_ms: 12_345, missing, ..CheckResult::new(id.clone(), status, fact) })
}

/// A loop in the middle of the iteration after the script.
pub(crate) fn working_loop(world: World, start: &'static str, turns: Vec<Turn>) -> World {
    let iterations = turns.len();
    let mut sim = Sim::new(spec(world.task.criteria.clone()), start, turns);
    // The iteration after the last act has started, and its agent runs.
    while sim.state.history.iter().filter(|it| !it.row.is_empty()).count() < iterations {
        assert!(sim.step(), "the script is too short for a loop at work");
    }
    while !matches!(sim.state.phase, Phase::Boundary { .. } | Phase::Preparing { .. }) {
        assert!(sim.step(), "the loop is paused or has ended");
    }
    world.after(sim)
}
