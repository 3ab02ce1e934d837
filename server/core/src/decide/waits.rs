//! Computes how long a loop waits before its next iteration, and when waiting no longer helps. Waits use the clock that
//! never jumps; a reset time that a provider announces is accepted up to one day ahead.

use crate::journal::{BreakerState, WaitReason};
use crate::loop_state::{Iteration, LoopState, Wait};
use loopkeeper_agent::ProviderClass;
use loopkeeper_agent::catalog::CATALOG;
use loopkeeper_text::message::Message;
use loopkeeper_text::moment::Moment;
use loopkeeper_text::tr;

use super::limits::MAX_FAILURES;
use super::spans::{DAY_MS, HOUR_MS};

const MINUTE_MS: u64 = 60_000;
/// Number of temporary failures of the provider in a row after which the loop needs the user; about half an hour.
const MAX_STALLS: u32 = 12;
const BACKOFF_MS: u64 = 2_000;
const MAX_BACKOFF_MS: u64 = 10 * MINUTE_MS;

/// The wait before the next iteration, by the result of the last one. It is counted from the end of that one, so that the
/// time of a pause is not waited for again.
pub(super) fn before_next(state: &LoopState, now: Moment) -> Option<Wait> {
    let row = state.last_iteration()?;
    if let Some(until) = state.unavailable_until() {
        return (until.awake > now.awake).then_some(Wait { reason: WaitReason::Quota, until, met_by: None });
    }
    let error = row.error.as_ref().filter(|_| row.agent == state.spec.agent.name);
    let (reason, ms) = match error.map(|it| it.class) {
        Some(ProviderClass::Quota) => (WaitReason::Quota, quota_ms(state, row)),
        Some(ProviderClass::Transient) => (WaitReason::Backoff, backoff_ms(state, row)),
        Some(ProviderClass::Crash | ProviderClass::Unknown) if !row.changes.has_progress() => {
            (WaitReason::Backoff, 1_000_u64 << state.streaks.failures.saturating_sub(1).min(6))
        }
        Some(_) | None => (WaitReason::Between, state.spec.settings.limits.between_ms),
    };
    let until = row.ended_at.plus_ms(ms);
    // The clock of an earlier boot is meaningless: never wait longer than from now on.
    let until = if until.awake > now.awake.saturating_add(ms) { now.plus_ms(ms) } else { until };
    (until.awake > now.awake).then_some(Wait { reason, until, met_by: None })
}

/// The wait until shortly after the announced reset, at most a day; an hour if nothing is announced. If the reset has
/// passed or every answer repeats it, the intervals grow.
pub(super) fn quota_ms(state: &LoopState, row: &Iteration) -> u64 {
    let growing = |n: u32| (MINUTE_MS << n.min(6)).min(HOUR_MS);
    let before = state.streaks.stalls.saturating_sub(1);
    match row.error.as_ref().and_then(|it| it.resets_at) {
        None => HOUR_MS,
        Some(at) if at <= row.ended_at.wall => growing(before),
        Some(at) => {
            let min = if before == 0 { 0 } else { growing(before - 1) };
            with_jitter(state, at - row.ended_at.wall).max(min).min(DAY_MS)
        }
    }
}

/// A random wait up to a bound that doubles with every failure in a row, so that many loops do not return at once; not
/// before the time that the provider named, up to a day.
fn backoff_ms(state: &LoopState, row: &Iteration) -> u64 {
    let failed = state.streaks.stalls.saturating_sub(1);
    let full = BACKOFF_MS.saturating_mul(1 << failed.min(16)).min(MAX_BACKOFF_MS);
    let own = 100 + jitter(state, full);
    let named = row.error.as_ref().and_then(|it| it.resets_at?.checked_sub(row.ended_at.wall));
    named.filter(|ms| *ms > 0).map_or(own, |ms| with_jitter(state, ms).max(own).min(DAY_MS))
}

/// Adds deterministic per-loop jitter to an announced reset.
fn with_jitter(state: &LoopState, ms: u64) -> u64 {
    ms.saturating_add(1 + jitter(state, (ms / 20).clamp(500, MINUTE_MS)))
}

/// Less than `width`; derived from the ids of the loop and the iteration, so that replay gives the same value.
fn jitter(state: &LoopState, width: u64) -> u64 {
    let name = format!("{}:{}", state.spec.loop_id, state.iteration);
    u64::from(crc32c::crc32c(name.as_bytes())) % width.max(1)
}

/// What the user has to do before another start can succeed. A failed login and a missing program are certain at once;
/// other failures get three starts, temporary ones of the provider more.
pub(super) fn needs_user(state: &LoopState) -> Option<Message> {
    let row = state.last_iteration()?;
    let error = row.error.as_ref();
    let message = error.map_or(tr!("it did not end by itself"), |it| it.message.as_str());
    let name = &state.spec.agent.name;
    // During a half-open trial give up after three provider failures.
    let is_trial = state.breaker.state == BreakerState::HalfOpen;
    let max_stalls = if is_trial { MAX_FAILURES } else { MAX_STALLS };
    match error.map(|it| it.class) {
        Some(ProviderClass::Login) if state.streaks.failures > 0 => {
            let fact = tr!("the agent `{name}` is not logged in: {message}", name, message);
            Some(Message::new(fact).with_hint(log_in(state)))
        }
        Some(ProviderClass::Billing) if state.streaks.failures > 0 => {
            let hint = then_resume(state, tr!("add credit to the account or choose another agent"));
            let fact = tr!("the account of the agent `{name}` has no credit left: {message}", name, message);
            Some(Message::new(fact).with_hint(hint))
        }
        Some(ProviderClass::Quota) if !is_trial => None,
        Some(ProviderClass::Quota | ProviderClass::Transient) => {
            (state.streaks.stalls >= max_stalls).then(|| {
                let fact = tr!(
                    "the provider of `{name}` failed {count} times in a row: {message}",
                    name,
                    count = state.streaks.stalls,
                    message
                );
                Message::new(fact).with_hint(then_resume(state, tr!("check whether it is down")))
            })
        }
        _ if state.streaks.failures > 0 && row.program_missing => {
            let hint = then_resume(state, &tr!("install it or set `agents.{name}.command`", name));
            Some(Message::new(tr!("the agent `{name}` {message}", name, message)).with_hint(hint))
        }
        _ => (state.streaks.failures >= MAX_FAILURES).then(|| {
            let count = state.streaks.failures;
            tr!("the agent `{name}` failed {count} times in a row: {message}", name, count, message).into()
        }),
    }
}

fn log_in(state: &LoopState) -> String {
    let agent = &state.spec.agent;
    // Many commands begin with a shell: that is not where a user logs in.
    let mut programs = agent.argv.iter().take(2).filter_map(|it| it.rsplit('/').next());
    let known = programs.find_map(|it| CATALOG.iter().find(|known| known.program == it));
    if let Some(known) = known {
        return then_resume(state, known.log_in());
    }
    let remedy = tr!(
        "log in to what `agents.{name}.command` uses, or name the variable that holds its key in `env.pass`",
        name = agent.name
    );
    then_resume(state, &remedy)
}

/// A loop that ended because no user was there cannot be resumed.
pub(super) fn then_resume(state: &LoopState, remedy: &str) -> String {
    if state.spec.attended {
        tr!("{remedy}, then `loopkeeper resume`", remedy)
    } else {
        tr!("{remedy}, then start again", remedy)
    }
}
