//! Unsolicited messages of the server: content, frequency and recipients; and messages that must not be sent.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::editor_fixture::{EditorFixture, everything_but, has, is_in, start};
use crate::scenarios::detached::{WAITS, go};
use crate::support::lsp::{Editor, Reply};
use crate::support::scenario::Scenario;
use crate::support::world::TIMEOUT;

fn far<'a>(acts: &'a [&'a str]) -> Scenario<'a> {
    Scenario { criteria: &["Far: `exists nowhere`"], acts, ..Scenario::default() }
}

/// A loop that needs its user as soon as its breaker opens.
fn stuck() -> Scenario<'static> {
    Scenario { settings: "breaker.max_trips = 1", ..far(&["true"]) }
}

/// Makes the criteria of a paused loop hold: its checks complete it.
fn complete(fixture: &mut EditorFixture) {
    fixture.world.terminal.file("nowhere", "");
    fixture.done("check", &json!({"task": "PROMPT.md"}));
}

#[test]
fn an_idle_editor_receives_nothing_beside_ended_and_paused_loops() {
    let files =
        [("other/loopkeeper.toml", ""), ("other/RALPH.md", "# Other\n\nDone when:\n\n- `exists x`\n")];
    let mut fixture = EditorFixture::open(&Scenario { files: &files, ..far(&[WAITS]) });
    let ended = fixture.start("PROMPT.md");
    // Both loops' runs share one count: the first run must have been counted before it is stopped.
    fixture.world.until_shared("up.1");
    fixture.done("stop", &json!({"loopId": ended, "now": true}));
    fixture.status(|it| is_in(it, &ended, "done"));
    let paused = fixture.start("PROMPT.md");
    fixture.world.until_shared("up.2");
    fixture.done("pause", &json!({"loopId": paused}));
    (1..3).for_each(|it| go(&fixture.world, it));
    fixture.status(|it| is_in(it, &paused, "paused"));
    fixture.show("PROMPT.md");
    fixture.remarks("PROMPT.md", |it| has(it, "failing"));
    fixture.editor.request("loopkeeper/loops", &json!({}));
    let before = settled(&fixture.editor);
    // Longer than the server's own polling interval for running keepers.
    sleep(Duration::from_secs(6));
    let messages = fixture.editor.messages();
    assert_eq!(messages.len(), before, "{:#?}", &messages[before..]);
    // Control: events do arrive where silence was counted.
    fixture.world.run(&["stop", &paused]).expect(0);
    fixture.status(|it| is_in(it, &paused, "done"));
    assert!(fixture.editor.messages().len() > before);
}

/// The number of messages after those of the last change have arrived: twice the interval of status notifications
/// without one.
fn settled(editor: &Editor) -> usize {
    let until = Instant::now() + TIMEOUT;
    loop {
        let before = editor.messages().len();
        sleep(Duration::from_secs(2));
        if editor.messages().len() == before {
            return before;
        }
        assert!(Instant::now() < until, "no end of {:#?}", editor.messages().last());
    }
}

#[test]
fn at_most_one_status_a_second_is_sent_and_none_twice() {
    let act = "echo $n >> log; echo working; sleep 0.1";
    let acts = [act];
    let scenario = Scenario {
        settings: "[breaker]\nno_progress = 50\nsame_error = 50\n[limits]\niterations = 12\n",
        ..far(&acts)
    };
    let mut fixture = EditorFixture::open(&scenario);
    let id = fixture.start("PROMPT.md");
    fixture.status(|it| is_in(it, &id, "done"));
    let arrivals = fixture.editor.arrivals("loopkeeper/status");
    // Not each pair: a message that was read late is soon followed by the next.
    let seconds = (arrivals[arrivals.len() - 1] - arrivals[0]).as_secs();
    assert!(arrivals.len() as u64 <= seconds + 2, "{} in {seconds} s", arrivals.len());
    let all = fixture.editor.messages();
    let statuses: Vec<&Value> =
        all.iter().filter(|it| it["method"] == "loopkeeper/status").map(|it| &it["params"]).collect();
    for pair in statuses.windows(2) {
        assert!(pair[0]["seq"].as_u64() < pair[1]["seq"].as_u64(), "seq grows");
        let still = |it: &Value| {
            let mut it = it.clone();
            it["seq"] = Value::Null;
            it
        };
        assert_ne!(still(pair[0]), still(pair[1]), "nothing is said twice");
    }
}

