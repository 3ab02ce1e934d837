//! An item's reading as one line.

use crate::FindingCode;
use crate::blocks::{self, MarkdownBlock};
use crate::criterion::{Check, Expect, PatternKind, TextPattern};
use crate::grammar::{self, ItemFault, ItemMode, ParsedItem};
use crate::source::MarkdownSource;

/// Reads `item` as the one item of a list.
pub(super) fn shown(item: &str, mode: ItemMode) -> String {
    let document = format!("- {item}\n");
    let source = MarkdownSource::new(&document);
    let mut texts = blocks::parse_blocks(&source).into_iter().filter_map(|block| match block {
        MarkdownBlock::Item(item) => item.text,
        _ => None,
    });
    let Some(text) = texts.next() else { return "nothing".to_owned() };
    let item = grammar::parse_item(&text, mode);
    let mut line = vec![item.name.clone()];
    line.extend(item.check.as_ref().map(shown_check));
    line.extend(shown_attributes(&item));
    line.extend(item.faults.iter().map(|fault| shown_fault(fault, &source)));
    line.join(" | ")
}

fn shown_fault(fault: &ItemFault, source: &MarkdownSource<'_>) -> String {
    let code = match fault.code {
        FindingCode::BadCheck => "bad-check",
        FindingCode::NotACheck => "not-a-check",
        FindingCode::BadValue => "bad-value",
        other => panic!("the grammar does not find {other:?}"),
    };
    let fix = fault.fix.as_ref().map(|fix| format!(" => {fix}")).unwrap_or_default();
    format!("! {code} [{}]{fix}", source.slice(&fault.range))
}

fn shown_attributes(item: &ParsedItem) -> Option<String> {
    let attributes = &item.attributes;
    let mut shown = Vec::new();
    shown.extend(attributes.optional.then(|| "optional".to_owned()));
    shown.extend(attributes.timeout_ms.map(|ms| format!("timeout {ms}")));
    shown.extend(attributes.group.as_ref().map(|group| format!("group {group}")));
    shown.extend(attributes.stage.map(|stage| format!("stage {stage}")));
    shown.extend(item.number_rules.iter().map(|it| it.written()));
    (!shown.is_empty()).then(|| shown.join(" "))
}

fn shown_check(check: &Check) -> String {
    let with = |head: String, expect: &[Expect]| {
        expect.iter().fold(head, |line, expect| format!("{line} {}", shown_expect(expect)))
    };
    match check {
        Check::Command { command, expect } => with(format!("$ {command}"), expect),
        Check::Exists { globs } => format!("exists {globs:?}"),
        Check::Missing { globs } => format!("missing {globs:?}"),
        Check::Has { pattern, globs } => format!("has {} {globs:?}", shown_pattern(pattern)),
        Check::Lacks { pattern, globs } => format!("lacks {} {globs:?}", shown_pattern(pattern)),
        Check::Clean => "clean".to_owned(),
        Check::Get { url, expect } => with(format!("GET {url}"), expect),
        Check::Judge { of: None, .. } => "judge".to_owned(),
        Check::Judge { of: Some((needed, asked)), .. } => format!("judge {needed} of {asked}"),
    }
}

fn shown_expect(expect: &Expect) -> String {
    match expect {
        Expect::Number { compare, value } => {
            format!("[{} {value}]", compare.sign())
        }
        Expect::Matches { pattern } => format!("[{}]", shown_pattern(pattern)),
        Expect::MatchesNot { pattern } => format!("[!{}]", shown_pattern(pattern)),
        Expect::Exit { code } => format!("[exit {code}]"),
        Expect::Status { code } => format!("[status {code}]"),
    }
}

fn shown_pattern(pattern: &TextPattern) -> String {
    match pattern.kind {
        PatternKind::Literal => format!("{:?}", pattern.source),
        PatternKind::Regex => format!("/{}/", pattern.source),
        PatternKind::RegexIgnoreCase => format!("/{}/i", pattern.source),
    }
}
