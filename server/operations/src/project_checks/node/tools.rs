//! Finds the tools that a package declares and configures without a script for them: TypeScript, ESLint, Biome, Vitest,
//! Jest, the test runner of Bun.

use serde_json::Value;

use super::super::package::{PackageFolder, names};
use super::super::{FORMAT, LINT, TESTS, TYPES};

/// A tool: the dependency that provides it, its criterion, its command, and the beginnings of its configuration files.
struct NodeTool {
    dependency: &'static str,
    name: &'static str,
    command: &'static str,
    /// `eslint.config.` stands for every extension.
    files: &'static [&'static str],
    /// Its key in `package.json`.
    key: Option<&'static str>,
}

const TOOLS: [NodeTool; 6] = [
    NodeTool {
        dependency: "vitest",
        name: TESTS,
        command: "vitest run",
        files: &["vitest.config.", "vitest.workspace."],
        key: None,
    },
    NodeTool {
        dependency: "jest",
        name: TESTS,
        command: "jest",
        files: &["jest.config."],
        key: Some("jest"),
    },
    NodeTool {
        dependency: "@biomejs/biome",
        name: LINT,
        command: "biome check .",
        files: &["biome.json"],
        key: None,
    },
    NodeTool {
        dependency: "eslint",
        name: LINT,
        command: "eslint .",
        files: &["eslint.config.", ".eslintrc"],
        key: Some("eslintConfig"),
    },
    NodeTool {
        dependency: "typescript",
        name: TYPES,
        command: "tsc --noEmit",
        files: &["tsconfig.json"],
        key: None,
    },
    NodeTool {
        dependency: "prettier",
        name: FORMAT,
        command: "prettier --check .",
        files: &[".prettierrc", "prettier.config."],
        key: Some("prettier"),
    },
];

/// The commands of the tools that the package declares, or its workspace, and configures in its own folder.
pub(super) fn commands(
    package: &PackageFolder<'_>,
    manifest: &Value,
    manager: &str,
) -> Vec<(&'static str, String)> {
    let there = names(&package.path(""));
    let is_configured = |tool: &NodeTool| {
        let by_file = || there.iter().any(|name| tool.files.iter().any(|it| name.starts_with(it)));
        tool.key.is_some_and(|it| manifest.get(it).is_some()) || by_file()
    };
    let is_declared = |tool: &NodeTool| {
        declares(manifest, tool.dependency)
            || package.manifest_above().is_some_and(|it| declares(&it, tool.dependency))
    };
    let tools = TOOLS.iter().filter(|it| is_configured(it) && is_declared(it));
    let mut all: Vec<(&str, String)> =
        tools.map(|it| (it.name, format!("{} {}", launcher(manager), it.command))).collect();
    if manager == "bun" && has_bun_tests(package) {
        all.push((TESTS, "bun test".to_owned()));
    }
    all
}

pub(super) fn declares(manifest: &Value, dependency: &str) -> bool {
    ["dependencies", "devDependencies"]
        .iter()
        .any(|it| manifest.get(it).is_some_and(|it| it.get(dependency).is_some()))
}

/// How a package manager starts a tool that is installed; none of them downloads it.
fn launcher(manager: &str) -> &'static str {
    match manager {
        "pnpm" => "pnpm exec",
        "yarn" => "yarn run",
        "bun" => "bun run",
        _ => "npx --no-install",
    }
}

/// Bun runs every `*.test.*` file.
fn has_bun_tests(package: &PackageFolder<'_>) -> bool {
    let is_test = |it: &String| it.contains(".test.") || it.contains("_test.") || it.contains(".spec.");
    ["", "src", "test", "tests"].iter().any(|it| names(&package.path(it)).iter().any(is_test))
}
