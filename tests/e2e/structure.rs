//! Rules of the source tree: the length of files, a map that names every part, working links.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const LONGEST_FILE: usize = 500;

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files below a folder with one of these extensions.
pub(crate) fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
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
    let named = |part: &str| [format!("`{part}/`"), format!("`{part}`")].iter().any(|it| page.contains(it));
    let parts = folders("server").into_iter().chain(folders("server/core/src"));
    let missing: Vec<String> = parts.filter(|it| !named(it)).collect();
    assert_eq!(missing, [""; 0]);
}

/// Lines of a source that write the label of a hint, outside comments and tests.
fn labelled_hints(source: &str) -> Vec<&str> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let is_comment = |line: &&str| line.trim_start().starts_with("//");
    code.lines().filter(|it| !is_comment(it) && it.replace("ValueHint:", "").contains("Hint:")).collect()
}

#[test]
fn only_the_message_module_joins_a_fact_and_a_hint() {
    let is_test = |path: &Path| path.ends_with("tests.rs") || path.iter().any(|it| it == "tests");
    for file in files(&root().join("server"), &["rs"]) {
        if !is_test(&file) && !file.ends_with("text/src/message.rs") {
            let source = fs::read_to_string(&file).unwrap();
            assert_eq!(labelled_hints(&source), [""; 0], "{}: use `Message`", file.display());
        }
    }
}

#[test]
fn a_hint_in_a_string_is_found() {
    let check = |source: &str, expect: &[&str]| assert_eq!(labelled_hints(source), expect, "{source}");
    check("let it = \"a. Hint: b\";", &["let it = \"a. Hint: b\";"]);
    check("x\ny(\"\\nHint: b\")", &["y(\"\\nHint: b\")"]);
    check("/// `a. Hint: b`\nvalue_hint = ValueHint::FilePath", &[]);
    check("x\n#[cfg(test)]\nassert(\"a. Hint: b\")", &[]);
}

/// Broken links of a page: to a missing file or heading.
fn dead_links(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).unwrap();
    let is_dead = |link: &&str| {
        let (path, heading) = link.split_once('#').unwrap_or((link, ""));
        let target = if path.is_empty() { page.to_owned() } else { page.parent().unwrap().join(path) };
        !target.exists() || !heading.is_empty() && !headings(&target).iter().any(|it| it == heading)
    };
    // What is in a fence is an example.
    let prose: String = text.split("\n```").step_by(2).collect();
    let links = prose.split("](").skip(1).filter_map(|it| it.split(')').next());
    links.filter(|it| !it.contains("://") && !it.contains(' ')).filter(is_dead).map(str::to_owned).collect()
}

/// In the form that links use.
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
fn every_link_of_a_page_has_a_target() {
    let pages = ["server", "editors", ".github"].map(|it| files(&root().join(it), &["md"])).concat();
    for page in pages.into_iter().chain([root().join("README.md")]) {
        assert_eq!(dead_links(&page), [""; 0], "{}", page.display());
    }
}

/// Sources that a page names and that do not exist.
fn missing_sources(page: &str) -> Vec<&str> {
    let is_source = |it: &&str| {
        it.contains("/src/") && !it.contains(' ') && Path::new(it).extension().is_some_and(|it| it == "rs")
    };
    page.split('`').filter(is_source).filter(|it| !root().join("server").join(it).exists()).collect()
}

#[test]
fn every_source_that_a_page_names_exists() {
    let contributing = root().join(".github/CONTRIBUTING.md");
    for page in files(&root().join("server"), &["md"]).into_iter().chain([contributing]) {
        let text = fs::read_to_string(&page).unwrap();
        assert_eq!(missing_sources(&text), [""; 0], "{}", page.display());
    }
    assert_eq!(missing_sources("`core/src/decide.rs` and `core/src/gone.rs`"), ["core/src/gone.rs"]);
}

#[test]
fn the_neighbours_of_an_addition_are_found() {
    let page = fs::read_to_string(root().join(".github/CONTRIBUTING.md")).unwrap();
    let commands: Vec<&str> = page.split('`').filter(|it| it.starts_with("git grep ")).collect();
    assert!(commands.len() >= 5, "{commands:?}");
    for command in commands {
        let found = Command::new("sh").args(["-c", command]).current_dir(root()).output().unwrap();
        assert!(found.status.success(), "{command}: {found:?}");
    }
}

#[test]
fn a_broken_link_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.md");
    let links = "[a](#one-two) [b](page.md#one-two) [c](gone.md) [d](#three) [e](https://example.org/x)\n\n```\n[f](gone.too)\n```";
    fs::write(&page, format!("# One `two`\n\n{links}\n")).unwrap();
    assert_eq!(dead_links(&page), ["gone.md", "#three"]);
}
