//! The language of `exit.when`: conditions that together define when a loop is done. [`parse`] turns text into an
//! [`Expression`], [`fn@evaluate`] facts into a verdict with its reason, and [`depends_on_checks`] analyses what an
//! expression can guarantee. Reads no tree and no clock: the caller passes the facts.

mod check;
mod evaluate;
mod lexer;
mod parser;
mod print;
#[cfg(test)]
mod tests;
pub mod words;

use std::ops::Range;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) use self::check::depends_on_checks;
pub(crate) use self::evaluate::evaluate;
pub use self::evaluate::{ClaimThresholds, CriterionFact, ExitFacts, ExpressionVerdict};
use loopkeeper_task::criterion::TextPattern;

/// Parses an expression; an unknown word, or an expression that never or always holds, is an error.
pub fn parse(text: &str) -> Result<Expression, WhenError> {
    let expression = parser::parse_expression(text)?;
    match check::find_useless(&expression) {
        Some((message, hint)) => Err(WhenError::new(trim_range(text), message, hint)),
        None => Ok(expression),
    }
}

/// Conditions with `and`, `or`, `not`. Shown and stored as its text, with one space around words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression(ExpressionNode);

impl Expression {
    /// The globs of its `file("…")`, which the caller has to match before it evaluates the expression.
    pub fn globs(&self) -> Vec<&str> {
        let mut globs = Vec::new();
        self.0.visit_atoms(&mut |atom| match atom {
            Atom::File(glob) if !globs.contains(&glob.as_str()) => globs.push(glob.as_str()),
            _ => {}
        });
        globs
    }
}

/// What is wrong with an expression, and where in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WhenError {
    /// Bytes of the expression.
    pub range: Range<usize>,
    /// Without a period, as every finding about settings.
    pub message: String,
    pub hint: String,
    /// What to write in place of `range`, where there is one obvious remedy; letters and `_` only.
    pub fix: Option<String>,
}

impl WhenError {
    fn new(range: Range<usize>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { range, message: message.into(), hint: hint.into(), fix: None }
    }
}

/// `And` and `Or` hold at least two, none of their own kind.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ExpressionNode {
    Atom(Atom),
    Not(Box<ExpressionNode>),
    And(Vec<ExpressionNode>),
    Or(Vec<ExpressionNode>),
}

impl ExpressionNode {
    fn and(parts: Vec<ExpressionNode>) -> ExpressionNode {
        let parts = parts
            .into_iter()
            .flat_map(|it| if let ExpressionNode::And(inner) = it { inner } else { vec![it] });
        Self::one_or(parts.collect(), ExpressionNode::And)
    }

    fn or(parts: Vec<ExpressionNode>) -> ExpressionNode {
        let parts = parts
            .into_iter()
            .flat_map(|it| if let ExpressionNode::Or(inner) = it { inner } else { vec![it] });
        Self::one_or(parts.collect(), ExpressionNode::Or)
    }

    fn one_or(
        mut parts: Vec<ExpressionNode>,
        join: fn(Vec<ExpressionNode>) -> ExpressionNode,
    ) -> ExpressionNode {
        match parts.pop() {
            Some(only) if parts.is_empty() => only,
            Some(last) => {
                parts.push(last);
                join(parts)
            }
            None => join(parts),
        }
    }

    fn visit_atoms<'a>(&'a self, see: &mut impl FnMut(&'a Atom)) {
        match self {
            Self::Atom(atom) => see(atom),
            Self::Not(inner) => inner.visit_atoms(see),
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|it| it.visit_atoms(see)),
        }
    }

    fn holds(&self, atom: &impl Fn(&Atom) -> bool) -> bool {
        match self {
            Self::Atom(it) => atom(it),
            Self::Not(inner) => !inner.holds(atom),
            Self::And(parts) => parts.iter().all(|it| it.holds(atom)),
            Self::Or(parts) => parts.iter().any(|it| it.holds(atom)),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Atom {
    Criteria,
    Plan,
    Promise,
    ExitSignal,
    /// The number that the configuration requires.
    Enough(ClaimCounter),
    /// In milliseconds, micro-dollars, or as counted.
    Compare(Quantity, ComparisonOperator, u64),
    Criterion(CriterionName),
    Group(String),
    Text(TextPattern),
    Tool(String),
    File(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClaimCounter {
    Indicators,
    DoneSignals,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantity {
    Indicators,
    DoneSignals,
    Iterations,
    Duration,
    Cost,
    Tokens,
    Idle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ComparisonOperator {
    Above,
    AtLeast,
    Below,
    AtMost,
    Equal,
}

impl ComparisonOperator {
    fn holds(self, left: u64, right: u64) -> bool {
        match self {
            Self::Above => left > right,
            Self::AtLeast => left >= right,
            Self::Below => left < right,
            Self::AtMost => left <= right,
            Self::Equal => left == right,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum CriterionName {
    /// The id, or its beginning.
    Id(String),
    /// The criterion's text in the task.
    Prose(String),
}

fn trim_range(text: &str) -> Range<usize> {
    let start = text.len() - text.trim_start().len();
    start..start + text.trim().len()
}

impl Serialize for Expression {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Expression {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = String::deserialize(input)?;
        parse(&text).map_err(|it| serde::de::Error::custom(it.message))
    }
}
