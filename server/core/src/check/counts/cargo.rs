//! cargo test (`test result: ok. 5 passed; …`, one summary per binary) and cargo nextest (one in all).

use super::{TestCounts, parse_list, sum, sum_matching};

pub(super) fn read(output: &str) -> Option<TestCounts> {
    // nextest repeats the output of failing tests, and with it each test's own cargo summary.
    let all = |line: fn(&str) -> Option<TestCounts>| output.lines().filter_map(line).reduce(sum);
    all(nextest).or_else(|| all(libtest))
}

fn libtest(line: &str) -> Option<TestCounts> {
    let summary = line.strip_prefix("test result: ")?;
    let counts = summary.strip_prefix("ok. ").or_else(|| summary.strip_prefix("FAILED. "))?;
    let counts = counts.split_once("; finished in").map_or(counts, |(counts, _)| counts);
    let list = parse_list(counts, ';')?;
    Some(TestCounts {
        passed: sum_matching(&list, &["passed", "measured"]),
        failed: sum_matching(&list, &["failed"]),
        skipped: sum_matching(&list, &["ignored", "filtered"]),
    })
}

/// `Summary [ 0.060s] 4 tests run: 2 passed (1 slow), 2 failed, 1 skipped`; `2/4 tests run` after a cancel.
fn nextest(line: &str) -> Option<TestCounts> {
    let (_, summary) = line.trim_start().strip_prefix("Summary [")?.split_once(']')?;
    let (run, counts) = summary.split_once(": ")?;
    let run = run.trim().strip_suffix(" run")?;
    let run = run.strip_suffix(" tests").or_else(|| run.strip_suffix(" test"))?;
    let (run, all) = run.split_once('/').unwrap_or((run, run));
    let (run, all): (u64, u64) = (run.parse().ok()?, all.parse().ok()?);
    let plain = without_parentheses(counts);
    let list = parse_list(&plain, ',')?;
    let passed = sum_matching(&list, &["passed"]);
    let skipped = sum_matching(&list, &["skipped"]).saturating_add(all.saturating_sub(run));
    Some(TestCounts { passed, failed: run.saturating_sub(passed), skipped })
}

fn without_parentheses(text: &str) -> String {
    let mut depth = 0_u32;
    let outside = |c: &char| {
        match c {
            '(' => depth += 1,
            ')' => {
                depth = depth.saturating_sub(1);
                return false;
            }
            _ => {}
        }
        depth == 0
    };
    text.chars().filter(outside).collect()
}
