//! The texts of an editor as users read them: every diagnostic, lens, hover and completion, recorded in
//! `tests/e2e/texts`. `UPDATE_EXPECT=1` rewrites the files for review.

mod diagnostics;
mod documents;
mod hovers;
mod lenses;
mod settings;

use std::fmt::Display;

use super::diagnostic::{Diagnostic, DiagnosticCode, RelatedTarget, Severity};
use super::fixture::World;

/// Titled sections of one file.
#[derive(Default)]
struct Transcript(String);

impl Transcript {
    fn section(&mut self, title: &str, body: impl Display) {
        let gap = if self.0.is_empty() { "" } else { "\n" };
        let body = body.to_string();
        self.0.extend([gap, "== ", title, "\n\n", body.trim_end(), "\n"]);
    }
}

/// The diagnostics of a task with their places.
fn shown(world: &World) -> String {
    let text = |file: &str| {
        let document = world.documents.iter().find(|it| it.path == file);
        document.expect("a document of the task").text.as_str()
    };
    let all = world.with_view(super::diagnostics);
    all.iter().map(|it| diagnostic(it, text(&it.place.file))).collect()
}

/// `file:line severity code: message`, and below it the text of its range and the related places.
fn diagnostic(it: &Diagnostic, text: &str) -> String {
    let range = it.place.range.clone();
    let line = text[..range.start].matches('\n').count() + 1;
    let severity = match it.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information => "information",
        Severity::Hint => "hint",
    };
    let faded = if it.stale { ", faded" } else { "" };
    let mut lines =
        vec![format!("{}:{line} {severity}{faded} {}", it.place.file, it.code.word()), it.message.clone()];
    lines.push(format!("at {}", excerpt(&text[range])));
    lines.extend(it.related.iter().map(|it| match &it.target {
        RelatedTarget::Source { file, line, .. } => format!("see {file}:{line}: {}", it.message),
        RelatedTarget::Output { .. } => format!("see the output: {}", it.message),
    }));
    lines.join("\n    ") + "\n"
}

/// The first line, and whether there are more.
fn excerpt(text: &str) -> String {
    let (first, rest) = text.split_once('\n').map_or((text, ""), |(first, rest)| (first, rest));
    if rest.trim().is_empty() { first.to_owned() } else { format!("{first} …") }
}

/// The files with diagnostics.
const RECORDED: [&str; 9] = [
    include_str!("../../../../tests/e2e/texts/diagnostics-at-work.txt"),
    include_str!("../../../../tests/e2e/texts/diagnostics-checks.txt"),
    include_str!("../../../../tests/e2e/texts/diagnostics-documents.txt"),
    include_str!("../../../../tests/e2e/texts/diagnostics-loops.txt"),
    include_str!("../../../../tests/e2e/texts/diagnostics-plans.txt"),
    include_str!("../../../../tests/e2e/texts/diagnostics-remarks.txt"),
    include_str!("../../../../tests/e2e/texts/diagnostics-results.txt"),
    include_str!("../../../../tests/e2e/texts/hovers-other-tools.txt"),
    include_str!("../../../../tests/e2e/texts/settings-mistakes.txt"),
];

/// Codes without a recorded message: two belong to lines of sources, one to a question of a running agent, one to keys
/// of later versions.
const NOT_RECORDED: [DiagnosticCode; 4] = [
    DiagnosticCode::Unnoticed,
    DiagnosticCode::HollowTest,
    DiagnosticCode::NeedsAnswer,
    DiagnosticCode::NotYetSupported,
];

#[test]
fn every_other_code_is_recorded() {
    for code in DiagnosticCode::ALL {
        let ends_line = format!(" {}\n", code.word());
        let is_recorded = RECORDED.iter().any(|it| it.contains(&ends_line));
        assert_eq!(is_recorded, !NOT_RECORDED.contains(&code), "{code:?}");
    }
}
