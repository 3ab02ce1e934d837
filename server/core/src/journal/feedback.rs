//! The user's judgement of the moment at which a loop ended.

use loopkeeper_text::tr;
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

    /// The word that commands accept.
    pub fn word(self) -> &'static str {
        match self {
            Self::TooEarly => "tooEarly",
            Self::Right => "right",
            Self::TooLate => "tooLate",
            Self::Other => "other",
        }
    }

    /// The wording inside a sentence.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::TooEarly => tr!("too early"),
            Self::Right => tr!("at the right moment"),
            Self::TooLate => tr!("too late"),
            Self::Other => tr!("at the wrong moment"),
        }
    }
}

impl StopFeedback {
    /// `stopped too early: the documentation is missing`
    pub fn sentence(&self) -> String {
        let sentence = match self.verdict {
            StopVerdict::TooEarly => tr!("stopped too early"),
            StopVerdict::Right => tr!("stopped at the right moment"),
            StopVerdict::TooLate => tr!("stopped too late"),
            StopVerdict::Other => tr!("stopped at the wrong moment"),
        };
        self.text
            .as_ref()
            .map_or_else(|| sentence.to_owned(), |text| tr!("{sentence}: {text}", sentence, text))
    }
}
