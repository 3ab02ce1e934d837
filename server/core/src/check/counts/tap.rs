//! Plain TAP, of bats and others: a plan `1..3`, and a line for each test. Subtests are indented and not counted.

use super::TestCounts;

/// `None` without a plan. Only for an output without another summary: many runners print TAP and a summary.
pub(super) fn read(output: &str) -> Option<TestCounts> {
    let is_plan = |line: &str| {
        let last = line.strip_prefix("1..").map(|it| it.split(" #").next().unwrap_or(it).trim());
        last.is_some_and(|it| it.parse::<u64>().is_ok())
    };
    if !output.lines().any(is_plan) {
        return None;
    }
    let mut counts = TestCounts::default();
    for line in output.lines() {
        let (is_passed, rest) = match (line.strip_prefix("ok "), line.strip_prefix("not ok ")) {
            (Some(rest), _) => (true, rest),
            (_, Some(rest)) => (false, rest),
            _ => continue,
        };
        if !rest.starts_with(|it: char| it.is_ascii_digit()) {
            continue;
        }
        let directive = rest.rsplit_once("# ").map_or("", |it| it.1).to_ascii_lowercase();
        let count = match (["skip", "todo"].iter().any(|it| directive.starts_with(it)), is_passed) {
            (true, _) => &mut counts.skipped,
            (false, true) => &mut counts.passed,
            (false, false) => &mut counts.failed,
        };
        *count = count.saturating_add(1);
    }
    Some(counts)
}
