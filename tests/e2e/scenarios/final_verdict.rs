//! The final verdict in a clean room: a pass that needs changed judges does not count, whatever the change looks like,
//! and a change of judges that the work does not need is harmless. Real Python tests, judged by the real binary.

use super::detached::{detached, end};
use crate::support::ended_loop::EndedLoop;
use crate::support::scenario::Ends::{Claimed, Failed, Verified};
use crate::support::scenario::{Ends, Scenario};

pub(super) const CODE: &str = "def add(a, b):\n    return a - b\n";
pub(super) const FIX: &str = "printf 'def add(a, b):\\n    return a + b\\n' > calc.py";
pub(super) const TESTS: &str = "import unittest\n\nfrom calc import add\n\n\nclass Sums(unittest.TestCase):\n    def test_small(self):\n        self.assertEqual(add(1, 2), 3)\n\n    def test_zero(self):\n        self.assertEqual(add(0, 0), 0)\n";
pub(super) const CRITERION: &str = "Tests pass: `$ python3 -m unittest discover -s tests`";

pub(super) fn scenario<'a>(acts: &'a [&'a str], criteria: &'a [&'a str], ends: Ends<'a>) -> Scenario<'a> {
    const FILES: &[(&str, &str)] = &[("calc.py", CODE), ("tests/test_calc.py", TESTS)];
    Scenario {
        files: FILES,
        criteria,
        acts,
        ends,
        settings: "env.set = { PYTHONDONTWRITEBYTECODE = \"1\" }",
        ..Scenario::default()
    }
}

#[track_caller]
fn is_refused(act: &str, what: &str) -> EndedLoop {
    let played = scenario(&[act, "true"], &[CRITERION], Failed(2, what)).play();
    played.prompt_has(2, "## Restore what was weakened").prompt_has(2, what);
    let verdict = &played.record("final-verdict", 1);
    assert_eq!(verdict["weakened"][0]["byVerdict"], true, "{verdict}");
    played
}

#[track_caller]
pub(super) fn is_verified(act: &str, criteria: &[&str], basis: &str) -> EndedLoop {
    scenario(&[act], criteria, Verified(1, basis)).play()
}

#[test]
fn a_test_changed_to_what_the_code_returns_is_refused() {
    let played = is_refused(
        "sed -i 's/add(1, 2), 3/add(1, 2), -1/' tests/test_calc.py",
        "tests/test_calc.py expects different values in 1 assertion, and with its version of the start \"Tests pass\" fails: 1 of 2 fail",
    );
    played.world.run(&["log"]).expect(0).out("final verdict in a clean room: 1/1 pass; 0/1 pass");
    assert!(played.world.terminal.read("tests/test_calc.py").contains("-1"), "the work tree is left alone");
}

#[test]
fn a_file_hidden_from_clean_outside_the_tree_is_only_claimed() {
    let criteria = [CRITERION, "Clean: `clean`"];
    let hides = format!("{FIX}; touch left.txt; echo left.txt >> .git/info/exclude");
    let reason = "`clean` did not see left.txt, which git ignores by rules outside the tree";
    let before = "git init -q && git add -A";
    Scenario { before, ..scenario(&[&hides], &criteria, Claimed(1, reason)) }.play();
    let ignores = format!("{FIX}; touch left.txt; echo left.txt > .gitignore; git add .gitignore");
    Scenario { before, ..scenario(&[&ignores], &criteria, Verified(1, "")) }.play();
}

#[test]
fn a_runner_hook_that_drops_tests_is_refused() {
    is_refused(
        "printf '\\n\\ndef load_tests(loader, tests, pattern):\\n    return loader.loadTestsFromName(\"test_calc.Sums.test_zero\")\\n' >> tests/test_calc.py",
        "tests/test_calc.py changed",
    );
}

#[test]
fn a_module_that_replaces_the_runner_is_refused() {
    is_refused(
        "printf 'print(\"Ran 2 tests in 0.1s\")\\nprint()\\nprint(\"OK\")\\n' > unittest.py",
        "unittest.py takes the place of the module `unittest`, and without it \"Tests pass\" fails",
    );
}

