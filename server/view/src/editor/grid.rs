//! Criteria over iterations as plain text. Below them are the counts towards the breaker and the amount of
//! change per iteration: empty columns show a stuck loop.

#[cfg(test)]
mod tests;

use super::state::glyph;
use crate::cells::padded;
use crate::criteria::known_status;
use loopkeeper_core::check::{CriteriaTally, Status};
use loopkeeper_core::decide::breaker;
use loopkeeper_core::decide::{Iteration, IterationOutline, LoopState};
use loopkeeper_core::journal::{PinnedCriterion, Role};
use loopkeeper_task::criterion::{Criterion, CriterionId};
use loopkeeper_text::tr;
use loopkeeper_text::{sanitize, words};

/// Maximum number of iterations; older ones do not fit.
const COLUMNS: usize = 30;
/// Longer names are cut; the column is as wide as the longest remaining name.
const NAME_CELLS: usize = 32;
const FACT_CHARS: usize = 40;
const BAR_CHARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// One criterion over all iterations, the baseline first: `✗✗✓✓`, `·` where it was not judged.
pub fn row(state: &LoopState, criterion: &CriterionId) -> String {
    std::iter::once(baseline(state, criterion))
        .chain(state.history.outlines().map(|it| cell(it.results, criterion)))
        .collect()
}

/// The grid of the last 30 iterations, with the breaker and the changed files below.
pub(crate) fn grid(state: &LoopState) -> String {
    let shown = state.history.newest(COLUMNS);
    let first = state.history.len() - shown.len();
    let names = state.criteria.pinned.iter().map(|it| words::width(&sanitize::line(&it.criterion.name)));
    let room = names.chain([words::width(tr!("breaker"))]).max().unwrap_or_default().min(NAME_CELLS);
    let line = |name: &str, cells: &str, fact: &str| {
        format!("{} {cells}  {fact}", padded(&sanitize::line(name), room)).trim_end().to_owned()
    };
    let mut lines = Vec::new();
    if !shown.is_empty() {
        lines.push(line("", &ruler(shown), ""));
    }
    for pinned in &state.criteria.pinned {
        let id = &pinned.criterion.id;
        let start = if first == 0 { baseline(state, id) } else { '…' };
        let cells: String = std::iter::once(start).chain(shown.iter().map(|it| cell(&it.row, id))).collect();
        lines.push(line(&pinned.criterion.name, &cells, &fact(state, pinned)));
    }
    if shown.is_empty() {
        return lines.join("\n");
    }
    let limit = state.spec.settings.breaker.no_progress;
    let counts = without_progress(state);
    let band: String = counts.get(first..).unwrap_or_default().iter().map(|it| level(*it, limit)).collect();
    // After the end a rollback undoes what was progress.
    let last = counts.last().copied().filter(|_| state.outcome().is_some());
    let count = last.unwrap_or_else(|| breaker::counts(state).no_progress);
    let label = tr!("no progress {count} of {limit}", count, limit);
    lines.push(line(tr!("breaker"), &format!(" {band}"), &label));
    let files: String = shown.iter().map(changed).collect();
    let last = shown.iter().rev().find_map(|it| it.changes.lines).map(|it| tr!("{count} lines", count = it));
    lines.push(line(tr!("files"), &format!(" {files}"), &last.unwrap_or_default()));
    if shown.iter().any(|it| !it.milestones.is_empty()) {
        let marks: String = shown.iter().map(|it| if it.milestones.is_empty() { ' ' } else { '◆' }).collect();
        lines.push(line(tr!("reached"), &format!(" {marks}"), ""));
    }
    lines.join("\n")
}

/// How near the breaker was after each of the last iterations.
pub(crate) fn breaker_band(state: &LoopState, columns: usize) -> String {
    let (counts, limit) = (without_progress(state), state.spec.settings.breaker.no_progress);
    counts.iter().skip(counts.len().saturating_sub(columns)).map(|it| level(*it, limit)).collect()
}

/// How many criteria passed before the first iteration. Of the baseline only the first judgement is kept.
pub fn start_tally(state: &LoopState) -> CriteriaTally {
    let found = |it: &Criterion| known_status(it, baseline_status(state, &it.id));
    CriteriaTally::of(state.criteria.pinned.iter().map(|it| (it.criterion.required, found(&it.criterion))))
}

