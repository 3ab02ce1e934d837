//! Sentences that the user should read before a start: the cost of similar loops, and the maximum cost of this one.
//! Decides nothing.

#[cfg(test)]
mod tests;

use loopkeeper_core::decide::LoopState;
use loopkeeper_core::settings::LimitSettings;
use loopkeeper_task::TaskId;
use loopkeeper_text::tr;
use loopkeeper_text::words;

/// The duration and cost of one ended loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopDuration {
    pub task: TaskId,
    pub iterations: u64,
    pub duration_ms: u64,
    /// `None`: its agent reports no cost.
    pub cost_micros: Option<u64>,
}

impl LoopDuration {
    /// `None`: the loop has not ended, or did nothing because everything held.
    pub fn of(state: &LoopState) -> Option<Self> {
        state.outcome()?;
        (state.iteration > 0).then(|| Self {
            task: state.spec.task.clone(),
            iterations: u64::from(state.iteration),
            duration_ms: state.time.worked_ms,
            cost_micros: state.spent.cost_micros,
        })
    }
}

/// `3 loops on this task took 4 iterations, 12 min 3 s and $1.20 (medians)`: those on the task, or all of the folder where
/// there are none.
pub fn history(ended: &[LoopDuration], task: &TaskId) -> Option<String> {
    let same: Vec<&LoopDuration> = ended.iter().filter(|it| it.task == *task).collect();
    let is_same = !same.is_empty();
    let like = if is_same { same } else { ended.iter().collect() };
    let iterations = median(like.iter().map(|it| it.iterations))?;
    let duration = words::duration(median(like.iter().map(|it| it.duration_ms))?);
    let costs: Vec<u64> = like.iter().filter_map(|it| it.cost_micros).collect();
    let cost = median(costs.into_iter()).map(words::cost);
    let took = words::counted(iterations, "iteration");
    let took = match cost {
        Some(cost) => tr!("{iterations}, {duration} and {cost}", iterations = took, duration, cost),
        None => tr!("{iterations} and {duration}", iterations = took, duration),
    };
    Some(match (like.len(), is_same) {
        (1, true) => tr!("The last loop on this task took {took}", took),
        (1, false) => tr!("The last loop in this folder took {took}", took),
        (count, true) => tr!("{count} loops on this task took {took} (medians)", count, took),
        (count, false) => tr!("{count} loops in this folder took {took} (medians)", count, took),
    })
}

/// `At most 25 iterations, 8 h and $25.00`. Without a reported cost only the other limits end a loop.
pub fn upper_bound(limits: &LimitSettings, reports_cost: bool) -> String {
    let iterations = words::counted(u64::from(limits.iterations), "iteration");
    let duration = words::duration(limits.duration_ms);
    if reports_cost {
        tr!(
            "At most {iterations}, {duration} and {cost}",
            iterations,
            duration,
            cost = words::cost(limits.cost_micros)
        )
    } else {
        tr!("At most {iterations} and {duration}; cost not reported", iterations, duration)
    }
}

/// The lower one of two in the middle: a real loop.
fn median(values: impl Iterator<Item = u64>) -> Option<u64> {
    let mut sorted: Vec<u64> = values.collect();
    sorted.sort_unstable();
    sorted.get(sorted.len().saturating_sub(1) / 2).copied()
}
