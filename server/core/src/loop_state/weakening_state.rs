//! The weakenings by the agent, and the baseline that files are compared with.

use std::collections::{BTreeMap, BTreeSet};

use crate::journal::{UnacceptedChange, Weakening};
use loopkeeper_task::criterion::CriterionId;
use serde::{Deserialize, Serialize};

use super::{FewestSurvivors, MutantRun, TreeVerdict};

/// The weakenings in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WeakeningState {
    /// The weakenings found after the last iteration, without those restored or accepted since.
    pub weakened: Vec<Weakening>,
    /// Weakened files that were restored since. They count until the checks have run on them, but are not reported.
    #[serde(rename = "mended")]
    pub restored: BTreeSet<String>,
    /// The snapshot that files are compared with; empty: the start.
    pub start: String,
    /// Paths that are compared with a later snapshot.
    pub pins: BTreeMap<String, String>,
    /// How many tests each check ran before the first iteration.
    pub tests: BTreeMap<CriterionId, u64>,
    /// The tree after the last iteration and its checks: later differences are changes by the user.
    pub last_tree: String,
    /// Paths that the user rolled back since, beside own edits. The latest are last.
    pub partial_rollbacks: Vec<PartialRollback>,
    /// The last iteration when the user resumed the loop.
    pub resumed: u32,
    /// The last final verdict.
    pub verdict: Option<TreeVerdict>,
    pub mutants: Option<MutantRun>,
    pub fewest_survivors: Option<FewestSurvivors>,
    /// An iteration changed files that the task allows to change, or more files than its record names.
    pub changed_allowed_files: bool,
    /// Files that the user accepted although they were weakened.
    pub accepted: BTreeSet<String>,
}

/// A file or folder that was rolled back by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartialRollback {
    pub path: String,
    /// The tree after the rollback.
    pub tree: String,
}

impl WeakeningState {
    pub(crate) fn set_last_tree(&mut self, tree: &str) {
        tree.clone_into(&mut self.last_tree);
        self.partial_rollbacks.clear();
    }

    pub(crate) fn add_partial_rollbacks(&mut self, paths: &[String], tree: &str) {
        self.partial_rollbacks.retain(|it| !paths.contains(&it.path));
        let of_path = |path: &String| PartialRollback { path: path.clone(), tree: tree.to_owned() };
        self.partial_rollbacks.extend(paths.iter().map(of_path));
    }

    /// Files that earlier loops of the task weakened are compared with the version before them, and count as weakened
    /// until they are restored, accepted, or pass a final verdict.
    pub(crate) fn inherit(unaccepted: &[UnacceptedChange]) -> Self {
        let weakened = unaccepted.iter().map(|it| Weakening {
            path: it.path.clone(),
            what: it.what.clone(),
            criterion: None,
            since: 0,
            by_verdict: false,
        });
        Self {
            weakened: weakened.collect(),
            pins: unaccepted.iter().map(|it| (it.path.clone(), it.tree.clone())).collect(),
            ..Self::default()
        }
    }
}
