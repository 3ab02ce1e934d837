//! Decides who provides a missing dependency: by its name, by the program that misses it, and by the tree.

use super::read::{MissingCandidate, MissingSymptom};
use super::tables::{self, NODE_MODULES, VIRTUAL_ENVIRONMENTS};
use super::tree::{TreeFacts, package};
use super::{MissingDependency, MissingKind, remedy};

/// `None`: it may be anything, and is an ordinary failure.
pub(super) fn find_missing(
    candidate: &MissingCandidate,
    command: &str,
    tree: &TreeFacts,
) -> Option<MissingDependency> {
    let name = candidate.name.as_str();
    match candidate.symptom {
        MissingSymptom::Program | MissingSymptom::Inner if name.contains('/') => path(name, tree),
        MissingSymptom::Inner => inner(name, command, tree),
        MissingSymptom::Program => Some(program(name, command, tree)),
        MissingSymptom::Denied => {
            tree.relative(name).map(|_| MissingDependency::of_project(MissingKind::File, name))
        }
        MissingSymptom::PythonModule => python(name, tree),
        MissingSymptom::PytestOption => plugin(name, command, tree),
        MissingSymptom::NodeModule => node(name, tree),
        MissingSymptom::NodeProgram => node_program(name, tree),
        MissingSymptom::NodeModules => Some(node_modules(tree)),
        MissingSymptom::RubyFile => gem(name, tree),
        MissingSymptom::Machine(MissingKind::Gem) => {
            let remedy = "`bundle install`".to_owned();
            Some(MissingDependency::of_machine(MissingKind::Gem, name, remedy))
        }
        MissingSymptom::Machine(kind) => {
            Some(MissingDependency::of_machine(kind, name, remedy::generic_remedy(kind, name)))
        }
        MissingSymptom::Project(kind) => Some(MissingDependency::of_project(kind, name)),
    }
}

/// A script by its path. Where package managers install, a path is the machine's although it lies below the root.
fn path(name: &str, tree: &TreeFacts) -> Option<MissingDependency> {
    let Some(relative) = tree.relative(name) else {
        return Some(MissingDependency::of_machine(
            MissingKind::Program,
            name,
            remedy::generic_remedy(MissingKind::Program, name),
        ));
    };
    let mut parts = relative.split('/');
    let first = parts.next().unwrap_or_default();
    if relative.contains("node_modules/") {
        return tree.has_package_file().then(|| node_modules(tree));
    }
    if VIRTUAL_ENVIRONMENTS.contains(&first) && relative.contains("/bin/") {
        let program = relative.rsplit('/').next().unwrap_or_default();
        let remedy = remedy::virtual_environment(first, program, tree);
        return Some(MissingDependency::of_machine(MissingKind::Program, name, remedy));
    }
    if first == "vendor" && tree.has_named("composer.json") {
        let remedy = "`composer install`".to_owned();
        return Some(MissingDependency::of_machine(MissingKind::PhpPackage, name, remedy));
    }
    let interpreter = tree.present.get(&relative).and_then(|it| it.interpreter.as_deref());
    // The line end of another system is a defect of the file itself.
    let interpreter = interpreter.filter(|it| it.starts_with('/') && !it.ends_with('\r'));
    match interpreter.and_then(|it| it.split(' ').next()) {
        Some(program) if !program.ends_with("/env") => {
            let remedy = remedy::generic_remedy(MissingKind::Interpreter, program);
            Some(MissingDependency::of_machine(MissingKind::Interpreter, program, remedy))
        }
        _ => Some(MissingDependency::of_project(MissingKind::File, name)),
    }
}

/// Only what is known to be installed: the program may be the one that the work is about.
fn inner(name: &str, command: &str, tree: &TreeFacts) -> Option<MissingDependency> {
    let is_python = tables::PYTHON.iter().any(|(it, dist)| *it == name || *dist == name);
    let is_known = is_python || tables::KNOWN_PROGRAMS.contains(&name) || tree.declares_python(name, name);
    (is_known || tree.defines_program(name)).then(|| program(name, command, tree))
}

fn program(name: &str, command: &str, tree: &TreeFacts) -> MissingDependency {
    if tree.defines_program(name) {
        return MissingDependency::of_project(MissingKind::Program, name);
    }
    if remedy::is_run_by_packages(command)
        && !remedy::is_run_by_packages(name)
        && let Some(found) = of_packages(name, tree)
    {
        return found;
    }
    MissingDependency::of_machine(MissingKind::Program, name, remedy::program(name, tree))
}

/// A program that a package brings: nothing was installed, or not this one.
fn of_packages(name: &str, tree: &TreeFacts) -> Option<MissingDependency> {
    if !tree.has_package_file() {
        return None;
    }
    let package = node_package(name);
    let is_package = tree.declares_node(package) || KNOWN_RUNNERS.contains(&package);
    if is_package && !tree.has_node_modules() {
        return Some(node_modules(tree));
    }
    let remedy = remedy::node(package, tree);
    is_package.then(|| MissingDependency::of_machine(MissingKind::NodePackage, package, remedy))
}

