//! The package whose manifests are read: the current folder, or the nearest one above with a manifest.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::ManifestError;
use super::installed::InstalledTools;
use loopkeeper_system::config_text::read_text;
use loopkeeper_text::shell_word::quoted;

/// A folder of the work tree with its manifests. Its checks run in the root.
pub(super) struct PackageFolder<'a> {
    pub(super) root: &'a Path,
    pub(super) installed: &'a InstalledTools,
    folder: &'a Path,
}

impl<'a> PackageFolder<'a> {
    /// `folder` is `root` or below it.
    pub(super) fn new(root: &'a Path, folder: &'a Path, installed: &'a InstalledTools) -> Self {
        Self { root, installed, folder }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>, ManifestError> {
        Ok(read_text(&self.path(name))?)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.path(name).is_file()
    }

    /// The nearest folder, from the package up to the root, that contains `name`: lock files, virtual environments and
    /// settings of a workspace are often above its packages.
    pub(super) fn find_above(&self, name: &str) -> Option<PathBuf> {
        let mut folders = self.folder.ancestors().take_while(|it| it.starts_with(self.root));
        folders.find(|it| it.join(name).exists()).map(Path::to_path_buf)
    }

    pub(super) fn has_above(&self, name: &str) -> bool {
        self.find_above(name).is_some()
    }

    /// The path of `name` in a folder above, relative to the package's folder: `../../.venv`.
    pub(super) fn relative(&self, above: &Path, name: &str) -> String {
        let levels = self.folder.strip_prefix(above).map_or(0, |it| it.components().count());
        format!("{}{name}", "../".repeat(levels))
    }

    /// `package.json` of a folder above: a workspace declares tools for all of its packages.
    pub(super) fn manifest_above(&self) -> Option<Value> {
        let folders = self.folder.ancestors().skip(1).take_while(|it| it.starts_with(self.root));
        let mut texts = folders.filter_map(|it| read_text(&it.join("package.json")).ok().flatten());
        texts.find_map(|it| serde_json::from_str(&it).ok())
    }

    /// Whether the package is the root itself.
    pub(super) fn is_root(&self) -> bool {
        self.folder == self.root
    }

    pub(super) fn has_program(&self, name: &str) -> bool {
        self.installed.program(name, self.root).is_some()
    }

    /// A file of the package, relative to the root.
    pub(super) fn shown(&self, name: &str) -> String {
        match self.below_root() {
            "" => name.to_owned(),
            folder => format!("{folder}/{name}"),
        }
    }

    /// Converts a command of the package's folder to one that runs in the root.
    pub(super) fn command(&self, command: &str) -> String {
        match self.below_root() {
            "" => command.to_owned(),
            folder => format!("cd {} && {command}", quoted(folder)),
        }
    }

    fn below_root(&self) -> &str {
        self.folder.strip_prefix(self.root).ok().and_then(Path::to_str).unwrap_or_default()
    }
}

/// Folders of what was built or installed, which contain manifests of others.
const NOT_OURS: [&str; 10] =
    ["node_modules", "target", "vendor", "dist", "build", "bin", "obj", "venv", "__pycache__", "fixtures"];

/// The names in a folder, sorted; none if it cannot be listed.
pub(super) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|it| it.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// The folders in a folder that may contain packages of the project, sorted. Links are not followed.
pub(super) fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let is_ours = |it: &String| !it.starts_with('.') && !NOT_OURS.contains(&it.as_str());
    let folders = names(folder).into_iter().filter(is_ours).map(|it| folder.join(it));
    folders.filter(|it| it.symlink_metadata().is_ok_and(|it| it.is_dir())).collect()
}
