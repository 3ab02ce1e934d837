//! Findings of the parser, each at its range.

use super::{Diagnostic, DiagnosticCode, Severity};
use crate::editor::{TaskView, message};
use loopkeeper_task::FindingCode;

/// The parser's diagnostics. Remarks on wording are included only while the document is open, because they are for its
/// author.
pub(super) fn finding_diagnostics(known: &TaskView<'_>) -> Vec<Diagnostic> {
    let worth_saying = |it: &Diagnostic| known.live || known.has_results() && it.severity != Severity::Hint;
    let findings = known.task.findings.iter().map(|it| {
        let (severity, code) = kind(it.code);
        Diagnostic::new(&it.place, severity, code, message::sentence(&it.message))
    });
    findings.filter(worth_saying).collect()
}

/// An error prevents the start of the task; a warning marks text that probably has an unintended meaning.
pub(in crate::editor) fn kind(code: FindingCode) -> (Severity, DiagnosticCode) {
    match code {
        FindingCode::BadCheck => (Severity::Error, DiagnosticCode::BadCheck),
        FindingCode::Syntax => (Severity::Error, DiagnosticCode::Syntax),
        FindingCode::NotACheck => (Severity::Warning, DiagnosticCode::NotACheck),
        FindingCode::NoCriteria => (Severity::Warning, DiagnosticCode::NoCriteria),
        FindingCode::BadPromise => (Severity::Warning, DiagnosticCode::BadPromise),
        FindingCode::UnknownKey => (Severity::Warning, DiagnosticCode::UnknownKey),
        FindingCode::BadValue => (Severity::Warning, DiagnosticCode::BadValue),
        FindingCode::Template => (Severity::Warning, DiagnosticCode::Template),
        FindingCode::InlineList => (Severity::Hint, DiagnosticCode::InlineList),
    }
}
