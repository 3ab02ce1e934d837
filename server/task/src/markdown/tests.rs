//! Markdown documents as tables: the text, and its outline.

mod documents;
mod sections;
mod unread;

use super::{DocumentRole, parse_markdown};
use crate::criterion::Check;
use crate::outline::TaskOutline;
use crate::{Finding, FindingCode};

/// The outline of a prompt document, one line per criterion and finding.
fn shown(text: &str) -> Vec<String> {
    let outline = parse_markdown("PROMPT.md", text, DocumentRole::Prompt);
    let mut lines = criteria(&outline, text);
    lines.extend(outline.findings.iter().map(|finding| shown_finding(finding, text)));
    lines
}

fn criteria(outline: &TaskOutline, text: &str) -> Vec<String> {
    let criteria = outline.criteria.iter().map(|draft| {
        let criterion = &draft.criterion;
        let ticked = match criterion.ticked {
            Some(true) => "[x] ",
            Some(false) => "[ ] ",
            None => "",
        };
        let check = match &criterion.check {
            Some(Check::Command { command, .. }) => format!(" | $ {command}"),
            Some(other) => format!(" | {other:?}"),
            None => String::new(),
        };
        let optional = if criterion.required { "" } else { " (optional)" };
        assert!(text.get(criterion.place.range.clone()).is_some(), "{criterion:?}");
        format!("{ticked}{}{check}{optional}", criterion.name)
    });
    criteria.collect()
}

fn shown_finding(finding: &Finding, text: &str) -> String {
    let slice = text.get(finding.place.range.clone()).unwrap();
    assert!(finding.message.chars().count() <= 100, "{}", finding.message);
    let code = match finding.code {
        FindingCode::BadCheck => "bad-check",
        FindingCode::NotACheck => "not-a-check",
        FindingCode::NoCriteria => "no-criteria",
        FindingCode::InlineList => "inline-list",
        FindingCode::BadPromise => "bad-promise",
        FindingCode::Syntax => "syntax",
        FindingCode::BadValue => "bad-value",
        FindingCode::UnknownKey => "unknown-key",
        FindingCode::Template => "template",
        FindingCode::UnsupportedKeys => "left-aside",
    };
    let fix = finding.fix.as_ref().map(|fix| format!(" => {fix}")).unwrap_or_default();
    format!("! {code} [{slice}]{fix}")
}

#[track_caller]
fn check(text: &str, expect: &[&str]) {
    assert_eq!(shown(text), expect, "in:\n{text}");
    let crlf = text.replace('\n', "\r\n");
    let marked = format!("\u{feff}---\nagent: x\n---\n{text}");
    for variant in [crlf, marked] {
        let lines: Vec<String> = shown(&variant).iter().map(|line| line.replace("\r\n", "\n")).collect();
        assert_eq!(lines, expect, "in:\n{variant:?}");
    }
}
