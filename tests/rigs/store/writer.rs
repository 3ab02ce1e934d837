//! A process that writes a journal and a trust list and reports its writes: this test binary, started again with a
//! command in its environment.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use loopkeeper_core::journal::reading::ChecksumChain;
use loopkeeper_core::journal::{Entry, Record};
use loopkeeper_core::trust::{TrustItem, TrustSubject};
use loopkeeper_system::journal_file::{self, JournalError, JournalFile};
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::trust::TrustStore;
use loopkeeper_text::moment::Moment;

const ORDER: &str = "LOOPKEEPER_RIG_WRITER";
pub(super) const ROOT: &str = "/home/u/project";
const FEW: u64 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Durable,
    /// Durable, and repairs failures a few times.
    Stubborn,
    /// A control: acknowledges what is still in its own memory.
    Buffered,
    /// A control: acknowledges what is still in the system's memory.
    Unsynced,
}

pub(super) struct Order {
    how: How,
    records: u64,
}

impl Order {
    pub(super) fn endless(how: How) -> Self {
        Self { how, records: u64::MAX }
    }

    pub(super) fn few(how: How) -> Self {
        Self { how, records: FEW }
    }
}

/// The process that executes the command in `folder`.
pub(super) fn command(order: &Order, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let name = format!("{}::writer_process", module_path!().split_once("::").unwrap().1);
    command.args(["--exact", &name, "--nocapture", "--test-threads=1"]);
    command.env(ORDER, format!("{:?} {} {}", order.how, order.records, folder.display()));
    command
}

pub(super) fn journal_in(folder: &Path) -> PathBuf {
    folder.join("journal.jsonl")
}

pub(super) fn state_in(folder: &Path) -> PathBuf {
    folder.join("state")
}

/// Every file that the writer writes, for faults.
pub(super) fn paths(folder: &Path) -> Vec<PathBuf> {
    let trust = state_in(folder).join("trust");
    let journal = ["jsonl", "reserve", "torn-1"].map(|it| journal_in(folder).with_extension(it));
    let trusted = ["granted.jsonl", "granted.jsonl.new"].map(|it| trust.join(it));
    journal.into_iter().chain(trusted).chain([folder.to_owned(), trust]).collect()
}

/// The only valid record with this number.
pub(super) fn steered(seq: u64) -> Record {
    Record::Steered { text: format!("{seq} {}", "x".repeat((seq * 37 % 900) as usize)) }
}

pub(super) fn item(number: u64) -> TrustItem {
    TrustItem::new(TrustSubject::Check { command: format!("make {number}") })
}

/// Tears the journal as an interrupted write does.
pub(super) fn tear(folder: &Path) {
    let mut file = OpenOptions::new().append(true).open(journal_in(folder)).unwrap();
    file.write_all(b"{\"v\":1,\"seq\":").unwrap();
}

/// Not an independent test: the process that [`command`] starts.
#[test]
fn writer_process() {
    let Ok(order) = std::env::var(ORDER) else { return };
    let mut words = order.splitn(3, ' ');
    let (how, records) = (words.next().unwrap(), words.next().unwrap().parse().unwrap());
    let folder = Path::new(words.next().unwrap());
    match how {
        "Durable" => durable(folder, records, 1),
        "Stubborn" => durable(folder, records, 4),
        "Buffered" => control(folder, std::io::BufWriter::new),
        "Unsynced" => control(folder, |file| file),
        other => panic!("{other}"),
    }
}

/// The final full stop distinguishes a complete line from a truncated one.
fn say(what: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "\n{what}.").and_then(|()| out.flush()).unwrap();
}

/// Tries at most this many times; reports failures.
fn retry<T, E: std::fmt::Display>(tries: u32, mut attempt: impl FnMut() -> Result<T, E>) -> Option<T> {
    for _ in 0..tries {
        match attempt() {
            Ok(value) => return Some(value),
            Err(error) => say(&format!("error {error}")),
        }
    }
    None
}

fn durable(folder: &Path, records: u64, tries: u32) {
    let path = journal_in(folder);
    let opened = retry(tries, || {
        if path.exists() { JournalFile::open(&path).map(|it| it.journal) } else { JournalFile::create(&path) }
    });
    let Some(mut journal) = opened else { return };
    let Some(reading) = retry(tries, || journal_file::read(&path)) else { return };
    let mut written = reading.entries.len() as u64;
    let Some(state) = retry(tries, || StateDir::at(&state_in(folder))) else { return };
    for _ in 0..records {
        let batch: Vec<Record> = (1..=1 + written % 3).map(|it| steered(written + it)).collect();
        let Some(entries) = retry(tries, || append(&mut journal, &batch)) else { return };
        written += entries.len() as u64;
        say(&format!("record {written}"));
        if records == FEW {
            let answer = retry(tries, || journal.spend_reserve().and_then(|()| journal.refill_reserve()));
            if answer.is_none() {
                return;
            }
        }
        let yes = written;
        let agreed = retry(tries, || {
            let items: Vec<_> = (1..=yes).map(item).collect();
            TrustStore::open(&state).grant(Path::new(ROOT), None, &items)
        });
        if agreed.is_none() {
            return;
        }
        say(&format!("yes {yes}"));
    }
    say("finished");
}

/// Recovers from a failure before the next try, like a keeper.
fn append(journal: &mut JournalFile, batch: &[Record]) -> Result<Vec<Entry>, JournalError> {
    match journal.append(Moment::default(), batch.to_vec()) {
        Err(error @ (JournalError::Sync { .. } | JournalError::Broken { .. })) => {
            // The result shows in the next try.
            let _ = journal.recover();
            Err(error)
        }
        other => other,
    }
}

fn control<W: Write>(folder: &Path, over: impl FnOnce(File) -> W) {
    let file = OpenOptions::new().create(true).append(true).open(journal_in(folder)).unwrap();
    let mut file = over(file);
    let mut chain = ChecksumChain::default();
    for seq in 1.. {
        let entry = Entry { seq, epoch: 1, at: Moment::default(), record: steered(seq) };
        file.write_all(chain.append(&entry).unwrap().as_bytes()).unwrap();
        say(&format!("record {seq}"));
        // About as slow as a writer that syncs, so that as much data is at risk.
        std::thread::sleep(std::time::Duration::from_micros(300));
    }
}
