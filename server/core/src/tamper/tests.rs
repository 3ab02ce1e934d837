//! Changes of a tree since its pinned start, and which of them are weakenings.

mod doc_tests;
mod search_scope;
mod shadowed_imports;
mod suppressions;
mod test_readers;
mod type_escapes;

use std::collections::{BTreeMap, BTreeSet};

use super::{FileVersions, ProtectionRules};
use loopkeeper_task::criterion::{Check, Criterion, Expect, PatternKind, TextPattern};
use loopkeeper_text::language::Language;

type Tree<'a> = &'a [(&'a str, &'a str)];

struct TreeVersions<'a> {
    before: BTreeMap<&'a str, &'a str>,
    after: BTreeMap<&'a str, &'a str>,
}

impl FileVersions for TreeVersions<'_> {
    fn read_before(&self, path: &str) -> Option<String> {
        self.before.get(path).map(ToString::to_string)
    }

    fn read_after(&self, path: &str) -> Option<String> {
        self.after.get(path).map(ToString::to_string)
    }

    fn exists(&self, path: &str) -> bool {
        self.after.contains_key(path)
    }
}

fn criterion(command: &str) -> Criterion {
    let (command, expect) = match command.split_once(" => ") {
        Some((command, pattern)) => {
            let pattern = TextPattern { source: pattern.to_owned(), kind: PatternKind::Regex };
            (command, vec![Expect::Matches { pattern }])
        }
        None => (command, Vec::new()),
    };
    Criterion::new(command, command, Some(Check::Command { command: command.to_owned(), expect }))
}

/// `changes`: new contents; `-` deletes.
#[track_caller]
fn check(command: &str, before: Tree<'_>, changes: Tree<'_>, expect: &[&str]) {
    let mut versions =
        TreeVersions { before: before.iter().copied().collect(), after: before.iter().copied().collect() };
    for (path, text) in changes {
        if *text == "-" {
            versions.after.remove(path);
        } else {
            versions.after.insert(path, text);
        }
    }
    let changed: Vec<String> = changes.iter().map(|(path, _)| (*path).to_owned()).collect();
    let one = criterion(command);
    let rules = ProtectionRules::new(
        &[&one],
        &["tests/**".to_owned()],
        &BTreeSet::from(["tests/out.txt".to_owned()]),
    );
    let found: Vec<String> =
        rules.find_weakenings(&changed, &versions).into_iter().map(|it| it.what).collect();
    assert_eq!(found, expect, "{command} {changes:?}");
}

#[test]
fn a_change_of_a_checks_own_script_is_a_weakening() {
    let tree: Tree<'_> = &[
        ("tests/run.sh", "#!/bin/sh\n# why\ntest -f done\n"),
        ("check.sh", "test -f done\n"),
        ("lib/a.sh", "echo hi\n"),
    ];
    check("sh tests/run.sh", tree, &[("tests/run.sh", "exit 0\n")], &["tests/run.sh was changed"]);
    check("sh tests/run.sh", tree, &[("tests/run.sh", "-")], &["tests/run.sh was deleted"]);
    check("sh tests/run.sh", tree, &[("tests/run.sh", "#!/bin/sh\n# because\n\ntest -f done\n")], &[]);
    check("./check.sh && echo ok", tree, &[("check.sh", "true\n")], &["check.sh was changed"]);
    check("timeout 5 bash ./check.sh", tree, &[("check.sh", "true\n")], &["check.sh was changed"]);
    check("sh -c 'cd . && sh check.sh'", tree, &[("check.sh", "true\n")], &["check.sh was changed"]);
    check("cargo test", tree, &[("check.sh", "true\n"), ("lib/a.sh", "echo ho\n")], &[]);
    check(
        "./check.sh",
        &[("check.sh", "python3 verify_all.py\n"), ("verify_all.py", "import app\n")],
        &[],
        &[],
    );
    check(
        "./check.sh",
        &[("check.sh", "python3 tools/verify.py\n"), ("tools/verify.py", "import app\nprint(1)\n")],
        &[("tools/verify.py", "print(0)\n")],
        &["tools/verify.py was changed"],
    );
}

