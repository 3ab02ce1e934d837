//! Parses a body to a message. Everything that is not a message of the protocol becomes an error response; the service
//! decides which methods exist.

use loopkeeper_text::surrogates;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};

/// Maximum number of values in a message: each takes about thirty bytes in memory, and at least two in a body.
const MAX_VALUES: usize = 1_000_000;

/// Its list of files is not relied on, so a long one is not read: that of a changed branch has very many entries.
const CHANGED_FILES: &str = "workspace/didChangeWatchedFiles";
const LONG_BYTES: usize = 64 * 1024;

/// A message of a client.
#[derive(Debug, PartialEq)]
pub(super) enum ClientMessage {
    /// A request (with an id) or a notification.
    Call(Request),
    /// The response to a request of the server.
    Answer(Response),
    Cancel(Id),
    Exit,
    /// Invalid; this response is sent.
    Refused(Response),
    /// Invalid, and not answered.
    Ignored,
}

pub(super) fn parse_message(body: &[u8]) -> ClientMessage {
    if body.len() > LONG_BYTES && reports_changed_files(body) {
        let changes = Map::from_iter([("changes".to_owned(), Value::Array(Vec::new()))]);
        return ClientMessage::Call(Request::build(CHANGED_FILES).params(changes).finish());
    }
    let separators = || body.iter().filter(|it| matches!(it, b',' | b'[' | b'{')).count();
    // Every value takes at least one byte, so nearly no body has to be counted.
    if body.len() > MAX_VALUES && separators() > MAX_VALUES && !has_few_values(body) {
        return refusal(None, ErrorCode::InvalidRequest, "too many values in one message");
    }
    match surrogates::parse_json(body) {
        Ok(Value::Object(fields)) => parse_fields(fields),
        Ok(Value::Array(_)) => refusal(None, ErrorCode::InvalidRequest, "the protocol has no batches"),
        Ok(_) => refusal(None, ErrorCode::InvalidRequest, "a message is an object"),
        Err(error) => refusal(None, ErrorCode::ParseError, format!("not JSON: {error}")),
    }
}

fn reports_changed_files(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Notification<'a> {
        jsonrpc: &'a str,
        method: &'a str,
        id: Option<IgnoredAny>,
    }
    let is_one = |it: Notification<'_>| (it.jsonrpc, it.method, it.id) == ("2.0", CHANGED_FILES, None);
    serde_json::from_slice(body).is_ok_and(is_one)
}

/// The response to a frame without a body.
pub(super) fn bad_frame(why: &str) -> Response {
    let error = Error { message: why.to_owned().into(), ..Error::parse_error() };
    Response::from_error(Id::Null, error)
}

fn parse_fields(mut fields: Map<String, Value>) -> ClientMessage {
    let id = match fields.remove("id").map(parse_id) {
        None => None,
        Some(Some(id)) => Some(id),
        Some(None) if fields.contains_key("method") => {
            return refusal(None, ErrorCode::InvalidRequest, "an id is a whole number or a string");
        }
        // A response to a message without an id, such as a client's complaint about one of ours.
        Some(None) => return ClientMessage::Ignored,
    };
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refusal(id, ErrorCode::InvalidRequest, "`jsonrpc` must be \"2.0\"");
    }
    match (fields.remove("method"), id) {
        (Some(Value::String(method)), id) => parse_call(method, id, fields.remove("params")),
        (Some(_), id) => refusal(id, ErrorCode::InvalidRequest, "a method is a string"),
        (None, Some(id)) => parse_response(id, fields),
        (None, None) => refusal(None, ErrorCode::InvalidRequest, "neither a call nor an answer"),
    }
}

fn parse_call(method: String, id: Option<Id>, params: Option<Value>) -> ClientMessage {
    match method.as_str() {
        "exit" => return ClientMessage::Exit,
        "$/cancelRequest" => {
            return params
                .and_then(|it| parse_id(it.get("id")?.clone()))
                .map_or(ClientMessage::Ignored, ClientMessage::Cancel);
        }
        _ => {}
    }
    let has_no_params = method == "shutdown";
    let call = Request::build(method);
    // Clients send empty parameters in three ways: absent, `null` and `{}`.
    let call = match params {
        _ if has_no_params => call,
        None | Some(Value::Null) => call.params(Map::new()),
        Some(params) => call.params(params),
    };
    ClientMessage::Call(match id {
        Some(id) => call.id(id).finish(),
        None => call.finish(),
    })
}

fn parse_response(id: Id, mut fields: Map<String, Value>) -> ClientMessage {
    match (fields.remove("error"), fields.remove("result")) {
        (Some(Value::Object(error)), _) => {
            let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
            let message = error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
            let data = error.get("data").cloned();
            ClientMessage::Answer(Response::from_error(
                id,
                Error { code: code.into(), message: message.into(), data },
            ))
        }
        (None | Some(Value::Null), Some(result)) => ClientMessage::Answer(Response::from_ok(id, result)),
        _ => refusal(Some(id), ErrorCode::InvalidRequest, "neither a call nor an answer"),
    }
}

fn parse_id(value: Value) -> Option<Id> {
    match value {
        Value::String(text) => Some(Id::String(text)),
        Value::Number(number) => number.as_i64().map(Id::Number),
        _ => None,
    }
}

fn refusal(id: Option<Id>, code: ErrorCode, why: impl Into<String>) -> ClientMessage {
    let error = Error { code, message: why.into().into(), data: None };
    ClientMessage::Refused(Response::from_error(id.unwrap_or_default(), error))
}

