//! Keeps the beginning and the end of a stream in a buffer.

use loopkeeper_core::check::GAP;

/// Default size of the head and of the tail of each stream.
pub(super) const DEFAULT_BYTES: usize = 256 * 1024;

#[derive(Debug)]
pub(super) struct HeadTailBuffer {
    /// Size of the head, and of the tail.
    most: usize,
    head: Vec<u8>,
    tail: Vec<u8>,
    dropped: u64,
}

impl HeadTailBuffer {
    pub(super) fn with_limit(most: usize) -> Self {
        Self { most, head: Vec::new(), tail: Vec::new(), dropped: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let (head, tail) = bytes.split_at(bytes.len().min(self.most - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend_from_slice(tail);
        // Cut only occasionally, because each cut moves the whole tail.
        if self.tail.len() > 3 * self.most {
            self.cut();
        }
    }

    /// Returns the bytes and how many are missing between head and tail. A [`GAP`] is inserted there between whole
    /// lines, so that nothing is read across it or from half a line.
    pub(super) fn finish(mut self) -> (Vec<u8>, u64) {
        self.cut();
        if self.dropped == 0 {
            self.head.append(&mut self.tail);
            return (self.head, 0);
        }
        let head = memchr::memrchr(b'\n', &self.head).map_or(self.head.len(), |at| at + 1);
        let tail = memchr::memchr(b'\n', &self.tail).map_or(0, |at| at + 1);
        let dropped = self.dropped + (self.head.len() - head + tail) as u64;
        self.head.truncate(head);
        if !self.head.ends_with(b"\n") {
            self.head.extend_from_slice("…\n".as_bytes());
        }
        self.head.extend_from_slice(GAP.as_bytes());
        self.head.extend_from_slice(if tail == 0 { "\n…".as_bytes() } else { b"\n" });
        self.head.extend(self.tail.drain(tail..));
        (self.head, dropped)
    }

    fn cut(&mut self) {
        let over = self.tail.len().saturating_sub(self.most);
        self.tail.drain(..over);
        self.dropped += over as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_fits_is_kept_whole() {
        let text: Vec<u8> = (0..6 * DEFAULT_BYTES).map(|n| (n % 251) as u8).collect();
        for len in [0, 5, DEFAULT_BYTES, DEFAULT_BYTES + 1, 2 * DEFAULT_BYTES] {
            let mut kept = HeadTailBuffer::with_limit(DEFAULT_BYTES);
            for chunk in text[..len].chunks(1000) {
                kept.push(chunk);
            }
            assert_eq!(kept.finish(), (text[..len].to_vec(), 0));
        }
    }

    fn finished(text: &[u8]) -> (Vec<u8>, u64) {
        let mut kept = HeadTailBuffer::with_limit(DEFAULT_BYTES);
        for chunk in text.chunks(65_536) {
            kept.push(chunk);
        }
        kept.finish()
    }

    #[test]
    fn the_gap_is_between_whole_lines() {
        let text = (0..100_000).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat();
        let (bytes, dropped) = finished(text.as_bytes());
        let kept = String::from_utf8(bytes).unwrap();
        let (head, tail) = kept.split_once(&format!("{GAP}\n")).unwrap();
        assert!(text.starts_with(head) && head.ends_with('\n') && head.len() > DEFAULT_BYTES - 20);
        assert!(text.ends_with(tail) && tail.starts_with("line ") && tail.len() > DEFAULT_BYTES - 20);
        assert_eq!(dropped as usize, text.len() - head.len() - tail.len());
    }

    #[test]
    fn halves_of_an_endless_line_are_marked() {
        let (bytes, dropped) = finished(&vec![b'5'; 3 * DEFAULT_BYTES]);
        let digits = "5".repeat(DEFAULT_BYTES);
        assert_eq!(String::from_utf8(bytes).unwrap(), format!("{digits}…\n{GAP}\n…{digits}"));
        assert_eq!(dropped, DEFAULT_BYTES as u64);
    }
}
