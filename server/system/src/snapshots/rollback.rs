//! Restores the work tree to a snapshot, and previews that.

use std::time::Duration;

use super::SnapshotStore;
use super::compare::{self, TreeChange};
use super::error::{Result, SnapshotError};
use super::names;
use super::restore::{self, RestoreReport, RestoreScope};
use super::state::{self, StoreLock};
use super::tree::{TreeItem, TreeItemKind};

/// A client waits for its rollback.
const LOCK_TIMEOUT: Duration = Duration::from_secs(20);

/// What a restore would change: paths in display form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RestorePreview {
    /// A snapshot of the current tree.
    pub before: String,
    pub written: Vec<String>,
    pub removed: Vec<String>,
    /// The subset whose current bytes would be lost.
    pub replaced: Vec<String>,
}

impl SnapshotStore {
    /// Restores the tree to snapshot `target`, or only `paths` of it (files or folders, as [`Self::changed_paths`]
    /// names them). Takes a snapshot of the current tree first. May be killed at any point and run again.
    pub fn restore(&mut self, target: &str, paths: Option<&[String]>) -> Result<RestoreReport> {
        self.restore_scope(target, paths.map_or(RestoreScope::All, RestoreScope::Paths))
    }

    /// Like [`Self::restore`] for the paths that differ between the snapshots `since` and `target`.
    pub fn restore_since(&mut self, target: &str, since: &str) -> Result<RestoreReport> {
        let scope = self.scope_since(target, since)?;
        self.restore_scope(target, scope)
    }

    fn scope_since(&self, target: &str, since: &str) -> Result<RestoreScope<'static>> {
        let (since, target) = (self.objects.resolve_snapshot(since)?, self.objects.resolve_snapshot(target)?);
        let changes = compare::diff_trees(&self.objects, since, target)?;
        Ok(RestoreScope::Exactly(changes.into_iter().map(|it| it.path).collect()))
    }

    /// Previews [`Self::restore`].
    pub fn restore_preview(&mut self, target: &str, paths: Option<&[String]>) -> Result<RestorePreview> {
        self.preview(target, &paths.map_or(RestoreScope::All, RestoreScope::Paths))
    }

    /// Previews [`Self::restore_since`].
    pub fn restore_since_preview(&mut self, target: &str, since: &str) -> Result<RestorePreview> {
        let scope = self.scope_since(target, since)?;
        self.preview(target, &scope)
    }

    fn preview(&mut self, target: &str, scope: &RestoreScope<'_>) -> Result<RestorePreview> {
        let before = self.take_snapshot()?.tree;
        let changes = compare::diff_trees(
            &self.objects,
            self.objects.resolve_snapshot(&before)?,
            self.objects.resolve_snapshot(target)?,
        )?;
        let is_marker = |it: Option<TreeItem>| it.is_some_and(|it| it.kind == TreeItemKind::Marker);
        let mut preview = RestorePreview { before, ..RestorePreview::default() };
        for TreeChange { path, old, new, .. } in changes {
            if is_marker(old) || is_marker(new) || !scope.holds(&path) {
                continue;
            }
            let path = names::display_path(&path);
            preview.replaced.extend(old.map(|_| path.clone()));
            let paths = if new.is_some() { &mut preview.written } else { &mut preview.removed };
            paths.push(path);
        }
        Ok(preview)
    }

    fn restore_scope(&mut self, target: &str, scope: RestoreScope<'_>) -> Result<RestoreReport> {
        let _lock = StoreLock::acquire(self.objects.dir(), LOCK_TIMEOUT)?;
        let target = self.objects.resolve_snapshot(target)?;
        self.last = None;
        let (before, found) = self.walk_tree(Some(target))?;
        if before != target {
            state::record_rollback(self.objects.dir(), before)?;
        }
        let request = restore::RestoreRequest { before, target, scope };
        let mut restored =
            restore::restore((&self.objects, &mut self.rules), self.root.path(), &request, &found)?;
        // Reports the state observed afterwards, not the intended one.
        let compared = self.walk_tree(Some(target)).and_then(|it| {
            restored.after = it.0.to_string();
            restored.record_differences(&self.objects, it.0, &request)
        });
        match compared {
            Ok(()) => Ok(restored),
            Err(source) => {
                Err(SnapshotError::Incomplete { before: restored.before, source: Box::new(source) })
            }
        }
    }
}
