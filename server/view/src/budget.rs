//! One sentence for terminal and hover: the used and the remaining part of its limits.

use super::{DisplayPhase, LoopStatus};
use crate::sentences;
use loopkeeper_core::decide::LoopState;
use loopkeeper_text::moment::Moment;
use loopkeeper_text::tr;
use loopkeeper_text::words;

/// `2 of 25 iterations · 2 min 3 s of 8 h, 7 h 57 min left · $0.02 of $25.00 · 3 of 100 calls this hour`.
/// A loop whose journal is damaged has no `state`, so its time is unknown. An ended loop has nothing left to count.
pub fn budget(status: &LoopStatus, state: Option<&LoopState>, now: Moment) -> String {
    let limits = &status.limits;
    let is_open = status.outcome.is_none();
    let mut parts =
        vec![tr!("{used} of {limit} iterations", used = status.iteration, limit = limits.iterations)];
    // The time of a dead keeper does not count.
    let is_interrupted = status.phase == DisplayPhase::Interrupted;
    let until = |state: &LoopState| if is_interrupted { state.time.last_at } else { now };
    parts.extend(state.map(|it| time(it.elapsed_ms(until(it)), limits.duration_ms, is_open)));
    parts.extend(cost(status, state));
    parts.extend(status.spent.tokens.map(|it| tokens(it, limits.tokens)));
    if is_open && limits.calls_per_hour > 0 {
        parts.push(tr!(
            "{used} of {limit} calls this hour",
            used = status.spent.calls_this_hour,
            limit = limits.calls_per_hour
        ));
    }
    parts.extend(status.spawns.summary());
    parts.join(" · ")
}

fn tokens(used: u64, limit: Option<u64>) -> String {
    let used = words::amount(used);
    match limit.map(words::amount) {
        Some(limit) => tr!("{used} of {limit} tokens", used, limit),
        None => tr!("{used} tokens", used),
    }
}

fn time(elapsed_ms: u64, limit_ms: u64, is_open: bool) -> String {
    let (used, limit) = (words::duration(elapsed_ms), words::duration(limit_ms));
    let left = words::duration(limit_ms.saturating_sub(elapsed_ms));
    if is_open {
        tr!("{used} of {limit}, {left} left", used, limit, left)
    } else {
        tr!("{used} of {limit}", used, limit)
    }
}

/// The cost, or the reason why an agent reports none.
fn cost(status: &LoopStatus, state: Option<&LoopState>) -> Option<String> {
    if let Some(micros) = status.spent.cost_micros {
        return Some(tr!(
            "{used} of {limit}",
            used = words::cost(micros),
            limit = words::cost(status.limits.cost_micros)
        ));
    }
    let spec = &state?.spec;
    let mode = spec.settings.mode;
    let reports = spec.agent.kind().capabilities().in_mode(mode).cost.is_yes();
    (!reports).then(|| sentences::no_cost(mode).to_owned())
}
