//! One of a loop's agents, and whether it is available.

use crate::journal::{AgentPlan, TakeoverReason};
use loopkeeper_text::moment::Moment;
use serde::{Deserialize, Serialize};

/// One of the loop's agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSlot {
    pub plan: AgentPlan,
    pub out: Availability,
    /// Why another one took over from it, the last time.
    pub replaced_for: Option<TakeoverReason>,
}

/// Whether it can be set to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Availability {
    No,
    Until(Moment),
    /// Nothing but the user mends it.
    ForTheUser,
}

impl Availability {
    pub(crate) fn is_over(self, now: Moment) -> bool {
        match self {
            Self::No => true,
            Self::Until(until) => until.awake <= now.awake,
            Self::ForTheUser => false,
        }
    }

    pub(crate) fn until(self) -> Option<Moment> {
        match self {
            Self::Until(until) => Some(until),
            Self::No | Self::ForTheUser => None,
        }
    }
}
