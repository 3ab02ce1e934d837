//! Context from earlier lines of an output for the locations in later lines.

use super::line_kinds::{is_console, is_detail, is_diagnostic, is_exception, tap_error};
use super::source_path::is_source;

/// Maximum number of lines that are added to an exception: `Expected: 4`, `- 3`.
const DETAILS: u8 = 4;

#[derive(Debug, Default)]
pub(super) struct LocationContext<'a> {
    /// `error[E0308]: mismatched types`, whichever compiler wrote it.
    pub(super) diagnostic: &'a str,
    /// `TypeError: …`, `expect(received).toBe(expected), Expected: 4, Received: 0`: what a stack trace is about.
    pub(super) exception: String,
    /// The message of pytest's `E   …` lines in the current test.
    pub(super) pytest: String,
    /// The line that names the file of the lines below it, as ESLint writes it.
    pub(super) heading: &'a str,
    /// The last line before the current one that is not blank.
    pub(super) previous: &'a str,
    current: &'a str,
    /// How many more lines belong to the exception.
    details: u8,
    /// The next line holds the failure of a test.
    is_failure_next: bool,
    /// The current lines repeat a test's console output, which Jest prints with the location of the call.
    is_console: bool,
}

impl<'a> LocationContext<'a> {
    pub(super) fn note(&mut self, line: &'a str) {
        if line.trim().is_empty() {
            return;
        }
        self.previous = std::mem::replace(&mut self.current, line);
        if is_diagnostic(line) {
            self.diagnostic = line;
        }
        if !line.starts_with(char::is_whitespace) {
            self.heading = if is_source(line.trim_end()) { line.trim_end() } else { "" };
            self.is_console = false;
        }
        self.note_exception(line);
        self.note_pytest(line);
    }

    pub(super) fn is_console(&self) -> bool {
        self.is_console
    }

    fn note_exception(&mut self, line: &str) {
        let text = line.trim();
        let begins = |marks: &[&str]| marks.iter().any(|it| text.starts_with(it));
        if is_console(text) {
            self.forget();
            self.is_console = true;
        } else if begins(&["● ", "not ok ", "FAIL "]) || line.contains("panicked at ") {
            // The frames that follow belong to this failure.
            self.forget();
            self.is_failure_next = text.starts_with('●');
        } else if self.is_failure_next || is_exception(line) || begins(&["panic: "]) {
            self.begin(text);
        } else if let Some(message) = tap_error(line) {
            self.begin(message);
            self.is_failure_next = message.is_empty();
        } else if begins(&["at ", "❯ ", "File \""]) {
            self.details = 0;
        } else if self.details > 0 && (is_detail(text) || self.exception.ends_with(':')) {
            self.details -= 1;
            self.exception.push_str(if self.exception.ends_with(':') { " " } else { ", " });
            self.exception.push_str(text);
        }
    }

    fn forget(&mut self) {
        self.exception.clear();
        self.details = 0;
        self.is_failure_next = false;
        self.is_console = false;
    }

    fn begin(&mut self, text: &str) {
        text.clone_into(&mut self.exception);
        self.details = DETAILS;
        self.is_failure_next = false;
    }

    fn note_pytest(&mut self, line: &str) {
        match line.strip_prefix("E   ").map(str::trim_start) {
            Some(message) if self.pytest.is_empty() => message.clone_into(&mut self.pytest),
            // `assert x == 2, "message"` shows the message first, then the values.
            Some(message) if message.starts_with("assert ") && !self.pytest.contains("assert ") => {
                self.pytest.push_str(", ");
                self.pytest.push_str(message);
            }
            Some(_) => {}
            None if line.starts_with("____") => self.pytest.clear(),
            None => {}
        }
    }
}
