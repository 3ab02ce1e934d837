//! `start`: its arguments, its refusals, and that an untrusted task starts nothing.

use serde_json::{Value, json};

use super::editor_fixture::{EditorFixture, everything_but, has, is_in};
use crate::scenarios::detached::{WAITS, go};
use crate::support::lsp::Reply;
use crate::support::scenario::Scenario;

/// Two criteria, one of them a command.
fn task<'a>(acts: &'a [&'a str]) -> Scenario<'a> {
    let criteria = &["It is made: `exists made`", "It counts: `$ test -e made`"];
    Scenario { criteria, acts, ..Scenario::default() }
}

const MAKES: &[&str] = &["touch made"];

#[test]
fn a_loop_runs_from_the_editor_to_its_end() {
    let mut fixture = EditorFixture::open(&task(MAKES));
    fixture.trust("PROMPT.md");
    let begun = fixture.done("start", &json!({"task": fixture.uri("PROMPT.md")}));
    let id = begun["loopId"].as_str().unwrap().to_owned();
    let here = begun["status"]["loops"].as_array().unwrap().iter().find(|it| it["id"] == id.as_str());
    assert!(here.is_some(), "the answer shows what was just started: {begun:#}");
    let status = fixture.status(|it| is_in(it, &id, "done"));
    assert_eq!(status["loops"][0]["outcome"]["verified"], true);
    assert_eq!(status["tasks"][0]["state"], "done");
    assert_eq!(status["tasks"][0]["loopId"], id.as_str());
    assert_eq!(status["tasks"][0]["criteria"]["passed"], 2);
}

#[test]
fn disabled_hooks_are_reported_once_at_the_start() {
    let message_of = |files: &[(&str, &str)]| {
        let files = [files, &[("fake.sh", "touch made\n")]].concat();
        let settings = "agent = [\"claude\"]\n[agents.claude]\ncommand = [\"/bin/sh\", \"fake.sh\"]\n";
        let mut fixture = EditorFixture::open(&Scenario { files: &files, settings, ..task(MAKES) });
        fixture.trust("PROMPT.md");
        let id = fixture.start("PROMPT.md");
        fixture.status(|it| is_in(it, &id, "done"));
        let warned = |it: &Value| it["method"] == "window/showMessage" && it["params"]["type"] == 2;
        let messages = fixture.editor.messages();
        messages.iter().filter(|it| warned(it)).map(|it| it["params"]["message"].clone()).collect::<Vec<_>>()
    };
    let off = message_of(&[(".claude/settings.json", "{\"disableAllHooks\": true}")]);
    let sentence = "`disableAllHooks` in .claude/settings.json switches the hooks of `claude` off: its subagents are counted and never refused";
    assert_eq!(off, [sentence]);
    assert!(message_of(&[(".claude/settings.json", "{\"disableAllHooks\": false}")]).is_empty());
}

#[test]
fn a_start_takes_limits_agent_and_anyway() {
    let mut fixture = EditorFixture::open(&task(&[WAITS]));
    fixture.trust("PROMPT.md");
    let limits = json!({"iterations": 3, "duration": "45m", "costUsd": 1.5});
    let begun = fixture.done("start", &json!({"task": "PROMPT.md", "agent": "mine", "limits": limits}));
    let status = &begun["status"]["loops"][0];
    assert_eq!(
        status["limits"],
        json!({"iterations": 3, "durationMs": 45 * 60 * 1000, "costMicros": 1_500_000, "callsPerHour": 100})
    );
    assert_eq!(status["agent"], "mine");
    let id = begun["loopId"].as_str().unwrap();
    fixture.world.until_shared("up.1");
    fixture.world.terminal.file("made", "");
    fixture.done("stop", &json!({"loopId": id, "now": true}));
    fixture.status(|it| is_in(it, id, "done"));
    // Everything already holds: only with `anyway` is there anything to do.
    let again = fixture.done("start", &json!({"task": "PROMPT.md"}));
    let id = again["loopId"].as_str().unwrap();
    let status = fixture.status(|it| is_in(it, id, "done"));
    assert_eq!((&status["loops"][0]["iteration"], fixture.world.starts()), (&0.into(), 1));
    fixture.world.acts(&["touch $folder/up.2; echo '<promise>COMPLETE</promise>'"]);
    fixture.done("start", &json!({"task": "PROMPT.md", "anyway": true}));
    fixture.world.until_shared("up.2");
}

#[test]
fn an_untrusted_start_starts_nothing_and_asks() {
    let mut fixture = EditorFixture::open(&task(MAKES));
    fixture.editor.answers("window/showMessageRequest", Reply::Never);
    let error = fixture.refused("start", &json!({"task": "PROMPT.md"}), "untrusted");
    let page = fixture.editor.request("loopkeeper/trustPage", &json!({"task": "PROMPT.md"}));
    let data = &error["data"];
    assert_eq!((&data["hash"], &data["count"], &data["asked"]), (&page["hash"], &2.into(), &true.into()));
    assert_eq!(data["task"], fixture.uri("PROMPT.md"));
    let question = fixture.editor.wait_for("window/showMessageRequest", |_| true);
    let titles: Vec<&str> =
        question["actions"].as_array().unwrap().iter().map(|it| it["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Show commands", "Trust and start", "Not now"]);
    assert!(question["message"].as_str().unwrap().contains("2 commands"));
    // The question stays unanswered and blocks nothing: not even a second start, which is the same question.
    fixture.refused("start", &json!({"task": "PROMPT.md"}), "untrusted");
    fixture.refused("start", &json!({"task": fixture.uri("PROMPT.md")}), "untrusted");
    fixture.editor.request("loopkeeper/loops", &json!({}));
    assert_eq!(fixture.editor.count("window/showMessageRequest"), 1, "asked once");
    assert!(fixture.world.loops().is_empty() && fixture.world.starts() == 0, "nothing was started");
}

#[test]
fn trust_is_granted_after_the_commands_are_shown() {
    let mut fixture = EditorFixture::open(&task(MAKES));
    fixture.editor.answers("window/showMessageRequest", Reply::By(|it| it["actions"][0].clone()));
    fixture.refused("start", &json!({"task": "PROMPT.md"}), "untrusted");
    // A client with our extensions gets the page with the question, and shows both while it is open.
    let about_page = |it: &Value| it["actions"][0].get("page").is_some();
    let question = fixture.editor.wait_for("window/showMessageRequest", about_page);
    let titles: Vec<_> = question["actions"].as_array().unwrap().iter().map(|it| &it["title"]).collect();
    assert_eq!(titles, ["Trust and start", "Not now"]);
    let page = fixture.editor.request("loopkeeper/trustPage", &json!({"task": "PROMPT.md"}));
    let shown = text(&question["actions"][0]["page"]);
    // The second line contains the number of trusted commands, which may have changed with the answer.
    let commands = |page: &str| page.splitn(3, '\n').nth(2).map(str::to_owned);
    assert_eq!(commands(&shown), commands(page["text"].as_str().unwrap()));
    assert_eq!(fixture.editor.count("window/showDocument"), 0);
    // Heading, the same count as in the question, and the criterion of each command.
    let root = fixture.path("").display().to_string();
    let heading =
        format!("\" would run in {}\n2 commands, none of them trusted yet.\n", root.trim_end_matches('/'));
    assert!(shown.starts_with("Commands that \"") && shown.contains(&heading), "{shown}");
    assert!(shown.contains("  \"It counts\"\n    test -e made\n") && !shown.contains("hash"), "{shown}");
    assert!(question["message"].as_str().unwrap().ends_with(" runs 2 commands you have not trusted yet."));
    let status = fixture.status(|it| it["loops"][0]["state"] == "done");
    assert_eq!(status["tasks"][0]["unknownCommands"], 0);
    assert!(fixture.editor.request("loopkeeper/trustPage", &json!({"task": "PROMPT.md"}))["trusted"] == true);
}

#[test]
fn commands_changed_after_display_are_not_trusted() {
    let mut fixture = EditorFixture::open_as(&task(MAKES), &everything_but("experimental"));
    fixture.editor.answers("window/showMessageRequest", Reply::With(json!({"title": "Show commands"})));
    fixture.refused("start", &json!({"task": "PROMPT.md"}), "untrusted");
    fixture.editor.wait_for("window/showDocument", |_| true);
    let text = fixture.world.terminal.read("PROMPT.md").replace("test -e made", "test -e made || true");
    fixture.world.terminal.file("PROMPT.md", &text);
    fixture.editor.answers("window/showMessageRequest", Reply::With(json!({"title": "Trust and start"})));
    let warned = fixture.editor.wait_for("window/showMessage", |it| it["type"] == 2);
    assert!(warned["message"].as_str().unwrap().contains("changed"), "{warned}");
    assert!(fixture.world.loops().is_empty());
    // It is not stuck: the next start asks again.
    fixture.editor.answers("window/showMessageRequest", Reply::With(Value::Null));
    fixture.refused("start", &json!({"task": "PROMPT.md"}), "untrusted");
}

#[test]
fn a_dismissed_question_starts_nothing() {
    for answer in [json!({"title": "Not now"}), Value::Null] {
        let mut fixture = EditorFixture::open(&task(MAKES));
        fixture.editor.answers("window/showMessageRequest", Reply::With(answer));
        fixture.refused("start", &json!({"task": "PROMPT.md"}), "untrusted");
        fixture.editor.wait_for("window/showMessageRequest", |_| true);
        fixture.editor.request("loopkeeper/loops", &json!({}));
        // Asked again on the next request.
        fixture.refused("start", &json!({"task": "PROMPT.md"}), "untrusted");
        fixture.editor.until_count("window/showMessageRequest", 2);
        assert!(fixture.world.loops().is_empty());
    }
}

#[test]
fn a_client_that_cannot_be_asked_is_warned() {
    let mut fixture = EditorFixture::open_as(&task(MAKES), &everything_but("window/showMessage"));
    fixture.editor.answers("window/showDocument", Reply::With(json!({"success": true})));
    let error = fixture.refused("start", &json!({"task": "PROMPT.md"}), "untrusted");
    assert_eq!(error["data"]["asked"], false);
    let warned = fixture.editor.wait_for("window/showMessage", |it| it["type"] == 2);
    let message = warned["message"].as_str().unwrap();
    let refused = error["message"].as_str().unwrap();
    assert!(refused.starts_with("Not started: 2 commands of \""), "{refused}");
    // What to do is within the first 80 columns, which Helix shows.
    let action = "Read the commands, then choose the code action \"Trust the commands shown\".";
    assert_eq!(message, format!("{action} {refused}"));
    assert!(action.len() < 80);
    assert!(fixture.editor.messages().iter().all(|it| it["method"] != "window/showMessageRequest"));
}

/// *Trust the commands shown*, if it is offered.
fn trust_shown(fixture: &mut EditorFixture) -> Option<Value> {
    let start = json!({"line": 0, "character": 0});
    let context = json!({"diagnostics": fixture.remarks("PROMPT.md", |it| has(it, "needs-trust"))});
    let document = json!({"uri": fixture.uri("PROMPT.md")});
    let range = json!({"start": start, "end": start});
    let params = json!({"textDocument": document, "range": range, "context": context});
    let actions = fixture.editor.request("textDocument/codeAction", &params);
    let all = actions.as_array().unwrap();
    all.iter().find(|it| it["title"] == "Trust the commands shown").cloned()
}

#[test]
fn an_editor_that_cannot_be_asked_needs_no_terminal() {
    let mut all = everything_but("window/showMessage");
    let kinds = json!({"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source"]}}});
    all["capabilities"]["textDocument"]["codeAction"] = kinds;
    let mut fixture = EditorFixture::open_as(&task(MAKES), &all);
    fixture.show("PROMPT.md");
    assert_eq!(trust_shown(&mut fixture), None, "nothing was shown yet");
    fixture.refused("start", &json!({"task": "PROMPT.md"}), "untrusted");
    fixture.editor.wait_for("window/showDocument", |_| true);
    fixture.editor.wait_for("window/showMessage", |it| it["type"] == 2);
    let stale = trust_shown(&mut fixture).expect("an action");
    assert_eq!(stale["kind"], "quickfix");
    assert_eq!(stale["diagnostics"][0]["code"], "needs-trust");
    let argument = &stale["command"]["arguments"][0];
    let page = fixture.editor.request("loopkeeper/trustPage", &json!({"task": "PROMPT.md"}));
    assert_eq!(argument["hash"], page["hash"]);
    // Changes after the page was shown are refused, and need to be reviewed again.
    let text = fixture.world.terminal.read("PROMPT.md");
    fixture.save("PROMPT.md", &text.replace("test -e made", "test -e made || true"));
    let error = fixture.refused("trust", argument, "conflict");
    assert!(error["message"].as_str().unwrap().contains("changed after the page was shown"), "{error}");
    assert_eq!(trust_shown(&mut fixture), None, "the page shows what is not so any more");
    fixture.save("PROMPT.md", &text);
    fixture.done("trust", &json!({"task": "PROMPT.md"}));
    fixture.editor.until_count("window/showMessage", 2);
    let action = trust_shown(&mut fixture).expect("an action");
    fixture.done("trust", &action["command"]["arguments"][0]);
    fixture.done("start", &json!({"task": "PROMPT.md"}));
    fixture.status(|it| it["loops"][0]["state"] == "done");
}

