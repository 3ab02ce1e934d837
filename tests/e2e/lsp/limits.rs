//! The question to an editor when the provider's usage limit is reached.

use serde_json::{Value, json};

use super::server;
use crate::cli::Terminal;
use crate::cli_run::TASK;
use crate::support::lsp::{Editor, Reply, uri};

/// A project whose agent replays a Claude Code that met its limit, with a reset in an hour.
fn project() -> Terminal {
    let record = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/agents/claude/limit5h_oauth_429.jsonl");
    let terminal = Terminal::new();
    let agent = format!("sed \"s/1795200628/$(($(date +%s) + 3600))/g\" {record}; exit 1");
    let settings =
        "agent = \"mine\"\n[agents.mine]\ncommand = [\"/bin/sh\", \"agent.sh\"]\noutput = \"claude\"\n";
    terminal.file("PROMPT.md", TASK).file("agent.sh", &agent).file("loopkeeper.toml", settings);
    terminal
}

/// An editor that supports questions, on a loop that was just started.
fn waiting(terminal: &Terminal, reply: Reply) -> Editor {
    terminal.run(&["run", "--trust", "--detach"]).expect(0);
    let mut editor = Editor::start(server(terminal));
    editor.answers("window/showMessageRequest", reply);
    let can = json!({"window": {"showMessage": {}}, "experimental": {"loopkeeper": {"version": 1}}});
    editor.initialize(&terminal.root(), &json!({"capabilities": can}));
    editor
}

fn is_asked(message: &Value) -> bool {
    message["method"] == "window/showMessageRequest"
        && message["params"]["message"].as_str().is_some_and(|it| it.contains("usage limit"))
}

#[test]
fn at_a_usage_limit_the_user_is_asked_and_may_stop() {
    let terminal = project();
    let editor = waiting(&terminal, Reply::With(json!({"title": "Stop"})));
    let asked = editor.until("the question", is_asked);
    let answers: Vec<_> =
        asked["params"]["actions"].as_array().unwrap().iter().map(|it| &it["title"]).collect();
    assert_eq!(answers, ["Wait", "Stop"]);
    let over = editor.wait_for("loopkeeper/alert", |_| true);
    assert_eq!(over["kind"], "ended", "{over:#}");
}

#[test]
fn an_unanswered_question_blocks_nothing_and_is_asked_once() {
    let terminal = project();
    let mut editor = waiting(&terminal, Reply::Never);
    editor.until("the question", is_asked);
    let task = json!({"task": uri(&terminal.root().join("PROMPT.md"))});
    let page = editor.request("loopkeeper/trustPage", &task);
    assert_eq!(page["trusted"], true, "{page:#}");
    let stop = json!({"command": "loopkeeper.server.stop", "arguments": [{"loopId": "latest", "now": true}]});
    editor.request("workspace/executeCommand", &stop);
    editor.wait_for("loopkeeper/status", |it| it["loops"][0]["state"] == "done");
    assert_eq!(editor.messages().iter().filter(|it| is_asked(it)).count(), 1);
}

#[test]
fn a_limit_that_the_user_bounds_is_stated_at_the_start() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", "# Make it\n\n## Done when\n\n- It is there: `exists done`\n");
    let settings = "limits.iterations = 90\nagent = \"mine\"\nagents.mine.command = [\"touch\", \"done\"]\n";
    terminal.file("loopkeeper.toml", settings).user_file("max.iterations = 7\n");
    let mut editor = Editor::start(server(&terminal));
    editor.initialize(&terminal.root(), &json!({}));
    let task = uri(&terminal.root().join("PROMPT.md"));
    let page = editor.request("loopkeeper/trustPage", &json!({"task": task}));
    let order = |name: &str, argument: Value| json!({"command": format!("loopkeeper.server.{name}"), "arguments": [argument]});
    let trust = order("trust", json!({"task": task, "hash": page["hash"]}));
    editor.request("workspace/executeCommand", &trust);
    editor.request("workspace/executeCommand", &order("start", json!({"task": task})));
    let expect = "`limits.iterations = 90` is above your `max.iterations = 7` (loopkeeper.toml:1)";
    editor.until("the warning", |it| it["params"]["message"] == expect);
}
