//! Wardens for jobs of one kind. One whose job left nothing behind takes the next: to start another would cost more
//! than a short check does.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use loopkeeper_core::check::CommandRun;

use super::collected::Collected;
use super::kept::BYTES;
use super::order::{self, Order};
use super::orphans::MARK;
use super::warden::{Home, Idle, Warden};
use super::{Ends, Job, ProcessError, Running, Streams, orphans, run, started};
use crate::adapters::sandbox::Domain;

#[derive(Debug, Clone)]
pub struct Wardens {
    domain: Domain,
    idle: Arc<Idle>,
}

impl Wardens {
    pub fn of(domain: &Domain) -> Self {
        Self { domain: domain.clone(), idle: Arc::default() }
    }

    /// What encloses their jobs.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// The same as [`super::start`].
    pub fn start(&self, job: &Job) -> Result<Running, ProcessError> {
        self.start_with(job, Streams::Apart)
    }

    fn start_with(&self, job: &Job, streams: Streams) -> Result<Running, ProcessError> {
        started(job, streams, |program, ends| {
            let order = Order {
                cwd: job.cwd.clone(),
                env: job.env.clone(),
                stdin: job.stdin.file().map(Into::into),
                grace: job.grace,
                program: program.into(),
                args: job.argv.value().iter().skip(1).cloned().collect(),
            };
            self.give(&order, &ends)
        })
    }

    /// The same as [`super::run_to_end`], with both streams in their order too: exactly where they share a pipe, else
    /// as far as it shows in when they are read.
    pub async fn run_to_end(&self, job: &Job, streams: Streams, timeout: Duration) -> CommandRun {
        let collected = match streams {
            Streams::Apart => Collected::all(BYTES),
            Streams::Together => Collected::together(BYTES),
        };
        run::watch(self.start_with(job, streams), timeout, collected).await
    }

    /// To one that is idle, else to a new one: an idle one may have been ended in the meantime.
    fn give(&self, order: &Order, ends: &Ends) -> io::Result<Warden> {
        let own = [ends.control.as_fd(), ends.out.as_fd(), ends.err.as_fd()];
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let is_new = idle.is_none();
            let warden = idle.map_or_else(|| self.start_one(order, ends), Ok)?;
            let given = warden.orders().map_or(Ok(()), |channel| order::send(channel, order, own));
            let Err(error) = given else { return Ok(warden.at_work()) };
            orphans::forgets(warden.pid);
            if is_new {
                return Err(error);
            }
        }
    }

    fn start_one(&self, order: &Order, ends: &Ends) -> io::Result<Warden> {
        let (orders, theirs) = UnixStream::pair()?;
        let mark = order.env.iter().filter(|(name, _)| name == MARK).map(|(name, value)| (name, value));
        let mut command = self.domain.command();
        command.arg("--orders").env_clear().envs(mark).current_dir("/");
        // What bubblewrap has to say is the first job's to tell.
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(ends.err.try_clone()?);
        Warden::start(command, Some(Home { orders, idle: Arc::downgrade(&self.idle) }))
    }

    /// Ends those that are idle, and waits for their end.
    pub async fn dismiss(&self) {
        let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        for warden in idle {
            warden.dismiss().await;
        }
    }
}
