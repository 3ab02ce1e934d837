//! Agents that implement the Agent Client Protocol, correctly or not: `tests/rigs/acp.sh`.

use serde_json::json;

use crate::support::ended_loop::EndedLoop;
use crate::support::scenario::Ends::{Failed, Verified};
use crate::support::scenario::{Ends, Scenario, task};

const DONE: &[&str] = &["It is there: `exists done`"];
const EDIT: &str = r#"may '"kind":"edit","locations":[{"path":"done"}]' && touch done"#;
const WORKS: &str = "touch done; chunk Done.; over end_turn";

fn scenario<'a>(acts: &'a [&'a str], ends: Ends<'a>) -> Scenario<'a> {
    Scenario { criteria: DONE, of_agent: "output = \"acp\"\n", acts, ends, ..Scenario::default() }
}

/// One act, followed by one that works.
#[track_caller]
fn then_works(act: &str) -> EndedLoop {
    scenario(&[act, WORKS], Verified(2, "")).play()
}

#[test]
fn an_agent_by_protocol_completes_a_loop() {
    let act = format!("{EDIT}; chunk 'Made '; chunk it.; over end_turn");
    let played = scenario(&[&act], Verified(1, "")).play();
    let run = &played.record("agent-ended", 1)["run"];
    let expect = (&json!("Made it."), &json!("S-1"), &json!(15), &json!(0), &json!(0));
    assert_eq!(
        (&run["finalText"], &run["session"], &run["tokens"], &run["denials"], &run["exit"]),
        expect,
        "{run}"
    );
    assert_eq!((&run["error"], &run["note"]), (&json!(null), &json!(null)), "{run}");
    played.prompt_has(1, "Make it so");
}

