//! A loop in a session that its user opened: a shell calls the hooks like Claude Code does, with the same payload on
//! stdin.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::cli::Ran;
use crate::support::scenario::task;
use crate::support::world::{World, wait_until};

const FILE: &str = ".claude/settings.local.json";

fn world(settings: &str) -> World {
    let world = World::new();
    world.terminal.file("PROMPT.md", &task(&["Enough: `$ wc -l < work` `>= 3`"])).file("work", "");
    world.terminal.file("loopkeeper.toml", &format!("mode = \"attach\"\n{settings}"));
    world
}

/// The loop waits for its session.
fn waiting_loop(settings: &str) -> World {
    let world = world(settings);
    world.run(&["hook", "install"]).expect(0);
    world.run(&["run", "--trust", "--json"]).expect(0).out("loopId");
    until_paused(&world, "give `claude` in this folder any prompt");
    world
}

fn until_paused(world: &World, why: &str) {
    let is_it = |it: &Value| it["type"] == "paused" && it["message"].to_string().contains(why);
    assert_eq!(world.until(why, is_it)["reason"], "session");
}

/// Output of the installed hook for this session, in the environment of its caller.
fn call_hook(world: &World, who: (&str, &str), more: &[(&str, &str)]) -> Ran {
    call_hook_with(world, who, more, &json!({}))
}

/// Like [`call_hook`], with more fields in the payload.
fn call_hook_with(
    world: &World,
    (event, session): (&str, &str),
    more: &[(&str, &str)],
    fields: &Value,
) -> Ran {
    let settings: Value = serde_json::from_str(&world.terminal.read(FILE)).expect("JSON");
    let hook = settings["hooks"][event][0]["hooks"][0]["command"].as_str().expect("a command").to_owned();
    let mut command = world.terminal.command_of(Path::new("/bin/sh"), &["-c", &hook]);
    command.env("CLAUDE_PROJECT_DIR", world.root()).envs(more.iter().copied());
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a shell");
    let mut payload =
        json!({"session_id": session, "hook_event_name": event, "last_assistant_message": "a line more"});
    payload.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
    // A hook without a keeper may exit before it reads.
    let _ = child.stdin.take().expect("a pipe").write_all(payload.to_string().as_bytes());
    let ran = Ran::of(&child.wait_with_output().expect("it ends"));
    ran.expect(0);
    ran
}

fn reply(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
}

fn assert_let_through(world: &World, who: (&str, &str), more: &[(&str, &str)]) {
    assert_eq!(call_hook(world, who, more).stdout, "", "{who:?} {more:?}");
}

/// Stops the loop and waits until its keeper has exited: until then hooks are answered that the loop is stopping.
fn stop(world: &World) {
    world.run(&["stop", "--now"]).expect(0);
    wait_until(|| world.status()["keeper"]["alive"] != true, || world.status().to_string());
}

fn add_line(world: &World) {
    world.shell("echo line >> work");
}

#[test]
fn a_session_works_until_everything_holds() {
    let world = waiting_loop("");
    let first = reply(&call_hook(&world, ("UserPromptSubmit", "s1"), &[]));
    let context = first["hookSpecificOutput"]["additionalContext"].as_str().expect("a text");
    assert!(context.contains("Make it so") && context.contains("iteration 1 of at most"), "{context}");
    assert!(first["systemMessage"].as_str().is_some_and(|it| it.contains("Ralph: this session works")));
    // No other session's turn is held, including those without a known process.
    assert_let_through(&world, ("Stop", "s2"), &[]);
    for iteration in [2, 3] {
        add_line(&world);
        let next = reply(&call_hook(&world, ("Stop", "s1"), &[]));
        assert_eq!(next["decision"], "block", "{next}");
        let reason = next["reason"].as_str().expect("a text");
        assert!(reason.contains(&format!("iteration {iteration} of at most")), "{reason}");
    }
    add_line(&world);
    let last = reply(&call_hook(&world, ("Stop", "s1"), &[]));
    assert!(last["decision"].is_null(), "{last}");
    assert!(last["systemMessage"].as_str().is_some_and(|it| it.contains("ompleted, verified")), "{last}");
    let ended = world.until("end", |it| it["type"] == "ended");
    assert_eq!(
        (&ended["outcome"]["verified"], ended["outcome"]["kind"].as_str()),
        (&json!(true), Some("completed"))
    );
    let log = world.run(&["log"]);
    log.expect(0).out("your session works on it").out("3 iterations");
    // The session is gone.
    assert_let_through(&world, ("Stop", "s1"), &[]);
    world.run(&["hook", "remove"]).expect(0);
    assert!(!world.has(".claude"));
}

#[test]
fn nothing_is_started_where_the_hooks_are_not_installed() {
    let world = world("");
    world.run(&["run", "--trust"]).expect(2).err("does not ask loopkeeper").err("`loopkeeper hook install`");
    assert!(world.loops().is_empty());
    world.terminal.file("loopkeeper.toml", "agent = \"codex\"\n");
    world.run(&["run", "--attach", "--trust"]).expect(2).err("works in a session of Claude Code");
}

