use proptest::prelude::any;
use proptest::{prop_assert, proptest};

use super::{Suggestion, in_check};
use crate::editor::{DeclaredCommand, ProjectFacts};

fn offered(marked: &str, project: ProjectFacts<'_>) -> (String, Vec<Suggestion>) {
    let offset = marked.find('|').expect("a cursor");
    let text = marked.replacen('|', "", 1);
    let all = in_check(&text, offset, project);
    (text, all)
}

/// The text after accepting a suggestion.
fn accepted(text: &str, suggestion: &Suggestion) -> String {
    let mut after = text.to_owned();
    after.replace_range(suggestion.replaces.clone(), &suggestion.text);
    after
}

/// Checks the labels offered at `|`, and the text after accepting the first one.
#[track_caller]
fn check(marked: &str, labels: &[&str], taken: &str) {
    let (text, all) = offered(marked, ProjectFacts::default());
    assert_eq!(all.iter().map(|it| it.label.as_str()).collect::<Vec<_>>(), labels, "{marked}");
    if let Some(first) = all.first() {
        assert_eq!(accepted(&text, first), taken);
    }
}

const EVERY_CHECK: &[&str] = &[
    "$ command",
    "exists glob…",
    "missing glob…",
    "has \"text\" glob…",
    "lacks \"text\" glob…",
    "GET url",
    "clean",
    "judge",
];

#[test]
fn checks_are_offered_inside_backticks_of_an_item() {
    check("- tests: `|`", EVERY_CHECK, "- tests: `$ `");
    check("- tests: `ex|`", &["exists glob…"], "- tests: `exists `");
    check("1. tests: `c|", &["clean"], "1. tests: `clean");
    check("- tests: `G|", &["GET url"], "- tests: `GET http://");
    check("- tests: `clean|", &[], "");
    check("  \"a: `m|\"", &["missing glob…"], "  \"a: `missing \"");
    check("- tests: `$ car|`", &[], "");
    check("- tests |", &[], "");
    check("- `a` and |", &[], "");
    check("prose `|`", &[], "");
    check("- é: `a` `h|`", &["has \"text\" glob…"], "- é: `a` `has `");
}

#[test]
fn expectations_are_offered_behind_a_command() {
    check(
        "- cov: `$ cov` `>|`",
        &[">= number", "> number", ">= baseline", "> baseline"],
        "- cov: `$ cov` `>= `",
    );
    check("- cov: `$ cov` `>= b|`", &[">= baseline"], "- cov: `$ cov` `>= baseline`");
    check("- cov: `$ cov` `=|`", &["== number", "== baseline"], "- cov: `$ cov` `== `");
    check("- cov: `$ cov` `exit| `", &["exit code"], "- cov: `$ cov` `exit  `");
    check("- cov: `$ cov` `!|`", &["!= number", "!/regex/"], "- cov: `$ cov` `!= `");
}

#[test]
fn attributes_are_offered_after_a_check() {
    let of_item = ["(optional)", "(timeout 10m)", "(stage 2)", "(group name)"];
    let all = [&["(rising)", "(not falling)"], &of_item[..]].concat();
    check("- cov: `$ cov` (|", &all, "- cov: `$ cov` (rising)");
    check("- cov: `exists a` (|)", &of_item, "- cov: `exists a` (optional)");
    check("1. cov: `judge` (g|", &["(group name)"], "1. cov: `judge` (group ");
    check("- cov: `$ cov` `>= 80` (no|)", &["(not falling)"], "- cov: `$ cov` `>= 80` (not falling)");
    check("- é: `$ cov` (optional) (r|", &["(rising)"], "- é: `$ cov` (optional) (rising)");
    check("- cov: `a` (|", &[], "");
    check("- cov (|: `$ cov`", &[], "");
    check("- cov: `$ cov` (rising)|", &[], "");
    check("- cov: `$ cov (|`", &[], "");
    check("cov: `$ cov` (|", &[], "");
}

fn commands() -> Vec<DeclaredCommand> {
    let declared = |command: &str, file: &str, criterion: &str| DeclaredCommand {
        command: command.to_owned(),
        file: file.to_owned(),
        criterion: criterion.to_owned(),
    };
    vec![
        declared("cargo test", "Cargo.toml", "All tests pass"),
        declared("cd \"a b\" && make lint", "a b/Makefile", "The linter has no complaints"),
        declared("echo `id`", "Makefile", "All tests pass"),
        declared("echo \u{202e}x", "Makefile", "All tests pass"),
    ]
}

/// Checks the commands offered at `|`: label and detail; and the text after accepting the first.
#[track_caller]
fn check_commands(marked: &str, expect: &[&str], taken: &str) {
    let commands = commands();
    let (text, mut all) = offered(marked, ProjectFacts { commands: &commands, files: &[] });
    all.retain(|it| it.kind == super::SuggestionKind::Command);
    let shown: Vec<String> = all.iter().map(|it| format!("{}, {}", it.label, it.detail)).collect();
    assert_eq!(shown, expect, "{marked}");
    if let Some(first) = all.first() {
        assert_eq!(accepted(&text, first), taken);
    }
}

