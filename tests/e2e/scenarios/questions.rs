//! Questions to the user: answered, ignored, asked in an unattended loop; denied tools; whether a usage limit is waited
//! for.

use serde_json::Value;

use super::detached::{detached, end};
use crate::support::scenario::Ends::{Failed, Limit, Verified};
use crate::support::scenario::Scenario;
use crate::support::world::World;

const ASKS: &str = "echo $n >> log; echo 'I stopped here.'; echo; echo 'Which database do you want?'";
const CLAUDE: &str = "output = \"claude\"\ncommand = [\"/bin/sh\", \"agent.sh\"]\n";

fn asking(settings: &str) -> Scenario<'_> {
    Scenario {
        criteria: &["It is there: `exists done`"],
        settings,
        acts: &[ASKS, "touch done"],
        ..Scenario::default()
    }
}

#[track_caller]
fn asked(world: &World) -> Value {
    world.until("question", |it| it["type"] == "asked")
}

#[test]
fn unattended_loops_do_not_wait_for_answers() {
    let played = Scenario { ends: Verified(2, ""), ..asking("") }.play();
    let asked = played.all("asked")[0];
    let found = (&asked["id"], &asked["kind"], &asked["text"], &asked["until"]);
    assert_eq!(
        found,
        (&"agent-1".into(), &"agent".into(), &"Which database do you want?".into(), &Value::Null)
    );
    let answered = played.all("answered")[0];
    assert_eq!((&answered["id"], &answered["text"]), (&"agent-1".into(), &Value::Null));
    played.prompt_has(
        2,
        "> Which database do you want?\n\nNobody answered: decide yourself, and note what you assumed",
    );
    // Or ends, if configured.
    let pausing = asking("questions.unanswered = \"pause\"");
    let played =
        Scenario { ends: Failed(1, "unanswered question: Which database do you want?"), ..pausing }.play();
    assert_eq!(played.last()["outcome"]["cause"], "question");
    assert_eq!(played.world.starts(), 1);
}

#[test]
fn a_question_is_answered_in_a_terminal() {
    let (world, id) = detached(&asking(""));
    asked(&world);
    let status = world.status();
    assert_eq!((&status["state"], &status["phase"]), (&"needsYou".into(), &"needsAnswer".into()));
    assert_eq!(status["question"]["text"], "Which database do you want?");
    assert!(status["question"]["expiresAt"].is_string(), "{status:#}");
    world
        .run(&["status"])
        .expect(0)
        .out("the agent asks: Which database do you want?")
        .out(&format!("`loopkeeper answer {id} '…'` answers"));
    world.run(&["answer", &id, "  "]).expect(2).err("the answer is empty");
    world
        .run(&["answer", &id, "SQLite, in one file"])
        .expect(0)
        .out("continues; the next prompt contains the answer");
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
    let told = world.prompt(2);
    assert!(told.contains("The user answers:\n\nSQLite, in one file\n"), "{told}");
    world
        .run(&["log", &id])
        .expect(0)
        .out("the agent asks: Which database do you want? (until ")
        .out("answered: SQLite");
}

#[test]
fn an_answer_needs_a_question() {
    let act = "touch $folder/up; until [ -f $folder/go ]; do sleep 0.02; done; touch done";
    let (world, id) = detached(&Scenario { acts: &[act], ..asking("") });
    world.until_shared("up");
    world
        .run(&["answer", &id, "SQLite"])
        .expect(1)
        .err("the loop has no open question")
        .err("`loopkeeper steer` sends the agent a message");
    std::fs::write(world.shared("go"), "").unwrap();
    assert_eq!(end(&world), ("completed".to_owned(), true, 1));
}

#[test]
fn an_unanswered_question_times_out() {
    let (world, _) = detached(&asking("questions.timeout = \"200ms\""));
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
    assert!(world.prompt(2).contains("Nobody answered: decide yourself"));
    // It is paused, and a late answer counts like an early one.
    let (world, id) = detached(&asking("questions.timeout = \"200ms\"\nquestions.unanswered = \"pause\""));
    let paused = world.until("pause", |it| it["type"] == "paused");
    assert_eq!(paused["reason"], "question");
    assert_eq!(world.status()["phase"], "needsAnswer");
    world.run(&["answer", &id, "SQLite"]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
    assert!(world.prompt(2).contains("The user answers:\n\nSQLite\n"));
    // Resuming without an answer leaves the decision to the agent.
    let (world, id) = detached(&asking(""));
    asked(&world);
    world.run(&["resume", &id]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
    assert!(world.prompt(2).contains("Nobody answered: decide yourself"));
}

#[test]
fn a_denied_tool_is_named_with_its_remedy() {
    let agent = r#"echo $((n = $(cat starts 2>/dev/null || echo 0) + 1)) > starts
[ $n = 1 ] || touch done
cat <<'END'
{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","result":"I could not push.","permission_denials":[{"tool_name":"Bash","tool_input":{"command":"git push"}},{"tool_name":"Bash","tool_input":{"command":"git push"}}]}
END
"#;
    let played = Scenario {
        files: &[("agent.sh", agent), (".gitignore", "starts\n")],
        criteria: &["It is there: `exists done`"],
        of_agent: CLAUDE,
        ends: Verified(2, ""),
        ..Scenario::default()
    }
    .play();
    let run = &played.record("agent-ended", 1)["run"];
    assert_eq!((&run["denials"], run["denied"][0].as_str()), (&2.into(), Some("Bash: git push")));
    let asked = played.all("asked");
    assert_eq!((asked.len(), &asked[0]["kind"]), (1, &"denied".into()), "not of the one that completes");
    let text = asked[0]["text"].as_str().unwrap();
    assert!(text.starts_with("The agent was denied `Bash: git push`. Allow it with `permissions`"), "{text}");
}

/// An agent that met its provider's limit, with a reset in an hour.
fn limited<'a>(agent: &'a [(&'a str, &'a str)], settings: &'a str) -> Scenario<'a> {
    Scenario {
        files: agent,
        criteria: &["It is there: `exists done`"],
        settings,
        of_agent: CLAUDE,
        ..Scenario::default()
    }
}

fn limited_agent() -> String {
    let record = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/agents/claude/limit5h_oauth_429.jsonl");
    format!("sed \"s/1795200628/$(($(date +%s) + 3600))/g\" {record}; exit 1")
}

#[test]
fn at_a_usage_limit_the_loop_may_be_ended() {
    let agent = limited_agent();
    let files = [("agent.sh", agent.as_str())];
    let stops = limited(&files, "usage_limit.unanswered = \"stop\"");
    Scenario { ends: Limit(1, "limit reached: the provider's usage limit, after 1 iteration"), ..stops }
        .play();
    let (world, id) = detached(&limited(&files, ""));
    assert_eq!(asked(&world)["kind"], "usage-limit");
    let status = world.status();
    assert_eq!((&status["state"], &status["phase"]), (&"working".into(), &"waiting".into()));
    world.run(&["status"]).expect(0).out(&format!("`loopkeeper answer {id} stop` ends it"));
    world.run(&["answer", &id, "perhaps"]).expect(2).err("Answer `wait` or `stop`");
    world.run(&["answer", &id, "stop"]).expect(0).out("stops");
    assert_eq!(end(&world), ("stopped".to_owned(), false, 1));
}
