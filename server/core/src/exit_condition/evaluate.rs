//! Evaluates an expression on facts, and names the deciding conditions in text that a user can verify.

use std::collections::BTreeMap;

use super::print::{format_pattern, quote};
use super::{Atom, ClaimCounter, ComparisonOperator, CriterionName, Expression, ExpressionNode, Quantity};
use loopkeeper_task::criterion::{TextPattern, compiled};

/// What is known after an iteration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExitFacts<'a> {
    /// Every required criterion holds.
    pub criteria: bool,
    /// No blocking item is open.
    pub plan: bool,
    pub plan_items: usize,
    pub promise: bool,
    /// The agent's message about it, if any.
    pub exit_signal: Option<bool>,
    pub indicators: u32,
    /// Claims in a row.
    pub done_signals: u32,
    pub thresholds: ClaimThresholds,
    pub iterations: u32,
    pub duration_ms: u64,
    pub idle_ms: u64,
    /// `None`: never reported by the agent.
    pub cost_micros: Option<u64>,
    pub tokens: Option<u64>,
    pub criterion: Vec<CriterionFact<'a>>,
    pub groups: BTreeMap<&'a str, bool>,
    /// Of the last iteration; `None` where the agent left none.
    pub last_message: Option<&'a str>,
    /// Names of what was used in the last iteration; `None` where the agent does not report them.
    pub tools: Option<Vec<&'a str>>,
    /// Whether the tree has a match, for every glob of [`Expression::globs`].
    pub files: BTreeMap<&'a str, bool>,
}

/// What bare `indicators` and `done_signals` ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimThresholds {
    pub indicators: u32,
    pub done_signals: u32,
}

/// The documented defaults.
impl Default for ClaimThresholds {
    fn default() -> Self {
        Self { indicators: 2, done_signals: 2 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CriterionFact<'a> {
    pub id: &'a str,
    pub prose: &'a str,
    pub holds: bool,
}

/// Whether an expression holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpressionVerdict {
    pub holds: bool,
    /// The conditions that decided it, without a period: `promise given and iterations 12 > 10`.
    pub because: String,
    /// One of them is a claim or a box of the agent.
    pub is_claim: bool,
}

/// An unknown value satisfies no condition: an unreported cost is neither above nor below anything.
pub(crate) fn evaluate(expression: &Expression, facts: &ExitFacts<'_>) -> ExpressionVerdict {
    let (holds, reasons) = weigh(&expression.0, facts);
    let is_claim = reasons.iter().any(|it| it.is_claim);
    let texts: Vec<String> = reasons.into_iter().map(|it| it.text).collect();
    let because = match texts.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        all => all.concat(),
    };
    ExpressionVerdict { holds, because, is_claim }
}

/// One condition as text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ConditionReason {
    text: String,
    is_claim: bool,
}

/// Whether a node holds, and which parts decide that: of an `or` the first part that holds, of an `and` all of them;
/// where it does not hold, every part that is missing.
fn weigh(node: &ExpressionNode, facts: &ExitFacts<'_>) -> (bool, Vec<ConditionReason>) {
    match node {
        ExpressionNode::Atom(atom) => {
            let (holds, text) = atom.evaluate(facts);
            (holds, vec![ConditionReason { text, is_claim: holds && atom.is_claim(facts) }])
        }
        ExpressionNode::Not(inner) => {
            let (holds, reasons) = weigh(inner, facts);
            (!holds, reasons)
        }
        ExpressionNode::And(parts) => evaluate_parts(parts, facts, DecidingParts::NotHolding),
        ExpressionNode::Or(parts) => evaluate_parts(parts, facts, DecidingParts::Holding),
    }
}

/// Which kind of part settles the whole.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DecidingParts {
    Holding,
    NotHolding,
}

fn evaluate_parts(
    parts: &[ExpressionNode],
    facts: &ExitFacts<'_>,
    decides: DecidingParts,
) -> (bool, Vec<ConditionReason>) {
    let weighed: Vec<(bool, Vec<ConditionReason>)> = parts.iter().map(|it| weigh(it, facts)).collect();
    let settling = |(holds, _): &&(bool, Vec<ConditionReason>)| *holds == (decides == DecidingParts::Holding);
    let settled = weighed.iter().any(|it| settling(&it));
    let most = if settled && decides == DecidingParts::Holding { 1 } else { parts.len() };
    let mut reasons: Vec<ConditionReason> = Vec::new();
    for (_, own) in weighed.iter().filter(|it| !settled || settling(it)).take(most) {
        for reason in own {
            if !reasons.contains(reason) {
                reasons.push(reason.clone());
            }
        }
    }
    (settled == (decides == DecidingParts::Holding), reasons)
}

impl Atom {
    /// If it holds, it does so by a claim of the agent.
    fn is_claim(&self, facts: &ExitFacts<'_>) -> bool {
        match self {
            Self::Promise | Self::ExitSignal | Self::Text(_) => true,
            Self::Plan => facts.plan_items > 0,
            Self::Enough(ClaimCounter::Indicators) | Self::Compare(Quantity::Indicators, ..) => {
                facts.indicators > 0
            }
            Self::Enough(ClaimCounter::DoneSignals) | Self::Compare(Quantity::DoneSignals, ..) => {
                facts.done_signals > 0
            }
            Self::Criteria
            | Self::Compare(..)
            | Self::Criterion(_)
            | Self::Group(_)
            | Self::Tool(_)
            | Self::File(_) => false,
        }
    }

