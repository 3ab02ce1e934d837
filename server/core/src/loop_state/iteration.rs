//! One row of a loop's history.

use crate::check::Status;
use crate::journal::{ChangeStats, Claim, DriftShare};
use loopkeeper_agent::claims::Claims;
use loopkeeper_agent::errors::{Fingerprint, FingerprintedError};
use loopkeeper_agent::{AgentEnding, ProviderClass, ProviderError};
use loopkeeper_task::criterion::CriterionId;
use loopkeeper_text::moment::Moment;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not exclude each other")]
pub struct Iteration {
    #[serde(default, skip_serializing_if = "is_default")]
    pub number: u32,
    /// The name of its agent.
    pub agent: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub started_at: Moment,
    /// When it ended, checks included.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ended_at: Moment,
    #[serde(default, skip_serializing_if = "is_default")]
    pub duration_ms: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    pub session: String,
    /// It continued the session of an earlier iteration.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resumed: bool,
    /// The agent did not have the session to continue any more: no work was done.
    #[serde(default, skip_serializing_if = "is_default")]
    pub session_lost: bool,
    /// The agent's program was not found.
    #[serde(default, skip_serializing_if = "is_default")]
    pub program_missing: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub cost_micros: Option<u64>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub ending: Option<AgentEnding>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub error: Option<ProviderError>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub denials: u32,
    /// What was denied, in words.
    #[serde(default, skip_serializing_if = "is_default")]
    pub denied: Vec<String>,
    /// Paths that the sandbox hid from it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub closed_paths: Vec<String>,
    /// Paths that it could not change in the sandbox.
    #[serde(default, skip_serializing_if = "is_default")]
    pub read_only_paths: Vec<String>,
    /// Hosts that the sandbox denied to it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub closed_hosts: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub final_text: String,
    /// Names of the tools it used; empty where the agent does not report them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tools: Vec<String>,
    /// Commands that its tools ran.
    #[serde(default, skip_serializing_if = "is_default")]
    pub commands: Vec<String>,
    /// The last errors that the agent and its tools printed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub errors: Vec<FingerprintedError>,
    /// Bytes of the agent's own text.
    #[serde(default, skip_serializing_if = "is_default")]
    pub output_bytes: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    pub changes: ChangeStats,
    /// Changed sources that the task does not mention.
    #[serde(default, skip_serializing_if = "is_default")]
    pub drift: Option<Box<DriftShare>>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub claim: Option<Claim>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub claims: Claims,
    /// It did nothing but run tests.
    #[serde(default, skip_serializing_if = "is_default")]
    pub test_only: bool,
    /// Globs of `exit.when` that files of the tree matched after it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub matching: Vec<String>,
    /// Plan items done after it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub items_done: u32,
    /// The results after it, in the order of the pinned criteria of that time.
    #[serde(default, skip_serializing_if = "is_default")]
    pub row: Vec<(CriterionId, Status)>,
    /// The findings of the criteria that did not pass, in words.
    #[serde(default, skip_serializing_if = "is_default")]
    pub facts: Vec<(CriterionId, String)>,
    /// The combined fingerprint of the failing required criteria; `None` if all of them pass.
    #[serde(default, skip_serializing_if = "is_default")]
    pub failing: Option<Fingerprint>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub sentence: String,
    /// Criteria that turned in it, and plan items that were done.
    #[serde(default, skip_serializing_if = "is_default")]
    pub milestones: Vec<String>,
    /// Its keeper died while the agent ran.
    #[serde(default, skip_serializing_if = "is_default")]
    pub interrupted: bool,
    /// Subjects of its commits, oldest first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub commits: Vec<String>,
    /// The commit that loopkeeper made of it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub commit: Option<String>,
    /// Its changes were rolled back.
    #[serde(rename = "takenBack", default, skip_serializing_if = "is_default")]
    pub rolled_back: bool,
    /// The criteria that it broke, in words, if the loop rolled it back for that.
    #[serde(default, skip_serializing_if = "is_default")]
    pub broke: Option<String>,
    /// Iterations before it whose changes were rolled back when it began: its tree was made without them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub without: Vec<u32>,
}

impl Iteration {
    /// Whether it failed for reasons unrelated to the work.
    pub fn is_provider_failure(&self) -> bool {
        let by_itself = matches!(self.ending, Some(AgentEnding::Exited | AgentEnding::Held));
        self.interrupted || self.error.is_some() || !by_itself
    }

    /// Files that it left changed and that are executed later without being asked. A rollback restores the work tree, not
    /// git's own files.
    pub(super) fn autorun_files(&self) -> impl Iterator<Item = &str> {
        let paths = self.changes.autorun.iter().map(String::as_str);
        paths.filter(|it| !self.rolled_back || it.starts_with(".git/"))
    }

    /// The agent ended with its own error, not with one of its provider.
    pub(crate) fn failed_by_itself(&self) -> bool {
        let own =
            |class| matches!(class, ProviderClass::Crash | ProviderClass::Refused | ProviderClass::Unknown);
        !self.interrupted
            && self.ending == Some(AgentEnding::Exited)
            && self.error.as_ref().is_some_and(|it| own(it.class))
    }
}

/// Default values are not stored, because most fields of most rows are empty.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
