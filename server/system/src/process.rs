//! Runs agents and checks, each under a warden (see `keeper::warden`) that leaves no process behind.
//!
//! Only this module starts programs in a keeper. It does not interpret their output or exit status.

pub mod hardening;
mod head_tail;
pub mod job_request;
mod lines;
pub mod origin;
pub mod orphans;
mod output_buffer;
mod output_file;
mod run;
mod running;
mod supervise;
pub mod tree;
mod warden;
mod warden_pool;

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopkeeper_text::redact::Redactor;
use loopkeeper_text::tr;
use rustix::pipe::{PipeFlags, pipe_with};
use thiserror::Error;
use tokio::net::unix::pipe::Receiver;
use tokio::sync::{mpsc, oneshot, watch};

use self::lines::LineSplitter;
use self::output_file::OutputFile;
pub(super) use self::run::run_for;
pub use self::run::{run_beside, run_to_end};
use self::running::MainProcess;
pub use self::running::{JobHandle, StopHookWait};
use self::supervise::{CHUNKS, ProcessSupervisor};
use self::warden::WardenHandle;
pub use self::warden_pool::WardenPool;
use super::program_path;
use super::sandbox::{Isolation, ReachedLimits, WardenCommand};
use super::trust::permit::ApprovedInput;

/// One program to run.
#[derive(Debug, Clone)]
pub struct Job {
    /// The program and its arguments. A name is looked up in the `PATH` of `env`, a path is relative to `cwd`.
    pub argv: ApprovedInput<Vec<OsString>>,
    pub cwd: PathBuf,
    /// The complete environment (see [`super::env::scrubbed_env`]); nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    pub stdin: StdinSource,
    /// Time between TERM and KILL.
    pub grace: Duration,
    /// The output, with secrets of `env` and of our own environment redacted, goes to `BASE.out` and, if it is long,
    /// `BASE.tail`.
    pub output: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StdinSource {
    Null,
    /// The content of this file.
    File(PathBuf),
}

impl StdinSource {
    fn file(&self) -> Option<&Path> {
        match self {
            Self::Null => None,
            Self::File(path) => Some(path),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}

/// Raw bytes, line ends removed; the last line of a stream may have had none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputEvent {
    Line {
        stream: Stream,
        bytes: Vec<u8>,
    },
    /// A line longer than `agent::LINE_BYTES`; it is in the output file only.
    Oversize {
        stream: Stream,
        bytes: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminateMode {
    /// TERM to the main process, KILL to everything after the job's grace time.
    Grace,
    /// KILL to everything.
    Now,
}

/// How a run ended. Its kill domain is empty except for `unkillable`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobOutcome {
    pub exit: Option<i32>,
    pub signal: Option<i32>,
    /// Why the program could not be started after all, as text.
    pub not_started: Option<String>,
    /// Processes that outlived the main process and were ended, as `pid name`.
    pub survivors: Vec<String>,
    /// Processes that could not be ended, as `pid name`.
    pub unkillable: Vec<String>,
    pub cpu_ms: u64,
    pub reached: ReachedLimits,
    /// Number of output bytes that are in no file.
    pub dropped: u64,
    /// Why the output could not be written, as text.
    pub output_error: Option<String>,
}

#[derive(Debug, Error)]
pub enum ProcessError {
    #[error("{}", tr!("There is nothing to run: the command is empty."))]
    Empty,
    #[error("{}", tr!("`{program}` was not found, or is not executable.", program))]
    NotFound { program: String },
    #[error("{}", tr!("The folder {path} does not exist.", path = path.display()))]
    NoFolder { path: PathBuf },
    #[error("{}", tr!("Could not write {path}: {source}", path = path.display(), source))]
    Output { path: PathBuf, source: io::Error },
    #[error("{}", tr!("Could not start `{program}`: {source}", program, source))]
    Start { program: String, source: io::Error },
}

/// Starts a job under a separate warden. Needs a tokio runtime, and a thread that exists as long as the job.
pub fn start(job: &Job, domain: &Isolation) -> Result<JobHandle, ProcessError> {
    if domain.network().proxy().is_some() {
        // A warden passes the socket of its proxy on the channel of a pool. It ends with the pool.
        return WardenPool::new(domain).start(job);
    }
    start_with(job, StreamLayout::Apart, |program, stdio| {
        start_single_warden(job, program, domain.command(None)?, stdio)
    })
}

/// Whether a job has one pipe per stream or one for both. Two pipes do not preserve the order of writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamLayout {
    Apart,
    Together,
}

/// The job's ends of its channels.
struct ChildStdio {
    control: OwnedFd,
    out: OwnedFd,
    err: OwnedFd,
}

fn start_with(
    job: &Job,
    streams: StreamLayout,
    start_warden: impl FnOnce(&Path, ChildStdio) -> io::Result<WardenHandle>,
) -> Result<JobHandle, ProcessError> {
    let output = match &job.output {
        Some(base) => Some(
            OutputFile::create(base, redactor(job))
                .map_err(|source| ProcessError::Output { path: base.with_extension("out"), source })?,
        ),
        None => None,
    };
    let program = find_program(job)?;
    let failed = |source| ProcessError::Start { program: program.display().to_string(), source };
    let (channels, stdio) = channels(streams).map_err(failed)?;
    let warden = start_warden(&program, stdio).map_err(failed)?;
    let (force, forced) = watch::channel(None);
    let (messages, inbox) = mpsc::channel(CHUNKS);
    let (pid, spent_ms) = (warden.pid, warden.spent_ms);
    let JobChannels { control, supervisor_control, out, err } = channels;
    let (main_sender, main) = oneshot::channel();
    let supervisor = ProcessSupervisor {
        warden,
        control: supervisor_control,
        received: Vec::new(),
        main: Some(main_sender),
        out: Some(out),
        err,
        messages,
        force: forced,
    };
    tokio::spawn(supervisor.run());
    let (main, lines, grace) = (MainProcess::Awaited(main), LineSplitter::default(), job.grace);
    Ok(JobHandle {
        pid,
        main,
        spent_ms,
        inbox,
        control,
        force,
        grace,
        requested: None,
        lines,
        output,
        report: None,
        reached: ReachedLimits::default(),
    })
}

/// Redacts the secrets of the job's environment and of our own.
fn redactor(job: &Job) -> Redactor {
    let own = std::env::vars_os();
    let all = job.env.iter().cloned().chain(own);
    Redactor::from_env(
        all.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
    )
}

fn find_program(job: &Job) -> Result<PathBuf, ProcessError> {
    let name = job.argv.value().first().ok_or(ProcessError::Empty)?;
    if !job.cwd.is_dir() {
        return Err(ProcessError::NoFolder { path: job.cwd.clone() });
    }
    let search = job.env.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
    program_path::resolve_program(name, &search.unwrap_or_default(), &job.cwd)
        .ok_or_else(|| ProcessError::NotFound { program: name.to_string_lossy().into_owned() })
}

/// The channels between the keeper and a job.
struct JobChannels {
    control: UnixStream,
    supervisor_control: tokio::net::UnixStream,
    out: Receiver,
    err: Option<Receiver>,
}

fn channels(streams: StreamLayout) -> io::Result<(JobChannels, ChildStdio)> {
    let (control, theirs) = UnixStream::pair()?;
    control.set_nonblocking(true)?;
    let supervisor_control = tokio::net::UnixStream::from_std(control.try_clone()?)?;
    let (out, out_end) = pipe()?;
    let (err, err_end) = match streams {
        StreamLayout::Apart => pipe().map(|(err, end)| (Some(err), end))?,
        StreamLayout::Together => (None, out_end.try_clone()?),
    };
    Ok((
        JobChannels { control, supervisor_control, out, err },
        ChildStdio { control: theirs.into(), out: out_end, err: err_end },
    ))
}

fn start_single_warden(
    job: &Job,
    program: &Path,
    mut warden: WardenCommand,
    stdio: ChildStdio,
) -> io::Result<WardenHandle> {
    let command = &mut warden.command;
    command.args(orphans::warden_mark(&job.env)).arg("--grace-ms").arg(job.grace.as_millis().to_string());
    if let Some(path) = job.stdin.file() {
        command.arg("--stdin").arg(path);
    }
    command.arg("--").arg(program).args(job.argv.value().iter().skip(1));
    command.env_clear().envs(job.env.iter().map(|(name, value)| (name, value))).current_dir(&job.cwd);
    command.stdin(stdio.control).stdout(stdio.out).stderr(stdio.err);
    WardenHandle::start(warden, None)
}

fn pipe() -> io::Result<(Receiver, OwnedFd)> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
    Ok((Receiver::from_owned_fd(read)?, write))
}
