use super::{AgentFacts, AgentVersion, LoginState, SelectedAgent, examine_agents, version_in};
use crate::doctor::{DoctorLevel, DoctorProblem};
use loopkeeper_agent::LoopMode;
use loopkeeper_agent::catalog::CATALOG;
use loopkeeper_agent::kind::{AgentKind, Dialect};

fn agent(name: &str, program: Option<&str>, version: AgentVersion, login: LoginState) -> AgentFacts {
    let title = CATALOG.iter().find(|it| it.name == name).unwrap().title.to_owned();
    let program = program.map(str::to_owned);
    AgentFacts { name: name.into(), title, program, version, login, hooks_disabled_in: None, own: false }
}

fn check(agents: &[AgentFacts], chosen: SelectedAgent, expect: &[(DoctorLevel, &str, &str)]) {
    let found = examine_agents(agents, &Ok(chosen));
    let found: Vec<_> =
        found.iter().map(|it| (it.level, it.what.as_str(), it.hint.as_deref().unwrap_or_default())).collect();
    assert_eq!(found.len(), expect.len(), "{found:?}");
    for ((level, what, hint), (expect_level, expect_what, expect_hint)) in found.iter().zip(expect) {
        assert_eq!((level, *what), (expect_level, *expect_what));
        assert!(hint.contains(expect_hint) && hint.is_empty() == expect_hint.is_empty(), "{hint}");
    }
}

fn starting(name: &str, output: Dialect) -> SelectedAgent {
    SelectedAgent::Agent { name: name.into(), kind: AgentKind::from_name(name, output), mode: LoopMode::Loop }
}

#[test]
fn requirements_of_an_attached_session_are_listed() {
    let claude = |version: &str| {
        agent("claude", Some("/b/claude"), AgentVersion::Told(version.into()), LoginState::Seen("$K".into()))
    };
    let there = |version| format!("Claude Code {version}: /b/claude, a login was seen ($K)");
    let waits = "a loop here would wait for a session of Claude Code that you open in this folder, in any terminal: \
                 its hooks are in place";
    let lacks = [
        (DoctorLevel::Note, "claude: it reports no cost: `limits.cost_usd` cannot be enforced", ""),
        (
            DoctorLevel::Note,
            "claude: it does not report which tools were denied: an iteration that changes nothing is the only sign",
            "",
        ),
    ];
    let within =
        |facts: &[AgentFacts], silent: Option<DoctorProblem>, before: &[(DoctorLevel, &str, &str)]| {
            check(facts, SelectedAgent::Session { silent }, &[before, &lacks[..]].concat());
        };
    let (known, other) = (there("2.1.329"), there("2.0.1"));
    within(&[claude("2.1.329")], None, &[(DoctorLevel::Good, &known, ""), (DoctorLevel::Good, waits, "")]);
    let tried = "its hooks were tried with 2.1.329 of Claude Code, and this is 2.0.1";
    within(
        &[claude("2.0.1")],
        None,
        &[(DoctorLevel::Good, &other, ""), (DoctorLevel::Good, waits, ""), (DoctorLevel::Good, tried, "")],
    );
    let silent = DoctorProblem { what: "it does not ask".into(), hint: "let it".into() };
    let none = [
        (DoctorLevel::Bad, "it does not ask", "let it"),
        (DoctorLevel::Note, "there is no `claude` on PATH to open that session with", "npm install"),
    ];
    within(&[], Some(silent), &none);
}

