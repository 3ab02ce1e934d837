//! Hashes of commands, and the page that shows them.

use proptest::prelude::*;

use super::{CommandSource, TrustContent, TrustItem, TrustPage, TrustSubject};
use crate::journal::samples::criterion;
use crate::settings::{ConfigOrigin, HookCommand, HookSettings, LoopEvent};
use loopkeeper_text::language::Language;

fn check(command: &str) -> TrustItem {
    TrustItem::new(TrustSubject::Check { command: command.to_owned() })
}

fn agent(name: &str, argv: &[&str], permissions: &str) -> TrustItem {
    let argv = argv.iter().map(|it| (*it).to_owned()).collect();
    TrustItem::new(TrustSubject::Agent {
        name: name.to_owned(),
        argv,
        permissions: permissions.to_owned(),
        env: Vec::new(),
    })
}

fn surface(path: &str, content: TrustContent) -> TrustItem {
    TrustItem::new(TrustSubject::AgentFile { path: path.as_bytes().to_vec(), content })
}

fn settings(lines: &[&str]) -> TrustItem {
    let lines: Vec<_> = lines.iter().map(|it| (*it).to_owned()).collect();
    TrustItem::from_settings(&lines).unwrap()
}

fn hook(on: LoopEvent, argv: &[&str]) -> TrustItem {
    TrustItem::new(TrustSubject::Hook { on, argv: argv.iter().map(|it| (*it).to_owned()).collect() })
}

fn server(argv: &[&str], ready: &str) -> TrustItem {
    let argv = argv.iter().map(|it| (*it).to_owned()).collect();
    TrustItem::new(TrustSubject::Server { argv, ready: ready.to_owned() })
}

fn page(root: &[u8], items: &[TrustItem]) -> TrustPage {
    TrustPage::new(root, items, items)
}

/// Commands that an attacker might want to look alike.
fn items() -> Vec<TrustItem> {
    vec![
        check("cargo test"),
        check("cargo test "),
        check("cargo  test"),
        check("cargo test\n"),
        check(""),
        settings(&["cargo test"]),
        agent("a", &["x", "y"], "edits"),
        agent("a", &["x y"], "edits"),
        agent("a", &["x", "y", ""], "edits"),
        agent("a", &["x'", "'y"], "edits"),
        agent("a", &["x", "y"], "all"),
        agent("b", &["x", "y"], "edits"),
        agent("a", &["x\u{1b}[2K", "y"], "edits"),
        agent("a", &["x^[[2K", "y"], "edits"),
        hook(LoopEvent::Ended, &["cargo test"]),
        hook(LoopEvent::Ended, &["cargo", "test"]),
        TrustItem::new(TrustSubject::Request { url: "cargo test".to_owned() }),
        server(&["cargo test"], "http://a"),
        server(&["cargo test", "http://a"], ""),
        server(&["cargo test"], "http://b"),
        settings(&["A", "B"]),
        settings(&["A\nB"]),
        settings(&["A^JB"]),
        surface(".mcp.json", TrustContent::File(b"{}".to_vec())),
        surface(".mcp.json", TrustContent::File(b"{}\n".to_vec())),
        surface(".mcp.json", TrustContent::File(b"{}\xff".to_vec())),
        surface(".mcp.json", TrustContent::Link(b"{}".to_vec())),
        surface(".codex/x", TrustContent::File(b"{}".to_vec())),
    ]
}

#[test]
fn different_items_have_different_hashes() {
    let items = items();
    let mut hashes: Vec<_> = items.iter().map(|it| it.hash(b"/root")).collect();
    hashes.extend(items.iter().map(|it| it.hash(b"/other")));
    assert!(hashes.iter().all(|it| it.len() == 64));
    let count = hashes.len();
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), count);
}

#[test]
fn the_hash_is_pinned() {
    // A change here would ask every user again.
    let hash = check("cargo test").hash(b"/home/u/project");
    assert_eq!(hash, "0cc64f077ca736d447dffb6d5c69a389c4213dd318c4cea80e04a29243d37cb1");
}

#[test]
fn a_hook_is_listed_once_for_all_events() {
    let (one, other) = (hook(LoopEvent::Ended, &["x", "y"]), hook(LoopEvent::NeedsYou, &["x", "y"]));
    assert_eq!(one.hash(b"/"), other.hash(b"/"));
    let page = page(b"/", &[other, one]);
    assert_eq!(page.commands.len(), 2, "{page:?}");
    assert!(page.text("Pay").contains("hook        needs_you\n    x y\n\nhook        ended\n    x y\n"));
}

