//! Evaluates an expression on facts, and names the deciding conditions in text that a user can verify.

use std::collections::BTreeMap;

use super::print::{format_pattern, quote};
use super::{Atom, ClaimCounter, ComparisonOperator, CriterionName, Expression, ExpressionNode, Quantity};
use loopkeeper_task::criterion::{TextPattern, compiled};
use loopkeeper_text::clauses::join_with_commas;
use loopkeeper_text::tr;

/// What is known after an iteration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExitFacts<'a> {
    /// Every required criterion holds.
    pub criteria: bool,
    /// No blocking item is open.
    pub plan: bool,
    pub plan_items: usize,
    pub promise: bool,
    /// The value of the agent's `EXIT_SIGNAL`, if it printed one.
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
    /// The last message of the last iteration; `None` if the agent left none.
    pub last_message: Option<&'a str>,
    /// Names of the tools used in the last iteration; `None` if the agent does not report them.
    pub tools: Option<Vec<&'a str>>,
    /// Whether the tree has a match, for every glob of [`Expression::globs`].
    pub files: BTreeMap<&'a str, bool>,
}

/// The numbers that bare `indicators` and `done_signals` require.
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
    /// Whether one of them is a claim or a box of the agent.
    pub is_claim: bool,
}

/// An unknown value satisfies no condition: an unreported cost is neither above nor below anything.
pub(crate) fn evaluate(expression: &Expression, facts: &ExitFacts<'_>) -> ExpressionVerdict {
    let (holds, reasons) = evaluate_node(&expression.0, facts);
    let is_claim = reasons.iter().any(|it| it.is_claim);
    let texts: Vec<String> = reasons.into_iter().map(|it| it.text).collect();
    let because = match texts.as_slice() {
        [rest @ .., last] if !rest.is_empty() => {
            tr!("{clauses} and {last}", clauses = join_with_commas(rest), last)
        }
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

/// Whether a node holds, and which parts decide that: of an `or` the first part that holds, of an `and` all parts; if
/// it does not hold, every part that is missing.
fn evaluate_node(node: &ExpressionNode, facts: &ExitFacts<'_>) -> (bool, Vec<ConditionReason>) {
    match node {
        ExpressionNode::Atom(atom) => {
            let (holds, text) = atom.evaluate(facts);
            (holds, vec![ConditionReason { text, is_claim: holds && atom.is_claim(facts) }])
        }
        ExpressionNode::Not(inner) => {
            let (holds, reasons) = evaluate_node(inner, facts);
            (!holds, reasons)
        }
        ExpressionNode::And(parts) => evaluate_parts(parts, facts, DecidingParts::NotHolding),
        ExpressionNode::Or(parts) => evaluate_parts(parts, facts, DecidingParts::Holding),
    }
}

/// Which parts decide the value of the whole.
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
    let evaluated: Vec<(bool, Vec<ConditionReason>)> =
        parts.iter().map(|it| evaluate_node(it, facts)).collect();
    let settling = |(holds, _): &&(bool, Vec<ConditionReason>)| *holds == (decides == DecidingParts::Holding);
    let settled = evaluated.iter().any(|it| settling(&it));
    let max_parts = if settled && decides == DecidingParts::Holding { 1 } else { parts.len() };
    let mut reasons: Vec<ConditionReason> = Vec::new();
    for (_, own) in evaluated.iter().filter(|it| !settled || settling(it)).take(max_parts) {
        for reason in own {
            if !reasons.contains(reason) {
                reasons.push(reason.clone());
            }
        }
    }
    (settled == (decides == DecidingParts::Holding), reasons)
}

impl Atom {
    /// Whether it rests on a claim of the agent if it holds.
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
            Self::Criteria => either(
                facts.criteria,
                tr!("all required criteria hold"),
                tr!("not all required criteria hold"),
            ),
            Self::Plan => either(facts.plan, tr!("no plan item is open"), tr!("plan items are open")),
            Self::Promise => either(facts.promise, tr!("promise given"), tr!("no promise given")),
            Self::ExitSignal => {
                let no = if facts.exit_signal.is_none() {
                    tr!("no EXIT_SIGNAL")
                } else {
                    tr!("EXIT_SIGNAL false")
                };
                either(facts.exit_signal == Some(true), tr!("EXIT_SIGNAL true"), no)
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
                Some(true) => (true, tr!("group {name} holds", name = quote(name))),
                Some(false) => (false, tr!("group {name} does not hold", name = quote(name))),
                None => (false, tr!("there is no group {name}", name = quote(name))),
            },
            Self::Text(pattern) => text(pattern, facts.last_message),
            Self::Tool(name) => match &facts.tools {
                Some(used) if used.contains(&name.as_str()) => {
                    (true, tr!("tool {name} used", name = quote(name)))
                }
                Some(_) => (false, tr!("tool {name} not used", name = quote(name))),
                None => {
                    let name = quote(name);
                    (false, tr!("the agent does not report whether it used the tool {name}", name))
                }
            },
            Self::File(glob) => match facts.files.get(glob.as_str()) {
                Some(true) => (true, tr!("a file matches {glob}", glob = quote(glob))),
                Some(false) => (false, tr!("no file matches {glob}", glob = quote(glob))),
                None => (false, tr!("files that match {glob} were not looked up", glob = quote(glob))),
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
        let condition = format!("{quantity}{comparison}{limit}");
        let text = if quantity == Quantity::Cost {
            tr!("the agent never reported its cost, so `{condition}` does not hold", condition)
        } else {
            tr!("the agent never reported its tokens, so `{condition}` does not hold", condition)
        };
        return (false, text);
    };
    let holds = comparison.holds(value, needed);
    let sign = if holds { comparison.to_string() } else { opposite(comparison).to_owned() };
    let value = quantity.format_rounded(value, needed);
    (holds, quantity.describe_comparison(&format!("{value} {sign} {limit}")))
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
    /// `iterations 12 > 10`
    fn describe_comparison(self, comparison: &str) -> String {
        match self {
            Self::Indicators => tr!("indicators {comparison}", comparison),
            Self::DoneSignals => tr!("done signals {comparison}", comparison),
            Self::Iterations => tr!("iterations {comparison}", comparison),
            Self::Duration => tr!("duration {comparison}", comparison),
            Self::Cost => tr!("cost {comparison}", comparison),
            Self::Tokens => tr!("tokens {comparison}", comparison),
            Self::Idle => tr!("idle {comparison}", comparison),
        }
    }

    /// Whole seconds, unless the two values differ by less than a second.
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
        [only] => {
            let name = quote(only.prose.trim());
            let text = if only.holds {
                tr!("criterion {name} holds", name)
            } else {
                tr!("criterion {name} does not hold", name)
            };
            (only.holds, text)
        }
        [] => (false, tr!("there is no criterion {name}", name = shown)),
        several => (false, tr!("{name} names {count} criteria", name = shown, count = several.len())),
    }
}

fn text(pattern: &TextPattern, message: Option<&str>) -> (bool, String) {
    let text = format_pattern(pattern);
    match message {
        Some(message) if compiled(pattern).is_some_and(|it| it.is_match(message)) => {
            (true, tr!("the agent's last message has {text}", text))
        }
        Some(_) => (false, tr!("the agent's last message does not have {text}", text)),
        None => (false, tr!("the agent left no last message that could have {text}", text)),
    }
}
