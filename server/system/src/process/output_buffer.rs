//! Collects a run's output: each stream separately, both in order, or everything.

use loopkeeper_core::check::CommandRun;

use super::Stream;
use super::head_tail::HeadTailBuffer;

/// A line longer than this is not held until its end.
const LINE_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub(super) enum OutputBuffer {
    Separate(SeparateStreams),
    /// From one pipe, which preserves the order itself.
    Combined(HeadTailBuffer),
    Both(SeparateStreams, OrderedStreams),
}

impl OutputBuffer {
    /// Each stream separately, with `most` bytes of its beginning and of its end.
    pub(super) fn with_separate(most: usize) -> Self {
        Self::Separate(SeparateStreams::with_limit(most))
    }

    /// Both streams in order, from one pipe.
    pub(super) fn with_combined(most: usize) -> Self {
        Self::Combined(HeadTailBuffer::with_limit(most))
    }

    /// Each stream, and both in order as far as the order can be seen while reading.
    pub(super) fn with_both(most: usize) -> Self {
        Self::Both(SeparateStreams::with_limit(most), OrderedStreams::with_limit(most))
    }

    pub(super) fn push(&mut self, stream: Stream, bytes: &[u8]) {
        match self {
            Self::Separate(separate) => separate.push(stream, bytes),
            Self::Combined(both) => both.push(bytes),
            Self::Both(separate, ordered) => {
                separate.push(stream, bytes);
                ordered.push(stream, bytes);
            }
        }
    }

    /// The output of a run whose result is not known yet.
    pub(super) fn finish(self) -> CommandRun {
        match self {
            Self::Separate(separate) => separate.finish(),
            Self::Combined(both) => {
                let (both, dropped) = both.finish();
                CommandRun { both, dropped, ..CommandRun::default() }
            }
            Self::Both(separate, ordered) => CommandRun { both: ordered.finish().0, ..separate.finish() },
        }
    }
}

/// Each stream with its own limit.
#[derive(Debug)]
pub(super) struct SeparateStreams {
    out: HeadTailBuffer,
    err: HeadTailBuffer,
}

impl SeparateStreams {
    fn with_limit(most: usize) -> Self {
        Self { out: HeadTailBuffer::with_limit(most), err: HeadTailBuffer::with_limit(most) }
    }

    fn push(&mut self, stream: Stream, bytes: &[u8]) {
        match stream {
            Stream::Stdout => self.out.push(bytes),
            Stream::Stderr => self.err.push(bytes),
        }
    }

    fn finish(self) -> CommandRun {
        let ((stdout, out_dropped), (stderr, err_dropped)) = (self.out.finish(), self.err.finish());
        CommandRun { stdout, stderr, dropped: out_dropped + err_dropped, ..CommandRun::default() }
    }
}

/// Both streams in whole lines: output of one stream never appears within a line of the other.
#[derive(Debug)]
pub(super) struct OrderedStreams {
    kept: HeadTailBuffer,
    /// Incomplete lines.
    begun: [Vec<u8>; 2],
}

impl OrderedStreams {
    fn with_limit(most: usize) -> Self {
        Self { kept: HeadTailBuffer::with_limit(most), begun: [Vec::new(), Vec::new()] }
    }

    fn push(&mut self, stream: Stream, bytes: &[u8]) {
        let [out, err] = &mut self.begun;
        let begun = if stream == Stream::Stdout { out } else { err };
        let whole = memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
        let (lines, rest) = bytes.split_at(whole);
        if !lines.is_empty() {
            self.kept.push(begun);
            self.kept.push(lines);
            begun.clear();
        }
        begun.extend_from_slice(rest);
        if begun.len() > LINE_BYTES {
            begun.push(b'\n');
            self.kept.push(begun);
            begun.clear();
        }
    }

    fn finish(mut self) -> (Vec<u8>, u64) {
        let [out, err] = &mut self.begun;
        if !out.is_empty() && !err.is_empty() {
            out.push(b'\n');
        }
        self.kept.push(out);
        self.kept.push(err);
        self.kept.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect_chunks(mut all: OutputBuffer, chunks: &[(Stream, &str)]) -> CommandRun {
        for (stream, bytes) in chunks {
            all.push(*stream, bytes.as_bytes());
        }
        all.finish()
    }

    #[test]
    fn both_streams_keep_their_lines_and_their_order() {
        use Stream::{Stderr, Stdout};
        let check = |chunks: &[(Stream, &str)], stdout: &str, stderr: &str, both: &str| {
            let run = collect_chunks(OutputBuffer::with_both(1000), chunks);
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let found = (text(&run.stdout), text(&run.stderr), text(&run.both));
            assert_eq!(found, (stdout.into(), stderr.into(), both.into()), "{chunks:?}");
            assert_eq!(run.dropped, 0);
        };
        check(&[], "", "", "");
        check(&[(Stderr, "a\n"), (Stdout, "b\n"), (Stderr, "c\n")], "b\n", "a\nc\n", "a\nb\nc\n");
        check(&[(Stdout, "ha"), (Stderr, "e\n"), (Stdout, "lf\n")], "half\n", "e\n", "e\nhalf\n");
        check(&[(Stderr, "e"), (Stdout, "o")], "o", "e", "o\ne");
        check(&[(Stdout, "one\ntw"), (Stdout, "o")], "one\ntwo", "", "one\ntwo");
    }

    #[test]
    fn the_output_of_one_pipe_is_not_changed() {
        let chunks = [(Stream::Stdout, "half, "), (Stream::Stdout, "and the rest")];
        let run = collect_chunks(OutputBuffer::with_combined(1000), &chunks);
        assert_eq!((run.both.as_slice(), run.stdout.len()), (&b"half, and the rest"[..], 0));
        let long = "x".repeat(2 * LINE_BYTES);
        let run = collect_chunks(OutputBuffer::with_combined(10 * LINE_BYTES), &[(Stream::Stdout, &long)]);
        assert!(run.both == long.as_bytes(), "{} bytes", run.both.len());
    }

    #[test]
    fn dropped_bytes_are_counted_once() {
        let line = "x".repeat(99) + "\n";
        let flood: Vec<_> = (0..100).map(|_| (Stream::Stdout, line.as_str())).collect();
        for all in [
            OutputBuffer::with_both(1000),
            OutputBuffer::with_separate(1000),
            OutputBuffer::with_combined(1000),
        ] {
            assert_eq!(collect_chunks(all, &flood).dropped, 8100);
        }
    }

    #[test]
    fn an_endless_line_is_not_held_until_its_end() {
        let mut all = OutputBuffer::with_both(10 * LINE_BYTES);
        all.push(Stream::Stdout, &vec![b'x'; LINE_BYTES + 1]);
        all.push(Stream::Stderr, b"between\n");
        let both = all.finish().both;
        assert!(both.ends_with(b"x\nbetween\n") && both.len() == LINE_BYTES + 10);
    }
}
