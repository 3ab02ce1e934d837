//! Whom a loop starts.

use serde::{Deserialize, Serialize};

use crate::agent::kind::Kind;
use crate::settings::{Dialect, Permissions, PromptBy};

/// The agent of a loop: what is started, verbatim, and how it is talked to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentPlan {
    pub name: String,
    /// With `{session}`, `{prompt}`, `{prompt_file}` standing for values of the iteration.
    pub argv: Vec<String>,
    pub prompt: PromptBy,
    pub dialect: Dialect,
    pub permissions: Permissions,
    /// Set in its environment, over everything else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, String)>,
}

impl AgentPlan {
    pub fn kind(&self) -> Kind {
        Kind::of(&self.name, self.dialect)
    }
}