#[test]
fn a_client_without_capabilities_gets_plain_protocol() {
    let mut fixture = EditorFixture::open_as(&stuck(), &json!({"capabilities": {}}));
    fixture.start("PROMPT.md");
    let said = fixture.editor.wait_for("window/showMessage", |it| it["type"] == 2);
    assert!(said["message"].as_str().unwrap().contains("Make it so"), "{said}");
    complete(&mut fixture);
    fixture.editor.wait_for("window/showMessage", |it| it["type"] == 3);
    let all = fixture.editor.messages();
    let methods: BTreeSet<&str> = all.iter().filter_map(|it| it["method"].as_str()).collect();
    assert_eq!(methods, BTreeSet::from(["textDocument/publishDiagnostics", "window/showMessage"]));
    for remarks in all.iter().filter(|it| it["method"] == "textDocument/publishDiagnostics") {
        for remark in remarks["params"]["diagnostics"].as_array().unwrap() {
            assert!(remark.get("tags").is_none() && remark.get("relatedInformation").is_none(), "{remark:#}");
        }
    }
}

#[test]
fn an_open_breaker_is_reported_at_once() {
    let mut fixture =
        EditorFixture::open(&Scenario { settings: "breaker.fast_failures = 99", ..far(&["true"]) });
    let id = fixture.start("PROMPT.md");
    let alert = fixture.editor.wait_for("loopkeeper/alert", |it| it["kind"] == "needsYou");
    assert_eq!((&alert["loopId"], &alert["severity"]), (&id.as_str().into(), &"warning".into()));
    let message = alert["message"].as_str().unwrap();
    assert!(
        message.contains("Breaker open") && message.contains("3 iterations without a file change"),
        "{message}"
    );
    assert_eq!(alert["actions"][0]["command"], "loopkeeper.server.resetBreaker");
    let status = fixture.status(|it| it["loops"][0]["wait"]["reason"] == "breaker");
    assert_eq!(status["loops"][0]["breaker"]["state"], "open");
    let open = |it: &Value| it["code"] == "breaker-open" && it["severity"] == 2;
    let summary = |it: &Value| it["message"].as_str().is_some_and(|it| it.starts_with("breaker open: "));
    fixture.remarks("PROMPT.md", |it| it.iter().any(open) && it.iter().any(summary));
    fixture.done("stop", &json!({"loopId": id}));
    fixture.status(|it| is_in(it, &id, "done"));
}

#[test]
fn one_alert_when_a_loop_needs_its_user_and_one_when_it_ends() {
    let mut fixture = EditorFixture::open(&stuck());
    let id = fixture.start("PROMPT.md");
    let alert = fixture.editor.wait_for("loopkeeper/alert", |_| true);
    assert_eq!((&alert["loopId"], &alert["kind"]), (&id.as_str().into(), &"needsYou".into()));
    assert_eq!(alert["severity"], "warning");
    let commands: Vec<&str> =
        alert["actions"].as_array().unwrap().iter().map(|it| it["command"].as_str().unwrap()).collect();
    assert_eq!(commands[0], "loopkeeper.server.resetBreaker");
    // Concurrent edits and checks do not produce status messages.
    fixture.show("PROMPT.md");
    fixture.done("check", &json!({"task": "PROMPT.md"}));
    complete(&mut fixture);
    fixture.status(|it| is_in(it, &id, "done"));
    let ended = fixture.editor.wait_for("loopkeeper/alert", |it| it["kind"] == "ended");
    assert_eq!((&ended["loopId"], &ended["severity"]), (&id.as_str().into(), &"info".into()));
    assert_eq!(fixture.editor.count("loopkeeper/alert"), 2);
    assert_eq!(fixture.editor.count("window/showMessage"), 0, "one way is enough");
}

