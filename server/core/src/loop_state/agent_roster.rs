//! The agents of a loop, and the process of the current one.

use crate::journal::{AgentPlan, LoopSpec};
use loopkeeper_text::moment::Moment;
use serde::{Deserialize, Serialize};

use super::{AgentOutage, AgentSlot};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentRoster {
    /// In the order of the list; `spec.agent` is the one at work.
    pub roster: Vec<AgentSlot>,
    pub hold: AgentHold,
    /// By command of the user, usage limits that other loops reached are ignored until then.
    pub limit_overridden: Option<Moment>,
}

/// The agent's process between two of its turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AgentHold {
    /// It is alive and held by its stop hook: the next iteration can be its answer.
    pub is_held: bool,
    /// How often its stop hook could still hold it in its last turn; `None`: no limit.
    pub holds_left: Option<u32>,
}

impl AgentRoster {
    pub(crate) fn starting(spec: &LoopSpec) -> Self {
        let slot = |plan: &AgentPlan| AgentSlot {
            plan: plan.clone(),
            outage: AgentOutage::None,
            replaced_for: None,
            stalls: 0,
        };
        Self { roster: spec.agents().map(slot).collect(), hold: AgentHold::default(), limit_overridden: None }
    }
}
