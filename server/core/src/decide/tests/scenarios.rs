//! Plays the rows of the scenario table in the simulator, with a map as the work tree and a fake clock. `tests/e2e` plays
//! the same rows with the real binary.

mod long_waits;
mod rows;

use std::collections::BTreeMap;

use crate::decide::sim::{Sim, Turn, spec};
use crate::journal::{AgentPlan, LoopSpec, OutcomeKind};
use crate::settings::{Layer, LayerKind, Settings, resolve};
use long_waits::LONG_WAITS;
use loopkeeper_agent::ProviderClass;
use loopkeeper_task::criterion::{Check, Compare, Criterion, Expect, TextPattern};
use loopkeeper_task::{Task, TaskDocument, parse_task};
use rows::{BESIDE_CHECKS, Do, FAULTS, PLANS, Provider, Row, WITHOUT_CHECKS, WORK};

/// More starts than any row has.
const STARTS: usize = 40;

#[test]
fn every_row_ends_as_expected() {
    let tables = [WORK, BESIDE_CHECKS, WITHOUT_CHECKS, FAULTS, LONG_WAITS, PLANS];
    let wrong: Vec<String> = tables.into_iter().flatten().filter_map(difference).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tables.iter().map(|it| it.len()).sum::<usize>() >= 60);
}

/// Plays a row; `Some` describes an end that differs from the expected one.
fn difference(row: &Row) -> Option<String> {
    let mut files = Files::new(row);
    let task = files.task();
    let start = files.letters(&task.criteria);
    let turns = (1..=STARTS).map(|n| files.act(row, n, &task)).collect();
    let sim = Sim::new(loop_spec(row, task), start, turns).run();
    let Some(outcome) = sim.state.outcome() else {
        return Some(format!("{}: at work after {}: {}", row.name, sim.state.iteration, sim.sentence()));
    };
    assert_eq!(sim.prompts.len(), sim.state.iteration as usize, "{}: a start is an iteration", row.name);
    let end = &row.ends;
    let found = (word(outcome.kind), outcome.verified, sim.state.iteration);
    let by: Vec<&str> = sim.state.history.recent().iter().map(|it| it.agent.as_str()).collect();
    if !row.by.is_empty() && by != row.by {
        return Some(format!("{}: worked on by {by:?}, expected {:?}", row.name, row.by));
    }
    let is_so =
        found == (end.kind, end.verified, end.after) && outcome.sentence.to_string().contains(end.says);
    (!is_so).then(|| format!("{}: {found:?} {:?}, expected {end:?}", row.name, outcome.sentence))
}

fn word(kind: OutcomeKind) -> &'static str {
    match kind {
        OutcomeKind::Completed => "completed",
        OutcomeKind::Stopped => "stopped",
        OutcomeKind::Limit => "limit",
        OutcomeKind::Breaker => "breaker",
        OutcomeKind::Failed => "failed",
    }
}

fn loop_spec(row: &Row, task: Task) -> LoopSpec {
    let settings = settings(&row.lines());
    let promise = task.promise.unwrap_or_else(|| settings.exit.promise.clone());
    let spec = spec(task.criteria);
    let other = |name: &String| AgentPlan { name: name.clone(), ..spec.agent.clone() };
    let fallbacks = settings.fallbacks.iter().map(other).collect();
    LoopSpec { settings, fallbacks, promise, plan: task.plan, attended: false, ..spec }
}

fn settings(lines: &str) -> Settings {
    let own = if lines.starts_with("agent = ") { "" } else { "agent = \"mine\"\n" };
    let agent = |name| format!("[agents.{name}]\ncommand = [\"./agent.sh\"]\n");
    let text = format!("{own}{lines}\n{}{}", agent("mine"), agent("other"));
    let layer = Layer { kind: LayerKind::Workspace, file: "loopkeeper.toml".to_owned(), text };
    let resolved = resolve(&[layer], &[]);
    Settings::clone(resolved.settings().unwrap_or_else(|found| panic!("{lines}: {found:?}")))
}

/// The work tree, by path.
struct Files(BTreeMap<String, String>);

impl Files {
    fn new(row: &Row) -> Self {
        let own = row.files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        let mut files = Self(own.collect());
        if !row.criteria.is_empty() {
            let items: Vec<String> = row.criteria.iter().map(|it| format!("- {it}\n")).collect();
            let task = format!("# Make it so\n\n## Done when\n\n{}", items.concat());
            files.0.insert("PROMPT.md".to_owned(), task);
        }
        files
    }

