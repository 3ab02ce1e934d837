//! Pools the wardens of one kind of job. A warden whose job left no process behind is reused: starting another takes
//! longer than a short check.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use loopkeeper_core::check::CommandRun;

use super::head_tail::DEFAULT_BYTES;
use super::job_request::{self, JobRequest};
use super::output_buffer::OutputBuffer;
use super::warden::{IdleWardens, PoolHandle, WardenHandle};
use super::{
    ChildStdio, Job, JobHandle, ProcessError, StreamLayout, orphans, run, start_single_warden, start_with,
};
use crate::clean_room::RoomAccess;
use crate::sandbox::Isolation;

#[derive(Debug, Clone)]
pub struct WardenPool {
    domain: Isolation,
    room: Option<RoomAccess>,
    idle: Arc<IdleWardens>,
}

impl WardenPool {
    pub fn new(domain: &Isolation) -> Self {
        Self { domain: domain.clone(), room: None, idle: Arc::default() }
    }

    /// Wardens whose jobs run in this clean room.
    pub fn in_room(domain: &Isolation, room: RoomAccess) -> Self {
        Self { domain: domain.clone(), room: Some(room), idle: Arc::default() }
    }

    /// The isolation of their jobs.
    pub fn isolation(&self) -> &Isolation {
        &self.domain
    }

    /// Like [`super::start`].
    pub fn start(&self, job: &Job) -> Result<JobHandle, ProcessError> {
        self.start_with(job, StreamLayout::Apart)
    }

    /// Starts a job under a warden that ends with it, with stderr redirected to stdout: two pipes do not preserve the
    /// order of writes.
    pub fn start_alone(&self, job: &Job) -> Result<JobHandle, ProcessError> {
        if self.domain.network().proxy().is_some() {
            let alone = Self { idle: Arc::default(), ..self.clone() };
            return alone.start_with(job, StreamLayout::Together);
        }
        start_with(job, StreamLayout::Together, |program, stdio| {
            start_single_warden(job, program, self.domain.command(self.room.as_ref())?, stdio)
        })
    }

    fn start_with(&self, job: &Job, streams: StreamLayout) -> Result<JobHandle, ProcessError> {
        start_with(job, streams, |program, stdio| {
            let request = JobRequest {
                cwd: job.cwd.clone(),
                env: job.env.clone(),
                stdin: job.stdin.file().map(Into::into),
                grace: job.grace,
                program: program.into(),
                args: job.argv.value().iter().skip(1).cloned().collect(),
            };
            self.dispatch(&request, &stdio)
        })
    }

    /// Like [`super::run_to_end`], and also returns both streams in order: exactly if they share a pipe, else as far as
    /// the order can be seen while reading.
    pub async fn run_to_end(&self, job: &Job, streams: StreamLayout, timeout: Duration) -> CommandRun {
        let collected = match streams {
            StreamLayout::Apart => OutputBuffer::with_both(DEFAULT_BYTES),
            StreamLayout::Together => OutputBuffer::with_combined(DEFAULT_BYTES),
        };
        run::collect_output(self.start_with(job, streams), timeout, collected).await
    }

    /// Sends the job to an idle warden, else to a new one, because an idle warden may have been ended in the meantime.
    fn dispatch(&self, request: &JobRequest, stdio: &ChildStdio) -> io::Result<WardenHandle> {
        let own = [stdio.control.as_fd(), stdio.out.as_fd(), stdio.err.as_fd()];
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let is_new = idle.is_none();
            let warden = idle.map_or_else(|| self.start_one(request, stdio), Ok)?;
            let sent =
                warden.request_channel().map_or(Ok(()), |channel| job_request::send(channel, request, own));
            let Err(error) = sent else { return Ok(warden.mark_busy()) };
            orphans::unregister(warden.pid);
            if is_new {
                return Err(error);
            }
        }
    }

    fn start_one(&self, request: &JobRequest, stdio: &ChildStdio) -> io::Result<WardenHandle> {
        let (requests, theirs) = UnixStream::pair()?;
        let mark = request.env.iter().filter(|(name, _)| name == orphans::ENV_LOOP);
        let mark = mark.map(|(name, value)| (name, value));
        let mut warden = self.domain.command(self.room.as_ref())?;
        let command = &mut warden.command;
        command.args(orphans::warden_mark(&request.env)).arg("--orders");
        command.env_clear().envs(mark).current_dir("/");
        // Errors of bubblewrap go to the first job's stderr.
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(stdio.err.try_clone()?);
        let lease = match self.domain.network().proxy() {
            Some(proxy) => Some(proxy.attach(requests.try_clone()?)?),
            None => None,
        };
        WardenHandle::start(warden, Some(PoolHandle { requests, idle: Arc::downgrade(&self.idle), lease }))
    }

    /// Ends the idle wardens and waits for their exit.
    pub async fn shutdown(&self) {
        let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        for warden in idle {
            warden.shutdown().await;
        }
    }
}
