//! Splits chunks of output into lines of limited length.

use std::collections::VecDeque;

use loopkeeper_agent::LINE_BYTES;

use super::{OutputEvent, Stream};

/// Both streams of one process. Lines are split only on demand, so that unread output costs nothing.
#[derive(Debug, Default)]
pub(super) struct LineSplitter {
    out: PartialLine,
    err: PartialLine,
    chunks: VecDeque<(Stream, Vec<u8>, usize)>,
    rest: VecDeque<OutputEvent>,
}

/// A line that has not ended yet.
#[derive(Debug, Default)]
struct PartialLine {
    kept: Vec<u8>,
    /// Length so far, including discarded bytes.
    bytes: usize,
}

impl LineSplitter {
    pub(super) fn push_chunk(&mut self, stream: Stream, bytes: Vec<u8>) {
        self.chunks.push_back((stream, bytes, 0));
    }

    /// Marks the end of the streams: the rest of each stream becomes a line. False if nothing is left.
    pub(super) fn finish(&mut self) -> bool {
        while let Some(event) = self.next() {
            self.rest.push_back(event);
        }
        for (stream, open) in [(Stream::Stdout, &mut self.out), (Stream::Stderr, &mut self.err)] {
            if open.bytes > 0 {
                self.rest.push_back(open.take_line(stream));
            }
        }
        !self.rest.is_empty()
    }

    /// The next complete line, its end removed.
    pub(super) fn next(&mut self) -> Option<OutputEvent> {
        if let Some(event) = self.rest.pop_front() {
            return Some(event);
        }
        while let Some((stream, chunk, at)) = self.chunks.front_mut() {
            let open = if *stream == Stream::Stdout { &mut self.out } else { &mut self.err };
            let rest = chunk.get(*at..).unwrap_or_default();
            if let Some(end) = memchr::memchr(b'\n', rest) {
                open.add(rest.get(..end).unwrap_or_default());
                *at += end + 1;
                return Some(open.take_line(*stream));
            }
            open.add(rest);
            self.chunks.pop_front();
        }
        None
    }
}

impl PartialLine {
    fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        if self.bytes > LINE_BYTES {
            self.kept = Vec::new();
        } else {
            self.kept.extend_from_slice(bytes);
        }
    }

    fn take_line(&mut self, stream: Stream) -> OutputEvent {
        let Self { kept, bytes } = std::mem::take(self);
        if bytes > LINE_BYTES {
            OutputEvent::Oversize { stream, bytes }
        } else {
            OutputEvent::Line { stream, bytes: kept }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(chunks: &[(Stream, &[u8])]) -> Vec<OutputEvent> {
        let mut lines = LineSplitter::default();
        let mut events = Vec::new();
        for (stream, bytes) in chunks {
            lines.push_chunk(*stream, bytes.to_vec());
            events.extend(std::iter::from_fn(|| lines.next()));
        }
        lines.finish();
        events.extend(std::iter::from_fn(|| lines.next()));
        events
    }

    fn line(stream: Stream, text: &str) -> OutputEvent {
        OutputEvent::Line { stream, bytes: text.as_bytes().to_vec() }
    }

    #[test]
    fn streams_do_not_mix() {
        use Stream::{Stderr as E, Stdout as O};
        let got = read(&[(O, b"a\nb"), (E, b"oh"), (O, b"c\n\n"), (E, b" no\nx"), (O, b"end")]);
        let expect =
            [line(O, "a"), line(O, "bc"), line(O, ""), line(E, "oh no"), line(O, "end"), line(E, "x")];
        assert_eq!(got, expect);
    }

    #[test]
    fn a_line_over_the_cap_is_counted_and_the_next_one_read() {
        let stream = Stream::Stdout;
        let at_cap = vec![b'x'; LINE_BYTES];
        let got = read(&[(stream, &at_cap), (stream, b"\n"), (stream, &at_cap), (stream, b"yz\nnext\n")]);
        let expect = [
            OutputEvent::Line { stream, bytes: at_cap.clone() },
            OutputEvent::Oversize { stream, bytes: LINE_BYTES + 2 },
            line(stream, "next"),
        ];
        assert_eq!(got, expect);
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_change_lines(text in "[ab\n]{0,60}", cuts in prop::collection::vec(0..60_usize, 0..6)) {
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut < text.len()).collect();
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for cut in cuts.into_iter().chain([text.len()]) {
                chunks.push((Stream::Stdout, &text.as_bytes()[from..cut]));
                from = cut;
            }
            prop_assert_eq!(read(&chunks), read(&[(Stream::Stdout, text.as_bytes())]));
            let expect: Vec<_> = text.lines().map(|text| line(Stream::Stdout, text)).collect();
            prop_assert_eq!(read(&chunks), expect);
        }
    }

    #[test]
    fn a_line_without_an_end_is_counted_and_not_kept() {
        const CHUNK: usize = 64 * 1024;
        let mut splitter = LineSplitter::default();
        for _ in 0..100 {
            splitter.push_chunk(Stream::Stdout, vec![b'x'; CHUNK]);
            assert!(splitter.next().is_none());
            assert!(splitter.out.kept.capacity() <= 2 * LINE_BYTES);
        }
        assert!(splitter.finish());
        let bytes = 100 * CHUNK;
        assert_eq!(splitter.next(), Some(OutputEvent::Oversize { stream: Stream::Stdout, bytes }));
    }
}
