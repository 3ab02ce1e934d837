//! Hook mode: an agent that calls `loopkeeper hook stop` when its turn ends, and continues with the response.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::cli::{Ran, Terminal, script};
use crate::support::scenario::Ends::{Limit, Verified};
use crate::support::scenario::{Scenario, task};

/// Adds a line, calls the hook, and continues as long as it gets a prompt.
const AGENT: &str = r#"cat > prompt.1; n=1
while :; do
  echo line >> work
  tell="{\"session_id\":\"$LOOPKEEPER_SESSION\",\"last_assistant_message\":\"turn $n\"}"
  answer=$(echo "$tell" | "$HOOK" hook stop 2>> let-through) || exit 9
  n=$((n + 1))
  case $answer in *'"decision":"block"'*) printf '%s' "$answer" > "prompt.$n" ;; *) exit 0 ;; esac
done
"#;
const OF_AGENT: &str = "command = [\"/bin/sh\", \"agent.sh\"]\n";

fn settings(more: &str) -> String {
    format!("mode = \"hook\"\n{more}[env.set]\nHOOK = \"{}\"\n", env!("CARGO_BIN_EXE_loopkeeper"))
}

#[test]
fn one_process_works_until_everything_passes() {
    let task = task(&["Enough: `$ wc -l < work` `>= 3`"]);
    let played = Scenario {
        files: &[("PROMPT.md", &task), ("agent.sh", AGENT)],
        settings: &settings(""),
        of_agent: OF_AGENT,
        ends: Verified(3, ""),
        ..Scenario::default()
    }
    .play();
    let runs = played.all("agent-ended");
    assert_eq!(
        runs.iter().map(|it| &it["run"]["finalText"]).collect::<Vec<_>>(),
        ["turn 1", "turn 2", "turn 3"]
    );
    assert_eq!(played.all("agent-left").len(), 1);
    let second: Value = serde_json::from_str(&played.world.terminal.read("prompt.2")).expect("JSON");
    let told = second["reason"].as_str().expect("a text");
    assert!(told.contains("Make it so") && told.contains("iteration 2 of at most"), "{told}");
    played.world.run(&["log"]).expect(0).out("agent is held by its stop hook").out("agent exited");
}

#[test]
fn limits_end_a_session_as_they_end_a_loop() {
    let task = task(&["Enough: `$ wc -l < work` `>= 9`"]);
    let played = Scenario {
        files: &[("PROMPT.md", &task), ("agent.sh", AGENT)],
        settings: &settings("[limits]\niterations = 2\n"),
        of_agent: OF_AGENT,
        ends: Limit(2, "2 iterations"),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.world.terminal.read("work").lines().count(), 2);
    assert_eq!(played.all("agent-left")[0]["left"]["exit"], 0, "it was let go, not ended");
}

/// Response of `loopkeeper hook stop`, with these additional variables.
fn hook(terminal: &Terminal, told: &str, variables: &[(&str, &str)]) -> Ran {
    let mut command = terminal.command(&["hook", "stop"]);
    command
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    child.stdin.take().expect("a pipe").write_all(told.as_bytes()).expect("read");
    Ran::of(&child.wait_with_output().expect("it ends"))
}

#[test]
fn a_hook_without_its_keeper_allows_the_call() {
    let terminal = Terminal::new();
    let told = json!({"session_id": "s"}).to_string();
    let check = |told: &str, variables: &[(&str, &str)], why: &str| {
        let ran = hook(&terminal, told, variables);
        ran.expect(0).err(why);
        assert_eq!(ran.stdout, "", "{why}");
    };
    let mark = ("LOOPKEEPER_LOOP", "20261120-abcdef:token");
    check(&told, &[], "let through: no loop of loopkeeper started this agent");
    check(
        &told,
        &[mark, ("LOOPKEEPER_SOCKET", "/nowhere/x.sock")],
        "let through: the keeper does not answer",
    );
    check(&told, &[mark, ("LOOPKEEPER_SOCKET", "x")], "let through: no loop");
    check("not JSON", &[mark], "let through: what the agent sent");
    // A socket that accepts the request and never responds.
    let silent = terminal.folder().join("silent.sock");
    let listener = std::os::unix::net::UnixListener::bind(&silent).expect("a socket");
    let socket = silent.to_string_lossy().into_owned();
    check(&told, &[mark, ("LOOPKEEPER_SOCKET", &socket)], "let through: the keeper does not answer");
    drop(listener);
}

#[test]
fn an_agent_that_never_calls_its_hook_is_reported_and_works() {
    let played = Scenario {
        criteria: &["Enough: `$ wc -l < work` `>= 2`"],
        settings: "mode = \"hook\"\n",
        before: "touch work",
        acts: &["echo line >> work"],
        ends: Verified(2, ""),
        ..Scenario::default()
    }
    .play();
    let runs = played.all("agent-ended");
    assert!(runs.iter().all(|it| it["run"]["ending"] == "exited"), "{runs:#?}");
    let note = runs[0]["run"]["note"].as_str().unwrap_or_default();
    assert!(
        note.contains("its stop hook did not call loopkeeper") && note.contains("`loopkeeper hook stop`"),
        "{note}"
    );
    played.world.run(&["log"]).expect(0).out("its stop hook did not call loopkeeper");
}

/// Message of `run` for an agent of this name, which is installed.
fn run(agent: &str, of_agent: &str, files: &[(&str, &str)]) -> Ran {
    let terminal = Terminal::new();
    let bin = terminal.folder().join("bin");
    script(&bin.join(agent), "exit 9\n");
    terminal.file("PROMPT.md", &task(&["It is there: `exists a`"])).file(
        "loopkeeper.toml",
        &format!("agent = \"{agent}\"\nmode = \"hook\"\n[agents.{agent}]\n{of_agent}"),
    );
    for (path, text) in files {
        terminal.file(path, text);
    }
    let mut command = terminal.command(&["run", "--dry-run"]);
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&usual)));
    command.env("PATH", path.expect("folders without colons"));
    Ran::of(&command.output().expect("the binary starts"))
}

#[test]
fn an_agent_that_cannot_be_held_is_refused_at_the_start() {
    let refused = |ran: Ran, what: &str, hint: &str| {
        ran.expect(2).err(what).err(hint);
    };
    let instead = "or `session.continue = true` instead";
    run("opencode", "output = \"acp\"\n", &[]).expect(0);
    refused(run("opencode", "", &[]), "and `opencode` has no stop hook", instead);
    refused(run("qwen", "", &[]), "and `qwen` reads a stop hook only from a file of its folder", instead);
    let correct = "orrect `args` under `[agents.";
    let file = "args = [\"--settings\", \"mine.json\"]\n";
    refused(run("claude", file, &[]), "`--settings mine.json` cannot be read", correct);
    refused(
        run("claude", file, &[("mine.json", "[]")]),
        "`--settings mine.json` contains no JSON object",
        correct,
    );
    run("claude", file, &[("mine.json", "{}")]).expect(0);
    let off = (".claude/settings.json", "{\"disableAllHooks\": true}");
    let switched = "`disableAllHooks` in .claude/settings.json switches all hooks off";
    refused(run("claude", "", &[off]), switched, "or set `session.continue = true` instead of `mode`");
    run("claude", "args = ['--settings', '{\"disableAllHooks\":false}']\n", &[off]).expect(0);
    let theirs = "args = [\"-c\", \"hooks.Stop=[]\"]\n";
    refused(
        run("codex", theirs, &[]),
        "`hooks.Stop=[]` takes the place of the hook that hook mode installs",
        correct,
    );
    run("codex", "", &[]).expect(0);
}
