//! A rejected command: the error response, its message and its `data.code`.

use std::path::Path;

use loopkeeper_text::message::Message;
use loopkeeper_text::{sanitize, tr, words};
use loopkeeper_view::file_uri;
use lsp_types::{MessageType, ShowMessageParams};
use tower_lsp::jsonrpc::{Error, ErrorCode};

use crate::ext::{self, HintedMessageParams, RefusalCode, RefusalData, ShowHintedMessage};
use crate::questions;
use crate::session::ServerState;
use loopkeeper_operations::failure::{Failure, FailureKind};

/// `RequestFailed` of the protocol: the request is well-formed but could not be carried out.
const REQUEST_FAILED: i64 = -32803;

#[derive(Debug)]
pub(crate) struct CommandRefusal {
    pub(crate) message: String,
    pub(crate) data: Box<RefusalData>,
}

impl CommandRefusal {
    pub(crate) fn new(code: RefusalCode, message: impl Into<Message>) -> Self {
        let message = message.into().map_parts(sanitize::text);
        let commands = ext::hint_commands(message.hint());
        let data = RefusalData { commands, ..RefusalData::of(code) };
        Self { message: message.paragraph(), data: Box::new(data) }
    }

    pub(crate) fn bad_argument(message: impl Into<Message>) -> Self {
        Self::new(RefusalCode::BadArgument, message)
    }

    pub(crate) fn no_task(message: impl Into<Message>) -> Self {
        Self::new(RefusalCode::NoTask, message)
    }

    pub(crate) fn unknown_command(command: &str) -> Self {
        let fact = tr!("unknown command `{command}`", command);
        let hint = tr!("update loopkeeper if its editor extension is newer");
        Self::new(RefusalCode::Unsupported, Message::new(fact).with_hint(hint))
    }

    /// Shows a refusal that is not the answer to a request.
    pub(crate) async fn show(&self, shared: &ServerState) {
        let message = words::capitalised(&self.message);
        if !shared.session().has_extensions() {
            return questions::warn(shared, &message).await;
        }
        let shown = ShowMessageParams { typ: MessageType::WARNING, message };
        let params = HintedMessageParams { shown, commands: self.data.commands.clone() };
        shared.client.send_notification::<ShowHintedMessage>(params).await;
    }

    /// A refusal for a task in this root: names the first location to correct and the number of locations, on one line.
    pub(crate) fn of_task(root: &Path, failure: Failure) -> Self {
        let locations = failure.locations.clone();
        let agent = failure.kind == FailureKind::AgentMissing;
        let mut refusal = Self::from(failure);
        let configuration = root.join("loopkeeper.toml");
        let uri = |file: &str| file_uri(&root.join(file).to_string_lossy());
        if let Some(first) = locations.first() {
            refusal.data.uri = Some(uri(&first.file));
            refusal.data.line = u32::try_from(first.line.saturating_sub(1)).ok();
            refusal.data.count = Some(locations.len());
        } else if agent && configuration.is_file() {
            refusal.data.uri = Some(uri("loopkeeper.toml"));
        }
        if let [first, _, ..] = locations.as_slice() {
            refusal.data.commands.clear();
            let (file, count) = (sanitize::line(&first.file), locations.len());
            refusal.message = if locations.iter().all(|it| it.file == first.file) {
                tr!("{file} has {count} errors; nothing was started.", file, count)
            } else {
                tr!("{file} and others have {count} errors; nothing was started.", file, count)
            };
        }
        refusal
    }

    /// A refusal that is not caused by the arguments.
    pub(crate) fn internal_error(message: impl Into<Message>) -> Self {
        Self::new(RefusalCode::Conflict, message)
    }
}

impl From<Failure> for CommandRefusal {
    fn from(failure: Failure) -> Self {
        let code = match failure.kind {
            FailureKind::Usage => RefusalCode::BadArgument,
            FailureKind::NoTask => RefusalCode::NoTask,
            FailureKind::AgentMissing => RefusalCode::AgentMissing,
            FailureKind::NotTrusted => RefusalCode::Untrusted,
            FailureKind::TreeBusy => RefusalCode::TreeBusy,
            FailureKind::Unsupported => RefusalCode::Unsupported,
            FailureKind::Conflict | FailureKind::Forbidden | FailureKind::Broken => RefusalCode::Conflict,
        };
        let mut refusal = Self::new(code, failure.message);
        refusal.data.holder = failure.holder.map(|it| sanitize::line(&it));
        refusal
    }
}

impl From<CommandRefusal> for Error {
    fn from(refusal: CommandRefusal) -> Self {
        let mut error = Self::new(ErrorCode::ServerError(REQUEST_FAILED));
        error.message = refusal.message.into();
        error.data = serde_json::to_value(&*refusal.data).ok();
        error
    }
}