/// How many of the criteria judged after an iteration passed.
pub fn iteration_tally(state: &LoopState, iteration: &Iteration) -> CriteriaTally {
    let pinned = |id: &CriterionId| state.criteria.pinned.iter().find(|it| it.criterion.id == *id);
    CriteriaTally::of(iteration.row.iter().map(|(id, status)| match pinned(id) {
        Some(it) => (it.criterion.required, known_status(&it.criterion, Some(*status))),
        // The criterion was removed from the task since.
        None => (true, Some(*status)),
    }))
}

fn baseline(state: &LoopState, criterion: &CriterionId) -> char {
    baseline_status(state, criterion).map_or('·', glyph)
}

fn baseline_status(state: &LoopState, criterion: &CriterionId) -> Option<Status> {
    let judged_later = |it: IterationOutline<'_>| it.status_of(criterion).is_none();
    if state.history.outlines().find(|it| !it.results.is_empty()).is_some_and(judged_later) {
        return None;
    }
    let role = state.criteria.pinned.iter().find(|it| it.criterion.id == *criterion).map(|it| it.role);
    match role {
        Some(Role::Guard) => Some(Status::Pass),
        Some(Role::Goal) => Some(Status::Fail),
        Some(Role::Open) | None => None,
    }
}

fn cell(results: &[(CriterionId, Status)], criterion: &CriterionId) -> char {
    let found = results.iter().find(|(id, _)| id == criterion);
    found.map_or('·', |(_, status)| if *status == Status::Unverified { '·' } else { glyph(*status) })
}

/// The numbers of the first shown iteration and of every tenth iteration.
fn ruler(shown: &[Iteration]) -> String {
    let mut ruler = String::from(" ");
    for (index, iteration) in shown.iter().enumerate() {
        let column = index + 1;
        let number = iteration.number.to_string();
        let is_numbered = index == 0 || iteration.number % 10 == 0;
        // Numbers that would touch the previous one are left out.
        if is_numbered && (ruler.len() < column || index == 0) {
            ruler.extend(std::iter::repeat_n(' ', column - ruler.len()));
            ruler.push_str(&number);
        }
    }
    ruler
}

fn fact(state: &LoopState, pinned: &PinnedCriterion) -> String {
    let id = &pinned.criterion.id;
    let Some(result) = state.criteria.results.get(id) else { return String::new() };
    let fact = match result.status {
        Status::Pass => tr!("pass").to_owned(),
        Status::Unverified => return sanitize::line_within(&result.fact, FACT_CHARS),
        _ if result.fact.is_empty() => tr!("fails").to_owned(),
        _ => sanitize::line_within(&result.fact, FACT_CHARS),
    };
    let broke = result.status != Status::Pass && state.held_before(id);
    match failing_since(state, id).filter(|_| broke) {
        Some(number) => tr!("{fact}, broke in {number}", fact, number),
        None if broke => tr!("{fact}, held before", fact),
        None => fact,
    }
}

/// The iteration that broke it: the one after its last pass.
fn failing_since(state: &LoopState, criterion: &CriterionId) -> Option<u32> {
    let judged =
        state.history.outlines().rev().filter_map(|it| Some((it.figures.number, it.status_of(criterion)?)));
    let since = judged.take_while(|(_, status)| *status != Status::Pass);
    since.last().map(|(number, _)| number)
}

/// The number of consecutive iterations without progress, for each iteration.
pub(crate) fn without_progress(state: &LoopState) -> Vec<u32> {
    let count = |count: &mut u32, it: IterationOutline<'_>| {
        if it.figures.has_progress {
            *count = 0;
        } else if !it.figures.is_provider_failure {
            *count = count.saturating_add(1);
        }
        Some(*count)
    };
    state.history.outlines().scan(0, count).collect()
}

fn level(count: u32, limit: u32) -> char {
    if count == 0 { '─' } else { bar(f64::from(count) / f64::from(limit.max(1))) }
}

fn changed(iteration: &Iteration) -> char {
    match iteration.changes.count {
        0 if iteration.changes.committed => BAR_CHARS.first().copied().unwrap_or(' '),
        0 => ' ',
        // Logarithmic: ten files are many, but a thousand are not a hundred times as many.
        count => bar((count as f64 + 1.0).ln() / 101_f64.ln()),
    }
}

/// The bar for a `share` of the full height.
fn bar(share: f64) -> char {
    let step = (share * BAR_CHARS.len() as f64).ceil() as usize;
    BAR_CHARS.get(step.clamp(1, BAR_CHARS.len()) - 1).copied().unwrap_or(' ')
}
