//! Supervises one job from its start until its domain is empty.

use std::cell::Cell;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, set_child_subreaper, setsid, wait,
};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use super::execution_context::other_processes;
use loopkeeper_system::process::job_request::JobRequest;
use loopkeeper_system::process::tree::{self, KillReport, RemainingChildren};
use loopkeeper_system::process_table;
use loopkeeper_system::sandbox::LandlockRules;
use loopkeeper_system::warden_channel::{GRACE, NOW, WardenReport};

/// Processes that exit together with the main process do not count as survivors.
const SETTLE_TIME: Duration = Duration::from_millis(20);
/// A terminated main process terminates its children, which takes a while on a busy machine.
const TERMINATION_SETTLE_TIME: Duration = Duration::from_millis(250);

/// The strongest stop that the keeper or a signal requested so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RequestedStop {
    Nothing,
    Grace,
    Now,
}

/// Signal handling of this process.
pub(super) struct WardenSignals {
    /// One byte for each signal that arrived.
    wakes: UnixStream,
    /// Set when another process asked the warden to end.
    end: Arc<AtomicBool>,
}

impl WardenSignals {
    /// Becomes session leader and subreaper of all later processes.
    pub(super) fn install() -> io::Result<Self> {
        // Fails only if it already leads a session.
        let _ = setsid();
        set_child_subreaper(Some(getpid()))?;
        let (wakes, wake) = UnixStream::pair()?;
        wakes.set_nonblocking(true)?;
        let end = Arc::new(AtomicBool::new(false));
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&end))?;
            signal_hook::low_level::pipe::register(signal, wake.try_clone()?)?;
        }
        signal_hook::low_level::pipe::register(SIGCHLD, wake)?;
        Ok(Self { wakes, end })
    }

    /// Whether another process asked the warden to end.
    pub(super) fn is_end_requested(&self) -> bool {
        self.end.load(Ordering::Relaxed)
    }

    /// Waits until the channel is readable; false if a signal requests the end.
    pub(super) fn quiet_until(&self, channel: BorrowedFd<'_>) -> bool {
        loop {
            if self.is_end_requested() {
                return false;
            }
            let mut fds = [self.wake_fd(), PollFd::from_borrowed_fd(channel, PollFlags::IN)];
            let _ = poll(&mut fds, None);
            let [_, message] = fds;
            if !message.revents().is_empty() {
                return true;
            }
            self.drain();
        }
    }

    fn wake_fd(&self) -> PollFd<'_> {
        PollFd::new(&self.wakes, PollFlags::IN)
    }

    pub(super) fn pause(&self, time: Duration) {
        let _ = poll(&mut [self.wake_fd()], Some(&timespec(time)));
        self.drain();
    }

    fn drain(&self) {
        let mut bytes = [0; 64];
        while rustix::io::read(&self.wakes, &mut bytes).is_ok_and(|read| read == bytes.len()) {}
    }
}

/// What a job starts with.
pub(super) struct JobStart<'a> {
    pub(super) request: &'a JobRequest,
    pub(super) rules: &'a LandlockRules,
    /// Absent: the warden's own.
    pub(super) outputs: Option<[OwnedFd; 2]>,
}

pub(super) struct JobReaper<'a> {
    main: Pid,
    /// How the main process ended: exit code or signal.
    ended: Cell<Option<(Option<i32>, Option<i32>)>>,
    requested: RequestedStop,
    signals: &'a WardenSignals,
    /// The keeper's channel for requests.
    control: BorrowedFd<'a>,
}

impl<'a> JobReaper<'a> {
    /// Starts the main process.
    pub(super) fn start(
        JobStart { request, rules, outputs }: JobStart<'_>,
        signals: &'a WardenSignals,
        control: BorrowedFd<'a>,
    ) -> io::Result<Self> {
        let stdin = match &request.stdin {
            Some(path) => Stdio::from(std::fs::File::open(path)?),
            None => Stdio::null(),
        };
        // Set here and not in the child, so that the fast spawn path is available.
        std::env::set_current_dir(&request.cwd)?;
        let mut command = Command::new(&request.program);
        command.args(&request.args).stdin(stdin);
        command.env_clear().envs(request.env.iter().map(|(name, value)| (name, value)));
        if let Some([out, err]) = outputs {
            command.stdout(out).stderr(err);
        }
        // A separate group, so that it can be killed with one signal without the warden.
        let child = rules.start(move || command.process_group(0).spawn())?;
        let main = Pid::from_child(&child);
        Ok(Self { main, ended: Cell::new(None), requested: RequestedStop::Nothing, signals, control })
    }

