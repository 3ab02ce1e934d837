//! The breaker: stops a loop that makes no progress. Closed it counts, open it pauses the loop, half-open it admits one
//! iteration. Counts work outcomes only; provider failures never trip it.
//!
//! The counts are derived from the history, one file per cause below this module; only state changes are recorded.

mod decline;
mod errors;
mod failing;
mod history;
mod no_progress;
mod oscillation;
mod trial;
mod trip_evidence;

use crate::journal::{BreakerCause, BreakerCounts, BreakerState, Record, TripEvidence};
use crate::loop_state::{Breaker, LoopState};
use crate::settings::BreakerSettings;
use loopkeeper_text::moment::Moment;
use loopkeeper_text::tr;
use loopkeeper_text::words;

use super::spans::{DAY_MS, iterations};
use history::BreakerHistory;

/// The count of each cause after the last finished iteration.
pub fn counts(state: &LoopState) -> BreakerCounts {
    count_causes(state, &BreakerHistory::of(state))
}

/// The count at which each cause opens the breaker.
pub fn limits(settings: &BreakerSettings) -> BreakerCounts {
    BreakerCounts {
        no_progress: settings.no_progress,
        same_error: settings.same_error,
        output_decline: decline::CONSECUTIVE_DECLINES,
        permission_denials: settings.permission_denials,
        oscillation: oscillation::MAX_RETURNS,
        fast_failures: settings.fast_failures,
    }
}

/// When an open breaker resumes automatically.
pub fn cooldown_end(state: &LoopState) -> Option<Moment> {
    let cools_down = state.breaker.state == BreakerState::Open && state.spec.attended;
    state.breaker.resumes_at.filter(|_| cools_down)
}

/// The change caused by the last iteration, if any.
pub(super) fn next_change(state: &LoopState, now: Moment) -> Option<Record> {
    match state.breaker.state {
        BreakerState::Open => None,
        BreakerState::Closed => {
            let past = BreakerHistory::of(state);
            let counts = count_causes(state, &past);
            let cause = cause_at_limit(&counts, &limits(&state.spec.settings.breaker))?;
            Some(opened_record(state, now, cause, reason(state, &past, cause, &counts)))
        }
        BreakerState::HalfOpen => match trial::trial_result(state)? {
            trial::TrialResult::Progressed => {
                Some(closed_record(state, BreakerCause::TrialPassed, state.breaker.trips))
            }
            trial::TrialResult::Failed(why) => {
                Some(opened_record(state, now, BreakerCause::TrialFailed, tr!("retried, {why}", why)))
            }
        },
    }
}

/// A count that has reached two thirds of its limit, and why, for users: `2 iterations without a file change`. The
/// most specific cause of a closed breaker; limits below three leave no room for a warning.
pub(super) fn stall_ahead(state: &LoopState) -> Option<(BreakerCause, String)> {
    if state.breaker.state != BreakerState::Closed {
        return None;
    }
    let past = BreakerHistory::of(state);
    let (counts, limits) = (count_causes(state, &past), limits(&state.spec.settings.breaker));
    let is_near = |count: u32, limit: u32| count < limit && count >= 2 && 3 * count >= 2 * limit;
    let (cause, _, limit) =
        causes(&counts, &limits).into_iter().find(|(_, count, limit)| is_near(*count, *limit))?;
    let reason = reason(state, &past, cause, &counts);
    Some((cause, tr!("{reason}; the breaker opens at {limit}", reason, limit)))
}

/// Admits one iteration to show whether the work makes progress.
pub(super) fn half_open(state: &LoopState, cause: BreakerCause) -> Record {
    Record::BreakerChanged {
        state: BreakerState::HalfOpen,
        reason: state.breaker.reason.clone(),
        cause: Some(cause),
        no_progress: counts(state).no_progress,
        trips: state.breaker.trips,
        cooldown_ms: state.breaker.cooldown_ms,
        resumes_at: None,
        opening: None,
    }
}

/// Reset by the user: clears all counts, including openings.
pub(super) fn reset_record(state: &LoopState) -> Record {
    closed_record(state, BreakerCause::User, 0)
}

/// Why the loop is paused, for users.
pub(super) fn describe_open(breaker: &Breaker) -> String {
    let reason = breaker.reason.as_deref().unwrap_or(tr!("the loop was making no progress"));
    match breaker.trips {
        0 | 1 => tr!("breaker open: {reason}", reason),
        trips => tr!("breaker open: {reason}; opened {trips} times", reason, trips),
    }
}

fn count_causes(state: &LoopState, past: &BreakerHistory<'_>) -> BreakerCounts {
    BreakerCounts {
        no_progress: no_progress::count_idle(past),
        same_error: errors::repeated_errors(past).count.max(failing::count_same_failures(past)),
        output_decline: decline::count_declines(past, state.spec.settings.breaker.output_decline),
        permission_denials: no_progress::count_denials(past),
        oscillation: oscillation::count_returns(past),
        fast_failures: no_progress::count_fast_failures(past),
    }
}

