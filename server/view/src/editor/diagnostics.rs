//! Diagnostics of a task's documents, and copies of failures for the source files that they name.
//!
//! Two rules: messages depend on results and never on the clock, so that they neither flicker nor are read out again;
//! the severity expresses who must act.

mod criteria;
pub(super) mod findings;
mod limit;
mod mutants;
mod plan;
pub(super) mod remarks;
mod sources;
#[cfg(test)]
mod tests;

pub(super) use self::limit::limit;
pub use self::mutants::{SourceHint, source_hints};
pub use self::sources::source_failures;
use std::collections::BTreeMap;

use super::diagnostic::{Diagnostic, DiagnosticCode};
use super::{TaskView, TrustState, summary, weakened};
use loopkeeper_lint::LintCache;
use loopkeeper_task::{Task, TaskDocument};

/// All diagnostics of the task, ordered by document and line.
pub fn diagnostics(view: &TaskView<'_>) -> Vec<Diagnostic> {
    let mut all = summary::diagnostics(view);
    all.extend(findings::finding_diagnostics(view));
    let remarks = remarks::Remarks::of(view);
    all.extend(criteria::criteria_diagnostics(view, &remarks));
    all.extend(remarks.diagnostics);
    all.extend(plan::plan_diagnostics(view));
    all.extend(weakened::diagnostics(view));
    all.retain(|it| view.document(&it.place.file).is_some());
    let position = |file: &str| view.documents.iter().position(|it| it.path == file);
    all.sort_by_cached_key(|it| (position(&it.place.file), it.place.range.start, it.code));
    limit(all)
}

/// Diagnostics that need no results: errors, remarks, criteria without a check.
pub fn remarks(task: &Task, documents: &[TaskDocument]) -> Vec<Diagnostic> {
    let view = TaskView {
        reference: "",
        task,
        documents,
        status: None,
        state: None,
        results: &BTreeMap::new(),
        checking: false,
        trust: TrustState::default(),
        live: true,
        strays: &[],
        leftovers: &[],
        lints: &LintCache::default(),
    };
    let of_results = [DiagnosticCode::Summary, DiagnosticCode::NeverRun];
    diagnostics(&view).into_iter().filter(|it| !of_results.contains(&it.code)).collect()
}
