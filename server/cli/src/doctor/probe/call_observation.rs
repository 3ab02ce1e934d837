//! Observes one start of an agent from outside until all its processes have ended.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use futures::FutureExt;
use loopkeeper_agent::kind::Dialect;
use loopkeeper_agent::reader::AgentOutputReader;
use loopkeeper_text::clauses;
use loopkeeper_text::{tr, truncate, words};
use loopkeeper_view::probe::Observation;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use crate::failure::note;
use loopkeeper_system::process::{self, Job, JobHandle, OutputEvent, Stream, TerminateMode};
use loopkeeper_system::sandbox::Isolation;

const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Delay after which the command to interrupt is certainly running.
const INTERRUPT_DELAY: Duration = Duration::from_millis(500);
/// Limit per stream; the end is kept.
const MAX_BYTES: usize = 1 << 20;

/// Signals that end this program. The agent has to end first.
#[derive(Debug)]
pub(super) struct ProbeSignals {
    sources: [Signal; 3],
    signals: u32,
}

impl ProbeSignals {
    /// Requires a runtime.
    pub(super) fn listen() -> io::Result<Self> {
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let [interrupt, terminate, hangup] = kinds.map(signal);
        Ok(Self { sources: [interrupt?, terminate?, hangup?], signals: 0 })
    }

    /// How to end the agent: gently first, immediately after a repeated signal.
    async fn next(&mut self) -> TerminateMode {
        let [interrupt, terminate, hangup] = &mut self.sources;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
        self.signals += 1;
        if self.signals > 1 { TerminateMode::Now } else { TerminateMode::Grace }
    }

    pub(super) fn were_received(&mut self) -> bool {
        while self.next().now_or_never().is_some() {}
        self.signals > 0
    }
}

/// The limits of one start.
pub(super) struct ProbeLimits<'a> {
    pub(super) domain: &'a Isolation,
    pub(super) call_timeout: Duration,
    pub(super) steps: u32,
    /// Format of its output.
    pub(super) dialect: Dialect,
    /// File whose existence triggers the termination.
    pub(super) stop_at: Option<PathBuf>,
}

/// Observes one start to its end.
pub(super) async fn watch(job: &Job, limits: &ProbeLimits<'_>, interrupts: &mut ProbeSignals) -> Observation {
    let running = match process::start(job, limits.domain) {
        Ok(running) => running,
        Err(error) => return Observation { not_started: Some(error.to_string()), ..Observation::default() },
    };
    let mut watched = WatchedProbe {
        running,
        reader: AgentOutputReader::new(limits.dialect),
        seen: Observation::default(),
        stop_sent: None,
        begun: None,
    };
    watched.run_to_end(limits, interrupts).await;
    let WatchedProbe { running, mut seen, stop_sent, .. } = watched;
    seen.ended_after_ms = stop_sent.map(|it| it.elapsed().as_millis() as u64);
    let ended = running.wait().await;
    if !ended.unkillable.is_empty() {
        note(tr!("These could not be ended: {unkillable}", unkillable = clauses::list(&ended.unkillable)));
    }
    Observation {
        exit: ended.exit,
        signal: ended.signal,
        not_started: ended.not_started,
        survivors: [ended.survivors, ended.unkillable].concat(),
        ..seen
    }
}

struct WatchedProbe {
    running: JobHandle,
    reader: AgentOutputReader,
    seen: Observation,
    /// Time of the request to end.
    stop_sent: Option<Instant>,
    /// Time when the file of `stop_at` appeared.
    begun: Option<Instant>,
}

impl WatchedProbe {
    async fn run_to_end(&mut self, limits: &ProbeLimits<'_>, interrupts: &mut ProbeSignals) {
        let deadline = Instant::now() + limits.call_timeout;
        let mut poll_timer = interval(POLL_INTERVAL);
        poll_timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                event = self.running.next() => match event {
                    Some(event) => self.handle_output(event, limits),
                    None => return,
                },
                _ = poll_timer.tick(), if limits.stop_at.is_some() && self.stop_sent.is_none() => {
                    self.check_stop_file(limits);
                }
                how = interrupts.next() => {
                    if how == TerminateMode::Grace {
                        note(tr!("Asking the agent to exit. Press Ctrl-C again to kill it."));
                    }
                    self.terminate(how);
                }
                () = sleep_until(deadline), if self.stop_sent.is_none() => {
                    self.seen.timed_out = true;
                    self.terminate(TerminateMode::Grace);
                }
            }
        }
    }

    fn terminate(&mut self, how: TerminateMode) {
        self.running.terminate(how);
        self.stop_sent.get_or_insert_with(Instant::now);
    }

    fn check_stop_file(&mut self, limits: &ProbeLimits<'_>) {
        let is_there = || limits.stop_at.as_ref().is_some_and(|it| it.exists());
        self.begun = self.begun.or_else(|| is_there().then(Instant::now));
        if self.begun.is_some_and(|it| it.elapsed() >= INTERRUPT_DELAY) {
            self.terminate(TerminateMode::Grace);
        }
    }

    fn handle_output(&mut self, event: OutputEvent, limits: &ProbeLimits<'_>) {
        let (stream, line) = match event {
            OutputEvent::Line { stream, bytes } => (stream, String::from_utf8_lossy(&bytes).into_owned()),
            OutputEvent::Oversize { stream, bytes } => {
                (stream, tr!("[a line of {bytes}]", bytes = words::bytes(bytes as u64)))
            }
        };
        match stream {
            Stream::Stdout => {
                self.reader.read_line(&line);
                append_bounded(&mut self.seen.stdout, &line);
            }
            Stream::Stderr => {
                self.reader.stderr_line(&line);
                append_bounded(&mut self.seen.stderr, &line);
            }
        }
        if self.seen.halted.is_none() && self.stop_sent.is_none() {
            self.seen.halted = self.reader.kill_reason(limits.steps);
            if self.seen.halted.is_some() {
                self.terminate(TerminateMode::Grace);
            }
        }
    }
}

fn append_bounded(kept: &mut String, line: &str) {
    kept.push_str(line);
    kept.push('\n');
    if kept.len() > 2 * MAX_BYTES {
        let end = truncate::last_bytes(kept, MAX_BYTES);
        *kept = end.split_once('\n').map_or(end, |(_, whole)| whole).to_owned();
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_BYTES, append_bounded};

    #[test]
    fn long_output_keeps_whole_lines_of_its_end() {
        let mut kept = String::new();
        let line = "é".repeat(1_000);
        for at in 0..2_000 {
            append_bounded(&mut kept, &format!("{at}{line}"));
            assert!(kept.lines().last().is_some_and(|it| it.starts_with(&at.to_string())), "{at}");
            assert!(kept.lines().all(|it| it.ends_with(&line)), "{at}");
        }
        assert!(kept.len() > MAX_BYTES / 2 && kept.len() < 3 * MAX_BYTES, "{}", kept.len());
    }
}
