//! The agent's process and its termination: no process of it may outlive the bridge if that can be prevented.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::{self, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use rustix::io::retry_on_intr;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use serde_json::Value;

/// Time to exit after stdin is closed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);
/// Between TERM and KILL.
const GRACE: Duration = Duration::from_secs(1);

pub(super) struct AgentChild {
    process: process::Child,
    pid: Pid,
    /// Disconnected when the process has exited.
    end: Receiver<()>,
    input: Option<ChildStdin>,
}

impl AgentChild {
    /// Starts the agent without the environment variable `ours`.
    pub(super) fn start(
        program: &OsString,
        args: impl Iterator<Item = OsString>,
        ours: &str,
    ) -> io::Result<(Self, ChildStdout)> {
        let mut process = Command::new(program)
            .args(args)
            .env_remove(ours)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = process.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let input = process.stdin.take();
        let pid = Pid::from_child(&process);
        let (alive, end) = mpsc::channel();
        thread::spawn(move || {
            // Without reaping: the process id must not be reused before we know of the exit.
            let how = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            let _ = retry_on_intr(|| waitid(WaitId::Pid(pid), how));
            drop(alive);
        });
        Ok((Self { process, pid, end, input }, output))
    }

    pub(super) fn send_message(&mut self, message: &Value) -> io::Result<()> {
        let input = self.input.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        writeln!(input, "{message}")?;
        input.flush()
    }

    /// Whether its exit code does not explain the end: it succeeded, or it is still running.
    pub(super) fn ended_well(&mut self) -> bool {
        self.wait_timeout(GRACE).is_none_or(|it| it.success())
    }

    /// Its exit code, if it exited without being killed.
    pub(super) fn end(mut self) -> Option<i32> {
        drop(self.input.take());
        if let Some(status) = self.wait_timeout(EXIT_TIMEOUT) {
            return status.code();
        }
        let _ = kill_process(self.pid, Signal::TERM);
        if self.wait_timeout(GRACE).is_none() {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
        None
    }

    fn wait_timeout(&mut self, time: Duration) -> Option<ExitStatus> {
        let _ = self.end.recv_timeout(time);
        self.process.try_wait().ok().flatten()
    }
}