#[test]
fn only_hooks_of_the_work_tree_need_trust() {
    let by = |author| HookCommand { argv: vec!["x".to_owned()], author };
    let hooks = HookSettings {
        ended: by(ConfigOrigin::User),
        needs_you: by(ConfigOrigin::Tree),
        ..HookSettings::default()
    };
    assert_eq!(TrustItem::from_hooks(&hooks), [hook(LoopEvent::NeedsYou, &["x"])]);
    assert_eq!(TrustItem::from_hooks(&HookSettings::default()), []);
}

#[test]
fn settings_without_effect_need_no_trust() {
    assert_eq!(TrustItem::from_settings(&[]), None);
}

#[test]
fn the_location_of_a_setting_does_not_matter() {
    let moved = TrustItem {
        source: Some(CommandSource { file: "PROMPT.md".to_owned(), line: 7, criterion: "a".to_owned() }),
        ..check("make")
    };
    assert_eq!(moved.hash(b"/"), check("make").hash(b"/"));
    assert_eq!(page(b"/", &[moved, check("make")]).hash, page(b"/", &[check("make")]).hash);
}

#[test]
fn checks_have_the_line_of_their_criterion() {
    let text = "0123456789\n\n- Coverage holds: `$ make cover`\n";
    let mut second = criterion();
    (second.check, second.place.range) = (None, 0..1);
    let mut first = criterion();
    first.place.range = 12..20;
    let found = TrustItem::from_checks(&[first, second], |file| (file == "PROMPT.md").then_some(text));
    let source = Some(CommandSource { file: "PROMPT.md".to_owned(), line: 3, criterion: criterion().name });
    assert_eq!(found, [TrustItem { runs: TrustSubject::Check { command: "make cover".to_owned() }, source }]);
    assert_eq!(TrustItem::from_checks(&[criterion()], |_| None)[0].source, None);
}

#[test]
fn an_agent_that_bypasses_permissions_is_shown() {
    let check = |name: &str, argv: &[&str], permissions: &str, env: &[(&str, &str)], expect: &str| {
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let argv = argv.iter().map(|it| (*it).to_owned()).collect();
        let (name, permissions) = (name.to_owned(), permissions.to_owned());
        let page = page(b"/", &[TrustItem::new(TrustSubject::Agent { name, argv, permissions, env })]);
        assert_eq!(page.commands[0].title, expect);
    };
    let protocol = [("LOOPKEEPER_ACP", "{}")];
    let unasked = "it runs every tool without asking";
    check("codex", &["codex", "exec"], "edits", &[], "codex (permissions: edits)");
    check("codex", &["codex", "--yolo"], "all", &[], &format!("codex (permissions: all: {unasked})"));
    check("mine", &["./agent.sh", "-y"], "edits", &[], "mine");
    check(
        "mine",
        &["codex", "--yolo"],
        "edits",
        &[],
        "mine (`--yolo` makes it run every tool without asking)",
    );
    check("mine", &["./agent.sh"], "edits", &protocol, "mine (permissions: edits)");
    let but = "mine (permissions: edits, but `--yolo` makes it run every tool without asking)";
    check("mine", &["gemini", "--acp", "--yolo"], "edits", &protocol, but);
}

#[test]
fn a_page_shows_everything_verbatim() {
    let items = [
        TrustItem {
            source: Some(CommandSource {
                file: "PRO\u{202e}MPT.md".to_owned(),
                line: 12,
                criterion: "All \u{202e}tests".to_owned(),
            }),
            ..check("cargo test # \u{200b}\u{1b}[2K\rrm -rf ~")
        },
        agent("mine", &["./agent.sh", "-p", "it's\nfine", "{prompt}"], "edits"),
        settings(&["pass TOKEN", "pass HOME", "PATH=./bin:/bin", "LD_PRELOAD=a\u{7}b", "no sandbox"]),
        surface(".mcp.json", TrustContent::File(b"{\n\t\"x\": 1\n}".to_vec())),
        surface(".codex/ä", TrustContent::Link(b"/etc/\xff".to_vec())),
        surface(".gemini/b", TrustContent::File(b"\xff\x00".to_vec())),
    ];
    let page = page(b"/home/u/project", &items);
    let expect = r#"Commands that "Pay" would run in /home/u/project
6 commands, none of them trusted yet.

agent       mine
    ./agent.sh -p 'it'\''s^Jfine' {prompt}

check       PRO\u{202e}MPT.md:12  "All \u{202e}tests"
    cargo test # \u{200b}^[[2K^Mrm -rf ~

settings    of this workspace
    Environment passed to agent and checks: TOKEN, HOME
    Set for agent and checks: PATH=./bin:/bin
    Set for agent and checks: LD_PRELOAD=a^Gb
    No sandbox around the agent

surface     .codex/ä
    a link, not followed, to /etc/\xff

surface     .gemini/b
    not text: 2 bytes, sha256 "#;
    assert!(page.text("Pay").starts_with(expect), "{}", page.text("Pay"));
    let rest = "surface     .mcp.json\n    {\n    ^I\"x\": 1\n    }\n";
    assert!(page.text("Pay").ends_with(rest), "{}", page.text("Pay"));
}

