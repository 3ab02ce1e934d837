//! The two sides of an expectation that was not met, for views that show them next to each other.

#[cfg(test)]
mod tests;

use super::judge::NEEDS;
use super::{CheckResult, Status};
use loopkeeper_task::criterion::{Check, Criterion, Expect, TextPattern, compiled};
use loopkeeper_text::{sanitize, truncate};

/// Lines of output on one side; more says nothing more.
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
        if let Some((actual, expected)) = self.fact.split_once(NEEDS) {
            return Some(FailedComparison { expected: expected.to_owned(), actual: actual.to_owned() });
        }
        match criterion.check.as_ref()? {
            Check::Command { expect, .. } | Check::Get { expect, .. } => {
                expect.iter().find_map(|it| self.unmet_pattern(it))
            }
            Check::Has { pattern, globs } => {
                self.names(pattern, NOT_FOUND).then(|| in_files("", pattern, globs, "not found".to_owned()))
            }
            Check::Lacks { pattern, globs } => {
                self.names(pattern, FOUND).then(|| in_files("no ", pattern, globs, self.found_in(pattern)))
            }
            Check::Exists { .. } | Check::Missing { .. } | Check::Clean | Check::Judge { .. } => None,
        }
    }

    fn unmet_pattern(&self, expect: &Expect) -> Option<FailedComparison> {
        match expect {
            Expect::Matches { pattern } if self.names(pattern, NOT_FOUND) => {
                let last = self.last_lines(LINES);
                let actual = if last.is_empty() { "no output".to_owned() } else { joined(&last) };
                Some(FailedComparison { expected: format!("a match of {}", name(pattern)), actual })
            }
            Expect::MatchesNot { pattern } if self.names(pattern, FOUND) => {
                let expected = format!("no match of {}", name(pattern));
                Some(FailedComparison { expected, actual: self.matching_lines(pattern) })
            }
            _ => None,
        }
    }

    /// Whether the fact is about this pattern.
    fn names(&self, pattern: &TextPattern, state: &str) -> bool {
        self.fact.strip_prefix(&name(pattern)).is_some_and(|rest| rest.starts_with(state))
    }

    /// The part of the fact after the pattern: `found in src/a.rs:3`.
    fn found_in(&self, pattern: &TextPattern) -> String {
        self.fact.strip_prefix(&name(pattern)).unwrap_or(&self.fact).trim().to_owned()
    }

    /// A match over several lines, or in the part that was not stored, has no line of its own.
    fn matching_lines(&self, pattern: &TextPattern) -> String {
        let regex = compiled(pattern);
        let is_match = |line: &&str| regex.as_ref().is_some_and(|it| it.is_match(line));
        let lines: Vec<&str> =
            self.head.lines().chain(self.tail.lines()).filter(is_match).take(LINES).collect();
        if lines.is_empty() { format!("a match of {}", name(pattern)) } else { joined(&lines) }
    }
}

const FOUND: &str = " found";
const NOT_FOUND: &str = " not found";

/// As in the fact.
fn name(pattern: &TextPattern) -> String {
    sanitize::line(&pattern.written())
}

fn in_files(word: &str, pattern: &TextPattern, globs: &[String], actual: String) -> FailedComparison {
    let files = sanitize::line(&globs.join(" "));
    FailedComparison { expected: format!("{word}{} in {files}", name(pattern)), actual }
}

fn joined(lines: &[&str]) -> String {
    let short: Vec<&str> = lines.iter().map(|it| truncate::first(it, LINE_BYTES)).collect();
    short.join("\n")
}
