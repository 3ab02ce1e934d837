//! Facts about the tree that a check ran on, as data.

use std::collections::{BTreeMap, BTreeSet};

use super::manifest;
use super::read::MissingCandidate;
use super::tables::{NODE_MODULES, VIRTUAL_ENVIRONMENTS};

/// Files that declare the parts and the dependencies of a project, in any folder of the tree.
pub const MANIFESTS: &[&str] = &[
    "package.json",
    "pyproject.toml",
    "setup.cfg",
    "Pipfile",
    "Cargo.toml",
    "Gemfile",
    "composer.json",
    "tsconfig.json",
    "jsconfig.json",
];

/// A file or folder on disk, ignored or not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileFacts {
    pub is_executable: bool,
    /// What its first line names as its interpreter, with its arguments.
    pub interpreter: Option<String>,
}

/// The tree below the root.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TreeFacts {
    /// Its real path.
    pub root: String,
    /// Every file, relative to the root; what package managers install left out.
    pub files: BTreeSet<String>,
    /// Those of [`MANIFESTS`] and of `requirements*.txt`, with their texts.
    pub manifests: BTreeMap<String, String>,
    /// Those of [`TreeFacts::paths_to_probe`] that exist.
    pub present: BTreeMap<String, FileFacts>,
}

impl TreeFacts {
    /// Whether a file's text is worth reading.
    pub fn is_manifest(path: &str) -> bool {
        let name = base(path);
        let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
        MANIFESTS.contains(&name) || (stem.starts_with("requirements") && ending == "txt")
    }

    /// The paths to look up on disk for these candidates.
    pub fn paths_to_probe(&self, candidates: &[MissingCandidate]) -> BTreeSet<String> {
        let mut wanted: BTreeSet<String> = VIRTUAL_ENVIRONMENTS.iter().map(|it| (*it).to_owned()).collect();
        let packages = candidates.iter().map(|it| package(&it.name));
        for folder in self.node_folders() {
            wanted.insert(join(folder, NODE_MODULES));
            wanted.extend(packages.clone().map(|it| join(folder, &format!("{NODE_MODULES}/{it}"))));
        }
        wanted.extend(candidates.iter().filter_map(|it| self.relative(&it.name)));
        wanted
    }

    /// A path as a shell names it, relative to the root; `None` for one outside of it.
    pub(super) fn relative(&self, path: &str) -> Option<String> {
        if !path.starts_with('/') {
            let path = path.trim_start_matches("./");
            return (!path.starts_with("../") && !path.starts_with('~')).then(|| path.to_owned());
        }
        let below = path.strip_prefix(&self.root)?;
        below.strip_prefix('/').map(str::to_owned)
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.files.contains(path) || self.present.contains_key(path)
    }

    pub(super) fn has_named(&self, name: &str) -> bool {
        self.files.iter().any(|it| base(it) == name)
    }

    /// A module or package of the project: a file of this name, or a folder that holds Python.
    pub(super) fn has_python_module(&self, name: &str) -> bool {
        self.files.iter().any(|it| {
            let (folder, file) = it.rsplit_once('/').unwrap_or(("", it));
            let (stem, ending) = file.rsplit_once('.').unwrap_or((file, ""));
            let is_named = stem == name || folder.split('/').any(|part| part == name);
            is_named && matches!(ending, "py" | "pyi")
        }) || self.projects().any(|it| it.replace('-', "_") == name)
    }

    /// A file or folder that an import without dots can mean, through an alias or a base folder.
    pub(super) fn has_source(&self, first: &str) -> bool {
        self.files.iter().any(|it| {
            let mut parts = it.split('/');
            let file = parts.next_back().unwrap_or_default();
            let is_file = ["js", "ts", "jsx", "tsx", "mjs", "cjs", "json"]
                .iter()
                .any(|end| file.strip_suffix(end).and_then(|it| it.strip_suffix('.')) == Some(first));
            is_file || parts.any(|part| part == first)
        })
    }

    /// Whether a path in `compilerOptions` begins with the first part of this name.
    pub(super) fn has_alias(&self, name: &str) -> bool {
        let scope = name.split('/').next().unwrap_or(name);
        let configs = self.manifests.iter().filter(|(path, _)| base(path).ends_with("sconfig.json"));
        let marks = [format!("\"{scope}/"), format!("\"{scope}\"")];
        configs.map(|(_, text)| text).any(|text| marks.iter().any(|it| text.contains(it.as_str())))
    }

    /// Whether the project itself provides this program.
    pub(super) fn defines_program(&self, name: &str) -> bool {
        self.has_named(name)
            || self.manifests.iter().any(|(path, text)| manifest::defines(base(path), text, name))
    }

    pub(super) fn declares_python(&self, module: &str, dist: &str) -> bool {
        let is_it = |it: &String| {
            let it = manifest::normalized_name(it);
            it == manifest::normalized_name(module) || it == manifest::normalized_name(dist)
        };
        self.manifests
            .iter()
            .any(|(path, text)| manifest::python_dependencies(base(path), text).iter().any(is_it))
    }

    pub(super) fn declares_node(&self, package: &str) -> bool {
        self.package_files().any(|text| manifest::node_dependencies(text).iter().any(|it| it == package))
    }

    pub(super) fn declares_gem(&self, gem: &str) -> bool {
        let lines = self.manifests.iter().filter(|(path, _)| base(path) == "Gemfile");
        let marks = [format!("gem '{gem}'"), format!("gem \"{gem}\"")];
        lines.map(|(_, text)| text).any(|text| marks.iter().any(|it| text.contains(it.as_str())))
    }

    pub(super) fn has_package_file(&self) -> bool {
        self.package_files().next().is_some()
    }

    pub(super) fn owns_package(&self, package: &str) -> bool {
        self.package_files().any(|text| manifest::node_name(text).as_deref() == Some(package))
    }

    /// Whether the package is installed next to any of the package files.
    pub(super) fn has_installed(&self, package: &str) -> bool {
        self.node_folders().any(|it| self.has(&join(it, &format!("{NODE_MODULES}/{package}"))))
    }

    pub(super) fn has_node_modules(&self) -> bool {
        self.node_folders().any(|it| self.has(&join(it, NODE_MODULES)))
    }

    fn package_files(&self) -> impl Iterator<Item = &String> {
        self.manifests.iter().filter(|(path, _)| base(path) == "package.json").map(|(_, text)| text)
    }

    fn projects(&self) -> impl Iterator<Item = String> + '_ {
        let own = self.manifests.iter().filter(|(path, _)| base(path) == "pyproject.toml");
        own.filter_map(|(_, text)| manifest::python_name(text))
    }

    /// Folders in which packages of Node are installed: the root, and those with a package file.
    fn node_folders(&self) -> impl Iterator<Item = &str> {
        let own = self.manifests.keys().filter(|it| base(it) == "package.json");
        std::iter::once("").chain(own.filter_map(|it| Some(it.rsplit_once('/')?.0)))
    }
}

pub(super) fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// `@scope/name` of `@scope/name/part`, `name` of `name/part`.
pub(super) fn package(name: &str) -> &str {
    let slashes = usize::from(name.starts_with('@'));
    let end = name.match_indices('/').nth(slashes).map_or(name.len(), |(at, _)| at);
    name.get(..end).unwrap_or(name)
}
