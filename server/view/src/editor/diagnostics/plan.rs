//! Compares the agent's ticks with the results: items ticked too early, and finished items that are not ticked.

use std::collections::HashMap;

use super::{Diagnostic, DiagnosticCode, Severity};
use crate::editor::TaskView;
use crate::editor::standing::is_failure;
use loopkeeper_core::check::Status;
use loopkeeper_task::PlanItem;
use loopkeeper_task::criterion::Criterion;

pub(super) fn plan_diagnostics(known: &TaskView<'_>) -> Vec<Diagnostic> {
    let mut criteria: HashMap<&str, Vec<&Criterion>> = HashMap::new();
    for criterion in &known.task.criteria {
        if let Some(item) = &criterion.plan_item {
            criteria.entry(item).or_default().push(criterion);
        }
    }
    let of = |item: &PlanItem| criteria.get(item.id.as_str()).map_or(&[][..], Vec::as_slice);
    known.task.plan.iter().filter_map(|it| item_diagnostic(known, it, of(it))).collect()
}

fn item_diagnostic(known: &TaskView<'_>, item: &PlanItem, criteria: &[&Criterion]) -> Option<Diagnostic> {
    if item.done { false_claim(known, item, criteria) } else { unclaimed(known, item, criteria) }
}

fn false_claim(known: &TaskView<'_>, item: &PlanItem, criteria: &[&Criterion]) -> Option<Diagnostic> {
    let failing: Vec<_> = criteria.iter().filter(|it| status(known, it).is_some_and(is_failure)).collect();
    let first = failing.first()?;
    let fact = match (failing.len(), criteria.len()) {
        (1, 1) => "marked done, but its check fails".to_owned(),
        (1, _) => format!("marked done, but this fails: {}", first.name),
        (n, of) => format!("marked done, but {n} of its {of} criteria fail"),
    };
    let severity = if known.at_work() { Severity::Information } else { Severity::Warning };
    Some(Diagnostic::of(&item.place, (severity, DiagnosticCode::FalseClaim), &item.title, &fact, ""))
}

/// A finished item without a tick. Requires a check for every criterion, because otherwise some work may be open.
fn unclaimed(known: &TaskView<'_>, item: &PlanItem, criteria: &[&Criterion]) -> Option<Diagnostic> {
    let holds = |it: &&Criterion| status(known, it) == Some(Status::Pass);
    if criteria.is_empty() || !criteria.iter().all(holds) {
        return None;
    }
    let fact = if criteria.len() == 1 {
        "still open although its check passes"
    } else {
        "still open although all its criteria pass"
    };
    let kind = (Severity::Information, DiagnosticCode::Unclaimed);
    Some(Diagnostic::of(&item.place, kind, &item.title, fact, ""))
}

/// The status on the current tree; results of another tree do not contradict later ticks.
fn status(known: &TaskView<'_>, criterion: &Criterion) -> Option<Status> {
    criterion.check.as_ref()?;
    known.latest(&criterion.id).filter(|it| !it.stale).map(|it| it.result.status)
}