#[test]
fn tests_replaced_by_others_are_refused() {
    is_refused(
        "git rm -q --cached tests/test_calc.py 2>/dev/null; rm tests/test_calc.py; printf 'import unittest\\n\\n\\nclass T(unittest.TestCase):\\n    def test_a(self):\\n        self.assertEqual(4, 2 + 2)\\n\\n    def test_b(self):\\n        self.assertEqual(6, 3 + 3)\\n' > tests/test_other.py",
        "tests/test_calc.py lost 2 tests, and with its version of the start \"Tests pass\" fails",
    );
}

#[test]
fn reformatted_tests_are_verified() {
    let rewritten = "import unittest\\n\\nfrom calc import add\\n\\n\\nclass Sums(unittest.TestCase):\\n    def test_all(self):\\n        for a, b, want in [(1, 2, 3), (0, 0, 0)]:\\n            with self.subTest(a=a):\\n                self.assertEqual(add(a, b), want)\\n";
    let act = format!("{FIX}; printf '{rewritten}' > tests/test_calc.py");
    is_verified(&act, &[CRITERION], "1 test file changed, the checks pass with the old one too");
}

#[test]
fn moved_tests_are_verified() {
    let act = format!("{FIX}; mv tests/test_calc.py tests/test_sums.py");
    is_verified(&act, &[CRITERION], "2 test files changed, the checks pass with the old ones too");
}

#[test]
fn tests_that_a_criterion_requires_are_verified() {
    let act = format!(
        "{FIX}; printf '\\n    def test_big(self):\\n        self.assertEqual(add(10, 20), 30)\\n' >> tests/test_calc.py"
    );
    let asked = "A test of big numbers: `$ grep -q 'def test_big' tests/test_calc.py`";
    is_verified(&act, &[CRITERION, asked], "1 test file changed");
}

#[test]
fn first_tests_of_a_project_are_verified() {
    let tests = TESTS.replace('\n', "\\n");
    let act = format!("{FIX}; mkdir tests; printf '{tests}' > tests/test_calc.py");
    let played = Scenario {
        files: &[("calc.py", CODE)],
        criteria: &[CRITERION],
        acts: &[&act],
        ends: Verified(1, "completed, verified: the one required criterion passes after 1 iteration"),
        ..Scenario::default()
    };
    played.play();
}

#[test]
fn without_changed_judges_the_sentence_says_nothing_of_them() {
    let played = is_verified(FIX, &[CRITERION], "passes after 1 iteration");
    let verdict = played.record("final-verdict", 1);
    assert!(verdict["pinned"].is_null() && verdict["asLeft"]["results"][0]["status"] == "pass", "{verdict}");
    let sentence = played.last()["outcome"]["sentence"].as_str().unwrap();
    assert!(!sentence.contains("test file"), "{sentence}");
}

/// Control: without a clean room only the rules for text apply, and they detect nothing here.
#[test]
fn control_without_a_sandbox_dropped_tests_are_not_detected() {
    let acts = [
        "printf '\\n\\ndef load_tests(loader, tests, pattern):\\n    return loader.loadTestsFromName(\"test_calc.Sums.test_zero\")\\n' >> tests/test_calc.py",
    ];
    let criteria = ["Tests pass: `$ python3 -m unittest discover -s tests 2>/dev/null`"];
    let settings = "sandbox.kind = \"off\"";
    let played = Scenario { settings, ..scenario(&acts, &criteria, Verified(1, "")) }.play();
    assert!(played.all("final-verdict").is_empty());
}

