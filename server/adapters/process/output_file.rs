//! The raw output of one run on disk: the first bytes in `BASE.out`, the last ones in `BASE.tail`.
//!
//! A full disk ends the writing, never the run.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// What each of the two files holds at most.
const BYTES: usize = 8 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct OutputFile {
    base: PathBuf,
    head: File,
    written: usize,
    tail: Ring,
    error: Option<String>,
}

impl OutputFile {
    /// Begins `base.out`.
    pub(super) fn create(base: &Path) -> io::Result<Self> {
        let head = open(&base.with_extension("out"))?;
        Ok(Self { base: base.to_path_buf(), head, written: 0, tail: Ring::default(), error: None })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        if self.error.is_some() {
            self.tail.total += bytes.len() as u64;
            return;
        }
        let (head, tail) = bytes.split_at(bytes.len().min(BYTES - self.written));
        if let Err(error) = self.head.write_all(head) {
            self.fail("out", &error);
            self.tail.total += bytes.len() as u64;
            return;
        }
        self.written += head.len();
        self.tail.push(tail);
    }

    /// Writes the tail. Returns the bytes that are in neither file, and what went wrong in words.
    pub(super) fn finish(mut self) -> (u64, Option<String>) {
        if self.tail.total == 0 || self.error.is_some() {
            return (self.tail.total, self.error);
        }
        let dropped = self.tail.total - self.tail.bytes.len() as u64;
        if let Err(error) = self.write_tail(dropped) {
            self.fail("tail", &error);
            return (self.tail.total, self.error);
        }
        (dropped, None)
    }

    fn write_tail(&self, dropped: u64) -> io::Result<()> {
        let mut file = open(&self.base.with_extension("tail"))?;
        if dropped > 0 {
            writeln!(file, "[{dropped} bytes between the first {BYTES} and these were not kept]")?;
        }
        let (older, newer) = self.tail.parts();
        file.write_all(older)?;
        file.write_all(newer)
    }

    fn fail(&mut self, extension: &str, error: &io::Error) {
        let path = self.base.with_extension(extension);
        self.error = Some(format!("could not write {}: {error}", path.display()));
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// The last [`BYTES`] of what was pushed.
#[derive(Debug, Default)]
struct Ring {
    bytes: Vec<u8>,
    /// Where the oldest byte is, once the ring is full.
    start: usize,
    total: u64,
}

impl Ring {
    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let bytes = bytes.get(bytes.len().saturating_sub(BYTES)..).unwrap_or_default();
        let (fill, mut over) = bytes.split_at(bytes.len().min(BYTES - self.bytes.len()));
        self.bytes.extend_from_slice(fill);
        while !over.is_empty() {
            let room = self.bytes.get_mut(self.start..).unwrap_or_default();
            let (now, later) = over.split_at(over.len().min(room.len()));
            if let Some(room) = room.get_mut(..now.len()) {
                room.copy_from_slice(now);
            }
            self.start = (self.start + now.len()) % BYTES;
            over = later;
        }
    }

    fn parts(&self) -> (&[u8], &[u8]) {
        let (newer, older) = self.bytes.split_at(self.start);
        (older, newer)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn run(chunks: &[&[u8]]) -> (Vec<u8>, Option<Vec<u8>>, u64) {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().join("0001");
        let mut file = OutputFile::create(&base).unwrap();
        for chunk in chunks {
            file.write(chunk);
        }
        let (dropped, error) = file.finish();
        assert_eq!(error, None);
        let read = |extension| std::fs::read(base.with_extension(extension)).ok();
        let mode = std::fs::metadata(base.with_extension("out")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        (read("out").unwrap(), read("tail"), dropped)
    }

    #[test]
    fn little_output_is_one_file() {
        assert_eq!(run(&[b"one\n", b"two"]), (b"one\ntwo".to_vec(), None, 0));
        assert_eq!(run(&[]), (Vec::new(), None, 0));
    }

    #[test]
    fn head_and_tail_without_a_gap() {
        let text: Vec<u8> = (0..BYTES + 5).map(|n| (n % 251) as u8).collect();
        let (out, tail, dropped) = run(&[&text]);
        assert_eq!((out.as_slice(), tail.as_deref(), dropped), (&text[..BYTES], Some(&text[BYTES..]), 0));
    }

    #[test]
    fn the_middle_is_dropped_and_counted() {
        let text: Vec<u8> = (0..3 * BYTES + 7).map(|n| (n % 253) as u8).collect();
        let whole = run(&[&text]);
        let cut: Vec<&[u8]> = text.chunks(70_001).collect();
        assert_eq!(run(&cut), whole);
        let (out, tail, dropped) = whole;
        assert_eq!((out.as_slice(), dropped), (&text[..BYTES], BYTES as u64 + 7));
        let tail = tail.unwrap();
        let note = tail.iter().position(|byte| *byte == b'\n').unwrap();
        assert!(String::from_utf8_lossy(&tail[..note]).contains(&dropped.to_string()));
        assert_eq!(&tail[note + 1..], &text[2 * BYTES + 7..]);
    }

    #[test]
    fn a_full_disk_is_said_once_and_counted() {
        let head = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let base = PathBuf::from("/nowhere/0001");
        let mut file = OutputFile { base, head, written: 0, tail: Ring::default(), error: None };
        file.write(b"abc");
        file.write(b"de");
        let (dropped, error) = file.finish();
        assert_eq!(dropped, 5);
        assert!(error.unwrap().starts_with("could not write /nowhere/0001.out: "));
    }
}
