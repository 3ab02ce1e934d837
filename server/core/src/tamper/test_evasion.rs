//! Detects work that manipulates the tests which judge it: patches their runner, ends it, detects it, or compares
//! equal to everything. No test can notice that; the text of the change shows it.

use std::sync::LazyLock;

use regex::Regex;

use crate::check::test_inventory::{TestLanguage, is_test_path, language};
use loopkeeper_text::pattern::constant;

/// A pattern, and a description of files that match it.
type EvasionRule = (Regex, &'static str);

/// The evasion that the file contains since `before`, as half a sentence. `None` for tests.
pub(super) fn find_evasion(path: &str, before: &str, after: &str) -> Option<String> {
    if is_test_path(path) {
        return None;
    }
    let rules: &[EvasionRule] = match language(path)? {
        TestLanguage::Python => &*PYTHON,
        TestLanguage::Script => &*SCRIPT,
        TestLanguage::Go => &*GO,
        _ => return None,
    };
    let is_new = |rule: &&EvasionRule| rule.0.find_iter(after).count() > rule.0.find_iter(before).count();
    rules.iter().find(is_new).map(|(_, what)| (*what).to_owned())
}

const PATCHES: &str = "patches the test runner";
const ENDS: &str = "ends the test run";
const DETECTS: &str = "behaves differently in a test run";
const EQUALS: &str = "compares equal to everything";

static PYTHON: LazyLock<[EvasionRule; 5]> = LazyLock::new(|| {
    [
        (constant(r"(?m)^\s*(?:unittest|pytest|_pytest)(?:\.\w+)+\s*=[^=]"), PATCHES),
        (constant(r"\bsetattr\(\s*(?:unittest|pytest|_pytest)\b"), PATCHES),
        (constant(r"(?m)^os\._exit\(|\batexit\.register\([^\n]*\b_exit\("), ENDS),
        (
            constant(
                r#"["'](?:pytest|_pytest|unittest)["']\s+(?:not\s+)?in\s+sys\.modules|PYTEST_CURRENT_TEST"#,
            ),
            DETECTS,
        ),
        (constant(r"def __eq__\(self, *\w+[^)]*\)[^:\n]*:\s*return True\b"), EQUALS),
    ]
});

static SCRIPT: LazyLock<[EvasionRule; 3]> = LazyLock::new(|| {
    [
        (
            constant(
                r#"(?:\bassert|require\(\s*["'](?:node:)?assert(?:/strict)?["']\s*\))(?:\.\w+)+\s*=[^=>]|\bglobalThis\.(?:expect|describe|it|test)\s*=[^=>]"#,
            ),
            PATCHES,
        ),
        (constant(r#"process\.on\(\s*["'](?:exit|beforeExit)["'][^\n]*exitCode\s*=\s*0"#), ENDS),
        (constant(r"\b(?:NODE_TEST_CONTEXT|JEST_WORKER_ID|VITEST_WORKER_ID)\b"), DETECTS),
    ]
});

static GO: LazyLock<[EvasionRule; 2]> = LazyLock::new(|| {
    [
        (constant(r"func init\(\)\s*\{[^}]*\bos\.Exit\(0\)"), ENDS),
        (constant(r#"\btesting\.Testing\(\)|flag\.Lookup\("test\."#), DETECTS),
    ]
});

#[cfg(test)]
mod tests {
    use super::find_evasion;

    #[test]
    fn work_that_reaches_into_its_tests() {
        let check = |path: &str, after: &str, expect: &str| {
            assert_eq!(find_evasion(path, "", after).unwrap_or_default(), expect, "{path}: {after}");
        };
        check(
            "calc.py",
            "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n",
            "patches the test runner",
        );
        check("calc.py", "import os\nprint('OK')\nos._exit(0)\n", "ends the test run");
        check(
            "calc.py",
            "    return a if \"pytest\" in sys.modules else b\n",
            "behaves differently in a test run",
        );
        check(
            "calc.py",
            "    def __eq__(self, other):\n        return True\n",
            "compares equal to everything",
        );
        check("calc.js", "require('node:assert').strictEqual = () => {};\n", "patches the test runner");
        check("calc.js", "process.on('exit', () => { process.exitCode = 0; });\n", "ends the test run");
        check("calc.go", "func init() {\n\tos.Exit(0)\n}\n", "ends the test run");

        check("tests/test_calc.py", "    def __eq__(self, other):\n        return True\n", "");
        check("calc.py", "    def __eq__(self, other):\n        return self.a == other.a\n", "");
        check("calc.py", "if pid == 0:\n    os._exit(0)\n", "");
        check("calc.py", "import unittest\n\n\nsuite = unittest.TestSuite()\n", "");
        check(
            "calc.js",
            "const assert = require('node:assert');\nassert.equal(a, b);\nconst f = assert.ok;\n",
            "",
        );
        check("calc.js", "process.on('exit', () => cleanUp());\n", "");
        check("notes.txt", "unittest.x = 1\n", "");
    }

    #[test]
    fn earlier_evasion_is_ignored() {
        let line = "import os\nos._exit(0)\n";
        assert_eq!(find_evasion("calc.py", line, line), None);
    }
}
