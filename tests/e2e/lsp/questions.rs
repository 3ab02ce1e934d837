//! The agent's question in an editor: reported, shown at the task's text, answered; also for a client that supports
//! only the protocol.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use super::editor_fixture::{EditorFixture, everything_but, has, is_in};
use crate::support::lsp::Reply;
use crate::support::scenario::Scenario;

fn asking<'a>() -> Scenario<'a> {
    Scenario {
        criteria: &["It is there: `exists done`"],
        acts: &["echo $n >> log; echo 'Which database do you want?'", "touch done"],
        ..Scenario::default()
    }
}

#[test]
fn the_agents_question_is_shown_and_answered() {
    let mut fixture = EditorFixture::open(&asking());
    fixture.show("PROMPT.md");
    let id = fixture.start("PROMPT.md");
    let status = fixture.status(|it| is_in(it, &id, "needsYou"));
    let shown = &status["loops"][0];
    assert_eq!((&shown["phase"], &shown["question"]["kind"]), (&"needsAnswer".into(), &"agent".into()));
    assert_eq!(shown["question"]["text"], "Which database do you want?");
    let alert = fixture.editor.wait_for("loopkeeper/alert", |_| true);
    assert_eq!(alert["kind"], "needsYou");
    assert!(
        alert["message"].as_str().unwrap().ends_with("\" asks: Which database do you want?"),
        "{alert:#}"
    );
    let action = &alert["actions"][0];
    assert_eq!(
        (&action["title"], &action["command"]),
        (&json!("Answer…"), &json!("loopkeeper.server.answer"))
    );
    // An editor that connects later gets no notification, but finds the same in the status.
    assert_eq!(status["alerts"], json!([alert]));
    assert_eq!(action["arguments"][0], json!({"loopId": id}));
    let remarks = fixture.remarks("PROMPT.md", |it| has(it, "needs-answer"));
    let remark = remarks.iter().find(|it| it["code"] == "needs-answer").unwrap();
    assert_eq!(remark["message"], "needs answer: Which database do you want?");
    assert_eq!((&remark["severity"], &remark["range"]["start"]["line"]), (&2.into(), &0.into()));
    // A second start names what the loop waits for, and the task offers the answer first.
    let refusal = fixture.refused("start", &json!({"task": "PROMPT.md"}), "treeBusy");
    let message = refusal["message"].as_str().unwrap();
    assert!(message.contains("waits here for your answer: Which database do you want?"), "{message}");
    assert_eq!(refusal["data"]["holder"], json!(id));
    let document = json!({"textDocument": {"uri": fixture.uri("PROMPT.md")}});
    let lenses = fixture.editor.request("textDocument/codeLens", &document);
    let titles: Vec<_> = lenses.as_array().unwrap().iter().map(|it| it["command"]["title"].clone()).collect();
    assert!(titles.contains(&json!("Answer…")), "{titles:#?}");
    assert!(titles.iter().all(|it| !it.as_str().unwrap().contains("Start")), "{titles:#?}");
    // An answer needs text.
    fixture.refused("answer", &json!({"loopId": id}), "badArgument");
    fixture.refused("answer", &json!({"loopId": id, "text": " "}), "badArgument");
    fixture.done("answer", &json!({"loopId": id, "text": "SQLite"}));
    let status = fixture.status(|it| is_in(it, &id, "done"));
    assert_eq!(status["loops"][0]["outcome"]["verified"], true);
    assert_eq!(status.get("alerts"), None);
    assert!(fixture.world.prompt(2).contains("The user answers:\n\nSQLite\n"));
    fixture.remarks("PROMPT.md", |it| !has(it, "needs-answer"));
    fixture.refused("answer", &json!({"loopId": id, "text": "late"}), "conflict");
    fixture.refused("resetSession", &json!({"loopId": id}), "conflict");
}

#[test]
fn a_client_that_knows_only_the_protocol_can_leave_it_to_the_agent() {
    let mut fixture = EditorFixture::open_as(&asking(), &everything_but("experimental"));
    fixture.editor.answers("window/showMessageRequest", Reply::With(json!({"title": "Agent decides"})));
    fixture.start("PROMPT.md");
    let is_asked = |it: &Value| it["method"] == "window/showMessageRequest";
    let asked = fixture.editor.until("the question", is_asked);
    let message = asked["params"]["message"].as_str().unwrap();
    assert!(
        message.contains("\" asks: Which database do you want? Answer with `loopkeeper answer "),
        "{message}"
    );
    fixture.world.until("end", |it| it["type"] == "ended");
    assert!(fixture.world.prompt(2).contains("Nobody answered: decide yourself"));
}

/// Requests a permission for a command that is no check of the task.
fn wanting<'a>() -> Scenario<'a> {
    const ACT: &str =
        r#"may '"kind":"execute","rawInput":{"command":"git push\u001b[2J"}' && touch done; over end_turn"#;
    Scenario {
        criteria: &["It is there: `exists done`"],
        of_agent: "output = \"acp\"\npermissions = \"ask\"\n",
        acts: &[ACT, "touch done; over end_turn"],
        ..Scenario::default()
    }
}

