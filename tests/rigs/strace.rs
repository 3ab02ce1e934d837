//! Makes the n-th system call of a kind fail or kill, in the real program, with strace.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A fault: `signal=KILL`, `error=EIO`, at the `at`-th call; with `+`, at every one from there.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) call: &'static str,
    pub(crate) what: &'static str,
    pub(crate) at: String,
}

/// Why strace cannot be used on this machine.
pub(crate) fn missing() -> Option<String> {
    match Command::new("strace").args(["-f", "-qq", "-o", "/dev/null", "true"]).output() {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(format!("strace: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(error) => Some(format!("strace: {error}")),
    }
}

/// `command` under strace, with the fault in calls that concern one of `paths`.
pub(crate) fn with_fault(command: &Command, fault: &Fault, paths: &[PathBuf]) -> Command {
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-o", "/dev/null"]);
    for path in paths {
        traced.arg("-P").arg(path);
    }
    let Fault { call, what, at } = fault;
    traced.arg("-e").arg(format!("trace={call}")).arg("-e").arg(format!("inject={call}:{what}:when={at}"));
    traced.arg(command.get_program()).args(command.get_args());
    let set = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    traced.envs(set.collect::<Vec<(&OsStr, &OsStr)>>());
    traced
}

/// The scope of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultScope {
    /// The program's first thread only: calls are counted there, whatever its children do.
    FirstThread,
    /// Each thread and each child is counted separately.
    AllProcesses,
}

/// Runs `command` under strace in its own folder, with the fault; the trace is written to `log`. With `paths`, only
/// calls that concern one of them count.
pub(crate) fn in_place(
    command: &Command,
    fault: &Fault,
    scope: FaultScope,
    paths: &[PathBuf],
    log: &Path,
) -> Command {
    let mut traced = Command::new("strace");
    if scope == FaultScope::AllProcesses {
        traced.arg("-f");
    }
    for path in paths {
        traced.arg("-P").arg(path);
    }
    let Fault { call, what, at } = fault;
    traced.arg("-qq").arg("-o").arg(log);
    traced.arg("-e").arg(format!("trace={call}")).arg("-e").arg(format!("inject={call}:{what}:when={at}"));
    traced.arg(command.get_program()).args(command.get_args()).env_clear();
    traced.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    traced.current_dir(command.get_current_dir().unwrap());
    traced
}

/// Whether some call failed by the fault.
pub(crate) fn has_failed_a_call(log: &Path) -> bool {
    std::fs::read_to_string(log).unwrap_or_default().contains("(INJECTED)")
}
