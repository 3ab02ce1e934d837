//! A scripted model on loopback that implements as much of the protocols of Anthropic, OpenAI (chat and responses) and
//! Gemini as the agents need. Each main request of the agent takes the next step of the script; side requests (titles,
//! probes) take none.

mod http;
mod protocols;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

pub(crate) use protocols::OF_AN_ANSWER;
use protocols::{Reply, Say};
use serde_json::{Value, json};

/// A response of the model.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Text(&'static str),
    /// One tool call, with the CLI's name of the tool.
    Tool(&'static str, Value),
    /// Several calls of it in one message, for Anthropic's protocol only.
    Tools(&'static str, Vec<Value>),
    /// An error of the API, with headers.
    Fails(u16, Vec<(String, String)>, Value),
    /// A malformed response; every later one is malformed, too.
    Garbage,
}

impl Step {
    pub(crate) fn fails(status: u16, kind: &str, message: &str) -> Self {
        Self::Fails(status, Vec::new(), json!({"type": "error", "error": {"type": kind, "message": message}}))
    }

    /// The five-hour limit of a subscription is used up until `reset`, in seconds of wall time.
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

/// The server; stops when the test ends.
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

type Responder = Box<dyn Fn(&Value) -> Step + Send>;

#[derive(Default)]
struct State {
    script: Vec<Step>,
    /// Computes the response to each request, instead of a script.
    responder: Option<Responder>,
    /// Bodies of the agent's main requests, in order.
    asked: Vec<Value>,
}

impl Model {
    pub(crate) fn start(script: Vec<Step>) -> Self {
        Self::of(State { script, ..State::default() })
    }

    /// A model that computes its responses.
    pub(crate) fn with_responder(responder: impl Fn(&Value) -> Step + Send + 'static) -> Self {
        Self::of(State { responder: Some(Box::new(responder)), ..State::default() })
    }

    fn of(state: State) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port on loopback");
        let address = listener.local_addr().expect("a bound address");
        let shared = Arc::new(Shared { state: Mutex::new(state), ..Shared::default() });
        let acceptor = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        Self { address, shared, acceptor: Some(acceptor) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The agent's requests so far.
    pub(crate) fn asked(&self) -> Vec<Value> {
        self.shared.state.lock().expect("no panic while locked").asked.clone()
    }

    /// The first prompt of each conversation: one for each start of the agent that reached the model.
    pub(crate) fn prompts(&self) -> Vec<String> {
        let turn_texts = |body: &Value| {
            let turns = turns(body);
            let begins =
                turns.iter().all(|(role, _)| matches!(role.as_str(), "user" | "system" | "developer"));
            let user = turns.iter().filter(|(role, _)| role == "user");
            (begins && !turns.is_empty()).then(|| user.map(|(_, text)| text.as_str()).collect::<String>())
        };
        self.asked().iter().filter_map(turn_texts).collect()
    }

    /// Number of unused steps.
    pub(crate) fn left(&self) -> usize {
        let state = self.shared.state.lock().expect("no panic while locked");
        state.script.len().saturating_sub(state.asked.len())
    }
}

/// Roles and texts of the messages so far, in any of the protocols. For an entry without text or role, the role is its
/// type.
pub(crate) fn turns(body: &Value) -> Vec<(String, String)> {
    let messages = ["messages", "input", "contents"].into_iter().find_map(|it| body[it].as_array());
    let role = |it: &Value| it["role"].as_str().or(it["type"].as_str()).unwrap_or_default().to_owned();
    messages.into_iter().flatten().map(|it| (role(it), text_of(it))).collect()
}

/// Number of tool responses so far.
pub(crate) fn answers(body: &Value) -> usize {
    /// The marker of each protocol.
    const MARKS: [&str; 4] =
        ["\"tool_result\"", "\"function_call_output\"", "\"role\":\"tool\"", "\"functionResponse\""];
    let body = body.to_string();
    MARKS.iter().map(|it| body.matches(it).count()).sum()
}

/// The text of a message, whether it is one string or parts.
fn text_of(message: &Value) -> String {
    let parts = if message["parts"].is_array() { &message["parts"] } else { &message["content"] };
    match parts {
        Value::String(text) => text.clone(),
        parts => parts.as_array().into_iter().flatten().filter_map(|it| it["text"].as_str()).collect(),
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
    let path = request.path.split('?').next().unwrap_or_default();
    if path.contains("count_tokens") || path.contains(":countTokens") {
        return http::json(stream, 200, &[], &json!({"input_tokens": 100, "totalTokens": 100}));
    }
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let side = body["tools"].as_array().is_none_or(Vec::is_empty);
    let missing =
        || http::json(stream, 404, &[], &json!({"type": "error", "error": {"message": "not here"}}));
    if request.body.is_empty() {
        return missing();
    }
    let (number, step) = if side { (0, Step::Text("side reply")) } else { shared.next(body.clone()) };
    let mut more = Vec::new();
    let say = match step {
        Step::Fails(status, headers, error) => return http::json(stream, status, &headers, &error),
        Step::Garbage => return http::html(stream),
        Step::Text(text) => Say::Text(text),
        Step::Tool(name, input) => Say::Tool(name, input),
        Step::Tools(name, inputs) => {
            let mut inputs = inputs.into_iter();
            let first = inputs.next().expect("a call");
            more.extend(inputs);
            Say::Tool(name, first)
        }
    };
    protocols::answer(&Reply { stream, path, body: &body, number, say, more }).unwrap_or_else(missing)
}

impl Shared {
    fn next(&self, body: Value) -> (usize, Step) {
        let mut state = self.state.lock().expect("no panic while locked");
        let computed = state.responder.as_ref().map(|responder| responder(&body));
        state.asked.push(body);
        let number = state.asked.len();
        if let Some(step) = computed {
            return (number, step);
        }
        let step = match (state.script.get(number - 1), state.script.last()) {
            (Some(step), _) => step.clone(),
            // The CLI retries some failures in another form.
            (None, Some(last @ (Step::Fails(..) | Step::Garbage))) => last.clone(),
            (None, _) => Step::Text("the script is over"),
        };
        (number, step)
    }
}
