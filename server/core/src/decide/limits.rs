//! Limits: numbers that end a loop, and how long it waits for a provider. Every one is charged before the
//! spending, from the journal, over all restarts.

use crate::agent::ProviderClass;
use crate::journal::{Outcome, OutcomeKind, Record, WaitReason};
use crate::moment::Moment;
use crate::view::words;

use super::state::Loop;

pub const DAY_MS: u64 = 24 * 60 * 60 * 1000;
const HOUR_MS: u64 = 60 * 60 * 1000;
/// Failures of the agent in a row, without any change, after which it needs the user.
pub const MAX_FAILURES: u32 = 3;

/// The limit that forbids another iteration, as the loop's outcome.
pub(super) fn reached(state: &Loop, now: Moment) -> Option<Outcome> {
    let limits = &state.spec.settings.limits;
    let spent = state.spent.cost_micros.unwrap_or(0);
    let sentence = if state.iteration >= limits.iterations {
        format!("limit reached: {}", iterations(limits.iterations))
    } else if state.elapsed_ms(now) >= limits.duration_ms {
        format!(
            "limit reached: {} of work, after {}",
            words::duration(limits.duration_ms),
            iterations(state.iteration)
        )
    } else if spent >= limits.cost_micros {
        let (spent, limit) = (words::cost(spent), words::cost(limits.cost_micros));
        format!("limit reached: {spent} of {limit} spent, after {}", iterations(state.iteration))
    } else {
        return None;
    };
    Some(Outcome { kind: OutcomeKind::Limit, verified: false, sentence, cause: None })
}

/// When the loop is over its time, unless it is paused.
pub(super) fn loop_end(state: &Loop) -> Moment {
    let left = state.spec.settings.limits.duration_ms.saturating_sub(state.worked_ms);
    state.last_at.after(left)
}

/// When the running agent is over its time, whatever it prints.
pub(super) fn iteration_end(state: &Loop, since: Moment) -> Moment {
    let of_loop = loop_end(state);
    let of_iteration = since.after(state.spec.settings.limits.iteration_ms);
    if of_loop.awake < of_iteration.awake { of_loop } else { of_iteration }
}

/// The wait before the next iteration, by what became of the last one; counted from the end of that one, so that a
/// pause in between is not waited for once more.
pub(super) fn wait(state: &Loop, now: Moment) -> Option<Record> {
    let row = state.last_iteration()?;
    let failed = state.failures.saturating_sub(1);
    let (reason, ms) = match row.error.as_ref().map(|it| (it.class, it.resets_at)) {
        Some((ProviderClass::Quota, resets_at)) => (WaitReason::Quota, quota_ms(resets_at, row.ended_at)),
        Some((ProviderClass::Transient, _)) => {
            (WaitReason::Backoff, backoff_ms(state, failed, 2_000, 10 * 60_000))
        }
        Some((ProviderClass::Crash | ProviderClass::Unknown, _)) if !row.changes.any() => {
            (WaitReason::Backoff, 1_000_u64 << failed.min(6))
        }
        Some(_) | None => (WaitReason::Between, state.spec.settings.limits.between_ms),
    };
    let until = row.ended_at.after(ms);
    // The clock of a boot before this one says nothing: never longer than from now on.
    let until = if until.awake > now.awake.saturating_add(ms) { now.after(ms) } else { until };
    (until.awake > now.awake).then_some(Record::Waiting { reason, until })
}

/// Until the announced reset and a little more, never longer than a day; an hour when nothing is announced.
/// A reset that already passed is tried again in a minute.
fn quota_ms(resets_at: Option<u64>, now: Moment) -> u64 {
    match resets_at {
        None => HOUR_MS,
        Some(at) if at <= now.wall => 60_000,
        Some(at) => (at - now.wall).saturating_add(30_000).min(DAY_MS),
    }
}

/// Doubles with every failure in a row; the spread comes from the loop's own name, so that replay agrees.
fn backoff_ms(state: &Loop, failed: u32, base: u64, cap: u64) -> u64 {
    let full = base.saturating_mul(1 << failed.min(16)).min(cap);
    let spread = crc32c::crc32c(format!("{}:{}", state.spec.loop_id, state.iteration).as_bytes());
    full / 2 + u64::from(spread) % (full / 2).max(1)
}

/// `1 iteration`, `3 iterations`.
pub fn iterations(n: u32) -> String {
    words::counted(u64::from(n), "iteration")
}
