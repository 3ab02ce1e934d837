//! Makes control groups for `sandbox.memory` and `sandbox.processes`, where this user may make them (a delegated part
//! of the second version, or writable hierarchies of the first): they count all processes of a job together, those of
//! root included, and report which limit was reached. Elsewhere the limits of single processes remain (`resources.rs`).

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::{fs, io};

use super::bubblewrap::run_probe;
use super::group_parents::{GroupParent, GroupVersion, find_parents};
use super::resources::ResourceLimits;
use crate::warden_channel;

/// The first option of the program that enters groups and then becomes another program.
pub const IN_GROUP: &str = "--in-group";
const PREFIX: &str = "loopkeeper-";
/// Processes of a warden besides its job: bubblewrap, the guard, the warden, the thread in which a job starts.
const OWN_PROCESSES: u32 = 4;
/// Their memory.
const OWN_MEMORY: u64 = 16 << 20;
/// The kernel removes a process from its group shortly after its parent was notified of its end.
const RETRY_DELAY: Duration = Duration::from_millis(2);
const ATTEMPTS: u32 = 50;
static NEXT_GROUP: AtomicU32 = AtomicU32::new(0);

/// Where groups can be made, for each controller that a limit needs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ControlGroups(Vec<GroupParent>);

/// The groups of one warden, which are removed with it.
#[derive(Debug)]
pub struct JobGroups {
    groups: Vec<JobGroup>,
    counted: LimitCounts,
}

#[derive(Debug)]
struct JobGroup {
    folder: PathBuf,
    place: GroupParent,
}

/// The limits that a job reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReachedLimits {
    pub memory: bool,
    pub processes: bool,
}

/// How often the kernel enforced a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct LimitCounts {
    memory: u64,
    processes: u64,
}

impl ControlGroups {
    /// The places that work, tested with a process that enters a group.
    pub(super) fn detect(warden: &Path, limits: ResourceLimits) -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let (groups, mounts) = (read("/proc/self/cgroup"), read("/proc/self/mountinfo"));
        let needs = |it: &GroupParent| {
            (it.memory && limits.memory.is_some()) || (it.processes && limits.processes.is_some())
        };
        let mut usable = Self::default();
        for place in find_parents(&groups, &mounts, is_writable).into_iter().filter(needs) {
            remove_leftover_groups(&place.parent);
            let one = Self(vec![place]);
            if one.create(limits).and_then(|it| it.test(warden)).is_ok() {
                usable.0.extend(one.0);
            }
        }
        usable
    }

    #[cfg(test)]
    pub(super) fn of(places: Vec<GroupParent>) -> Self {
        Self(places)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn limits_memory(&self) -> bool {
        self.0.iter().any(|it| it.memory)
    }

    pub(super) fn limits_processes(&self) -> bool {
        self.0.iter().any(|it| it.processes)
    }

    /// A job must not write here: it could lift its limits, or leave its groups.
    pub(super) fn mounts(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|it| it.mount.as_path())
    }

    pub(super) fn create(&self, limits: ResourceLimits) -> io::Result<JobGroups> {
        let mut made = JobGroups { groups: Vec::new(), counted: LimitCounts::default() };
        for place in &self.0 {
            let folder = make_folder(&place.parent)?;
            made.groups.push(JobGroup { folder: folder.clone(), place: place.clone() });
            place.set_limits(&folder, limits)?;
        }
        made.counted = made.counts();
        Ok(made)
    }
}

impl GroupParent {
    fn set_limits(&self, folder: &Path, limits: ResourceLimits) -> io::Result<()> {
        if let Some(bytes) = limits.memory.filter(|_| self.memory) {
            let bytes = bytes.saturating_add(OWN_MEMORY);
            let (file, with_swap) = match self.version {
                GroupVersion::First => ("memory.limit_in_bytes", ("memory.memsw.limit_in_bytes", bytes)),
                GroupVersion::Second => ("memory.max", ("memory.swap.max", 0)),
            };
            fs::write(folder.join(file), bytes.to_string())?;
            // Absent where the kernel does not count swap.
            let _ = fs::write(folder.join(with_swap.0), with_swap.1.to_string());
        }
        if let Some(number) = limits.processes.filter(|_| self.processes) {
            fs::write(folder.join("pids.max"), number.saturating_add(OWN_PROCESSES).to_string())?;
        }
        Ok(())
    }
}

