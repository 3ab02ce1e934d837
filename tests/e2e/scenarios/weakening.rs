//! Agents that make the tests easier instead of doing the work, without a clean room: none of that completes a loop.
//! Legitimate changes of tests, and the user's changes, are no weakening.

use serde_json::Value;

use super::detached::{detached, end};
use crate::support::ended_loop::EndedLoop;
use crate::support::scenario::Ends::{Failed, Limit, Verified};
use crate::support::scenario::{Ends, Scenario};

/// Without one, the rules for text decide alone.
const NO_CLEAN_ROOM: &str = "sandbox.kind = \"off\"";

/// A test runner as others write them, with a summary that is recognised.
const RUNNER: &str = "#!/bin/sh\nn=$(cat tests/*.py | grep -c '^def test_')\nfor t in $(cat tests/*.py | sed -n 's/^def \\(test_[a-z]*\\).*/\\1/p'); do\n  test \"$t\" != test_done || test -f done || { echo \"==== 1 failed, $((n - 1)) passed in 0.01s ====\"; exit 1; }\ndone\necho \"==== $n passed in 0.01s ====\"\n";
const TESTS: &str = "def test_done():\n    assert is_done()\n    assert sure()\n\n\ndef test_sum():\n    assert add(1, 2) == 3\n";

const OTHER: (&str, &str) = ("tests/test_other.py", "def test_other():\n    assert other()\n");

/// A loop whose agent does this first, and nothing after it.
#[track_caller]
fn plays(acts: &[&str], ends: Ends<'_>) -> EndedLoop {
    Scenario {
        files: &[("tool/run", RUNNER), ("tests/test_sum.py", TESTS), OTHER, ("tests/golden.txt", "3\n")],
        criteria: &["Tests pass: `$ sh tool/run`"],
        settings: NO_CLEAN_ROOM,
        acts,
        ends,
        ..Scenario::default()
    }
    .play()
}

#[track_caller]
fn never_done(act: &str, what: &str) {
    let played = plays(&[act, "true"], Failed(2, &format!("{what}: not counted as done")));
    played.prompt_has(2, "## Restore what was weakened").prompt_has(2, what);
    let weakened = &played.record("iteration-ended", 1)["weakened"];
    assert!(weakened[0]["what"].as_str().is_some_and(|it| what.contains(it)), "{weakened}");
    played.world.run(&["log"]).expect(0).out("not counted as done");
}

#[test]
fn a_deleted_test_is_not_done() {
    never_done(
        "printf 'def test_sum():\\n    assert add(1, 2) == 3\\n' > tests/test_sum.py",
        "tests/test_sum.py lost 1 test",
    );
}

/// A loop on a criterion that forbids a text in `src`, whose agent hides it.
#[track_caller]
fn hides_from_lacks(act: &str, what: &str) {
    let played = Scenario {
        files: &[("src/a.py", "# TODO\n"), ("src/b.py", "B = 1\n")],
        criteria: &["Nothing is left: `lacks /TODO/ src/**`"],
        before: "git init -q",
        acts: &[act, "true"],
        ends: Failed(2, &format!("{what}: not counted as done")),
        ..Scenario::default()
    }
    .play();
    played.prompt_has(2, what);
}

#[test]
fn a_link_out_of_what_lacks_reads_is_not_done() {
    let what = "src/a.py is a link out of the work tree, where `lacks` reads nothing";
    hides_from_lacks("mv src/a.py ../hidden.py; ln -s ../../hidden.py src/a.py", what);
    hides_from_lacks("mv src/a.py .git/hidden.py; ln -s ../.git/hidden.py src/a.py", what);
}

#[test]
fn a_file_moved_out_of_what_lacks_reads_is_not_done() {
    hides_from_lacks("mv src/a.py a.py", "a.py contains /TODO/ and replaces src/a.py, which `lacks` read");
}

#[test]
fn an_emptied_test_file_is_not_done() {
    never_done("echo > tests/test_sum.py", "tests/test_sum.py lost 2 tests");
}

