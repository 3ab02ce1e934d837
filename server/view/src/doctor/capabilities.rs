//! The capabilities of an agent as text.

use loopkeeper_agent::kind::{Capabilities, StopHook, SubagentSupport, Support};

/// Name and value, in the order of the documentation page about agents.
pub fn capabilities(can: &Capabilities) -> Vec<(&'static str, String)> {
    let word = |it: Support| match it {
        Support::Yes => "yes".to_owned(),
        Support::No => "no".to_owned(),
        Support::Unknown => "unknown".to_owned(),
    };
    let stop_hook = match can.stop_hook {
        StopHook::OfFolder => "yes, in a file of the folder it works in".to_owned(),
        StopHook::Unbounded => "yes".to_owned(),
        StopHook::Capped(most) => format!("up to {most} times in a row"),
        StopHook::None => "no".to_owned(),
        StopHook::Unknown => "unknown".to_owned(),
    };
    let subagents = match can.subagents {
        SubagentSupport::Refused => "refused over their budget",
        SubagentSupport::Counted => "counted, never refused",
        SubagentSupport::Unseen => "not seen",
        SubagentSupport::Unknown => "unknown",
    };
    vec![
        ("prints JSON", word(can.structured)),
        ("reports its cost", word(can.cost)),
        ("reports tokens", word(can.tokens)),
        ("takes a session id", word(can.chosen_session)),
        ("resumes a session", word(can.resume)),
        ("forks a session", word(can.fork)),
        ("has a stop hook", stop_hook),
        ("has a tool veto", word(can.tool_veto)),
        ("subagents", subagents.to_owned()),
        ("caps its own steps", word(can.step_cap)),
        ("speaks ACP", word(can.acp)),
        ("reports denials", word(can.denials)),
    ]
}

#[cfg(test)]
mod tests {
    use super::capabilities;
    use loopkeeper_agent::kind::AgentKind;
    use loopkeeper_agent::kind::Dialect;

    #[test]
    fn each_agent_says_what_it_can() {
        let check = |kind: AgentKind, name: &str, expect: &str| {
            let all = capabilities(&kind.capabilities());
            assert_eq!(all.len(), 12);
            assert_eq!(all.iter().find(|it| it.0 == name).map(|it| it.1.as_str()), Some(expect), "{kind:?}");
        };
        check(AgentKind::Claude, "has a stop hook", "up to 8 times in a row");
        check(AgentKind::Qwen, "has a stop hook", "yes, in a file of the folder it works in");
        check(AgentKind::Codex, "reports its cost", "no");
        check(AgentKind::Opencode, "has a stop hook", "no");
        check(AgentKind::Claude, "subagents", "refused over their budget");
        check(AgentKind::Own(Dialect::Text), "resumes a session", "unknown");
    }
}
