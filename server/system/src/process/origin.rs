//! Determines where a process belongs: to the user, or to the kill domain of a job. A process cannot escape its
//! ancestors: nothing leaves a PID namespace, and elsewhere the warden, then its keeper, adopts every process that
//! loses its parent.

use std::time::{Duration, SystemTime};

use rustix::process::getpid;
use rustix::time::{ClockId, clock_gettime};

use super::orphans::is_warden;
use crate::process_table::find_process;

/// A parent that exits during the search is replaced by the warden above it, so the search is repeated.
const ATTEMPTS: u32 = 8;
/// Deeper than the process tree of any user session.
const MAX_DEPTH: usize = 4096;
const TICKS_PER_SECOND: u64 = 100;
/// Start times are known to a tick, and the clocks are read one after the other.
const START_PRECISION: Duration = Duration::from_millis(50);

/// How a process is related to this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessOrigin {
    /// In no kill domain except those that contain this process.
    User,
    /// Below this child of this process.
    Below { child: i32 },
    /// Below a warden that is not an ancestor of this process.
    OtherDomain,
    /// The process has exited.
    Gone,
}

/// `pid` as the kernel reports the peer of a socket: 0 for a process in a namespace that is not visible from here,
/// which therefore is not below this process.
pub fn origin_of(pid: i32) -> ProcessOrigin {
    let own = getpid().as_raw_pid();
    if pid == 0 || pid == own {
        return ProcessOrigin::User;
    }
    let Some(line) = ancestry(pid) else { return ProcessOrigin::Gone };
    if let Some(child) = child_of(own, &line) {
        return ProcessOrigin::Below { child };
    }
    let ours = ancestry(own).unwrap_or_default();
    let is_foreign = |it: &i32| !ours.contains(it) && is_warden(*it).unwrap_or(true);
    if line.iter().any(is_foreign) { ProcessOrigin::OtherDomain } else { ProcessOrigin::User }
}

/// Whether this process runs below a warden that was started after `made`; an unknown time counts as earlier.
pub fn is_below_warden_started_after(made: Option<SystemTime>) -> bool {
    // What cannot be read may be a warden.
    let Some(line) = ancestry(getpid().as_raw_pid()) else { return true };
    line.into_iter().filter(|it| is_warden(*it).unwrap_or(true)).any(|it| is_after(started_at(it), made))
}

fn is_after(started: Option<SystemTime>, made: Option<SystemTime>) -> bool {
    let (Some(started), Some(made)) = (started, made) else { return true };
    started + START_PRECISION >= made
}

fn started_at(pid: i32) -> Option<SystemTime> {
    let ticks = find_process(pid)?.started;
    let up = clock_gettime(ClockId::Boottime);
    let up = Duration::new(u64::try_from(up.tv_sec).ok()?, u32::try_from(up.tv_nsec).ok()?);
    let age = up.saturating_sub(Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND));
    SystemTime::now().checked_sub(age)
}

/// The process, its parent, and so on. `None`: it has exited.
fn ancestry(pid: i32) -> Option<Vec<i32>> {
    for _ in 0..ATTEMPTS {
        let mut last = find_process(pid)?;
        let mut line = vec![pid];
        while last.parent != 0 && line.len() < MAX_DEPTH {
            let Some(parent) = find_process(last.parent) else { break };
            line.push(parent.pid);
            last = parent;
        }
        // A process that is still a parent and cannot be seen belongs to another user, so it is no warden of ours.
        let is_hidden = || find_process(last.pid).is_some_and(|it| it.parent == last.parent);
        if last.parent == 0 || is_hidden() {
            return Some(line);
        }
    }
    None
}

fn child_of(own: i32, line: &[i32]) -> Option<i32> {
    line.windows(2).find(|pair| pair.get(1) == Some(&own)).and_then(|pair| pair.first().copied())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};

    use super::*;
    use crate::process_table::without_descriptors;

    #[test]
    fn child_processes_are_recognised() {
        let own = getpid().as_raw_pid();
        assert_eq!(origin_of(own), ProcessOrigin::User);
        assert_eq!(origin_of(0), ProcessOrigin::User);
        assert_eq!(origin_of(std::os::unix::process::parent_id().cast_signed()), ProcessOrigin::User);
        let mut shell = Command::new("sh");
        shell.args(["-c", "sleep 60 & echo $!; wait"]);
        let mut child = shell.stdout(Stdio::piped()).process_group(0).spawn().unwrap();
        let pid = child.id().cast_signed();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.as_mut().unwrap()), &mut line)
            .unwrap();
        let grandchild: i32 = line.trim().parse().unwrap();
        assert_eq!(origin_of(grandchild), ProcessOrigin::Below { child: pid });
        assert_eq!(origin_of(pid), ProcessOrigin::Below { child: pid });
        let group = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
        child.wait().unwrap();
        assert_eq!(origin_of(pid), ProcessOrigin::Gone);
    }

    #[test]
    fn an_origin_that_cannot_be_read_is_not_the_user() {
        let parent = std::os::unix::process::parent_id().cast_signed();
        let (origin, is_below) =
            without_descriptors(|| (origin_of(parent), is_below_warden_started_after(None)));
        assert_eq!((origin, is_below), (ProcessOrigin::Gone, true));
    }

    #[test]
    fn a_process_starts_before_now_and_after_its_parent() {
        let own = getpid().as_raw_pid();
        let started = started_at(own).unwrap();
        assert!(started <= SystemTime::now() + Duration::from_millis(20));
        assert!(started_at(1).unwrap() <= started);
    }

    #[test]
    fn processes_older_than_a_warden_are_not_its_descendants() {
        let at = |ms: u64| Some(SystemTime::UNIX_EPOCH + Duration::from_millis(ms));
        assert!(is_after(at(1000), at(500)));
        assert!(is_after(at(1000), at(1020)), "within the precision");
        assert!(!is_after(at(1000), at(1200)));
        assert!(is_after(None, at(500)) && is_after(at(1000), None), "an unknown time counts as earlier");
    }

    #[test]
    fn the_child_of_an_ancestor_is_found_in_the_ancestry() {
        assert_eq!(child_of(3, &[9, 7, 3, 1]), Some(7));
        assert_eq!(child_of(3, &[3, 1]), None);
        assert_eq!(child_of(3, &[9, 1]), None);
    }
}
