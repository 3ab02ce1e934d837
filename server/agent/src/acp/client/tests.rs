//! Conversations with captured agents and with misbehaving ones.

mod permissions;

use serde_json::{Value, json};

use super::{AcpAction, AcpClient, AcpState, PromptParams};
use crate::PermissionMode;
use crate::acp::policy::PermissionPolicy;
use crate::acp::start::BridgeOptions;
use crate::transcripts::captured;

fn params(permissions: PermissionMode, session: Option<&str>) -> PromptParams {
    let policy = PermissionPolicy {
        permissions,
        commands: vec!["sh test.sh".to_owned()],
        runner: None,
        commits: false,
    };
    PromptParams {
        options: BridgeOptions { policy, model: None, effort: None },
        folder: "/tree".to_owned(),
        prompt: "Do it.".to_owned(),
        session: session.map(str::to_owned),
        held: false,
    }
}

fn receive(client: &mut AcpClient, update: &Value) -> Vec<AcpAction> {
    client.handle_line(&update.to_string(), &|path| path.starts_with("/tree/"))
}

/// Everything that a captured agent sent, with our reactions.
fn replay(capture: &str, permissions: PermissionMode) -> (AcpClient, Vec<AcpAction>) {
    let (mut client, mut actions) = AcpClient::begin(params(permissions, None));
    for line in capture.lines() {
        actions.extend(client.handle_line(line, &|path| path.starts_with("/tree/")));
    }
    (client, actions)
}

fn sent(actions: &[AcpAction]) -> Vec<String> {
    let method = |it: &AcpAction| match it {
        AcpAction::Send(message) => {
            let answer =
                || message.pointer("/result/outcome/optionId").unwrap_or(&message["error"]["message"]);
            Some(message.get("method").unwrap_or_else(answer).as_str().unwrap_or("-").to_owned())
        }
        _ => None,
    };
    actions.iter().filter_map(method).collect()
}

fn of_kind(actions: &[AcpAction], kind: &str) -> Vec<Value> {
    let is_it = |it: &&AcpAction| matches!(it, AcpAction::Report(line) if line["type"] == kind);
    let line = |it: &AcpAction| match it {
        AcpAction::Report(line) => line.clone(),
        _ => Value::Null,
    };
    actions.iter().filter(is_it).map(line).collect()
}

