//! Splits the text of an expression into words. Handles quotes and patterns, not the meaning of words.

use std::ops::Range;

use regex::RegexBuilder;

use super::{ComparisonOperator, WhenError};
use loopkeeper_task::criterion::{PatternKind, TextPattern};
use loopkeeper_text::sanitize::shown;
use loopkeeper_text::tr;

/// One word with its bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SpannedToken<'t> {
    pub(super) token: ExpressionToken<'t>,
    pub(super) range: Range<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum ExpressionToken<'t> {
    Open,
    Close,
    Compare(ComparisonOperator),
    Word(&'t str),
    Quoted(String),
    /// `/…/` or `/…/i`, validated.
    Pattern(TextPattern),
}

/// Every word of the text, or an error at the first that is malformed.
pub(super) fn tokenize(text: &str) -> Result<Vec<SpannedToken<'_>>, WhenError> {
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..)
        && let Some(first) = rest.chars().next()
    {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (token, len) = match first {
            '(' => (ExpressionToken::Open, 1),
            ')' => (ExpressionToken::Close, 1),
            '"' | '\'' => lex_quoted(rest, first, at)?,
            '/' => lex_pattern(rest, at)?,
            '<' | '>' | '=' | '!' => lex_comparison(rest, at)?,
            '&' | '|' | ',' => return Err(unexpected_text_error(take_run(rest, &['&', '|', ',']), at)),
            _ => {
                let end = rest.find(ends_word).unwrap_or(rest.len());
                (ExpressionToken::Word(rest.get(..end).unwrap_or(rest)), end)
            }
        };
        all.push(SpannedToken { token, range: at..at + len });
        at += len;
    }
    Ok(all)
}

/// The text between quotes, in which `\` keeps a quote or itself.
fn lex_quoted<'t>(rest: &str, quote: char, at: usize) -> Result<(ExpressionToken<'t>, usize), WhenError> {
    let mut inner = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((index, char)) = chars.next() {
        match char {
            _ if char == quote => return Ok((ExpressionToken::Quoted(inner), index + 1)),
            '\\' => match chars.next() {
                Some((_, escaped @ ('"' | '\'' | '\\'))) => inner.push(escaped),
                Some((_, other)) => inner.extend(['\\', other]),
                None => break,
            },
            _ => inner.push(char),
        }
    }
    let hint = tr!("close it with `{quote}`", quote);
    Err(WhenError::new(at..at + 1, tr!("this `{quote}` is never closed", quote), hint))
}

fn lex_pattern<'t>(rest: &str, at: usize) -> Result<(ExpressionToken<'t>, usize), WhenError> {
    let Some((source, closed)) = text_in_slashes(rest) else {
        let hint = tr!("close the pattern with `/`");
        return Err(WhenError::new(at..at + 1, tr!("this `/` is never closed"), hint));
    };
    let ignore_case = rest.get(closed..).is_some_and(|it| it.starts_with('i'));
    let len = closed + usize::from(ignore_case);
    let kind = if ignore_case { PatternKind::RegexIgnoreCase } else { PatternKind::Regex };
    match validate_pattern(TextPattern { source, kind }) {
        Ok(pattern) => Ok((ExpressionToken::Pattern(pattern), len)),
        Err(reason) => Err(WhenError::new(at..at + len, reason, tr!("correct the pattern"))),
    }
}

/// A quoted text that is `/…/` or `/…/i` as a whole is a pattern.
pub(super) fn pattern_in_quotes(text: &str) -> Option<Result<TextPattern, String>> {
    let (source, closed) = text_in_slashes(text)?;
    let kind = match text.get(closed..)? {
        "" => PatternKind::Regex,
        "i" => PatternKind::RegexIgnoreCase,
        _ => return None,
    };
    Some(validate_pattern(TextPattern { source, kind }))
}

/// The text between the slash at the start and the next one, and the offset after that. `\/` is a slash.
fn text_in_slashes(text: &str) -> Option<(String, usize)> {
    let mut inner = String::new();
    let mut chars = text.strip_prefix('/')?.char_indices();
    while let Some((index, char)) = chars.next() {
        match char {
            '/' => return Some((inner, index + 2)),
            '\\' => match chars.next()? {
                (_, '/') => inner.push('/'),
                (_, other) => inner.extend(['\\', other]),
            },
            _ => inner.push(char),
        }
    }
    None
}

fn validate_pattern(pattern: TextPattern) -> Result<TextPattern, String> {
    /// As for the patterns of criteria.
    const MAX_BYTES: usize = 1 << 20;
    if pattern.source.is_empty() {
        return Err(tr!("an empty pattern matches every text").to_owned());
    }
    match RegexBuilder::new(&pattern.source).multi_line(true).size_limit(MAX_BYTES).build() {
        Ok(_) => Ok(pattern),
        Err(regex::Error::CompiledTooBig(_)) => Err(tr!("the pattern is too large").to_owned()),
        Err(error) => {
            let error = error.to_string();
            let reason = error.rsplit("error: ").next().unwrap_or(&error).trim();
            Err(tr!("this is not a pattern: {reason}", reason = shown(reason)))
        }
    }
}

fn lex_comparison<'t>(rest: &str, at: usize) -> Result<(ExpressionToken<'t>, usize), WhenError> {
    let written = take_run(rest, &['<', '>', '=', '!']);
    let comparison = match written {
        ">" => ComparisonOperator::Above,
        ">=" => ComparisonOperator::AtLeast,
        "<" => ComparisonOperator::Below,
        "<=" => ComparisonOperator::AtMost,
        "==" => ComparisonOperator::Equal,
        _ => return Err(unexpected_text_error(written, at)),
    };
    Ok((ExpressionToken::Compare(comparison), written.len()))
}

fn unexpected_text_error(written: &str, at: usize) -> WhenError {
    let hint = match written {
        "&" | "&&" => tr!("write `and`"),
        "|" | "||" => tr!("write `or`"),
        "!" => tr!("write `not`"),
        "," => tr!("join conditions with `and` or `or`"),
        "=" => tr!("write `==`"),
        "=>" => tr!("write `>=`"),
        "=<" => tr!("write `<=`"),
        "!=" | "<>" => tr!("write `not` before the condition, and `==` in it"),
        _ => tr!("write one of `>` `>=` `<` `<=` `==`"),
    };
    let message = tr!("`{written}` has no meaning here", written = shown(written));
    WhenError::new(at..at + written.len(), message, hint)
}

fn take_run<'t>(rest: &'t str, alphabet: &[char]) -> &'t str {
    let end = rest.find(|it| !alphabet.contains(&it)).unwrap_or(rest.len());
    rest.get(..end).unwrap_or(rest)
}

fn ends_word(char: char) -> bool {
    char.is_whitespace() || matches!(char, '(' | ')' | '"' | '\'' | '<' | '>' | '=' | '!' | '&' | '|' | ',')
}
