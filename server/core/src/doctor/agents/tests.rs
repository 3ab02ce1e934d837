use std::path::{Path, PathBuf};

use super::{AgentFacts, Beginning, Evidence, KNOWN, Known, Login, Version, examine, login, version_in};
use crate::agent::kind::Kind;
use crate::doctor::{Level, Trouble};
use crate::settings::{Dialect, Mode};

/// Variables here, those that pass, files with what they hold.
struct Machine {
    variables: &'static [(&'static str, &'static str)],
    withheld: &'static [&'static str],
    files: &'static [(&'static str, &'static str)],
}

impl Evidence for Machine {
    fn variable(&self, name: &str) -> bool {
        self.passed(name).is_some() || self.withheld.contains(&name)
    }

    fn passed(&self, name: &str) -> Option<String> {
        self.variables.iter().find(|it| it.0 == name).map(|it| it.1.to_owned())
    }

    fn home(&self) -> PathBuf {
        "/home/u".into()
    }

    fn file(&self, path: &Path, holds: Option<&str>) -> bool {
        let found = self.files.iter().find(|it| Path::new(it.0) == path);
        found.is_some_and(|it| holds.is_none_or(|word| it.1.contains(word)))
    }
}

fn known(name: &str) -> &'static Known {
    KNOWN.iter().find(|it| it.name == name).unwrap()
}

#[test]
fn a_login_is_seen_by_what_it_leaves_behind() {
    let check =
        |name, machine: Machine, expect: Login| assert_eq!(login(known(name), &machine), expect, "{name}");
    let nothing = Machine { variables: &[], withheld: &[], files: &[] };
    let seen = |by: &str| Login::Seen(by.to_owned());
    check("claude", nothing, Login::NotSeen);
    let key = Machine { variables: &[("ANTHROPIC_API_KEY", "k")], withheld: &[], files: &[] };
    check("claude", key, seen("$ANTHROPIC_API_KEY"));
    let empty = Machine { variables: &[("ANTHROPIC_API_KEY", "")], withheld: &[], files: &[] };
    check("codex", empty, Login::NotSeen);
    let file = Machine { variables: &[], withheld: &[], files: &[("/home/u/.codex/auth.json", "{}")] };
    check("codex", file, seen("/home/u/.codex/auth.json"));
    let files: &[_] = &[("/c/auth.json", "{}")];
    let moved = Machine { variables: &[("CODEX_HOME", "/c")], withheld: &[], files };
    check("codex", moved, seen("/c/auth.json"));
    let files: &[_] = &[("/home/u/.codex/auth.json", "{}")];
    let elsewhere = Machine { variables: &[("CODEX_HOME", "/c")], withheld: &[], files };
    check("codex", elsewhere, Login::NotSeen);
    let fresh =
        Machine { variables: &[], withheld: &[], files: &[("/home/u/.claude.json", "{\"theme\":1}")] };
    check("claude", fresh, Login::NotSeen);
    let files: &[_] = &[("/home/u/.claude.json", "{\"oauthAccount\":{}}")];
    check("claude", Machine { variables: &[], withheld: &[], files }, seen("/home/u/.claude.json"));
    let withheld = Machine { variables: &[], withheld: &["GH_TOKEN"], files: &[] };
    check("copilot", withheld, Login::Withheld("GH_TOKEN".into()));
    let files: &[_] = &[("/home/u/.copilot/config.json", "{\"firstLaunchAt\":1}")];
    check("copilot", Machine { variables: &[], withheld: &[], files }, Login::NotSeen);
    let files: &[_] = &[("/home/u/.config/gh/hosts.yml", "github.com:\n    user: u\n")];
    let by_github = Machine { variables: &[], withheld: &[], files };
    check("copilot", by_github, seen("/home/u/.config/gh/hosts.yml"));
}

fn agent(name: &str, program: Option<&str>, version: Version, login: Login) -> AgentFacts {
    let title = known(name).title.to_owned();
    let program = program.map(str::to_owned);
    AgentFacts { name: name.into(), title, program, version, login, hooks_off: None, own: false }
}

fn check(agents: &[AgentFacts], chosen: Beginning, expect: &[(Level, &str, &str)]) {
    let found = examine(agents, &Ok(chosen));
    let found: Vec<_> =
        found.iter().map(|it| (it.level, it.what.as_str(), it.hint.as_deref().unwrap_or_default())).collect();
    assert_eq!(found.len(), expect.len(), "{found:?}");
    for ((level, what, hint), (expect_level, expect_what, expect_hint)) in found.iter().zip(expect) {
        assert_eq!((level, *what), (expect_level, *expect_what));
        assert!(hint.contains(expect_hint) && hint.is_empty() == expect_hint.is_empty(), "{hint}");
    }
}

fn starting(name: &str, output: Dialect) -> Beginning {
    Beginning::Agent { name: name.into(), kind: Kind::of(name, output), mode: Mode::Loop }
}

