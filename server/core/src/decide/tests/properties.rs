//! Invariants of random loops with crashes, commands and reboots at every point. The simulator itself asserts after every
//! record that a replay gives the same state.

use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::{collection, prop_assert, proptest};

use crate::check::Status;
use crate::decide::sim::{Sim, Turn, criterion, item, spec};
use crate::decide::{UserCommand, apply};
use crate::journal::samples::records;
use crate::journal::{BreakerState, Entry, QuestionKind, Record};
use crate::settings::{UnansweredPolicy, UsageLimitPolicy};
use loopkeeper_agent::{AgentEnding, LoopMode, ProviderClass};

pub(super) const SESSIONS: [&str; 2] = ["one of the user's", "another"];

#[derive(Debug, Clone)]
enum Disturbance {
    Turns(u8),
    Crash,
    Reboot,
    Command(u8),
    /// The user prompts one of two own sessions.
    Speak(bool, u8),
}

fn act() -> impl Strategy<Value = Turn> {
    let results = prop_oneof![Just("ff"), Just("pf"), Just("fp"), Just("pp"), Just("pt"), Just("zp")];
    let error = prop_oneof![
        6 => Just(None),
        1 => Just(Some(ProviderClass::Transient)),
        1 => Just(Some(ProviderClass::Quota)),
        1 => Just(Some(ProviderClass::Crash)),
    ];
    (results, any::<bool>(), (0..3_usize, any::<bool>()), error, 0..3_000_000_u64, 0..3_usize).prop_map(
        |(results, changed, (says, denied), error, cost, ticks)| Turn {
            changed: if changed { vec!["a.rs"] } else { vec![] },
            says: ["", "<promise>COMPLETE</promise>", "Which database do you want?"][says],
            denied: if denied { vec!["Bash: git push"] } else { vec![] },
            error,
            cost,
            ticks,
            ..Turn::new(results)
        },
    )
}

fn disturbance() -> impl Strategy<Value = Disturbance> {
    prop_oneof![
        4 => (0..12_u8).prop_map(Disturbance::Turns),
        2 => Just(Disturbance::Crash),
        1 => Just(Disturbance::Reboot),
        2 => (0..9_u8).prop_map(Disturbance::Command),
        3 => (any::<bool>(), 0..4_u8).prop_map(|(one, holds)| Disturbance::Speak(one, holds)),
    ]
}

fn command(n: u8) -> UserCommand {
    match n {
        0 => UserCommand::Pause,
        1 | 2 => UserCommand::Resume,
        3 => UserCommand::Steer("left".to_owned()),
        4 => UserCommand::ResetBreaker,
        5 => UserCommand::Answer("as you like".to_owned()),
        6 => UserCommand::Answer("stop".to_owned()),
        7 => UserCommand::ResetSession,
        _ => UserCommand::Check,
    }
}

proptest! {
    #[test]
    fn invariants_hold_in_every_mode(
        turns in collection::vec(act(), 0..30),
        disturbances in collection::vec(disturbance(), 0..25),
        plan in any::<bool>(),
        attended in any::<bool>(),
        mode in prop_oneof![Just(LoopMode::Loop), Just(LoopMode::Hook), Just(LoopMode::Attach)],
        stop_at in 0..40_usize,
    ) {
        let mut made = spec(vec![criterion("a", "a"), criterion("b", "b")]);
        made.settings.limits.iterations = 7;
        made.settings.limits.cost_micros = 5_000_000;
        made.attended = attended;
        made.settings.session.resume = plan;
        made.settings.mode = mode;
        made.settings.questions.unanswered = if stop_at % 2 == 0 { UnansweredPolicy::Continue } else { UnansweredPolicy::Pause };
        made.settings.usage_limit = if stop_at % 3 == 0 { UsageLimitPolicy::Stop } else { UsageLimitPolicy::Wait };
        if plan { made.plan = vec![item("x"), item("y")]; }
        let mut sim = Sim::new(made, "ff", turns);
        sim.process.cap = (stop_at % 5 == 0).then_some(2);
        for (i, disturbance) in disturbances.iter().enumerate() {
            match disturbance {
                Disturbance::Turns(n) => for _ in 0..*n { sim.step(); },
                Disturbance::Crash => { let boot = sim.state.position.boot.clone(); sim.crash(&boot); }
                Disturbance::Reboot => sim.crash(&format!("boot-{i}")),
                Disturbance::Command(n) => sim.command(command(*n)),
                Disturbance::Speak(one, holds) => { sim.speak(SESSIONS[usize::from(*one)], (*holds).into()); }
            }
            if i == stop_at { sim.command(UserCommand::Stop); }
        }
        sim.play();
        // The user prompts the session whenever it is released.
        for _ in 0..stop_at {
            if !sim.speak(SESSIONS[0], 2) { break; }
            sim.play();
        }
        check_journal(&sim.entries)?;
        prop_assert!(!sim.process.alive, "a loop that pauses or has ended holds no agent");
        check_verified(&sim.entries)?;
        if sim.state.stop.is_some() { prop_assert!(sim.state.outcome().is_some(), "a stop is honoured"); }
        prop_assert!(sim.state.outcome().is_some() || sim.state.pause.is_some(), "a loop pauses for a reason");
    }
}

