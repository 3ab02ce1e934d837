//! Splits a source into tokens without comments; strings are one token each. Total on any text: what it does not
//! understand becomes single characters.

use std::ops::Range;

use super::syntax::{KEYWORDS, SourceFamily, SourceSyntax};

/// Operators of several characters, the longest first.
const OPERATORS: &[&str] = &[
    "<<=", ">>=", "===", "!==", "**=", "...", "..=", "&&=", "||=", "??=", "//=", "<=>", "->", "=>", "<-",
    "<=", ">=", "==", "!=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>", "&&", "||", "++",
    "--", "**", "//", "::", ":=", "..", "?.", "??", "=~",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceToken {
    pub(super) kind: TokenKind,
    pub(super) range: Range<usize>,
    /// Where it begins, from 1.
    pub(super) line: u32,
    /// Brackets that are open around it; a bracket itself is not inside.
    pub(super) depth: u32,
    /// The innermost of them.
    pub(super) inside: Option<char>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    Number,
    /// A string, a character, a regular expression.
    Text,
    Symbol,
}

pub(super) fn tokens(text: &str, syntax: &SourceSyntax) -> Vec<SourceToken> {
    let mut lexer = Lexer { text, syntax, at: 0, line: 1, open: Vec::new(), tokens: Vec::new() };
    while lexer.at < text.len() {
        lexer.step();
    }
    lexer.tokens
}

struct Lexer<'a> {
    text: &'a str,
    syntax: &'a SourceSyntax,
    at: usize,
    line: u32,
    open: Vec<char>,
    tokens: Vec<SourceToken>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn step(&mut self) {
        let Some(first) = self.rest().chars().next() else {
            self.at = self.text.len();
            return;
        };
        if first.is_whitespace() {
            self.skip(first.len_utf8());
        } else if let Some(length) = self.comment() {
            self.skip(length);
        } else if let Some(length) = self.string() {
            self.push(TokenKind::Text, length);
        } else if first.is_ascii_digit() {
            let length = self.number();
            self.push(TokenKind::Number, length);
        } else if first.is_alphabetic() || first == '_' {
            let length = word_length(self.rest());
            self.push(TokenKind::Word, length);
        } else {
            let rest = self.rest();
            let operator = OPERATORS.iter().find(|it| rest.starts_with(**it));
            let length = operator.map_or(first.len_utf8(), |it| it.len());
            self.push(TokenKind::Symbol, length);
        }
    }

    fn skip(&mut self, length: usize) {
        let skipped = self.text.get(self.at..self.at + length).unwrap_or_default();
        self.line += skipped.matches('\n').count() as u32;
        self.at += length;
    }

    fn push(&mut self, kind: TokenKind, length: usize) {
        let bracket = self.rest().chars().next().filter(|_| kind == TokenKind::Symbol);
        if bracket.is_some_and(|it| matches!(it, ')' | ']' | '}')) {
            self.open.pop();
        }
        self.tokens.push(SourceToken {
            kind,
            range: self.at..self.at + length,
            line: self.line,
            depth: self.open.len() as u32,
            inside: self.open.last().copied(),
        });
        if let Some(bracket) = bracket.filter(|it| matches!(it, '(' | '[' | '{')) {
            self.open.push(bracket);
        }
        self.skip(length);
    }

    /// The length of the comment that begins here.
    fn comment(&self) -> Option<usize> {
        let rest = self.rest();
        if let Some((open, close)) = self.syntax.block_comment
            && let Some(inner) = rest.strip_prefix(open)
        {
            let end = inner.find(close).map_or(rest.len(), |it| open.len() + it + close.len());
            return Some(end);
        }
        let is_first = self.at == 0 && rest.starts_with("#!") && !rest.starts_with("#![");
        let starts = self.syntax.line_comments.iter().any(|it| rest.starts_with(it));
        let is_comment = is_first || starts;
        is_comment.then(|| rest.find('\n').unwrap_or(rest.len()))
    }

    /// The length of the string that begins here.
    fn string(&self) -> Option<usize> {
        let rest = self.rest();
        if self.syntax.family == SourceFamily::Rust
            && let Some(length) = rust_raw_string(rest).or_else(|| rust_character(rest))
        {
            return Some(length);
        }
        if self.syntax.family == SourceFamily::Script && rest.starts_with('/') && !self.follows_operand() {
            return regex_literal(rest);
        }
        let quote = self.syntax.quotes.iter().find(|it| rest.starts_with(**it))?;
        let is_raw = self.syntax.raw_quotes.contains(quote);
        Some(quoted(rest, quote, is_raw, self.syntax.long_quotes.contains(quote)))
    }

    fn follows_operand(&self) -> bool {
        self.tokens.last().is_some_and(|it| {
            let word = self.text.get(it.range.clone()).unwrap_or_default();
            match it.kind {
                TokenKind::Word => !KEYWORDS.contains(&word),
                TokenKind::Number | TokenKind::Text => true,
                TokenKind::Symbol => matches!(word, ")" | "]"),
            }
        })
    }

    fn number(&self) -> usize {
        let rest = self.rest();
        let whole = word_length(rest);
        let fraction = rest.get(whole..).and_then(|it| it.strip_prefix('.'));
        match fraction.filter(|it| it.starts_with(|it: char| it.is_ascii_digit())) {
            Some(fraction) => whole + 1 + word_length(fraction),
            None => whole,
        }
    }
}

fn word_length(text: &str) -> usize {
    text.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(text.len())
}

/// The length of the quoted text at the beginning; up to the end of the line where it is not closed and may not span
/// lines.
fn quoted(text: &str, quote: &str, is_raw: bool, is_long: bool) -> usize {
    let mut at = quote.len();
    while let Some(rest) = text.get(at..).filter(|it| !it.is_empty()) {
        if rest.starts_with(quote) {
            return at + quote.len();
        }
        if rest.starts_with('\n') && !is_long {
            return at;
        }
        let mut letters = rest.chars();
        let first = letters.next().map_or(1, char::len_utf8);
        let escaped =
            if rest.starts_with('\\') && !is_raw { letters.next().map_or(0, char::len_utf8) } else { 0 };
        at += first + escaped;
    }
    text.len()
}

/// `r#"…"#`, `br"…"`
fn rust_raw_string(text: &str) -> Option<usize> {
    let start = ["r", "br", "cr"].into_iter().find_map(|it| text.strip_prefix(it))?;
    let hashes = start.len() - start.trim_start_matches('#').len();
    let inner = start.get(hashes..)?.strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let opened = text.len() - inner.len();
    Some(inner.find(&close).map_or(text.len(), |it| opened + it + close.len()))
}

/// `'a'` and `'\n'`; `'a` alone is a lifetime, which is never an operand.
fn rust_character(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('\'')?;
    let first = inner.chars().next()?;
    if first == '\\' {
        return Some(quoted(text, "'", false, false));
    }
    let is_closed = inner.get(first.len_utf8()..)?.starts_with('\'');
    Some(if is_closed { first.len_utf8() + 2 } else { 1 + word_length(inner) })
}

/// A regular expression of JavaScript on one line.
fn regex_literal(text: &str) -> Option<usize> {
    let mut in_class = false;
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
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
