//! `run` without a terminal: how loops end, the exit codes, and the output of `--json`.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::cli::{Ran, Terminal, script};

pub(crate) const TASK: &str = "# Make it\n\n## Done when\n\n- It is there: `$ test -f done`\n";
const CLAIMED: &str = "# Make it\n\n## Done when\n\n- It reads well\n";
/// Changes the tree in every iteration.
const BUSY: &str = "date +%s%N > changed";

/// A project whose agent is this shell script.
pub(crate) fn project(task: &str, agent: &str) -> Terminal {
    let terminal = Terminal::new();
    let settings = "agent = \"mine\"\n[agents.mine]\ncommand = [\"/bin/sh\", \"agent.sh\"]\n";
    terminal.file("PROMPT.md", task).file("agent.sh", agent).file("loopkeeper.toml", settings);
    terminal
}

#[test]
fn a_loop_ends_with_the_exit_code_of_its_outcome() {
    let check = |task: &str, agent: &str, args: &[&str], (code, words): (i32, &str)| {
        let terminal = project(task, agent);
        let ran = terminal.run(&[&["run", "--trust"], args].concat());
        ran.expect(code);
        assert!(ran.stdout.to_lowercase().contains(words), "no {words:?} in\n{}", ran.stdout);
    };
    let second = "test -f changed && touch done; date > changed";
    check(TASK, second, &[], (0, "completed, verified"));
    check(TASK, BUSY, &["--max-iterations", "2"], (4, "iteration"));
    check(TASK, "true", &[], (3, "breaker"));
    check(TASK, "exit 7", &[], (1, "agent"));
    let claims = format!("{BUSY}; echo '<promise>COMPLETE</promise>'");
    check(CLAIMED, &claims, &["--max-iterations", "5"], (6, "not verified"));
    // A claim while a check fails does not count.
    check(TASK, &claims, &["--max-iterations", "2"], (4, "iteration"));
    let other = format!("{BUSY}; echo '<promise>DONE</promise>'");
    check(CLAIMED, &other, &["--max-iterations", "5", "--completion-promise", "DONE"], (6, "not verified"));
}

#[test]
fn passing_criteria_start_no_agent_without_anyway() {
    let terminal = project(TASK, "touch started; echo '<promise>COMPLETE</promise>'");
    terminal.file("done", "");
    terminal.run(&["run", "--trust"]).expect(0).out("0 iterations");
    assert!(!terminal.root().join("started").exists());
    terminal.run(&["run", "--trust", "--anyway"]).expect(0).out("1 iteration");
    assert!(terminal.root().join("started").exists());
}

#[test]
fn a_program_on_the_command_line_is_an_agent() {
    let terminal = Terminal::new();
    script(&terminal.root().join("a folder/agent.sh"), "touch done\n");
    let args = ["run", "--prompt", "Make it", "--criterion", "It is there: `$ test -f done`", "--agent"];
    let with = |program| [&args[..], &[program]].concat();
    terminal.run(&with("./gone.sh")).expect(2).err("gone.sh does not exist");
    // Arguments added by the workspace were not typed.
    terminal.file("loopkeeper.toml", "[agents.agent]\ncommand = [\"x\"]\nargs = [\"--evil\"]\n");
    terminal.run(&with("./a folder/agent.sh")).expect(5).err("1 command");
    terminal.file("loopkeeper.toml", "");
    terminal.run(&with("./a folder/agent.sh")).expect(0).out("Completed, verified");
    terminal.run(&["status"]).expect(0).out("Make it");
}

#[test]
fn a_typed_task_needs_no_file_and_its_checks_no_trust() {
    let terminal = project("# Unused\n", "touch done");
    let args = ["run", "--prompt", "Make it", "--criterion", "It is there: `$ test -f done`"];
    // The agent comes from a file.
    terminal.run(&args).expect(5).err("1 command");
    terminal.run(&[&args[..], &["--trust"]].concat()).expect(0).out("It is there");
}

