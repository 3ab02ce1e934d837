//! Tests `init` with small real project folders and the task file that it writes for each.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};

use loopkeeper_task::criterion::{Check, Criterion};
use loopkeeper_task::{self as task, FindingCode, TaskDocument};

use super::*;

mod subfolders;

/// Writes the task file without trying its checks.
fn run(root: &Path, folder: &Path, machine: &InstalledTools) -> Result<InitReport, InitError> {
    prepare(root, folder, machine)?.write(root)
}

/// A machine with every tool that a project may name, and pytest, ruff and mypy for its Python.
fn machine() -> tempfile::TempDir {
    let tools = [
        "cargo",
        "cargo-clippy",
        "cargo-fmt",
        "npm",
        "pnpm",
        "yarn",
        "bun",
        "eslint",
        "tsc",
        "jest",
        "vitest",
        "go",
        "make",
        "just",
        "uv",
        "python3",
    ];
    machine_with(&tools, &["usr/lib/python3.12/dist-packages"])
}

/// A machine with these programs on `PATH`, and the Python modules in these folders.
fn machine_with(programs: &[&str], modules: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for program in programs {
        executable(&folder.path().join("bin").join(program));
    }
    install(folder.path(), modules);
    folder
}

fn executable(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "#!/bin/sh\nexit 1\n").unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn install(root: &Path, packages: &[&str]) {
    for (packages, module) in packages.iter().flat_map(|it| ["pytest", "ruff", "mypy"].map(|tool| (it, tool)))
    {
        fs::create_dir_all(root.join(packages).join(module)).unwrap();
    }
}

/// Writes the project, runs `init`, and expects exactly these commands.
#[track_caller]
fn check(files: &[(&str, &str)], expect: &[&str]) {
    let root = project(files);
    let report = run(root.path(), root.path(), &InstalledTools::in_folder(machine().path())).unwrap();
    let commands: Vec<&str> = report.checks.found.iter().map(|it| it.command.as_str()).collect();
    assert_eq!(commands, expect);
    assert!(report.checks.found.iter().all(|it| it.lack.is_none()), "{report:?}");
    assert_eq!(report.file, root.path().join("PROMPT.md"));
    let text = fs::read_to_string(&report.file).unwrap();
    let task = task::parse_task(&[TaskDocument { path: "PROMPT.md".to_owned(), text }]);
    // The placeholder to edit is the only finding.
    let codes: Vec<FindingCode> = task.findings.iter().map(|it| it.code).collect();
    assert_eq!(codes, [FindingCode::Template]);
    assert_eq!(task.title, "Say in one line what should be done");
    assert_eq!((task.promise, task.plan), (None, Vec::new()));
    let read: Vec<&Criterion> = task.criteria.iter().filter(|it| it.check.is_some()).collect();
    let commands: Vec<Option<Check>> = expect.iter().map(|it| Some(command(it))).collect();
    assert_eq!(read.iter().map(|it| it.check.clone()).collect::<Vec<_>>(), commands);
    assert!(read.iter().all(|it| it.required));
    // Without any check there is one criterion that only the agent can claim.
    assert_eq!(task.criteria.len(), expect.len().max(1));
}

/// Finds the checks of `folder` on a machine: the commands, each with what it lacks, and what is left out.
#[track_caller]
fn check_on(machine: &Path, files: &[(&str, &str)], folder: &str, expect: &[&str]) {
    let root = project(files);
    let checks =
        ProposedChecks::of(root.path(), &root.path().join(folder), &InstalledTools::in_folder(machine))
            .unwrap();
    let describe = |it: &FoundCheck| {
        let lack = it.lack.as_ref().map_or(String::new(), |it| format!(" ({}. {})", it.what, it.remedy));
        format!("{}{lack}", it.command)
    };
    let found = checks.found.iter().map(describe);
    let shown: Vec<String> =
        found.chain(checks.left_out.iter().map(|it| format!("left out: {}", describe(it)))).collect();
    assert_eq!(shown, expect, "{files:?}");
}

