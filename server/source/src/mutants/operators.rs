//! Mutations of single tokens: operators, boolean constants, whole numbers.

use std::ops::Range;

use super::lexer::{SourceToken, TokenKind};
use super::syntax::{KEYWORDS, SourceFamily};
use super::{LexedSource, MutationKind, SourceEdit};

/// Lines about these have constants that no test is expected to fix.
const TUNING: &[&str] =
    &["timeout", "sleep", "delay", "capacity", "buffer", "version", "interval", "retries", "port", "indent"];

const COMPARISONS: &[(&str, &str)] =
    &[("==", "!="), ("!=", "=="), ("===", "!=="), ("!==", "==="), ("<=", ">"), (">=", "<")];
/// Signs that also open and close type arguments, or redirect.
const ANGLES: &[(&str, &str)] = &[("<", ">="), (">", "<=")];
const ARITHMETIC: &[(&str, &str)] =
    &[("+", "-"), ("-", "+"), ("*", "/"), ("/", "*"), ("//", "*"), ("%", "*"), ("**", "*")];
const ASSIGNMENTS: &[(&str, &str)] =
    &[("+=", "-="), ("-=", "+="), ("*=", "/="), ("/=", "*="), ("//=", "*="), ("%=", "*=")];
const LOGIC: &[(&str, &str)] = &[("&&", "||"), ("||", "&&")];
const LOGIC_WORDS: &[(&str, &str)] = &[("and", "or"), ("or", "and")];
pub(super) const BOOLEANS: &[(&str, &str)] =
    &[("true", "false"), ("false", "true"), ("TRUE", "FALSE"), ("FALSE", "TRUE")];
const LUA_COMPARISONS: &[(&str, &str)] = &[("==", "~="), ("~=", "==")];
pub(super) const PYTHON_BOOLEANS: &[(&str, &str)] = &[("True", "False"), ("False", "True")];

/// The edits of one line of tokens.
pub(super) fn edits(file: &LexedSource<'_>, line: Range<usize>) -> Vec<SourceEdit> {
    line.filter_map(|index| edit(file, index)).collect()
}

/// Whether a condition already has an operator that is mutated.
pub(super) fn has_decision(file: &LexedSource<'_>, tokens: Range<usize>) -> bool {
    let decides = |it: SourceEdit| {
        matches!(it.kind, MutationKind::Comparison | MutationKind::Logic | MutationKind::Boolean)
    };
    tokens.filter_map(|index| edit(file, index)).any(decides)
}

fn edit(file: &LexedSource<'_>, index: usize) -> Option<SourceEdit> {
    let token = file.token(index)?;
    let (kind, replacement) = match token.kind {
        TokenKind::Symbol => symbol(file, index, token)?,
        TokenKind::Word => word(file, index, token)?,
        TokenKind::Number => (MutationKind::Integer, number(file, index, token)?),
        TokenKind::Text => return None,
    };
    Some(SourceEdit { line: token.line, range: token.range.clone(), replacement, kind })
}

fn symbol(file: &LexedSource<'_>, index: usize, token: &SourceToken) -> Option<(MutationKind, String)> {
    let sign = file.word(token);
    if !is_binary(file, index) {
        return None;
    }
    let own = if file.family() == SourceFamily::Lua { LUA_COMPARISONS } else { &[] };
    let (kind, found) = if let Some(found) = find(own, sign).or_else(|| find(COMPARISONS, sign)) {
        (MutationKind::Comparison, found)
    } else if let Some(found) = find(ANGLES, sign).filter(|_| angle_compares(file, index, token)) {
        (MutationKind::Comparison, found)
    } else if let Some(found) = find(LOGIC, sign).filter(|_| is_spaced(file, token)) {
        (MutationKind::Logic, found)
    } else {
        let found = find(ARITHMETIC, sign).or_else(|| find(ASSIGNMENTS, sign));
        (MutationKind::Arithmetic, found.filter(|_| computes(file, index, token))?)
    };
    Some((kind, found.to_owned()))
}

fn word(file: &LexedSource<'_>, index: usize, token: &SourceToken) -> Option<(MutationKind, String)> {
    let word = file.word(token);
    let before = file.token_before(index);
    let is_symbol = before.is_some_and(|it| file.word(it) == ":" && it.range.end == token.range.start);
    if is_symbol || before.is_some_and(|it| matches!(file.word(it), "." | "::" | "?." | "$" | "@")) {
        return None;
    }
    let booleans = if file.family() == SourceFamily::Python { PYTHON_BOOLEANS } else { BOOLEANS };
    if let Some(found) = find(booleans, word) {
        return Some((MutationKind::Boolean, found.to_owned()));
    }
    let found =
        find(LOGIC_WORDS, word).filter(|_| file.family() != SourceFamily::Rust && is_binary(file, index))?;
    Some((MutationKind::Logic, found.to_owned()))
}

