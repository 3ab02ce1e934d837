//! `permissions = "ask"`: the sequence of questions to the user, and the responses to the agent.

use serde_json::{Value, json};

use super::{answer, of_kind, params, receive, replay, sent};
use crate::PermissionMode;
use crate::acp::client::{AcpAction, AcpClient, PermissionAnswer};
use crate::transcripts::captured;

fn working() -> AcpClient {
    let (mut client, _) = AcpClient::begin(params(PermissionMode::Ask, None));
    receive(&mut client, &answer(1, &json!({"protocolVersion": 1, "agentCapabilities": {}})));
    receive(&mut client, &answer(2, &json!({"sessionId": "S"})));
    client
}

fn request(id: &str, call: &Value) -> Value {
    let option = |kind: &str| json!({"optionId": kind, "name": kind, "kind": kind});
    let options: Vec<Value> = ["allow_always", "allow_once", "reject_once"].into_iter().map(option).collect();
    json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission",
        "params": {"sessionId": "S", "toolCall": call, "options": options}})
}

fn run(command: &str) -> Value {
    json!({"toolCallId": command, "kind": "execute", "rawInput": {"command": command}})
}

fn asked(actions: &[AcpAction]) -> Vec<(u64, &str)> {
    let one = |it| match it {
        &AcpAction::RequestPermission { number, ref question } => Some((number, question.as_str())),
        _ => None,
    };
    actions.iter().filter_map(one).collect()
}

const WHY: &str = "run a command (neither a check of the task nor its test runner)";

#[test]
fn a_permission_outside_the_policy_is_requested_and_answered() {
    let check = |permit: PermissionAnswer, expect: &str, denied: &[&str]| {
        let mut client = working();
        let actions = receive(&mut client, &request("q", &run("git push")));
        assert_eq!(asked(&actions), [(1, format!("{WHY}: git push").as_str())]);
        assert_eq!(sent(&actions), Vec::<String>::new(), "no response before the answer");
        let actions = client.handle_permission_answer(1, &permit);
        assert_eq!(sent(&actions), [expect]);
        let why: Vec<Value> = of_kind(&actions, "denied").iter().map(|it| it["why"].clone()).collect();
        assert_eq!(why, denied);
        assert_eq!(
            client.handle_permission_answer(1, &PermissionAnswer::Allowed),
            [],
            "a second answer is ignored"
        );
    };
    check(PermissionAnswer::Allowed, "allow_once", &[]);
    check(PermissionAnswer::Denied("not now".to_owned()), "reject_once", &["not now"]);
    check(PermissionAnswer::Cancelled, "-", &["neither a check of the task nor its test runner"]);
}

#[test]
fn captured_agents_are_understood() {
    for capture in [captured!("acp", "gemini"), captured!("acp", "claude-agent-acp")] {
        let (_, actions) = replay(capture, PermissionMode::Ask);
        assert_eq!(asked(&actions), [(1, format!("{WHY}: echo acp > acp.txt").as_str())]);
    }
}

#[test]
fn requests_within_the_policy_are_not_asked() {
    let mut client = working();
    let actions = receive(&mut client, &request("q", &run("sh test.sh")));
    assert_eq!((sent(&actions), asked(&actions)), (vec!["allow_once".to_owned()], Vec::new()));
}

#[test]
fn requests_are_asked_in_sequence() {
    let mut client = working();
    assert_eq!(asked(&receive(&mut client, &request("a", &run("one")))).len(), 1);
    assert_eq!(receive(&mut client, &request("b", &run("two"))), []);
    assert_eq!(
        client.handle_permission_answer(2, &PermissionAnswer::Allowed),
        [],
        "request 2 is not asked yet"
    );
    let actions = client.handle_permission_answer(1, &PermissionAnswer::Allowed);
    assert_eq!(
        (sent(&actions), asked(&actions)),
        (vec!["allow_once".to_owned()], vec![(2, &*format!("{WHY}: two"))])
    );
    // All of them are withdrawn.
    receive(&mut client, &request("c", &run("three")));
    let actions = client.cancel();
    assert_eq!(sent(&actions), ["-", "-", "session/cancel"]);
    let Some(AcpAction::Send(last)) = actions.get(1) else { panic!("{actions:?}") };
    assert_eq!((&last["id"], &last["result"]["outcome"]["outcome"]), (&json!("c"), &json!("cancelled")));
    assert_eq!(
        client.handle_permission_answer(2, &PermissionAnswer::Allowed),
        [],
        "an answer after the cancellation is ignored"
    );
}

