//! Simulates the list of calls that all loops of a user share.

use super::Sim;
use crate::decide::{CallSlot, Event};

impl Sim {
    /// The usage limit of the agent at work that another loop reached.
    pub(super) fn known_limit(&self) -> Option<Event> {
        let agent = &self.state.spec.agent.name;
        let known = self.limited.iter().find(|(name, until)| name == agent && *until > self.now.wall)?;
        let until = self.now.plus_ms(known.1 - self.now.wall);
        Some(Event::UsageLimitShared { until, met_by: "20261120-other2".to_owned() })
    }

    pub(super) fn take_call(&mut self, iteration: u32) -> CallSlot {
        const HOUR: u64 = 3_600_000;
        let limit = self.state.spec.settings.limits.calls_per_hour as usize;
        let now = self.now;
        let Some(calls) = &mut self.calls else { return CallSlot::Unknown { message: "no list".to_owned() } };
        calls.retain(|(at, of, n)| now.wall < at + HOUR && (*of, *n) != ("own", iteration));
        if let Some((oldest, ..)) = calls.len().checked_sub(limit).and_then(|it| calls.get(it)) {
            return CallSlot::Full { until: now.plus_ms(oldest + HOUR - now.wall) };
        }
        calls.push((now.wall, "own", iteration));
        CallSlot::Taken { this_hour: calls.len() as u32 }
    }
}
