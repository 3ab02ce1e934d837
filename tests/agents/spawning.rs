//! Subagents of the real CLI: each start calls the hook, and is refused with the reason once the budget is used up.

use serde_json::{Value, json};

use super::agent_params::{AgentParams, CODEX, GEMINI, OPENCODE, QWEN};
use super::journal::Journal;
use super::looping::{ClaudeFixture, ONE_LINE, path};
use super::model::Step;
use super::others::{self, ONE_FILE};

fn input(what: &str) -> Value {
    json!({"description": what, "prompt": "Say what you see.", "subagent_type": "general-purpose"})
}

fn subagent(what: &str) -> Step {
    Step::Tool("Task", input(what))
}

/// The script before the line is written.
fn spawned(more: &str, script: Vec<Step>) -> (ClaudeFixture, Journal) {
    let fixture = ClaudeFixture::new(ONE_LINE, |root| {
        let write = Step::write(&path(root, "a.txt"), "one\n");
        script.into_iter().chain([write, Step::Text("Written.")]).collect()
    });
    let settings = format!("{}{more}", fixture.terminal.read("loopkeeper.toml"));
    fixture
        .terminal
        .file("loopkeeper.toml", &settings)
        .file("mine.json", "{}\n")
        .file("off.json", "{\"disableAllHooks\": true}\n");
    let journal = fixture.run();
    assert_eq!(journal.ended(0, "completed")["outcome"]["verified"], true);
    (fixture, journal)
}

fn refused(journal: &Journal) -> Vec<String> {
    journal.all("subagent-asked").iter().filter_map(|it| Some(it["refused"].as_str()?.to_owned())).collect()
}

#[test]
fn claude_over_its_budget_of_subagents_gets_the_reason() {
    let script = vec![subagent("look around"), Step::Text("I see a task."), subagent("look again")];
    // Settings in the user's file replace none of ours.
    let theirs = "[agents.claude]\nargs = [\"--settings\", \"mine.json\"]\n[spawns]\nbudget = 1\n";
    let (fixture, journal) = spawned(theirs, script);
    let asked = journal.all("subagent-asked");
    assert_eq!(asked.len(), 2, "{}", journal.summary());
    assert_eq!((&asked[0]["what"], &asked[0]["refused"]), (&json!("look around"), &Value::Null));
    let why = asked[1]["refused"].as_str().expect("refused");
    assert!(why.contains("budget, 1 subagent, is used up"), "{why}");
    let (started, ended) = (journal.all("subagent-started"), journal.all("subagent-ended"));
    assert_eq!((started.len(), ended.len()), (1, 1), "{}", journal.summary());
    assert_eq!((&started[0]["id"], &started[0]["call"]), (&ended[0]["id"], &asked[0]["call"]));
    assert!(asked[0]["call"].as_str().is_some_and(|it| it.starts_with("toolu_")), "{}", asked[0]);
    let told = fixture.model.asked().last().expect("a request").to_string();
    assert!(told.contains(why), "the agent reads it");
}

#[test]
fn claude_that_starts_several_at_once_gets_as_many_as_the_budget_has() {
    let at_once = ["one", "two", "three", "four"].map(input).to_vec();
    let messages = [Step::Text("I see a task."), Step::Text("I see a task.")];
    let script = [vec![Step::Tools("Task", at_once)], messages.to_vec()].concat();
    let (_, journal) = spawned("[spawns]\nbudget = 2\nper_agent = 9\n", script);
    assert_eq!(journal.all("subagent-asked").len(), 4, "{}", journal.summary());
    assert_eq!(
        (refused(&journal).len(), journal.all("subagent-started").len()),
        (2, 2),
        "{}",
        journal.summary()
    );
    let calls = |kind: &str| -> Vec<Value> {
        let mut calls: Vec<Value> = journal
            .all(kind)
            .iter()
            .filter(|it| it["refused"].is_null())
            .map(|it| it["call"].clone())
            .collect();
        calls.sort_by_key(Value::to_string);
        calls
    };
    assert_eq!(calls("subagent-asked"), calls("subagent-started"), "each is the one that was allowed");
}

