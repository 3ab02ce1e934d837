//! Finds and ends processes whose warden has ended, because the warden or the keeper was killed.
//!
//! Only `process` starts programs in a keeper, so an unknown child process is an orphan.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, child_subreaper, getpgrp, getpid, pidfd_open, set_child_subreaper,
    waitpid,
};
use tokio::sync::Notify;

use super::tree::{self, KillReport, RemainingChildren};
use crate::process_table::{self, Process};
use crate::warden_channel;

/// The variable that marks everything a loop starts: `LOOPKEEPER_LOOP=<loopId>:<token>`.
pub const ENV_LOOP: &str = "LOOPKEEPER_LOOP";
/// Time for a warden whose keeper has ended to end its domain.
const WARDEN_TIMEOUT: Duration = Duration::from_secs(4);

/// Wardens (or the bubblewrap around them) that this process started and still waits for.
static KNOWN_WARDENS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Wardens running detached from the loop; excluded from orphan cleanup and from waits.
static DETACHED_WARDENS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Notified when a warden has ended or is idle.
static WARDEN_ENDED: Notify = Notify::const_new();

fn known_wardens() -> MutexGuard<'static, BTreeSet<i32>> {
    KNOWN_WARDENS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn detached_wardens() -> MutexGuard<'static, BTreeSet<i32>> {
    DETACHED_WARDENS.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn register(pid: i32) {
    known_wardens().insert(pid);
}

/// Call right after the start, before any sweep.
pub(super) fn mark_detached(pid: i32) {
    detached_wardens().insert(pid);
}

pub(super) fn mark_attached(pid: i32) {
    detached_wardens().remove(&pid);
}

/// The warden has no job at the moment: it is excluded from waits and from sweeps.
pub(super) fn mark_idle(pid: i32) {
    mark_detached(pid);
    WARDEN_ENDED.notify_waiters();
}

pub(super) fn unregister(pid: i32) {
    known_wardens().remove(&pid);
    detached_wardens().remove(&pid);
    WARDEN_ENDED.notify_waiters();
}

/// The processes that were ended and those that could not be, as `pid name`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Orphans {
    pub ended: Vec<String>,
    pub unkillable: Vec<String>,
}

impl From<KillReport> for Orphans {
    fn from(report: KillReport) -> Self {
        Self { ended: report.names(0), unkillable: report.unkillable }
    }
}

/// Makes this process the parent of every process that loses its warden. For keepers only: in a program that starts
/// others in its own way it would make [`kill_orphans`] dangerous.
pub fn become_subreaper() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Waits until every job of this process has ended, including dropped ones, then sweeps: afterwards only jobs that run
/// detached from the loop are alive.
pub async fn wait_until_all_ended() -> Orphans {
    loop {
        let gone = WARDEN_ENDED.notified();
        if known_wardens().is_subset(&detached_wardens()) {
            return kill_orphans();
        }
        gone.await;
    }
}

pub(super) fn is_subreaper() -> bool {
    matches!(child_subreaper(), Ok(Some(_)))
}

/// Ends every descendant of this process that belongs to no known warden.
pub fn kill_orphans() -> Orphans {
    kill_unknown(process_table::own_children)
}

/// The same after the death of a warden, which leaves its processes to this one: a single child that is missed would
/// run beside the next job. Others may have died with it, and while they are reaped the list of children has gaps.
pub(super) fn kill_orphans_of_killed_warden() -> Orphans {
    kill_unknown(process_table::own_children_of_table)
}

/// Spares programs that this process runs without a warden, such as git. They are in its process group, which everything
/// that belongs to a warden leaves: a warden leads a separate session, and bubblewrap a separate group.
fn kill_unknown(list_children: fn() -> io::Result<Vec<Process>>) -> Orphans {
    let (own, group) = (getpid().as_raw_pid(), getpgrp().as_raw_pid());
    let is_spared = |child: &Process| child.group == group || known_wardens().contains(&child.pid);
    let list_strays = || {
        let mut all = process_table::list_processes()?;
        all.retain(|process| process.parent != own || !is_spared(process));
        Ok(process_table::descendants(own, all))
    };
    let wait = |time| {
        std::thread::sleep(time);
        // What cannot be listed may be there.
        list_children().map_or(RemainingChildren::Some, |children| {
            reap_strays(children.iter().filter(|child| !is_spared(child)))
        })
    };
    tree::end_children(list_strays, is_spared, wait).into()
}

/// Reaps adopted processes one by one: known children are waited for elsewhere. Until a scan finds none there may be
/// more: one that exits leaves its own children to this process, perhaps after the scan has read them.
fn reap_strays<'a>(strays: impl Iterator<Item = &'a Process>) -> RemainingChildren {
    let mut children = RemainingChildren::None;
    for stray in strays {
        children = RemainingChildren::Some;
        let _ = Pid::from_raw(stray.pid).map(|pid| waitpid(Some(pid), WaitOptions::NOHANG));
    }
    children
}

/// Ends the processes that a killed keeper of this loop left behind.
pub fn end_marked(loop_id: &str) -> Orphans {
    end_marked_while(loop_id, || true)
}