/// Counts only outside of strings, because a task's text may contain many commas.
fn has_few_values(body: &[u8]) -> bool {
    let (mut values, mut in_string, mut escaped) = (0, false, false);
    for byte in body {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => values += 1,
            _ => {}
        }
    }
    values <= MAX_VALUES
}

#[cfg(test)]
mod tests {
    use super::{CHANGED_FILES, ClientMessage, parse_message};
    use serde_json::json;
    use tower_lsp::jsonrpc::{Error, Id, Request, Response};

    #[track_caller]
    fn check(body: &str, expect: &ClientMessage) {
        assert_eq!(&parse_message(body.as_bytes()), expect, "{body}");
    }

    #[track_caller]
    fn check_refused(body: &[u8], code: i64, id: &Id) {
        match parse_message(body) {
            ClientMessage::Refused(it) => {
                assert_eq!(it.error().map(|it| it.code.code()), Some(code), "{it:?}");
                assert_eq!(it.id(), id);
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn calls_and_responses_are_parsed() {
        let call = Request::build("a/b").id(1).params(json!({"x": [1]})).finish();
        check(r#"{"jsonrpc":"2.0","id":1,"method":"a/b","params":{"x":[1]}}"#, &ClientMessage::Call(call));
        let empty = Request::build("a").params(json!({})).finish();
        check(r#"{"jsonrpc":"2.0","method":"a","params":null}"#, &ClientMessage::Call(empty.clone()));
        check(r#"{"jsonrpc":"2.0","method":"a"}"#, &ClientMessage::Call(empty));
        for params in ["", r#","params":null"#, r#","params":{}"#, r#","params":[]"#] {
            let shutdown = Request::build("shutdown").id("x".to_owned()).finish();
            check(
                &format!(r#"{{"jsonrpc":"2.0","id":"x","method":"shutdown"{params}}}"#),
                &ClientMessage::Call(shutdown),
            );
        }
        check(r#"{"jsonrpc":"2.0","method":"exit","params":null}"#, &ClientMessage::Exit);
        let cancel = r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"7"}}"#;
        check(cancel, &ClientMessage::Cancel(Id::String("7".to_owned())));
        let ok = Response::from_ok(Id::Number(3), json!(null));
        check(r#"{"jsonrpc":"2.0","id":3,"result":null}"#, &ClientMessage::Answer(ok));
        let error = Error { code: (-32601).into(), message: "no".into(), data: None };
        let error = Response::from_error(Id::Number(3), error);
        let text = r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no","more":1}}"#;
        check(text, &ClientMessage::Answer(error));
        check(
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}"#,
            &ClientMessage::Ignored,
        );
    }

    #[test]
    fn invalid_messages_get_the_right_error_code() {
        let (none, one) = (Id::Null, Id::Number(1));
        check_refused(b"", -32700, &none);
        check_refused(b"{", -32700, &none);
        check_refused(b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}", -32700, &none);
        check_refused("[".repeat(100_000).as_bytes(), -32700, &none);
        check_refused(format!("[{}0]", "0,".repeat(2_000_000)).as_bytes(), -32600, &none);
        check_refused(b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}]", -32600, &none);
        check_refused(b"7", -32600, &none);
        check_refused(b"{}", -32600, &none);
        check_refused(br#"{"jsonrpc":"1.0","id":1,"method":"a"}"#, -32600, &one);
        check_refused(br#"{"id":1,"method":"a"}"#, -32600, &one);
        check_refused(br#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600, &one);
        check_refused(br#"{"jsonrpc":"2.0","id":1}"#, -32600, &one);
        check_refused(br#"{"jsonrpc":"2.0","id":1.5,"method":"a"}"#, -32600, &none);
        check_refused(br#"{"jsonrpc":"2.0","id":null,"method":"a"}"#, -32600, &none);
        check_refused(br#"{"jsonrpc":"2.0","id":{},"method":"a"}"#, -32600, &none);
    }

    #[test]
    fn a_lone_surrogate_is_replaced_and_the_rest_is_kept() {
        let call = Request::build("a").params(json!({"text": "x\u{fffd}y"})).finish();
        check(r#"{"jsonrpc":"2.0","method":"a","params":{"text":"x\ud83dy"}}"#, &ClientMessage::Call(call));
    }

    #[test]
    fn commas_in_a_string_are_one_value() {
        let text = ",".repeat(2_000_000);
        let body = json!({"jsonrpc": "2.0", "method": "a", "params": {"text": text}}).to_string();
        assert!(matches!(parse_message(body.as_bytes()), ClientMessage::Call(_)));
    }

    #[test]
    fn a_long_list_of_changed_files_is_not_read() {
        let change = json!({"uri": "file:///work/tree/src/module/file.rs", "type": 2});
        let body = |method: &str, id: Option<u32>, count: usize| {
            let params = json!({"changes": vec![change.clone(); count]});
            let mut body = json!({"jsonrpc": "2.0", "method": method, "params": params});
            if let Some(id) = id {
                body["id"] = id.into();
            }
            serde_json::to_vec(&body).unwrap()
        };
        let entries = |body: &[u8]| match parse_message(body) {
            ClientMessage::Call(call) => call.params().unwrap()["changes"].as_array().unwrap().len(),
            other => panic!("{other:?}"),
        };
        assert_eq!(entries(&body(CHANGED_FILES, None, 3)), 3);
        assert_eq!(entries(&body(CHANGED_FILES, None, 100_000)), 0);
        assert_eq!(entries(&body(CHANGED_FILES, None, 400_000)), 0, "more values than a message may have");
        assert_eq!(entries(&body(CHANGED_FILES, Some(1), 2_000)), 2_000, "a request");
        assert_eq!(entries(&body("workspace/other", None, 2_000)), 2_000);
    }
}
