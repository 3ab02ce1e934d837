//! Expected and actual value of an expectation that was not met, for views that show them next to each other.

#[cfg(test)]
mod tests;

use super::{CheckResult, Status, words};
use loopkeeper_task::criterion::{Check, Criterion, Expect, TextPattern, compiled};
use loopkeeper_text::{sanitize, tr, truncate};

/// Maximum number of lines of output on one side.
const LINES: usize = 10;
const LINE_BYTES: usize = 200;

/// Both sides of a comparison that did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedComparison {
    pub expected: String,
    pub actual: String,
}

impl CheckResult {
    /// From the fact and the stored output, because those are in old journals too.
    pub fn failed_comparison(&self, criterion: &Criterion) -> Option<FailedComparison> {
        if self.status != Status::Fail {
            return None;
        }
        if let Some((actual, expected)) = words::split_needs(&self.fact) {
            return Some(FailedComparison { expected: expected.to_owned(), actual: actual.to_owned() });
        }
        match criterion.check.as_ref()? {
            Check::Command { expect, .. } | Check::Get { expect, .. } => {
                expect.iter().find_map(|it| self.unmet_pattern(it))
            }
            Check::Has { pattern, globs } => self.names(pattern).then(|| FailedComparison {
                expected: tr!("{pattern} in {files}", pattern = name(pattern), files = list_globs(globs)),
                actual: tr!("not found").to_owned(),
            }),
            Check::Lacks { pattern, globs } => self.names(pattern).then(|| FailedComparison {
                expected: tr!("no {pattern} in {files}", pattern = name(pattern), files = list_globs(globs)),
                actual: self.found_in(pattern),
            }),
            Check::Exists { .. } | Check::Missing { .. } | Check::Clean | Check::Judge { .. } => None,
        }
    }

    fn unmet_pattern(&self, expect: &Expect) -> Option<FailedComparison> {
        match expect {
            Expect::Matches { pattern } if self.names(pattern) => {
                let last = self.last_lines(LINES);
                let actual = if last.is_empty() { tr!("no output").to_owned() } else { join_lines(&last) };
                Some(FailedComparison { expected: match_of(pattern), actual })
            }
            Expect::MatchesNot { pattern } if self.names(pattern) => {
                let expected = tr!("no match of {pattern}", pattern = name(pattern));
                Some(FailedComparison { expected, actual: self.matching_lines(pattern) })
            }
            Expect::Matches { .. }
            | Expect::MatchesNot { .. }
            | Expect::Number { .. }
            | Expect::Exit { .. }
            | Expect::Status { .. } => None,
        }
    }

    /// Whether the fact contains this pattern, which it does in every language.
    fn names(&self, pattern: &TextPattern) -> bool {
        self.fact.contains(&name(pattern))
    }

    /// The part of the fact after the pattern where it begins with that: `found in src/a.rs:3`.
    fn found_in(&self, pattern: &TextPattern) -> String {
        self.fact.strip_prefix(&name(pattern)).unwrap_or(&self.fact).trim().to_owned()
    }

    /// A match over several lines, or in the part that was not stored, has no line of its own.
    fn matching_lines(&self, pattern: &TextPattern) -> String {
        let regex = compiled(pattern);
        let is_match = |line: &&str| regex.as_ref().is_some_and(|it| it.is_match(line));
        let lines: Vec<&str> =
            self.head.lines().chain(self.tail.lines()).filter(is_match).take(LINES).collect();
        if lines.is_empty() { match_of(pattern) } else { join_lines(&lines) }
    }
}

/// The name as in the fact.
fn name(pattern: &TextPattern) -> String {
    sanitize::line(&pattern.written())
}

fn match_of(pattern: &TextPattern) -> String {
    tr!("a match of {pattern}", pattern = name(pattern))
}

fn list_globs(globs: &[String]) -> String {
    sanitize::line(&globs.join(" "))
}

fn join_lines(lines: &[&str]) -> String {
    let short: Vec<&str> = lines.iter().map(|it| truncate::first_bytes(it, LINE_BYTES)).collect();
    short.join("\n")
}
