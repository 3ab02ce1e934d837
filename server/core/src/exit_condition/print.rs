//! Prints an expression as text that parses to the same expression.

use std::fmt;
use std::fmt::Write as _;

use super::{Atom, ClaimCounter, ComparisonOperator, CriterionName, Expression, ExpressionNode, Quantity};
use loopkeeper_task::criterion::{PatternKind, TextPattern};

impl fmt::Display for Expression {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.0)
    }
}

impl fmt::Display for ExpressionNode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Atom(atom) => write!(out, "{atom}"),
            Self::Not(inner) => write!(out, "not {}", inner.parenthesized()),
            Self::And(parts) => {
                write!(
                    out,
                    "{}",
                    parts.iter().map(ExpressionNode::parenthesized).collect::<Vec<_>>().join(" and ")
                )
            }
            Self::Or(parts) => {
                write!(out, "{}", parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or "))
            }
        }
    }
}

impl ExpressionNode {
    /// The form after `not` or next to `and`.
    fn parenthesized(&self) -> String {
        match self {
            Self::And(_) | Self::Or(_) => format!("({self})"),
            Self::Atom(_) | Self::Not(_) => self.to_string(),
        }
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Criteria => write!(out, "criteria"),
            Self::Plan => write!(out, "plan"),
            Self::Promise => write!(out, "promise"),
            Self::ExitSignal => write!(out, "exit_signal"),
            Self::Enough(ClaimCounter::Indicators) => write!(out, "indicators"),
            Self::Enough(ClaimCounter::DoneSignals) => write!(out, "done_signals"),
            Self::Compare(quantity, comparison, value) => {
                write!(out, "{quantity}{comparison}{}", quantity.format_amount(*value))
            }
            Self::Criterion(CriterionName::Id(id)) => write!(out, "criterion({id})"),
            Self::Criterion(CriterionName::Prose(prose)) => write!(out, "criterion({})", quote(prose)),
            Self::Group(name) => write!(out, "group({})", quote(name)),
            Self::Text(pattern) => write!(out, "text({})", format_pattern(pattern)),
            Self::Tool(name) => write!(out, "tool({})", quote(name)),
            Self::File(glob) => write!(out, "file({})", quote(glob)),
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Indicators => "indicators",
            Self::DoneSignals => "done_signals",
            Self::Iterations => "iterations",
            Self::Duration => "duration",
            Self::Cost => "cost",
            Self::Tokens => "tokens",
            Self::Idle => "idle",
        })
    }
}

impl fmt::Display for ComparisonOperator {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Above => ">",
            Self::AtLeast => ">=",
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Equal => "==",
        })
    }
}

impl Quantity {
    /// The exact value as it is written after a comparison operator.
    pub(super) fn format_amount(self, value: u64) -> String {
        match self {
            Self::Duration | Self::Idle => format_duration(value),
            Self::Cost => format_dollars(value),
            Self::Indicators | Self::DoneSignals | Self::Iterations | Self::Tokens => value.to_string(),
        }
    }
}

fn format_duration(ms: u64) -> String {
    const UNITS: [(&str, u64); 5] =
        [("d", 24 * 60 * 60 * 1000), ("h", 60 * 60 * 1000), ("m", 60 * 1000), ("s", 1000), ("ms", 1)];
    let mut rest = ms;
    let mut text = String::new();
    for (unit, factor) in UNITS {
        if rest >= factor {
            let _ = write!(text, "{}{unit}", rest / factor);
            rest %= factor;
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

fn format_dollars(micros: u64) -> String {
    let (whole, part) = (micros / 1_000_000, micros % 1_000_000);
    let fraction = format!("{part:06}");
    match fraction.trim_end_matches('0') {
        "" => whole.to_string(),
        // Cents have two digits.
        cents if cents.len() < 2 => format!("{whole}.{cents}0"),
        digits => format!("{whole}.{digits}"),
    }
}

pub(super) fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

pub(super) fn format_pattern(pattern: &TextPattern) -> String {
    let end = match pattern.kind {
        PatternKind::Literal => return quote(&pattern.source),
        PatternKind::Regex => "/",
        PatternKind::RegexIgnoreCase => "/i",
    };
    let mut text = "/".to_owned();
    let mut chars = pattern.source.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => text.extend(['\\'].into_iter().chain(chars.next())),
            '/' => text.push_str("\\/"),
            other => text.push(other),
        }
    }
    text + end
}
