//! Counts the tests that a runner reports: the sum over all summaries in an output. One file per runner below.
//! Counts never make a pass: they detect a run in which nothing was tested or something failed, and describe a failure.

mod cargo;
mod go;
mod javascript;
mod node;
mod one_line;
mod python;
mod tap;
#[cfg(test)]
mod tests;

use super::TestCounts;
use loopkeeper_text::pattern::ConstantPattern;

#[cfg(test)]
pub(crate) use tests::{fixture, fixtures};

/// `None` when no summary of a known runner is in `output` (both streams, escape sequences stripped).
pub fn read(output: &str) -> Option<TestCounts> {
    let readers = [
        cargo::read,
        python::pytest,
        python::unittest,
        node::read,
        javascript::read,
        go::read,
        one_line::read,
    ];
    readers.into_iter().filter_map(|read| read(output)).reduce(sum).or_else(|| tap::read(output))
}

/// Whether a command is only a runner that prints its counts in every run, so that one without any was cut
/// short.
pub(crate) fn always_prints_counts(command: &str) -> bool {
    static RUNNER: ConstantPattern = ConstantPattern::new(
        r"(?x)^(?:cd\s+\S+\s*&&\s*)?(?:\w+=\S*\s+)*(?:
            python[\d.]*\s+-m\s+(?:unittest|pytest) | pytest | cargo\s+test | node\s+--test | prove
            | (?:uv\s+run|poetry\s+run|hatch\s+run|pdm\s+run)\s+pytest
            | (?:bundle\s+exec\s+)?(?:\./?bin/)?rspec | (?:\./)?(?:vendor/bin/)?phpunit
            | (?:(?:npx|bunx|pnpm|yarn|(?:npm|pnpm|bun)\s+exec)\s+)?(?:jest|vitest|mocha|ava)
            | (?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:t|test(?:[:-]\w+)*)
            | (?:mvn|\./mvnw)\s(?:[^|;&<>]*\s)?(?:test|verify) | dotnet\s+test | mix\s+test | ctest | deno\s+test | busted
            | (?:sh|bash|dash|lua[\d.]*|tclsh[\d.]*|python[\d.]*|node|ruby|perl|php)\s+\w[\w./-]*
        )(?:\s[^|;&<>]*)?$",
    );
    const QUIET_FLAGS: [&str; 11] = [
        "-qq",
        "--no-run",
        "--list",
        "--collect-only",
        "--co",
        "--help",
        "-h",
        "--silent",
        "--quiet",
        "-Q",
        "--listTests",
    ];
    RUNNER.is_match(command.trim()) && !command.split_whitespace().any(|it| QUIET_FLAGS.contains(&it))
}

impl TestCounts {
    /// Tests that ran; skipped and filtered ones did not.
    pub fn ran(self) -> u64 {
        self.passed.saturating_add(self.failed)
    }
}

fn sum(left: TestCounts, right: TestCounts) -> TestCounts {
    TestCounts {
        passed: left.passed.saturating_add(right.passed),
        failed: left.failed.saturating_add(right.failed),
        skipped: left.skipped.saturating_add(right.skipped),
    }
}

/// Counts in a list like `2 failed, 1 passed, 1 skipped`; `None` when a part is of another form.
fn parse_list(list: &str, separator: char) -> Option<Vec<(u64, &str)>> {
    list.split(separator)
        .map(|it| {
            let (count, word) = it.trim().split_once(' ')?;
            Some((count.parse().ok()?, word.trim()))
        })
        .collect()
}

/// The sum of the counts whose word begins with one of `words`.
fn sum_matching(list: &[(u64, &str)], words: &[&str]) -> u64 {
    let wanted = |word: &str| words.iter().any(|it| word.starts_with(it));
    list.iter().filter(|(_, word)| wanted(word)).fold(0, |total, (count, _)| total.saturating_add(*count))
}