#[test]
fn a_change_of_a_judges_program_is_a_weakening() {
    let rules = ProtectionRules::new(&[], &[], &BTreeSet::new());
    let rules = rules.judged_by(&["sh".to_owned(), "./critic.sh".to_owned()], "/w");
    let check = |path: &str, text: &str, expect: &[&str]| {
        let before = BTreeMap::from([("critic.sh", "echo no\n"), ("app.sh", "echo no\n")]);
        let mut after = before.clone();
        after.insert(path, text);
        let found = rules.find_weakenings(&[path.to_owned()], &TreeVersions { before, after });
        assert_eq!(found.into_iter().map(|it| it.what).collect::<Vec<_>>(), expect, "{path}");
    };
    check("critic.sh", "echo yes\n", &["critic.sh was changed, and the judge runs it"]);
    check("critic.sh", "# Why.\necho no\n", &[]);
    check("app.sh", "echo yes\n", &[]);
}

#[test]
fn the_work_itself_may_change() {
    check("python3 sum.py 2 3 => ^5$", &[("sum.py", "print(1)\n")], &[("sum.py", "print(5)\n")], &[]);
    check("python3 sum.py", &[("sum.py", "print(1)\n")], &[("sum.py", "print(5)\n")], &[]);
    check("./app --selftest", &[("app", "#!/bin/sh\necho no\n")], &[("app", "#!/bin/sh\necho yes\n")], &[]);
    check("grep -q done notes.txt", &[("notes.txt", "todo\n")], &[("notes.txt", "done\n")], &[]);
    check(
        "node src/index.js | grep -q 5",
        &[("src/index.js", "console.log(4)\n")],
        &[("src/index.js", "console.log(5)\n")],
        &[],
    );
    check(
        "sh tests/run.sh",
        &[("tests/run.sh", "python3 app.py\n"), ("app.py", "x = 1\n")],
        &[("app.py", "x = 2\n")],
        &[],
    );
    check(
        "python3 judge_me.py",
        &[("judge_me.py", "from a import b\nassert b() == 1\n")],
        &[("judge_me.py", "pass\n")],
        &["judge_me.py was changed"],
    );
}

#[test]
fn a_program_that_a_check_runs_is_the_work_until_nothing_in_it_can_fail() {
    let program = "#!/bin/sh\n[ $# -gt 0 ] || { echo usage; exit 2; }\ncat \"$1\" | wc -l\n";
    let tree: Tree<'_> = &[("receipt.sh", program)];
    check(
        "sh receipt.sh --help",
        tree,
        &[("receipt.sh", "#!/bin/sh\n[ $# -gt 1 ] || exit 3\nwc -l \"$1\"\n")],
        &[],
    );
    let emptied = "receipt.sh was emptied: nothing in it can fail";
    check("sh receipt.sh --help", tree, &[("receipt.sh", "#!/bin/sh\nexit 0\n")], &[emptied]);
    check("sh receipt.sh --help", tree, &[("receipt.sh", "echo all is well\ntrue\n")], &[emptied]);
    check("sh receipt.sh --help", tree, &[("receipt.sh", "")], &[emptied]);
    // If the output is judged, that is enough; a stub could never fail, from the start.
    check("sh receipt.sh --help => usage", tree, &[("receipt.sh", "echo usage\n")], &[]);
    check("sh stub.sh", &[("stub.sh", "exit 0\n")], &[("stub.sh", "echo hello\n")], &[]);
}

