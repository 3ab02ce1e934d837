//! Adds up loops and iterations.

use std::collections::{BTreeMap, HashSet};

use loopkeeper_core::journal::StopVerdict;
use loopkeeper_text::words;
use loopkeeper_text::{tr, tr_later};
use serde::Serialize;

use super::{IterationFacts, IterationResult, LoopFacts};

/// Loops of one agent, model or project, or all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopFigures {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub loops: u64,
    /// Those of `loops` that have not ended.
    pub open_loops: u64,
    /// Those of `loops` that completed verified.
    pub verified_loops: u64,
    /// Tasks with a verified loop, each once.
    pub verified_tasks: u64,
    /// Loops whose whole cost is known.
    pub cost_known_loops: u64,
    /// Everything known to be spent, also by loops that failed.
    pub cost_micros: u64,
    /// `cost_micros` for each of `verified_tasks`; absent without one, or where no cost is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_per_verified_micros: Option<u64>,
    pub iterations: u64,
    pub duration_ms: u64,
}

impl LoopFigures {
    /// Some cost is unknown, so that the real one is higher.
    pub fn is_at_least(&self) -> bool {
        self.cost_known_loops < self.loops
    }
}

/// How many loops ended at the right moment, in the judgement of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FeedbackFigures {
    pub right: u64,
    pub too_early: u64,
    pub too_late: u64,
}

impl FeedbackFigures {
    pub(super) fn add(&mut self, verdict: Option<StopVerdict>) {
        match verdict {
            Some(StopVerdict::Right) => self.right += 1,
            Some(StopVerdict::TooEarly) => self.too_early += 1,
            Some(StopVerdict::TooLate) => self.too_late += 1,
            Some(StopVerdict::Other) | None => {}
        }
    }

    /// `Stopped at the right moment: 3 of 5 loops with feedback (1 too early, 1 too late).`
    pub(super) fn sentence(self) -> Option<String> {
        let all = self.right + self.too_early + self.too_late;
        let loops = words::counted(all, "loop");
        let Self { right, too_early, too_late } = self;
        (all > 0).then(|| {
            tr!(
                "Stopped at the right moment: {right} of {loops} with feedback \
                 ({too_early} too early, {too_late} too late).",
                right,
                loops,
                too_early,
                too_late
            )
        })
    }
}

/// The numbers of iterations by their result.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IterationTotals {
    pub count: u64,
    pub turned: ResultFigures,
    pub kept: ResultFigures,
    pub nothing: ResultFigures,
    pub waited: ResultFigures,
    /// Time between iterations: waits for a provider, a limit of calls, or as configured.
    pub waits_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultFigures {
    pub count: u64,
    /// Share of all iterations, rounded.
    pub percent: u64,
    pub duration_ms: u64,
    pub cost_micros: u64,
    /// Those of `count` whose cost is known.
    pub cost_known: u64,
}

impl IterationTotals {
    /// With their names, in the order in which they are shown.
    pub fn rows(&self) -> [(&'static str, &ResultFigures); 4] {
        [
            (tr_later!("turned"), &self.turned),
            (tr_later!("kept"), &self.kept),
            (tr_later!("nothing"), &self.nothing),
            (tr_later!("waited"), &self.waited),
        ]
    }

    pub(super) fn add(&mut self, facts: &LoopFacts) {
        self.waits_ms = self.waits_ms.saturating_add(facts.waited_ms);
        for it in &facts.iterations {
            self.count += 1;
            let figures = match it.result {
                IterationResult::Turned => &mut self.turned,
                IterationResult::Kept => &mut self.kept,
                IterationResult::Nothing => &mut self.nothing,
                IterationResult::Waited => &mut self.waited,
            };
            figures.count += 1;
            figures.duration_ms = figures.duration_ms.saturating_add(it.duration_ms);
            figures.cost_micros = figures.cost_micros.saturating_add(it.cost_micros.unwrap_or(0));
            figures.cost_known += u64::from(it.is_cost_known);
        }
    }

    pub(super) fn with_shares(mut self) -> Self {
        let all = self.count;
        for it in [&mut self.turned, &mut self.kept, &mut self.nothing, &mut self.waited] {
            it.percent = (it.count * 100 + all / 2).checked_div(all).unwrap_or(0);
        }
        self
    }
}

/// The iterations of one agent or model in a loop.
pub(super) struct LoopPart<'a> {
    pub(super) name: &'a str,
    iterations: Vec<&'a IterationFacts>,
    /// It made the last iteration, so that the outcome is counted for it.
    is_last: bool,
}

/// A loop, divided by the names of its iterations.
pub(super) fn parts_of<'a>(
    facts: &'a LoopFacts,
    name: impl Fn(&'a IterationFacts) -> &'a str,
) -> Vec<LoopPart<'a>> {
    let last = facts.iterations.last().map(&name);
    let mut parts: BTreeMap<&str, Vec<&IterationFacts>> = BTreeMap::new();
    for it in &facts.iterations {
        parts.entry(name(it)).or_default().push(it);
    }
    let part = |(name, iterations)| LoopPart { name, iterations, is_last: last == Some(name) };
    parts.into_iter().map(part).collect()
}

/// The figures of a group in the making.
#[derive(Debug, Default)]
pub(super) struct GroupCollector {
    figures: LoopFigures,
    /// Identities of verified tasks.
    tasks: HashSet<String>,
}

impl GroupCollector {
    pub(super) fn add_loop(&mut self, facts: &LoopFacts) {
        self.count(facts, facts.is_verified, facts.is_cost_known);
        self.spend(facts.cost_micros, &facts.iterations.iter().collect::<Vec<_>>());
    }

    /// Judges are in the totals only: they are no agent's work.
    pub(super) fn add_part(&mut self, facts: &LoopFacts, part: &LoopPart<'_>) {
        let known = part.iterations.iter().all(|it| it.is_cost_known);
        self.count(facts, facts.is_verified && part.is_last, known);
        let costs = part.iterations.iter().filter_map(|it| it.cost_micros);
        self.spend(costs.fold(0, u64::saturating_add), &part.iterations);
    }

    fn count(&mut self, facts: &LoopFacts, is_verified: bool, is_cost_known: bool) {
        self.figures.loops += 1;
        self.figures.open_loops += u64::from(!facts.has_ended);
        self.figures.verified_loops += u64::from(is_verified);
        self.figures.cost_known_loops += u64::from(is_cost_known);
        if is_verified {
            self.tasks.insert(facts.task.clone());
        }
    }

    fn spend(&mut self, cost_micros: u64, iterations: &[&IterationFacts]) {
        let figures = &mut self.figures;
        figures.cost_micros = figures.cost_micros.saturating_add(cost_micros);
        figures.iterations += iterations.len() as u64;
        let time = iterations.iter().fold(0, |sum: u64, it| sum.saturating_add(it.duration_ms));
        figures.duration_ms = figures.duration_ms.saturating_add(time);
    }

    pub(super) fn finish(self, name: Option<String>) -> LoopFigures {
        let verified_tasks = self.tasks.len() as u64;
        let is_known = self.figures.cost_known_loops > 0 || self.figures.cost_micros > 0;
        let per_task = self.figures.cost_micros.checked_div(verified_tasks).filter(|_| is_known);
        LoopFigures { name, verified_tasks, cost_per_verified_micros: per_task, ..self.figures }
    }
}
