//! `loopkeeper/transcript`, as a terminal reads it, and `loopkeeper/startPreview`, as a start shows it.

use std::cell::RefCell;
use std::fs;

use serde_json::{Value, json};

use super::editor_fixture::{EditorFixture, everything};
use crate::support::scenario::Scenario;
use crate::support::world::wait_until;

const WAITS: &str = "printf '\\033[31mred\\033[0m \\033[2J\\033]52;c;eA==\\007up\\n'; touch $folder/up.$n; \
                     until [ -e $folder/go.$n ]; do sleep 0.05; done; touch made; echo over";

fn waiting() -> EditorFixture {
    let criteria = &["It is made: `exists made`"];
    EditorFixture::open(&Scenario { criteria, acts: &[WAITS], ..Scenario::default() })
}

fn ask(fixture: &mut EditorFixture, id: &str, after: &Value) -> Value {
    let params = if after.is_null() { json!({"loopId": id}) } else { json!({"loopId": id, "after": after}) };
    fixture.editor.request("loopkeeper/transcript", &params)
}

/// Asks until the text since `after` has the part; returns all of it, and where it ended.
fn until(fixture: &mut EditorFixture, id: &str, after: &Value, part: &str) -> (String, Value) {
    let read = RefCell::new((String::new(), after.clone(), fixture));
    let reads_on = || {
        let (text, cursor, fixture) = &mut *read.borrow_mut();
        let answer = ask(fixture, id, cursor);
        text.push_str(answer["text"].as_str().unwrap());
        *cursor = answer["cursor"].clone();
        text.contains(part)
    };
    wait_until(reads_on, || format!("{part:?} is not in {}", read.borrow().0));
    let (text, cursor, _) = read.into_inner();
    (text, cursor)
}

#[test]
fn a_terminal_reads_what_came_before_and_then_each_part_once() {
    let mut fixture = waiting();
    let id = fixture.start("PROMPT.md");
    fixture.world.until_shared("up.1");
    let (before, cursor) = until(&mut fixture, &id, &Value::Null, " up");
    for part in ["Checks before iteration 1: 0 of 1 pass", "── Iteration 1 ──", "\x1b[31mred\x1b[0m"]
    {
        assert!(before.contains(part), "{part:?} is not in {before:?}");
    }
    for sequence in before.split('\x1b').skip(1) {
        let end = sequence.find(|c: char| !matches!(c, '[' | ';' | '0'..='9')).unwrap();
        assert_eq!(&sequence[end..=end], "m", "only colours: {sequence:?}");
    }
    fixture.done("steer", &json!({"loopId": id, "text": "mind the parser"}));
    let (hint, cursor) = until(&mut fixture, &id, &cursor, "mind the parser");
    assert!(hint.contains("sent, read at the start of the next iteration"), "{hint}");
    fs::write(fixture.world.shared("go.1"), "").unwrap();
    let (rest, _) = until(&mut fixture, &id, &cursor, "Completed");
    for part in ["over\n", "Checks: its one criterion passes", "Checks: 1 of 1 pass"] {
        assert!(rest.matches(part).count() <= 1, "{part:?}: {rest}");
    }
    assert!(rest.contains("over\n") && !rest.contains("Iteration 1 ──"), "{rest}");
    // All of it again, for a terminal that is opened after the end.
    let whole = ask(&mut fixture, &id, &Value::Null);
    let text = whole["text"].as_str().unwrap();
    assert_eq!(whole["ended"], true);
    for part in ["── Iteration 1 ──", " up", "over\n", "mind the parser", "Completed"] {
        assert_eq!(text.matches(part).count(), 1, "{part:?}: {text}");
    }
    let nothing = ask(&mut fixture, &id, &whole["cursor"]);
    assert_eq!(nothing["text"], "");
}

#[test]
fn a_loop_that_does_not_exist_has_no_transcript() {
    let mut fixture = waiting();
    let answer = fixture.editor.call("loopkeeper/transcript", &json!({"loopId": "20200101-aaaaaa"}));
    assert_eq!(answer["error"]["data"]["code"], "badArgument", "{answer:#}");
}

