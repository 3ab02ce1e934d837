//! Finds files that a loop added and nothing needs: sources to which nothing refers, and a second configuration of a
//! tool that had one. Remarks only: they decide nothing.
//!
//! The rule prefers silence to a false alarm. A word that may be a reference counts as one; languages whose files
//! belong together without naming each other, entry points, tests, configuration and documents are left out.

mod duplicates;
mod references;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashSet};

use crate::drift::{TaskMentions, companions, names};
use loopkeeper_source::test_inventory::is_test_path;

pub use duplicates::{
    DuplicateConfiguration, duplicate_configurations, is_configuration_name, present_configurations,
};
use references::ReferenceIndex;

/// Languages in which a file is used by its name. In Go, C#, Swift and others a folder is a unit.
const NAMED_IN_IMPORTS: [&str; 14] =
    ["py", "pyi", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte", "rs", "java"];

/// Folders whose files are run or loaded by their place.
const LOADED_BY_PLACE: [&str; 24] = [
    "api",
    "app",
    "benches",
    "bin",
    "cmd",
    "commands",
    "components",
    "controllers",
    "events",
    "examples",
    "functions",
    "handlers",
    "hooks",
    "jobs",
    "management",
    "middleware",
    "pages",
    "plugins",
    "public",
    "routes",
    "scripts",
    "stories",
    "tasks",
    "tools",
];

/// Names of programs that are started and not imported.
const ENTRY_STEMS: [&str; 16] = [
    "app", "asgi", "cli", "client", "entry", "gulpfile", "index", "lib", "main", "manage", "mod", "noxfile",
    "server", "setup", "worker", "wsgi",
];

/// Text that makes a file an entry point.
const ENTRY_TEXTS: [&str; 7] = [
    "#!",
    "__main__",
    "fn main(",
    "static void main(",
    "require.main",
    "import.meta.main",
    "addEventListener(",
];

/// One text file of the final tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeText {
    /// Relative to the root.
    pub path: String,
    pub text: String,
}

/// The added files to which nothing in the tree refers, in the order of `added`. `files` must be all text files of the
/// tree: a reference in one that is missing would not be found.
pub fn stray_files(added: &[String], files: &[TreeText], task: &TaskMentions) -> Vec<String> {
    let added_paths: HashSet<&String> = added.iter().collect();
    let is_added = |it: &&TreeText| added_paths.contains(&it.path);
    let mut strays: BTreeSet<&str> = files
        .iter()
        .filter(is_added)
        .filter(|it| can_be_stray(it) && !task.mention(&it.path))
        .map(|it| it.path.as_str())
        .collect();
    if strays.is_empty() {
        return Vec::new();
    }
    let index = ReferenceIndex::of(files, &strays);
    if index.loads_dynamically() {
        return Vec::new();
    }
    // A file that only strays refer to is a stray too: repeat until no stray is referred to by another file.
    loop {
        let needed: Vec<&str> =
            strays.iter().copied().filter(|it| index.is_referred_to(it, &strays)).collect();
        if needed.is_empty() {
            break;
        }
        for path in needed {
            strays.remove(path);
        }
    }
    added.iter().filter(|it| strays.contains(it.as_str())).cloned().collect()
}

fn can_be_stray(file: &TreeText) -> bool {
    may_be_stray(&file.path) && !ENTRY_TEXTS.iter().any(|it| file.text.contains(it))
}

/// Whether a file of this name can be a stray; its text and the other files decide whether it is one.
pub fn may_be_stray(path: &str) -> bool {
    let stem = names::stem(path);
    let extension = names::extension(path).to_ascii_lowercase();
    let is_in_place = path.rsplit_once('/').is_some_and(|(folders, _)| {
        folders.split('/').any(|it| LOADED_BY_PLACE.contains(&it.to_ascii_lowercase().as_str()))
    });
    NAMED_IN_IMPORTS.contains(&extension.as_str())
        && !is_in_place
        && !is_test_path(path)
        && !companions::accompanies(path)
        && !ENTRY_STEMS.contains(&stem.to_ascii_lowercase().as_str())
        // `page.server.ts`, `[id].ts`, `+page.ts`: a framework reads such names.
        && stem.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '_' | '-'))
}
