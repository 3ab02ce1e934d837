//! The share of an iteration's changed sources that the task does not mention.

use serde::{Deserialize, Serialize};

/// Tests, documents, configuration and generated files are in neither number.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DriftShare {
    /// Sources that the task does not mention.
    pub off: u64,
    /// All changed sources.
    pub total: u64,
    /// The first three of `off`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}

impl DriftShare {
    /// No changed source is mentioned by the task.
    pub fn is_complete(&self) -> bool {
        self.total > 0 && self.off >= self.total
    }
}