/// Ends the processes that a killed keeper of this loop left behind, as long as the loop `has_no_keeper`. Wardens get some
/// time first: they detect the end of their keeper and end their domain completely.
pub fn end_marked_while(loop_id: &str, has_no_keeper: impl Fn() -> bool) -> Orphans {
    let mark = format!("{ENV_LOOP}={loop_id}:");
    let own = getpid().as_raw_pid();
    let find = || {
        let all = process_table::list_processes()?;
        let mut found: Vec<Process> = Vec::new();
        for process in all.iter().filter(|process| process.running && process.pid != own) {
            if has_mark(process.pid, &mark)? || is_warden_of(process.pid, loop_id)? {
                found.extend(process_table::descendants(process.pid, all.clone()));
                found.push(process.clone());
            }
        }
        found.retain(|process| process.pid != own);
        // Checked afterwards, so that no process of a new keeper is among them.
        if !found.is_empty() && !has_no_keeper() {
            found.clear();
        }
        Ok(found)
    };
    if find().is_ok_and(|it: Vec<Process>| it.is_empty()) {
        return Orphans::default();
    }
    wait_for_wardens(loop_id);
    tree::end_all(find).into()
}

fn wait_for_wardens(loop_id: &str) {
    let until = Instant::now() + WARDEN_TIMEOUT;
    let all = process_table::list_processes().into_iter().flatten();
    let is_warden = |it: &Process| it.running && is_warden_of(it.pid, loop_id).unwrap_or(false);
    for warden in all.filter(is_warden) {
        // An agent may have stopped it.
        let _ = warden.signal(Signal::CONT);
        if let Some(handle) = open_pidfd(&warden) {
            let left = until.saturating_duration_since(Instant::now());
            let time = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
            let _ = poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&time));
        }
    }
}

/// Continues the warden of a job, and its guard.
pub(super) fn continue_stopped_wardens(outermost: i32) {
    let children = process_table::children_of(outermost).into_iter().flatten();
    let wardens = children.filter(|it| is_warden(it.pid).unwrap_or(false));
    for warden in process_table::find_process(outermost).into_iter().chain(wardens).filter(|it| it.stopped) {
        let _ = warden.signal(Signal::CONT);
    }
}

fn open_pidfd(process: &Process) -> Option<OwnedFd> {
    pidfd_open(Pid::from_raw(process.pid)?, PidfdFlags::empty()).ok()
}

/// Arguments that show which loop a warden belongs to.
pub(super) fn warden_mark(env: &[(OsString, OsString)]) -> Vec<OsString> {
    let value = env.iter().find(|(name, _)| name == ENV_LOOP).and_then(|(_, value)| value.to_str());
    let id = value.and_then(|it| it.split(':').next()).unwrap_or_default();
    if id.is_empty() { Vec::new() } else { vec![warden_channel::LOOP.into(), id.into()] }
}

fn is_warden_of(pid: i32, loop_id: &str) -> io::Result<bool> {
    let line = arguments(pid)?;
    let mut words = line.split(|byte| *byte == 0).skip_while(|it| *it != warden_channel::LOOP.as_bytes());
    Ok(starts_warden(&line) && words.nth(1) == Some(loop_id.as_bytes()))
}

fn has_mark(pid: i32, mark: &str) -> io::Result<bool> {
    let read = std::fs::read(format!("/proc/{pid}/environ"));
    let environment = process_table::if_visible(read)?.unwrap_or_default();
    Ok(environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(mark.as_bytes())))
}

/// Empty if the process has exited.
fn arguments(pid: i32) -> io::Result<Vec<u8>> {
    let read = std::fs::read(format!("/proc/{pid}/cmdline"));
    Ok(process_table::if_visible(read)?.unwrap_or_default())
}

pub(super) fn is_warden(pid: i32) -> io::Result<bool> {
    Ok(starts_warden(&arguments(pid)?))
}

fn starts_warden(line: &[u8]) -> bool {
    // Not recognised by the program's name: a detached keeper runs from a copy that is named after its version.
    line.split(|byte| *byte == 0).nth(1) == Some(warden_channel::SUBCOMMAND.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{ENV_LOOP, Orphans, end_marked, kill_orphans};
    use crate::process_table::without_descriptors;

    #[test]
    fn processes_of_a_loop_are_not_taken_for_ended_without_descriptors() {
        let mark = format!("{ENV_LOOP}=20261120-nofile:token");
        let (name, value) = mark.split_once('=').unwrap();
        let mut marked = Command::new("sleep").arg("60").env(name, value).spawn().unwrap();
        let unknown = without_descriptors(|| end_marked("20261120-nofile"));
        assert_eq!(unknown.unkillable.len(), 1, "{unknown:?}");
        assert!(marked.try_wait().unwrap().is_none());
        let ended = end_marked("20261120-nofile");
        assert_eq!((ended.ended.len(), ended.unkillable.len()), (1, 0), "{ended:?}");
        marked.wait().unwrap();
    }

    #[test]
    fn orphans_are_not_taken_for_ended_without_descriptors() {
        let unknown = without_descriptors(kill_orphans);
        assert_eq!(unknown.unkillable.len(), 1, "{unknown:?}");
        assert_eq!(kill_orphans(), Orphans::default());
    }
}