    /// The documents as they are now.
    fn task(&self) -> Task {
        let document = |path: &&str| {
            let text = self.0.get(*path)?.clone();
            Some(TaskDocument { path: (*path).to_owned(), text })
        };
        let found: Vec<TaskDocument> =
            ["PROMPT.md", "fix_plan.md", "prd.json"].iter().filter_map(document).collect();
        parse_task(&found)
    }

    /// The actions of the n-th start, and the results of the checks afterwards.
    fn act(&mut self, row: &Row, n: usize, start: &Task) -> Turn {
        let before = self.0.clone();
        let mut act = Turn { takes_ms: 1_000, cost: 0, ..Turn::idle("") };
        let steps = row.turns.get(n - 1).or(row.turns.last()).copied().unwrap_or_default();
        for step in steps {
            self.step(*step, n, &mut act);
        }
        let now = self.task();
        let changed = self.0.keys().chain(before.keys()).filter(|it| self.0.get(*it) != before.get(*it));
        act.changed = changed.map(|it| leak(it.clone())).collect();
        act.makes = Some(leak(format!("{:?}", self.0)));
        act.results = self.letters(&start.criteria);
        act.plan = Some(now.plan);
        act.leaves = Some(now.criteria);
        act
    }

    fn step(&mut self, step: Do, n: usize, act: &mut Turn) {
        match step {
            Do::Make(path) => {
                let text = self.0.entry(path.replace("$n", &n.to_string())).or_default();
                text.extend([n.to_string().as_str(), "\n"]);
            }
            Do::Drop(path) => drop(self.0.remove(path)),
            Do::Write(path, text) => drop(self.0.insert(path.to_owned(), text.to_owned())),
            Do::Tick => {
                let plan = self.0.entry("fix_plan.md".to_owned()).or_default();
                *plan = plan.replacen("[ ]", "[x]", 1);
            }
            Do::Say(text) => act.says = text,
            Do::Crash(why) => {
                (act.error, act.why) = (Some(ProviderClass::Crash), why);
                act.errors = if why.starts_with("error:") { vec![why] } else { Vec::new() };
            }
            Do::Hang => act.hangs = true,
            Do::Babble => (act.hangs, act.output) = (true, 100_000),
            Do::Leave => {}
            Do::Meets(Provider::LoginFailed) => act.error = Some(ProviderClass::Login),
            Do::Meets(Provider::Quota) => act.error = Some(ProviderClass::Quota),
            Do::Meets(Provider::Overloaded) => act.error = Some(ProviderClass::Transient),
            Do::Meets(Provider::Denies) => act.denied = vec!["Bash: git push"],
            Do::Meets(Provider::Answers) => {}
        }
    }

    /// One letter per criterion, in the notation of the simulation.
    fn letters(&self, criteria: &[Criterion]) -> &'static str {
        leak(criteria.iter().map(|it| it.check.as_ref().map_or('-', |check| self.judge(check))).collect())
    }

    fn judge(&self, check: &Check) -> char {
        let holds = match check {
            Check::Exists { globs } => globs.iter().all(|it| self.0.contains_key(it)),
            Check::Missing { globs } => !globs.iter().any(|it| self.0.contains_key(it)),
            Check::Has { pattern: TextPattern { source, .. }, globs } => {
                globs.iter().any(|it| self.0.get(it).is_some_and(|text| text.contains(source)))
            }
            Check::Command { command, expect } => return self.run(command, expect),
            other => panic!("not simulated: {other:?}"),
        };
        if holds { 'p' } else { 'f' }
    }

    /// The few commands that the rows name.
    fn run(&self, command: &str, expect: &[Expect]) -> char {
        let holds = match (command, expect) {
            ("true", []) => true,
            ("sleep 600", []) => return 't',
            ("no-such-linter --all", []) => return 'm',
            ("sh check.sh", []) => self.0.get("check.sh").is_some_and(|it| it == "exit 0\n"),
            ("ls note.* | wc -l", [Expect::Number { compare: Compare::AtLeast, value }]) => {
                self.0.keys().filter(|it| it.starts_with("note.")).count() as f64 >= *value
            }
            (tests, []) if tests.starts_with("echo 'running 0 tests'") => return 'z',
            other => panic!("not simulated: {other:?}"),
        };
        if holds { 'p' } else { 'f' }
    }
}

fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}