/// The first cause that is at its limit.
fn cause_at_limit(counts: &BreakerCounts, limits: &BreakerCounts) -> Option<BreakerCause> {
    causes(counts, limits).into_iter().find(|(_, count, limit)| count >= limit).map(|(cause, _, _)| cause)
}

/// Each cause with its count and its limit; more specific causes come first.
fn causes(counts: &BreakerCounts, limits: &BreakerCounts) -> [(BreakerCause, u32, u32); 6] {
    [
        (BreakerCause::PermissionDenials, counts.permission_denials, limits.permission_denials),
        (BreakerCause::NoProgress, counts.no_progress, limits.no_progress),
        (BreakerCause::FastFailures, counts.fast_failures, limits.fast_failures),
        (BreakerCause::Oscillation, counts.oscillation, limits.oscillation),
        (BreakerCause::SameError, counts.same_error, limits.same_error),
        (BreakerCause::OutputDecline, counts.output_decline, limits.output_decline),
    ]
}

fn reason(
    state: &LoopState,
    past: &BreakerHistory<'_>,
    cause: BreakerCause,
    counts: &BreakerCounts,
) -> String {
    match cause {
        BreakerCause::PermissionDenials => {
            let iterations = iterations(counts.permission_denials);
            tr!("{iterations} with denied tools and without a file change", iterations)
        }
        BreakerCause::FastFailures => {
            let duration = words::duration(no_progress::FAST_MS);
            let iterations = iterations(counts.fast_failures);
            tr!("{iterations} under {duration} without a file change", iterations, duration)
        }
        BreakerCause::Oscillation => {
            tr!("the files returned to an earlier state {count} times", count = counts.oscillation)
        }
        BreakerCause::SameError => {
            let (iterations, printed) = (iterations(counts.same_error), errors::repeated_errors(past));
            // An error of the agent is more specific than its effects.
            if printed.count == counts.same_error {
                tr!("{iterations} with the same error: {error}", iterations, error = printed.text)
            } else {
                tr!(
                    "{iterations} with the same failure: {failure}",
                    iterations,
                    failure = failing::text(state)
                )
            }
        }
        BreakerCause::OutputDecline => {
            let iterations = iterations(counts.output_decline);
            tr!("{iterations} with far less output and nothing more that passes", iterations)
        }
        BreakerCause::NoProgress
        | BreakerCause::TrialFailed
        | BreakerCause::TrialPassed
        | BreakerCause::Cooldown
        | BreakerCause::User => {
            let rolled_back = past.outlines().any(|it| it.figures.rolled_back);
            let iterations = iterations(counts.no_progress);
            if rolled_back {
                tr!("{iterations} without a file change that stayed", iterations)
            } else {
                tr!("{iterations} without a file change", iterations)
            }
        }
    }
}

/// Sets a cooldown if the loop is attended, unless the breaker opened too often: then only the user can resume.
fn opened_record(state: &LoopState, now: Moment, cause: BreakerCause, reason: String) -> Record {
    let settings = &state.spec.settings.breaker;
    let past = BreakerHistory::of(state);
    let counts = count_causes(state, &past);
    let trips = state.breaker.trips.saturating_add(1);
    let cooldown_ms = match state.breaker.state {
        BreakerState::HalfOpen => state.breaker.cooldown_ms.saturating_mul(2).min(DAY_MS),
        BreakerState::Closed | BreakerState::Open => 0,
    };
    let cooldown_ms = cooldown_ms.max(settings.cooldown_ms);
    let cools_down = state.spec.attended && trips < settings.max_trips;
    Record::BreakerChanged {
        state: BreakerState::Open,
        reason: Some(reason),
        cause: Some(cause),
        no_progress: counts.no_progress,
        trips,
        cooldown_ms,
        resumes_at: cools_down.then(|| now.plus_ms(cooldown_ms)),
        opening: Some(Box::new(TripEvidence {
            session_reset: state.session.current.is_some(),
            failing: failing::failing_criteria(state),
            ..trip_evidence::collect_evidence(&past, cause, counts)
        })),
    }
}

fn closed_record(state: &LoopState, cause: BreakerCause, trips: u32) -> Record {
    let reason = match cause {
        BreakerCause::TrialPassed => tr!("iteration {number} made progress", number = state.iteration),
        BreakerCause::User
        | BreakerCause::Cooldown
        | BreakerCause::TrialFailed
        | BreakerCause::NoProgress
        | BreakerCause::FastFailures
        | BreakerCause::PermissionDenials
        | BreakerCause::SameError
        | BreakerCause::OutputDecline
        | BreakerCause::Oscillation => tr!("reset by the user").to_owned(),
    };
    Record::BreakerChanged {
        state: BreakerState::Closed,
        reason: Some(reason),
        cause: Some(cause),
        no_progress: 0,
        trips,
        cooldown_ms: 0,
        resumes_at: None,
        opening: None,
    }
}
