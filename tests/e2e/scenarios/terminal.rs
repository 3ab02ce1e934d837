//! Loops on a terminal (a real one, by `script`): detached and only displayed, asked about, interrupted by Ctrl-C.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::detached::{WAITS, end, go};
use crate::support::scenario::{Scenario, task};
use crate::support::world::{World, wait_until};

/// A simulated user at a terminal.
struct Person {
    child: Child,
    screen: PathBuf,
}

impl Person {
    /// Runs the binary on a separate terminal; `None`, with a report, if there is no `script`.
    fn runs(world: &World, args: &str) -> Option<Self> {
        let screen = world.shared("screen");
        let binary = env!("CARGO_BIN_EXE_loopkeeper");
        let mut command = Command::new("script");
        command
            .args(["-qefc", &format!("exec {binary} {args}")])
            .arg(&screen)
            .current_dir(world.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", world.terminal.folder().join("home"))
            .env("LOOPKEEPER_STATE_DIR", world.terminal.state())
            .env("TERM", "xterm")
            .env("SHELL", "/bin/sh")
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::piped())
            .stdout(Stdio::null());
        match command.spawn() {
            Ok(child) => Some(Self { child, screen }),
            Err(error) => {
                crate::not_run("loops on a terminal", &format!("script: {error}"));
                None
            }
        }
    }

    fn types(&mut self, text: &str) {
        self.child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    #[track_caller]
    fn until_sees(&self, text: &str) {
        let seen = || String::from_utf8_lossy(&fs::read(&self.screen).unwrap_or_default()).into_owned();
        wait_until(|| seen().contains(text), || format!("no {text:?} on the screen: {}", seen()));
    }

    fn exit(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

fn waiting() -> Scenario<'static> {
    Scenario { criteria: &["Far: `exists nowhere`"], acts: &[WAITS], ..Scenario::default() }
}

#[test]
fn the_first_interrupt_lets_the_iteration_finish() {
    let world = waiting().world();
    let Some(mut person) = Person::runs(&world, "run --trust") else { return };
    world.until_shared("up.1");
    person.until_sees("iteration 1/25");
    person.types("\u{3}");
    person.until_sees("Ctrl-C again stops now");
    go(&world, 1);
    assert_eq!(person.exit(), Some(1));
    assert_eq!(end(&world), ("stopped".to_owned(), false, 1));
}

#[test]
fn the_second_interrupt_stops_at_once() {
    let world = waiting().world();
    let Some(mut person) = Person::runs(&world, "run --trust") else { return };
    world.until_shared("up.1");
    person.until_sees("iteration 1/25");
    person.types("\u{3}");
    person.until_sees("Ctrl-C again stops now");
    person.types("\u{3}");
    assert_eq!(person.exit(), Some(130));
    assert_eq!(end(&world), ("stopped".to_owned(), false, 1));
}

#[test]
fn a_terminal_that_is_closed_leaves_the_loop_at_work() {
    let scenario = Scenario { criteria: &["Enough: `$ test -f log`"], acts: &[WAITS], ..Scenario::default() };
    let world = scenario.world();
    let Some(mut person) = Person::runs(&world, "run --trust") else { return };
    world.until_shared("up.1");
    person.child.kill().unwrap();
    person.child.wait().unwrap();
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
    let Some(mut person) = Person::runs(&world, "run") else { return };
    person.until_sees("Trust these 2 commands?");
    person.types("n\n");
    assert_eq!(person.exit(), Some(5));
    assert_eq!((world.starts(), world.loops().len()), (0, 0));
    let Some(mut person) = Person::runs(&world, "run") else { return };
    person.until_sees("Trust these 2 commands?");
    person.types("y\n");
    assert_eq!(person.exit(), Some(0));
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
    let Some(mut person) = Person::runs(&world, "trust") else { return };
    person.until_sees("not trusted yet. Trust ");
    person.types("y\n");
    assert_eq!(person.exit(), Some(0));
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
    let Some(mut person) = Person::runs(&world, "run --trust") else { return };
    person.until_sees("Start it anyway? [y/N]");
    person.until_sees("so nothing can show that new work is done");
    person.types("n\n");
    assert_eq!(person.exit(), Some(0));
    assert_eq!((world.starts(), world.loops().len()), (0, 1));
    let Some(mut person) = Person::runs(&world, "run --trust") else { return };
    person.until_sees("Start it anyway? [y/N]");
    person.types("y\n");
    assert_eq!(person.exit(), Some(0));
    assert_eq!(end(&world), ("completed".to_owned(), true, 1));
    assert_eq!(world.loops().len(), 3);
}
