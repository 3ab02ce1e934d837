//! One session of each of the other agents with a stop hook, held open by it.

use std::path::Path;

use serde_json::{Value, json};

use super::agent_params::{AgentParams, CODEX, GEMINI};
use super::hooked::processes;
use super::journal::Journal;
use super::model::Step;
use super::others::{AgentFixture, ONE_FILE, THREE_FILES, three_files};
use super::stopping;
use crate::cli::Ran;

/// `more` is appended to the configuration, in the agent's table.
fn held(agent: AgentParams, task: &str, more: &str, script: impl FnOnce(&Path) -> Vec<Step>) -> AgentFixture {
    let fixture = AgentFixture::new(agent, task, more, script);
    let settings = format!("mode = \"hook\"\n{}", fixture.terminal.read("loopkeeper.toml"));
    fixture.terminal.file("loopkeeper.toml", &settings).file("count.sh", "cat ?.txt | wc -l\n");
    fixture
}

fn endings(journal: &Journal) -> Vec<&Value> {
    journal.all("agent-ended").iter().map(|it| &it["run"]["ending"]).collect()
}

fn three_iterations(agent: AgentParams) {
    let fixture = held(agent, THREE_FILES, "", |root| three_files(agent, root));
    let journal = fixture.run();
    assert_eq!(journal.ended(0, "completed")["outcome"]["verified"], true);
    assert_eq!(endings(&journal), ["held", "held", "held"], "{}", journal.summary());
    assert_eq!((processes(&journal), fixture.model.left()), (1, 0), "{}", journal.summary());
    let runs: Vec<&Value> = journal.all("agent-ended").iter().map(|it| &it["run"]).collect();
    let messages: Vec<&Value> = runs.iter().map(|it| &it["finalText"]).collect();
    assert_eq!(messages, ["One is there.", "Two are there.", "Three are there."]);
    assert!(runs[1]["files"][0].as_str().is_some_and(|it| it.ends_with("b.txt")), "{}", runs[1]);
    assert_eq!(runs[1]["commands"].as_array().and_then(|it| it.last()), Some(&json!("sh count.sh")));
    let tokens: Vec<Option<u64>> = runs.iter().map(|it| it["tokens"].as_u64()).collect();
    assert_eq!(tokens, [Some(240), Some(360), Some(240)], "{}", journal.summary());
    let left = journal.all("agent-left");
    assert_eq!((left.len(), &left[0]["left"]["exit"]), (1, &json!(0)), "{}", journal.summary());
    let at = |kind: &str| journal.records.iter().rposition(|it| it["type"] == kind);
    assert!(
        at("checks-done") > at("agent-left"),
        "the last round is run when it is gone: {}",
        journal.summary()
    );
    // One conversation, in which every response of the hook is the next prompt.
    assert_eq!(fixture.model.prompts().len(), 1);
    let told = fixture.model.asked().last().expect("a request").to_string();
    assert!(told.contains("iteration 2 of at most") && told.contains("iteration 3 of at most"));
}

/// Disables every breaker.
fn disable_breaker(fixture: &AgentFixture) {
    let settings = fixture.terminal.read("loopkeeper.toml")
        + "[breaker]\nno_progress = 100\nsame_error = 100\nfast_failures = 100\n";
    fixture.terminal.file("loopkeeper.toml", &settings);
}

/// It reports its tokens only at its end, and is held to their limit anyway.
fn limited(agent: AgentParams) {
    let fixture = held(agent, ONE_FILE, "", |_| vec![Step::Text("Nothing yet."); 5]);
    let settings = fixture.terminal.read("loopkeeper.toml").replace("[limits]\n", "[limits]\ntokens = 200\n");
    fixture.terminal.file("loopkeeper.toml", &settings);
    disable_breaker(&fixture);
    let journal = fixture.run();
    let ended = journal.ended(4, "limit");
    assert!(ended["outcome"]["sentence"].as_str().is_some_and(|it| it.contains("tokens used")), "{ended}");
    assert_eq!((endings(&journal), processes(&journal)), (vec![&json!("held"), &json!("held")], 1));
    assert_eq!(fixture.model.asked().len(), 2, "{}", journal.summary());
}

