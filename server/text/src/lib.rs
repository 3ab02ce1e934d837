//! Text utilities without domain knowledge: redaction, escaping, line positions, and formatting of numbers and names.
//! Depends on no other crate of the workspace.

pub mod branch;
pub mod clauses;
pub mod closest;
pub mod digest;
pub mod fold;
pub mod globs;
pub mod language;
pub mod lines;
pub mod markdown;
pub mod message;
pub mod moment;
pub mod pattern;
pub mod redact;
pub mod sanitize;
pub mod shell_default;
pub mod shell_word;
pub mod surrogates;
pub mod truncate;
pub mod units;
pub mod words;
pub mod yaml;

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A byte range in one document of the task. `file` is relative to the root.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DocumentRange {
    pub file: String,
    pub range: Range<usize>,
}
