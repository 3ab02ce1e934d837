//! Stdout for people and scripts: colours only where they are wanted, and a reader that went away ends the
//! output quietly instead of the program.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

use anstream::AutoStream;
use serde::Serialize;

use super::failure::Failure;

/// One writer for a command's whole output. The first error ends it; [`Ui::finish`] tells.
pub(crate) struct Ui {
    stream: AutoStream<io::Stdout>,
    error: Option<io::Error>,
}

impl Ui {
    pub(crate) fn stdout() -> Self {
        Self { stream: anstream::stdout(), error: None }
    }

    /// One line, flushed: whoever reads a pipe sees it when it happens.
    pub(crate) fn line(&mut self, text: impl Display) {
        self.write(&format!("{text}\n"));
    }

    /// Text as it is, in one write.
    pub(crate) fn write(&mut self, text: &str) {
        if self.error.is_none() {
            let written = self.stream.write_all(text.as_bytes()).and_then(|()| self.stream.flush());
            self.error = written.err();
        }
    }

    /// One JSON value on one line.
    pub(crate) fn json(&mut self, value: &impl Serialize) {
        match serde_json::to_string(value) {
            Ok(text) => self.line(text),
            Err(error) => self.error = Some(error.into()),
        }
    }

    /// Nobody reads any more: what only shows can stop.
    pub(crate) fn is_closed(&self) -> bool {
        self.error.is_some()
    }

    /// A full disk behind stdout is a failure; a closed pipe is the reader's decision.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self.error {
            None => Ok(()),
            Some(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            Some(error) => Err(Failure::ended(format_args!("cannot write to stdout: {error}"))),
        }
    }
}