#[test]
fn a_start_is_previewed_with_its_arguments_and_the_history() {
    let mut fixture = waiting();
    let preview = |fixture: &mut EditorFixture, more: Value| {
        let mut params = json!({"task": "PROMPT.md"});
        for (key, value) in more.as_object().into_iter().flatten() {
            params[key] = value.clone();
        }
        fixture.editor.request("loopkeeper/startPreview", &params)
    };
    let first = preview(&mut fixture, json!({}));
    assert_eq!(first["agent"], "mine");
    assert!(first["agents"].as_array().unwrap().contains(&json!("mine")), "{first:#}");
    assert!(first["grade"].as_str().unwrap().starts_with("incomplete: no "), "{first:#}");
    assert_eq!(first["history"], Value::Null);
    let limits = json!({"limits": {"iterations": 3, "duration": "45m"}});
    let limited = preview(&mut fixture, limits);
    let bound = "At most 3 iterations and 45 min; cost not reported";
    assert_eq!((&limited["iterations"], &limited["upperBound"]), (&json!(3), &json!(bound)));
    let missing = preview(&mut fixture, json!({"agent": "/no/such/agent"}));
    assert!(missing["problem"].is_string(), "{missing:#}");
    let wrong = fixture
        .editor
        .call("loopkeeper/startPreview", &json!({"task": "PROMPT.md", "limits": {"iterations": 0}}));
    assert_eq!(wrong["error"]["data"]["code"], "badArgument", "{wrong:#}");
    assert!(fixture.world.loops().is_empty(), "nothing is started");
    fs::write(fixture.world.shared("go.1"), "").unwrap();
    let id = fixture.start("PROMPT.md");
    until(&mut fixture, &id, &Value::Null, "Completed");
    fixture.status(|it| it["loops"][0]["state"] == "done");
    let after = preview(&mut fixture, json!({}));
    assert!(
        after["history"].as_str().unwrap().starts_with("The last loop on this task took 1 iteration and "),
        "{after:#}"
    );
}

/// The hover over the task's heading.
fn hover(fixture: &mut EditorFixture) -> String {
    fixture.show("PROMPT.md");
    let at = json!({
        "textDocument": {"uri": fixture.uri("PROMPT.md")}, "position": {"line": 0, "character": 3},
    });
    fixture.editor.request("textDocument/hover", &at)["contents"]["value"].as_str().unwrap().to_owned()
}

#[test]
fn a_hover_has_the_links_that_the_client_announced() {
    let check = |ours: Value, formats: &[&str], expect: &dyn Fn(&str) -> String| {
        let mut all = everything();
        all["experimental"]["loopkeeper"] = ours;
        all["textDocument"]["hover"] = json!({"contentFormat": formats});
        let criteria = &["It is made: `exists made`"];
        let acts = &["touch made"];
        let scenario = Scenario { criteria, acts, ..Scenario::default() };
        let mut fixture = EditorFixture::open_as(&scenario, &json!({"capabilities": all}));
        let id = fixture.start("PROMPT.md");
        fixture.status(|it| it["loops"][0]["state"] == "done");
        let shown = hover(&mut fixture);
        let blocks: Vec<&str> = shown.split("\n\n").collect();
        assert_eq!(*blocks.last().unwrap(), expect(&id), "{shown}");
        assert!(blocks[1].starts_with("Completed, verified"), "{shown}");
        fixture
            .world
            .terminal
            .run(&["status", &id])
            .expect(0)
            .out("  reached: iteration 1")
            .out("1 of 25 iterations");
    };
    let links = json!({"version": 1, "commandLinks": ["loopkeeper.showDashboard"]});
    check(links.clone(), &["markdown"], &|id| {
        let argument = format!("%5B%7B%22loopId%22%3A%22{id}%22%7D%5D");
        format!("[Details](command:loopkeeper.showDashboard?{argument})")
    });
    check(links, &["plaintext"], &|id| format!("Details: loopkeeper status {id}"));
    check(json!({"version": 1}), &["markdown"], &|id| format!("Details: `loopkeeper status {id}`"));
}
