use super::{LoopDuration, history, upper_bound};
use loopkeeper_core::decide::sim::{Sim, Turn, criterion, spec};
use loopkeeper_core::settings::LimitSettings;
use loopkeeper_task::TaskId;

fn took(task: &str, iterations: u64, minutes: u64, cents: Option<u64>) -> LoopDuration {
    LoopDuration {
        task: TaskId(task.to_owned()),
        iterations,
        duration_ms: minutes * 60_000,
        cost_micros: cents.map(|it| it * 10_000),
    }
}

#[test]
fn loops_on_the_task_come_before_those_of_the_folder() {
    let check = |ended: &[LoopDuration], expect: Option<&str>| {
        assert_eq!(history(ended, &TaskId("a".to_owned())).as_deref(), expect);
    };
    check(&[], None);
    check(&[took("a", 1, 2, Some(30))], Some("The last loop on this task took 1 iteration, 2 min and $0.30"));
    check(&[took("b", 4, 9, None)], Some("The last loop in this folder took 4 iterations and 9 min"));
    let all = [took("b", 90, 90, Some(900)), took("a", 3, 10, Some(100)), took("a", 9, 30, None)];
    check(&all, Some("2 loops on this task took 3 iterations, 10 min and $1.00 (medians)"));
    let all = [took("b", 1, 1, Some(1)), took("c", 5, 5, Some(5)), took("c", 9, 9, Some(9))];
    check(&all, Some("3 loops in this folder took 5 iterations, 5 min and $0.05 (medians)"));
}

#[test]
fn the_upper_bound_is_that_of_the_limits() {
    let limits = LimitSettings { iterations: 1, duration_ms: 45 * 60_000, ..LimitSettings::default() };
    assert_eq!(upper_bound(&limits, true), "At most 1 iteration, 45 min and $25.00");
    let unknown = "At most 1 iteration and 45 min; cost not reported";
    assert_eq!(upper_bound(&limits, false), unknown);
}

#[test]
fn only_ended_loops_that_worked_count() {
    let spec = || spec(vec![criterion("tests pass", "make test")]);
    let ended = Sim::new(spec(), "f", vec![Turn::new("p")]).run();
    assert_eq!(LoopDuration::of(&ended.state).map(|it| it.iterations), Some(1));
    let held = Sim::new(spec(), "p", Vec::new()).run();
    assert_eq!(LoopDuration::of(&held.state), None);
    let fresh = Sim::new(spec(), "f", vec![Turn::new("f")]);
    assert_eq!(LoopDuration::of(&fresh.state), None);
}
