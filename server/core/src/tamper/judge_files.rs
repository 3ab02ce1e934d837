//! Finds the judges among changed files: tests, their data and helpers, the configuration of runners, scripts that
//! checks name. The final verdict uses their versions at the start.

use std::collections::BTreeMap;

use super::check_files::{self, CheckScan, CheckedFile, FileRole};
use super::linters::CheckLinters;
use super::shadowing_files::{names_runner, shadows_another};
use super::{
    FileVersions, ProtectionRules, TamperComparison, decides_verdict, file_name, is_golden, is_recipe,
    mixed_files, moved_tests,
};
use loopkeeper_source::test_inventory::{is_test_path, language};
use loopkeeper_text::pattern::ConstantPattern;

/// A changed file other than the work that affects a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedJudge {
    /// Relative to the root.
    pub path: String,
    /// Whether it did not exist at the start.
    pub is_new: bool,
    /// Whether it is new, and run or read instead of another file.
    pub replaces_other: bool,
    /// For a file that is also work: the final text with the judging parts of the start.
    pub composed: Option<String>,
    pub change: JudgeChange,
}

/// The kind of a judge's change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JudgeChange {
    /// A file of tests that lost none: a criterion that requires more tests is judged with its final version.
    OnlyAdded,
    /// Only its imports changed, because the work moved.
    OnlyImports,
    #[default]
    Other,
}

impl ProtectionRules {
    /// The judges among `changed`, in their order.
    pub fn changed_judges(&self, changed: &[String], files: &dyn FileVersions) -> Vec<ChangedJudge> {
        self.find_judges(changed, files).into_iter().map(|(judge, _)| judge).collect()
    }

    /// The judges among `changed`, and whether each configures a runner or a linter.
    fn find_judges(&self, changed: &[String], files: &dyn FileVersions) -> Vec<(ChangedJudge, bool)> {
        let CheckScan { files: named, linters, .. } = check_files::scan_checks(&self.commands, files);
        let composed = |path: &str| self.compose(path, &named, files);
        let is_added = |path: &str| files.read_before(path).is_none() && !files.existed_before(path);
        let judges: BTreeMap<&str, Option<String>> = changed
            .iter()
            .filter(|it| !self.is_allowed(it))
            .map(|it| (it.as_str(), composed(it)))
            .filter(|(path, composed)| {
                composed.is_some()
                    || self.is_judge(path, &named, &linters)
                    || linters.ignores_sources(path, files)
                    || loads_plugin(path, files)
                    || (names_runner(path) && is_added(path))
            })
            .collect();
        let paths: Vec<&str> = judges.keys().copied().collect();
        let added = AddedFiles::of(&paths, &is_added);
        let moved = moved_tests(&paths, files);
        let comparison = TamperComparison { watch: self, files, named, moved, changed: &paths };
        let judge = |(path, composed): (&str, Option<String>)| {
            let is_new = is_added(path);
            let replaces_other = comparison.named.get(path).is_some_and(|it| it.instead_of.is_some())
                || (is_new
                    && (is_interpreter_setup(path)
                        || linters.replaces_setup(path, files)
                        || linters.ignores_sources(path, files)
                        || loads_plugin(path, files)
                        || shadows_another(path, files)));
            let is_setup =
                is_runner_setup(path) || linters.is_setup(path) || self.setup_inputs.contains(path);
            let is_tests = !replaces_other && !is_setup && language(path).is_some();
            let texts = || files.read_before(path).zip(files.read_after(path));
            let change = if !is_tests {
                JudgeChange::Other
            } else if texts().is_some_and(|(before, after)| differ_in_imports(&before, &after))
                || added.contain(path, files)
            {
                JudgeChange::OnlyImports
            } else if files.exists(path) && comparison.compare_file(path).is_none() {
                JudgeChange::OnlyAdded
            } else {
                JudgeChange::Other
            };
            (ChangedJudge { path: path.to_owned(), is_new, replaces_other, composed, change }, is_setup)
        };
        judges.into_iter().map(judge).collect()
    }

    /// The judges among changed files that no snapshot contains.
    pub fn unrecorded_judges(&self, paths: &[String], files: &dyn FileVersions) -> Vec<ChangedJudge> {
        let judges = self.find_judges(paths, files).into_iter();
        judges.filter(|(judge, is_setup)| judge.replaces_other || *is_setup).map(|(judge, _)| judge).collect()
    }

