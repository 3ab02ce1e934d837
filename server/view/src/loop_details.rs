//! Details of one loop besides its state and its criteria: one fact per line, without a final full stop.

#[cfg(test)]
mod tests;

use loopkeeper_core::decide::LoopState;
use loopkeeper_core::decide::breaker::limits;
use loopkeeper_core::journal::BreakerState;
use loopkeeper_text::clauses;
use loopkeeper_text::moment::Moment;
use loopkeeper_text::tr;
use loopkeeper_text::words;

use crate::{LoopStatus, budget, sentences};

type DescribeCount = fn(String) -> String;

const MAX_CLAIMS: usize = 8;
const MAX_REACHED: usize = 5;

/// The facts with times as of `now`. A loop whose journal is damaged has no `state`.
pub fn loop_details(status: &LoopStatus, state: Option<&LoopState>, now: Moment) -> Vec<String> {
    let mut all: Vec<String> = state.and_then(milestones).into_iter().collect();
    all.extend(state.and_then(claims));
    // After the end only a breaker that opened explains anything.
    let is_shown = status.outcome.is_none() || status.breaker.trips > 0;
    all.extend(is_shown.then(|| breaker(status, state)));
    all.extend(status.breaker.preset.as_ref().map(|it| tr!("breaker preset: {reason}", reason = it.because)));
    all.push(budget(status, state, now));
    all.extend(status.forecast.clone().filter(|_| status.outcome.is_none()));
    all.extend(status.activity.as_ref().map(|it| tr!("last seen: {text}", text = it)));
    all
}

/// `reached: iteration 2, now passes: tests pass; iteration 4, done: Login`
fn milestones(state: &LoopState) -> Option<String> {
    let figures = state.history.kept_outlines().rev().map(|it| it.figures);
    let marked = figures.filter(|it| it.has_milestones).take(MAX_REACHED);
    let rows = marked.filter_map(|it| state.history.find(it.number));
    let mut newest: Vec<String> = rows.map(|it| milestones_of(it.number, &it.milestones)).collect();
    newest.reverse();
    (!newest.is_empty()).then(|| tr!("reached: {milestones}", milestones = clauses::join_clauses(newest)))
}

/// The criteria and items that one iteration completed.
fn milestones_of(number: u32, milestones: &[String]) -> String {
    tr!("iteration {number}, {milestones}", number, milestones = clauses::list(milestones))
}

/// The agent's last claims about its own work.
fn claims(state: &LoopState) -> Option<String> {
    let last = state.last_iteration()?;
    let mut claims: Vec<String> = last.claims.sentences().into_iter().take(MAX_CLAIMS).collect();
    claims.extend(last.claims.contradiction().map(|it| sentences::sentence(&it)));
    (!claims.is_empty()).then(|| sentences::paragraph(&claims).trim_end_matches(['.', '。']).to_owned())
}

/// All counters that are not zero, and the one that is always shown.
pub(crate) fn breaker(status: &LoopStatus, state: Option<&LoopState>) -> String {
    let of = |used: u32, limit: u32| match state {
        Some(_) => tr!("{used} of {limit}", used, limit),
        None => used.to_string(),
    };
    let limits = state.map(|it| limits(&it.spec.settings.breaker)).unwrap_or_default();
    let counts = &status.breaker.counts;
    let unchanged = of(counts.no_progress, limits.no_progress);
    let mut parts = vec![tr!("{count} iterations without a file change", count = unchanged)];
    let others: [(u32, u32, DescribeCount); 5] = [
        (counts.fast_failures, limits.fast_failures, |count| tr!("{count} ended within 10 s", count)),
        (counts.same_error, limits.same_error, |count| tr!("{count} with the same error", count)),
        (counts.permission_denials, limits.permission_denials, |count| {
            tr!("{count} with denied tools", count)
        }),
        (counts.output_decline, limits.output_decline, |count| tr!("{count} with far less output", count)),
        (counts.oscillation, limits.oscillation, |count| tr!("{count} returned to earlier files", count)),
    ];
    let others = others.into_iter().filter(|(count, ..)| *count > 0);
    parts.extend(others.map(|(count, limit, describe)| describe(of(count, limit))));
    let trips = status.breaker.trips;
    if let (BreakerState::Open, Some(reason)) = (status.breaker.state, &status.breaker.reason) {
        return match trips {
            0 | 1 => tr!("breaker open: {reason}", reason),
            trips => tr!("breaker open: {reason}; it has opened {count} times", reason, count = trips),
        };
    }
    let counts = clauses::join_with_commas(&parts);
    let breaker = match status.breaker.state {
        BreakerState::Closed => tr!("breaker closed: {counts}", counts),
        BreakerState::Open => tr!("breaker open: {counts}", counts),
        BreakerState::HalfOpen => tr!("breaker trying again: {counts}", counts),
    };
    if trips == 0 {
        return breaker;
    }
    let times = words::counted(u64::from(trips), "time");
    tr!("{breaker}; opened {times} so far", breaker, times)
}
