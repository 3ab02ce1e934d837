//! Killed keepers: none of their processes is left, the loop is shown as interrupted, and continues within its budget.

use std::fs;

use super::detached::{WAITS, detached, end, go, kinds, pause_after_the_first};
use crate::support::processes::around;
use crate::support::scenario::Scenario;
use crate::support::world::{TIMEOUT, World, delete};

/// Kills the processes of this loop whose arguments contain this text.
#[track_caller]
pub(crate) fn kill(world: &World, word: &str) {
    let found: Vec<_> =
        around(world.terminal.folder()).into_iter().filter(|it| it.arguments.contains(word)).collect();
    assert!(!found.is_empty(), "no process with {word:?}");
    for process in &found {
        process.kill();
    }
    assert!(found.iter().all(|it| it.ends_within(TIMEOUT)));
}

#[test]
fn a_killed_keeper_is_interrupted_and_resumed_within_its_budget() {
    let (world, id) = detached(&Scenario {
        criteria: &["Far: `exists nowhere`"],
        settings: "limits.iterations = 3",
        acts: &[WAITS],
        ..Scenario::default()
    });
    world.until_shared("up.1");
    go(&world, 1);
    world.until_shared("up.2");
    kill(&world, "loopkeeper keeper ");
    world.assert_no_process_left();
    let status = world.status();
    assert_eq!((&status["state"], &status["phase"]), (&"needsYou".into(), &"interrupted".into()));
    assert!(status["keeper"]["pid"].is_null());
    world.run(&["status"]).expect(0).out("loopkeeper resume");
    world.run(&["pause", &id]).expect(1).err("is interrupted");
    let watched = world.run(&["watch", &id]);
    watched.expect(1).err("is interrupted");
    go(&world, 3);
    world.run(&["resume", &id]).expect(0).out("continues");
    assert_eq!(end(&world), ("limit".to_owned(), false, 3));
    assert_eq!(world.starts(), 3, "the interrupted iteration is charged");
    let recovered = world.until("recovery", |it| it["type"] == "recovered");
    assert_eq!(recovered["interrupted"], 2);
    assert!(world.prompt(3).contains("It was cut short"));
    world.run(&["log", &id]).expect(0).out("interrupted");
}

/// No snapshot contains what the agent had changed when its keeper was killed.
#[test]
fn a_weakening_before_a_crash_is_refused_by_the_next_loop() {
    let weakens = format!("echo 'exit 0' > check.sh; {WAITS}");
    let (world, id) = detached(&Scenario {
        files: &[("check.sh", "# strict\ntest \"$(cat answer)\" = 42\n")],
        criteria: &["Right: `$ sh ./check.sh`"],
        acts: &[&weakens, "true"],
        ..Scenario::default()
    });
    world.until_shared("up.1");
    kill(&world, "loopkeeper keeper ");
    world.run(&["stop", &id]).expect(0);
    world.run(&["run", "--trust"]).expect(1).out("check.sh was changed");
}

#[test]
fn an_interrupted_loop_is_stopped_without_a_start() {
    let (world, id) =
        detached(&Scenario { criteria: &["Far: `exists nowhere`"], acts: &[WAITS], ..Scenario::default() });
    world.until_shared("up.1");
    kill(&world, "loopkeeper keeper ");
    world.run(&["stop", &id]).expect(0);
    assert_eq!(end(&world), ("stopped".to_owned(), false, 1));
    assert_eq!(world.starts(), 1);
    // The tree is free again.
    world.acts(&["touch nowhere"]);
    world.run(&["run", "--trust"]).expect(0);
}

#[test]
fn a_keeper_killed_in_the_baseline_takes_it_again() {
    let (world, id) = detached(&Scenario {
        criteria: &["Slow: `$ touch $HOME/up; until [ -f $HOME/go ]; do sleep 0.02; done; test -f done`"],
        acts: &["touch done"],
        ..Scenario::default()
    });
    let home = world.terminal.folder().join("home");
    world.until("check", |_| home.join("up").exists());
    kill(&world, "loopkeeper keeper ");
    world.assert_no_process_left();
    world.run(&["status"]).expect(0).out("interrupted before the first iteration");
    fs::write(home.join("go"), "").unwrap();
    world.run(&["resume", &id]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 1));
    assert_eq!(kinds(&world).iter().filter(|it| *it == "baseline").count(), 1);
}

#[test]
fn a_keeper_killed_during_checks_checks_again_and_starts_no_agent_twice() {
    let (world, id) = detached(&Scenario {
        criteria: &[
            "Slow: `$ test -f done || exit 1; touch $HOME/up; until [ -f $HOME/go ]; do sleep 0.02; done`",
        ],
        acts: &["touch done"],
        ..Scenario::default()
    });
    let home = world.terminal.folder().join("home");
    world.until("check", |_| home.join("up").exists());
    kill(&world, "loopkeeper keeper ");
    world.assert_no_process_left();
    fs::write(home.join("go"), "").unwrap();
    world.run(&["resume", &id]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 1));
    assert_eq!(world.starts(), 1);
    let recovered = world.until("recovery", |it| it["type"] == "recovered");
    assert!(recovered["interrupted"].is_null(), "the agent had ended: {recovered}");
}

