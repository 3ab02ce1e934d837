//! Writes the prompt of an agent: the task as its author wrote it, then the state of the loop. Pure.
//! It contains facts only: results of loopkeeper's own checks, never what an agent claimed about itself.

pub mod grammar;
pub mod markdown;
mod notes;
mod output;
mod past;
mod placeholders;
mod plan;
mod sections;
mod story_file;
mod template;

use std::collections::{BTreeMap, BTreeSet};

use crate::check::{CheckResult, Status};
use crate::journal::{ChangeStats, Claim, EarlierTask, PinnedCriterion, Proposal, QuestionKind};
use crate::settings::CommitPolicy;
use loopkeeper_task::PlanItem;
use loopkeeper_task::criterion::CriterionId;
use loopkeeper_text::truncate;
pub use notes::{MemoryFiles, patterns_section};
pub use plan::{open_items, plan_item};
pub(crate) use story_file::task_of_stories;
pub use template::{MAX_TEMPLATE_BYTES, PromptTemplate, TemplateFault};

/// The whole prompt is never longer; outputs of checks are shortened first, the task's text last.
pub const MAX_BYTES: usize = 256 * 1024;
/// Like [`MAX_BYTES`], for a prompt that is passed as an argument: Linux limits one to 128 KiB.
pub const MAX_ARGUMENT_BYTES: usize = 120 * 1024;

/// Number of iterations, the newest ones, that a prompt describes in full.
pub(crate) const KEPT_WHOLE: usize = 2;
/// Number of iterations, the newest ones, that have a line.
pub(crate) const MAX_LINES: usize = 30;
/// Number of decisions, the newest ones, that a prompt contains.
pub(crate) const MAX_DECISIONS: usize = 20;

/// Everything a prompt is made of.
#[derive(Debug, Clone, Copy)]
pub struct PromptInput<'a> {
    /// The prompt document's text, as the user has it now.
    pub task: &'a str,
    /// The user's own template, if there is one.
    pub template: Option<&'a PromptTemplate>,
    pub iteration: u32,
    pub budget: PromptBudget,
    pub pinned: &'a [PinnedCriterion],
    /// The last result of each criterion.
    pub results: &'a BTreeMap<CriterionId, CheckResult>,
    /// Criteria that passed in some earlier round: one of them failing is a regression.
    pub passed_before: &'a BTreeSet<CriterionId>,
    /// The iterations before this one, oldest first.
    pub past: &'a [IterationSummary<'a>],
    /// Number of iterations before those.
    pub older: usize,
    /// The tasks before this one in a queue, oldest first.
    pub earlier: &'a [EarlierTask],
    /// The project's own files of memory.
    pub notes: &'a MemoryFiles,
    /// The decisions that those iterations marked as lasting, oldest first; at most [`MAX_DECISIONS`].
    pub decisions: &'a [&'a str],
    pub plan: &'a [PlanItem],
    /// The agent continues the session of the previous iteration.
    pub resumed: bool,
    /// The question after the last iteration, if there was one.
    pub settled: Option<SettledQuestion<'a>>,
    /// The user's notes, oldest first.
    pub steering: &'a [String],
    /// Paths of the task's `CONTEXT:`.
    pub context: &'a [String],
    /// The agent's edits to criteria, which are not applied.
    pub proposed: &'a [Proposal],
    /// What the agent weakened: it has to be restored before anything counts as done.
    pub weakened: &'a [String],
    /// Faults that no check notices, if checks are required to.
    pub unnoticed: &'a [String],
    pub promise: &'a str,
    /// The current stage; criteria of later stages are not due yet.
    pub due_stage: u32,
    /// An observation about the last iterations, as one sentence.
    pub advice: Option<&'a str>,
    /// Whether agent or loop commits.
    pub commits: CommitPolicy,
    /// If HEAD left the loop's branch: the branch's name, and what HEAD is on now.
    pub away: Option<(&'a str, &'a str)>,
    /// Completion needs a claim although every criterion has a check (`--anyway`).
    pub claim_wanted: bool,
    /// [`MAX_BYTES`] or [`MAX_ARGUMENT_BYTES`].
    pub max_bytes: usize,
}

impl<'a> PromptInput<'a> {
    /// Criteria that the last results do not fulfil.
    fn failing_results(&self) -> impl Iterator<Item = (&'a PinnedCriterion, &'a CheckResult)> {
        let results = self.results;
        let judged = self.pinned.iter().filter_map(|it| Some((it, results.get(&it.criterion.id)?)));
        judged.filter(|(_, result)| !matches!(result.status, Status::Pass | Status::Unverified))
    }
}

/// What is left once this iteration is charged.
#[derive(Debug, Clone, Copy, Default)]
pub struct PromptBudget {
    pub iterations: u32,
    pub duration_ms: u64,
    /// `None` if the agent does not report its cost.
    pub cost_micros: Option<u64>,
    /// `None` if tokens are not reported, or not limited.
    pub tokens: Option<u64>,
    /// Four fifths of some limit are used.
    pub is_scarce: bool,
}

/// A question to the user that is settled, with or without an answer.
#[derive(Debug, Clone, Copy)]
pub struct SettledQuestion<'a> {
    pub kind: QuestionKind,
    pub question: &'a str,
    pub answer: Option<&'a str>,
}

/// An iteration before this one.
#[derive(Debug, Clone, Copy)]
pub struct IterationSummary<'a> {
    pub number: u32,
    /// The sentence that the loop recorded for it.
    pub sentence: &'a str,
    pub changes: &'a ChangeStats,
    /// Subjects of its commits.
    pub commits: &'a [String],
    pub claim: Option<Claim>,
    /// The agent's last message; empty if it has no useful one.
    pub handoff: &'a str,
    /// Its keeper died, or the agent was ended: what it left may be half done.
    pub cut_short: bool,
    /// Its changes were rolled back.
    pub rolled_back: bool,
}

/// The prompt of one iteration.
pub fn build_prompt(input: &PromptInput<'_>) -> String {
    let task = placeholders::fill_placeholders(input);
    let whole = |task: &str, output_bytes| match input.template {
        Some(template) => template.fill(input, task, output_bytes),
        None => join(task, &sections::render_all(input, output_bytes)),
    };
    let fitting =
        |output_bytes| Some(whole(&task, output_bytes)).filter(|prompt| prompt.len() <= input.max_bytes);
    if let Some(prompt) = fitting(output::BYTES) {
        return prompt;
    }
    let Some(mut prompt) = fitting(0) else {
        let room = input.max_bytes.saturating_sub(whole("", 0).len());
        return whole(&shortened_task(&task, room), 0);
    };
    // The same limit for every output: the room that short outputs leave goes to long ones.
    let (mut fits, mut too_much) = (0, output::BYTES);
    while too_much - fits > SHARE_STEP {
        let share = usize::midpoint(fits, too_much);
        match fitting(share) {
            Some(longer) => (prompt, fits) = (longer, share),
            None => too_much = share,
        }
    }
    prompt
}

/// The precision in bytes to which the limit of outputs is searched.
const SHARE_STEP: usize = 64;

fn join(task: &str, state: &str) -> String {
    format!("{}\n\n{state}", task.trim_end())
}

fn shortened_task(task: &str, room: usize) -> String {
    const NOTE: &str = "\n\n[the rest of this document is too long for a prompt: read it in its file]";
    let kept = truncate::first_bytes(task, room.saturating_sub(NOTE.len() + 2));
    format!("{kept}{NOTE}")
}

#[cfg(test)]
mod tests;
