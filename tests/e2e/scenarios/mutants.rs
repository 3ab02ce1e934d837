//! Mutants of the lines that a loop changed: a weak test leaves survivors, a good one none. Real Python tests, run by
//! the real binary.

mod languages;

use serde_json::Value;

use crate::support::ended_loop::EndedLoop;
use crate::support::scenario::Ends::{Claimed, Limit, Verified};
use crate::support::scenario::Scenario;

const CODE: &str = "def fee(amount):\n    return 0\n";
const WORK: &str = "printf 'def fee(amount):\\n    if amount > 100:\\n        return amount - 5\\n    return amount + 2\\n' > fees.py";
const WEAK: &str = "import unittest\n\nfrom fees import fee\n\n\nclass Fees(unittest.TestCase):\n    def test_small(self):\n        self.assertEqual(fee(10), 12)\n";
const GOOD: &str = "import unittest\n\nfrom fees import fee\n\n\nclass Fees(unittest.TestCase):\n    def test_all(self):\n        self.assertEqual([fee(10), fee(100), fee(101), fee(200)], [12, 102, 96, 195])\n";
const CRITERION: &str = "Tests pass: `$ python3 -m unittest discover -s tests`";

#[track_caller]
fn plays(tests: &str, settings: &str) -> EndedLoop {
    let files = [("fees.py", CODE), ("tests/test_fees.py", tests)];
    Scenario {
        files: &files,
        criteria: &[CRITERION],
        acts: &[WORK],
        settings,
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play()
}

/// Each survivor as `line: fault`.
fn survivors(run: &Value) -> Vec<String> {
    let all = run["survivors"].as_array().cloned().unwrap_or_default();
    let mut all: Vec<_> =
        all.iter().map(|it| format!("{}: {}", it["line"], it["after"].as_str().unwrap())).collect();
    all.sort();
    all
}

#[test]
fn a_weak_test_leaves_survivors() {
    let played = plays(WEAK, "");
    let run = played.record("mutants", 1);
    let tried = run["tried"].as_u64().unwrap();
    assert_eq!(
        survivors(run),
        ["2: if amount > 101:", "3: return None", "3: return amount + 5", "3: return amount - 6"]
    );
    assert_eq!(run["noticed"].as_u64().unwrap() + 4, tried, "{run}");
    assert!(
        played.world.terminal.read("fees.py").contains("return amount - 5"),
        "the work tree is left alone"
    );
    let world = &played.world;
    world.run(&["log"]).expect(0).out(&format!("mutants: {} of {tried} noticed; fees.py:", tried - 4));
    world.run(&["status"]).expect(0).out(&format!("no check notices 4 of {tried} mutants: fees.py:"));
    let page = world.run(&["receipt"]);
    page.expect(0).out(&format!("| Mutants of changed lines | {} of {tried} noticed |", tried - 4));
    page.out("fees.py:3: no check notices `return amount + 5` in place of `return amount - 5`");
}

#[test]
fn a_good_test_leaves_no_survivors() {
    let played = plays(GOOD, "");
    let run = played.record("mutants", 1);
    assert!(survivors(run).is_empty() && run["tried"].as_u64().unwrap() >= 7, "{run}");
    assert_eq!(run["tried"], run["noticed"]);
}

/// Control: without the run no finding names the weak test.
#[test]
fn mutants_need_the_setting_and_a_clean_room() {
    for (settings, why) in
        [("criteria.mutants = \"off\"", "turned off"), ("sandbox.kind = \"off\"", "there was no clean room")]
    {
        let played = plays(WEAK, settings);
        assert!(played.all("mutants").is_empty(), "{settings}");
        played.world.run(&["receipt"]).expect(0).out(&format!("not run: {why}"));
    }
}

/// A test that asserts nothing is named where it was added; one that was there before is not.
#[test]
fn an_added_test_that_notices_nothing_is_hollow() {
    let idle = "import unittest\n\nfrom fees import fee\n\n\nclass More(unittest.TestCase):\n    def test_runs(self):\n        fee(10)\n\n    def test_large(self):\n        self.assertEqual([fee(100), fee(101)], [102, 96])\n";
    let work = format!("{WORK}\ncat > tests/test_more.py <<'END'\n{idle}END");
    let old = WEAK.replace("self.assertEqual(fee(10), 12)", "fee(10)");
    let files = [("fees.py", CODE), ("tests/test_fees.py", WEAK), ("tests/test_old.py", &old)];
    let played = Scenario {
        files: &files,
        criteria: &[CRITERION],
        acts: &[&work],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play();
    let hollow = &played.record("mutants", 1)["hollow"];
    assert_eq!(*hollow, serde_json::json!([{"path": "tests/test_more.py", "line": 7, "name": "test_runs"}]));
    let world = &played.world;
    let named = "tests/test_more.py:7: no fault makes test_runs fail";
    world.run(&["log"]).expect(0).out(named);
    world.run(&["status"]).expect(0).out("no mutant makes 1 added test fail: tests/test_more.py:7 test_runs");
    world.run(&["receipt"]).expect(0).out(&format!("## Added tests that notice no mutant\n\n- {named}"));
    world.run(&["report", "latest", "--format", "markdown"]).expect(0).out("## Missed by the checks");
}

/// With `require` the next iteration reads what survives, and the loop is verified once its test kills all of it.
#[test]
fn required_mutants_are_in_the_next_prompt() {
    let better = format!("cat > tests/test_more.py <<'END'\n{GOOD}END");
    let played = Scenario {
        files: &[("fees.py", CODE), ("tests/test_fees.py", WEAK)],
        criteria: &[CRITERION],
        acts: &[WORK, &better],
        settings: "criteria.mutants = \"require\"",
        ends: Verified(2, "1 test file added"),
        ..Scenario::default()
    }
    .play();
    let prompt = played.world.prompt(2);
    assert!(prompt.contains("## Test what no check notices"), "{prompt}");
    assert!(prompt.contains("- fees.py:3: no check notices `return amount + 5` in place of"), "{prompt}");
    let runs = played.all("mutants");
    assert_eq!(survivors(runs[0]).len(), 4);
    assert!(survivors(runs[1]).is_empty() && runs.len() == 2, "{runs:?}");
}

/// Two iterations that kill none more, and the loop ends: not verified, with what survives.
#[test]
fn survivors_that_stay_leave_the_loop_claimed() {
    let played = Scenario {
        files: &[("fees.py", CODE), ("tests/test_fees.py", WEAK)],
        criteria: &[CRITERION],
        acts: &[WORK, "true", "echo >> notes.txt"],
        settings: "criteria.mutants = \"require\"",
        ends: Claimed(3, "; no check notices 4 of "),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.all("mutants").len(), 2, "an unchanged tree is not tried again");
}

/// A limit before that names them as well, wherever the end is shown.
#[test]
fn a_limit_names_the_required_survivors() {
    const END: &str = "; the one required criterion passes; no check notices 4 of ";
    let played = Scenario {
        files: &[("fees.py", CODE), ("tests/test_fees.py", WEAK)],
        criteria: &[CRITERION],
        acts: &[WORK, "true"],
        settings: "criteria.mutants = \"require\"\nlimits.iterations = 2",
        ends: Limit(2, END),
        ..Scenario::default()
    }
    .play();
    let world = &played.world;
    let status = world.run(&["status"]);
    status.expect(0).out(END).out(" mutants: fees.py:2, fees.py:3\n");
    assert_eq!(status.stdout.matches("no check notices").count(), 1, "said twice: {}", status.stdout);
    world.run(&["status", "--json"]).expect(0).out("no check notices 4 of ");
    let receipt = world.run(&["receipt"]);
    receipt.out("fees.py:3: no check notices `return amount + 5` in place of").out(END);
}

/// A mutant that never ends counts as noticed, soon.
#[test]
fn a_fault_that_hangs_is_noticed() {
    let files = [
        ("down.py", "def down(n):\n    return n\n"),
        (
            "tests/test_down.py",
            "import unittest\n\nfrom down import down\n\n\nclass Down(unittest.TestCase):\n    def test_three(self):\n        self.assertEqual(down(3), 0)\n",
        ),
    ];
    let work = "printf 'def down(n):\\n    while n > 0:\\n        n -= 1\\n    return n\\n' > down.py";
    let played = Scenario {
        files: &files,
        criteria: &[CRITERION],
        acts: &[work],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play();
    let run = played.record("mutants", 1);
    assert!(survivors(run).is_empty() && run["tried"].as_u64().unwrap() >= 5, "{run}");
}