/// Whatever ends the process during its work, the session is resumed.
fn resumes_its_session(agent: AgentParams, script: Vec<Step>, endings_expected: &[&str]) {
    let fixture = held(agent, ONE_FILE, "", |root| {
        script
            .into_iter()
            .chain([(agent.write)(&root.join("a.txt"), "one\n"), Step::Text("Written.")])
            .collect()
    });
    let journal = fixture.run();
    assert_eq!(journal.ended(0, "completed")["outcome"]["verified"], true);
    assert_eq!(endings(&journal), endings_expected, "{}", journal.summary());
    assert_eq!((processes(&journal), fixture.model.prompts().len()), (2, 1), "{}", journal.summary());
}

/// It is reported, and the loop continues in the other mode.
fn whose_hooks_are_off(fixture: &AgentFixture, why: &str) {
    let journal = fixture.run();
    assert_eq!(journal.ended(0, "completed")["outcome"]["verified"], true);
    assert_eq!(endings(&journal), ["exited", "exited", "exited"], "{}", journal.summary());
    assert_eq!((processes(&journal), fixture.model.prompts().len()), (3, 1), "{}", journal.summary());
    for run in journal.all("agent-ended") {
        let note = run["run"]["note"].as_str().unwrap_or_default();
        assert!(note.contains("its stop hook did not call loopkeeper") && note.contains(why), "{note}");
    }
    let log = Ran::of(&fixture.command(&["log"]).output().expect("it starts"));
    assert!(log.stdout.contains("its stop hook did not call loopkeeper"), "{}", log.stdout);
}

fn stopped(agent: AgentParams, sandbox: &str, more: &str) {
    let fixture = held(agent, stopping::TASK, more, |root| {
        vec![Step::Text("Soon."), (agent.write)(&root.join("go"), "\n"), (agent.run)("sh work.sh")]
    });
    let journal = stopping::of_a_later(1, &fixture.terminal, sandbox, |args| fixture.command(args));
    assert_eq!((endings(&journal), processes(&journal)), (vec![&json!("held"), &json!("stopped")], 1));
}

#[test]
fn codex_held_ends_at_the_limit_of_its_tokens() {
    limited(CODEX);
}

#[test]
fn codex_is_held_for_three_iterations() {
    three_iterations(CODEX);
}

#[test]
fn codex_that_failed_in_the_middle_continues_its_session() {
    let refused =
        Step::Fails(400, Vec::new(), json!({"error": {"type": "invalid_request_error", "message": "no"}}));
    resumes_its_session(CODEX, vec![Step::Text("Nothing yet."), refused], &["held", "exited", "held"]);
}

#[test]
fn codex_whose_hooks_are_off_works_on_without_them() {
    let off = "args = [\"-c\", \"features.hooks=false\"]\n";
    whose_hooks_are_off(&held(CODEX, THREE_FILES, off, |root| three_files(CODEX, root)), "features.hooks");
}

/// Our hook is trusted; unreviewed ones are skipped as always.
#[test]
fn codex_runs_no_other_hook_for_the_sake_of_ours() {
    let fixture = held(CODEX, ONE_FILE, "", |root| {
        vec![(CODEX.write)(&root.join("a.txt"), "one\n"), Step::Text("Written.")]
    });
    let mark = fixture.terminal.folder().join("home/ran");
    let hook = json!({"type": "command", "command": format!("touch '{}'", mark.display())});
    let hooks = json!({"hooks": {"Stop": [{"hooks": [hook]}]}}).to_string();
    std::fs::write(fixture.terminal.folder().join("home/.codex/hooks.json"), &hooks).expect("a file");
    let journal = fixture.run();
    assert_eq!(journal.ended(0, "completed")["outcome"]["verified"], true);
    assert_eq!(endings(&journal), ["held"], "{}", journal.summary());
    assert!(!mark.exists(), "a hook that not reviewed was run");
    let after = std::fs::read_to_string(fixture.terminal.folder().join("home/.codex/hooks.json"));
    assert_eq!(after.expect("still there"), hooks);
}

