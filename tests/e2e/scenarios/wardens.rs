//! Wardens over a whole loop: one for all checks, one for all agents, none while the loop is paused.

use std::collections::BTreeSet;
use std::fs;

use super::detached::{WAITS, detached, end, go, pause_after_the_first};
use crate::support::ended_loop::EndedLoop;
use crate::support::processes::around;
use crate::support::scenario::{Ends, Scenario};
use crate::support::world::{World, wait_until};

const SETTINGS: &str = "[sandbox]\nkind = \"off\"\n[limits]\niterations = 3\n";

/// The parent pids that jobs of this name recorded.
fn parents(world: &World, name: &str) -> Vec<String> {
    let list = fs::read_to_string(world.shared(name)).unwrap();
    list.lines().map(str::to_owned).collect()
}

/// Without their guards.
fn wardens(world: &World) -> usize {
    let all = around(world.terminal.folder());
    let jobs =
        all.iter().filter(|it| it.arguments.contains(" domain --") && it.arguments.contains(" --orders"));
    jobs.filter(|it| !it.arguments.contains(" --guard ")).count()
}

#[test]
fn one_warden_serves_all_checks_and_another_all_agents() {
    let scenario = Scenario {
        criteria: &["One: `$ . ./one`", "Two: `$ . ./one`"],
        settings: SETTINGS,
        acts: &["echo $n >> log; echo $PPID >> $folder/agents"],
        ..Scenario::default()
    };
    let world = scenario.world();
    let note = format!("echo $PPID >> {}; exit 1\n", world.shared("checks").display());
    world.terminal.file("one", &note);
    let ran = world.run(&["run", "--json", "--trust"]);
    let played = EndedLoop::new(world, ran);
    played.assert_end(&Ends::Limit(3, "3 iterations").expected());
    let (checks, agents) = (parents(&played.world, "checks"), parents(&played.world, "agents"));
    // Both criteria before the first iteration and after each.
    assert_eq!((checks.len(), agents.len()), (8, 3));
    let different: BTreeSet<&String> = checks.iter().chain(&agents).collect();
    assert_eq!(different.len(), 2, "{checks:?} {agents:?}");
    assert_ne!(checks.first(), agents.first());
}

#[test]
fn a_waiting_loop_has_no_warden_and_continues_with_a_new_one() {
    let (world, id) = detached(&Scenario {
        criteria: &["Done: `$ test $(wc -l < log) -ge 2`"],
        settings: SETTINGS,
        acts: &[WAITS],
        ..Scenario::default()
    });
    world.until_shared("up.1");
    assert_eq!(wardens(&world), 2, "of the agent at work and of the checks before it");
    pause_after_the_first(&world, &id);
    wait_until(|| wardens(&world) == 0, || format!("{} wardens stay", wardens(&world)));
    world.run(&["resume", &id]).expect(0);
    world.until_shared("up.2");
    go(&world, 2);
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
}
