//! Finds the paths that differ between two trees of the store. Equal subtrees are never opened.

use std::iter::Peekable;

use git2::Oid;

use super::error::Result;
use super::names;
use super::objects::ObjectStore;
use super::tree::{TreeItem, TreeItemKind};

/// One path that differs. Folders appear only through their contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TreeChange {
    pub path: Vec<u8>,
    pub old: Option<TreeItem>,
    pub new: Option<TreeItem>,
    /// The new entry replaces a folder, whose tree this is.
    pub replaces: Option<Oid>,
}

/// All changes from `a` to `b`, sorted by path within each folder.
pub(super) fn diff_trees(objects: &ObjectStore, a: Oid, b: Oid) -> Result<Vec<TreeChange>> {
    let mut comparison = TreeDiff { objects, changes: Vec::new() };
    comparison.compare_folders(&[], Some(a), Some(b))?;
    Ok(comparison.changes)
}

/// Every file of the tree.
pub(super) fn list_files(objects: &ObjectStore, tree: Oid) -> Result<Vec<TreeChange>> {
    let mut comparison = TreeDiff { objects, changes: Vec::new() };
    comparison.compare_folders(&[], None, Some(tree))?;
    Ok(comparison.changes)
}

struct TreeDiff<'a> {
    objects: &'a ObjectStore,
    changes: Vec<TreeChange>,
}

impl TreeDiff<'_> {
    fn compare_folders(&mut self, path: &[u8], a: Option<Oid>, b: Option<Oid>) -> Result<()> {
        if a == b {
            return Ok(());
        }
        let read = |id: Option<Oid>| id.map(|it| self.objects.tree(it)).transpose();
        let (a, b) = (read(a)?.unwrap_or_default(), read(b)?.unwrap_or_default());
        let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
        while let Some((name, old, new)) = next_pair(&mut a, &mut b) {
            if old != new {
                self.compare_entries(&names::join(path, name), old, new)?;
            }
        }
        Ok(())
    }

    fn compare_entries(&mut self, path: &[u8], old: Option<TreeItem>, new: Option<TreeItem>) -> Result<()> {
        let tree = |it: Option<TreeItem>| it.filter(|it| it.kind == TreeItemKind::Folder).map(|it| it.id);
        let leaf = |it: Option<TreeItem>| it.filter(|it| it.kind != TreeItemKind::Folder);
        if leaf(old).is_some() || leaf(new).is_some() {
            let replaces = leaf(new).and(tree(old));
            self.changes.push(TreeChange { path: path.to_vec(), old: leaf(old), new: leaf(new), replaces });
        }
        self.compare_folders(path, tree(old), tree(new))
    }
}

type TreeEntryIter<'a> = Peekable<std::slice::Iter<'a, (Vec<u8>, TreeItem)>>;

/// The next name of either side, in order.
fn next_pair<'a>(
    a: &mut TreeEntryIter<'a>,
    b: &mut TreeEntryIter<'a>,
) -> Option<(&'a [u8], Option<TreeItem>, Option<TreeItem>)> {
    let name = match (a.peek(), b.peek()) {
        (Some(x), Some(y)) => x.0.as_slice().min(y.0.as_slice()),
        (Some(it), None) | (None, Some(it)) => it.0.as_slice(),
        (None, None) => return None,
    };
    let take = |side: &mut TreeEntryIter<'a>| side.next_if(|it| it.0 == name).map(|it| it.1);
    Some((name, take(a), take(b)))
}