/// Eglot's capabilities: it answers questions without having announced it.
fn eglot() -> Value {
    let mut all = everything_but("window/showMessage");
    all["capabilities"].as_object_mut().unwrap().remove("experimental");
    all["clientInfo"] = json!({"name": "Eglot"});
    all
}

#[test]
fn the_first_offered_answer_does_nothing() {
    let nothing: [fn(&Value) -> Value; 4] = [
        |it| it["actions"][0].clone(),
        |_| json!({"title": ""}),
        |_| Value::Null,
        |_| json!({"title": "Trust"}),
    ];
    for answer in nothing {
        let mut fixture = EditorFixture::open_as(&task(MAKES), &eglot());
        fixture.editor.answers("window/showMessageRequest", Reply::By(answer));
        let error = fixture.refused("start", &json!({"task": "PROMPT.md"}), "untrusted");
        assert_eq!(error["data"]["asked"], true);
        let question = fixture.editor.wait_for("window/showMessageRequest", |_| true);
        assert_eq!(question["actions"], json!([{"title": "Not now"}, {"title": "Trust and start"}]));
        assert_eq!(fixture.editor.count("window/showDocument"), 1, "the page is shown first");
        // A dismissed prompt does not prevent the next question.
        fixture.refused("start", &json!({"task": "PROMPT.md"}), "untrusted");
        fixture.editor.until_count("window/showMessageRequest", 2);
        assert!(fixture.world.loops().is_empty());
    }
    let mut fixture = EditorFixture::open_as(&task(MAKES), &eglot());
    fixture.editor.answers("window/showMessageRequest", Reply::By(|it| it["actions"][1].clone()));
    fixture.refused("start", &json!({"task": "PROMPT.md"}), "untrusted");
    fixture.world.until("end", |it| it["type"] == "ended");
}

