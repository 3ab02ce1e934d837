//! Detects new files next to tests that run in place of others: a module with the name of a source of the work, a
//! header with the name of one of the language, a module with the name of a test runner.

use super::{FileVersions, file_name};
use loopkeeper_source::test_inventory::{inventory, is_test_path};

/// The folders of sources, the root included.
const SOURCE_FOLDERS: [&str; 4] = ["", "src/", "lib/", "app/"];
/// Names that many folders have.
const COMMON_NAMES: [&str; 6] = ["__init__", "index", "mod", "main", "init", "conftest"];
/// Headers of the language and of test runners, which the work can have elsewhere.
const HEADERS: [&str; 10] = [
    "assert.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "math.h",
    "check.h",
    "unity.h",
    "cmocka.h",
    "catch.hpp",
    "gtest.h",
];
/// Ends of the paths of modules of test runners.
const RUNNER_MODULES: [&str; 8] = [
    "luaunit.lua",
    "busted.lua",
    "shunit2",
    "minitest.rb",
    "minitest/autorun.rb",
    "test/unit.rb",
    "rspec.rb",
    "rspec/autorun.rb",
];

/// Whether a file in the work tree has the name of a module of a test runner.
pub(super) fn names_runner(path: &str) -> bool {
    let is_end =
        |it: &&str| path.strip_suffix(*it).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    RUNNER_MODULES.iter().any(is_end)
}

/// Whether a new file runs in place of another one.
pub(super) fn shadows_another(path: &str, files: &dyn FileVersions) -> bool {
    let is_among_tests = || HEADERS.contains(&file_name(path)) || shadows_source(path, files);
    names_runner(path) || (is_test_path(path) && is_among_tests())
}

fn shadows_source(path: &str, files: &dyn FileVersions) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    let is_package = matches!(stem, "__init__" | "index" | "init");
    let module = if is_package { file_name(folder) } else { stem };
    if COMMON_NAMES.contains(&module) {
        return false;
    }
    let exists = |folder: &&str| {
        let names = [format!("{module}.{extension}"), format!("{module}/{name}")];
        names.iter().any(|it| files.existed_before(&format!("{folder}{it}")))
    };
    let has_tests = || files.read_after(path).is_some_and(|it| !inventory(path, &it).tests.is_empty());
    SOURCE_FOLDERS.iter().any(exists) && !has_tests()
}

#[cfg(test)]
mod tests {
    use super::{FileVersions, shadows_another};

    struct Added(&'static str);

    impl FileVersions for Added {
        fn read_before(&self, path: &str) -> Option<String> {
            ["calc.py", "src/parse.ts", "core/a.py"].contains(&path).then(String::new)
        }

        fn read_after(&self, _path: &str) -> Option<String> {
            Some(self.0.to_owned())
        }

        fn exists(&self, _path: &str) -> bool {
            true
        }
    }

    #[test]
    fn a_new_file_with_the_name_of_another_shadows_it() {
        let check = |path: &str, text: &'static str, expect: bool| {
            assert_eq!(shadows_another(path, &Added(text)), expect, "{path}");
        };
        check("tests/calc.py", "def add(a, b):\n    return 3\n", true);
        check("tests/calc/__init__.py", "def add(a, b):\n    return 3\n", true);
        check("tests/parse.ts", "export {};\n", true);
        check("tests/assert.h", "#define assert(x)\n", true);
        check("lib/minitest/autorun.rb", "exit!(0)\n", true);
        check("luaunit.lua", "return {}\n", true);
        check("src/string.h", "int length(void);\n", false);
        check("tests/test_calc.py", "def test_a():\n    assert add(1) == 2\n", false);
        check("tests/helpers.py", "A = 1\n", false);
        check("tests/unit/__init__.py", "", false);
        check("tests/a.py", "A = 1\n", false);
        check("calc/core.py", "A = 1\n", false);
    }
}
