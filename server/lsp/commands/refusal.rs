//! A command that was not done: the error response, its words and its `data.code`.

use std::fmt::Display;

use loopkeeper_core::sanitize;
use tower_lsp::jsonrpc::{Error, ErrorCode};

use crate::front::failure::{Failure, Kind};
use crate::lsp::ext::{RefusalCode, RefusalData};

/// `RequestFailed` of the protocol: well-formed, and not done.
const REQUEST_FAILED: i64 = -32803;

#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    pub(crate) data: Box<RefusalData>,
}

impl Refusal {
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

    /// Nothing is wrong with what was asked.
    pub(crate) fn broken(message: impl Display) -> Self {
        Self::new(RefusalCode::Conflict, message)
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        let code = match failure.kind {
            Kind::Usage => RefusalCode::BadArgument,
            Kind::NoTask => RefusalCode::NoTask,
            Kind::AgentMissing => RefusalCode::AgentMissing,
            Kind::NotTrusted => RefusalCode::Untrusted,
            Kind::TreeBusy => RefusalCode::TreeBusy,
            Kind::Unsupported => RefusalCode::Unsupported,
            Kind::Conflict | Kind::Broken => RefusalCode::Conflict,
        };
        let mut refusal = Self::new(code, &failure);
        refusal.data.holder = failure.holder.map(|it| sanitize::line(&it));
        refusal
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        let mut error = Self::new(ErrorCode::ServerError(REQUEST_FAILED));
        error.message = refusal.message.into();
        error.data = serde_json::to_value(&*refusal.data).ok();
        error
    }
}