#[test]
fn an_editor_without_trust_starts_nothing_whatever_is_stored() {
    let mut fixture = EditorFixture::open(&task(&[WAITS]));
    let id = fixture.start("PROMPT.md");
    let root = fixture.world.root();
    let message_of = json!({"initializationOptions": {"trusted": false}});
    let server = fixture.world.terminal.command(&["--stdio"]);
    let mut wary = super::editor_fixture::start(server, &root, &message_of);
    let status = wary.until_last("loopkeeper/status", |_| true, |it| !it["loops"][0].is_null());
    assert_eq!(status["trusted"], false);
    for (command, argument) in [
        ("start", json!({"task": "PROMPT.md"})),
        ("check", json!({"task": "PROMPT.md"})),
        ("resume", json!({"loopId": id})),
        ("resetBreaker", json!({"loopId": id})),
        ("trust", json!({"task": "PROMPT.md", "hash": "0"})),
    ] {
        let error = super::editor_fixture::refused(&mut wary, command, &argument, "untrusted");
        assert_eq!(error["data"]["asked"], false, "{command}");
    }
    // A running loop can be stopped.
    fixture.world.until_shared("up.1");
    super::editor_fixture::done(&mut wary, "stop", &json!({"loopId": id, "now": true}));
    wary.until_last("loopkeeper/status", |_| true, |it| is_in(it, &id, "done"));
    assert_eq!(fixture.world.loops().len(), 1);
}

