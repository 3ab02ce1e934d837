//! Reads the process table from `/proc`, and sends signals that cannot hit the wrong process.
//!
//! [`crate::process::tree`] and its callers decide which processes to end. What cannot be read for lack of file
//! descriptors or memory is an error: it says nothing about the process.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};

use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

/// Linux reports CPU time in hundredths of a second, whatever the kernel's own tick is.
const MS_PER_TICK: u64 = 10;
/// A name of 64 bytes and 51 numbers of up to 20 digits; `/proc` returns a line in one read.
const MAX_LINE_BYTES: usize = 2048;
/// Bubblewrap, the warden in its namespace, its job.
const WARDEN_DEPTH: usize = 3;

/// One process, distinguished from a later one with the same pid by its start time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub pid: i32,
    pub(crate) parent: i32,
    pub(crate) group: i32,
    pub(crate) session: i32,
    /// Clock ticks since boot.
    pub started: u64,
    pub(crate) name: String,
    /// Its own CPU time and that of its reaped children.
    pub cpu_ms: u64,
    /// Not a zombie.
    pub running: bool,
    /// Stopped by a signal or by a tracer.
    pub stopped: bool,
}

impl Process {
    /// Whether both are the same process, at whatever time they were read.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.pid, self.started) == (other.pid, other.started)
    }

    /// Sends `TERM`; an error if it has exited.
    pub fn terminate(&self) -> io::Result<()> {
        self.signal(Signal::TERM)
    }

    /// Its entry in a list of survivors.
    pub(crate) fn label(&self) -> String {
        format!("{} {}", self.pid, self.name)
    }

    /// Signals this very process; if it has exited the result is `ESRCH`, never a signal to another process with its
    /// pid.
    pub(crate) fn signal(&self, signal: Signal) -> io::Result<()> {
        let pid = Pid::from_raw(self.pid).ok_or(rustix::io::Errno::SRCH)?;
        let handle = pidfd_open(pid, PidfdFlags::empty())?;
        if find_process(self.pid).is_none_or(|now| now.started != self.started) {
            return Err(rustix::io::Errno::SRCH.into());
        }
        Ok(pidfd_send_signal(handle, signal)?)
    }
}

/// Every visible process, including zombies.
pub fn list_processes() -> io::Result<Vec<Process>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        if let Some(pid) = entry?.file_name().to_str().and_then(|it| it.parse().ok()) {
            all.extend(read_process(pid)?);
        }
    }
    Ok(all)
}

/// The current process with this pid. `None`: it has exited, or is not visible.
pub fn read_process(pid: i32) -> io::Result<Option<Process>> {
    let Some(stat) = if_visible(std::fs::File::open(format!("/proc/{pid}/stat")))? else { return Ok(None) };
    let mut line = [0; MAX_LINE_BYTES];
    let read = if_visible(rustix::io::read(&stat, &mut line).map_err(io::Error::from))?;
    Ok(read.and_then(|it| parse(pid, line.get(..it)?)))
}

/// Like [`read_process`], where an unreadable process may pass for one that has exited.
pub fn find_process(pid: i32) -> Option<Process> {
    read_process(pid).ok().flatten()
}

/// What was read in the folder of a process. `None`: the process has exited, or belongs to another user.
pub(crate) fn if_visible<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => Ok(None),
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The children of this process, including zombies. Much faster than reading the whole table, but may miss some while
/// others are reaped, so call it again.
pub(crate) fn own_children() -> io::Result<Vec<Process>> {
    children_of(getpid().as_raw_pid())
}

/// The children of this process, including zombies. Reads the whole table, which is in the order of pids: a child that
/// exists for as long as this takes is never missed.
pub(crate) fn own_children_of_table() -> io::Result<Vec<Process>> {
    let own = getpid().as_raw_pid();
    Ok(list_processes()?.into_iter().filter(|process| process.parent == own).collect())
}

