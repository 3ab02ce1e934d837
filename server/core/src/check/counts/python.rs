//! pytest (`2 failed, 1 passed in 0.02s`, framed or not) and unittest (`Ran 5 tests in 0.000s`, then the verdict).

use super::{TestCounts, parse_list, sum, sum_matching};

const PYTEST_WORDS: [&str; 12] = [
    "failed",
    "passed",
    "skipped",
    "deselected",
    "xfailed",
    "xpassed",
    "warning",
    "warnings",
    "error",
    "errors",
    "rerun",
    "subtests",
];

pub(super) fn pytest(output: &str) -> Option<TestCounts> {
    output.lines().filter_map(pytest_line).reduce(sum)
}

fn pytest_line(line: &str) -> Option<TestCounts> {
    let line = line.trim_matches(|c| c == '=' || c == ' ');
    let (counts, time) = line.rsplit_once(" in ")?;
    let seconds = time.split_whitespace().next()?.strip_suffix('s')?;
    seconds.parse::<f64>().ok()?;
    if counts == "no tests ran" {
        return Some(TestCounts::default());
    }
    let list = parse_list(counts, ',')?;
    let known = |word: &str| word.split(' ').next().is_some_and(|it| PYTEST_WORDS.contains(&it));
    list.iter().all(|(_, word)| known(word)).then(|| TestCounts {
        passed: sum_matching(&list, &["passed", "xpassed"]),
        failed: sum_matching(&list, &["failed", "error"]),
        // A mark that a test is expected to fail would make any failure count as a pass.
        skipped: sum_matching(&list, &["skipped", "deselected", "xfailed"]),
    })
}

pub(super) fn unittest(output: &str) -> Option<TestCounts> {
    let mut total = None;
    let mut ran = None;
    for line in output.lines() {
        if let Some(count) = unittest_ran(line) {
            ran = Some(count);
        } else if let Some(counts) = ran.and_then(|it| verdict(line, it)) {
            total = Some(total.map_or(counts, |it| sum(it, counts)));
            ran = None;
        }
    }
    total
}

fn unittest_ran(line: &str) -> Option<u64> {
    let (count, rest) = line.strip_prefix("Ran ")?.split_once(' ')?;
    let rest = rest.strip_prefix("tests in ").or_else(|| rest.strip_prefix("test in "))?;
    rest.strip_suffix('s')?.parse::<f64>().ok().and_then(|_| count.parse().ok())
}

/// `OK`, `OK (skipped=1)`, `FAILED (failures=1, errors=1)`, `NO TESTS RAN`.
fn verdict(line: &str, ran: u64) -> Option<TestCounts> {
    let rest = ["OK", "FAILED", "NO TESTS RAN"].iter().find_map(|it| line.strip_prefix(it))?;
    let of = |name: &str| -> u64 {
        let parts = rest.trim().trim_start_matches('(').trim_end_matches(')').split(", ");
        parts
            .filter_map(|it| it.split_once('='))
            .find(|it| it.0 == name)
            .map_or(0, |it| it.1.parse().unwrap_or(0))
    };
    let skipped = of("skipped").saturating_add(of("expected failures")).min(ran);
    let failed = of("failures").saturating_add(of("errors")).saturating_add(of("unexpected successes"));
    let known = rest.is_empty() || rest.starts_with(" (");
    known.then(|| TestCounts { passed: ran.saturating_sub(skipped).saturating_sub(failed), failed, skipped })
}