#[test]
fn a_skipped_test_is_not_done() {
    never_done(
        "touch done; sed -i 's/^def test_sum/@pytest.mark.skip\\ndef test_sum/' tests/test_sum.py",
        "tests/test_sum.py skips 1 test",
    );
}

#[test]
fn a_removed_assertion_is_not_done() {
    never_done("touch done; sed -i '/sure/d' tests/test_sum.py", "tests/test_sum.py lost 1 assertion");
}

#[test]
fn a_test_that_asserts_nothing_is_not_done() {
    never_done(
        "touch done; sed -i 's/assert add.*/assert True/' tests/test_sum.py",
        "tests/test_sum.py has 1 test that test nothing",
    );
}

#[test]
fn another_expected_value_is_not_done() {
    never_done(
        "touch done; sed -i 's/== 3/== 4/' tests/test_sum.py",
        "tests/test_sum.py expects different values in 1 assertion",
    );
}

#[test]
fn a_negated_assertion_is_not_done() {
    never_done(
        "touch done; sed -i 's/== 3/!= 3/' tests/test_sum.py",
        "tests/test_sum.py expects different values in 1 assertion",
    );
}

#[test]
fn a_commented_assertion_is_not_done() {
    never_done(
        "touch done; sed -i 's/    assert sure/    pass  # assert sure/' tests/test_sum.py",
        "tests/test_sum.py lost 1 assertion",
    );
}

#[test]
fn a_caught_assertion_is_not_done() {
    never_done(
        "touch done; sed -i 's/    assert sure.*/    try:\\n        assert sure()\\n    except AssertionError:\\n        pass/' tests/test_sum.py",
        "tests/test_sum.py tolerates failures in 1 test",
    );
}

#[test]
fn a_file_that_ends_the_test_run_is_not_done() {
    never_done(
        "touch done; printf 'import os\\nos._exit(0)\\n' > tests/test_first.py",
        "tests/test_first.py ends the run before its tests",
    );
}

#[test]
fn changed_test_data_is_not_done() {
    never_done("touch done; echo 4 > tests/golden.txt", "tests/golden.txt was changed");
}

#[test]
fn a_claim_does_not_excuse_deleted_tests() {
    never_done("rm tests/test_sum.py; echo '<promise>COMPLETE</promise>'", "tests/test_sum.py lost 2 tests");
}

/// Like [`plays`] with another check.
#[track_caller]
fn cheats(files: &[(&str, &str)], criterion: &str, act: &str, what: &str) {
    let ends = Failed(2, &format!("every check passes, but {what}"));
    Scenario { files, criteria: &[criterion], acts: &[act, "true"], ends, ..Scenario::default() }.play();
}

#[test]
fn a_check_script_that_always_passes_is_not_done() {
    cheats(
        &[("check.sh", "test -f done\n")],
        "Holds: `$ sh check.sh`",
        "echo 'exit 0' > check.sh",
        "check.sh was changed",
    );
}

#[test]
fn a_replaced_recipe_is_not_done() {
    let make = "all:\n\ttouch app\n\ntest:\n\ttest -f done\n";
    cheats(
        &[("Makefile", make)],
        "Tests: `$ make test`",
        "sed -i 's/test -f done/true/' Makefile",
        "Makefile changed what `test` runs",
    );
}

#[test]
fn a_recipe_that_ignores_failures_is_not_done() {
    cheats(
        &[("Makefile", "test:\n\ttest -f done\n")],
        "Tests: `$ make test`",
        "sed -i 's/\ttest -f/\t-test -f/' Makefile",
        "Makefile changed what `test` runs",
    );
}

#[test]
fn a_makefile_of_higher_precedence_is_not_done() {
    cheats(
        &[("Makefile", "test:\n\ttest -f done\n")],
        "Tests: `$ make test`",
        "printf 'test:\\n\\t@true\\n' > GNUmakefile",
        "GNUmakefile takes the place of Makefile",
    );
}

const PYTHON: &[(&str, &str)] = &[
    ("calc.py", "def add(a, b):\n    return a - b\n"),
    ("tests/__init__.py", ""),
    (
        "tests/test_calc.py",
        "import unittest\nfrom calc import add\n\n\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n",
    ),
];
const UNITTEST: &str = "Tests: `$ python3 -m unittest discover -s tests -t .`";