/// Checks the invariants of a journal by its records alone.
pub(super) fn check_journal(entries: &[Entry]) -> Result<(), proptest::test_runner::TestCaseError> {
    let (mut last, mut cost, mut stopped, mut ended) = (0, 0_u64, false, false);
    let (mut open, mut sessions) = (None, std::collections::BTreeSet::new());
    let mut breaker = BreakerState::Closed;
    let (mut attached, mut is_there) = (false, false);
    for pair in entries.windows(2) {
        prop_assert!(
            pair[1].seq == pair[0].seq + 1 && pair[1].epoch >= pair[0].epoch,
            "records are in order"
        );
    }
    for entry in entries {
        prop_assert!(!ended, "nothing after the end: {:?}", entry.record);
        match &entry.record {
            Record::LoopStarted { spec, .. } => attached = spec.settings.mode == LoopMode::Attach,
            Record::SessionJoined { .. } => {
                prop_assert!(attached && !stopped, "a session joins only in attach mode");
                is_there = true;
            }
            Record::IterationIntended { iteration, session, resumed, .. } => {
                prop_assert!(!attached || is_there, "no start without a session that waits");
                prop_assert!(open.is_none(), "no start while a question waits");
                prop_assert!(
                    sessions.contains(session) == *resumed,
                    "only sessions of this loop are resumed"
                );
                sessions.insert(session.clone());
                prop_assert!(*iteration == last + 1, "numbers are never reused");
                prop_assert!(*iteration <= 7, "the limit holds over all restarts");
                prop_assert!(cost < 5_000_000, "no start when the budget is used up");
                prop_assert!(!stopped, "no start after a stop");
                prop_assert!(breaker != BreakerState::Open, "no start while the breaker is open");
                last = *iteration;
            }
            Record::AgentEnded { run, .. } => {
                is_there = run.ending == AgentEnding::Held;
                cost += run.cost_micros.unwrap_or(0);
            }
            Record::AgentLeft { left, .. } => {
                is_there = false;
                cost += left.cost_micros.unwrap_or(0);
            }
            Record::Recovered { .. } => is_there = false,
            Record::Stopping { .. } => stopped = true,
            Record::Asked { id, kind, .. } if *kind != QuestionKind::UsageLimit => open = Some(id.clone()),
            Record::Answered { id, .. } if open.as_ref() == Some(id) => open = None,
            Record::BreakerChanged { state, .. } => breaker = *state,
            Record::Ended { .. } => ended = true,
            _ => {}
        }
    }
    Ok(())
}

fn check_verified(entries: &[Entry]) -> Result<(), proptest::test_runner::TestCaseError> {
    let mut results = std::collections::BTreeMap::new();
    let (mut held, mut beside, mut attached) = (false, false, false);
    for entry in entries {
        match &entry.record {
            Record::LoopStarted { spec, .. } => attached = spec.settings.mode == LoopMode::Attach,
            // The end of its turn is sufficient for an attached session.
            Record::AgentEnded { run, .. } => held = run.ending == AgentEnding::Held && !attached,
            Record::AgentLeft { .. } | Record::Recovered { .. } => held = false,
            Record::Baseline { round: Some(round), .. } | Record::ChecksDone { round, .. } => {
                beside = held;
                results.extend(round.results.iter().map(|it| (it.criterion.clone(), it.status)));
            }
            Record::Ended { outcome } if outcome.verified => {
                prop_assert!(!held && !beside, "nothing is verified beside a living agent");
                prop_assert!(results.values().all(|it| *it == Status::Pass), "verified means passed");
            }
            _ => {}
        }
    }
    Ok(())
}

#[test]
fn records_of_a_keeper_that_was_replaced_change_nothing() {
    let mut sim = Sim::new(spec(vec![criterion("tests pass", "make test")]), "f", vec![Turn::new("f"); 2]);
    while sim.state.iteration < 2 {
        assert!(sim.step(), "{}", sim.sentence());
    }
    sim.crash("boot");
    let (state, epoch, seq) = (sim.state.clone(), sim.state.position.epoch, sim.state.position.seq);
    for record in records() {
        let late = Entry { seq: seq + 1, epoch: epoch - 1, at: sim.now, record };
        apply(&mut sim.state, &late);
        assert_eq!(sim.state, state, "{late:?}");
    }
    // The control: the same records of the present keeper.
    let mut changed = 0;
    for record in records() {
        let mut next = state.clone();
        apply(&mut next, &Entry { seq: seq + 1, epoch, at: sim.now, record });
        changed += usize::from(next != state);
    }
    assert_eq!(changed, records().len());
}