#[test]
fn a_check_is_typed_without_backticks_and_needs_no_trust() {
    let terminal = project("# Unused\n", "touch done");
    let args = ["run", "--prompt", "Make it", "--check", "test -f done", "--check", "exists done", "--trust"];
    terminal.run(&args).expect(0).out("all 2 required criteria pass");
    terminal
        .run(&["run", "--prompt", "Make it", "--check", "exist x"])
        .expect(2)
        .err("Did you mean `exists x`?");
    terminal
        .run(&["run", "--prompt", "Make it", "--check", " "])
        .expect(2)
        .err("--check: command: empty, so nothing is checked");
    // Combined with a task that has its own criteria it is one more criterion, however often the documents are read.
    let task =
        "# Make it\n\n## Done when\n\n- It is there: `exists done`\n- Nice (optional): `exists never`\n";
    let terminal = project(task, "test -f done && touch more; touch done");
    terminal.run(&["run", "--check", "test -f more", "--dry-run"]).expect(0).out("test -f more");
    let ran = terminal.run(&["run", "--check", "test -f more", "--trust"]);
    ran.expect(0).out("all 2 required pass, 1 optional fails").out("all 2 required criteria pass");
}

#[test]
fn json_is_the_journal_and_ends_with_a_summary() {
    let terminal = project(TASK, "touch done; echo All done.");
    let ran = terminal.run(&["run", "--trust", "--json"]);
    ran.expect(0);
    let records: Vec<Value> = ran.stdout.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let types: Vec<_> = records.iter().map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!(types.first(), Some(&"loop-started"));
    assert!(types.contains(&"iteration-intended") && types.contains(&"checks-done"), "{types:?}");
    let last = records.last().unwrap();
    assert_eq!(last["type"], "ended");
    assert_eq!(last["outcome"]["kind"], "completed");
    assert_eq!(last["outcome"]["verified"], true);
    assert_eq!(last["sentence"], last["outcome"]["sentence"]);
    assert_eq!(last["iterations"], 1);
    assert_eq!(last["spent"]["calls"], 1);
    assert_eq!(last["finalText"].as_str().unwrap().trim(), "All done.");
    // All lines but the last are the journal's own.
    let journal = terminal.run(&["log", "--json"]);
    journal.expect(0);
    let own: Vec<_> = ran.stdout.lines().collect();
    let kept: Vec<_> = journal.stdout.lines().collect();
    assert_eq!(own.len(), kept.len());
    assert_eq!(own[..own.len() - 1], kept[..kept.len() - 1]);
}

