//! Verifies an edit by parsing the result: the plan must differ in exactly the requested way, or nothing is changed.

use std::ops::Range;

use super::super::{Finding, PlanItem, Task};
use super::{PlanEditError, PlanEditTarget, TaskDocument, TextSplices, conflict_error, parse_task};
use crate::criterion::{Criterion, CriterionId};
use loopkeeper_text::DocumentRange;
use loopkeeper_text::message::Message;
use loopkeeper_text::tr;

/// Accepts only a change of whether the item, with its criteria, blocks.
pub(super) fn verify_skip(
    documents: &[TaskDocument],
    target: &PlanEditTarget<'_>,
    after: &str,
) -> Result<(), PlanEditError> {
    let now = reparse(documents, target, after);
    let mut plan = target.task.plan.clone();
    let wanted = plan.iter_mut().find(|it| it.place == target.item.place);
    if let Some(it) = wanted {
        it.blocking = !it.blocking;
    }
    let is_of_item = |it: &Criterion| it.plan_item.as_deref() == Some(target.item.id.as_str());
    let mut criteria = target.task.criteria.clone();
    for (old, new) in criteria.iter_mut().zip(&now.criteria).filter(|(old, _)| is_of_item(old)) {
        old.required = new.required;
    }
    let same = without_places(&plan) == without_places(&now.plan)
        && criteria.iter().map(without_place).eq(now.criteria.iter().map(without_place))
        && findings(target.task) == findings(&now);
    same.then_some(()).ok_or_else(|| side_effect_error(target.item))
}

/// Accepts only a change of order: two swapped priorities, or two swapped items with their nested content. Returns the
/// item's new place.
pub(super) fn verify_swap(
    documents: &[TaskDocument],
    target: &PlanEditTarget<'_>,
    other: &PlanItem,
    (splices, after): (&TextSplices, &str),
) -> Result<usize, PlanEditError> {
    let now = reparse(documents, target, after);
    let by_numbers = target.item.priority != other.priority;
    let expected = if by_numbers {
        with_swapped_priorities(target, other)
    } else {
        with_swapped_ranges(target, splices)
    };
    let criteria = |task: &Task| {
        let mut all: Vec<String> = task.criteria.iter().map(|it| format!("{:?}", without_id(it))).collect();
        all.sort();
        all
    };
    let same = expected.iter().map(comparison_key).eq(now.plan.iter().map(comparison_key))
        && criteria(target.task) == criteria(&now)
        && findings(target.task) == findings(&now);
    let mut here = expected.iter().filter(|it| it.place.file == target.document.path);
    let place = here.position(|it| it.place == target.item.place);
    place.filter(|_| same).ok_or_else(|| side_effect_error(target.item))
}

fn with_swapped_ranges(target: &PlanEditTarget<'_>, splices: &TextSplices) -> Vec<PlanItem> {
    let plan = &target.task.plan;
    let [(first, _), (second, _)] = splices.as_slice() else { return Vec::new() };
    let inside = |range: &Range<usize>| {
        let holds =
            |it: &PlanItem| it.place.file == target.document.path && range.contains(&it.place.range.start);
        let from = plan.iter().position(holds).unwrap_or(plan.len());
        from..from + plan.iter().filter(|it| holds(it)).count()
    };
    let (one, two) = (inside(first), inside(second));
    let parts = [0..one.start, two.clone(), one.end..two.start, one, two.end..plan.len()];
    parts.into_iter().flat_map(|it| plan.get(it).unwrap_or_default()).cloned().collect()
}

fn with_swapped_priorities(target: &PlanEditTarget<'_>, other: &PlanItem) -> Vec<PlanItem> {
    let mut expected = target.task.plan.clone();
    for (place, priority) in [(&target.item.place, other.priority), (&other.place, target.item.priority)] {
        expected.iter_mut().filter(|it| it.place == *place).for_each(|it| it.priority = priority);
    }
    expected
}

fn reparse(documents: &[TaskDocument], target: &PlanEditTarget<'_>, after: &str) -> Task {
    let mut documents = documents.to_vec();
    let mine = |it: &&mut TaskDocument| it.path == target.document.path;
    documents.iter_mut().filter(mine).for_each(|it| after.clone_into(&mut it.text));
    parse_task(&documents)
}

fn without_places(plan: &[PlanItem]) -> Vec<PlanItem> {
    plan.iter().map(|it| PlanItem { place: DocumentRange::default(), ..it.clone() }).collect()
}

/// An item's content for comparison, because the id of a repeat depends on its position.
fn comparison_key(item: &PlanItem) -> (&str, bool, bool, Option<i64>, &[String]) {
    (&item.title, item.done, item.blocking, item.priority, &item.depends_on)
}

fn without_place(criterion: &Criterion) -> Criterion {
    Criterion { place: DocumentRange::default(), ..criterion.clone() }
}

fn without_id(criterion: &Criterion) -> Criterion {
    Criterion { plan_item: None, id: CriterionId(String::new()), ..without_place(criterion) }
}

fn findings(task: &Task) -> Vec<String> {
    let mut all: Vec<String> =
        task.findings.iter().map(|Finding { code, message, .. }| format!("{code:?} {message}")).collect();
    all.sort();
    all
}

fn side_effect_error(item: &PlanItem) -> PlanEditError {
    let fact = tr!("\"{title}\" cannot be changed without changing something else", title = item.title);
    conflict_error(Message::new(fact).with_hint(tr!("change the plan by hand")))
}
