//! Invariants of random loops of any configuration, with crashes, reboots and commands at every point. They are checked
//! by the journal alone; forged journals must fail the check.

use std::collections::BTreeMap;

use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::test_runner::TestCaseError;
use proptest::{collection, prop_assert, proptest};

use super::properties::{SESSIONS, check_journal};
use crate::check::Status;
use crate::decide::UserCommand;
use crate::decide::sim::{Sim, Turn, criterion, item, spec};
use crate::journal::{
    BreakerCause, BreakerState, Entry, LoopSpec, OutcomeKind, PinnedCriterion, Record, SnapshotWhen,
    Weakening,
};
use crate::settings::{GroupRule, OnRegression, UnansweredPolicy, UsageLimitPolicy};
use loopkeeper_agent::{AgentEnding, AgentRun, LoopMode, ProviderClass};

const RESULTS: [&str; 10] = ["fff", "5ff", "5pf", "5pp", "fpp", "5tp", "zpp", "2pp", "5fp", "ppp"];
const SAYS: [&str; 4] =
    ["", "<promise>COMPLETE</promise>", "Which database do you want?", "EXIT_SIGNAL: true"];

fn act() -> impl Strategy<Value = Turn> {
    let error = prop_oneof![
        8 => Just(None),
        1 => Just(Some(ProviderClass::Transient)),
        1 => Just(Some(ProviderClass::Quota)),
        1 => Just(Some(ProviderClass::Crash)),
        1 => Just(Some(ProviderClass::Login)),
    ];
    let weakens = prop_oneof![5 => Just(None), 1 => Just(Some(vec!["tests/a.py"])), 1 => Just(Some(vec![]))];
    let makes = prop_oneof![4 => Just(None), 1 => Just(Some("one")), 1 => Just(Some("two"))];
    let numbers = (0..RESULTS.len(), 0..SAYS.len(), 0..4_usize, 0..2_000_000_u64, 1..40_000_u64);
    (numbers, error, weakens, makes, any::<[bool; 4]>()).prop_map(
        |(numbers, error, weakens, makes, flags)| {
            let (results, says, ticks, cost, takes_ms) = numbers;
            let [changed, denied, hangs, forgets] = flags;
            Turn {
                changed: if changed { vec!["a.rs"] } else { vec![] },
                denied: if denied { vec!["Bash: git push"] } else { vec![] },
                says: SAYS[says],
                hangs: hangs && takes_ms % 5 == 0,
                forgets: forgets && takes_ms % 7 == 0,
                error,
                weakens,
                makes,
                ticks,
                cost,
                takes_ms,
                ..Turn::new(RESULTS[results])
            }
        },
    )
}

fn command(n: u8) -> UserCommand {
    match n {
        0 => UserCommand::Pause,
        1..=3 => UserCommand::Resume,
        4 => UserCommand::Steer("left".to_owned()),
        5 => UserCommand::ResetBreaker,
        6 => UserCommand::Answer("as you like".to_owned()),
        7 => UserCommand::Answer("stop".to_owned()),
        8 => UserCommand::ResetSession,
        9 | 10 => UserCommand::AcceptWeakening { by: None },
        11 => UserCommand::Rollback { to: 0, paths: Vec::new() },
        12 => UserCommand::Rollback { to: 1, paths: vec!["tests/a.py".to_owned()] },
        13 => UserCommand::UndoRollback,
        14 => UserCommand::StopNow,
        _ => UserCommand::Check,
    }
}

/// A loop in which each bit enables one option.
fn made(bits: u16) -> LoopSpec {
    let has = |bit: u16| bits & (1 << bit) != 0;
    let mut criteria = vec![criterion("a", "a"), criterion("b", "b"), criterion("c", "c")];
    criteria[1].stage = has(0).then_some(2);
    criteria[2].required = !has(1);
    if has(2) {
        for it in &mut criteria {
            it.group = Some("g".to_owned());
        }
    }
    if has(3) {
        criteria.push(criterion("prose", ""));
    }
    let mut made = spec(criteria);
    if has(4) {
        made.plan = vec![item("x"), item("y")];
    }
    made.attended = has(5);
    made.anyway = has(6);
    let settings = &mut made.settings;
    settings.limits.iterations = 7;
    settings.limits.cost_micros = 5_000_000;
    settings.limits.calls_per_hour = if has(7) { 3 } else { 100 };
    settings.session.resume = has(8);
    settings.exit.groups = if has(9) { GroupRule::Majority } else { GroupRule::All };
    settings.exit.when = has(10).then(|| "criteria and promise or iterations>=5".to_owned());
    settings.git.on_regression = if has(11) { OnRegression::Rollback } else { OnRegression::Keep };
    settings.breaker.max_trips = if has(12) { 1 } else { 3 };
    settings.questions.unanswered =
        if has(13) { UnansweredPolicy::Pause } else { UnansweredPolicy::Continue };
    settings.usage_limit = if has(14) { UsageLimitPolicy::Stop } else { UsageLimitPolicy::Wait };
    settings.mode = if has(15) { LoopMode::Attach } else { LoopMode::Loop };
    made
}

