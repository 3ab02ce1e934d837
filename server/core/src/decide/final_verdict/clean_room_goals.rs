//! The goals of a clean room, and those of them that are judged with new tests.

use std::collections::BTreeSet;

use crate::check::{CheckResult, Status};
use crate::journal::{Role, Round};
use crate::loop_state::{LoopState, runs_in_clean_room};
use loopkeeper_task::criterion::{Criterion, CriterionId};

use super::ran_tests_at_start;

/// The goals that a clean room can judge. A goal that fails with the tests of the start is judged again with the files to
/// which tests were only added, if it may require new tests: it ran none at the start, or only their coverage fails.
#[derive(Debug, Clone, Default)]
pub struct CleanRoomGoals {
    goals: Vec<Criterion>,
    ran_tests: BTreeSet<CriterionId>,
}

impl CleanRoomGoals {
    pub fn of(state: &LoopState) -> Self {
        let goals = state
            .criteria
            .pinned
            .iter()
            .filter(|it| it.role == Role::Goal && runs_in_clean_room(&it.criterion));
        let goals: Vec<Criterion> = goals.map(|it| it.criterion.clone()).collect();
        let ran_tests = goals.iter().map(|it| &it.id).filter(|it| ran_tests_at_start(state, it)).cloned();
        Self { ran_tests: ran_tests.collect(), goals }
    }

    pub fn contains(&self, criterion: &Criterion) -> bool {
        self.goals.iter().any(|it| it.id == criterion.id)
    }

    /// Those to judge again after a round with the tests of the start.
    pub fn to_repeat(&self, round: &Round) -> Vec<Criterion> {
        let needs_new_tests = |it: &&Criterion| {
            let failed = round.result(&it.id).filter(|it| it.status != Status::Pass);
            failed.is_some_and(|result| !self.ran_tests.contains(&it.id) || lacks_coverage(result))
        };
        self.goals.iter().filter(needs_new_tests).cloned().collect()
    }
}

/// Whether all tests pass, and cover too little.
fn lacks_coverage(result: &CheckResult) -> bool {
    const COVERAGE_FAILURES: [&str; 5] = [
        "Required test coverage of",
        "Coverage failure: total of",
        "coverage threshold for",
        "ERROR: Coverage for",
        "does not meet global threshold",
    ];
    let all_pass = result.tests.as_ref().is_some_and(|it| it.passed > 0 && it.failed == 0);
    all_pass
        && COVERAGE_FAILURES
            .iter()
            .any(|sign| [&result.head, &result.tail].iter().any(|it| it.contains(sign)))
}

/// The criteria that a clean room can judge: the others read the work tree, or ask an agent.
pub fn judged_in_room(criteria: &[Criterion]) -> Vec<Criterion> {
    criteria.iter().filter(|it| runs_in_clean_room(it)).cloned().collect()
}
