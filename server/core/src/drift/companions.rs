//! Files that accompany any work: tests, documents, configuration, generated and connecting files.

use loopkeeper_source::test_inventory::is_test_path;

use super::names;

/// Extensions of files that a task names when they are its subject.
const SOURCES: [&str; 61] = [
    "rs", "py", "pyi", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte", "astro", "go",
    "java", "kt", "kts", "scala", "groovy", "clj", "cljs", "cs", "fs", "vb", "rb", "php", "sh", "bash",
    "zsh", "fish", "c", "h", "cc", "cpp", "cxx", "hpp", "hh", "m", "mm", "swift", "dart", "lua", "pl", "pm",
    "r", "jl", "ex", "exs", "erl", "hs", "ml", "mli", "nim", "zig", "sql", "css", "scss", "html", "sol",
    "proto",
];

/// Generated files and folders, and those of other programs.
const FOLDERS: [&str; 13] = [
    "dist",
    "build",
    "out",
    "target",
    "generated",
    "gen",
    "vendor",
    "node_modules",
    "coverage",
    "migrations",
    "snapshots",
    "__snapshots__",
    "third_party",
];

/// Files that connect others, so that a new module changes them.
const CONNECTING: [&str; 14] = [
    "mod.rs",
    "lib.rs",
    "main.rs",
    "build.rs",
    "__init__.py",
    "conftest.py",
    "setup.py",
    "index.ts",
    "index.tsx",
    "index.js",
    "index.mjs",
    "main.go",
    "doc.go",
    "package-info.java",
];

/// Whether the file is a source, by its name.
pub(super) fn is_source(path: &str) -> bool {
    let extension = names::extension(path).to_ascii_lowercase();
    SOURCES.contains(&extension.as_str())
}

/// Whether a change of the file says nothing about the subject of the work.
pub(crate) fn accompanies(path: &str) -> bool {
    let name = names::file_name(path);
    !is_source(path)
        || is_test_path(path)
        || is_generated(path, name)
        || is_configuration(name)
        || CONNECTING.contains(&name)
        // The words of such a name cannot be separated, so that it cannot be compared.
        || !name.is_ascii()
        || path.split('/').any(|it| it.starts_with('.'))
}

fn is_generated(path: &str, name: &str) -> bool {
    let in_folder = |it: &str| FOLDERS.contains(&it.to_ascii_lowercase().as_str());
    path.rsplit_once('/').is_some_and(|(folders, _)| folders.split('/').any(in_folder))
        || [".min.", ".generated.", ".g.", ".pb.", ".d.ts", "_pb2", "_generated."]
            .iter()
            .any(|sign| name.contains(sign))
}

/// `vite.config.ts`; names such as `.eslintrc.js` are hidden.
fn is_configuration(name: &str) -> bool {
    name.contains(".config.")
}