/// The next number, with the suffix of its type.
fn number(file: &LexedSource<'_>, index: usize, token: &SourceToken) -> Option<String> {
    let word = file.word(token);
    let digits = word.find(|it: char| !it.is_ascii_digit() && it != '_').unwrap_or(word.len());
    let (digits, suffix) = word.split_at_checked(digits)?;
    let is_typed = file.family() == SourceFamily::Rust && suffix.starts_with(['u', 'i']);
    let is_plain = suffix.is_empty() || is_typed || suffix == "n";
    let before = file.token_before(index).map_or("", |it| file.word(it));
    let is_base = file.family() == SourceFamily::Shell && file.is_token(index + 1, "#");
    let is_member = is_base || matches!(before, "." | "$" | "@" | "&" | "#");
    if !is_plain || is_member || is_tuning(file.line(token.line)) {
        return None;
    }
    let value: u64 = digits.replace('_', "").parse().ok()?;
    if file.family() == SourceFamily::Awk && value < 2 && matches!(before, "=" | "exit" | "return") {
        // A flag or a status, of which all other values are the same.
        return Some((1 - value).to_string());
    }
    let is_prefixed = digits.len() > 1 && digits.starts_with('0');
    (!is_prefixed).then(|| value.checked_add(1).map(|it| format!("{it}{suffix}")))?
}

/// Whether a line is about something that tests do not fix.
pub(super) fn is_tuning(line: &str) -> bool {
    let line = line.to_lowercase();
    TUNING.iter().any(|it| line.contains(it))
}

/// Whether the operator follows an operand.
fn is_binary(file: &LexedSource<'_>, index: usize) -> bool {
    file.token_before(index).is_some_and(|it| {
        let word = file.word(it);
        match it.kind {
            TokenKind::Word => !KEYWORDS.contains(&word),
            TokenKind::Number | TokenKind::Text => true,
            TokenKind::Symbol => matches!(word, ")" | "]" | "}" | "?"),
        }
    })
}

/// Formatters put spaces around operators, and none around the brackets of types.
fn is_spaced(file: &LexedSource<'_>, token: &SourceToken) -> bool {
    let before = file.text.get(..token.range.start).and_then(|it| it.chars().next_back());
    let after = file.text.get(token.range.end..).and_then(|it| it.chars().next());
    [before, after].iter().all(|it| it.is_some_and(char::is_whitespace))
}

fn angle_compares(file: &LexedSource<'_>, index: usize, token: &SourceToken) -> bool {
    match file.family() {
        SourceFamily::Python | SourceFamily::Shell => true,
        SourceFamily::Awk => is_spaced(file, token) && !follows_output(file, index),
        _ => is_spaced(file, token),
    }
}

/// Whether a sign of awk may redirect: `print … > "file"`.
fn follows_output(file: &LexedSource<'_>, index: usize) -> bool {
    let line = file.token(index).map_or(0, |it| it.line);
    let earlier = (0..index).rev().take_while(|it| file.token(*it).is_some_and(|it| it.line == line));
    earlier.into_iter().any(|it| file.is_token(it, "print") || file.is_token(it, "printf"))
}

/// Whether an arithmetic sign joins two values, neither of which is a string literal.
fn computes(file: &LexedSource<'_>, index: usize, token: &SourceToken) -> bool {
    let neighbours = [file.token_before(index), file.token(index + 1)];
    let is_text = |it: &&SourceToken| it.kind == TokenKind::Text;
    if neighbours.iter().flatten().any(is_text) || neighbours.iter().any(Option::is_none) {
        return false;
    }
    match file.family() {
        SourceFamily::Rust => {
            is_spaced(file, token) && !neighbours.iter().flatten().any(|it| is_type_name(file.word(it)))
        }
        SourceFamily::CLike => is_spaced(file, token) && !declares_pointer(file, index),
        SourceFamily::Other | SourceFamily::Lua => is_spaced(file, token),
        SourceFamily::Python
        | SourceFamily::Script
        | SourceFamily::Go
        | SourceFamily::Awk
        | SourceFamily::Shell => true,
    }
}

fn is_type_name(word: &str) -> bool {
    word.starts_with(char::is_uppercase) && (word.len() == 1 || word.contains(char::is_lowercase))
}

/// `char * p`
fn declares_pointer(file: &LexedSource<'_>, index: usize) -> bool {
    const TYPES: [&str; 10] =
        ["char", "int", "long", "short", "unsigned", "signed", "float", "double", "bool", "auto"];
    let Some(before) = file.token_before(index).filter(|_| file.is_token(index, "*")) else { return false };
    let is_first = index.checked_sub(2).and_then(|it| file.token(it)).is_none_or(|it| it.line != before.line);
    let word = file.word(before);
    before.kind == TokenKind::Word
        && (is_first || TYPES.contains(&word) || word.ends_with("_t") || is_type_name(word))
}

pub(super) fn find(pairs: &[(&'static str, &'static str)], word: &str) -> Option<&'static str> {
    pairs.iter().find(|(from, _)| *from == word).map(|(_, to)| *to)
}
