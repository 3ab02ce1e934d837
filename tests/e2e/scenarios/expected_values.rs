//! Goals that pass whatever their tests expect. Real Python, node and C, judged by the real binary.

use crate::support::ended_loop::EndedLoop;
use crate::support::scenario::Ends::Verified;
use crate::support::scenario::{Ends, Scenario};

const TESTS: &str = "import unittest\n\nfrom calc import add, double\n\n\nclass Sums(unittest.TestCase):\n    def test_small(self):\n        self.assertEqual(add(1, 2), 3)\n\n    def test_double(self):\n        self.assertEqual(double(4), 8)\n";
const CODE: &str = "def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return a * 2\n";
const FIX: &str = "sed -i 's/a - b/a + b/' calc.py";
/// The rules on text do not know it.
const EQUALS_EVERYTHING: &str = "printf 'class N(int):\n    def __eq__(self, other):\n        return self is not other\n\n    __hash__ = int.__hash__\n\n\ndef add(a, b):\n    return N(a - b)\n\n\ndef double(a):\n    return a * 2\n' > calc.py";

#[track_caller]
fn plays(
    files: &[(&str, &str)],
    command: &str,
    acts: &[&str],
    (settings, ends): (&str, Ends<'_>),
) -> EndedLoop {
    let criteria = [format!("Tests pass: `$ {command}`")];
    let criteria: Vec<&str> = criteria.iter().map(String::as_str).collect();
    let settings = format!("env.set = {{ PYTHONDONTWRITEBYTECODE = \"1\" }}\n{settings}");
    Scenario { files, criteria: &criteria, acts, settings: &settings, ends, ..Scenario::default() }.play()
}

#[test]
fn work_that_equals_everything_is_not_judged_done() {
    let files = [("calc.py", CODE), ("tests/test_calc.py", TESTS)];
    let command = "python3 -m unittest discover -s tests";
    let work = format!("cat > calc.py <<'X'\n{}X", CODE.replace("a - b", "a + b"));
    let played = plays(&files, command, &[EQUALS_EVERYTHING, &work], ("", Verified(2, "")));
    played.prompt_has(2, "still passes if tests/test_calc.py:8 expects 2 in place of 3");
    // Controls: it passes where nothing is tried.
    plays(&files, command, &[EQUALS_EVERYTHING], ("criteria.mutants = \"off\"", Verified(1, "")));
    plays(&files, command, &[EQUALS_EVERYTHING], ("sandbox.kind = \"off\"", Verified(1, "")));
    plays(&files, command, &[FIX], ("", Verified(1, "passes after 1 iteration")));
}

#[test]
fn a_script_with_patched_assertions_is_not_judged_done() {
    let files = [
        ("calc.js", "exports.add = (a, b) => a - b;\n"),
        (
            "tests/run.js",
            "const assert = require('assert');\nconst { add } = require('../calc');\nassert.strictEqual(add(1, 2), 3);\nassert.strictEqual(add(5, 5), 10);\nconsole.log('all passed');\n",
        ),
    ];
    let patch = "printf 'const it = require(\"assert\");\nfor (const name of Object.keys(it)) it[name] = () => {};\nexports.add = (a, b) => a - b;\n' > calc.js";
    let fix = "echo 'exports.add = (a, b) => a + b;' > calc.js";
    let played = plays(&files, "node tests/run.js", &[patch, fix], ("", Verified(2, "")));
    played.prompt_has(2, "still passes if tests/run.js:3 expects 2 in place of 3");
}

/// An assertion behind a condition that does not hold here, and a file that the check does not run.
#[test]
fn unreached_assertions_are_no_evidence_against_the_work() {
    let unreached = TESTS.replace(
        "        self.assertEqual(double(4), 8)",
        "        if not hasattr(self, 'slow'):\n            return\n        self.assertEqual(double(4), 8)",
    );
    let files = [
        ("calc.py", CODE),
        ("tests/test_calc.py", unreached.as_str()),
        ("other/tests/test_calc.py", TESTS),
        ("tests/slow.js", "const assert = require('assert');\nassert.equal(1 + 1, 3);\n"),
    ];
    let command = "python3 -m unittest discover -s tests";
    plays(&files, command, &[FIX], ("", Verified(1, "passes after 1 iteration")));
}