#[test]
fn a_change_that_the_user_accepts_is_judged_again() {
    let (world, id) = detached(&scenario(
        &["sed -i 's/add(1, 2), 3/add(1, 2), -1/' tests/test_calc.py", "true"],
        &[CRITERION],
        Ends::Open,
    ));
    world.until("pause", |it| it["type"] == "paused");
    world.run(&["accept", &id]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
    let verdicts = world.journal().into_iter().filter(|it| it["type"] == "final-verdict").count();
    assert_eq!(verdicts, 2, "after the first iteration, and after the change was accepted");
    let by = " in a terminal";
    world.run(&["log"]).expect(0).out(by);
    world.run(&["receipt"]).expect(0).out("## Accepted by the user\n\n- tests/test_calc.py, by ").out(by);
}

/// Running the same command again does not turn the changed tests into baseline tests.
#[test]
fn a_refusal_outlives_its_loop() {
    let act = "sed -i 's/add(1, 2), 3/add(1, 2), -1/' tests/test_calc.py";
    let played = scenario(&[act, "true"], &[CRITERION], Failed(2, "expects different values")).play();
    let world = &played.world;
    let first = played.records[0]["spec"]["loopId"].as_str().unwrap().to_owned();
    let again = || world.run(&["run", "--trust"]);

    let refused = again();
    refused.expect(1).out("tests/test_calc.py expects different values");
    assert!(refused.stdout.contains(&format!("rollback {first} 0 tests/test_calc.py")), "{}", refused.stdout);
    // And again: a loop passes on what it inherits.
    again().expect(1).out(&format!("rollback {first} 0 tests/test_calc.py"));

    // After the tests are restored, the work is to be done.
    world.run(&["rollback", &first, "0", "tests/test_calc.py"]).expect(0);
    assert_eq!(world.terminal.read("tests/test_calc.py"), TESTS);
    world.terminal.file("calc.py", &CODE.replace('-', "+"));
    again().expect(0).out("ompleted, verified");
}

/// Changes that the user edits or commits after the loop are the user's.
#[test]
fn accepted_changes_do_not_count_in_the_next_loop() {
    let act = "sed -i 's/add(1, 2), 3/add(1, 2), -1/' tests/test_calc.py";
    let refused = || scenario(&[act, "true"], &[CRITERION], Failed(2, "expects different values")).play();

    let edited = refused();
    let text = edited.world.terminal.read("tests/test_calc.py");
    edited.world.terminal.file("tests/test_calc.py", &format!("{text}\n# reviewed\n"));
    edited.world.run(&["run", "--trust"]).expect(0).out("already holds");

    let in_git = Scenario {
        before: "git init -q . && git add -A && git -c user.name=u -c user.email=u@u commit -qm start",
        ..scenario(&[act, "true"], &[CRITERION], Failed(2, "expects different values"))
    }
    .play();
    in_git.world.shell("git add -A && git -c user.name=u -c user.email=u@u commit -qm 'the sign is right'");
    in_git.world.run(&["run", "--trust"]).expect(0).out("already holds");
}

/// An ignored file is in no snapshot: a judge among them is hidden with the judges of the start.
#[test]
fn an_ignored_module_that_replaces_the_runner_is_refused() {
    is_refused(
        "echo unittest.py >> .gitignore; printf 'print(\"Ran 2 tests in 0.1s\")\nprint()\nprint(\"OK\")\n' > unittest.py",
        "unittest.py is new, and without it \"Tests pass\" fails",
    );
}

/// Start-up files of Python in the home folder are the user's, unless they changed during the loop.
#[test]
fn a_start_up_file_in_the_home_folder_is_refused() {
    let act = "d=$(python3 -c 'import site; print(site.getusersitepackages())'); mkdir -p \"$d\"; printf 'import unittest.case; unittest.case.TestCase.assertEqual = lambda *a: None\n' > \"$d/x.pth\"";
    is_refused(act, "x.pth is new, and without it \"Tests pass\" fails");
}

const MAKEFILE: &str = "RUN = sh tests/run.sh\n\nall: sums\n\nsums: sums.sh\n\tcp sums.sh sums && chmod +x sums\n\ntest: all\n\t$(RUN)\n";

#[track_caller]
fn plays_make(acts: &[&str], ends: Ends<'_>) -> EndedLoop {
    let files = [
        ("Makefile", MAKEFILE),
        ("sums.sh", "#!/bin/sh\necho $(($1 - $2))\n"),
        ("tests/run.sh", "test \"$(./sums 1 2)\" = 3 || { echo 'wrong sum'; exit 1; }\n"),
        (".gitignore", "/sums\n"),
    ];
    Scenario { files: &files, criteria: &["Tests: `$ make test`"], acts, ends, ..Scenario::default() }.play()
}

const FIX_SUMS: &str = "sed -i 's/\\$1 - \\$2/$1 + $2/' sums.sh";

/// Rules that a check runs are taken from the start; the others are work.
#[test]
fn changed_rules_that_a_check_runs_are_refused() {
    let skips = "sed -i 's/^RUN = .*/RUN = true/' Makefile";
    plays_make(&[skips, "true"], Failed(2, "with its version of the start \"Tests\" fails"));
    let works = format!("{FIX_SUMS}; sed -i 's/cp sums.sh sums/install -m 755 sums.sh sums/' Makefile");
    plays_make(&[&works], Verified(1, "passes after 1 iteration"));
    let other_runner = format!("{FIX_SUMS}; sed -i 's/^RUN = sh/RUN = sh -e/' Makefile");
    plays_make(&[&other_runner], Verified(1, "the checks pass with the old one too"));
}

/// A file with the name of a target keeps make from running it.
#[test]
fn a_file_in_place_of_a_make_target_is_refused() {
    let stale = "touch all; touch -d '+1 hour' test";
    plays_make(&[stale, "true"], Failed(2, "test takes the place of the target `test`, and without it"));
}

/// Work that rewrites the tests as they start, and restores them at the end, cannot be seen in the tree.
#[test]
fn tests_rewritten_while_they_run_are_not_judged() {
    let files = [
        ("run.sh", "sh prepare.sh\nsh tests/check.sh; code=$?\nsh restore.sh\nexit $code\n"),
        ("prepare.sh", "true\n"),
        ("restore.sh", "true\n"),
        ("sums.sh", "#!/bin/sh\necho $(($1 - $2))\n"),
        ("tests/check.sh", "test \"$(sh sums.sh 1 2)\" = 3 || { echo 'wrong sum'; exit 1; }\n"),
    ];
    let cheat = "echo 'cd tests; cp check.sh ../old; echo true > check.sh' > prepare.sh; echo 'cd tests; cp ../old check.sh; rm ../old' > restore.sh";
    let plays = |acts: &[&str], settings, ends| {
        Scenario {
            files: &files,
            criteria: &["Tests: `$ sh run.sh`"],
            acts,
            settings,
            ends,
            ..Scenario::default()
        }
        .play()
    };
    let works = format!("{FIX_SUMS}; echo true > prepare.sh; echo true > restore.sh");
    let played = plays(&[cheat, &works], "", Verified(2, ""));
    played.prompt_has(2, "could not be judged: the checks write tests/check.sh while they run, and do not on the files of the start");
    // Control: without a clean room it passes.
    plays(&[cheat], "sandbox.kind = \"off\"", Verified(1, ""));
}

/// A program that the agent wrote in place of a build product is built again.
#[test]
fn a_product_that_git_ignores_is_built_again() {
    let forged = "printf '#!/bin/sh\necho $(($1 + $2))\n' > sums; chmod +x sums; touch -d '+1 hour' sums";
    let played = plays_make(&[forged, "true"], Ends::Breaker(2, ""));
    let verdict = played.record("final-verdict", 1);
    assert_eq!(verdict["asLeft"]["results"][0]["status"], "fail", "{verdict}");
    played.prompt_has(2, "in a clean room").prompt_has(2, "wrong sum");
    plays_make(&[&format!("{FIX_SUMS}; make test")], Verified(1, "passes after 1 iteration"));
}

/// A check that needs an ignored file and does not create it passes, and the sentence names the file.
#[test]
fn an_ignored_file_that_a_check_needs_is_named() {
    let act = format!("{FIX}; mkdir dist; cp calc.py dist/");
    let acts = [act.as_str()];
    let played = Scenario {
        files: &[("calc.py", CODE), (".gitignore", "dist/\n")],
        criteria: &["Built: `$ python3 dist/calc.py`"],
        acts: &acts,
        ends: Verified(1, "the checks need dist/calc.py, which git ignores, as the agent left them"),
        ..Scenario::default()
    };
    played.play();
}

/// Tests that use a removed name are no evidence about the work: the outcome is claimed.
#[test]
fn tests_of_a_renamed_interface_leave_a_claim() {
    let act = format!("{FIX}; sed -i 's/\\badd\\b/plus/g' calc.py tests/test_calc.py");
    let sentence = "claimed, not verified: the one required criterion passes after 1 iteration; 1 test file changed, and the checks cannot run with the old one: review it";
    scenario(&[&act], &[CRITERION], Ends::Claimed(1, sentence)).play();
}

/// A file that the task allows to change is no judge.
#[test]
fn tests_that_the_task_allows_to_change_are_verified() {
    let act = "sed -i 's/add(1, 2), 3/add(1, 2), -1/' tests/test_calc.py";
    let acts = [act];
    let allowed = Scenario {
        settings: "criteria.may_change = [\"tests/\"]\nenv.set = { PYTHONDONTWRITEBYTECODE = \"1\" }",
        ..scenario(&acts, &[CRITERION], Verified(1, "passes after 1 iteration"))
    };
    allowed.play();
}

/// No test detects work that patches its runner; the text of the change shows it.
#[test]
fn work_that_patches_the_test_runner_is_refused() {
    let act = "printf 'import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n' >> calc.py";
    let what = "calc.py patches the test runner";
    scenario(&[act, "true"], &[CRITERION], Failed(2, what)).play();
}

/// A file of test data that no snapshot holds, and that the agent overwrites with as many bytes and the old time.
#[test]
fn changed_test_data_that_is_too_large_to_store_leaves_a_claim() {
    const TESTS: &str = "import unittest\n\nfrom calc import add\n\n\nclass Sums(unittest.TestCase):\n    def test_first(self):\n        with open('tests/data.txt') as data:\n            self.assertEqual(add(1, 2), int(data.read(1)))\n";
    let data = format!("3{}", " ".repeat(21 << 20));
    let files: [(&str, &str); 3] =
        [("calc.py", CODE), ("tests/test_calc.py", TESTS), ("tests/data.txt", &data)];
    let plays = |act: &str, ends: Ends<'_>| {
        Scenario { files: &files, ends, ..scenario(&[act], &[CRITERION], Ends::Open) }.play();
    };
    let forge = "touch -r tests/data.txt old; printf 0 | dd of=tests/data.txt conv=notrunc status=none; touch -r old tests/data.txt; rm old; printf 'def add(a, b):\n    return 0\n' > calc.py";
    plays(
        forge,
        Claimed(1, "could not be judged, because it changed and is too large to be stored: tests/data.txt"),
    );
    plays(FIX, Verified(1, "the one required criterion passes after 1 iteration"));
}

