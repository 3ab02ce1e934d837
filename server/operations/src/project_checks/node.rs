//! Node: finds the scripts of `package.json`, run by the package manager of the project, with nvm if the project or the
//! machine uses it.

mod programs;
mod tools;

use std::path::{Path, PathBuf};

use serde_json::Value;

use loopkeeper_text::tr;

use super::package::PackageFolder;
use super::{COVERAGE, FORMAT, FoundCheck, LINT, ManifestError, MissingTool, ProposedChecks, TESTS, TYPES};

const FILE: &str = "package.json";
/// What `npm init` writes if there are no tests.
const NO_TESTS: &str = "no test specified";
const SCRIPTS: [(&str, &str); 13] = [
    (TESTS, "test"),
    (LINT, "lint"),
    (TYPES, "typecheck"),
    (TYPES, "type-check"),
    (TYPES, "check-types"),
    (TYPES, "types:check"),
    (TYPES, "tsc"),
    (FORMAT, "format:check"),
    (FORMAT, "check:format"),
    (FORMAT, "format-check"),
    (COVERAGE, "coverage"),
    (COVERAGE, "test:coverage"),
    (COVERAGE, "test:cov"),
];

pub(super) fn checks(package: &PackageFolder<'_>, checks: &mut ProposedChecks) -> Result<(), ManifestError> {
    let Some(text) = package.text(FILE)? else { return Ok(()) };
    let manifest = read(&package.path(FILE), &text)?;
    let manager = manager(package, &manifest);
    let lack = lack(package, &manifest, manager);
    let members = members(package, &manifest)?;
    let prefix = with_nvm(package, manager);
    let own = package.path("");
    let found = |name, command: &str, (folder, owner): (&Path, &Value), runs: &str| {
        let missing = || programs::missing_tool(package, folder, (owner, manager), runs);
        package.package_check((name, FILE), &format!("{prefix}{command}"), lack.clone().or_else(missing))
    };
    let mut all: Vec<FoundCheck> = Vec::new();
    for (name, script) in SCRIPTS {
        if all.iter().any(|it| it.name == name) {
            continue;
        }
        if let Some(runs) = script_text(&manifest, script) {
            let is_test = script == "test" && manager != "bun";
            let command = if is_test { format!("{manager} test") } else { format!("{manager} run {script}") };
            all.push(found(name, &command, (&own, &manifest), runs));
        } else if let Some((folder, member, runs)) =
            members.iter().find_map(|(folder, it)| Some((folder, it, script_text(it, script)?)))
        {
            let command = in_all_members(package, &manifest, manager, script);
            all.push(found(name, &command, (folder, member), runs));
        }
    }
    for (name, command) in tools::commands(package, &manifest, manager) {
        if !all.iter().any(|it| it.name == name) {
            all.push(found(name, &command, (&own, &manifest), &command));
        }
    }
    all.sort_by_key(|it| SCRIPTS.iter().position(|(name, _)| *name == it.name));
    for check in all {
        checks.add(check);
    }
    Ok(())
}

fn read(path: &Path, text: &str) -> Result<Value, ManifestError> {
    serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|source| ManifestError::NotJson { path: path.to_owned(), source })
}

fn script_text<'a>(manifest: &'a Value, name: &str) -> Option<&'a str> {
    let script = manifest.get("scripts").and_then(|it| it.get(name)).and_then(Value::as_str);
    script.filter(|it| !it.trim().is_empty() && !it.contains(NO_TESTS))
}

