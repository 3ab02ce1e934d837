//! Data that the keeper reads from the work tree around an iteration: a snapshot, and the task's documents.

use std::collections::BTreeMap;

use crate::journal::{GitHead, LineStats};
use crate::prompt::{MemoryFiles, PromptTemplate};
use crate::tamper::WeakeningFinding;
use loopkeeper_task::PlanItem;
use loopkeeper_task::criterion::{Criterion, CriterionId};

/// A durable snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SnapshotFacts {
    pub tree: String,
    pub head: Option<GitHead>,
    pub not_covered: Vec<String>,
    /// Every path that differs from the snapshot before the iteration; empty for other snapshots.
    pub changed: Vec<String>,
    /// Line counts of each changed path; `None` where too much changed to be counted.
    pub lines: Option<BTreeMap<String, LineStats>>,
    /// After the agent: findings of what is weaker than at the pinned start.
    pub weakened: Vec<WeakeningFinding>,
    /// After the agent: changed files that programs of the user execute later without being asked.
    pub autorun: Vec<String>,
    /// Before the agent: protected files that the user changed since the last iteration.
    pub edited: Vec<String>,
    /// Subjects of the commits since HEAD before the iteration, oldest first.
    pub commits: Vec<String>,
}

/// The task's documents as they are now.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TaskDocuments {
    pub prompt: String,
    /// Why there is no prompt: neither the documents nor the copy of the start can be read.
    pub unreadable: Option<String>,
    pub context: Vec<String>,
    pub criteria: Vec<Criterion>,
    pub plan: Vec<PlanItem>,
    /// Hex of the sha256 of each document's text.
    pub sums: BTreeMap<String, String>,
    /// Criteria whose commands are not trusted.
    pub untrusted: Vec<CriterionId>,
    /// Commands whose trust was revoked, and the agent's own files (hooks, servers, settings) that are not trusted in
    /// their current state; fit to be shown.
    pub without_trust: Vec<String>,
    /// Globs of `exit.when` that files of the tree match.
    pub matching: Vec<String>,
    pub notes: MemoryFiles,
    /// The prompt template in its current state.
    pub template: Option<PromptTemplate>,
}
