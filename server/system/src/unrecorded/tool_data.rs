//! Checks folders with the data of tools, and other repositories, that git ignores. One in which something changed is
//! hidden as a whole: tools make their data again, and if a check needs it, the folder is named.

use std::fs;
use std::path::{Path, PathBuf};

use super::{MAX_FOUND, UnrecordedScan, changed_at, is_created_since};

/// Folders with virtual environments.
const ENVIRONMENT_FOLDERS: [&str; 3] = [".tox", ".nox", ".direnv"];
/// A folder with more entries counts as changed.
const MAX_ENTRIES: usize = 20_000;

impl UnrecordedScan<'_> {
    pub(super) fn scan_tool_folder(&mut self, path: &Path, depth: usize) {
        let metadata = fs::symlink_metadata(self.root.join(path));
        let is_new = metadata.is_ok_and(|it| is_created_since(&it, self.since));
        if is_new {
            // The data of git in a new repository is the agent's, too.
            return self.add_product(path.to_owned());
        }
        if !ENVIRONMENT_FOLDERS.iter().any(|it| path.ends_with(it)) {
            return self.add_changed_folder(path.to_owned());
        }
        for (name, metadata) in self.read_entries(path, depth) {
            let path = path.join(name);
            if self.root.join(&path).join("pyvenv.cfg").is_file() {
                self.scan_virtual_env(&path, depth + 1);
            } else if metadata.is_dir() {
                self.add_changed_folder(path);
            } else if self.is_changed(&metadata) {
                self.add_product(path);
            }
        }
    }

    pub(super) fn add_changed_folder(&mut self, path: PathBuf) {
        if self.has_changes(&self.root.join(&path)) {
            self.add_product(path);
        }
    }

    pub(super) fn add_product(&mut self, path: PathBuf) {
        if self.found.products.len() < MAX_FOUND {
            self.found.products.push(path);
        } else {
            self.found.is_partial = true;
        }
    }

    /// Whether a file or a link below the folder changed, or too many are there to look at all. The data of git in it is
    /// left out.
    fn has_changes(&self, folder: &Path) -> bool {
        let mut left = MAX_ENTRIES;
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let Ok(metadata) = entry.metadata() else { continue };
                if left == 0 {
                    return true;
                }
                left -= 1;
                if metadata.is_dir() {
                    folders.extend((entry.file_name() != ".git").then(|| entry.path()));
                } else if changed_at(&metadata) >= self.since {
                    return true;
                }
            }
        }
        false
    }
}
