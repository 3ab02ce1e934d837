//! Checks installed packages: `node_modules` and Python's virtual environments. A file that changed while its package
//! stayed the same was patched; a package that was installed again belongs to the work. What belongs to no package is
//! hidden like other ignored files.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::package_programs::replaces_package_program;
use super::{MAX_FOUND, MAX_MANIFEST_BYTES, UnrecordedScan, is_changed_since, is_created_since, normalized};
use crate::regular_file::read_text;

/// Programs that no package of a project provides.
const BASE_PROGRAMS: [&str; 20] = [
    "node", "npm", "npx", "pnpm", "yarn", "bun", "deno", "sh", "bash", "dash", "env", "git", "make",
    "python", "python3", "cat", "grep", "sed", "test", "diff",
];
/// Folders in `node_modules` with one folder for each version of a package, which holds its dependencies.
const PACKAGE_STORES: [&str; 4] = [".pnpm", ".deno", ".bun", ".store"];
/// Files that package managers write beside packages.
const INSTALL_FILES: [&str; 8] = [
    ".package-lock.json",
    ".yarn-integrity",
    ".yarn-state.yml",
    ".modules.yaml",
    ".pnpm-workspace-state.json",
    ".pnpm-workspace-state-v1.json",
    ".setup-cache.bin",
    "lock.yaml",
];
const CODE: [&str; 8] = ["js", "mjs", "cjs", "ts", "json", "node", "wasm", "css"];

