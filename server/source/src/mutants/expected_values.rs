//! Values that tests expect: literals on one side of an assertion of equality. With another value in its place, a test
//! that reaches the assertion has to fail; if it passes, the assertion does not judge the work. The work may compare
//! equal to everything, read its tests, patch the runner, or end the run before it counts.

mod assertions;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Range;

use super::lexer::{self, SourcePart, SourceToken, TokenKind};
use super::operators::{BOOLEANS, PYTHON_BOOLEANS, find};
use super::syntax;
use super::{LexedSource, MAX_LINE, replace_range};
use crate::test_inventory::{ReachedLine, TestLanguage, language, reached_lines};

/// One value, and another one in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedValue {
    /// Relative to the root.
    pub path: String,
    /// From 1.
    pub line: u32,
    /// `None`: the assertion is outside of every test.
    pub test: Option<String>,
    /// Bytes of the file.
    range: Range<usize>,
    replacement: String,
    /// The start of the statement; `None` if no statement can be placed before it.
    statement: Option<usize>,
}

/// The values in assertions that the tests of a file always reach.
pub fn expected_values(path: &str, text: &str) -> Vec<ExpectedValue> {
    let (Some(syntax), Some(language)) = (syntax::for_path(path), language(path)) else { return Vec::new() };
    if syntax::is_generated(text) {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let tokens = lexer::tokens(text, &SourcePart::whole(text), syntax);
    let file = TestSource { source: LexedSource { text, lines: &lines, tokens: &tokens, syntax }, language };
    let by_line: HashMap<u32, Range<usize>> = file.source.token_lines().into_iter().collect();
    let value = |line: &ReachedLine| {
        let tokens = by_line.get(&line.number).filter(|_| file.source.line(line.number).len() <= MAX_LINE)?;
        file.expected_value(path, line, tokens.clone())
    };
    reached_lines(path, text).iter().filter_map(value).collect()
}

/// The first value of every test, then the second of every test that has two, and so on. Every assertion outside of a
/// test counts as a test.
pub fn batches(values: Vec<ExpectedValue>) -> Vec<Vec<ExpectedValue>> {
    let mut batches: Vec<Vec<ExpectedValue>> = Vec::new();
    let mut counts: HashMap<(String, String), usize> = HashMap::new();
    for value in values {
        let index = match &value.test {
            None => 0,
            Some(test) => {
                let count = counts.entry((value.path.clone(), test.clone())).or_default();
                *count += 1;
                *count - 1
            }
        };
        match batches.get_mut(index) {
            Some(batch) => batch.push(value),
            None => batches.push(vec![value]),
        }
    }
    batches
}

/// The file with other values in all of these places.
pub fn with_other_values<'a>(text: &str, values: impl Iterator<Item = &'a ExpectedValue>) -> String {
    let mut values: Vec<&ExpectedValue> = values.collect();
    values.sort_by_key(|it| it.range.start);
    let mut edited = String::with_capacity(text.len() + values.len());
    let mut copied = 0;
    for value in values {
        edited.push_str(text.get(copied..value.range.start).unwrap_or_default());
        edited.push_str(&value.replacement);
        copied = value.range.end;
    }
    edited.push_str(text.get(copied..).unwrap_or_default());
    edited
}

impl ExpectedValue {
    /// The file with a failing statement before the assertion; `None` if none can be placed there.
    pub fn with_failure(&self, text: &str) -> Option<String> {
        let at = self.statement?;
        Some(replace_range(text, &(at..at), failing_statement(&self.path)?))
    }

    /// The file with a syntax error in place of the value, which fails any run that reads the file.
    pub fn with_syntax_error(&self, text: &str) -> String {
        replace_range(text, &self.range, ")]})")
    }

    /// The value as it is and the other one, without the text around them.
    pub fn describe(&self, text: &str) -> (String, String) {
        let before = text.get(self.range.clone()).unwrap_or_default();
        (before.to_owned(), self.replacement.clone())
    }
}

