//! Finds the files of the project that the configuration of a runner or linter reads: a base that it extends, a module
//! that it loads. Their names say nothing about it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::check_files::{CheckScan, join_path, scan_checks};
use super::judge_files::runner_setup_names;
use super::mixed_files::RUNNERS_OF_NODE;
use super::{FileVersions, ProtectionRules, file_name, is_recipe};
use loopkeeper_text::pattern::ConstantPattern;

/// Files that read files that are followed.
const DEPTH: u32 = 3;
/// Folders whose configuration is read.
const MAX_FOLDERS: usize = 20;
/// Endings of a module that its name can lack.
const ENDS: [&str; 11] =
    ["", ".js", ".cjs", ".mjs", ".ts", ".mts", ".cts", ".json", "/index.js", "/index.ts", ".py"];

impl ProtectionRules {
    /// The files among `changed` that the configuration of a runner or linter read at the start.
    pub fn find_setup_inputs(&self, changed: &[String], files: &dyn FileVersions) -> Vec<String> {
        if self.commands.is_empty() {
            return Vec::new();
        }
        let CheckScan { linters, .. } = scan_checks(&self.commands, files);
        let mut names = linters.setup_names();
        names.extend(runner_setup_names());
        names.push("package.json".to_owned());
        if linters.checks_typescript() {
            names.push("tsconfig.json".to_owned());
        }
        let mut found = BTreeSet::new();
        for folder in folders_of(changed) {
            for name in &names {
                follow(&join_path(folder, name), files, DEPTH, &mut found);
            }
        }
        changed.iter().filter(|it| found.contains(*it) && !is_recipe(it)).cloned().collect()
    }
}

/// The folders of the files and those above them, the root first.
fn folders_of(paths: &[String]) -> BTreeSet<&str> {
    let above = |path: &'_ String| -> Vec<usize> { path.match_indices('/').map(|(at, _)| at).collect() };
    let folders = paths.iter().flat_map(|it| above(it).into_iter().filter_map(|at| it.get(..at)));
    let all: BTreeSet<&str> = folders.chain([""]).collect();
    all.into_iter().take(MAX_FOLDERS).collect()
}

/// Adds the files that the file at `path` reads, and those that these read.
fn follow(path: &str, files: &dyn FileVersions, depth: u32, found: &mut BTreeSet<String>) {
    let prepares_tests =
        ["jest.setup.", "vitest.setup.", "setupTests."].iter().any(|it| file_name(path).starts_with(it));
    let Some(text) = files.read_before(path).filter(|_| depth > 0 && !prepares_tests) else { return };
    let text = if file_name(path) == "package.json" { settings_of_runners(&text) } else { text };
    let folder = path.rsplit_once('/').map_or("", |it| it.0);
    let existing = |name: &String| {
        let mut names = ENDS.iter().map(|end| join_path(folder, &format!("{name}{end}")));
        names.find(|it| it != path && files.existed_before(it) && !is_source_of_work(it))
    };
    // What a file that prepares tests imports is rather the work.
    found.extend(quoted_after(&LOADS, &text).iter().filter_map(existing));
    for input in quoted_after(&READS, &text).iter().filter_map(existing) {
        if found.insert(input.clone()) {
            follow(&input, files, depth - 1, found);
        }
    }
    let plugins: Vec<String> = quoted_after(&PLUGINS, &text).iter().map(|it| it.replace('.', "/")).collect();
    found.extend(plugins.iter().filter_map(existing));
}

/// Whether the file is in a folder of sources: a configuration that reads it is no evidence that it judges.
fn is_source_of_work(path: &str) -> bool {
    ["src/", "lib/", "app/"].iter().any(|it| path.starts_with(it) || path.contains(&format!("/{it}")))
}

