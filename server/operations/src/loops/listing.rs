//! Orders the loops that are listed, and limits the number of ended ones.

use super::LoopView;

/// Number of ended loops that are listed.
const MAX_ENDED: usize = 20;

/// Open loops first, then the newest; only a limited number of ended ones. Filled newest first.
#[derive(Debug)]
pub struct LoopListing<T> {
    alive: Vec<T>,
    interrupted: Vec<T>,
    ended: Vec<T>,
}

impl<T> LoopListing<T> {
    /// Keeps what `show` makes of the loop, and nothing of a loop that is not listed.
    pub fn add(&mut self, loop_view: LoopView, show: impl FnOnce(LoopView) -> T) {
        let (list, limit) = match (loop_view.is_open(), loop_view.is_alive()) {
            (true, true) => (&mut self.alive, usize::MAX),
            (true, false) => (&mut self.interrupted, usize::MAX),
            (false, _) => (&mut self.ended, MAX_ENDED),
        };
        if list.len() < limit {
            list.push(show(loop_view));
        }
    }

    pub fn in_order(self) -> Vec<T> {
        [self.alive, self.interrupted, self.ended].into_iter().flatten().collect()
    }
}

// Derived, it would ask for a default of `T`.
impl<T> Default for LoopListing<T> {
    fn default() -> Self {
        Self { alive: Vec::new(), interrupted: Vec::new(), ended: Vec::new() }
    }
}
