//! Several agents for one loop: which agent works on which iteration, depending on the earlier ones.

use crate::decide::sim::{Sim, Turn, criterion, quiet_run, spec};
use crate::decide::{Event, UserCommand, replay, takeover};
use crate::journal::TakeoverReason::{Back, Failing};
use crate::journal::{AgentPlan, Entry, LoopSpec, PauseReason, Record, TakeoverReason, WaitReason};
use loopkeeper_agent::ProviderClass::{Crash, Login, Quota, Transient};
use loopkeeper_agent::{AgentRun, ProviderClass, ProviderError};

const HOUR: u64 = 60 * 60_000;

/// `mine`, then `other`.
fn two() -> LoopSpec {
    let mut spec = spec(vec![criterion("tests pass", "make test")]);
    spec.settings.limits.duration_ms = 1_000 * HOUR;
    spec.settings.breaker.no_progress = 99;
    spec.settings.breaker.fast_failures = 99;
    spec.settings.session.resume = true;
    spec.fallbacks = vec![AgentPlan { name: "other".to_owned(), ..spec.agent.clone() }];
    spec
}

/// The end of an iteration: its hours, the failure of its provider, and the hours until the limit resets.
type End = (u64, Option<ProviderClass>, Option<u64>);

const WORKS: End = (0, None, None);

struct Played(Sim);

impl Played {
    fn new() -> Self {
        Self(Sim::new(two(), "f", Vec::<Turn>::new()))
    }

    /// Until the agent of the next iteration is at work; false where the loop pauses instead.
    fn next(&mut self) -> bool {
        let sim = &mut self.0;
        let next = sim.state.iteration + 1;
        while sim.state.iteration < next || sim.state.phase.running_agent().is_none_or(|it| it.pid.is_none())
        {
            if !sim.step() {
                return false;
            }
        }
        true
    }

    fn ends(&mut self, (hours, class, resets_in): End) {
        let sim = &mut self.0;
        sim.now = sim.now.plus_ms(hours * HOUR);
        let resets_at = resets_in.map(|it| sim.now.wall + it * HOUR);
        let error = |class| ProviderError { class, message: "no luck".to_owned(), status: None, resets_at };
        let run = AgentRun { error: class.map(error), exit: Some(0), ..quiet_run() };
        sim.event(Event::AgentEnded(Box::new(run)));
    }

    fn reasons(&self) -> Vec<TakeoverReason> {
        let reason = |record: &Record| match record {
            Record::AgentChanged { reason, .. } => Some(*reason),
            _ => None,
        };
        self.0.entries.iter().filter_map(|it| reason(&it.record)).collect()
    }
}

/// The agents of the iterations, each with the whole hours of waiting before it, and why they changed.
#[track_caller]
fn check(ends: &[End], agents: &[(&str, u64)], reasons: &[TakeoverReason]) -> Played {
    let mut played = Played::new();
    let mut found = Vec::new();
    let mut ended = played.0.now;
    for end in ends {
        if !played.next() {
            break;
        }
        let row = played.0.state.last_iteration().unwrap();
        let waited = row.started_at.awake.saturating_sub(ended.awake) / HOUR;
        found.push((row.agent.clone(), waited));
        played.ends(*end);
        ended = played.0.now;
    }
    let found: Vec<(&str, u64)> = found.iter().map(|(name, waited)| (name.as_str(), *waited)).collect();
    assert_eq!(found, agents, "{ends:?}");
    assert_eq!(played.reasons(), reasons, "{ends:?}");
    played
}

#[test]
fn at_a_usage_limit_the_next_agent_works_and_the_first_returns_after_its_reset() {
    let limited = (0, Some(Quota), Some(3));
    check(&[limited, WORKS, WORKS], &[("mine", 0), ("other", 0), ("other", 0)], &[TakeoverReason::Quota]);
    // The second works until the reset is over.
    let long = (4, None, None);
    check(&[limited, long, WORKS], &[("mine", 0), ("other", 0), ("mine", 0)], &[TakeoverReason::Quota, Back]);
    // A session belongs to its agent.
    let played =
        check(&[WORKS, limited, WORKS], &[("mine", 0), ("mine", 0), ("other", 0)], &[TakeoverReason::Quota]);
    let resumed: Vec<bool> = played.0.sessions.iter().map(|(_, resumed)| *resumed).collect();
    assert_eq!(resumed, [false, true, false]);
}

