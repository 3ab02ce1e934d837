//! Builds the command line of bubblewrap, and tests whether it works: a warden starts briefly and reports.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use loopkeeper_text::tr;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, geteuid, pidfd_open};

use super::file_access::FileAccess;
use super::network::{NetworkAccess, NetworkSetup};
use crate::clean_room::OverlayMount;
use crate::{program_path, warden_channel};

/// A working bubblewrap responds within milliseconds.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
/// Checked before `PATH`, which may lead into the workspace.
const SYSTEM_PATHS: [&str; 3] = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"];
/// Same devices, network and user; the processes are separate, and [`FileAccess`] restricts files. The warden is PID 1:
/// nothing in the namespace can kill it, and the kernel ends every process with it.
const NAMESPACE: [&str; 6] = ["--dev-bind", "/", "/", "--unshare-pid", "--as-pid-1", "--die-with-parent"];

/// Capabilities that an unprivileged warden needs to mount an overlay; it drops them before it starts a job.
const MOUNT_RIGHTS: [&str; 5] =
    ["--unshare-user", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_DAC_OVERRIDE"];

pub(super) fn bwrap_command(
    bwrap: &Path,
    warden: &Path,
    (files, network): (&FileAccess, &NetworkAccess),
    overlay: Option<&OverlayMount>,
) -> Command {
    let mut command = Command::new(bwrap);
    // Killed early, bubblewrap leaves its child to the keeper, which recognises its own children by their group.
    command.process_group(0);
    command.args(NAMESPACE).args(files.arguments());
    if network.is_separate() {
        command.arg("--unshare-net");
    }
    if overlay.is_some() && !geteuid().is_root() {
        command.args(MOUNT_RIGHTS);
    }
    // For root, bubblewrap covers parts of `/proc`, and the kernel then refuses sandboxes that an agent builds inside.
    // Root's warden can mount `/proc` itself, uncovered.
    let root = geteuid().is_root();
    if !root {
        command.args(["--proc", "/proc"]);
    }
    command.arg("--").arg(warden).arg(warden_channel::SUBCOMMAND);
    if root {
        command.arg("--own-proc");
    }
    command
}

pub(super) fn find_bwrap() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = SYSTEM_PATHS.iter().map(PathBuf::from).find(|path| path.is_file());
    system.or_else(|| program_path::find_in_path(OsStr::new("bwrap"), &path))
}

/// Starts a warden in a namespace briefly. The error is the reason of the failure, as text.
pub(super) fn probe_namespace(
    bwrap: &Path,
    warden: &Path,
    files: &FileAccess,
    network: &NetworkAccess,
) -> Result<(), String> {
    let failed = |what: &str| tr!("bubblewrap does not work here ({what})", what);
    run_probe(&mut bwrap_command(bwrap, warden, (files, network), None)).map_err(|why| failed(&why))
}

/// The same for a network namespace that the warden makes itself.
pub(super) fn probe_own_network(warden: &Path) -> Result<(), String> {
    let setup = NetworkSetup { own_namespace: true, proxy: false };
    let mut command = Command::new(warden);
    run_probe(command.arg(warden_channel::SUBCOMMAND).args(setup.arguments()))
}

pub(super) fn run_probe(command: &mut Command) -> Result<(), String> {
    let command = command.arg("--probe").current_dir("/").stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command.stderr(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
    if !ends_in_time(&child) {
        let _ = child.kill();
        let _ = child.wait();
        return Err(tr!("no answer").to_owned());
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let stderr_text = String::from_utf8_lossy(&output.stderr);
    let line = stderr_text.lines().next().unwrap_or(tr!("no reason given")).trim_start_matches("bwrap: ");
    Err(line.chars().filter(|c| !c.is_control()).take(120).collect())
}

fn ends_in_time(child: &Child) -> bool {
    let Ok(handle) = pidfd_open(Pid::from_child(child), PidfdFlags::empty()) else { return true };
    let time = Timespec { tv_sec: PROBE_TIMEOUT.as_secs() as i64, tv_nsec: 0 };
    poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&time)).is_ok_and(|ready| ready > 0)
}
