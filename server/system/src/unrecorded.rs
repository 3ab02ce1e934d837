//! Finds changes since a moment that no snapshot contains: ignored files, caches, installed packages. Uses the change
//! times of files, which a program cannot set back.

mod build_folders;
mod git_folder;
mod listed_packages;
mod outside;
mod package_programs;
mod packages;
mod programs;
#[cfg(test)]
mod tests;
mod tool_data;
mod tool_folders;

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use outside::{OutsideEntries, OutsideSearch, SHARED_FOLDERS, find_outside};
pub use programs::{ReplacedProgram, changed_home_files, replaced_programs};

/// Beyond this many entries the walk stops.
const MAX_ENTRIES: usize = 400_000;
/// Limit of each kind.
const MAX_FOUND: usize = 10_000;
const MAX_DEPTH: usize = 100;
/// Longer manifests and records of installations are not read.
const MAX_MANIFEST_BYTES: u64 = 32 << 20;

/// Folders of caches that decide what runs: interpreters read them in place of the source.
const CACHES: [&str; 2] = ["__pycache__", ".pytest_cache"];
/// Folders with the data of other tools.
const TOOL_FOLDERS: [&str; 14] = [
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".tox",
    ".nox",
    ".direnv",
    ".idea",
    ".vscode",
    ".mypy_cache",
    ".ruff_cache",
    ".terraform",
    ".gradle",
    ".cache",
];
/// Files that are run, compiled or linked, by name.
const PRODUCTS: [&str; 22] = [
    "o", "a", "so", "d", "obj", "lib", "dll", "exe", "class", "jar", "pyc", "pyd", "py", "js", "mjs", "cjs",
    "ts", "wasm", "rb", "sh", "node", "beam",
];

/// The paths of the files of a snapshot, relative to the root.
pub type SnapshotPaths = HashSet<Vec<u8>>;

/// Paths are relative to the root.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct UnrecordedChanges {
    /// Files of the snapshot that were written since, whatever their modification time is.
    pub touched: Vec<PathBuf>,
    /// Folders and files that are created again if missing.
    pub caches: Vec<PathBuf>,
    /// Ignored files that are run, compiled or linked, symbolic links, and folders with the data of tools.
    pub products: Vec<PathBuf>,
    /// All other ignored files.
    pub others: Vec<PathBuf>,
    /// Files of installed packages that changed although their package was not installed again.
    pub patched: Vec<PathBuf>,
    /// Installed packages that no manifest of the tree lists, files that no package lists, and entries in the folder of
    /// the repository that git does not make.
    pub unlisted: Vec<PathBuf>,
    /// Whether the limits were exceeded.
    pub is_partial: bool,
}

/// Changes below `root` since `since`. `recorded`: the paths of the snapshot. `own`: the state folder.
pub fn find_unrecorded(
    root: &Path,
    recorded: &SnapshotPaths,
    since: SystemTime,
    own: &Path,
) -> UnrecordedChanges {
    let mut walk = UnrecordedScan {
        root,
        recorded,
        folders: parent_folders(recorded),
        since,
        own,
        remaining: MAX_ENTRIES,
        new_modules: Vec::new(),
        found: UnrecordedChanges::default(),
    };
    walk.scan_folder(Path::new(""), 0);
    walk.find_unlisted_modules();
    walk.find_unknown_in_repository();
    if walk.found.is_partial {
        // A part of a build's products is worse than none.
        walk.found.products.clear();
    }
    walk.found
}

/// The folders that contain the files of a snapshot, at any depth.
pub(crate) fn parent_folders(recorded: &SnapshotPaths) -> HashSet<&[u8]> {
    let mut folders = HashSet::new();
    for path in recorded {
        let mut rest = path.as_slice();
        while let Some(at) = rest.iter().rposition(|it| *it == b'/') {
            rest = rest.get(..at).unwrap_or_default();
            if !folders.insert(rest) {
                break;
            }
        }
    }
    folders
}

struct UnrecordedScan<'a> {
    root: &'a Path,
    recorded: &'a SnapshotPaths,
    /// Folders with recorded files.
    folders: HashSet<&'a [u8]>,
    since: SystemTime,
    own: &'a Path,
    remaining: usize,
    /// Folders of packages in `node_modules` that were installed since.
    new_modules: Vec<PathBuf>,
    found: UnrecordedChanges,
}