impl JobGroups {
    /// The command in these groups. Entered before bubblewrap starts, because the groups are read-only inside.
    pub(super) fn enter(&self, warden: &Path, inner: &Command) -> Command {
        let mut command = self.command_in_groups(warden);
        command.arg("--").arg(inner.get_program()).args(inner.get_args());
        command
    }

    fn command_in_groups(&self, warden: &Path) -> Command {
        let mut command = Command::new(warden);
        command.arg(warden_channel::SUBCOMMAND);
        let words = self.groups.iter().flat_map(|it| [OsString::from(IN_GROUP), it.folder.clone().into()]);
        command.args(words);
        command
    }

    fn test(&self, warden: &Path) -> io::Result<()> {
        run_probe(&mut self.command_in_groups(warden)).map_err(io::Error::other)
    }

    /// The limits that were reached since the last call.
    pub fn take_reached(&mut self) -> ReachedLimits {
        let now = self.counts();
        let before = std::mem::replace(&mut self.counted, now);
        ReachedLimits { memory: now.memory > before.memory, processes: now.processes > before.processes }
    }

    fn counts(&self) -> LimitCounts {
        let mut counts = LimitCounts::default();
        for JobGroup { folder, place } in &self.groups {
            let read = |file: &str, name: &str| {
                count_of(&fs::read_to_string(folder.join(file)).unwrap_or_default(), name)
            };
            if place.memory {
                let file = match place.version {
                    GroupVersion::First => "memory.oom_control",
                    GroupVersion::Second => "memory.events",
                };
                counts.memory += read(file, "oom_kill");
            }
            if place.processes {
                counts.processes += read("pids.events", "max");
            }
        }
        counts
    }
}

impl Drop for JobGroups {
    fn drop(&mut self) {
        for JobGroup { folder, .. } in &self.groups {
            let mut left = ATTEMPTS;
            while left > 0 && fs::remove_dir(folder).is_err_and(|it| it.kind() == io::ErrorKind::ResourceBusy)
            {
                std::thread::sleep(RETRY_DELAY);
                left -= 1;
            }
        }
    }
}

fn make_folder(parent: &Path) -> io::Result<PathBuf> {
    loop {
        let number = NEXT_GROUP.fetch_add(1, Ordering::Relaxed);
        let folder = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
        match fs::create_dir(&folder) {
            // A killed keeper that had this pid left it behind.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| folder),
        }
    }
}

/// The number in the line `NAME NUMBER`.
fn count_of(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|it| it.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|it| it.trim().parse().ok()).unwrap_or_default()
}

/// Whether this user may make groups in it and move processes below it.
fn is_writable(folder: &Path) -> bool {
    use rustix::fs::{Access, access};
    let is_folder = access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok();
    let mode = fs::metadata(folder.join("cgroup.procs")).map_or(0, |it| it.permissions().mode());
    is_folder && mode & 0o222 != 0 && access(folder.join("cgroup.procs"), Access::WRITE_OK).is_ok()
}

/// Removes the empty groups of keepers that were killed.
fn remove_leftover_groups(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let pid = name.strip_prefix(PREFIX).and_then(|it| it.split('-').next());
        if pid.is_some_and(|it| !Path::new("/proc").join(it).exists()) {
            // Fails while a process is in it.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_counted() {
        let memory = "low 0\nhigh 1\nmax 7\noom 3\noom_kill 2\noom_group_kill 5\n";
        assert_eq!((count_of(memory, "oom_kill"), count_of(memory, "max")), (2, 7));
        assert_eq!(count_of("oom_kill_disable 0\nunder_oom 1\noom_kill 4\n", "oom_kill"), 4);
        assert_eq!((count_of("", "max"), count_of("max x\n", "max")), (0, 0));
    }

    #[test]
    fn groups_of_a_killed_keeper_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (own, dead) = (format!("{PREFIX}{}-0", std::process::id()), format!("{PREFIX}4194399-0"));
        for name in [own.as_str(), &dead, "loopkeeper-", "other"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        remove_leftover_groups(folder.path());
        let exists = |name: &str| folder.path().join(name).exists();
        assert!(exists(&own) && exists("other") && !exists(&dead));
    }

    #[test]
    fn groups_of_a_killed_keeper_with_the_same_pid_are_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..20 {
            fs::create_dir(folder.path().join(format!("{PREFIX}{}-{number}", std::process::id()))).unwrap();
        }
        let made = make_folder(folder.path()).unwrap();
        assert!(made.is_dir() && made.starts_with(folder.path()));
    }
}
