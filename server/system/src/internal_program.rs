//! Refuses a user who starts a program that only loopkeeper itself starts, such as the keeper.

use std::io::{self, Write as _};
use std::process::ExitCode;

use loopkeeper_text::message::Message;
use loopkeeper_text::tr;

/// Reports on standard error which program to run instead.
pub fn refuse_user() -> ExitCode {
    let message =
        Message::new(tr!("this is a part of loopkeeper")).with_hint(tr!("run `loopkeeper` instead."));
    let _ = io::stderr().write_all(message.error_lines().as_bytes());
    ExitCode::from(2)
}
