//! Finds the checks that a project already has, by its manifests. A check is offered only if a file declares it;
//! nothing is inferred from the language alone, and nothing is executed.

mod dotnet;
mod go;
mod installed;
mod jvm;
mod nested_packages;
mod node;
mod package;
mod python;
mod recipes;
mod rust;

use std::path::{Path, PathBuf};

use loopkeeper_lint::{Gate, ProjectCommand};
use loopkeeper_system::config_text::ConfigFileError;
use loopkeeper_text::message::HintedError;
use loopkeeper_text::{tr, tr_later};
use thiserror::Error;

pub use self::installed::InstalledTools;
use self::package::PackageFolder;

/// Why the manifests of a project cannot be read.
#[derive(Debug, Error)]
pub enum ManifestError {
    #[error(transparent)]
    Unreadable(#[from] ConfigFileError),
    #[error("{}", tr!("{path} is not JSON: {source}", path = path.display(), source))]
    NotJson { path: PathBuf, source: serde_json::Error },
}

impl HintedError for ManifestError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unreadable(error) => return error.hint(),
            Self::NotJson { .. } => tr!("correct the file; `init` reads its scripts."),
        };
        Some(hint.to_owned())
    }
}

/// The commands of the package of `folder` that can run, and its tests even where their tool or the packages that they
/// need have to be installed first. None where a manifest cannot be read.
pub fn offered_checks(root: &Path, folder: &Path) -> Vec<FoundCheck> {
    ProposedChecks::of(root, folder, &InstalledTools::of_environment()).unwrap_or_default().found
}

/// Those of the commands that decide the usual gates.
pub fn project_commands(checks: &[FoundCheck]) -> Vec<ProjectCommand> {
    let command = |it: &FoundCheck| Some(ProjectCommand { gate: it.gate()?, command: it.command.clone() });
    checks.iter().filter_map(command).collect()
}

/// A command of the project that shows whether something holds. It runs in the root, from a shell without any setup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCheck {
    /// The criterion that holds when the command passes.
    pub name: &'static str,
    /// The package that it checks, if the task is about the packages below its folder; else empty.
    pub package: String,
    pub command: String,
    /// The file that declares it, relative to the root.
    pub file: String,
    /// The reason why it cannot run yet.
    pub lack: Option<MissingTool>,
}

impl FoundCheck {
    /// `All tests pass`, `All tests pass in services/api`.
    pub fn criterion(&self) -> String {
        if self.package.is_empty() {
            self.name.to_owned()
        } else {
            format!("{} in {}", self.name, self.package)
        }
    }

    /// What the check decides, if that is one of the usual gates.
    pub fn gate(&self) -> Option<Gate> {
        Some(match self.name {
            TESTS => Gate::Tests,
            TYPES => Gate::Types,
            LINT => Gate::Lint,
            FORMAT => Gate::Format,
            COVERAGE => Gate::Coverage,
            _ => return None,
        })
    }
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
        Self { what: tr!("{name} is not installed", name), remedy: tr!("Install {name}.", name) }
    }
}

pub const TESTS: &str = tr_later!("All tests pass");
const LINT: &str = tr_later!("The linter has no complaints");
const TYPES: &str = tr_later!("The types check");
const FORMAT: &str = tr_later!("The code is formatted");
const COVERAGE: &str = tr_later!("The tests cover as much as the project demands");
const OWN_CHECKS: &str = tr_later!("The code passes its own checks");

/// The checks declared by the manifests of a package.
#[derive(Debug, Default)]
pub struct ProposedChecks {
    /// Checks to write: those that can run, and the tests even if a tool has to be installed first.
    pub found: Vec<FoundCheck>,
    /// Checks not written, because a tool is not installed.
    pub left_out: Vec<FoundCheck>,
}

impl ProposedChecks {
    /// The checks of the nearest folder, from `folder` up to the root, that has any; else those of the packages below
    /// `folder`.
    pub fn of(root: &Path, folder: &Path, installed: &InstalledTools) -> Result<Self, ManifestError> {
        for folder in folder.ancestors().take_while(|it| it.starts_with(root)) {
            let checks = Self::of_package(&PackageFolder::new(root, folder, installed))?;
            if !checks.found.is_empty() || !checks.left_out.is_empty() {
                return Ok(checks);
            }
        }
        nested_packages::checks(root, folder, installed)
    }

    fn of_package(package: &PackageFolder<'_>) -> Result<Self, ManifestError> {
        let mut checks = Self::default();
        rust::checks(package, &mut checks)?;
        node::checks(package, &mut checks)?;
        python::checks(package, &mut checks)?;
        go::checks(package, &mut checks)?;
        jvm::checks(package, &mut checks)?;
        dotnet::checks(package, &mut checks)?;
        recipes::checks(package, &mut checks)?;
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
        let lack = (!self.has_program(program)).then(|| MissingTool::program(program));
        self.package_check((name, file), command, lack)
    }

    /// A check of the package; `command` runs in its folder.
    fn package_check(
        &self,
        (name, file): (&'static str, &str),
        command: &str,
        lack: Option<MissingTool>,
    ) -> FoundCheck {
        let package = String::new();
        FoundCheck { name, package, command: self.command(command), file: self.shown(file), lack }
    }
}

/// Whether a line of an INI-like text begins with `header`.
fn has_header(text: &str, header: &str) -> bool {
    text.lines().any(|line| line.trim_start_matches('\u{feff}').starts_with(header))
}

#[cfg(test)]
mod tests;
