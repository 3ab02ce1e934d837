//! Parses one code span after a command as an expectation. Near misses are reported, because a silently dropped
//! expectation makes a check weaker than its author wrote.

use loopkeeper_text::tr;

use super::fault::SpanError;
use super::numbers::parse_number;
use super::{near, spans};
use crate::criterion::{Compare, Expect};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum ParsedExpectation {
    Expect(Expect),
    /// A comparison with the number of the baseline.
    Baseline(Compare),
    /// Three digits: a status, but only after `GET`.
    Status(u16),
    Bad(SpanError),
    /// Nearly a status: invalid, but only after `GET`.
    NearStatus,
    /// Inline code.
    Other,
}

pub(super) fn parse_expectation(code: &str) -> ParsedExpectation {
    if let Some(reading) = parse_comparison(code.trim_start()) {
        return reading;
    }
    let code = code.trim();
    if let Some(reason) = nearly_compares(code).or_else(|| nearly_matches(code)) {
        return ParsedExpectation::Bad(reason);
    }
    if let Some(pattern) = code.strip_prefix('!').filter(|pattern| pattern.starts_with('/')) {
        return match whole_pattern(pattern) {
            Ok(Some(pattern)) => ParsedExpectation::Expect(Expect::MatchesNot { pattern }),
            Ok(None) => ParsedExpectation::Bad(tr!("the pattern does not end in `/` or `/i`").into()),
            Err(reason) => ParsedExpectation::Bad(reason),
        };
    }
    if code.starts_with('/') {
        return match whole_pattern(code) {
            Ok(Some(pattern)) => ParsedExpectation::Expect(Expect::Matches { pattern }),
            // A path such as `/api/users` begins like a pattern: inline code.
            Ok(None) => ParsedExpectation::Other,
            Err(reason) => ParsedExpectation::Bad(reason),
        };
    }
    if code.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("exit")) {
        return parse_exit(code);
    }
    match code.parse::<u16>() {
        Ok(status @ 100..=599) if code.len() == 3 => ParsedExpectation::Status(status),
        _ if near::suggest_status(code).is_some() => ParsedExpectation::NearStatus,
        _ => ParsedExpectation::Other,
    }
}

fn parse_comparison(code: &str) -> Option<ParsedExpectation> {
    const COMPARISON_SIGNS: [(&str, Compare); 6] = [
        ("==", Compare::Equal),
        ("!=", Compare::NotEqual),
        (">=", Compare::AtLeast),
        ("<=", Compare::AtMost),
        (">", Compare::Above),
        ("<", Compare::Below),
    ];
    let (sign, rest, compare) = COMPARISON_SIGNS
        .into_iter()
        .find_map(|(sign, compare)| Some((sign, code.strip_prefix(sign)?, compare)))?;
    if let Some(value) = parse_number(rest.trim()) {
        return Some(ParsedExpectation::Expect(Expect::Number { compare, value }));
    }
    if rest.trim().eq_ignore_ascii_case("baseline") {
        return Some(ParsedExpectation::Baseline(compare));
    }
    // `<div>` and `>` are inline code; `>= many` and `< 5 ms` are intended as expectations.
    let meant = match sign.len() {
        2 => !rest.is_empty() && !rest.starts_with(['=', '>', '<']),
        _ => rest.trim_start().starts_with(|char: char| char.is_ascii_digit() || "+-.".contains(char)),
    };
    meant.then(|| ParsedExpectation::Bad(tr!("`{sign}` compares with one plain number", sign).into()))
}

/// `= 5`, `=> 5`, `> = 5`, `≥ 5`: operators that people write and the grammar does not accept.
fn nearly_compares(code: &str) -> Option<SpanError> {
    near::suggest_comparison(code).map(|_| tr!("not a comparison").into())
}

/// `! /re/`
fn nearly_matches(code: &str) -> Option<SpanError> {
    let pattern = code.strip_prefix('!')?.trim_start();
    let meant = code.starts_with("! ") && matches!(whole_pattern(pattern), Ok(Some(_)));
    meant.then(|| tr!("`!` must be right before its `/`").into())
}

fn whole_pattern(text: &str) -> Result<Option<crate::criterion::TextPattern>, SpanError> {
    let Some((pattern, rest)) = spans::parse_regex(text)? else { return Ok(None) };
    match rest {
        "" if pattern.source.is_empty() => Err(tr!("an empty pattern matches every output").into()),
        "" => Ok(Some(pattern)),
        "g" | "m" | "s" | "u" | "x" | "I" | "gi" | "gm" | "ig" | "im" | "is" | "ix" | "mg" | "gim"
        | "gmi" => {
            let fact = tr!("`/{rest}` is not a flag here", rest);
            Err(SpanError::with_hint(fact, tr!("Only `/i` is")))
        }
        _ => Ok(None),
    }
}

fn parse_exit(code: &str) -> ParsedExpectation {
    let rest = code.get(4..).unwrap_or_default();
    let rest = rest.strip_prefix('s').unwrap_or(rest);
    let rest = ["-code", "_code"].into_iter().find_map(|it| rest.strip_prefix(it)).unwrap_or(rest);
    if !rest.starts_with([' ', ':', '=']) {
        return ParsedExpectation::Other;
    }
    let text = rest.trim_start_matches([' ', ':', '=']);
    let number = text.parse::<u8>().ok().filter(|_| text.starts_with(|char: char| char.is_ascii_digit()));
    match number {
        Some(number) if code.starts_with("exit ") => {
            ParsedExpectation::Expect(Expect::Exit { code: i32::from(number) })
        }
        // `exit code` is prose; `exit code 1`, `Exit 1`, `exit 1 or 2`, `exit nonzero`, `exit ok` are not.
        _ if names_a_code(text) => ParsedExpectation::Bad(tr!("`exit` takes one code from 0 to 255").into()),
        _ => ParsedExpectation::Other,
    }
}

fn names_a_code(text: &str) -> bool {
    let text = text.to_lowercase();
    let rest = ["code", "status"].into_iter().find_map(|word| text.strip_prefix(word)).unwrap_or(&text);
    let rest = rest.trim_start_matches([' ', ':', '!', '=', '<', '>', '+', '-']);
    rest.starts_with(|char: char| char.is_ascii_digit())
        || matches!(
            rest,
            "nonzero"
                | "non-zero"
                | "non zero"
                | "zero"
                | "ok"
                | "success"
                | "successful"
                | "failure"
                | "error"
        )
}
