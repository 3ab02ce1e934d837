//! The agent's question in an editor: told, shown where the task is written, answered; and for a client that knows
//! only the protocol.

use serde_json::{Value, json};

use super::studio::{Studio, everything_but, has, is_in};
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
    let mut studio = Studio::open(&asking());
    studio.show("PROMPT.md");
    let id = studio.start("PROMPT.md");
    let status = studio.status(|it| is_in(it, &id, "needsYou"));
    let shown = &status["loops"][0];
    assert_eq!((&shown["phase"], &shown["question"]["kind"]), (&"needsAnswer".into(), &"agent".into()));
    assert_eq!(shown["question"]["text"], "Which database do you want?");
    let alert = studio.editor.said("loopkeeper/alert", |_| true);
    assert_eq!(alert["kind"], "needsYou");
    assert!(
        alert["message"].as_str().unwrap().contains("the agent asks: Which database do you want?"),
        "{alert:#}"
    );
    let action = &alert["actions"][0];
    assert_eq!(action["command"], "loopkeeper.server.answer");
    assert_eq!(action["arguments"][0], json!({"loopId": id}));
    let remarks = studio.remarks("PROMPT.md", |it| has(it, "needs-answer"));
    let remark = remarks.iter().find(|it| it["code"] == "needs-answer").unwrap();
    assert_eq!(remark["message"], "needs answer: Which database do you want?");
    assert_eq!((&remark["severity"], &remark["range"]["start"]["line"]), (&2.into(), &0.into()));
    // A button has no words of its own.
    studio.refused("answer", &json!({"loopId": id}), "badArgument");
    studio.refused("answer", &json!({"loopId": id, "text": " "}), "badArgument");
    studio.done("answer", &json!({"loopId": id, "text": "SQLite"}));
    let status = studio.status(|it| is_in(it, &id, "done"));
    assert_eq!(status["loops"][0]["outcome"]["verified"], true);
    assert!(studio.world.prompt(2).contains("The user answers:\n\nSQLite\n"));
    studio.remarks("PROMPT.md", |it| !has(it, "needs-answer"));
    studio.refused("answer", &json!({"loopId": id, "text": "late"}), "conflict");
    studio.refused("resetSession", &json!({"loopId": id}), "conflict");
}

#[test]
fn a_client_that_knows_only_the_protocol_can_leave_it_to_the_agent() {
    let mut studio = Studio::open_as(&asking(), &everything_but("experimental"));
    studio.editor.answers("window/showMessageRequest", Reply::With(json!({"title": "Agent decides"})));
    studio.start("PROMPT.md");
    let is_asked = |it: &Value| it["method"] == "window/showMessageRequest";
    let asked = studio.editor.until("the question", is_asked);
    let message = asked["params"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("Ralph asks: Which database do you want? Answer with `loopkeeper answer "),
        "{message}"
    );
    studio.world.until("end", |it| it["type"] == "ended");
    assert!(studio.world.prompt(2).contains("Nobody answered: decide yourself"));
}
