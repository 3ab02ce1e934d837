//! Tracks the budget that the tasks of a queue share: cost and duration, and the iterations where the command line
//! limits them.

use std::time::Duration;

use loopkeeper_core::decide::LoopState;
use loopkeeper_core::settings::LimitSettings;
use loopkeeper_text::{tr, words};

use super::Args;

/// The remaining budget. A limit that is not given on the command line is the highest one of the tasks.
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
    /// `limits`: those of the tasks, with the options of the command line.
    pub(super) fn of(args: &Args, limits: &[LimitSettings]) -> Self {
        let iterations = limits.iter().map(|it| it.iterations).max();
        Self {
            cost_micros: limits.iter().map(|it| it.cost_micros).max().unwrap_or(0),
            duration_ms: limits.iter().map(|it| it.duration_ms).max().unwrap_or(0),
            iterations: iterations.filter(|_| args.max_iterations.is_some()),
            spent_micros: 0,
            spent_ms: 0,
        }
    }

    /// The arguments that limit a task to the remaining budget. Its files cannot raise these limits.
    pub(super) fn limit_args(&self, args: &Args, own: &LimitSettings) -> Args {
        let cost = own.cost_micros.min(self.cost_micros);
        let iterations = self.iterations.map_or(own.iterations, |left| left.min(own.iterations));
        Args {
            max_cost: Some(format!("{}.{:06}", cost / 1_000_000, cost % 1_000_000)),
            max_duration: Some(format!("{}ms", own.duration_ms.min(self.duration_ms))),
            max_iterations: Some(iterations.to_string()),
            ..args.clone()
        }
    }

    /// Charges one loop. Its pauses are not work; of a loop whose keeper has ended, only the elapsed time is known.
    pub(super) fn charge(&mut self, elapsed: Duration, state: Option<&LoopState>) {
        let elapsed = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let elapsed = state.map_or(elapsed, |it| it.time.worked_ms);
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
            Self { cost_micros: 0, .. } => Some(tr!("its cost limit is reached")),
            Self { duration_ms: 0, .. } => Some(tr!("its time limit is reached")),
            Self { iterations: Some(0), .. } => Some(tr!("its iteration limit is reached")),
            _ => None,
        }
    }

    /// `$1.20 in 2 h`
    pub(super) fn sentence(&self) -> String {
        let duration = words::duration(self.spent_ms);
        match self.spent_micros {
            0 => tr!("in {duration}", duration),
            cost => tr!("{cost} in {duration}", cost = words::cost(cost), duration),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::QueueBudget;
    use crate::run::Args;
    use clap::Parser;
    use loopkeeper_core::decide::UserCommand;
    use loopkeeper_core::decide::sim::{Sim, Turn, criterion, spec};
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
        LimitSettings { cost_micros, duration_ms, iterations: 10, ..LimitSettings::default() }
    }

    fn bounds(budget: &QueueBudget, given: &Args, own: &LimitSettings) -> [String; 3] {
        let args = budget.limit_args(given, own);
        [args.max_cost, args.max_duration, args.max_iterations].map(Option::unwrap)
    }

    #[test]
    fn the_remaining_budget_bounds_the_next_task() {
        let given = args(&["a", "b", "--max-cost", "2.50", "--max-iterations", "10"]);
        let (short, long) = (limits(2_500_000, 60_000), limits(2_500_000, 90_000));
        let mut budget = QueueBudget::of(&given, &[short.clone(), long]);
        assert_eq!(bounds(&budget, &given, &short), ["2.500000", "60000ms", "10"]);
        budget.charge(Duration::from_secs(50), None);
        budget.cost_micros -= 400_001;
        budget.iterations = Some(4);
        assert_eq!(bounds(&budget, &given, &short), ["2.099999", "40000ms", "4"]);
        assert_eq!(budget.spent_limit(), None);
        budget.charge(Duration::from_secs(90), None);
        assert_eq!(budget.spent_limit(), Some("its time limit is reached"));
    }

    #[test]
    fn a_pause_is_not_charged() {
        let (given, own) = (args(&["a", "b"]), limits(2_500_000, 3_600_000));
        let mut sim =
            Sim::new(spec(vec![criterion("tests", "t")]), "f", vec![Turn::new("f"), Turn::new("p")]);
        sim.play_iterations(1);
        sim.command(UserCommand::Pause);
        sim.play();
        sim.now = sim.now.plus_ms(36_000_000);
        sim.command(UserCommand::Resume);
        sim.play();
        let mut budget = QueueBudget::of(&given, &[own]);
        budget.charge(Duration::from_secs(36_200), Some(&sim.state));
        assert_eq!(budget.spent_limit(), None);
        assert_eq!(
            (budget.spent_ms, budget.duration_ms),
            (sim.state.time.worked_ms, 3_600_000 - budget.spent_ms)
        );
    }

    #[test]
    fn a_task_keeps_lower_limits_of_its_own_and_its_iterations() {
        let given = args(&["a", "b"]);
        let own = limits(1_000_000, 900);
        let budget = QueueBudget::of(&given, &[limits(25_000_000, 1000), own.clone()]);
        assert_eq!(bounds(&budget, &given, &own), ["1.000000", "900ms", "10"]);
    }
}