#[test]
fn unsaved_documents_are_named() {
    let files = [("fix_plan.md", "- [ ] one\n")];
    let mut fixture = EditorFixture::open(&Scenario { files: &files, ..task(MAKES) });
    fixture.trust("PROMPT.md");
    for path in ["PROMPT.md", "fix_plan.md", "loopkeeper.toml"] {
        let saved = fixture.world.terminal.read(path);
        fixture.show(path);
        fixture.type_into(path, 2, &format!("{saved}\n# more\n"));
        for command in ["start", "check"] {
            let error = fixture.refused(command, &json!({"task": "PROMPT.md"}), "unsaved");
            assert_eq!(error["data"]["uri"], fixture.uri(path));
        }
        fixture.type_into(path, 3, &saved);
        fixture.close(path);
    }
    fixture.done("start", &json!({"task": "PROMPT.md"}));
}

#[test]
fn a_start_in_a_busy_tree_names_its_loop() {
    let other = ("other.ralph.md", "# Other\n\nDone when:\n\n- `exists other`\n");
    let files =
        [other, ("sub/loopkeeper.toml", ""), ("sub/PROMPT.md", "# Sub\n\nDone when:\n\n- `exists x`\n")];
    let mut fixture = EditorFixture::open(&Scenario { files: &files, ..task(&[WAITS]) });
    let (task, other) = (fixture.uri("PROMPT.md"), fixture.uri("other.ralph.md"));
    let id = fixture.start(&task);
    fixture.trust(&other);
    for (command, task) in [("start", &task), ("start", &other), ("check", &other)] {
        let error = fixture.refused(command, &json!({"task": task}), "treeBusy");
        assert_eq!(error["data"]["holder"], id.as_str(), "{command} {task}");
    }
    // A root inside it is the same tree.
    let nested = fixture.uri("sub/PROMPT.md");
    let error = fixture.refused("check", &json!({"task": nested}), "treeBusy");
    assert_eq!(error["data"]["holder"], id.as_str());
    assert_eq!(fixture.world.loops().len(), 1);
    fixture.world.until_shared("up.1");
    go(&fixture.world, 1);
}

