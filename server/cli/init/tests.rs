//! Small real project folders, and the task file that `init` writes for each.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;

use loopkeeper_core::task::{self, Check, Criterion, Document};

use super::*;

/// Writes the project, runs `init`, and expects exactly these commands.
fn check(files: &[(&str, &str)], expect: &[&str]) {
    let root = project(files);
    let report = run(root.path()).unwrap();
    let commands: Vec<&str> = report.checks.iter().map(|it| it.command.as_str()).collect();
    assert_eq!(commands, expect);
    assert_eq!(report.file, root.path().join("PROMPT.md"));
    let text = fs::read_to_string(&report.file).unwrap();
    let task = task::read(&[Document { path: "PROMPT.md".to_owned(), text }]);
    assert_eq!(task.findings, []);
    assert_eq!(task.title, "Say in one line what should be done");
    assert_eq!((task.promise, task.plan), (None, Vec::new()));
    let read: Vec<&Criterion> = task.criteria.iter().filter(|it| it.check.is_some()).collect();
    let commands: Vec<Option<Check>> = expect.iter().map(|it| Some(command(it))).collect();
    assert_eq!(read.iter().map(|it| it.check.clone()).collect::<Vec<_>>(), commands);
    assert!(read.iter().all(|it| it.required));
    // Without any check there is one criterion that only the agent's word can fulfil.
    assert_eq!(task.criteria.len(), expect.len().max(1));
}

fn command(line: &str) -> Check {
    Check::Command { command: line.to_owned(), expect: Vec::new() }
}

fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

#[test]
fn rust_projects() {
    check(&[("Cargo.toml", "[package]\nname = \"a\"\n")], &["cargo test"]);
    check(
        &[("Cargo.toml", "[workspace]\nmembers = []\n[workspace.lints.clippy]\n"), ("rustfmt.toml", "")],
        &[
            "cargo test --workspace",
            "cargo clippy --all-targets -- -D warnings",
            "cargo fmt --all -- --check",
        ],
    );
}

