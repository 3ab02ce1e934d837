//! Lists the files of a project that are not ignored, within limits. Runs nothing.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::snapshots::ignores::{FolderMarkers, IgnoreRules, users_excludes_file};
use crate::work_trees::OtherWorkTrees;

/// Limit of the folders and files that are read.
const MAX_ENTRIES: usize = 50_000;
/// Folders nested deeper contain no file that a user names.
const MAX_DEPTH: usize = 24;

/// The files below `root`, as paths relative to it, sorted. Files that are ignored, in other work trees, or with names
/// that are not UTF-8 are left out, and so is what is beyond `limit` files.
pub fn list_files(root: &Path, limit: usize) -> Vec<String> {
    let mut rules = IgnoreRules::new(root, users_excludes_file());
    rules.start();
    let others = OtherWorkTrees::new(root);
    let mut walk = ListingWalk { root, rules, others, files: Vec::new(), limit, entries: 0 };
    walk.visit_folder(root, 0);
    walk.files.sort_unstable();
    walk.files
}

struct ListingWalk<'a> {
    root: &'a Path,
    rules: IgnoreRules,
    others: OtherWorkTrees<'a>,
    files: Vec<String>,
    limit: usize,
    /// Number of entries that were read.
    entries: usize,
}

impl ListingWalk<'_> {
    fn is_full(&self) -> bool {
        self.files.len() >= self.limit || self.entries >= MAX_ENTRIES
    }

    /// A folder that cannot be read has no files to name.
    fn visit_folder(&mut self, folder: &Path, depth: usize) {
        let Ok(handle) = File::open(folder) else { return };
        let Ok(listing) = fs::read_dir(folder) else { return };
        let entries: Vec<fs::DirEntry> = listing.flatten().take(MAX_ENTRIES).collect();
        let holds = |name: &str| entries.iter().any(|entry| entry.file_name() == name);
        let holds = FolderMarkers { rules: holds(".gitignore"), repository: holds(".git") };
        if holds.repository && depth > 0 && self.others.holds(folder) {
            return;
        }
        let entered = self.rules.push_folder(handle.as_fd(), folder.as_os_str().as_bytes(), holds);
        for entry in &entries {
            if self.is_full() {
                break;
            }
            self.entries += 1;
            self.visit_entry(entry, depth);
        }
        self.rules.pop_folder(&entered);
    }

    /// Links are not followed: a file of the project that one leads to is listed under its own name.
    fn visit_entry(&mut self, entry: &fs::DirEntry, depth: usize) {
        let (path, name) = (entry.path(), entry.file_name());
        let Ok(file_type) = entry.file_type() else { return };
        let bytes = path.as_os_str().as_bytes();
        if name == ".git" || self.rules.is_ignored(bytes, name.as_bytes(), file_type.is_dir()) {
            return;
        }
        if file_type.is_dir() {
            if depth < MAX_DEPTH {
                self.visit_folder(&path, depth + 1);
            }
        } else if file_type.is_file()
            && let Some(below) = path.strip_prefix(self.root).ok().and_then(Path::to_str)
        {
            self.files.push(below.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::list_files;

    #[test]
    fn files_that_are_not_ignored_are_listed() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let file = |name: &str, text: &str| {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), text).unwrap();
        };
        file(".gitignore", "*.log\n/out/\n");
        file("src/main.rs", "");
        file("src/b/.gitignore", "!kept.log\n");
        file("src/b/kept.log", "");
        file("src/b/other.log", "");
        file("out/main.o", "");
        file("target/debug/x", "");
        file(".git/HEAD", "");
        symlink(root, root.join("src/again")).unwrap();
        let expect = [".gitignore", "src/b/.gitignore", "src/b/kept.log", "src/main.rs"];
        assert_eq!(list_files(root, 100), expect);
        assert_eq!(list_files(root, 2).len(), 2);
        assert_eq!(list_files(&root.join("nowhere"), 2), [""; 0]);
    }
}