/// The package manager of the project.
fn manager(package: &PackageFolder<'_>, manifest: &Value) -> &'static str {
    let locks =
        [("pnpm", "pnpm-lock.yaml"), ("yarn", "yarn.lock"), ("bun", "bun.lock"), ("bun", "bun.lockb")];
    let named = package_manager(manifest);
    let by_name = locks.iter().find(|(name, _)| named.starts_with(name));
    let by_lock = || locks.iter().find(|(_, lock)| package.has_above(lock));
    by_name.or_else(by_lock).map_or("npm", |(name, _)| name)
}

fn package_manager(manifest: &Value) -> &str {
    manifest.get("packageManager").and_then(Value::as_str).unwrap_or_default()
}

/// nvm's programs are on the `PATH` only of a shell that loaded it.
fn with_nvm(package: &PackageFolder<'_>, manager: &str) -> String {
    let Some(nvm) = package.installed.nvm() else { return String::new() };
    let program = package.installed.program(manager, package.root);
    if package.has_above(".nvmrc") {
        format!(". {nvm} && nvm use --silent && ")
    } else if program.is_none_or(|it| package.installed.is_of_nvm(&it)) {
        format!(". {nvm} && ")
    } else {
        String::new()
    }
}

fn lack(package: &PackageFolder<'_>, manifest: &Value, manager: &str) -> Option<MissingTool> {
    if package.installed.nvm().is_none() && !package.has_program(manager) {
        return Some(MissingTool::program(manager));
    }
    let has = |key: &str| manifest.get(key).and_then(Value::as_object).is_some_and(|it| !it.is_empty());
    let has_dependencies = has("dependencies") || has("devDependencies");
    let is_installed = ["node_modules", ".pnp.cjs"].into_iter().any(|it| package.has_above(it));
    (has_dependencies && !is_installed).then(|| MissingTool {
        what: tr!("its dependencies are not installed: node_modules is missing").to_owned(),
        remedy: tr!("Run `{command}`.", command = package.command(&format!("{manager} install"))),
    })
}

/// The packages of a workspace: folders and manifests.
fn members(package: &PackageFolder<'_>, manifest: &Value) -> Result<Vec<(PathBuf, Value)>, ManifestError> {
    let workspaces = manifest.get("workspaces");
    let listed = workspaces.and_then(|it| it.as_array().or_else(|| it.get("packages")?.as_array()));
    let mut patterns: Vec<String> =
        listed.into_iter().flatten().filter_map(|it| it.as_str().map(str::to_owned)).collect();
    let pnpm = package.text("pnpm-workspace.yaml")?.unwrap_or_default();
    let entries = pnpm.lines().filter_map(|it| it.trim().strip_prefix("- "));
    patterns.extend(entries.map(|it| it.trim().trim_matches(['"', '\'']).to_owned()));
    let mut manifests = Vec::new();
    for folder in patterns.iter().flat_map(|it| folders(package, it)) {
        let path = folder.join(FILE);
        if let Some(text) = loopkeeper_system::config_text::read_text(&path)? {
            let manifest = read(&path, &text)?;
            manifests.push((folder, manifest));
        }
    }
    Ok(manifests)
}

/// Expands `packages/*` to its folders. Workspaces use globs only at the end of a pattern.
fn folders(package: &PackageFolder<'_>, pattern: &str) -> Vec<PathBuf> {
    let pattern = pattern.trim_start_matches("./");
    if pattern.starts_with(['!', '/']) || pattern.split('/').any(|it| it == "..") {
        return Vec::new();
    }
    let Some(base) = pattern.strip_suffix("/*").or_else(|| pattern.strip_suffix("/**")) else {
        return vec![package.path(pattern)];
    };
    let entries = std::fs::read_dir(package.path(base)).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|it| it.path()).filter(|it| it.is_dir()).collect();
    folders.sort();
    folders
}

fn in_all_members(package: &PackageFolder<'_>, manifest: &Value, manager: &str, script: &str) -> String {
    let named = package_manager(manifest);
    let is_classic =
        named.starts_with("yarn@1.") || (!named.starts_with("yarn@") && !package.has(".yarnrc.yml"));
    match manager {
        "pnpm" => format!("pnpm --recursive run {script}"),
        "yarn" if is_classic => format!("yarn workspaces run {script}"),
        "yarn" => format!("yarn workspaces foreach --all run {script}"),
        "bun" => format!("bun run --filter '*' {script}"),
        _ => format!("npm run {script} --workspaces --if-present"),
    }
}