#[test]
fn an_edit_within_the_same_second_is_detected() {
    // Same length as before: a cached module would still count as up to date.
    let acts = &["sed -i 's/a - b/a + b/' calc.py"];
    Scenario { files: PYTHON, criteria: &[UNITTEST], acts, ends: Verified(1, ""), ..Scenario::default() }
        .play();
}

#[test]
fn tests_of_their_own_function_are_not_done() {
    let own = "tests/test_calc.py tests its own `add` (line 2), not that of `calc`";
    cheats(
        PYTHON,
        UNITTEST,
        "sed -i 's/^from calc import add/add = lambda a, b: a + b/' tests/test_calc.py",
        own,
    );
    cheats(
        PYTHON,
        UNITTEST,
        "sed -i 's/^from calc import add/import calc\\ncalc.add = lambda a, b: a + b\\nfrom calc import add/' tests/test_calc.py",
        "tests/test_calc.py tests its own `calc.add` (line 3), not that of `calc`",
    );
}

#[test]
fn tests_of_moved_work_are_verified() {
    let acts = &[
        "mkdir calc2 && sed 's/a - b/a + b/' calc.py > calc2/core.py && rm calc.py && touch calc2/__init__.py && sed -i 's/^from calc import/from calc2.core import/' tests/test_calc.py",
    ];
    Scenario { files: PYTHON, criteria: &[UNITTEST], acts, ends: Verified(1, ""), ..Scenario::default() }
        .play();
}

#[test]
fn work_that_ends_the_test_run_is_not_done() {
    // With its own path for modules no report is asked for.
    let criterion = "Tests: `$ PYTHONPATH=. python3 -m unittest discover -s tests -t .`";
    cheats(PYTHON, criterion, "printf 'import os\\nos._exit(0)\\n' > calc.py", "calc.py ends the test run");
}

#[test]
fn a_replaced_package_script_is_not_done() {
    let package = "{\"scripts\": {\"test\": \"test -f done\"}}\n";
    // A stand-in for npm: runs the package's script.
    let npm = "#!/bin/sh\nsh -c \"$(sed -n 's/.*\"test\": \"\\(.*\\)\"}.*/\\1/p' package.json)\"\n";
    cheats(
        &[("package.json", package), ("bin/npm", npm)],
        "Tests: `$ chmod +x bin/npm && PATH=$PWD/bin:$PATH npm test`",
        "sed -i 's/test -f done/true/' package.json",
        "package.json changed what `test` runs",
    );
}

#[test]
fn fewer_tests_than_at_the_start_are_not_done() {
    let played = Scenario {
        files: &[("app", "5\n")],
        criteria: &["Tests: `$ echo \"==== $(cat app) passed in 0.01s ====\"`", "Done: `exists done`"],
        acts: &["echo 2 > app; touch done", "true"],
        ends: Failed(2, "every check passes, but Tests runs 2 tests, 5 at the start: not counted as done"),
        ..Scenario::default()
    }
    .play();
    played.prompt_has(2, "Tests runs 2 tests, 5 at the start");
}

#[test]
fn a_restore_by_the_agent_completes() {
    let played = plays(
        &["cp tests/test_sum.py $folder/; rm tests/test_sum.py", "cp $folder/test_sum.py tests/; touch done"],
        Verified(2, "completed, verified"),
    );
    played.iteration_sentence(
        1,
        "1 file changed, 1 of 1 pass; not counted as done: tests/test_sum.py lost 2 tests",
    );
}