#[test]
fn one_of_two_concurrent_starts_is_refused() {
    let mut fixture = EditorFixture::open(&task(&[WAITS]));
    fixture.trust("PROMPT.md");
    let mut other = fixture.another();
    let call = json!({"command": "loopkeeper.server.start", "arguments": [{"task": "PROMPT.md"}]});
    let one = fixture.editor.ask("workspace/executeCommand", &call);
    let two = other.ask("workspace/executeCommand", &call);
    let answers = [fixture.editor.answer(one), other.answer(two)];
    let id = answers.iter().find_map(|it| it["result"]["loopId"].as_str()).expect("one starts");
    let error = answers.iter().find(|it| it.get("error").is_some()).expect("one is refused");
    assert_eq!(error["error"]["data"]["code"], "treeBusy", "{error:#}");
    assert_eq!(error["error"]["data"]["holder"], id);
    assert_eq!(fixture.world.loops().len(), 1, "nothing is left behind");
}

#[test]
fn unknown_and_ambiguous_tasks_are_refused() {
    let files = [
        ("sub/loopkeeper.toml", ""),
        ("sub/PROMPT.md", "# Sub\n\nDone when:\n\n- `exists x`\n"),
        ("notes.md", "# Notes\n"),
    ];
    let mut fixture = EditorFixture::open(&Scenario { files: &files, ..task(MAKES) });
    let ambiguous = fixture.refused("start", &json!({"task": "PROMPT.md"}), "noTask");
    assert!(ambiguous["message"].as_str().unwrap().contains("Several opened folders"), "{ambiguous}");
    let notes = fixture.uri("notes.md");
    for task in ["none.md", "", "file:///no/where/PROMPT.md", &notes, "untitled:Untitled-1", "%00", "../x"] {
        for command in ["start", "check", "output", "untrust"] {
            fixture.refused(command, &json!({"task": task}), "noTask");
        }
        fixture.refused("trust", &json!({"task": task, "hash": "x"}), "noTask");
        assert_eq!(
            fixture.editor.call("loopkeeper/trustPage", &json!({"task": task}))["error"]["data"]["code"],
            "noTask"
        );
    }
}

