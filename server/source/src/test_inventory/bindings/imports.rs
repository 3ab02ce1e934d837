//! Finds the imports of a source, in the syntax of each language.

use super::{ImportBinding, TestLanguage, split_identifier};
use loopkeeper_text::truncate;

/// No statement is longer, so that a text in which none ends is not read to its end at every line.
const MAX_STATEMENT_BYTES: usize = 8 << 10;

pub(super) fn imports(language: TestLanguage, code: &str) -> Vec<ImportBinding> {
    let read = match language {
        TestLanguage::Python => python,
        TestLanguage::Script => script,
        TestLanguage::Ruby | TestLanguage::Php => find_loaded_files,
        TestLanguage::Rust => rust,
        TestLanguage::Go => go,
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    let starts = std::iter::once(0).chain(code.match_indices('\n').map(|(at, _)| at + 1));
    for at in starts {
        read(truncate::first_bytes(code.get(at..).unwrap_or_default(), MAX_STATEMENT_BYTES), &mut found);
    }
    found
}

fn import(name: &str, module: &str, of: Option<&str>) -> ImportBinding {
    ImportBinding { name: name.to_owned(), module: module.to_owned(), of: of.map(ToOwned::to_owned) }
}

/// Each name of a list, with the one that it gets.
fn names<'a>(list: &'a str, renamed: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> + 'a {
    let one = move |it: &'a str| {
        let it = it.trim();
        let (of, name) = it.split_once(renamed).unwrap_or((it, it));
        (of.trim(), name.trim())
    };
    list.split(',').map(one).filter(|(of, _)| !of.is_empty())
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn python(text: &str, found: &mut Vec<ImportBinding>) {
    if let Some(rest) = text.strip_prefix("from ") {
        let Some((module, list)) = first_line(rest).split_once(" import ") else { return };
        let list = match list.trim().strip_prefix('(') {
            Some(_) => rest.split_once('(').and_then(|(_, it)| it.split_once(')')).map_or("", |it| it.0),
            None => list,
        };
        let all = names(list, " as ").map(|(of, name)| match of {
            "*" => import("", module.trim(), None),
            _ => import(name, module.trim(), Some(of)),
        });
        found.extend(all);
    } else if let Some(list) = text.strip_prefix("import ") {
        let all = names(first_line(list), " as ");
        found.extend(all.map(|(of, name)| import(name.split('.').next().unwrap_or(name), of, None)));
    }
}

fn script(text: &str, found: &mut Vec<ImportBinding>) {
    let quoted = |it: &str| {
        let mut parts = it.trim_start().splitn(3, ['\'', '"', '`']);
        let is_first = parts.next().is_some_and(str::is_empty);
        parts.next().filter(|_| is_first).map(ToOwned::to_owned)
    };
    let statement = text.split_once(';').map_or(text, |it| it.0);
    if let Some(rest) = statement.strip_prefix("import ") {
        let Some((list, module)) = rest.split_once(" from ").or_else(|| rest.split_once("} from")) else {
            return;
        };
        if let Some(module) = quoted(module).filter(|_| !list.starts_with("type ")) {
            add_bindings(list, &module, " as ", "default", found);
        }
        return;
    }
    let declared = ["const ", "let ", "var "].into_iter().find_map(|it| statement.strip_prefix(it));
    let Some((list, value)) = declared.and_then(|it| it.split_once('=')) else { return };
    let value = value.trim_start().trim_start_matches('(').trim_start_matches("await ");
    let Some(module) = value.strip_prefix("require(").or_else(|| value.strip_prefix("import(")) else {
        return;
    };
    let member = module.split_once(").").and_then(|(_, it)| split_identifier(it));
    let Some(module) = quoted(module) else { return };
    match member {
        Some((of, _)) => found.push(import(list.trim(), &module, Some(of))),
        None => add_bindings(list, &module, ":", "", found),
    }
}

/// `whole, { of as name }` and `* as whole`; `plain`: what a name without braces is of the module.
fn add_bindings(list: &str, module: &str, renamed: &str, plain: &str, found: &mut Vec<ImportBinding>) {
    let (whole, braces) = list.split_once('{').unwrap_or((list, ""));
    for (of, name) in names(whole, " as ") {
        let of = Some(plain).filter(|it| of != "*" && !it.is_empty());
        found.push(import(name, module, of));
    }
    let braces = braces.split_once('}').map_or(braces, |it| it.0);
    let values = names(braces, renamed).filter(|(of, _)| !of.starts_with("type "));
    found.extend(values.map(|(of, name)| import(name, module, Some(of))));
}

/// Files that are loaded whole.
fn find_loaded_files(text: &str, found: &mut Vec<ImportBinding>) {
    let line = first_line(text);
    let Some((word, rest)) = split_identifier(line) else { return };
    if !matches!(word, "require" | "require_once" | "include" | "include_once" | "require_relative" | "load")
    {
        return;
    }
    // Ruby finds `require 'calc'` in its load path, PHP a path relative to its own folder.
    let Some(path) = rest.split(['\'', '"']).nth(1) else { return };
    found.push(import("", path.trim_start_matches('/'), None));
}

fn rust(text: &str, found: &mut Vec<ImportBinding>) {
    let Some(rest) = text.strip_prefix("pub ").unwrap_or(text).strip_prefix("use ") else { return };
    let Some((path, _)) = rest.split_once(';') else { return };
    let (module, list) = match path.split_once('{') {
        Some((module, list)) => (module.trim_end_matches("::"), list.trim_end_matches('}')),
        None => path.rsplit_once("::").unwrap_or((path, "")),
    };
    let all = names(list, " as ").map(|(of, name)| match of {
        "*" => import("", module.trim(), None),
        _ => import(name.rsplit("::").next().unwrap_or(name), module.trim(), Some(of)),
    });
    found.extend(all);
}

/// Members of a package see all of it.
fn go(text: &str, found: &mut Vec<ImportBinding>) {
    if first_line(text).starts_with("package ") {
        found.push(import("", "", None));
    }
}
