//! Directives that silence the linters of the checks.

use super::{Tree, TreeVersions, check, criterion};
use crate::tamper::ProtectionRules;
use std::collections::BTreeSet;

const CALC: Tree<'_> = &[
    ("calc.py", "import os\n\nVALUE = 1\n"),
    ("old.py", "import os  # noqa\n"),
    ("calc.ts", "export const a = 1;\n"),
    ("lib.rs", "fn a() {}\n"),
    ("pkg/__init__.py", "from calc import VALUE\n"),
    ("package.json", "{ \"scripts\": { \"lint\": \"eslint .\" } }"),
    ("Makefile", "lint:\n\truff check src\n"),
];

#[test]
fn a_suppressed_finding_is_a_weakening() {
    let suppressed = |path: &str, linter: &str, line: u32| {
        format!("{path} suppresses findings of {linter} in line {line}")
    };
    let is_found = |command: &str, path: &str, text: &str, linter: &str, line: u32| {
        check(command, CALC, &[(path, text)], &[&suppressed(path, linter, line)]);
    };
    is_found("ruff check .", "calc.py", "import os  # noqa: F401\n", "ruff", 1);
    is_found("uv run ruff check .", "calc.py", "\n# ruff: noqa\nimport os\n", "ruff", 2);
    is_found("python3 -m mypy src", "calc.py", "a = 1  #  type: ignore[assignment]\n", "mypy", 1);
    is_found("make lint", "calc.py", "import os  # noqa\n", "ruff", 1);
    is_found("npm run lint", "calc.ts", "// eslint-disable-next-line\nlet a;\n", "eslint", 1);
    is_found("npx eslint .", "calc.ts", "/* eslint no-unused-vars: 0 */\nlet a;\n", "eslint", 1);
    is_found("mypy .", "calc.py", "# mypy: allow-untyped-defs\n", "mypy", 1);
    is_found("mypy .", "calc.py", "if not TYPE_CHECKING:\n    VALUE = load()\n", "mypy", 1);
    is_found("cargo clippy", "lib.rs", "#![cfg_attr(not(x), allow(clippy::all))]\n", "clippy", 1);
    is_found("npx tsc --noEmit", "calc.ts", "\n// @ts-expect-error later\n", "tsc", 2);
    is_found("npx --no-install tsc --noEmit", "calc.ts", "\n// @ts-expect-error later\n", "tsc", 2);
    is_found("cargo clippy -- -D warnings", "lib.rs", "#![allow(clippy::all)]\nfn a() {}\n", "clippy", 1);
    is_found("cargo clippy", "src/new.rs", "#[ allow(unused) ]\nfn a() {}\n", "clippy", 1);
    is_found(
        "pytest --cov=calc --cov-fail-under=90",
        "calc.py",
        "x = 1  # pragma: no cover\n",
        "coverage",
        1,
    );
    is_found("pre-commit run --all-files", "calc.py", "import os  # noqa\n", "ruff", 1);
    is_found("mix credo --strict", "lib/a.ex", "# credo:disable-for-this-file\n", "credo", 1);
    is_found("dart analyze", "lib/a.dart", "// ignore_for_file: unused_import\n", "analyze", 1);
    is_found("perlcritic lib", "lib/A.pm", "eval $x; ## no critic\n", "perlcritic", 1);
    is_found("npx cspell .", "calc.ts", "// cspell:disable\n", "cspell", 1);
}

#[test]
fn only_the_linters_of_the_checks_count() {
    let is_fine = |command: &str, changes: Tree<'_>| check(command, CALC, changes, &[]);
    is_fine("pytest", &[("calc.py", "import os  # noqa\n")]);
    is_fine("ruff check .", &[("calc.py", "a = 1  # type: ignore\n")]);
    is_fine("mypy .", &[("calc.py", "import yaml  # type: ignore[import-untyped]\n")]);
    is_fine("ruff check .", &[("pkg/__init__.py", "from calc import VALUE  # noqa: F401\n")]);
    is_fine("cargo test", &[("lib.rs", "#[allow(dead_code)]\nfn a() {}\n")]);
    is_fine("npx eslint .", &[("calc.ts", "/* eslint-env node */\nlet a;\n")]);
    is_fine("mypy .", &[("calc.py", "# mypy: strict\n")]);
    is_fine("ruff check .", &[("notes.md", "add # noqa\n")]);
}

#[test]
fn a_directive_of_the_start_may_move() {
    check("ruff check .", CALC, &[("old.py", "-"), ("new.py", "import os # noqa\n")], &[]);
    check("ruff check .", CALC, &[("old.py", "VALUE = 2\nimport os  # noqa\n")], &[]);
    check(
        "ruff check .",
        CALC,
        &[("old.py", "import os  # noqa\nimport os  # noqa\n")],
        &["old.py suppresses findings of ruff in line 2"],
    );
}

#[test]
fn a_source_without_types_is_not_checked_any_more() {
    let renamed: Tree<'_> = &[("calc.ts", "-"), ("calc.js", "exports.a = 1;\n")];
    let what = "calc.js replaces calc.ts, so that tsc does not check its types";
    check("npx tsc --noEmit", CALC, renamed, &[what]);
    check("npm test", CALC, renamed, &[]);
    check("npx tsc --noEmit", CALC, &[("calc.js", "exports.a = 1;\n")], &[]);
}

#[test]
fn a_source_of_go_is_not_read_any_more() {
    let check_moved = |command: &str, path: &'static str, expect: &[&str]| {
        check(
            command,
            &[("calc.go", "package calc\n")],
            &[("calc.go", "-"), (path, "package calc\n")],
            expect,
        );
    };
    let what = "_calc.go replaces calc.go, so that go does not read it";
    check_moved("go vet ./...", "_calc.go", &[what]);
    let what = "testdata/calc.go replaces calc.go, so that go does not read it";
    check_moved("golangci-lint run", "testdata/calc.go", &[what]);
    check_moved("go vet ./...", "internal/calc.go", &[]);
    check_moved("npm test", "_calc.go", &[]);
    let ignored = "//go:build ignore\n\npackage calc\n";
    let what = "calc.go suppresses findings of vet in line 1";
    check("go vet ./...", &[("calc.go", "package calc\n")], &[("calc.go", ignored)], &[what]);
}

/// What the user edits counts as the new start; an edit of the work itself does not.
#[test]
fn only_edits_of_directives_are_relevant() {
    let check = |path: &str, before: &str, after: &str, expect: bool| {
        let one = criterion("ruff check .");
        let rules = ProtectionRules::new(&[&one], &["tests/**".to_owned()], &BTreeSet::new());
        let versions = TreeVersions { before: [(path, before)].into(), after: [(path, after)].into() };
        assert_eq!(rules.is_relevant_edit(path, &versions), expect, "{path}: {after}");
    };
    check("web/app.css", "a {}\n", "b {}\n", false);
    check("web/app.css", "a {}\n", "/* stylelint-disable */\na {}\n", true);
    check("tests/data.css", "a {}\n", "b {}\n", true);
}
