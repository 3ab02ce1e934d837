//! Renders criteria as a list: symbol and state, name, fact. State is never shown by colour alone, and as text if the
//! terminal has no Unicode.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::builder::styling::Style;
use loopkeeper_core::check::{CheckResult, Location, Status};
use loopkeeper_text::{tr, truncate, words};
use loopkeeper_view::{CriteriaStatus, CriterionStatus};

use super::{DIM, FAILURE, Glyphs, SUCCESS, WARNING, padded};

/// Lines kept from the end of an output, which usually has the most important part.
const LAST_LINES: usize = 12;
const MAX_PLACES: usize = 5;
/// The widest of the words for a status, so that the names are in one column.
const STATUS_CELLS: usize = 10;

/// One line per criterion, in the order of the documents.
pub(crate) fn criteria(shown: &CriteriaStatus, glyphs: Glyphs) -> String {
    let mut text = String::new();
    for item in &shown.items {
        text.push_str(&line(item, glyphs, FactOfPass::Hidden));
        text.push('\n');
    }
    text
}

/// The same, with the locations of failures and the end of the output of checks that do not pass.
pub(crate) fn with_output<'a>(
    shown: &CriteriaStatus,
    results: impl IntoIterator<Item = &'a CheckResult>,
    glyphs: Glyphs,
) -> String {
    let by_criterion: BTreeMap<_, _> = results.into_iter().map(|it| (&it.criterion, it)).collect();
    let mut text = String::new();
    for item in &shown.items {
        let result = by_criterion.get(&item.id);
        let is_compared = result.is_some_and(|it| it.number.is_some());
        let fact = if is_compared { FactOfPass::Shown } else { FactOfPass::Hidden };
        let _ = writeln!(text, "{}", line(item, glyphs, fact));
        if let Some(result) = result.filter(|it| it.status != Status::Pass) {
            text.push_str(&format_failure(result));
        }
    }
    text
}

/// The locations where a check failed, and the last lines of its output.
fn format_failure(result: &CheckResult) -> String {
    let mut text = String::new();
    for place in places(result) {
        let _ = writeln!(text, "      {}", truncate_rows(&place));
    }
    for last in result.last_lines(LAST_LINES) {
        let _ = writeln!(text, "      {DIM}{}{DIM:#}", truncate_rows(last));
    }
    text
}

/// The locations, unless the last lines contain all of them.
fn places(result: &CheckResult) -> Vec<String> {
    let last = result.last_lines(LAST_LINES).join("\n");
    let is_shown = |it: &&Location| last.contains(&format!("{}:{}", it.file, it.line));
    if result.failures().iter().take(MAX_PLACES).all(is_shown) {
        return Vec::new();
    }
    result.failure_lines(MAX_PLACES, usize::MAX)
}

/// Truncates a line to a few rows.
fn truncate_rows(line: &str) -> Cow<'_, str> {
    const MAX_BYTES: usize = 240;
    if line.len() <= MAX_BYTES {
        line.into()
    } else {
        format!("{}…", truncate::first_bytes(line, MAX_BYTES)).into()
    }
}

/// A number that is compared with earlier rounds is of interest in a pass too.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FactOfPass {
    Shown,
    Hidden,
}

/// `✗ fail  all tests pass: 3 of 214 fail · 12 s`.
fn line(item: &CriterionStatus, glyphs: Glyphs, fact: FactOfPass) -> String {
    let (sign, word, style) = mark(item, glyphs);
    let mut text = format!("  {style}{sign} {}{style:#}  {}", padded(word, STATUS_CELLS), item.name);
    let shows_fact = item.status != Some(Status::Pass) || fact == FactOfPass::Shown;
    if !item.fact.is_empty() && shows_fact {
        text.push_str(&tr!(": {fact}", fact = item.fact));
    }
    if item.regressed {
        text.push_str(tr!(", passed before"));
    }
    if !item.required {
        text.push_str(tr!(" (optional)"));
    }
    if item.duration_ms > 0 {
        let dot = if glyphs == Glyphs::Unicode { '·' } else { '-' };
        let _ = write!(text, " {DIM}{dot} {}{DIM:#}", words::duration(item.duration_ms));
    }
    text
}

/// The word for a status.
pub(crate) fn status_word(status: Status) -> &'static str {
    match status {
        Status::Pass => tr!("pass"),
        Status::Fail => tr!("fail"),
        Status::TimedOut => tr!("timed-out"),
        Status::CouldNotRun => tr!("could-not-run"),
        Status::NoTestsRan => tr!("no-tests-ran"),
        Status::Unstable => tr!("unstable"),
        Status::Unverified => tr!("unverified"),
    }
}