fn answer(id: u64, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn opened(session: Option<&str>, capabilities: &Value) -> (AcpClient, Vec<AcpAction>) {
    let (mut client, mut actions) = AcpClient::begin(params(PermissionMode::Edits, session));
    let greeting = json!({"protocolVersion": 1, "agentCapabilities": capabilities});
    actions.extend(receive(&mut client, &answer(1, &greeting)));
    (client, actions)
}

/// A client in the middle of a turn.
fn working() -> AcpClient {
    let (mut client, _) = opened(None, &json!({}));
    receive(&mut client, &answer(2, &json!({"sessionId": "S"})));
    assert_eq!(client.state(), AcpState::Prompting);
    client
}

#[test]
fn captured_sessions_run_to_the_end_of_the_turn() {
    use PermissionMode::{All, Edits};
    let check = |name: &str, capture: &str, permissions: PermissionMode, expect: &[&str], turn: &Value| {
        let (client, actions) = replay(capture, permissions);
        assert_eq!(client.state(), AcpState::Ended, "{name}");
        let before = ["initialize", "session/new", "session/prompt"];
        assert_eq!(sent(&actions), [&before, expect].concat(), "{name}");
        assert_eq!(of_kind(&actions, "turn"), std::slice::from_ref(turn), "{name}");
        assert_eq!(actions.iter().filter(|it| **it == AcpAction::End { well: true }).count(), 1, "{name}");
        actions
    };
    let gemini = captured!("acp", "gemini");
    let turn = json!({"type": "turn", "stopReason": "end_turn", "tokens": 240});
    check("gemini", gemini, All, &["proceed_once"], &turn);
    let actions = check("gemini", gemini, Edits, &["cancel"], &turn);
    let denied = of_kind(&actions, "denied");
    assert_eq!(denied[0]["what"], "run: echo acp > acp.txt");
    // It reports the tokens of only one of two answers.
    let turn = json!({"type": "turn", "stopReason": "end_turn", "costMicros": 1200});
    check("opencode", captured!("acp", "opencode"), Edits, &[], &turn);
    let turn = json!({"type": "turn", "stopReason": "end_turn", "tokens": 240, "costMicros": 1600});
    check("claude", captured!("acp", "claude-agent-acp"), All, &["allow-once"], &turn);
    let actions = check("claude", captured!("acp", "claude-agent-acp"), Edits, &["reject"], &turn);
    assert_eq!(of_kind(&actions, "denied").len(), 1);
}

#[test]
fn no_capability_is_offered_to_the_agent() {
    let (_, actions) = AcpClient::begin(params(PermissionMode::All, None));
    let AcpAction::Send(greeting) = &actions[0] else { panic!("{actions:?}") };
    let capabilities = json!({"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false});
    assert_eq!(greeting["params"]["clientCapabilities"], capabilities);
    let mut client = working();
    for method in ["fs/read_text_file", "terminal/create", "elicitation/create", "_x/y"] {
        let actions =
            receive(&mut client, &json!({"jsonrpc": "2.0", "id": "a", "method": method, "params": {}}));
        let [AcpAction::Send(answer)] = actions.as_slice() else { panic!("{actions:?}") };
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("a"), &json!(-32_601)), "{method}");
    }
}

#[test]
fn a_write_through_the_client_counts_as_an_edit() {
    let mut client = working();
    let write = |path: &str| {
        let params = json!({"sessionId": "S", "path": path, "content": "x"});
        json!({"jsonrpc": "2.0", "id": 7, "method": "fs/write_text_file", "params": params})
    };
    let actions = receive(&mut client, &write("/tree/a"));
    assert_eq!(
        actions,
        [AcpAction::Write { id: json!(7), path: "/tree/a".to_owned(), text: "x".to_owned() }]
    );
    for path in ["/etc/a", ""] {
        let actions = receive(&mut client, &write(path));
        assert_eq!((of_kind(&actions, "denied").len(), actions.len()), (1, 2), "{actions:?}");
    }
    let AcpAction::Send(answer) = AcpClient::write_response(&json!(7), None) else { panic!() };
    assert_eq!((&answer["id"], answer.get("error")), (&json!(7), None));
    let AcpAction::Send(answer) = AcpClient::write_response(&json!(7), Some("disk full")) else { panic!() };
    assert_eq!(answer["error"]["message"], "disk full");
}

#[test]
fn a_session_is_resumed_where_the_agent_supports_it() {
    let check = |capabilities: Value, expect: &str| {
        let (mut client, actions) = opened(Some("old"), &capabilities);
        assert_eq!(sent(&actions), ["initialize", expect]);
        let actions = receive(&mut client, &answer(2, &json!({})));
        assert_eq!(of_kind(&actions, "session")[0]["id"], "old");
        // Replayed messages are not reported again, and their cost is not charged again.
        let chunk = json!({"type": "update", "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "old"}});
        let usage = |amount: f64| json!({"type": "update", "sessionUpdate": "usage_update", "cost": {"amount": amount, "currency": "USD"}});
        let update =
            |it: Value| json!({"jsonrpc": "2.0", "method": "session/update", "params": {"update": it}});
        assert_eq!(receive(&mut client, &update(chunk)), []);
        assert_eq!(receive(&mut client, &update(usage(0.5))), []);
        assert_eq!(client.state(), AcpState::Replay);
        assert_eq!(sent(&client.handle_silence()), ["session/prompt"]);
        assert_eq!(client.handle_silence(), []);
        receive(&mut client, &update(usage(0.75)));
        let actions = receive(&mut client, &answer(3, &json!({"stopReason": "end_turn"})));
        assert_eq!(of_kind(&actions, "turn")[0]["costMicros"], 250_000);
    };
    check(json!({"loadSession": true}), "session/load");
    check(json!({"loadSession": true, "sessionCapabilities": {"resume": {}}}), "session/resume");
    check(json!({"loadSession": true, "sessionCapabilities": {"resume": null}}), "session/load");

    for capabilities in [json!({}), json!({"loadSession": false})] {
        let (client, actions) = opened(Some("old"), &capabilities);
        assert_eq!(client.state(), AcpState::Ended);
        let note = AcpAction::Log("Session not found: it cannot continue a session".to_owned());
        assert!(actions.contains(&note), "{actions:?}");
    }
    let (mut client, _) = opened(Some("old"), &json!({"loadSession": true}));
    let error = json!({"jsonrpc": "2.0", "id": 2, "error": {"code": -32602, "message": "no such session"}});
    let actions = receive(&mut client, &error);
    assert!(
        actions.contains(&AcpAction::Log("Session not found: no such session".to_owned())),
        "{actions:?}"
    );
}

#[test]
fn a_held_session_receives_the_next_prompt() {
    let params = PromptParams { held: true, ..params(PermissionMode::Edits, None) };
    let (mut client, _) = AcpClient::begin(params);
    receive(&mut client, &answer(1, &json!({"protocolVersion": 1})));
    receive(&mut client, &answer(2, &json!({"sessionId": "S"})));
    let over = |reason: &str| json!({"stopReason": reason, "usage": {"totalTokens": 10}});
    let actions = receive(&mut client, &answer(3, &over("end_turn")));
    assert_eq!(actions.last(), Some(&AcpAction::NextPrompt { session: "S".to_owned() }));
    let actions = client.resume_or_end(Some("More."));
    let [AcpAction::Send(message)] = actions.as_slice() else { panic!("{actions:?}") };
    assert_eq!((&message["id"], &message["params"]["prompt"][0]["text"]), (&json!(4), &json!("More.")));
    // Tokens are reported as totals.
    let actions = receive(&mut client, &answer(4, &over("end_turn")));
    assert_eq!(of_kind(&actions, "turn")[0]["tokens"], 20);
    assert_eq!(client.resume_or_end(None), [AcpAction::End { well: true }]);
    assert_eq!(client.resume_or_end(Some("Too late.")), [AcpAction::End { well: true }]);
}

#[test]
fn a_refused_turn_ends_the_held_session() {
    let params = PromptParams { held: true, ..params(PermissionMode::Edits, None) };
    let (mut client, _) = AcpClient::begin(params);
    receive(&mut client, &answer(1, &json!({"protocolVersion": 1})));
    receive(&mut client, &answer(2, &json!({"sessionId": "S"})));
    let actions = receive(&mut client, &answer(3, &json!({"stopReason": "refusal"})));
    assert_eq!((actions.last(), client.state()), (Some(&AcpAction::End { well: true }), AcpState::Ended));
}

#[test]
fn the_configured_model_and_effort_are_set_before_the_prompt() {
    let start = |options: BridgeOptions, opened: &Value| {
        let (mut client, _) =
            AcpClient::begin(PromptParams { options, ..params(PermissionMode::Edits, None) });
        receive(&mut client, &answer(1, &json!({"protocolVersion": 1})));
        let actions = receive(&mut client, &answer(2, opened));
        (client, actions)
    };
    let policy = || params(PermissionMode::Edits, None).options.policy;
    let bridge_options = |model: Option<&str>, effort: Option<&str>| BridgeOptions {
        policy: policy(),
        model: model.map(str::to_owned),
        effort: effort.map(str::to_owned),
    };
    let options = json!([{"id": "m", "category": "model", "currentValue": "a"}, {"id": "t", "category": "thought_level"}]);
    let (mut client, actions) = start(
        bridge_options(Some("big"), Some("high")),
        &json!({"sessionId": "S", "configOptions": options}),
    );
    assert_eq!(of_kind(&actions, "session")[0]["model"], "big");
    let Some(AcpAction::Send(first)) = actions.last() else { panic!("{actions:?}") };
    assert_eq!(first["params"], json!({"sessionId": "S", "configId": "m", "value": "big"}));
    let actions = receive(&mut client, &answer(3, &json!({})));
    let [AcpAction::Send(second)] = actions.as_slice() else { panic!("{actions:?}") };
    assert_eq!(second["params"], json!({"sessionId": "S", "configId": "t", "value": "high"}));
    assert_eq!(sent(&receive(&mut client, &answer(4, &json!({})))), ["session/prompt"]);

    let models = json!({"sessionId": "S", "models": {"currentModelId": "auto"}});
    let (_, actions) = start(bridge_options(Some("big"), None), &models);
    assert_eq!(sent(&actions), ["session/set_model"]);
    let (_, actions) = start(bridge_options(None, None), &models);
    assert_eq!(of_kind(&actions, "session")[0]["model"], "auto");
    let (client, actions) = start(bridge_options(None, Some("high")), &models);
    assert_eq!(client.state(), AcpState::Ended);
    assert!(
        of_kind(&actions, "failed")[0]["message"].as_str().is_some_and(|it| it.contains("`effort`")),
        "{actions:?}"
    );
}

#[test]
fn wrong_versions_errors_and_timeouts_end_the_conversation() {
    let (mut client, _) = AcpClient::begin(params(PermissionMode::Edits, None));
    let actions = receive(&mut client, &answer(1, &json!({"protocolVersion": 2})));
    assert!(
        of_kind(&actions, "failed")[0]["message"].as_str().is_some_and(|it| it.contains("version 2")),
        "{actions:?}"
    );
    assert_eq!(actions.last(), Some(&AcpAction::End { well: false }));
    // Nothing more is sent to an agent after its end.
    assert_eq!(receive(&mut client, &answer(1, &json!({"protocolVersion": 1}))), []);

    let (mut client, _) = opened(None, &json!({}));
    let error = json!({"code": -32000, "message": "Authentication required", "data": {"details": "no key"}});
    let actions = receive(&mut client, &json!({"jsonrpc": "2.0", "id": 2, "error": error}));
    let failed = &of_kind(&actions, "failed")[0];
    assert_eq!((&failed["code"], &failed["data"]["details"]), (&json!(-32_000), &json!("no key")));

    let (mut client, _) = AcpClient::begin(params(PermissionMode::Edits, None));
    let actions = client.handle_timeout(120);
    assert!(
        of_kind(&actions, "failed")[0]["message"].as_str().is_some_and(|it| it.contains("120 s")),
        "{actions:?}"
    );
}

#[test]
fn lines_that_are_not_messages_are_passed_through() {
    let mut client = working();
    for noise in ["Loading…", "{\"type\":\"x\"}", "[1]", "{"] {
        assert_eq!(client.handle_line(noise, &|_| true), [AcpAction::Log(noise.to_owned())]);
    }
    for ignored in [
        json!({"jsonrpc": "2.0", "method": "_auth/status_update", "params": {}}),
        json!({"jsonrpc": "2.0", "id": 99, "result": {}}),
        json!({"jsonrpc": "2.0", "method": "session/update", "params": null}),
        json!({"jsonrpc": "2.0", "method": "session/update", "params": {"update": {"type": "turn"}}}),
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700}}),
    ] {
        assert_eq!(receive(&mut client, &ignored), [], "{ignored}");
    }
    assert_eq!(client.handle_line("", &|_| true), []);
    assert_eq!(client.state(), AcpState::Prompting);
}

