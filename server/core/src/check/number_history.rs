//! Compares the number of a criterion with those of earlier rounds of its loop: `(rising)`, `(not falling)`,
//! `>= baseline`. The history is part of the loop's state, so that it survives a restart.

use std::fmt;

use loopkeeper_task::criterion::{Criterion, NumberRule};
use loopkeeper_text::language::translate;
use loopkeeper_text::{tr, tr_later};
use serde::{Deserialize, Serialize};

use super::judge::satisfies;
use super::{CheckResult, Status, words};

/// The numbers of one criterion that was judged at least once.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct NumberHistory {
    /// The number of the first round; `None` if its check printed none.
    pub baseline: Option<f64>,
    /// The highest number at which the criterion passed.
    pub best: Option<f64>,
}

impl NumberHistory {
    /// The history that begins with this result.
    pub fn starting(first: &CheckResult) -> Self {
        let mut history = Self { baseline: first.number, best: None };
        history.add(first);
        history
    }

    pub fn add(&mut self, result: &CheckResult) {
        if result.status == Status::Pass {
            self.best = self.best.into_iter().chain(result.number).reduce(f64::max);
        }
    }

    /// For a rollback, which may have removed the tree on which the best number was measured.
    pub fn forget_best(&mut self) {
        self.best = None;
    }
}

/// Where the number of a comparison comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ReferenceNumber {
    value: f64,
    origin: &'static str,
}

/// `61.5 (baseline)`
impl fmt::Display for ReferenceNumber {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { value, origin } = self;
        write!(out, "{}", tr!("{value} ({origin})", value, origin = translate(origin)))
    }
}

impl NumberHistory {
    fn baseline_reference(self) -> Option<ReferenceNumber> {
        self.baseline.map(|value| ReferenceNumber { value, origin: tr_later!("baseline") })
    }

    fn highest_reference(self) -> Option<ReferenceNumber> {
        let baseline = self.baseline_reference()?;
        let best = self.best.filter(|it| *it > baseline.value);
        Some(best.map_or(baseline, |value| ReferenceNumber { value, origin: tr_later!("best so far") }))
    }
}

/// Judges a result by the number rules of its criterion. Without a history the result is the first, its own baseline.
pub fn judge_history(criterion: &Criterion, history: Option<NumberHistory>, result: &mut CheckResult) {
    // A check that fails anyway keeps its own reason.
    let (Status::Pass, Some(value)) = (result.status, result.number) else { return };
    let is_first = history.is_none();
    let history = history.unwrap_or_else(|| NumberHistory::starting(result));
    for rule in &criterion.number_rules {
        if let Some(fact) = violation(*rule, value, history) {
            result.status = Status::Fail;
            result.fact = fact;
            return;
        }
    }
    if let Some(baseline) = history.baseline.filter(|_| !is_first) {
        result.fact = tr!("{value}, baseline {baseline}", value, baseline);
    }
}

/// The fact about a rule that does not hold.
fn violation(rule: NumberRule, value: f64, history: NumberHistory) -> Option<String> {
    let (Some(baseline), Some(highest)) = (history.baseline_reference(), history.highest_reference()) else {
        return Some(tr!("{value}, no baseline number to compare with", value));
    };
    match rule {
        NumberRule::Rising if value <= baseline.value => {
            Some(tr!("{value}, must rise above {reference}", value, reference = baseline))
        }
        NumberRule::Rising | NumberRule::NotFalling if value < highest.value => {
            Some(tr!("{value}, must not fall below {reference}", value, reference = highest))
        }
        NumberRule::Rising | NumberRule::NotFalling => None,
        NumberRule::Baseline { compare } => (!satisfies(value, compare, baseline.value))
            .then(|| words::needs(value, format!("{} {baseline}", compare.sign()))),
    }
}

/// Outside a loop there is no earlier round: only the fixed expectations decide.
pub fn note_without_loop(criterion: &Criterion, result: &mut CheckResult) {
    if !criterion.number_rules.is_empty() && result.status == Status::Pass {
        result.fact = tr!("{fact}, no loop: nothing to compare with", fact = result.fact);
    }
}

#[cfg(test)]
mod tests;