#[test]
fn node_projects() {
    let scripts =
        r#"{ "scripts": { "test": "node --test", "lint": "eslint .", "typecheck": "tsc", "dev": "x" } }"#;
    check(&[("package.json", scripts)], &["npm test", "npm run lint", "npm run typecheck"]);
    check(
        &[("package.json", scripts), ("pnpm-lock.yaml", "")],
        &["pnpm test", "pnpm run lint", "pnpm run typecheck"],
    );
    check(&[("package.json", r#"{"scripts":{"test":"bun test"}}"#), ("bun.lock", "")], &["bun run test"]);
    check(
        &[("package.json", r#"{"packageManager":"yarn@4.1.0","scripts":{"test":"jest"}}"#)],
        &["yarn test"],
    );
    check(&[("package.json", r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#)], &[]);
    check(&[("package.json", r#"{"scripts":{"test":5}}"#)], &[]);
    check(&[("package.json", "[]")], &[]);
}

#[test]
fn python_projects() {
    let tests = &["python3 -m pytest -q"];
    check(&[("pyproject.toml", "[tool.pytest.ini_options]\n")], tests);
    check(&[("pyproject.toml", "[dependency-groups]\ndev = [\"pytest>=8\"]\n")], tests);
    check(&[("pytest.ini", "[pytest]\n")], tests);
    check(&[("setup.cfg", "[tool:pytest]\n")], tests);
    check(&[("requirements.txt", "requests\npytest==8.0\n")], tests);
    check(&[("tests/conftest.py", "")], tests);
    check(
        &[("pyproject.toml", "[tool.pytest]\n[tool.ruff.lint]\n[tool.mypy]\n"), ("uv.lock", "")],
        &["uv run pytest -q", "uv run ruff check .", "uv run mypy ."],
    );
    check(&[("pyproject.toml", "[project]\nname = \"a\"\n")], &[]);
    let unittest = ("test_a.py", "import unittest\n");
    check(&[unittest], &["python3 -m unittest"]);
    check(&[unittest, ("uv.lock", "")], &["uv run python -m unittest"]);
    check(&[unittest, ("pytest.ini", "")], tests);
    check(&[("tests/test_a.py", "import unittest\n")], &[]);
    check(&[("tests/test_a.py", "import unittest\n"), ("tests/__init__.py", "")], &["python3 -m unittest"]);
    check(&[("test_a.py", "def test_a(): pass\n")], &[]);
}

#[test]
fn go_projects() {
    check(&[("go.mod", "module example.org/a\n")], &["go test ./..."]);
}

#[test]
fn task_runners_serve_where_nothing_else_does() {
    let make = "CFLAGS := -O2\ntest := x\n.PHONY: test check\nall: test\ntest check: build\n\t./run\nlint:\n";
    check(&[("Makefile", make)], &["make test", "make check", "make lint"]);
    check(&[("Makefile", "test::=x\n\ttest:\n# check:\n.PHONY: test\nall: test\n")], &[]);
    let just = "check := \"x\"\n@test filter=\"\" *rest: build\n  echo\nlint path:\n  x\n    check:\n";
    check(&[("justfile", just)], &["just test"]);
    check(&[("Makefile", make), ("go.mod", "module a\n")], &["go test ./..."]);
}

#[test]
fn several_languages_in_one_project() {
    check(
        &[("Cargo.toml", "[package]\n"), ("package.json", r#"{"scripts":{"test":"vitest"}}"#)],
        &["cargo test", "npm test"],
    );
}

#[test]
fn a_project_without_checks_gets_a_file_that_says_so() {
    check(&[("main.c", "")], &[]);
    let root = project(&[]);
    let report = run(root.path()).unwrap();
    let text = fs::read_to_string(report.file).unwrap();
    assert!(text.ends_with("-->\n\n- What is described above is done\n"));
}

#[test]
fn the_examples_of_the_explanation_are_checks() {
    let explained = template::task(&[]);
    let examples: Vec<&str> =
        explained.lines().filter(|it| it.starts_with("- ") && it.contains('`')).collect();
    let text = format!("# Examples\n\n## Completion criteria\n\n{}\n", examples.join("\n"));
    let task = task::read(&[Document { path: "PROMPT.md".to_owned(), text }]);
    assert_eq!(task.findings, []);
    assert_eq!(task.criteria.len(), 5);
    assert!(task.criteria.iter().all(|it| it.check.is_some()));
}

#[test]
fn a_plan_becomes_the_plan_of_the_new_task() {
    check(&[("prd.json", "{}"), ("go.mod", "")], &["go test ./..."]);
}

#[test]
fn nothing_that_exists_is_touched() {
    let tasks = [
        "PROMPT.md",
        "RALPH.md",
        "RALPH_TASK.md",
        "PROMPT_build.md",
        "login.ralph.md",
        ".ralph/PROMPT.md",
        "scripts/ralph/prompt.md",
    ];
    for task in tasks {
        let root = project(&[(task, "mine"), ("go.mod", "")]);
        let before = contents(root.path());
        let error = run(root.path()).unwrap_err();
        assert_eq!(error.to_string(), format!("there is a task document already: {task}"));
        assert_eq!(error.hint(), format!("`loopkeeper run {task}` starts a loop on it."));
        assert_eq!(contents(root.path()), before);
    }
    let root = project(&[("RALPH.md", ""), (".ralph/PROMPT.md", "")]);
    let error = run(root.path()).unwrap_err();
    assert_eq!(error.to_string(), "there is a task document already: RALPH.md, .ralph/PROMPT.md");
}

#[test]
fn a_link_to_nowhere_is_not_followed() {
    let root = project(&[]);
    symlink("elsewhere.md", root.path().join("PROMPT.md")).unwrap();
    assert!(matches!(run(root.path()), Err(InitError::Exists { .. })));
    assert!(!root.path().join("elsewhere.md").exists());
}

#[test]
fn only_the_task_file_is_new() {
    let root = project(&[("package.json", r#"{"scripts":{"test":"touch ran"}}"#)]);
    let mut expected = contents(root.path());
    run(root.path()).unwrap();
    let after = contents(root.path());
    expected.insert("PROMPT.md".to_owned(), after["PROMPT.md"].clone());
    assert_eq!(after, expected);
}

#[test]
fn a_manifest_that_cannot_be_read_is_named() {
    let root = project(&[("package.json", "{")]);
    let error = run(root.path()).unwrap_err().to_string();
    assert!(error.contains("package.json is not JSON: EOF"), "{error}");
    assert!(!root.path().join("PROMPT.md").exists());
    let root = project(&[]);
    fs::create_dir(root.path().join("Cargo.toml")).unwrap();
    assert!(run(root.path()).unwrap_err().to_string().ends_with("Cargo.toml is not a regular file"));
}

fn contents(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(root).unwrap().map(|it| it.unwrap().path()).filter(|it| it.is_file());
    files.map(|it| (it.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&it).unwrap())).collect()
}
