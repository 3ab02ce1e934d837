//! Commands reserved for the user that other processes sent.

use std::collections::BTreeMap;

use crate::journal::{GuardedOrder, OrderSource};

/// Attempts so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Attempts {
    /// Recorded attempts of each kind.
    pub counts: BTreeMap<(OrderSource, GuardedOrder), u32>,
    /// The warden of the last agent.
    pub(crate) agent: Option<u32>,
}

impl Attempts {
    pub(crate) fn record(&mut self, order: GuardedOrder, by: OrderSource) {
        *self.counts.entry((by, order)).or_default() += 1;
    }

    pub(crate) fn total(&self) -> u32 {
        self.counts.values().sum()
    }
}