    /// The judges among the files of a tree, changed or not.
    pub fn judges_among(&self, paths: &[String], files: &dyn FileVersions) -> Vec<String> {
        let CheckScan { files: named, linters, .. } = check_files::scan_checks(&self.commands, files);
        let is_judge = |it: &&String| {
            let has_parts = named.get(*it).is_some_and(|it| it.instead_of.is_none() && !it.parts.is_empty());
            has_parts || self.is_judge(it, &named, &linters)
        };
        paths.iter().filter(is_judge).cloned().collect()
    }

    /// The programs that the checks run, by name.
    pub fn programs(&self, files: &dyn FileVersions) -> Vec<String> {
        check_files::find_programs(&self.commands, files).into_iter().collect()
    }

    /// The text of a file that is both work and judge with its judging parts of the start, if these changed.
    fn compose(
        &self,
        path: &str,
        named: &BTreeMap<String, CheckedFile>,
        files: &dyn FileVersions,
    ) -> Option<String> {
        if self.artefacts.contains(path) || self.is_protected(path) || self.commands.is_empty() {
            return None;
        }
        let parts = named.get(path).map(|it| it.parts.as_slice()).unwrap_or_default();
        let start = files.read_before(path);
        if start.is_none() && files.existed_before(path) {
            return None;
        }
        let texts = (&*start.unwrap_or_default(), &*files.read_after(path)?);
        mixed_files::with_parts_of_start(path, parts, texts, &|it| files.exists(it))
    }

    fn is_judge(&self, path: &str, named: &BTreeMap<String, CheckedFile>, linters: &CheckLinters) -> bool {
        if self.artefacts.contains(path) {
            return false;
        }
        let is_named = named.get(path).is_some_and(|it| {
            let replaces_other = it.instead_of.is_some();
            replaces_other || it.role != FileRole::Program || (it.parts.is_empty() && decides_verdict(path))
        });
        // A recipe belongs to the work in parts and to the check in parts: they are composed.
        let is_test = is_test_path(path) && !is_recipe(path);
        is_named
            || self.test_support.contains(path)
            || self.setup_inputs.contains(path)
            || self.is_protected(path)
            || is_test
            || is_runner_setup(path)
            || linters.is_setup(path)
            || is_test_data(path)
    }
}

/// Judges that are new, by their names.
struct AddedFiles<'a>(BTreeMap<&'a str, Vec<&'a str>>);

impl<'a> AddedFiles<'a> {
    /// Maximum number of files of one name that are compared.
    const MAX_SAME: usize = 20;

    fn of(paths: &[&'a str], is_added: &dyn Fn(&str) -> bool) -> Self {
        let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for path in paths.iter().filter(|it| is_added(it)) {
            by_name.entry(file_name(path)).or_default().push(path);
        }
        Self(by_name)
    }

    /// Whether the file is gone and one of these is the same, apart from its imports.
    fn contain(&self, path: &str, files: &dyn FileVersions) -> bool {
        let Some(before) = files.read_before(path).filter(|_| !files.exists(path)) else { return false };
        let same_name = self.0.get(file_name(path)).into_iter().flatten().take(Self::MAX_SAME);
        let is_same = |it: &&str| {
            let after = files.read_after(it);
            after.is_some_and(|after| before == after || differ_in_imports(&before, &after))
        };
        same_name.copied().any(|it| is_same(&it))
    }
}

/// Whether the texts differ, and only in lines that import from the project.
fn differ_in_imports(before: &str, after: &str) -> bool {
    static IMPORT: ConstantPattern = ConstantPattern::new(
        r#"^(?:from\s+[\w.]+\s+import\s|import\s|(?:pub\s+)?(?:use|mod)\s|(?:const|let|var)\s.*\brequire\(|require\b|#include\s|package\s|\w*\s*"[\w.-]+/[\w./-]+"$)"#,
    );
    fn lines(text: &str) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for line in text.lines().map(str::trim).filter(|it| !it.is_empty()) {
            *counts.entry(line).or_default() += 1;
        }
        counts
    }
    let (old, new) = (lines(before), lines(after));
    let changed: Vec<&str> =
        old.keys().chain(new.keys()).copied().filter(|it| old.get(it) != new.get(it)).collect();
    // An absolute path, or a second statement, may import anything.
    let is_import = |line: &&str| {
        let line = line.trim_end_matches(';');
        IMPORT.is_match(line) && !["\"/", "'/", ";"].iter().any(|it| line.contains(it))
    };
    !changed.is_empty() && changed.iter().all(is_import)
}