#[test]
fn a_script_that_compares_the_work_judges_whatever_its_name() {
    let shell = "out=$(./sums 1 2)\n[ \"$out\" = 3 ] || exit 1\n";
    let tree: Tree<'_> = &[("prove.sh", shell), ("sums", "#!/bin/sh\necho $(($1 - $2))\n")];
    let changed: &[&str] = &["prove.sh was changed"];
    check("./prove.sh", tree, &[("prove.sh", &shell.replace("= 3", "= -1"))], changed);
    check("make -s && sh prove.sh", tree, &[("prove.sh", "exit 0\n")], changed);
    check("./prove.sh", tree, &[("prove.sh", &format!("# Sums.\n{shell}"))], &[]);
    check("./prove.sh", tree, &[("sums", "#!/bin/sh\necho $(($1 + $2))\n")], &[]);
    let python = "from calc import add\n\nassert add(1, 2) == 3\nassert add(0, 0) == 0\n";
    let tree: Tree<'_> = &[("tools/x.py", python)];
    let lost: &[&str] = &["tools/x.py lost 1 assertion"];
    check("python tools/x.py", tree, &[("tools/x.py", &python.replace("assert add(0, 0) == 0\n", ""))], lost);
    let altered: &[&str] = &["tools/x.py expects different values in 1 assertion"];
    check("python tools/x.py", tree, &[("tools/x.py", &python.replace("== 3", "== -1"))], altered);
    check("python tools/x.py", tree, &[("tools/x.py", &format!("{python}assert add(4, 4) == 8\n"))], &[]);
    check("pytest", tree, &[("tools/x.py", "")], &[]);
}

#[test]
fn a_script_whose_failures_are_ignored_is_a_weakening() {
    let script = "#!/bin/sh\nset -e\npython3 -m app --selftest | grep -q ready\n";
    let tree: Tree<'_> = &[("prove.sh", script)];
    let emptied: &[&str] = &["prove.sh was emptied: nothing in it can fail"];
    check("./prove.sh", tree, &[("prove.sh", &script.replace("set -e", "exit 0"))], emptied);
    let ignores: &[&str] = &["prove.sh can no longer fail"];
    let set = script.replace("set -e", "set +e");
    check("bash prove.sh", tree, &[("prove.sh", &format!("{set}exit 0\n"))], ignores);
    check("./prove.sh", tree, &[("prove.sh", &format!("{script}exit 0\n"))], &[]);
    check("./prove.sh", tree, &[("prove.sh", &script.replace("ready", "'^ready$'"))], &[]);
}

#[test]
fn targets_and_scripts() {
    let make = "CC = gcc\nPY := python3\n\n.PHONY: test\nall: app\n\napp: a.c\n\t$(CC) a.c -o app\n\ntest: app\n\t@$(PY) -m pytest -q\n";
    let tree: Tree<'_> = &[("Makefile", make)];
    let with = |from: &str, to: &str| make.replace(from, to);
    check(
        "make test",
        tree,
        &[("Makefile", &with("@$(PY) -m pytest -q", "@true"))],
        &["Makefile changed what `test` runs"],
    );
    check(
        "make test",
        tree,
        &[("Makefile", &with("python3", "true"))],
        &["Makefile changed what `test` runs"],
    );
    check("make -s test", tree, &[("Makefile", "-")], &["Makefile changed what `test` runs"]);
    check("make test", tree, &[("Makefile", &with("$(CC) a.c", "$(CC) -O2 a.c"))], &[]);
    check("make test", tree, &[("Makefile", &with("all: app", "all: app docs"))], &[]);
    check("cargo test", tree, &[("Makefile", "all:\n")], &[]);
    let package = r#"{"name": "x", "scripts": {"test": "npm run unit && npm run lint", "unit": "jest", "lint": "eslint .", "build": "tsc"}}"#;
    let tree: Tree<'_> = &[("package.json", package)];
    let with = |from: &str, to: &str| package.replace(from, to);
    check(
        "npm test",
        tree,
        &[("package.json", &with("\"jest\"", "\"true\""))],
        &["package.json changed what `test` runs"],
    );
    check(
        "npm test",
        tree,
        &[("package.json", &with("npm run unit && npm run lint", "exit 0"))],
        &["package.json changed what `test` runs"],
    );
    check("npm test", tree, &[("package.json", &with("\"tsc\"", "\"tsc -p .\""))], &[]);
    check("npm test", tree, &[("package.json", &with("\"x\"", "\"y\", \"version\": \"2\""))], &[]);
    check(
        "npm run lint",
        tree,
        &[("package.json", &with("eslint .", "echo"))],
        &["package.json changed what `lint` runs"],
    );
    let tree: Tree<'_> = &[
        ("package.json", r#"{"scripts": {"test": "node scripts/check.mjs"}}"#),
        ("scripts/check.mjs", "run()\n"),
    ];
    check("npm t", tree, &[("scripts/check.mjs", "process.exit(0)\n")], &["scripts/check.mjs was changed"]);
}

