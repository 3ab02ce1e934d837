//! Command lines of every agent for every permission, as tested with the real programs.

use crate::command_line::CommandLineParams;
use crate::commits::GitDirs;
use crate::kind::{AgentKind, Dialect, KNOWN_KINDS};
use crate::{PermissionMode, PromptBy};

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

/// Checks the whole command line after the program for these permissions and checks.
fn check(
    kind: AgentKind,
    permissions: PermissionMode,
    checks: &[&str],
    expect: &[&str],
    env: &[(&str, &str)],
) {
    let (command, args, checks) = (texts(&["/bin/agent"]), texts(&["--more", "x"]), texts(checks));
    let line = kind.command_line(&CommandLineParams {
        command: &command,
        permissions,
        model: Some("m"),
        effort: Some("high")
            .filter(|_| !matches!(kind, AgentKind::Gemini | AgentKind::Qwen | AgentKind::Cursor)),
        args: &args,
        checks: &checks,
        runner: None,
        commits: None,
        prompt: PromptBy::Stdin,
    });
    assert_eq!(line.argv.first().map(String::as_str), Some("/bin/agent"));
    assert_eq!(line.argv[1..].join(" "), expect.join(" "), "{kind:?} {permissions:?}");
    let variables: Vec<(&str, &str)> =
        line.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(variables, env, "{kind:?} {permissions:?}");
    assert_eq!(line.prompt, PromptBy::Stdin);
}

#[test]
fn the_command_line_says_what_is_permitted() {
    use PermissionMode::{All, Edits, ReadOnly, SandboxedAll};
    let claude = "-p --output-format stream-json --verbose --session-id {session}";
    let rest = "--model m --effort high --more x";
    check(AgentKind::Claude, Edits, &[], &[claude, "--permission-mode acceptEdits", rest], &[]);
    let allowed = r#"--permission-mode acceptEdits --settings {"permissions":{"allow":["Bash(sh test.sh)","Bash(test \"\u007bsession\u007d\" = x)"]}}"#;
    check(AgentKind::Claude, Edits, &["sh test.sh", "test \"{session}\" = x"], &[claude, allowed, rest], &[]);
    let reads =
        "--tools Read,Grep,Glob --strict-mcp-config --permission-mode dontAsk --no-session-persistence";
    check(AgentKind::Claude, ReadOnly, &["sh test.sh"], &[claude, reads, rest], &[]);
    check(AgentKind::Claude, All, &["sh test.sh"], &[claude, "--dangerously-skip-permissions", rest], &[]);
    check(AgentKind::Claude, SandboxedAll, &[], &[claude, "--dangerously-skip-permissions", rest], &[]);

    let codex = "exec --json --skip-git-repo-check";
    let rest = "-m m -c model_reasoning_effort=\"high\" --more x -";
    check(AgentKind::Codex, Edits, &["sh test.sh"], &[codex, "-s workspace-write", rest], &[]);
    check(AgentKind::Codex, ReadOnly, &["sh test.sh"], &[codex, "-s read-only", rest], &[]);
    for permissions in [All, SandboxedAll] {
        check(
            AgentKind::Codex,
            permissions,
            &[],
            &[codex, "--dangerously-bypass-approvals-and-sandbox", rest],
            &[],
        );
    }

    let gemini = "-o stream-json --session-id {session}";
    let rest = "-m m --more x";
    check(AgentKind::Gemini, Edits, &[], &[gemini, "--approval-mode auto_edit", rest], &[]);
    let allowed = "--approval-mode auto_edit --allowed-tools run_shell_command(sh test.sh)";
    check(AgentKind::Gemini, Edits, &["sh test.sh", "a, b", "f(x)"], &[gemini, allowed, rest], &[]);
    check(AgentKind::Gemini, ReadOnly, &["sh test.sh"], &[gemini, "--approval-mode default", rest], &[]);
    check(AgentKind::Gemini, All, &["sh test.sh"], &[gemini, "--approval-mode yolo", rest], &[]);

    let opencode = "run --format json";
    let rest = "-m m --variant high --more x";
    let strict = r#"{"bash":{"*":"deny"},"external_directory":"deny","webfetch":"deny","websearch":"deny"}"#;
    check(AgentKind::Opencode, Edits, &[], &[opencode, rest], &[("OPENCODE_PERMISSION", strict)]);
    let allowed = r#"{"bash":{"*":"deny","sh test.sh":"allow","a \"b\" && c":"allow","a \"b\"":"allow","c":"allow"},"external_directory":"deny","webfetch":"deny","websearch":"deny"}"#;
    check(
        AgentKind::Opencode,
        Edits,
        &["sh test.sh", "a \"b\" && c", "ls *"],
        &[opencode, rest],
        &[("OPENCODE_PERMISSION", allowed)],
    );
    let reads =
        r#"{"edit":"deny","bash":"deny","external_directory":"deny","webfetch":"deny","websearch":"deny"}"#;
    check(
        AgentKind::Opencode,
        ReadOnly,
        &["sh test.sh"],
        &[opencode, rest],
        &[("OPENCODE_PERMISSION", reads)],
    );
    check(AgentKind::Opencode, All, &["sh test.sh"], &[opencode, "--auto", rest], &[]);
}

