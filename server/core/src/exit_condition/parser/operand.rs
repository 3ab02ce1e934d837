//! Parses the operand of a condition, and the text between its brackets.

use crate::exit_condition::lexer::{ExpressionToken, pattern_in_quotes};
use crate::exit_condition::words::{Condition, OperandUnit};
use crate::exit_condition::{Atom, CriterionName};
use loopkeeper_task::criterion::{PatternKind, TextPattern};
use loopkeeper_text::globs::glob_fault;
use loopkeeper_text::sanitize::shown;
use loopkeeper_text::tr;
use loopkeeper_text::units::{UnitError, duration_ms, micro_dollars};

/// Message and hint.
type OperandError = (String, String);

/// The number, the milliseconds or the micro-dollars that `written` means.
pub(super) fn parse_value(
    condition: &Condition,
    with: OperandUnit,
    written: &str,
) -> Result<u64, OperandError> {
    let read = match with {
        OperandUnit::Number => parse_number(written),
        OperandUnit::Duration => duration_ms(written),
        OperandUnit::Dollars => micro_dollars(written.strip_prefix('$').unwrap_or(written)),
    };
    read.map_err(|error| {
        let name = condition.name;
        if (with, error) == (OperandUnit::Duration, UnitError::NoUnit) {
            let number = shown(written);
            return (
                tr!("`{name}` needs a unit after `{number}`", name, number),
                tr!("write `{number}m` for minutes", number),
            );
        }
        let found = shown(written);
        let message = match with {
            OperandUnit::Number => {
                tr!("`{name}` is compared with a whole number, found `{found}`: {error}", name, found, error)
            }
            OperandUnit::Duration => {
                tr!("`{name}` is compared with a duration, found `{found}`: {error}", name, found, error)
            }
            OperandUnit::Dollars => tr!(
                "`{name}` is compared with an amount in US dollars, found `{found}`: {error}",
                name,
                found,
                error
            ),
        };
        (message, condition.form_hint())
    })
}

/// Digits, with `_` between them as in TOML.
fn parse_number(written: &str) -> Result<u64, UnitError> {
    if written.starts_with('-') {
        return Err(UnitError::Negative);
    }
    let apart = written.starts_with('_') || written.ends_with('_') || written.contains("__");
    let digits = written.replace('_', "");
    if apart || !digits.bytes().all(|it| it.is_ascii_digit()) {
        return Err(UnitError::NoNumber);
    }
    digits.parse().map_err(|_| UnitError::TooLarge)
}

/// The condition about the thing that `token` names; `None` if it names nothing.
pub(super) fn parse_named(
    condition: &Condition,
    token: &ExpressionToken<'_>,
) -> Option<Result<Atom, OperandError>> {
    let text = match token {
        ExpressionToken::Word(word) => (*word).to_owned(),
        ExpressionToken::Quoted(text) => text.clone(),
        ExpressionToken::Pattern(pattern) => return Some(text_condition(condition, pattern.clone())),
        ExpressionToken::Open | ExpressionToken::Close | ExpressionToken::Compare(_) => return None,
    };
    if text.trim().is_empty() {
        return None;
    }
    if text.chars().any(char::is_control) {
        let hint = tr!("write it on one line, or as a pattern").to_owned();
        return Some(Err((tr!("`{name}` takes a text on one line", name = condition.name), hint)));
    }
    Some(match condition.name {
        "criterion" => criterion(token, text),
        "group" => Ok(Atom::Group(text)),
        "tool" => Ok(Atom::Tool(text)),
        "file" => match glob_fault(&text) {
            Some(fault) => {
                let hint = tr!("write a glob of files below the root").to_owned();
                let (glob, fault) = (shown(&text), shown(&fault));
                Err((tr!("`{glob}` names no file: {fault}", glob, fault), hint))
            }
            None => Ok(Atom::File(text)),
        },
        _ => match pattern_in_quotes(&text) {
            Some(Ok(pattern)) => Ok(Atom::Text(pattern)),
            Some(Err(reason)) => Err((reason, tr!("correct the pattern").to_owned())),
            None => Ok(Atom::Text(TextPattern { source: text, kind: PatternKind::Literal })),
        },
    })
}

fn text_condition(condition: &Condition, pattern: TextPattern) -> Result<Atom, OperandError> {
    if condition.name == "text" {
        return Ok(Atom::Text(pattern));
    }
    Err((tr!("`{name}` takes no pattern", name = condition.name), condition.form_hint()))
}

fn criterion(token: &ExpressionToken<'_>, text: String) -> Result<Atom, OperandError> {
    if matches!(token, ExpressionToken::Quoted(_)) {
        return Ok(Atom::Criterion(CriterionName::Prose(text)));
    }
    let hex = |it: &str| it.bytes().all(|it| it.is_ascii_digit() || (b'a'..=b'f').contains(&it));
    let (id, repeat) = text.split_once('-').unwrap_or((&text, "2"));
    let is_id = !id.is_empty() && id.len() <= 10 && hex(id) && repeat.bytes().all(|it| it.is_ascii_digit());
    if is_id {
        return Ok(Atom::Criterion(CriterionName::Id(text)));
    }
    let written = shown(&text);
    let form = format!("criterion(\"{written}\")");
    let hint = tr!("write its 10 digits from 0 to f, or its text in quotes: `{form}`", form);
    Err((tr!("`{written}` is not the id of a criterion", written), hint))
}
