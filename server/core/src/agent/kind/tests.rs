use super::{AUTO, Can, Found, KNOWN, Kind, StopHook, Subagents};
use crate::settings::{Dialect, Mode};

#[test]
fn names_lead_back_to_their_kind() {
    for kind in KNOWN {
        assert_eq!(Kind::of(kind.name(), Dialect::Text), kind);
        assert!(kind.known().is_some(), "{kind:?}");
    }
    assert_eq!(Kind::of("demo", Dialect::Text), Kind::Demo);
    assert_eq!(Kind::of("mine", Dialect::Codex), Kind::Own(Dialect::Codex));
    assert_eq!(Kind::of("mine", Dialect::Acp), Kind::Acp(None));
    let gemini = Kind::of("gemini", Dialect::Acp);
    assert_eq!((gemini, gemini.name()), (Kind::Acp(Some(&Kind::Gemini)), "gemini"));
    assert_eq!(gemini.known().map(|it| it.name), Some("gemini"));
    assert_eq!(AUTO.map(Kind::name), ["claude", "codex", "opencode", "gemini"]);
}

#[test]
fn what_is_missing_is_said_before_it_bites() {
    let within = |kind: Kind, mode: Mode, expect: &[&str]| {
        let lacks = kind.capabilities().with(mode).lacks();
        assert_eq!(lacks.len(), expect.len(), "{kind:?}: {lacks:?}");
        assert!(lacks.iter().zip(expect).all(|(it, part)| it.contains(part)), "{kind:?}: {lacks:?}");
    };
    let check = |kind: Kind, expect: &[&str]| {
        within(kind, Mode::Loop, expect);
        within(kind, Mode::Hook, expect);
    };
    within(Kind::Claude, Mode::Attach, &["`limits.cost_usd` cannot be enforced", "denied"]);
    check(Kind::Claude, &[]);
    let off = Kind::Claude.capabilities().without_hooks();
    assert!(off.lacks()[0].starts_with("its subagents are counted and never refused"), "{off:?}");
    check(Kind::Codex, &["no cost", "subagents"]);
    check(Kind::Gemini, &["no cost", "subagents"]);
    check(Kind::Opencode, &["subagents"]);
    check(Kind::Qwen, &["no cost", "subagents"]);
    check(Kind::Copilot, &["text only", "no cost"]);
    check(Kind::Cursor, &["no cost", "no tokens"]);
    check(Kind::Amp, &["no cost", "no tokens", "denied"]);
    check(Kind::Own(Dialect::Text), &["text only", "no cost"]);
    check(Kind::Own(Dialect::Codex), &["no cost", "subagents"]);
    check(Kind::of("gemini", Dialect::Acp), &["no cost"]);
    check(Kind::of("opencode", Dialect::Acp), &["no tokens"]);
    check(Kind::of("mine", Dialect::Acp), &[]);
}

/// One row of the page.
fn row(name: &str, kind: Kind) -> String {
    let can = kind.capabilities();
    let word = |it: Can| match it {
        Can::Yes => "yes".to_owned(),
        Can::No => "no".to_owned(),
        Can::Unknown => "?".to_owned(),
    };
    let subagents = match can.subagents {
        Subagents::Refused => "refused",
        Subagents::Counted => "counted",
        Subagents::Unseen => "unseen",
        Subagents::Unknown => "?",
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
        Found::Run(version) => format!("running {version}"),
        Found::Help(version) => format!("the help of {version}"),
        Found::Documentation => "documentation".to_owned(),
        Found::ByOutput => "its output".to_owned(),
        Found::Protocol => "the protocol".to_owned(),
    };
    let before = [can.cost, can.tokens, can.chosen_session, can.resume, can.fork].map(word);
    let after = [can.step_cap, can.acp, can.denials].map(word);
    let between = [word(can.tool_veto), subagents.to_owned()];
    let cells =
        [name.to_owned(), reads.to_owned()].into_iter().chain(before).chain([stop_hook]).chain(between);
    format!("| {} |", cells.chain(after).chain([found]).collect::<Vec<_>>().join(" | "))
}

#[test]
fn the_page_says_what_the_code_does() {
    let page = include_str!("../../../../AGENTS.md");
    let rows = KNOWN.map(|it| (format!("`{}`", it.name()), it));
    let own = ("a command of your own".to_owned(), Kind::Own(Dialect::Text));
    let acp = ("any with `output = \"acp\"`".to_owned(), Kind::Acp(None));
    let by_acp = [Kind::Gemini, Kind::Opencode, Kind::Qwen]
        .map(|it| (format!("`{}` with it", it.name()), Kind::of(it.name(), Dialect::Acp)));
    for (name, kind) in rows.into_iter().chain([own, acp]).chain(by_acp) {
        let row = row(&name, kind);
        assert!(page.contains(&row), "the page lacks {row}");
    }
}

#[test]
fn of_a_command_of_the_users_own_only_its_output_is_known() {
    let own = Kind::Own(Dialect::Claude).capabilities();
    assert_eq!((own.cost, own.resume, own.tool_veto), (Can::Yes, Can::Unknown, Can::Unknown));
}
