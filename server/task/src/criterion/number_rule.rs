//! Comparisons of a number with those of earlier rounds of the same loop.

use serde::{Deserialize, Serialize};

use super::Compare;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case")]
pub enum NumberRule {
    /// `(rising)`: above the baseline's number, and not below the best number reached.
    Rising,
    /// `(not falling)`: not below the best number reached, the baseline's included.
    NotFalling,
    /// `>= baseline`: compared with the baseline's number.
    Baseline { compare: Compare },
}

impl NumberRule {
    /// Formats the rule as in a task, without the backticks of a code span.
    pub fn written(self) -> String {
        match self {
            Self::Rising => "(rising)".to_owned(),
            Self::NotFalling => "(not falling)".to_owned(),
            Self::Baseline { compare } => format!("{} baseline", compare.sign()),
        }
    }

    /// Whether the rule is written in brackets at the end of an item, like other attributes.
    pub fn is_attribute(self) -> bool {
        matches!(self, Self::Rising | Self::NotFalling)
    }
}
