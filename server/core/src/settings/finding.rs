//! Findings about the configuration, each with its location.

use std::fmt;
use std::ops::Range;

use loopkeeper_text::DocumentRange;
use loopkeeper_text::lines::LineIndex;
use loopkeeper_text::message::Message;
use loopkeeper_text::tr;

/// Something in a configuration file or an argument that is not valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingFinding {
    pub code: SettingCode,
    pub origin: SettingOrigin,
    /// The problem, without a period.
    pub message: String,
    /// The remedy, without a period; perhaps a question.
    pub hint: String,
    /// Replacement for its place, if there is one obvious fix.
    pub fix: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SettingCode {
    Syntax,
    UnknownKey,
    BadValue,
    NotYetSupported,
    /// A key of another tool's file: ignored and reported.
    Ignored,
    /// A value above the user's `[max]`, which is used instead.
    Bounded,
}

/// The origin of a value or a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingOrigin {
    Default,
    /// Line and column from 1; the column counts characters.
    File {
        place: DocumentRange,
        line: usize,
        column: usize,
    },
    /// An argument: `--max-cost`.
    Option(String),
}

impl SettingFinding {
    /// Whether the finding blocks every run.
    pub fn is_blocking(&self) -> bool {
        match self.code {
            SettingCode::Syntax
            | SettingCode::UnknownKey
            | SettingCode::BadValue
            | SettingCode::NotYetSupported => true,
            SettingCode::Ignored | SettingCode::Bounded => false,
        }
    }
}

impl SettingOrigin {
    /// The place of `range` in `text`, the content of `file`.
    pub(super) fn in_text(file: &str, (text, lines): (&str, &LineIndex), range: Range<usize>) -> Self {
        let line = lines.line(range.start);
        let before = text.get(lines.start(line).unwrap_or_default()..range.start).unwrap_or_default();
        let column = before.chars().count() + 1;
        Self::File { place: DocumentRange { file: file.to_owned(), range }, line: line + 1, column }
    }
}

impl SettingFinding {
    /// With its place, and a hint that ends a sentence.
    pub fn to_message(&self) -> Message {
        let hint = if self.hint.ends_with(['?', '？']) {
            self.hint.clone()
        } else {
            tr!("{sentence}.", sentence = self.hint)
        };
        Message::new(format!("{}: {}", self.origin, self.message)).with_hint(hint)
    }
}

impl fmt::Display for SettingFinding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.to_message())
    }
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => write!(out, "{}", tr!("default")),
            Self::File { place, line, .. } => write!(out, "{}:{line}", place.file),
            Self::Option(name) => write!(out, "{name}"),
        }
    }
}
