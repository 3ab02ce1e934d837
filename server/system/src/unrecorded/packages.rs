//! Checks installed packages and build folders: `node_modules`, Python's virtual environments, Cargo's `target`. A file
//! that changed while its package stayed the same was patched; a package that was installed again belongs to the work.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use super::{MAX_FOUND, UnrecordedScan, changed_at, is_created_since};

/// Programs that no package of a project provides.
const BASE_PROGRAMS: [&str; 20] = [
    "node", "npm", "npx", "pnpm", "yarn", "bun", "deno", "sh", "bash", "dash", "env", "git", "make",
    "python", "python3", "cat", "grep", "sed", "test", "diff",
];
/// Limit of the packages whose manifests are read for one changed program.
const MAX_PACKAGES: usize = 5_000;
const CODE: [&str; 8] = ["js", "mjs", "cjs", "ts", "json", "node", "wasm", "css"];

impl UnrecordedScan<'_> {
    pub(super) fn node_modules(&mut self, path: &Path, depth: usize) {
        for (name, metadata) in self.entries(path, depth) {
            let below = path.join(&name);
            let text = name.to_string_lossy();
            if !metadata.is_dir() {
                continue;
            }
            match text.as_ref() {
                ".bin" => self.bin_folder(&below, depth + 1),
                // One folder for each version of a package, with its dependencies.
                ".pnpm" => {
                    for (version, metadata) in self.entries(&below, depth + 1) {
                        if metadata.is_dir() {
                            self.node_modules(&below.join(version).join("node_modules"), depth + 3);
                        }
                    }
                }
                hidden if hidden.starts_with('.') => {}
                scope if scope.starts_with('@') => self.node_modules(&below, depth + 1),
                _ => self.node_package(&below, depth + 1),
            }
        }
    }

    fn bin_folder(&mut self, path: &Path, depth: usize) {
        for (name, metadata) in self.entries(path, depth) {
            let program = path.join(&name);
            let is_base = || BASE_PROGRAMS.iter().any(|it| *it == name);
            if self.is_changed(&metadata) && (is_base() || self.replaces_program(&program)) {
                self.add_patched(program);
            }
        }
    }

    /// Whether a package that was not installed again has a program of this name, and this one does not lead to it.
    fn replaces_program(&self, program: &Path) -> bool {
        let absolute = self.root.join(program);
        let (Some(modules), Some(name)) = (absolute.ancestors().nth(2), program.file_name()) else {
            return false;
        };
        let leads_to = match fs::read_link(&absolute) {
            Ok(link) => normalized(&modules.join(".bin").join(link)).to_string_lossy().into_owned(),
            Err(_) => fs::read_to_string(&absolute).unwrap_or_default(),
        };
        let folders = |of: &Path| fs::read_dir(of).into_iter().flatten().flatten().map(|it| it.path());
        let is_scope = |it: &PathBuf| it.file_name().is_some_and(|it| it.to_string_lossy().starts_with('@'));
        let (scopes, packages): (Vec<_>, Vec<_>) = folders(modules).take(MAX_PACKAGES).partition(is_scope);
        let scoped = scopes.iter().flat_map(|it| folders(it));
        packages.into_iter().chain(scoped).take(MAX_PACKAGES).any(|package| {
            let manifest = package.join("package.json");
            let file = program_of(&manifest, &name.to_string_lossy());
            let is_lead = |file: String| {
                let below = package.strip_prefix(modules).unwrap_or(&package);
                leads_to.contains(&*below.join(file.trim_start_matches("./")).to_string_lossy())
            };
            !is_changed_since(&manifest, self.since) && file.is_some_and(|it| !is_lead(it))
        })
    }

    fn node_package(&mut self, package: &Path, depth: usize) {
        let manifest = fs::symlink_metadata(self.root.join(package).join("package.json"));
        let is_new = fs::symlink_metadata(self.root.join(package));
        if is_new.is_ok_and(|it| is_created_since(&it, self.since)) {
            self.new_modules.push(package.to_owned());
        } else if manifest.is_ok_and(|it| !self.is_changed(&it)) {
            self.package_files(package, depth);
        }
    }

    fn package_files(&mut self, folder: &Path, depth: usize) {
        for (name, metadata) in self.entries(folder, depth) {
            let path = folder.join(&name);
            if metadata.is_dir() {
                if name == "node_modules" {
                    self.node_modules(&path, depth + 1);
                } else if !name.to_string_lossy().starts_with('.') {
                    self.package_files(&path, depth + 1);
                }
                continue;
            }
            let is_code = path.extension().and_then(OsStr::to_str).is_none_or(|it| CODE.contains(&it));
            // A hard link to the same file changes only its link count.
            let is_linked = metadata.nlink() > 1 && metadata.modified().is_ok_and(|it| it < self.since);
            if is_code && self.is_changed(&metadata) && !is_linked {
                self.add_patched(path);
            }
        }
    }

    /// The environment itself may be created again; in one that existed at the start, only files that an installation
    /// lists may change.
    pub(super) fn virtual_env(&mut self, path: &Path, depth: usize) {
        let is_new = fs::symlink_metadata(self.root.join(path).join("pyvenv.cfg"));
        if is_new.is_ok_and(|it| self.is_changed(&it)) {
            return self.unlisted_in_environment(path);
        }
        let mut listed = HashSet::new();
        self.installed_files(path, depth, &mut listed);
        self.env_files(path, depth, &listed);
    }

    /// Files listed in the records of packages that were installed since.
    fn installed_files(&mut self, folder: &Path, depth: usize, listed: &mut HashSet<PathBuf>) {
        for (name, metadata) in self.entries(folder, depth) {
            let path = folder.join(&name);
            if !metadata.is_dir() || name == "__pycache__" {
                continue;
            }
            let is_record = path.extension().is_some_and(|it| it == "dist-info");
            if !is_record {
                let holds_packages = ["lib", "lib64", "site-packages"].iter().any(|it| *it == name);
                if holds_packages || name.to_string_lossy().starts_with("python") {
                    self.installed_files(&path, depth + 1, listed);
                }
                continue;
            }
            let record = self.root.join(&path).join("RECORD");
            if fs::symlink_metadata(&record).is_ok_and(|it| self.is_changed(&it)) {
                let text = fs::read_to_string(record).unwrap_or_default();
                let files = text.lines().filter_map(|it| it.split(',').next());
                listed.extend(files.map(|it| normalized(&folder.join(it.trim_matches('"')))));
            }
        }
    }

    fn env_files(&mut self, folder: &Path, depth: usize, listed: &HashSet<PathBuf>) {
        for (name, metadata) in self.entries(folder, depth) {
            let path = folder.join(&name);
            if metadata.is_dir() {
                self.env_files(&path, depth + 1, listed);
                continue;
            }
            if !self.is_changed(&metadata) || listed.contains(&path) {
                continue;
            }
            let is_linked = metadata.nlink() > 1 && metadata.modified().is_ok_and(|it| it < self.since);
            match path.extension().and_then(OsStr::to_str) {
                Some("pyc") if self.found.caches.len() < MAX_FOUND => self.found.caches.push(path),
                Some("py" | "pth" | "so") if !is_linked => self.add_patched(path),
                None if folder.file_name().is_some_and(|it| it == "bin") => self.add_patched(path),
                _ => {}
            }
        }
    }

    /// Cargo rebuilds packages without a fingerprint: those of the work, not their dependencies.
    pub(super) fn cargo_target(&mut self, target: &Path) {
        let own = self.package_names();
        let profiles = self.entries(target, 0).into_iter().filter(|(_, it)| it.is_dir());
        for (profile, _) in profiles.collect::<Vec<_>>() {
            let profile = target.join(profile);
            let inner = self.entries(&profile, 0).into_iter().filter(|(_, it)| it.is_dir());
            let inner: Vec<PathBuf> = inner.map(|(name, _)| profile.join(name)).collect();
            for folder in inner.into_iter().chain([profile.clone()]) {
                let prints =
                    if folder.ends_with(".fingerprint") { folder } else { folder.join(".fingerprint") };
                if !self.found.caches.contains(&prints) {
                    self.fingerprints(&prints, &own);
                }
            }
        }
    }

    fn fingerprints(&mut self, folder: &Path, own: &HashSet<String>) {
        for (name, _) in self.entries(folder, 0) {
            let text = name.to_string_lossy();
            let package = text.rsplit_once('-').map_or(text.as_ref(), |(package, _)| package);
            let path = folder.join(&name);
            if own.contains(package) && !self.found.caches.contains(&path) {
                self.found.caches.push(path);
            }
        }
    }

    fn package_names(&self) -> HashSet<String> {
        use std::os::unix::ffi::OsStrExt as _;
        let manifests = self.recorded.iter().filter(|it| it.ends_with(b"Cargo.toml"));
        let name = |path: &Vec<u8>| {
            let text = fs::read_to_string(self.root.join(OsStr::from_bytes(path))).ok()?;
            let package = text.split("[package]").nth(1)?;
            let line = package.lines().find(|it| it.trim_start().starts_with("name"))?;
            Some(line.split('"').nth(1)?.to_owned())
        };
        manifests.filter_map(name).collect()
    }

    fn add_patched(&mut self, path: PathBuf) {
        if self.found.patched.len() < MAX_FOUND {
            self.found.patched.push(path);
        }
    }
}

