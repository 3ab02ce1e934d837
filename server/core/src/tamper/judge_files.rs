//! Judges among the files that changed: tests, their data and helpers, the configuration of runners, scripts that
//! checks name. In the final verdict these are what they were at the start.

use std::collections::BTreeMap;

use super::named::{self, CheckedFile};
use super::{
    FileVersions, ProtectionRules, TamperComparison, decides_verdict, file_name, is_golden, is_recipe,
    moved_tests,
};
use crate::check::test_inventory::{is_test_path, language};

/// A changed file that decides a verdict besides the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedJudge {
    /// Relative to the root.
    pub path: String,
    /// It was not there at the start.
    pub is_new: bool,
    /// A file of tests that lost none of them: a criterion that asks for more tests is judged with it as it is.
    pub only_grew: bool,
    /// New, and run or read in the place of another file.
    pub stands_in: bool,
}

impl ProtectionRules {
    /// The judges among `changed`, in their order.
    pub fn changed_judges(&self, changed: &[String], files: &dyn FileVersions) -> Vec<ChangedJudge> {
        let named = named::find_checked_files(&self.commands, files);
        let judges: Vec<&str> =
            changed.iter().map(String::as_str).filter(|it| self.is_judge(it, &named)).collect();
        let moved = moved_tests(&judges, files);
        let look = TamperComparison { watch: self, files, named, moved, changed: &judges };
        let judge = |path: &&str| {
            let stands_in = look.named.get(*path).is_some_and(|it| it.instead_of.is_some());
            let is_new = files.read_before(path).is_none() && !files.existed(path);
            let is_tests = !stands_in && !is_runner_setup(path) && language(path).is_some();
            let only_grew = is_tests && files.exists(path) && look.compare_file(path).is_none();
            ChangedJudge { path: (*path).to_owned(), is_new, only_grew, stands_in }
        };
        judges.iter().map(judge).collect()
    }

    fn is_judge(&self, path: &str, named: &BTreeMap<String, CheckedFile>) -> bool {
        if self.artefacts.contains(path) {
            return false;
        }
        let is_named = named.get(path).is_some_and(|it| {
            let stands_in = it.instead_of.is_some();
            stands_in || it.is_data || (it.parts.is_empty() && decides_verdict(path))
        });
        // Parts of a recipe are the work's, parts are the check's: it is compared part by part.
        let is_test = is_test_path(path) && !is_recipe(path);
        is_named || self.is_protected(path) || is_test || is_runner_setup(path) || is_test_data(path)
    }
}

/// Expected results next to tests.
fn is_test_data(path: &str) -> bool {
    let snapshot = path.rsplit_once('.').is_some_and(|(_, it)| matches!(it, "snap" | "golden" | "approved"));
    snapshot || (is_golden(path) && path.split('/').any(|it| matches!(it, "testdata" | "__snapshots__")))
}

/// What a test runner or interpreter reads before the first test.
fn is_runner_setup(path: &str) -> bool {
    const NAMES: [&str; 22] = [
        "conftest.py",
        "pytest.ini",
        ".pytest.ini",
        "tox.ini",
        "setup.cfg",
        "noxfile.py",
        ".coveragerc",
        "sitecustomize.py",
        "usercustomize.py",
        ".npmrc",
        ".mocharc.json",
        ".mocharc.yml",
        ".mocharc.js",
        ".mocharc.cjs",
        "mocha.opts",
        "jasmine.json",
        "phpunit.xml",
        "phpunit.xml.dist",
        ".rspec",
        "nextest.toml",
        "codeception.yml",
        "karma.conf.js",
    ];
    const STEMS: [&str; 6] = [
        "jest.config.",
        "vitest.config.",
        "vitest.workspace.",
        "ava.config.",
        "playwright.config.",
        "cypress.config.",
    ];
    let name = file_name(path);
    let is_cargo = path.ends_with(".cargo/config.toml") || path.ends_with(".cargo/config");
    NAMES.contains(&name)
        || STEMS.iter().any(|it| name.starts_with(it))
        || is_cargo
        || name.rsplit_once('.').is_some_and(|(_, it)| it == "pth")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::ChangedJudge;
    use crate::tamper::{FileVersions, ProtectionRules};
    use loopkeeper_task::criterion::{Check, Criterion};

    struct Trees(BTreeMap<&'static str, [Option<&'static str>; 2]>);

    impl FileVersions for Trees {
        fn read_before(&self, path: &str) -> Option<String> {
            self.0.get(path)?[0].map(str::to_owned)
        }

        fn read_after(&self, path: &str) -> Option<String> {
            self.0.get(path)?[1].map(str::to_owned)
        }

        fn exists(&self, path: &str) -> bool {
            self.read_after(path).is_some()
        }
    }

    const OLD: &str = "def test_a():\n    assert f(1) == 2\n";
    const GREW: &str = "def test_a():\n    assert f(1) == 2\n\ndef test_b():\n    assert f(2) == 3\n";
    const LOST: &str = "def test_a():\n    assert True\n";

    #[test]
    fn judges_are_told_from_the_work() {
        let check = |command: &str, path: &'static str, versions: [Option<&'static str>; 2], expect: &str| {
            let check = Check::Command { command: command.to_owned(), expect: Vec::new() };
            let criterion = Criterion::new("a".to_owned(), "a", Some(check));
            let rules = ProtectionRules::new(
                &[&criterion],
                &["pinned/**".to_owned()],
                &["made.py".to_owned()].into(),
            );
            let found = rules.changed_judges(&[path.to_owned()], &Trees(BTreeMap::from([(path, versions)])));
            let found = match &found[..] {
                [] => "work",
                [ChangedJudge { is_new: true, only_grew: true, .. }] => "new tests",
                [ChangedJudge { only_grew: true, .. }] => "grew",
                [ChangedJudge { is_new: true, .. }] => "new",
                _ => "changed",
            };
            assert_eq!(found, expect, "{command}: {path}");
        };
        check("pytest", "src/parse.py", [Some("a"), Some("b")], "work");
        check("pytest", "pyproject.toml", [Some("a"), Some("b")], "work");
        check("make test", "Makefile", [Some("test:\n\tpytest"), Some("test:\n\ttrue")], "work");
        check("pytest", "made.py", [Some("a"), Some("b")], "work");
        check("pytest", "tests/test_parse.py", [Some(OLD), Some(GREW)], "grew");
        check("pytest", "tests/test_parse.py", [Some(OLD), Some(LOST)], "changed");
        check("pytest", "tests/test_parse.py", [Some(OLD), None], "changed");
        check("pytest", "tests/test_parse.py", [None, Some(GREW)], "new tests");
        check("pytest", "tests/conftest.py", [None, Some("import os\n")], "new");
        check("pytest", "conftest.py", [Some("a = 1\n"), Some("a = 2\n")], "changed");
        check("cargo test", ".cargo/config.toml", [None, Some("[target]\n")], "new");
        check("npx vitest", "vitest.config.ts", [Some("a"), Some("b")], "changed");
        check("go test ./...", "pkg/testdata/expected.json", [Some("1"), Some("2")], "changed");
        check("pytest", "pinned/schema.json", [Some("1"), Some("2")], "changed");
        check("sh scripts/check.sh", "scripts/check.sh", [Some("exit 1\n"), Some("exit 0\n")], "changed");
        check("sh scripts/build.sh", "scripts/build.sh", [Some("exit 1\n"), Some("exit 0\n")], "work");
        check("python3 -m pytest", "pytest.py", [None, Some("print('1 passed')\n")], "new");
    }
}
