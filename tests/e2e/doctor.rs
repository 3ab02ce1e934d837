//! `loopkeeper doctor` in real folders, with agents that are scripts.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::cli::{Ran, Terminal, script};

/// Runs `doctor` with these folders before the system's on `PATH`.
fn doctor(terminal: &Terminal, folders: &[&Path], args: &[&str]) -> Command {
    let mut command = terminal.command(&[&["doctor"], args].concat());
    let system = ["/usr/bin", "/bin"].map(Path::new);
    let path = std::env::join_paths(folders.iter().chain(&system)).expect("folders without colons");
    command.env("PATH", path);
    command
}

fn run(mut command: Command) -> Ran {
    Ran::of(&command.output().expect("the binary starts"))
}

#[test]
fn doctor_says_what_is_there_and_what_to_do() {
    let terminal = Terminal::new();
    let bin = terminal.folder().join("bin");
    script(&bin.join("claude"), "echo '2.1.329 (Claude Code)'\n");
    script(&bin.join("codex"), "echo broken >&2; exit 3\n");
    terminal.file("PROMPT.md", "# A\n\n## Done when\n\n- It is: `$ true`\n");
    let ran = run(doctor(&terminal, &[&bin], &[]));
    ran.expect(0)
        .out("Claude Code 2.1.329")
        .out("no sign of a login")
        .out("Hint: Start `claude` in a terminal");
    ran.out("Codex (version unknown: exit 3: broken)").out("not installed: OpenCode, Gemini CLI");
    ran.out("a loop here would start `claude`").out("git version").out("(mode 700, ");
    ran.out("2 commands of PROMPT.md are not trusted")
        .out("Hint: Read and trust them: `loopkeeper trust PROMPT.md`");
    let mut keyed = doctor(&terminal, &[&bin], &["--agent", "claude"]);
    keyed.env("ANTHROPIC_API_KEY", "sk-secret");
    let ran = run(keyed);
    ran.expect(0).out("Version   2.1.329").out("Login     seen ($ANTHROPIC_API_KEY)");
    ran.out("has a stop hook      up to 8 times in a row");
    assert!(!ran.stdout.contains("sk-secret"));
}

#[test]
fn doctor_starts_nothing_of_the_workspace() {
    let terminal = Terminal::new();
    let mark = terminal.folder().join("started");
    let touch = format!("echo x >> '{}'\necho 1.0.0\n", mark.display());
    script(&terminal.root().join("bin/claude"), &touch);
    script(&terminal.root().join("agent.sh"), &touch);
    terminal.file(
        "loopkeeper.toml",
        "agent = \"mine\"\n[agents.mine]\ncommand = [\"./agent.sh\"]\n[agents.claude]\ncommand = [\"bin/claude\"]\n",
    );
    let ran = run(doctor(&terminal, &[&terminal.root().join("bin")], &["--json"]));
    ran.expect(0);
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(told["well"], true, "{told}");
    let names: Vec<_> = told["agents"].as_array().expect("agents").iter().map(|it| &it["name"]).collect();
    let expect = ["claude", "codex", "opencode", "gemini", "qwen", "copilot", "cursor", "amp", "mine"];
    assert_eq!(names, expect, "{told}");
    assert_eq!(told["agents"][8]["login"]["state"], "unknown", "{told}");
    assert!(!mark.exists(), "{}", fs::read_to_string(&mark).unwrap_or_default());
}

