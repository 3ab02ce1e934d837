//! Compares the agent's ticks with the results: items ticked too early, and finished items that are not ticked.

use std::collections::HashMap;

use crate::editor::TaskView;
use crate::editor::diagnostic::{Diagnostic, DiagnosticCode, Severity};
use crate::editor::task_predicates::is_failure;
use loopkeeper_core::check::Status;
use loopkeeper_task::PlanItem;
use loopkeeper_task::criterion::Criterion;
use loopkeeper_task::dependencies::find_cycle_members;
use loopkeeper_text::clauses;
use loopkeeper_text::tr;

/// Number of items of a cycle that a message names.
const MAX_NAMES: usize = 5;

pub(super) fn plan_diagnostics(view: &TaskView<'_>) -> Vec<Diagnostic> {
    let mut criteria: HashMap<&str, Vec<&Criterion>> = HashMap::new();
    for criterion in &view.task.criteria {
        if let Some(item) = &criterion.plan_item {
            criteria.entry(item).or_default().push(criterion);
        }
    }
    let of = |item: &PlanItem| criteria.get(item.id.as_str()).map_or(&[][..], Vec::as_slice);
    let mut all: Vec<Diagnostic> =
        view.task.plan.iter().filter_map(|it| item_diagnostic(view, it, of(it))).collect();
    all.extend(order_diagnostics(&view.task.plan));
    all
}

/// Items that wait for each other, and items that are done before one that they depend on.
fn order_diagnostics(plan: &[PlanItem]) -> Vec<Diagnostic> {
    let by_id: HashMap<&str, usize> = plan.iter().enumerate().map(|(at, it)| (it.id.as_str(), at)).collect();
    let before = |item: &PlanItem| -> Vec<usize> {
        item.depends_on.iter().filter_map(|it| by_id.get(it.as_str()).copied()).collect()
    };
    let edges: Vec<Vec<usize>> = plan.iter().map(before).collect();
    let cycle = find_cycle_members(&edges);
    let titles: Vec<&str> =
        cycle.iter().filter_map(|it| plan.get(*it)).map(|it| it.id.as_str()).take(MAX_NAMES).collect();
    let more = (cycle.len() > MAX_NAMES).then_some("…");
    let list = clauses::list(titles.into_iter().chain(more));
    let fact = tr!("circular: {list} depend on each other", list);
    let kind = (Severity::Warning, DiagnosticCode::BadValue);
    let circular = cycle
        .iter()
        .filter_map(|it| plan.get(*it))
        .map(|it| Diagnostic::of(&it.place, kind, &it.title, &fact, tr!("Remove one of the dependencies")));
    let early = plan.iter().zip(&edges).filter(|(it, _)| it.done).filter_map(|(item, before)| {
        let open = before.iter().filter_map(|it| plan.get(*it)).find(|it| !it.done)?;
        let fact = tr!("marked done before {item}, which it depends on", item = open.id);
        Some(Diagnostic::of(
            &item.place,
            (Severity::Information, DiagnosticCode::FalseClaim),
            &item.title,
            &fact,
            "",
        ))
    });
    circular.chain(early).collect()
}

fn item_diagnostic(view: &TaskView<'_>, item: &PlanItem, criteria: &[&Criterion]) -> Option<Diagnostic> {
    if item.done { false_claim(view, item, criteria) } else { unticked_item(view, item, criteria) }
}

fn false_claim(view: &TaskView<'_>, item: &PlanItem, criteria: &[&Criterion]) -> Option<Diagnostic> {
    let failing: Vec<_> = criteria.iter().filter(|it| status(view, it).is_some_and(is_failure)).collect();
    let first = failing.first()?;
    let fact = match (failing.len(), criteria.len()) {
        (1, 1) => tr!("marked done, but its check fails").to_owned(),
        (1, _) => tr!("marked done, but this fails: {name}", name = first.name),
        (n, of) => tr!("marked done, but {count} of its {total} criteria fail", count = n, total = of),
    };
    let severity = if view.is_working() { Severity::Information } else { Severity::Warning };
    Some(Diagnostic::of(&item.place, (severity, DiagnosticCode::FalseClaim), &item.title, &fact, ""))
}

/// A finished item without a tick. Requires a check for every criterion, because otherwise some work may be open.
fn unticked_item(view: &TaskView<'_>, item: &PlanItem, criteria: &[&Criterion]) -> Option<Diagnostic> {
    let holds = |it: &&Criterion| status(view, it) == Some(Status::Pass);
    if criteria.is_empty() || !criteria.iter().all(holds) {
        return None;
    }
    let fact = if criteria.len() == 1 {
        tr!("still open although its check passes")
    } else {
        tr!("still open although all its criteria pass")
    };
    let kind = (Severity::Information, DiagnosticCode::Unclaimed);
    Some(Diagnostic::of(&item.place, kind, &item.title, fact, ""))
}

/// The status on the current tree; results of another tree do not contradict later ticks.
fn status(view: &TaskView<'_>, criterion: &Criterion) -> Option<Status> {
    criterion.check.as_ref()?;
    view.latest_result(&criterion.id).filter(|it| !it.stale).map(|it| it.result.status)
}