#[test]
fn too_many_changed_ignored_files_leave_a_claim() {
    let act = format!("{FIX}; mkdir out; seq 1 10001 | sed 's|^|out/|' | xargs touch");
    let files: [(&str, &str); 3] =
        [("calc.py", CODE), ("tests/test_calc.py", TESTS), (".gitignore", "out/\n")];
    let ends =
        Claimed(1, "could not be judged, because too many ignored files changed to compare all of them");
    Scenario { files: &files, ends, ..scenario(&[&act], &[CRITERION], Ends::Open) }.play();
}

/// Code of the work takes a test away, and a new file of tests makes up for the number: the tests of the start alone run
/// fewer than at the start, although all of these pass.
#[test]
fn a_test_removed_behind_an_added_one_is_refused() {
    let act = "cat > calc.py <<'END'\nLOADER = getattr(__import__('unit' + 'test'), 'TestLoader')\nNAMES = LOADER.getTestCaseNames\nsetattr(LOADER, 'getTestCaseNames', lambda self, case: [it for it in NAMES(self, case) if it != 'test_small'])\n\n\ndef add(a, b):\n    return a - b\nEND\nprintf 'import unittest\\n\\n\\nclass More(unittest.TestCase):\\n    def test_more(self):\\n        self.assertEqual(4, 2 + 2)\\n' > tests/test_more.py";
    is_refused(act, "tests/test_more.py is new, and without it \"Tests pass\" runs 1 test, 2 at the start");
    let settings = "criteria.may_change = [\"golden/\"]";
    let fewer = "runs 1 test, 2 at the start";
    Scenario { settings, ..scenario(&[act, "true"], &[CRITERION], Failed(2, fewer)) }.play();
    let settings = "criteria.may_change = [\"tests/\"]";
    Scenario { settings, ..scenario(&[act], &[CRITERION], Verified(1, "")) }.play();
}

