//! What the parser found, each where it is written.

use super::{Code, Diagnostic, Severity};
use crate::task::FindingCode;
use crate::view::editor::{Known, said};

/// Remarks on wording only while the document is open: nobody else can use them.
pub(super) fn read(known: &Known<'_>) -> Vec<Diagnostic> {
    let worth_saying = |it: &Diagnostic| known.live || known.has_results() && it.severity != Severity::Hint;
    let findings = known.task.findings.iter().map(|it| {
        let (severity, code) = kind(it.code);
        Diagnostic::new(&it.place, severity, code, said::sentence(&it.message))
    });
    findings.filter(worth_saying).collect()
}

/// An error keeps the task from starting, a warning is probably not what was meant.
pub(in crate::view::editor) fn kind(code: FindingCode) -> (Severity, Code) {
    match code {
        FindingCode::BadCheck => (Severity::Error, Code::BadCheck),
        FindingCode::Syntax => (Severity::Error, Code::Syntax),
        FindingCode::NotACheck => (Severity::Warning, Code::NotACheck),
        FindingCode::NoCriteria => (Severity::Warning, Code::NoCriteria),
        FindingCode::BadPromise => (Severity::Warning, Code::BadPromise),
        FindingCode::UnknownKey => (Severity::Warning, Code::UnknownKey),
        FindingCode::BadValue => (Severity::Warning, Code::BadValue),
        FindingCode::Template => (Severity::Warning, Code::Template),
        FindingCode::InlineList => (Severity::Hint, Code::InlineList),
    }
}
