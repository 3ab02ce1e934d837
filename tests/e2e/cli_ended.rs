//! What a terminal can do about a loop that has ended: continue its task, and say whether it stopped at the right
//! moment.

use std::fs;

use crate::cli::script;
use crate::scenarios::detached::{WAITS, detached, end};
use crate::support::scenario::Scenario;

/// Two iterations, of which four would be needed.
pub(crate) fn limited<'a>(acts: &'a [&'a str]) -> Scenario<'a> {
    Scenario {
        criteria: &["Enough: `$ wc -l < log` `>= 4`"],
        before: "touch log",
        settings: "[limits]\niterations = 2\n[breaker]\nfast_failures = 99\nsame_error = 99",
        acts,
        ..Scenario::default()
    }
}

#[test]
fn the_task_of_an_ended_loop_is_continued_with_its_limits_and_checks() {
    let world = limited(&["echo $n >> log"]).world();
    let ran = world.run(&["run", "--trust", "--max-cost", "3.50", "--check", "test -f log"]);
    ran.expect(4).out("Limit reached: 2 iterations");
    let first = world.journal().swap_remove(0)["spec"]["loopId"].as_str().unwrap().to_owned();
    world
        .run(&["resume", &first])
        .expect(1)
        .err("has ended")
        .err(&format!("loopkeeper resume {first} --more 10"));
    world.run(&["resume", &first, "--more", "0"]).expect(2);

    world
        .run(&["resume", &first, "--more", "5"])
        .expect(0)
        .out("continues the task of")
        .out("5 more iterations");
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
    let spec = world.journal().swap_remove(0)["spec"].clone();
    let limits = &spec["settings"]["limits"];
    assert_eq!((&limits["iterations"], &limits["costMicros"]), (&5.into(), &3_500_000.into()));
    assert_eq!(
        spec["criteria"].as_array().unwrap().len(),
        2,
        "the check of the command line is one of them: {spec:#}"
    );
    assert!(world.prompt(3).contains("## The loop before this one"));
    assert_eq!(world.loops().len(), 2);
}

#[test]
fn a_program_that_was_given_in_place_of_an_agent_continues_the_task() {
    let world = limited(&[]).world();
    let program = world.root().parent().unwrap().join("helper.sh");
    script(&program, "echo more >> log\n");
    world.run(&["run", "--trust", "--agent", program.to_str().unwrap()]).expect(4);
    world.run(&["resume", "latest", "--more", "5"]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
}

#[test]
fn an_open_loop_and_a_task_without_a_file_take_no_more_iterations() {
    let (world, id) = detached(&limited(&[WAITS]));
    world.until_shared("up.1");
    world
        .run(&["resume", &id, "--more", "3"])
        .expect(1)
        .err("has not ended")
        .err(&format!("loopkeeper resume {id}"));
    world.run(&["feedback", &id, "right"]).expect(1).err("has not ended").err("loopkeeper steer");
    world.run(&["stop", "--now", &id]).expect(0);
    world.until("end", |it| it["type"] == "ended");
    world.acts(&["true"]);
    world.run(&["run", "--prompt", "Go on.", "--max-iterations", "1"]).expect(4);
    world.run(&["resume", "latest", "--more", "3"]).expect(1).err("has no file").err("run --prompt");
}

#[test]
fn feedback_is_kept_and_the_last_one_counts() {
    let world = limited(&["echo $n >> log"]).world();
    world.run(&["run", "--trust"]).expect(4);
    world.run(&["feedback", "latest", "sometimes"]).expect(2);
    world.run(&["feedback", "latest", "right"]).expect(0).out("stopped at the right moment");
    world.run(&["feedback", "latest", "tooEarly", "no\u{1b}[31m tests"]).expect(0).out("stopped too early");
    let records = world.journal();
    let kinds: Vec<_> = records.iter().rev().take(3).map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["feedback", "feedback", "ended"]);
    world.run(&["report", "latest", "--format", "json"]).expect(0).out("stopped too early: no");
    world.run(&["insight"]).expect(0).out("0 of 1 loop with feedback (1 too early, 0 too late)");
    world.run(&["status"]).expect(0).out("Limit reached");
}

#[test]
fn an_agent_gives_no_feedback() {
    let world = limited(&["echo $n >> log"]).world();
    world.run(&["run", "--trust"]).expect(4);
    let (state, id) = (world.terminal.state(), world.journal().swap_remove(0)["spec"]["loopId"].clone());
    let program = env!("CARGO_BIN_EXE_loopkeeper");
    world.acts(&[&format!(
        "export LOOPKEEPER_STATE_DIR={}; {program} feedback {id} right > $folder/own 2>&1; echo $? >> $folder/own",
        state.display()
    )]);
    world.run(&["run", "--trust", "--max-iterations", "1"]).expect(4);
    let own = fs::read_to_string(world.shared("own")).unwrap();
    assert!(own.contains("only the user may request it"), "{own}");
    let insight = world.run(&["insight"]);
    assert!(!insight.expect(0).stdout.contains("with feedback"), "{}", insight.stdout);
}