/// If commits are left to the agent, its safe mode allows them, but nothing that bypasses hooks. Nothing else on its
/// command line changes.
#[test]
fn safe_mode_allows_commits_as_far_as_the_agents_rules_can() {
    let git = |it: &str| it.to_owned();
    let one = GitDirs { git_dir: git("/t/.git"), common_dir: git("/t/.git") };
    let linked = GitDirs { git_dir: git("/m/.git/worktrees/t"), common_dir: git("/m/.git") };
    let line = |kind: AgentKind, permissions, commits| {
        let start = CommandLineParams {
            command: &texts(&["/bin/agent"]),
            permissions,
            model: None,
            effort: None,
            args: &[],
            checks: &texts(&["sh test.sh"]),
            runner: None,
            commits,
            prompt: PromptBy::Stdin,
        };
        let line = kind.command_line(&start);
        let env = line.env.into_iter().map(|(_, value)| value);
        line.argv.into_iter().chain(env).collect::<Vec<_>>().join(" ")
    };
    let safe = |kind| line(kind, PermissionMode::Edits, Some(&one));
    for kind in KNOWN_KINDS {
        for permissions in [PermissionMode::All, PermissionMode::ReadOnly] {
            assert_eq!(line(kind, permissions, Some(&one)), line(kind, permissions, None), "{kind:?}");
        }
        let argv = line(kind, PermissionMode::Edits, None);
        assert!(!argv.contains("git commit") && !argv.contains("loopkeeper"), "{argv}");
        assert_eq!(safe(kind) == argv, matches!(kind, AgentKind::Cursor | AgentKind::Amp), "{kind:?}");
    }
    let has = |kind: AgentKind, parts: &[&str]| {
        let argv = safe(kind);
        for part in parts {
            assert!(argv.contains(part), "{part}: {argv}");
        }
    };
    has(
        AgentKind::Claude,
        &[
            r#""Bash(git add)","Bash(git add *)","Bash(git commit)","Bash(git commit *)"],"#,
            r#""deny":["Bash(git commit *--no-ver*)","Bash(git commit *--am*)","Bash(git commit -n*)""#,
        ],
    );
    has(AgentKind::Opencode, &[r#""git commit *":"allow","git commit *--no-ver*":"deny""#]);
    let allowed = "--allowed-tools run_shell_command(git add) --allowed-tools run_shell_command(git commit)";
    has(AgentKind::Gemini, &[allowed]);
    has(AgentKind::Qwen, &[allowed, "--exclude-tools run_shell_command(git commit * -n*)"]);
    has(AgentKind::Copilot, &["--allow-tool shell(git add) --allow-tool shell(git commit)"]);
    has(AgentKind::Acp(None), &[r#""commits":true"#]);
    let profile = |entries: &str| {
        format!(
            "exec --json --skip-git-repo-check -c sandbox_mode=\"workspace-write\" -c default_permissions=\"loopkeeper\" \
             -c permissions.loopkeeper.extends=\":workspace\" -c permissions.loopkeeper.filesystem={{{entries}}} -"
        )
    };
    let shared = |at: &str| format!(r#""{at}"="write","{at}/hooks"="read","{at}/config"="read""#);
    has(AgentKind::Codex, &[&profile(&shared("/t/.git"))]);
    let codex = line(AgentKind::Codex, PermissionMode::Edits, Some(&linked));
    let entries = format!(r#"{},"/m/.git/worktrees/t"="write""#, shared("/m/.git"));
    assert!(codex.contains(&profile(&entries)), "{codex}");
}

#[test]
fn other_agents_get_their_permissions() {
    use PermissionMode::{All, Edits};
    let qwen = "-o stream-json --session-id {session}";
    let allowed = "--approval-mode auto-edit --allowed-tools run_shell_command(sh test.sh)";
    check(AgentKind::Qwen, Edits, &["sh test.sh"], &[qwen, allowed, "-m m --more x"], &[]);
    check(AgentKind::Qwen, All, &[], &[qwen, "--approval-mode yolo -m m --more x"], &[]);
    let copilot = "-s --no-color --no-ask-user --no-auto-update --session-id {session}";
    let rest = "--model m --reasoning-effort high --more x";
    let allowed = "--allow-tool write --allow-tool shell(sh test.sh)";
    check(AgentKind::Copilot, Edits, &["sh test.sh", "a, b"], &[copilot, allowed, rest], &[]);
    check(AgentKind::Copilot, All, &[], &[copilot, "--allow-all", rest], &[]);
    let cursor = "-p --output-format stream-json --force --model m --more x";
    check(AgentKind::Cursor, All, &[], &[cursor], &[]);
    check(AgentKind::Amp, Edits, &["sh test.sh"], &["-x --stream-json -m high --more x"], &[]);
}

#[test]
fn an_unfinished_argument_of_the_user_stays_last() {
    let repository = GitDirs { git_dir: "/t/.git".to_owned(), common_dir: "/t/.git".to_owned() };
    let line = AgentKind::Qwen.command_line(&CommandLineParams {
        command: &texts(&["qwen"]),
        permissions: PermissionMode::Edits,
        model: None,
        effort: None,
        args: &texts(&["--allowed-tools"]),
        checks: &[],
        runner: None,
        commits: Some(&repository),
        prompt: PromptBy::Stdin,
    });
    let rules = line.argv.iter().filter(|it| *it == "--exclude-tools").count();
    assert_eq!((rules, line.argv.last().map(String::as_str)), (16, Some("--allowed-tools")));
}

#[test]
fn a_command_of_the_users_own_gets_a_place_for_its_prompt() {
    for (prompt, command, expect) in [
        (PromptBy::Stdin, vec!["mine"], vec!["mine"]),
        (PromptBy::Argument, vec!["mine"], vec!["mine", "{prompt}"]),
        (PromptBy::Argument, vec!["mine", "--do={prompt}"], vec!["mine", "--do={prompt}"]),
        (PromptBy::File, vec!["mine"], vec!["mine", "{prompt_file}"]),
    ] {
        let line = AgentKind::Own(Dialect::Text).command_line(&CommandLineParams {
            command: &texts(&command),
            permissions: PermissionMode::Edits,
            model: None,
            effort: None,
            args: &[],
            checks: &[],
            runner: None,
            commits: None,
            prompt,
        });
        assert_eq!((line.argv, line.prompt), (texts(&expect), prompt));
    }
}

#[test]
fn a_session_that_exists_is_resumed() {
    let check = |kind: AgentKind, argv: &[&str], expect: &[&str]| {
        assert_eq!(kind.resume_argv(&texts(argv)), texts(expect), "{kind:?}");
    };
    check(
        AgentKind::Claude,
        &["claude", "-p", "--session-id", "{session}", "-x"],
        &["claude", "-p", "--resume", "{session}", "-x"],
    );
    check(
        AgentKind::Own(Dialect::Text),
        &["claude", "--session-id", "mine"],
        &["claude", "--session-id", "mine"],
    );
    check(AgentKind::Claude, &["claude", "--session-id"], &["claude", "--session-id"]);
    check(AgentKind::Claude, &[], &[]);
    check(AgentKind::Gemini, &["gemini", "--session-id", "{session}"], &["gemini", "--resume", "{session}"]);
    check(
        AgentKind::Codex,
        &["codex", "exec", "--json", "-m", "m", "-"],
        &["codex", "exec", "--json", "-m", "m", "resume", "{session}", "-"],
    );
    check(AgentKind::Codex, &["codex"], &["codex"]);
    check(
        AgentKind::Opencode,
        &["opencode", "run", "--format", "json", "--auto"],
        &["opencode", "run", "--format", "json", "--auto", "--session", "{session}"],
    );
    check(AgentKind::Qwen, &["qwen", "--session-id", "{session}"], &["qwen", "--resume", "{session}"]);
    check(AgentKind::Copilot, &["c", "--session-id", "{session}"], &["c", "--session-id", "{session}"]);
    check(AgentKind::Cursor, &["c", "-p", "--force"], &["c", "-p", "--force", "--resume", "{session}"]);
    check(
        AgentKind::Amp,
        &["amp", "-x", "--more"],
        &["amp", "threads", "continue", "{session}", "-x", "--more"],
    );
    check(AgentKind::Own(Dialect::Codex), &["codex", "exec", "-"], &["codex", "exec", "-"]);
}

#[test]
fn only_claude_refuses_root_and_only_without_any_check() {
    use PermissionMode::{All, Edits, SandboxedAll};
    assert!(AgentKind::Claude.refuses_root(All));
    assert!(!AgentKind::Claude.refuses_root(Edits) && !AgentKind::Claude.refuses_root(SandboxedAll));
    assert!(!AgentKind::Codex.refuses_root(All));
}
