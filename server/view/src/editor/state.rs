//! Short states of a criterion, a plan item and a loop, for lenses, symbols and hovers, in which numbers may change
//! while they are visible.

use super::{TaskView, verbs};
use crate::{DisplayPhase, DisplayState, LoopStatus};
use loopkeeper_core::check::Status;
use loopkeeper_core::journal::OutcomeKind;
use loopkeeper_task::criterion::Criterion;
use loopkeeper_text::{sanitize, words};

/// Maximum length of a fact next to other text.
const FACT_CHARS: usize = 60;

/// `✗ 3 of 214 fail · 12 s`, `✓ pass · 2 s`, `✓ passed before the files changed`, `not checked yet`. `None`: there is
/// no check.
pub(super) fn of_criterion(known: &TaskView<'_>, criterion: &Criterion) -> Option<String> {
    criterion.check.as_ref()?;
    let Some(latest) = known.latest(&criterion.id) else {
        let trusted = known.is_trusted(criterion);
        return Some(if trusted { "not checked yet" } else { "needs trust" }.to_owned());
    };
    let result = latest.result;
    let fact = match result.status {
        Status::Pass => "pass".to_owned(),
        Status::CouldNotRun => format!("could not run, {}", result.fact),
        _ if result.fact.is_empty() => "fails".to_owned(),
        _ => result.fact.clone(),
    };
    let fact = sanitize::line_within(&fact, FACT_CHARS);
    if latest.stale {
        let before = if result.status == Status::Pass { "passed" } else { &fact };
        let comma = if result.status == Status::Pass { "" } else { "," };
        return Some(format!("{} {before}{comma} before the files changed", glyph(result.status)));
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
pub(super) fn of_loop(known: &TaskView<'_>) -> Option<String> {
    let Some(status) = known.status else {
        return known.checking.then(|| "Running checks".to_owned());
    };
    let mut parts = vec![word(known, status)];
    let is_open = known.open_loop().is_some();
    if is_open && status.iteration > 0 {
        parts.push(format!("{}/{}", status.iteration, status.limits.iterations));
    }
    if !is_open && known.any_stale() {
        parts.push("files changed since".to_owned());
    } else {
        parts.extend(passing(known));
    }
    if known.checking && !is_open {
        parts.push("running checks".to_owned());
    }
    Some(parts.join(" · "))
}

fn word(known: &TaskView<'_>, status: &LoopStatus) -> String {
    let word = match (status.state, status.phase) {
        (_, DisplayPhase::Damaged) => "Damaged",
        (_, DisplayPhase::Interrupted) => "Interrupted",
        (_, DisplayPhase::Untrusted) => "Needs you: not trusted",
        (_, DisplayPhase::NeedsAnswer) => "Needs your answer",
        (DisplayState::Working, DisplayPhase::Waiting) if super::summary::is_cooling(status) => {
            "Breaker open"
        }
        (DisplayState::Working, DisplayPhase::Waiting) => "Waiting",
        (DisplayState::Working, DisplayPhase::Stopping) => "Stopping",
        (DisplayState::Working, _) if verbs::is_pausing(status) => "Pausing after this iteration",
        (DisplayState::Working, DisplayPhase::Baseline) => "Working · checks before iteration 1",
        (DisplayState::Working, _) => "Working",
        (DisplayState::Paused, _) => "Paused",
        (DisplayState::NeedsYou, _) if super::summary::is_tripped(status) => "Breaker open",
        (DisplayState::NeedsYou, _) if verbs::awaits_session(status) && status.iteration == 0 => {
            "Type your first message in Claude Code"
        }
        (DisplayState::NeedsYou, _) if verbs::awaits_session(status) => "Your turn in Claude Code",
        (DisplayState::NeedsYou, _) => "Needs you",
        (DisplayState::Done | DisplayState::Idle, _) => return ended(known).to_owned(),
    };
    word.to_owned()
}

/// The outcome, unless newer results contradict it.
fn ended(known: &TaskView<'_>) -> &'static str {
    let verified = known.status.and_then(|it| it.outcome.as_ref()).is_some_and(|it| it.verified);
    match known.outcome() {
        Some(OutcomeKind::Completed) if known.any_stale() => "Idle",
        Some(OutcomeKind::Completed) if verified && !known.tally().holds() => "Idle",
        Some(OutcomeKind::Completed) if verified => "Completed, verified",
        Some(OutcomeKind::Completed) => "Completed, not verified",
        Some(_) if known.is_mended() => "Idle",
        Some(OutcomeKind::Stopped) => "Stopped",
        Some(OutcomeKind::Limit) => "Limit reached",
        Some(OutcomeKind::Breaker) => "Breaker open",
        Some(OutcomeKind::Failed) => "Failed",
        None => "Idle",
    }
}

/// `3 of 5 criteria pass`, once any criterion was judged.
fn passing(known: &TaskView<'_>) -> Option<String> {
    let tally = known.tally();
    tally.is_judged().then(|| tally.sentence())
}

/// `✓`, `✗`, `?`, or `·` if it was not judged.
pub(super) fn criterion_glyph(known: &TaskView<'_>, criterion: &Criterion) -> char {
    let judged = known.latest(&criterion.id).filter(|_| criterion.check.is_some());
    judged.map_or('·', |it| glyph(it.result.status))
}
