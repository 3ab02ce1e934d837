//! The breaker: stops a loop that is not getting anywhere. Counts work outcomes only; trouble of the provider
//! never trips it.

use crate::agent::AgentEnding;
use crate::journal::{BreakerState, Changes, Record};

use super::limits::iterations;
use super::state::{Breaker, Iteration, Loop};

/// Whether the iteration failed for reasons that say nothing about the work.
pub fn is_provider_trouble(row: &Iteration) -> bool {
    row.interrupted || row.error.is_some() || row.ending != Some(AgentEnding::Exited)
}

/// Takes one ended iteration into account.
pub(super) fn count(breaker: &mut Breaker, changes: &Changes, trouble: bool) {
    if changes.any() {
        breaker.no_progress = 0;
    } else if !trouble {
        breaker.no_progress = breaker.no_progress.saturating_add(1);
    }
}

/// The change that the last iteration brings about, if any.
pub(super) fn change(state: &Loop) -> Option<Record> {
    let breaker = &state.breaker;
    match breaker.state {
        BreakerState::Closed if breaker.no_progress >= state.spec.settings.breaker.no_progress => {
            Some(open(state, format!("{} without a file change", iterations(breaker.no_progress))))
        }
        BreakerState::HalfOpen if breaker.no_progress == 0 => Some(closed(breaker)),
        BreakerState::HalfOpen if breaker.no_progress >= state.spec.settings.breaker.no_progress => {
            Some(open(state, "tried again, still without a file change".to_owned()))
        }
        BreakerState::Closed | BreakerState::HalfOpen | BreakerState::Open => None,
    }
}

/// One iteration may show that the work gets on: the counter stands one short of opening again.
pub(super) fn half_open(state: &Loop) -> Record {
    Record::BreakerChanged {
        state: BreakerState::HalfOpen,
        reason: state.breaker.reason.clone(),
        no_progress: state.spec.settings.breaker.no_progress.saturating_sub(1).max(1),
        trips: state.breaker.trips,
    }
}

pub(super) fn closed(breaker: &Breaker) -> Record {
    Record::BreakerChanged { state: BreakerState::Closed, reason: None, no_progress: 0, trips: breaker.trips }
}

fn open(state: &Loop, reason: String) -> Record {
    Record::BreakerChanged {
        state: BreakerState::Open,
        reason: Some(reason),
        no_progress: state.breaker.no_progress,
        trips: state.breaker.trips.saturating_add(1),
    }
}