/// What the records of packages list that were installed in a folder since: their files, and their entries in the folder.
pub(super) fn listed_files(folder: &Path, since: SystemTime) -> HashSet<PathBuf> {
    let mut listed = HashSet::new();
    let records = fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
    for info in records.filter(|it| it.extension().is_some_and(|it| it == "dist-info")) {
        let record = info.join("RECORD");
        if !is_changed_since(&record, since) {
            continue;
        }
        let text = fs::read_to_string(record).unwrap_or_default();
        for name in text.lines().filter_map(|it| it.split(',').next()) {
            let path = normalized(&folder.join(name.trim_matches('"')));
            if let Some(first) = path.strip_prefix(folder).ok().and_then(|it| it.components().next()) {
                listed.insert(folder.join(first));
            }
            listed.insert(path);
        }
    }
    listed
}

/// The file of a program that a package provides under this name.
fn program_of(manifest: &Path, name: &str) -> Option<String> {
    let manifest: serde_json::Value = serde_json::from_str(&fs::read_to_string(manifest).ok()?).ok()?;
    let bin = manifest.get("bin")?;
    let own = manifest.get("name").and_then(|it| it.as_str()).and_then(|it| it.rsplit('/').next());
    let file = bin.get(name).or_else(|| Some(bin).filter(|it| it.is_string() && own == Some(name)))?;
    file.as_str().map(str::to_owned)
}

fn normalized(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            out.pop();
        } else {
            out.push(part);
        }
    }
    out
}

/// Whether the file changed since; `false` if it does not exist.
pub(crate) fn is_changed_since(path: &Path, since: SystemTime) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| changed_at(&it) >= since)
}
