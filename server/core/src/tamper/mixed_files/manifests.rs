//! Manifests of packages: dependencies and metadata are work, scripts that checks run and the settings of test runners
//! are judges.

use serde_json::{Map, Value};
use toml::Table;

use super::super::recipes;
use super::restore_member;

/// Keys of a `package.json` that configure test runners.
pub(crate) const RUNNERS_OF_NODE: [&str; 10] =
    ["jest", "vitest", "mocha", "ava", "c8", "nyc", "tap", "xo", "babel", "eslintConfig"];

/// `package.json`: the settings of runners, and the scripts that checks run, come from the start.
pub(super) fn package_json(parts: &[String], start: &str, end: &str) -> Option<String> {
    let old: Map<String, Value> = serde_json::from_str(start).ok()?;
    let mut new: Map<String, Value> = serde_json::from_str(end).ok()?;
    let before = new.clone();
    for key in RUNNERS_OF_NODE {
        restore_member(&mut new, &old, key);
    }
    let old_scripts = old.get("scripts").and_then(Value::as_object).cloned().unwrap_or_default();
    let names = recipes::script_names(parts, &Value::Object(old.clone()));
    if !names.is_empty() {
        let scripts = new.entry("scripts").or_insert_with(|| Value::Object(Map::new()));
        let scripts = scripts.as_object_mut()?;
        for name in names {
            for name in [format!("pre{name}"), format!("post{name}"), name] {
                restore_member(scripts, &old_scripts, &name);
            }
        }
    }
    if new == before {
        return None;
    }
    // If nothing else changed, the text of the start itself: some tools read it line by line.
    if new == old { Some(start.to_owned()) } else { serde_json::to_string_pretty(&new).ok() }
}

/// `deno.json`: the selection of test files, and imports that lead to other files or replace built-in modules, come
/// from the start. `None` also for a file with comments.
pub(super) fn deno(start: &str, end: &str) -> Option<String> {
    let object = |text: &str| match text.trim() {
        "" => Some(Map::new()),
        text => serde_json::from_str::<Map<String, Value>>(text).ok(),
    };
    let (start, mut end) = (object(start)?, object(end)?);
    let before = end.clone();
    for key in ["test", "exclude", "include", "importMap", "scopes", "tasks"] {
        restore_member(&mut end, &start, key);
    }
    let imports = |of: &Map<String, Value>| of.get("imports").and_then(Value::as_object).cloned();
    if let Some(mut new) = imports(&end) {
        let old = imports(&start).unwrap_or_default();
        let decides = |name: &str, to: Option<&Value>| {
            let leads = to.and_then(Value::as_str).is_some_and(|it| it.starts_with(['.', '/']));
            leads || name.starts_with(['.', '/']) || name.starts_with("node:")
        };
        let mut names: Vec<String> = new.keys().chain(old.keys()).cloned().collect();
        names.retain(|it| decides(it, new.get(it)) || decides(it, old.get(it)));
        for name in names {
            restore_member(&mut new, &old, &name);
        }
        end.insert("imports".to_owned(), Value::Object(new));
    }
    (end != before).then(|| serde_json::to_string_pretty(&end).ok()).flatten()
}

/// Tables below `tool` that describe the package and its dependencies.
const PACKAGING: [&str; 14] = [
    "poetry",
    "uv",
    "pdm",
    "hatch",
    "setuptools",
    "setuptools_scm",
    "setuptools-scm",
    "flit",
    "maturin",
    "scikit-build",
    "cibuildwheel",
    "rye",
    "pixi",
    "conda-lock",
];

/// `pyproject.toml`: the tables of tools come from the start, except those of packaging.
pub(super) fn pyproject(start: &str, end: &str) -> Option<String> {
    let (mut start, mut end): (Table, Table) = (start.parse().ok()?, end.parse().ok()?);
    let before = end.clone();
    let take_tools = |table: &mut Table| match table.remove("tool") {
        Some(toml::Value::Table(tools)) => tools,
        _ => Table::new(),
    };
    let is_packaging = |name: &String| PACKAGING.contains(&name.as_str());
    let (old, new) = (take_tools(&mut start), take_tools(&mut end));
    let kept = new.into_iter().filter(|(name, _)| is_packaging(name));
    let restored = old.into_iter().filter(|(name, _)| !is_packaging(name));
    let tools: Table = kept.chain(restored).collect();
    if !tools.is_empty() {
        end.insert("tool".to_owned(), toml::Value::Table(tools));
    }
    written(&before, &end)
}

/// `Cargo.toml`: the targets that Cargo tests, and its lints, come from the start.
pub(super) fn cargo(path: &str, (start, end): (&str, &str), exists: &dyn Fn(&str) -> bool) -> Option<String> {
    let (start, mut end): (Table, Table) = (start.parse().ok()?, end.parse().ok()?);
    let before = end.clone();
    for key in ["lints", "test"] {
        restore_value(&mut end, &start, key);
    }
    restore_below(&mut end, &start, "lib", &["test", "harness", "doctest"]);
    restore_below(&mut end, &start, "package", &["autotests", "autobins", "autoexamples", "build"]);
    restore_below(&mut end, &start, "profile", &["test"]);
    restore_below(&mut end, &start, "workspace", &["exclude", "default-members", "lints"]);
    let folder = path.strip_suffix("Cargo.toml").unwrap_or_default();
    keep_members(&mut end, &start, |it| it.contains('*') || exists(&format!("{folder}{it}/Cargo.toml")));
    written(&before, &end)
}

/// Keeps the members of the start that still exist, so that their tests run; others may be added.
fn keep_members(end: &mut Table, start: &Table, is_there: impl Fn(&str) -> bool) {
    fn members(table: &Table) -> Option<&Vec<toml::Value>> {
        table.get("workspace")?.get("members")?.as_array()
    }
    let Some(old) = members(start) else { return };
    let mut all = old.clone();
    all.retain(|it| it.as_str().is_none_or(&is_there));
    all.extend(members(end).into_iter().flatten().filter(|it| !old.contains(it)).cloned());
    if let Some(toml::Value::Table(workspace)) = end.get_mut("workspace") {
        workspace.insert("members".to_owned(), toml::Value::Array(all));
    }
}

fn restore_below(end: &mut Table, start: &Table, table: &str, keys: &[&str]) {
    let old = start.get(table).and_then(toml::Value::as_table);
    let Some(new) = end.get_mut(table).and_then(toml::Value::as_table_mut) else {
        let only: Table = old
            .into_iter()
            .flatten()
            .filter(|(key, _)| keys.contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        if !only.is_empty() {
            end.insert(table.to_owned(), toml::Value::Table(only));
        }
        return;
    };
    for key in keys {
        match old.and_then(|it| it.get(*key)) {
            Some(value) => drop(new.insert((*key).to_owned(), value.clone())),
            None => drop(new.remove(*key)),
        }
    }
}

fn restore_value(end: &mut Table, start: &Table, key: &str) {
    match start.get(key) {
        Some(value) => drop(end.insert(key.to_owned(), value.clone())),
        None => drop(end.remove(key)),
    }
}

fn written(before: &Table, after: &Table) -> Option<String> {
    (before != after).then(|| toml::to_string(after).ok()).flatten()
}
