//! Splits a source into tokens without comments; strings are one token each. Total on any text, and linear: what it
//! does not understand becomes single characters.

mod comments;
mod heredoc;
mod literals;
mod special;

use std::ops::Range;

use self::heredoc::Heredoc;
use super::syntax::{KEYWORDS, SourceSyntax};

/// Operators of several characters, the longest first.
const OPERATORS: &[&str] = &[
    "<<=", ">>=", "===", "!==", "**=", "...", "..=", "&&=", "||=", "??=", "//=", "<=>", "->", "=>", "<-",
    "<=", ">=", "==", "!=", "~=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>", "&&", "||",
    "++", "--", "**", "//", "::", ":=", "..", "?.", "??", "=~",
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

/// A part of a text, with the line in which it begins, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourcePart {
    pub(super) range: Range<usize>,
    pub(super) line: u32,
}

impl SourcePart {
    pub(super) fn whole(text: &str) -> Self {
        Self { range: 0..text.len(), line: 1 }
    }
}

/// The tokens of a part of the text; their ranges are those of the text.
pub(super) fn tokens(text: &str, part: &SourcePart, syntax: &'static SourceSyntax) -> Vec<SourceToken> {
    let mut lexer = Lexer {
        text: text.get(..part.range.end).unwrap_or(text),
        syntax,
        at: part.range.start,
        line: part.line,
        in_code: syntax.code_marks.is_none(),
        open: Vec::new(),
        heredocs: Vec::new(),
        tokens: Vec::new(),
    };
    while lexer.at < lexer.text.len() {
        lexer.step();
    }
    lexer.tokens
}

struct Lexer<'a> {
    text: &'a str,
    syntax: &'static SourceSyntax,
    at: usize,
    line: u32,
    /// Whether the position is in code, in a file of code within other text.
    in_code: bool,
    open: Vec<char>,
    /// Their bodies begin after this line.
    heredocs: Vec<Heredoc>,
    tokens: Vec<SourceToken>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn step(&mut self) {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            self.at = self.text.len();
            return;
        };
        if let Some(length) = self.length_outside_code() {
            self.skip(length);
        } else if first == '\n' {
            let heredocs = std::mem::take(&mut self.heredocs);
            self.skip(1 + heredoc::bodies_length(rest, &heredocs));
        } else if first.is_whitespace() {
            self.skip(first.len_utf8());
        } else if let Some(length) = comments::length(self.syntax, rest, self.position()) {
            self.skip(length);
        } else if let Some(length) = self.literal() {
            self.push(TokenKind::Text, length);
        } else if first.is_ascii_digit() {
            self.push(TokenKind::Number, number_length(rest));
        } else if first.is_alphabetic() || first == '_' {
            self.push(TokenKind::Word, word_length(rest));
        } else {
            let operator = OPERATORS.iter().find(|it| rest.starts_with(**it));
            self.push(TokenKind::Symbol, operator.map_or(first.len_utf8(), |it| it.len()));
        }
    }

    fn position(&self) -> comments::CommentPosition {
        let before = self.text.get(..self.at).unwrap_or_default();
        comments::CommentPosition {
            is_first: self.at == 0,
            is_line_start: before.is_empty() || before.ends_with('\n'),
        }
    }

    /// The length of the text up to the next code, where code is only a part of the file.
    fn length_outside_code(&mut self) -> Option<usize> {
        let (open, close) = self.syntax.code_marks?;
        let rest = self.rest();
        if !self.in_code {
            self.in_code = true;
            let found = rest.find(open).map_or(rest.len(), |it| it + open.len());
            let name = rest.get(found..).unwrap_or_default();
            return Some(found + if name.starts_with("php") { "php".len() } else { 0 });
        }
        rest.starts_with(close).then(|| {
            self.in_code = false;
            close.len()
        })
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

    /// The length of the string that begins here.
    fn literal(&mut self) -> Option<usize> {
        let rest = self.rest();
        let place = special::LiteralContext {
            follows_operand: self.follows_operand(),
            follows_space: self.text.get(..self.at).is_some_and(|it| it.ends_with(char::is_whitespace)),
        };
        if let Some(length) = special::length(self.syntax.special, rest, place) {
            return Some(length);
        }
        if let Some((length, heredoc)) = heredoc::find_opening(self.syntax.special, rest) {
            self.heredocs.push(heredoc);
            return Some(length);
        }
        if self.syntax.has_regex && rest.starts_with('/') && !place.follows_operand {
            return literals::regex(rest);
        }
        let quote = self.syntax.quotes.iter().find(|it| rest.starts_with(it.open))?;
        Some(literals::quoted_length(rest, quote, self.syntax.quotes))
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
}

fn number_length(rest: &str) -> usize {
    let whole = word_length(rest);
    let fraction = rest.get(whole..).and_then(|it| it.strip_prefix('.'));
    match fraction.filter(|it| it.starts_with(|it: char| it.is_ascii_digit())) {
        Some(fraction) => whole + 1 + word_length(fraction),
        None => whole,
    }
}

fn word_length(text: &str) -> usize {
    text.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(text.len())
}