#[test]
fn the_loop_continues_while_something_fails() {
    Scenario {
        files: &[("tool/run", RUNNER), ("tests/test_sum.py", TESTS), OTHER],
        criteria: &["Tests pass: `$ sh tool/run`", "Other: `exists other`"],
        settings: "limits.iterations = 3",
        acts: &["rm tests/test_sum.py; touch x", "touch y", "touch z"],
        ends: Limit(3, ""),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn honest_work_on_tests_is_not_a_weakening() {
    for act in [
        // Added, renamed, reformatted, commented.
        "printf '\\n\\ndef test_more():\\n    assert more()\\n' >> tests/test_sum.py",
        "sed -i 's/test_sum/test_plus/; s/(1, 2) == 3/(1,2)==3/; s/^def test_done/# why\\n&/' tests/test_sum.py",
        // Moved.
        "mkdir tests/unit; mv tests/test_sum.py tests/unit.py",
        // New files, helpers that grow.
        "echo 4 > tests/golden2.txt; printf 'def helper():\\n    return 1\\n' > tests/helper.py",
        // The work itself.
        "mkdir src; echo 'exit 0' > src/app.sh",
    ] {
        plays(&[&format!("{act}; touch done")], Verified(1, "completed, verified"));
    }
}

#[test]
fn a_program_that_a_check_runs_is_the_work() {
    Scenario {
        files: &[("sum.sh", "echo 4\n")],
        criteria: &["Adds: `$ sh sum.sh 2 3` `== 5`"],
        acts: &["echo 'echo $(($1 + $2))' > sum.sh"],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play();
}

/// A detached loop that is paused because its agent removed tests.
#[track_caller]
fn paused_loop() -> (crate::support::world::World, String) {
    let (world, id) = detached(&Scenario {
        files: &[("tool/run", RUNNER), ("tests/test_sum.py", TESTS), OTHER],
        criteria: &["Tests pass: `$ sh tool/run`"],
        settings: NO_CLEAN_ROOM,
        acts: &["rm tests/test_sum.py; touch done; echo > tests/other.py", "true"],
        ..Scenario::default()
    });
    let paused = world.until("pause", |it| it["type"] == "paused");
    let message = paused["message"].as_str().unwrap();
    assert!(
        message.contains(&format!("`loopkeeper rollback {id} 0 tests/test_sum.py` restores it")),
        "{message}"
    );
    assert_eq!(world.status()["state"], "needsYou");
    (world, id)
}

#[test]
fn acceptance_by_the_user_completes() {
    let (world, id) = paused_loop();
    world.run(&["accept", &id]).expect(0).out("are accepted");
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
    world.run(&["log"]).expect(0).out("weakening accepted: tests/test_sum.py");
}

#[test]
fn a_restore_by_one_command_completes_without_the_agent() {
    let (world, id) = paused_loop();
    world.run(&["rollback", &id, "0", "tests/test_sum.py"]).expect(0).out("Restored tests/test_sum.py");
    assert!(world.has("tests/test_sum.py") && world.has("done"));
    world.run(&["resume", &id]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
}

#[test]
fn changes_of_tests_by_the_user_are_accepted() {
    let (world, id) = detached(&Scenario {
        files: &[("tool/run", RUNNER), ("tests/test_sum.py", TESTS), OTHER],
        criteria: &["Tests pass: `$ sh tool/run`"],
        settings: NO_CLEAN_ROOM,
        acts: &["touch $folder/up; until [ -f $folder/go ]; do sleep 0.02; done; echo > work", "touch done"],
        ..Scenario::default()
    });
    world.until_shared("up");
    world.run(&["pause", &id]).expect(0);
    std::fs::write(world.shared("go"), "").unwrap();
    world.until("rest", |it| it["type"] == "iteration-ended");
    world.shell("printf 'def test_done():\\n    assert is_done()\\n' > tests/test_sum.py");
    world.run(&["resume", &id]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
    let edited = world.journal().into_iter().find(|it| it["type"] == "protected-edited").unwrap();
    assert_eq!(edited["paths"], serde_json::json!(["tests/test_sum.py"]));
}

#[test]
fn a_flaky_check_completes_nothing() {
    // Passes every second time it runs, whatever the files contain.
    let flips = "n=$(cat ../flips 2>/dev/null || echo 0); echo $((n + 1)) > ../flips; test $((n % 2)) = 1";
    let played = Scenario {
        criteria: &[&format!("Flaky: `$ {flips}`")],
        settings: "limits.iterations = 2",
        acts: &["true"],
        ends: Limit(2, ""),
        ..Scenario::default()
    }
    .play();
    assert!(played.all("checks-done").iter().any(|it| it["iteration"] == Value::Null), "asked once more");
}
