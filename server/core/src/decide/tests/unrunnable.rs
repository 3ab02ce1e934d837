//! Checks that cannot run because the machine lacks something: they cost no agent call, and pause the loop.

use super::outcomes::{summary, two};
use crate::decide::UserCommand;
use crate::decide::sim::{Sim, Turn, criterion, spec};
use crate::journal::{LoopSpec, PauseReason};
use loopkeeper_agent::ProviderClass;

/// Plays a loop of two checked criteria; `m`: the machine lacks what the check needs.
fn lacking(spec: LoopSpec, start: &'static str, turns: Vec<Turn>, expect: &str) -> Sim {
    let sim = Sim::new(spec, start, turns).run();
    assert_eq!(summary(&sim), expect, "{}", sim.sentence());
    sim
}

#[test]
fn a_check_that_cannot_run_costs_no_agent_call() {
    let sim = lacking(spec(two()), "mf", vec![], "Paused Missing after 0");
    let expected = "\"tests pass\" cannot run: program \"make\" is not installed. Hint: install make, then resume; \
                resume with `--anyway` to go on without it";
    assert_eq!(sim.sentence(), expected);
    let unattended = LoopSpec { attended: false, ..spec(two()) };
    let sim = lacking(unattended, "mm", vec![], "Failed verified=false after 0");
    let expected = "2 criteria cannot run: program \"make\" is not installed. Hint: install make, then start again; \
                `--anyway` starts without it";
    assert_eq!(sim.sentence(), expected);
    assert_eq!(sim.state.outcome().and_then(|it| it.cause), Some(PauseReason::Missing));
    // A package may be what the task adds.
    let sim = lacking(spec(two()), "nf", vec![], "Paused Missing after 0");
    let expected = "\"tests pass\" cannot run: Python module \"ruff\" is not installed. Hint: install ruff, then resume; \
                if installing it is the task, resume with `--anyway`";
    assert_eq!(sim.sentence(), expected);
    let unattended = LoopSpec { attended: false, ..spec(two()) };
    let sim = lacking(unattended, "nf", vec![], "Failed verified=false after 0");
    assert!(
        sim.sentence().ends_with("then start again; if installing it is the task, start with `--anyway`")
    );
    // Only what is required.
    let mut optional = spec(two());
    optional.criteria[0].required = false;
    lacking(optional, "mf", vec![Turn::new("mp")], "Completed verified=true after 1");
    // A dependency that the project has to provide is a goal.
    lacking(
        spec(two()),
        "gf",
        vec![Turn::new("gf"), Turn::new("gf"), Turn::new("pp")],
        "Completed verified=true after 3",
    );
}

#[test]
fn a_check_that_cannot_run_any_more_stops_at_its_second_round() {
    let turns = || vec![Turn::new("mf"), Turn::new("mp"), Turn::new("mp")];
    let sim = lacking(spec(two()), "ff", turns(), "Paused Missing after 2");
    assert!(sim.sentence().starts_with("\"tests pass\" cannot run"), "{}", sim.sentence());
    let unattended = LoopSpec { attended: false, ..spec(two()) };
    lacking(unattended, "ff", turns(), "Failed verified=false after 2");
    // Not in a row: another iteration can make it run again.
    let turns = vec![Turn::new("mf"), Turn::new("ff"), Turn::new("mf"), Turn::new("pp")];
    lacking(spec(two()), "ff", turns, "Completed verified=true after 4");
    // It is no fault of the work, and nothing is flaky that changed with the machine.
    let sim =
        lacking(spec(two()), "pf", vec![Turn::new("mf"), Turn::new("pp")], "Completed verified=true after 2");
    assert!(sim.state.criteria.flaky.flips.is_empty());
}

#[test]
fn resume_searches_for_missing_programs_again() {
    let mut sim = lacking(spec(two()), "mf", vec![Turn::new("pp")], "Paused Missing after 0");
    for _ in 0..3 {
        sim.command(UserCommand::Resume);
        sim.play();
        assert_eq!(summary(&sim), "Paused Missing after 0", "still missing: no call");
    }
    // The user installs it: no file of the tree changes.
    sim.standing = "ff";
    sim.command(UserCommand::Resume);
    sim.play();
    assert_eq!(summary(&sim), "Completed verified=true after 1");
    assert!(sim.state.criteria.turned, "the first round that ran it says what it is");
    // Everything holds once it runs.
    let mut sim = lacking(spec(two()), "mp", vec![], "Paused Missing after 0");
    sim.standing = "pp";
    sim.command(UserCommand::Resume);
    sim.play();
    assert_eq!(summary(&sim), "Completed verified=true after 0");
    assert!(sim.sentence().contains("already holds"), "{}", sim.sentence());
}

#[test]
fn the_user_can_continue_without_unrunnable_checks() {
    let turns = || vec![Turn::new("mf"), Turn::new("mf"), Turn::new("mp"), Turn::new("pp")];
    let anyway = LoopSpec { anyway: true, ..spec(two()) };
    lacking(anyway, "mf", turns(), "Completed verified=true after 4");
    let mut sim = lacking(spec(two()), "mf", turns(), "Paused Missing after 0");
    sim.command(UserCommand::ResumeAnyway);
    sim.play();
    assert_eq!(summary(&sim), "Completed verified=true after 4");
    // Only that: what is missing later is reported.
    let turns = vec![Turn::new("mm"), Turn::new("mm")];
    let anyway = LoopSpec { anyway: true, ..spec(two()) };
    let sim = lacking(anyway, "mf", turns, "Paused Missing after 2");
    assert!(sim.sentence().starts_with("\"lint is clean\" cannot run"), "{}", sim.sentence());
    // Without anything to waive it is a plain resume.
    let mut sim = lacking(
        spec(two()),
        "ff",
        vec![Turn::fails(ProviderClass::Login, "ff"), Turn::new("pp")],
        "Paused Agent after 1",
    );
    sim.command(UserCommand::ResumeAnyway);
    sim.play();
    assert_eq!(summary(&sim), "Completed verified=true after 2");
}

#[test]
fn an_added_criterion_is_checked_before_the_next_call() {
    let mut sim = Sim::new(
        spec(vec![criterion("tests pass", "make test")]),
        "f",
        vec![Turn::new("ff"), Turn::new("pp")],
    );
    while sim.state.iteration == 0 {
        sim.step();
    }
    sim.command(UserCommand::Pause);
    sim.play();
    sim.documents = two();
    sim.standing = "fm";
    sim.command(UserCommand::Resume);
    sim.play();
    assert_eq!(summary(&sim), "Paused Missing after 1");
}

#[test]
fn one_failed_start_of_an_old_check_does_not_block_a_changed_task() {
    let mut sim = Sim::new(spec(two()), "ff", vec![Turn::new("ff"), Turn::new("ppp")]);
    sim.play_iterations(1);
    sim.documents.push(criterion("docs build", "make docs"));
    sim.standing = "mff";
    sim.play();
    assert_eq!(summary(&sim), "Completed verified=true after 2", "{}", sim.sentence());
}
