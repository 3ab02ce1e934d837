//! Who provides a missing dependency, by the output of a check and the tree.

mod packages;

use std::collections::BTreeMap;
use std::path::Path;

use packages::PACKAGE;

use super::{
    DependencyProvider, FileFacts, MANIFESTS, MissingDependency, MissingKind, TreeFacts, missing_candidates,
    resolve_missing,
};
use crate::check::judge::judge;
use crate::check::{CheckResult, CommandExit, CommandRun, Status};
use loopkeeper_task::criterion::{Check, Criterion};
use loopkeeper_text::language::Language;
use loopkeeper_text::redact::Redactor;

const ROOT: &str = "/home/me/project";

/// A tree of files; those with a text are manifests. A path that ends in `/` is on disk without being a file of it.
fn tree(files: &[(&str, &str)]) -> TreeFacts {
    let (ignored, own): (Vec<_>, Vec<_>) = files.iter().partition(|(path, _)| path.ends_with('/'));
    let present = |(path, _): &(&str, &str)| (path.trim_end_matches('/').to_owned(), FileFacts::default());
    let manifest = |(path, _): &&(&str, &str)| TreeFacts::is_manifest(path);
    TreeFacts {
        root: ROOT.to_owned(),
        files: own.iter().map(|(path, _)| (*path).to_owned()).collect(),
        manifests: own
            .iter()
            .filter(manifest)
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
            .collect(),
        present: ignored.iter().map(present).collect::<BTreeMap<_, _>>(),
    }
}

fn judged(command: &str, code: i32, output: &str, tree: &TreeFacts) -> CheckResult {
    let check = Check::Command { command: command.to_owned(), expect: Vec::new() };
    let run = CommandRun {
        ending: CommandExit::Exited(code),
        stderr: output.as_bytes().to_vec(),
        ..CommandRun::default()
    };
    let redactor = Redactor::new([]);
    let criterion = Criterion::new("0123456789", "tests", Some(check));
    let mut result = judge(&criterion, &run, Path::new("/"), &redactor);
    if let Some(missing) = resolve_missing(&missing_candidates(command, &run, &result), command, tree) {
        result.set_missing(&missing, &redactor);
    }
    result
}

fn missing(command: &str, code: i32, output: &str, tree: &TreeFacts) -> Option<MissingDependency> {
    judged(command, code, output, tree).missing
}

/// The user has to provide it.
#[track_caller]
fn of_machine((command, code): (&str, i32), output: &str, tree: &TreeFacts, (fact, remedy): (&str, &str)) {
    let result = judged(command, code, output, tree);
    let found =
        result.missing_on_machine().unwrap_or_else(|| panic!("{command}: {output}: {:?}", result.missing));
    assert_eq!((result.status, result.fact.as_str()), (Status::CouldNotRun, fact), "{command}: {output}");
    assert_eq!(found.remedy, remedy, "{command}: {output}");
}

/// The agent can provide it, or the owner is unknown: the loop continues.
#[track_caller]
fn proceed(command: &str, code: i32, output: &str, tree: &TreeFacts, kind: Option<MissingKind>) {
    let found = missing(command, code, output, tree);
    let kinds = found.as_ref().map(|it| (it.owner, it.kind));
    assert_eq!(kinds, kind.map(|it| (DependencyProvider::Project, it)), "{command}: {output}");
}

