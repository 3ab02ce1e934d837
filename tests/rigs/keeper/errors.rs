//! One system call of the keeper at a time kills it or fails: the same real program, each point in turn.

use std::collections::BTreeMap;
use std::process::{Child, Stdio};

use super::oracle::{Evidence, LoopProgress};
use super::world::{Kind, Lines, World, keeper_pid, output};
use crate::cli::Ran;
use crate::rigs::store::random;
use crate::rigs::strace::{self, Fault, FaultScope};
use crate::rigs::{times, unavailable};

/// A kind of call, its fault, and in the short form the step between tested calls.
struct Points {
    call: &'static str,
    what: &'static str,
    scope: FaultScope,
    step: usize,
}

impl Points {
    const fn kill(call: &'static str, step: usize) -> Self {
        Self { call, what: "signal=KILL", scope: FaultScope::FirstThread, step }
    }

    const fn fail(call: &'static str, what: &'static str, step: usize) -> Self {
        Self { call, what, scope: FaultScope::FirstThread, step }
    }

    /// The allowed reason of the loop's end if the call failed. A loop whose tree cannot be stored reports that.
    fn excuse(&self) -> Option<&'static str> {
        match (self.call, self.what) {
            (_, "error=ENOSPC") => Some("the disk is full"),
            ("fdatasync", "error=EIO") => Some("the workspace cannot be snapshotted: Cannot sync "),
            _ => None,
        }
    }

    /// Hits one call after the other until there is none left; returns how many were hit.
    fn hit_all(&self) -> usize {
        // Most files are opened for reading.
        let step = times(self.step, if self.call == "openat" { 10 } else { 1 });
        let first = 1 + random(step as u64) as usize;
        let mut points = (first..).step_by(step);
        points.position(|at| !self.hit(at)).unwrap_or_default()
    }

    /// Whether there was such a call. Whatever its effect, nothing is lost, and the loop ends.
    fn hit(&self, at: usize) -> bool {
        let when = format!("{} at {} {at}", self.what, self.call);
        let world = World::of(&Kind { lines: 2, sandbox: "auto" });
        let log = world.outside("strace");
        let fault = Fault { call: self.call, what: self.what, at: at.to_string() };
        let mut traced = strace::in_place(&world.run_command(), &fault, self.scope, &[], &log);
        let piped = traced.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let ran = Ran::of(&output(piped.spawn().unwrap()));
        let failed = strace::has_failed_a_call(&log);
        let excuse = self.excuse().filter(|_| failed);
        let mut evidence = Evidence { printed: ran.stdout_lines(), excuse, ..Evidence::default() };
        world.collect_evidence(&mut evidence);
        evidence.assert_sound(LoopProgress::Killed, &format!("{when}: {ran:?}"));
        world.to_the_end();
        world.collect_evidence(&mut evidence);
        evidence.assert_sound(LoopProgress::Ended, &format!("after {when}"));
        world.assert_no_process(&when);
        // strace follows the process that it kills.
        ran.code.is_none() || failed
    }
}

/// Control: every kind of call was hit at all.
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
        Points { scope: FaultScope::AllProcesses, ..Points::kill("rename", 2) },
    ]);
}

#[test]
fn strace_fails_calls_of_the_keeper() {
    if let Some(why) = strace::missing() {
        return unavailable("failing system calls of a keeper", &why);
    }
    hit_all(&[
        Points::fail("fdatasync", "error=EIO", 4),
        Points::fail("fdatasync", "error=ENOSPC", 5),
        // Threads and processes that cannot be started.
        Points::fail("clone3", "error=EAGAIN", 1),
    ]);
}

/// A write of the journal fails under a keeper that took a loop over: the loop is paused or the keeper exits, and the
/// loop can always be completed.
#[test]
fn strace_fails_writes_of_the_journal() {
    if let Some(why) = strace::missing() {
        return unavailable("failing writes of a keeper's journal", &why);
    }
    for what in ["error=ENOSPC", "error=EIO"] {
        let step = times(2, 1);
        let mut points = (1 + random(step as u64) as usize..).step_by(step);
        let hits = points.position(|at| !hit_write(what, at));
        assert!(hits.is_some_and(|it| it > 0), "{what}");
    }
}

/// Whether there was such a write.
fn hit_write(what: &'static str, at: usize) -> bool {
    let when = format!("{what} at write {at}");
    let world = World::of(&Kind { lines: 2, sandbox: "auto" });
    interrupted(&world);
    let journal = world.journal();
    let paths = [journal.with_extension("reserve"), journal];
    let log = world.outside("strace");
    let fault = Fault { call: "write", what, at: at.to_string() };
    let mut traced = strace::in_place(&world.keeper_command(), &fault, FaultScope::FirstThread, &paths, &log);
    let quiet = traced.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = quiet.spawn().unwrap();
    let mut evidence = Evidence { excuse: Some("the disk is full"), ..Evidence::default() };
    // One resume suffices, because only one write fails. It is refused if the final verdict ended the loop since.
    if at_rest(&world, &mut child) != "ended" {
        world.terminal.run(&["resume"]);
    }
    world.until("ended", |it| (it.phase() == "ended").then_some(()));
    child.wait().unwrap();
    world.collect_evidence(&mut evidence);
    evidence.assert_sound(LoopProgress::Ended, &when);
    world.assert_no_process(&when);
    strace::has_failed_a_call(&log)
}

/// A loop whose first keeper was killed while running.
fn interrupted(world: &World) {
    world.hold_agents();
    world.terminal.run(&["run", "--trust", "--detach"]).expect(0);
    world.until("at work", |it| it.ledger().contains("start").then_some(()));
    let pid = world.loop_folder().and_then(|it| keeper_pid(&it)).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    world.assert_no_process("after the kill");
    world.release_agents();
}

/// The phase in which the loop waits for its user or has ended.
fn at_rest(world: &World, keeper: &mut Child) -> String {
    world.until("at rest", |it| {
        let gone = keeper.try_wait().unwrap().is_some();
        let phase = it.phase();
        (phase == "paused" || phase == "ended" || (phase == "interrupted" && gone)).then_some(phase)
    })
}
