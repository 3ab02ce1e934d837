//! One row of a loop's history.

use crate::check::Status;
use crate::claims::Claims;
use crate::journal::{ChangeStats, Claim, DriftShare};
use loopkeeper_agent::errors::{Fingerprint, SeenError};
use loopkeeper_agent::{AgentEnding, ProviderError};
use loopkeeper_task::criterion::CriterionId;
use loopkeeper_text::moment::Moment;

#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not exclude each other")]
pub struct Iteration {
    pub number: u32,
    /// Its name.
    pub agent: String,
    pub started_at: Moment,
    /// When all of it was over, checks included.
    pub ended_at: Moment,
    pub duration_ms: u64,
    pub session: String,
    /// It went on with the session of one before it.
    pub resumed: bool,
    /// And the agent did not know it any more: nothing was worked on.
    pub session_lost: bool,
    /// There is no such program.
    pub program_missing: bool,
    pub cost_micros: Option<u64>,
    pub tokens: Option<u64>,
    pub ending: Option<AgentEnding>,
    pub error: Option<ProviderError>,
    pub denials: u32,
    /// What was denied, in words.
    pub denied: Vec<String>,
    /// Paths that the sandbox closed to it.
    pub closed_paths: Vec<String>,
    pub final_text: String,
    /// Names of the tools it used; empty where the agent does not report them.
    pub tools: Vec<String>,
    /// Commands that its tools ran.
    pub commands: Vec<String>,
    /// The last errors that the agent and its tools printed.
    pub errors: Vec<SeenError>,
    /// Bytes of the agent's own words.
    pub output_bytes: u64,
    pub changes: ChangeStats,
    /// Changed sources that the task does not mention.
    pub drift: Option<Box<DriftShare>>,
    pub claim: Option<Claim>,
    pub claims: Claims,
    /// It did nothing but run tests.
    pub test_only: bool,
    /// Globs of `exit.when` that files of the tree matched after it.
    pub matching: Vec<String>,
    /// Plan items done after it.
    pub items_done: u32,
    /// In the order of the pinned criteria of that time.
    pub row: Vec<(CriterionId, Status)>,
    /// What was found where a criterion did not pass, in words.
    pub facts: Vec<(CriterionId, String)>,
    /// How the required criteria that do not pass fail, all together; `None` where all of them pass.
    pub failing: Option<Fingerprint>,
    pub sentence: String,
    /// What turned or got done in it.
    pub milestones: Vec<String>,
    /// Its keeper died while the agent ran.
    pub interrupted: bool,
    /// Subjects of its commits, oldest first.
    pub commits: Vec<String>,
    /// The commit that loopkeeper made of it.
    pub commit: Option<String>,
    /// Its changes were rolled back.
    pub taken_back: bool,
    /// What it broke, where the loop itself took it back for that.
    pub broke: Option<String>,
    /// Iterations before it whose changes were rolled back when it began: its tree was made without them.
    pub without: Vec<u32>,
}
