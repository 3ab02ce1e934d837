//! Early warnings about a loop that still works: what is likely to end or delay it, or costs more than usual. Derived
//! from the records only and without a clock, so that every viewer finds the same. Decides nothing.
//!
//! A warning is reported once for its cause and its loop: viewers remember the causes.

use serde::Serialize;

use crate::check::Status;
use crate::journal::{BreakerCause, LimitName, Pinned, Role};
use crate::loop_state::{Iteration, LoopState};
use loopkeeper_text::words;

use super::breaker;
use super::forecast::{self, completed_iterations, median, whole_ms, working_iterations};
use super::limits::limits_nearly_reached;
use super::takeover;

/// Iterations before an unusual one.
const USUAL: usize = 5;
/// An iteration is unusual above this multiple of the median.
const FACTOR: u64 = 3;
/// Smaller values vary by chance.
const LEAST_MS: u64 = 60_000;
const LEAST_MICROS: u64 = 10_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlyWarning {
    pub cause: WarningCause,
    /// A sentence without its full stop.
    pub sentence: String,
}

/// Identifies a warning within its loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WarningCause {
    LoggedOut,
    StallAhead(BreakerCause),
    LimitNear(LimitName),
    BudgetShort,
    UnusualCost,
    UnusualTime,
}

/// The kind of a cause, as commands of `[on]` receive it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WarningKind {
    LoggedOut,
    StallAhead,
    LimitNear,
    BudgetShort,
    UnusualCost,
    UnusualTime,
}

impl WarningCause {
    pub fn kind(self) -> WarningKind {
        match self {
            Self::LoggedOut => WarningKind::LoggedOut,
            Self::StallAhead(_) => WarningKind::StallAhead,
            Self::LimitNear(_) => WarningKind::LimitNear,
            Self::BudgetShort => WarningKind::BudgetShort,
            Self::UnusualCost => WarningKind::UnusualCost,
            Self::UnusualTime => WarningKind::UnusualTime,
        }
    }
}

/// What the records of an open loop warn of, the most urgent first.
pub fn early_warnings(state: &LoopState) -> Vec<EarlyWarning> {
    if state.outcome().is_some() {
        return Vec::new();
    }
    let near = limits_nearly_reached(state);
    let warning = |cause, sentence| EarlyWarning { cause, sentence };
    let logged_out = takeover::logged_out(state).map(|it| warning(WarningCause::LoggedOut, it));
    let stall = breaker::stall_ahead(state).map(|(cause, it)| warning(WarningCause::StallAhead(cause), it));
    let short = budget_short(state).filter(|(limit, _)| !near.iter().any(|(name, _)| name == limit));
    let mut all: Vec<EarlyWarning> = logged_out.into_iter().chain(stall).collect();
    all.extend(near.into_iter().map(|(limit, it)| warning(WarningCause::LimitNear(limit), it)));
    all.extend(short.map(|(_, it)| warning(WarningCause::BudgetShort, it)));
    all.extend(unusual(state, WarningCause::UnusualCost));
    all.extend(unusual(state, WarningCause::UnusualTime));
    all
}

/// The last finished iteration, if it cost or took far more than those before it.
fn unusual(state: &LoopState, cause: WarningCause) -> Option<EarlyWarning> {
    type Measure = fn(&Iteration) -> Option<u64>;
    let (measure, least, verb, words): (Measure, u64, &str, fn(u64) -> String) = match cause {
        WarningCause::UnusualCost => (|it| it.cost_micros, LEAST_MICROS, "cost", words::cost),
        _ => (|it| Some(whole_ms(it)), LEAST_MS, "took", words::duration),
    };
    let finished: Vec<&Iteration> = working_iterations(state).collect();
    let (last, earlier) = finished.split_last()?;
    let value = measure(last).filter(|it| *it >= least)?;
    let usual = median(earlier.iter().filter_map(|it| measure(it)).collect(), USUAL)?;
    (value > usual.saturating_mul(FACTOR)).then(|| EarlyWarning {
        cause,
        sentence: format!(
            "iteration {} {verb} {}, over {FACTOR} times the median of {}",
            last.number,
            words(value),
            words(usual)
        ),
    })
}

/// A limit that may be too low for the open criteria.
struct Budget {
    limit: LimitName,
    name: &'static str,
    /// The median of an iteration; `None` for the number of iterations itself.
    each: Option<u64>,
    left: u64,
    words: fn(u64) -> String,
}

/// The limit that ends the loop before its criteria pass at the present pace, and how that was computed.
fn budget_short(state: &LoopState) -> Option<(LimitName, String)> {
    let finished = working_iterations(state).count() as u64;
    let (turned, open) = goals(state);
    if finished < forecast::ENOUGH as u64 || turned == 0 || open == 0 {
        return None;
    }
    let needed = open.saturating_mul(finished).div_ceil(turned);
    let is_short = |it: &Budget| needed.saturating_mul(it.each.unwrap_or(1)) > it.left;
    let Budget { limit, name, each, left, words } = budgets(state).into_iter().find(is_short)?;
    let open = if open == 1 { "the open one needs".to_owned() } else { format!("the {open} open ones need") };
    let sum = each.map_or_else(String::new, |it| {
        format!(" of about {} each, {} in all", words(it), words(needed.saturating_mul(it)))
    });
    Some((
        limit,
        format!(
            "at this pace the {name} limit is reached before all criteria pass: {open} about {}{sum} \
             ({turned} turned in {finished} so far); {} left",
            counted_iterations(needed),
            words(left),
        ),
    ))
}

fn budgets(state: &LoopState) -> Vec<Budget> {
    let (limits, spent) = (&state.spec.settings.limits, &state.spent);
    let pace = |measure: fn(&Iteration) -> Option<u64>| {
        median(working_iterations(state).filter_map(measure).collect(), forecast::ENOUGH)
    };
    let cost = pace(|it| it.cost_micros).map(|each| Budget {
        limit: LimitName::Cost,
        name: "cost",
        each: Some(each),
        left: limits.cost_micros.saturating_sub(spent.cost_micros.unwrap_or(0)),
        words: words::cost,
    });
    let tokens = pace(|it| it.tokens).zip(limits.tokens).map(|(each, limit)| Budget {
        limit: LimitName::Tokens,
        name: "token",
        each: Some(each),
        left: limit.saturating_sub(spent.tokens.unwrap_or(0)),
        words: |count| format!("{} tokens", words::amount(count)),
    });
    let iterations = Budget {
        limit: LimitName::Iterations,
        name: "iteration",
        each: None,
        left: u64::from(limits.iterations).saturating_sub(completed_iterations(state)),
        words: counted_iterations,
    };
    cost.into_iter().chain(tokens).chain([iterations]).collect()
}

fn counted_iterations(count: u64) -> String {
    words::counted(count, "iteration")
}

/// How many required criteria with a check turned since the start, and how many do not pass.
fn goals(state: &LoopState) -> (u64, u64) {
    let checked = || state.required().filter(|it| it.criterion.check.is_some());
    let passes = |it: &&Pinned| state.status_of(&it.criterion.id) == Some(Status::Pass);
    let turned = checked().filter(passes).filter(|it| it.role != Role::Guard).count();
    (turned as u64, checked().filter(|it| !passes(it)).count() as u64)
}
