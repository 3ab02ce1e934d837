//! Stdout for users and scripts: colours only where they are supported; a closed pipe ends the output silently, not
//! the program.

use loopkeeper_text::tr;
use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

use anstream::AutoStream;
use serde::Serialize;

use super::failure::Failure;

/// One writer for a command's whole output. The first error stops the output; [`Ui::finish`] returns it.
pub(crate) struct Ui {
    stream: AutoStream<io::Stdout>,
    error: Option<io::Error>,
}

impl Ui {
    pub(crate) fn stdout() -> Self {
        Self { stream: anstream::stdout(), error: None }
    }

    /// Writes one line and flushes it, so that a reader of the pipe gets it immediately.
    pub(crate) fn line(&mut self, text: impl Display) {
        self.write(&format!("{text}\n"));
    }

    /// Writes text unchanged, in one write.
    pub(crate) fn write(&mut self, text: &str) {
        if self.error.is_none() {
            let written = self.stream.write_all(text.as_bytes()).and_then(|()| self.stream.flush());
            self.error = written.err();
        }
    }

    /// Writes one JSON value on one line.
    pub(crate) fn json(&mut self, value: &impl Serialize) {
        match serde_json::to_string(value) {
            Ok(text) => self.line(text),
            Err(error) => self.error = Some(error.into()),
        }
    }

    /// Whether the reader has closed the pipe, so that a command that only prints can stop.
    pub(crate) fn is_closed(&self) -> bool {
        self.error.is_some()
    }

    /// A full disk is a failure; a closed pipe is the reader's decision.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self.error {
            None => Ok(()),
            Some(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            Some(error) => Err(Failure::ended(tr!("cannot write to stdout: {error}", error))),
        }
    }
}

/// Lines of a long output, written many at a time.
pub(crate) struct BatchedLines<'a> {
    out: &'a mut Ui,
    text: String,
}

impl<'a> BatchedLines<'a> {
    const BATCH_BYTES: usize = 32 * 1024;

    pub(crate) fn new(out: &'a mut Ui) -> Self {
        Self { out, text: String::new() }
    }

    pub(crate) fn add(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
        if self.text.len() >= Self::BATCH_BYTES {
            self.flush();
        }
    }

    /// Writes the rest.
    pub(crate) fn flush(&mut self) {
        self.out.write(&self.text);
        self.text.clear();
    }
}
