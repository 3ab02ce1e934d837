//! The server's log: standard error gets what `LOOPKEEPER_LOG` selects, the client what its trace setting requests. The
//! client gets `window/logMessage`, because most clients do not show `$/logTrace`. Sending must not log, because that
//! would send again.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use loopkeeper_text::redact::Redactor;
use lsp_types::{MessageType, TraceValue};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tower_lsp::Client;
use tracing::Level;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Registry;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt as format;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::reload;

use loopkeeper_system::logging::{self, LogFilterError, LogSink, RedactedSink};

/// Lines queued for a slow client; further ones are dropped and counted.
const MAX_QUEUED: usize = 512;

/// The part of the log that is sent to the client.
pub(crate) struct ClientTrace {
    filter: reload::Handle<Targets, Registry>,
    state: Arc<TraceState>,
    /// `Some` until the client turns the trace on for the first time.
    queue: Mutex<Option<Receiver<TraceLine>>>,
}

#[derive(Default)]
struct TraceState {
    is_on: AtomicBool,
    left_out: AtomicU64,
}

struct TraceLine {
    level: Level,
    text: String,
}

struct ClientSink {
    queue: Sender<TraceLine>,
    state: Arc<TraceState>,
}

impl LogSink for ClientSink {
    fn write_line(&self, level: Level, line: &str) {
        if self.queue.try_send(TraceLine { level, text: line.to_owned() }).is_err() {
            self.state.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Sets up the log of this process. Nothing is sent to the client until it asks.
pub(crate) fn start() -> Result<ClientTrace, LogFilterError> {
    let selected = logging::filter_from_env()?;
    let redactor = Redactor::from_env(
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
    );
    let (queue, lines) = channel(MAX_QUEUED);
    let state = Arc::new(TraceState::default());
    let sink = ClientSink { queue, state: Arc::clone(&state) };
    let (client_filter, filter) = reload::Layer::new(Targets::new());
    let client = format::layer()
        .with_ansi(false)
        .without_time()
        .with_level(false)
        .with_target(false)
        .with_writer(RedactedSink { redactor: redactor.clone(), sink })
        .with_filter(client_filter);
    let stderr = selected.map(|it| logging::stderr_layer(redactor).with_filter(it));
    // A process has only one server.
    let _ = tracing::subscriber::set_global_default(Registry::default().with(client).with(stderr));
    Ok(ClientTrace { filter, state, queue: Mutex::new(Some(lines)) })
}

impl ClientTrace {
    /// Sets the trace level of the client.
    pub(crate) fn set(&self, client: &Client, value: TraceValue) {
        let level = match value {
            TraceValue::Off => LevelFilter::OFF,
            TraceValue::Messages => LevelFilter::DEBUG,
            TraceValue::Verbose => LevelFilter::TRACE,
        };
        self.state.is_on.store(value != TraceValue::Off, Ordering::Relaxed);
        // Fails only after the subscriber was dropped.
        let _ = self.filter.reload(Targets::new().with_target("loopkeeper", level));
        if value == TraceValue::Off {
            return;
        }
        if let Some(queue) = self.queue.lock().unwrap_or_else(PoisonError::into_inner).take() {
            tokio::spawn(send_lines(client.clone(), queue, Arc::clone(&self.state)));
        }
    }
}

async fn send_lines(client: Client, mut queue: Receiver<TraceLine>, state: Arc<TraceState>) {
    while let Some(TraceLine { level, text }) = queue.recv().await {
        let left_out = state.left_out.swap(0, Ordering::Relaxed);
        // It may have been turned off in the meantime.
        if !state.is_on.load(Ordering::Relaxed) {
            continue;
        }
        if left_out > 0 {
            let note = format!("{left_out} lines left out: the client reads too slowly");
            client.log_message(MessageType::WARNING, note).await;
        }
        client.log_message(message_type(level), text).await;
    }
}

fn message_type(level: Level) -> MessageType {
    match level {
        Level::ERROR => MessageType::ERROR,
        Level::WARN => MessageType::WARNING,
        Level::INFO => MessageType::INFO,
        _ => MessageType::LOG,
    }
}