#[test]
fn a_file_with_the_name_of_a_target_keeps_it_from_running() {
    let tree: Tree<'_> = &[("Makefile", "test: app\n\tsh run.sh\n\napp: a.c\n\tcc -o app a.c\n")];
    check("make test", tree, &[("test", "")], &["test takes the place of the target `test`"]);
    check("make -C sub test", tree, &[("test", "")], &[]);
    check("make app", tree, &[("app", "\u{7f}ELF")], &[]);
    let phony: Tree<'_> = &[("Makefile", ".PHONY: test\ntest:\n\tsh run.sh\n")];
    check("make test", phony, &[("test", "")], &[]);
    let makes: Tree<'_> = &[("Makefile", "test:\n\tsh run.sh > $@\n")];
    check("make test", makes, &[("test", "ok")], &[]);
}

#[test]
fn protected_tests_may_grow_and_protected_data_may_not_change() {
    let tests = "def test_a():\n    assert f() == 1\n\n\ndef test_b():\n    assert f() == 2\n";
    let tree: Tree<'_> = &[
        ("tests/test_f.py", tests),
        ("tests/golden.txt", "1\n"),
        ("tests/helper.py", "def load():\n    return open('x')\n"),
        ("tests/out.txt", "1"),
    ];
    check("pytest", tree, &[("tests/test_f.py", "-")], &["tests/test_f.py lost 2 tests"]);
    check("pytest", tree, &[("tests/test_f.py", "-"), ("tests/unit/test_f.py", tests)], &[]);
    check(
        "pytest",
        tree,
        &[("tests/test_f.py", &format!("{tests}\n\ndef test_c():\n    assert f()\n"))],
        &[],
    );
    check("pytest", tree, &[("tests/golden.txt", "2\n")], &["tests/golden.txt was changed"]);
    check("pytest", tree, &[("tests/golden2.txt", "2\n")], &[]);
    check(
        "pytest",
        tree,
        &[("tests/helper.py", "def load():\n    return open('x')\n\n\ndef save():\n    pass\n")],
        &[],
    );
    check(
        "pytest",
        tree,
        &[("tests/helper.py", "def load():\n    return None\n")],
        &["tests/helper.py was changed"],
    );
    check("pytest", tree, &[("tests/out.txt", "2")], &[]);
    check(
        "pytest",
        tree,
        &[("conftest.py", "def pytest_runtest_makereport(item, call):\n    pass\n")],
        &["conftest.py changes what the test runner reports"],
    );
    check(
        "pytest",
        tree,
        &[("conftest.py", "def pytest_runtest_protocol(item, nextitem):\n    return True\n")],
        &["conftest.py changes what the test runner reports"],
    );
    check("pytest", tree, &[("tests/conftest.py", "import pytest\n")], &[]);
    let what = ["babel.config.js transforms the sources that the tests run"];
    check(
        "npx jest",
        tree,
        &[("babel.config.js", "module.exports = { plugins: [{ visitor: {} }] };\n")],
        &what,
    );
    check("npx jest", tree, &[("babel.config.js", "module.exports = { presets: ['@babel/env'] };\n")], &[]);
    let what = [".babelrc transforms the sources that the tests run"];
    check("npx jest", tree, &[(".babelrc", "{ \"plugins\": [\"./p.js\"] }\n")], &what);
}

