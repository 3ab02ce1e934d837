//! Mutants: small faults in the lines that a loop changed. A check that is run on each of them shows whether the checks
//! would notice such a fault. Text in, replacements out: files are read and checks are run elsewhere.
//!
//! A lexer that skips comments and strings finds operators, constants and statements; no grammar is needed. Shell
//! scripts have a lexer of their own, and the programs of awk in them count as code. Comparisons are inverted, not
//! moved by one, because a mutant that nothing can notice costs more trust than it is worth.

mod changed_lines;
pub mod expected_values;
mod lexer;
mod operators;
mod shell;
mod side_effects;
mod statements;
mod syntax;
#[cfg(test)]
mod tests;
mod trial_order;

use std::collections::BTreeSet;
use std::ops::Range;

use self::lexer::{SourcePart, SourceToken, TokenKind};
use self::syntax::{SourceFamily, SourceSyntax};

/// Longer lines are generated.
const MAX_LINE: usize = 300;

/// A source file before and after a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedSource {
    /// Relative to the root.
    pub path: String,
    /// `None`: the file is new.
    pub before: Option<String>,
    pub after: String,
}

/// One small fault in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutant {
    pub path: String,
    /// From 1.
    pub line: u32,
    /// Bytes of the file.
    pub range: Range<usize>,
    pub replacement: String,
    pub kind: MutationKind,
}

/// The kind of a mutant, in the order of preference on one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MutationKind {
    Comparison,
    Arithmetic,
    Logic,
    Condition,
    Statement,
    Boolean,
    Return,
    Integer,
}

/// A replacement of bytes in one line of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SourceEdit {
    line: u32,
    range: Range<usize>,
    replacement: String,
    kind: MutationKind,
}

/// Whether mutants can be made of a file of this name.
pub fn is_source(path: &str) -> bool {
    syntax::for_path(path).is_some() || shell::is_script_name(path)
}

/// Whether the first line of a file of this name decides if mutants can be made of it.
pub fn may_be_script(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    !name.contains('.')
}

/// At most `max` mutants of the changed lines, spread over files and lines, the most informative ones first.
pub fn choose_mutants(sources: &[ChangedSource], max: usize) -> Vec<Mutant> {
    let of_file = |source: &ChangedSource| {
        let edits = trial_order::order(edits(source));
        let mutant = |it: SourceEdit| Mutant {
            path: source.path.clone(),
            line: it.line,
            range: it.range,
            replacement: it.replacement,
            kind: it.kind,
        };
        edits.into_iter().map(mutant).collect()
    };
    let mut chosen = trial_order::interleave(sources.iter().map(of_file).collect());
    chosen.truncate(max);
    chosen
}

/// All edits of the changed lines of a file, by line and column.
fn edits(source: &ChangedSource) -> Vec<SourceEdit> {
    let (path, text) = (source.path.as_str(), source.after.as_str());
    let is_shell = shell::is_script(path, text);
    if syntax::is_generated(text) || side_effects::has_side_effects(text, is_shell) {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut changed = changed_lines::changed_lines(source.before.as_deref().unwrap_or_default(), text);
    changed.retain(|it| line_of(&lines, *it).len() <= MAX_LINE);
    let changed = ChangedLines { text, lines: &lines, numbers: &changed };
    let mut edits = match syntax::for_path(path) {
        _ if is_shell => shell::edits(&changed),
        Some(syntax) => text_edits(&changed, &SourcePart::whole(text), syntax),
        None => Vec::new(),
    };
    edits.sort_by_key(|it| (it.line, it.range.start, it.kind));
    edits
}

/// The edits of a part of a file in one language.
fn text_edits(
    changed: &ChangedLines<'_>,
    part: &SourcePart,
    syntax: &'static SourceSyntax,
) -> Vec<SourceEdit> {
    let tokens = lexer::tokens(changed.text, part, syntax);
    let file = LexedSource { text: changed.text, lines: changed.lines, tokens: &tokens, syntax };
    let skipped = file.skipped_lines();
    let mut edits = Vec::new();
    for (line, range) in file.token_lines() {
        if !changed.numbers.contains(&line) || skipped.contains(&line) {
            continue;
        }
        edits.extend(operators::edits(&file, range.clone()));
        edits.extend(statements::edits(&file, range));
    }
    edits
}

/// A file, and the numbers of the lines of which mutants are made.
#[derive(Debug, Clone, Copy)]
struct ChangedLines<'a> {
    text: &'a str,
    lines: &'a [&'a str],
    numbers: &'a BTreeSet<u32>,
}

