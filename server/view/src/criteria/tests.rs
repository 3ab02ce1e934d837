use super::{criteria, criteria_without_loop};
use loopkeeper_core::check::{CheckResult, Status};
use loopkeeper_core::journal::{PinnedCriterion, Role};
use loopkeeper_task::criterion::{Check, Criterion, CriterionId};

fn criterion(id: &str, required: bool, check: Option<Check>) -> Criterion {
    Criterion { required, ..Criterion::new(id, format!("name of {id}"), check) }
}

fn result(id: &str, status: Status) -> CheckResult {
    CheckResult { duration_ms: 12, ..CheckResult::new(CriterionId(id.into()), status, "exit 1") }
}

#[test]
fn only_a_pass_by_its_own_check_holds() {
    let check = |required, check: Option<Check>, status: Option<Status>, expect: bool| {
        let results: Vec<_> = status.map(|it| result("a", it)).into_iter().collect();
        let shown = criteria_without_loop(&[criterion("a", required, check.clone())], &results);
        assert_eq!(shown.holds(), expect, "{required} {check:?} {status:?}");
    };
    check(true, Some(Check::Clean), Some(Status::Pass), true);
    check(true, Some(Check::Clean), None, false);
    for status in [
        Status::Fail,
        Status::TimedOut,
        Status::CouldNotRun,
        Status::NoTestsRan,
        Status::Unstable,
        Status::Unverified,
    ] {
        check(true, Some(Check::Clean), Some(status), false);
        check(false, Some(Check::Clean), Some(status), true);
    }
    // A result for a criterion without a check cannot make it hold.
    check(true, None, Some(Status::Pass), false);
    check(true, None, None, false);
}

#[test]
fn a_guard_that_does_not_pass_has_regressed() {
    let check = |role, status: Option<Status>, expect: bool| {
        let pinned = [PinnedCriterion { criterion: criterion("a", true, Some(Check::Clean)), role }];
        let results: Vec<_> = status.map(|it| result("a", it)).into_iter().collect();
        assert_eq!(criteria(&pinned, |_| results.first()).items[0].regressed, expect, "{role:?} {status:?}");
    };
    check(Role::Guard, Some(Status::Fail), true);
    check(Role::Guard, Some(Status::NoTestsRan), true);
    check(Role::Guard, Some(Status::Pass), false);
    check(Role::Guard, None, false);
    check(Role::Goal, Some(Status::Fail), false);
    check(Role::Open, Some(Status::Fail), false);
}

#[test]
fn criteria_that_never_ran_are_not_counted_as_failed() {
    let all = ["a", "b", "c"].map(|id| criterion(id, true, Some(Check::Clean)));
    let mut all = all.to_vec();
    all.push(criterion("d", true, None));
    let shown = criteria_without_loop(&all, &[result("a", Status::Pass), result("b", Status::TimedOut)]);
    assert_eq!((shown.passed, shown.failed, shown.unverified, shown.total), (1, 1, 1, 4));
    assert_eq!(shown.sentence(), "1 of 4 criteria pass, 1 not checked, 1 without a check");
    assert_eq!(shown.items[2].status, None);
}
