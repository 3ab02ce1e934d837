//! Limits: numbers that end a loop, and how long it waits for a provider. Every one is charged before the
//! spending, from the journal, over all restarts.

use crate::agent::{ProviderClass, ProviderError};
use crate::journal::{Changes, Outcome, OutcomeKind, Record, WaitReason};
use crate::moment::Moment;

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
            duration(limits.duration_ms),
            iterations(state.iteration)
        )
    } else if spent >= limits.cost_micros {
        let (spent, limit) = (dollars(spent), dollars(limits.cost_micros));
        format!("limit reached: {spent} of {limit} spent, after {}", iterations(state.iteration))
    } else {
        return None;
    };
    Some(Outcome { kind: OutcomeKind::Limit, verified: false, sentence, cause: None })
}

/// When the running agent is over its time, whatever it prints.
pub(super) fn iteration_end(state: &Loop, since: Moment) -> Moment {
    let limits = &state.spec.settings.limits;
    let left = limits.duration_ms.saturating_sub(state.worked_ms);
    let of_loop = state.last_at.after(left);
    let of_iteration = since.after(limits.iteration_ms);
    if of_loop.awake < of_iteration.awake { of_loop } else { of_iteration }
}

/// How long to wait before the next iteration, by what became of the last one.
pub(super) fn wait_after(
    state: &Loop,
    changes: &Changes,
    error: Option<&ProviderError>,
    now: Moment,
) -> Option<Record> {
    let failures = state.failures;
    let (reason, ms) = match error.map(|it| it.class) {
        Some(ProviderClass::Quota) => (WaitReason::Quota, quota_ms(error.and_then(|it| it.resets_at), now)),
        Some(ProviderClass::Transient) => (WaitReason::Backoff, backoff_ms(state, 2_000, 10 * 60_000)),
        Some(ProviderClass::Crash | ProviderClass::Unknown) if !changes.any() => {
            (WaitReason::Backoff, 1_000_u64 << failures.min(6))
        }
        Some(_) | None => (WaitReason::Between, state.spec.settings.limits.between_ms),
    };
    (ms > 0).then(|| Record::Waiting { reason, until: now.after(ms) })
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
fn backoff_ms(state: &Loop, base: u64, cap: u64) -> u64 {
    let full = base.saturating_mul(1 << state.failures.min(16)).min(cap);
    let spread = crc32c::crc32c(format!("{}:{}", state.spec.loop_id, state.iteration).as_bytes());
    full / 2 + u64::from(spread) % (full / 2).max(1)
}

/// `8h`, `30m`, `1h 30m`, `45s`.
pub fn duration(ms: u64) -> String {
    let (h, m, s) = (ms / HOUR_MS, ms / 60_000 % 60, ms / 1000 % 60);
    match (h, m, s) {
        (0, 0, 0) => format!("{ms}ms"),
        (0, 0, s) => format!("{s}s"),
        (0, m, 0) => format!("{m}m"),
        (0, m, s) => format!("{m}m {s}s"),
        (h, 0, _) => format!("{h}h"),
        (h, m, _) => format!("{h}h {m}m"),
    }
}

/// `$1.25`; below a cent four digits.
pub fn dollars(micros: u64) -> String {
    if micros > 0 && micros < 10_000 {
        return format!("${:.4}", micros as f64 / 1e6);
    }
    format!("${:.2}", micros as f64 / 1e6)
}

/// `1 iteration`, `3 iterations`.
pub fn iterations(n: u32) -> String {
    if n == 1 { "1 iteration".to_owned() } else { format!("{n} iterations") }
}
