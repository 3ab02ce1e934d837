//! jest (`Tests: 1 failed, 2 total`), vitest (`Tests  1 failed | 1 passed (2)`) and mocha (`2 passing (4ms)`).

use super::{TestCounts, listed, sum, sum_matching};

pub(super) fn read(output: &str) -> Option<TestCounts> {
    let mut total: Option<TestCounts> = None;
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
    let list = listed(line.strip_prefix("Tests: ")?, ',')?;
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
    let list = listed(counts, '|')?;
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

fn none_found(line: &str) -> Option<TestCounts> {
    let is_empty_run = line.starts_with("No tests found, exiting with code")
        || line.starts_with("No test files found, exiting with code");
    is_empty_run.then(TestCounts::default)
}
