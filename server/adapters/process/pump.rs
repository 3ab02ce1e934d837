//! The task beside each running process: carries its output to the reader, sees to it that it ends.

use std::future::pending;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::process::Signal;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::process::Child;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use super::report::{NOW, Report};
use super::{Stream, orphans, table, tree};

const CHUNK: usize = 64 * 1024;
/// How much may wait for the reader; beyond it the process waits.
pub(super) const CHUNKS: usize = 8;
/// A pipe holds no more than this, so that what was written before the end is read, and no endless writer is.
const LEFT_IN_PIPE: usize = 1024 * 1024;
/// How long a warden may take to end its domain before its end is forced from outside.
pub(super) const FORCE: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub(super) enum Message {
    Chunk(Stream, Vec<u8>),
    Ended(Report),
}

pub(super) struct Pump {
    pub(super) child: Child,
    pub(super) pid: i32,
    pub(super) control: UnixStream,
    pub(super) out: Option<Receiver>,
    pub(super) err: Option<Receiver>,
    pub(super) to: mpsc::Sender<Message>,
    /// When patience with the warden ends.
    pub(super) force: watch::Receiver<Option<Instant>>,
}

impl Pump {
    pub(super) async fn run(mut self) {
        let status = self.carry().await;
        for (stream, pipe) in [(Stream::Stdout, self.out.take()), (Stream::Stderr, self.err.take())] {
            self.drain(stream, pipe).await;
        }
        let report = self.report(status);
        orphans::forgets(self.pid);
        let _ = self.to.send(Message::Ended(report)).await;
    }

    /// Carries output until the warden has ended. The end of the pipes says nothing: an agent may close them
    /// and work on, or hand them to somebody who stays.
    async fn carry(&mut self) -> Option<ExitStatus> {
        // Never zeroed: most jobs say little, and memory that nobody touched costs nothing.
        let (mut out, mut err) = (Vec::with_capacity(CHUNK), Vec::with_capacity(CHUNK));
        let mut force = None;
        let mut heard = true;
        loop {
            let (stream, chunk) = tokio::select! {
                status = self.child.wait() => return status.ok(),
                () = read(&mut self.out, &mut out) => (Stream::Stdout, &mut out),
                () = read(&mut self.err, &mut err) => (Stream::Stderr, &mut err),
                Ok(()) = self.force.changed() => {
                    force = *self.force.borrow_and_update();
                    continue;
                }
                () = self.to.closed(), if heard => {
                    heard = false;
                    let _ = self.control.write(&[NOW]);
                    force = Some(Instant::now() + FORCE);
                    continue;
                }
                () = at(force) => return self.end_from_outside().await,
            };
            if heard {
                let _ = self.to.send(Message::Chunk(stream, chunk.clone())).await;
            }
            chunk.clear();
        }
    }

    /// The warden does not do its work (stopped by the agent, stuck): ends it and everything below it.
    async fn end_from_outside(&mut self) -> Option<ExitStatus> {
        let pid = self.pid;
        tree::end_all(|| table::below(pid, table::all()));
        let _ = table::one(pid).map(|warden| warden.signal(Signal::KILL));
        self.child.wait().await.ok()
    }

    async fn drain(&self, stream: Stream, pipe: Option<Receiver>) {
        let Some(Ok(pipe)) = pipe.map(Receiver::into_nonblocking_fd) else { return };
        let mut left = LEFT_IN_PIPE;
        let mut buffer = Vec::with_capacity(CHUNK);
        while left > 0 {
            buffer.clear();
            let Ok(read @ 1..) = rustix::io::read(pipe.as_fd(), spare_capacity(&mut buffer)) else { return };
            left = left.saturating_sub(read);
            let _ = self.to.send(Message::Chunk(stream, buffer.clone())).await;
        }
    }

    /// What the warden said. One that said nothing was killed: whom it watched over is ended here.
    fn report(&self, status: Option<ExitStatus>) -> Report {
        let mut said = Vec::with_capacity(CHUNK);
        // One that could not be read said nothing.
        let _ = rustix::io::read(&self.control, spare_capacity(&mut said));
        if let Ok(report) = serde_json::from_slice(&said) {
            return report;
        }
        orphans::forgets(self.pid);
        let orphans = if orphans::adopting() { orphans::sweep() } else { orphans::Orphans::default() };
        let signal = status.and_then(|status| std::os::unix::process::ExitStatusExt::signal(&status));
        Report {
            signal: signal.or(Some(Signal::KILL.as_raw())),
            survivors: orphans.ended,
            left: orphans.left,
            ..Report::default()
        }
    }
}

/// Adds the bytes of one read; never comes back once the stream has ended.
async fn read(pipe: &mut Option<Receiver>, buffer: &mut Vec<u8>) {
    if let Some(open) = pipe {
        match open.read_buf(buffer).await {
            Ok(1..) => return,
            Ok(0) | Err(_) => *pipe = None,
        }
    }
    pending::<()>().await;
}

async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => pending().await,
    }
}