#[test]
fn programs_that_shells_do_not_find() {
    let none = tree(&[]);
    let missing_fact = "program \"shellcheck\" is not installed";
    let how = "install shellcheck, or change the check";
    for (command, code, output) in [
        ("shellcheck *.sh", 127, "sh: 1: shellcheck: not found\n"),
        ("shellcheck *.sh", 127, "/bin/sh: line 1: shellcheck: command not found\n"),
        ("bash -c 'shellcheck a'", 127, "bash: line 1: shellcheck: command not found\n"),
        ("shellcheck", 127, "sh: shellcheck: not found\n"),
        ("zsh -c shellcheck", 127, "zsh:1: command not found: shellcheck\n"),
        ("fish -c shellcheck", 127, "fish: Unknown command: shellcheck\n"),
        ("env shellcheck a", 127, "env: ‘shellcheck’: No such file or directory\n"),
        ("env shellcheck a", 127, "env: can't execute 'shellcheck': No such file or directory\n"),
        (
            "timeout 5 shellcheck",
            127,
            "timeout: failed to run command ‘shellcheck’: No such file or directory\n",
        ),
        ("shellcheck a | tail -1", 1, "sh: 1: shellcheck: not found\n"),
        ("shellcheck a && echo ok", 127, "sh: 1: shellcheck: not found\n"),
        ("test \"$(shellcheck a)\" = ok", 1, "sh: 1: shellcheck: not found\n"),
        (
            "make lint",
            2,
            "make: shellcheck: No such file or directory\nmake: *** [Makefile:2: lint] Error 127\n",
        ),
        ("make lint", 2, "/bin/sh: 1: shellcheck: not found\nmake: *** [Makefile:2: lint] Error 127\n"),
        ("./lint.sh", 127, "./lint.sh: 3: shellcheck: not found\n"),
        (
            "./lint.sh",
            127,
            "cat: x: No such file or directory\n./lint.sh: line 3: shellcheck: command not found\n",
        ),
        ("sudo shellcheck", 1, "sudo: shellcheck: command not found\n"),
        (
            "uv run shellcheck",
            2,
            "error: Failed to spawn: `shellcheck`\n  Caused by: No such file or directory (os error 2)\n",
        ),
        ("poetry run shellcheck", 1, "Command not found: shellcheck\n"),
        ("go test", 1, "exec: \"shellcheck\": executable file not found in $PATH\n"),
    ] {
        of_machine((command, code), output, &none, (missing_fact, how));
    }
    let missing_fact = "program \"/opt/tool/bin/x\" is not installed";
    let how = "install /opt/tool/bin/x, or change the check";
    of_machine(("/opt/tool/bin/x", 127), "sh: 1: /opt/tool/bin/x: not found\n", &none, (missing_fact, how));
}