#[test]
fn a_new_server_does_not_report_earlier_states() {
    let mut fixture = EditorFixture::open(&stuck());
    let ended = fixture.start("PROMPT.md");
    fixture.status(|it| is_in(it, &ended, "needsYou"));
    fixture.done("stop", &json!({"loopId": ended}));
    let open = fixture.start("PROMPT.md");
    fixture.status(|it| is_in(it, &open, "needsYou"));
    let both = |it: &Value| is_in(it, &ended, "done") && is_in(it, &open, "needsYou");
    let mut other = fixture.another();
    other.until_last("loopkeeper/status", |_| true, both);
    // Nor to an editor that opens the folder later.
    let empty = fixture.world.terminal.folder().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let mut late = start(fixture.world.terminal.command(&["--stdio"]), &empty, &json!({}));
    late.until_last("loopkeeper/status", |_| true, |it| it["loops"] == json!([]));
    let added = json!([{"uri": crate::support::lsp::uri(&fixture.path("")), "name": "work"}]);
    late.notify("workspace/didChangeWorkspaceFolders", &json!({"event": {"added": added, "removed": []}}));
    late.until_last("loopkeeper/status", |_| true, both);
    for editor in [&mut other, &mut late] {
        editor.request("loopkeeper/loops", &json!({}));
        assert_eq!(editor.count("loopkeeper/alert"), 0, "{:#?}", editor.messages());
    }
    // From here on it is a change.
    complete(&mut fixture);
    for editor in [&other, &late] {
        assert_eq!(editor.wait_for("loopkeeper/alert", |_| true)["loopId"], open.as_str());
    }
}

#[test]
fn progress_has_one_readable_token_and_an_end() {
    let mut fixture = EditorFixture::open(&far(&[WAITS]));
    let id = fixture.start("PROMPT.md");
    let created = fixture.editor.wait_for("window/workDoneProgress/create", |_| true);
    assert_eq!(created["token"], "ralph/PROMPT.md");
    let begun = fixture.editor.wait_for("$/progress", |it| it["value"]["kind"] == "begin");
    assert_eq!((&begun["token"], &begun["value"]["title"]), (&created["token"], &"Ralph PROMPT.md".into()));
    fixture.world.until_shared("up.1");
    fixture.editor.wait_for("$/progress", |it| {
        it["value"]["kind"] != "end" && it["value"]["message"].as_str().unwrap().starts_with("iteration 1/25")
    });
    fixture.done("stop", &json!({"loopId": id, "now": true}));
    let ended = fixture.editor.wait_for("$/progress", |it| it["value"]["kind"] == "end");
    assert!(ended["value"]["message"].as_str().unwrap().contains("topped"), "{ended}");
    assert_eq!(fixture.editor.count("window/workDoneProgress/create"), 1);
}

#[test]
fn an_unanswered_request_delays_no_other_message() {
    let mut fixture = EditorFixture::open(&far(&[WAITS]));
    for method in
        ["window/workDoneProgress/create", "workspace/codeLens/refresh", "client/registerCapability"]
    {
        fixture.editor.answers(method, Reply::Never);
    }
    let id = fixture.start("PROMPT.md");
    fixture.editor.wait_for("window/workDoneProgress/create", |_| true);
    fixture.world.until_shared("up.1");
    fixture.status(|it| it["loops"][0]["iteration"] == 1);
    fixture.show("PROMPT.md");
    fixture.type_into("PROMPT.md", 2, "# T\n\nDone when:\n\n- bad: `$ a` `$ b`\n");
    fixture.remarks("PROMPT.md", |it| has(it, "bad-check"));
    let asked = fixture.editor.arrivals("window/workDoneProgress/create")[0];
    let next = fixture.editor.arrivals("loopkeeper/status").into_iter().find(|it| *it > asked).unwrap();
    // The server's own timeout for such a client is five seconds.
    assert!(next - asked < Duration::from_millis(4500), "{:?}", next - asked);
    fixture.done("stop", &json!({"loopId": id, "now": true}));
    fixture.status(|it| is_in(it, &id, "done"));
    assert_eq!(fixture.editor.count("$/progress"), 0, "it did not say that it wants any");
}

