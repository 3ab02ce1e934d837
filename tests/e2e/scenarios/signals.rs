//! INT and TERM to a loop without a terminal: stop now, exit 130, and leave nothing.

use std::io::Read;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::cli::Ran;
use crate::support::ended_loop::EndedLoop;
use crate::support::scenario::Ends::{self, Stopped};
use crate::support::scenario::Scenario;
use crate::support::world::World;

fn start(world: &World) -> Child {
    let mut command = world.terminal.command(&["run", "--json", "--trust"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[track_caller]
fn ended(world: World, mut child: Child, ends: Ends<'_>) -> EndedLoop {
    let mut errors = child.stderr.take().unwrap();
    let output = child.wait_with_output().unwrap();
    let mut ran = Ran::of(&output);
    errors.read_to_string(&mut ran.stderr).unwrap();
    let played = EndedLoop::new(world, ran);
    played.assert_end(&ends.expected());
    played
}

#[test]
fn a_signal_during_the_agent_stops_the_loop() {
    for (number, stubborn) in [(Signal::TERM, ""), (Signal::INT, "trap '' TERM INT HUP; ")] {
        let act = format!(
            "{stubborn}(setsid sleep 600 &); echo half > half; touch $folder/up; sleep 600 & wait; wait; sleep 600"
        );
        let scenario =
            Scenario { criteria: &["Far: `exists nowhere`"], acts: &[&act], ..Scenario::default() };
        let world = scenario.world();
        let child = start(&world);
        world.until_shared("up");
        signal(&child, number);
        let played = ended(world, child, Stopped(1, "stopped after 1 iteration"));
        assert_eq!(played.record("agent-ended", 1)["run"]["ending"], "stopped");
        // The partial work is kept, and is in a snapshot.
        played.file("half", "half\n");
        assert_eq!(played.record("snapshot-taken", 1)["iteration"], 1);
        played.world.run(&["rollback", "latest", "1"]).expect(0);
    }
}

#[test]
fn a_signal_during_the_baseline_stops_the_loop() {
    let scenario = Scenario {
        criteria: &["Slow: `$ touch $HOME/up; sleep 600`"],
        acts: &["touch never"],
        ..Scenario::default()
    };
    let world = scenario.world();
    let child = start(&world);
    world.until("loop", |it| it["type"] == "snapshot-taken");
    let up = world.terminal.folder().join("home/up");
    world.until("check", |_| up.exists());
    signal(&child, Signal::TERM);
    let played = ended(world, child, Stopped(0, "stopped before the first iteration"));
    assert_eq!(played.world.starts(), 0);
}

#[test]
fn a_signal_during_checks_stops_the_loop() {
    let scenario = Scenario {
        criteria: &["Slow: `$ test -f done || exit 1; touch $HOME/up; sleep 600`"],
        acts: &["touch done"],
        ..Scenario::default()
    };
    let world = scenario.world();
    let child = start(&world);
    let up = world.terminal.folder().join("home/up");
    world.until("check", |_| up.exists());
    signal(&child, Signal::INT);
    ended(world, child, Stopped(1, "stopped after 1 iteration"));
}

#[test]
fn a_signal_during_a_wait_stops_the_loop() {
    let scenario = Scenario {
        criteria: &["Far: `exists nowhere`"],
        settings: "limits.between = \"10m\"",
        acts: &["echo $n >> log"],
        ..Scenario::default()
    };
    let world = scenario.world();
    let child = start(&world);
    world.until("wait", |it| it["type"] == "waiting");
    signal(&child, Signal::TERM);
    ended(world, child, Stopped(1, "stopped after 1 iteration"));
}
