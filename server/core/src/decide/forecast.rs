//! Forecasts the end of a loop at its present pace: a sentence for users, derived from the history only. Decides
//! nothing.

use crate::journal::LimitName;
use crate::loop_state::{IterationFigures, LoopState};
use loopkeeper_text::tr;
use loopkeeper_text::words;

use super::spans::iterations;

/// Minimum number of iterations for an estimate.
pub(super) const MIN_ITERATIONS: usize = 3;

/// The limit that would end it, and when. `None` for a loop that has ended or has hardly begun.
pub fn forecast(state: &LoopState) -> Option<String> {
    let known: Vec<IterationFigures> = working_iterations(state).collect();
    if state.outcome().is_some() || known.len() < MIN_ITERATIONS {
        return None;
    }
    let limits = &state.spec.settings.limits;
    let pace = |of: &dyn Fn(&IterationFigures) -> Option<u64>| {
        median(known.iter().filter_map(of).collect(), MIN_ITERATIONS)
    };
    let cost = pace(&|it| it.cost_micros);
    let time = pace(&|it| Some(it.whole_ms()).filter(|it| *it > 0));
    let tokens = pace(&|it| it.tokens);
    let ends = [
        cost.map(|it| {
            let remaining = limits.cost_micros.saturating_sub(state.spent.cost_micros.unwrap_or(0));
            (exhausted_after(state, remaining, it), words::cost(it), LimitName::Cost)
        }),
        tokens.zip(limits.tokens).map(|(it, limit)| {
            let remaining = limit.saturating_sub(state.spent.tokens.unwrap_or(0));
            let pace = tr!("{amount} tokens", amount = words::amount(it));
            (exhausted_after(state, remaining, it), pace, LimitName::Tokens)
        }),
        time.map(|it| {
            let remaining = limits.duration_ms.saturating_sub(state.time.worked_ms);
            (exhausted_after(state, remaining, it), words::duration(it), LimitName::Duration)
        }),
    ];
    let first = ends.into_iter().flatten().min_by_key(|(after, ..)| *after);
    match first.filter(|(after, ..)| *after < u64::from(limits.iterations)) {
        Some((after, pace, limit)) => Some(describe_end(limit, &pace, after)),
        None => all_fit(state, cost, time),
    }
}

/// The limit that is reached after the iteration `after`.
fn describe_end(limit: LimitName, pace: &str, after: u64) -> String {
    match limit {
        LimitName::Cost => tr!(
            "about {pace} per iteration: at this pace the cost limit is reached after iteration {after}",
            pace,
            after
        ),
        LimitName::Tokens => tr!(
            "about {pace} per iteration: at this pace the token limit is reached after iteration {after}",
            pace,
            after
        ),
        LimitName::Duration | LimitName::Iterations | LimitName::Calls => tr!(
            "about {pace} per iteration: at this pace the time limit is reached after iteration {after}",
            pace,
            after
        ),
    }
}

fn all_fit(state: &LoopState, cost: Option<u64>, time: Option<u64>) -> Option<String> {
    let all = state.spec.settings.limits.iterations;
    let remaining = u64::from(all).saturating_sub(completed_iterations(state));
    let iterations = iterations(all);
    match (cost, time) {
        (Some(it), _) => {
            let sum = state.spent.cost_micros.unwrap_or(0).saturating_add(it.saturating_mul(remaining));
            let (pace, sum) = (words::cost(it), words::cost(sum));
            Some(tr!(
                "about {pace} per iteration: at this pace all {iterations} cost about {sum}",
                pace,
                iterations,
                sum
            ))
        }
        (None, Some(it)) => {
            let sum = state.time.worked_ms.saturating_add(it.saturating_mul(remaining));
            let (pace, sum) = (words::duration(it), words::duration(sum));
            Some(tr!(
                "about {pace} per iteration: at this pace all {iterations} take about {sum}",
                pace,
                iterations,
                sum
            ))
        }
        (None, None) => None,
    }
}

/// The iteration after which `remaining` is used up.
fn exhausted_after(state: &LoopState, remaining: u64, pace: u64) -> u64 {
    completed_iterations(state).saturating_add(remaining.div_ceil(pace))
}

/// Finished iterations that no failure of a provider cut short.
pub(super) fn working_iterations(state: &LoopState) -> impl DoubleEndedIterator<Item = IterationFigures> {
    state.history.outlines().map(|it| it.figures).filter(|it| it.has_ended && !it.is_provider_failure)
}

/// The usage of the running iteration is not known yet.
pub(super) fn completed_iterations(state: &LoopState) -> u64 {
    let running = state.last_iteration().is_some_and(|it| it.ending.is_none() && !it.interrupted);
    u64::from(state.iteration) - u64::from(running && state.iteration > 0)
}

/// The lower median of an even count; `None` for fewer than `min_count` values, or if it is 0.
pub(super) fn median(mut values: Vec<u64>, min_count: usize) -> Option<u64> {
    if values.len() < min_count {
        return None;
    }
    values.sort_unstable();
    values.get((values.len() - 1) / 2).copied().filter(|it| *it > 0)
}
