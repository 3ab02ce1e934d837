//! The capabilities of an agent as text.

use loopkeeper_agent::kind::{Capabilities, StopHook, SubagentSupport, Support};
use loopkeeper_text::tr;

/// Name and value, in the order of the documentation page about agents.
pub fn capabilities(can: &Capabilities) -> Vec<(&'static str, String)> {
    let word = |it: Support| match it {
        Support::Yes => tr!("yes").to_owned(),
        Support::No => tr!("no").to_owned(),
        Support::Unknown => tr!("unknown").to_owned(),
    };
    let stop_hook = match can.stop_hook {
        StopHook::OfFolder => tr!("yes, in a file of the folder it works in").to_owned(),
        StopHook::Unbounded => tr!("yes").to_owned(),
        StopHook::Capped(most) => tr!("up to {count} times in a row", count = most),
        StopHook::None => tr!("no").to_owned(),
        StopHook::Unknown => tr!("unknown").to_owned(),
    };
    let subagents = match can.subagents {
        SubagentSupport::Refused => tr!("refused over their budget"),
        SubagentSupport::Counted => tr!("counted, never refused"),
        SubagentSupport::Unseen => tr!("not seen"),
        SubagentSupport::Unknown => tr!("unknown"),
    };
    vec![
        (tr!("prints JSON"), word(can.structured)),
        (tr!("reports its cost"), word(can.cost)),
        (tr!("reports tokens"), word(can.tokens)),
        (tr!("takes a session id"), word(can.chosen_session)),
        (tr!("resumes a session"), word(can.resume)),
        (tr!("forks a session"), word(can.fork)),
        (tr!("has a stop hook"), stop_hook),
        (tr!("has a tool veto"), word(can.tool_veto)),
        (tr!("subagents"), subagents.to_owned()),
        (tr!("caps its own steps"), word(can.step_cap)),
        (tr!("speaks ACP"), word(can.acp)),
        (tr!("reports denials"), word(can.denials)),
    ]
}

#[cfg(test)]
mod tests {
    use super::capabilities;
    use loopkeeper_agent::kind::{AgentKind, Dialect};

    #[test]
    fn capabilities_are_described_for_each_agent() {
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
