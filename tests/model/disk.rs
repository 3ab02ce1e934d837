//! The journal's file: what is written, and how much of it would survive a power cut.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use loopkeeper_core::journal::Entry;
use loopkeeper_core::journal::reading::{self, ChecksumChain, JournalTail};

#[derive(Debug, Clone, Default)]
pub(crate) struct Disk {
    lines: Vec<Arc<str>>,
    /// Lines that are on the disk.
    durable: usize,
    /// The beginning of one more line follows.
    torn: bool,
    /// What a reader makes of the lines.
    pub(crate) entries: Vec<Arc<Entry>>,
    pub(crate) chain: ChecksumChain,
    pub(crate) damage: Option<String>,
}

impl Disk {
    /// As many lines as a keeper knows of, if nothing else wrote.
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(crate) fn is_torn(&self) -> bool {
        self.torn
    }

    pub(crate) fn append(&mut self, line: &str) {
        self.lines.push(line.into());
        self.read(self.lines.len() - 1);
    }

    pub(crate) fn sync(&mut self) {
        self.durable = self.lines.len();
    }

    /// The number of lines that a power cut may lose.
    pub(crate) fn unsynced(&self) -> usize {
        self.lines.len() - self.durable
    }

    /// Loses the last lines; `torn` leaves the beginning of the first of them.
    pub(crate) fn cut(&mut self, lost: usize, torn: bool) {
        self.lines.truncate(self.lines.len() - lost);
        self.torn = torn;
        self.durable = self.lines.len();
        (self.entries, self.chain, self.damage) = (Vec::new(), ChecksumChain::default(), None);
        (0..self.lines.len()).for_each(|index| self.read(index));
    }

    /// As `JournalFile::open` does: an interrupted write is cut off, and the rest made durable.
    pub(crate) fn open(&mut self) {
        if self.torn {
            let torn = b"{\"v\":1,\"seq\":";
            let parsed = reading::read_on(self.chain.clone(), torn);
            assert_eq!(parsed.tail, JournalTail::Torn { bytes: torn.len() });
            self.torn = false;
        }
    }

    fn read(&mut self, index: usize) {
        if self.damage.is_some() {
            return;
        }
        let line = self.lines[index].as_bytes();
        let parsed = reading::read_on(self.chain.clone(), line);
        match parsed.tail {
            JournalTail::Clean => {
                self.chain = parsed.chain;
                self.entries.extend(parsed.entries.into_iter().map(Arc::new));
            }
            other => self.damage = Some(format!("line {}: {other:?}", index + 1)),
        }
    }
}

impl PartialEq for Disk {
    fn eq(&self, other: &Self) -> bool {
        (&self.lines, self.durable, self.torn) == (&other.lines, other.durable, other.torn)
    }
}

impl Hash for Disk {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.lines, self.durable, self.torn).hash(state);
    }
}