impl UnrecordedScan<'_> {
    fn scan_folder(&mut self, path: &Path, depth: usize) {
        for (name, metadata) in self.read_entries(path, depth) {
            let path = path.join(&name);
            if metadata.is_dir() {
                self.scan_subfolder(&path, &name, depth);
            } else if self.recorded.contains(path.as_os_str().as_bytes()) {
                if metadata.is_file() && self.is_changed(&metadata) {
                    self.found.touched.push(path);
                }
            } else if self.is_changed(&metadata) {
                let found = &mut self.found;
                let list = if is_product(&path, &metadata) { &mut found.products } else { &mut found.others };
                list.push(path);
            }
            let found = &self.found;
            let longest = found.touched.len().max(found.products.len()).max(found.others.len());
            if longest >= MAX_FOUND {
                self.found.is_partial = true;
                return;
            }
        }
    }

    fn scan_subfolder(&mut self, path: &Path, name: &OsStr, depth: usize) {
        let is_recorded = self.folders.contains(path.as_os_str().as_bytes());
        let absolute = self.root.join(path);
        let is_named = |names: &[&str]| names.iter().any(|it| *it == name);
        if is_named(&[".git"]) || absolute == self.own {
            return;
        }
        if !is_recorded {
            if is_named(&CACHES) {
                return self.found.caches.push(path.to_owned());
            }
            // Another repository, or another work tree of this one.
            if is_named(&TOOL_FOLDERS) || fs::symlink_metadata(absolute.join(".git")).is_ok() {
                return self.scan_tool_folder(path, depth + 1);
            }
            if name == "node_modules" {
                return self.scan_node_modules(path, depth);
            }
            if absolute.join("pyvenv.cfg").is_file() {
                return self.scan_virtual_env(path, depth);
            }
            if absolute.join(".rustc_info.json").is_file() {
                return self.scan_cargo_target(path);
            }
        }
        self.scan_folder(path, depth + 1);
    }

    /// The entries of a folder, by name, within the limits.
    fn read_entries(&mut self, path: &Path, depth: usize) -> Vec<(OsString, Metadata)> {
        let Ok(listing) = fs::read_dir(self.root.join(path)) else { return Vec::new() };
        if depth > MAX_DEPTH || self.remaining == 0 {
            self.found.is_partial = true;
            return Vec::new();
        }
        let entries =
            listing.filter_map(|it| it.ok().and_then(|it| Some((it.file_name(), it.metadata().ok()?))));
        let mut entries: Vec<_> = entries.take(self.remaining).collect();
        self.remaining -= entries.len();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        entries
    }

    fn is_changed(&self, metadata: &Metadata) -> bool {
        changed_at(metadata) >= self.since
    }
}

fn is_product(path: &Path, metadata: &Metadata) -> bool {
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    let is_executable = metadata.is_file() && metadata.permissions().mode() & 0o111 != 0;
    // A check that writes to a link writes to its target.
    is_executable || metadata.is_symlink() || PRODUCTS.contains(&extension)
}

/// Programs can set modification times, but not creation times. On a file system that records none, every entry counts
/// as old.
pub(crate) fn is_created_since(metadata: &Metadata, since: SystemTime) -> bool {
    metadata.created().is_ok_and(|it| it >= since)
}

/// The last change of the file's content or attributes.
fn changed_at(metadata: &Metadata) -> SystemTime {
    let seconds = u64::try_from(metadata.ctime()).unwrap_or_default();
    let nanos = u32::try_from(metadata.ctime_nsec()).unwrap_or_default();
    UNIX_EPOCH + Duration::new(seconds, nanos)
}

/// Resolves `.` and `..` without access to the file system.
pub(crate) fn normalized(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(clean.pop()),
            Component::CurDir => {}
            other => clean.push(other),
        }
    }
    clean
}

/// Whether the file changed since; `false` if it does not exist.
pub(crate) fn is_changed_since(path: &Path, since: SystemTime) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| changed_at(&it) >= since)
}