const REQUEST: &str =
    "the agent wants to run a command (neither a check of the task nor its test runner): git push^[[2J";

#[test]
fn a_permission_request_is_shown_whole_and_allowed_by_a_button() {
    let mut fixture = EditorFixture::open(&wanting());
    let id = fixture.start("PROMPT.md");
    let alert = fixture.editor.wait_for("loopkeeper/alert", |_| true);
    let message = alert["message"].as_str().unwrap();
    assert!(message.ends_with(REQUEST), "{message}");
    let actions = alert["actions"].as_array().unwrap();
    let titles: Vec<_> = actions.iter().map(|it| it["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Allow once", "Allow for this loop", "Deny"]);
    let mut argument = actions[0]["arguments"][0].clone();
    assert_eq!((&argument["text"], &argument["loopId"]), (&json!("allow"), &json!(id)));
    // A button that was shown for another question grants nothing.
    let shown = std::mem::replace(&mut argument["question"], json!("permission-0-1"));
    fixture.refused("answer", &argument, "conflict");
    argument["question"] = shown;
    fixture.done("answer", &argument);
    let status = fixture.status(|it| is_in(it, &id, "done"));
    assert_eq!(status["loops"][0]["iteration"], 1, "{status:#}");
}

#[test]
fn a_client_that_knows_only_the_protocol_allows_or_denies() {
    for (title, iterations) in [("Allow once", 1), ("Allow for this loop", 1), ("Deny", 2)] {
        let mut fixture = EditorFixture::open_as(&wanting(), &everything_but("experimental"));
        fixture.editor.answers("window/showMessageRequest", Reply::With(json!({"title": title})));
        fixture.start("PROMPT.md");
        let is_asked = |it: &Value| it["method"] == "window/showMessageRequest";
        let asked = fixture.editor.until("the question", is_asked);
        let message = asked["params"]["message"].as_str().unwrap();
        assert!(message.ends_with(&format!("\": {REQUEST}")), "{message}");
        fixture.world.until("end", |it| it["type"] == "ended");
        assert_eq!(fixture.world.starts(), iterations, "{title}");
    }
}

/// No unrequested prompt appears that would take the keys of a user who is typing.
#[test]
fn eglot_is_asked_when_its_user_wants_to_answer() {
    let mut all = everything_but("window/showMessage");
    all["capabilities"].as_object_mut().unwrap().remove("experimental");
    all["clientInfo"] = json!({"name": "Eglot"});
    let mut fixture = EditorFixture::open_as(&wanting(), &all);
    fixture.editor.answers("window/showMessageRequest", Reply::By(|it| it["actions"][1].clone()));
    let id = fixture.start("PROMPT.md");
    let told = fixture
        .editor
        .wait_for("window/showMessage", |it| it["message"].as_str().unwrap().ends_with(REQUEST));
    assert_eq!(told["type"], 2);
    assert_eq!(fixture.editor.count("window/showMessageRequest"), 0);
    fixture.done("answer", &json!({"loopId": id}));
    let question = fixture.editor.wait_for("window/showMessageRequest", |_| true);
    let titles: Vec<_> = question["actions"].as_array().unwrap().iter().map(|it| &it["title"]).collect();
    assert_eq!(titles, ["Not now", "Allow once", "Allow for this loop", "Deny"]);
    // The response to the command would end a prompt that is open by then.
    let messages = fixture.editor.messages();
    let response = messages.iter().rposition(|it| it["result"]["loopId"] == json!(id));
    let asked = messages.iter().position(|it| it["method"] == "window/showMessageRequest");
    assert!(response < asked, "{messages:#?}");
    fixture.world.until("end", |it| it["type"] == "ended");
    assert_eq!(fixture.world.starts(), 1);
}

fn holding<'a>() -> Scenario<'a> {
    let acts = &["touch better; echo '<promise>COMPLETE</promise>'"];
    Scenario { criteria: &["Builds: `$ true`"], acts, ..Scenario::default() }
}

#[test]
fn passing_criteria_are_asked_about_in_every_editor() {
    for knows_us in [true, false] {
        let mut fixture = if knows_us {
            EditorFixture::open(&holding())
        } else {
            EditorFixture::open_as(&holding(), &everything_but("experimental"))
        };
        fixture.editor.answers("window/showMessageRequest", Reply::With(json!({"title": "Start anyway"})));
        fixture.start("PROMPT.md");
        let asked = fixture.editor.until("the question", |it| it["method"] == "window/showMessageRequest");
        let message = asked["params"]["message"].as_str().unwrap();
        assert!(
            message.contains("so nothing can show that new work is done. Add a criterion that fails"),
            "{message}"
        );
        assert!(!message.contains("--anyway"), "{message}");
        let titles: Vec<_> =
            asked["params"]["actions"].as_array().unwrap().iter().map(|it| &it["title"]).collect();
        assert_eq!(titles, ["Start anyway", "Edit task"]);
        let ended = |world: &crate::support::world::World| {
            world.journal().iter().any(|it| {
                it["type"] == "ended"
                    && it["outcome"]["sentence"].as_str().unwrap().contains("after 1 iteration")
            })
        };
        crate::support::world::wait_until(
            || ended(&fixture.world),
            || format!("{:#?}", fixture.world.journal()),
        );
        assert_eq!(fixture.world.starts(), 1);
    }
}

