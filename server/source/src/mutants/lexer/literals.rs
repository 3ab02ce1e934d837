//! Finds the end of strings and regular expressions.

use super::super::MAX_LINE;
use super::super::syntax::{EscapeRule, QuoteStyle};

/// An open quote or interpolation at some position in a string.
#[derive(Clone, Copy)]
enum LiteralLevel {
    Text(&'static QuoteStyle),
    /// Code, up to this bracket.
    Code(char),
}

/// The length of the quoted text at the beginning, with the code inside it; up to the end of the line where it is not
/// closed and may not span lines.
pub(super) fn quoted_length(text: &str, quote: &'static QuoteStyle, quotes: &'static [QuoteStyle]) -> usize {
    let mut open = vec![LiteralLevel::Text(quote)];
    let mut at = quote.open.len();
    while let Some(level) = open.last().copied() {
        let rest = text.get(at..).unwrap_or_default();
        let Some(first) = rest.chars().next() else { return text.len() };
        if first == '\n' && !quote.is_long {
            return at;
        }
        at += match level {
            LiteralLevel::Text(quote) => step_in_text(rest, quote, &mut open),
            LiteralLevel::Code(close) => step_in_code(rest, close, quotes, &mut open),
        };
    }
    at
}

fn step_in_text(rest: &str, quote: &'static QuoteStyle, open: &mut Vec<LiteralLevel>) -> usize {
    let mut letters = rest.chars();
    let first = letters.next().map_or(0, char::len_utf8);
    if let Some(after) = rest.strip_prefix(quote.close) {
        if quote.escape == EscapeRule::Doubled && after.starts_with(quote.close) {
            return quote.close.len() * 2;
        }
        open.pop();
        return quote.close.len();
    }
    if let Some((mark, close)) = quote.code.filter(|(mark, _)| rest.starts_with(mark)) {
        open.push(LiteralLevel::Code(close));
        return mark.len();
    }
    let is_escape = quote.escape == EscapeRule::Backslash && rest.starts_with('\\');
    first + if is_escape { letters.next().map_or(0, char::len_utf8) } else { 0 }
}

fn step_in_code(
    rest: &str,
    close: char,
    quotes: &'static [QuoteStyle],
    open: &mut Vec<LiteralLevel>,
) -> usize {
    if let Some(quote) = quotes.iter().find(|it| rest.starts_with(it.open)) {
        open.push(LiteralLevel::Text(quote));
        return quote.open.len();
    }
    let first = rest.chars().next().unwrap_or(close);
    match first {
        '(' => open.push(LiteralLevel::Code(')')),
        '[' => open.push(LiteralLevel::Code(']')),
        '{' => open.push(LiteralLevel::Code('}')),
        _ if first == close => drop(open.pop()),
        _ => {}
    }
    first.len_utf8()
}

/// A regular expression on one line; a longer line is generated.
pub(super) fn regex(text: &str) -> Option<usize> {
    let mut in_class = false;
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next().filter(|(at, _)| *at <= MAX_LINE) {
        match letter {
            '\n' => return None,
            '\\' => drop(letters.next()),
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The text between brackets of any kind, or two equal characters, that begins with the first of them.
pub(super) fn delimited_length(text: &str) -> Option<usize> {
    let open = text.chars().next()?;
    let close = match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        other => other,
    };
    let mut depth = 1_u32;
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' {
            letters.next();
        } else if letter == close {
            depth -= 1;
            if depth == 0 {
                return Some(at + letter.len_utf8());
            }
        } else if letter == open {
            depth += 1;
        }
    }
    Some(text.len())
}
