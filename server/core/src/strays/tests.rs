//! Trees with added files, and which of them are strays; trees before and after, and their duplicates.

use std::collections::BTreeMap;

use super::{
    DuplicateConfiguration, TreeText, duplicate_configurations, present_configurations, stray_files,
};
use crate::drift::{TaskMentions, TaskTexts};
use crate::tamper::FileVersions;
use loopkeeper_text::language::Language;

/// The strays among files with a `+` before their path.
#[track_caller]
fn check(prompt: &str, tree: &[(&str, &str)], expect: &[&str]) {
    let bare = |path: &str| path.trim_start_matches('+').to_owned();
    let files: Vec<TreeText> =
        tree.iter().map(|(path, text)| TreeText { path: bare(path), text: (*text).to_owned() }).collect();
    let added: Vec<String> = tree.iter().filter(|it| it.0.starts_with('+')).map(|it| bare(it.0)).collect();
    let task = TaskMentions::of(&TaskTexts { prompt, context: &[], criteria: &[], plan: &[] });
    assert_eq!(stray_files(&added, &files, &task), expect, "{tree:?}");
}

const USER: (&str, &str) = ("src/main.py", "from auth import login\n");

#[test]
fn added_sources_without_a_reference_are_strays() {
    check("", &[USER, ("+src/auth.py", ""), ("+src/auth_old.py", "")], &["src/auth_old.py"]);
    check("", &[USER, ("src/auth_old.py", "")], &[]);
    check("", &[USER, ("+src/dead.rs", ""), ("+web/dead-end.ts", "")], &["src/dead.rs", "web/dead-end.ts"]);
}

#[test]
fn files_that_only_strays_refer_to_are_strays() {
    let tree = [USER, ("+src/first.py", "import second"), ("+src/second.py", "import first")];
    check("", &tree, &["src/first.py", "src/second.py"]);
    let tree = [("a/main.py", "import first"), ("+a/first.py", "import second"), ("+a/second.py", "")];
    check("", &tree, &[]);
    check("", &[("+src/alone.py", "alone = 1")], &["src/alone.py"]);
}

#[test]
fn any_reference_counts() {
    let stray = ("+src/date_parser.ts", "");
    check("", &[stray], &["src/date_parser.ts"]);
    for (path, text) in [
        ("src/b.ts", "import x from './date_parser'"),
        ("tests/date.test.ts", "import '../src/dateParser'"),
        ("README.md", "See `src/date_parser.ts`."),
        ("package.json", "{\"main\": \"src/date-parser.js\"}"),
        ("build.mjs", "glob('./src/*.ts')"),
        ("src/b.ts", "fs.readdirSync(folder)"),
    ] {
        check("", &[stray, (path, text)], &[]);
    }
    check("", &[stray, ("tsconfig.json", "{\"include\": [\"src/**/*.ts\"]}")], &["src/date_parser.ts"]);
    check("", &[stray, ("src/b.ts", "/* src */ const dates = 1")], &["src/date_parser.ts"]);
    check("Write src/date_parser.ts", &[stray], &[]);
    check("Parse dates: a date parser", &[stray], &[]);
}

#[test]
fn files_that_need_no_reference_are_not_strays() {
    for (path, text) in [
        ("+src/main.py", ""),
        ("+src/run.py", "if __name__ == '__main__':\n"),
        ("+src/run.js", "#!/usr/bin/env node\n"),
        ("+src/work.rs", "fn main() {}\n"),
        ("+src/bin/tool.rs", ""),
        ("+src/pages/about.tsx", ""),
        ("+src/[id].ts", ""),
        ("+vite.config.ts", ""),
        ("+tests/test_a.py", ""),
        ("+docs/notes.md", ""),
        ("+src/util.go", ""),
        ("+src/view.css", ""),
        ("+.hidden/a.py", ""),
        ("+migrations/m1.py", ""),
    ] {
        check("", &[(path, text)], &[]);
    }
}

struct Trees<'a>(BTreeMap<&'a str, &'a str>, BTreeMap<&'a str, &'a str>);

impl FileVersions for Trees<'_> {
    fn read_before(&self, path: &str) -> Option<String> {
        self.0.get(path).map(ToString::to_string)
    }

    fn read_after(&self, path: &str) -> Option<String> {
        self.1.get(path).map(ToString::to_string)
    }

    fn exists(&self, path: &str) -> bool {
        self.1.contains_key(path)
    }
}