#[test]
fn a_missing_agent_is_refused() {
    let mut fixture = EditorFixture::open(&task(MAKES));
    fixture.trust("PROMPT.md");
    for (agent, code) in [
        ("claude-that-is-not-there", "badArgument"),
        ("/no/such/agent", "agentMissing"),
        ("codex", "agentMissing"),
    ] {
        fixture.refused("start", &json!({"task": "PROMPT.md", "agent": agent}), code);
    }
    fixture.world.settings("", "command = [\"no-such-program-anywhere\"]");
    fixture.refused("start", &json!({"task": "PROMPT.md"}), "agentMissing");
    assert!(fixture.world.loops().is_empty());
}

#[test]
fn invalid_arguments_are_refused() {
    let mut fixture = EditorFixture::open(&task(MAKES));
    fixture.trust("PROMPT.md");
    let start = |more: Value| {
        let mut argument = json!({"task": "PROMPT.md"});
        for (key, value) in more.as_object().unwrap() {
            argument[key] = value.clone();
        }
        argument
    };
    for argument in [
        Value::Null,
        json!([]),
        json!("PROMPT.md"),
        json!(7),
        json!({}),
        json!({"task": null}),
        json!({"task": ["PROMPT.md"]}),
        start(json!({"limits": 3})),
        start(json!({"limits": null})),
        start(json!({"limits": {"iterations": 0}})),
        start(json!({"limits": {"iterations": -1}})),
        start(json!({"limits": {"iterations": 1.5}})),
        start(json!({"limits": {"iterations": 5_000_000_000_u64}})),
        start(json!({"limits": {"iterations": "3"}})),
        start(json!({"limits": {"duration": 3}})),
        start(json!({"limits": {"duration": "soon"}})),
        start(json!({"limits": {"duration": "0s"}})),
        start(json!({"limits": {"costUsd": "1"}})),
        start(json!({"limits": {"costUsd": 0}})),
        start(json!({"limits": {"costUsd": -1}})),
        start(json!({"limits": {"costUsd": 1e300}})),
        start(json!({"anyway": "yes"})),
        start(json!({"agent": 7})),
        start(json!({"agent": "./agent.sh"})),
    ] {
        fixture.refused("start", &argument, "badArgument");
    }
    for arguments in [json!([]), json!([{"task": "PROMPT.md"}, {}])] {
        let call = json!({"command": "loopkeeper.server.start", "arguments": arguments});
        let answer = fixture.editor.call("workspace/executeCommand", &call);
        assert_eq!(answer["error"]["data"]["code"], "badArgument", "{answer:#}");
    }
    let bare = json!({"command": "loopkeeper.server.start"});
    assert_eq!(
        fixture.editor.call("workspace/executeCommand", &bare)["error"]["data"]["code"],
        "badArgument"
    );
    for command in ["no", "Start", "start ", ""] {
        fixture.refused(command, &json!({}), "unsupported");
    }
    assert!(fixture.world.loops().is_empty());
}