#[test]
fn missing_capabilities_are_reported_for_the_start_mode() {
    let facts = |name: &str| agent(name, None, AgentVersion::NotAsked(String::new()), LoginState::Unknown);
    let off = AgentFacts { hooks_disabled_in: Some("a.json".into()), ..facts("claude") };
    check(
        &[off],
        starting("claude", Dialect::Text),
        &[
            (DoctorLevel::Info, "not installed: Claude Code", ""),
            (DoctorLevel::Good, "a loop here would start `claude`", ""),
            (
                DoctorLevel::Note,
                "claude: `disableAllHooks` in a.json switches its hooks off",
                "remove it there",
            ),
            (
                DoctorLevel::Note,
                "claude: its subagents are counted and never refused: `[spawns]` cannot be enforced",
                "",
            ),
        ],
    );
    let tokens =
        (DoctorLevel::Note, "opencode: it reports no tokens: `limits.tokens` cannot be enforced", "");
    let starts = (DoctorLevel::Good, "a loop here would start `opencode`", "");
    check(&[], starting("opencode", Dialect::Acp), &[starts, tokens]);
    let starts = (DoctorLevel::Good, "a loop here would start `mine`", "");
    check(&[], starting("mine", Dialect::Text), &[starts]);
}

#[test]
fn findings_come_with_a_remedy() {
    let told = || AgentVersion::Told("1.2.3".into());
    let check = |agents: &[AgentFacts], expect: &[(DoctorLevel, &str, &str)]| {
        check(agents, starting("claude", Dialect::Text), expect);
    };
    let starts = (DoctorLevel::Good, "a loop here would start `claude`", "");
    check(
        &[agent("claude", Some("/b/claude"), told(), LoginState::Seen("$K".into()))],
        &[(DoctorLevel::Good, "Claude Code 1.2.3: /b/claude, a login was seen ($K)", ""), starts],
    );
    check(
        &[
            agent("claude", Some("/b/claude"), told(), LoginState::NotSeen),
            agent("codex", Some("/b/codex"), told(), LoginState::NotSeen),
            agent("amp", None, AgentVersion::NotAsked(String::new()), LoginState::NotSeen),
        ],
        &[
            (DoctorLevel::Note, "Claude Code 1.2.3: /b/claude, no sign of a login", "/login"),
            (DoctorLevel::Good, "Codex 1.2.3: /b/codex, no sign of a login", ""),
            (DoctorLevel::Info, "not installed: Amp", ""),
            starts,
        ],
    );
    check(
        &[agent(
            "claude",
            Some("/b/claude"),
            AgentVersion::Failed("exit 1".into()),
            LoginState::Withheld("K".into()),
        )],
        &[
            (
                DoctorLevel::Note,
                "Claude Code (version unknown: exit 1): /b/claude, $K is set but not passed to agents",
                "npm install -g @anthropic",
            ),
            starts,
        ],
    );
    let own = AgentFacts {
        own: true,
        login: LoginState::Unknown,
        ..agent("amp", None, told(), LoginState::Unknown)
    };
    check(&[own], &[(DoctorLevel::Note, "amp: its program is missing", "[agents.amp]"), starts]);
}

#[test]
fn without_an_agent_no_loop_starts() {
    let problem = DoctorProblem { what: "no agent was found".into(), hint: "install one".into() };
    let found = examine_agents(&[], &Err(problem));
    let last = found.last().unwrap();
    assert_eq!((last.level, last.hint.as_deref()), (DoctorLevel::Bad, Some("install one")));
}

#[test]
fn a_version_is_the_first_word_that_looks_like_one() {
    for (answer, expect) in [
        ("2.1.329 (Claude Code)\n", Some("2.1.329")),
        ("codex-cli 0.169.0", Some("0.169.0")),
        ("warning: 3 things\nv1.2.3-beta.1,", Some("1.2.3-beta.1")),
        ("no version here", None),
        ("", None),
    ] {
        assert_eq!(version_in(answer).as_deref().map(|it| it.trim_start_matches('v')), expect, "{answer}");
    }
}

#[test]
fn versions_of_recorded_programs_are_found() {
    for (printed, expect) in [
        (include_str!("../../../../../tests/fixtures/agents/copilot/version.txt"), "1.0.102"),
        (include_str!("../../../../../tests/fixtures/agents/amp/version.txt"), "0.0.1790142911-g7618fb"),
    ] {
        assert_eq!(version_in(printed).as_deref(), Some(expect));
    }
}
