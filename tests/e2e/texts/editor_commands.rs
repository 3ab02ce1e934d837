//! What the server refuses in an editor: commands without trust, with wrong arguments, while a loop works, after its
//! end, and requests that it does not know.

use expect_test::expect_file;
use serde_json::{Value, json};

use super::Transcript;
use super::normalized::normalized;
use crate::lsp::editor_fixture::{EditorFixture, is_in};
use crate::scenarios::detached::{WAITS, go};
use crate::support::scenario::Scenario;

impl Transcript {
    /// Sends a request that the server must refuse, and records its error.
    #[track_caller]
    fn refusal(&mut self, fixture: &mut EditorFixture, method: &str, params: &Value) {
        let answer = fixture.editor.call(method, params);
        let error = &answer["error"];
        let message =
            error["message"].as_str().unwrap_or_else(|| panic!("not refused: {method} {params}: {answer}"));
        let code = error["data"]["code"].as_str().map_or_else(|| error["code"].to_string(), str::to_owned);
        let (name, arguments) = match params["command"].as_str() {
            Some(command) => (command.trim_start_matches("loopkeeper.server."), &params["arguments"][0]),
            None => (method, params),
        };
        let asked = normalized(&format!("{name} {arguments}"), &fixture.world.terminal);
        let message = normalized(message, &fixture.world.terminal);
        self.0.extend(["\n", &asked, "\n", message.trim_end(), "\n[", &code, "]\n"]);
    }

    #[track_caller]
    fn refused_command(&mut self, fixture: &mut EditorFixture, command: &str, argument: &Value) {
        let params = json!({"command": format!("loopkeeper.server.{command}"), "arguments": [argument]});
        self.refusal(fixture, "workspace/executeCommand", &params);
    }
}

#[test]
fn refusals_in_an_editor_are_as_recorded() {
    let mut fixture = EditorFixture::open(&Scenario {
        criteria: &["Far: `exists nowhere`"],
        acts: &[WAITS],
        ..Scenario::default()
    });
    let mut file = Transcript::default();
    file.heading("before a loop");
    before_a_loop(&mut file, &mut fixture);
    let id = fixture.start("PROMPT.md");
    fixture.world.until_shared("up.1");
    file.heading("while a loop works");
    while_a_loop_works(&mut file, &mut fixture, &id);
    fixture.done("stop", &json!({"loopId": id}));
    go(&fixture.world, 1);
    fixture.status(|it| is_in(it, &id, "done"));
    file.heading("after its end");
    for command in
        ["stop", "pause", "resume", "resetBreaker", "resetSession", "acceptWeakening", "undoRollback"]
    {
        file.refused_command(&mut fixture, command, &json!({"loopId": id}));
    }
    for (command, argument) in [
        ("steer", json!({"loopId": id, "text": "too late"})),
        ("answer", json!({"loopId": id, "text": "too late"})),
        ("rollback", json!({"loopId": id, "iteration": 7})),
        ("diff", json!({"loopId": id, "iteration": 7})),
    ] {
        file.refused_command(&mut fixture, command, &argument);
    }
    expect_file!["errors-editor.txt"].assert_eq(&file.0);
}

fn before_a_loop(file: &mut Transcript, fixture: &mut EditorFixture) {
    for (command, argument) in [
        ("start", json!({"task": "PROMPT.md"})),
        ("start", json!({"task": "none.md"})),
        ("start", json!({"task": 7})),
        ("start", json!({"task": "PROMPT.md", "limits": {"iterations": 0}})),
        ("start", json!({"task": "PROMPT.md", "limits": {"duration": "soon"}})),
        ("start", json!({"task": "PROMPT.md", "limits": {"costUsd": "much"}})),
        ("start", json!({"task": "PROMPT.md", "agent": "none"})),
        ("check", json!({"task": "PROMPT.md", "criterion": "none"})),
        ("trust", json!({"task": "PROMPT.md", "hash": "0"})),
        ("skip", json!({"task": "PROMPT.md", "item": "none"})),
        ("prioritize", json!({"task": "PROMPT.md", "item": "none", "by": 1})),
        ("stop", json!({"loopId": "latest"})),
        ("report", json!({"loopId": "20200101-aaaaaa"})),
        ("import", json!({})),
        ("import", json!({"file": "none.md"})),
        ("newTask", json!({"folder": "/none", "sentence": ""})),
        ("none", json!({})),
    ] {
        file.refused_command(fixture, command, &argument);
    }
    for (method, params) in [
        ("loopkeeper/iterations", json!({"loopId": "none"})),
        ("loopkeeper/trustPage", json!({"task": "none.md"})),
        ("loopkeeper/trustPage", json!({})),
        ("loopkeeper/none", json!({})),
    ] {
        file.refusal(fixture, method, &params);
    }
}

fn while_a_loop_works(file: &mut Transcript, fixture: &mut EditorFixture, id: &str) {
    for (command, argument) in [
        ("start", json!({"task": "PROMPT.md"})),
        ("resume", json!({"loopId": id})),
        ("answer", json!({"loopId": id, "text": "yes"})),
        ("acceptWeakening", json!({"loopId": id})),
        ("rollback", json!({"loopId": id, "iteration": 0})),
        ("undoRollback", json!({"loopId": id})),
        ("receipt", json!({"loopId": id})),
        ("steer", json!({"loopId": id, "text": " "})),
        ("steer", json!({"loopId": id})),
        ("diff", json!({"loopId": id, "iteration": 7})),
    ] {
        file.refused_command(fixture, command, &argument);
    }
}
