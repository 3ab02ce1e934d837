//! Findings of the parser, each at its range.

use super::limit::MessageBudget;
use crate::editor::diagnostic::{Diagnostic, DiagnosticCode, Severity};
use crate::editor::{TaskView, message};
use loopkeeper_task::{Finding, FindingCode};

/// The parser's diagnostics. Remarks on wording are included only while the document is open, because they are for its
/// author.
pub(super) fn finding_diagnostics(view: &TaskView<'_>) -> Vec<Diagnostic> {
    let has_results = view.has_results();
    let worth_saying = |severity| view.live || has_results && severity != Severity::Hint;
    let mut findings: Vec<&Finding> = view.task.findings.iter().collect();
    findings.sort_by_key(|it| it.place.range.start);
    let mut budget = MessageBudget::default();
    let mut all = Vec::new();
    for finding in findings {
        let (severity, code) = severity_and_code(finding.code);
        if worth_saying(severity) {
            let has_room = budget.has_room(&finding.place, severity);
            let message = if has_room { message::sentence(&finding.message) } else { String::new() };
            all.push(Diagnostic::new(&finding.place, severity, code, message));
        }
    }
    all
}

/// An error prevents the start of the task; a warning marks text that probably has an unintended meaning.
pub(in crate::editor) fn severity_and_code(code: FindingCode) -> (Severity, DiagnosticCode) {
    match code {
        FindingCode::BadCheck => (Severity::Error, DiagnosticCode::BadCheck),
        FindingCode::Syntax => (Severity::Error, DiagnosticCode::Syntax),
        FindingCode::NotACheck => (Severity::Warning, DiagnosticCode::NotACheck),
        FindingCode::NoCriteria => (Severity::Warning, DiagnosticCode::NoCriteria),
        FindingCode::BadPromise => (Severity::Warning, DiagnosticCode::BadPromise),
        FindingCode::UnknownKey => (Severity::Warning, DiagnosticCode::UnknownKey),
        FindingCode::BadValue => (Severity::Warning, DiagnosticCode::BadValue),
        FindingCode::Template => (Severity::Warning, DiagnosticCode::Template),
        FindingCode::UnsupportedKeys => (Severity::Information, DiagnosticCode::UnsupportedKeys),
        FindingCode::InlineList => (Severity::Hint, DiagnosticCode::InlineList),
    }
}
