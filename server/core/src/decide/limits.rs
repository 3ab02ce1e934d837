//! Limits: numbers that end a loop. Every limit is charged before the spending, from the journal, over all restarts,
//! and reported once at four fifths. Waits are in [`super::waits`].

use crate::journal::{LimitName, Outcome, OutcomeKind, WaitReason};
use crate::loop_state::{LoopState, Wait};
use loopkeeper_text::clauses::append_clauses;
use loopkeeper_text::moment::Moment;
use loopkeeper_text::tr;
use loopkeeper_text::words;

use super::spans::iterations;
use super::{exit, mutants, weakening};

/// Consecutive agent failures without any change after which the loop needs the user.
pub(crate) const MAX_FAILURES: u32 = 3;

/// The limit that forbids another iteration, as the loop's outcome.
pub(super) fn limit_outcome(state: &LoopState, now: Moment) -> Option<Outcome> {
    let limits = &state.spec.settings.limits;
    let done = iterations(state.iteration);
    let cost = state.spent.cost_micros.filter(|it| *it >= limits.cost_micros);
    let tokens = state.spent.tokens.zip(limits.tokens).filter(|(used, limit)| used >= limit);
    let what = if state.iteration >= limits.iterations {
        iterations(limits.iterations)
    } else if state.elapsed_ms(now) >= limits.duration_ms {
        let duration = words::duration(limits.duration_ms);
        tr!("{duration} of work, after {iterations}", duration, iterations = done)
    } else if let Some(cost) = cost {
        let (cost, limit) = (words::cost(cost), words::cost(limits.cost_micros));
        tr!("{cost} of {limit} spent, after {iterations}", cost, limit, iterations = done)
    } else {
        let (used, limit) = tokens?;
        let (used, limit) = (words::amount(used), words::amount(limit));
        tr!("{used} of {limit} tokens used, after {iterations}", used, limit, iterations = done)
    };
    Some(limit_reached_outcome(state, &what))
}

/// The outcome of a loop whose time ends before the wait does: waiting would be pointless.
pub(super) fn wait_limit_outcome(state: &LoopState, wait: &Wait) -> Option<Outcome> {
    if wait.until.awake < loop_end(state).awake {
        return None;
    }
    let duration = words::duration(state.spec.settings.limits.duration_ms);
    let what = match wait.reason {
        WaitReason::Quota => {
            tr!("the provider's usage limit lasts longer than the {duration} of this loop", duration)
        }
        WaitReason::Backoff => {
            tr!("the next attempt at the provider is due after the {duration} of this loop", duration)
        }
        WaitReason::Between => {
            tr!("the next iteration is due after the {duration} of this loop", duration)
        }
        WaitReason::Calls => {
            tr!("the hourly call limit is reached for longer than the {duration} of this loop", duration)
        }
        WaitReason::Breaker => {
            tr!("the breaker stays open for longer than the {duration} of this loop", duration)
        }
        WaitReason::Other => tr!("the wait is longer than the {duration} of this loop", duration),
    };
    let iterations = iterations(state.iteration);
    Some(limit_reached_outcome(state, &tr!("{what}, stopped after {iterations}", what, iterations)))
}

fn limit_reached_outcome(state: &LoopState, what: &str) -> Outcome {
    let progress = exit::progress_clause(state).into_iter().chain(weakening::limit_clause(state));
    let open = progress.chain(mutants::survivors_clause(state));
    let clauses = failure_clause(state).into_iter().chain(open);
    let sentence = append_clauses(tr!("limit reached: {what}", what), clauses).into();
    Outcome { kind: OutcomeKind::Limit, verified: false, sentence, cause: None }
}

/// The error of the last iteration in the words of its agent, which often name the time when it can work again.
fn failure_clause(state: &LoopState) -> Option<String> {
    let row = state.last_iteration().filter(|it| !it.changes.has_progress())?;
    let message = row.error.as_ref()?.message.trim_end_matches('.');
    (!message.is_empty()).then(|| tr!("the last iteration failed: {message}", message))
}

/// The limits of which at least four fifths but not all are used, as of the last record.
pub fn limits_nearly_reached(state: &LoopState) -> Vec<(LimitName, String)> {
    let limits = &state.spec.settings.limits;
    let spent = &state.spent;
    let is_near = |used: u64, limit: u64| used < limit && used.saturating_mul(5) >= limit.saturating_mul(4);
    let mut found = Vec::new();
    let mut add = |name, used: u64, limit: u64| {
        if is_near(used, limit) {
            found.push((name, describe_usage(name, used, limit)));
        }
    };
    add(LimitName::Iterations, u64::from(state.iteration), u64::from(limits.iterations));
    add(LimitName::Duration, state.time.worked_ms, limits.duration_ms);
    add(LimitName::Cost, spent.cost_micros.unwrap_or(0), limits.cost_micros);
    if let Some((used, limit)) = spent.tokens.zip(limits.tokens) {
        add(LimitName::Tokens, used, limit);
    }
    add(LimitName::Calls, u64::from(spent.calls_this_hour), u64::from(limits.calls_per_hour));
    found
}

/// `4 of 5 iterations used`
fn describe_usage(name: LimitName, used: u64, limit: u64) -> String {
    match name {
        LimitName::Iterations => tr!("{used} of {limit} iterations used", used, limit),
        LimitName::Duration => {
            let (used, limit) = (words::duration(used), words::duration(limit));
            tr!("{used} of {limit} of work used", used, limit)
        }
        LimitName::Cost => {
            let (cost, limit) = (words::cost(used), words::cost(limit));
            tr!("{cost} of {limit} spent", cost, limit)
        }
        LimitName::Tokens => {
            let (used, limit) = (words::amount(used), words::amount(limit));
            tr!("{used} of {limit} tokens used", used, limit)
        }
        LimitName::Calls => tr!("{used} of {limit} calls of this hour used", used, limit),
    }
}

/// The limits nearly reached that no iteration has reported yet.
pub(super) fn newly_near(state: &LoopState) -> Vec<(LimitName, String)> {
    limits_nearly_reached(state)
        .into_iter()
        .filter(|(name, _)| !state.reported.limits.contains(name))
        .collect()
}

impl LoopState {
    /// The remaining cost budget of the agent.
    pub fn cost_left(&self) -> u64 {
        self.spec.settings.limits.cost_micros.saturating_sub(self.spent.cost_micros.unwrap_or(0))
    }
}

/// When the loop exceeds its time limit, unless it is paused.
pub(super) fn loop_end(state: &LoopState) -> Moment {
    let remaining = state.spec.settings.limits.duration_ms.saturating_sub(state.time.worked_ms);
    state.time.last_at.plus_ms(remaining)
}

/// When the running agent exceeds its time limit, whatever it prints.
pub(super) fn iteration_end(state: &LoopState, since: Moment) -> Moment {
    let of_loop = loop_end(state);
    let of_iteration = since.plus_ms(state.spec.settings.limits.iteration_ms);
    if of_loop.awake < of_iteration.awake { of_loop } else { of_iteration }
}
