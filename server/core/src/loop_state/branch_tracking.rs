//! The branch that HEAD points to, compared with the loop's own.

use std::fmt;

use loopkeeper_text::sanitize;
use loopkeeper_text::tr;
use serde::{Deserialize, Serialize};

/// The target of HEAD.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum HeadTarget {
    /// No commit: no repository, a branch that has none yet, or nothing that git can read.
    #[default]
    Nowhere,
    Detached,
    Branch(String),
}

/// HEAD tracking derived from the records.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BranchTracking {
    /// The branch that the loop works on; `None` where there is none.
    pub home: Option<String>,
    pub now: HeadTarget,
    /// The iteration that left it.
    pub left_in: Option<u32>,
    /// HEAD was on a commit at some time.
    pub(crate) seen: bool,
}

impl BranchTracking {
    /// Sets the loop's branch after it was created or checked out.
    pub(crate) fn set_home_branch(&mut self, branch: Option<&str>) {
        self.home = branch.map(str::to_owned);
    }

    /// The target of HEAD if it is not the loop's branch.
    pub fn head_elsewhere(&self) -> Option<&HeadTarget> {
        let home = self.home.as_ref()?;
        match &self.now {
            HeadTarget::Nowhere if !self.seen => None,
            HeadTarget::Branch(name) if name == home => None,
            other => Some(other),
        }
    }

    pub(crate) fn record_head(&mut self, target: HeadTarget) {
        self.seen |= target != HeadTarget::Nowhere;
        self.now = target;
    }
}

/// Phrased to follow "HEAD is on".
impl fmt::Display for HeadTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nowhere => f.write_str(tr!("no commit")),
            Self::Detached => f.write_str(tr!("no branch (detached)")),
            Self::Branch(name) => write!(f, "`{}`", sanitize::line(name)),
        }
    }
}
