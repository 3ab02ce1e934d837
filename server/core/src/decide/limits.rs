//! Limits: numbers that end a loop. Every limit is charged before the spending, from the journal, over all restarts,
//! and reported once at four fifths. Waits are in [`super::waits`].

use crate::journal::{LimitName, Outcome, OutcomeKind, WaitReason};
use crate::loop_state::{LoopState, Wait};
use loopkeeper_text::moment::Moment;
use loopkeeper_text::words;

use super::spans::iterations;
use super::{exit, mutants};

/// Consecutive agent failures without any change after which the loop needs the user.
pub(crate) const MAX_FAILURES: u32 = 3;

/// The limit that forbids another iteration, as the loop's outcome.
pub(super) fn limit_outcome(state: &LoopState, now: Moment) -> Option<Outcome> {
    let limits = &state.spec.settings.limits;
    let after = iterations(state.iteration);
    let cost = state.spent.cost_micros.filter(|it| *it >= limits.cost_micros);
    let tokens = state.spent.tokens.zip(limits.tokens).filter(|(used, limit)| used >= limit);
    let what = if state.iteration >= limits.iterations {
        iterations(limits.iterations)
    } else if state.elapsed_ms(now) >= limits.duration_ms {
        format!("{} of work, after {after}", words::duration(limits.duration_ms))
    } else if let Some(cost) = cost {
        format!("{} of {} spent, after {after}", words::cost(cost), words::cost(limits.cost_micros))
    } else {
        let (used, limit) = tokens?;
        format!("{} of {} tokens used, after {after}", words::amount(used), words::amount(limit))
    };
    Some(limit_reached_outcome(state, &what))
}

/// The outcome of a loop whose time ends before the wait does: waiting would be pointless.
pub(super) fn wait_limit_outcome(state: &LoopState, wait: &Wait) -> Option<Outcome> {
    if wait.until.awake < loop_end(state).awake {
        return None;
    }
    let what = match wait.reason {
        WaitReason::Quota => "the provider's usage limit lasts longer",
        WaitReason::Backoff => "the next try with the provider is due only later",
        WaitReason::Between => "the next iteration is due only later",
        WaitReason::Calls => "the calls of this hour are used up for longer",
        WaitReason::Breaker => "the breaker stays open for longer",
        WaitReason::Other => "the wait is longer",
    };
    let duration = words::duration(state.spec.settings.limits.duration_ms);
    let after = iterations(state.iteration);
    Some(limit_reached_outcome(
        state,
        &format!("{what} than the {duration} of this loop, stopped after {after}"),
    ))
}

fn limit_reached_outcome(state: &LoopState, what: &str) -> Outcome {
    let survivors = mutants::survivors_suffix(state);
    let sentence = format!("limit reached: {what}{}{survivors}", exit::progress_suffix(state)).into();
    Outcome { kind: OutcomeKind::Limit, verified: false, sentence, cause: None }
}

/// The limits of which at least four fifths but not all are used, as of the last record.
pub fn limits_nearly_reached(state: &LoopState) -> Vec<(LimitName, String)> {
    let limits = &state.spec.settings.limits;
    let spent = &state.spent;
    let is_near = |used: u64, limit: u64| used < limit && used.saturating_mul(5) >= limit.saturating_mul(4);
    let mut found = Vec::new();
    let mut say = |name, used: u64, limit: u64, words: &dyn Fn(u64) -> String, what: &str| {
        if is_near(used, limit) {
            found.push((name, format!("{} of {} {what}", words(used), words(limit))));
        }
    };
    let count = |it: u64| it.to_string();
    say(
        LimitName::Iterations,
        u64::from(state.iteration),
        u64::from(limits.iterations),
        &count,
        "iterations used",
    );
    say(LimitName::Duration, state.time.worked_ms, limits.duration_ms, &words::duration, "of work used");
    say(LimitName::Cost, spent.cost_micros.unwrap_or(0), limits.cost_micros, &words::cost, "spent");
    if let Some((used, limit)) = spent.tokens.zip(limits.tokens) {
        say(LimitName::Tokens, used, limit, &words::amount, "tokens used");
    }
    let calls = u64::from(spent.calls_this_hour);
    say(LimitName::Calls, calls, u64::from(limits.calls_per_hour), &count, "calls of this hour used");
    found
}

/// Those of them that no iteration has reported yet.
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
