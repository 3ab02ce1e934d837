//! Writes the output of one run to disk: the first bytes to `BASE.out`, the last ones to `BASE.tail`. Raw except for
//! secrets: those are redacted before they are stored.
//!
//! A full disk ends the writing, never the run.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use loopkeeper_text::redact::{self, Redactor};
use loopkeeper_text::tr;

use super::Stream;

/// Approximate limit of each of the two files.
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// How far the first file may exceed its limit to reach the end of a line.
const MAX_EXCESS_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct OutputFile {
    base: PathBuf,
    head: File,
    /// How much of the output the head has taken; differs from its length if something was redacted.
    taken: usize,
    full: bool,
    redactor: Redactor,
    stdout: RedactedLines,
    stderr: RedactedLines,
    tail: RingBuffer,
    error: Option<String>,
}

impl OutputFile {
    /// Creates `base.out`.
    pub(super) fn create(base: &Path, redactor: Redactor) -> io::Result<Self> {
        Ok(Self::with_head(base, open(&base.with_extension("out"))?, redactor))
    }

    fn with_head(base: &Path, head: File, redactor: Redactor) -> Self {
        let (stdout, stderr) = (RedactedLines::new(&redactor), RedactedLines::new(&redactor));
        let (base, tail) = (base.to_path_buf(), RingBuffer::default());
        Self { base, head, taken: 0, full: false, redactor, stdout, stderr, tail, error: None }
    }

    /// Continues the output of the same run in new files, and returns the number of bytes that are in no file of this
    /// part.
    pub(super) fn continue_at(self, base: &Path) -> io::Result<(Self, u64)> {
        let next = Self::create(base, self.redactor.clone())?;
        Ok((next, self.finish().0))
    }

    pub(super) fn write(&mut self, stream: Stream, bytes: &[u8]) {
        if self.error.is_some() {
            self.tail.total += bytes.len() as u64;
            return;
        }
        let (head, tail) = bytes.split_at(self.share_of_head(bytes));
        let redacted = match stream {
            Stream::Stdout => self.stdout.push(head),
            Stream::Stderr => self.stderr.push(head),
        };
        self.taken += head.len();
        self.store(&redacted);
        let is_enough =
            self.taken >= MAX_BYTES && (head.ends_with(b"\n") || self.taken >= MAX_BYTES + MAX_EXCESS_BYTES);
        if is_enough && !self.full {
            self.full = true;
            self.flush();
        }
        self.tail.push(tail);
    }

    /// How many of `bytes` belong to the head: up to its size, then up to a line end at which no secret is cut.
    fn share_of_head(&self, bytes: &[u8]) -> usize {
        if self.full {
            return 0;
        }
        let least = MAX_BYTES.saturating_sub(self.taken).saturating_sub(1);
        let most = bytes.len().min((MAX_BYTES + MAX_EXCESS_BYTES).saturating_sub(self.taken));
        let last_line = bytes.get(least..most).unwrap_or_default();
        memchr::memchr(b'\n', last_line).map_or(most, |at| least + at + 1)
    }

    /// Writes the bytes that were held back for redaction.
    fn flush(&mut self) {
        let (mut held, rest) = (self.stdout.finish(), self.stderr.finish());
        if !held.is_empty() && !held.ends_with(b"\n") && !rest.is_empty() {
            held.push(b'\n');
        }
        held.extend(rest);
        self.store(&held);
    }

    fn store(&mut self, bytes: &[u8]) {
        if let Err(error) = self.head.write_all(bytes) {
            self.record_error("out", &error);
            self.tail.total += bytes.len() as u64;
        }
    }