#[test]
fn a_task_that_suits_no_loop_is_asked_about_once() {
    let task = "# Explore caching options\n\n## Done when\n\n- We know more\n";
    let acts = &["touch known; echo '<promise>COMPLETE</promise>'"];
    let mut fixture =
        EditorFixture::open(&Scenario { files: &[("PROMPT.md", task)], acts, ..Scenario::default() });
    fixture.trust("PROMPT.md");
    fixture.editor.answers("window/showMessageRequest", Reply::With(json!({"title": "Not now"})));
    let start = json!({"task": "PROMPT.md"});
    assert_eq!(fixture.done("start", &start)["loopId"], Value::Null);
    let question = fixture.editor.wait_for("window/showMessageRequest", |_| true);
    let message = question["message"].as_str().unwrap();
    assert!(message.starts_with("A loop may be the wrong tool: exploring has no result"), "{message}");
    assert!(fixture.world.loops().is_empty());
    // The next start is meant.
    fixture.start("PROMPT.md");
    fixture.world.until("end", |it| it["type"] == "ended");
    assert_eq!(fixture.editor.count("window/showMessageRequest"), 1);
}

#[test]
fn the_question_about_passing_criteria_opens_the_task() {
    let mut fixture = EditorFixture::open(&holding());
    fixture.editor.answers("window/showMessageRequest", Reply::With(json!({"title": "Edit task"})));
    fixture.start("PROMPT.md");
    let shown = fixture.editor.until("the task", |it| it["method"] == "window/showDocument");
    assert!(shown["params"]["uri"].as_str().unwrap().ends_with("/PROMPT.md"), "{shown}");
    assert_eq!((&shown["params"]["takeFocus"], fixture.world.starts()), (&json!(true), 0));
}

#[test]
fn missing_programs_are_reported_with_a_remedy() {
    let mut fixture = EditorFixture::open(&Scenario {
        criteria: &["Lint: `$ ../agent/lint`"],
        acts: &["touch ../agent/lint; chmod +x ../agent/lint; touch done"],
        ..Scenario::default()
    });
    fixture.show("PROMPT.md");
    let id = fixture.start("PROMPT.md");
    let alert = fixture.editor.wait_for("loopkeeper/alert", |_| true);
    let message = alert["message"].as_str().unwrap();
    assert!(message.contains("\"Lint\" cannot run: program \"../agent/lint\" is not installed"), "{message}");
    assert!(message.contains("Hint: install ../agent/lint"), "{message}");
    let actions = alert["actions"].as_array().unwrap();
    let titles: Vec<_> = actions.iter().map(|it| it["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Check again", "Continue anyway", "Stop"]);
    let remarks = fixture.remarks("PROMPT.md", |it| has(it, "could-not-run"));
    let remark = remarks.iter().find(|it| it["code"] == "could-not-run").unwrap();
    assert_eq!(
        remark["message"],
        "Lint: could not run, program \"../agent/lint\" is not installed. Install it."
    );
    fixture.done("resume", &actions[1]["arguments"][0]);
    let status = fixture.status(|it| is_in(it, &id, "done"));
    assert_eq!(status["loops"][0]["outcome"]["verified"], true, "{status:#}");
}

#[test]
fn a_question_about_trust_is_withdrawn_when_a_terminal_answers_it() {
    let mut fixture = EditorFixture::open(&Scenario {
        criteria: &["It is made: `exists made`", "It counts: `$ test -e made`"],
        acts: &["touch made"],
        ..Scenario::default()
    });
    fixture.editor.answers("window/showMessageRequest", Reply::Never);
    fixture.refused("start", &json!({"task": "PROMPT.md"}), "untrusted");
    let asked = fixture.editor.until("the question", |it| it["method"] == "window/showMessageRequest");
    fixture.status(|it| it["tasks"][0]["unknownCommands"] == 2);
    assert_eq!(fixture.editor.count("$/cancelRequest"), 0);
    let mut terminal = fixture.world.terminal.command(&["trust"]);
    let mut answering = terminal.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    answering.stdin.take().unwrap().write_all(b"y\n").unwrap();
    assert!(answering.wait().unwrap().success());
    let cancelled = fixture.editor.wait_for("$/cancelRequest", |_| true);
    assert_eq!(cancelled["id"], asked["id"]);
    // Trust was wanted elsewhere, for a purpose that is not known here.
    assert!(fixture.world.loops().is_empty() && fixture.world.starts() == 0, "nothing was started");
    fixture.done("start", &json!({"task": "PROMPT.md"}));
    assert_eq!(fixture.editor.count("window/showMessageRequest"), 1);
}