/// Whether the file contains expected results next to tests.
fn is_test_data(path: &str) -> bool {
    let snapshot = path.rsplit_once('.').is_some_and(|(_, it)| matches!(it, "snap" | "golden" | "approved"));
    snapshot || (is_golden(path) && path.split('/').any(|it| matches!(it, "testdata" | "__snapshots__")))
}

/// Whether the file is metadata of a package that makes pytest load a plugin: pytest searches the folder in which it
/// starts.
fn loads_plugin(path: &str, files: &dyn FileVersions) -> bool {
    let is_metadata = path.strip_suffix("/entry_points.txt").is_some_and(|folder| {
        folder.rsplit_once('.').is_some_and(|(_, it)| matches!(it, "dist-info" | "egg-info"))
    });
    let names_plugin = |text: Option<String>| text.is_some_and(|it| it.contains("[pytest11]"));
    is_metadata && (names_plugin(files.read_after(path)) || names_plugin(files.read_before(path)))
}

/// Whether an interpreter, a compiler, a package manager or a runner reads the file as it starts. New tests do not need
/// such a file.
fn is_interpreter_setup(path: &str) -> bool {
    const NAMES: [&str; 5] = ["sitecustomize.py", "usercustomize.py", ".npmrc", ".rspec-local", ".proverc"];
    NAMES.contains(&file_name(path))
        || is_cargo_config(path)
        || file_name(path).rsplit_once('.').is_some_and(|(_, it)| matches!(it, "pth" | "rake"))
}

fn is_cargo_config(path: &str) -> bool {
    path.ends_with(".cargo/config.toml") || path.ends_with(".cargo/config")
}

/// Files that a test runner or interpreter reads before the first test.
const RUNNER_SETUP_NAMES: [&str; 31] = [
    ".busted",
    ".taprc",
    "bunfig.toml",
    "CTestCustom.cmake",
    "setup_suite.bash",
    "conftest.py",
    "pytest.ini",
    ".pytest.ini",
    "tox.ini",
    "setup.cfg",
    "noxfile.py",
    ".coveragerc",
    ".mocharc.json",
    ".mocharc.jsonc",
    ".mocharc.yml",
    ".mocharc.yaml",
    ".mocharc.js",
    ".mocharc.cjs",
    ".mocharc.mjs",
    "mocha.opts",
    "jasmine.json",
    "phpunit.xml",
    "phpunit.xml.dist",
    ".rspec",
    "spec_helper.rb",
    "rails_helper.rb",
    "test_helper.rb",
    "test_helper.exs",
    "nextest.toml",
    "codeception.yml",
    "karma.conf.js",
];
/// Beginnings of the names of such files, which are code.
const RUNNER_SETUP_STEMS: [&str; 9] = [
    "jest.config.",
    "jest.setup.",
    "setupTests.",
    "vitest.config.",
    "vitest.workspace.",
    "vitest.setup.",
    "ava.config.",
    "playwright.config.",
    "cypress.config.",
];
/// The names of the files that a test runner may read before the first test.
pub(super) fn runner_setup_names() -> Vec<String> {
    let of_stem =
        |stem: &&str| ["js", "cjs", "mjs", "ts", "mts", "cts", "json"].map(|it| format!("{stem}{it}"));
    let stems = RUNNER_SETUP_STEMS.iter().flat_map(of_stem);
    RUNNER_SETUP_NAMES.iter().map(ToString::to_string).chain(stems).collect()
}

