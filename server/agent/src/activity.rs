//! Describes the agent's activity in one line for users.

use crate::{AgentEvent, ToolKind, ToolUse};

pub fn describe_event(event: &AgentEvent) -> Option<String> {
    let first_line = |text: &str| text.lines().find(|it| !it.trim().is_empty()).map(str::to_owned);
    match event {
        AgentEvent::Started { model, .. } => Some(format!("started {model}").trim_end().to_owned()),
        AgentEvent::Text(message) | AgentEvent::Unread(message) => first_line(message),
        AgentEvent::ToolUse(call) => Some(describe_tool(call)),
        AgentEvent::FileChange { path, .. } => Some(format!("edited {path}")),
        AgentEvent::Retry { attempt, .. } => Some(format!("its provider failed, retry {attempt}")),
        AgentEvent::Limit { rejected: true, .. } => Some("its provider's usage limit is reached".to_owned()),
        AgentEvent::Limit { rejected: false, .. }
        | AgentEvent::ToolFailed { .. }
        | AgentEvent::Spawned { .. }
        | AgentEvent::Step { .. }
        | AgentEvent::Turn(_) => None,
        AgentEvent::Denied { tool, .. } => Some(format!("was denied {tool}")),
        AgentEvent::Oversize { bytes } => Some(format!("printed a line of {bytes} bytes")),
    }
}

/// A description that is equal for all agents: `editing src/main.rs`.
fn describe_tool(call: &ToolUse) -> String {
    let ToolUse { act, tool, detail, within, .. } = call;
    let what = match act {
        ToolKind::Edit => format!("editing {detail}"),
        ToolKind::Run => format!("running {detail}"),
        ToolKind::Read => format!("reading {detail}"),
        ToolKind::Search => format!("searching {detail}"),
        ToolKind::Spawn => format!("starting a subagent: {detail}"),
        ToolKind::Other => format!("{tool} {detail}"),
    };
    if within.is_some() { format!("subagent: {what}") } else { what }
}
