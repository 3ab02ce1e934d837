//! Describes the agent's activity in one line for users.

use loopkeeper_text::tr;

use crate::{AgentEvent, ToolKind, ToolUse};

pub fn describe_event(event: &AgentEvent) -> Option<String> {
    let first_line = |text: &str| text.lines().find(|it| !it.trim().is_empty()).map(str::to_owned);
    match event {
        AgentEvent::Started { model, .. } => Some(tr!("started {model}", model).trim_end().to_owned()),
        AgentEvent::Text(message) | AgentEvent::Unread(message) => first_line(message),
        AgentEvent::ToolUse(call) => Some(describe_tool(call)),
        AgentEvent::FileChange { path, .. } => Some(tr!("edited {path}", path)),
        AgentEvent::Retry { attempt, .. } => Some(tr!("its provider failed, retry {attempt}", attempt)),
        AgentEvent::Limit { rejected: true, .. } => {
            Some(tr!("its provider's usage limit is reached").to_owned())
        }
        AgentEvent::Limit { rejected: false, .. }
        | AgentEvent::ToolFailed { .. }
        | AgentEvent::Spawned { .. }
        | AgentEvent::Step { .. }
        | AgentEvent::Turn(_) => None,
        AgentEvent::Denied { tool, .. } => Some(tr!("was denied {tool}", tool)),
        AgentEvent::Oversize { bytes } => Some(tr!("printed a line of {bytes} bytes", bytes)),
    }
}

/// A description that is equal for all agents: `editing src/main.rs`.
fn describe_tool(call: &ToolUse) -> String {
    let ToolUse { act, tool, detail, within, .. } = call;
    let what = match act {
        ToolKind::Edit => tr!("editing {detail}", detail),
        ToolKind::Run => tr!("running {detail}", detail),
        ToolKind::Read => tr!("reading {detail}", detail),
        ToolKind::Search => tr!("searching {detail}", detail),
        ToolKind::Spawn => tr!("starting a subagent: {detail}", detail),
        ToolKind::Other => format!("{tool} {detail}"),
    };
    if within.is_some() { tr!("subagent: {what}", what) } else { what }
}

#[cfg(test)]
mod tests {
    use loopkeeper_text::language::Language;

    use super::{AgentEvent, ToolKind, ToolUse, describe_event};

    #[test]
    fn an_activity_is_described_in_the_language_of_the_user() {
        let check = |event: AgentEvent, english: &str, chinese: &str| {
            assert_eq!(describe_event(&event).as_deref(), Some(english));
            let described = Language::SimplifiedChinese.during(|| describe_event(&event));
            assert_eq!(described.as_deref(), Some(chinese));
        };
        let call = ToolUse {
            act: ToolKind::Edit,
            tool: "Edit".to_owned(),
            detail: "src/main.rs".to_owned(),
            call: "1".to_owned(),
            within: Some("0".to_owned()),
        };
        check(AgentEvent::ToolUse(call), "subagent: editing src/main.rs", "子代理：正在编辑 src/main.rs");
        check(
            AgentEvent::Retry { attempt: 2, status: None },
            "its provider failed, retry 2",
            "其提供商出错，第 2 次重试",
        );
        check(AgentEvent::Oversize { bytes: 9 }, "printed a line of 9 bytes", "输出了一行 9 字节的内容");
    }
}
