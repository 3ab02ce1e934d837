//! The execution context of a warden: a plain subreaper, or PID 1 of a namespace.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::mount::{MountFlags, mount};
use rustix::process::{geteuid, getpid};
use rustix::thread::clear_ambient_capability_set;

use loopkeeper_system::clean_room::OverlayMount;
use loopkeeper_system::process::table::{self, Process};

/// Properties that a job inherits from its warden and must leave unchanged.
#[derive(PartialEq, Eq)]
pub(super) struct HostFingerprint {
    limits: Vec<u8>,
    /// The mounts of a separate namespace.
    mounts: Option<Vec<u8>>,
}

impl HostFingerprint {
    pub(super) fn capture() -> Self {
        let read = |path| std::fs::read(path).unwrap_or_default();
        Self { limits: read("/proc/self/limits"), mounts: is_init().then(|| read("/proc/self/mountinfo")) }
    }

    /// Whether limits and mounts are unchanged, so that no program of the next job is covered or restricted, and no
    /// foreign process entered the namespace.
    pub(super) fn is_as_it_was(&self) -> bool {
        *self == Self::capture() && (!is_init() || other_processes().is_empty())
    }
}

/// Mounts the namespace's own `/proc`. Only after bubblewrap has made the mounts private.
pub(super) fn mount_proc() -> io::Result<()> {
    if !is_init() {
        return Err(io::Error::other("not the first process of a namespace"));
    }
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", flags, None)
        .map_err(|error| io::Error::other(format!("could not mount /proc: {error}")))
}

/// Mounts an overlay over the work tree and drops the privileges that this required.
pub(super) fn mount_overlay(overlay: &OverlayMount) -> io::Result<()> {
    if !is_init() {
        return Err(io::Error::other("not the first process of a namespace"));
    }
    // Only a privileged mount can store overlay marks in `trusted` attributes.
    let marks: &[u8] = if geteuid().is_root() { b"" } else { b",userxattr" };
    let layers = [&overlay.root, &overlay.upper, &overlay.work].map(|it| escape_option(it));
    let [lower, upper, work] = &layers;
    let options = [b"lowerdir=", &lower[..], b",upperdir=", upper, b",workdir=", work, marks].concat();
    let options = CString::new(options)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("overlay", &overlay.root, "overlay", flags, options.as_c_str())
        .map_err(|error| io::Error::other(format!("could not mount an overlay: {error}")))?;
    // The overlay may cover the current folder.
    if let Ok(folder) = std::env::current_dir() {
        std::env::set_current_dir(folder)?;
    }
    clear_ambient_capability_set()
        .map_err(|error| io::Error::other(format!("could not give up capabilities: {error}")))
}

/// Escapes layer and option separators.
fn escape_option(path: &Path) -> Vec<u8> {
    let bytes = path.as_os_str().as_bytes().iter();
    bytes.flat_map(|it| [b'\\', *it].into_iter().skip(usize::from(!b"\\:,".contains(it)))).collect()
}

/// Whether this is the first process of a PID namespace: when it exits, the kernel ends all other processes in it.
pub(super) fn is_init() -> bool {
    getpid().is_init()
}

/// All processes in the domain except the warden.
pub(super) fn other_processes() -> Vec<Process> {
    let own = getpid().as_raw_pid();
    let mut all = table::list_processes();
    if !is_init() {
        return table::descendants(own, all);
    }
    // Processes that entered the namespace from outside have no parent in it.
    all.retain(|process| process.running && process.pid != own);
    all
}
