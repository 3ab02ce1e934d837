//! Owns one loop: the only writer of its journal, holder of its lock and of its work tree's lock, parent of its agent.
//! Performs what `loopkeeper_core::decide` returns and decides nothing itself. Ends with the loop.

pub mod acp;
pub mod agent;
pub mod agent_hooks;
mod authority;
mod autorun_scan;
pub mod calls;
pub mod check_only;
pub mod checks;
pub mod control;
pub mod control_error;
pub mod disk_room;
pub mod effects;
pub mod error_line;
mod event_log;
mod final_verdict;
pub mod hook;
mod judges;
pub mod launch;
pub mod loop_context;
pub mod main_loop;
mod memory_files;
mod parsed_task;
pub mod rounds;
pub mod run_context;
pub mod signals;
mod state_saver;
pub mod stray_search;
pub mod task_reload;
mod template;
mod tree_texts;
mod usage_limits;
mod user_commands;
pub mod warden;
pub mod weakening_scan;

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use signal_hook::consts::SIGXFSZ;
use thiserror::Error;
use tokio::task::{JoinHandle, LocalSet};

use loopkeeper_system::journal_file::JournalError;
use loopkeeper_system::logging::LogFilterError;
use loopkeeper_system::resource_limits;
use loopkeeper_system::runtime::new_runtime;
use loopkeeper_system::sandbox::SandboxError;
use loopkeeper_system::snapshots::SnapshotError;
use loopkeeper_system::state_dir::StateError;
use loopkeeper_system::state_dir::lock::LockError;
use loopkeeper_system::state_dir::workspace::LoopDir;
use loopkeeper_text::language::translate;
use loopkeeper_text::message::{HintedError, Message};
use loopkeeper_text::{tr, tr_later};

/// Why a keeper could not start or had to leave its loop interrupted.
#[derive(Debug, Error)]
pub enum KeeperError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    State(#[from] StateError),
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error(transparent)]
    Snapshots(#[from] SnapshotError),
    #[error("{}", tr!("The state folder was deleted or replaced while the loop ran ({path} is no longer this loop's). None of its processes runs any more.", path = path.display()))]
    StateGone { path: PathBuf },
    #[error("{}", tr!("The keeper was ended by {signal}. The loop is interrupted.", signal))]
    Terminated { signal: &'static str },
    #[error("{}", tr!("There is no loop in {path}: its journal is empty.", path = path.display()))]
    NoLoop { path: PathBuf },
    #[error("{}", tr!("The workspace cannot be checked: {fact}", fact = message.fact()))]
    Workspace { message: Message },
    #[error("{}", tr!("the keeper did not start: {fact}", fact = message.fact()))]
    Refused { message: Message },
    #[error("{}", tr!("Only {limit} files can be open at once, and a loop needs {needed}. Nothing was started.", limit, needed = resource_limits::KEEPER_FILES))]
    LowFileLimit { limit: u64 },
    #[error(transparent)]
    LogFilter(#[from] LogFilterError),
    #[error("{}", tr!("Could not {action} {path}: {source}", action = translate(action), path = path.display(), source))]
    Io { action: &'static str, path: PathBuf, source: std::io::Error },
}

const STATE_RIGHTS: &str = tr_later!("check the disk and the rights of the state folder");

impl HintedError for KeeperError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Journal(error) => return error.hint(),
            Self::Lock(error) => return error.hint(),
            Self::State(error) => return error.hint(),
            Self::Sandbox(error) => return error.hint(),
            Self::LogFilter(error) => return error.hint(),
            Self::Snapshots(error) if error.hint().is_some() => return error.hint(),
            Self::Io { source, .. } => {
                resource_limits::hint(source).unwrap_or_else(|| translate(STATE_RIGHTS)).to_owned()
            }
            Self::LowFileLimit { .. } => translate(resource_limits::RAISE_FILES).to_owned(),
            Self::Snapshots(_) => translate(STATE_RIGHTS).to_owned(),
            Self::StateGone { .. } => {
                tr!("your work tree is as the agent left it; start the loop again").to_owned()
            }
            Self::Terminated { .. } => tr!("continue with `loopkeeper resume`").to_owned(),
            Self::NoLoop { .. } => tr!("start the loop again").to_owned(),
            Self::Workspace { message } => message
                .hint()
                .unwrap_or(tr!("check that every folder of the work tree can be read"))
                .to_owned(),
            Self::Refused { message } => {
                message.hint().unwrap_or(tr!("correct that, then start again")).to_owned()
            }
        })
    }
}

impl KeeperError {
    pub(crate) fn no_loop(dir: &LoopDir) -> Self {
        Self::NoLoop { path: dir.path().to_owned() }
    }

    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

/// Writes a new file that only its owner can read.
pub(crate) fn private_file(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file =
        std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(bytes)
}

/// Runs a future to completion on a new runtime; tasks spawned on it end with it.
pub fn block_on<T>(work: impl Future<Output = T>) -> std::io::Result<T> {
    let runtime = new_runtime()?;
    Ok(LocalSet::new().block_on(&runtime, work))
}

/// Spawns a boxed local task. Boxing keeps large futures off the stack (which is never shrunk) and gives one
/// monomorphisation of the spawn machinery.
pub(crate) fn spawn_boxed_local(work: impl Future<Output = ()> + 'static) -> JoinHandle<()> {
    let work: Pin<Box<dyn Future<Output = ()>>> = Box::pin(work);
    tokio::task::spawn_local(work)
}

/// Makes a write beyond the limit of file sizes fail with an error, which can be reported, instead of a signal. Programs
/// that this process starts get the signal as before.
pub fn outlive_file_size_limit() {
    let was_received = Arc::default();
    // If this fails, the process ends at the limit.
    let _ = signal_hook::flag::register(SIGXFSZ, was_received);
}

/// Aborts on any panic: a keeper that lost a task would hang, a dead one can be resumed.
pub fn abort_on_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        std::process::abort();
    }));
}