fn node_package(program: &str) -> &str {
    let known = tables::NODE_PROGRAMS.iter().find(|(it, _)| *it == program);
    known.map_or(program, |(_, package)| package)
}

/// A runner does not distinguish a program of a package from a script of the project.
fn node_program(name: &str, tree: &TreeFacts) -> Option<MissingDependency> {
    let package = node_package(name);
    if tree.owns_package(package) || tree.has_installed(package) {
        return None;
    }
    let of_machine = |remedy| Some(MissingDependency::of_machine(MissingKind::NodePackage, package, remedy));
    match (tree.declares_node(package), tree.has_node_modules()) {
        (true, false) => Some(node_modules(tree)),
        (true, true) => of_machine(remedy::node(package, tree)),
        (false, _) if tree.defines_program(name) => None,
        (false, _) if KNOWN_RUNNERS.contains(&package) => of_machine(remedy::node(package, tree)),
        (false, _) => Some(MissingDependency::of_project(MissingKind::Target, name)),
    }
}

/// Program names that no project gives to one of its scripts.
const KNOWN_RUNNERS: &[&str] = &[
    "ava",
    "c8",
    "cypress",
    "eslint",
    "jasmine",
    "jest",
    "karma",
    "mocha",
    "nyc",
    "prettier",
    "tap",
    "tape",
    "ts-node",
    "tsx",
    "typescript",
    "vitest",
    "@playwright/test",
    "@biomejs/biome",
    "xo",
    "standard",
    "webpack",
    "vite",
    "rollup",
    "esbuild",
    "turbo",
    "nx",
    "lerna",
];

fn node_modules(tree: &TreeFacts) -> MissingDependency {
    MissingDependency::of_machine(MissingKind::NodePackage, NODE_MODULES, remedy::install(tree))
}

/// The project imports its own files by relative paths and aliases; a bare name is a package.
fn node(name: &str, tree: &TreeFacts) -> Option<MissingDependency> {
    let of_project = || Some(MissingDependency::of_project(MissingKind::File, name));
    if name.starts_with(['.', '#', '~']) || name.starts_with("@/") {
        return of_project();
    }
    if name.starts_with('/') || name.starts_with("file:") {
        return tree.relative(name).and_then(|_| of_project());
    }
    let package = package(name);
    let is_name = |it: char| it.is_ascii_alphanumeric() || "@/._-".contains(it);
    if name.starts_with("node:") || !name.chars().all(is_name) || tree.has_installed(package) {
        return None;
    }
    let first = name.split('/').next().unwrap_or(name);
    if !tree.declares_node(package) {
        let own = tree.owns_package(package) || tree.has_alias(name) || tree.has_source(first);
        if own || name.contains(':') {
            return of_project();
        }
    }
    if tree.has_package_file() && !tree.has_node_modules() && tree.declares_node(package) {
        return Some(node_modules(tree));
    }
    Some(MissingDependency::of_machine(MissingKind::NodePackage, package, remedy::node(package, tree)))
}

/// Own modules are imported by bare names too: only what is declared or known to be installed is the machine's.
fn python(name: &str, tree: &TreeFacts) -> Option<MissingDependency> {
    let module = name.split('.').next().unwrap_or(name);
    if tree.has_python_module(module) {
        return Some(MissingDependency::of_project(MissingKind::PythonModule, name));
    }
    let known = tables::PYTHON.iter().find(|(it, _)| *it == module);
    let dist = known.map_or(module, |(_, dist)| if dist.is_empty() { module } else { dist });
    let is_declared = tree.declares_python(module, dist);
    if known.is_none() && !is_declared {
        return None;
    }
    Some(MissingDependency::of_machine(MissingKind::PythonModule, module, remedy::python(dist, tree)))
}

/// `error: unrecognized arguments: --cov=src`
fn plugin(arguments: &str, command: &str, tree: &TreeFacts) -> Option<MissingDependency> {
    if !command.contains("pytest") && !command.contains("py.test") && !command.contains("tox") {
        return None;
    }
    let brings = |argument: &str| {
        let name = argument.split('=').next().unwrap_or(argument);
        let is_it =
            |option: &str| name == option || (option.len() > 2 && name.starts_with(&format!("{option}-")));
        tables::PYTEST_OPTIONS.iter().find(|(option, _)| is_it(option)).map(|(_, plugin)| *plugin)
    };
    let plugin = arguments.split_whitespace().find_map(brings)?;
    Some(MissingDependency::of_machine(MissingKind::Plugin, plugin, remedy::python(plugin, tree)))
}

fn gem(file: &str, tree: &TreeFacts) -> Option<MissingDependency> {
    let name = file.split('/').next().unwrap_or(file);
    let is_gem = tables::GEMS.contains(&name) || tree.declares_gem(name);
    let own = tree.files.iter().any(|it| it.ends_with(&format!("{file}.rb")));
    if own || !is_gem || file.starts_with(['.', '/']) {
        return None;
    }
    let remedy = if tree.has_named("Gemfile") {
        "`bundle install`".to_owned()
    } else {
        format!("`gem install {name}`")
    };
    Some(MissingDependency::of_machine(MissingKind::Gem, name, remedy))
}
