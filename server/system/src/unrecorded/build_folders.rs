//! Checks the build folder of Cargo: what it makes again is hidden, and so is what it did not make.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::{MAX_MANIFEST_BYTES, UnrecordedScan};
use crate::regular_file::read_text;

/// Files that Cargo makes in a build folder and in the folder of a profile.
const CARGO_FILES: [&str; 7] = [
    ".rustc_info.json",
    ".rustdoc_fingerprint.json",
    ".future-incompat-report.json",
    "CACHEDIR.TAG",
    ".cargo-lock",
    ".cargo-build-lock",
    ".cargo-artifact-lock",
];
/// Folders of a profile whose entries have a hash in their names.
const HASHED_FOLDERS: [&str; 4] = ["build", "deps", "examples", "incremental"];
const FINGERPRINTS: &str = ".fingerprint";
/// Levels between a build folder and the folder of a profile: `target/tests/trybuild/debug`.
const MAX_LEVELS: usize = 3;
/// A folder with more entries is no folder of profiles.
const MAX_PROFILES: usize = 100;
/// Shorter endings of names are no hashes.
const MIN_HASH: usize = 8;

impl UnrecordedScan<'_> {
    pub(super) fn scan_cargo_target(&mut self, target: &Path) {
        let own = self.package_names();
        self.scan_build_folder(target, &own, MAX_LEVELS);
    }

    /// A folder with profiles below it.
    fn scan_build_folder(&mut self, folder: &Path, own: &HashSet<String>, levels: usize) {
        for (name, metadata) in self.read_entries(folder, 0) {
            let path = folder.join(&name);
            if !metadata.is_dir() {
                if self.is_changed(&metadata) && !is_named(&name, &CARGO_FILES) {
                    self.add_product(path);
                }
            } else if self.root.join(&path).join(FINGERPRINTS).is_dir() {
                self.scan_profile(&path, own);
            } else if levels > 1 && holds_profiles(&self.root.join(&path), levels - 1) {
                self.scan_build_folder(&path, own, levels - 1);
            } else {
                self.add_changed_folder(path);
            }
        }
    }

    /// Cargo rebuilds packages without a fingerprint: those of the work, not their dependencies.
    fn scan_profile(&mut self, profile: &Path, own: &HashSet<String>) {
        for (name, metadata) in self.read_entries(profile, 0) {
            let path = profile.join(&name);
            if name == FINGERPRINTS {
                self.add_fingerprints(&path, own);
            } else if is_named(&name, &HASHED_FOLDERS) {
                self.scan_hashed_folder(&path);
            } else if metadata.is_dir() {
                self.add_changed_folder(path);
            } else if self.is_changed(&metadata) && !is_named(&name, &CARGO_FILES) {
                self.add_product(path);
            }
        }
    }

    fn add_fingerprints(&mut self, folder: &Path, own: &HashSet<String>) {
        for (name, _) in self.read_entries(folder, 0) {
            let text = name.to_string_lossy();
            let package = text.rsplit_once('-').map_or(text.as_ref(), |(package, _)| package);
            if own.contains(package) {
                self.found.caches.push(folder.join(&name));
            }
        }
    }

    fn scan_hashed_folder(&mut self, folder: &Path) {
        for (name, metadata) in self.read_entries(folder, 0) {
            if has_hash(&name) {
                continue;
            }
            if metadata.is_dir() {
                self.add_changed_folder(folder.join(name));
            } else if self.is_changed(&metadata) {
                self.add_product(folder.join(name));
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
}

fn is_named(name: &OsStr, names: &[&str]) -> bool {
    names.iter().any(|it| name == *it)
}

fn holds_profiles(folder: &Path, levels: usize) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_PROFILES);
    let mut folders = entries.filter(|it| it.file_type().is_ok_and(|it| it.is_dir())).map(|it| it.path());
    folders.any(|it| it.join(FINGERPRINTS).is_dir() || (levels > 1 && holds_profiles(&it, levels - 1)))
}

/// `libmine-0123456789abcdef.rlib`
fn has_hash(name: &OsStr) -> bool {
    let text = name.to_string_lossy();
    let stem = text.split('.').next().unwrap_or_default();
    let is_hash = |it: &str| it.len() >= MIN_HASH && it.bytes().all(|it| it.is_ascii_alphanumeric());
    stem.rsplit_once('-').is_some_and(|(_, end)| is_hash(end) && end.contains(|it: char| it.is_ascii_digit()))
}
