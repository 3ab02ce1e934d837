//! The warden: parent of one agent or check, a process of its own that leaves nobody behind.
//!
//! `loopkeeper domain [--stdin FILE] --grace-ms N -- ARGV…`. Its stdin is the channel to the keeper: orders come
//! in, the report goes out, and its end (the keeper is gone, however it went) means end everything now.
//! It must stay small: no async, no threads, no settings, nothing read from the workspace.

mod order;

use std::cell::Cell;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::mount::{MountFlags, mount};
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, setsid, wait};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use self::order::Order;
use crate::adapters::process::report::{GRACE, NOW, Report};
use crate::adapters::process::table::{self, Process};
use crate::adapters::process::tree::{self, Children, Swept};

pub use crate::adapters::process::report::WORD;

/// Those that are just about to exit with the main process are no survivors.
const SETTLE: Duration = Duration::from_millis(20);
/// A main process that was asked to end takes the others along, on a busy machine not at once.
const SETTLE_ASKED: Duration = Duration::from_millis(250);

/// Runs one warden to its end. `args` come after the subcommand's name.
pub fn main(args: impl Iterator<Item = std::ffi::OsString>) -> ExitCode {
    let Some(Order { own_proc, run }) = Order::read(args) else { return ExitCode::from(2) };
    let prepared = if own_proc { mount_proc() } else { Ok(()) };
    let Some(run) = run else { return probe(prepared) };
    let report = match prepared.and_then(|()| Warden::start(&run)) {
        Ok(warden) => warden.watch(run.grace),
        Err(error) => Report { not_started: Some(error.to_string()), exit: Some(127), ..Report::default() },
    };
    tell(&report);
    let code = report.exit.or(report.signal.map(|signal| 128 + signal)).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

/// Succeeds where a warden can do its work as the first process of a namespace.
fn probe(prepared: io::Result<()>) -> ExitCode {
    if let Err(error) = prepared {
        let _ = writeln!(io::stderr(), "{error}");
        return ExitCode::FAILURE;
    }
    if is_init() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Shows the namespace's processes instead of the system's. Only where bubblewrap has made the mounts private.
fn mount_proc() -> io::Result<()> {
    if !is_init() {
        return Err(io::Error::other("not the first process of a namespace"));
    }
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", flags, None)
        .map_err(|error| io::Error::other(format!("could not mount /proc: {error}")))
}

/// The first process of a PID namespace of its own: when it ends, the kernel ends everything else in it.
fn is_init() -> bool {
    getpid().is_init()
}

/// A keeper that is gone cannot be told; everything has ended all the same.
fn tell(report: &Report) {
    if let Ok(mut line) = serde_json::to_vec(report) {
        line.push(b'\n');
        let _ = rustix::io::write(io::stdin(), &line);
    }
}

/// What the keeper, or a signal, asked for so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Asked {
    Nothing,
    Grace,
    Now,
}

struct Warden {
    main: Pid,
    /// How the main process ended: exit code or signal.
    ended: Cell<Option<(Option<i32>, Option<i32>)>>,
    asked: Asked,
    /// One byte for each signal that arrived.
    wakes: UnixStream,
    /// Somebody other than the keeper wants the warden to end.
    signalled: Arc<AtomicBool>,
}

impl Warden {
    /// Takes its place above everything to come, then starts the main process.
    fn start(order: &order::Run) -> io::Result<Self> {
        // Fails only where it leads a session already.
        let _ = setsid();
        set_child_subreaper(Some(getpid()))?;
        let (wakes, wake) = UnixStream::pair()?;
        wakes.set_nonblocking(true)?;
        let signalled = Arc::new(AtomicBool::new(false));
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&signalled))?;
            signal_hook::low_level::pipe::register(signal, wake.try_clone()?)?;
        }
        signal_hook::low_level::pipe::register(SIGCHLD, wake)?;
        let stdin = match &order.stdin {
            Some(path) => Stdio::from(std::fs::File::open(path)?),
            None => Stdio::null(),
        };
        // A group of its own, so that it can be ended in one stroke without the warden.
        let child = Command::new(&order.program).args(&order.args).stdin(stdin).process_group(0).spawn()?;
        Ok(Self {
            main: Pid::from_child(&child),
            ended: Cell::new(None),
            asked: Asked::Nothing,
            wakes,
            signalled,
        })
    }

    /// Waits for the main process, doing as it is told, and ends whoever is left.
    fn watch(mut self, grace: Duration) -> Report {
        let mut deadline = None;
        while self.ended.get().is_none() && self.asked < Asked::Now {
            let before = self.asked;
            self.listen(deadline);
            self.reap();
            if before < Asked::Grace && self.asked == Asked::Grace && self.ended.get().is_none() {
                deadline = Some(Instant::now() + grace);
                // A stopped process would not notice that it should end.
                let _ = kill_process(self.main, Signal::TERM);
                let _ = kill_process(self.main, Signal::CONT);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                self.asked = Asked::Now;
            }
        }
        // Whoever is ended together with the main process did not outlive it.
        let outlived = self.ended.get().is_some() && self.settle();
        let swept = self.end_all();
        let (exit, signal) = self.ended.get().unwrap_or((None, Some(Signal::KILL.as_raw())));
        Report {
            exit,
            signal,
            not_started: None,
            survivors: if outlived { swept.names(self.main.as_raw_pid()) } else { Vec::new() },
            left: swept.left,
            cpu_ms: table::one(getpid().as_raw_pid()).map_or(0, |own| own.cpu_ms),
        }
    }

    /// Waits until something happens: an order, a signal, or the deadline.
    fn listen(&mut self, deadline: Option<Instant>) {
        let control = io::stdin();
        let mut fds = [PollFd::new(&self.wakes, PollFlags::IN), PollFd::new(&control, PollFlags::IN)];
        let left = deadline.map(|deadline| timespec(deadline.saturating_duration_since(Instant::now())));
        // Interrupted or not, everything is looked at anew.
        let _ = poll(&mut fds, left.as_ref());
        let [_, order] = fds;
        if !order.revents().is_empty() {
            let mut bytes = [0; 16];
            let said = match rustix::io::read(&control, &mut bytes) {
                Ok(0) | Err(_) => Asked::Now,
                Ok(_) if bytes.contains(&NOW) => Asked::Now,
                Ok(_) if bytes.contains(&GRACE) => Asked::Grace,
                Ok(_) => Asked::Nothing,
            };
            self.asked = self.asked.max(said);
        }
        if self.signalled.load(Ordering::Relaxed) {
            self.asked = self.asked.max(Asked::Grace);
        }
        self.forget_wakes();
    }

    /// Takes in every child that has ended, adopted ones too.
    fn reap(&self) -> Children {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.main => {
                    self.ended.set(Some((status.exit_status(), status.terminating_signal())));
                }
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return Children::Left,
                Err(_) => return Children::None,
            }
        }
    }

    /// Gives those that are exiting a moment. True when somebody stays.
    fn settle(&self) -> bool {
        let time = if self.asked == Asked::Nothing { SETTLE } else { SETTLE_ASKED };
        let until = Instant::now() + time;
        while self.reap() == Children::Left {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            self.pause(left);
        }
        false
    }

    fn end_all(&self) -> Swept {
        let reap = |time| {
            self.pause(time);
            self.reap()
        };
        tree::end_children(others, |_| false, reap)
    }

    fn pause(&self, time: Duration) {
        let _ = poll(&mut [PollFd::new(&self.wakes, PollFlags::IN)], Some(&timespec(time)));
        self.forget_wakes();
    }

    fn forget_wakes(&self) {
        let mut bytes = [0; 64];
        while rustix::io::read(&self.wakes, &mut bytes).is_ok_and(|read| read == bytes.len()) {}
    }
}

/// Everybody in the domain but the warden.
fn others() -> Vec<Process> {
    let own = getpid().as_raw_pid();
    let mut all = table::all();
    if !is_init() {
        return table::below(own, all);
    }
    // Those who entered the namespace from outside have no parent in it.
    all.retain(|process| process.running && process.pid != own);
    all
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) }
}