/// Whether a test runner or interpreter reads the file before the first test.
fn is_runner_setup(path: &str) -> bool {
    let name = file_name(path);
    RUNNER_SETUP_NAMES.contains(&name)
        || RUNNER_SETUP_STEMS.iter().any(|it| name.starts_with(it))
        || is_interpreter_setup(path)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{ChangedJudge, JudgeChange};
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
    fn imports_that_follow_the_work() {
        let check = |before: &str, after: &str, expect: bool| {
            assert_eq!(super::differ_in_imports(before, after), expect, "{after}");
        };
        check("from calc import add\nassert add\n", "from calc.core import add\nassert add\n", true);
        check("use calc::add;\n", "use calc::core::add;\n", true);
        check("const { add } = require('../calc');\n", "const { add } = require('../src/calc');\n", true);
        check("import (\n\t\"me/a\"\n)\n", "import (\n\t\"me/b\"\n)\n", true);
        check("from calc import add\n", "from calc import add\n", false);
        check("import calc\n", "import sys\nsys.path.insert(0, '..')\nimport calc\n", false);
        check("import calc\n", "import sys; sys.path.insert(0, '..')\n", false);
        check("const { add } = require('../calc');\n", "const { add } = require('/tmp/calc');\n", false);
        check(
            "from calc import add\nassert add(1) == 2\n",
            "from calc import add\nassert add(1) == 3\n",
            false,
        );
    }

    #[test]
    fn judges_are_distinguished_from_work() {
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
                [ChangedJudge { composed: Some(_), .. }] => "parts",
                [ChangedJudge { is_new: true, change: JudgeChange::OnlyAdded, .. }] => "new tests",
                [ChangedJudge { change: JudgeChange::OnlyAdded, .. }] => "grew",
                [ChangedJudge { is_new: true, .. }] => "new",
                _ => "changed",
            };
            assert_eq!(found, expect, "{command}: {path}");
        };
        check("pytest", "src/parse.py", [Some("a"), Some("b")], "work");
        check("pytest", "pyproject.toml", [Some("a = 1"), Some("a = 2")], "work");
        check("make test", "Makefile", [Some("test:\n\tpytest"), Some("test:\n\ttrue")], "parts");
        check("make test", "Makefile", [Some("test:\n\tpytest"), Some("test:\n\tpytest\nall:\n")], "work");
        check("pytest", "made.py", [Some("a"), Some("b")], "work");
        check("pytest", "tests/test_parse.py", [Some(OLD), Some(GREW)], "grew");
        check("pytest", "tests/test_parse.py", [Some(OLD), Some(LOST)], "changed");
        check("pytest", "tests/test_parse.py", [Some(OLD), None], "changed");
        check("pytest", "tests/test_parse.py", [None, Some(GREW)], "new tests");
        check("pytest", "tests/conftest.py", [None, Some("import os\n")], "new");
        check("ruff check .", "ruff.toml", [Some("a = 1"), Some("a = 2")], "changed");
        check("ruff check .", "src/.ruff.toml", [None, Some("a = 2")], "new");
        check("pytest", "ruff.toml", [Some("a = 1"), Some("a = 2")], "work");
        check("npx eslint .", "eslint.config.mjs", [Some("a"), Some("b")], "changed");
        check("pre-commit run -a", ".pre-commit-config.yaml", [Some("a"), Some("b")], "changed");
        check("pre-commit run -a", "mypy.ini", [Some("a"), Some("b")], "changed");
        check("ruff check .", ".gitignore", [Some("*.log\n"), Some("*.log\n/calc.py\n")], "changed");
        check("ruff check .", ".gitignore", [Some("*.log\n"), Some("*.log\n.venv/\n")], "work");
        check("ruff check .", ".ignore", [None, Some("calc.py\n")], "new");
        check("pytest", ".gitignore", [Some(""), Some("*.py\n")], "work");
        let strict = Some("{ \"compilerOptions\": { \"strict\": true } }");
        check("npx tsc", "tsconfig.build.json", [strict, Some("{}")], "parts");
        check("npx tsc", "tsconfig.json", [None, Some("{}")], "work");
        check("pytest", "conftest.py", [Some("a = 1\n"), Some("a = 2\n")], "changed");
        check("cargo test", ".cargo/config.toml", [None, Some("[target]\n")], "new");
        check("pytest", "x.egg-info/entry_points.txt", [None, Some("[pytest11]\nx = x\n")], "new");
        check("pytest", "x.egg-info/entry_points.txt", [None, Some("[console_scripts]\nx = x\n")], "work");
        check("rspec", "spec/spec_helper.rb", [Some("a\n"), Some("a\nb\n")], "changed");
        check("rspec", ".rspec-local", [None, Some("--dry-run\n")], "new");
        check("mocha", ".mocharc.jsonc", [Some("{}"), Some("[]")], "changed");
        check("prove -l t", "t/calc.t", [Some("is(f(1), 2);\n"), Some("f(1);\n")], "changed");
        check("rake test", "Rakefile", [Some("task :test do\nend\n"), Some("task(:test) {}\n")], "changed");
        check("rake docs", "Rakefile", [Some("task :test do\nend\n"), Some("task :docs\n")], "work");
        check("rake", "Rakefile", [Some("task default: :test\n"), Some("task :default\n")], "changed");
        check("inv test", "tasks.py", [Some("def test(c):\n    a()\n"), Some("def test(c):\n")], "changed");
        check("pytest", "Rakefile", [Some("task :test\n"), Some("task :a\n")], "work");
        check("rake test", "rakelib/a.rake", [None, Some("task(:test) {}\n")], "new");
        check("rake test", "lib/minitest/autorun.rb", [None, Some("exit!(0)\n")], "new");
        check("prove -l t", ".proverc", [None, Some("--exec true\n")], "new");
        check("npx vitest", "vitest.config.ts", [Some("a"), Some("b")], "changed");
        check("go test ./...", "pkg/testdata/expected.json", [Some("1"), Some("2")], "changed");
        check("pytest", "pinned/schema.json", [Some("1"), Some("2")], "changed");
        check("sh scripts/check.sh", "scripts/check.sh", [Some("exit 1\n"), Some("exit 0\n")], "changed");
        check("sh prove.sh", "prove.sh", [Some("diff expected.txt out\n"), Some("true\n")], "changed");
        check("sh suite.sh", "suite.sh", [Some("exit 1\n"), Some("exit 0\n")], "changed");
        check(
            "python3 ci-gate.py",
            "ci-gate.py",
            [Some("import sys\nsys.exit(1)\n"), Some("x = 1\n")],
            "changed",
        );
        check("sh scripts/build.sh", "scripts/build.sh", [Some("exit 1\n"), Some("exit 0\n")], "work");
        check("python3 -m pytest", "pytest.py", [None, Some("print('1 passed')\n")], "new");
    }

    #[test]
    fn tests_that_move_with_their_package_only_change_imports() {
        let check = |moved: &'static str, expect: JudgeChange| {
            let rules = ProtectionRules::new(&[], &[], &[].into());
            let (old, new) = ("calc/tests/test_a.py", "calc/core/tests/test_a.py");
            let before = "from calc import f\n\n\ndef test_a():\n    assert f(1) == 2\n";
            let trees = Trees(BTreeMap::from([(old, [Some(before), None]), (new, [None, Some(moved)])]));
            let found = rules.changed_judges(&[old.to_owned(), new.to_owned()], &trees);
            let of_old = found.iter().find(|it| it.path == old).map(|it| it.change);
            assert_eq!(of_old, Some(expect), "{moved}");
        };
        check("from calc.core import f\n\n\ndef test_a():\n    assert f(1) == 2\n", JudgeChange::OnlyImports);
        check("from calc import f\n\n\ndef test_a():\n    assert f(1) == 2\n", JudgeChange::OnlyImports);
        check("from calc.core import f\n\n\ndef test_a():\n    assert f(1) == 3\n", JudgeChange::Other);
    }

    #[test]
    fn a_new_configuration_of_a_linter_replaces_the_earlier_one() {
        let check = |command: &str, path: &'static str, start: &[&'static str], expect: bool| {
            let check = Check::Command { command: command.to_owned(), expect: Vec::new() };
            let criterion = Criterion::new("a".to_owned(), "a", Some(check));
            let rules = ProtectionRules::new(&[&criterion], &[], &[].into());
            let start = start.iter().map(|it| (*it, [Some("a"), Some("a")]));
            let trees = Trees(start.chain([(path, [None, Some("b")])]).collect());
            let found = rules.changed_judges(&[path.to_owned()], &trees);
            assert_eq!(found.first().map(|it| it.replaces_other), Some(expect), "{command}: {path}");
        };
        check("ruff check .", "src/ruff.toml", &[], true);
        check("npx eslint .", "src/.eslintrc.json", &[".eslintrc.yml"], true);
        check("npx eslint .", "src/.eslintrc.json", &["src/eslint.config.mjs"], true);
        // A project that sets up ESLint has no verdict of the start.
        check("npx eslint .", "eslint.config.js", &[], false);
        check("npx eslint .", "web/eslint.config.js", &["api/eslint.config.js"], false);
    }
}