#[test]
fn changed_lenses_are_refreshed() {
    let mut fixture = EditorFixture::open(&far(&[]));
    fixture.show("PROMPT.md");
    fixture.trust("PROMPT.md");
    let before = fixture.editor.count("workspace/codeLens/refresh");
    fixture.done("check", &json!({"task": "PROMPT.md"}));
    fixture.editor.until_count("workspace/codeLens/refresh", before + 1);
    let mut plain = EditorFixture::open_as(&far(&[]), &everything_but("workspace/codeLens"));
    plain.show("PROMPT.md");
    plain.done("check", &json!({"task": "PROMPT.md"}));
    plain.remarks("PROMPT.md", |it| has(it, "failing"));
    assert_eq!(plain.editor.count("workspace/codeLens/refresh"), 0);
}

#[test]
fn lenses_of_a_document_that_becomes_a_task_are_refreshed() {
    let mut fixture = EditorFixture::open(&far(&[WAITS]));
    fixture.status(|it| it["tasks"].as_array().unwrap().len() == 1);
    let text = "# Later\n\n## Done when\n\n- It is there: `exists x`\n";
    // As an editor shows a proposed task: the file does not exist before it is saved.
    let document =
        json!({"uri": fixture.uri("later.ralph.md"), "languageId": "markdown", "version": 1, "text": text});
    fixture.editor.notify("textDocument/didOpen", &json!({"textDocument": document}));
    let at = json!({"textDocument": {"uri": fixture.uri("later.ralph.md")}});
    fixture.editor.request("textDocument/codeLens", &at);
    settled(&fixture.editor);
    let before = fixture.editor.count("workspace/codeLens/refresh");
    fixture.save("later.ralph.md", text);
    fixture.editor.until_count("workspace/codeLens/refresh", before + 1);
    let lenses = fixture.editor.request("textDocument/codeLens", &at).to_string();
    assert!(lenses.contains("Start loop"), "{lenses}");
}

#[test]
fn agent_output_goes_to_subscribers() {
    let act = "touch $folder/up; until [ -f $folder/go ]; do sleep 0.02; done; \
               printf 'said\\033[31m red\\n'; until [ -f $folder/on ]; do sleep 0.02; done";
    let mut fixture = EditorFixture::open(&far(&[act]));
    let other = fixture.another();
    let id = fixture.start("PROMPT.md");
    fixture.world.until_shared("up");
    let on = fixture.editor.request("loopkeeper/subscribe", &json!({"loopId": &id[..13], "on": true}));
    assert_eq!(on["subscribed"], true);
    std::fs::write(fixture.world.shared("go"), "").unwrap();
    let said =
        fixture.editor.wait_for("loopkeeper/output", |it| it["text"].as_str().unwrap().contains("said"));
    assert_eq!((&said["loopId"], &said["iteration"]), (&id.as_str().into(), &1.into()));
    assert_eq!(said["text"], "said red\n");
    fixture.done("stop", &json!({"loopId": id, "now": true}));
    fixture.status(|it| is_in(it, &id, "done"));
    let off = fixture.editor.request("loopkeeper/subscribe", &json!({"loopId": id, "on": true}));
    assert_eq!(off["subscribed"], false, "nothing comes of an ended loop");
    assert_eq!(other.count("loopkeeper/output"), 0);
}