#[test]
fn an_agent_that_cannot_be_attached_is_refused_beforehand() {
    let world = waiting_loop("");
    let dry = world.run(&["run", "--dry-run"]);
    dry.expect(0).out("`limits.cost_usd` cannot be enforced");
    assert!(!dry.stdout.contains("`limits.tokens`") && !dry.stdout.contains("[spawns]"), "{dry:?}");
    let log = world.run(&["log"]);
    log.expect(0).out("ost unknown: Claude does not report it in an interactive session");
}

#[test]
fn tokens_are_read_from_the_transcript_of_claude() {
    let world = waiting_loop("[limits]\ntokens = 5000\n");
    let transcript = world.terminal.folder().join("s1.jsonl");
    let payload = json!({"transcript_path": transcript});
    let used = |turn: u32, tokens: u32| {
        let usage = json!({"input_tokens": tokens, "output_tokens": 0});
        let part = json!({"type": "assistant", "message": {"id": format!("msg_{turn}"), "usage": usage}});
        let mut last = part.clone();
        last["message"]["content"] = json!([{"type": "text", "text": "a line more"}]);
        // One line for each part of a message.
        let text = std::fs::read_to_string(&transcript).unwrap_or_default() + &format!("{part}\n{last}\n");
        std::fs::write(&transcript, text).expect("written");
    };
    used(0, 90_000);
    reply(&call_hook_with(&world, ("UserPromptSubmit", "s1"), &[], &payload));
    for (turn, decision) in [(1, json!("block")), (2, Value::Null)] {
        used(turn, 2_500);
        let next = reply(&call_hook_with(&world, ("Stop", "s1"), &[], &payload));
        assert_eq!(next["decision"], decision, "{next}");
    }
    let ended = world.until("end", |it| it["type"] == "ended");
    assert_eq!(ended["outcome"]["kind"], "limit", "{ended}");
    let runs: Vec<Value> = world.journal().into_iter().filter(|it| it["type"] == "agent-ended").collect();
    assert!(runs.iter().all(|it| it["run"]["tokens"] == 2_500), "{runs:#?}");
    world.run(&["log"]).expect(0).out("s, 2500 tokens");
    world.run(&["status"]).expect(0).out("5000 tokens");
}

/// Why a subagent may not start; `None`: that is the user's own decision.
fn refused(world: &World, session: &str, more: &Value) -> Option<String> {
    let ran = call_hook_with(world, ("PreToolUse", session), &[], more);
    if ran.stdout.is_empty() {
        return None;
    }
    let reply = reply(&ran)["hookSpecificOutput"].clone();
    assert_eq!(
        (&reply["hookEventName"], &reply["permissionDecision"]),
        (&json!("PreToolUse"), &json!("deny"))
    );
    reply["permissionDecisionReason"].as_str().map(str::to_owned)
}

#[test]
fn subagents_of_a_session_use_the_budget() {
    let world = waiting_loop("[spawns]\nbudget = 2\n");
    let look = |call: &str| json!({"tool_use_id": call, "tool_input": {"description": "look around"}});
    let below = |call: &str| json!({"tool_use_id": call, "agent_id": "a1", "agent_type": "general"});
    let subagent =
        |event: &str| call_hook_with(&world, (event, "s1"), &[], &json!({"agent_id": "a1"})).stdout;
    assert_eq!(refused(&world, "s1", &look("t0")), None, "the loop waits");
    reply(&call_hook(&world, ("UserPromptSubmit", "s1"), &[]));
    assert_eq!(refused(&world, "s1", &look("t1")), None);
    assert_eq!(subagent("SubagentStart"), "");
    assert_eq!(refused(&world, "s1", &below("t2")), None);
    // Another session in this folder, and one that does not name its id.
    assert_eq!(refused(&world, "s2", &look("t3")), None);
    assert_eq!(refused(&world, "", &look("t4")), None);
    let why = "not started: the loop's budget, 2 subagents, is used up. Do this part of the work yourself, \
               without a subagent.";
    assert_eq!(refused(&world, "s1", &look("t5")).as_deref(), Some(why));
    assert_eq!(refused(&world, "s1", &below("t6")).as_deref(), Some(why));
    assert_eq!(subagent("SubagentStop"), "");
    add_line(&world);
    assert_eq!(reply(&call_hook(&world, ("Stop", "s1"), &[]))["decision"], "block");
    assert!(refused(&world, "s1", &look("t7")).is_some(), "the next iteration has the same budget");
    stop(&world);
    assert_eq!(refused(&world, "s1", &look("t8")), None, "there is no loop any more");
    let asked: Vec<Value> = world.journal().into_iter().filter(|it| it["type"] == "subagent-asked").collect();
    let by: Vec<_> = asked.iter().map(|it| it["by"].as_str()).collect();
    assert_eq!(by, [None, Some("a1"), None, Some("a1"), None], "{asked:#?}");
    assert_eq!(asked[0]["what"], "look around");
    world.run(&["log"]).expect(0).out("look around");
    world.run(&["status"]).expect(0).out("2 subagents");
}

