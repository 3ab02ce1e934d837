//! Detects what a check lacks to run at all. Something missing below the root (a script, a module of the project) is a
//! goal that the agent can write; something missing on the machine (a program, an installed package) only the user
//! can provide, and no call of an agent helps. Uses the output and facts about the tree; a cause that no table
//! contains is an ordinary failure, so that honest work is never stopped.

mod manifest;
mod owner;
mod read;
mod remedy;
mod tables;
#[cfg(test)]
mod tests;
mod tree;

use serde::{Deserialize, Serialize};

use super::output::DecodedOutput;
use super::{CheckResult, CommandExit, CommandRun, Status};
use loopkeeper_text::redact::Redactor;
use loopkeeper_text::{sanitize, tr};
pub use read::MissingCandidate;
use read::{FailedCommand, MissingSymptom};
pub use tree::{FileFacts, MANIFESTS, TreeFacts};

/// Maximum length of a name or a remedy.
const MAX_CHARS: usize = 200;

/// What keeps a check from running.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MissingDependency {
    pub kind: MissingKind,
    /// `pytest`, `./coverage.sh`, `node_modules`; for a server, what happened to it.
    pub name: String,
    pub owner: DependencyProvider,
    /// What the user can do about it, for people; empty if the project provides it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remedy: String,
}

/// Whether the agent or the user can provide it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DependencyProvider {
    /// It belongs below the root: a goal like any other.
    Project,
    /// It belongs on the machine: only the user can install it.
    Machine,
    /// Written by a newer version.
    #[serde(other)]
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingKind {
    Program,
    /// What the first line of a script names, or the version of a language that a project asks for.
    Interpreter,
    PythonModule,
    /// A package of npm and its kin; `node_modules`: all of them.
    NodePackage,
    Gem,
    PhpPackage,
    /// An option of a test runner that a plugin brings.
    Plugin,
    Toolchain,
    Library,
    /// A service of the machine that does not run.
    Service,
    /// A server of `[[serve]]` that cannot start, or whose address is in use.
    Server,
    /// A script or another file.
    File,
    /// A target of `make`, a script of `package.json`, a test target of `cargo`.
    Target,
    /// Written by a newer version.
    #[serde(other)]
    Other,
}

impl MissingDependency {
    pub(super) fn of_machine(kind: MissingKind, name: &str, remedy: String) -> Self {
        Self { kind, name: name.to_owned(), owner: DependencyProvider::Machine, remedy }
    }

    pub(super) fn of_project(kind: MissingKind, name: &str) -> Self {
        Self { kind, name: name.to_owned(), owner: DependencyProvider::Project, remedy: String::new() }
    }

    /// Another process answers at the address that requests need.
    pub fn address_in_use(url: &str) -> Self {
        let remedy = tr!("end the process that answers at {url}, or change `ready` of `[[serve]]`", url);
        let name = tr!("another process already answers at {url}", url);
        Self::of_machine(MissingKind::Server, &name, remedy)
    }

    pub fn is_of_machine(&self) -> bool {
        self.owner == DependencyProvider::Machine
    }

    /// Whether it is a package that an agent can add to the project.
    pub fn is_package(&self) -> bool {
        matches!(
            self.kind,
            MissingKind::PythonModule
                | MissingKind::NodePackage
                | MissingKind::Gem
                | MissingKind::PhpPackage
                | MissingKind::Plugin
        )
    }

    /// `Python module "pytest" is not installed`
    pub fn sentence(&self) -> String {
        let name = &self.name;
        match self.kind {
            MissingKind::Program => tr!("program \"{name}\" is not installed", name),
            MissingKind::Interpreter => tr!("interpreter \"{name}\" is not installed", name),
            MissingKind::PythonModule => tr!("Python module \"{name}\" is not installed", name),
            MissingKind::NodePackage if name == tables::NODE_MODULES => {
                tr!("node_modules is missing").to_owned()
            }
            MissingKind::NodePackage | MissingKind::PhpPackage => {
                tr!("package \"{name}\" is not installed", name)
            }
            MissingKind::Gem => tr!("gem \"{name}\" is not installed", name),
            MissingKind::Plugin => tr!("plugin \"{name}\" is not installed", name),
            MissingKind::Toolchain => tr!("toolchain \"{name}\" is not installed", name),
            MissingKind::Library => tr!("library \"{name}\" is not installed", name),
            MissingKind::Service => tr!("{name} is not running", name),
            MissingKind::Server => name.clone(),
            MissingKind::File | MissingKind::Target | MissingKind::Other => {
                tr!("\"{name}\" is missing", name)
            }
        }
    }
}

impl CheckResult {
    /// The dependency that only the user can provide and without which this check cannot run.
    pub fn missing_on_machine(&self) -> Option<&MissingDependency> {
        self.missing.as_ref().filter(|it| it.is_of_machine() && self.status != Status::Pass)
    }

    /// Records the missing dependency. A check that the machine keeps from running could not run, whatever its exit
    /// code.
    pub fn set_missing(&mut self, missing: &MissingDependency, redactor: &Redactor) {
        let clean = |text: &str| redactor.redact(&sanitize::line_within(text, MAX_CHARS));
        let (name, remedy) = (clean(&missing.name), clean(&missing.remedy));
        let missing = MissingDependency { name, remedy, ..*missing };
        if missing.is_of_machine() {
            self.status = Status::CouldNotRun;
            self.fact = missing.sentence();
        }
        self.missing = Some(missing);
    }
}

/// What the run of a check names as missing. Nothing if it passed or if any test passed: then it can run.
pub fn missing_candidates(command: &str, run: &CommandRun, result: &CheckResult) -> Vec<MissingCandidate> {
    let CommandExit::Exited(code) = run.ending else { return Vec::new() };
    let ran = result.tests.is_some_and(|it| it.passed > 0);
    if result.status == Status::Pass || ran {
        return Vec::new();
    }
    let output = DecodedOutput::of(run);
    read::find_candidates(&FailedCommand { command, code: Some(code), output: &output.both })
}

/// The same for a server that ended before it was ready.
pub fn missing_candidates_of_server(command: &[String], last_lines: &str) -> Vec<MissingCandidate> {
    read::find_candidates(&FailedCommand { command: &command.join(" "), code: None, output: last_lines })
}

/// A program that could not be started: it was not found, or may not be executed.
pub fn not_started(program: &str) -> Vec<MissingCandidate> {
    vec![MissingCandidate { symptom: MissingSymptom::Program, name: program.to_owned() }]
}

/// Resolves the missing dependencies with facts about the tree; those that only the user can provide come first.
pub fn resolve_missing(
    candidates: &[MissingCandidate],
    command: &str,
    tree: &TreeFacts,
) -> Option<MissingDependency> {
    let all: Vec<MissingDependency> =
        candidates.iter().filter_map(|it| owner::find_missing(it, command, tree)).collect();
    let of_machine = all.iter().find(|it| it.is_of_machine());
    of_machine.or(all.first()).cloned()
}
