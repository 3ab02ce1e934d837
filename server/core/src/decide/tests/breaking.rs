//! The breaker over random loops with crashes, reboots and commands at every point: what its records may say, read as
//! an outsider would. Replay equality after every record is asserted by the simulator itself.

use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::test_runner::TestCaseError;
use proptest::{collection, prop_assert, proptest};

use crate::decide::UserCommand;
use crate::decide::sim::{Act, Sim, criterion, spec};
use crate::journal::{BreakerCause, BreakerState, Entry, PauseReason, Record};
use loopkeeper_agent::{AgentEnding, ProviderClass};

const MAX_TRIPS: u32 = 2;

fn act() -> impl Strategy<Value = Act> {
    let results = prop_oneof![6 => Just("ff"), 1 => Just("pf"), 1 => Just("fp")];
    let error = prop_oneof![
        8 => Just(None),
        1 => Just(Some(ProviderClass::Transient)),
        1 => Just(Some(ProviderClass::Quota)),
        1 => Just(Some(ProviderClass::Crash)),
    ];
    let makes = prop_oneof![3 => Just(None), 1 => Just(Some("a")), 1 => Just(Some("b"))];
    let facts = (0..12_000_u64, 0..2_u32, any::<bool>(), 0..3_000_u64);
    (results, error, makes, 0..4_u32, facts).prop_map(|(results, error, makes, changes, facts)| {
        let (takes_ms, denied, errs, output) = facts;
        Act {
            changed: if changes == 0 { vec!["a.rs"] } else { vec![] },
            error,
            makes,
            takes_ms,
            denied: if denied == 0 { vec![] } else { vec!["Bash(make)"] },
            output,
            errors: if errs { vec!["error: no"] } else { vec![] },
            hangs: takes_ms % 17 == 0,
            ..Act::new(results)
        }
    })
}

proptest! {
    #[test]
    fn the_breaker_meets_its_contract(
        acts in collection::vec(act(), 0..60),
        shoves in collection::vec((0..9_u8, 0..40_u8), 0..25),
        attended in any::<bool>(),
    ) {
        let mut made = spec(vec![criterion("a", "a"), criterion("b", "b")]);
        made.settings.limits.iterations = 60;
        made.settings.limits.duration_ms = u64::from(u32::MAX);
        made.settings.breaker.max_trips = MAX_TRIPS;
        made.attended = attended;
        let mut sim = Sim::new(made, "ff", acts);
        for (i, (what, turns)) in shoves.iter().enumerate() {
            for _ in 0..*turns { sim.turn(); }
            match what {
                0 => { let boot = sim.state.position.boot.clone(); sim.crash(&boot); }
                1 => sim.crash(&format!("boot-{i}")),
                2 => sim.command(UserCommand::ResetBreaker),
                3 => sim.command(UserCommand::Pause),
                4 | 5 => sim.command(UserCommand::Resume),
                _ => {}
            }
        }
        sim.play();
        check(&sim.entries)?;
        let is_open = sim.state.breaker.state == BreakerState::Open && sim.state.outcome().is_none();
        prop_assert!(!is_open || sim.state.pause.is_some(), "an open breaker never hangs");
    }
}

/// The state of the records so far.
#[derive(Default)]
struct Told {
    state: BreakerState,
    due: Option<u64>,
    trips: u32,
    /// Iterations since the trial began that the provider did not keep from working.
    worked: u32,
    interrupted: Option<u32>,
}

fn check(entries: &[Entry]) -> Result<(), TestCaseError> {
    let mut told = Told::default();
    for entry in entries {
        match &entry.record {
            Record::IterationIntended { .. } => {
                prop_assert!(told.state != BreakerState::Open, "no start while it is open");
                prop_assert!(
                    told.state != BreakerState::HalfOpen || told.worked == 0,
                    "a trial is one iteration"
                );
            }
            Record::Recovered { interrupted, .. } => told.interrupted = *interrupted,
            Record::AgentEnded { iteration, run } => {
                let works = run.error.is_none() && run.ending == AgentEnding::Exited;
                told.worked += u32::from(works && told.interrupted != Some(*iteration));
            }
            Record::Paused { reason: PauseReason::Breaker, .. } => {
                prop_assert!(told.state == BreakerState::Open);
            }
            Record::BreakerChanged { .. } => changed(&mut told, entry)?,
            _ => {}
        }
    }
    Ok(())
}

fn changed(told: &mut Told, entry: &Entry) -> Result<(), TestCaseError> {
    let Record::BreakerChanged { state, cause, trips, resumes_at, opening, .. } = &entry.record else {
        return Ok(());
    };
    let by_user = *cause == Some(BreakerCause::User);
    match (told.state, *state) {
        (BreakerState::Closed | BreakerState::HalfOpen, BreakerState::Open) => {
            prop_assert!(*trips == told.trips + 1 && opening.is_some());
            prop_assert!(resumes_at.is_none() || *trips < MAX_TRIPS, "opened too often to go on alone");
        }
        (BreakerState::Open, BreakerState::HalfOpen) if !by_user => {
            prop_assert!(
                told.due.is_some_and(|due| entry.at.wall >= due),
                "it waits as long as it announced"
            );
        }
        (BreakerState::Open, BreakerState::HalfOpen) => {}
        (BreakerState::HalfOpen, BreakerState::Closed) if !by_user => {
            prop_assert!(told.worked == 1 && *cause == Some(BreakerCause::TrialPassed));
        }
        (from, to) => prop_assert!(to == BreakerState::Closed && by_user, "{from:?} to {to:?}"),
    }
    *told = Told {
        state: *state,
        due: resumes_at.map(|it| it.wall),
        trips: *trips,
        worked: 0,
        interrupted: None,
    };
    Ok(())
}