#[test]
fn what_a_session_of_ones_own_needs_is_said() {
    let claude = |version: &str| {
        agent("claude", Some("/b/claude"), Version::Told(version.into()), Login::Seen("$K".into()))
    };
    let there = |version| format!("Claude Code {version}: /b/claude, a login was seen ($K)");
    let waits = "a loop here would wait for a session of Claude Code that you open in this folder, in any terminal: \
                 its hooks are in place";
    let lacks = [
        (Level::Note, "claude: it reports no cost: `limits.cost_usd` cannot be enforced", ""),
        (
            Level::Note,
            "claude: it does not report which tools were denied: an iteration that changes nothing is the only sign",
            "",
        ),
    ];
    let within = |facts: &[AgentFacts], silent: Option<Trouble>, before: &[(Level, &str, &str)]| {
        check(facts, Beginning::Session { silent }, &[before, &lacks[..]].concat());
    };
    let (known, other) = (there("2.1.329"), there("2.0.1"));
    within(&[claude("2.1.329")], None, &[(Level::Good, &known, ""), (Level::Good, waits, "")]);
    let tried = "its hooks were tried with 2.1.329 of Claude Code, and this is 2.0.1";
    within(
        &[claude("2.0.1")],
        None,
        &[(Level::Good, &other, ""), (Level::Good, waits, ""), (Level::Good, tried, "")],
    );
    let silent = Trouble { what: "it does not ask".into(), hint: "let it".into() };
    let none = [
        (Level::Bad, "it does not ask", "let it"),
        (Level::Note, "there is no `claude` on PATH to open that session with", "npm install"),
    ];
    within(&[], Some(silent), &none);
}

#[test]
fn what_an_agent_lacks_is_said_as_it_is_started() {
    let facts = |name: &str| agent(name, None, Version::NotAsked(String::new()), Login::Unknown);
    let off = AgentFacts { hooks_off: Some("a.json".into()), ..facts("claude") };
    check(
        &[off],
        starting("claude", Dialect::Text),
        &[
            (Level::Info, "not installed: Claude Code", ""),
            (Level::Good, "a loop here would start `claude`", ""),
            (Level::Note, "claude: `disableAllHooks` in a.json switches its hooks off", "take it out there"),
            (
                Level::Note,
                "claude: its subagents are counted and never refused: `[spawns]` cannot be enforced",
                "",
            ),
        ],
    );
    let tokens = (Level::Note, "opencode: it reports no tokens: `limits.tokens` cannot be enforced", "");
    let starts = (Level::Good, "a loop here would start `opencode`", "");
    check(&[], starting("opencode", Dialect::Acp), &[starts, tokens]);
    let starts = (Level::Good, "a loop here would start `mine`", "");
    check(&[], starting("mine", Dialect::Text), &[starts]);
}

#[test]
fn what_was_found_is_said_with_what_to_do() {
    let told = || Version::Told("1.2.3".into());
    let check = |agents: &[AgentFacts], expect: &[(Level, &str, &str)]| {
        check(agents, starting("claude", Dialect::Text), expect);
    };
    let starts = (Level::Good, "a loop here would start `claude`", "");
    check(
        &[agent("claude", Some("/b/claude"), told(), Login::Seen("$K".into()))],
        &[(Level::Good, "Claude Code 1.2.3: /b/claude, a login was seen ($K)", ""), starts],
    );
    check(
        &[
            agent("claude", Some("/b/claude"), told(), Login::NotSeen),
            agent("codex", Some("/b/codex"), told(), Login::NotSeen),
            agent("amp", None, Version::NotAsked(String::new()), Login::NotSeen),
        ],
        &[
            (Level::Note, "Claude Code 1.2.3: /b/claude, no sign of a login", "/login"),
            (Level::Good, "Codex 1.2.3: /b/codex, no sign of a login", ""),
            (Level::Info, "not installed: Amp", ""),
            starts,
        ],
    );
    check(
        &[agent("claude", Some("/b/claude"), Version::Failed("exit 1".into()), Login::Withheld("K".into()))],
        &[
            (
                Level::Note,
                "Claude Code (version unknown: exit 1): /b/claude, $K is set but not passed to agents",
                "npm install -g @anthropic",
            ),
            starts,
        ],
    );
    let own = AgentFacts { own: true, login: Login::Unknown, ..agent("amp", None, told(), Login::Unknown) };
    check(&[own], &[(Level::Note, "amp: its program is not there", "[agents.amp]"), starts]);
}

#[test]
fn without_an_agent_no_loop_starts() {
    let trouble = Trouble { what: "no agent was found".into(), hint: "install one".into() };
    let found = examine(&[], &Err(trouble));
    let last = found.last().unwrap();
    assert_eq!((last.level, last.hint.as_deref()), (Level::Bad, Some("install one")));
}

#[test]
fn versions_as_programs_print_them() {
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