pub(crate) fn children_of(parent: i32) -> io::Result<Vec<Process>> {
    let mut lists = Vec::new();
    for task in if_visible(std::fs::read_dir(format!("/proc/{parent}/task")))?.into_iter().flatten() {
        let Some(task) = if_visible(task)? else { break };
        lists.extend(if_visible(std::fs::read_to_string(task.path().join("children")))?);
    }
    if lists.is_empty() {
        // Not every kernel provides the list.
        let all = list_processes()?.into_iter();
        return Ok(all.filter(|process| process.parent == parent).collect());
    }
    let pids = lists.iter().flat_map(|list| list.split_ascii_whitespace());
    let read = pids.filter_map(|pid| read_process(pid.parse().ok()?).transpose());
    read.collect()
}

/// The pid, in this process's namespace, of the descendant of `root` whose pid in its own PID namespace is `inner`.
/// `None`: it no longer exists.
pub(crate) fn pid_below(root: i32, inner: i32) -> Option<i32> {
    // Without a separate namespace: far fewer reads than the search.
    if is_below(root, inner) && innermost_pid(inner) == Some(inner) {
        return Some(inner);
    }
    let mut level = vec![root];
    for _ in 0..WARDEN_DEPTH {
        let children = level.iter().filter_map(|it| children_of(*it).ok()).flatten();
        level = children.map(|it| it.pid).collect();
        if let Some(found) = level.iter().find(|it| innermost_pid(**it) == Some(inner)) {
            return Some(*found);
        }
    }
    None
}

fn is_below(root: i32, pid: i32) -> bool {
    let parents = std::iter::successors(Some(pid), |it| find_process(*it).map(|it| it.parent));
    parents.skip(1).take(WARDEN_DEPTH).any(|it| it == root)
}

/// Pid of a process in its innermost namespace.
fn innermost_pid(pid: i32) -> Option<i32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    parse_innermost_pid(&status)
}

fn parse_innermost_pid(status: &str) -> Option<i32> {
    let numbers = status.lines().find_map(|it| it.strip_prefix("NSpid:"))?;
    numbers.split_ascii_whitespace().next_back()?.parse().ok()
}