#[test]
fn requests_beyond_the_limit_are_denied() {
    let mut client = working();
    for number in 0..256 {
        let actions = receive(&mut client, &request("q", &run(&format!("run {number}"))));
        assert_eq!(sent(&actions), Vec::<String>::new(), "{number}");
    }
    let actions = receive(&mut client, &request("q", &run("one more")));
    assert_eq!((sent(&actions), asked(&actions)), (vec!["reject_once".to_owned()], Vec::new()));
}

#[test]
fn the_question_hides_nothing() {
    let check = |call: Value, expect: &str| {
        let mut client = working();
        let actions = receive(&mut client, &request("q", &call));
        assert_eq!(asked(&actions).first().map(|it| it.1), Some(expect), "{call}");
    };
    let long = format!("echo {}; rm x", "a".repeat(1000));
    check(run(&long), &format!("{WHY}: {long}"));
    check(run("a\n\u{1b}[2Kb\u{202e}c"), &format!("{WHY}: a^J^[[2Kb\\u{{202e}}c"));
    let mut elsewhere = run("make");
    elsewhere["rawInput"]["workdir"] = json!("/etc");
    elsewhere["rawInput"]["description"] = json!("harmless");
    check(elsewhere, &format!("{WHY}: make with {{\"workdir\":\"/etc\"}}"));
    check(
        json!({"toolCallId": "x", "kind": "execute", "title": "sh test.sh", "rawInput": {"argv": ["rm", "x"]}}),
        "use execute (neither a check of the task nor its test runner): {\"argv\":[\"rm\",\"x\"]}",
    );
    let outside = "outside the work tree, or git's own";
    let edit =
        json!({"toolCallId": "x", "kind": "edit", "locations": [{"path": "/tree/a"}, {"path": "/etc/b"}]});
    check(edit, &format!("edit ({outside}): /tree/a, /etc/b"));
    let delete = json!({"toolCallId": "x", "kind": "delete", "locations": [{"path": "/etc/b"}]});
    check(delete, &format!("delete ({outside}): /etc/b"));
    let read = json!({"toolCallId": "x", "kind": "read", "locations": [{"path": "/etc/b"}]});
    check(read, &format!("read ({outside}): /etc/b"));
    let fetch = json!({"toolCallId": "x", "kind": "fetch", "title": "look", "rawInput": {"url": "http://x"}});
    check(fetch, "use fetch (neither an edit nor a check of the task): {\"url\":\"http://x\"}");
}

#[test]
fn a_request_that_cannot_be_shown_whole_is_denied() {
    let check = |call: Value, expect: &str| {
        let mut client = working();
        let actions = receive(&mut client, &request("q", &call));
        assert_eq!((sent(&actions), asked(&actions)), (vec!["reject_once".to_owned()], Vec::new()), "{call}");
        assert_eq!(of_kind(&actions, "denied")[0]["why"], expect, "{call}");
    };
    check(run(&"a".repeat(2000)), "it is too long to be asked about");
    check(json!({"toolCallId": "x", "kind": "edit", "title": "a"}), "it does not say which file");
    let many: Vec<Value> = (0..17).map(|it| json!({"path": format!("/tree/{it}")})).collect();
    check(
        json!({"toolCallId": "x", "kind": "edit", "locations": many}),
        "it names more files than loopkeeper checks",
    );
    // Options that are remembered are never selected.
    let mut client = working();
    let mut forever = request("q", &run("git push"));
    forever["params"]["options"] = json!([{"optionId": "a", "kind": "allow_always"}]);
    let actions = receive(&mut client, &forever);
    assert_eq!((asked(&actions), of_kind(&actions, "denied").len()), (Vec::new(), 1));
}

#[test]
fn other_permissions_ask_no_question() {
    for permissions in [PermissionMode::Edits, PermissionMode::ReadOnly, PermissionMode::All] {
        let (mut client, _) = AcpClient::begin(params(permissions, None));
        receive(&mut client, &answer(1, &json!({"protocolVersion": 1, "agentCapabilities": {}})));
        receive(&mut client, &answer(2, &json!({"sessionId": "S"})));
        let actions = receive(&mut client, &request("q", &run("git push")));
        assert_eq!((asked(&actions).len(), sent(&actions).len()), (0, 1), "{permissions:?}");
    }
}