/// Its own sandbox would end the tool with it.
#[test]
fn codex_held_and_stopped_while_a_tool_runs_leaves_nothing() {
    stopped(CODEX, "auto", "permissions = \"all\"\n");
}

#[test]
fn gemini_held_ends_at_the_limit_of_its_tokens() {
    limited(GEMINI);
}

#[test]
fn gemini_is_held_for_three_iterations() {
    three_iterations(GEMINI);
}

/// It takes repeated equal responses for a loop, and from then on calls no model whatever its hook returns.
#[test]
fn gemini_with_its_loop_detection_continues_its_session() {
    let fixture = held(GEMINI, ONE_FILE, "", |root| {
        let again = std::iter::repeat_n(Step::Text("Not yet."), 18);
        again.chain([(GEMINI.write)(&root.join("a.txt"), "one\n"), Step::Text("Written.")]).collect()
    });
    disable_breaker(&fixture);
    let journal = fixture.run();
    assert_eq!(journal.ended(0, "completed")["outcome"]["verified"], true);
    assert_eq!((processes(&journal), fixture.model.prompts().len()), (2, 1), "{}", journal.summary());
}

#[test]
fn gemini_whose_hooks_are_off_works_on_without_them() {
    let fixture = held(GEMINI, THREE_FILES, "", |root| three_files(GEMINI, root));
    let path = fixture.terminal.folder().join("home/.gemini/settings.json");
    let text = std::fs::read_to_string(&path).expect("its settings");
    let mut settings: Value = serde_json::from_str(&text).expect("JSON");
    settings["hooksConfig"] = json!({"enabled": false});
    std::fs::write(&path, settings.to_string()).expect("written");
    whose_hooks_are_off(&fixture, "hooksConfig");
}

/// Its settings are the user's, including comments and hooks, and stay unchanged.
#[test]
fn gemini_keeps_the_settings_and_the_home_of_its_user() {
    let fixture = held(GEMINI, ONE_FILE, "", |root| {
        vec![Step::Text("Not yet."), (GEMINI.write)(&root.join("a.txt"), "one\n"), Step::Text("Written.")]
    });
    let home = fixture.terminal.folder().join("home/.gemini");
    let mark = home.join("ran");
    let hook = json!({"type": "command", "command": format!("echo x >> '{}'", mark.display())});
    let hooks = json!({"AfterAgent": [{"hooks": [hook]}]});
    let settings = format!(
        "// mine\n{{\"security\": {{\"auth\": {{\"selectedType\": \"gemini-api-key\"}}}}, \"hooks\": {hooks}}}\n"
    );
    std::fs::write(home.join("settings.json"), &settings).expect("written");
    std::fs::create_dir(home.join("tmp")).expect("where it keeps its sessions");
    let journal = fixture.run();
    assert_eq!(journal.ended(0, "completed")["outcome"]["verified"], true);
    assert_eq!((endings(&journal), processes(&journal)), (vec![&json!("held"), &json!("held")], 1));
    assert_eq!(std::fs::read_to_string(mark).expect("it ran").lines().count(), 2);
    assert_eq!(std::fs::read_to_string(home.join("settings.json")).expect("still there"), settings);
    assert!(
        std::fs::read_dir(home.join("tmp")).expect("a folder").count() > 0,
        "its sessions are the user's"
    );
}

#[test]
fn gemini_held_and_stopped_while_a_tool_runs_leaves_nothing() {
    stopped(GEMINI, "off", "");
}
