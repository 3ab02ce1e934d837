//! Hovers, as blocks that are rendered at the end. All block contents are untrusted until rendered.

mod render;
#[cfg(test)]
mod tests;

use super::reading::{attributes, describe_check};
use super::task_predicates::overlap;
use super::{TaskView, grid, state, weakened};
use crate::{LoopStatus, loop_details, sentences};
use loopkeeper_core::check::CheckResult;
use loopkeeper_core::decide::LoopState;
use loopkeeper_core::decide::flaky::passes_needed;
use loopkeeper_core::journal::{BreakerState, PauseReason, Weakening};
use loopkeeper_core::prompt::grammar::check_spans;
use loopkeeper_task::PlanItem;
use loopkeeper_task::criterion::{Criterion, CriterionId};
use loopkeeper_text::tr;
use loopkeeper_text::{DocumentRange, words};

/// Limits of an output and of the places that it names, so that they fit a hover.
const OUTPUT_BYTES: usize = 1500;
const MAX_PLACES: usize = 8;

/// The hover content for a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    pub place: DocumentRange,
    pub blocks: Vec<HoverBlock>,
}

/// Raw text; only [`Hover::markdown`] and [`Hover::plain`] make it safe to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HoverBlock {
    Title(String),
    /// One line of text.
    Text(String),
    /// Monospaced lines: a command, an output, the grid.
    Code(String),
    /// Where the details of the loop with this id are.
    Details(String),
}

/// The hover for the byte at `offset` of `file`.
pub fn hover(view: &TaskView<'_>, (file, offset): (&str, usize)) -> Option<Hover> {
    let at = |place: &DocumentRange| place.file == file && overlap(&place.range, &(offset..offset));
    let criterion = view.task.criteria.iter().find(|it| at(&it.place));
    let item = view.task.plan.iter().find(|it| at(&it.place));
    let (place, blocks) = if let Some(criterion) = criterion {
        (criterion.place.clone(), criterion_blocks(view, criterion))
    } else if let Some(item) = item {
        (item.place.clone(), item_blocks(view, item))
    } else {
        (view.heading().filter(at)?, task_blocks(view))
    };
    Some(Hover { place, blocks })
}

fn criterion_blocks(view: &TaskView<'_>, criterion: &Criterion) -> Vec<HoverBlock> {
    let mut all = vec![HoverBlock::Title(criterion.name.clone())];
    let Some(check) = &criterion.check else {
        all.push(HoverBlock::Text(
            tr!("No check: only the agent's claim counts. Add one, for example `$ npm test`.").to_owned(),
        ));
        return all;
    };
    let criterion_state = state::criterion_state(view, criterion).unwrap_or_default();
    let latest = view.latest_result(&criterion.id);
    all.push(HoverBlock::Text(criterion_state));
    let row = view.state.map(|it| grid::row(it, &criterion.id)).unwrap_or_default();
    if row.contains(|it| it != '·') {
        all.push(HoverBlock::Text(tr!("By iteration: {row}", row)));
    }
    all.extend(view.state.and_then(|it| flaky(it, &criterion.id)).map(HoverBlock::Text));
    all.extend(weakened::weakenings_at(view, Some(&criterion.id)).map(weakening_block));
    let rules = criterion.number_rules.iter().map(|it| it.written());
    all.push(HoverBlock::Code(check_spans(check).into_iter().chain(rules).collect::<Vec<_>>().join("\n")));
    let mut meaning = describe_check(check);
    meaning.extend(attributes(criterion));
    all.push(HoverBlock::Text(sentences::paragraph(&meaning)));
    if let Some(latest) = latest {
        let remedy = latest.result.missing_on_machine().map(|it| it.remedy.as_str());
        let remedy = remedy.filter(|it| !it.is_empty());
        all.extend(remedy.map(|it| HoverBlock::Text(sentences::sentence(it))));
        all.extend(output_blocks(latest.result));
    }
    all
}

/// The places where a check failed, and its output.
fn output_blocks(result: &CheckResult) -> Vec<HoverBlock> {
    let places = result.failure_lines(MAX_PLACES, OUTPUT_BYTES);
    let output = result.output_within(OUTPUT_BYTES);
    let parts = [(tr!("Where it fails:"), places.join("\n")), (tr!("Its output:"), output)];
    let parts = parts.into_iter().filter(|(_, text)| !text.trim().is_empty());
    parts.flat_map(|(label, text)| [HoverBlock::Text(label.to_owned()), HoverBlock::Code(text)]).collect()
}

