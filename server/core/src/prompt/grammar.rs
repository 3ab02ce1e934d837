//! Checks written back in the grammar of task documents.

use crate::task::{Check, Compare, Expect, Pattern, PatternKind};

use super::markdown::span;

/// A check in the grammar of task documents, as Markdown.
pub(super) fn described(check: &Check) -> String {
    spans(check).iter().map(|it| span(it)).collect::<Vec<_>>().join(" ")
}

/// The check, then what is expected of it, each without its backticks.
pub(crate) fn spans(check: &Check) -> Vec<String> {
    let (head, expect): (String, &[Expect]) = match check {
        Check::Command { command, expect } => (format!("$ {command}"), expect),
        Check::Get { url, expect } => (format!("GET {url}"), expect),
        Check::Exists { globs } => (format!("exists {}", globs.join(" ")), &[]),
        Check::Missing { globs } => (format!("missing {}", globs.join(" ")), &[]),
        Check::Has { pattern, globs } => (format!("has {} {}", written(pattern), globs.join(" ")), &[]),
        Check::Lacks { pattern, globs } => (format!("lacks {} {}", written(pattern), globs.join(" ")), &[]),
        Check::Clean => ("clean".to_owned(), &[]),
        Check::Judge { of: None, .. } => ("judge".to_owned(), &[]),
        Check::Judge { of: Some((n, m)), .. } => (format!("judge {n} of {m}"), &[]),
    };
    std::iter::once(head).chain(expect.iter().map(expected)).collect()
}

fn expected(expect: &Expect) -> String {
    match expect {
        Expect::Number { compare, value } => format!("{} {value}", sign(*compare)),
        Expect::Matches { pattern } => written(pattern),
        Expect::MatchesNot { pattern } => format!("!{}", written(pattern)),
        Expect::Exit { code } => format!("exit {code}"),
        Expect::Status { code } => code.to_string(),
    }
}

fn sign(compare: Compare) -> &'static str {
    match compare {
        Compare::Equal => "==",
        Compare::NotEqual => "!=",
        Compare::AtLeast => ">=",
        Compare::AtMost => "<=",
        Compare::Above => ">",
        Compare::Below => "<",
    }
}

pub(crate) fn written(pattern: &Pattern) -> String {
    let source = &pattern.source;
    match pattern.kind {
        PatternKind::Literal => format!("\"{}\"", source.replace('\\', "\\\\").replace('"', "\\\"")),
        PatternKind::Regex => format!("/{}/", source.replace('/', "\\/")),
        PatternKind::RegexIgnoreCase => format!("/{}/i", source.replace('/', "\\/")),
    }
}
