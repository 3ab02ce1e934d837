//! Journal and trust list under faults: acknowledged data is always there, and data that was not written never is.

mod ledger;
mod writer;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use loopkeeper_core::journal::reading::JournalTail;
use loopkeeper_core::journal::{PauseReason, Record};
use loopkeeper_system::journal_file::{JournalError, JournalFile};
use loopkeeper_text::moment::Moment;
use rustix::process::{Pid, Signal, kill_process};

use self::ledger::Ledger;
use self::writer::{How, Order, command, journal_in, paths, steered};
use super::disk::{Disk, stop_and_wait};
use super::strace::{self, Fault};
use super::{times, unavailable};

/// A running writer. Its output is read as it arrives.
struct Writer {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
    ledger: Ledger,
}

impl Writer {
    fn start(mut command: Command) -> Self {
        let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = piped.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines, ledger: Ledger::default() }
    }

    /// Waits for this many acknowledgements.
    fn wait_for_acknowledgements(&mut self, acknowledgements: usize) {
        let mut seen = 0;
        while seen < acknowledgements {
            let line = self.lines.next().expect("the writer ended too early").unwrap();
            seen += usize::from(self.ledger.parse_line(&line));
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// All its output until its end.
    fn end(mut self) -> Ledger {
        for line in self.lines.by_ref() {
            self.ledger.parse_line(&line.unwrap());
        }
        self.child.wait().unwrap();
        self.ledger
    }
}

/// Numbers that differ between runs, so that kills hit different places each time.
pub(super) fn random(below: u64) -> u64 {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()).unwrap();
    u64::from_le_bytes(bytes) % below
}

fn kill_at_random(order: &Order, folder: &Path) -> Ledger {
    let mut writer = Writer::start(command(order, folder));
    writer.wait_for_acknowledgements(1 + random(8) as usize);
    std::thread::sleep(Duration::from_micros(random(3_000)));
    writer.signal(Signal::KILL);
    writer.end()
}

#[test]
fn kills_lose_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = Ledger::default();
    for kill in 0..times(100, 1_000) {
        acknowledged.add(&kill_at_random(&Order::endless(How::Durable), folder.path()));
        assert_eq!(acknowledged.lost(folder.path()), [""; 0], "after kill {kill}");
    }
}

/// Control: a writer that acknowledges before it writes.
#[test]
fn kills_find_a_writer_that_buffers() {
    let lost = (0..20).any(|_| {
        let folder = tempfile::tempdir().unwrap();
        let acknowledged = kill_at_random(&Order::endless(How::Buffered), folder.path());
        !acknowledged.lost(folder.path()).is_empty()
    });
    assert!(lost);
}

/// Runs a writer with a fault at the first call of a kind, the second, and so on, until there are no more. Each time,
/// the following run has to find everything and to succeed.
fn at_every_call(call: &'static str, what: &'static str, every: &str) -> usize {
    for at in 1.. {
        let folder = tempfile::tempdir().unwrap();
        let mut acknowledged = Writer::start(command(&Order::few(How::Durable), folder.path())).end();
        writer::tear(folder.path());
        let fault = Fault { call, what, at: format!("{at}{every}") };
        let order = Order::few(How::Stubborn);
        let faulty = strace::with_fault(&command(&order, folder.path()), &fault, &paths(folder.path()));
        let under_fault = Writer::start(faulty).end();
        let undisturbed = under_fault.finished && under_fault.errors == 0;
        // A single failure does not end a writer that retries.
        assert!(under_fault.finished || what == "signal=KILL" || every == "+", "{fault:?}: {under_fault:?}");
        acknowledged.add(&under_fault);
        assert_eq!(acknowledged.lost(folder.path()), [""; 0], "{fault:?}");

        let after = Writer::start(command(&Order::few(How::Durable), folder.path())).end();
        assert!(after.finished, "{fault:?}: {after:?}");
        acknowledged.add(&after);
        assert_eq!(acknowledged.lost(folder.path()), [""; 0], "after {fault:?}");
        if undisturbed {
            return at - 1;
        }
        assert!(at < 100, "{fault:?} never ends");
    }
    0
}

const CALLS: [&str; 7] = ["openat", "write", "fdatasync", "fsync", "ftruncate", "rename", "unlink"];

