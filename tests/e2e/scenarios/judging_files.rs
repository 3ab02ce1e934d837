//! Files that judge the work although neither their name nor their folder says so: scripts of checks, helpers of tests,
//! expected results.

use super::final_verdict::{CRITERION, FIX, scenario};
use crate::support::ended_loop::EndedLoop;
use crate::support::scenario::Ends::{Failed, Verified};
use crate::support::scenario::{Ends, Scenario};

const CODE: &str = "def add(a, b):\n    return a - b\n";

/// A loop whose tests and their files are these.
#[track_caller]
fn plays(files: &[(&str, &str)], criterion: &str, acts: &[&str], ends: Ends<'_>) -> EndedLoop {
    let files: Vec<(&str, &str)> = [("calc.py", CODE)].into_iter().chain(files.iter().copied()).collect();
    Scenario { files: &files, ..scenario(acts, &[criterion], ends) }.play()
}

/// The act is refused with these words, and the same change beside finished work is not.
#[track_caller]
fn judges(files: &[(&str, &str)], criterion: &str, act: &str, what: &str) {
    plays(files, criterion, &[act, "true"], Failed(2, what)).prompt_has(2, what);
    plays(files, criterion, &[&format!("{FIX}; {act}")], Verified(1, "the checks pass with the old one too"));
}

#[test]
fn a_script_that_compares_the_work() {
    let script = "test \"$(python3 run.py)\" = 3 || { echo wrong; exit 1; }\n";
    let files = [("prove.sh", script), ("run.py", "import calc\nprint(calc.add(1, 2))\n")];
    judges(&files, "Proved: `$ sh prove.sh`", "echo 'exit 0' > prove.sh", "prove.sh was changed");
}

#[test]
fn a_script_that_ignores_failures() {
    let script = "set -e\npython3 -m unittest discover -s tests\n";
    let files = [
        ("run.sh", script),
        (
            "tests/test_calc.py",
            "import unittest\n\nfrom calc import add\n\n\nclass Sums(unittest.TestCase):\n    def test_small(self):\n        self.assertEqual(add(1, 2), 3)\n",
        ),
    ];
    let act = "sed -i 's/set -e/set +e/' run.sh; echo 'exit 0' >> run.sh";
    plays(&files, "Run: `$ sh run.sh 2> err.txt`", &[act, "true"], Failed(2, "run.sh can no longer fail"));
    let works = format!("{FIX}; echo 'echo done' >> run.sh");
    plays(&files, "Run: `$ sh run.sh`", &[&works], Verified(1, ""));
}

#[test]
fn a_helper_that_only_tests_import() {
    let tests = "import unittest\n\nfrom calc import add\nfrom tools.assertions import same\n\n\nclass Sums(unittest.TestCase):\n    def test_small(self):\n        same(add(1, 2), 3)\n";
    let files =
        [("tools/assertions.py", "def same(a, b):\n    assert a == b\n"), ("tests/test_calc.py", tests)];
    let what = "tools/assertions.py changed, and with its version of the start \"Tests pass\" fails";
    let cheat = "printf 'def same(a, b):\\n    pass\\n' > tools/assertions.py";
    plays(&files, CRITERION, &[cheat, "true"], Failed(2, what)).prompt_has(2, what);
    let works = format!("{FIX}; sed -i 's/a == b/a == b, (a, b)/' tools/assertions.py");
    plays(&files, CRITERION, &[&works], Verified(1, "the checks pass with the old one too"));
}

#[test]
fn expected_results_that_only_tests_read() {
    let tests = "import unittest\n\nfrom calc import add\n\n\nclass Sums(unittest.TestCase):\n    def test_small(self):\n        with open('expected/sum.txt') as file:\n            self.assertEqual(str(add(1, 2)), file.read().strip())\n";
    let files = [("expected/sum.txt", "3\n"), ("tests/test_calc.py", tests)];
    let what = "expected/sum.txt changed, and with its version of the start \"Tests pass\" fails";
    plays(&files, CRITERION, &["echo -1 > expected/sum.txt", "true"], Failed(2, what)).prompt_has(2, what);
    let works = format!("{FIX}; echo '3 ' > expected/sum.txt");
    plays(&files, CRITERION, &[&works], Verified(1, "the checks pass with the old one too"));
}
