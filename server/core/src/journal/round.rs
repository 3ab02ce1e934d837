//! Criteria as the loop judges them, and the results of a round of checks.

use serde::{Deserialize, Serialize};

use crate::check::CheckResult;
use crate::jury::JudgeUsage;
use loopkeeper_task::criterion::{Criterion, CriterionId};

/// A criterion as the loop judges it, whatever the document contains now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PinnedCriterion {
    pub criterion: Criterion,
    pub role: Role,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Failed before the first iteration: must turn.
    Goal,
    /// Passed: must not break.
    Guard,
    /// Not judged yet (added later, or no check).
    Open,
}

/// A judge or a check that the agent weakened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Weakening {
    /// Relative to the root; empty where a check runs fewer tests and no file explains it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// `tests/test_sum.py lost 2 tests`
    pub what: String,
    /// The check that names the file, or that runs fewer tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criterion: Option<CriterionId>,
    /// The iteration that did it.
    pub since: u32,
    /// The final verdict found it: a check fails with the file's version of the start.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_verdict: bool,
}

/// A fault in a changed line that no check notices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SurvivingMutant {
    /// Relative to the root.
    pub path: String,
    /// From 1.
    pub line: u32,
    /// The line as it is, without indentation.
    pub before: String,
    /// The line with the fault; empty where it is removed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub after: String,
}

/// A test that the loop added, and that notices no fault in the changed lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HollowTest {
    /// Relative to the root.
    pub path: String,
    /// From 1.
    pub line: u32,
    pub name: String,
}

/// A clean room that is a copy of the tree at another path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CleanRoomCopy {
    /// Why there is no overlay.
    pub why: String,
    /// Ignored files and folders that are links to those of the work tree; the first 20 in a record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linked: Vec<String>,
    /// Nothing keeps checks from writing to the work tree.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_writable: bool,
}

/// Files and folders that were created outside the work tree since the loop began.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutsideFiles {
    /// Those outside the folders for temporary files.
    pub count: u64,
    /// Whether there are more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_partial: bool,
    /// Why the checks saw all of them; absent where they were hidden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visible: Option<String>,
}

/// A program that checks run by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckProgram {
    pub name: String,
    /// Links resolved.
    pub path: String,
    /// The first line that it prints for `--version`, where that is known to be harmless.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Hash of the program's file; absent for very large files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

impl CheckProgram {
    /// `python3: /usr/bin/python3.11, Python 3.11.2, sha256 …`
    pub fn sentence(&self) -> String {
        let version = self.version.as_ref().map(|it| format!(", {it}")).unwrap_or_default();
        let hash = self.sha256.as_ref().map(|it| format!(", sha256 {it}")).unwrap_or_default();
        format!("{}: {}{version}{hash}", self.name, self.path)
    }
}

/// All checks, one after the other, on one tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Round {
    pub tree_before: String,
    pub tree_after: String,
    /// Paths that differ between the two; the first 200.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrote: Vec<String>,
    pub results: Vec<CheckResult>,
    /// The usage of judges, repeated rounds included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judging: Option<JudgeUsage>,
}

impl Round {
    /// The result of one criterion, if it was part of the round.
    pub fn result(&self, id: &CriterionId) -> Option<&CheckResult> {
        self.results.iter().find(|it| it.criterion == *id)
    }
}
