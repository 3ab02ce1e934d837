//! Counts the tests in JUnit's XML, as far as runners agree on it: test cases, and what is inside of them. A scanner
//! for tags is sufficient: entities and attributes do not affect the counts.

use crate::check::TestCounts;

/// What a report contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct JunitReport {
    pub(super) cases: TestCounts,
    pub(super) suites: u64,
}

/// `None` if the report is incomplete.
pub(super) fn read(text: &str) -> Option<JunitReport> {
    let mut scanner = XmlScanner { rest: text, is_broken: false };
    let mut report = JunitReport::default();
    let mut case: Option<TestOutcome> = None;
    let mut depth = 0_u32;
    let mut is_report = false;
    while let Some(tag) = scanner.next_tag() {
        let name = tag.trim_start_matches('/').split(|c: char| c.is_whitespace() || c == '/').next()?;
        let (closes, is_empty) = (tag.starts_with('/'), tag.ends_with('/'));
        match name {
            "testsuites" => is_report = true,
            "testsuite" if !closes => (is_report, report.suites) = (true, report.suites + 1),
            "testcase" if !closes => case = Some(TestOutcome::Passed),
            "failure" | "error" if !closes => case = case.map(|_| TestOutcome::Failed),
            "skipped" if !closes && case == Some(TestOutcome::Passed) => case = Some(TestOutcome::Skipped),
            _ => {}
        }
        if name == "testcase" && (closes || is_empty) {
            case.take()?.count(&mut report.cases);
        }
        depth = match (closes, is_empty) {
            (true, _) => depth.checked_sub(1)?,
            (false, true) => depth,
            (false, false) => depth + 1,
        };
    }
    (is_report && !scanner.is_broken && depth == 0 && case.is_none()).then_some(report)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TestOutcome {
    Passed,
    Failed,
    Skipped,
}

impl TestOutcome {
    fn count(self, counts: &mut TestCounts) {
        let count = match self {
            Self::Passed => &mut counts.passed,
            Self::Failed => &mut counts.failed,
            Self::Skipped => &mut counts.skipped,
        };
        *count = count.saturating_add(1);
    }
}

struct XmlScanner<'a> {
    rest: &'a str,
    /// A tag, comment or section does not end.
    is_broken: bool,
}

impl<'a> XmlScanner<'a> {
    /// The inside of the next tag.
    fn next_tag(&mut self) -> Option<&'a str> {
        const SKIPPED: [(&str, &str); 4] = [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>"), ("!", ">")];
        loop {
            let (_, rest) = self.rest.split_once('<')?;
            self.is_broken = true;
            if let Some((open, close)) = SKIPPED.iter().find(|(open, _)| rest.starts_with(open)) {
                self.rest = rest.get(open.len()..)?.split_once(close)?.1;
                self.is_broken = false;
                continue;
            }
            let end = end_of_tag(rest)?;
            self.rest = rest.get(end + 1..)?;
            self.is_broken = false;
            return rest.get(..end);
        }
    }
}

/// The position of the `>` that is not inside an attribute's value.
fn end_of_tag(text: &str) -> Option<usize> {
    let mut quote = None;
    text.bytes().position(|byte| {
        match quote {
            Some(open) if open == byte => quote = None,
            None if matches!(byte, b'"' | b'\'') => quote = Some(byte),
            None => return byte == b'>',
            Some(_) => {}
        }
        false
    })
}
