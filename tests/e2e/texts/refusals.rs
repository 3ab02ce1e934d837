//! What is refused because of trust, of another loop, or of a keeper that does not answer.

use expect_test::expect_file;
use rustix::process::{Signal, kill_process};

use super::Transcript;
use crate::cli_loops::GatedLoop;
use crate::cli_run::{TASK, project};
use crate::support::scenario::Scenario;
use crate::support::world::wait_until;

#[test]
fn refusals_without_trust_are_as_recorded() {
    let world = Scenario { criteria: &["Tests pass: `$ sh t.sh`"], ..Scenario::default() }.world();
    let mut file = Transcript::default();
    for args in [&["run"][..], &["run", "--detach"], &["check"], &["trust"]] {
        file.run(&world.terminal, args);
    }
    expect_file!["errors-trust.txt"].assert_eq(&file.0);
}

#[test]
fn refusals_of_loops_are_as_recorded() {
    let gated = GatedLoop::start_in(project(TASK, ""));
    gated.wait_for("agent-started", 0);
    let mut file = Transcript::default();
    file.heading("while a loop works here");
    for args in [&["run", "--trust"][..], &["resume"], &["answer", "latest", "x"], &["accept"]] {
        file.run(&gated.terminal, args);
    }
    for args in [&["rollback", "latest", "0"][..], &["reset", "breaker"], &["diff", "latest", "7"]] {
        file.run(&gated.terminal, args);
    }
    kill_process(gated.pid(), Signal::STOP).unwrap();
    wait_until(|| gated.status()["keeper"]["stopped"] == true, || gated.status().to_string());
    file.heading("with a stopped keeper");
    for args in [&["status"][..], &["pause"], &["steer", "latest", "x"], &["stop"]] {
        file.run(&gated.terminal, args);
    }
    gated.terminal.run(&["stop", "--now"]).expect(0);
    assert_eq!(gated.watched_end(), 1);
    file.heading("after its end");
    for args in
        [&["stop"][..], &["pause"], &["resume"], &["steer", "latest", "x"], &["answer", "latest", "x"]]
    {
        file.run(&gated.terminal, args);
    }
    for args in
        [&["accept"][..], &["reset", "session"], &["rollback", "latest", "7"], &["log", "--output", "7"]]
    {
        file.run(&gated.terminal, args);
    }
    expect_file!["errors-loops.txt"].assert_eq(&file.0);
}