fn init(root: &Path, folder: &Path) -> Result<InitReport, InitError> {
    run(root, folder, &InstalledTools::in_folder(machine().path()))
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
fn checks_of_rust_projects_are_found() {
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
fn checks_of_node_projects_are_found() {
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
fn checks_of_python_projects_are_found() {
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
    check(&[("tests/test_a.py", "import unittest\n")], &["python3 -m unittest discover -s tests"]);
    check(&[("tests/test_a.py", "import os\n")], &[]);
    check(&[("tests/test_a.py", "import unittest\n"), ("tests/__init__.py", "")], &["python3 -m unittest"]);
    check(&[("test_a.py", "def test_a(): pass\n")], &[]);
}

#[test]
fn checks_of_go_projects_are_found() {
    check(&[("go.mod", "module example.org/a\n")], &["go test ./..."]);
}

#[test]
fn task_runners_add_what_no_tool_of_the_project_decides() {
    let make = "CFLAGS := -O2\ntest := x\n.PHONY: test check\nall: test\ntest check: build\n\t./run\nlint:\n";
    check(&[("Makefile", make)], &["make test", "make check", "make lint"]);
    check(&[("Makefile", "test::=x\n\ttest:\n# check:\n.PHONY: test\nall: test\n")], &[]);
    let just = "check := \"x\"\n@test filter=\"\" *rest: build\n  echo\nlint path:\n  x\n    check:\n";
    check(&[("justfile", just)], &["just test"]);
    check(&[("Makefile", make), ("go.mod", "module a\n")], &["go test ./...", "make lint"]);
}

#[test]
fn checks_of_several_languages_are_found() {
    check(
        &[("Cargo.toml", "[package]\n"), ("package.json", r#"{"scripts":{"test":"vitest"}}"#)],
        &["cargo test", "npm test"],
    );
}

#[test]
fn a_project_without_checks_gets_a_file_that_says_so() {
    check(&[("main.c", "")], &[]);
    let root = project(&[]);
    let report = init(root.path(), root.path()).unwrap();
    let text = fs::read_to_string(report.file).unwrap();
    assert!(text.ends_with("-->\n\n- What is described above is done\n"));
}

#[test]
fn the_examples_of_the_explanation_are_checks() {
    let explained = template::task(&[], &BTreeMap::new(), template::TemplateLocation::Below);
    let examples: Vec<&str> =
        explained.lines().filter(|it| it.starts_with("- ") && it.contains('`')).collect();
    let text = format!("# Examples\n\n## Completion criteria\n\n{}\n", examples.join("\n"));
    let task = task::parse_task(&[TaskDocument { path: "PROMPT.md".to_owned(), text }]);
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
        let error = init(root.path(), root.path()).unwrap_err();
        assert_eq!(error.to_string(), format!("a task document already exists: {task}"));
        assert_eq!(error.hint(), Some(format!("`loopkeeper run {task}` starts a loop on it.")));
        assert_eq!(contents(root.path()), before);
    }
    let root = project(&[("RALPH.md", ""), (".ralph/PROMPT.md", "")]);
    let error = init(root.path(), root.path()).unwrap_err();
    assert_eq!(error.to_string(), "a task document already exists: RALPH.md, .ralph/PROMPT.md");
}

#[test]
fn a_link_to_nowhere_is_not_followed() {
    let root = project(&[]);
    symlink("elsewhere.md", root.path().join("PROMPT.md")).unwrap();
    assert!(matches!(init(root.path(), root.path()), Err(InitError::Exists { .. })));
    assert!(!root.path().join("elsewhere.md").exists());
}

#[test]
fn only_the_task_file_is_new() {
    let root = project(&[("package.json", r#"{"scripts":{"test":"touch ran"}}"#)]);
    let mut expected = contents(root.path());
    init(root.path(), root.path()).unwrap();
    let after = contents(root.path());
    expected.insert("PROMPT.md".to_owned(), after["PROMPT.md"].clone());
    assert_eq!(after, expected);
}

#[test]
fn a_manifest_that_cannot_be_read_is_named() {
    let root = project(&[("package.json", "{")]);
    let error = init(root.path(), root.path()).unwrap_err().to_string();
    assert!(error.contains("package.json is not JSON: EOF"), "{error}");
    assert!(!root.path().join("PROMPT.md").exists());
    let root = project(&[]);
    fs::create_dir(root.path().join("Cargo.toml")).unwrap();
    assert!(
        init(root.path(), root.path()).unwrap_err().to_string().ends_with("Cargo.toml is not a regular file")
    );
}

fn contents(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(root).unwrap().map(|it| it.unwrap().path()).filter(|it| it.is_file());
    files.map(|it| (it.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&it).unwrap())).collect()
}

#[test]
fn missing_tools_are_reported_or_omitted() {
    let bare = machine_with(&[], &[]);
    let none = |files: &[(&str, &str)], expect: &[&str]| check_on(bare.path(), files, "", expect);
    none(
        &[("Cargo.toml", "[package]\n[lints.rust]\n")],
        &[
            "cargo test (cargo is not installed. Install cargo.)",
            "left out: cargo clippy --all-targets -- -D warnings (cargo-clippy is not installed. Install cargo-clippy.)",
        ],
    );
    none(&[("go.mod", "")], &["go test ./... (go is not installed. Install go.)"]);
    none(&[("Makefile", "test:\n")], &["make test (make is not installed. Install make.)"]);
    none(&[("pytest.ini", "")], &["python3 -m pytest -q (python3 is not installed. Install python3.)"]);
    none(&[("pytest.ini", ""), ("uv.lock", "")], &["uv run pytest -q (uv is not installed. Install uv.)"]);
    none(
        &[("package.json", r#"{"scripts":{"test":"x"}}"#)],
        &["npm test (npm is not installed. Install npm.)"],
    );
    let python = machine_with(&["python3", "npm"], &[]);
    let remedy = "Make a virtual environment with it: `python3 -m venv .venv && .venv/bin/python -m pip install pytest`, then replace python3 in the check by .venv/bin/python.";
    check_on(
        python.path(),
        &[("pytest.ini", "")],
        "",
        &[&format!("python3 -m pytest -q (pytest is not installed for python3. {remedy})")],
    );
    let dependencies = r#"{"scripts":{"test":"x"},"devDependencies":{"x":"1"}}"#;
    check_on(
        python.path(),
        &[("package.json", dependencies)],
        "",
        &["npm test (its dependencies are not installed: node_modules is missing. Run `npm install`.)"],
    );
    check_on(
        python.path(),
        &[("package.json", dependencies), ("node_modules/x/package.json", "{}")],
        "",
        &["npm test"],
    );
    let linted = r#"{"scripts":{"test":"node --test","lint":"eslint ."},"devDependencies":{"eslint":"9"}}"#;
    check_on(
        python.path(),
        &[("package.json", linted), ("node_modules/x/package.json", "{}")],
        "",
        &["npm test", "left out: npm run lint (eslint is not installed. Run `npm install`.)"],
    );
    check_on(
        python.path(),
        &[("package.json", linted), ("node_modules/.bin/eslint", "")],
        "",
        &["npm test", "npm run lint"],
    );
    // A separate linter on `PATH` needs no module.
    let pipx = machine_with(&["python3", "ruff", "pytest"], &[]);
    check_on(pipx.path(), &[("pytest.ini", ""), ("ruff.toml", "")], "", &["pytest -q", "ruff check ."]);
}

#[test]
fn the_environment_of_a_python_project_runs_its_checks() {
    let machine = machine_with(&["python3", "poetry", "pdm", "hatch"], &[]);
    let check = |files: &[(&str, &str)], expect: &[&str]| check_on(machine.path(), files, "", expect);
    let pytest = ("pytest.ini", "");
    let (python, module) = ((".venv/bin/python", ""), (".venv/lib/python3.12/site-packages/pytest/x.py", ""));
    check(&[pytest, python, module], &[".venv/bin/python -m pytest -q"]);
    check(
        &[pytest, ("venv/bin/python", ""), ("venv/lib/python3.9/site-packages/pytest/x.py", "")],
        &["venv/bin/python -m pytest -q"],
    );
    check(
        &[pytest, python],
        &[
            ".venv/bin/python -m pytest -q (pytest is not installed in .venv. Run `.venv/bin/python -m pip install pytest`.)",
        ],
    );
    check(
        &[pytest, python, module, ("ruff.toml", "")],
        &[
            ".venv/bin/python -m pytest -q",
            "left out: .venv/bin/python -m ruff check . (ruff is not installed in .venv. Run `.venv/bin/python -m pip install ruff`.)",
        ],
    );
    check(&[("test_a.py", "import unittest\n"), python], &[".venv/bin/python -m unittest"]);
    // The tool that manages the environment comes before it, if it is installed.
    check(&[pytest, ("poetry.lock", "")], &["poetry run pytest -q"]);
    check(&[pytest, ("pyproject.toml", "[tool.pdm]\n")], &["pdm run pytest -q"]);
    check(
        &[pytest, ("pyproject.toml", "[tool.hatch.envs.default]\n"), python, module],
        &["hatch run pytest -q"],
    );
    check(&[pytest, ("uv.lock", ""), python, module], &[".venv/bin/python -m pytest -q"]);
}

#[test]
fn nvm_is_loaded_where_a_fresh_shell_lacks_node() {
    let scripts = ("package.json", r#"{"scripts":{"test":"x"}}"#);
    let machine = machine_with(&[], &[]);
    fs::create_dir_all(machine.path().join("home/.nvm")).unwrap();
    fs::write(machine.path().join("home/.nvm/nvm.sh"), "").unwrap();
    check_on(machine.path(), &[scripts], "", &[". ~/.nvm/nvm.sh && npm test"]);
    check_on(
        machine.path(),
        &[scripts, (".nvmrc", "20\n")],
        "",
        &[". ~/.nvm/nvm.sh && nvm use --silent && npm test"],
    );
    executable(&machine.path().join("bin/npm"));
    check_on(machine.path(), &[scripts], "", &["npm test"]);
    check_on(
        machine.path(),
        &[scripts, (".nvmrc", "20\n")],
        "",
        &[". ~/.nvm/nvm.sh && nvm use --silent && npm test"],
    );
}
