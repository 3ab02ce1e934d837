//! A rejected command: the error response, its message and its `data.code`.

use std::fmt::Display;
use std::path::Path;

use loopkeeper_text::{sanitize, words};
use loopkeeper_view::file_uri;
use tower_lsp::jsonrpc::{Error, ErrorCode};

use crate::ext::{RefusalCode, RefusalData};
use loopkeeper_operations::failure::{Failure, FailureKind};

/// `RequestFailed` of the protocol: the request is well-formed but could not be carried out.
const REQUEST_FAILED: i64 = -32803;

#[derive(Debug)]
pub(crate) struct CommandRefusal {
    pub(crate) message: String,
    pub(crate) data: Box<RefusalData>,
}

impl CommandRefusal {
    pub(crate) fn new(code: RefusalCode, message: impl Display) -> Self {
        Self { message: sanitize::text(&message.to_string()), data: Box::new(RefusalData::of(code)) }
    }

    pub(crate) fn bad_argument(message: impl Display) -> Self {
        Self::new(RefusalCode::BadArgument, message)
    }

    pub(crate) fn no_task(message: impl Display) -> Self {
        Self::new(RefusalCode::NoTask, message)
    }

    pub(crate) fn unsupported(command: &str) -> Self {
        Self::new(RefusalCode::Unsupported, format_args!("{command} is not yet supported"))
    }

    /// A refusal for a task in this root: names the first location to correct and the number of locations, on one line.
    pub(crate) fn of_task(root: &Path, failure: Failure) -> Self {
        let spots = failure.spots.clone();
        let agent = failure.kind == FailureKind::AgentMissing;
        let mut refusal = Self::from(failure);
        let configuration = root.join("loopkeeper.toml");
        let uri = |file: &str| file_uri(&root.join(file).to_string_lossy());
        if let Some(first) = spots.first() {
            refusal.data.uri = Some(uri(&first.file));
            refusal.data.line = u32::try_from(first.line.saturating_sub(1)).ok();
            refusal.data.count = Some(spots.len());
        } else if agent && configuration.is_file() {
            refusal.data.uri = Some(uri("loopkeeper.toml"));
        }
        if let [first, _, ..] = spots.as_slice() {
            let others = if spots.iter().all(|it| it.file == first.file) { "" } else { " and others" };
            let file = sanitize::line(&first.file);
            let has = if others.is_empty() { "has" } else { "have" };
            refusal.message = format!("{file}{others} {has} {} errors; nothing was started", spots.len());
        }
        refusal
    }

    /// A refusal that is not caused by the arguments.
    pub(crate) fn internal_error(message: impl Display) -> Self {
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
        let mut refusal = Self::new(code, sentence(&failure.to_string()));
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

/// Capitalizes the first letter, unless the text begins with a file name or similar.
fn sentence(text: &str) -> String {
    let first = text.split(' ').next().unwrap_or_default();
    if first.chars().all(char::is_alphabetic) { words::capitalised(text) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn names_keep_their_letters() {
        assert_eq!(sentence("the agent `x` cannot start"), "The agent `x` cannot start");
        assert_eq!(sentence("loopkeeper.toml:1: this is not TOML"), "loopkeeper.toml:1: this is not TOML");
        assert_eq!(sentence(""), "");
    }
}
