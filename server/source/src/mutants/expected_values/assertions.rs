//! Recognises assertions of equality with a literal, in one line: calls such as `assertEqual(x, 3)`, statements such as
//! `assert x == 3`, chains such as `expect(x).toBe(3)`, and `if x != 3 {` of Go.
//!
//! Only assertions that have to fail with another literal count; those of another form, or in a condition, do not.

use std::ops::Range;

use super::super::LexedSource;
use super::super::lexer::TokenKind;
use crate::test_inventory::TestLanguage;

/// Functions and macros that take the two values first.
const EQUALITY_CALLS: &[&str] = &[
    "assertEqual",
    "assertEquals",
    "assertSame",
    "assertListEqual",
    "assertTupleEqual",
    "assertMultiLineEqual",
    "assert_eq",
    "assert_equal",
    "assert_same",
    "strictEqual",
    "deepEqual",
    "deepStrictEqual",
    "equal",
    "same",
    "is",
    "Equal",
    "AreEqual",
    "EXPECT_EQ",
    "ASSERT_EQ",
    "EXPECT_STREQ",
    "ASSERT_STREQ",
    "BOOST_CHECK_EQUAL",
    "BOOST_REQUIRE_EQUAL",
    "CU_ASSERT_EQUAL",
    "TEST_ASSERT_EQUAL",
    "TEST_ASSERT_EQUAL_INT",
    "TEST_ASSERT_EQUAL_STRING",
    "ck_assert_int_eq",
    "ck_assert_str_eq",
];

/// Statements and macros that take a condition.
const CONDITION_CALLS: &[&str] =
    &["assert", "REQUIRE", "CHECK", "BOOST_TEST", "TEST_ASSERT", "TEST_ASSERT_TRUE"];

/// The heads of chains, and the calls that end them.
const CHAIN_HEADS: &[&str] = &["expect", "assertThat"];
const CHAIN_MATCHERS: &[&str] =
    &["toBe", "toEqual", "toStrictEqual", "equal", "equals", "eql", "eq", "isEqualTo"];
/// Words between head and matcher without an effect.
const CHAIN_WORDS: &[&str] = &["to", "be", "deep", "that", "is"];

/// Words that make an assertion conditional, or expect its failure.
const CONDITIONS: &[&str] = &[
    "if", "unless", "for", "foreach", "while", "try", "with", "except", "catch", "rescue", "and", "or",
    "not", "else", "when", "in", "resolves", "rejects", "raises", "&&", "||", "?", "??", "=>",
];

/// The tokens of the literal in an assertion of equality.
pub(super) fn find_literal(
    file: &LexedSource<'_>,
    language: TestLanguage,
    statement: Range<usize>,
) -> Option<Range<usize>> {
    let line = AssertionLine { file, tokens: statement };
    let go = || line.literal_of_go_condition().filter(|_| language == TestLanguage::Go);
    if let Some(literal) = go() {
        return Some(literal);
    }
    if line.tokens.clone().any(|it| line.is_one_of(it, CONDITIONS)) {
        return None;
    }
    let call = || line.literal_of_call();
    let condition = || line.literal_of_condition();
    line.literal_of_chain().or_else(call).or_else(condition)
}

struct AssertionLine<'a> {
    file: &'a LexedSource<'a>,
    tokens: Range<usize>,
}

