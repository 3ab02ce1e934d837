//! Changes of iterations that no commit contains yet.

use serde::{Deserialize, Serialize};

/// The commits still to be made, and the last attempt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UncommittedWork {
    /// Pairs of trees that enclose the changes, oldest first; changes by the user lie between the pairs.
    pub spans: Vec<SnapshotRange>,
    /// The last iteration that was to be committed, whatever the result.
    pub(crate) tried: u32,
    /// Why the last iteration was not committed.
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotRange {
    pub from: String,
    pub to: String,
}

impl UncommittedWork {
    pub(crate) fn add(&mut self, from: &str, to: &str) {
        if from == to {
            return;
        }
        match self.spans.last_mut() {
            Some(last) if last.to == from => to.clone_into(&mut last.to),
            Some(_) | None => self.spans.push(SnapshotRange { from: from.to_owned(), to: to.to_owned() }),
        }
        // Changes that were rolled back before their commit need no commit.
        self.spans.retain(|it| it.from != it.to);
    }
}