fn item_blocks(view: &TaskView<'_>, item: &PlanItem) -> Vec<HoverBlock> {
    let belongs = |it: &&Criterion| it.plan_item.as_deref() == Some(item.id.as_str());
    let criteria = view.task.criteria.iter().filter(belongs);
    let account = match (item.done, item.blocking) {
        (true, _) => tr!("Marked done: the agent's own claim."),
        (false, true) => tr!("Open: the loop does not complete without it."),
        (false, false) => tr!("Open, but optional: the loop can complete without it."),
    };
    let mut all = vec![HoverBlock::Title(item.title.clone()), HoverBlock::Text(account.to_owned())];
    let lines: Vec<String> =
        criteria.map(|it| format!("{} {}", state::criterion_glyph(view, it), it.name)).collect();
    if !lines.is_empty() {
        all.push(HoverBlock::Code(lines.join("\n")));
    }
    all
}

/// Three lines, the grid, further important facts, and where the details are.
fn task_blocks(view: &TaskView<'_>) -> Vec<HoverBlock> {
    let title = if view.task.title.is_empty() { view.reference } else { &view.task.title };
    let mut all = vec![HoverBlock::Title(title.to_owned())];
    let loop_state =
        state::loop_state(view).unwrap_or_else(|| tr!("Idle · {counts}", counts = view.tally().sentence()));
    all.push(HoverBlock::Text(loop_state));
    let mut reasons = reasons(view).into_iter();
    all.extend(reasons.next());
    all.extend(view.state.map(|it| HoverBlock::Code(grid::grid(it))));
    all.extend(reasons);
    all.extend(view.status.map(|it| HoverBlock::Details(it.id.clone())));
    all
}

/// Facts and instructions for the user, the most important first.
fn reasons(view: &TaskView<'_>) -> Vec<HoverBlock> {
    let mut all = Vec::new();
    if view.trust.unknown > 0 {
        let commands = words::counted(view.trust.unknown as u64, "command");
        all.push(HoverBlock::Text(if view.trust.unknown == 1 {
            tr!("{commands} needs your trust.", commands)
        } else {
            tr!("{commands} need your trust.", commands)
        }));
    }
    if let Some(outcome) = view.status.and_then(|it| it.outcome.as_ref()) {
        all.push(HoverBlock::Text(sentences::sentence(&outcome.sentence.to_string())));
    }
    // The breaker has its own line.
    let pause = view.open_loop().and_then(|it| it.pause.as_ref());
    if let Some(pause) = pause.filter(|it| it.reason != PauseReason::Breaker) {
        let message = pause.message.to_string();
        all.push(HoverBlock::Text(sentences::sentence(message.trim_end_matches(['.', '。']))));
    }
    let open = view.open_loop().filter(|it| it.breaker.state == BreakerState::Open);
    let sentence = |it: &LoopStatus| sentences::sentence(&loop_details::breaker(it, view.state));
    all.extend(open.map(|it| HoverBlock::Text(sentence(it))));
    all.extend(weakened::reported_weakenings(view).map(|(it, _)| weakening_block(it)));
    all.extend(grade(view).map(HoverBlock::Text));
    all
}

/// The grade of the criteria, before a loop and for the next one.
fn grade(view: &TaskView<'_>) -> Option<String> {
    if view.open_loop().is_some() || view.task.criteria.is_empty() {
        return None;
    }
    Some(tr!("Criteria: {grade}.", grade = view.task_lints().grade.sentence()))
}

fn weakening_block(weakening: &Weakening) -> HoverBlock {
    HoverBlock::Text(tr!(
        "Weakened in iteration {number}: {what}.",
        number = weakening.since,
        what = weakening.what
    ))
}

fn flaky(state: &LoopState, id: &CriterionId) -> Option<String> {
    let rounds = passes_needed(state, id).filter(|_| state.outcome().is_none())?;
    Some(tr!("It passes and fails on the same files: it must pass {rounds} rounds in a row.", rounds))
}