#[test]
fn a_loop_whose_keeper_was_killed_during_a_pause_continues_on_request() {
    let (world, id) = detached(&Scenario {
        criteria: &["Enough: `$ test -f done`"],
        acts: &[WAITS],
        ..Scenario::default()
    });
    pause_after_the_first(&world, &id);
    kill(&world, "loopkeeper keeper ");
    assert_eq!(world.status()["phase"], "interrupted");
    world.acts(&["touch done"]);
    world.run(&["resume", &id]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
}

#[test]
fn a_killed_foreground_keeper_leaves_no_process_and_can_be_resumed() {
    let scenario = Scenario {
        criteria: &["It is there: `exists done`"],
        acts: &["(setsid sleep 600 &); touch $folder/up; sleep 600", "touch done"],
        ..Scenario::default()
    };
    let world = scenario.world();
    let mut child = world.terminal.command(&["run", "--trust"]).spawn().unwrap();
    world.until_shared("up");
    child.kill().unwrap();
    child.wait().unwrap();
    world.assert_no_process_left();
    assert_eq!(world.status()["phase"], "interrupted");
    world.run(&["resume"]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
}

#[test]
fn a_killed_warden_is_a_failed_agent_and_leaves_no_process() {
    // In a PID namespace the kernel ends every process with it; elsewhere the keeper finds the orphans.
    let (world, _) = detached(&Scenario {
        criteria: &["It is there: `exists done`"],
        acts: &["(setsid sleep 600 &); touch $folder/up; sleep 600", "touch done"],
        ..Scenario::default()
    });
    world.until_shared("up");
    kill(&world, " domain ");
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
}

#[test]
fn a_warden_that_its_agent_stopped_is_ended_by_the_next_keeper() {
    let (world, id) = detached(&Scenario {
        criteria: &["It is there: `exists done`"],
        settings: "sandbox.kind = \"off\"",
        acts: &["(setsid sleep 600 &); touch $folder/up; kill -STOP $PPID; sleep 600", "touch done"],
        ..Scenario::default()
    });
    world.until_shared("up");
    kill(&world, "loopkeeper keeper ");
    world.run(&["resume", &id]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
}

#[test]
fn a_state_folder_that_is_deleted_ends_the_agent() {
    let (world, _) =
        detached(&Scenario { criteria: &["Far: `exists nowhere`"], acts: &[WAITS], ..Scenario::default() });
    world.until_shared("up.1");
    delete(&world.terminal.state());
    world.assert_no_process_left();
    assert_eq!(world.terminal.read("log"), "1\n");
    world.run(&["status"]).expect(0).out("No loops");
}

#[test]
fn a_deleted_state_folder_ends_a_waiting_keeper() {
    let takes: [fn(&std::path::Path); 2] =
        [delete, |state| fs::rename(state, state.with_extension("old")).unwrap()];
    for take in takes {
        let criteria: &[&str] = &["Far: `exists nowhere`"];
        let (world, id) = detached(&Scenario { criteria, acts: &[WAITS], ..Scenario::default() });
        world.until_shared("up.1");
        world.run(&["pause", &id]).expect(0);
        go(&world, 1);
        world.until("end of the iteration", |it| it["type"] == "iteration-ended");
        assert_eq!(world.status()["phase"], "paused");
        take(&world.terminal.state());
        world.assert_no_process_left();
        assert_eq!(world.terminal.read("log"), "1\n", "nothing of the tree is lost");
        // The tree is no longer locked.
        world.run(&["run", "--detach", "--trust"]).expect(0);
        world.until_shared("up.2");
        world.run(&["stop", "--now"]).expect(0);
    }
}

#[test]
fn orders_right_after_a_resume_find_the_new_keeper() {
    // The killed keeper's socket still exists: it must not be mistaken for the new one's.
    let (world, id) =
        detached(&Scenario { criteria: &["Far: `exists nowhere`"], acts: &[WAITS], ..Scenario::default() });
    for number in 1..=4 {
        world.until_shared(&format!("up.{number}"));
        kill(&world, "loopkeeper keeper ");
        world.run(&["resume", &id]).expect(0);
        world.run(&["steer", &id, "Mind the gap."]).expect(0);
    }
    world.run(&["stop", "--now", &id]).expect(0);
    assert_eq!(end(&world).0, "stopped");
}

#[test]
fn a_deleted_program_does_not_affect_its_loop() {
    let world = Scenario {
        criteria: &["Enough: `$ wc -l < log` `>= 3`"],
        before: "touch log",
        acts: &["rm -f $folder/loopkeeper; echo $n >> log"],
        ..Scenario::default()
    }
    .world();
    let program = world.shared("loopkeeper");
    std::fs::copy(env!("CARGO_BIN_EXE_loopkeeper"), &program).unwrap();
    let ran = world.terminal.command_of(&program, &["run", "--trust", "--json"]).output().unwrap();
    assert!(!program.exists());
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(world.starts(), 3);
    world.assert_no_process_left();
}
