//! node's own runner, as TAP (`# tests 7`) and as spec (`ℹ tests 7`); tape and others that end TAP the same way.

use super::{TestCounts, sum};

pub(super) fn read(output: &str) -> Option<TestCounts> {
    let mut total: Option<TestCounts> = None;
    for (word, count) in output.lines().filter_map(entry) {
        let counts = match word {
            // A summary begins with it, and without it the other lines are arbitrary comments.
            "tests" => TestCounts::default(),
            "pass" => TestCounts { passed: count, ..TestCounts::default() },
            "fail" | "cancelled" => TestCounts { failed: count, ..TestCounts::default() },
            "skipped" | "todo" => TestCounts { skipped: count, ..TestCounts::default() },
            _ => continue,
        };
        if word == "tests" || total.is_some() {
            total = Some(total.map_or(counts, |it| sum(it, counts)));
        }
    }
    total
}

fn entry(line: &str) -> Option<(&str, u64)> {
    let rest = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ "))?;
    let (word, count) = rest.split_once(' ')?;
    Some((word, count.trim().parse().ok()?))
}
