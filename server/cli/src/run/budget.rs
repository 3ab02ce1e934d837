//! The budget that the tasks of a queue share: cost and duration, and the iterations where the command line limits them.

use std::time::Duration;

use loopkeeper_core::decide::LoopState;
use loopkeeper_core::settings::LimitSettings;
use loopkeeper_text::units::{duration_ms, micro_dollars};
use loopkeeper_text::words;

use super::Args;

/// What is left. A limit that is not given on the command line is the highest one of the tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QueueBudget {
    cost_micros: u64,
    duration_ms: u64,
    /// `None`: each task has its own limit.
    iterations: Option<u32>,
    spent_micros: u64,
    spent_ms: u64,
}

impl QueueBudget {
    /// The options were parsed with the settings of each task already.
    pub(super) fn of(args: &Args, limits: impl Iterator<Item = LimitSettings>) -> Self {
        let (mut cost, mut duration) = (0, 0);
        for limit in limits {
            cost = cost.max(limit.cost_micros);
            duration = duration.max(limit.duration_ms);
        }
        let given = |text: &Option<String>| text.clone();
        Self {
            cost_micros: given(&args.max_cost).and_then(|it| micro_dollars(&it).ok()).unwrap_or(cost),
            duration_ms: given(&args.max_duration).and_then(|it| duration_ms(&it).ok()).unwrap_or(duration),
            iterations: given(&args.max_iterations).and_then(|it| it.parse().ok()),
            spent_micros: 0,
            spent_ms: 0,
        }
    }

    /// The arguments of the next task, with what is left of the budget where its own limit is higher.
    pub(super) fn bounded(&self, args: &Args, own: &LimitSettings) -> Args {
        let mut args = args.clone();
        if self.cost_micros < own.cost_micros || args.max_cost.is_some() {
            let (dollars, micros) = (self.cost_micros / 1_000_000, self.cost_micros % 1_000_000);
            args.max_cost = Some(format!("{dollars}.{micros:06}"));
        }
        if self.duration_ms < own.duration_ms || args.max_duration.is_some() {
            args.max_duration = Some(format!("{}ms", self.duration_ms));
        }
        if let Some(left) = self.iterations {
            args.max_iterations = Some(left.to_string());
        }
        args
    }

    /// Charges one loop.
    pub(super) fn charge(&mut self, elapsed: Duration, state: Option<&LoopState>) {
        let elapsed = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let cost = state.and_then(|it| it.spent.cost_micros).unwrap_or(0);
        let iterations = state.map_or(0, |it| u32::try_from(it.history.len()).unwrap_or(u32::MAX));
        self.spent_micros = self.spent_micros.saturating_add(cost);
        self.spent_ms = self.spent_ms.saturating_add(elapsed);
        self.cost_micros = self.cost_micros.saturating_sub(cost);
        self.duration_ms = self.duration_ms.saturating_sub(elapsed);
        self.iterations = self.iterations.map(|it| it.saturating_sub(iterations));
    }

    /// The limit of which nothing is left.
    pub(super) fn spent_limit(&self) -> Option<&'static str> {
        match self {
            Self { cost_micros: 0, .. } => Some("its cost limit is reached"),
            Self { duration_ms: 0, .. } => Some("its time limit is reached"),
            Self { iterations: Some(0), .. } => Some("its iteration limit is reached"),
            _ => None,
        }
    }

    /// `$1.20 in 2 h`
    pub(super) fn sentence(&self) -> String {
        let duration = words::duration(self.spent_ms);
        match self.spent_micros {
            0 => format!("in {duration}"),
            cost => format!("{} in {duration}", words::cost(cost)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::QueueBudget;
    use crate::run::Args;
    use clap::Parser;
    use loopkeeper_core::settings::LimitSettings;
    use std::time::Duration;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn args(line: &[&str]) -> Args {
        Line::parse_from([&["run"], line].concat()).args
    }

    fn limits(cost_micros: u64, duration_ms: u64) -> LimitSettings {
        LimitSettings { cost_micros, duration_ms, ..LimitSettings::default() }
    }

    #[test]
    fn what_is_left_bounds_the_next_task() {
        let given = args(&["a", "b", "--max-cost", "2.50", "--max-iterations", "10"]);
        let mut budget =
            QueueBudget::of(&given, [limits(2_500_000, 60_000), limits(2_500_000, 90_000)].into_iter());
        assert_eq!((budget.duration_ms, budget.iterations), (90_000, Some(10)));
        budget.charge(Duration::from_secs(50), None);
        budget.cost_micros -= 400_001;
        let next = budget.bounded(&given, &limits(2_500_000, 60_000));
        assert_eq!(next.max_cost.as_deref(), Some("2.099999"));
        assert_eq!(
            (next.max_duration.as_deref(), next.max_iterations.as_deref()),
            (Some("40000ms"), Some("10"))
        );
        assert_eq!(budget.spent_limit(), None);
        budget.charge(Duration::from_secs(90), None);
        assert_eq!(budget.spent_limit(), Some("its time limit is reached"));
    }

    #[test]
    fn a_task_keeps_a_lower_limit_of_its_own() {
        let given = args(&["a", "b"]);
        let budget = QueueBudget::of(&given, [limits(25_000_000, 1000), limits(1_000_000, 900)].into_iter());
        let next = budget.bounded(&given, &limits(1_000_000, 900));
        assert_eq!((next.max_cost, next.max_duration, next.max_iterations), (None, None, None));
    }
}