#[test]
fn only_a_running_turn_is_cancelled() {
    let cancelled = working().cancel();
    let [AcpAction::Send(message)] = cancelled.as_slice() else { panic!("{cancelled:?}") };
    assert_eq!((&message["method"], message.get("id")), (&json!("session/cancel"), None));
    assert_eq!(AcpClient::begin(params(PermissionMode::Edits, None)).0.cancel(), []);
}

#[test]
fn long_texts_of_tools_are_cut_before_they_are_reported() {
    let mut client = working();
    let long = "é".repeat(20_000);
    let update = json!({"type": "update", "sessionUpdate": "tool_call", "toolCallId": "1", "rawInput": {"content": long}});
    let actions = receive(
        &mut client,
        &json!({"jsonrpc": "2.0", "method": "session/update", "params": {"update": update}}),
    );
    let [AcpAction::Report(report)] = actions.as_slice() else { panic!("{actions:?}") };
    assert!(
        report["rawInput"]["content"].as_str().is_some_and(|it| it.len() == super::MAX_TEXT_BYTES),
        "{report}"
    );
}

#[test]
fn a_failure_has_the_same_class_in_every_language() {
    use crate::kind::Dialect;
    use crate::reader::AgentOutputReader;
    use crate::{AgentEvent, ProviderClass};
    use loopkeeper_text::language::Language;

    let failed = |actions: Vec<AcpAction>| {
        let line = of_kind(&actions, "failed").remove(0).to_string();
        match AgentOutputReader::new(Dialect::Acp).read_line(&line).pop() {
            Some(AgentEvent::Turn(turn)) => turn.error.map(|it| (it.class, it.message)),
            other => panic!("{other:?}"),
        }
    };
    let check = |expect: &str, act: &dyn Fn(&mut AcpClient) -> Vec<AcpAction>| {
        let found = |language: Language| {
            language.during(|| failed(act(&mut AcpClient::begin(params(PermissionMode::Edits, None)).0)))
        };
        let (english, chinese) =
            (found(Language::English).unwrap(), found(Language::SimplifiedChinese).unwrap());
        assert_eq!((english.0, chinese.0), (ProviderClass::Unknown, ProviderClass::Unknown));
        assert_eq!(chinese.1, expect);
    };
    check("它在 30 秒内没有响应：它的命令是否支持 Agent Client Protocol？", &|it| {
        it.handle_timeout(30)
    });
    check("它使用 Agent Client Protocol 的版本 7，而不是 1", &|it| {
        receive(it, &json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 7}}))
    });
}
