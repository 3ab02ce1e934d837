//! A scripted model on loopback that speaks as much of the Anthropic protocol as Claude Code needs. Each
//! request of the agent proper takes the next step of the script; side requests (titles, probes) take none.

mod http;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::{Value, json};

/// What the model answers.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Text(&'static str),
    /// One call of a tool, by the CLI's name for it.
    Tool(&'static str, Value),
    /// An error of the API, with headers.
    Fails(u16, Vec<(String, String)>, Value),
}

impl Step {
    pub(crate) fn fails(status: u16, kind: &str, message: &str) -> Self {
        Self::Fails(status, Vec::new(), json!({"type": "error", "error": {"type": kind, "message": message}}))
    }

    /// The five hours of a subscription are used up until `reset`, in seconds of wall time.
    pub(crate) fn used_up(reset: u64) -> Self {
        let told = [
            ("status", "rejected"),
            ("representative-claim", "five_hour"),
            ("5h-status", "rejected"),
            ("5h-utilization", "1.0"),
            ("fallback", "unavailable"),
            ("overage-status", "rejected"),
            ("overage-disabled-reason", "org_level_disabled"),
        ];
        let told = told.map(|(name, value)| (name, value.to_owned())).into_iter();
        let told = told.chain(["reset", "5h-reset"].map(|it| (it, reset.to_string())));
        let headers =
            told.map(|(name, value)| (format!("anthropic-ratelimit-unified-{name}"), value)).collect();
        let body = json!({"type": "error", "error": {"type": "rate_limit_error", "message": "over"}});
        Self::Fails(429, headers, body)
    }

    pub(crate) fn write(path: &str, text: &str) -> Self {
        Self::Tool("Write", json!({"file_path": path, "content": text}))
    }

    pub(crate) fn bash(command: &str) -> Self {
        Self::Tool("Bash", json!({"command": command, "description": "a step"}))
    }
}

/// The server; ends with the test.
pub(crate) struct Model {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    over: AtomicBool,
}

#[derive(Default)]
struct State {
    script: Vec<Step>,
    /// Bodies of the agent's own requests, in order.
    asked: Vec<Value>,
}

impl Model {
    pub(crate) fn start(script: Vec<Step>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port on loopback");
        let address = listener.local_addr().expect("a bound address");
        let shared =
            Arc::new(Shared { state: Mutex::new(State { script, asked: Vec::new() }), ..Shared::default() });
        let acceptor = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        Self { address, shared, acceptor: Some(acceptor) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What the agent asked so far.
    pub(crate) fn asked(&self) -> Vec<Value> {
        self.shared.state.lock().expect("no panic while locked").asked.clone()
    }

    /// The prompts that began a conversation: one for each start of the agent that reached the model.
    pub(crate) fn prompts(&self) -> Vec<String> {
        let said = |body: &Value| {
            let messages = body["messages"].as_array()?;
            let begins = messages.iter().all(|it| it["role"] != "assistant");
            begins.then(|| messages.iter().filter(|it| it["role"] == "user").map(text_of).collect::<String>())
        };
        self.asked().iter().filter_map(said).collect()
    }

    /// Steps that nobody asked for.
    pub(crate) fn left(&self) -> usize {
        let state = self.shared.state.lock().expect("no panic while locked");
        state.script.len().saturating_sub(state.asked.len())
    }
}

/// The text of a message, whether it is one string or blocks.
fn text_of(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        blocks => blocks.as_array().into_iter().flatten().filter_map(|it| it["text"].as_str()).collect(),
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        // Wakes the acceptor.
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.over.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        std::thread::spawn(move || drop(answer(&stream, &shared)));
    }
}

fn answer(stream: &TcpStream, shared: &Shared) -> std::io::Result<()> {
    let request = http::read(stream)?;
    if !request.path.starts_with("/v1/messages") {
        return http::json(
            stream,
            404,
            &[],
            &json!({"type": "error", "error": {"type": "not_found_error", "message": ""}}),
        );
    }
    if request.path.contains("count_tokens") {
        return http::json(stream, 200, &[], &json!({"input_tokens": 100}));
    }
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let side = body["tools"].as_array().is_none_or(Vec::is_empty);
    let (number, step) = if side { (0, Step::Text("side reply")) } else { shared.next(body.clone()) };
    match step {
        Step::Fails(status, headers, error) => http::json(stream, status, &headers, &error),
        Step::Text(text) => message(stream, &body, number, &json!({"type": "text", "text": text})),
        Step::Tool(name, input) => {
            let id = format!("toolu_{number:04}");
            message(
                stream,
                &body,
                number,
                &json!({"type": "tool_use", "id": id, "name": name, "input": input}),
            )
        }
    }
}

impl Shared {
    fn next(&self, body: Value) -> (usize, Step) {
        let mut state = self.state.lock().expect("no panic while locked");
        state.asked.push(body);
        let number = state.asked.len();
        let step = match (state.script.get(number - 1), state.script.last()) {
            (Some(step), _) => step.clone(),
            // The CLI tries some failures again in another form.
            (None, Some(last @ Step::Fails(..))) => last.clone(),
            (None, _) => Step::Text("the script is over"),
        };
        (number, step)
    }
}

/// One message with one block, streamed or whole as it was asked for.
fn message(stream: &TcpStream, body: &Value, number: usize, block: &Value) -> std::io::Result<()> {
    let usage = json!({"input_tokens": 100, "output_tokens": 20});
    let is_tool = block["type"] == "tool_use";
    let stop = if is_tool { "tool_use" } else { "end_turn" };
    let whole = |content: Value, stop: Value| {
        json!({"id": format!("msg_{number:04}"), "type": "message", "role": "assistant", "model": body["model"],
            "content": content, "stop_reason": stop, "stop_sequence": null, "usage": usage})
    };
    if body["stream"] != true {
        return http::json(stream, 200, &[], &whole(json!([block]), json!(stop)));
    }
    let (empty, delta) = if is_tool {
        let mut empty = block.clone();
        empty["input"] = json!({});
        (empty, json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}))
    } else {
        (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": block["text"]}))
    };
    http::events(
        stream,
        &[
            json!({"type": "message_start", "message": whole(json!([]), Value::Null)}),
            json!({"type": "content_block_start", "index": 0, "content_block": empty}),
            json!({"type": "content_block_delta", "index": 0, "delta": delta}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": usage}),
            json!({"type": "message_stop"}),
        ],
    )
}
