//! Checks that lie, hang, die, or disturb the tree: none of that is a pass.

use crate::support::ended_loop::EndedLoop;
use crate::support::scenario::Ends::{Breaker, Limit, Verified};
use crate::support::scenario::Scenario;

/// One iteration against a check that must not pass.
#[track_caller]
fn never_passes(criterion: &str, status: &str, fact: &str) -> EndedLoop {
    let played = Scenario {
        criteria: &[criterion],
        settings: "limits.iterations = 1",
        acts: &["touch work; echo '<promise>COMPLETE</promise>'"],
        ends: Limit(1, "limit reached: 1 iteration"),
        ..Scenario::default()
    }
    .play();
    played.first_result(0, status, fact).first_result(1, status, fact);
    played
}

#[test]
fn a_check_that_kills_itself_could_not_run() {
    never_passes("Dies: `$ kill -9 $$`", "could-not-run", "killed by SIGKILL");
}

#[test]
fn a_check_that_hangs_times_out() {
    never_passes("Hangs (timeout 300ms): `$ echo ok; sleep 600`", "timed-out", "no result after 300 ms");
}

#[test]
fn a_check_that_runs_no_tests_does_not_pass() {
    let none = "echo 'running 0 tests'; echo 'test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s'";
    never_passes(&format!("Tests: `$ {none}`"), "no-tests-ran", "0 tests ran");
}

#[test]
fn printed_success_with_exit_1_fails() {
    never_passes("Tests: `$ echo 'All tests passed'; exit 1`", "fail", "exit 1");
}

#[test]
fn a_missing_program_could_not_run() {
    never_passes("Lint: `$ ./no-such-linter --all`", "could-not-run", "no-such-linter");
}

#[test]
fn a_check_gets_no_input() {
    never_passes("Asks: `$ read -r answer`", "fail", "exit 1");
}

#[test]
fn a_daemon_of_a_check_is_named() {
    let played = never_passes("Serves: `$ (setsid sleep 600 >/dev/null 2>&1 &) ; exit 3`", "fail", "exit 3");
    let survivors = &played.record("checks-done", 1)["round"]["results"][0]["survivors"];
    assert!(survivors[0].as_str().is_some_and(|it| it.contains("sleep")), "{survivors}");
}

#[test]
fn a_check_that_writes_something_new_each_time_is_unstable() {
    let played = Scenario {
        criteria: &["Writes: `$ test -f work && date > log.$(date +%s%N)`"],
        settings: "limits.iterations = 1",
        acts: &["touch work"],
        ends: Limit(1, "the one required criterion does not pass: files change while it is checked"),
        ..Scenario::default()
    }
    .play();
    played.first_result(
        1,
        "unstable",
        "changed while the checks ran: have git ignore it if a check writes it",
    );
    assert_eq!(played.all("checks-done").len(), 1);
}

#[test]
fn files_of_the_baseline_are_artefacts_and_not_progress() {
    let played = Scenario {
        criteria: &["Reports: `$ date +%s%N > report; test -f done`"],
        settings: "breaker.fast_failures = 99",
        acts: &["touch a", "echo 'I look around.'", "true", "true"],
        ends: Breaker(4, "breaker open: 3 iterations without a file change"),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.record("baseline", 0)["artefacts"], serde_json::json!(["report"]));
    played.iteration_sentence(2, "nothing changed, 0 of 1 pass");
}

#[test]
fn an_artefact_that_the_agent_edits_is_its_work() {
    let played = Scenario {
        criteria: &["Reports: `$ test -f report || echo 0 > report; grep -q 9 report`"],
        acts: &["echo $n > report", "true", "echo 9 > report"],
        ends: Verified(3, ""),
        ..Scenario::default()
    }
    .play();
    played
        .iteration_sentence(1, "1 file changed, 0 of 1 pass")
        .iteration_sentence(2, "nothing changed, 0 of 1 pass");
}

#[test]
fn file_checks_complete_a_loop() {
    Scenario {
        files: &[("src/a.txt", "TODO: this\nversion 1\n"), ("old.txt", "")],
        criteria: &[
            "New: `exists src/*.new`",
            "Old is gone: `missing old.txt`",
            "Version: `has /^version [2-9]$/ src/a.txt`",
            "No notes: `lacks \"TODO\" src/**`",
        ],
        acts: &["touch src/b.new; rm old.txt", "echo 'version 2' > src/a.txt"],
        ends: Verified(2, "all 4 required criteria pass"),
        ..Scenario::default()
    }
    .play()
    .iteration_sentence(1, "2 files changed, 2 of 4 pass");
}

#[test]
fn clean_ignores_files_of_the_start() {
    let played = Scenario {
        files: &[("notes", "mine\n")],
        before: "git init -q",
        criteria: &["Tidy: `clean`", "It is there: `$ git cat-file -e HEAD:done`"],
        acts: &[
            "git config user.email a@b.c; git config user.name A; touch done stray; git add done; git commit -qm done",
            "rm stray",
        ],
        ends: Verified(2, "all 2 required criteria pass"),
        ..Scenario::default()
    }
    .play();
    played.first_result(0, "pass", "").first_result(1, "fail", "stray");
}

#[test]
fn every_expectation_must_hold() {
    Scenario {
        files: &[("score", "0\n")],
        criteria: &[
            "Score: `$ cat score` `>= 1,000`",
            "Says so: `$ cat score` `/^1\\d+$/`",
            "No error: `$ cat score` `!/error/`",
            "Fails well: `$ exit 3` `exit 3`",
        ],
        acts: &["echo error 1000 > score", "printf '\\033[1m1,234\\033[0m\\n' > score", "echo 1234 > score"],
        ends: Verified(3, "all 4 required criteria pass"),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn validation_commands_need_no_mark() {
    Scenario {
        files: &[("PROMPT.md", "# Make it so\n\n## Validation Commands\n\n- `test -f done`\n")],
        acts: &["touch done"],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn a_failing_guard_keeps_the_loop_working() {
    let played = Scenario {
        files: &[("old", "")],
        criteria: &["Old stays: `exists old`", "New comes: `exists new`"],
        acts: &["mv old new", "touch old"],
        ends: Verified(2, "all 2 required criteria pass"),
        ..Scenario::default()
    }
    .play();
    played
        .first_result(0, "pass", "")
        .first_result(1, "fail", "old does not exist")
        .prompt_has(2, "Regressed: this held before.");
}

#[test]
fn checks_get_no_provider_key_and_no_git_variable() {
    let scenario = Scenario {
        criteria: &[
            "Blind: `$ env | grep -E '^(ANTHROPIC_API_KEY|GIT_DIR|CLAUDECODE|LOOPKEEPER_STATE_DIR)='` `exit 1`",
        ],
        acts: &["touch never"],
        ends: Verified(0, ""),
        ..Scenario::default()
    };
    let world = scenario.world();
    let mut command = world.terminal.command(&["run", "--json", "--trust"]);
    command.env("ANTHROPIC_API_KEY", "sk-ant-0123456789").env("GIT_DIR", "/nowhere").env("CLAUDECODE", "1");
    let ran = crate::cli::Ran::of(&command.output().unwrap());
    EndedLoop::new(world, ran).assert_end(&scenario.ends.expected());
}
