//! Renders the lines about a loop's start: agent and task, and the limits.

use loopkeeper_agent::LoopMode;
use loopkeeper_agent::kind::{Capabilities, SubagentSupport, Support};
use loopkeeper_core::journal::LoopSpec;
use loopkeeper_text::{sanitize, tr, words};
use loopkeeper_view::sentences;

/// `loop 20261120-abcdef on PROMPT.md with claude, then codex`
pub(super) fn describe_start(spec: &LoopSpec) -> String {
    let agents: Vec<_> = spec.agents().map(|it| it.name.as_str()).collect();
    tr!(
        "loop {id} on {task} with {agents}",
        id = spec.loop_id,
        task = sanitize::line(&spec.task.0),
        agents = agents.join(tr!(", then "))
    )
}

/// `Limits: 25 iterations, 8 h, $25.00. Breaker preset: …`
pub(super) fn limits(spec: &LoopSpec) -> String {
    let limits = &spec.settings.limits;
    let cost = cost(&spec.agent.kind().capabilities(), spec.settings.mode, limits.cost_micros);
    let preset = spec.preset.as_ref().map_or(String::new(), |it| sanitize::line(&it.because));
    let breaker = if preset.is_empty() { preset } else { tr!(" Breaker preset: {preset}.", preset) };
    tr!(
        "Limits: {iterations}, {duration}{cost}.{breaker}",
        iterations = words::counted(u64::from(limits.iterations), "iteration"),
        duration = words::duration(limits.duration_ms),
        cost,
        breaker
    )
}

/// The cost limit, or why it cannot apply.
fn cost(capabilities: &Capabilities, mode: LoopMode, limit: u64) -> String {
    let capabilities = capabilities.in_mode(mode);
    if mode == LoopMode::Attach {
        return tr!(". {sentence}", sentence = words::capitalised(sentences::no_cost(mode)));
    }
    match (capabilities.cost, capabilities.subagents) {
        (Support::Yes, _) => tr!(", {cost}", cost = words::cost(limit)),
        (Support::No | Support::Unknown, SubagentSupport::Unseen) => {
            tr!(". This agent reports no cost, so `limits.cost_usd` cannot apply, and its subagents are not counted").to_owned()
        }
        (Support::No | Support::Unknown, _) => {
            tr!(". This agent reports no cost, so `limits.cost_usd` cannot apply").to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LoopMode, cost};
    use loopkeeper_agent::kind::AgentKind;

    #[test]
    fn a_limit_that_cannot_apply_is_not_promised() {
        let check = |kind: AgentKind, mode: LoopMode, expect: &str| {
            assert_eq!(cost(&kind.capabilities(), mode, 25_000_000), expect, "{kind:?} {mode:?}");
        };
        let none = ". This agent reports no cost, so `limits.cost_usd` cannot apply";
        check(AgentKind::Claude, LoopMode::Loop, ", $25.00");
        check(AgentKind::Claude, LoopMode::Hook, ", $25.00");
        let attached = ". Cost unknown: Claude does not report it in an interactive session";
        check(AgentKind::Claude, LoopMode::Attach, attached);
        check(AgentKind::Codex, LoopMode::Hook, none);
        check(AgentKind::Copilot, LoopMode::Loop, &format!("{none}, and its subagents are not counted"));
    }
}