impl AssertionLine<'_> {
    fn word(&self, index: usize) -> &str {
        let token = self.file.token(index).filter(|it| it.kind != TokenKind::Text);
        token.map_or("", |it| self.file.word(it))
    }

    fn is_one_of(&self, index: usize, words: &[&str]) -> bool {
        words.contains(&self.word(index))
    }

    /// The first word of the statement that is in `names`, after `await`, `return` and its receiver.
    fn callee(&self, names: &[&str]) -> Option<usize> {
        let is_receiver = |it: &usize| {
            self.file.token(*it).is_some_and(|it| it.kind == TokenKind::Word)
                || self.is_one_of(*it, &[".", "->", "::", "$", ":", "\\"])
        };
        self.tokens.clone().take_while(is_receiver).find(|it| self.is_one_of(*it, names))
    }

    /// The bracket that opens after the index, or after the `!` of a macro, and the one that closes it on the line.
    fn brackets(&self, callee: usize) -> Option<(usize, usize)> {
        let open = callee + if self.word(callee + 1) == "!" { 2 } else { 1 };
        let close = self.file.closing_in(open, &self.tokens).filter(|_| self.word(open) == "(")?;
        Some((open, close))
    }

    /// Whether only tokens that close the statement and its block follow.
    fn ends_after(&self, index: usize) -> bool {
        (index + 1..self.tokens.end).all(|it| self.is_one_of(it, &[";", ")", "}", ",", "end"]))
    }

    /// `assertEqual(x, 3)`, `assert.Equal(t, 3, x)`
    fn literal_of_call(&self) -> Option<Range<usize>> {
        let (open, close) = self.brackets(self.callee(EQUALITY_CALLS)?)?;
        if !self.ends_after(close) {
            return None;
        }
        let arguments = self.split_arguments(open + 1..close);
        let arguments = match arguments.as_slice() {
            [first, rest @ ..] if rest.len() > 1 && self.is_test_parameter(first) => rest,
            all => all,
        };
        match arguments {
            [left, right] => self.only_literal(left, right),
            [message, left, right] if self.is_text(message) && !self.is_text(right) => {
                self.only_literal(left, right).filter(|it| !self.is_text(it))
            }
            [left, right, message, ..] if self.is_text(message) => self.only_literal(left, right),
            _ => None,
        }
    }

    fn is_test_parameter(&self, argument: &Range<usize>) -> bool {
        argument.len() == 1 && self.word(argument.start) == "t"
    }

    /// `assert x == 3`
    fn literal_of_condition(&self) -> Option<Range<usize>> {
        let callee = self.callee(CONDITION_CALLS)?;
        let condition = match self.brackets(callee) {
            Some((open, close)) if self.ends_after(close) => open + 1..close,
            _ => callee + 1..self.tokens.end,
        };
        let end = self.at_depth(&condition).find(|it| self.is_one_of(*it, &[",", ";"]));
        let (left, right) = self.operands(condition.start..end.unwrap_or(condition.end), &["==", "==="])?;
        self.only_literal(&left, &right)
    }

    /// `expect(x).toBe(3)`
    fn literal_of_chain(&self) -> Option<Range<usize>> {
        let (_, close) = self.brackets(self.callee(CHAIN_HEADS)?)?;
        let is_link = |it: usize| self.word(it) == "." || self.is_one_of(it, CHAIN_WORDS);
        let matcher = (close + 1..self.tokens.end).find(|it| !is_link(*it))?;
        let (open, close) = self.brackets(matcher).filter(|_| self.is_one_of(matcher, CHAIN_MATCHERS))?;
        let argument = open + 1..close;
        (self.ends_after(close) && self.is_literal(&argument)).then_some(argument)
    }

    /// `if got := Add(1, 2); got != 3 {`, before a line that fails the test.
    fn literal_of_go_condition(&self) -> Option<Range<usize>> {
        let (start, end) = (self.tokens.start, self.tokens.end.checked_sub(1)?);
        if self.word(start) != "if" || self.word(end) != "{" || !self.fails_after(end) {
            return None;
        }
        let start = (start..end).rev().find(|it| self.word(*it) == ";").unwrap_or(start) + 1;
        if (start..end).any(|it| self.is_one_of(it, &["&&", "||"])) {
            return None;
        }
        let (left, right) = self.operands(start..end, &["!="])?;
        self.only_literal(&left, &right)
    }

    /// Whether the block begins with a call such as `t.Error`.
    fn fails_after(&self, open: usize) -> bool {
        const FAILURES: [&str; 3] = ["Error", "Fatal", "Fail"];
        let fails = FAILURES.iter().any(|it| self.word(open + 3).starts_with(it));
        fails && self.word(open + 1) == "t" && self.word(open + 2) == "."
    }

    /// The tokens that are in no further bracket.
    fn at_depth(&self, tokens: &Range<usize>) -> impl Iterator<Item = usize> {
        let depth = self.file.token(tokens.start).map(|it| it.depth);
        tokens.clone().filter(move |it| self.file.token(*it).map(|it| it.depth) == depth)
    }

    /// Both sides of the only operator of the condition.
    fn operands(&self, condition: Range<usize>, operators: &[&str]) -> Option<(Range<usize>, Range<usize>)> {
        const OPERATORS: &[&str] =
            &["==", "===", "!=", "!==", "<", ">", "<=", ">=", "!", "is", "~", "=~", "%"];
        let mut found = self.at_depth(&condition).filter(|it| self.is_one_of(*it, OPERATORS));
        let operator = found.next().filter(|it| self.is_one_of(*it, operators))?;
        found.next().is_none().then_some((condition.start..operator, operator + 1..condition.end))
    }

    fn split_arguments(&self, inside: Range<usize>) -> Vec<Range<usize>> {
        let mut arguments = Vec::new();
        let mut start = inside.start;
        for comma in self.at_depth(&inside).filter(|it| self.word(*it) == ",") {
            arguments.push(start..comma);
            start = comma + 1;
        }
        arguments.push(start..inside.end);
        arguments.retain(|it| !it.is_empty());
        arguments
    }

    fn only_literal(&self, left: &Range<usize>, right: &Range<usize>) -> Option<Range<usize>> {
        match (self.is_literal(left), self.is_literal(right)) {
            (true, false) if !right.is_empty() => Some(left.clone()),
            (false, true) if !left.is_empty() => Some(right.clone()),
            _ => None,
        }
    }

    fn is_text(&self, tokens: &Range<usize>) -> bool {
        let first = self.file.token(tokens.start);
        !tokens.is_empty() && first.is_some_and(|it| it.kind == TokenKind::Text)
    }

    /// One value, or a list of values, without any computation.
    fn is_literal(&self, tokens: &Range<usize>) -> bool {
        const LITERAL_SYNTAX: &[&str] = &["[", "]", "(", ")", ",", "-", "&", "vec", "!"];
        const BOOLEANS: &[&str] = &["true", "false", "True", "False"];
        let is_constant = |it: usize| {
            let token = self.file.token(it);
            token.is_some_and(|it| matches!(it.kind, TokenKind::Number | TokenKind::Text))
        };
        let is_value = |it: usize| is_constant(it) || self.is_one_of(it, BOOLEANS);
        tokens.clone().any(is_value)
            && tokens.clone().all(|it| is_value(it) || self.is_one_of(it, LITERAL_SYNTAX))
    }
}
