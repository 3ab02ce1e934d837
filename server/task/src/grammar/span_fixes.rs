//! Suggests fixes for spans that begin like a check and have one obvious intention. A fix is offered only if it parses
//! as intended.

use super::expectations::{self, ParsedExpectation};
use super::spans::{self, CodeSpanKind};
use super::{code_span, near, numbers};

/// The corrected span, backticks included.
pub(super) fn fix_check_span(code: &str) -> Option<String> {
    let sound =
        |it: &String| matches!(spans::parse_exactly(it), CodeSpanKind::Command(_) | CodeSpanKind::Word(_));
    let code = code.trim();
    let candidates = [
        Some(code.to_owned()),
        near::suggest_check(code),
        fix_space(code),
        fix_clean(code),
        near::quote_pattern(code),
        without_flags(code),
        without_commas(code),
        fix_judge(code),
        code.split_once(' ').and_then(|(_, url)| near::suggest_check(&format!("get {url}"))),
    ];
    candidates.into_iter().flatten().find(sound).map(|it| code_span(&it))
}

/// The corrected expectation, backticks included.
pub(super) fn fix_expectation_span(code: &str) -> Option<String> {
    let sound = |it: &String| matches!(expectations::parse_expectation(it), ParsedExpectation::Expect(_));
    let code = code.trim();
    let candidates = [
        fix_unclosed_regex(code),
        without_flags(code),
        numbers::without_unit(code),
        near::suggest_comparison(code),
        fix_negation(code),
        fix_exit_code(code),
    ];
    candidates.into_iter().flatten().find(sound).map(|it| code_span(&it))
}

/// `$<tab>make` contains white space that is not a space.
fn fix_space(code: &str) -> Option<String> {
    let command = code.strip_prefix('$')?.trim();
    (!command.is_empty()).then(|| format!("$ {command}"))
}

/// `clean tree`
fn fix_clean(code: &str) -> Option<String> {
    code.starts_with("clean ").then(|| "clean".to_owned())
}

/// `/re/g`: every flag except `i` is either implied or meaningless here.
fn without_flags(code: &str) -> Option<String> {
    let (pattern, flags) = code.rsplit_once('/')?;
    let known = !flags.is_empty() && flags.chars().all(|it| "gimsux".contains(it));
    known.then(|| format!("{pattern}/{}", if flags.contains('i') { "i" } else { "" }))
}

/// `!/re`
fn fix_unclosed_regex(code: &str) -> Option<String> {
    code.starts_with("!/").then(|| format!("{code}/"))
}

/// `judge 2 off 3`, `judge 2/3`
fn fix_judge(code: &str) -> Option<String> {
    let mut numbers =
        code.strip_prefix("judge ")?.split(|it: char| !it.is_ascii_digit()).filter(|it| !it.is_empty());
    let (needed, asked) = (numbers.next()?, numbers.next()?);
    numbers.next().is_none().then(|| format!("judge {needed} of {asked}"))
}

/// `! /re/`
fn fix_negation(code: &str) -> Option<String> {
    code.strip_prefix("! ").map(|pattern| format!("!{}", pattern.trim_start()))
}

/// `exit code 1`, `Exit: 1`
fn fix_exit_code(code: &str) -> Option<String> {
    let code = code.to_lowercase();
    let rest = code.strip_prefix("exit")?;
    let rest = rest.strip_prefix('s').unwrap_or(rest).trim_start_matches([' ', ':', '=']);
    let rest = rest.strip_prefix(['-', '_']).filter(|it| it.starts_with("code")).unwrap_or(rest);
    let rest = rest.strip_prefix("code").or_else(|| rest.strip_prefix("status")).unwrap_or(rest);
    Some(format!("exit {}", rest.trim_start_matches([' ', ':', '='])))
}

/// `exists a, b`
fn without_commas(code: &str) -> Option<String> {
    let is_list = ["exists ", "missing "].iter().any(|verb| code.starts_with(verb)) && !code.contains('"');
    let words = code.split(' ').map(|word| word.strip_suffix(',').unwrap_or(word));
    is_list.then(|| words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
}