#[test]
fn doctor_says_what_a_session_of_ones_own_needs() {
    let terminal = Terminal::new();
    let bin = terminal.folder().join("bin");
    script(&bin.join("claude"), "echo '2.1.329 (Claude Code)'\n");
    terminal.file("loopkeeper.toml", "mode = \"attach\"\n");
    let told = |code: i32| {
        let ran = run(doctor(&terminal, &[&bin], &[]));
        ran.expect(code);
        ran
    };
    told(1).out("Claude Code does not ask loopkeeper in this folder").out("Hint: `loopkeeper hook install`");
    terminal.run(&["hook", "install"]).expect(0);
    told(0).out("would wait for a session of Claude Code").out("`limits.cost_usd` cannot be enforced");
    terminal.file(".claude/settings.json", "{\"disableAllHooks\": true}");
    told(1)
        .out("`disableAllHooks` in .claude/settings.json switches all hooks off")
        .out("Hint: Remove it there");
    terminal.file("loopkeeper.toml", "");
    told(0)
        .out("claude: `disableAllHooks` in .claude/settings.json switches its hooks off")
        .out("counted and never");
    let one = run(doctor(&terminal, &[&bin], &["--agent", "claude"]));
    one.expect(0).out("Hooks     off, by `disableAllHooks`").out("has a stop hook      no");
}

#[test]
fn doctor_ends_with_one_where_no_loop_could_start() {
    let terminal = Terminal::new();
    let ran = run(doctor(&terminal, &[], &[]));
    ran.expect(1).out("no agent was found on PATH").out("Hint: ").out("there is no task here");
    terminal.file("loopkeeper.toml", "agent = \"demo\"\n[limits]\niteration = 3\n");
    run(doctor(&terminal, &[], &[])).expect(1).out("loopkeeper.toml:3:").out("Did you mean");
    fs::write(terminal.root().join("loopkeeper.toml"), b"# caf\xe9\n").unwrap();
    let ran = run(doctor(&terminal, &[], &[]));
    ran.expect(1)
        .out("git version")
        .out("loopkeeper.toml is not UTF-8 text")
        .out("Hint: Save the file as UTF-8.");
    terminal.file("loopkeeper.toml", "agent = \"demo\"\n");
    terminal.file("PROMPT.md", "# A\n\n## Done when\n\n- It is: `$ true` `$ false`\n");
    run(doctor(&terminal, &[], &[])).expect(1).out("PROMPT.md:5:");
    run(doctor(&terminal, &[], &["--agent", "nobody"])).expect(2).err("there is no agent `nobody`");
    run(doctor(&terminal, &[], &["--agent", "amp"]))
        .expect(1)
        .out("not installed; `npm install -g @sourcegraph/amp`");
}

#[test]
fn a_state_folder_that_cannot_be_made_is_not_blamed_on_the_sandbox() {
    let terminal = Terminal::new();
    let sandbox = |ran: &Ran| -> String {
        let line = ran.stdout.lines().find(|it| it.contains("rocesses run"));
        line.unwrap_or_else(|| panic!("{}", ran.stdout)).to_owned()
    };
    let usual = sandbox(&run(doctor(&terminal, &[], &[])));
    terminal.file("occupied", "");
    let mut command = doctor(&terminal, &[], &[]);
    command.env("LOOPKEEPER_STATE_DIR", terminal.root().join("occupied/state"));
    let ran = run(command);
    ran.expect(1).out("✗ cannot ").out("Hint: Set LOOPKEEPER_STATE_DIR to a folder of yours");
    assert_eq!(sandbox(&ran), usual);
}

#[test]
fn other_work_trees_of_the_repository_are_named_once() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", "# A\n\n## Done when\n\n- It is: `exists **/made.txt`\n");
    for line in ["init -q", "add .", "commit -q -m first", "worktree add -q .claude/worktrees/x"] {
        terminal.git(line);
    }
    terminal.file(".claude/worktrees/x/made.txt", "");
    let named = "nother work tree of this repository is not part of this one: .claude/worktrees/x";
    let told = run(doctor(&terminal, &[], &[]));
    assert_eq!(told.stdout.matches(named).count(), 1, "{}", told.stdout);
    let status = terminal.run(&["status"]);
    status.expect(0);
    assert_eq!(status.stdout.matches(named).count(), 1, "{}", status.stdout);
    // Its task does not belong to this tree, and its files are not affected by the tree's checks.
    let checked = terminal.run(&["check"]);
    checked.expect(1).out("**/made.txt does not exist");
}
