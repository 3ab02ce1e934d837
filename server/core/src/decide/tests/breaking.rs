//! The breaker in random loops with crashes, reboots and commands at every point, checked by its records alone. The
//! simulator itself asserts after every record that a replay gives the same state.

use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::test_runner::TestCaseError;
use proptest::{collection, prop_assert, proptest};

use crate::decide::UserCommand;
use crate::decide::sim::{Sim, Turn, criterion, spec};
use crate::journal::{BreakerCause, BreakerState, Entry, PauseReason, Record};
use loopkeeper_agent::{AgentEnding, ProviderClass};

const MAX_TRIPS: u32 = 2;

fn act() -> impl Strategy<Value = Turn> {
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
        Turn {
            changed: if changes == 0 { vec!["a.rs"] } else { vec![] },
            error,
            makes,
            takes_ms,
            denied: if denied == 0 { vec![] } else { vec!["Bash(make)"] },
            output,
            errors: if errs { vec!["error: no"] } else { vec![] },
            hangs: takes_ms % 17 == 0,
            ..Turn::new(results)
        }
    })
}

proptest! {
    #[test]
    fn a_breaker_follows_its_rules_in_random_loops(
        turns in collection::vec(act(), 0..60),
        disturbances in collection::vec((0..9_u8, 0..40_u8), 0..25),
        attended in any::<bool>(),
    ) {
        let mut made = spec(vec![criterion("a", "a"), criterion("b", "b")]);
        made.settings.limits.iterations = 60;
        made.settings.limits.duration_ms = u64::from(u32::MAX);
        made.settings.breaker.max_trips = MAX_TRIPS;
        made.attended = attended;
        let mut sim = Sim::new(made, "ff", turns);
        for (i, (what, turns)) in disturbances.iter().enumerate() {
            for _ in 0..*turns { sim.step(); }
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

/// The breaker according to the records so far.
#[derive(Default)]
struct RecordedBreaker {
    state: BreakerState,
    due: Option<u64>,
    trips: u32,
    /// Iterations since the trial began that were no failure of the provider.
    worked: u32,
    interrupted: Option<u32>,
}

fn check(entries: &[Entry]) -> Result<(), TestCaseError> {
    let mut breaker = RecordedBreaker::default();
    for entry in entries {
        match &entry.record {
            Record::IterationIntended { .. } => {
                prop_assert!(breaker.state != BreakerState::Open, "no start while it is open");
                prop_assert!(
                    breaker.state != BreakerState::HalfOpen || breaker.worked == 0,
                    "a trial is one iteration"
                );
            }
            Record::Recovered { interrupted, .. } => breaker.interrupted = *interrupted,
            Record::AgentEnded { iteration, run } => {
                let works = run.error.is_none() && run.ending == AgentEnding::Exited;
                breaker.worked += u32::from(works && breaker.interrupted != Some(*iteration));
            }
            Record::Paused { reason: PauseReason::Breaker, .. } => {
                prop_assert!(breaker.state == BreakerState::Open, "it pauses the loop only while it is open");
            }
            Record::BreakerChanged { .. } => breaker.change(entry)?,
            _ => {}
        }
    }
    Ok(())
}

impl RecordedBreaker {
    fn change(&mut self, entry: &Entry) -> Result<(), TestCaseError> {
        let Record::BreakerChanged { state, cause, trips, resumes_at, opening, .. } = &entry.record else {
            return Ok(());
        };
        let by_user = *cause == Some(BreakerCause::User);
        match (self.state, *state) {
            (BreakerState::Closed | BreakerState::HalfOpen, BreakerState::Open) => {
                prop_assert!(
                    *trips == self.trips + 1 && opening.is_some(),
                    "an opening counts and has evidence"
                );
                prop_assert!(
                    resumes_at.is_none() || *trips < MAX_TRIPS,
                    "a breaker that opened too often has no cooldown"
                );
            }
            (BreakerState::Open, BreakerState::HalfOpen) if !by_user => {
                prop_assert!(self.due.is_some_and(|due| entry.at.wall >= due), "the cooldown has passed");
            }
            (BreakerState::Open, BreakerState::HalfOpen) => {}
            (BreakerState::HalfOpen, BreakerState::Closed) if !by_user => {
                prop_assert!(
                    self.worked == 1 && *cause == Some(BreakerCause::TrialPassed),
                    "one trial closes it"
                );
            }
            (from, to) => prop_assert!(to == BreakerState::Closed && by_user, "{from:?} to {to:?}"),
        }
        *self = Self {
            state: *state,
            due: resumes_at.map(|it| it.wall),
            trips: *trips,
            worked: 0,
            interrupted: None,
        };
        Ok(())
    }
}
