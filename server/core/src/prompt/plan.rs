//! What of the plan is open, in the order in which it is to be done.

use std::fmt::Write as _;

use crate::task::PlanItem;

use super::sections::short;

const MAX_OPEN_ITEMS: usize = 5;

/// The section of the prompt.
pub(super) fn tell(out: &mut String, plan: &[PlanItem]) {
    if plan.is_empty() {
        return;
    }
    let open = in_order(plan);
    let _ = writeln!(out, "## The plan: {} of {} done\n", plan.len() - open.len(), plan.len());
    // Where nothing but its place in the document orders an item, the agent may choose.
    let ordered = plan.iter().any(|it| it.priority.is_some() || !it.depends_on.is_empty());
    for (at, item) in open.iter().take(MAX_OPEN_ITEMS).enumerate() {
        let waits = waits_for(plan, item);
        let is_next = at == 0 && ordered && item.blocking && waits.is_empty();
        let label = if is_next { "next" } else { "open" };
        let optional = if item.blocking { "" } else { " (optional)" };
        let after = if waits.is_empty() { String::new() } else { format!(", after {}", waits.join(", ")) };
        let _ = writeln!(out, "- {label}: {}{optional}{after}", short(&item.title));
    }
    if open.len() > MAX_OPEN_ITEMS {
        let _ = writeln!(out, "- and {} more", open.len() - MAX_OPEN_ITEMS);
    }
    out.push('\n');
}

/// What keeps the loop going comes first, then what waits for nothing, then the lower priority, then the document.
fn in_order(plan: &[PlanItem]) -> Vec<&PlanItem> {
    let mut open: Vec<&PlanItem> = plan.iter().filter(|it| !it.done).collect();
    open.sort_by_key(|it| {
        (!it.blocking, !waits_for(plan, it).is_empty(), it.priority.is_none(), it.priority)
    });
    open
}

/// What must be done before it and is not. Nobody waits for an item that is skipped.
fn waits_for(plan: &[PlanItem], item: &PlanItem) -> Vec<String> {
    let is_open = |id: &&String| plan.iter().any(|it| it.id == **id && !it.done && it.blocking);
    item.depends_on.iter().filter(is_open).map(|it| short(it)).collect()
}