#[test]
fn strace_kill_at_every_call() {
    if let Some(why) = strace::missing() {
        return unavailable("kill at every system call of the journal", &why);
    }
    let points: BTreeMap<_, _> = CALLS.iter().map(|it| (*it, at_every_call(it, "signal=KILL", ""))).collect();
    // Control of the rig itself: the faults did hit, for each kind of call.
    assert!(points.values().all(|it| *it > 0), "{points:?}");
}

#[test]
fn strace_error_at_every_call() {
    if let Some(why) = strace::missing() {
        return unavailable("failing system calls of the journal", &why);
    }
    for (call, error) in [
        ("write", "error=ENOSPC"),
        ("write", "error=EIO"),
        ("fdatasync", "error=EIO"),
        ("fsync", "error=EIO"),
        ("ftruncate", "error=EIO"),
        ("openat", "error=EMFILE"),
        ("rename", "error=EIO"),
    ] {
        assert!(at_every_call(call, error, "") > 0, "{call} {error}");
    }
    // A permanently broken disk: the writer has to give up, and acknowledged data has to be there.
    for call in ["write", "fdatasync"] {
        assert!(at_every_call(call, "error=EIO", "+") > 0, "{call}");
    }
}

/// Cuts the power under a writer at a random moment and checks the disk afterwards.
fn cut_power(how: How) -> Result<Vec<String>, String> {
    let disk = Disk::ext4()?;
    let mut writer = Writer::start(command(&Order::endless(how), &disk.path()));
    writer.wait_for_acknowledgements(20 + random(20) as usize);
    std::thread::sleep(Duration::from_micros(random(5_000)));
    stop_and_wait(Pid::from_child(&writer.child));
    let after = disk.cut_power();
    writer.signal(Signal::KILL);
    // Read before the cut or still in the pipe: it was printed before the writer stopped.
    let acknowledged = writer.end();
    assert!(acknowledged.count() >= 10);
    Ok(acknowledged.lost(&after?.path()))
}

#[test]
fn root_power_cuts_lose_nothing_that_was_acknowledged() {
    for _ in 0..times(4, 100) {
        match cut_power(How::Durable) {
            Ok(lost) => assert_eq!(lost, [""; 0]),
            Err(why) => return unavailable("power cuts of a disk of its own", &why),
        }
    }
}

/// Control: a writer that writes but does not sync, which kills cannot detect.
#[test]
fn root_power_cuts_find_a_writer_that_does_not_sync() {
    match cut_power(How::Unsynced) {
        Ok(lost) => assert!(!lost.is_empty()),
        Err(why) => unavailable("power cut under a writer that does not sync", &why),
    }
}

#[test]
fn root_a_full_disk_takes_the_record_that_says_so() {
    let disk = match Disk::memory("size=512k") {
        Ok(disk) => disk,
        Err(why) => return unavailable("a full disk", &why),
    };
    let path = journal_in(&disk.path());
    let mut journal = JournalFile::create(&path).unwrap();
    let now = Moment::default();
    let mut written = 0;
    let full = loop {
        match journal.append(now, vec![steered(written + 1)]) {
            Ok(_) => written += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(full, JournalError::Full { .. }), "{full}");
    assert!(written > 100);
    // A full disk does no harm, even repeatedly.
    for _ in 0..20 {
        let error = journal.append(now, vec![steered(written + 1)]).unwrap_err();
        assert!(matches!(error, JournalError::Full { .. }), "{error}");
    }
    journal.spend_reserve().unwrap();
    let paused = Record::Paused { reason: PauseReason::Disk, message: full.to_string().into() };
    journal.append(now, vec![paused.clone()]).unwrap();
    assert!(matches!(journal.refill_reserve(), Err(JournalError::Full { .. })) || written < 200);

    drop(journal);
    let entries = JournalFile::open(&path).unwrap().entries;
    assert_eq!(entries.len() as u64, written + 1);
    assert_eq!(entries.last().map(|it| &it.record), Some(&paused));
    assert_eq!(loopkeeper_system::journal_file::read(&path).unwrap().tail, JournalTail::Clean);
}

#[test]
fn root_a_disk_without_room_starts_nothing() {
    for options in ["size=32k", "nr_inodes=3"] {
        let disk = match Disk::memory(options) {
            Ok(disk) => disk,
            Err(why) => return unavailable("a disk without room", &why),
        };
        let folder = disk.path().join("loop");
        std::fs::create_dir(&folder).unwrap();
        let refused = JournalFile::create(&journal_in(&folder)).unwrap_err();
        assert!(matches!(refused, JournalError::Full { .. }), "{options}: {refused}");
    }
}
