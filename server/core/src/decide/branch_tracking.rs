//! Tracks the branch that HEAD points to against the loop's own: commits of the agent on another branch are easily
//! lost. Only reports; never switches branches during a loop.

use crate::journal::{GitHead, SnapshotWhen};
use crate::loop_state::{HeadTarget, LoopState};
use loopkeeper_text::sanitize;
use loopkeeper_text::tr;

/// Updates HEAD from a snapshot. A move between two iterations was made by the user, and becomes the loop's branch.
pub(super) fn record_snapshot_head(state: &mut LoopState, when: SnapshotWhen, head: Option<&GitHead>) {
    let target = head_target(head);
    let (iteration, tracking) = (state.iteration, &mut state.git.branch);
    match when {
        SnapshotWhen::BeforeRollback => {}
        SnapshotWhen::Before => {
            if target != tracking.now {
                tracking.home = match &target {
                    HeadTarget::Branch(name) => Some(name.clone()),
                    HeadTarget::Detached => None,
                    HeadTarget::Nowhere => tracking.home.take(),
                };
                tracking.left_in = None;
            }
            tracking.record_head(target);
        }
        SnapshotWhen::After => {
            let was_away = tracking.head_elsewhere().is_some();
            let has_moved = target != tracking.now;
            tracking.home = tracking.home.take().or_else(|| branch_name(&target).filter(|_| has_moved));
            tracking.record_head(target);
            if tracking.head_elsewhere().is_none() {
                tracking.left_in = None;
            } else if !was_away {
                tracking.left_in = Some(iteration);
            }
        }
    }
}

/// For the summary of an iteration.
pub(super) fn summary_clause(state: &LoopState) -> Option<String> {
    let tracking = &state.git.branch;
    let (now, home) = (tracking.head_elsewhere()?, tracking.home.as_ref()?);
    (tracking.left_in == Some(state.iteration)).then(|| match now {
        HeadTarget::Nowhere => unreadable_repository().to_owned(),
        HeadTarget::Detached | HeadTarget::Branch(_) => {
            tr!("it left the branch `{branch}`: HEAD is on {now}", branch = sanitize::line(home), now)
        }
    })
}

/// The summary for users.
pub fn sentence(state: &LoopState) -> Option<String> {
    let (now, home) = (state.git.branch.head_elsewhere()?, state.git.branch.home.as_ref()?);
    let branch = sanitize::line(home);
    Some(match now {
        HeadTarget::Nowhere => unreadable_repository().to_owned(),
        HeadTarget::Detached | HeadTarget::Branch(_) => {
            tr!("HEAD is on {now}, not on the loop's branch `{branch}`", now, branch)
        }
    })
}

/// HEAD was on a commit before.
fn unreadable_repository() -> &'static str {
    tr!("git finds no commit any more: `.git` was removed or damaged, or HEAD is on a branch without one")
}

fn head_target(head: Option<&GitHead>) -> HeadTarget {
    match head.map(|it| &it.branch) {
        None => HeadTarget::Nowhere,
        Some(None) => HeadTarget::Detached,
        Some(Some(branch)) => HeadTarget::Branch(branch.clone()),
    }
}

fn branch_name(target: &HeadTarget) -> Option<String> {
    match target {
        HeadTarget::Branch(name) => Some(name.clone()),
        HeadTarget::Nowhere | HeadTarget::Detached => None,
    }
}