#[test]
fn missing_programs_of_the_project_are_goals() {
    let none = tree(&[]);
    let file = Some(MissingKind::File);
    proceed("./coverage.sh", 127, "sh: 1: ./coverage.sh: not found\n", &none, file);
    proceed("scripts/x.sh", 127, "/bin/sh: line 1: scripts/x.sh: No such file or directory\n", &none, file);
    proceed("bash scripts/x.sh", 127, "bash: scripts/x.sh: No such file or directory\n", &none, file);
    let path = format!("sh: 1: {ROOT}/run: not found\n");
    proceed(&format!("{ROOT}/run"), 127, &path, &none, file);
    proceed("./run.sh", 126, "sh: 1: ./run.sh: Permission denied\n", &tree(&[("run.sh", "")]), file);
    proceed("./build/app", 127, "sh: 1: ./build/app: not found\n", &none, file);
    proceed(
        "python manage.py test",
        2,
        "python: can't open file '/x/manage.py': [Errno 2] No such file\n",
        &none,
        file,
    );
    let target = Some(MissingKind::Target);
    proceed("make test", 2, "make: *** No rule to make target 'test'.  Stop.\n", &none, target);
    proceed("npm test", 1, "npm error Missing script: \"test\"\n", &tree(&[("package.json", "{}")]), target);
    proceed("cargo test --test x", 101, "error: no test target named `x`\n", &none, target);
    // The program that the task is about.
    let own =
        tree(&[("pyproject.toml", "[project]\nname = \"x\"\n[project.scripts]\nwordcount = \"x:main\"\n")]);
    proceed("wordcount --help", 127, "sh: 1: wordcount: not found\n", &own, Some(MissingKind::Program));
    let own = tree(&[("Cargo.toml", "[package]\nname = \"wordcount\"\n")]);
    proceed("wordcount --help", 127, "sh: 1: wordcount: not found\n", &own, Some(MissingKind::Program));
    let own = tree(&[("package.json", r#"{"bin": {"wordcount": "cli.js"}}"#)]);
    proceed("wordcount --help", 127, "sh: 1: wordcount: not found\n", &own, Some(MissingKind::Program));
    let own = tree(&[("bin/wordcount", "")]);
    proceed("wordcount --help", 127, "sh: 1: wordcount: not found\n", &own, Some(MissingKind::Program));
    // Reported by a script of the project or in a separate environment: it may be what is to be written.
    for output in [
        "./test.sh: 3: wordcount: not found\n",
        "./test.sh: line 3: wordcount: command not found\n",
        "error: Failed to spawn: `wordcount`\n",
        "Command not found: wordcount\n",
    ] {
        proceed("./test.sh", 127, output, &none, None);
    }
    // Without a name nothing is known.
    proceed("x", 127, "", &none, None);
    proceed("x", 127, "Befehl nicht gefunden\n", &none, None);
    proceed("x", 126, "", &none, None);
}

#[test]
fn output_that_resembles_a_missing_program_is_a_failure() {
    let none = tree(&[]);
    for (command, code, output) in [
        // Printed by what was tested, not by what runs the check.
        ("npm test", 1, "sh: 1: nosuch: not found\n"),
        ("make test", 2, "page: not found\nmake: *** [Makefile:2: test] Error 1\n"),
        ("./test.sh", 1, "cat: data.txt: No such file or directory\n"),
        ("grep -q a b", 2, "grep: b: No such file or directory\n"),
        ("cargo test", 101, "thread 'x' panicked: config: not found\n"),
        ("cd web && npm test", 2, "sh: 1: cd: can't cd to web\n"),
        ("echo x", 1, ""),
    ] {
        proceed(command, code, output, &none, None);
    }
    // A check that ran tests can run.
    let output = "E   ModuleNotFoundError: No module named 'numpy'\n==== 1 failed, 40 passed in 0.12s ====\n";
    proceed("pytest", 1, output, &none, None);
    let passed = judged("true", 0, "sh: 1: true: not found\n", &none);
    assert_eq!((passed.status, passed.missing), (Status::Pass, None));
}

#[test]
fn scripts_with_interpreters_that_are_not_there() {
    let script = |first: &str| {
        let mut tree = tree(&[("run.sh", "")]);
        let interpreter = Some(first.to_owned());
        tree.present.insert("run.sh".to_owned(), FileFacts { is_executable: true, interpreter });
        tree
    };
    let missing_fact = "interpreter \"/usr/bin/nosuch\" is not installed";
    let how = "install /usr/bin/nosuch, or change the check";
    let nosuch = script("/usr/bin/nosuch -x");
    of_machine(("./run.sh", 127), "sh: 1: ./run.sh: not found\n", &nosuch, (missing_fact, how));
    of_machine(
        ("./run.sh", 127),
        "bash: ./run.sh: cannot execute: required file not found\n",
        &nosuch,
        (missing_fact, how),
    );
    of_machine(
        ("bash -c ./run.sh", 126),
        "bash: ./run.sh: /usr/bin/nosuch: bad interpreter: No such file or directory\n",
        &nosuch,
        (missing_fact, how),
    );
    let file = Some(MissingKind::File);
    proceed("./run.sh", 127, "sh: 1: ./run.sh: not found\n", &script("/bin/sh\r"), file);
    proceed(
        "./run.sh",
        126,
        "bash: ./run.sh: /bin/sh^M: bad interpreter: No such file or directory\n",
        &nosuch,
        file,
    );
    let env = "/usr/bin/env: ‘python2’: No such file or directory\n";
    of_machine(
        ("./run.sh", 127),
        env,
        &script("/usr/bin/env python2"),
        ("program \"python2\" is not installed", "install python2, or change the check"),
    );
}

#[test]
fn environments_below_the_root() {
    let none = tree(&[]);
    let missing_fact = "program \".venv/bin/pytest\" is not installed";
    let make = "`python3 -m venv .venv`, then `.venv/bin/python -m pip install pytest`";
    of_machine(
        (".venv/bin/pytest -q", 127),
        "sh: 1: .venv/bin/pytest: not found\n",
        &none,
        (missing_fact, make),
    );
    let install = "`.venv/bin/python -m pip install pytest`";
    of_machine(
        (".venv/bin/pytest -q", 127),
        "sh: 1: .venv/bin/pytest: not found\n",
        &tree(&[(".venv/", "")]),
        (missing_fact, install),
    );
    let php = tree(&[("composer.json", "{}")]);
    of_machine(
        ("vendor/bin/phpunit", 127),
        "sh: 1: vendor/bin/phpunit: not found\n",
        &php,
        ("package \"vendor/bin/phpunit\" is not installed", "`composer install`"),
    );
}

#[test]
fn parts_of_toolchains_are_missing_on_the_machine() {
    let none = tree(&[]);
    let nextest =
        "error: no such command: `nextest`\n\nhelp: view all installed commands with `cargo --list`\n";
    of_machine(
        ("cargo nextest run", 101),
        nextest,
        &none,
        ("program \"cargo-nextest\" is not installed", "`cargo install --locked cargo-nextest`"),
    );
    let clippy = "error: 'cargo-clippy' is not installed for the toolchain 'stable-x'.\n";
    of_machine(
        ("cargo clippy", 1),
        clippy,
        &none,
        ("program \"cargo-clippy\" is not installed", "`rustup component add clippy`"),
    );
    of_machine(
        ("cargo test", 101),
        "error: linker `cc` not found\n",
        &none,
        ("program \"cc\" is not installed", "install a C compiler"),
    );
    of_machine(
        ("cargo +nightly test", 1),
        "error: toolchain 'nightly-x' is not installed\n",
        &none,
        ("toolchain \"nightly-x\" is not installed", "`rustup toolchain install nightly-x`"),
    );
    let target = "error[E0463]: can't find crate for `std`\n  = note: the `wasm32-unknown-unknown` target may not be installed\n";
    of_machine(
        ("cargo build --target wasm32-unknown-unknown", 101),
        target,
        &none,
        (
            "toolchain \"wasm32-unknown-unknown\" is not installed",
            "`rustup target add wasm32-unknown-unknown`",
        ),
    );
    of_machine(
        ("go test ./...", 1),
        "go: go.mod requires go >= 1.30 (running go 1.22.1)\n",
        &none,
        ("toolchain \"go >= 1.30\" is not installed", "install go >= 1.30"),
    );
}

#[test]
fn services_and_gems() {
    let none = tree(&[]);
    of_machine(
        ("docker compose up", 1),
        "Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?\n",
        &none,
        ("Docker is not running", "start Docker"),
    );
    of_machine(
        ("bundle exec rspec", 127),
        "bundler: command not found: rspec\n",
        &none,
        ("gem \"rspec\" is not installed", "`bundle install`"),
    );
    let load = "<internal>: cannot load such file -- minitest/autorun (LoadError)\n";
    of_machine(
        ("ruby t.rb", 1),
        load,
        &none,
        ("gem \"minitest\" is not installed", "`gem install minitest`"),
    );
    proceed("ruby t.rb", 1, "<internal>: cannot load such file -- mylib (LoadError)\n", &none, None);
    of_machine(
        ("./gradlew test", 1),
        "ERROR: JAVA_HOME is not set and no 'java' command could be found in your PATH.\n",
        &none,
        ("program \"java\" is not installed", "install a JDK and set `JAVA_HOME`"),
    );
}

#[test]
fn programs_that_are_searched_on_disk() {
    let tree = tree(&[("web/package.json", PACKAGE)]);
    let run = CommandRun {
        ending: CommandExit::Exited(1),
        stderr: b"sh: 1: ./run.sh: not found\nCannot find module '@a/b/c'\nCannot find module '../../../x'\n"
            .to_vec(),
        ..CommandRun::default()
    };
    let result = CheckResult::new(loopkeeper_task::criterion::CriterionId("x".to_owned()), Status::Fail, "");
    let wanted = tree.paths_to_probe(&missing_candidates("./run.sh", &run, &result));
    for path in ["run.sh", "node_modules", "web/node_modules", "web/node_modules/@a/b", ".venv"] {
        assert!(wanted.contains(path), "{path}: {wanted:?}");
    }
    assert!(wanted.iter().all(|it| !it.contains("../../") || it.contains("node_modules")), "{wanted:?}");
    assert!(MANIFESTS.iter().all(|it| TreeFacts::is_manifest(it)));
}

#[test]
fn names_are_sanitised_and_redacted() {
    let redactor = Redactor::new(["hunter2-hunter2".to_owned()]);
    let mut result =
        CheckResult::new(loopkeeper_task::criterion::CriterionId("x".to_owned()), Status::Fail, "");
    let missing = MissingDependency::of_machine(
        MissingKind::Program,
        "hunter2-hunter2\u{1b}[31m",
        "install hunter2-hunter2".to_owned(),
    );
    result.set_missing(&missing, &redactor);
    let shown = serde_json::to_string(&result).unwrap();
    assert!(!shown.contains("hunter2") && !shown.contains("\\u001b"), "{shown}");
}

#[test]
fn facts_and_remedies_are_in_the_language_of_the_process() {
    Language::SimplifiedChinese.during(|| {
        let check = |command: &str, output: &str, expect: (&str, &str)| {
            of_machine((command, 127), output, &tree(&[]), expect);
        };
        check("jq .", "sh: 1: jq: not found", ("未安装程序“jq”", "安装 jq，或更改检查"));
        check(
            "python a.py",
            "sh: 1: python: not found",
            ("未安装程序“python”", "安装 Python，或在检查中写 `python3`"),
        );
    });
}
