//! Loops played with a fake clock and observed after every turn.

use super::{AlertTracker, LoopAlert, RootHistory, needs_user};
use crate::status::{StatusFacts, status};
use loopkeeper_agent::ProviderClass;
use loopkeeper_core::decide::UserCommand;
use loopkeeper_core::decide::sim::{Sim, Turn, criterion, spec};
use loopkeeper_core::journal::LoopSpec;
use loopkeeper_core::liveness::KeeperLiveness;

fn one_criterion() -> LoopSpec {
    let mut spec = spec(vec![criterion("tests pass", "make test")]);
    spec.settings.limits.iterations = 20;
    spec
}

/// Each alert with the last started iteration, in short: `2 stall-ahead`.
struct Observer {
    sim: Sim,
    tracker: AlertTracker,
    alerts: Vec<String>,
}

impl Observer {
    fn of(sim: Sim) -> Self {
        Self { sim, tracker: AlertTracker::default(), alerts: Vec::new() }
    }

    fn observe(&mut self, root: RootHistory) {
        let state = &self.sim.state;
        let facts =
            StatusFacts { keeper: KeeperLiveness::RUNNING, now: self.sim.now, ..StatusFacts::default() };
        let shown = status(state, &facts);
        let Some(alert) = self.tracker.observe(&shown, state, root) else { return };
        let what = match alert {
            LoopAlert::Ended => "ended".to_owned(),
            LoopAlert::NeedsYou => {
                assert!(needs_user(&shown));
                "needs you".to_owned()
            }
            LoopAlert::BreakerOpen => "breaker open".to_owned(),
            LoopAlert::Warnings(all) => {
                all.iter().map(|it| format!("{:?}", it.cause)).collect::<Vec<_>>().join(" and ")
            }
        };
        self.alerts.push(format!("{} {what}", state.iteration));
    }

    /// Until the loop ends or waits for its user.
    fn play(mut self) -> Self {
        self.observe(RootHistory::Observed);
        while self.sim.step() {
            self.observe(RootHistory::Observed);
        }
        self
    }
}

#[track_caller]
fn check(spec: LoopSpec, turns: Vec<Turn>, expect: &[&str]) {
    assert_eq!(Observer::of(Sim::new(spec, "f", turns)).play().alerts, expect);
}

#[test]
fn a_loop_that_works_and_ends_is_one_alert() {
    check(one_criterion(), vec![Turn::new("f"), Turn::new("f"), Turn::new("p")], &["3 ended"]);
}

#[test]
fn a_cause_is_reported_once_however_often_it_comes_back() {
    let (idle, work) = (|| Turn::idle("f"), || Turn::new("f"));
    let turns = vec![idle(), idle(), work(), idle(), idle(), work(), Turn::new("p")];
    check(one_criterion(), turns, &["3 StallAhead(NoProgress)", "7 ended"]);
}

#[test]
fn a_stall_is_followed_by_the_open_breaker() {
    let mut spec = one_criterion();
    spec.settings.breaker.max_trips = 9;
    let turns = vec![Turn::idle("f"), Turn::idle("f"), Turn::idle("f"), Turn::new("p")];
    check(spec, turns, &["3 StallAhead(NoProgress)", "3 breaker open", "4 ended"]);
}

#[test]
fn limits_are_reported_while_the_loop_works_and_not_at_its_end() {
    let mut spec = one_criterion();
    spec.settings.limits.iterations = 5;
    let work = |count: usize| (0..count).map(|_| Turn::new("f")).collect::<Vec<_>>();
    check(spec.clone(), work(5), &["4 LimitNear(Iterations)", "5 ended"]);
    // Four of five iterations are used, and the fourth completes the task.
    let turns = [work(3), vec![Turn::new("p")]].concat();
    let mut observer = Observer::of(Sim::new(spec, "f", turns)).play();
    assert_eq!(observer.alerts.pop().as_deref(), Some("4 ended"));
}

#[test]
fn a_loop_that_needs_its_user_is_not_also_warned_about() {
    let turns = (0..5).map(|_| Turn::fails(ProviderClass::Login, "f")).collect();
    let alerts = Observer::of(Sim::new(one_criterion(), "f", turns)).play().alerts;
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    assert!(alerts[0].ends_with("needs you"), "{alerts:?}");
}

#[test]
fn a_stop_that_the_user_just_gave_has_no_alert() {
    let stopped = |wait_ms: u64| {
        let mut observer =
            Observer::of(Sim::new(one_criterion(), "f", vec![Turn { takes_ms: wait_ms, ..Turn::new("f") }]));
        observer.observe(RootHistory::Observed);
        while observer.sim.state.iteration == 0 {
            assert!(observer.sim.step());
            observer.observe(RootHistory::Observed);
        }
        observer.sim.command(UserCommand::Stop);
        observer.play().alerts
    };
    assert_eq!(stopped(5_000), <[String; 0]>::default());
    assert_eq!(stopped(20 * 60_000), ["1 ended"], "the user may have left in the meantime");
}

#[test]
fn earlier_states_are_not_reported() {
    let mut observer =
        Observer::of(Sim::new(one_criterion(), "f", vec![Turn::idle("f"), Turn::idle("f"), Turn::new("p")]));
    while observer.sim.state.iteration < 3 {
        assert!(observer.sim.step());
    }
    observer.observe(RootHistory::New);
    assert_eq!(observer.play().alerts, ["3 ended"]);
    let ended = Sim::new(one_criterion(), "f", vec![Turn::new("p")]).run();
    let mut late = Observer::of(ended);
    late.observe(RootHistory::New);
    assert_eq!(late.alerts, <[String; 0]>::default());
    // A loop that began and ended between two observations.
    let mut quick = Observer { tracker: AlertTracker::default(), ..late };
    quick.observe(RootHistory::Observed);
    assert_eq!(quick.alerts, ["1 ended"]);
    // After `retain` removed it, the loop counts as new.
    quick.tracker.retain(|_| false);
    quick.observe(RootHistory::New);
    assert_eq!(quick.alerts.len(), 1);
}
