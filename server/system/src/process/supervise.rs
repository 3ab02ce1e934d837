//! Supervises a running process in a task: forwards its output to the reader and enforces its end.

use std::future::pending;
use std::os::fd::AsFd;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::process::Signal;
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::net::unix::pipe::Receiver;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, interval_at, sleep_until};

use super::warden::{FORCE_TIMEOUT, WardenHandle};
use super::{Stream, orphans, tree};
use crate::process_table;
use crate::sandbox::ReachedLimits;
use crate::warden_channel::{NOW, StartReport, WardenReport};

const CHUNK: usize = 64 * 1024;
/// Maximum number of chunks queued for the reader; beyond it the process blocks.
pub(super) const CHUNKS: usize = 8;
/// A pipe holds at most this: enough to read what was written before the end, yet a process that never stops
/// writing is not read forever.
const MAX_PIPE_BYTES: usize = 1024 * 1024;
/// Interval of the checks of a warden: a job that runs as its user can stop it, and its end would not be noticed.
const WARDEN_CHECK_INTERVAL: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) enum SupervisorMessage {
    Chunk(Stream, Vec<u8>),
    Ended(WardenReport, ReachedLimits),
}

pub(super) struct ProcessSupervisor {
    pub(super) warden: WardenHandle,
    pub(super) control: UnixStream,
    /// Output of the warden so far, except lines that were handled.
    pub(super) received: Vec<u8>,
    /// Receives the pid of the main process in this process's namespace.
    pub(super) main: Option<oneshot::Sender<Option<i32>>>,
    pub(super) out: Option<Receiver>,
    pub(super) err: Option<Receiver>,
    pub(super) messages: mpsc::Sender<SupervisorMessage>,
    /// Deadline after which the warden is forced to end.
    pub(super) force: watch::Receiver<Option<Instant>>,
}

/// How a warden ended its job.
enum WardenExit {
    /// Ready for another job.
    Idle(WardenReport),
    Ended(Option<ExitStatus>),
}

impl ProcessSupervisor {
    pub(super) async fn run(mut self) {
        let left = self.forward_output().await;
        for (stream, pipe) in [(Stream::Stdout, self.out.take()), (Stream::Stderr, self.err.take())] {
            self.drain(stream, pipe).await;
        }
        let reached = self.warden.take_reached_limits();
        let report = match left {
            WardenExit::Idle(report) => {
                self.warden.return_to_pool(&report);
                report
            }
            WardenExit::Ended(status) => {
                let report = self.finish_report(status);
                orphans::unregister(self.warden.pid);
                report
            }
        };
        let _ = self.messages.send(SupervisorMessage::Ended(report, reached)).await;
    }

    /// Forwards output until the warden exits. EOF on the pipes is not the end: an agent may close them early or leak
    /// them to a child.
    async fn forward_output(&mut self) -> WardenExit {
        // Never zeroed: most jobs print little, and untouched memory costs nothing.
        let (mut out, mut err) = (Vec::with_capacity(CHUNK), Vec::with_capacity(CHUNK));
        let mut force = None;
        let (mut is_receiver_open, mut expects_report) = (true, true);
        let mut poll_timer = interval_at(Instant::now() + WARDEN_CHECK_INTERVAL, WARDEN_CHECK_INTERVAL);
        loop {
            let (stream, chunk) = tokio::select! {
                status = self.warden.wait() => return WardenExit::Ended(status),
                received = self.control.read_buf(&mut self.received), if expects_report => {
                    self.take_start_report();
                    match self.read_report() {
                        Some(report) if report.again => return WardenExit::Idle(report),
                        Some(_) => expects_report = false,
                        None => expects_report = received.is_ok_and(|read| read > 0),
                    }
                    continue;
                }
                () = read(&mut self.out, &mut out) => (Stream::Stdout, &mut out),
                () = read(&mut self.err, &mut err) => (Stream::Stderr, &mut err),
                Ok(()) = self.force.changed() => {
                    force = *self.force.borrow_and_update();
                    continue;
                }
                () = self.messages.closed(), if is_receiver_open => {
                    is_receiver_open = false;
                    let _ = rustix::io::write(&self.control, &[NOW]);
                    force = Some(Instant::now() + FORCE_TIMEOUT);
                    continue;
                }
                _ = poll_timer.tick() => {
                    orphans::continue_stopped_wardens(self.warden.pid);
                    continue;
                }
                () = sleep_until_deadline(force) => return WardenExit::Ended(self.end_from_outside().await),
            };
            if is_receiver_open {
                let _ = self.messages.send(SupervisorMessage::Chunk(stream, chunk.clone())).await;
            }
            chunk.clear();
        }
    }

    /// Ends a warden that does not do its work (stopped by the agent, stuck) and everything below it.
    async fn end_from_outside(&mut self) -> Option<ExitStatus> {
        let pid = self.warden.pid;
        tree::end_all(|| Ok(process_table::descendants(pid, process_table::list_processes()?)));
        let _ = process_table::find_process(pid).map(|warden| warden.signal(Signal::KILL));
        self.warden.wait().await
    }

    async fn drain(&self, stream: Stream, pipe: Option<Receiver>) {
        let Some(Ok(pipe)) = pipe.map(Receiver::into_nonblocking_fd) else { return };
        let mut left = MAX_PIPE_BYTES;
        let mut buffer = Vec::with_capacity(CHUNK);
        while left > 0 {
            buffer.clear();
            let Ok(read @ 1..) = rustix::io::read(pipe.as_fd(), spare_capacity(&mut buffer)) else { return };
            left = left.saturating_sub(read);
            let _ = self.messages.send(SupervisorMessage::Chunk(stream, buffer.clone())).await;
        }
    }

    /// Handles the line about the start and removes it from the warden's output.
    fn take_start_report(&mut self) {
        let Some(end) = self.received.iter().position(|it| *it == b'\n') else { return };
        let Some(StartReport { main }) =
            self.received.get(..end).and_then(|it| serde_json::from_slice(it).ok())
        else {
            return;
        };
        self.received.drain(..=end);
        if let Some(to) = self.main.take() {
            let _ = to.send(process_table::pid_below(self.warden.pid, main));
        }
    }

    /// The warden's report, if it is complete.
    fn read_report(&self) -> Option<WardenReport> {
        serde_json::from_slice(&self.received).ok()
    }

    /// The warden's report. A warden without a report was killed, so its processes are ended here.
    fn finish_report(&mut self, status: Option<ExitStatus>) -> WardenReport {
        self.received.reserve(CHUNK);
        // An unreadable report counts as none.
        let _ = rustix::io::read(&self.control, spare_capacity(&mut self.received));
        self.take_start_report();
        if let Some(report) = self.read_report() {
            return report;
        }
        orphans::unregister(self.warden.pid);
        let orphans = if orphans::is_subreaper() {
            orphans::kill_orphans_of_killed_warden()
        } else {
            orphans::Orphans::default()
        };
        let signal = status.and_then(|status| std::os::unix::process::ExitStatusExt::signal(&status));
        WardenReport {
            signal: signal.or(Some(Signal::KILL.as_raw())),
            survivors: orphans.ended,
            unkillable: orphans.unkillable,
            ..WardenReport::default()
        }
    }
}

/// Appends the bytes of one read; never returns once the stream has ended.
async fn read(pipe: &mut Option<Receiver>, buffer: &mut Vec<u8>) {
    if let Some(open) = pipe {
        match open.read_buf(buffer).await {
            Ok(1..) => return,
            Ok(0) | Err(_) => *pipe = None,
        }
    }
    pending::<()>().await;
}

async fn sleep_until_deadline(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => pending().await,
    }
}