/// Helpers and recipes of a megabyte are compared in linear time.
#[test]
fn large_files_are_compared_quickly() {
    let lines = |count: u32, line: &dyn Fn(u32) -> String| -> String { (0..count).map(line).collect() };
    let helper = lines(20_000, &|n| format!("x{n} = {n}\n"));
    let grown = format!("y = 1\n{helper}");
    let shrunk = helper.replace("x19999 = 19999\n", "");
    let tree: Tree<'_> = &[("tests/helper.py", &helper)];
    check("pytest", tree, &[("tests/helper.py", &grown)], &[]);
    check("pytest", tree, &[("tests/helper.py", &shrunk)], &["tests/helper.py was changed"]);
    let variables = lines(5_000, &|n| format!("V{n} = {n}\n"));
    let targets = lines(5_000, &|n| format!("t{n}: t{}\n\n", n + 1));
    let recipe = lines(5_000, &|n| format!("\techo $(V{n})\n"));
    let large = format!("{variables}test: t0\n{targets}\nt5000:\n{recipe}");
    check(
        "make test",
        &[("Makefile", "test:\n\tsh run.sh\n")],
        &[("Makefile", &large)],
        &["Makefile changed what `test` runs"],
    );
}

#[test]
fn variables_of_a_recipe_are_found_in_every_form() {
    let check_variable = |reference: &str, name: &str| {
        let make = |value: &str| format!("{name} = {value}\nB = b\ntest:\n\techo '(' {reference}\n");
        let (before, after) = (make("sh run.sh"), make("true"));
        let expect = ["Makefile changed what `test` runs"];
        check("make test", &[("Makefile", &before)], &[("Makefile", &after)], &expect);
    };
    check_variable("$(RUN)", "RUN");
    check_variable("${RUN}", "RUN");
    check_variable("$(strip $(RUN))", "RUN");
    check_variable("$(A_$(B))", "A_$(B)");
    check_variable("{{RUN}}", "RUN");
}

#[test]
fn tests_count_wherever_they_are() {
    let inline = "pub fn f() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn works() {\n        assert!(super::f());\n    }\n}\n";
    check(
        "cargo test",
        &[("src/lib.rs", inline)],
        &[("src/lib.rs", "pub fn f() {}\n")],
        &["src/lib.rs lost 1 test"],
    );
    check(
        "cargo test",
        &[("src/lib.rs", inline)],
        &[("src/lib.rs", &inline.replace("pub fn f() {}", "pub fn f() -> bool { true }"))],
        &[],
    );
    check(
        "npx jest",
        &[("src/a.test.js", "it('a', () => {\n  expect(1).toBe(f());\n});\n")],
        &[("src/a.test.js", "it.skip('a', () => {\n  expect(1).toBe(f());\n});\n")],
        &["src/a.test.js skips 1 test"],
    );
    check(
        "diff expected.txt out.txt",
        &[("expected.txt", "5\n"), ("out.txt", "4\n")],
        &[("expected.txt", "4\n")],
        &["expected.txt was changed"],
    );
    check(
        "diff expected.txt out.txt",
        &[("expected.txt", "5\n"), ("out.txt", "4\n")],
        &[("out.txt", "5\n")],
        &[],
    );
}

#[test]
fn changes_that_decide_the_result_of_a_recipe() {
    let tree: Tree<'_> = &[("Makefile", "test:\n\t@sh run.sh\n"), ("run.sh", "test -f done\n")];
    let changed: &[&str] = &["Makefile changed what `test` runs"];
    check("make test", tree, &[("Makefile", "test:\n\t-@sh run.sh\n")], changed);
    check("make test", tree, &[("Makefile", "test:\n\t@ - sh run.sh\n")], changed);
    check("make test", tree, &[("Makefile", "SHELL = /bin/true\ntest:\n\t@sh run.sh\n")], changed);
    check("make test", tree, &[("Makefile", "MAKEFLAGS += -i\ntest:\n\t@sh run.sh\n")], changed);
    check("make test", tree, &[("Makefile", ".IGNORE:\ntest:\n\t@sh run.sh\n")], changed);
    check("make test", tree, &[("Makefile", "test:\n\tsh run.sh\n\nclean:\n\t-rm -f x\n")], &[]);
}

