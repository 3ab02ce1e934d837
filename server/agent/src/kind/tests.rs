use super::{AUTO, AgentKind, CapabilitySource, KNOWN_KINDS, StopHook, SubagentSupport, Support};
use crate::LoopMode;
use crate::catalog;
use crate::kind::Dialect;

#[test]
fn names_lead_back_to_their_kind() {
    for kind in KNOWN_KINDS {
        assert_eq!(AgentKind::from_name(kind.name(), Dialect::Text), kind);
    }
    assert_eq!(KNOWN_KINDS.map(AgentKind::name), catalog::CATALOG.map(|it| it.name));
    assert_eq!(AgentKind::from_name("demo", Dialect::Text), AgentKind::Demo);
    assert_eq!(AgentKind::from_name("mine", Dialect::Codex), AgentKind::Own(Dialect::Codex));
    assert_eq!(AgentKind::from_name("mine", Dialect::Acp), AgentKind::Acp(None));
    let gemini = AgentKind::from_name("gemini", Dialect::Acp);
    assert_eq!((gemini, gemini.name()), (AgentKind::Acp(Some(&AgentKind::Gemini)), "gemini"));
    assert_eq!(gemini.known_agent().map(|it| it.name), Some("gemini"));
    assert_eq!(AUTO.map(AgentKind::name), ["claude", "codex", "opencode", "gemini"]);
}

#[test]
fn missing_capabilities_are_reported_before_the_start() {
    let check_mode = |kind: AgentKind, mode: LoopMode, expect: &[&str]| {
        let limitations = kind.capabilities().in_mode(mode).limitations();
        assert_eq!(limitations.len(), expect.len(), "{kind:?}: {limitations:?}");
        let agree = limitations.iter().zip(expect).all(|(it, part)| it.contains(part));
        assert!(agree, "{kind:?}: {limitations:?}");
    };
    let check = |kind: AgentKind, expect: &[&str]| {
        check_mode(kind, LoopMode::Loop, expect);
        check_mode(kind, LoopMode::Hook, expect);
    };
    check_mode(AgentKind::Claude, LoopMode::Attach, &["`limits.cost_usd` cannot be enforced", "denied"]);
    check(AgentKind::Claude, &[]);
    let off = AgentKind::Claude.capabilities().without_hooks();
    assert!(off.limitations()[0].starts_with("its subagents are counted and never refused"), "{off:?}");
    check(AgentKind::Codex, &["no cost", "subagents"]);
    check(AgentKind::Gemini, &["no cost", "subagents"]);
    check(AgentKind::Opencode, &["subagents"]);
    check(AgentKind::Qwen, &["no cost", "subagents"]);
    check(AgentKind::Copilot, &["text only", "no cost"]);
    check(AgentKind::Cursor, &["no cost", "no tokens"]);
    check(AgentKind::Amp, &["no cost", "no tokens", "denied"]);
    check(AgentKind::Own(Dialect::Text), &["text only", "no cost"]);
    check(AgentKind::Own(Dialect::Codex), &["no cost", "subagents"]);
    check(AgentKind::from_name("gemini", Dialect::Acp), &["no cost"]);
    check(AgentKind::from_name("opencode", Dialect::Acp), &["no tokens"]);
    check(AgentKind::from_name("mine", Dialect::Acp), &[]);
}

/// One row of the documentation table.
fn row(name: &str, kind: AgentKind) -> String {
    let can = kind.capabilities();
    let word = |it: Support| match it {
        Support::Yes => "yes".to_owned(),
        Support::No => "no".to_owned(),
        Support::Unknown => "?".to_owned(),
    };
    let subagents = match can.subagents {
        SubagentSupport::Refused => "refused",
        SubagentSupport::Counted => "counted",
        SubagentSupport::Unseen => "unseen",
        SubagentSupport::Unknown => "?",
    };
    let reads = if can.structured.is_yes() { "JSON" } else { "text" };
    let stop_hook = match can.stop_hook {
        StopHook::OfFolder => "in its folder".to_owned(),
        StopHook::Unbounded => "yes".to_owned(),
        StopHook::Capped(most) => format!("up to {most}"),
        StopHook::None => "no".to_owned(),
        StopHook::Unknown => "?".to_owned(),
    };
    let found = match can.found {
        CapabilitySource::Run(version) => format!("running {version}"),
        CapabilitySource::Help(version) => format!("the help of {version}"),
        CapabilitySource::Documentation => "documentation".to_owned(),
        CapabilitySource::ByOutput => "its output".to_owned(),
        CapabilitySource::Protocol => "the protocol".to_owned(),
    };
    let before = [can.cost, can.tokens, can.chosen_session, can.resume, can.fork].map(word);
    let after = [can.step_cap, can.acp, can.denials].map(word);
    let between = [word(can.tool_veto), subagents.to_owned()];
    let cells =
        [name.to_owned(), reads.to_owned()].into_iter().chain(before).chain([stop_hook]).chain(between);
    format!("| {} |", cells.chain(after).chain([found]).collect::<Vec<_>>().join(" | "))
}

#[test]
fn the_documentation_lists_the_capabilities() {
    let page = include_str!("../../../AGENTS.md");
    let rows = KNOWN_KINDS.map(|it| (format!("`{}`", it.name()), it));
    let own = ("a command of your own".to_owned(), AgentKind::Own(Dialect::Text));
    let acp = ("any with `output = \"acp\"`".to_owned(), AgentKind::Acp(None));
    let by_acp = [AgentKind::Gemini, AgentKind::Opencode, AgentKind::Qwen]
        .map(|it| (format!("`{}` with it", it.name()), AgentKind::from_name(it.name(), Dialect::Acp)));
    for (name, kind) in rows.into_iter().chain([own, acp]).chain(by_acp) {
        let row = row(&name, kind);
        assert!(page.contains(&row), "the page lacks {row}");
    }
}

#[test]
fn only_the_output_of_a_custom_command_is_known() {
    let own = AgentKind::Own(Dialect::Claude).capabilities();
    assert_eq!((own.cost, own.resume, own.tool_veto), (Support::Yes, Support::Unknown, Support::Unknown));
}
