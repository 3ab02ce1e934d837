//! Commands to a loop: stop, pause, resume, reset, steer, check, roll back; and its views.

use serde_json::{Value, json};

use super::editor_fixture::{EditorFixture, has, is_in};
use super::starting::text;
use crate::scenarios::detached::{WAITS, go};
use crate::support::scenario::Scenario;

/// Works until the test releases it, but does not reach the goal.
fn far<'a>(acts: &'a [&'a str]) -> Scenario<'a> {
    Scenario {
        criteria: &["Far: `exists nowhere`", "Enough: `$ wc -l < log` `>= 2`"],
        before: "touch log",
        acts,
        ..Scenario::default()
    }
}

#[test]
fn a_loop_is_paused_steered_resumed_and_stopped() {
    let mut fixture = EditorFixture::open(&far(&[WAITS]));
    let id = fixture.start("PROMPT.md");
    fixture.world.until_shared("up.1");
    // By a unique prefix, by the whole id, by `latest`.
    fixture.done("pause", &json!({"loopId": &id[..12]}));
    fixture.done("steer", &json!({"loopId": "latest", "text": "Mind the gap."}));
    go(&fixture.world, 1);
    fixture.status(|it| is_in(it, &id, "paused"));
    go(&fixture.world, 2);
    let resumed = fixture.done("resume", &json!({"loopId": id}));
    assert!(!is_in(&resumed["status"], &id, "paused"), "{resumed:#}");
    fixture.world.until_shared("up.2");
    assert!(fixture.world.prompt(2).contains("Mind the gap."));
    fixture.world.until_shared("up.3");
    let stopping = fixture.done("stop", &json!({"loopId": id}));
    assert_eq!(stopping["status"]["loops"][0]["phase"], "stopping");
    for (order, argument) in [("pause", json!({"loopId": id})), ("steer", json!({"loopId": id, "text": "x"}))]
    {
        fixture.refused(order, &argument, "conflict");
    }
    go(&fixture.world, 3);
    let status = fixture.status(|it| is_in(it, &id, "done"));
    assert_eq!(status["loops"][0]["outcome"]["kind"], "stopped");
    for order in ["stop", "pause", "resume", "resetBreaker"] {
        let error = fixture.refused(order, &json!({"loopId": id}), "conflict");
        assert!(error["message"].as_str().unwrap().contains("has ended"), "{order}: {error}");
        // Clients show their own name for it.
        assert_eq!(
            error["data"]["commands"],
            json!([{"text": "loopkeeper run", "name": "run"}]),
            "{order}: {error}"
        );
    }
    fixture.refused("steer", &json!({"loopId": id, "text": "Too late."}), "conflict");
}

/// Task changes by the agent are only displayed; those that the user saves concurrently are adopted.
#[test]
fn a_criterion_saved_while_the_agent_works_is_taken_up() {
    for (saved, kind) in [(true, "completed"), (false, "limit")] {
        // The keeper receives it concurrently with everything else.
        let slow = format!("{WAITS}; sleep 5");
        let mut fixture = EditorFixture::open(&Scenario {
            settings: "limits.iterations = 2",
            ..far(&[&slow, "echo more >> log"])
        });
        fixture.show("PROMPT.md");
        let id = fixture.start("PROMPT.md");
        fixture.world.until_shared("up.1");
        let text = fixture.world.terminal.read("PROMPT.md").replace("- Far: `exists nowhere`\n", "");
        if saved {
            fixture.type_into("PROMPT.md", 2, &text);
            fixture.save("PROMPT.md", &text);
        } else {
            fixture.world.terminal.file("PROMPT.md", &text);
        }
        go(&fixture.world, 1);
        let status = fixture.status(|it| is_in(it, &id, "done"));
        assert_eq!(status["loops"][0]["outcome"]["kind"], kind, "{status:#}");
    }
}

#[test]
fn a_stop_at_once_ends_the_agent_with_all_its_children() {
    let act = "trap '' TERM; (setsid sleep 600 &); touch $folder/up; while :; do sleep 600; done";
    let mut fixture = EditorFixture::open(&far(&[act]));
    let id = fixture.start("PROMPT.md");
    fixture.world.until_shared("up");
    fixture.done("stop", &json!({"loopId": id, "now": true}));
    fixture.status(|it| is_in(it, &id, "done"));
    fixture.editor.quit();
    fixture.world.assert_no_process_left();
}

#[test]
fn an_open_breaker_is_reset_and_the_loop_continues() {
    let scenario = Scenario {
        criteria: &["It is there: `exists done`"],
        settings: "breaker.max_trips = 1",
        acts: &["true"],
        ..Scenario::default()
    };
    let mut fixture = EditorFixture::open(&scenario);
    let id = fixture.start("PROMPT.md");
    fixture.status(|it| is_in(it, &id, "needsYou"));
    fixture.remarks("PROMPT.md", |it| has(it, "breaker-open"));
    fixture.world.acts(&["touch done"]);
    fixture.done("resetBreaker", &json!({"loopId": id}));
    let status = fixture.status(|it| is_in(it, &id, "done"));
    assert_eq!(status["loops"][0]["outcome"]["verified"], true);
}

#[test]
fn unknown_and_ambiguous_loop_names_are_refused() {
    let mut fixture = EditorFixture::open(&far(&[WAITS]));
    let error = fixture.refused("stop", &json!({"loopId": "latest"}), "badArgument");
    assert!(error["message"].as_str().unwrap().contains("No loop was started"), "{error}");
    let ids: Vec<String> = (1..=2)
        .map(|_| {
            let id = fixture.start("PROMPT.md");
            fixture.done("stop", &json!({"loopId": id, "now": true}));
            fixture.status(|it| is_in(it, &id, "done"));
            id
        })
        .collect();
    let both = &ids[0][..9];
    for order in ["stop", "pause", "resume", "resetBreaker"] {
        for loop_id in [both, "20200101-aaaaaa", "no", "", "../x", "latest ", "\u{202e}"] {
            fixture.refused(order, &json!({"loopId": loop_id}), "badArgument");
        }
        for argument in [json!({}), json!({"loopId": 7}), json!({"loopId": null}), json!([])] {
            fixture.refused(order, &argument, "badArgument");
        }
    }
    for argument in [
        json!({"loopId": ids[0]}),
        json!({"loopId": ids[0], "text": 1}),
        json!({"loopId": ids[0], "text": " "}),
    ] {
        fixture.refused("steer", &argument, "badArgument");
    }
    fixture.refused("stop", &json!({"loopId": ids[0], "now": "yes"}), "badArgument");
    for method in ["loopkeeper/iterations", "loopkeeper/subscribe"] {
        for loop_id in [both, "no"] {
            let answer = fixture.editor.call(method, &json!({"loopId": loop_id, "on": true}));
            assert_eq!(answer["error"]["data"]["code"], "badArgument", "{method} {answer:#}");
        }
    }
    let latest = fixture.editor.request("loopkeeper/iterations", &json!({"loopId": "latest"}));
    assert_eq!(latest["loopId"], ids[1].as_str());
}

#[test]
fn all_checks_or_one_run_without_a_loop() {
    let criteria = &["It is made: `exists made`", "It counts: `$ echo counted; test -e made`"];
    let mut fixture = EditorFixture::open(&Scenario { criteria, ..Scenario::default() });
    fixture.trust("PROMPT.md");
    fixture.done("check", &json!({"task": "PROMPT.md"}));
    let failing = |it: &[Value]| it.iter().filter(|it| it["code"] == "failing").count() == 2;
    fixture.remarks("PROMPT.md", failing);
    let status = fixture.status(|it| it["tasks"][0]["criteria"]["failed"] == 2);
    let first = status["tasks"][0]["criteria"]["items"][0]["id"].clone();
    fixture.world.terminal.file("made", "");
    fixture.done("check", &json!({"task": fixture.uri("PROMPT.md"), "criterion": first}));
    fixture
        .status(|it| it["tasks"][0]["criteria"]["passed"] == 1 && it["tasks"][0]["criteria"]["failed"] == 1);
    fixture.status(|it| it["tasks"][0]["checking"] == false);
    fixture.refused("check", &json!({"task": "PROMPT.md", "criterion": "0123456789"}), "badArgument");
    fixture.refused("check", &json!({"task": "PROMPT.md", "criterion": 1}), "badArgument");
    assert!(fixture.world.loops().is_empty(), "no loop for that");
}

#[test]
fn checks_wait_for_a_working_agent_and_run_at_once_during_a_pause() {
    let mut fixture = EditorFixture::open(&far(&[WAITS]));
    let id = fixture.start("PROMPT.md");
    fixture.world.until_shared("up.1");
    // Answered immediately, although the agent is working.
    fixture.done("check", &json!({"task": "PROMPT.md"}));
    fixture.done("pause", &json!({"loopId": id}));
    go(&fixture.world, 1);
    fixture.status(|it| is_in(it, &id, "paused"));
    fixture.world.terminal.file("nowhere", "");
    fixture.done("check", &json!({"task": "PROMPT.md"}));
    fixture.status(|it| is_in(it, &id, "paused") && it["tasks"][0]["criteria"]["passed"] == 1);
    assert_eq!(fixture.world.starts(), 1);
}

#[test]
fn outputs_are_shown_without_what_a_terminal_would_obey() {
    let hostile = r"printf 'a\033[2Jb\033]52;c;eA==\007 \342\200\256c\r\n\200\377d\n'";
    let criterion = format!("It prints: `$ {hostile}; echo src/a.rs:3: no; exit 1`");
    let act = format!("{hostile}; echo agent $n");
    let criteria = [criterion.as_str()];
    let mut fixture = EditorFixture::open(&Scenario {
        criteria: &criteria,
        settings: "breaker.fast_failures = 99\nbreaker.max_trips = 1\n",
        acts: &[&act],
        ..Scenario::default()
    });
    fixture.refused("output", &json!({"task": "PROMPT.md"}), "conflict");
    let id = fixture.start("PROMPT.md");
    let status = fixture.status(|it| is_in(it, &id, "needsYou"));
    let criterion = status["tasks"][0]["criteria"]["items"][0]["id"].clone();
    for (argument, part) in [
        (json!({"task": "PROMPT.md"}), "agent 3"),
        (json!({"task": "PROMPT.md", "iteration": 1}), "agent 1"),
        (
            json!({"task": "PROMPT.md", "criterion": criterion}),
            "Where it fails:\n\nsrc/a.rs:3: no\n\nIts output:\n\nab",
        ),
        (json!({"task": "PROMPT.md", "criterion": criterion, "iteration": 2}), "ab"),
    ] {
        let shown = fixture.done("output", &argument);
        let text = text(&shown["uri"]);
        assert!(text.contains(part), "{argument}: {text:?}");
        let bad = |it: char| it.is_control() && it != '\n' || it == '\u{202e}';
        assert!(!text.contains(bad), "{text:?}");
        fixture.editor.wait_for("window/showDocument", |it| it["uri"] == shown["uri"]);
    }
    fixture.refused("output", &json!({"task": "PROMPT.md", "iteration": 99}), "conflict");
    for criterion in ["0123456789", "../../../start", "../../journal"] {
        fixture.refused("output", &json!({"task": "PROMPT.md", "criterion": criterion}), "conflict");
        let argument = json!({"task": "PROMPT.md", "criterion": criterion, "iteration": 1});
        fixture.refused("output", &argument, "conflict");
    }
    fixture.refused("output", &json!({"task": "PROMPT.md", "iteration": -1}), "badArgument");
}

#[test]
fn a_diff_lays_both_sides_out_beside_the_work_tree() {
    let act = "echo new > added; echo b > changed; rm removed; printf 'x\\0y' > binary; \
               printf 'evil\\n' > \"$(printf 'a\\033[2J\\nb')\"; mkdir -p deep/er; echo in > deep/er/file";
    let scenario = Scenario {
        files: &[("changed", "a\n"), ("removed", "gone\n")],
        criteria: &["It is there: `exists added`"],
        acts: &[act],
        ..Scenario::default()
    };
    let mut fixture = EditorFixture::open(&scenario);
    let id = fixture.start("PROMPT.md");
    fixture.status(|it| is_in(it, &id, "done"));
    let diff = fixture.done("diff", &json!({"loopId": "latest", "iteration": 1}));
    let files = diff["files"].as_array().unwrap();
    let root = fixture.path("");
    let file = |name: &str| {
        files.iter().find(|it| it["path"] == name).unwrap_or_else(|| panic!("{name}: {files:#?}"))
    };
    for (name, kind, before, after) in [
        ("added", "added", None, Some("new\n")),
        ("changed", "changed", Some("a\n"), Some("b\n")),
        ("removed", "removed", Some("gone\n"), None),
        ("deep/er/file", "added", None, Some("in\n")),
    ] {
        let file = file(name);
        assert_eq!(file["kind"], kind);
        assert_eq!(file.get("before").map(text).as_deref(), before, "{name}");
        assert_eq!(file.get("after").map(text).as_deref(), after, "{name}");
    }
    assert_eq!(file("binary")["kind"], "added");
    assert_eq!(files.len(), 6);
    let sides = files.iter().flat_map(|it| [&it["before"], &it["after"]]).chain([&diff["patch"]]);
    for uri in sides.filter_map(Value::as_str) {
        let path = lsp_types::Url::parse(uri).unwrap().to_file_path().unwrap();
        assert!(path.is_file() && !path.starts_with(&root), "{uri}");
    }
    let patch = text(&diff["patch"]);
    assert!(patch.contains("+new") && patch.contains("-gone"), "{patch}");
    assert!(!patch.contains('\u{1b}'), "{patch:?}");
    for (iteration, code) in
        [(json!(0), "badArgument"), (json!(9), "badArgument"), (json!("1"), "badArgument")]
    {
        fixture.refused("diff", &json!({"loopId": id, "iteration": iteration}), code);
    }
}

#[test]
fn files_are_rolled_back_during_a_pause_and_after_the_end() {
    let acts = ["echo one > kept; echo 1 >> log", "echo two > kept; echo 2 >> log; touch more"];
    let scenario = Scenario {
        criteria: &["Enough: `$ wc -l < log` `>= 2`"],
        before: "touch log",
        acts: &acts,
        ..Scenario::default()
    };
    let mut fixture = EditorFixture::open(&scenario);
    let id = fixture.start("PROMPT.md");
    fixture.status(|it| is_in(it, &id, "done"));
    let back = fixture.done("rollback", &json!({"loopId": id, "iteration": 1, "paths": ["kept"]}));
    assert_eq!((&back["written"], &back["removed"], &back["refused"]), (&1.into(), &0.into(), &json!([])));
    assert_eq!((fixture.world.terminal.read("kept"), fixture.world.has("more")), ("one\n".to_owned(), true));
    let back = fixture.done("rollback", &json!({"loopId": "latest", "iteration": 0}));
    assert!(back["removed"].as_u64().unwrap() >= 2, "{back:#}");
    assert!(!fixture.world.has("more") && !fixture.world.has("kept"));
    let status = fixture.status(|it| it["loops"][0]["stale"] == true);
    assert!(status["tasks"][0]["criteria"]["items"][0]["stale"] == true, "{status:#}");
    // Undone and repeated; a preview changes nothing, and names the user's changes.
    fixture.done("undoRollback", &json!({"loopId": id}));
    assert_eq!((fixture.world.terminal.read("kept"), fixture.world.has("more")), ("one\n".to_owned(), true));
    fixture.world.terminal.file("kept", "mine\n");
    let preview = fixture.done("undoRollback", &json!({"loopId": id, "preview": true}));
    assert_eq!((&preview["written"], &preview["edited"]), (&back["written"], &json!(["kept"])));
    let preview = fixture.done("rollback", &json!({"loopId": id, "iteration": 0, "preview": true}));
    assert_eq!(preview["edited"], json!(["kept"]));
    assert_eq!(fixture.world.terminal.read("kept"), "mine\n");
    let again = fixture.done("undoRollback", &json!({"loopId": id}));
    assert_eq!((&again["written"], &again["removed"]), (&back["written"], &back["removed"]));
    assert!(!fixture.world.has("more") && !fixture.world.has("kept"));
    for argument in [
        json!({"loopId": id, "iteration": 9}),
        json!({"loopId": id}),
        json!({"loopId": id, "iteration": -1}),
        json!({"loopId": id, "iteration": 1, "paths": "kept"}),
        json!({"loopId": id, "iteration": 1, "paths": [7]}),
    ] {
        fixture.refused("rollback", &argument, "badArgument");
    }
    // The results belonged to another tree.
    fixture.remarks("PROMPT.md", |it| it.iter().any(|it| it["tags"] == json!([1])));

    fixture.world.acts(&[&format!("echo again > kept; {WAITS}")]);
    let id = fixture.start("PROMPT.md");
    fixture.world.until_shared("up.3");
    fixture.refused("rollback", &json!({"loopId": id, "iteration": 0}), "conflict");
    fixture.refused("undoRollback", &json!({"loopId": id}), "conflict");
    says_when_orders_take_effect(&mut fixture, &id);
    go(&fixture.world, 3);
    fixture.status(|it| is_in(it, &id, "paused"));
    assert!(fixture.world.has("kept"));
    let back = fixture.done("rollback", &json!({"loopId": id, "iteration": 0}));
    assert!(!fixture.world.has("kept"));
    for field in ["written", "removed", "refused"] {
        assert!(back.get(field).is_some(), "a living keeper says what it did: {back:#}");
    }
    fixture.refused("rollback", &json!({"loopId": id, "iteration": 7}), "badArgument");
    let undone = fixture.done("undoRollback", &json!({"loopId": id}));
    assert_eq!(undone["removed"], 0, "{undone:#}");
    assert_eq!(fixture.world.terminal.read("kept"), "again\n");
}

fn says_when_orders_take_effect(fixture: &mut EditorFixture, id: &str) {
    let effect = |it: Value| it["effect"].as_str().unwrap_or_default().to_owned();
    let taken = effect(fixture.done("check", &json!({"task": "PROMPT.md"})));
    assert_eq!(taken, "The loop runs the checks after the agent's present call (iteration 1).");
    let taken = effect(fixture.done("steer", &json!({"loopId": id, "text": "Mind the gap."})));
    assert_eq!(taken, "The loop passes the text on in iteration 2.");
    let taken = effect(fixture.done("pause", &json!({"loopId": id})));
    assert_eq!(taken, "The loop pauses after this iteration (1).");
}

#[test]
fn an_interrupted_loop_is_resumed_or_stopped() {
    for order in ["resume", "stop"] {
        let mut fixture = EditorFixture::open(&far(&[WAITS]));
        let id = fixture.start("PROMPT.md");
        fixture.world.until_shared("up.1");
        let pid = fixture.world.status()["keeper"]["pid"].as_i64().unwrap();
        kill(pid);
        let status = fixture.status(|it| it["loops"][0]["phase"] == "interrupted");
        assert!(is_in(&status, &id, "needsYou"));
        fixture.remarks("PROMPT.md", |it| has(it, "interrupted"));
        fixture.refused("steer", &json!({"loopId": id, "text": "x"}), "conflict");
        fixture.done(order, &json!({"loopId": id}));
        if order == "resume" {
            fixture.world.until_shared("up.2");
            fixture.done("stop", &json!({"loopId": id, "now": true}));
        }
        fixture.status(|it| is_in(it, &id, "done"));
    }
}

pub(super) fn kill(pid: i64) {
    use rustix::process::{Pid, Signal, kill_process};
    kill_process(Pid::from_raw(pid as i32).unwrap(), Signal::KILL).unwrap();
}
