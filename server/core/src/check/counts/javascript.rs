//! jest (`Tests: 1 failed, 2 total`), vitest (`Tests  1 failed | 1 passed (2)`), mocha (`2 passing (4ms)`), ava (`2 tests
//! failed`, after a line) and Bun (` 2 pass`, before `Ran 2 tests across 1 file`).

use super::{TestCounts, parse_list, sum, sum_matching};

pub(super) fn read(output: &str) -> Option<TestCounts> {
    let mut total: Option<TestCounts> = [ava(output), bun(output)].into_iter().flatten().reduce(sum);
    let mut after_mocha = false;
    for line in output.lines() {
        let mocha = mocha(line, after_mocha);
        after_mocha = mocha.is_some();
        if let Some(counts) =
            mocha.or_else(|| jest(line)).or_else(|| vitest(line)).or_else(|| none_found(line))
        {
            total = Some(total.map_or(counts, |it| sum(it, counts)));
        }
    }
    total
}

fn jest(line: &str) -> Option<TestCounts> {
    let list = parse_list(line.strip_prefix("Tests: ")?, ',')?;
    list.iter().any(|it| it.1 == "total").then(|| TestCounts {
        passed: sum_matching(&list, &["passed"]),
        failed: sum_matching(&list, &["failed"]),
        skipped: sum_matching(&list, &["skipped", "todo"]),
    })
}

fn vitest(line: &str) -> Option<TestCounts> {
    let counts = line.trim_start().strip_prefix("Tests  ")?;
    if counts.trim() == "no tests" {
        return Some(TestCounts::default());
    }
    let (counts, all) = counts.rsplit_once(" (")?;
    all.trim_end().strip_suffix(')')?.parse::<u64>().ok()?;
    let list = parse_list(counts, '|')?;
    Some(TestCounts {
        passed: sum_matching(&list, &["passed"]),
        failed: sum_matching(&list, &["failed"]),
        skipped: sum_matching(&list, &["skipped", "todo", "expected fail"]),
    })
}

/// Three lines that follow each other; only the first identifies its runner, by the time at its end.
fn mocha(line: &str, after_mocha: bool) -> Option<TestCounts> {
    let (count, rest) = line.strip_prefix("  ")?.split_once(' ')?;
    let count = count.parse().ok()?;
    match rest.trim_end() {
        "pending" if after_mocha => Some(TestCounts { skipped: count, ..TestCounts::default() }),
        "failing" if after_mocha => Some(TestCounts { failed: count, ..TestCounts::default() }),
        it if it.starts_with("passing (") && it.ends_with(')') => {
            Some(TestCounts { passed: count, ..TestCounts::default() })
        }
        _ => None,
    }
}

/// The lines of one word each after the last line of dashes.
fn ava(output: &str) -> Option<TestCounts> {
    let (_, summary) = output.rsplit_once("\n  ─\n")?;
    let words = |line: &str| {
        let (count, rest) = line.strip_prefix("  ")?.split_once(' ')?;
        let (noun, word) = rest.trim_end().split_once(' ')?;
        matches!(noun, "test" | "tests" | "known").then_some((count.parse().ok()?, word.to_owned()))
    };
    let found: Vec<(u64, String)> = summary.lines().filter_map(words).collect();
    let list: Vec<(u64, &str)> = found.iter().map(|(count, word)| (*count, word.as_str())).collect();
    (!list.is_empty()).then(|| TestCounts {
        passed: sum_matching(&list, &["passed"]),
        failed: sum_matching(&list, &["failed"]),
        skipped: sum_matching(&list, &["skipped", "todo", "failure"]),
    })
}

fn bun(output: &str) -> Option<TestCounts> {
    let is_end = |it: &str| it.starts_with("Ran ") && it.contains(" across ") && it.contains(" file");
    if !output.lines().any(is_end) {
        return None;
    }
    let one = |line: &str| {
        let (count, word) = line.strip_prefix(' ')?.trim_end().split_once(' ')?;
        let count: u64 = count.parse().ok()?;
        Some(match word {
            "pass" => TestCounts { passed: count, ..TestCounts::default() },
            "fail" => TestCounts { failed: count, ..TestCounts::default() },
            "skip" | "todo" => TestCounts { skipped: count, ..TestCounts::default() },
            _ => return None,
        })
    };
    output.lines().filter_map(one).reduce(sum)
}

fn none_found(line: &str) -> Option<TestCounts> {
    let is_empty_run = line.starts_with("No tests found, exiting with code")
        || line.starts_with("No test files found, exiting with code");
    is_empty_run.then(TestCounts::default)
}
