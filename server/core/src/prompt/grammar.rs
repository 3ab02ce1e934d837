//! Formats checks in the grammar of task documents.

use loopkeeper_task::criterion::{Check, Criterion, Expect, NumberRule};

use super::markdown::code_span;

/// The check of a criterion with all that its result is compared with, as Markdown.
pub(super) fn format_criterion(criterion: &Criterion, check: &Check) -> String {
    let rules = criterion.number_rules.iter().map(|it| match it {
        NumberRule::Baseline { .. } => code_span(&it.written()),
        NumberRule::Rising | NumberRule::NotFalling => it.written(),
    });
    std::iter::once(format_check(check)).chain(rules).collect::<Vec<_>>().join(" ")
}

/// A check in the grammar of task documents, as Markdown.
pub(super) fn format_check(check: &Check) -> String {
    check_spans(check).iter().map(|it| code_span(it)).collect::<Vec<_>>().join(" ")
}

/// The check, then what is expected of it, each without its backticks.
pub fn check_spans(check: &Check) -> Vec<String> {
    let (head, expect): (String, &[Expect]) = match check {
        Check::Command { command, expect } => (format!("$ {command}"), expect),
        Check::Get { url, expect } => (format!("GET {url}"), expect),
        Check::Exists { globs } => (format!("exists {}", globs.join(" ")), &[]),
        Check::Missing { globs } => (format!("missing {}", globs.join(" ")), &[]),
        Check::Has { pattern, globs } => (format!("has {} {}", pattern.written(), globs.join(" ")), &[]),
        Check::Lacks { pattern, globs } => (format!("lacks {} {}", pattern.written(), globs.join(" ")), &[]),
        Check::Clean => ("clean".to_owned(), &[]),
        Check::Judge { of: None, .. } => ("judge".to_owned(), &[]),
        Check::Judge { of: Some((n, m)), .. } => (format!("judge {n} of {m}"), &[]),
    };
    std::iter::once(head).chain(expect.iter().map(format_expectation)).collect()
}

fn format_expectation(expect: &Expect) -> String {
    match expect {
        Expect::Number { compare, value } => format!("{} {value}", compare.sign()),
        Expect::Matches { pattern } => pattern.written(),
        Expect::MatchesNot { pattern } => format!("!{}", pattern.written()),
        Expect::Exit { code } => format!("exit {code}"),
        Expect::Status { code } => code.to_string(),
    }
}
