//! Files that are work and judge at once: manifests, Makefiles, Rust sources with their tests inside. The final verdict
//! takes the parts that decide how tests run from the start, and leaves the rest as it is.

mod cmake;
mod make;
mod manifests;
mod rust;
#[cfg(test)]
mod tests;
mod tsconfig;

use serde_json::{Map, Value};

pub(super) use manifests::RUNNERS_OF_NODE;

use super::{file_name, recipes};

/// The final text with the judging parts of the start; `None` if the file has no such parts or cannot be parsed.
/// `parts`: targets or scripts that checks run.
/// `exists`: whether the final tree has a file.
pub(super) fn with_parts_of_start(
    path: &str,
    parts: &[String],
    (start, end): (&str, &str),
    exists: &dyn Fn(&str) -> bool,
) -> Option<String> {
    match file_name(path) {
        "package.json" => manifests::package_json(parts, start, end),
        "pyproject.toml" => manifests::pyproject(start, end),
        "Cargo.toml" => manifests::cargo(path, (start, end), exists),
        "CMakeLists.txt" => cmake::with_tests_of_start(start, end),
        "deno.json" | "deno.jsonc" => manifests::deno(start, end),
        name if is_tsconfig(name) => tsconfig::with_checks_of_start(start, end),
        name if recipes::is_make(name) => make::makefile(parts, start, end),
        name if name.rsplit_once('.').is_some_and(|(_, it)| it == "rs") => rust::source(start, end),
        _ => None,
    }
}

/// Sets a member of `end` to its value in `start`.
fn restore_member(end: &mut Map<String, Value>, start: &Map<String, Value>, key: &str) {
    match start.get(key) {
        Some(value) => drop(end.insert(key.to_owned(), value.clone())),
        None => drop(end.remove(key)),
    }
}

/// `tsconfig.json`, `tsconfig.build.json`, `jsconfig.json`.
fn is_tsconfig(name: &str) -> bool {
    name == "jsconfig.json"
        || name.strip_prefix("tsconfig").is_some_and(|it| it.starts_with('.') && it.ends_with("json"))
}
