//! The beginning and the end of a stream, for output that is read as a whole.

/// Kept of the beginning and of the end of each stream.
const BYTES: usize = 256 * 1024;

#[derive(Debug, Default)]
pub(super) struct Kept {
    head: Vec<u8>,
    tail: Vec<u8>,
    dropped: u64,
}

impl Kept {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let (head, tail) = bytes.split_at(bytes.len().min(BYTES - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend_from_slice(tail);
        // Cut only now and then: each cut moves the whole tail.
        if self.tail.len() > 3 * BYTES {
            self.cut();
        }
    }

    /// The bytes and how many are missing between head and tail. A line end stands in the gap, so that no line
    /// is made of two halves.
    pub(super) fn finish(mut self) -> (Vec<u8>, u64) {
        self.cut();
        if self.dropped > 0 {
            self.head.push(b'\n');
        }
        self.head.append(&mut self.tail);
        (self.head, self.dropped)
    }

    fn cut(&mut self) {
        let over = self.tail.len().saturating_sub(BYTES);
        self.tail.drain(..over);
        self.dropped += over as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_and_tail() {
        let text: Vec<u8> = (0..6 * BYTES).map(|n| (n % 251) as u8).collect();
        for len in [0, 5, BYTES, BYTES + 1, 2 * BYTES] {
            let mut kept = Kept::default();
            for chunk in text[..len].chunks(1000) {
                kept.push(chunk);
            }
            assert_eq!(kept.finish(), (text[..len].to_vec(), 0));
        }
        let mut kept = Kept::default();
        for chunk in text.chunks(65_536) {
            kept.push(chunk);
        }
        let (bytes, dropped) = kept.finish();
        assert_eq!(dropped, 4 * BYTES as u64);
        assert_eq!(bytes[..BYTES], text[..BYTES]);
        assert_eq!(bytes[BYTES], b'\n');
        assert_eq!(bytes[BYTES + 1..], text[5 * BYTES..]);
    }
}