#[test]
fn claude_whose_subagents_start_their_own_has_one_budget_for_all() {
    let script = vec![
        subagent("outer"),
        subagent("inner"),
        Step::Text("I see a task."),
        subagent("another inner"),
        Step::Text("I saw it all."),
    ];
    let (_, journal) = spawned("[spawns]\nbudget = 2\n", script);
    let asked = journal.all("subagent-asked");
    assert_eq!(asked.len(), 3, "{}", journal.summary());
    let started = journal.all("subagent-started");
    assert_eq!((started.len(), &started[0]["by"]), (2, &Value::Null), "{}", journal.summary());
    assert_eq!((&started[1]["by"], &started[1]["call"]), (&started[0]["id"], &asked[1]["call"]));
    assert_eq!(asked[2]["by"], started[0]["id"], "{}", journal.summary());
    assert!(refused(&journal)[0].contains("budget, 2 subagents, is used up"), "{}", journal.summary());
}

/// Control: no hook is called, and nothing is refused.
#[test]
fn claude_whose_hooks_are_off_is_counted_by_its_output() {
    let script = vec![
        subagent("look around"),
        Step::Text("I see a task."),
        subagent("look again"),
        Step::Text("I see it."),
    ];
    let (_, journal) =
        spawned("[agents.claude]\nargs = [\"--settings\", \"off.json\"]\n[spawns]\nbudget = 1\n", script);
    assert_eq!(journal.all("subagent-asked").len(), 0, "nobody was asked");
    let started = journal.all("subagent-started");
    assert_eq!(started.len(), 2, "{}", journal.summary());
    assert_eq!((&started[0]["what"], &started[1]["what"]), (&json!("look around"), &json!("look again")));
}

/// An agent that cannot be refused a subagent: it is counted once its output reports it, even over the budget. `tool`
/// and `input`: as the agent names them. `least`: minimum number of requests by the agent itself; those of its
/// subagents take steps of the script as well.
fn counted(agent: AgentParams, least: usize, tool: &'static str, input: &Value) {
    let what = input["description"].as_str().or(input["prompt"].as_str()).expect("a task");
    let fixture = others::AgentFixture::new(agent, ONE_FILE, "[spawns]\nbudget = 1\n", |root| {
        let call = || Step::Tool(tool, input.clone());
        let see = Step::Text("I see a task.");
        let write = (agent.write)(&root.join("a.txt"), "one\n");
        vec![call(), see.clone(), call(), see, write, Step::Text("Written.")]
    });
    are_counted(&fixture.run(), least, what);
}

fn are_counted(journal: &Journal, least: usize, what: &str) {
    assert_eq!(journal.ended(0, "completed")["outcome"]["verified"], true);
    let started = journal.all("subagent-started");
    assert!(started.len() >= least, "{}", journal.summary());
    assert_eq!(
        (&started[0]["what"], &started[0]["by"]),
        (&json!(what), &Value::Null),
        "{}",
        journal.summary()
    );
    assert_eq!(journal.all("subagent-asked").len(), 0, "nobody was asked");
}

/// Its subagents run concurrently and end with it: every step is the same for agent and subagents.
#[test]
fn codex_has_its_subagents_counted() {
    let fixture = others::AgentFixture::new(CODEX, ONE_FILE, "[spawns]\nbudget = 1\n", |root| {
        let call = Step::Tool("multi_agent_v1.spawn_agent", json!({"message": "look around"}));
        let write = || (CODEX.write)(&root.join("a.txt"), "one\n");
        std::iter::once(call).chain(std::iter::repeat_with(write).take(5)).collect()
    });
    are_counted(&fixture.run(), 1, "look around");
}

#[test]
fn opencode_has_its_subagents_counted() {
    let input =
        json!({"description": "look around", "prompt": "Say what you see.", "subagent_type": "general"});
    counted(OPENCODE, 2, "task", &input);
}

#[test]
fn gemini_has_its_subagents_counted() {
    counted(GEMINI, 1, "invoke_agent", &json!({"agent_name": "generalist", "prompt": "Say what you see."}));
}

#[test]
fn qwen_has_its_subagents_counted() {
    counted(QWEN, 1, "agent", &input("look around"));
}
