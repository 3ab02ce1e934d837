//! Early warnings about a loop that still works: what is likely to end or delay it, or costs more than usual. Derived
//! from the records only and without a clock, so that every viewer finds the same warnings. Decides nothing.
//!
//! A warning is reported once for its cause and its loop: viewers remember the causes.

use crate::check::Status;
use crate::journal::{BreakerCause, LimitName, PinnedCriterion, Role};
use crate::loop_state::{IterationFigures, LoopState};
use loopkeeper_text::tr;
use loopkeeper_text::words;

use super::breaker;
use super::forecast::{self, completed_iterations, median, working_iterations};
use super::limits::limits_nearly_reached;
use super::takeover;

/// Number of iterations before one can be unusual.
const MIN_EARLIER_ITERATIONS: usize = 5;
/// Number of iterations in a median, so that a long loop is not sorted again after each of them.
const MEDIAN_WINDOW: usize = 100;
/// An iteration is unusual above this multiple of the median.
const UNUSUAL_FACTOR: u64 = 3;

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

impl WarningCause {
    /// A stable identifier, as commands of `[on]` receive it.
    pub fn word(self) -> &'static str {
        match self {
            Self::LoggedOut => "logged-out",
            Self::StallAhead(_) => "stall-ahead",
            Self::LimitNear(_) => "limit-near",
            Self::BudgetShort => "budget-short",
            Self::UnusualCost => "unusual-cost",
            Self::UnusualTime => "unusual-time",
        }
    }
}

/// The warnings about an open loop, the most urgent first.
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
    all.extend(QUANTITIES.iter().filter_map(|it| unusual_iteration(state, it)));
    all
}

/// A quantity of an iteration of which one value may be far above the others.
struct UsualQuantity {
    cause: WarningCause,
    measure: fn(&IterationFigures) -> Option<u64>,
    /// Smaller values vary by chance.
    min: u64,
    /// The sentence about the iteration of this number, its value and the median.
    describe: fn(u32, u64, u64) -> String,
}

const QUANTITIES: [UsualQuantity; 2] = [
    UsualQuantity {
        cause: WarningCause::UnusualCost,
        measure: |it| it.cost_micros,
        min: 10_000,
        describe: |number, value, usual| {
            let (cost, usual) = (words::cost(value), words::cost(usual));
            tr!(
                "iteration {number} cost {cost}, over {factor} times the median of {usual}",
                number,
                cost,
                factor = UNUSUAL_FACTOR,
                usual
            )
        },
    },
    UsualQuantity {
        cause: WarningCause::UnusualTime,
        measure: |it| Some(it.whole_ms()),
        min: 60_000,
        describe: |number, value, usual| {
            let (duration, usual) = (words::duration(value), words::duration(usual));
            tr!(
                "iteration {number} took {duration}, over {factor} times the median of {usual}",
                number,
                duration,
                factor = UNUSUAL_FACTOR,
                usual
            )
        },
    },
];

/// The last finished iteration, if it cost or took far more than those before it.
fn unusual_iteration(state: &LoopState, quantity: &UsualQuantity) -> Option<EarlyWarning> {
    let UsualQuantity { cause, measure, min, describe } = quantity;
    let mut latest = working_iterations(state).rev();
    let last = latest.next()?;
    let value = measure(&last).filter(|it| it >= min)?;
    let earlier = latest.take(MEDIAN_WINDOW).filter_map(|it| measure(&it)).collect();
    let usual = median(earlier, MIN_EARLIER_ITERATIONS)?;
    (value > usual.saturating_mul(UNUSUAL_FACTOR))
        .then(|| EarlyWarning { cause: *cause, sentence: describe(last.number, value, usual) })
}

/// A limit that may be too low for the open criteria.
struct TightLimit {
    limit: LimitName,
    warning: &'static str,
    /// The median of an iteration; `None` for the number of iterations itself.
    each: Option<u64>,
    left: u64,
    words: fn(u64) -> String,
}

