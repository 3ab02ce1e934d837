//! Kills of keepers, of wardens and of both at once at random moments: in the foreground, detached, and during a
//! takeover, with and without a PID namespace.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

use loopkeeper_system::warden_channel;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde_json::{Value, json};

use super::oracle::{Evidence, LoopProgress};
use super::world::{Kind, Lines, World, output};
use crate::cli::Ran;
use crate::kill_domain::rig::{LiveProcess, alive};
use crate::rigs::store::random;
use crate::rigs::times;

/// A whole undisturbed loop takes about this long.
const SPAN_US: u64 = 250_000;

/// What a kill hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KillTarget {
    Keeper,
    /// The keeper and all of its wardens, before one of them can react.
    KeeperAndWardens,
    /// Their guards as well, which would end what is left.
    KeeperWardensAndGuards,
}

/// One loop, killed repeatedly until it has ended or was killed often enough.
struct KilledLoop {
    target: KillTarget,
    world: World,
    evidence: Evidence,
    kills: usize,
    steers: usize,
}

impl KilledLoop {
    fn new(target: KillTarget, sandbox: &'static str) -> Self {
        Self {
            target,
            world: World::of(&Kind { lines: 4, sandbox }),
            evidence: Evidence::default(),
            kills: 0,
            steers: 0,
        }
    }

    /// The number of kills that hit a living keeper, and a warden where wardens are to be hit.
    fn run(mut self, number: usize) -> usize {
        if number.is_multiple_of(3) {
            self.start_detached();
        } else {
            self.start_in_foreground();
        }
        while self.kills < 10 && self.check_state(LoopProgress::Killed) {
            if random(2) == 0 { self.resume_detached() } else { self.resume_as_child() }
        }
        if self.world.phase() != "ended" {
            self.world.resume_to_the_end();
        }
        self.check_state(LoopProgress::Ended);
        self.world.assert_no_process("after the end");
        self.kills
    }

    /// Checks the state after a kill; returns whether the loop can be continued.
    fn check_state(&mut self, progress: LoopProgress) -> bool {
        if random(2) == 0 {
            self.world.assert_no_process("after a kill");
        }
        self.world.collect_evidence(&mut self.evidence);
        self.evidence.assert_sound(progress, &format!("after {} kills", self.kills));
        // A child that was just being started may hold the dead keeper's lock briefly.
        let phase = self.world.until("without a keeper", |it| {
            Some(it.phase()).filter(|it| ["interrupted", "ended", ""].contains(&it.as_str()))
        });
        if phase.is_empty() {
            // Killed before its first record: there is no loop, and another one can be started.
            self.start_in_foreground();
            return self.check_state(progress);
        }
        phase == "interrupted"
    }

    fn start_in_foreground(&mut self) {
        let mut command = self.world.run_command();
        let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random(SPAN_US)));
        self.kill(Pid::from_child(&child));
        self.evidence.printed = Ran::of(&output(child)).stdout_lines();
    }

    fn start_detached(&mut self) {
        let ran = self.world.terminal.run(&["run", "--trust", "--json", "--detach"]);
        let started: Value = serde_json::from_str(&ran.expect(0).stdout).unwrap();
        self.steer_and_kill(&started["pid"]);
    }

    fn resume_detached(&mut self) {
        self.world.terminal.run(&["resume"]).expect(0);
        let status = self.world.status().unwrap();
        assert!(status["keeper"]["alive"] == true || status["phase"] == "ended", "{status}");
        self.steer_and_kill(&status["keeper"]["pid"]);
    }

    fn steer_and_kill(&mut self, pid: &Value) {
        // A loop that has already ended has no keeper.
        let Some(pid) = pid.as_i64().and_then(|it| Pid::from_raw(it as i32)) else { return };
        std::thread::sleep(Duration::from_micros(random(SPAN_US / 2)));
        self.steer();
        std::thread::sleep(Duration::from_micros(random(SPAN_US / 4)));
        self.kill(pid);
    }

    /// Mostly hits the time before the agent runs again.
    fn resume_as_child(&mut self) {
        let mut command = self.world.keeper_command();
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random(SPAN_US / 3)));
        self.kill(Pid::from_child(&child));
        child.wait().unwrap();
    }

    /// Sends the keeper a text; an acknowledged text must not be lost.
    fn steer(&mut self) {
        self.steers += 1;
        let text = format!("advice {}", self.steers);
        if self.ask(&text).is_some() {
            self.evidence.steered.push(text);
        }
    }

    fn ask(&self, text: &str) -> Option<()> {
        let folder = self.world.loop_folder()?;
        let name = format!("{}.sock", folder.file_name()?.to_str()?);
        let stream = UnixStream::connect(self.world.terminal.state().join("run").join(name)).ok()?;
        let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
        lines.next()?.ok()?;
        let order = json!({"id": text, "do": "steer", "text": text});
        (&stream).write_all(format!("{order}\n").as_bytes()).ok()?;
        let answer: Value = serde_json::from_str(&lines.next()?.ok()?).ok()?;
        (answer["ok"] == true).then_some(())
    }

    /// Kills it, and what else is to be hit, and waits until it is gone.
    fn kill(&mut self, pid: Pid) {
        let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        let is_gone = |seconds| {
            let time = Timespec { tv_sec: seconds, tv_nsec: 0 };
            poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&time)).unwrap() > 0
        };
        if !is_gone(0) {
            if self.target == KillTarget::Keeper {
                self.kills += 1;
            } else {
                // A stopped keeper does not notice the end of a warden.
                let _ = pidfd_send_signal(&handle, Signal::STOP);
                let wardens = wardens(&self.world, self.target == KillTarget::KeeperWardensAndGuards);
                kill_together(&wardens);
                self.kills += usize::from(!wardens.is_empty());
            }
            let _ = pidfd_send_signal(&handle, Signal::KILL);
            assert!(is_gone(20), "{pid:?} survives a kill");
        }
    }
}

