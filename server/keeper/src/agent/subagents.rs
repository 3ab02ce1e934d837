//! Reports subagents in the agent's output to the loop, in the same form as hooks do.

use loopkeeper_agent::ToolUse;
use loopkeeper_core::decide::Event;
use loopkeeper_core::decide::spawns::SubagentEvent;

use super::{AgentTask, hook_injection};
use crate::agent_hooks;

impl AgentTask {
    /// Counts a subagent that was started without a hook call.
    pub(super) fn count_subagent(&self, ToolUse { detail, call, within, .. }: &ToolUse) {
        let runtime = &self.context.runtime;
        if !hook_injection::asks_before_subagent(runtime, &self.start.plan) {
            let redacted = |it: &str| agent_hooks::redact_description(it, &runtime.redactor);
            let (by, id, what) = (within.as_deref().map(redacted), redacted(call), redacted(detail));
            self.context.send_event(Event::SubagentSeen(SubagentEvent::Seen { by, id, what }));
        }
    }

    /// Links a subagent to its hook call; one without a hook call still counts.
    pub(super) fn link_subagent(&self, call: &str, id: &str, what: &str) {
        let runtime = &self.context.runtime;
        if hook_injection::asks_before_subagent(runtime, &self.start.plan) {
            let redacted = |it: &str| agent_hooks::redact_description(it, &runtime.redactor);
            let (call, id, what) = (redacted(call), redacted(id), redacted(what));
            self.context.send_event(Event::SubagentSeen(SubagentEvent::Linked { call, id, what }));
        }
    }
}
