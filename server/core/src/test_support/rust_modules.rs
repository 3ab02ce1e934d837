//! Modules of Rust that only a build of the tests contains: their declaration, or that of a module around them, has
//! `#[cfg(test)]`.

use std::collections::HashMap;

use regex::Regex;

use crate::drift::names;
use loopkeeper_source::test_inventory::{TestLanguage, language};

/// Modules around modules that are followed.
const DEPTH: u32 = 5;

/// Whether the file is compiled for tests only. `texts`: all files of the tree.
pub(super) fn is_of_tests(path: &str, texts: &HashMap<&str, &str>) -> bool {
    language(path) == Some(TestLanguage::Rust) && is_behind_attribute(path, texts, DEPTH)
}

fn is_behind_attribute(path: &str, texts: &HashMap<&str, &str>, depth: u32) -> bool {
    let Some((folder, module)) = place(path).filter(|_| depth > 0) else { return false };
    let (above, name) = folder.rsplit_once('/').unwrap_or(("", folder));
    let prefix = if above.is_empty() { String::new() } else { format!("{above}/") };
    let own = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let mut parents = vec![format!("{own}mod.rs"), format!("{own}lib.rs"), format!("{own}main.rs")];
    if !name.is_empty() {
        parents.push(format!("{prefix}{name}.rs"));
    }
    parents.retain(|it| it != path);
    let mut declared = parents
        .iter()
        .filter_map(|it| Some((it, declarations(texts.get(it.as_str())?, module))))
        .filter(|(_, it)| !it.is_empty())
        .peekable();
    declared.peek().is_some()
        && declared.all(|(parent, attributes)| {
            attributes.iter().all(|it| *it) || is_behind_attribute(parent, texts, depth - 1)
        })
}

/// The folder in which the parent of the module is searched, and the name of the module.
fn place(path: &str) -> Option<(&str, &str)> {
    let folder = path.rsplit_once('/').map_or("", |it| it.0);
    match names::stem(path) {
        "lib" | "main" | "build" => None,
        "mod" => {
            let (above, module) = folder.rsplit_once('/').unwrap_or(("", folder));
            (!module.is_empty()).then_some((above, module))
        }
        module => Some((folder, module)),
    }
}

/// For each declaration of the module, whether it has the attribute.
fn declarations(text: &str, module: &str) -> Vec<bool> {
    let pattern = format!(
        r"(?m)^[ \t]*(?P<attributes>(?:#\[[^\n]*\]\s*)*)(?:pub(?:\([^)]*\))?\s+)?mod\s+{}\s*;",
        regex::escape(module)
    );
    let Ok(pattern) = Regex::new(&pattern) else { return Vec::new() };
    let is_of_tests = |it: regex::Captures<'_>| {
        it.name("attributes")
            .is_some_and(|it| it.as_str().split_whitespace().collect::<String>().contains("#[cfg(test)]"))
    };
    pattern.captures_iter(text).map(is_of_tests).collect()
}
