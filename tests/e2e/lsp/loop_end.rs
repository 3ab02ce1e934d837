//! The end of a loop in an editor: its notification with actions, their effects, and early warnings before it.

use serde_json::{Value, json};

use super::editor_fixture::{EditorFixture, is_in};
use crate::cli_ended::limited;
use crate::scenarios::detached::{WAITS, go};
use crate::support::lsp::Editor;
use crate::support::scenario::Scenario;

fn titles(actions: &Value) -> Vec<&str> {
    actions.as_array().unwrap().iter().map(|it| it["title"].as_str().unwrap()).collect()
}

/// Runs the action with this title as a client does.
#[track_caller]
fn press(fixture: &mut EditorFixture, actions: &Value, title: &str) -> Value {
    let all = actions.as_array().unwrap();
    let action =
        all.iter().find(|it| it["title"] == title).unwrap_or_else(|| panic!("no {title} in {all:#?}"));
    let command = action["command"].as_str().unwrap().strip_prefix("loopkeeper.server.").unwrap().to_owned();
    fixture.done(&command, &action["arguments"][0])
}

fn ended(editor: &Editor) -> Value {
    editor.wait_for("loopkeeper/alert", |it| it["kind"] == "ended")
}

#[test]
fn a_loop_at_its_limit_can_be_reviewed_continued_and_undone() {
    let mut fixture = EditorFixture::open(&limited(&["echo $n >> log; echo $n > new.$n"]));
    let first = fixture.start("PROMPT.md");
    let alert = ended(&fixture.editor);
    assert_eq!((&alert["loopId"], &alert["severity"]), (&first.as_str().into(), &"warning".into()));
    let actions = &alert["actions"];
    assert_eq!(titles(actions), ["Review all changes", "Undo", "Continue with 10 more"]);
    let diff = press(&mut fixture, actions, "Review all changes");
    let paths: Vec<&str> =
        diff["files"].as_array().unwrap().iter().map(|it| it["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["log", "new.1", "new.2"], "the whole loop");

    let second = press(&mut fixture, actions, "Continue with 10 more");
    let second = second["loopId"].as_str().unwrap().to_owned();
    assert_ne!(second, first, "the end of a loop is final");
    fixture.status(|it| is_in(it, &second, "done"));
    let started = fixture.world.journal().swap_remove(0);
    let spec = &started["spec"];
    assert_eq!(
        (&spec["settings"]["limits"]["iterations"], &spec["earlier"][0]["continued"]),
        (&10.into(), &true.into())
    );
    let prompt = fixture.world.prompt(3);
    assert!(
        prompt.contains("## The loop before this one") && prompt.contains("limit reached: 2 iterations"),
        "{prompt}"
    );
    let alert = fixture.editor.wait_for("loopkeeper/alert", |it| it["loopId"] == second.as_str());
    assert_eq!(titles(&alert["actions"]), ["Review all changes", "Undo", "Receipt"], "it is verified");

    let undone = press(&mut fixture, &alert["actions"], "Undo");
    assert_eq!(undone["removed"], 2, "{undone:#}");
    assert!(fixture.world.has("new.2") && !fixture.world.has("new.3"), "only the second loop is undone");
    fixture.done("undoRollback", &json!({"loopId": second}));
    assert!(fixture.world.has("new.3"));
}

#[test]
fn feedback_on_the_ending_is_asked_once_and_stored() {
    let mut fixture = EditorFixture::open(&limited(&["echo $n >> log"]));
    let id = fixture.start("PROMPT.md");
    let alert = ended(&fixture.editor);
    let question = &alert["followUp"];
    assert_eq!(question["message"], "Was this the right moment to stop?");
    assert_eq!(titles(&question["actions"]), ["Yes", "Too early", "Too late"]);
    press(&mut fixture, &question["actions"], "Too early");
    let record = fixture.world.journal().pop().unwrap();
    assert_eq!((&record["type"], &record["verdict"]), (&"feedback".into(), &"tooEarly".into()));
    // A later one counts; the terminal shows it.
    let feedback = json!({"loopId": id, "verdict": "tooLate", "text": "it went\nin circles"});
    fixture.done("feedback", &feedback);
    let world = &fixture.world;
    world.run(&["report", &id, "--format", "markdown"]).expect(0).out("Feedback: stopped too late: it went");
    world.run(&["insight"]).expect(0).out("0 of 1 loop with feedback (0 too early, 1 too late)");
    world.run(&["log", &id]).expect(0).out("feedback: stopped too early");
    // The loop is as it was: ended, not damaged.
    fixture.status(|it| is_in(it, &id, "done"));
    fixture.refused("feedback", &json!({"loopId": id, "verdict": "never"}), "badArgument");
}

#[test]
fn an_open_loop_has_no_end_to_judge_or_to_continue() {
    let mut fixture = EditorFixture::open(&limited(&[WAITS]));
    let id = fixture.start("PROMPT.md");
    fixture.world.until_shared("up.1");
    fixture.refused("feedback", &json!({"loopId": id, "verdict": "right"}), "conflict");
    fixture.refused("resume", &json!({"loopId": id, "more": 10}), "conflict");
    fixture.refused("resume", &json!({"loopId": id, "more": 0}), "badArgument");
    fixture.done("stop", &json!({"loopId": id, "now": true}));
    fixture.status(|it| is_in(it, &id, "done"));
}

#[test]
fn a_stop_that_the_user_just_ordered_has_no_notification() {
    let mut fixture = EditorFixture::open(&limited(&[WAITS]));
    let stopped = fixture.start("PROMPT.md");
    fixture.world.until_shared("up.1");
    fixture.done("stop", &json!({"loopId": stopped, "now": true}));
    fixture.status(|it| is_in(it, &stopped, "done"));
    // Control: a loop that ends on its own has one.
    (2..4).for_each(|it| go(&fixture.world, it));
    let other = fixture.start("PROMPT.md");
    assert_eq!(ended(&fixture.editor)["loopId"], other.as_str());
    assert!(
        fixture
            .editor
            .messages()
            .iter()
            .all(|it| it["params"]["loopId"] != stopped.as_str() || it["method"] != "loopkeeper/alert")
    );
}

#[test]
fn a_stall_ahead_is_an_alert_while_the_loop_continues() {
    let scenario = Scenario {
        criteria: &["Far: `exists nowhere`"],
        settings: "breaker.fast_failures = 99",
        acts: &["true", "true", WAITS],
        ..Scenario::default()
    };
    let mut fixture = EditorFixture::open(&scenario);
    let id = fixture.start("PROMPT.md");
    let alert = fixture.editor.wait_for("loopkeeper/alert", |_| true);
    assert_eq!((&alert["kind"], &alert["severity"]), (&"warning".into(), &"warning".into()));
    let sentence = "2 iterations without a file change; the breaker opens at 3";
    assert!(alert["message"].as_str().unwrap().contains(sentence), "{alert:#}");
    assert_eq!(titles(&alert["actions"]), ["Show output", "Pause", "Stop"]);
    let status = fixture.status(|it| it["loops"][0]["iteration"] == 3);
    assert!(status["loops"][0]["warnings"].as_array().unwrap().contains(&sentence.into()), "{status:#}");
    assert_eq!(status.get("alerts"), None, "it does not need its user");
    go(&fixture.world, 3);
    fixture.world.until_shared("up.4");
    assert_eq!(fixture.editor.count("loopkeeper/alert"), 1, "reported once");
    fixture.done("stop", &json!({"loopId": id, "now": true}));
    fixture.status(|it| is_in(it, &id, "done"));
}
