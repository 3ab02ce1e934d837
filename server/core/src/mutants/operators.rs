//! Mutations of single tokens: operators, boolean constants, whole numbers.

use std::ops::Range;

use super::lexer::{SourceToken, TokenKind};
use super::syntax::{KEYWORDS, SourceFamily};
use super::{Edit, LexedSource, MutationKind};

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
const BOOLEANS: &[(&str, &str)] = &[("true", "false"), ("false", "true")];
const PYTHON_BOOLEANS: &[(&str, &str)] = &[("True", "False"), ("False", "True")];

/// The edits of one line of tokens.
pub(super) fn edits(file: &LexedSource<'_>, line: Range<usize>) -> Vec<Edit> {
    line.filter_map(|index| edit(file, index)).collect()
}

/// Whether a condition already has an operator that is mutated.
pub(super) fn has_decision(file: &LexedSource<'_>, tokens: Range<usize>) -> bool {
    let decides =
        |it: Edit| matches!(it.kind, MutationKind::Comparison | MutationKind::Logic | MutationKind::Boolean);
    tokens.filter_map(|index| edit(file, index)).any(decides)
}

fn edit(file: &LexedSource<'_>, index: usize) -> Option<Edit> {
    let token = file.token(index)?;
    let (kind, replacement) = match token.kind {
        TokenKind::Symbol => symbol(file, index, token)?,
        TokenKind::Word => word(file, index, token)?,
        TokenKind::Number => (MutationKind::Integer, number(file, index, token)?),
        TokenKind::Text => return None,
    };
    Some(Edit { line: token.line, range: token.range.clone(), replacement, kind })
}

fn symbol(file: &LexedSource<'_>, index: usize, token: &SourceToken) -> Option<(MutationKind, String)> {
    let sign = file.word(token);
    if !is_binary(file, index) {
        return None;
    }
    let (kind, found) = if let Some(found) = find(COMPARISONS, sign) {
        (MutationKind::Comparison, found)
    } else if let Some(found) = find(ANGLES, sign).filter(|_| angle_compares(file, token)) {
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
    let before = file.before(index);
    if before.is_some_and(|it| matches!(file.word(it), "." | "::" | "?." | "$" | "@")) {
        return None;
    }
    let booleans = if file.family == SourceFamily::Python { PYTHON_BOOLEANS } else { BOOLEANS };
    if let Some(found) = find(booleans, word) {
        return Some((MutationKind::Boolean, found.to_owned()));
    }
    let found =
        find(LOGIC_WORDS, word).filter(|_| file.family != SourceFamily::Rust && is_binary(file, index))?;
    Some((MutationKind::Logic, found.to_owned()))
}

/// The next number, with the suffix of its type.
fn number(file: &LexedSource<'_>, index: usize, token: &SourceToken) -> Option<String> {
    let word = file.word(token);
    let digits = word.find(|it: char| !it.is_ascii_digit() && it != '_').unwrap_or(word.len());
    let (digits, suffix) = word.split_at_checked(digits)?;
    let is_typed = file.family == SourceFamily::Rust && suffix.starts_with(['u', 'i']);
    let is_plain = suffix.is_empty() || is_typed || suffix == "n";
    let is_member = file.before(index).is_some_and(|it| matches!(file.word(it), "." | "$" | "@"));
    if !is_plain || is_member || is_tuning(file, token) {
        return None;
    }
    let value: u64 = digits.replace('_', "").parse().ok()?;
    let is_prefixed = digits.len() > 1 && digits.starts_with('0');
    (!is_prefixed).then(|| value.checked_add(1).map(|it| format!("{it}{suffix}")))?
}

fn is_tuning(file: &LexedSource<'_>, token: &SourceToken) -> bool {
    let line = file.text.lines().nth(token.line as usize - 1).unwrap_or_default().to_lowercase();
    TUNING.iter().any(|it| line.contains(it))
}

/// It follows an operand.
fn is_binary(file: &LexedSource<'_>, index: usize) -> bool {
    file.before(index).is_some_and(|it| {
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

fn angle_compares(file: &LexedSource<'_>, token: &SourceToken) -> bool {
    match file.family {
        SourceFamily::Python => true,
        _ => is_spaced(file, token),
    }
}

/// Whether an arithmetic sign joins two values, neither of which is a string literal.
fn computes(file: &LexedSource<'_>, index: usize, token: &SourceToken) -> bool {
    let neighbours = [file.before(index), file.token(index + 1)];
    let is_text = |it: &&SourceToken| it.kind == TokenKind::Text;
    if neighbours.iter().flatten().any(is_text) || neighbours.iter().any(Option::is_none) {
        return false;
    }
    match file.family {
        SourceFamily::Rust => {
            let is_bound = |it: &&SourceToken| {
                let word = file.word(it);
                word.starts_with(char::is_uppercase) && (word.len() == 1 || word.contains(char::is_lowercase))
            };
            is_spaced(file, token) && !neighbours.iter().flatten().any(is_bound)
        }
        SourceFamily::Other => is_spaced(file, token),
        SourceFamily::Python | SourceFamily::Script | SourceFamily::Go => true,
    }
}

fn find(pairs: &[(&'static str, &'static str)], word: &str) -> Option<&'static str> {
    pairs.iter().find(|(from, _)| *from == word).map(|(_, to)| *to)
}