#[test]
fn hooks_of_an_earlier_version_are_completed_first() {
    let world = world("");
    world.run(&["hook", "install"]).expect(0);
    let mut settings: Value = serde_json::from_str(&world.terminal.read(FILE)).expect("JSON");
    settings["hooks"].as_object_mut().expect("an object").remove("PreToolUse");
    world.terminal.file(FILE, &settings.to_string());
    world.run(&["run", "--trust"]).expect(2).err("incomplete for this version").err("hook install` adds");
    world.run(&["hook", "install"]).expect(0);
    world.run(&["run", "--trust"]).expect(0);
    until_paused(&world, "give `claude` in this folder any prompt");
    world.run(&["stop"]).expect(0);
    world.run(&["hook", "remove"]).expect(0);
    assert!(!world.has(".claude"));
}

#[test]
fn other_sessions_are_let_through() {
    let world = waiting_loop("");
    // An agent of a loop, and one in another folder.
    assert_let_through(&world, ("Stop", "s1"), &[("LOOPKEEPER_LOOP", "20261120-abcdef:token")]);
    assert_let_through(&world, ("UserPromptSubmit", "s1"), &[("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")]);
    let elsewhere = world.terminal.folder().to_string_lossy().into_owned();
    assert_let_through(&world, ("Stop", "s1"), &[("CLAUDE_PROJECT_DIR", &elsewhere)]);
    let pid = std::process::id().to_string();
    reply(&call_hook(
        &world,
        ("UserPromptSubmit", "s1"),
        &[("CLAUDE_CODE_ENTRYPOINT", "cli"), ("CLAUDE_PID", &pid)],
    ));
    assert_let_through(&world, ("Stop", "s2"), &[]);
    assert_let_through(&world, ("UserPromptSubmit", "s2"), &[]);
    assert_let_through(&world, ("SessionEnd", "s2"), &[]);
    // Its user sends a prompt while it works.
    assert_let_through(&world, ("UserPromptSubmit", "s1"), &[]);
    add_line(&world);
    assert_eq!(reply(&call_hook(&world, ("Stop", "s1"), &[]))["decision"], "block");
    stop(&world);
    assert_let_through(&world, ("Stop", "s1"), &[]);
    assert_eq!(world.journal().last().expect("a record")["outcome"]["kind"], "stopped");
}

#[test]
fn a_session_that_is_closed_can_be_followed_by_another() {
    let world = waiting_loop("");
    reply(&call_hook(&world, ("UserPromptSubmit", "s1"), &[]));
    add_line(&world);
    assert_let_through(&world, ("SessionEnd", "s1"), &[]);
    until_paused(&world, "your session was closed");
    let status = world.run(&["status"]);
    status.expect(0).out("send any prompt").out("claude in your own session").out("cost unknown");
    let next = reply(&call_hook(&world, ("UserPromptSubmit", "s2"), &[]));
    assert!(next.to_string().contains("iteration 2 of at most"), "{next}");
    world.run(&["stop"]).expect(0);
    add_line(&world);
    let last = call_hook(&world, ("Stop", "s2"), &[]);
    assert!(last.stdout.contains("stopped") && !last.stdout.contains("block"), "{last:?}");
}

#[test]
fn the_agents_own_cap_is_waited_for() {
    let world = waiting_loop("");
    let cap = [("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "1")];
    reply(&call_hook(&world, ("UserPromptSubmit", "s1"), &cap));
    add_line(&world);
    assert_eq!(reply(&call_hook(&world, ("Stop", "s1"), &cap))["decision"], "block");
    add_line(&world);
    let free = reply(&call_hook(&world, ("Stop", "s1"), &cap));
    assert!(
        free["decision"].is_null() && free.to_string().contains("send your session any prompt"),
        "{free}"
    );
    until_paused(&world, "no longer continues this turn");
    let next = reply(&call_hook(&world, ("UserPromptSubmit", "s1"), &cap));
    assert!(next.to_string().contains("iteration 3 of at most"), "{next}");
    world.run(&["stop", "--now"]).expect(0);
}

#[test]
fn settings_that_claude_writes_meanwhile_need_no_trust() {
    let world = waiting_loop("");
    reply(&call_hook(&world, ("UserPromptSubmit", "s1"), &[]));
    let mut settings: Value = serde_json::from_str(&world.terminal.read(FILE)).expect("JSON");
    settings["permissions"] = json!({"allow": ["Bash(ls)"]});
    world.terminal.file(FILE, &settings.to_string());
    add_line(&world);
    assert_eq!(reply(&call_hook(&world, ("Stop", "s1"), &[]))["decision"], "block");
    world.run(&["stop", "--now"]).expect(0);
}
