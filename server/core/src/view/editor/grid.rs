//! Criteria over iterations as plain text: the best single picture of a loop.

use crate::decide::Loop;
use crate::task::CriterionId;

/// One criterion over the iterations, the baseline first: `✗✗✓✓`, `·` where it was not judged.
pub fn row(_state: &Loop, _criterion: &CriterionId) -> String {
    String::new()
}

/// All of them with the breaker and the changed files below, the last 30 iterations.
pub fn grid(_state: &Loop) -> String {
    String::new()
}
