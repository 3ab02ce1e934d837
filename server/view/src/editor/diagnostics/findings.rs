//! What the parser found, each where it is written.

use super::{Diagnostic, DiagnosticCode, Severity};
use crate::editor::{TaskView, message};
use loopkeeper_task::FindingCode;

/// Remarks on wording only while the document is open: nobody else can use them.
pub(super) fn finding_diagnostics(known: &TaskView<'_>) -> Vec<Diagnostic> {
    let worth_saying = |it: &Diagnostic| known.live || known.has_results() && it.severity != Severity::Hint;
    let findings = known.task.findings.iter().map(|it| {
        let (severity, code) = kind(it.code);
        Diagnostic::new(&it.place, severity, code, message::sentence(&it.message))
    });
    findings.filter(worth_saying).collect()
}

/// An error keeps the task from starting, a warning is probably not what was meant.
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
