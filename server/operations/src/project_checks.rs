//! Finds the checks that a project already has, by its manifests. A check is offered only if a file declares it;
//! nothing is inferred from the language alone, and nothing is executed.

mod installed;
mod node;
mod package;
mod python;

use std::path::{Path, PathBuf};

use loopkeeper_lint::{Gate, ProjectCommand};
use loopkeeper_system::config_text::ConfigFileError;
use loopkeeper_text::message::HintedError;
use thiserror::Error;

pub use self::installed::InstalledTools;
use self::package::PackageFolder;

/// Why the manifests of a project cannot be read.
#[derive(Debug, Error)]
pub enum ManifestError {
    #[error(transparent)]
    Unreadable(#[from] ConfigFileError),
    #[error("{} is not JSON: {source}", path.display())]
    NotJson { path: PathBuf, source: serde_json::Error },
}

impl HintedError for ManifestError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unreadable(error) => return error.hint(),
            Self::NotJson { .. } => "correct the file; `init` reads its scripts.",
        };
        Some(hint.to_owned())
    }
}

/// The commands of a project that decide the usual gates: those that can run. None where a manifest cannot be read.
pub fn project_commands(root: &Path) -> Vec<ProjectCommand> {
    let checks = ProposedChecks::of(root, root, &InstalledTools::of_environment()).unwrap_or_default();
    let runnable = checks.found.into_iter().filter(|it| it.lack.is_none());
    let command = |it: FoundCheck| {
        let gate = match it.name {
            TESTS => Gate::Tests,
            TYPES => Gate::Types,
            LINT => Gate::Lint,
            FORMAT => Gate::Format,
            _ => return None,
        };
        Some(ProjectCommand { gate, command: it.command })
    };
    runnable.filter_map(command).collect()
}

/// A command of the project that shows whether something holds. It runs in the root, from a shell without any setup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCheck {
    /// The criterion that holds when the command passes.
    pub name: &'static str,
    pub command: String,
    /// The file that declares it, relative to the root.
    pub file: String,
    /// The reason why it cannot run yet.
    pub lack: Option<MissingTool>,
}

/// A tool that is not installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingTool {
    /// `pytest is not installed in .venv`.
    pub what: String,
    pub remedy: String,
}

impl MissingTool {
    fn program(name: &str) -> Self {
        Self { what: format!("{name} is not installed"), remedy: format!("Install {name}.") }
    }
}

pub const TESTS: &str = "All tests pass";
const LINT: &str = "The linter has no complaints";
const TYPES: &str = "The types check";
const FORMAT: &str = "The code is formatted";
const OWN: &str = "The code passes its own checks";

/// The checks declared by the manifests of a package.
#[derive(Debug, Default)]
pub struct ProposedChecks {
    /// Checks to write: those that can run, and the tests even if a tool has to be installed first.
    pub found: Vec<FoundCheck>,
    /// Checks not written, because a tool is not installed.
    pub left_out: Vec<FoundCheck>,
}

impl ProposedChecks {
    /// The checks of the nearest folder, from `folder` up to the root, that has any.
    pub fn of(root: &Path, folder: &Path, machine: &InstalledTools) -> Result<Self, ManifestError> {
        for folder in folder.ancestors().take_while(|it| it.starts_with(root)) {
            let checks = Self::of_package(&PackageFolder::new(root, folder, machine))?;
            if !checks.found.is_empty() || !checks.left_out.is_empty() {
                return Ok(checks);
            }
        }
        Ok(Self::default())
    }

    fn of_package(package: &PackageFolder<'_>) -> Result<Self, ManifestError> {
        let mut checks = Self::default();
        rust(package, &mut checks)?;
        node::checks(package, &mut checks)?;
        python::checks(package, &mut checks)?;
        go(package, &mut checks)?;
        // A task runner usually calls the tests that were found above, so running it as well would prove nothing more.
        if !checks.found.iter().any(|it| it.name == TESTS) {
            recipes(package, &mut checks)?;
        }
        Ok(checks)
    }

    fn add(&mut self, check: FoundCheck) {
        if check.lack.is_none() || check.name == TESTS {
            self.found.push(check);
        } else {
            self.left_out.push(check);
        }
    }
}

impl PackageFolder<'_> {
    /// A check of the package that needs a program on `PATH`.
    fn check(&self, (name, file): (&'static str, &str), command: &str, program: &str) -> FoundCheck {
        FoundCheck {
            name,
            command: self.command(command),
            file: self.shown(file),
            lack: (!self.has_program(program)).then(|| MissingTool::program(program)),
        }
    }
}

fn rust(package: &PackageFolder<'_>, checks: &mut ProposedChecks) -> Result<(), ManifestError> {
    const FILE: &str = "Cargo.toml";
    let Some(manifest) = package.text(FILE)? else { return Ok(()) };
    let mut add = |name, command: &str, program| checks.add(package.check((name, FILE), command, program));
    let is_workspace = has_header(&manifest, "[workspace");
    add(TESTS, if is_workspace { "cargo test --workspace" } else { "cargo test" }, "cargo");
    let lints = has_header(&manifest, "[lints") || has_header(&manifest, "[workspace.lints");
    if lints || package.has_above("clippy.toml") || package.has_above(".clippy.toml") {
        add(LINT, "cargo clippy --all-targets -- -D warnings", "cargo-clippy");
    }
    if package.has_above("rustfmt.toml") || package.has_above(".rustfmt.toml") {
        let all = if is_workspace || package.path("") == package.root.join("") { " --all" } else { "" };
        add(FORMAT, &format!("cargo fmt{all} -- --check"), "cargo-fmt");
    }
    Ok(())
}

fn go(package: &PackageFolder<'_>, checks: &mut ProposedChecks) -> Result<(), ManifestError> {
    const FILE: &str = "go.mod";
    if package.text(FILE)?.is_some() {
        checks.add(package.check((TESTS, FILE), "go test ./...", "go"));
    }
    Ok(())
}

/// Targets of a Makefile, recipes of a justfile.
fn recipes(package: &PackageFolder<'_>, checks: &mut ProposedChecks) -> Result<(), ManifestError> {
    let runners = [
        ("make", "GNUmakefile"),
        ("make", "makefile"),
        ("make", "Makefile"),
        ("just", "justfile"),
        ("just", "Justfile"),
        ("just", ".justfile"),
    ];
    for (runner, file) in runners {
        let Some(text) = package.text(file)? else { continue };
        let begins = if runner == "make" { is_rule } else { is_recipe };
        for (name, target) in [(TESTS, "test"), (OWN, "check"), (LINT, "lint")] {
            let check = package.check((name, file), &format!("{runner} {target}"), runner);
            let there = text.lines().any(|line| begins(line, target));
            // A case-insensitive disk shows the same file under two names.
            let mut known = checks.found.iter().chain(&checks.left_out);
            if there && !known.any(|it| it.command == check.command) {
                checks.add(check);
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