/// The limit that ends the loop before its criteria pass at the present pace, and how that was computed.
fn budget_short(state: &LoopState) -> Option<(LimitName, String)> {
    let finished = working_iterations(state).count() as u64;
    let (turned, open) = goals(state);
    if finished < forecast::MIN_ITERATIONS as u64 || turned == 0 || open == 0 {
        return None;
    }
    let needed = open.saturating_mul(finished).div_ceil(turned);
    let is_short = |it: &TightLimit| needed.saturating_mul(it.each.unwrap_or(1)) > it.left;
    let TightLimit { limit, warning, each, left, words } = budgets(state).into_iter().find(is_short)?;
    let sum = each.map(|it| (words(it), words(needed.saturating_mul(it))));
    let sentence = tr!(
        "{warning}: {need} ({turned} turned in {finished} so far); {left} left",
        warning,
        need = describe_need(open, &counted_iterations(needed), sum),
        turned,
        finished,
        left = words(left)
    );
    Some((limit, sentence))
}

/// `the open one needs about 3 iterations`; `sum`: the usage of each of them, and of all.
fn describe_need(open: u64, iterations: &str, sum: Option<(String, String)>) -> String {
    match (open, sum) {
        (1, None) => tr!("the open one needs about {iterations}", iterations),
        (_, None) => tr!("the {open} open ones need about {iterations}", open, iterations),
        (1, Some((each, sum))) => tr!(
            "the open one needs about {iterations} of about {each} each, {sum} in all",
            iterations,
            each,
            sum
        ),
        (_, Some((each, sum))) => tr!(
            "the {open} open ones need about {iterations} of about {each} each, {sum} in all",
            open,
            iterations,
            each,
            sum
        ),
    }
}

fn budgets(state: &LoopState) -> Vec<TightLimit> {
    let (limits, spent) = (&state.spec.settings.limits, &state.spent);
    let pace = |measure: fn(&IterationFigures) -> Option<u64>| {
        let recent = working_iterations(state).rev().take(MEDIAN_WINDOW);
        median(recent.filter_map(|it| measure(&it)).collect(), forecast::MIN_ITERATIONS)
    };
    let cost = pace(|it| it.cost_micros).map(|each| TightLimit {
        limit: LimitName::Cost,
        warning: tr!("at this pace the cost limit is reached before all criteria pass"),
        each: Some(each),
        left: limits.cost_micros.saturating_sub(spent.cost_micros.unwrap_or(0)),
        words: words::cost,
    });
    let tokens = pace(|it| it.tokens).zip(limits.tokens).map(|(each, limit)| TightLimit {
        limit: LimitName::Tokens,
        warning: tr!("at this pace the token limit is reached before all criteria pass"),
        each: Some(each),
        left: limit.saturating_sub(spent.tokens.unwrap_or(0)),
        words: |count| tr!("{amount} tokens", amount = words::amount(count)),
    });
    let iterations = TightLimit {
        limit: LimitName::Iterations,
        warning: tr!("at this pace the iteration limit is reached before all criteria pass"),
        each: None,
        left: u64::from(limits.iterations).saturating_sub(completed_iterations(state)),
        words: counted_iterations,
    };
    cost.into_iter().chain(tokens).chain([iterations]).collect()
}

fn counted_iterations(count: u64) -> String {
    words::counted(count, "iteration")
}

/// The number of required criteria with a check that turned since the start, and of those that do not pass.
fn goals(state: &LoopState) -> (u64, u64) {
    let checked = || state.required().filter(|it| it.criterion.check.is_some());
    let passes = |it: &&PinnedCriterion| state.status_of(&it.criterion.id) == Some(Status::Pass);
    let turned = checked().filter(passes).filter(|it| it.role != Role::Guard).count();
    (turned as u64, checked().filter(|it| !passes(it)).count() as u64)
}
