//! Kills of the keeper at random moments: in the foreground, detached, and during a takeover.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde_json::{Value, json};

use super::oracle::{Evidence, Far};
use super::world::{Kind, Lines, World, output};
use crate::cli::Ran;
use crate::rigs::store::random;
use crate::rigs::times;

/// A whole undisturbed loop takes about this long.
const SPAN_US: u64 = 250_000;

/// One loop, killed repeatedly until it has ended or was killed often enough.
struct Torment {
    world: World,
    evidence: Evidence,
    kills: usize,
    steers: usize,
}

impl Torment {
    fn new(number: usize) -> Self {
        let sandbox = if number.is_multiple_of(2) { "auto" } else { "off" };
        Self {
            world: World::of(&Kind { lines: 4, sandbox }),
            evidence: Evidence::default(),
            kills: 0,
            steers: 0,
        }
    }

    /// The number of kills that hit a living keeper.
    fn run(mut self, number: usize) -> usize {
        if number.is_multiple_of(3) {
            self.start_detached();
        } else {
            self.start_in_foreground();
        }
        while self.kills < 10 && self.look(Far::Killed) {
            if random(2) == 0 { self.resume_detached() } else { self.resume_as_child() }
        }
        if self.world.phase() != "ended" {
            self.world.resume_to_the_end();
        }
        self.look(Far::Ended);
        self.world.assert_nobody("after the end");
        self.kills
    }

    /// Checks the state after a kill; returns whether the loop can be continued.
    fn look(&mut self, far: Far) -> bool {
        if random(2) == 0 {
            self.world.assert_nobody("after a kill");
        }
        self.world.testify(&mut self.evidence);
        self.evidence.assert_sound(far, &format!("after {} kills", self.kills));
        // A child that was just being started may hold the dead keeper's lock briefly.
        let phase = self.world.until("without a keeper", |it| {
            Some(it.phase()).filter(|it| ["interrupted", "ended", ""].contains(&it.as_str()))
        });
        if phase.is_empty() {
            // Killed before its first record: there is no loop, and another one can be started.
            self.start_in_foreground();
            return self.look(far);
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
        self.torment(&started["pid"]);
    }

    fn resume_detached(&mut self) {
        self.world.terminal.run(&["resume"]).expect(0);
        let status = self.world.status().unwrap();
        assert!(status["keeper"]["alive"] == true || status["phase"] == "ended", "{status}");
        self.torment(&status["keeper"]["pid"]);
    }

    fn torment(&mut self, pid: &Value) {
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

    /// Kills it and waits until it is gone.
    fn kill(&mut self, pid: Pid) {
        let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        let is_gone = |seconds| {
            let time = Timespec { tv_sec: seconds, tv_nsec: 0 };
            poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&time)).unwrap() > 0
        };
        if !is_gone(0) {
            self.kills += 1;
            let _ = pidfd_send_signal(&handle, Signal::KILL);
            assert!(is_gone(20), "{pid:?} survives a kill");
        }
    }
}

#[test]
fn rig_kills_of_the_keeper_lose_nothing_and_start_nothing_twice() {
    let mut kills = 0;
    for number in 0.. {
        kills += Torment::new(number).run(number);
        if kills >= times(100, 1_000) {
            return;
        }
    }
}