#[test]
fn files_and_commands_of_calls_are_recorded() {
    let call = |fields: &str| {
        format!("update '{{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"t\",{fields}}}'\n")
    };
    let act = call(r#""kind":"edit","status":"completed","locations":[{"path":"a.txt"}]"#)
        + &call(r#""kind":"execute","status":"completed","title":"make it""#)
        + WORKS;
    let played = scenario(&[&act], Verified(1, "")).play();
    let run = &played.record("agent-ended", 1)["run"];
    assert_eq!((&run["files"], &run["commands"]), (&json!(["a.txt"]), &json!(["make it"])), "{run}");
}

#[test]
fn commands_that_are_not_checks_are_refused() {
    const PUSH: &str =
        r#"may '"kind":"execute","rawInput":{"command":"git push"}' && touch done; over end_turn"#;
    let played = then_works(PUSH);
    let run = &played.record("agent-ended", 1)["run"];
    assert_eq!((&run["denials"], &run["denied"]), (&json!(1), &json!(["run: git push"])), "{run}");
    // Control: the same request is granted if everything is allowed.
    let all = "output = \"acp\"\npermissions = \"all\"\n";
    Scenario { of_agent: all, ..scenario(&[PUSH], Verified(1, "")) }.play();
}

#[test]
fn checks_are_allowed_as_they_are_written_and_not_otherwise() {
    let ask = |command: &str| format!(r#"may '"kind":"execute","rawInput":{{"command":"{command}"}}'"#);
    let act =
        format!("{} && {{ {} || touch done; }}; over end_turn", ask("test -e done"), ask("test -e done; x"));
    let acts = [act.as_str()];
    let criteria = &["It is there: `$ test -e done`"];
    Scenario { criteria, ..scenario(&acts, Verified(1, "")) }.play();
}

#[test]
fn nothing_is_written_outside_of_the_tree() {
    for path in ["../outside", "/etc/outside", "out/outside", ".git/hooks/pre-commit"] {
        let act =
            format!(r#"may '"kind":"edit","locations":[{{"path":"{path}"}}]' && touch done; over end_turn"#);
        let acts = [act.as_str(), WORKS];
        let played = Scenario { before: "ln -s .. out", ..scenario(&acts, Verified(2, "")) }.play();
        assert_eq!(played.record("agent-ended", 1)["run"]["denied"], json!([format!("edit: {path}")]));
    }
}

#[test]
fn repeated_denials_open_the_breaker() {
    let act = r#"may '"kind":"execute","rawInput":{"command":"git push"}'; over end_turn"#;
    scenario(&[act], Ends::Breaker(2, "2 iterations with denied tools")).play();
}

#[test]
fn invalid_lines_are_ignored() {
    let act = format!(
        "says Loading; says '{{'; says '[]'; says '{{\"jsonrpc\":\"2.0\",\"method\":\"_x\"}}'; {WORKS}"
    );
    let played = scenario(&[&act], Verified(1, "")).play();
    assert_eq!(played.record("agent-ended", 1)["run"]["finalText"], "Done.");
}

#[test]
fn an_exit_during_a_turn_is_a_failure() {
    then_works("echo 'out of memory' >&2; exit 3")
        .iteration_sentence(1, "agent failed (exit 3: out of memory), nothing changed, checks not needed");
    then_works("exit 0").iteration_sentence(
        1,
        "agent failed (exit 1: the agent ended before its turn was over), nothing changed, checks not needed",
    );
}

#[test]
fn an_agent_that_never_answers_is_ended_as_idle() {
    let scenario = scenario(&["# mute", WORKS], Verified(2, ""));
    let played = Scenario { settings: "limits.idle_time = \"3s\"", ..scenario }.play();
    let run = &played.record("agent-ended", 1)["run"];
    assert_eq!((&run["ending"], &run["survivors"]), (&json!("idle"), &json!(null)), "{run}");
}

#[test]
fn a_refusal_of_the_prompt_fails_the_loop() {
    let ended = Failed(3, "the agent refused to continue with this prompt");
    scenario(&["over refusal"], ended).play();
}

#[test]
fn a_limit_of_the_agent_itself_is_noted() {
    let played = then_works("chunk Half.; over max_turn_requests");
    let run = &played.record("agent-ended", 1)["run"];
    assert_eq!((&run["note"], &run["error"]), (&json!("it reached its own limit of requests"), &json!(null)));
}

#[test]
fn a_missing_login_fails_the_loop() {
    let ended = Failed(1, "it is not logged in: Authentication required (options: Log in with X)");
    let played = scenario(&["# login"], ended).play();
    assert_eq!(played.record("agent-ended", 1)["run"]["error"]["class"], "login");
}

#[test]
fn a_session_continues_and_repeats_nothing() {
    let scenario = scenario(&["chunk First.; over end_turn", WORKS], Verified(2, ""));
    let played = Scenario { settings: "session.continue = true", ..scenario }.play();
    let opened = |n: u32| std::fs::read_to_string(played.world.shared(&format!("open.{n}"))).unwrap();
    assert!(opened(1).contains("session/new"), "{}", opened(1));
    assert!(opened(2).contains("session/load") && opened(2).contains("\"S-1\""), "{}", opened(2));
    assert_eq!(played.record("agent-ended", 2)["run"]["finalText"], "Done.");
}

#[test]
fn a_session_is_cancelled_at_its_time_limit() {
    let act = "trap '' TERM; read -r last; printf '%s\\n' \"$last\" > \"$folder/last\"; over cancelled";
    let acts = [act, WORKS];
    let settings = "limits.iteration_time = \"4s\"\nlimits.grace = \"30s\"";
    let played = Scenario { settings, ..scenario(&acts, Verified(2, "")) }.play();
    let last = std::fs::read_to_string(played.world.shared("last")).unwrap();
    assert!(last.contains("session/cancel"), "{last}");
    assert_eq!(played.record("agent-ended", 1)["run"]["ending"], "timed-out");
}

/// A line and 15 tokens a turn, as long as there is a next prompt.
const TURNS: &str = r#"says() { printf '%s\n' "$1"; }
read -r it; says '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'
read -r it; says '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"S"}}'
id=3
while read -r it; do
  printf '%s\n' "$it" > "prompt.$id"
  echo line >> work
  says '{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"turn '$id'"}}}}'
  says '{"jsonrpc":"2.0","id":'$id',"result":{"stopReason":"end_turn","usage":{"totalTokens":15}}}'
  id=$((id + 1))
done
"#;

#[test]
fn one_session_is_held_until_everything_passes() {
    let task = task(&["Enough: `$ wc -l < work` `>= 3`"]);
    let played = Scenario {
        files: &[("PROMPT.md", &task), ("agent.sh", TURNS)],
        settings: "mode = \"hook\"\n",
        of_agent: "command = [\"/bin/sh\", \"agent.sh\"]\noutput = \"acp\"\n",
        ends: Verified(3, ""),
        ..Scenario::default()
    }
    .play();
    let runs: Vec<_> = played.all("agent-ended").iter().map(|it| &it["run"]).collect();
    let told: Vec<_> = runs.iter().map(|it| (&it["finalText"], &it["tokens"], &it["ending"])).collect();
    let each = |text: &str| (json!(text), json!(15), json!("held"));
    let expect = ["turn 3", "turn 4", "turn 5"].map(each);
    assert_eq!(told, expect.each_ref().map(|(text, tokens, ending)| (text, tokens, ending)), "{runs:#?}");
    let left = &played.all("agent-left")[0]["left"];
    assert_eq!((&left["exit"], left.get("survivors")), (&json!(0), None), "{left}");
    assert!(played.world.terminal.read("prompt.4").contains("iteration 2 of at most"));
}

#[test]
fn a_dry_run_shows_the_command_and_the_permissions() {
    let scenario = Scenario {
        criteria: &["It is there: `$ test -e done`"],
        of_agent: "output = \"acp\"\n",
        acts: &[WORKS],
        ..Scenario::default()
    };
    let world = scenario.world();
    world
        .run(&["run", "--dry-run"])
        .out("acp.sh")
        .out(r#""permissions":"edits","commands":["test -e done"]"#);
}