#[test]
fn a_broken_configuration_or_task_is_named_with_its_place() {
    let mut fixture = EditorFixture::open(&task(MAKES));
    fixture.trust("PROMPT.md");
    let good = fixture.world.terminal.read("loopkeeper.toml");
    for (broken, part) in [
        ("agent = \n", "loopkeeper.toml"),
        ("[limits]\niterations = 0\n", "iterations"),
        ("limitz = 1\n", "limitz"),
    ] {
        fixture.world.terminal.file("loopkeeper.toml", broken);
        for command in ["start", "check"] {
            let error = fixture.refused(command, &json!({"task": "PROMPT.md"}), "badArgument");
            assert!(error["message"].as_str().unwrap().contains(part), "{error}");
        }
    }
    fixture.world.terminal.file("loopkeeper.toml", &good);
    let text = fixture.world.terminal.read("PROMPT.md");
    fixture.world.terminal.file("PROMPT.md", &format!("{text}- broken: `$ `\n- twice: `$ a` `$ b`\n"));
    let error = fixture.refused("start", &json!({"task": "PROMPT.md"}), "badArgument");
    assert_eq!(error["message"], "PROMPT.md has 2 errors; nothing was started.");
    assert_eq!(
        (&error["data"]["uri"], &error["data"]["count"]),
        (&json!(fixture.uri("PROMPT.md")), &json!(2))
    );
    let first = text.lines().count();
    assert_eq!(error["data"]["line"], first);
    fixture
        .world
        .terminal
        .file("PROMPT.md", &text)
        .file("loopkeeper.toml", "[limits]\niterations = 0\nduration = 7\nx = 1\n");
    let error = fixture.refused("start", &json!({"task": "PROMPT.md"}), "badArgument");
    assert_eq!(error["message"], "loopkeeper.toml has 3 errors; nothing was started.");
    let data = &error["data"];
    assert_eq!(
        (&data["uri"], &data["line"], &data["count"]),
        (&json!(fixture.uri("loopkeeper.toml")), &json!(1), &json!(3))
    );
    assert!(fixture.world.loops().is_empty());
}

#[test]
fn trust_counts_for_exactly_what_was_shown() {
    let mut fixture = EditorFixture::open(&task(MAKES));
    fixture.refused("trust", &json!({"task": "PROMPT.md", "hash": "0".repeat(64)}), "conflict");
    fixture.refused("trust", &json!({"task": "PROMPT.md", "hash": 7}), "badArgument");
    let page = fixture.editor.request("loopkeeper/trustPage", &json!({"task": "PROMPT.md"}));
    assert_eq!((&page["trusted"], page["commands"].as_array().unwrap().len()), (&false.into(), 2));
    let status = fixture.done("trust", &json!({"task": "PROMPT.md", "hash": page["hash"]}));
    assert_eq!(status["status"]["tasks"][0]["unknownCommands"], 0);
    let status = fixture.done("untrust", &json!({"task": "PROMPT.md"}));
    assert_eq!(status["status"]["tasks"][0]["unknownCommands"], 2);
    fixture.editor.answers("window/showMessageRequest", Reply::Never);
    fixture.refused("start", &json!({"task": "PROMPT.md"}), "untrusted");
    fixture.refused("check", &json!({"task": "PROMPT.md"}), "untrusted");
    assert!(fixture.world.loops().is_empty());
}

/// Contents of the file at a URI.
pub(super) fn text(uri: &Value) -> String {
    let path = lsp_types::Url::parse(uri.as_str().unwrap()).unwrap().to_file_path().unwrap();
    std::fs::read_to_string(path).unwrap()
}
