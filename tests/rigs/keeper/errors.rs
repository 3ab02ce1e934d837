//! One system call of the keeper at a time is its last, or fails: the same real program, each point in turn.

use std::collections::BTreeMap;
use std::process::Stdio;

use super::oracle::{Evidence, Far};
use super::world::{Kind, Lines, World, output};
use crate::cli::Ran;
use crate::rigs::store::random;
use crate::rigs::strace::{self, Fault, Whom};
use crate::rigs::{times, unavailable};

/// A kind of call, what becomes of it, and in the short form every how many-th.
struct Points {
    call: &'static str,
    what: &'static str,
    whom: Whom,
    step: usize,
}

impl Points {
    const fn kill(call: &'static str, step: usize) -> Self {
        Self { call, what: "signal=KILL", whom: Whom::FirstThread, step }
    }

    const fn fail(call: &'static str, what: &'static str, step: usize) -> Self {
        Self { call, what, whom: Whom::FirstThread, step }
    }

    /// Hits one call after the other until there is none left; how many were hit.
    fn hit_all(&self) -> usize {
        // Most files are opened to be read.
        let step = times(self.step, if self.call == "openat" { 10 } else { 1 });
        let first = 1 + random(step as u64) as usize;
        let mut points = (first..).step_by(step);
        points.position(|at| !self.hit(at)).unwrap_or_default()
    }

    /// Whether there was such a call. Whatever came of it: nothing is lost, and the loop comes to its end.
    fn hit(&self, at: usize) -> bool {
        let when = format!("{} at {} {at}", self.what, self.call);
        let world = World::of(&Kind { lines: 2, sandbox: "auto" });
        let log = world.outside("strace");
        let fault = Fault { call: self.call, what: self.what, at: at.to_string() };
        let mut traced = strace::in_place(&world.run_command(), &fault, self.whom, &log);
        let piped = traced.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let ran = Ran::of(&output(piped.spawn().unwrap()));
        let disk_failed = self.what != "signal=KILL";
        let mut evidence = Evidence { printed: ran.stdout_lines(), disk_failed, ..Evidence::default() };
        world.testify(&mut evidence);
        evidence.assert_sound(Far::Killed, &format!("{when}: {ran:?}"));
        world.to_the_end();
        world.testify(&mut evidence);
        evidence.assert_sound(Far::Ended, &format!("after {when}"));
        world.assert_nobody(&when);
        // Whom strace kills, it follows.
        ran.code.is_none() || strace::has_failed_a_call(&log)
    }
}

/// The control: every kind of call was hit at all.
fn hit_all(points: &[Points]) {
    let hits: BTreeMap<_, _> = points.iter().map(|it| ((it.call, it.what), it.hit_all())).collect();
    assert!(hits.values().all(|it| *it > 0), "{hits:?}");
}

#[test]
fn strace_kills_the_keeper_at_every_call() {
    if let Some(why) = strace::missing() {
        return unavailable("kill at every system call of a keeper", &why);
    }
    hit_all(&[
        Points::kill("write", 5),
        Points::kill("fdatasync", 2),
        Points::kill("fsync", 4),
        Points::kill("openat", 150),
        Points::kill("clone3", 2),
        Points::kill("unlink", 4),
        Points { whom: Whom::Everybody, ..Points::kill("rename", 2) },
    ]);
}

#[test]
fn strace_fails_calls_of_the_keeper() {
    if let Some(why) = strace::missing() {
        return unavailable("failing system calls of a keeper", &why);
    }
    hit_all(&[
        Points::fail("write", "error=ENOSPC", 10),
        Points::fail("write", "error=EIO", 12),
        Points::fail("fdatasync", "error=EIO", 4),
        Points::fail("fdatasync", "error=ENOSPC", 5),
    ]);
}
