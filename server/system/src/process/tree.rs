//! Ends whole process trees, including those that fork faster than the table can be read.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::time::{Duration, Instant};

use loopkeeper_text::tr;
use rustix::process::{Pid, Signal, getpgrp, kill_process_group};

use crate::process_table::{self, Process};

/// Processes that take longer to die (another user's, stuck in the kernel) are reported, not waited for.
const TIMEOUT: Duration = Duration::from_secs(2);
/// Time between two scans.
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// Number of rounds over the children before the whole tree is scanned again.
const ROUNDS: u32 = 32;
/// More names than this are not useful.
const MAX_NAMES: usize = 50;

/// Whether there are children, alive or not yet reaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemainingChildren {
    Some,
    None,
}

/// The processes that were found and whether they were ended.
#[derive(Debug, Default)]
pub struct KillReport {
    found: BTreeMap<(i32, u64), Process>,
    /// Still running, as `pid name`.
    pub unkillable: Vec<String>,
}

impl KillReport {
    /// Every process found except `except`, as `pid name`.
    pub fn names(&self, except: i32) -> Vec<String> {
        labels(self.found.values().filter(|process| process.pid != except))
    }

    /// True if the process is new.
    fn insert(&mut self, process: &Process) -> bool {
        let place = self.found.entry((process.pid, process.started));
        let new = matches!(place, Entry::Vacant(_));
        place.or_insert_with(|| process.clone());
        new
    }

    /// A stopped process starts no others. A process that cannot be stopped is killed or reported next.
    fn stop(&mut self, found: &[Process]) {
        for process in found {
            if self.insert(process) {
                let _ = process.signal(Signal::STOP);
            }
        }
    }
}

/// Ends all children of this process that are not `spare`d, and with them all descendants: a process that loses its
/// parent becomes a child of this process, which must be a subreaper. The result is therefore certain, even if a scan
/// of the table missed a process. `list_processes` finds the tree for its names; `reap` waits for a moment and
/// reaps the dead. Processes that cannot be listed at the end are unkillable.
pub fn end_children(
    list_processes: impl Fn() -> io::Result<Vec<Process>>,
    spare: impl Fn(&Process) -> bool,
    mut reap: impl FnMut(Duration) -> RemainingChildren,
) -> KillReport {
    let mut report = KillReport::default();
    let until = Instant::now() + TIMEOUT;
    let mut rounds = 0;
    while reap(if rounds == 0 { Duration::ZERO } else { POLL_INTERVAL }) == RemainingChildren::Some {
        if rounds % ROUNDS == 0
            && let Ok(found) = list_processes()
        {
            report.stop(&found);
        }
        // What could not be listed is ended in a later round.
        let children = process_table::own_children().unwrap_or_default();
        for child in children.iter().filter(|child| !spare(child)) {
            if child.running {
                report.insert(child);
            }
            kill_with_group(child);
        }
        if Instant::now() >= until {
            report.unkillable = labels_of(list_processes());
            return report;
        }
        rounds += 1;
    }
    report
}

/// Kills the whole group at once, so that no member escapes by forking. The group cannot belong to other processes: its
/// member is our child, dead or alive, and keeps the pid in use.
fn kill_with_group(child: &Process) {
    if let Some(group) =
        Pid::from_raw(child.group.max(0)).filter(|group| *group != getpgrp() && !group.is_init())
    {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.signal(Signal::KILL);
}

/// Ends everything that `find` returns until it returns nothing, for trees that are not this process's own.
pub(crate) fn end_all(find: impl Fn() -> io::Result<Vec<Process>>) -> KillReport {
    let mut report = KillReport::default();
    let until = Instant::now() + TIMEOUT;
    let mut empty = 0;
    loop {
        let found = find();
        let is_late = Instant::now() >= until;
        // One scan may miss processes that start while others exit.
        empty = if found.as_ref().is_ok_and(Vec::is_empty) { empty + 1 } else { 0 };
        if is_late || empty == 3 {
            report.unkillable = labels_of(found);
            return report;
        }
        let found = found.unwrap_or_default();
        let known = report.found.len();
        report.stop(&found);
        if report.found.len() == known {
            for process in &found {
                let _ = process.signal(Signal::KILL);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

/// An error stands for processes that may exist.
fn labels_of(found: io::Result<Vec<Process>>) -> Vec<String> {
    match found {
        Ok(found) => labels(found.iter()),
        Err(error) => vec![tr!("processes that cannot be listed: {error}", error)],
    }
}

fn labels<'a>(processes: impl Iterator<Item = &'a Process>) -> Vec<String> {
    let mut names: Vec<String> = processes.map(Process::label).collect();
    if names.len() > MAX_NAMES {
        let more = names.len() - MAX_NAMES;
        names.truncate(MAX_NAMES);
        names.push(tr!("and {more} more", more));
    }
    names
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use crate::process_table::{children_of, without_descriptors};

    use super::{RemainingChildren, end_all, end_children};

    #[test]
    fn processes_that_cannot_be_listed_are_not_reported_as_ended() {
        let own = std::process::id().cast_signed();
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let (ended, ended_all) = without_descriptors(|| {
            let ended = end_children(|| children_of(own), |_| false, |_| RemainingChildren::Some);
            (ended, end_all(|| children_of(own)))
        });
        for report in [ended, ended_all] {
            let [only] = report.unkillable.as_slice() else { panic!("{report:?}") };
            assert!(only.starts_with("processes that cannot be listed: "), "{only}");
        }
        assert!(child.try_wait().unwrap().is_none(), "it could not be found");
        let report =
            end_all(|| children_of(own).map(|all| all.into_iter().filter(|it| it.running).collect()));
        assert_eq!(report.unkillable, Vec::<String>::new());
        assert!(child.wait().unwrap().code().is_none());
    }
}
