//! All conditions of the expression language with syntax and meaning: the only list, used by messages, the reference
//! page and editors.

use super::Quantity;
use loopkeeper_text::closest::closest;
use loopkeeper_text::{tr, tr_later};

/// One condition.
#[derive(Debug)]
pub struct Condition {
    pub name: &'static str,
    /// The syntax, with a placeholder for an operand.
    pub form: &'static str,
    pub(crate) takes: ConditionOperand,
    /// Completes the sentence "holds when …"; in English, translated where it is shown.
    pub doc: &'static str,
}

impl Condition {
    /// A hint with its form.
    pub(super) fn form_hint(&self) -> String {
        tr!("write it as `{form}`", form = self.form)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConditionOperand {
    Nothing,
    /// Alone, or with a comparison.
    OptionalComparison(OperandUnit),
    Comparison(OperandUnit),
    Brackets,
}

/// The kind of value that a comparison takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperandUnit {
    Number,
    Duration,
    Dollars,
}

const fn condition(
    name: &'static str,
    form: &'static str,
    takes: ConditionOperand,
    doc: &'static str,
) -> Condition {
    Condition { name, form, takes, doc }
}

const NUMBER: OperandUnit = OperandUnit::Number;

#[rustfmt::skip]
pub const CONDITIONS: &[Condition] = &[
    condition("criteria", "criteria", ConditionOperand::Nothing,
        tr_later!("every required criterion holds")),
    condition("plan", "plan", ConditionOperand::Nothing,
        tr_later!("no blocking item of the plan is open")),
    condition("promise", "promise", ConditionOperand::Nothing,
        tr_later!("the agent gave the promise in the last iteration")),
    condition("exit_signal", "exit_signal", ConditionOperand::Nothing,
        tr_later!("the agent said `EXIT_SIGNAL: true` in the last iteration")),
    condition("indicators", "indicators>=3", ConditionOperand::OptionalComparison(NUMBER),
        tr_later!("there are that many indications of completion; without a number, as many as `exit.completion_indicators`")),
    condition("done_signals", "done_signals>=3", ConditionOperand::OptionalComparison(NUMBER),
        tr_later!("the agent claimed to be done that many times in a row; without a number, as often as `exit.done_signals`")),
    condition("iterations", "iterations>10", ConditionOperand::Comparison(NUMBER),
        tr_later!("the number of iterations is in this range")),
    condition("duration", "duration>10m", ConditionOperand::Comparison(OperandUnit::Duration),
        tr_later!("the loop has taken this long, not counting pauses")),
    condition("cost", "cost>2.50", ConditionOperand::Comparison(OperandUnit::Dollars),
        tr_later!("the cost that the agent has reported, in US dollars, is in this range; never where it reports none")),
    condition("tokens", "tokens>100_000", ConditionOperand::Comparison(NUMBER),
        tr_later!("the number of tokens that the agent has reported is in this range; never where it reports none")),
    condition("idle", "idle>5m", ConditionOperand::Comparison(OperandUnit::Duration),
        tr_later!("no iteration has changed anything for this long, not counting pauses")),
    condition("criterion", "criterion(ID)", ConditionOperand::Brackets,
        tr_later!("this criterion holds: its id, the beginning of its id, or its text in quotes")),
    condition("group", "group(NAME)", ConditionOperand::Brackets,
        tr_later!("this group of criteria holds")),
    condition("text", "text(\"…\")", ConditionOperand::Brackets,
        tr_later!("the agent's last message has this text, or a match of `text(/…/)` or `text(/…/i)`")),
    condition("tool", "tool(\"…\")", ConditionOperand::Brackets,
        tr_later!("the agent used the tool with this name in the last iteration")),
    condition("file", "file(\"GLOB\")", ConditionOperand::Brackets,
        tr_later!("the tree has a file that matches")),
];

pub const OPERATORS: [&str; 3] = ["and", "or", "not"];

/// The condition of this name.
pub(crate) fn find_condition(name: &str) -> Option<&'static Condition> {
    CONDITIONS.iter().find(|it| it.name == name)
}

/// The known word closest to a misspelt one, and its spelling.
pub(super) fn suggest_word(word: &str) -> Option<(&'static str, &'static str)> {
    let all = || CONDITIONS.iter().map(|it| (it.name, it.form)).chain(OPERATORS.map(|it| (it, it)));
    let near = closest(word, all().map(|(name, _)| name))?;
    all().find(|(name, _)| *name == near)
}

pub(super) fn parse_quantity(name: &str) -> Option<Quantity> {
    Some(match name {
        "indicators" => Quantity::Indicators,
        "done_signals" => Quantity::DoneSignals,
        "iterations" => Quantity::Iterations,
        "duration" => Quantity::Duration,
        "cost" => Quantity::Cost,
        "tokens" => Quantity::Tokens,
        "idle" => Quantity::Idle,
        _ => return None,
    })
}