fn mark(item: &CriterionStatus, glyphs: Glyphs) -> (&'static str, &'static str, Style) {
    let (unicode, ascii, word, style) = match item.status {
        Some(Status::Pass) => ("✓", "+", tr!("pass"), SUCCESS),
        Some(Status::Fail) if item.regressed => ("✗", "x", tr!("regressed"), FAILURE),
        Some(Status::Fail) => ("✗", "x", tr!("fail"), FAILURE),
        Some(Status::TimedOut) => ("✗", "x", tr!("timed out"), FAILURE),
        Some(Status::CouldNotRun) => ("!", "!", tr!("not run"), FAILURE),
        Some(Status::NoTestsRan) => ("✗", "x", tr!("no tests"), FAILURE),
        Some(Status::Unstable) => ("~", "~", tr!("unstable"), WARNING),
        Some(Status::Unverified) => ("?", "?", tr!("unverified"), WARNING),
        None => ("·", "-", tr!("not run"), DIM),
    };
    (if glyphs == Glyphs::Unicode { unicode } else { ascii }, word, style)
}

#[cfg(test)]
mod tests {
    use super::{FactOfPass, Glyphs, format_failure, line};
    use loopkeeper_core::check::{CheckResult, Location, Status};
    use loopkeeper_task::criterion::CriterionId;
    use loopkeeper_text::language::Language;
    use loopkeeper_view::{CriterionStatus, SourceRange};

    #[test]
    fn a_failure_shows_its_places_and_its_last_lines() {
        let check = |places: &[(u32, &str)], output: &str, expect: &[&str]| {
            let location = |(line, message): &(u32, &str)| Location {
                file: "a.rs".into(),
                line: *line,
                message: (*message).into(),
                ..Location::default()
            };
            let result = CheckResult {
                locations: places.iter().map(location).collect(),
                head: output.into(),
                ..CheckResult::new(CriterionId("a".into()), Status::Fail, "exit 1")
            };
            let plain = anstream::adapter::strip_str(&format_failure(&result)).to_string();
            let lines: Vec<_> = plain.lines().map(|it| it.strip_prefix("      ").unwrap()).collect();
            assert_eq!(lines, expect);
        };
        check(&[], "one\n\ntwo\n", &["one", "two"]);
        let long = "line\n".repeat(20);
        let last = ["line"; 12];
        check(&[(3, "no"), (9, "")], &long, &[&["a.rs:3: no", "a.rs:9"], &last[..]].concat());
        // Not printed twice.
        check(&[(3, "no")], "a.rs:3:5: no\n1 failed\n", &["a.rs:3:5: no", "1 failed"]);
        let wide = "x".repeat(1000);
        check(&[], &wide, &[&format!("{}…", &wide[..240])]);
    }

    #[test]
    fn every_status_reads_without_colour_and_without_unicode() {
        let check = |status: Option<Status>, fact: &str, expect: &str| {
            let item = CriterionStatus {
                id: CriterionId("a".into()),
                name: "lint".into(),
                required: true,
                role: None,
                status,
                fact: fact.into(),
                expected: None,
                actual: None,
                duration_ms: 2_000,
                regressed: false,
                ticked: None,
                stale: false,
                place: SourceRange::default(),
            };
            let plain =
                anstream::adapter::strip_str(&line(&item, Glyphs::Ascii, FactOfPass::Hidden)).to_string();
            assert_eq!(plain, expect);
        };
        check(Some(Status::Pass), "214 passed", "  + pass        lint - 2.0 s");
        check(Some(Status::Fail), "exit 1", "  x fail        lint: exit 1 - 2.0 s");
        check(
            Some(Status::TimedOut),
            "no result after 600 s",
            "  x timed out   lint: no result after 600 s - 2.0 s",
        );
        check(Some(Status::CouldNotRun), "exit 127", "  ! not run     lint: exit 127 - 2.0 s");
        check(Some(Status::NoTestsRan), "0 tests ran", "  x no tests    lint: 0 tests ran - 2.0 s");
        check(Some(Status::Unstable), "files changed", "  ~ unstable    lint: files changed - 2.0 s");
        check(Some(Status::Unverified), "", "  ? unverified  lint - 2.0 s");
        check(None, "", "  - not run     lint - 2.0 s");
        Language::SimplifiedChinese.during(|| {
            check(Some(Status::Pass), "214 passed", "  + 通过        lint - 2.0 秒");
            check(Some(Status::NoTestsRan), "没有测试", "  x 没有测试    lint：没有测试 - 2.0 秒");
        });
    }
}