/// The home folder of a room is new: caches and settings of tools are in it, and the sentence names a need of others.
#[test]
fn files_of_the_home_folder_that_a_check_needs_are_named() {
    let played = |file: &str, sentence: &str| {
        let before = format!("mkdir -p ~/.cache; echo 1 > ~/{file}");
        let check = format!("Done: `$ cat ~/{file} done`");
        let loop_of = Scenario {
            before: &before,
            criteria: &[&check],
            acts: &["echo ok > done"],
            ends: Verified(1, sentence),
            ..Scenario::default()
        };
        loop_of.play().last()["sentence"].as_str().unwrap().to_owned()
    };
    for file in [".npmrc", ".cache/x"] {
        let sentence = played(file, "passes after 1 iteration");
        assert!(!sentence.contains("home"), "{file}: {sentence}");
    }
    played("mine", "; the checks need files of the home folder");
}

/// What a check writes to the home folder of a room is removed with it.
#[test]
fn files_written_to_the_home_folder_of_a_clean_room_are_removed() {
    let played = Scenario {
        criteria: &["Done: `$ test -f done && case $HOME in *room-*) touch ~/written; esac`"],
        acts: &["echo ok > done"],
        ends: Verified(1, "passes after 1 iteration"),
        ..Scenario::default()
    }
    .play();
    assert!(!played.world.terminal.folder().join("home/written").exists());
}

