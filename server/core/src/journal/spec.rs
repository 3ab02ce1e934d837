//! The inputs of a loop, and the agents that it starts.

use serde::{Deserialize, Serialize};

use crate::settings::Settings;
use crate::settings::preset::PresetSelection;
use loopkeeper_agent::kind::{AgentKind, Dialect};
use loopkeeper_agent::{PermissionMode, PromptBy};
use loopkeeper_task::criterion::Criterion;
use loopkeeper_task::{PlanItem, TaskId};

/// Everything a loop was started with, resolved. Only this runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopSpec {
    pub loop_id: String,
    /// loopkeeper's version.
    pub version: String,
    pub task: TaskId,
    pub title: String,
    /// Real path of the root.
    pub root: String,
    /// The text of a task without a file (`run --prompt`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inline_prompt: Option<String>,
    pub agent: AgentPlan,
    /// The agents that take over from it, in this order.
    #[serde(rename = "others", default, skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<AgentPlan>,
    /// The agent that `judge` checks ask, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<AgentPlan>,
    pub settings: Settings,
    /// The branch that it works on; `None`: the one that is checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The preset that some of its numbers come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<PresetSelection>,
    /// The effective promise: from the arguments, the document or the settings.
    pub promise: String,
    pub criteria: Vec<Criterion>,
    pub plan: Vec<PlanItem>,
    /// Continue although everything already holds; completion also needs a claim.
    pub anyway: bool,
    /// A user can answer: a detached loop. Otherwise it never waits for one.
    pub attended: bool,
    /// Judges that the agent of an earlier loop of the task changed, and the user did not accept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unaccepted: Vec<UnacceptedChange>,
    /// The tasks before it in a queue, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierTask>,
}

/// An ended task of the same queue, or an ended loop on the same task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EarlierTask {
    pub title: String,
    /// How its loop ended.
    pub sentence: String,
    /// Subjects of its commits, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<String>,
    /// The decisions that its iterations marked as lasting.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<String>,
    /// It worked on the same task, which the user continues.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub continued: bool,
}

/// A changed judge that a loop inherits from an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UnacceptedChange {
    /// Relative to the root.
    pub path: String,
    /// The snapshot with the version that counts.
    pub tree: String,
    /// The loop whose agent changed it.
    pub loop_id: String,
    /// `tests/test_sum.py lost 2 tests`
    pub what: String,
}

impl LoopSpec {
    /// All agents of the loop, in their order.
    pub fn agents(&self) -> impl Iterator<Item = &AgentPlan> {
        std::iter::once(&self.agent).chain(&self.fallbacks)
    }
}

/// The agent of a loop: the command line, verbatim, and the protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentPlan {
    pub name: String,
    /// `{session}`, `{prompt}` and `{prompt_file}` are placeholders for values of the iteration.
    pub argv: Vec<String>,
    pub prompt: PromptBy,
    pub dialect: Dialect,
    pub permissions: PermissionMode,
    /// Set in its environment, over everything else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, String)>,
}

impl AgentPlan {
    pub fn kind(&self) -> AgentKind {
        AgentKind::from_name(&self.name, self.dialect)
    }
}
