//! One session of the real CLI, held open by its stop hook.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::journal::Journal;
use super::looping::{ClaudeFixture, ONE_LINE, THREE_LINES, path, three_lines};
use super::model::Step;

fn hooked(task: &str, more: &str, script: impl FnOnce(&std::path::Path) -> Vec<Step>) -> ClaudeFixture {
    let fixture = ClaudeFixture::new(task, script);
    let settings = format!("mode = \"hook\"\n{}{more}", fixture.terminal.read("loopkeeper.toml"));
    fixture.terminal.file("loopkeeper.toml", &settings).file("count.sh", "wc -l < a.txt\n");
    fixture
}

/// Number of agent processes.
pub(super) fn processes(journal: &Journal) -> usize {
    let pids: std::collections::BTreeSet<_> =
        journal.all("agent-started").iter().map(|it| it["pid"].to_string()).collect();
    pids.len()
}

#[test]
fn claude_works_three_iterations_in_one_session() {
    let fixture = hooked(THREE_LINES, "", three_lines);
    let journal = fixture.run();
    assert_eq!(journal.ended(0, "completed")["outcome"]["verified"], true);
    let runs = journal.all("agent-ended");
    assert_eq!((runs.len(), processes(&journal)), (3, 1), "{}", journal.summary());
    assert!(runs.iter().all(|it| it["run"]["ending"] == "held"), "{runs:#?}");
    assert_eq!(runs[1]["run"]["finalText"], "Two lines are there.");
    assert_eq!(runs[1]["run"]["tools"], json!(["Read", "Edit"]), "each iteration has its own");
    let left = &journal.all("agent-left")[0]["left"];
    assert!(left["exit"] == 0 && left["costMicros"].as_u64().is_some_and(|it| it > 0), "{left}");
    // The last round is run after it has exited.
    let at = |kind: &str| journal.records.iter().rposition(|it| it["type"] == kind);
    assert!(at("checks-done") > at("agent-left"), "{}", journal.summary());
    // One conversation, in which every response of the hook is the next prompt.
    assert_eq!((fixture.model.prompts().len(), fixture.model.left()), (1, 0));
    let told = fixture.model.asked().last().expect("a request").to_string();
    assert!(told.contains("iteration 2 of at most") && told.contains("iteration 3 of at most"));
}

#[test]
fn claude_that_ignores_its_hook_continues_its_session() {
    let fixture = hooked(THREE_LINES, "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP = \"1\"\n", three_lines);
    let journal = fixture.run();
    assert_eq!(journal.ended(0, "completed")["outcome"]["verified"], true);
    assert_eq!((journal.all("agent-ended").len(), processes(&journal)), (3, 2), "{}", journal.summary());
    let sessions: Vec<&Value> = journal.all("iteration-intended").iter().map(|it| &it["session"]).collect();
    assert!(sessions.iter().all(|it| *it == sessions[0]), "{sessions:?}");
    assert_eq!(fixture.model.prompts().len(), 1, "the conversation continues");
}

#[test]
fn claude_that_failed_in_the_middle_continues_its_session() {
    let fixture = hooked(ONE_LINE, "", |root| {
        vec![
            Step::Text("Nothing yet."),
            Step::fails(529, "overloaded_error", "busy"),
            Step::write(&path(root, "a.txt"), "one\n"),
            Step::Text("Written."),
        ]
    });
    let journal = fixture.run();
    assert_eq!(journal.ended(0, "completed")["outcome"]["verified"], true);
    let endings: Vec<_> = journal.all("agent-ended").iter().map(|it| it["run"]["ending"].clone()).collect();
    assert_eq!(endings, ["held", "exited", "held"], "{}", journal.summary());
    assert_eq!(journal.all("agent-ended")[1]["run"]["error"]["class"], "transient");
    assert_eq!(fixture.model.prompts().len(), 1, "the conversation continues");
}

#[test]
fn claude_keeps_a_file_of_settings_that_its_arguments_name() {
    let fixture = hooked(ONE_LINE, "", |root| {
        vec![Step::Text("Nothing yet."), Step::write(&path(root, "a.txt"), "one\n"), Step::Text("Written.")]
    });
    let mark = fixture.terminal.folder().join("ran");
    let line = fixture.terminal.folder().join("line");
    let seen = format!("tr '\\0' '\\n' < /proc/$PPID/cmdline > '{}'", line.display());
    let hook = json!({"type": "command", "command": format!("echo x >> '{}'; {seen}", mark.display())});
    let settings = fixture.terminal.read("loopkeeper.toml")
        + "[agents.claude]\nargs = [\"--settings\", \"mine.json\"]\n";
    fixture
        .terminal
        .file("loopkeeper.toml", &settings)
        .file("mine.json", &json!({"hooks": {"Stop": [{"hooks": [hook]}]}}).to_string());
    let journal = fixture.run();
    assert_eq!(journal.ended(0, "completed")["outcome"]["verified"], true);
    assert_eq!((journal.all("agent-ended").len(), processes(&journal)), (2, 1), "{}", journal.summary());
    let ran = std::fs::read_to_string(mark).expect("the user's own hook ran");
    assert_eq!(ran.lines().count(), 2);
    // A process list shows the name of a file that only its user can read.
    let line = std::fs::read_to_string(line).expect("its command line");
    let file = line.lines().skip_while(|it| *it != "--settings").nth(1).expect("a file");
    assert!(!line.contains("hooks"), "{line}");
    assert!(std::fs::read_to_string(file).expect("settings").contains("echo x"), "{file}");
    assert_eq!(std::fs::metadata(file).expect("settings").permissions().mode() & 0o777, 0o600);
}

/// It reports its cost only at its end, so it has to limit itself.
#[test]
fn claude_held_ends_at_the_cost_limit() {
    let fixture = hooked(ONE_LINE, "", |_| vec![Step::Text("Nothing yet."); 5]);
    let settings =
        fixture.terminal.read("loopkeeper.toml").replace("[limits]\n", "[limits]\ncost_usd = 0.0001\n");
    fixture.terminal.file("loopkeeper.toml", &settings);
    let journal = fixture.run();
    let ended = journal.ended(4, "limit");
    assert!(ended["outcome"]["sentence"].as_str().is_some_and(|it| it.contains("spent")), "{ended}");
    assert_eq!(fixture.model.asked().len(), 1, "{}", journal.summary());
}
