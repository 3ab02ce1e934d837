//! Applies the ignore rules of the snapshot that is restored. A file that these rules ignored was not recorded, so its
//! absence from the snapshot is no reason to delete it.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use git2::{ObjectType, Oid};

use super::{PlannedRemoval, parent};
use crate::snapshots::SnapshotStore;
use crate::snapshots::error::Result;
use crate::snapshots::ignores::IgnoreRules;
use crate::snapshots::names;
use crate::snapshots::objects::ObjectStore;
use crate::snapshots::tree::{TreeItem, TreeItemKind};
use crate::snapshots::walk::IGNORE_FILE;
use crate::unrecorded::is_changed_since;

pub(super) struct SnapshotIgnoreRules<'a> {
    objects: &'a ObjectStore,
    rules: &'a mut IgnoreRules,
    root: &'a Path,
    /// Trees of the snapshot by path; `None` if the path is not a folder there.
    folders: HashMap<Vec<u8>, Option<HashMap<Vec<u8>, TreeItem>>>,
    target: Oid,
}

impl SnapshotStore {
    /// The paths, of these ignored ones relative to the root, that the snapshot `tree`, taken at `since`, did not ignore.
    pub fn newly_ignored(&self, tree: &str, since: SystemTime, paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let mut rules = self.rules.without_recent_rules(|it| is_changed_since(it, since));
        let target = self.objects.resolve_snapshot(tree)?;
        let mut past = SnapshotIgnoreRules::new(&self.objects, &mut rules, self.root.path(), target);
        let mut found = Vec::new();
        for path in paths {
            let mut bytes = path.as_os_str().as_bytes().to_vec();
            // A rule may apply to folders only.
            bytes.extend(self.root.path().join(path).is_dir().then_some(b'/'));
            if !past.ignores(&bytes)? {
                found.push(path.clone());
            }
        }
        Ok(found)
    }
}

impl<'a> SnapshotIgnoreRules<'a> {
    pub(super) fn new(
        objects: &'a ObjectStore,
        rules: &'a mut IgnoreRules,
        root: &'a Path,
        target: Oid,
    ) -> Self {
        Self { objects, rules, root, folders: HashMap::new(), target }
    }

    /// Excludes paths that the snapshot's own rules ignore.
    pub(super) fn exclude_ignored(mut self, removals: &mut Vec<PlannedRemoval>) -> Result<()> {
        let mut left = Vec::with_capacity(removals.len());
        for removal in removals.drain(..) {
            if !self.ignores(&removal.0)? {
                left.push(removal);
            }
        }
        *removals = left;
        Ok(())
    }

    /// The path of a folder ends with a slash.
    fn ignores(&mut self, path: &[u8]) -> Result<bool> {
        self.rules.start();
        let mut folder: Vec<u8> = Vec::new();
        let mut names = path.split(|it| *it == b'/').peekable();
        while let Some(name) = names.next().filter(|it| !it.is_empty()) {
            let rules = self.rules_in(&folder)?;
            let absolute = self.absolute_path(&folder);
            self.rules.enter_with_rules(&absolute, rules);
            let below = names::join(&folder, name);
            let is_folder = names.peek().is_some();
            if name != IGNORE_FILE
                && self.rules.is_ignored(self.absolute_path(&below).as_os_str().as_bytes(), name, is_folder)
            {
                return Ok(true);
            }
            folder = below;
        }
        Ok(false)
    }

    fn rules_in(&mut self, folder: &[u8]) -> Result<Option<Vec<u8>>> {
        self.load(folder)?;
        let item = self.folders.get(folder).and_then(|it| it.as_ref()?.get(IGNORE_FILE));
        match item {
            Some(TreeItem { kind: TreeItemKind::File | TreeItemKind::Executable, id }) => {
                self.objects.read(*id, ObjectType::Blob).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The parent folders are already loaded: paths are walked from the root.
    fn load(&mut self, folder: &[u8]) -> Result<()> {
        if self.folders.contains_key(folder) {
            return Ok(());
        }
        let tree = if folder.is_empty() {
            Some(self.target)
        } else {
            let name = folder.rsplit(|it| *it == b'/').next().unwrap_or(folder);
            let item = self.folders.get(parent(folder)).and_then(|it| it.as_ref()?.get(name));
            item.filter(|it| it.kind == TreeItemKind::Folder).map(|it| it.id)
        };
        let entries = tree.map(|it| self.objects.tree(it)).transpose()?;
        self.folders.insert(folder.to_vec(), entries.map(|it| it.iter().cloned().collect()));
        Ok(())
    }

    fn absolute_path(&self, below: &[u8]) -> PathBuf {
        if below.is_empty() { self.root.to_path_buf() } else { self.root.join(OsStr::from_bytes(below)) }
    }
}
