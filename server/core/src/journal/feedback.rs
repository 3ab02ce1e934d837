//! The user's judgement of the moment at which a loop ended.

use serde::{Deserialize, Serialize};

/// Whether the loop ended at the right moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StopVerdict {
    TooEarly,
    Right,
    TooLate,
    /// A verdict of a newer program.
    #[serde(other)]
    Other,
}

/// The last feedback on a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StopFeedback {
    pub verdict: StopVerdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl StopVerdict {
    /// Those that a user can give.
    pub const ALL: [Self; 3] = [Self::TooEarly, Self::Right, Self::TooLate];

    /// As commands take it.
    pub fn word(self) -> &'static str {
        match self {
            Self::TooEarly => "tooEarly",
            Self::Right => "right",
            Self::TooLate => "tooLate",
            Self::Other => "other",
        }
    }

    /// As a part of a sentence.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::TooEarly => "too early",
            Self::Right => "at the right moment",
            Self::TooLate => "too late",
            Self::Other => "at another moment than wanted",
        }
    }
}

impl StopFeedback {
    /// `stopped too early: the documentation is missing`
    pub fn sentence(&self) -> String {
        let text = self.text.as_ref().map_or_else(String::new, |it| format!(": {it}"));
        format!("stopped {}{text}", self.verdict.phrase())
    }
}