    fn evaluate(&self, facts: &ExitFacts<'_>) -> (bool, String) {
        let either = |holds: bool, yes: &str, no: &str| (holds, if holds { yes } else { no }.to_owned());
        match self {
            Self::Criteria => {
                either(facts.criteria, "all required criteria hold", "not all required criteria hold")
            }
            Self::Plan => either(facts.plan, "no plan item is open", "plan items are open"),
            Self::Promise => either(facts.promise, "promise given", "no promise given"),
            Self::ExitSignal => {
                let no = if facts.exit_signal.is_none() { "no EXIT_SIGNAL" } else { "EXIT_SIGNAL false" };
                either(facts.exit_signal == Some(true), "EXIT_SIGNAL true", no)
            }
            Self::Enough(counted) => {
                let (quantity, needed) = match counted {
                    ClaimCounter::Indicators => (Quantity::Indicators, facts.thresholds.indicators),
                    ClaimCounter::DoneSignals => (Quantity::DoneSignals, facts.thresholds.done_signals),
                };
                compare(quantity, ComparisonOperator::AtLeast, needed.into(), facts)
            }
            Self::Compare(quantity, comparison, value) => compare(*quantity, *comparison, *value, facts),
            Self::Criterion(name) => criterion(name, facts),
            Self::Group(name) => match facts.groups.get(name.as_str()) {
                Some(true) => (true, format!("group {} holds", quote(name))),
                Some(false) => (false, format!("group {} does not hold", quote(name))),
                None => (false, format!("there is no group {}", quote(name))),
            },
            Self::Text(pattern) => text(pattern, facts.last_message),
            Self::Tool(name) => match &facts.tools {
                Some(used) if used.contains(&name.as_str()) => (true, format!("tool {} used", quote(name))),
                Some(_) => (false, format!("tool {} not used", quote(name))),
                None => {
                    (false, format!("the agent does not report whether it used the tool {}", quote(name)))
                }
            },
            Self::File(glob) => match facts.files.get(glob.as_str()) {
                Some(true) => (true, format!("a file matches {}", quote(glob))),
                Some(false) => (false, format!("no file matches {}", quote(glob))),
                None => (false, format!("files that match {} were not looked up", quote(glob))),
            },
        }
    }
}

fn compare(
    quantity: Quantity,
    comparison: ComparisonOperator,
    needed: u64,
    facts: &ExitFacts<'_>,
) -> (bool, String) {
    let known = match quantity {
        Quantity::Indicators => Some(facts.indicators.into()),
        Quantity::DoneSignals => Some(facts.done_signals.into()),
        Quantity::Iterations => Some(facts.iterations.into()),
        Quantity::Duration => Some(facts.duration_ms),
        Quantity::Idle => Some(facts.idle_ms),
        Quantity::Cost => facts.cost_micros,
        Quantity::Tokens => facts.tokens,
    };
    let limit = quantity.format_amount(needed);
    let Some(value) = known else {
        let what = if quantity == Quantity::Cost { "its cost" } else { "its tokens" };
        return (
            false,
            format!("the agent never reported {what}, so `{quantity}{comparison}{limit}` does not hold"),
        );
    };
    let holds = comparison.holds(value, needed);
    let sign = if holds { comparison.to_string() } else { opposite(comparison).to_owned() };
    (holds, format!("{} {} {sign} {limit}", quantity.display_name(), quantity.format_rounded(value, needed)))
}

fn opposite(comparison: ComparisonOperator) -> &'static str {
    match comparison {
        ComparisonOperator::Above => "<=",
        ComparisonOperator::AtLeast => "<",
        ComparisonOperator::Below => ">=",
        ComparisonOperator::AtMost => ">",
        ComparisonOperator::Equal => "!=",
    }
}

impl Quantity {
    fn display_name(self) -> String {
        self.to_string().replace('_', " ")
    }

    /// Whole seconds, unless the difference to what it is compared with lies in their parts.
    fn format_rounded(self, value: u64, beside: u64) -> String {
        let whole = value - value % 1000;
        let is_time = matches!(self, Self::Duration | Self::Idle);
        let rounds = is_time && (whole > beside || value < beside);
        self.format_amount(if rounds { whole } else { value })
    }
}

fn criterion(name: &CriterionName, facts: &ExitFacts<'_>) -> (bool, String) {
    let (shown, found): (String, Vec<&CriterionFact<'_>>) = match name {
        CriterionName::Id(id) => {
            let exact = facts.criterion.iter().filter(|it| it.id == id).collect::<Vec<_>>();
            let begins = || facts.criterion.iter().filter(|it| it.id.starts_with(id.as_str())).collect();
            (format!("`{id}`"), if exact.is_empty() { begins() } else { exact })
        }
        CriterionName::Prose(prose) => {
            let same = |it: &&CriterionFact<'_>| it.prose.trim().eq_ignore_ascii_case(prose.trim());
            (quote(prose), facts.criterion.iter().filter(same).collect())
        }
    };
    match found.as_slice() {
        [only] if only.holds => (true, format!("criterion {} holds", quote(only.prose.trim()))),
        [only] => (false, format!("criterion {} does not hold", quote(only.prose.trim()))),
        [] => (false, format!("there is no criterion {shown}")),
        several => (false, format!("{shown} names {} criteria", several.len())),
    }
}

fn text(pattern: &TextPattern, message: Option<&str>) -> (bool, String) {
    let shown = format_pattern(pattern);
    match message {
        Some(message) if compiled(pattern).is_some_and(|it| it.is_match(message)) => {
            (true, format!("the agent's last message has {shown}"))
        }
        Some(_) => (false, format!("the agent's last message does not have {shown}")),
        None => (false, format!("the agent left no last message that could have {shown}")),
    }
}
