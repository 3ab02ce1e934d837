//! The execution context of a warden: a plain subreaper, or PID 1 of a namespace.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind_recursive, mount_change};
use rustix::process::{getegid, geteuid, getpid};
use rustix::thread::{UnshareFlags, clear_ambient_capability_set};

use loopkeeper_system::clean_room::{BindMount, OverlayMount, read_mounts};
use loopkeeper_system::process_table::{self, Process};

/// Properties that a job inherits from its warden and must leave unchanged.
#[derive(PartialEq, Eq)]
pub(super) struct HostFingerprint {
    limits: Vec<u8>,
    /// The mounts of a separate namespace.
    mounts: Option<Vec<u8>>,
}

impl HostFingerprint {
    pub(super) fn capture() -> io::Result<Self> {
        let mounts = is_init().then(|| std::fs::read("/proc/self/mountinfo")).transpose()?;
        Ok(Self { limits: std::fs::read("/proc/self/limits")?, mounts })
    }

    /// Whether limits and mounts are unchanged, so that no program of the next job is covered or restricted, and no
    /// foreign process entered the namespace.
    pub(super) fn is_unchanged(&self) -> bool {
        Self::capture().is_ok_and(|it| it == *self)
            && (!is_init() || other_processes().is_ok_and(|it| it.is_empty()))
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
    let rights = if is_init() { MountRights::of_user() } else { enter_mount_namespace()? };
    if let Some(list) = &overlay.outside {
        mount_outside(&read_mounts(list)?)?;
    }
    // Only a privileged mount can store overlay marks in `trusted` attributes.
    let marks: &[u8] = match rights {
        MountRights::Root => b"",
        MountRights::UserNamespace => b",userxattr",
    };
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

/// Makes mounts outside the work tree. What is gone needs none.
fn mount_outside(mounts: &[BindMount]) -> io::Result<()> {
    for BindMount { source, target } in mounts {
        match mount_bind_recursive(source, target) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(error) => {
                let target = target.display();
                return Err(io::Error::other(format!("could not mount {target}: {error}")));
            }
        }
    }
    Ok(())
}

/// The privilege by which a mount is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MountRights {
    Root,
    /// The warden owns a user namespace.
    UserNamespace,
}

impl MountRights {
    fn of_user() -> Self {
        if geteuid().is_root() { Self::Root } else { Self::UserNamespace }
    }
}

/// Enters a mount namespace of this process without bubblewrap, whose mounts no other process sees.
fn enter_mount_namespace() -> io::Result<MountRights> {
    let rights = enter_namespace(UnshareFlags::NEWNS, "mount")?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(|error| namespace_error("mount", &error.into()))?;
    Ok(rights)
}

/// Enters a namespace of this process: as root directly, as another user in a user namespace that changes no id.
pub(super) fn enter_namespace(kind: UnshareFlags, name: &str) -> io::Result<MountRights> {
    let failed = |error: io::Error| namespace_error(name, &error);
    if geteuid().is_root() && unshare_namespaces(kind).is_ok() {
        return Ok(MountRights::Root);
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare_namespaces(UnshareFlags::NEWUSER | kind).map_err(failed)?;
    std::fs::write("/proc/self/setgroups", "deny").map_err(failed)?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1")).map_err(failed)?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1")).map_err(failed)?;
    Ok(MountRights::UserNamespace)
}

fn namespace_error(name: &str, error: &io::Error) -> io::Error {
    // The limit of the system, not of a disk.
    let limit = error.kind() == io::ErrorKind::StorageFull;
    let why = if limit { "the system permits no more of them".to_owned() } else { error.to_string() };
    io::Error::other(format!("no {name} namespace can be made: {why}"))
}

#[expect(deprecated, reason = "its successor is unsafe because of a flag that is not used here")]
fn unshare_namespaces(flags: UnshareFlags) -> io::Result<()> {
    Ok(rustix::thread::unshare(flags)?)
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
pub(super) fn other_processes() -> io::Result<Vec<Process>> {
    let own = getpid().as_raw_pid();
    let mut all = process_table::list_processes()?;
    if !is_init() {
        return Ok(process_table::descendants(own, all));
    }
    // Processes that entered the namespace from outside have no parent in it.
    all.retain(|process| process.running && process.pid != own);
    Ok(all)
}