/// The part of a `package.json` that configures runners.
fn settings_of_runners(text: &str) -> String {
    let manifest: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
    let settings = RUNNERS_OF_NODE.iter().filter_map(|it| manifest.get(*it));
    settings.map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Another configuration that this one is built from.
static READS: ConstantPattern = ConstantPattern::new(
    r#"(?:\b(?:require|import)\s*\(|\b(?:from|import)\s|["']?\b(?:extends?|preset)\b["']?\s*[:=])(?P<rest>[^\n]*)"#,
);
/// Modules that the runner loads.
static LOADS: ConstantPattern = ConstantPattern::new(
    r#"["']?\b(?:setupFiles\w*|globalSetup|globalTeardown|testEnvironment|resolver|runner|require)\b["']?\s*[:=](?P<rest>[^\n]*)"#,
);
static PLUGINS: ConstantPattern = ConstantPattern::new(r"\bpytest_plugins\s*=(?P<rest>[^\n]*)");

/// The paths and modules in quotes behind the words of the pattern.
fn quoted_after(pattern: &ConstantPattern, text: &str) -> Vec<String> {
    static QUOTED: ConstantPattern = ConstantPattern::new(r#"["'](?P<name>[^"'\n]+)["']"#);
    let mut found: Vec<String> = Vec::new();
    for rest in pattern.captures_iter(text).filter_map(|it| it.name("rest")) {
        let names = QUOTED.captures_iter(rest.as_str());
        found.extend(names.filter_map(|it| it.name("name")).map(|it| it.as_str().replace("<rootDir>/", "")));
    }
    found.retain(|it| it.contains('.'));
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::tamper::{FileVersions, ProtectionRules};
    use loopkeeper_task::criterion::{Check, Criterion};

    struct Start(BTreeMap<&'static str, &'static str>);

    impl FileVersions for Start {
        fn read_before(&self, path: &str) -> Option<String> {
            self.0.get(path).map(ToString::to_string)
        }

        fn read_after(&self, path: &str) -> Option<String> {
            self.read_before(path)
        }

        fn exists(&self, path: &str) -> bool {
            self.0.contains_key(path)
        }
    }

    #[test]
    fn files_that_a_configuration_reads() {
        let check = |command: &str, tree: &[(&'static str, &'static str)], expect: &[&str]| {
            let check = Check::Command { command: command.to_owned(), expect: Vec::new() };
            let criterion = Criterion::new("a".to_owned(), "a", Some(check));
            let rules = ProtectionRules::new(&[&criterion], &[], &[].into());
            let changed: Vec<String> = tree.iter().map(|it| it.0.to_owned()).collect();
            let found = rules.find_setup_inputs(&changed, &Start(tree.iter().copied().collect()));
            assert_eq!(found, expect, "{command}: {tree:?}");
        };
        let rules = ("lint/rules.js", "module.exports = {};\n");
        check(
            "npx eslint .",
            &[("eslint.config.js", "const r = require('./lint/rules');\n"), rules],
            &["lint/rules.js"],
        );
        check(
            "npx eslint .",
            &[("eslint.config.mjs", "import r from './lint/rules.js';\n"), rules],
            &["lint/rules.js"],
        );
        check("npx mocha", &[("eslint.config.js", "const r = require('./lint/rules');\n"), rules], &[]);
        check("npx eslint .", &[("eslint.config.js", "const rules = { 'lint/rules': 1 };\n"), rules], &[]);
        let base = ("base.json", "{}\n");
        check("npx tsc", &[("tsconfig.json", "{ \"extends\": \"./base.json\" }\n"), base], &["base.json"]);
        check(
            "npx tsc",
            &[("web/tsconfig.json", "{ \"extends\": \"../base\" }\n"), base, ("web/a.ts", "")],
            &["base.json"],
        );
        check(
            "ruff check .",
            &[("ruff.toml", "extend = \"shared.toml\"\n"), ("shared.toml", "")],
            &["shared.toml"],
        );
        let plugin = ("plugins/sums.py", "import pytest\n");
        check(
            "pytest",
            &[("conftest.py", "pytest_plugins = ['plugins.sums']\n"), plugin],
            &["plugins/sums.py"],
        );
        let chain = [
            ("jest.config.js", "module.exports = require('./config');\n"),
            ("config/index.js", "module.exports = { ...require('./base') };\n"),
            ("config/base.js", "module.exports = {};\n"),
        ];
        check("npx jest", &chain, &["config/index.js", "config/base.js"]);
        let manifest = "{ \"main\": \"./calc.js\", \"jest\": { \"setupFiles\": [\"<rootDir>/boot.js\"] } }\n";
        check("npx jest", &[("package.json", manifest), ("calc.js", ""), ("boot.js", "")], &["boot.js"]);
        // Work that a configuration reads, or a file that prepares tests.
        let work = ("src/calc.js", "");
        check("npx jest", &[("jest.config.js", "require('./src/calc');\n"), work], &[]);
        check("npx jest", &[("jest.setup.js", "require('./calc');\n"), ("calc.js", "")], &[]);
        check(
            "npx jest",
            &[("package.json", manifest), ("boot.js", "require('./calc');\n"), ("calc.js", "")],
            &["boot.js"],
        );
        check("phpunit", &[("phpunit.xml", "<phpunit bootstrap=\"calc.php\">\n"), ("calc.php", "")], &[]);
    }
}
