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

/// What a job inherits from its warden and must leave as it found it.
#[derive(PartialEq, Eq)]
pub(super) struct HostFingerprint {
    limits: Vec<u8>,
    /// What is mounted where, in a namespace of our own.
    mounts: Option<Vec<u8>>,
}

impl HostFingerprint {
    pub(super) fn capture() -> Self {
        let read = |path| std::fs::read(path).unwrap_or_default();
        Self { limits: read("/proc/self/limits"), mounts: is_init().then(|| read("/proc/self/mountinfo")) }
    }

    /// Nothing covers a program that the next job starts or keeps it from its work, and nobody came into the
    /// namespace from outside.
    pub(super) fn is_as_it_was(&self) -> bool {
        *self == Self::capture() && (!is_init() || other_processes().is_empty())
    }
}

/// Shows the namespace's processes instead of the system's. Only where bubblewrap has made the mounts private.
pub(super) fn mount_proc() -> io::Result<()> {
    if !is_init() {
        return Err(io::Error::other("not the first process of a namespace"));
    }
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", flags, None)
        .map_err(|error| io::Error::other(format!("could not mount /proc: {error}")))
}

/// Covers the work tree with an overlay of itself, and gives up the rights that this took.
pub(super) fn mount_overlay(overlay: &OverlayMount) -> io::Result<()> {
    if !is_init() {
        return Err(io::Error::other("not the first process of a namespace"));
    }
    // Only a privileged mount may keep its marks in `trusted` attributes.
    let marks: &[u8] = if geteuid().is_root() { b"" } else { b",userxattr" };
    let layers = [&overlay.root, &overlay.upper, &overlay.work].map(|it| escape_option(it));
    let [lower, upper, work] = &layers;
    let options = [b"lowerdir=", &lower[..], b",upperdir=", upper, b",workdir=", work, marks].concat();
    let options = CString::new(options)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("overlay", &overlay.root, "overlay", flags, options.as_c_str())
        .map_err(|error| io::Error::other(format!("could not mount an overlay: {error}")))?;
    // The folder that this process is in may be covered by now.
    if let Ok(folder) = std::env::current_dir() {
        std::env::set_current_dir(folder)?;
    }
    clear_ambient_capability_set()
        .map_err(|error| io::Error::other(format!("could not give up capabilities: {error}")))
}

/// Colons separate layers, commas options.
fn escape_option(path: &Path) -> Vec<u8> {
    let bytes = path.as_os_str().as_bytes().iter();
    bytes.flat_map(|it| [b'\\', *it].into_iter().skip(usize::from(!b"\\:,".contains(it)))).collect()
}

/// The first process of a PID namespace of its own: when it ends, the kernel ends everything else in it.
pub(super) fn is_init() -> bool {
    getpid().is_init()
}

/// Everybody in the domain but the warden.
pub(super) fn other_processes() -> Vec<Process> {
    let own = getpid().as_raw_pid();
    let mut all = table::list_processes();
    if !is_init() {
        return table::descendants(own, all);
    }
    // Those who entered the namespace from outside have no parent in it.
    all.retain(|process| process.running && process.pid != own);
    all
}
