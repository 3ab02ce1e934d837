//! The checks that a project already has, by its manifests. A check is offered only where a file says that it
//! exists; nothing is guessed from the language alone and nothing is run to find out.

use std::path::Path;

use super::InitError;
use crate::adapters::config_files::read_text;

/// A command of the project that shows whether something holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundCheck {
    /// What holds when it passes.
    pub(crate) name: &'static str,
    pub(crate) command: String,
    /// The file that says so.
    pub(crate) file: &'static str,
}

const TESTS: &str = "All tests pass";
const LINT: &str = "The linter has no complaints";
const TYPES: &str = "The types check";
const FORMAT: &str = "The code is formatted";
const OWN: &str = "The code passes its own checks";

/// All checks of the project in `root`.
pub(super) fn checks(root: &Path) -> Result<Vec<FoundCheck>, InitError> {
    let folder = Folder { root };
    let mut found = Vec::new();
    rust(&folder, &mut found)?;
    node(&folder, &mut found)?;
    python(&folder, &mut found)?;
    go(&folder, &mut found)?;
    // A task runner usually calls what was found above: the same tests twice prove nothing more.
    if !found.iter().any(|it| it.name == TESTS) {
        recipes(&folder, &mut found)?;
    }
    Ok(found)
}

struct Folder<'a> {
    root: &'a Path,
}

impl Folder<'_> {
    fn text(&self, name: &str) -> Result<Option<String>, InitError> {
        Ok(read_text(&self.root.join(name))?)
    }

    fn has(&self, name: &str) -> bool {
        self.root.join(name).is_file()
    }
}

fn rust(folder: &Folder<'_>, found: &mut Vec<FoundCheck>) -> Result<(), InitError> {
    const FILE: &str = "Cargo.toml";
    let Some(manifest) = folder.text(FILE)? else { return Ok(()) };
    let mut add =
        |name, command: &str| found.push(FoundCheck { name, command: command.to_owned(), file: FILE });
    add(TESTS, if has_header(&manifest, "[workspace") { "cargo test --workspace" } else { "cargo test" });
    let lints = has_header(&manifest, "[lints") || has_header(&manifest, "[workspace.lints");
    if lints || folder.has("clippy.toml") || folder.has(".clippy.toml") {
        add(LINT, "cargo clippy --all-targets -- -D warnings");
    }
    if folder.has("rustfmt.toml") || folder.has(".rustfmt.toml") {
        add(FORMAT, "cargo fmt --all -- --check");
    }
    Ok(())
}

fn node(folder: &Folder<'_>, found: &mut Vec<FoundCheck>) -> Result<(), InitError> {
    const FILE: &str = "package.json";
    /// What `npm init` writes where there are no tests.
    const NO_TESTS: &str = "no test specified";
    let Some(text) = folder.text(FILE)? else { return Ok(()) };
    let manifest: serde_json::Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|source| InitError::NotJson { path: folder.root.join(FILE), source })?;
    let script = |name: &str| manifest.get("scripts")?.get(name)?.as_str();
    let manager = manager(folder, &manifest);
    let wanted = [(TESTS, "test"), (LINT, "lint"), (TYPES, "typecheck"), (TYPES, "type-check")];
    for (name, key) in wanted {
        if script(key).is_some_and(|it| !it.trim().is_empty() && !it.contains(NO_TESTS)) {
            let command =
                if key == "test" && manager != "bun" { "test".to_owned() } else { format!("run {key}") };
            found.push(FoundCheck { name, command: format!("{manager} {command}"), file: FILE });
        }
    }
    Ok(())
}