#[test]
fn commands_that_replace_the_checked_one() {
    let makefile: Tree<'_> = &[("Makefile", "test:\n\tsh run.sh\n")];
    check("make test", makefile, &[("GNUmakefile", "test:\n")], &["GNUmakefile takes the place of Makefile"]);
    check("make -f Makefile test", makefile, &[("GNUmakefile", "test:\n")], &[]);
    check("make test", &[], &[("Makefile", "test:\n\tsh run.sh\n")], &[]);
    let python: Tree<'_> = &[("tests/test_a.py", "def test_a():\n    assert f()\n")];
    let shadow: &[&str] = &["unittest/__main__.py takes the place of the module `unittest`"];
    check("python3 -m unittest", python, &[("unittest/__main__.py", "print(1)\n")], shadow);
    check("python3 -m mine", python, &[("mine.py", "print(1)\n")], &[]);
    check(
        "npm test",
        &[],
        &[(".npmrc", "script-shell=/bin/true\n")],
        &[".npmrc changes what the test runner reports"],
    );
    check("npm test", &[], &[(".npmrc", "registry=https://example.org\n")], &[]);
}

#[test]
fn a_new_file_that_ends_the_run() {
    let ends: &[&str] = &["tests/test_a.py ends the run before its tests"];
    check("python3 -m unittest", &[], &[("tests/test_a.py", "import os\nos._exit(0)\n")], ends);
    check("python3 -m unittest", &[], &[("tests/test_a.py", "import sys\nsys.exit()\n")], ends);
    check("python3 -m unittest", &[], &[("tests/test_a.py", "def test_a():\n    assert f()\n")], &[]);
    check("python3 run.py", &[], &[("tests/run.py", "sys.exit(main())\n")], &[]);
    let go = "func TestMain(m *testing.M) {\n\tos.Exit(m.Run())\n}\n\nfunc TestA(t *testing.T) {\n\tt.Fatal()\n}\n";
    let drops = go.replace("os.Exit(m.Run())", "m.Run()\n\tos.Exit(0)");
    let ignores: &[&str] = &["a_test.go ignores the result of its tests"];
    check("go test ./...", &[("a_test.go", go)], &[("a_test.go", &drops)], ignores);
    check(
        "npx jest",
        &[("test/setup.js", "a()\n")],
        &[("test/setup.js", "process.exit(0)\n")],
        &["test/setup.js ends the run before its tests"],
    );
}

#[test]
fn a_weakening_is_in_the_language_of_the_process() {
    let tree: Tree<'_> = &[
        ("tests/run.sh", "#!/bin/sh\ntest -f done\n"),
        ("tests/test_a.py", "def test_a():\n    assert a() == 1\n\n\ndef test_b():\n    assert b() == 2\n"),
    ];
    let check = |command: &str, changes: Tree<'_>, expect: &[&str]| {
        Language::SimplifiedChinese.during(|| check(command, tree, changes, expect));
    };
    check("sh tests/run.sh", &[("tests/run.sh", "-")], &["tests/run.sh 被删除"]);
    check(
        "pytest",
        &[("tests/test_a.py", "def test_a():\n    assert a() == 3\n")],
        &["tests/test_a.py 丢失了 1 个测试，更改了 1 条断言所期望的值"],
    );
    check("pytest", &[("calc.py", "import os\nos._exit(0)\n")], &["calc.py 结束了测试运行"]);
}

#[test]
fn rows_that_a_script_compares_with_are_watched() {
    let script = "#!/bin/sh\nset -e\nwhile read -r a b want; do\n  got=$(python3 run.py $a $b)\n  [ \"$got\" = \"$want\" ] || exit 1\ndone < sums.txt\n";
    let tree = [("sums.sh", script), ("sums.txt", "1 2 3\n"), ("run.py", "print(3)\n")];
    check("sh sums.sh", &tree, &[("sums.txt", "")], &["sums.txt was changed"]);
    check("sh sums.sh", &tree, &[("sums.txt", "-")], &["sums.txt was deleted"]);
    check("sh other.sh", &tree, &[("sums.txt", "")], &[]);
}
