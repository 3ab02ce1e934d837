//! Finds the tools that a script runs and that are not installed: `eslint` of `"lint": "eslint ."`.

use std::path::Path;

use serde_json::Value;

use super::super::MissingTool;
use super::super::package::PackageFolder;
use super::tools::declares;
use loopkeeper_text::tr;

/// Programs and the packages that provide them. No other word of a script is looked up: it may be a function or a
/// keyword of the shell, or another script.
const PROGRAMS: [(&str, &str); 24] = [
    ("ava", "ava"),
    ("biome", "@biomejs/biome"),
    ("c8", "c8"),
    ("cypress", "cypress"),
    ("eslint", "eslint"),
    ("jasmine", "jasmine"),
    ("jest", "jest"),
    ("mocha", "mocha"),
    ("next", "next"),
    ("nuxi", "nuxi"),
    ("nx", "nx"),
    ("nyc", "nyc"),
    ("oxlint", "oxlint"),
    ("playwright", "@playwright/test"),
    ("prettier", "prettier"),
    ("standard", "standard"),
    ("stylelint", "stylelint"),
    ("svelte-check", "svelte-check"),
    ("tap", "tap"),
    ("tsc", "typescript"),
    ("turbo", "turbo"),
    ("vitest", "vitest"),
    ("vue-tsc", "vue-tsc"),
    ("xo", "xo"),
];

/// Words before the name of a tool.
const LAUNCHERS: [&str; 11] =
    ["npx", "--no-install", "pnpm", "yarn", "bun", "bunx", "exec", "run", "cross-env", "dotenv", "--"];

/// The first tool of a script or command that is neither installed in the packages of `folder` nor on `PATH`.
pub(super) fn missing_tool(
    package: &PackageFolder<'_>,
    folder: &Path,
    (manifest, manager): (&Value, &str),
    script: &str,
) -> Option<MissingTool> {
    // Plug'n'Play has no folder of programs, and a shell that loaded nvm has others on its `PATH`.
    if package.has_above(".pnp.cjs") || package.installed.nvm().is_some() {
        return None;
    }
    let is_installed = |name: &str| {
        let mut folders = folder.ancestors().take_while(|it| it.starts_with(package.root));
        package.has_program(name) || folders.any(|it| it.join("node_modules/.bin").join(name).exists())
    };
    let (name, dependency) = script.split(['&', '|', ';']).filter_map(tool).find(|it| !is_installed(it.0))?;
    let command = if declares(manifest, dependency) {
        format!("{manager} install")
    } else if manager == "npm" {
        format!("npm install --save-dev {dependency}")
    } else {
        format!("{manager} add --dev {dependency}")
    };
    let command = package.command(&command);
    Some(MissingTool { what: tr!("{name} is not installed", name), remedy: tr!("Run `{command}`.", command) })
}

/// The tool that a simple command runs. `npx` without `--no-install` downloads it.
fn tool(command: &str) -> Option<(&'static str, &'static str)> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let downloads = words.contains(&"npx") && !words.contains(&"--no-install");
    let first = words.into_iter().find(|it| !it.contains('=') && !LAUNCHERS.contains(it))?;
    PROGRAMS.into_iter().find(|(name, _)| *name == first && !downloads)
}
