//! The handle of a running job: its output, CPU time and exit.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, timeout};

use super::lines::LineSplitter;
use super::output_file::OutputFile;
use super::report::{GRACE, NOW, WardenReport};
use super::supervise::{FORCE, SupervisorMessage};
use super::{JobOutcome, OutputEvent, Stream, TerminateMode, orphans, table};

/// Whether a job waits for an answer of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopHookWait {
    Yes,
    No,
}

/// A warden tells within milliseconds what it started. One that is stopped does not keep the loop waiting.
const START: Duration = Duration::from_secs(1);

/// The number of the main process.
#[derive(Debug)]
pub(super) enum Main {
    Awaited(oneshot::Receiver<Option<i32>>),
    /// `None`: it had ended before it could be found.
    Known(Option<u32>),
}

/// A job at work. Dropping it ends the job.
#[derive(Debug)]
pub struct JobHandle {
    pub(super) pid: i32,
    pub(super) main: Main,
    /// What the warden's earlier jobs took.
    pub(super) spent_ms: u64,
    pub(super) inbox: mpsc::Receiver<SupervisorMessage>,
    pub(super) control: UnixStream,
    pub(super) force: watch::Sender<Option<Instant>>,
    pub(super) grace: Duration,
    pub(super) asked: Option<TerminateMode>,
    pub(super) lines: LineSplitter,
    pub(super) output: Option<OutputFile>,
    pub(super) report: Option<WardenReport>,
}

impl JobHandle {
    /// The next line, `None` when the domain is empty. The job waits while nobody asks. Cancel safe.
    pub async fn next(&mut self) -> Option<OutputEvent> {
        loop {
            if let Some(event) = self.lines.next() {
                return Some(event);
            }
            match self.next_chunk().await {
                Some((stream, bytes)) => self.lines.push_chunk(stream, bytes),
                None if self.lines.finish() => {}
                None => return None,
            }
        }
    }

    /// The next bytes as they came. Cancel safe.
    pub(super) async fn next_chunk(&mut self) -> Option<(Stream, Vec<u8>)> {
        match self.inbox.recv().await? {
            SupervisorMessage::Chunk(stream, bytes) => {
                if let Some(output) = &mut self.output {
                    output.write(stream, &bytes);
                }
                Some((stream, bytes))
            }
            SupervisorMessage::Ended(report) => {
                self.report = Some(report);
                None
            }
        }
    }

    /// From here on the output goes to another file. What went wrong with the one so far shows in the number of
    /// bytes that are in no file.
    pub fn output_to(&mut self, base: &Path) -> io::Result<u64> {
        let Some(output) = self.output.take() else { return Ok(0) };
        let (next, dropped) = output.go_on(base)?;
        self.output = Some(next);
        Ok(dropped)
    }

    /// While its work is judged it runs beside the loop's jobs: they do not wait for its end.
    pub fn set_stop_hook_wait(&self, held: StopHookWait) {
        match held {
            StopHookWait::Yes => orphans::mark_detached(self.pid),
            StopHookWait::No => orphans::is_waited_for(self.pid),
        }
    }

    /// The warden's, or that of the bubblewrap around it.
    pub fn pid(&self) -> u32 {
        self.pid.unsigned_abs()
    }

    /// The main process's number as this process counts, in whatever namespace it runs. `None`: it ended at once.
    pub async fn main_pid(&mut self) -> Option<u32> {
        if let Main::Awaited(told) = &mut self.main {
            let pid = timeout(START, told).await.ok().and_then(Result::ok).flatten();
            self.main = Main::Known(pid.map(i32::unsigned_abs));
        }
        match self.main {
            Main::Known(pid) => pid,
            Main::Awaited(_) => None,
        }
    }

    /// Asks for the end. Asking again changes nothing, but `Now` after `Grace` cuts it short.
    pub fn terminate(&mut self, how: TerminateMode) {
        if self.asked == Some(TerminateMode::Now) || self.asked == Some(how) {
            return;
        }
        self.asked = Some(how);
        let (order, time) = match how {
            TerminateMode::Grace => (GRACE, self.grace + FORCE),
            TerminateMode::Now => (NOW, FORCE),
        };
        // A warden that is gone has nobody left to end.
        let _ = self.control.write(&[order]);
        let _ = self.force.send(Some(Instant::now() + time));
    }

    /// CPU time of everything in the domain so far.
    pub fn cpu_ms(&self) -> u64 {
        table::cpu_ms(self.pid).saturating_sub(self.spent_ms)
    }

    /// How it ended. Waits for the end; output that nobody asked for goes to the file only.
    pub async fn wait(mut self) -> JobOutcome {
        while self.next_chunk().await.is_some() {}
        let report = self.report.take().unwrap_or_default();
        let (dropped, output_error) = self.output.take().map_or((0, None), OutputFile::finish);
        JobOutcome {
            exit: report.exit.filter(|_| report.not_started.is_none()),
            signal: report.signal,
            not_started: report.not_started,
            survivors: report.survivors,
            left: report.left,
            cpu_ms: report.cpu_ms,
            dropped,
            output_error,
        }
    }
}
