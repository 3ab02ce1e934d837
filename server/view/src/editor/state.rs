//! Short states of a criterion, a plan item and a loop, for lenses, symbols and hovers, in which numbers may change
//! while they are visible.

use super::{TaskView, offered_commands};
use crate::{DisplayPhase, DisplayState, LoopStatus};
use loopkeeper_core::check::Status;
use loopkeeper_core::journal::OutcomeKind;
use loopkeeper_task::criterion::Criterion;
use loopkeeper_text::tr;
use loopkeeper_text::{sanitize, words};

/// Maximum length of a fact next to other text.
const FACT_CHARS: usize = 60;

/// `✗ 3 of 214 fail · 12 s`, `✓ pass · 2 s`, `✓ passed before the files changed`, `not checked yet`. `None`: there is
/// no check.
pub(super) fn criterion_state(view: &TaskView<'_>, criterion: &Criterion) -> Option<String> {
    criterion.check.as_ref()?;
    let Some(latest) = view.latest_result(&criterion.id) else {
        let trusted = view.is_trusted(criterion);
        return Some(if trusted { tr!("not checked yet") } else { tr!("needs trust") }.to_owned());
    };
    let result = latest.result;
    let fact = match result.status {
        Status::Pass => tr!("pass").to_owned(),
        Status::CouldNotRun => tr!("could not run, {fact}", fact = result.fact),
        _ if result.fact.is_empty() => tr!("fails").to_owned(),
        _ => result.fact.clone(),
    };
    let fact = sanitize::line_within(&fact, FACT_CHARS);
    if latest.stale {
        let symbol = glyph(result.status);
        return Some(match result.status {
            Status::Pass => tr!("{symbol} passed before the files changed", symbol),
            _ => tr!("{symbol} {fact}, before the files changed", symbol, fact),
        });
    }
    // Durations of file checks are too short to show.
    let duration = match result.duration_ms {
        0 => String::new(),
        ms => format!(" · {}", words::duration(ms)),
    };
    Some(format!("{} {fact}{duration}", glyph(result.status)))
}

pub(super) fn glyph(status: Status) -> char {
    match status {
        Status::Pass => '✓',
        Status::Fail | Status::TimedOut | Status::CouldNotRun | Status::NoTestsRan => '✗',
        // A result from a changing tree or a claim is inconclusive.
        Status::Unstable | Status::Unverified => '?',
    }
}

/// `Working · 4/25 · 3 of 5 criteria pass`. `None`: there is no loop to show.
pub(super) fn loop_state(view: &TaskView<'_>) -> Option<String> {
    let Some(status) = view.status else {
        return view.checking.then(|| tr!("Running checks").to_owned());
    };
    let mut parts = vec![loop_state_word(view, status)];
    let is_open = view.open_loop().is_some();
    if is_open && status.iteration > 0 {
        parts.push(format!("{}/{}", status.iteration, status.limits.iterations));
    }
    if !is_open && view.any_stale() {
        parts.push(tr!("files changed since").to_owned());
    } else {
        parts.extend(passing_counts(view));
    }
    if view.checking && !is_open {
        parts.push(tr!("running checks").to_owned());
    }
    Some(parts.join(" · "))
}

fn loop_state_word(view: &TaskView<'_>, status: &LoopStatus) -> String {
    let word = match (status.state, status.phase) {
        (_, DisplayPhase::Damaged) => tr!("Damaged"),
        (_, DisplayPhase::Interrupted) => tr!("Interrupted"),
        (_, DisplayPhase::Untrusted) => tr!("Needs you: not trusted"),
        (_, DisplayPhase::NeedsAnswer) => tr!("Needs your answer"),
        (DisplayState::Working, DisplayPhase::Waiting) if status.is_cooling() => {
            tr!("Breaker open")
        }
        (DisplayState::Working, DisplayPhase::Waiting) => tr!("Waiting"),
        (DisplayState::Working, DisplayPhase::Stopping) => tr!("Stopping"),
        (DisplayState::Working, _) if offered_commands::is_pausing(status) => {
            tr!("Pausing after this iteration")
        }
        (DisplayState::Working, DisplayPhase::Baseline) => tr!("Working · checks before iteration 1"),
        (DisplayState::Working, _) => tr!("Working"),
        (DisplayState::Paused, _) => tr!("Paused"),
        (DisplayState::NeedsYou, _) if super::summary::is_tripped(status) => tr!("Breaker open"),
        (DisplayState::NeedsYou, _)
            if offered_commands::waits_for_session(status) && status.iteration == 0 =>
        {
            tr!("Type your first message in Claude Code")
        }
        (DisplayState::NeedsYou, _) if offered_commands::waits_for_session(status) => {
            tr!("Your turn in Claude Code")
        }
        (DisplayState::NeedsYou, _) => tr!("Needs you"),
        (DisplayState::Done | DisplayState::Idle, _) => return outcome_word(view).to_owned(),
    };
    word.to_owned()
}

/// The outcome, unless newer results contradict it.
fn outcome_word(view: &TaskView<'_>) -> &'static str {
    let verified = view.status.and_then(|it| it.outcome.as_ref()).is_some_and(|it| it.verified);
    match view.outcome() {
        Some(OutcomeKind::Completed) if view.any_stale() => tr!("Idle"),
        Some(OutcomeKind::Completed) if verified && !view.tally().holds() => tr!("Idle"),
        Some(OutcomeKind::Completed) if verified => tr!("Completed, verified"),
        Some(OutcomeKind::Completed) => tr!("Completed, not verified"),
        Some(_) if view.is_fixed_since() => tr!("Idle"),
        Some(OutcomeKind::Stopped) => tr!("Stopped"),
        Some(OutcomeKind::Limit) => tr!("Limit reached"),
        Some(OutcomeKind::Breaker) => tr!("Breaker open"),
        Some(OutcomeKind::Failed) => tr!("Failed"),
        None => tr!("Idle"),
    }
}

/// `3 of 5 criteria pass`, once any criterion was judged.
fn passing_counts(view: &TaskView<'_>) -> Option<String> {
    let tally = view.tally();
    tally.is_judged().then(|| tally.sentence())
}

/// `✓`, `✗`, `?`, or `·` if it was not judged.
pub(super) fn criterion_glyph(view: &TaskView<'_>, criterion: &Criterion) -> char {
    let judged = view.latest_result(&criterion.id).filter(|_| criterion.check.is_some());
    judged.map_or('·', |it| glyph(it.result.status))
}
