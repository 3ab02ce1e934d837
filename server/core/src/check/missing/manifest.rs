//! Dependencies and own commands of a project, from files such as `pyproject.toml` and `package.json`.

use serde_json::Value;
use toml::Table;

/// Names of the dependencies of a Python project, as it writes them.
pub(super) fn python_dependencies(file: &str, text: &str) -> Vec<String> {
    match file {
        "pyproject.toml" => pyproject_dependencies(text),
        "Pipfile" => {
            let table = read_toml(text);
            ["packages", "dev-packages"].iter().flat_map(|it| keys(table.get(*it))).collect()
        }
        "setup.cfg" => text.lines().filter_map(requirement).collect(),
        _ if file.starts_with("requirements") => text.lines().filter_map(requirement).collect(),
        _ => Vec::new(),
    }
}

/// The name that a Python project gives itself.
pub(super) fn python_name(text: &str) -> Option<String> {
    let table = read_toml(text);
    let of = |path: &[&str]| at(&table, path)?.get("name")?.as_str().map(str::to_owned);
    of(&["project"]).or_else(|| of(&["tool", "poetry"]))
}

/// Names of the dependencies of a `package.json`.
pub(super) fn node_dependencies(text: &str) -> Vec<String> {
    const KEYS: [&str; 4] = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let names = |key: &&str| value.get(key).and_then(Value::as_object).into_iter().flatten();
    KEYS.iter().flat_map(names).map(|(name, _)| name.clone()).collect()
}

pub(super) fn node_name(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    value.get("name")?.as_str().map(str::to_owned)
}

/// Whether a project provides the program of this name, once it is installed.
pub(super) fn defines(file: &str, text: &str, program: &str) -> bool {
    match file {
        "pyproject.toml" => {
            let table = read_toml(text);
            let scripts = [&["project", "scripts"][..], &["tool", "poetry", "scripts"]];
            let own = scripts.iter().filter_map(|it| at(&table, it)).any(|it| it.contains_key(program));
            own || python_name(text).as_deref() == Some(program)
        }
        "package.json" => {
            let value: Value = serde_json::from_str(text).unwrap_or_default();
            let is_named = node_name(text).as_deref() == Some(program);
            is_named || value.get("bin").is_some_and(|it| it.get(program).is_some())
        }
        "Cargo.toml" => {
            let table = read_toml(text);
            let is_it = |it: &Table| it.get("name").and_then(toml::Value::as_str) == Some(program);
            let bins = table.get("bin").and_then(toml::Value::as_array).into_iter().flatten();
            at(&table, &["package"]).is_some_and(is_it) || bins.filter_map(toml::Value::as_table).any(is_it)
        }
        _ => false,
    }
}

/// Normalises a name of PyPI: case is ignored, and `-`, `_` and `.` are the same.
pub(super) fn normalized_name(name: &str) -> String {
    name.to_lowercase().replace(['_', '.'], "-")
}

fn pyproject_dependencies(text: &str) -> Vec<String> {
    let table = read_toml(text);
    let mut all = Vec::new();
    let project = at(&table, &["project"]);
    all.extend(string_list(project.and_then(|it| it.get("dependencies"))));
    let groups = [
        project.and_then(|it| it.get("optional-dependencies")),
        table.get("dependency-groups"),
        at(&table, &["tool", "pdm"]).and_then(|it| it.get("dev-dependencies")),
    ];
    for group in groups.into_iter().flatten().filter_map(toml::Value::as_table) {
        all.extend(group.values().flat_map(|it| string_list(Some(it))));
    }
    all.extend(string_list(at(&table, &["tool", "uv"]).and_then(|it| it.get("dev-dependencies"))));
    for env in at(&table, &["tool", "hatch", "envs"]).into_iter().flat_map(|it| it.values()) {
        all.extend(string_list(env.get("dependencies")));
    }
    if let Some(poetry) = at(&table, &["tool", "poetry"]) {
        all.extend(keys(poetry.get("dependencies")));
        all.extend(keys(poetry.get("dev-dependencies")));
        let groups = poetry.get("group").and_then(toml::Value::as_table);
        all.extend(groups.into_iter().flat_map(|it| it.values()).flat_map(|it| keys(it.get("dependencies"))));
    }
    all
}

fn read_toml(text: &str) -> Table {
    text.parse().unwrap_or_default()
}

fn at<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Table> {
    path.iter().try_fold(table, |it, key| it.get(*key)?.as_table())
}

fn keys(value: Option<&toml::Value>) -> Vec<String> {
    value.and_then(toml::Value::as_table).map(|it| it.keys().cloned().collect()).unwrap_or_default()
}

fn string_list(value: Option<&toml::Value>) -> Vec<String> {
    let items = value.and_then(toml::Value::as_array).into_iter().flatten();
    items.filter_map(toml::Value::as_str).filter_map(requirement).collect()
}

/// `pytest` of `pytest[testing]>=8 ; python_version > "3.9"`
fn requirement(line: &str) -> Option<String> {
    let line = line.trim();
    if line.starts_with(['#', '-', '[']) {
        return None;
    }
    let ends = |it: char| !(it.is_alphanumeric() || "-_.".contains(it));
    let name = line.split(ends).next().unwrap_or_default();
    (!name.is_empty()).then(|| name.to_owned())
}
