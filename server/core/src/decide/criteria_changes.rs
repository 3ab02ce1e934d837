//! Attributes changes of criteria. The documents are read when the agent has exited and again right before it starts:
//! a change in between was made by the user and is adopted; a change during the run was made by the agent and is only
//! shown, unless it equals what the user saved.

use std::collections::BTreeMap;

use crate::journal::{Edit, PinnedCriterion, Proposal, Role};
use crate::loop_state::{LoopState, TaskDocuments};
use loopkeeper_task::criterion::Criterion;

/// The documents' criteria after the agent, without the changes that the user saved while it ran: those are adopted
/// later.
pub(super) fn without_saved(
    state: &LoopState,
    documents: &TaskDocuments,
    saved: &BTreeMap<String, String>,
) -> Vec<Criterion> {
    let is_users = |it: &Criterion| {
        let file = &it.place.file;
        saved.get(file).is_some_and(|sum| documents.sums.get(file) == Some(sum))
    };
    let Some(seen) = state.criteria.seen.as_ref().filter(|_| !saved.is_empty()) else {
        return documents.criteria.clone();
    };
    let agents = documents.criteria.iter().filter(|it| !is_users(it));
    seen.iter().filter(|it| is_users(it)).chain(agents).cloned().collect()
}

/// The pinned criteria with the user's changes adopted; `None` when the user changed nothing.
pub(super) fn with_user_changes(state: &LoopState, now: &[Criterion]) -> Option<Vec<PinnedCriterion>> {
    let seen = state.criteria.seen.as_ref()?;
    if same_criteria(seen, now) {
        return None;
    }
    let in_list = |list: &[Criterion], it: &Criterion| list.iter().any(|other| other.id == it.id);
    let mut pinned: Vec<PinnedCriterion> = Vec::new();
    for old in &state.criteria.pinned {
        let removed = in_list(seen, &old.criterion) && !in_list(now, &old.criterion);
        if !removed {
            pinned.push(PinnedCriterion { criterion: updated_by_user(old, seen, now), role: old.role });
        }
    }
    for new in now {
        let known = in_list(seen, new) || pinned.iter().any(|it| it.criterion.id == new.id);
        if !known {
            pinned.push(PinnedCriterion { criterion: new.clone(), role: Role::Open });
        }
    }
    let unchanged = pinned.len() == state.criteria.pinned.len()
        && pinned
            .iter()
            .zip(&state.criteria.pinned)
            .all(|(a, b)| decisive_fields(&a.criterion) == decisive_fields(&b.criterion));
    (!unchanged).then_some(pinned)
}

/// The user's current version of the criterion, if its attributes were changed by the user.
fn updated_by_user(old: &PinnedCriterion, seen: &[Criterion], now: &[Criterion]) -> Criterion {
    let find = |list: &[Criterion]| list.iter().find(|it| it.id == old.criterion.id).cloned();
    match (find(seen), find(now)) {
        (Some(before), Some(after)) if decisive_fields(&before) != decisive_fields(&after) => after,
        (_, _) => old.criterion.clone(),
    }
}

/// Changes by the agent to the criteria in the documents. They never take effect.
pub(super) fn agent_proposals(state: &LoopState, now: &[Criterion]) -> Vec<Proposal> {
    let mut found = Vec::new();
    for new in now {
        match state.criteria.pinned.iter().find(|it| it.criterion.id == new.id) {
            None => found.push(Proposal::new(Edit::Added, &new.name)),
            Some(old) if decisive_fields(&old.criterion) != decisive_fields(new) => {
                found.push(Proposal::new(Edit::Altered, &new.name));
            }
            Some(_) => {}
        }
    }
    for old in &state.criteria.pinned {
        if !now.iter().any(|it| it.id == old.criterion.id) {
            found.push(Proposal::new(Edit::Removed, &old.criterion.name));
        }
    }
    found
}

/// Whether two versions of the documents contain equivalent criteria in the same order.
pub(super) fn same_criteria(a: &[Criterion], b: &[Criterion]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| decisive_fields(a) == decisive_fields(b))
}

/// The fields that affect the result; wording, ticks and positions do not.
fn decisive_fields(criterion: &Criterion) -> (&str, bool, Option<u64>, Option<&str>, Option<u32>) {
    (&criterion.id.0, criterion.required, criterion.timeout_ms, criterion.group.as_deref(), criterion.stage)
}