#[test]
fn a_signal_stops_at_once_and_exits_130() {
    for signal in [Signal::INT, Signal::TERM] {
        // The agent waits indefinitely.
        let terminal = project(TASK, "touch started; tail -f /dev/null");
        let mut child = terminal
            .command(&["run", "--trust", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = until(&mut child, "agent-started");
        kill_process(Pid::from_child(&child), signal).unwrap();
        let rest: Vec<String> = lines.map(Result::unwrap).collect();
        let last: Value = serde_json::from_str(rest.last().unwrap()).unwrap();
        assert_eq!(last["outcome"]["kind"], "stopped");
        assert_eq!(child.wait().unwrap().code(), Some(130));
    }
}

#[test]
fn a_reader_that_leaves_does_not_stop_the_loop() {
    let terminal = project(TASK, "test -f changed && touch done; date > changed");
    let mut child = terminal.command(&["run", "--trust", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(until(&mut child, "loop-started"));
    assert_eq!(child.wait().unwrap().code(), Some(0));
    terminal.run(&["log"]).expect(0).out("ended: completed, verified");
}

#[test]
fn checks_run_without_a_loop() {
    let terminal = project(TASK, "true");
    let check = |args: &[&str]| terminal.run(&[&["check"], args].concat());
    check(&[]).expect(5);
    terminal.run(&["run", "--trust", "--max-iterations", "1"]).expect(4);
    check(&[]).expect(1).out("fail").out("its one criterion does not pass");
    terminal.file("done", "");
    check(&[]).expect(0).out("pass").out("its one criterion passes");
    let json: Value = serde_json::from_str(&check(&["--json"]).expect(0).stdout).unwrap();
    assert_eq!(json["holds"], true);
    assert_eq!(json["criteria"]["items"][0]["status"], "pass");
}

#[test]
fn checking_needs_criteria_and_may_be_given_trust() {
    let terminal = project("# Make it\n", "true");
    let ran = terminal.run(&["check"]);
    ran.expect(2)
        .err("PROMPT.md has no criteria, so there is nothing to check")
        .err("Add a list under \"Done when\"");
    let terminal = project(&format!("{TASK}- Nice (optional): `$ test -f nice`\n"), "true");
    terminal.run(&["check"]).expect(5);
    terminal.run(&["check", "--trust"]).expect(1).out("1 required fails, 1 optional fails");
    terminal.file("done", "");
    terminal.run(&["check"]).expect(0).out("1 required passes, 1 optional fails");
}

#[test]
fn the_output_of_a_failing_check_is_printed_below_it() {
    let task = "# T\n## Done when\n- Tests pass: `$ seq 20; printf '\\033[31mno database\\n' >&2; false`\n";
    let terminal = project(task, BUSY);
    let run = terminal.run(&["run", "--trust", "--max-iterations", "1"]);
    for ran in [run, terminal.run(&["check"])] {
        ran.out("fail        Tests pass: exit 1").out("\n      20\n").out("      no database\n");
        assert!(!ran.stdout.contains("\n      2\n"), "more than its end:\n{}", ran.stdout);
    }
}

#[test]
fn a_demo_that_cannot_begin_leaves_nothing_behind() {
    let terminal = Terminal::new();
    let kept = terminal.root().join("demo");
    let mut command = terminal.command(&["demo", "--keep", &kept.to_string_lossy()]);
    // A place where no folder can be created.
    Ran::of(&command.env("LOOPKEEPER_STATE_DIR", "/proc/nothing").output().unwrap())
        .expect(1)
        .err("cannot make the state folder /proc/nothing")
        .err("Hint: Set LOOPKEEPER_STATE_DIR");
    assert!(!kept.exists());
}

#[test]
fn a_kept_demo_runs_again_from_its_folder() {
    let terminal = Terminal::new();
    let kept = terminal.root().join("demo");
    terminal
        .run(&["demo", "--keep", &kept.to_string_lossy()])
        .expect(0)
        .out("checks before iteration 1: 1 of 5 pass")
        .out("1 file changed, 5 of 5 pass")
        .out("Completed, verified");
    // It can be started again from anywhere, without a question.
    let again = terminal.command(&["run"]).current_dir(&kept).output().unwrap();
    Ran::of(&again).expect(0).out("checks before iteration 1: 1 of 5 pass").out("Completed, verified");
}

/// Reads the child's JSON lines up to the first record of this type.
pub(crate) fn until(child: &mut Child, kind: &str) -> impl Iterator<Item = std::io::Result<String>> + use<> {
    let wanted = format!("\"type\":\"{kind}\"");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let found = lines.by_ref().map(Result::unwrap).any(|it| it.contains(&wanted));
    assert!(found, "the loop ended without a record of type {kind}");
    lines
}

#[test]
fn a_number_is_compared_with_earlier_rounds_of_the_loop() {
    const COVERED: &str = "# Cover it\n\n## Done when\n\n- Coverage: `$ cat covered` (rising)\n";
    let terminal = project(COVERED, "echo 76.4 % > covered");
    terminal.file("covered", "74 %\n");
    let ran = terminal.run(&["run", "--trust"]);
    ran.expect(0);
    assert!(ran.stdout.to_lowercase().contains("completed, verified"), "{}", ran.stdout);
    terminal.run(&["log"]).expect(0).out("74, must rise above 74 (baseline)");
    terminal.run(&["check"]).expect(0).out("76.4, no loop: nothing to compare with");

    let kept = "# Keep it\n\n## Done when\n\n- Coverage: `$ cat covered` (not falling)\n- It is there: `$ test -f done`\n";
    let terminal = project(kept, "touch done; echo 73 % > covered");
    terminal.file("covered", "74 %\n");
    terminal.run(&["run", "--trust", "--max-iterations", "2"]).expect(4);
    terminal.run(&["status"]).out("73, must not fall below 74 (baseline)");
}