type Tree<'a> = &'a [(&'a str, &'a str)];

#[track_caller]
fn check_duplicates(before: Tree<'_>, after: Tree<'_>, expect: &[&str]) {
    let trees = Trees(before.iter().copied().collect(), after.iter().copied().collect());
    let differs = |path: &&&str| trees.0.get(**path) != trees.1.get(**path);
    let changed: Vec<String> =
        trees.0.keys().chain(trees.1.keys()).filter(differs).map(ToString::to_string).collect();
    let found: Vec<String> =
        duplicate_configurations(&changed, &trees).iter().map(DuplicateConfiguration::sentence).collect();
    assert_eq!(found, expect, "{before:?} {after:?}");
}

#[test]
fn a_second_configuration_is_found_when_the_loop_added_it() {
    let old = (".eslintrc.json", "{}");
    let new = ("eslint.config.js", "");
    check_duplicates(
        &[old],
        &[old, new],
        &["two configurations of ESLint: the loop added eslint.config.js next to .eslintrc.json"],
    );
    check_duplicates(
        &[],
        &[old, new],
        &["two configurations of ESLint: the loop added .eslintrc.json and eslint.config.js"],
    );
    check_duplicates(&[old], &[new], &[]);
    check_duplicates(&[old, new], &[old, ("eslint.config.js", "// changed")], &[]);
    check_duplicates(&[(".eslintrc.yml", "")], &[(".eslintrc.yaml", "")], &[]);
    check_duplicates(
        &[("a/.eslintrc.json", "{}")],
        &[("a/.eslintrc.json", "{}"), ("b/eslint.config.js", "")],
        &[],
    );
}

#[test]
fn lock_files_runners_and_sections_are_compared() {
    let npm = ("web/package-lock.json", "{}");
    check_duplicates(
        &[npm],
        &[npm, ("web/yarn.lock", "")],
        &["lock files of two package managers: the loop added web/yarn.lock next to web/package-lock.json"],
    );
    check_duplicates(&[("bun.lockb", "")], &[("bun.lockb", ""), ("bun.lock", "")], &[]);
    let jest = ("jest.config.js", "");
    check_duplicates(
        &[jest],
        &[jest, ("vitest.config.ts", "")],
        &["two test runners: the loop added vitest.config.ts next to jest.config.js"],
    );
    let project = ("pyproject.toml", "[project]\n");
    let with_pytest = ("pyproject.toml", "[project]\n[tool.pytest.ini_options]\n");
    check_duplicates(&[project], &[project, ("pytest.ini", "")], &[]);
    check_duplicates(
        &[project, ("pytest.ini", "")],
        &[with_pytest, ("pytest.ini", "")],
        &["two configurations of pytest: the loop added pyproject.toml next to pytest.ini"],
    );
}

#[test]
fn a_duplicate_is_in_the_language_of_the_process() {
    let found = DuplicateConfiguration {
        what: "two test runners",
        earlier: vec!["jest.config.js".to_owned()],
        added: vec!["vitest.config.ts".to_owned(), "karma.conf.js".to_owned()],
    };
    let sentence = Language::SimplifiedChinese.during(|| found.sentence());
    assert_eq!(
        sentence,
        "两个测试运行器：循环在 jest.config.js 之外添加了 vitest.config.ts 和 karma.conf.js"
    );
}

#[test]
fn present_duplicates_are_named_without_a_start() {
    let check = |folder: &str, after: Tree<'_>, expect: &[&str]| {
        let trees = Trees(BTreeMap::new(), after.iter().copied().collect());
        let found: Vec<String> =
            present_configurations(folder, &trees).iter().map(DuplicateConfiguration::names).collect();
        assert_eq!(found, expect, "{after:?}");
    };
    let (npm, pnpm) = (("package-lock.json", "{}"), ("pnpm-lock.yaml", ""));
    check("", &[npm, pnpm], &["lock files of two package managers: package-lock.json and pnpm-lock.yaml"]);
    check("", &[npm], &[]);
    check("", &[("a/package-lock.json", "{}"), ("b/yarn.lock", "")], &[]);
    check("", &[("pytest.ini", "[pytest]"), ("pyproject.toml", "[project]")], &[]);
    let both = [("pytest.ini", "[pytest]"), ("pyproject.toml", "[tool.pytest.ini_options]")];
    check("", &both, &["two configurations of pytest: pytest.ini and pyproject.toml"]);
}
