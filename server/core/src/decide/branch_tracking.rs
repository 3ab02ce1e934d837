//! Tracks the branch that HEAD points to against the loop's own: commits of the agent on another branch are easily
//! lost. Only reports; never switches branches during a loop.

use std::fmt;

use crate::journal::{GitHead, SnapshotWhen};
use loopkeeper_text::sanitize;

use super::state::LoopState;

/// The target of HEAD.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum HeadTarget {
    /// No commit: no repository, a branch that has none yet, or nothing that git can read.
    #[default]
    Nowhere,
    Detached,
    Branch(String),
}

/// HEAD tracking derived from the records.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BranchTracking {
    /// The branch that the loop works on; `None` where there is none.
    pub home: Option<String>,
    pub now: HeadTarget,
    /// The iteration that left it.
    pub left_in: Option<u32>,
    /// HEAD was on a commit at some time.
    seen: bool,
}

impl BranchTracking {
    /// Sets the loop's branch after it was created or checked out.
    pub(super) fn set_home_branch(&mut self, branch: Option<&str>) {
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

    fn record_head(&mut self, place: HeadTarget) {
        self.seen |= place != HeadTarget::Nowhere;
        self.now = place;
    }
}

/// Updates HEAD from a snapshot. A move between two iterations was made by the user, and becomes the loop's branch.
pub(super) fn record_snapshot_head(state: &mut LoopState, when: SnapshotWhen, head: Option<&GitHead>) {
    let place = place(head);
    let (iteration, stand) = (state.iteration, &mut state.stand);
    match when {
        SnapshotWhen::BeforeRollback => {}
        SnapshotWhen::Before => {
            if place != stand.now {
                stand.home = match &place {
                    HeadTarget::Branch(name) => Some(name.clone()),
                    HeadTarget::Detached => None,
                    HeadTarget::Nowhere => stand.home.take(),
                };
                stand.left_in = None;
            }
            stand.record_head(place);
        }
        SnapshotWhen::After => {
            let was_away = stand.head_elsewhere().is_some();
            stand.home = stand.home.take().or_else(|| branch(&place).filter(|_| place != stand.now));
            stand.record_head(place);
            if stand.head_elsewhere().is_none() {
                stand.left_in = None;
            } else if !was_away {
                stand.left_in = Some(iteration);
            }
        }
    }
}

/// The suffix for the summary of an iteration.
pub(super) fn sentence_suffix(state: &LoopState) -> String {
    let stand = &state.stand;
    match (stand.head_elsewhere(), &stand.home) {
        (Some(now), Some(home)) if stand.left_in == Some(state.iteration) => {
            format!("; it left the branch `{}`: HEAD is on {now}", sanitize::line(home))
        }
        _ => String::new(),
    }
}

/// The summary for users.
pub fn sentence(state: &LoopState) -> Option<String> {
    let (now, home) = (state.stand.head_elsewhere()?, state.stand.home.as_ref()?);
    Some(format!("HEAD is on {now}, not on the loop's branch `{}`", sanitize::line(home)))
}

fn place(head: Option<&GitHead>) -> HeadTarget {
    match head.map(|it| &it.branch) {
        None => HeadTarget::Nowhere,
        Some(None) => HeadTarget::Detached,
        Some(Some(branch)) => HeadTarget::Branch(branch.clone()),
    }
}

fn branch(place: &HeadTarget) -> Option<String> {
    match place {
        HeadTarget::Branch(name) => Some(name.clone()),
        HeadTarget::Nowhere | HeadTarget::Detached => None,
    }
}

/// Phrased to follow "HEAD is on".
impl fmt::Display for HeadTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nowhere => f.write_str("no commit"),
            Self::Detached => f.write_str("no branch (detached)"),
            Self::Branch(name) => write!(f, "`{}`", sanitize::line(name)),
        }
    }
}