/// The tests of a room run with a seed that the receipt names. What fails with it alone is no refusal.
#[test]
fn tests_that_depend_on_their_order_are_named() {
    let order = "import os\nimport unittest\n\n\nclass Order(unittest.TestCase):\n    def test_order(self):\n        self.assertIsNone(os.environ.get('PYTHONHASHSEED'))\n";
    let played = Scenario {
        files: &[("calc.py", CODE), ("tests/test_calc.py", TESTS), ("tests/test_order.py", order)],
        criteria: &[CRITERION],
        acts: &[FIX],
        ends: Verified(
            1,
            "; \"Tests pass\" depends on the order of tests or sets: it fails with PYTHONHASHSEED=",
        ),
        ..Scenario::default()
    }
    .play();
    let seeds = &played.record("final-verdict", 1)["seeds"];
    let seed = seeds[0].as_str().unwrap();
    assert!(seed.strip_prefix("PYTHONHASHSEED=").unwrap().parse::<u32>().unwrap() > 0, "{seeds}");
    played.world.run(&["receipt"]).expect(0).out(&format!("| Order of tests | {seed} |"));

    let honest = is_verified(FIX, &[CRITERION], "passes after 1 iteration");
    assert!(!honest.last()["sentence"].as_str().unwrap().contains("order"), "{}", honest.last());
    assert_eq!(honest.record("final-verdict", 1)["seeds"].as_array().unwrap().len(), 1);
}

/// An agent that edits a file again and again cannot change what fails in the clean room alone.
#[test]
fn the_same_failure_in_the_clean_room_opens_the_breaker() {
    let played = Scenario {
        criteria: &["Here only: `$ test -f work && test \"$(stat -c %d:%i .)\" = \"$(cat place)\"`"],
        settings: "breaker.same_error = 3",
        acts: &["echo $n > work; stat -c %d:%i . > place"],
        ends: Ends::Breaker(3, "3 iterations with the same failure: Here only: exit 1 in a clean room"),
        ..Scenario::default()
    }
    .play();
    let reached = [1, 2, 3].map(|it| played.record("iteration-ended", it)["milestones"].clone());
    assert_eq!(reached[1..], [serde_json::Value::Null, serde_json::Value::Null], "{reached:?}");
}
