//! What the tree keeps to: who may know whom, how long a file may be, and pages that name what is there.

use std::fs;
use std::path::{Path, PathBuf};

const LONGEST_FILE: usize = 500;

/// From the lowest: each knows those before it alone.
const LAYERS: &[&str] = &["adapters", "hook", "acp", "keeper", "operations", "workspace", "lsp", "cli"];

/// The modules of the core in the same order, so that no cycle connects them.
const CORE_MODULES: &[&str] = &[
    "moment",
    "text",
    "criterion",
    "task",
    "agent",
    "check",
    "claims",
    "exit_condition",
    "settings",
    "jury",
    "journal",
    "trust",
    "tamper",
    "prompt",
    "decide",
    "plugin_loop",
    "view",
    "doctor",
    "probe",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files below a folder that end in one of these.
fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_symlink() || path.ends_with("node_modules") {
        } else if path.is_dir() {
            found.extend(files(&path, endings));
        } else if path.extension().is_some_and(|it| endings.iter().any(|ending| it == *ending)) {
            found.push(path);
        }
    }
    found
}

fn folders(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap().map(|it| it.unwrap());
    entries.filter(|it| it.path().is_dir()).map(|it| it.file_name().into_string().unwrap()).collect()
}

/// The parts of `order` above its own that a text of `part` names.
fn reaches_up(order: &'static [&str], part: &str, text: &str) -> Vec<&'static str> {
    let own = order.iter().position(|it| *it == part).unwrap();
    order[own + 1..].iter().filter(|above| names(text, above)).copied().collect()
}

fn names(text: &str, part: &str) -> bool {
    let is_it = |it: &str| it.split(|end: char| !end.is_alphanumeric() && end != '_').next() == Some(part);
    text.split("crate::").skip(1).any(|rest| match rest.strip_prefix('{') {
        Some(group) => {
            group.split(';').next().unwrap_or_default().split(['{', '}', ',']).any(|it| is_it(it.trim()))
        }
        None => is_it(rest),
    })
}

/// What a file of the core holds beside tests, with every path from the root of the crate.
fn production_text(text: &str, depth: usize) -> String {
    let mut parts = text.split("\n#[cfg(test)]\nmod tests {");
    let first = parts.next().unwrap_or_default();
    let behind = parts.filter_map(|it| it.split_once("\n}\n").map(|it| it.1));
    let production: String = std::iter::once(first).chain(behind).collect();
    production.replace(&"super::".repeat(depth), "crate::")
}

/// The modules that a file declares for tests alone, by their paths without an ending.
fn test_modules(file: &Path, text: &str) -> Vec<PathBuf> {
    let pairs = text.lines().zip(text.lines().skip(1)).filter(|(attribute, _)| *attribute == "#[cfg(test)]");
    let declared = pairs.filter_map(|(_, item)| item.strip_suffix(';')?.split_once("mod ").map(|it| it.1));
    declared.map(|name| file.with_extension("").join(name)).collect()
}

/// The production files of a module of the core, each with its text as [`production_text`] gives it.
fn core_files(module: &str) -> Vec<(PathBuf, String)> {
    let source = root().join("server/core/src");
    let part = source.join(module);
    let below = if part.is_dir() { files(&part, &["rs"]) } else { Vec::new() };
    let all: Vec<(PathBuf, String)> = below
        .into_iter()
        .chain([part.with_extension("rs")])
        .map(|file| (file.clone(), fs::read_to_string(file).unwrap()))
        .collect();
    let for_tests: Vec<PathBuf> = all.iter().flat_map(|(file, text)| test_modules(file, text)).collect();
    all.into_iter()
        .filter(|(file, _)| !for_tests.iter().any(|it| file.with_extension("").starts_with(it)))
        .map(|(file, text)| {
            let depth = file.strip_prefix(&source).unwrap().components().count();
            let text = production_text(&text, depth);
            (file, text)
        })
        .collect()
}

#[test]
fn no_part_of_the_server_knows_one_above_it() {
    for layer in LAYERS {
        let part = root().join("server").join(layer);
        for file in files(&part, &["rs"]).into_iter().chain([part.with_extension("rs")]) {
            let text = fs::read_to_string(&file).unwrap();
            assert_eq!(reaches_up(LAYERS, layer, &text), [""; 0], "{}", file.display());
        }
    }
}

#[test]
fn a_part_that_knows_one_above_it_is_found() {
    for (layer, text, expect) in [
        ("adapters", "use crate::keeper::stage;", vec!["keeper"]),
        ("hook", "let a = crate::acp::WORD; crate::lsp::serve()", vec!["acp", "lsp"]),
        ("adapters", "use crate::{cli::run,\n    hook};", vec!["hook", "cli"]),
        ("adapters", "use crate::{clock::{self, Clock}, lsp};", vec!["lsp"]),
        ("keeper", "use crate::{adapters, acp};\nuse crate::hook;", vec![]),
        ("acp", "use crate::clipped;", vec![]),
    ] {
        assert_eq!(reaches_up(LAYERS, layer, text), expect, "{text}");
    }
}

#[test]
fn no_module_of_the_core_knows_one_above_it() {
    let declared = fs::read_to_string(root().join("server/core/src/lib.rs")).unwrap();
    let mut declared: Vec<&str> =
        declared.lines().filter_map(|it| it.strip_suffix(';')?.split_once("mod ").map(|it| it.1)).collect();
    let mut ordered = CORE_MODULES.to_vec();
    declared.sort_unstable();
    ordered.sort_unstable();
    assert_eq!(declared, ordered);
    for module in CORE_MODULES {
        for (file, text) in core_files(module) {
            assert_eq!(reaches_up(CORE_MODULES, module, &text), [""; 0], "{}", file.display());
        }
    }
}

#[test]
fn a_module_of_the_core_that_knows_one_above_it_is_found() {
    let tests = "\n#[cfg(test)]\nmod tests {\n    use crate::decide::LoopState;\n}\n";
    for (depth, module, text, expect) in [
        (1, "task", "use crate::check::Status;", vec!["check"]),
        (1, "text", "use super::settings::LoopEvent;", vec!["settings"]),
        (2, "prompt", "use super::super::decide;\nuse super::notes;", vec!["decide"]),
        (2, "check", "use super::view;\nuse crate::text::words;", vec![]),
        (1, "agent", &format!("use crate::text;\n{tests}"), vec![]),
        (1, "agent", &format!("{tests}use crate::task::Task;\nuse crate::check::Status;"), vec!["check"]),
    ] {
        assert_eq!(reaches_up(CORE_MODULES, module, &production_text(text, depth)), expect, "{text}");
    }
    let file = Path::new("src/view/editor.rs");
    let text = "mod grid;\n#[cfg(test)]\nmod fixture;\n\n#[cfg(test)]\npub(crate) mod samples;\nmod hover;\n";
    assert_eq!(
        test_modules(file, text),
        ["fixture", "samples"].map(|it| Path::new("src/view/editor").join(it))
    );
}

#[test]
fn no_file_is_too_long_to_be_read() {
    for folder in ["server", "editors", "tests"] {
        for file in files(&root().join(folder), &["rs", "lua", "ts", "mjs", "py", "sh"]) {
            let lines = fs::read_to_string(&file).unwrap().lines().count();
            assert!(lines <= LONGEST_FILE, "{} has {lines} lines", file.display());
        }
    }
}

#[test]
fn the_map_of_the_code_names_every_part() {
    let page = fs::read_to_string(root().join("server/ARCHITECTURE.md")).unwrap();
    let named = |part: &str| page.contains(&format!("`{part}/`")) || page.contains(&format!("`{part}.rs`"));
    let parts = folders("server").into_iter().chain(LAYERS.iter().map(|it| (*it).to_owned()));
    let missing: Vec<String> = parts
        .filter(|it| !named(it))
        .chain(
            folders("server/core/src")
                .into_iter()
                .filter(|it| !named(it) && !named(&format!("core/src/{it}"))),
        )
        .collect();
    assert_eq!(missing, [""; 0]);
}

/// Links of a page that lead nowhere: to no file beside it, or to no heading.
fn dead_links(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).unwrap();
    let is_dead = |link: &&str| {
        let (path, heading) = link.split_once('#').unwrap_or((link, ""));
        let target = if path.is_empty() { page.to_owned() } else { page.parent().unwrap().join(path) };
        !target.exists() || !heading.is_empty() && !headings(&target).iter().any(|it| it == heading)
    };
    let links = text.split("](").skip(1).filter_map(|it| it.split(')').next());
    links.filter(|it| !it.contains("://") && !it.contains(' ')).filter(is_dead).map(str::to_owned).collect()
}

/// As links name them.
fn headings(page: &Path) -> Vec<String> {
    let anchor = |heading: &str| -> String {
        let kept = |it: &char| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_');
        heading
            .trim()
            .to_lowercase()
            .chars()
            .filter(kept)
            .map(|it| if it == ' ' { '-' } else { it })
            .collect()
    };
    let text = fs::read_to_string(page).unwrap();
    text.lines().filter(|it| it.starts_with('#')).map(|it| anchor(it.trim_start_matches('#'))).collect()
}

#[test]
fn every_link_of_a_page_leads_somewhere() {
    let pages = ["server", "editors", ".github"].map(|it| files(&root().join(it), &["md"])).concat();
    for page in pages.into_iter().chain([root().join("README.md")]) {
        assert_eq!(dead_links(&page), [""; 0], "{}", page.display());
    }
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.md");
    let links = "[a](#one-two) [b](page.md#one-two) [c](gone.md) [d](#three) [e](https://example.org/x)";
    fs::write(&page, format!("# One `two`\n\n{links}\n")).unwrap();
    assert_eq!(dead_links(&page), ["gone.md", "#three"]);
}
