//! Files that go back and forth: every iteration changes the tree, and to a tree that was there before. Once is a
//! revert; again and again is two answers to one question.

use super::history::BreakerHistory;

/// So many iterations back a tree is known again.
pub(super) const WINDOW: usize = 10;
/// So many returns within the window open the breaker.
pub(super) const RETURNS: u32 = 3;

/// Iterations among the last ones that came back to the tree of an earlier one.
pub(super) fn count_returns(past: &BreakerHistory<'_>) -> u32 {
    past.counted_iterations().rev().take(WINDOW).filter(|it| it.returned).count() as u32
}

/// The trees that came back, each with the iterations that left it.
pub(super) fn recurring_trees<'a>(past: &BreakerHistory<'a>) -> Vec<(&'a str, Vec<u32>)> {
    let window: Vec<_> = past.counted_iterations().rev().take(WINDOW).collect();
    let mut found: Vec<(&str, Vec<u32>)> = Vec::new();
    for look in window.iter().rev().filter(|it| it.returned) {
        if !found.iter().any(|(tree, _)| *tree == look.tree) {
            let left = past.counted_iterations().filter(|it| it.tree == look.tree && it.changed());
            found.push((look.tree, left.map(|it| it.row.number).collect()));
        }
    }
    found
}
