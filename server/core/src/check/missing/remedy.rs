//! Suggests how the user can provide a missing dependency, by commands of the tools that the project uses.

use super::MissingKind;
use super::tables::{self, VIRTUAL_ENVIRONMENTS};
use super::tree::TreeFacts;
use loopkeeper_text::language::translate;
use loopkeeper_text::tr;

/// A remedy that does not depend on the tree.
pub(super) fn generic_remedy(kind: MissingKind, name: &str) -> String {
    let known = tables::PROGRAMS.iter().find(|(it, _)| *it == name);
    match kind {
        MissingKind::Service => tr!("start {name}", name),
        MissingKind::Toolchain if name.starts_with("go ") => tr!("install {name}", name),
        MissingKind::Toolchain
            if name.matches('-').count() >= 2 && !name.contains("nightly") && !name.contains("stable") =>
        {
            format!("`rustup target add {name}`")
        }
        MissingKind::Toolchain => format!("`rustup toolchain install {name}`"),
        MissingKind::Library => tr!("install {name} with its headers", name),
        MissingKind::Program if name == "Playwright browsers" => "`npx playwright install`".to_owned(),
        MissingKind::Program
        | MissingKind::Interpreter
        | MissingKind::PythonModule
        | MissingKind::NodePackage
        | MissingKind::Gem
        | MissingKind::PhpPackage
        | MissingKind::Plugin
        | MissingKind::Server
        | MissingKind::File
        | MissingKind::Target
        | MissingKind::Other => match known {
            Some((_, how)) => translate(how).to_owned(),
            None => tr!("install {name}, or change the check", name),
        },
    }
}

/// A program by its name: the project's own environment may have it already.
pub(super) fn program(name: &str, tree: &TreeFacts) -> String {
    let is_python = tables::PYTHON.iter().any(|(it, dist)| it.replace('_', "-") == name || *dist == name);
    if is_python && name != "pip" {
        return python(name, tree);
    }
    generic_remedy(MissingKind::Program, name)
}

/// A package of Python, by the tool that manages the project's.
pub(super) fn python(dist: &str, tree: &TreeFacts) -> String {
    let is_declared = tree.declares_python(dist, dist);
    let by = |lock: &str, all: &str, one: String| {
        let is_used = tree.has_named(lock);
        is_used.then(|| if is_declared { format!("`{all}`") } else { format!("`{one}`") })
    };
    let managed = by("uv.lock", "uv sync", format!("uv add --dev {dist}"))
        .or_else(|| by("poetry.lock", "poetry install", format!("poetry add --group dev {dist}")))
        .or_else(|| by("pdm.lock", "pdm install", format!("pdm add -d {dist}")))
        .or_else(|| by("Pipfile", "pipenv install --dev", format!("pipenv install --dev {dist}")));
    let environment = VIRTUAL_ENVIRONMENTS.iter().find(|it| tree.present.contains_key(**it));
    match (managed, environment) {
        (Some(how), _) => how,
        (None, Some(folder)) => {
            tr!(
                "`{folder}/bin/python -m pip install {dist}`, and `{folder}/bin/python` in the check",
                folder,
                dist
            )
        }
        (None, None) => format!("`python3 -m pip install {dist}`"),
    }
}

/// What a path such as `.venv/bin/pytest` needs.
pub(super) fn virtual_environment(folder: &str, program: &str, tree: &TreeFacts) -> String {
    let make = format!("`python3 -m venv {folder}`");
    let is_tool = !program.starts_with("python") && program != "pip";
    let install = is_tool.then(|| format!("`{folder}/bin/python -m pip install {program}`"));
    match (tree.present.contains_key(folder), install) {
        (true, Some(install)) => install,
        (false, Some(install)) => tr!("{first}, then {second}", first = make, second = install),
        (_, None) => make,
    }
}

/// Installs every dependency of the package file.
pub(super) fn install(tree: &TreeFacts) -> String {
    format!("`{} install`", manager(tree))
}

pub(super) fn node(package: &str, tree: &TreeFacts) -> String {
    if tree.declares_node(package) {
        return install(tree);
    }
    let manager = manager(tree);
    let add = if manager == "npm" { "install --save-dev" } else { "add --dev" };
    format!("`{manager} {add} {package}`")
}

fn manager(tree: &TreeFacts) -> &'static str {
    const LOCKS: [(&str, &str); 4] =
        [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")];
    LOCKS.iter().find(|(lock, _)| tree.has_named(lock)).map_or("npm", |(_, manager)| manager)
}

/// Whether the command runs programs that packages bring.
pub(super) fn is_run_by_packages(command: &str) -> bool {
    const RUNNERS: [&str; 8] = ["npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx", "make"];
    command.split(|it: char| it.is_whitespace() || "|&;()".contains(it)).any(|it| RUNNERS.contains(&it))
}