fn disturb(sim: &mut Sim, at: usize, (what, n): (u8, u8)) {
    match what {
        0..=2 => {
            for _ in 0..n % 12 {
                sim.step();
            }
        }
        3 | 4 => {
            let boot = sim.state.position.boot.clone();
            sim.crash(&boot);
        }
        5 => sim.crash(&format!("boot-{at}")),
        6 => sim.edited(RESULTS[usize::from(n) % RESULTS.len()]),
        7 => sim.documents.push(criterion(&format!("new{at}"), "d")),
        8 => sim.documents.truncate(2.max(sim.documents.len() - 1)),
        9 | 10 => {
            sim.speak(SESSIONS[usize::from(n) % 2], u32::from(n / 2) % 4);
        }
        _ => sim.command(command(n % 16)),
    }
}

proptest! {
    #[test]
    fn invariants_hold_for_any_events(
        bits in any::<u16>(),
        turns in collection::vec(act(), 0..20),
        disturbances in collection::vec((0..15_u8, any::<u8>()), 0..30),
    ) {
        let mut sim = Sim::new(made(bits), RESULTS[usize::from(bits) % 3], turns);
        for (at, one) in disturbances.iter().enumerate() {
            disturb(&mut sim, at, *one);
        }
        settle(&mut sim)?;
        for _ in 0..bits % 8 {
            if sim.speak(SESSIONS[0], 2) { settle(&mut sim)?; }
        }
        check_journal(&sim.entries)?;
        check_invariants(&sim.entries)?;
        prop_assert!(sim.state.stop.is_none() || sim.state.outcome().is_some(), "a stop is honoured");
        prop_assert!(sim.state.outcome().is_some() || sim.state.pause.is_some(), "is paused for a reason");
    }
}

/// A loop with a goal, a regression that is rolled back, and a weakening.
#[test]
fn invariants_hold_after_a_crash_at_any_point() {
    let weakens = Turn { weakens: Some(vec!["tests/a.py"]), ..Turn::new("5pp") };
    let turns =
        vec![Turn::new("5pf"), Turn::new("5fp"), weakens, Turn { weakens: Some(vec![]), ..Turn::new("5pp") }];
    for boot in ["boot-1", "another"] {
        for point in 0.. {
            let mut sim = Sim::new(made(1 << 5 | 1 << 11), "5ff", turns.clone());
            let reached = (0..point).all(|_| sim.step());
            sim.crash(boot);
            settle(&mut sim).and_then(|()| check_journal(&sim.entries)).unwrap();
            check_invariants(&sim.entries).unwrap();
            if !reached {
                break;
            }
        }
    }
}

/// Plays until nothing is left to do: within a bound, since a loop that never stops costs money.
fn settle(sim: &mut Sim) -> Result<(), TestCaseError> {
    let has_settled = (0..2_000).any(|_| !sim.step());
    let last: Vec<_> = sim.entries.iter().rev().take(12).map(|it| &it.record).collect();
    prop_assert!(has_settled, "it settles: {last:#?}");
    Ok(())
}

/// The loop according to the records so far, with which the next one must be consistent.
#[derive(Default)]
struct RecordedLoop<'a> {
    spec: Option<&'a LoopSpec>,
    pinned: &'a [PinnedCriterion],
    results: BTreeMap<&'a str, Status>,
    judged: &'a str,
    /// No other tree was seen since the last round.
    is_judged: bool,
    tree: &'a str,
    running: Option<u32>,
    /// Wall time before which nothing may start.
    not_before: u64,
    run: Option<&'a AgentRun>,
    weakened: bool,
    is_open: bool,
    changed: u64,
}

fn check_invariants(entries: &[Entry]) -> Result<(), TestCaseError> {
    let mut recorded = RecordedLoop::default();
    for entry in entries {
        recorded.take(entry)?;
    }
    Ok(())
}

