//! The same response in the format of each protocol: one message with a text or a tool call, streamed if requested.

use std::io::Result;
use std::net::TcpStream;

use serde_json::{Value, json};

use super::http;

/// The request's parameters and the response.
pub(super) struct Reply<'a> {
    pub(super) stream: &'a TcpStream,
    pub(super) path: &'a str,
    pub(super) body: &'a Value,
    pub(super) number: usize,
    pub(super) say: Say,
    /// Further calls of the same tool in the same message, for Anthropic's protocol only.
    pub(super) more: Vec<Value>,
}

pub(super) enum Say {
    Text(&'static str),
    Tool(&'static str, Value),
}

const INPUT: u64 = 100;
const OUTPUT: u64 = 20;
/// Input and output tokens.
pub(crate) const OF_AN_ANSWER: u64 = INPUT + OUTPUT;

/// `None` if the path belongs to no protocol.
pub(super) fn answer(reply: &Reply<'_>) -> Option<Result<()>> {
    Some(match reply.path {
        path if path.ends_with("/chat/completions") => chat(reply),
        path if path.ends_with("/responses") => responses(reply),
        path if path.contains("enerateContent") => gemini(reply),
        path if path.starts_with("/v1/messages") => anthropic(reply),
        _ => return None,
    })
}

fn chat(reply: &Reply<'_>) -> Result<()> {
    let (message, finish) = match &reply.say {
        Say::Text(text) => (json!({"role": "assistant", "content": text}), "stop"),
        Say::Tool(name, input) => {
            let id = format!("call_{}", reply.number);
            let call = json!({"index": 0, "id": id, "type": "function",
                "function": {"name": name, "arguments": input.to_string()}});
            (json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls")
        }
    };
    let usage = json!({"prompt_tokens": INPUT, "completion_tokens": OUTPUT, "total_tokens": INPUT + OUTPUT});
    let whole = |object: &str, choices: Value, usage: Value| {
        json!({"id": format!("chat_{}", reply.number), "object": object, "created": 1, "model": reply.body["model"],
            "choices": choices, "usage": usage})
    };
    if reply.body["stream"] != true {
        let choices = json!([{"index": 0, "message": message, "finish_reason": finish}]);
        return http::json(reply.stream, 200, &[], &whole("chat.completion", choices, usage));
    }
    let chunk = |delta: Value, finish: Value| {
        let choices = json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
        whole("chat.completion.chunk", choices, Value::Null)
    };
    let events = [
        chunk(message, Value::Null),
        chunk(json!({}), json!(finish)),
        whole("chat.completion.chunk", json!([]), usage),
        json!("[DONE]"),
    ];
    http::events(reply.stream, &events)
}

/// `namespace.name`: some tools of Codex are part of a group.
fn function_call(number: usize, name: &str, input: &Value) -> Value {
    let (namespace, name) = name.rsplit_once('.').map_or((None, name), |(space, name)| (Some(space), name));
    let mut call = json!({"type": "function_call", "id": format!("fc_{number}"),
        "call_id": format!("call_{number}"), "name": name, "arguments": input.to_string(),
        "status": "completed"});
    if let Some(namespace) = namespace {
        call["namespace"] = namespace.into();
    }
    call
}

fn responses(reply: &Reply<'_>) -> Result<()> {
    let number = reply.number;
    let item = match &reply.say {
        Say::Text(text) => json!({"type": "message", "id": format!("msg_{number}"), "role": "assistant",
            "status": "completed", "content": [{"type": "output_text", "text": text, "annotations": []}]}),
        Say::Tool(name, input) => function_call(number, name, input),
    };
    let response = |status: &str, output: Value| {
        json!({"id": format!("resp_{number}"), "object": "response", "created_at": 1, "model": reply.body["model"],
            "status": status, "output": output, "usage": {"input_tokens": INPUT,
            "input_tokens_details": {"cached_tokens": 0}, "output_tokens": OUTPUT,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": INPUT + OUTPUT}})
    };
    let events = [
        json!({"type": "response.created", "response": response("in_progress", json!([]))}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": response("completed", json!([item]))}),
    ];
    http::events(reply.stream, &events)
}

fn gemini(reply: &Reply<'_>) -> Result<()> {
    let part = match &reply.say {
        Say::Text(text) => json!({"text": text}),
        Say::Tool(name, input) => json!({"functionCall": {"name": name, "args": input}}),
    };
    let content = json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP",
        "index": 0}], "usageMetadata": {"promptTokenCount": INPUT, "candidatesTokenCount": OUTPUT,
        "totalTokenCount": INPUT + OUTPUT}, "modelVersion": "scripted"});
    if reply.path.contains(":streamGenerateContent") {
        return http::events(reply.stream, &[content]);
    }
    http::json(reply.stream, 200, &[], &content)
}

fn anthropic(reply: &Reply<'_>) -> Result<()> {
    let Reply { stream, body, number, .. } = reply;
    let blocks: Vec<[Value; 3]> = match &reply.say {
        Say::Text(text) => vec![[
            json!({"type": "text", "text": text}),
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": text}),
        ]],
        Say::Tool(name, first) => {
            let call = |at: usize, input: &Value| {
                let call = |input: &Value| json!({"type": "tool_use", "id": format!("toolu_{number:04}_{at}"), "name": name, "input": input});
                let delta = json!({"type": "input_json_delta", "partial_json": input.to_string()});
                [call(input), call(&json!({})), delta]
            };
            std::iter::once(first).chain(&reply.more).enumerate().map(|(at, it)| call(at, it)).collect()
        }
    };
    let stop = if matches!(reply.say, Say::Text(_)) { "end_turn" } else { "tool_use" };
    let usage = json!({"input_tokens": INPUT, "output_tokens": OUTPUT});
    let whole = |content: Value, stop: Value| {
        json!({"id": format!("msg_{number:04}"), "type": "message", "role": "assistant", "model": body["model"],
            "content": content, "stop_reason": stop, "stop_sequence": null, "usage": usage})
    };
    if body["stream"] != true {
        let content: Vec<Value> = blocks.into_iter().map(|[block, ..]| block).collect();
        return http::json(stream, 200, &[], &whole(json!(content), json!(stop)));
    }
    let mut events = vec![json!({"type": "message_start", "message": whole(json!([]), Value::Null)})];
    for (index, [_, empty, delta]) in blocks.into_iter().enumerate() {
        events.extend([
            json!({"type": "content_block_start", "index": index, "content_block": empty}),
            json!({"type": "content_block_delta", "index": index, "delta": delta}),
            json!({"type": "content_block_stop", "index": index}),
        ]);
    }
    events.extend([
        json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": usage}),
        json!({"type": "message_stop"}),
    ]);
    http::events(stream, &events)
}