#[test]
fn the_commands_of_the_project_are_offered_with_their_files() {
    let tests = "$ cargo test, from Cargo.toml";
    let lint = "$ cd \"a b\" && make lint, from a b/Makefile";
    check_commands("- a: `|`", &[tests, lint], "- a: `$ cargo test`");
    check_commands("- a: `$ |`", &[tests, lint], "- a: `$ cargo test`");
    check_commands("- 😀: `$ car|", &[tests], "- 😀: `$ cargo test");
    check_commands("- a: `$ cargo t|`", &[tests], "- a: `$ cargo test`");
    check_commands("- a: `car|`", &[tests], "- a: `$ cargo test`");
    check_commands("\"a: `$ cd|\"", &[lint], "\"a: `$ cd \\\"a b\\\" && make lint\"");
    check_commands("- a: `$ npm|`", &[], "");
    check_commands("- a: `$ cargo test` `|`", &[], "");
}

const FILES: &[&str] = &[
    ".github/a.yml",
    "docs/guide.md",
    "docs/my notes.md",
    "docs/odd`name.md",
    "src/editor/a.rs",
    "src/editor/b.rs",
    "src/é.rs",
    "src/main.rs",
];

/// Checks what is offered at `|`: label and detail; and the text after accepting the first.
#[track_caller]
fn check_files(marked: &str, expect: &[&str], taken: &str) {
    let files: Vec<String> = FILES.iter().map(|it| (*it).to_owned()).collect();
    let (text, all) = offered(marked, ProjectFacts { commands: &[], files: &files });
    let shown: Vec<String> = all.iter().map(|it| format!("{}, {}", it.label, it.detail)).collect();
    assert_eq!(shown, expect, "{marked}");
    if let Some(first) = all.first() {
        assert_eq!(accepted(&text, first), taken);
    }
}

#[test]
fn files_are_offered_with_the_number_that_a_glob_matches() {
    let root = ["docs/, 3 files", "src/, 4 files", "**/*.rs, 4 files", "**/*.md, 3 files"];
    check_files("- a: `exists |`", &root, "- a: `exists docs/`");
    check_files("- a: `exists .|`", &[".github/, 1 file"], "- a: `exists .github/`");
    let in_src = [
        "src/editor/, 2 files",
        "src/main.rs, 1 file",
        "src/é.rs, 1 file",
        "src/**, 4 files",
        "src/**/*.rs, 4 files",
    ];
    check_files("- a: `missing docs/guide.md src/|`", &in_src, "- a: `missing docs/guide.md src/editor/`");
    check_files("- é: `has \"x y\" src/m|`", &["src/main.rs, 1 file"], "- é: `has \"x y\" src/main.rs`");
    check_files("- a: `lacks /T O\\/D/i src/é|`", &["src/é.rs, 1 file"], "- a: `lacks /T O\\/D/i src/é.rs`");
    check_files("- a: `has \"x |`", &[], "");
    check_files("- a: `lacks |`", &[], "");
    check_files("- a: `exists docs/my|", &["docs/my notes.md, 1 file"], "- a: `exists \"docs/my notes.md\"");
    check_files(
        "- a: `exists \"docs/my n|",
        &["docs/my notes.md, 1 file"],
        "- a: `exists \"docs/my notes.md\"",
    );
    check_files(
        "\"a: `has \\\"x\\\" docs/my|\"",
        &["docs/my notes.md, 1 file"],
        "\"a: `has \\\"x\\\" \\\"docs/my notes.md\\\"\"",
    );
    check_files("- a: `exists src/*.rs|`", &["src/*.rs, 2 files"], "- a: `exists src/*.rs`");
    check_files("- a: `exists **/*.r|`", &["**/*.rs, 4 files", "**/*.r, no file"], "- a: `exists **/*.rs`");
    check_files(
        "- a: `exists src/**/*.r|`",
        &["src/**/*.rs, 4 files", "src/**/*.r, no file"],
        "- a: `exists src/**/*.rs`",
    );
    check_files("- a: `exists nothing/*|`", &["nothing/*, no file"], "- a: `exists nothing/*`");
}

proptest! {
    #[test]
    fn any_text_can_be_completed(text in "[-` $\n\"é>=a-z!/\\\\]{0,40}(- `(has|exists) [/\"a\\\\* é`]{0,12})?", offset in any::<usize>()) {
        let offset = offset % (text.len() + 2);
        let files: Vec<String> = FILES.iter().map(|it| (*it).to_owned()).collect();
        for it in in_check(&text, offset, ProjectFacts { commands: &commands(), files: &files }) {
            prop_assert!(text.get(it.replaces.clone()).is_some() && it.replaces.end == offset);
        }
    }
}
