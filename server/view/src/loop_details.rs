//! What there is to know about one loop besides its state and its criteria: one fact a line, without the sentence's end.

#[cfg(test)]
mod tests;

use loopkeeper_core::decide::LoopState;
use loopkeeper_core::decide::breaker::limits;
use loopkeeper_core::journal::BreakerState;
use loopkeeper_text::moment::Moment;
use loopkeeper_text::words;

use crate::{LoopStatus, budget};

const MAX_CLAIMS: usize = 8;
const MAX_REACHED: usize = 5;

/// The facts with times as of `now`. A loop whose journal is damaged has no `state`.
pub fn loop_details(status: &LoopStatus, state: Option<&LoopState>, now: Moment) -> Vec<String> {
    let mut all: Vec<String> = state.and_then(milestones).into_iter().collect();
    all.extend(state.and_then(claims));
    // After the end only a breaker that opened explains anything.
    let is_told = status.outcome.is_none() || status.breaker.trips > 0;
    all.extend(is_told.then(|| breaker(status, state)));
    all.extend(status.breaker.preset.as_ref().map(|it| format!("breaker preset: {}", it.because)));
    all.push(budget(status, state, now));
    all.extend(status.forecast.clone().filter(|_| status.outcome.is_none()));
    all.extend(status.activity.as_ref().map(|it| format!("last seen: {it}")));
    all
}

/// `reached: iteration 2, now passes: tests pass; iteration 4, done: Login`
fn milestones(state: &LoopState) -> Option<String> {
    let figures = state.history.kept_outlines().rev().map(|it| it.figures);
    let marked = figures.filter(|it| it.has_milestones).take(MAX_REACHED);
    let rows = marked.filter_map(|it| state.history.find(it.number));
    let mut newest: Vec<String> =
        rows.map(|it| format!("iteration {}, {}", it.number, it.milestones.join(", "))).collect();
    newest.reverse();
    (!newest.is_empty()).then(|| format!("reached: {}", newest.join("; ")))
}

/// The agent's last claims about its own work.
fn claims(state: &LoopState) -> Option<String> {
    let last = state.last_iteration()?;
    let mut claims: Vec<String> = last.claims.sentences().into_iter().take(MAX_CLAIMS).collect();
    claims.extend(last.claims.contradiction().map(|it| format!("{}.", words::capitalised(&it))));
    (!claims.is_empty()).then(|| claims.join(" ").trim_end_matches('.').to_owned())
}

/// All counters that are not zero, and the one that is always shown.
pub(crate) fn breaker(status: &LoopStatus, state: Option<&LoopState>) -> String {
    let of = |count: u32, limit: u32| match state {
        Some(_) => format!("{count} of {limit}"),
        None => count.to_string(),
    };
    let limits = state.map(|it| limits(&it.spec.settings.breaker)).unwrap_or_default();
    let counts = &status.breaker.counts;
    let mut parts =
        vec![format!("{} iterations without a file change", of(counts.no_progress, limits.no_progress))];
    let others = [
        (counts.fast_failures, limits.fast_failures, "ended within 10 s"),
        (counts.same_error, limits.same_error, "with the same error"),
        (counts.permission_denials, limits.permission_denials, "with denied tools"),
        (counts.output_decline, limits.output_decline, "with far less output"),
        (counts.oscillation, limits.oscillation, "back to earlier files"),
    ];
    let others = others.iter().filter(|(count, ..)| *count > 0);
    parts.extend(others.map(|(count, limit, what)| format!("{} {what}", of(*count, *limit))));
    if let (BreakerState::Open, Some(reason)) = (status.breaker.state, &status.breaker.reason) {
        let times = match status.breaker.trips {
            0 | 1 => String::new(),
            trips => format!("; it has opened {trips} times"),
        };
        return format!("breaker open: {reason}{times}");
    }
    let word = match status.breaker.state {
        BreakerState::Closed => "closed",
        BreakerState::Open => "open",
        BreakerState::HalfOpen => "trying again",
    };
    let times = match status.breaker.trips {
        0 => String::new(),
        trips => format!("; opened {} so far", words::counted(u64::from(trips), "time")),
    };
    format!("breaker {word}: {}{times}", parts.join(", "))
}
