//! Finds installed packages that nothing in the tree mentions: an installation from the tree would not restore them.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::packages::listed_files;
use super::{MAX_MANIFEST_BYTES, UnrecordedScan};
use crate::regular_file::read_text;

const MANIFESTS: [&str; 7] = [
    "package.json",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "deno.lock",
];
/// Its format is binary.
const BINARY_LOCK_FILE: &str = "bun.lockb";
/// Entries of `site-packages` that no record of a package lists.
const UNLISTED_BY_DESIGN: [&str; 5] =
    ["__pycache__", "_virtualenv.py", "_virtualenv.pth", "distutils-precedence.pth", "README.txt"];
impl UnrecordedScan<'_> {
    /// New packages in `node_modules` that neither a manifest nor a lock file of the tree names. Without a lock file,
    /// listed packages name others.
    pub(super) fn find_unlisted_modules(&mut self) {
        let new = std::mem::take(&mut self.new_modules);
        if new.is_empty() {
            return;
        }
        let Some((mut names, has_lock)) = self.listed_names() else { return };
        let mut unlisted_modules = new;
        loop {
            let is_listed = |it: &PathBuf| module_name(it).is_some_and(|name| names.contains(&name));
            let (listed, unlisted): (Vec<PathBuf>, Vec<PathBuf>) =
                unlisted_modules.into_iter().partition(is_listed);
            unlisted_modules = unlisted;
            if listed.is_empty() || has_lock {
                break;
            }
            for package in listed {
                let manifest = self.root.join(package).join("package.json");
                names.extend(package_words(&read_text(&manifest, MAX_MANIFEST_BYTES).unwrap_or_default()));
            }
        }
        self.found.unlisted.extend(unlisted_modules);
    }

    /// The words of the manifests in the tree, and whether one of them is a lock file; `None` if one cannot be read: then
    /// every package counts as listed.
    fn listed_names(&self) -> Option<(HashSet<String>, bool)> {
        let (mut names, mut has_lock) = (HashSet::new(), false);
        for path in self.recorded {
            let path = Path::new(OsStr::from_bytes(path));
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            if name == BINARY_LOCK_FILE {
                return None;
            }
            if !MANIFESTS.contains(&name) {
                continue;
            }
            has_lock |= name != "package.json";
            names.extend(package_words(&read_text(&self.root.join(path), MAX_MANIFEST_BYTES)?));
        }
        Some((names, has_lock))
    }

    /// Entries of a new virtual environment's `site-packages` that no record of an installation lists.
    pub(super) fn find_unlisted_in_environment(&mut self, environment: &Path) {
        let libraries = self.root.join(environment).join("lib");
        for python in fs::read_dir(libraries).into_iter().flatten().flatten() {
            let folder = python.path().join("site-packages");
            let listed = listed_files(&folder, self.since);
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let is_record = [".dist-info", ".egg-info", ".egg-link"]
                    .iter()
                    .any(|it| name.as_bytes().ends_with(it.as_bytes()));
                let is_usual = is_record || UNLISTED_BY_DESIGN.iter().any(|it| name == *it);
                if let Ok(path) = entry.path().strip_prefix(self.root)
                    && !is_usual
                    && !listed.contains(&entry.path())
                {
                    self.found.unlisted.push(path.to_owned());
                }
            }
        }
    }
}

/// `@scope/name` of a package's folder.
fn module_name(package: &Path) -> Option<String> {
    let name = package.file_name()?.to_str()?;
    let scope = package.parent()?.file_name()?.to_str()?;
    Some(if scope.starts_with('@') { format!("{scope}/{name}") } else { name.to_owned() })
}

/// Possible names of packages in a manifest: `"node_modules/a"`, `a@^1.0.0`, `/a@1.0.0:`.
fn package_words(text: &str) -> impl Iterator<Item = String> + '_ {
    let parts = text.split(|it: char| !(it.is_alphanumeric() || "@/._-".contains(it)));
    parts.filter(|it| !it.is_empty()).flat_map(|word| {
        let path = word.rsplit("node_modules/").next().unwrap_or(word).trim_matches('/');
        let versioned = path
            .char_indices()
            .skip(1)
            .find(|(_, it)| *it == '@')
            .and_then(|(at, _)| path.get(..at))
            .unwrap_or(path);
        [path.to_owned(), versioned.to_owned()]
    })
}
