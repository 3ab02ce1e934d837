//! Cost, tokens and calls that a loop has spent.

use crate::jury::JudgeUsage;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LoopUsage {
    /// `None`: the agent never reported it.
    pub cost_micros: Option<u64>,
    pub tokens: Option<u64>,
    /// Agent starts.
    pub calls: u32,
    /// Agent starts of all loops of this user in the hour up to the last one of this loop.
    pub calls_this_hour: u32,
}

impl LoopUsage {
    /// The cost of judges counts like the cost of the agent.
    pub(crate) fn add(&mut self, asked: JudgeUsage) {
        let mut all = JudgeUsage { calls: self.calls, cost_micros: self.cost_micros, tokens: self.tokens };
        all.add(asked);
        (self.calls, self.cost_micros, self.tokens) = (all.calls, all.cost_micros, all.tokens);
    }
}