/// The running descendants of `root`, without `root` itself.
pub fn descendants(root: i32, all: Vec<Process>) -> Vec<Process> {
    let mut children: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
    for process in all {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = children.remove(&root).unwrap_or_default();
    let mut next = 0;
    while let Some(process) = found.get(next) {
        found.extend(children.remove(&process.pid).unwrap_or_default());
        next += 1;
    }
    found.retain(|process| process.running);
    found
}

/// CPU time of `root` and everything below it, including children that have ended.
pub(crate) fn cpu_ms(root: i32) -> io::Result<u64> {
    let all = list_processes()?;
    let own = all.iter().find(|process| process.pid == root).map_or(0, |process| process.cpu_ms);
    Ok(own + descendants(root, all).iter().map(|process| process.cpu_ms).sum::<u64>())
}

/// Parses a line of `/proc/PID/stat`. The name is in parentheses and may contain anything, including parentheses.
fn parse(pid: i32, stat: &[u8]) -> Option<Process> {
    // Parsed by hand: a search that first detects the CPU's features costs a warden more than it saves.
    let open = stat.iter().position(|byte| *byte == b'(')?;
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let name = String::from_utf8_lossy(stat.get(open + 1..close)?);
    let rest = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |index: usize| fields.get(index).and_then(|field| field.parse::<u64>().ok());
    let (state, threads) = (fields.first()?, number(17)?);
    // User and system time, and both for the reaped children.
    let ticks = number(11)? + number(12)? + number(13)? + number(14)?;
    Some(Process {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        started: number(19)?,
        name: name.chars().map(|c| if c.is_control() { '?' } else { c }).collect(),
        cpu_ms: ticks * MS_PER_TICK,
        // A thread-group leader that has exited while its threads still run looks like a zombie but is not.
        running: !matches!(*state, "Z" | "X") || threads > 1,
        stopped: matches!(*state, "T" | "t"),
    })
}

/// Runs `read` while this process can open no file. Only for tests that have a process of their own.
#[cfg(test)]
pub(crate) fn without_descriptors<T>(read: impl FnOnce() -> T) -> T {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(0), ..limit }).unwrap();
    let result = read();
    setrlimit(Resource::Nofile, limit).unwrap();
    result
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn line(name: &str, state: &str, threads: u32) -> String {
        format!(
            "7 ({name}) {state} 3 6 5 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 {threads} 0 5555 9 9 18446744073709551615"
        )
    }

    #[test]
    fn a_line_of_proc_stat_is_parsed() {
        let check = |name: &str, state: &str, threads, expect: (&str, bool)| {
            let process = parse(7, line(name, state, threads).as_bytes()).unwrap();
            assert_eq!((process.name.as_str(), process.running), expect);
            assert_eq!((process.group, process.session), (6, 5));
            assert_eq!((process.parent, process.started, process.cpu_ms), (3, 5555, 1000));
        };
        check("sleep", "S", 1, ("sleep", true));
        check("a) Z (b", "R", 1, ("a) Z (b", true));
        check("x\ny\u{1b}", "S", 1, ("x?y?", true));
        check("dead", "Z", 1, ("dead", false));
        check("leader gone", "Z", 2, ("leader gone", true));
        for broken in ["", "7", "7 (x", "7 (x) S", "7 (x) S a b c"] {
            assert_eq!(parse(7, broken.as_bytes()), None);
        }
    }

    #[test]
    fn the_pid_in_the_innermost_namespace_is_found() {
        let check = |status: &str, expect| assert_eq!(parse_innermost_pid(status), expect, "{status}");
        check("Name:\tsh\nPid:\t812\nNSpid:\t812\t7\nNSpgid:\t812\t1\n", Some(7));
        check("NSpid:\t812\n", Some(812));
        check("NSpid:\n", None);
        check("Pid:\t812\n", None);
        let own = std::process::id() as i32;
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id() as i32;
        assert_eq!(pid_below(own, innermost_pid(pid).unwrap()), Some(pid));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(pid_below(own, pid), None);
    }

    #[test]
    fn descendants_include_those_of_descendants_but_no_zombies() {
        let process = |pid, parent, running| Process {
            pid,
            parent,
            group: 0,
            session: 0,
            started: 0,
            name: String::new(),
            cpu_ms: 0,
            running,
            stopped: false,
        };
        let all = vec![
            process(9, 4, true),
            process(2, 1, true),
            process(3, 2, true),
            process(4, 3, true),
            process(5, 2, false),
            process(6, 1, true),
        ];
        let mut found: Vec<i32> = descendants(2, all).iter().map(|process| process.pid).collect();
        found.sort_unstable();
        assert_eq!(found, [3, 4, 9]);
    }

    #[test]
    fn this_process_is_found_and_a_wrong_start_is_not_signalled() {
        let own = std::process::id() as i32;
        let process = list_processes().unwrap().into_iter().find(|process| process.pid == own).unwrap();
        assert!(process.running);
        let earlier = Process { started: process.started - 1, ..process };
        assert!(earlier.signal(Signal::KILL).is_err());
    }

    /// Once in ten thousand scans the list that the kernel keeps of children lacks it.
    #[test]
    fn a_child_is_found_while_earlier_ones_are_reaped() {
        for _ in 0..10 {
            let mut earlier: Vec<Child> = (0..50).map(|_| Command::new("true").spawn().unwrap()).collect();
            let mut last = Command::new("sleep").arg("1000").spawn().unwrap();
            let is_over = AtomicBool::new(false);
            let is_always_found = std::thread::scope(|scope| {
                let scans = scope.spawn(|| {
                    let is_found =
                        || own_children_of_table().unwrap().iter().any(|it| it.pid == last.id() as i32);
                    while !is_over.load(Ordering::Relaxed) {
                        if !is_found() {
                            return false;
                        }
                    }
                    is_found()
                });
                assert!(earlier.iter_mut().all(|it| it.wait().unwrap().success()));
                is_over.store(true, Ordering::Relaxed);
                scans.join().unwrap()
            });
            last.kill().unwrap();
            last.wait().unwrap();
            assert!(is_always_found);
        }
    }

    #[test]
    fn a_list_without_free_descriptors_is_an_error() {
        let own = std::process::id() as i32;
        let (list, children, process) =
            without_descriptors(|| (list_processes(), own_children(), read_process(own)));
        assert!(list.is_err() && children.is_err() && process.is_err(), "{list:?} {children:?} {process:?}");
        assert!(cpu_ms(own).is_ok());
    }

    #[test]
    fn an_exited_process_is_no_error() {
        assert_eq!(read_process(i32::MAX).unwrap(), None);
        assert_eq!(children_of(i32::MAX).unwrap(), Vec::new());
    }
}