    pub(super) fn main(&self) -> i32 {
        self.main.as_raw_pid()
    }

    /// Waits for the main process, follows its requests, and ends all remaining processes. The CPU time is the total of this
    /// warden's jobs.
    pub(super) fn supervise(mut self, grace: Duration) -> WardenReport {
        let mut deadline = None;
        while self.ended.get().is_none() && self.requested < RequestedStop::Now {
            let before = self.requested;
            self.wait_event(deadline);
            self.reap();
            if before < RequestedStop::Grace
                && self.requested == RequestedStop::Grace
                && self.ended.get().is_none()
            {
                deadline = Some(Instant::now() + grace);
                // A stopped process would not handle TERM.
                let _ = kill_process(self.main, Signal::TERM);
                let _ = kill_process(self.main, Signal::CONT);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                self.requested = RequestedStop::Now;
            }
        }
        // Processes ended together with the main process did not outlive it.
        let outlived = self.ended.get().is_some() && self.wait_exiting();
        let killed = self.end_all();
        let (exit, signal) = self.ended.get().unwrap_or((None, Some(Signal::KILL.as_raw())));
        WardenReport {
            exit,
            signal,
            not_started: None,
            survivors: if outlived { killed.names(self.main.as_raw_pid()) } else { Vec::new() },
            unkillable: killed.unkillable,
            cpu_ms: process_table::find_process(getpid().as_raw_pid()).map_or(0, |own| own.cpu_ms),
            again: false,
        }
    }

    /// Waits for a request, a signal, or the deadline.
    fn wait_event(&mut self, deadline: Option<Instant>) {
        let mut fds = [self.signals.wake_fd(), PollFd::from_borrowed_fd(self.control, PollFlags::IN)];
        let left = deadline.map(|deadline| timespec(deadline.saturating_duration_since(Instant::now())));
        // The result is ignored because all conditions are checked again.
        let _ = poll(&mut fds, left.as_ref());
        let [_, request] = fds;
        if !request.revents().is_empty() {
            let mut bytes = [0; 16];
            let requested = match rustix::io::read(self.control, &mut bytes) {
                Ok(0) | Err(_) => RequestedStop::Now,
                Ok(_) if bytes.contains(&NOW) => RequestedStop::Now,
                Ok(_) if bytes.contains(&GRACE) => RequestedStop::Grace,
                Ok(_) => RequestedStop::Nothing,
            };
            self.requested = self.requested.max(requested);
        }
        if self.signals.is_end_requested() {
            self.requested = self.requested.max(RequestedStop::Grace);
        }
        self.signals.drain();
    }

    /// Reaps every child that has ended, including adopted ones.
    fn reap(&self) -> RemainingChildren {
        reap_children(|pid, status| {
            if pid == self.main {
                self.ended.set(Some((status.exit_status(), status.terminating_signal())));
            }
        })
    }

    /// Waits briefly for exiting processes. True if a process remains.
    fn wait_exiting(&self) -> bool {
        let time =
            if self.requested == RequestedStop::Nothing { SETTLE_TIME } else { TERMINATION_SETTLE_TIME };
        let until = Instant::now() + time;
        while self.reap() == RemainingChildren::Some {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            self.signals.pause(left);
        }
        false
    }

    fn end_all(&self) -> KillReport {
        let reap = |time| {
            self.signals.pause(time);
            self.reap()
        };
        tree::end_children(other_processes, |_| false, reap)
    }
}

/// Reaps every child of this process that has ended, including adopted ones.
pub(super) fn reap_children(mut each: impl FnMut(Pid, WaitStatus)) -> RemainingChildren {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => each(pid, status),
            Err(rustix::io::Errno::INTR) => {}
            Ok(None) => return RemainingChildren::Some,
            Err(_) => return RemainingChildren::None,
        }
    }
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) }
}