/// A statement that fails, but leaves the code after it reachable for a compiler.
fn failing_statement(path: &str) -> Option<&'static str> {
    let is_kotlin = [".kt", ".kts", ".scala"].iter().any(|it| path.ends_with(it));
    Some(match language(path)? {
        TestLanguage::Python => "assert False; ",
        TestLanguage::Script => "if (Date.now()) throw new Error('expected'); ",
        TestLanguage::Rust => "assert!(std::process::id() == 0); ",
        TestLanguage::Go => "t.FailNow(); ",
        TestLanguage::Jvm if is_kotlin => "if (System.nanoTime() != 1L) throw AssertionError(); ",
        TestLanguage::Jvm => "if (System.nanoTime() != 1L) throw new AssertionError(); ",
        TestLanguage::CSharp => "if (System.Environment.TickCount != 1) throw new System.Exception(); ",
        TestLanguage::Ruby => "raise 'expected'; ",
        TestLanguage::Php => "throw new \\Exception(); ",
        TestLanguage::C => "__builtin_trap(); ",
        TestLanguage::Perl | TestLanguage::Shell => return None,
    })
}

/// A source of tests with its tokens.
struct TestSource<'a> {
    source: LexedSource<'a>,
    language: TestLanguage,
}

impl TestSource<'_> {
    fn expected_value(&self, path: &str, line: &ReachedLine, tokens: Range<usize>) -> Option<ExpectedValue> {
        let statement = if line.is_head { self.body_on_line(tokens.clone())? } else { tokens };
        let start = self.source.token(statement.start)?.range.start;
        let mut literal = assertions::find_literal(&self.source, self.language, statement)?;
        let (range, replacement) = literal.find_map(|it| self.other_value(it))?;
        Some(ExpectedValue {
            path: path.to_owned(),
            line: line.number,
            test: line.test.clone(),
            range,
            replacement,
            statement: Some(start).filter(|_| !line.is_head),
        })
    }

    /// The tokens after `=> {`, `=>` or `{`.
    fn body_on_line(&self, tokens: Range<usize>) -> Option<Range<usize>> {
        let mut start =
            tokens.clone().find(|it| self.source.is_token(*it, "=>") || self.source.is_token(*it, "{"))? + 1;
        if self.source.is_token(start, "{") {
            start += 1;
        }
        (start < tokens.end).then_some(start..tokens.end)
    }

    fn other_value(&self, index: usize) -> Option<(Range<usize>, String)> {
        let token = self.source.token(index)?;
        let word = self.source.word(token);
        match token.kind {
            TokenKind::Number => other_number(token, word),
            TokenKind::Text => self.other_text(token, word),
            TokenKind::Word => {
                let other = find(BOOLEANS, word).or_else(|| find(PYTHON_BOOLEANS, word))?;
                Some((token.range.clone(), other.to_owned()))
            }
            TokenKind::Symbol => None,
        }
    }

    /// The text with one more character after the opening quote.
    fn other_text(&self, token: &SourceToken, word: &str) -> Option<(Range<usize>, String)> {
        let at = word.find(['"', '\'', '`'])?;
        let quoted = word.get(at..)?;
        let has_characters = matches!(
            self.language,
            TestLanguage::Rust
                | TestLanguage::C
                | TestLanguage::Go
                | TestLanguage::Jvm
                | TestLanguage::CSharp
        );
        if word.starts_with('/') || (quoted.starts_with('\'') && has_characters) {
            return None;
        }
        let is_triple = quoted.starts_with("\"\"\"") || quoted.starts_with("'''");
        let opening = at + if is_triple { 3 } else { 1 };
        let other = format!("{}~{}", word.get(..opening)?, word.get(opening..)?);
        Some((token.range.clone(), other))
    }
}

/// The number with another last digit of the integer part: it fits into every type that holds the number, and has no
/// leading zero.
fn other_number(token: &SourceToken, word: &str) -> Option<(Range<usize>, String)> {
    let whole = word.find(|it: char| !it.is_ascii_digit() && it != '_').unwrap_or(word.len());
    let (digits, rest) = word.split_at_checked(whole)?;
    let is_special = rest.starts_with(['x', 'X', 'b', 'B', 'o', 'O', 'e', 'E']);
    let at = digits.rfind(|it: char| it.is_ascii_digit()).filter(|_| !is_special)?;
    let (head, last) = digits.split_at_checked(at)?;
    let digit = last.chars().next()?.to_digit(10)?;
    let other = if digit == 0 { 1 } else { digit - 1 };
    Some((token.range.clone(), format!("{head}{other}{}{rest}", last.get(1..)?)))
}
