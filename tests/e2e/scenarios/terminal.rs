//! Loops on a terminal (a real one, by `script`): detached and only displayed, asked about, interrupted by Ctrl-C.

use super::detached::{WAITS, end, go};
use crate::support::pty::{CTRL_C, PtyProcess};
use crate::support::scenario::{Scenario, task};
use crate::support::world::World;

fn start(world: &World, args: &str) -> Option<PtyProcess> {
    PtyProcess::start(&world.terminal, args, &[])
}

fn waiting_agent() -> Scenario<'static> {
    Scenario { criteria: &["Far: `exists nowhere`"], acts: &[WAITS], ..Scenario::default() }
}

#[test]
fn the_first_interrupt_lets_the_iteration_finish() {
    let world = waiting_agent().world();
    let Some(mut shown) = start(&world, "run --trust") else { return };
    world.until_shared("up.1");
    shown.until("iteration 1/25");
    shown.press(CTRL_C);
    shown.until("Ctrl-C again stops now");
    go(&world, 1);
    shown.exits(1);
    assert_eq!(end(&world), ("stopped".to_owned(), false, 1));
}

#[test]
fn the_second_interrupt_stops_at_once() {
    let world = waiting_agent().world();
    let Some(mut shown) = start(&world, "run --trust") else { return };
    world.until_shared("up.1");
    shown.until("iteration 1/25");
    shown.press(CTRL_C);
    shown.until("Ctrl-C again stops now");
    shown.press(CTRL_C);
    shown.exits(130);
    assert_eq!(end(&world), ("stopped".to_owned(), false, 1));
}

#[test]
fn a_terminal_that_is_closed_leaves_the_loop_at_work() {
    let scenario = Scenario { criteria: &["Enough: `$ test -f log`"], acts: &[WAITS], ..Scenario::default() };
    let world = scenario.world();
    let Some(shown) = start(&world, "run --trust") else { return };
    world.until_shared("up.1");
    shown.close();
    assert_eq!(world.status()["state"], "working");
    go(&world, 1);
    assert_eq!(end(&world), ("completed".to_owned(), true, 1));
    world.run(&["watch"]).expect(0).out("Completed, verified");
}

#[test]
fn trust_is_asked_for_and_a_no_starts_nothing() {
    let world = Scenario {
        criteria: &["It is there: `$ test -f done`"],
        acts: &["touch done"],
        ..Scenario::default()
    }
    .world();
    for answer in [b"n\n".as_slice(), b"\n"] {
        let Some(mut shown) = start(&world, "run") else { return };
        shown.until("Trust these 2 commands? [y/N]");
        assert!(
            shown.screen.contains("test -f done") && shown.screen.contains("agent.sh"),
            "{}",
            shown.screen
        );
        shown.press(answer);
        shown.exits(5);
        assert_eq!((world.starts(), world.loops().len()), (0, 0));
    }
    let Some(mut shown) = start(&world, "run") else { return };
    shown.until("Trust these 2 commands?");
    shown.press(b"y\n");
    shown.exits(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 1));
}

#[test]
fn a_command_added_during_a_pause_needs_trust() {
    let scenario =
        Scenario { criteria: &["It is there: `$ test -f done`"], acts: &[WAITS], ..Scenario::default() };
    let world = scenario.world();
    world.run(&["run", "--trust", "--detach"]).expect(0);
    world.until_shared("up.1");
    world.run(&["pause"]).expect(0);
    go(&world, 1);
    world.until("end of the iteration", |it| it["type"] == "iteration-ended");
    world
        .terminal
        .file("PROMPT.md", &task(&["It is there: `$ test -f done`", "Count: `$ ls | wc -l` `>= 4`"]));
    world.acts(&["touch done"]);
    world.run(&["resume"]).expect(0);
    world.until("pause", |it| it["type"] == "paused" && it["reason"] == "trust");
    let Some(mut shown) = start(&world, "trust") else { return };
    shown.until("not trusted yet. Trust ");
    shown.press(b"y\n");
    shown.exits(0);
    world.run(&["resume"]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
    let baselines: Vec<_> = world.journal().into_iter().filter(|it| it["type"] == "baseline").collect();
    assert_eq!(baselines[1]["criteria"][1]["role"], "goal");
}

#[test]
fn passing_criteria_start_on_confirmation() {
    let scenario = Scenario {
        criteria: &["Builds: `$ true`"],
        acts: &["touch better; echo '<promise>COMPLETE</promise>'"],
        ..Scenario::default()
    };
    let world = scenario.world();
    let Some(mut shown) = start(&world, "run --trust") else { return };
    shown.until("Start it anyway? [y/N]");
    shown.until("so nothing can show that new work is done");
    shown.press(b"n\n");
    shown.exits(0);
    assert_eq!((world.starts(), world.loops().len()), (0, 1));
    let Some(mut shown) = start(&world, "run --trust") else { return };
    shown.until("Start it anyway? [y/N]");
    shown.press(b"y\n");
    shown.exits(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 1));
    assert_eq!(world.loops().len(), 3);
}
