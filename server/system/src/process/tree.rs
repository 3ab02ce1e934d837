//! Ends whole families of processes, those that fork faster than anybody can look included.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpgrp, kill_process_group};

use super::table::{self, Process};

/// What refuses to die longer than this (another user's, stuck in the kernel) is reported, not waited for.
const TIMEOUT: Duration = Duration::from_secs(2);
/// Between two looks.
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// So many rounds among the children, then a look at the whole family again.
const ROUNDS: u32 = 32;
/// Names beyond this many say nothing more.
const NAMES: usize = 50;

/// Whether there are children, living or not yet waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildrenLeft {
    Left,
    None,
}

/// What was found and what became of it.
#[derive(Debug, Default)]
pub struct KillReport {
    met: BTreeMap<(i32, u64), Process>,
    /// Still running, as `pid name`.
    pub left: Vec<String>,
}

impl KillReport {
    /// Everyone met but `except`, as `pid name`.
    pub fn names(&self, except: i32) -> Vec<String> {
        labels(self.met.values().filter(|process| process.pid != except))
    }

    /// True when this one is new.
    fn insert(&mut self, process: &Process) -> bool {
        let place = self.met.entry((process.pid, process.started));
        let new = matches!(place, Entry::Vacant(_));
        place.or_insert_with(|| process.clone());
        new
    }

    /// A stopped process starts no others. One that cannot be stopped is killed or reported next.
    fn stop(&mut self, found: &[Process]) {
        for process in found {
            if self.insert(process) {
                let _ = process.signal(Signal::STOP);
            }
        }
    }
}

/// Ends all children of this process that are not `spare`d, and with them all descendants: whoever loses its
/// parent becomes a child of this process, which must be the reaper of its family. So the emptiness is certain,
/// whatever a look at the table may have missed. `look` finds the family for its names; `reap` waits for a moment
/// and takes in the dead.
pub fn end_children(
    look: impl Fn() -> Vec<Process>,
    spare: impl Fn(&Process) -> bool,
    mut reap: impl FnMut(Duration) -> ChildrenLeft,
) -> KillReport {
    let mut swept = KillReport::default();
    let until = Instant::now() + TIMEOUT;
    let mut round = 0;
    while reap(if round == 0 { Duration::ZERO } else { POLL_INTERVAL }) == ChildrenLeft::Left {
        if round % ROUNDS == 0 {
            swept.stop(&look());
        }
        for child in table::own_children().iter().filter(|child| !spare(child)) {
            if child.running {
                swept.insert(child);
            }
            kill_with_group(child);
        }
        if Instant::now() >= until {
            swept.left = labels(look().iter());
            return swept;
        }
        round += 1;
    }
    swept
}

/// The group goes in one stroke, so that nobody in it slips through by forking. It can be no stranger's: its
/// member is our child, dead or alive, and keeps its number taken.
fn kill_with_group(child: &Process) {
    if let Some(group) =
        Pid::from_raw(child.group.max(0)).filter(|group| *group != getpgrp() && !group.is_init())
    {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.signal(Signal::KILL);
}

/// Ends everything that `find` finds until it finds nothing, for families that are not this process's own.
pub(crate) fn end_all(find: impl Fn() -> Vec<Process>) -> KillReport {
    let mut swept = KillReport::default();
    let until = Instant::now() + TIMEOUT;
    let mut empty = 0;
    loop {
        let found = find();
        let late = Instant::now() >= until;
        // One look may miss those that come while others go.
        empty = if found.is_empty() { empty + 1 } else { 0 };
        if late || empty == 3 {
            swept.left = labels(found.iter());
            return swept;
        }
        let known = swept.met.len();
        swept.stop(&found);
        if swept.met.len() == known {
            for process in &found {
                let _ = process.signal(Signal::KILL);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

fn labels<'a>(processes: impl Iterator<Item = &'a Process>) -> Vec<String> {
    let mut names: Vec<String> = processes.map(Process::label).collect();
    if names.len() > NAMES {
        let more = names.len() - NAMES;
        names.truncate(NAMES);
        names.push(format!("and {more} more"));
    }
    names
}