/// With a PID namespace where that works.
const NAMESPACE: &str = "auto";
const NO_NAMESPACE: &str = "off";

/// The wardens of the loop, with or without their guards.
fn wardens(world: &World, with_guards: bool) -> Vec<LiveProcess> {
    let Some(folder) = world.loop_folder() else { return Vec::new() };
    let mark = format!(" {} {}", warden_channel::LOOP, folder.file_name().unwrap().to_str().unwrap());
    let all = alive(&mark).into_iter();
    all.filter(|it| with_guards || !it.arguments.contains(warden_channel::GUARD)).collect()
}

/// All stop first: a guard ends what a killed warden leaves.
fn kill_together(processes: &[LiveProcess]) {
    processes.iter().for_each(LiveProcess::stop);
    processes.iter().for_each(LiveProcess::kill);
}

/// Kills the wardens of one undisturbed keeper again and again; returns how often one was hit.
fn kill_wardens_of_one_loop(sandbox: &'static str) -> usize {
    let world = World::of(&Kind { lines: 4, sandbox });
    let mut evidence = Evidence::default();
    let mut command = world.run_command();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut kills = 0;
    while kills < 2 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_micros(random(SPAN_US / 2)));
        let wardens = wardens(&world, false);
        wardens.iter().for_each(LiveProcess::kill);
        kills += usize::from(!wardens.is_empty());
        world.collect_evidence(&mut evidence);
        evidence.assert_sound(LoopProgress::Killed, &format!("after {kills} kills of wardens"));
    }
    evidence.printed = Ran::of(&output(child)).stdout_lines();
    world.collect_evidence(&mut evidence);
    evidence.assert_sound(LoopProgress::Ended, "after kills of wardens");
    world.assert_no_process("after the end");
    kills
}

/// Repeats a round, which returns its number of kills, until there are enough. Prints the progress, because the full
/// length takes longer than anyone waits for a silent test.
fn repeat(what: &str, kills: usize, round: impl Fn(usize) -> usize) {
    let (begin, mut done, mut printed) = (Instant::now(), 0, 0);
    for number in 0.. {
        done += round(number);
        if done - printed >= kills.div_ceil(10) || done >= kills {
            printed = done;
            let seconds = begin.elapsed().as_secs();
            // Not `eprintln`, which the test harness captures.
            let _ = writeln!(std::io::stderr(), "{what}: {done} of {kills} kills in {seconds} s");
        }
        if done >= kills {
            return;
        }
    }
}

fn kill_wardens(sandbox: &'static str) {
    repeat(&format!("wardens, sandbox {sandbox}"), times(15, 1_000), |_| kill_wardens_of_one_loop(sandbox));
}

fn kill_keepers_and_wardens(sandbox: &'static str) {
    let what = format!("keepers and wardens, sandbox {sandbox}");
    let round = |number| KilledLoop::new(KillTarget::KeeperAndWardens, sandbox).run(number);
    repeat(&what, times(15, 1_000), round);
}

fn kill_keepers(sandbox: &'static str) {
    let round = |number| KilledLoop::new(KillTarget::Keeper, sandbox).run(number);
    repeat(&format!("keepers, sandbox {sandbox}"), times(50, 1_000), round);
}

#[test]
fn rig_kills_of_wardens_lose_nothing_and_leave_no_process() {
    kill_wardens(NAMESPACE);
}

#[test]
fn rig_kills_of_wardens_without_a_namespace_lose_nothing_and_leave_no_process() {
    kill_wardens(NO_NAMESPACE);
}

#[test]
fn rig_kills_of_keeper_and_wardens_lose_nothing_and_leave_no_process() {
    kill_keepers_and_wardens(NAMESPACE);
}

#[test]
fn rig_kills_of_keeper_and_wardens_without_a_namespace_lose_nothing_and_leave_no_process() {
    kill_keepers_and_wardens(NO_NAMESPACE);
}

#[test]
fn rig_kills_of_the_keeper_lose_nothing_and_start_nothing_twice() {
    kill_keepers(NAMESPACE);
}

#[test]
fn rig_kills_of_the_keeper_without_a_namespace_lose_nothing_and_start_nothing_twice() {
    kill_keepers(NO_NAMESPACE);
}

/// Control: without a namespace and without the guard, processes of the agent are still alive. One that left its
/// session and cleared its environment carries no mark by which the next keeper could find it.
#[test]
fn control_without_the_guard_survivors_are_found() {
    let mut killed_loop = KilledLoop::new(KillTarget::KeeperWardensAndGuards, NO_NAMESPACE);
    killed_loop.world.hold_agents();
    let mut child =
        killed_loop.world.run_command().stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    killed_loop.world.until("at work", |it| it.ledger().contains("start").then_some(()));
    killed_loop.kill(Pid::from_child(&child));
    child.wait().unwrap();
    assert!(!killed_loop.world.survivors().is_empty());
    killed_loop.world.end_strays();
}
