//! The guard: the parent of a warden that is not the first process of a PID namespace. It ends what a killed warden
//! left behind, even if the keeper was killed in the same moment; without it, processes whose parents have ended and
//! that cleared their environment could not be distinguished from others. It takes no requests and holds no channel.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitStatus, kill_process};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use super::execution_context::other_processes;
use super::watch::{WardenSignals, reap_children};
use loopkeeper_system::process::hardening;
use loopkeeper_system::process::tree::{self, RemainingChildren};
use loopkeeper_system::warden_channel::SUBCOMMAND;

/// Runs a warden with these arguments and ends everything that it leaves behind.
pub(super) fn run(args: impl Iterator<Item = OsString>) -> ExitCode {
    match start(args).map(|(signals, warden)| supervise(&signals, warden)) {
        Ok(status) => exit_code(status),
        Err(error) => {
            let _ = writeln!(io::stderr(), "the warden cannot be started: {error}");
            ExitCode::FAILURE
        }
    }
}

fn start(args: impl Iterator<Item = OsString>) -> io::Result<(WardenSignals, Pid)> {
    hardening::forbid_tracing()?;
    let signals = WardenSignals::install()?;
    // The running file, whatever has been put in its place since.
    let mut warden = Command::new("/proc/self/exe");
    if let Some(name) = std::env::args_os().next() {
        warden.arg0(name);
    }
    let warden = warden.arg(SUBCOMMAND).args(args).spawn()?;
    // The keeper waits for the end of these, and only the warden uses them.
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    dup2_stderr(&null)?;
    Ok((signals, Pid::from_child(&warden)))
}

/// How the warden ended.
fn supervise(signals: &WardenSignals, warden: Pid) -> Option<WaitStatus> {
    const NO_DEADLINE: Duration = Duration::from_secs(24 * 60 * 60);
    let mut ended = None;
    let mut forwarded = false;
    while reap_children(|pid, status| ended = ended.or((pid == warden).then_some(status)))
        == RemainingChildren::Some
        && ended.is_none()
    {
        if signals.is_end_requested() && !forwarded {
            forwarded = kill_process(warden, Signal::TERM).is_ok();
        }
        signals.pause(NO_DEADLINE);
    }
    tree::end_children(
        other_processes,
        |_| false,
        |time| {
            signals.pause(time);
            reap_children(|_, _| ())
        },
    );
    ended
}

/// The exit code as a shell reports it.
fn exit_code(status: Option<WaitStatus>) -> ExitCode {
    let code = status.and_then(|it| it.exit_status().or(it.terminating_signal().map(|signal| 128 + signal)));
    ExitCode::from(code.and_then(|it| u8::try_from(it).ok()).unwrap_or(1))
}