impl UnrecordedScan<'_> {
    pub(super) fn scan_node_modules(&mut self, path: &Path, depth: usize) {
        for (name, metadata) in self.read_entries(path, depth) {
            let below = path.join(&name);
            let text = name.to_string_lossy();
            if !metadata.is_dir() {
                self.scan_single_entry(below, &metadata);
                continue;
            }
            match text.as_ref() {
                ".bin" => self.scan_bin_folder(&below, depth + 1),
                store if PACKAGE_STORES.contains(&store) => self.scan_package_store(&below, depth + 1),
                hidden if hidden.starts_with('.') => self.add_changed_folder(below),
                scope if scope.starts_with('@') => self.scan_node_modules(&below, depth + 1),
                _ => self.scan_node_package(&below, depth + 1),
            }
        }
    }

    fn scan_package_store(&mut self, store: &Path, depth: usize) {
        for (version, metadata) in self.read_entries(store, depth) {
            let below = store.join(&version);
            if !metadata.is_dir() {
                self.scan_single_entry(below, &metadata);
            } else if version == "node_modules" {
                self.scan_node_modules(&below, depth + 1);
            } else {
                self.scan_node_modules(&below.join("node_modules"), depth + 2);
            }
        }
    }

    /// A file or a link beside the packages. A program can import it like a package.
    fn scan_single_entry(&mut self, path: PathBuf, metadata: &Metadata) {
        let is_of_manager = path.file_name().is_some_and(|name| INSTALL_FILES.iter().any(|it| name == *it));
        if self.is_changed(metadata) && !is_of_manager && !self.leads_to_package(&path, metadata) {
            self.found.unlisted.push(path);
        }
    }

    /// Whether the entry is a link to a folder of the snapshot or to a package, which is searched at its own path.
    fn leads_to_package(&self, path: &Path, metadata: &Metadata) -> bool {
        if !metadata.is_symlink() {
            return false;
        }
        let target = self.root.join(path).canonicalize().ok();
        let Some(below) = target.as_deref().and_then(|it| it.strip_prefix(self.root).ok()) else {
            return false;
        };
        let is_searched = |part: &OsStr| {
            let text = part.to_string_lossy();
            !text.starts_with('.') || PACKAGE_STORES.contains(&text.as_ref())
        };
        let is_installed = below.iter().any(|it| it == "node_modules") && below.iter().all(is_searched);
        is_installed || self.folders.contains(below.as_os_str().as_bytes())
    }

    fn scan_bin_folder(&mut self, path: &Path, depth: usize) {
        for (name, metadata) in self.read_entries(path, depth) {
            let program = path.join(&name);
            let is_base = || BASE_PROGRAMS.iter().any(|it| *it == name);
            let is_replaced = || replaces_package_program(&self.root.join(&program), self.since);
            if self.is_changed(&metadata) && (is_base() || is_replaced()) {
                self.add_patched(program);
            }
        }
    }

    fn scan_node_package(&mut self, package: &Path, depth: usize) {
        let manifest = fs::symlink_metadata(self.root.join(package).join("package.json"));
        let is_new = fs::symlink_metadata(self.root.join(package));
        if is_new.is_ok_and(|it| is_created_since(&it, self.since)) {
            self.new_modules.push(package.to_owned());
        } else if manifest.is_ok_and(|it| !self.is_changed(&it)) {
            self.scan_package_files(package, depth);
        }
    }

    fn scan_package_files(&mut self, folder: &Path, depth: usize) {
        for (name, metadata) in self.read_entries(folder, depth) {
            let path = folder.join(&name);
            if metadata.is_dir() {
                if name == "node_modules" {
                    self.scan_node_modules(&path, depth + 1);
                } else if name.to_string_lossy().starts_with('.') {
                    self.add_changed_folder(path);
                } else {
                    self.scan_package_files(&path, depth + 1);
                }
                continue;
            }
            let is_code = path.extension().and_then(OsStr::to_str).is_none_or(|it| CODE.contains(&it));
            if is_code && self.is_changed(&metadata) && !self.is_only_linked(&metadata) {
                self.add_patched(path);
            } else if !is_code && is_created_since(&metadata, self.since) {
                self.add_product(path);
            }
        }
    }

    /// The environment itself may be created again; in one that existed at the start, only files that an installation
    /// lists may change.
    pub(super) fn scan_virtual_env(&mut self, path: &Path, depth: usize) {
        let is_new = fs::symlink_metadata(self.root.join(path).join("pyvenv.cfg"));
        if is_new.is_ok_and(|it| self.is_changed(&it)) {
            return self.find_unlisted_in_environment(path);
        }
        let mut listed = HashSet::new();
        self.collect_installed_files(path, depth, &mut listed);
        self.scan_env_files(path, depth, &listed);
    }

    /// Files listed in the records of packages that were installed since.
    fn collect_installed_files(&mut self, folder: &Path, depth: usize, listed: &mut HashSet<PathBuf>) {
        for (name, metadata) in self.read_entries(folder, depth) {
            let path = folder.join(&name);
            if !metadata.is_dir() || name == "__pycache__" {
                continue;
            }
            let is_record = path.extension().is_some_and(|it| it == "dist-info");
            if !is_record {
                let holds_packages = ["lib", "lib64", "site-packages"].iter().any(|it| *it == name);
                if holds_packages || name.to_string_lossy().starts_with("python") {
                    self.collect_installed_files(&path, depth + 1, listed);
                }
                continue;
            }
            let record = self.root.join(&path).join("RECORD");
            if fs::symlink_metadata(&record).is_ok_and(|it| self.is_changed(&it)) {
                listed.extend(files_of_record(&record, folder));
            }
        }
    }

    fn scan_env_files(&mut self, folder: &Path, depth: usize, listed: &HashSet<PathBuf>) {
        for (name, metadata) in self.read_entries(folder, depth) {
            let path = folder.join(&name);
            if metadata.is_dir() {
                self.scan_env_files(&path, depth + 1, listed);
                continue;
            }
            if !self.is_changed(&metadata) || listed.contains(&path) {
                continue;
            }
            match path.extension().and_then(OsStr::to_str) {
                Some("pyc") if self.found.caches.len() < MAX_FOUND => self.found.caches.push(path),
                Some("py" | "pth" | "so") if !self.is_only_linked(&metadata) => self.add_patched(path),
                None if folder.file_name().is_some_and(|it| it == "bin") => self.add_patched(path),
                Some("pyc") => {}
                _ if is_created_since(&metadata, self.since) => self.add_product(path),
                _ => {}
            }
        }
    }

    /// Whether a change may be that of the link count alone: a hard link to the same file was made.
    fn is_only_linked(&self, metadata: &Metadata) -> bool {
        metadata.nlink() > 1 && metadata.modified().is_ok_and(|it| it < self.since)
    }

    fn add_patched(&mut self, path: PathBuf) {
        if self.found.patched.len() < MAX_FOUND {
            self.found.patched.push(path);
        }
    }
}

/// The files and the entries in the folder that the records of packages list which were installed there since.
pub(super) fn listed_files(folder: &Path, since: SystemTime) -> HashSet<PathBuf> {
    let mut listed = HashSet::new();
    let records = fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
    for info in records.filter(|it| it.extension().is_some_and(|it| it == "dist-info")) {
        let record = info.join("RECORD");
        if !is_changed_since(&record, since) {
            continue;
        }
        for path in files_of_record(&record, folder) {
            if let Some(first) = path.strip_prefix(folder).ok().and_then(|it| it.components().next()) {
                listed.insert(folder.join(first));
            }
            listed.insert(path);
        }
    }
    listed
}

/// The files that the record of an installation lists, relative to the folder of the packages.
fn files_of_record(record: &Path, folder: &Path) -> Vec<PathBuf> {
    let text = read_text(record, MAX_MANIFEST_BYTES).unwrap_or_default();
    let names = text.lines().filter_map(|it| it.split(',').next());
    names.map(|it| normalized(&folder.join(it.trim_matches('"')))).collect()
}
