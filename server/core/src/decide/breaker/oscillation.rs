//! Detects files that alternate: every iteration changes the tree to one that occurred before. One return is a revert;
//! repeated returns mean that the agent alternates between two solutions.

use super::history::{BreakerHistory, FinishedIteration, WINDOW};

/// Number of returns within the window that opens the breaker.
pub(super) const MAX_RETURNS: u32 = 3;

/// Number of recent iterations that returned to the tree of an earlier one.
pub(super) fn count_returns(past: &BreakerHistory<'_>) -> u32 {
    past.counted_iterations().rev().take(WINDOW).filter(FinishedIteration::repeats_earlier_tree).count()
        as u32
}

/// The recurring trees, each with the iterations that produced it.
pub(super) fn recurring_trees<'a>(past: &BreakerHistory<'a>) -> Vec<(&'a str, Vec<u32>)> {
    let window: Vec<_> = past.counted_iterations().rev().take(WINDOW).collect();
    let mut found: Vec<(&str, Vec<u32>)> = Vec::new();
    for iteration in window.iter().rev().filter(|it| it.repeats_earlier_tree()) {
        if !found.iter().any(|(tree, _)| *tree == iteration.tree()) {
            let left = past.counted_iterations().filter(|it| it.changed() && it.tree() == iteration.tree());
            found.push((iteration.tree(), left.map(|it| it.outline.figures.number).collect()));
        }
    }
    found
}
