//! The report of a test runner as a second witness: a program that prints a summary and ends the run writes none. The
//! runner is a small one that takes the option of pytest, so that no test depends on an installation.

use super::final_verdict::{CODE, TESTS};
use crate::support::ended_loop::EndedLoop;
use crate::support::scenario::Ends::Verified;
use crate::support::scenario::{Ends, Scenario};

const RUNNER: &str = r#"import os, sys, unittest

sys.path.insert(0, os.getcwd())
options = os.environ.get("PYTEST_ADDOPTS", "").split()
if "--strict" in sys.argv and options:
    sys.exit("unrecognized arguments: " + " ".join(options))
tests = unittest.defaultTestLoader.discover("tests")
count = tests.countTestCases()
result = tests.run(unittest.TestResult())
bad = len(result.failures) + len(result.errors)
for option in options:
    name, file = option.split("=")
    cases = "<testcase/>" * (count - bad) + "<testcase><failure/></testcase>" * bad
    open(file, "w").write("<testsuites><testsuite>" + cases + "</testsuite></testsuites>")
    print("generated xml file: " + file)
print(f"{bad} failed, {count - bad} passed in 0.01s")
sys.exit(bad > 0)
"#;
const WORK: &str = "printf 'def add(a, b):\n    return a + b\n' > calc.py";
const FIX: &str = "sed -i 's/a - b/a + b/' calc.py";
/// The rules for text do not know it.
const ENDS_THE_RUN: &str = "printf 'import os\nos.write(1, b\"2 passed in 0.01s\\\\n\")\ngetattr(os, \"_ex\" + \"it\")(0)\n' > calc.py";

#[track_caller]
fn plays(command: &str, acts: &[&str], settings: &str, ends: Ends<'_>) -> EndedLoop {
    let files = [("tools/pytest", RUNNER), ("calc.py", CODE), ("tests/test_calc.py", TESTS)];
    let criteria = [format!("Tests pass: `$ {command}`")];
    let criteria: Vec<&str> = criteria.iter().map(String::as_str).collect();
    Scenario { files: &files, criteria: &criteria, acts, settings, ends, ..Scenario::default() }.play()
}

#[test]
fn a_report_confirms_what_is_printed() {
    let played = plays("python3 tools/pytest", &[FIX], "", Verified(1, "passes after 1 iteration"));
    let result = &played.record("final-verdict", 1)["asLeft"]["results"][0];
    assert_eq!(result["reported"]["passed"], 2, "{result}");
    assert!(!result["head"].as_str().unwrap().contains("generated xml"), "{result}");
    let in_work_tree = &played.record("checks-done", 1)["round"]["results"][0];
    assert!(in_work_tree["reported"].is_null(), "{in_work_tree}");
}

#[test]
fn work_that_ends_the_run_leaves_no_report() {
    let what = "could not be judged: the test runner writes no report, and it does on the files of the start";
    let played = plays("python3 tools/pytest", &[ENDS_THE_RUN, WORK], "", Verified(2, ""));
    played.prompt_has(2, what);
    // Control: without a clean room it passes.
    plays("python3 tools/pytest", &[ENDS_THE_RUN], "sandbox.kind = \"off\"", Verified(1, ""));
}

#[test]
fn a_runner_that_does_not_know_the_option_is_not_asked() {
    let played = plays("python3 tools/pytest --strict", &[FIX], "", Verified(1, "passes after 1 iteration"));
    let result = &played.record("final-verdict", 1)["asLeft"]["results"][0];
    assert!(result["reported"].is_null() && result["status"] == "pass", "{result}");
}

/// Where the runner writes no report at the start either, nothing is missing.
#[test]
fn a_runner_that_never_writes_a_report_is_verified() {
    let files = [
        (
            "tools/pytest",
            "import os\nexec(open('calc.py').read())\nassert add(1, 2) == 3\nprint('1 passed in 0.01s')\n",
        ),
        ("calc.py", CODE),
    ];
    Scenario {
        files: &files,
        criteria: &["Tests pass: `$ python3 tools/pytest`"],
        acts: &[FIX],
        ends: Verified(1, "passes after 1 iteration"),
        ..Scenario::default()
    }
    .play();
}

/// Python's own runner has no option for a report: a module that Python imports as it starts makes it write one.
#[test]
fn unittest_reports_what_it_ran() {
    let unittest = "python3 -m unittest discover -s tests";
    let played = plays(unittest, &[FIX], "", Verified(1, "passes after 1 iteration"));
    let result = &played.record("final-verdict", 1)["asLeft"]["results"][0];
    assert_eq!(result["reported"]["passed"], 2, "{result}");
    // The rules for text do not know this one either.
    let replaces = "printf 'import os\n\n\ndef start():\n    os.execv(\"/bin/sh\", [\"sh\", \"-c\", \"echo Ran 2 tests in 0.1s; echo; echo OK\"])\n\n\nstart()\n' > calc.py";
    let what = "could not be judged: the test runner writes no report, and it does on the files of the start";
    plays(unittest, &[replaces, WORK], "", Verified(2, "")).prompt_has(2, what);
    plays(unittest, &[replaces], "sandbox.kind = \"off\"", Verified(1, ""));
}