impl<'a> RecordedLoop<'a> {
    fn take(&mut self, entry: &'a Entry) -> Result<(), TestCaseError> {
        match &entry.record {
            Record::LoopStarted { spec, .. } => self.spec = Some(spec),
            Record::Baseline { criteria, round, plan, .. } => {
                self.pinned = criteria;
                self.is_open = plan.iter().any(|it| it.blocking && !it.done);
                if let Some(it) = round {
                    self.judge(it);
                }
            }
            Record::ChecksDone { round, .. } => self.judge(round),
            Record::SnapshotTaken { tree, .. } => (self.tree, self.is_judged) = (tree, self.judged == tree),
            Record::IterationIntended { iteration, .. } => {
                prop_assert!(self.running.is_none(), "one agent at a time");
                prop_assert!(entry.at.wall >= self.not_before, "no start before a wait is over");
                self.running = Some(*iteration);
            }
            Record::AgentEnded { run, .. } => {
                self.running = None;
                self.run = Some(run);
            }
            // An interrupted iteration is no evidence.
            Record::Recovered { .. } if self.running.take().is_some() => self.run = None,
            Record::Waiting { until, .. } => self.not_before = until.wall,
            Record::Resumed {} | Record::Answered { .. } => self.not_before = 0,
            Record::IterationEnded { plan, weakened, changes, .. } => {
                // A weakening without a path, fewer tests, is resolved by any round that runs them again.
                self.weakened = weakened.iter().any(|it| !it.path.is_empty());
                self.is_open = plan.iter().any(|it| it.blocking && !it.done);
                self.changed = changes.count;
            }
            Record::WeakeningAccepted { .. } | Record::ProtectedEdited { .. } => self.weakened = false,
            Record::RolledBack { tree, .. } => {
                // The plan is restored as well.
                (self.weakened, self.is_open) = (false, false);
                (self.tree, self.is_judged) = (tree, self.judged == tree);
            }
            Record::BreakerChanged { state, cause, .. } => self.breaker(*state, *cause)?,
            Record::Ended { outcome } if outcome.kind == OutcomeKind::Completed => {
                self.completed(outcome.verified)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn judge(&mut self, round: &'a crate::journal::Round) {
        (self.judged, self.is_judged) = (&round.tree_after, true);
        self.results.extend(round.results.iter().map(|it| (it.criterion.0.as_str(), it.status)));
    }

    /// A failure of the provider is no lack of progress.
    fn breaker(&mut self, state: BreakerState, cause: Option<BreakerCause>) -> Result<(), TestCaseError> {
        self.not_before = 0;
        if state != BreakerState::Open
            || matches!(cause, Some(BreakerCause::TrialFailed | BreakerCause::SameError))
        {
            return Ok(());
        }
        let by_itself = |it| matches!(it, AgentEnding::Exited | AgentEnding::Held);
        let works = self.run.is_some_and(|it| it.error.is_none() && by_itself(it.ending));
        prop_assert!(works, "the breaker counts work: {cause:?}");
        Ok(())
    }

    fn completed(&self, verified: bool) -> Result<(), TestCaseError> {
        let settings = &self.spec.expect("begins").settings;
        let required = || self.pinned.iter().filter(|it| it.criterion.required);
        let passes =
            |it: &PinnedCriterion| self.results.get(it.criterion.id.0.as_str()) == Some(&Status::Pass);
        prop_assert!(!self.weakened, "nothing weakened is done");
        let failing = required().filter(|it| it.criterion.check.is_some() && !passes(it)).count();
        prop_assert!(failing == 0 || (!verified && settings.exit.groups == GroupRule::Majority));
        if !verified {
            return Ok(());
        }
        prop_assert!(required().all(|it| it.criterion.check.is_some()), "a claim verifies nothing");
        prop_assert!(required().all(passes), "all of it passes");
        prop_assert!(self.is_judged, "judged on the last tree: {} {}", self.judged, self.tree);
        prop_assert!(
            !self.is_open || self.changed == 0 || settings.exit.when.is_some(),
            "an open plan pauses"
        );
        Ok(())
    }
}

/// An attached session, which its user prompts again after the crash.
#[test]
fn an_attached_loop_completes_after_a_crash_at_any_point() {
    for point in 0.. {
        let mut sim = Sim::new(made(1 << 5 | 1 << 15), "5ff", vec![Turn::new("5pf"), Turn::new("5pp")]);
        sim.play();
        sim.speak(SESSIONS[0], 8);
        let reached = (0..point).all(|_| sim.step());
        sim.crash("boot-1");
        settle(&mut sim).unwrap();
        while sim.speak(SESSIONS[0], 8) {
            settle(&mut sim).unwrap();
        }
        check_journal(&sim.entries).and_then(|()| check_invariants(&sim.entries)).unwrap();
        assert!(sim.state.outcome().is_some_and(|it| it.verified), "at {point}: {}", sim.sentence());
        if !reached {
            break;
        }
    }
}

type Forgery = (&'static str, fn(&mut Vec<Entry>));

const FORGERIES: [Forgery; 7] = [
    ("the same number again", |all| {
        let at = second_start(all);
        if let Record::IterationIntended { iteration, .. } = &mut all[at].record {
            *iteration = 1;
        }
    }),
    ("two agents", |all| all.retain(|it| !matches!(it.record, Record::AgentEnded { iteration: 1, .. }))),
    ("before the wait is over", |all| {
        let at = second_start(all);
        all[at].at.wall -= 50_000;
    }),
    ("a check that failed", |all| {
        let last = all.iter_mut().rev().find_map(|it| match &mut it.record {
            Record::ChecksDone { round, .. } => Some(round),
            _ => None,
        });
        last.unwrap().results[1].status = Status::TimedOut;
    }),
    ("something weakened", |all| {
        for it in all {
            if let Record::IterationEnded { weakened, .. } = &mut it.record {
                weakened.push(Weakening {
                    path: "tests/a.py".to_owned(),
                    what: String::new(),
                    criterion: None,
                    since: 3,
                    by_verdict: false,
                });
            }
        }
    }),
    ("another tree", |all| {
        let at = all.iter().rposition(|it| matches!(it.record, Record::IterationEnded { .. }));
        all[at.unwrap()].record = Record::SnapshotTaken {
            iteration: 3,
            when: SnapshotWhen::After,
            tree: "another".to_owned(),
            head: None,
            not_covered: vec![],
            undoes: None,
        };
    }),
    ("a start after a stop", |all| {
        let at = second_start(all);
        all[at - 1].record = Record::Stopping { now: false };
    }),
];

fn second_start(all: &[Entry]) -> usize {
    let is_start = |it: &Entry| matches!(it.record, Record::IterationIntended { iteration: 2, .. });
    all.iter().position(is_start).unwrap()
}

/// An iteration needs an attached session, and never continues the session of another loop.
#[test]
fn forged_journals_of_an_attached_session_do_not_hold() {
    let mut sim = Sim::new(made(1 << 5 | 1 << 15), "fff", vec![Turn::new("5ff"), Turn::new("5pp")]);
    sim.play();
    sim.speak(SESSIONS[0], 8);
    sim.play();
    let honest = sim.entries;
    assert!(check_invariants(&honest).is_ok() && check_journal(&honest).is_ok());
    let forgeries: [fn(&mut Record); 2] = [
        |it| {
            if let Record::SessionJoined { .. } = it {
                *it = Record::AgentLeft { iteration: 0, left: Box::default() };
            }
        },
        |it| {
            if let Record::IterationIntended { resumed, .. } = it {
                *resumed = true;
            }
        },
    ];
    for forge in forgeries {
        let mut forged = honest.clone();
        for it in &mut forged {
            forge(&mut it.record);
        }
        assert!(check_journal(&forged).is_err());
    }
}

/// Control: each forgery of a valid journal is detected.
#[test]
fn forged_journals_do_not_hold() {
    let mut made = made(1 << 5);
    made.settings.limits.between_ms = 60_000;
    let turns = vec![Turn::new("5ff"), Turn::new("5pf"), Turn::new("5pp")];
    let honest = Sim::new(made, "fff", turns).run().entries;
    assert!(check_invariants(&honest).is_ok() && check_journal(&honest).is_ok());
    for (name, forge) in FORGERIES {
        let mut forged = honest.clone();
        forge(&mut forged);
        assert!(
            check_invariants(&forged).is_err() || check_journal(&forged).is_err(),
            "not detected: {name}"
        );
    }
}

/// A pause releases the session, and the user resumes before it has exited: the next session is not released.
#[test]
fn a_session_that_joins_after_an_early_resume_is_used() {
    let bits = 52_593;
    let mut sim = Sim::new(made(bits), RESULTS[usize::from(bits) % 3], Vec::new());
    let disturbances: [(u8, u8); 11] =
        [(0, 2), (3, 0), (6, 0), (9, 0), (9, 0), (9, 2), (9, 10), (0, 255), (0, 116), (11, 208), (11, 33)];
    for (at, one) in disturbances.iter().enumerate() {
        disturb(&mut sim, at, *one);
    }
    settle(&mut sim).unwrap();
    assert!(sim.speak(SESSIONS[0], 2));
    settle(&mut sim).unwrap();
    assert!(sim.state.outcome().is_some() || sim.state.pause.is_some(), "is paused for a reason");
}
