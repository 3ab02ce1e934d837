//! One of a loop's agents, and whether it can be started.

use crate::journal::{AgentPlan, TakeoverReason};
use loopkeeper_text::moment::Moment;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSlot {
    pub plan: AgentPlan,
    #[serde(rename = "out")]
    pub outage: AgentOutage,
    /// Why another one took over from it, the last time.
    pub replaced_for: Option<TakeoverReason>,
    /// How often in a row it was at its usage limit when another one took over.
    pub(crate) stalls: u32,
}

/// Whether, and how long, an agent cannot be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum AgentOutage {
    #[serde(rename = "No")]
    None,
    Until(Moment),
    /// Only the user can end it, for example by logging in.
    #[serde(rename = "ForTheUser")]
    UntilUserActs,
}

impl AgentOutage {
    pub(crate) fn is_over(self, now: Moment) -> bool {
        match self {
            Self::None => true,
            Self::Until(until) => until.awake <= now.awake,
            Self::UntilUserActs => false,
        }
    }

    pub(crate) fn until(self) -> Option<Moment> {
        match self {
            Self::Until(until) => Some(until),
            Self::None | Self::UntilUserActs => None,
        }
    }
}
