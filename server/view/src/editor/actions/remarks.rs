//! Quick fixes for remarks on criteria: edits that write a better line.

use super::{EditorAction, QUICKFIX, QuickFix, TextEdit};
use crate::editor::diagnostics::remarks::severity_and_code;
use crate::editor::{DiagnosticCode, TaskView};
use loopkeeper_lint::{self as lint, LintFix, ProjectCommand};
use loopkeeper_text::{DocumentRange, sanitize};

const TITLE_CHARS: usize = 80;

/// The fixes of the criteria that `here` selects.
pub(super) fn fixes(
    view: &TaskView<'_>,
    project: &[ProjectCommand],
    here: &impl Fn(&DocumentRange) -> bool,
) -> Vec<EditorAction> {
    let (task, documents) = (view.task, view.documents);
    let mut all = Vec::new();
    let at = |index: usize| task.criteria.get(index).is_some_and(|it| here(&it.place));
    for lint in view.task_lints().lints.iter().filter(|it| at(it.criterion)) {
        let (_, code) = severity_and_code(lint.code);
        let fixes = lint::fixes(task, documents, project, lint);
        all.extend(fixes.into_iter().enumerate().map(|(nth, it)| action(it, (&lint.place, code), nth == 0)));
    }
    for (index, criterion) in task.criteria.iter().enumerate().filter(|(_, it)| here(&it.place)) {
        let fixes = lint::check_fixes(task, documents, project, index);
        let fixed = (&criterion.place, DiagnosticCode::Unverified);
        all.extend(fixes.into_iter().map(|it| action(it, fixed, true)));
    }
    all
}

fn action(fix: LintFix, (place, code): (&DocumentRange, DiagnosticCode), preferred: bool) -> EditorAction {
    EditorAction {
        kind: QUICKFIX,
        title: sanitize::line_within(&fix.title, TITLE_CHARS),
        fix: QuickFix::Edits(vec![TextEdit { place: fix.place, text: fix.text }]),
        fixes: Some((place.clone(), code)),
        preferred,
    }
}