/// The package manager the project is kept with.
fn manager(folder: &Folder<'_>, manifest: &serde_json::Value) -> &'static str {
    let named = manifest.get("packageManager").and_then(|it| it.as_str()).unwrap_or_default();
    let locks =
        [("pnpm", "pnpm-lock.yaml"), ("yarn", "yarn.lock"), ("bun", "bun.lock"), ("bun", "bun.lockb")];
    let by_name = locks.iter().find(|(name, _)| named.starts_with(name));
    let by_lock = || locks.iter().find(|(_, lock)| folder.has(lock));
    by_name.or_else(by_lock).map_or("npm", |(name, _)| name)
}

fn python(folder: &Folder<'_>, found: &mut Vec<FoundCheck>) -> Result<(), InitError> {
    let project = folder.text("pyproject.toml")?.unwrap_or_default();
    let signs = [
        ("pyproject.toml", has_header(&project, "[tool.pytest") || project.contains("\"pytest")),
        ("pytest.ini", folder.has("pytest.ini")),
        ("conftest.py", folder.has("conftest.py")),
        ("tests/conftest.py", folder.has("tests/conftest.py")),
        ("setup.cfg", folder.text("setup.cfg")?.is_some_and(|it| has_header(&it, "[tool:pytest]"))),
        ("tox.ini", folder.text("tox.ini")?.is_some_and(|it| has_header(&it, "[pytest]"))),
        ("requirements.txt", folder.text("requirements.txt")?.is_some_and(|it| has_header(&it, "pytest"))),
    ];
    // `python3`, since `python` is missing on many systems outside of a virtual environment.
    let tool = match () {
        () if folder.has("uv.lock") => "uv run",
        () if folder.has("poetry.lock") => "poetry run",
        () => "python3 -m",
    };
    if let Some((file, _)) = signs.into_iter().find(|(_, there)| *there) {
        found.push(FoundCheck { name: TESTS, command: format!("{tool} pytest -q"), file });
    } else if let Some(file) = unittest(folder)? {
        let python = tool.strip_suffix(" -m").map_or_else(|| format!("{tool} python"), str::to_owned);
        found.push(FoundCheck { name: TESTS, command: format!("{python} -m unittest"), file });
    }
    let ruff = if has_header(&project, "[tool.ruff") {
        Some("pyproject.toml")
    } else {
        ["ruff.toml", ".ruff.toml"].into_iter().find(|it| folder.has(it))
    };
    if let Some(file) = ruff {
        found.push(FoundCheck { name: LINT, command: format!("{tool} ruff check ."), file });
    }
    if has_header(&project, "[tool.mypy") {
        found.push(FoundCheck { name: TYPES, command: format!("{tool} mypy ."), file: "pyproject.toml" });
    }
    Ok(())
}

/// Where `python -m unittest` finds tests by itself: beside it, or in a package of tests.
fn unittest(folder: &Folder<'_>) -> Result<Option<&'static str>, InitError> {
    let places = [("test*.py", "", true), ("tests/test*.py", "tests", folder.has("tests/__init__.py"))];
    for (file, place, _) in places.into_iter().filter(|(_, _, found)| *found) {
        let entries = std::fs::read_dir(folder.root.join(place)).into_iter().flatten().flatten();
        for entry in entries {
            let name = entry.file_name();
            let stem = name.to_str().and_then(|it| it.strip_suffix(".py"));
            if stem.is_some_and(|it| it.starts_with("test"))
                && read_text(&entry.path())?.is_some_and(|it| it.contains("unittest"))
            {
                return Ok(Some(file));
            }
        }
    }
    Ok(None)
}

fn go(folder: &Folder<'_>, found: &mut Vec<FoundCheck>) -> Result<(), InitError> {
    const FILE: &str = "go.mod";
    if folder.text(FILE)?.is_some() {
        found.push(FoundCheck { name: TESTS, command: "go test ./...".to_owned(), file: FILE });
    }
    Ok(())
}

/// Targets of a Makefile, recipes of a justfile.
fn recipes(folder: &Folder<'_>, found: &mut Vec<FoundCheck>) -> Result<(), InitError> {
    let runners = [
        ("make", "GNUmakefile"),
        ("make", "makefile"),
        ("make", "Makefile"),
        ("just", "justfile"),
        ("just", "Justfile"),
        ("just", ".justfile"),
    ];
    for (runner, file) in runners {
        let Some(text) = folder.text(file)? else { continue };
        let begins = if runner == "make" { is_rule } else { is_recipe };
        for (name, target) in [(TESTS, "test"), (OWN, "check"), (LINT, "lint")] {
            let there = text.lines().any(|line| begins(line, target));
            // A case-insensitive disk shows the same file under two names.
            if there && !found.iter().any(|it| it.command == format!("{runner} {target}")) {
                found.push(FoundCheck { name, command: format!("{runner} {target}"), file });
            }
        }
    }
    Ok(())
}

/// Whether a line begins a rule that makes `target`: `test:`, `test check: build`.
fn is_rule(line: &str, target: &str) -> bool {
    let Some((names, rest)) = line.split_once(':') else { return false };
    let assignment = rest.starts_with('=') || rest.starts_with(":=") || names.contains('=');
    !assignment && !line.starts_with([' ', '\t', '#']) && names.split_whitespace().any(|it| it == target)
}

/// Whether a line begins a recipe that needs no arguments: `test:`, `@test filter="" *rest: build`.
fn is_recipe(line: &str, target: &str) -> bool {
    let Some((words, rest)) = line.split_once(':') else { return false };
    let mut words = words.strip_prefix('@').unwrap_or(words).split(' ').filter(|it| !it.is_empty());
    let named = words.next() == Some(target) && !line.starts_with(' ');
    named && !rest.starts_with('=') && words.all(|it| it.contains('=') || it.starts_with('*'))
}

/// Whether a line of an INI-like text begins with `header`.
fn has_header(text: &str, header: &str) -> bool {
    text.lines().any(|line| line.trim_start_matches('\u{feff}').starts_with(header))
}