#[test]
fn if_both_are_limited_the_earlier_reset_counts() {
    let until = |hours| (0, Some(Quota), Some(hours));
    let quota = TakeoverReason::Quota;
    check(&[until(5), until(2), WORKS], &[("mine", 0), ("other", 0), ("other", 2)], &[quota]);
    let played =
        check(&[until(2), until(5), WORKS], &[("mine", 0), ("other", 0), ("mine", 2)], &[quota, quota]);
    let wait = played.0.entries.iter().find_map(|it| match &it.record {
        Record::Waiting { reason, .. } => Some(*reason),
        _ => None,
    });
    assert_eq!(wait, Some(WaitReason::Quota));
}

#[test]
fn a_logged_out_agent_is_retried_only_by_command() {
    let login = (0, Some(Login), None);
    let long = (9, None, None);
    let reasons = [TakeoverReason::Login];
    check(&[login, long, WORKS], &[("mine", 0), ("other", 0), ("other", 0)], &reasons);
    let mut played = check(&[login, login, WORKS], &[("mine", 0), ("other", 0)], &reasons);
    let sim = &mut played.0;
    assert_eq!(sim.state.pause.as_ref().map(|it| it.reason), Some(PauseReason::Agent), "{}", sim.sentence());
    sim.command(UserCommand::Resume);
    assert!(played.next());
    assert_eq!(played.0.state.spec.agent.name, "mine");
}

#[test]
fn a_reset_is_awaited_if_the_working_agent_needs_the_user() {
    let ends = [(0, Some(Quota), Some(5)), (0, Some(Login), None), WORKS];
    let reasons = [TakeoverReason::Quota, TakeoverReason::Login];
    check(&ends, &[("mine", 0), ("other", 0), ("mine", 5)], &reasons);
}

#[test]
fn a_fallback_agent_and_its_reason_are_shown_until_the_first_returns() {
    let mut played = Played::new();
    let shown = |played: &Played| takeover::describe_replacement(&played.0.state);
    assert!(played.next());
    assert_eq!(shown(&played), None);
    played.ends((0, Some(Quota), Some(3)));
    assert!(played.next());
    let words = "other takes over: mine is at its usage limit";
    assert_eq!(shown(&played).as_deref(), Some(words));
    played.ends((4, None, None));
    assert!(played.next());
    assert_eq!((played.0.state.spec.agent.name.as_str(), shown(&played)), ("mine", None));
}

#[test]
fn a_takeover_survives_a_crash_at_any_record() {
    let changed = |it: &Entry| matches!(it.record, Record::AgentChanged { .. });
    // By the records that were written when the keeper died: before the takeover, just after it, and later.
    for more in 0..4 {
        for boot in ["boot-1", "boot-2"] {
            let mut played = Played::new();
            assert!(played.next());
            played.ends((0, Some(Quota), Some(3)));
            let sim = &mut played.0;
            while !sim.entries.iter().any(changed) {
                assert!(sim.step());
            }
            let at = sim.entries.iter().position(changed).unwrap();
            while sim.entries.len() < at + more {
                assert!(sim.step());
            }
            sim.entries.truncate(at + more);
            sim.crash(boot);
            assert!(played.next(), "{more} {boot}");
            let state = &played.0.state;
            assert_eq!(state.spec.agent.name, "other", "{more} {boot}");
            assert_eq!(played.reasons(), [TakeoverReason::Quota], "{more} {boot}");
            assert_eq!(replay(&played.0.entries).as_ref(), Some(state));
            played.ends((4, None, None));
            assert!(played.next());
            assert_eq!(played.0.state.spec.agent.name, "mine", "{more} {boot}");
        }
    }
}

#[test]
fn an_agent_is_replaced_after_three_crashes_and_retried_after_an_hour() {
    let crash = (0, Some(Crash), None);
    let hour = (2, None, None);
    check(
        &[crash, crash, crash, hour, crash],
        &[("mine", 0), ("mine", 0), ("mine", 0), ("other", 0), ("mine", 0)],
        &[Failing, Back],
    );
    // A temporary overload does not replace the agent.
    let busy = (0, Some(Transient), None);
    check(&[busy, busy, WORKS], &[("mine", 0), ("mine", 0), ("mine", 0)], &[]);
}

#[test]
fn waits_for_limits_that_stay_reached_grow_with_several_agents() {
    let limited: End = (0, Some(Quota), Some(0));
    let mut played = Played::new();
    let begun = played.0.now;
    for _ in 0..12 {
        assert!(played.next());
        played.ends(limited);
    }
    let waited = played.0.now.ms_since(begun);
    assert!(waited > HOUR / 2, "{waited} ms");
}