/// A file with its tokens.
#[derive(Debug, Clone, Copy)]
struct LexedSource<'a> {
    text: &'a str,
    lines: &'a [&'a str],
    tokens: &'a [SourceToken],
    syntax: &'static SourceSyntax,
}

impl<'a> LexedSource<'a> {
    fn family(&self) -> SourceFamily {
        self.syntax.family
    }

    /// The text of a line, from 1.
    fn line(&self, number: u32) -> &'a str {
        line_of(self.lines, number)
    }

    fn word(&self, token: &SourceToken) -> &'a str {
        self.text.get(token.range.clone()).unwrap_or_default()
    }

    fn token(&self, index: usize) -> Option<&'a SourceToken> {
        self.tokens.get(index)
    }

    fn token_before(&self, index: usize) -> Option<&'a SourceToken> {
        index.checked_sub(1).and_then(|it| self.tokens.get(it))
    }

    fn is_token(&self, index: usize, text: &str) -> bool {
        self.token(index).is_some_and(|it| it.kind != TokenKind::Text && self.word(it) == text)
    }

    /// The lines with tokens, and the indices of the tokens that begin in them.
    fn token_lines(&self) -> Vec<(u32, Range<usize>)> {
        let mut lines: Vec<(u32, Range<usize>)> = Vec::new();
        for (index, token) in self.tokens.iter().enumerate() {
            match lines.last_mut() {
                Some((line, range)) if *line == token.line => range.end = index + 1,
                _ => lines.push((token.line, index..index + 1)),
            }
        }
        lines
    }

    /// The lines of imports, attributes, types and tests inside a Rust source: none of them is behaviour of the work.
    fn skipped_lines(&self) -> BTreeSet<u32> {
        let mut skipped = self.test_modules();
        for (line, range) in self.token_lines() {
            let first = self.token(range.start).map_or("", |it| self.word(it));
            let is_guard = range.clone().any(|it| self.is_token(it, "__name__"));
            let is_attribute = self.family() == SourceFamily::CLike && first == "[";
            if is_guard || is_attribute || syntax::DECLARATIONS.contains(&first) {
                skipped.insert(line);
            }
        }
        skipped
    }

    fn test_modules(&self) -> BTreeSet<u32> {
        const TEST_MODULE: [&str; 8] = ["#", "[", "cfg", "(", "test", ")", "]", "mod"];
        let mut lines = BTreeSet::new();
        let mut start = 0;
        while self.family() == SourceFamily::Rust && start < self.tokens.len() {
            if !TEST_MODULE.iter().enumerate().all(|(at, word)| self.is_token(start + at, word)) {
                start += 1;
                continue;
            }
            let open = start + TEST_MODULE.len() + 1;
            let end = if self.is_token(open, "{") { self.closing(open) } else { Some(open) };
            let end = end.filter(|it| *it < self.tokens.len()).unwrap_or(self.tokens.len() - 1);
            let line = |index: usize| self.token(index).map_or(0, |it| it.line);
            lines.extend(line(start)..=line(end));
            start = end + 1;
        }
        lines
    }

    /// The index of the bracket that closes the one at `open`.
    fn closing(&self, open: usize) -> Option<usize> {
        self.closing_in(open, &(0..self.tokens.len()))
    }

    /// The same, if it is among these tokens.
    fn closing_in(&self, open: usize, tokens: &Range<usize>) -> Option<usize> {
        let depth = self.token(open)?.depth;
        (open + 1..tokens.end).find(|it| self.token(*it).is_some_and(|it| it.depth == depth))
    }
}

impl Mutant {
    /// The whole file with the fault in it.
    pub fn apply(&self, text: &str) -> String {
        replace_range(text, &self.range, &self.replacement)
    }

    /// The line as it is, without indentation.
    pub fn line_before(&self, text: &str) -> String {
        line_at(text, self.line)
    }

    /// The line with the fault; empty if the statement is removed.
    pub fn line_after(&self, text: &str) -> String {
        line_at(&self.apply(text), self.line)
    }
}

fn replace_range(text: &str, range: &Range<usize>, replacement: &str) -> String {
    let (head, tail) = (text.get(..range.start), text.get(range.end..));
    [head.unwrap_or_default(), replacement, tail.unwrap_or_default()].concat()
}

fn line_of<'a>(lines: &[&'a str], number: u32) -> &'a str {
    lines.get(number.saturating_sub(1) as usize).copied().unwrap_or_default()
}

fn line_at(text: &str, line: u32) -> String {
    let index = line.saturating_sub(1) as usize;
    text.lines().nth(index).map(|it| it.trim().to_owned()).unwrap_or_default()
}