#[test]
fn a_page_counts_what_is_not_trusted_yet() {
    let (one, other) = (check("cargo test"), check("cargo clippy"));
    let head = |items: &[TrustItem], unknown: &[TrustItem], count: usize| {
        let page = TrustPage::new(b"/", items, unknown);
        assert_eq!(page.untrusted_count(), count, "{page:?}");
        page.text("Pay").lines().nth(1).unwrap_or_default().to_owned()
    };
    let both = [one.clone(), other.clone(), one.clone()];
    assert_eq!(head(&both, &both, 2), "2 commands, none of them trusted yet.");
    assert_eq!(head(&both, std::slice::from_ref(&other), 1), "2 commands, 1 of them not trusted yet.");
    assert_eq!(head(&both, &[], 0), "2 commands, all trusted.");
    let alone = std::slice::from_ref(&one);
    assert_eq!(head(alone, alone, 1), "1 command, not trusted yet.");
    let text = TrustPage::new(b"/", &both, &[other]).text("Pay");
    assert!(text.contains("\n(trusted) check\n    cargo test\n"), "{text}");
    assert!(text.contains("\ncheck\n    cargo clippy\n"), "{text}");
}

#[test]
fn the_title_of_a_task_stays_in_its_line() {
    let text = page(b"/a\nb", &[check("x")]).text("Pay\n(trusted) check");
    assert_eq!(text.lines().next(), Some("Commands that \"Pay^J(trusted) check\" would run in /a^Jb"));
}

proptest! {
    #[test]
    fn a_page_never_shows_what_a_terminal_would_act_on(
        command in any::<String>(),
        argv in prop::collection::vec(any::<String>(), 0..4),
        path in any::<Vec<u8>>(),
        bytes in any::<Vec<u8>>(),
    ) {
        let items = [
            check(&command),
            TrustItem::new(TrustSubject::Agent { name: command.clone(), argv, permissions: "edits".to_owned(), env: Vec::new() }),
            TrustItem::new(TrustSubject::AgentFile { path, content: TrustContent::File(bytes) }),
        ];
        let text = page(b"/", &items).text(&command);
        let bad = text.chars().find(|it| (it.is_control() && *it != '\n') || matches!(it, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'));
        prop_assert_eq!(bad, None);
    }

    /// Two different commands are displayed as two different lines, as long as they are typed characters.
    #[test]
    fn different_argument_lists_differ_in_display(
        one in prop::collection::vec("[ a'\\\\\"$]{0,3}", 0..4),
        other in prop::collection::vec("[ a'\\\\\"$]{0,3}", 0..4),
    ) {
        let line = |argv: &Vec<String>| {
            let argv: Vec<_> = argv.iter().map(String::as_str).collect();
            page(b"/", &[agent("a", &argv, "edits")]).commands[0].lines.clone()
        };
        prop_assert_eq!(line(&one) == line(&other), one == other);
    }
}

#[test]
fn the_page_is_in_the_language_of_the_process_and_its_hash_is_not() {
    let items = [
        check("cargo test"),
        agent("claude", &["claude"], "all"),
        settings(&["pass A", "pass B", "C=1", "no sandbox"]),
        TrustItem::new(TrustSubject::Limit { line: "limits.steps = 900, else 500".to_owned() }),
        TrustItem::new(TrustSubject::Limit { line: "not protected: tests/**".to_owned() }),
        server(&["npm", "start"], "http://localhost:1"),
        surface(".mcp.json", TrustContent::File(b"\xff".to_vec())),
    ];
    let text =
        Language::SimplifiedChinese.during(|| TrustPage::new(b"/root", &items, &items[1..]).text("A task"));
    assert_eq!(
        page(b"/root", &items).hash,
        Language::SimplifiedChinese.during(|| page(b"/root", &items).hash)
    );
    let expect = "\
“A task”将在 /root 中运行的命令
7 条命令，其中 6 条尚未信任。

代理        claude（权限：all：运行任何工具都不询问）
    claude

（已信任） 检查
    cargo test

限额        被此工作区提高或放宽
    limits.steps = 900，否则为 500

限额        被此工作区提高或放宽
    不受保护：tests/**

服务器      就绪地址为 http://localhost:1
    npm start

设置        此工作区的设置
    传给代理和检查的环境变量：A、B
    为代理和检查设置：C=1
    代理不在沙箱中运行

代理文件    .mcp.json
    不是文本：1 字节，sha256 a8100ae6aa1940d0b663bb31cd466142ebbdbd5187131b92d93818987832eb89
";
    assert_eq!(text, expect);
}
