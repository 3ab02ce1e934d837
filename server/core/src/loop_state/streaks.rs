//! Counts of events in a row, across all restarts.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Streaks {
    /// Agent failures without any change of the tree.
    pub failures: u32,
    /// Iterations that the provider rejected or failed temporarily, since the last change of the tree.
    pub stalls: u32,
    /// Done signals: iterations that ended with a claim. Words alone are one only where nothing changed.
    pub claims: u32,
    /// Iterations that the loop itself rolled back.
    pub rollbacks: u32,
}

impl Streaks {
    /// Another agent works from here on, or the user resumed the loop: earlier failures do not predict later ones.
    pub(crate) fn clear_agent_failures(&mut self) {
        (self.failures, self.stalls) = (0, 0);
    }
}
