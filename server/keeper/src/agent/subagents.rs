//! What the agent's output says of its subagents: told to the loop, as its hooks tell of theirs.

use loopkeeper_agent::ToolUse;
use loopkeeper_core::decide::Event;
use loopkeeper_core::decide::spawns::SubagentEvent;

use super::{AgentTask, hook_injection};
use crate::agent_hooks;

impl AgentTask {
    /// A subagent that nobody was asked about is counted all the same.
    pub(super) fn count(&self, ToolUse { detail, call, within, .. }: &ToolUse) {
        let runtime = &self.context.runtime;
        if !hook_injection::asks_before_subagent(runtime, &self.start.plan) {
            let told = |it: &str| agent_hooks::redact_words(it, &runtime.redactor);
            let (by, id, what) = (within.as_deref().map(told), told(call), told(detail));
            self.context.send_event(Event::SubagentSeen(SubagentEvent::Seen { by, id, what }));
        }
    }

    /// Which of those that were asked about it is; one that nobody was asked about counts.
    pub(super) fn link(&self, call: &str, id: &str, what: &str) {
        let runtime = &self.context.runtime;
        if hook_injection::asks_before_subagent(runtime, &self.start.plan) {
            let told = |it: &str| agent_hooks::redact_words(it, &runtime.redactor);
            let (call, id, what) = (told(call), told(id), told(what));
            self.context.send_event(Event::SubagentSeen(SubagentEvent::Linked { call, id, what }));
        }
    }
}