    /// Writes the tail. Returns the number of bytes in neither file, and the error as text.
    pub(super) fn finish(mut self) -> (u64, Option<String>) {
        if self.error.is_some() {
            let held = self.stdout.finish().len() + self.stderr.finish().len();
            return (self.tail.total + held as u64, self.error);
        }
        if !self.full {
            self.flush();
        }
        if self.tail.total == 0 || self.error.is_some() {
            return (self.tail.total, self.error);
        }
        let tail = self.tail.take();
        let over = self.tail.total - tail.len() as u64;
        // The first line may lack its beginning, and with it the part that identifies a secret.
        let begin = if over == 0 { 0 } else { memchr::memchr(b'\n', &tail).map_or(0, |at| at + 1) };
        let dropped = over + begin as u64;
        if let Err(error) = self.write_tail(tail.get(begin..).unwrap_or_default(), dropped) {
            self.record_error("tail", &error);
            return (self.tail.total, self.error);
        }
        (dropped, None)
    }

    fn write_tail(&self, tail: &[u8], dropped: u64) -> io::Result<()> {
        let mut file = open(&self.base.with_extension("tail"))?;
        if dropped > 0 {
            writeln!(file, "{}", tr!("[{dropped} earlier bytes were not stored]", dropped))?;
        }
        let mut stream = self.redactor.stream();
        file.write_all(&stream.push(tail))?;
        file.write_all(&stream.finish())
    }

    fn record_error(&mut self, extension: &str, error: &io::Error) {
        let path = self.base.with_extension(extension);
        self.error = Some(tr!("could not write {path}: {error}", path = path.display(), error));
    }
}

/// One stream before it is stored: redacted, and split into whole lines, so that the streams never mix within a line.
#[derive(Debug)]
struct RedactedLines {
    redacted: redact::RedactingStream,
    begun: Vec<u8>,
}

impl RedactedLines {
    fn new(redactor: &Redactor) -> Self {
        Self { redacted: redactor.stream(), begun: Vec::new() }
    }

    fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let searched = self.begun.len();
        self.begun.extend(self.redacted.push(bytes));
        let added = self.begun.get(searched..).unwrap_or_default();
        let whole = match memchr::memrchr(b'\n', added) {
            // A line longer than this is not held until its end.
            None if self.begun.len() > MAX_EXCESS_BYTES => self.begun.len(),
            None => 0,
            Some(at) => searched + at + 1,
        };
        self.begun.drain(..whole).collect()
    }

    fn finish(&mut self) -> Vec<u8> {
        let mut rest = std::mem::take(&mut self.begun);
        rest.extend(self.redacted.finish());
        rest
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// The last [`MAX_BYTES`] of what was pushed.
#[derive(Debug, Default)]
struct RingBuffer {
    bytes: Vec<u8>,
    /// Index of the oldest byte, once the buffer is full.
    start: usize,
    total: u64,
}

impl RingBuffer {
    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let bytes = bytes.get(bytes.len().saturating_sub(MAX_BYTES)..).unwrap_or_default();
        let (fill, mut over) = bytes.split_at(bytes.len().min(MAX_BYTES - self.bytes.len()));
        self.bytes.extend_from_slice(fill);
        while !over.is_empty() {
            let room = self.bytes.get_mut(self.start..).unwrap_or_default();
            let (now, later) = over.split_at(over.len().min(room.len()));
            if let Some(room) = room.get_mut(..now.len()) {
                room.copy_from_slice(now);
            }
            self.start = (self.start + now.len()) % MAX_BYTES;
            over = later;
        }
    }

    /// The bytes from the oldest to the newest.
    fn take(&mut self) -> Vec<u8> {
        self.bytes.rotate_left(self.start);
        self.start = 0;
        std::mem::take(&mut self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const SECRET: &str = "hunter2-hunter2";

    fn redactor() -> Redactor {
        Redactor::new([SECRET.to_owned()])
    }

    fn run(chunks: &[(Stream, &[u8])]) -> (Vec<u8>, Option<Vec<u8>>, u64) {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().join("0001");
        let mut file = OutputFile::create(&base, redactor()).unwrap();
        for (stream, chunk) in chunks {
            file.write(*stream, chunk);
        }
        let (dropped, error) = file.finish();
        assert_eq!(error, None);
        let read = |extension| std::fs::read(base.with_extension(extension)).ok();
        let mode = std::fs::metadata(base.with_extension("out")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        (read("out").unwrap(), read("tail"), dropped)
    }

    fn out(bytes: &[u8]) -> (Stream, &[u8]) {
        (Stream::Stdout, bytes)
    }

    fn lines(len: usize) -> Vec<u8> {
        (0..len).map(|n| if n % 97 == 96 { b'\n' } else { b'a' + (n % 23) as u8 }).collect()
    }

    #[test]
    fn little_output_is_one_file() {
        assert_eq!(run(&[out(b"one\n"), out(b"two")]), (b"one\ntwo".to_vec(), None, 0));
        assert_eq!(run(&[]), (Vec::new(), None, 0));
    }

    #[test]
    fn secrets_are_not_stored_however_they_arrive() {
        let (first, second) = SECRET.split_at(6);
        let chunks =
            [out(first.as_bytes()), (Stream::Stderr, b"between\n"), out(second.as_bytes()), out(b" x\n")];
        let (stored, ..) = run(&chunks);
        let stored = String::from_utf8(stored).unwrap();
        assert!(stored.contains("[redacted]") && stored.contains("between\n"), "{stored:?}");
        assert!(!stored.contains(first) && !stored.contains(second), "{stored:?}");
    }

    #[test]
    fn secrets_at_the_borders_of_the_files_are_not_stored() {
        for at in [MAX_BYTES - 3, 2 * MAX_BYTES + 100, 3 * MAX_BYTES - 20] {
            let mut text = lines(3 * MAX_BYTES);
            text[at..at + SECRET.len()].copy_from_slice(SECRET.as_bytes());
            let (head, tail, dropped) = run(&[out(&text)]);
            let tail = tail.unwrap();
            let holds = |bytes: &[u8], part: &str| memchr::memmem::find(bytes, part.as_bytes()).is_some();
            assert!(!holds(&head, "hunter2") && !holds(&tail, "hunter2"), "{at}");
            assert!(dropped > 0 && (holds(&head, "[redacted]") || holds(&tail, "[redacted]")), "{at}");
        }
    }

    #[test]
    fn head_and_tail_without_a_gap() {
        let text = lines(MAX_BYTES + 5000);
        let (out, tail, dropped) = run(&[out(&text)]);
        assert!(out.len() >= MAX_BYTES && out.ends_with(b"\n"));
        assert_eq!((([out, tail.unwrap()].concat()), dropped), (text, 0));
    }

    #[test]
    fn the_middle_is_dropped_and_counted() {
        let text = lines(3 * MAX_BYTES + 7);
        let whole = run(&[out(&text)]);
        let cut: Vec<_> = text.chunks(70_001).map(out).collect();
        assert_eq!(run(&cut), whole);
        let (out, tail, dropped) = whole;
        assert_eq!(out, text[..out.len()]);
        let tail = tail.unwrap();
        let note = tail.iter().position(|byte| *byte == b'\n').unwrap();
        assert!(String::from_utf8_lossy(&tail[..note]).contains(&dropped.to_string()));
        let tail = &tail[note + 1..];
        assert!(text.ends_with(tail) && text[..text.len() - tail.len()].ends_with(b"\n"));
        assert_eq!(dropped as usize, text.len() - out.len() - tail.len());
    }

    #[test]
    fn an_endless_line_is_cut_between_the_files() {
        let text = vec![b'x'; MAX_BYTES + 2 * MAX_EXCESS_BYTES];
        let (out, tail, dropped) = run(&[out(&text)]);
        assert_eq!(
            (out.len(), tail.unwrap().len(), dropped),
            (MAX_BYTES + MAX_EXCESS_BYTES, MAX_EXCESS_BYTES, 0)
        );
    }

    #[test]
    fn a_full_disk_is_reported_once_and_counted() {
        let head = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut file = OutputFile::with_head(Path::new("/nowhere/0001"), head, redactor());
        file.write(Stream::Stdout, b"abc");
        file.write(Stream::Stdout, b"de");
        let (dropped, error) = file.finish();
        assert_eq!(dropped, 5);
        assert!(error.unwrap().starts_with("could not write /nowhere/0001.out: "));
    }
}
