//! `check --detach`: runs the same checks in a process that outlives this one and its caller. For editors, which end
//! all their child processes.

use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::Args;
use crate::exit::Exit;
use crate::failure::{ExitResult, Failure};
use loopkeeper_keeper::error_line::ErrorLine;
use loopkeeper_operations::resolved_task::ResolvedTask;
use loopkeeper_system::state_dir::StateDir;

/// If the tree is not locked after this time, the checks are waiting for something; their own error reports it.
const TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Returns once the checks hold the tree lock or have ended.
pub(super) fn start_detached(args: &Args) -> ExitResult {
    let work = ResolvedTask::find(args.task.path.as_deref(), &[])?;
    let store = StateDir::open()?;
    // Fails for the leader of a process group; then the caller has already detached this process.
    let _ = rustix::process::setsid();
    let mut command = Command::new("/proc/self/exe");
    command
        .arg0("loopkeeper")
        .arg("check")
        .args(args.server.criterion.as_ref().map(|it| format!("--criterion={it}")))
        .args(args.trust.then_some("--trust"));
    command.arg("--").arg(work.root.join(&work.id.0)).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    ErrorLine::request(&mut command);
    let mut child = command.spawn()?;
    let began = Instant::now();
    while began.elapsed() < TIMEOUT {
        if let Some(status) = child.try_wait()? {
            return parse_outcome(status.code(), &read_stderr(&mut child)?);
        }
        if store.tree_holder(&work.root)?.is_some() {
            break;
        }
        sleep(POLL_INTERVAL);
    }
    Ok(Exit::Done)
}

/// A criterion that does not hold is not a failure here, because its result reports it.
fn parse_outcome(code: Option<i32>, stderr: &[u8]) -> ExitResult {
    match ErrorLine::find_last(&String::from_utf8_lossy(stderr)) {
        Some(_) => Err(Failure::of_process(code, stderr)),
        None => Ok(Exit::Done),
    }
}

fn read_stderr(child: &mut Child) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        stderr.take(64 * 1024).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}
