//! go test. With `-v` every test has its own line; without it only packages are named, and those are counted.

use super::{TestCounts, sum};

pub(super) fn read(output: &str) -> Option<TestCounts> {
    let packages = output.lines().filter_map(package).reduce(sum)?;
    let Some(tests) = output.lines().filter_map(test).reduce(sum).filter(|it| it.passed > 0) else {
        return Some(packages);
    };
    let unbuilt = output.lines().filter(|it| is_unbuilt(it)).count() as u64;
    Some(sum(tests, TestCounts { failed: unbuilt, ..TestCounts::default() }))
}

/// A top-level test of `-v`. Subtests are indented and belong to theirs.
fn test(line: &str) -> Option<TestCounts> {
    let one = |passed, failed, skipped| Some(TestCounts { passed, failed, skipped });
    match line.strip_prefix("--- ")?.split_once(": ")?.0 {
        "PASS" => one(1, 0, 0),
        "FAIL" => one(0, 1, 0),
        "SKIP" => one(0, 0, 1),
        _ => None,
    }
}

/// `ok <tab> package <tab> 0.003s`, `FAIL <tab> package <tab> 0.003s`, `? <tab> package <tab> [no test files]`.
fn package(line: &str) -> Option<TestCounts> {
    let counts = |passed, failed| Some(TestCounts { passed, failed, skipped: 0 });
    if is_unbuilt(line) {
        return counts(0, 1);
    }
    let mut fields = line.split('\t');
    let (verdict, _, state) = (fields.next()?.trim_end(), fields.next()?, fields.next()?);
    match verdict {
        "ok" if is_time(state) => counts(u64::from(!line.contains("[no tests to run]")), 0),
        "FAIL" if is_time(state) => counts(0, 1),
        "?" if state.starts_with("[no test files]") => counts(0, 0),
        _ => None,
    }
}

fn is_time(state: &str) -> bool {
    let word = state.split_whitespace().next().unwrap_or_default();
    word == "(cached)" || word.strip_suffix('s').is_some_and(|it| it.parse::<f64>().is_ok())
}

fn is_unbuilt(line: &str) -> bool {
    line.starts_with("FAIL\t") && (line.ends_with("[build failed]") || line.ends_with("[setup failed]"))
}
