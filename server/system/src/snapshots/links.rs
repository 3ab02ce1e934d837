//! Detects symbolic links that lead out of a work tree.

use std::path::Path;

use super::error::Result;
use super::tree::TreeItemKind;
use super::{SnapshotStore, TreeItem};

impl SnapshotStore {
    /// Whether the entry is a link to a place outside the root or in its `.git`, or to nothing.
    pub fn leads_out(&self, tree: &str, path: &str) -> Result<bool> {
        let is_link = |it: TreeItem| it.kind == TreeItemKind::Symlink;
        if !self.item(tree, path.as_bytes())?.is_some_and(is_link) {
            return Ok(false);
        }
        let root = self.root.path().canonicalize().unwrap_or_else(|_| self.root.path().to_owned());
        let is_inside = |it: &Path| it.strip_prefix(&root).is_ok_and(|it| !it.starts_with(".git"));
        Ok(!self.root.path().join(path).canonicalize().is_ok_and(|it| is_inside(&it)))
    }
}
