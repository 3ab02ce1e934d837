//! Caches the diagnostics of each task until one of their inputs changes: a keystroke in one document costs nothing
//! for the other tasks.

use std::path::PathBuf;
use std::sync::Arc;

use super::{DiagnosticsByUri, DiagnosticsContext};
use crate::documents::Document;
use loopkeeper_workspace::WorkspaceSnapshot;
use loopkeeper_workspace::snapshot::TaskSnapshot;

#[derive(Default)]
pub(super) struct DiagnosticsCache {
    /// Cached parts in the order of the last snapshot's tasks, which seldom changes.
    parts: Vec<CachedDiagnostics>,
}

struct CachedDiagnostics {
    task: Arc<TaskSnapshot>,
    /// The documents that the diagnostics are in, as they were open in the editor.
    open: Vec<(PathBuf, Option<Arc<Document>>)>,
    made: DiagnosticsByUri,
}

impl DiagnosticsCache {
    /// Collects the diagnostics of all tasks; recomputes only those with changed inputs.
    pub(super) fn collect_diagnostics(
        &mut self,
        snapshot: &WorkspaceSnapshot,
        context: &DiagnosticsContext,
    ) -> DiagnosticsByUri {
        let mut all = DiagnosticsByUri::default();
        let mut before = std::mem::take(&mut self.parts).into_iter();
        for task in &snapshot.tasks {
            let part = before.next().filter(|it| it.is_current(task, context));
            let part = part.unwrap_or_else(|| CachedDiagnostics::of(snapshot, task, context));
            all.merge_part(&part.made);
            self.parts.push(part);
        }
        all
    }
}

impl CachedDiagnostics {
    fn of(snapshot: &WorkspaceSnapshot, task: &Arc<TaskSnapshot>, context: &DiagnosticsContext) -> Self {
        let made = DiagnosticsByUri::of_task(snapshot, task, context);
        let open = made.dependencies.iter().map(|it| (it.clone(), context.open.get(it).cloned())).collect();
        Self { task: Arc::clone(task), open, made }
    }

    fn is_current(&self, task: &Arc<TaskSnapshot>, context: &DiagnosticsContext) -> bool {
        let same = |(path, before): &(PathBuf, Option<Arc<Document>>)| match (before, context.open.get(path))
        {
            (Some(before), Some(now)) => Arc::ptr_eq(before, now),
            (None, None) => true,
            _ => false,
        };
        Arc::ptr_eq(&self.task, task) && self.open.iter().all(same)
    }
}
