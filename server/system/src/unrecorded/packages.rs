//! Checks installed packages and build folders: `node_modules`, Python's virtual environments, Cargo's `target`. A file
//! that changed while its package stayed the same was patched; a package that was installed again belongs to the work.

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
const CODE: [&str; 8] = ["js", "mjs", "cjs", "ts", "json", "node", "wasm", "css"];

impl UnrecordedScan<'_> {
    pub(super) fn scan_node_modules(&mut self, path: &Path, depth: usize) {
        for (name, metadata) in self.read_entries(path, depth) {
            let below = path.join(&name);
            let text = name.to_string_lossy();
            if !metadata.is_dir() {
                continue;
            }
            match text.as_ref() {
                ".bin" => self.scan_bin_folder(&below, depth + 1),
                // One folder for each version of a package, with its dependencies.
                ".pnpm" => {
                    for (version, metadata) in self.read_entries(&below, depth + 1) {
                        if metadata.is_dir() {
                            self.scan_node_modules(&below.join(version).join("node_modules"), depth + 3);
                        }
                    }
                }
                hidden if hidden.starts_with('.') => {}
                scope if scope.starts_with('@') => self.scan_node_modules(&below, depth + 1),
                _ => self.scan_node_package(&below, depth + 1),
            }
        }
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
                } else if !name.to_string_lossy().starts_with('.') {
                    self.scan_package_files(&path, depth + 1);
                }
                continue;
            }
            let is_code = path.extension().and_then(OsStr::to_str).is_none_or(|it| CODE.contains(&it));
            if is_code && self.is_changed(&metadata) && !self.is_only_linked(&metadata) {
                self.add_patched(path);
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
                _ => {}
            }
        }
    }

    /// Cargo rebuilds packages without a fingerprint: those of the work, not their dependencies.
    pub(super) fn scan_cargo_target(&mut self, target: &Path) {
        let own = self.package_names();
        let profiles = self.read_entries(target, 0).into_iter().filter(|(_, it)| it.is_dir());
        for (profile, _) in profiles.collect::<Vec<_>>() {
            let profile = target.join(profile);
            let inner = self.read_entries(&profile, 0).into_iter().filter(|(_, it)| it.is_dir());
            let inner: Vec<PathBuf> = inner.map(|(name, _)| profile.join(name)).collect();
            for folder in inner.into_iter().chain([profile.clone()]) {
                let prints =
                    if folder.ends_with(".fingerprint") { folder } else { folder.join(".fingerprint") };
                if !self.found.caches.contains(&prints) {
                    self.add_fingerprints(&prints, &own);
                }
            }
        }
    }

    fn add_fingerprints(&mut self, folder: &Path, own: &HashSet<String>) {
        for (name, _) in self.read_entries(folder, 0) {
            let text = name.to_string_lossy();
            let package = text.rsplit_once('-').map_or(text.as_ref(), |(package, _)| package);
            let path = folder.join(&name);
            if own.contains(package) && !self.found.caches.contains(&path) {
                self.found.caches.push(path);
            }
        }
    }

    fn package_names(&self) -> HashSet<String> {
        let manifests = self.recorded.iter().filter(|it| it.ends_with(b"Cargo.toml"));
        let name = |path: &Vec<u8>| {
            let text = read_text(&self.root.join(OsStr::from_bytes(path)), MAX_MANIFEST_BYTES)?;
            let package = text.split("[package]").nth(1)?;
            let line = package.lines().find(|it| it.trim_start().starts_with("name"))?;
            Some(line.split('"').nth(1)?.to_owned())
        };
        manifests.filter_map(name).collect()
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
