//! Criteria as a list: sign and word, name, fact. Never by colour alone, and in words where there is no
//! Unicode.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::builder::styling::Style;
use loopkeeper_core::check::{CheckResult, Status};
use loopkeeper_core::view::{CriteriaStatus, CriterionStatus, words};

use super::{BAD, CARE, GOOD, Glyphs, QUIET};

/// One line a criterion, in the order of the documents.
pub(crate) fn criteria(shown: &CriteriaStatus, glyphs: Glyphs) -> String {
    let mut text = String::new();
    for item in &shown.items {
        text.push_str(&line(item, glyphs));
        text.push('\n');
    }
    text
}

/// The same, with what the checks that do not pass said last.
pub(crate) fn with_output<'a>(
    shown: &CriteriaStatus,
    results: impl IntoIterator<Item = &'a CheckResult>,
    glyphs: Glyphs,
) -> String {
    let told: BTreeMap<_, _> = results.into_iter().map(|it| (&it.criterion, it)).collect();
    let mut text = String::new();
    for item in &shown.items {
        let _ = writeln!(text, "{}", line(item, glyphs));
        let result = told.get(&item.id).filter(|it| it.status != Status::Pass);
        for said in result.map(|it| last_lines(it.output())).unwrap_or_default() {
            let _ = writeln!(text, "      {QUIET}{said}{QUIET:#}");
        }
    }
    text
}

/// What a reader needs first stands at the end of nearly every output.
fn last_lines(output: &str) -> Vec<&str> {
    const MOST: usize = 12;
    let lines: Vec<&str> = output.lines().map(str::trim_end).filter(|it| !it.is_empty()).collect();
    lines.get(lines.len().saturating_sub(MOST)..).unwrap_or_default().to_vec()
}

/// `✗ fail  all tests pass: 3 of 214 fail · 12 s`.
fn line(item: &CriterionStatus, glyphs: Glyphs) -> String {
    let (sign, word, style) = mark(item, glyphs);
    let mut text = format!("  {style}{sign} {word}{style:#}  {}", item.name);
    if !item.fact.is_empty() && item.status != Some(Status::Pass) {
        text.push_str(": ");
        text.push_str(&item.fact);
    }
    if item.regressed {
        text.push_str(", passed before");
    }
    if !item.required {
        text.push_str(" (optional)");
    }
    if item.duration_ms > 0 {
        let dot = if glyphs == Glyphs::Unicode { '·' } else { '-' };
        let _ = write!(text, " {QUIET}{dot} {}{QUIET:#}", words::duration(item.duration_ms));
    }
    text
}

fn mark(item: &CriterionStatus, glyphs: Glyphs) -> (&'static str, &'static str, Style) {
    let (unicode, ascii, word, style) = match item.status {
        Some(Status::Pass) => ("✓", "+", "pass      ", GOOD),
        Some(Status::Fail) if item.regressed => ("✗", "x", "regressed ", BAD),
        Some(Status::Fail) => ("✗", "x", "fail      ", BAD),
        Some(Status::TimedOut) => ("✗", "x", "timed out ", BAD),
        Some(Status::CouldNotRun) => ("!", "!", "not run   ", BAD),
        Some(Status::NoTestsRan) => ("✗", "x", "no tests  ", BAD),
        Some(Status::Unstable) => ("~", "~", "unstable  ", CARE),
        Some(Status::Unverified) => ("?", "?", "unverified", CARE),
        None => ("·", "-", "never run ", QUIET),
    };
    (if glyphs == Glyphs::Unicode { unicode } else { ascii }, word, style)
}

#[cfg(test)]
mod tests {
    use super::{Glyphs, line};
    use loopkeeper_core::check::Status;
    use loopkeeper_core::task::CriterionId;
    use loopkeeper_core::view::{CriterionStatus, Spot};

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
                duration_ms: 2_000,
                regressed: false,
                ticked: None,
                stale: false,
                place: Spot::default(),
            };
            let plain = anstream::adapter::strip_str(&line(&item, Glyphs::Ascii)).to_string();
            assert_eq!(plain, expect);
            assert!(plain.is_ascii());
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
        check(None, "", "  - never run   lint - 2.0 s");
    }
}
