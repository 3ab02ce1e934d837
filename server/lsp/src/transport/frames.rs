//! Splits the client's bytes into message bodies. After any input it finds the next frame again, holds no more than one
//! body of [`MAX_BODY_BYTES`] bytes, and never parses a body.

use std::io::{ErrorKind, Read};

/// Maximum size of a body.
const MAX_BODY_BYTES: u64 = 16 << 20;
/// A length above this is a mistake; the body will not arrive.
const MAX_PLAUSIBLE_BYTES: u64 = 1 << 30;
/// Maximum size of all headers of a frame.
const MAX_HEADER_BYTES: usize = 8 << 10;
const CHUNK: usize = 64 << 10;
const LENGTH: &[u8] = b"content-length:";

/// One step of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame {
    Body(Vec<u8>),
    /// The body cannot be read, with the reason; the following frames can.
    Bad(&'static str),
    End,
}

pub(super) struct Frames<R> {
    input: R,
    buffer: Vec<u8>,
    /// The bytes of one read. Spare room at the end of `buffer` would be cleared before each read.
    chunk: Box<[u8]>,
    /// Offset up to which the buffer has been consumed.
    at: usize,
    next: FrameState,
}

/// The content of the input before the next frame.
enum FrameState {
    Header,
    /// The remainder of a body that is too large.
    Body(u64),
    /// Unknown; search for the next header.
    Unknown,
}

enum FrameHeader {
    Length(u64),
    Bad(&'static str),
    End,
}

enum HeaderLine {
    Of(Vec<u8>),
    TooLong,
    End,
}

impl<R: Read> Frames<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            buffer: Vec::new(),
            chunk: vec![0; CHUNK].into_boxed_slice(),
            at: 0,
            next: FrameState::Header,
        }
    }

    /// The underlying reader.
    pub(super) fn input(&mut self) -> &mut R {
        &mut self.input
    }

    pub(super) fn next(&mut self) -> Frame {
        let has_frame = match std::mem::replace(&mut self.next, FrameState::Header) {
            FrameState::Header => true,
            FrameState::Body(length) => self.skip_bytes(length),
            FrameState::Unknown => self.find_length(),
        };
        if !has_frame {
            return Frame::End;
        }
        match self.read_header() {
            FrameHeader::End => Frame::End,
            FrameHeader::Bad(why) => {
                self.next = FrameState::Unknown;
                Frame::Bad(why)
            }
            FrameHeader::Length(length) if length > MAX_PLAUSIBLE_BYTES => {
                self.next = FrameState::Unknown;
                Frame::Bad("no message is that long")
            }
            FrameHeader::Length(length) if length > MAX_BODY_BYTES => {
                self.next = FrameState::Body(length);
                Frame::Bad("a message may have 16 MiB")
            }
            FrameHeader::Length(length) => self.read_body(length as usize),
        }
    }

    /// Reads to the blank line. After a bad header, `at` is where the search for the next one begins.
    fn read_header(&mut self) -> FrameHeader {
        let (mut length, mut begin) = (None, self.at);
        loop {
            let line = match self.read_line(begin) {
                HeaderLine::End => return FrameHeader::End,
                HeaderLine::TooLong => return self.long_header(begin),
                HeaderLine::Of(line) => line,
            };
            let line = line.trim_ascii();
            if line.is_empty() {
                match length {
                    Some(length) => return FrameHeader::Length(length),
                    // Some clients send a line terminator after a body.
                    None if self.buffer.get(begin..self.at).is_some_and(|it| it.trim_ascii().is_empty()) => {
                        self.forget_read_chunk();
                        begin = self.at;
                        continue;
                    }
                    None => return self.bad_header(begin, "there is no Content-Length"),
                }
            }
            let Some(colon) = memchr::memchr(b':', line) else {
                // A frame that begins inside these headers would contain the same line.
                return FrameHeader::Bad("a header has no colon");
            };
            let (name, value) = line.split_at(colon);
            if !name.trim_ascii().eq_ignore_ascii_case(b"content-length") {
                continue;
            }
            match number(value) {
                None => return FrameHeader::Bad("Content-Length is not a number"),
                Some(it) if length.is_some_and(|before| before != it) => {
                    return FrameHeader::Bad("there are two Content-Lengths");
                }
                it => length = it,
            }
        }
    }

    /// A supposed header may be the end of a body with the next header immediately after it.
    fn bad_header(&mut self, begin: usize, why: &'static str) -> FrameHeader {
        self.at = begin + 1;
        FrameHeader::Bad(why)
    }

    /// Continues the search at the last `Content-Length` in the headers: a frame that begins at an earlier one would have
    /// the same headers after it. So each byte is read a bounded number of times.
    fn long_header(&mut self, begin: usize) -> FrameHeader {
        let inside = self.buffer.get(begin + 1..self.at).unwrap_or_default();
        let last = inside.windows(LENGTH.len()).rposition(|it| it.eq_ignore_ascii_case(LENGTH));
        self.at = last.map_or(self.at.max(begin + 1), |last| begin + 1 + last);
        FrameHeader::Bad("the headers are too long")
    }

    /// One line of a header that began at `begin`.
    fn read_line(&mut self, begin: usize) -> HeaderLine {
        let from = self.at;
        let mut searched = from;
        loop {
            let unseen = self.buffer.get(searched..).unwrap_or_default();
            if let Some(end) = memchr::memchr(b'\n', unseen) {
                let end = searched + end + 1;
                // Also where all of it arrived at once.
                if end - begin > MAX_HEADER_BYTES {
                    return HeaderLine::TooLong;
                }
                self.at = end;
                return HeaderLine::Of(self.buffer.get(from..self.at).unwrap_or_default().to_vec());
            }
            searched = self.buffer.len();
            if searched - begin > MAX_HEADER_BYTES {
                return HeaderLine::TooLong;
            }
            if !self.fill_buffer() {
                return HeaderLine::End;
            }
        }
    }

    fn read_body(&mut self, length: usize) -> Frame {
        let here = self.buffer.len().min(self.at + length);
        let mut body = Vec::new();
        body.reserve_exact(length);
        body.extend_from_slice(self.buffer.get(self.at..here).unwrap_or_default());
        self.at = here;
        self.forget_read_chunk();
        let missing = (length - body.len()) as u64;
        match self.input.by_ref().take(missing).read_to_end(&mut body) {
            Ok(read) if read as u64 == missing => Frame::Body(body),
            _ => Frame::End,
        }
    }

    fn skip_bytes(&mut self, length: u64) -> bool {
        let mut left = length;
        loop {
            let here = ((self.buffer.len() - self.at) as u64).min(left);
            self.at += here as usize;
            left -= here;
            if left == 0 {
                return true;
            }
            self.forget_read();
            if !self.fill_buffer() {
                return false;
            }
        }
    }

    /// Advances to the next `Content-Length` header.
    fn find_length(&mut self) -> bool {
        loop {
            let unread = self.buffer.get(self.at..).unwrap_or_default();
            let found = memchr::memchr2_iter(b'c', b'C', unread).find(|begin| {
                let it = unread.get(*begin..begin + LENGTH.len());
                it.is_some_and(|it| it.eq_ignore_ascii_case(LENGTH))
            });
            if let Some(begin) = found {
                self.at += begin;
                return true;
            }
            self.at += unread.len().saturating_sub(LENGTH.len());
            self.forget_read();
            if !self.fill_buffer() {
                return false;
            }
        }
    }

    /// Reads more into the end of the buffer.
    fn fill_buffer(&mut self) -> bool {
        let read = loop {
            match self.input.read(&mut self.chunk) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read.unwrap_or(0),
            }
        };
        self.buffer.extend_from_slice(self.chunk.get(..read).unwrap_or_default());
        read > 0
    }

    /// Moves unread bytes to the front: seldom, if many small frames arrived together.
    fn forget_read_chunk(&mut self) {
        if self.at >= CHUNK || self.at == self.buffer.len() {
            self.forget_read();
        }
    }

    fn forget_read(&mut self) {
        self.buffer.drain(..self.at.min(self.buffer.len()));
        self.buffer.shrink_to(2 * CHUNK);
        self.at = 0;
    }
}

/// The value of a header, which must consist of digits.
fn number(value: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(value.strip_prefix(b":")?).ok()?.trim();
    digits.bytes().all(|it| it.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::{Frame, Frames, MAX_BODY_BYTES};
    use std::io::Read;

    /// Returns a few bytes at a time, as pipes may.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let amount = self.1.min(self.0.len()).min(buffer.len());
            let (now, later) = self.0.split_at(amount);
            buffer[..amount].copy_from_slice(now);
            self.0 = later;
            Ok(amount)
        }
    }

    /// `{…}` for bodies, `!` for rejections.
    #[track_caller]
    fn check(input: &str, expect: &[&str]) {
        for step in [1, 2, 7, 100_000] {
            let mut frames = Frames::new(Slow(input.as_bytes(), step));
            let mut seen = Vec::new();
            loop {
                match frames.next() {
                    Frame::End => break,
                    Frame::Body(body) => seen.push(String::from_utf8(body).unwrap()),
                    Frame::Bad(_) => seen.push("!".to_owned()),
                }
            }
            assert_eq!(seen, expect, "{input:?} in steps of {step}");
        }
    }

    #[test]
    fn frames_as_clients_write_them() {
        check("Content-Length: 2\r\n\r\n{}Content-Length: 3\r\n\r\n{ }", &["{}", "{ }"]);
        check("content-length:2\r\n\r\n{}", &["{}"]);
        check("CONTENT-LENGTH : 2 \n\n{}", &["{}"]);
        check("Content-Length: 2\nX-Other: a:b\n\n{}\n\r\nContent-Length: 2\n\n[]", &["{}", "[]"]);
        let typed = "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}";
        check(typed, &["{}"]);
        check("Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", &["{}"]);
        check("Content-Length: 0\r\n\r\nContent-Length: 2\r\n\r\n{}", &["", "{}"]);
    }

    #[test]
    fn invalid_frames_are_refused_once() {
        let after = "Content-Length: 4\r\n\r\n{ok}";
        let absurd = [
            "Content-Length: -1\r\n\r\n{}",
            "Content-Type: x\r\nContent-Length: -1\r\n\r\n{}",
            "Content-Length: 1000000000000000000\r\n\r\n{}",
            "Content-Length: 99999999999999999999999\r\n\r\n{}",
            "Content-Length: 2.0\r\n\r\n{}",
            "Content-Length: 0x2\r\n\r\n{}",
            "Content-Length: +2\r\n\r\n{}",
            "Content-Length:\r\n\r\n{}",
            "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
            "Content-Type: x\r\n\r\n{}",
            "no header\r\n\r\n{}",
            "{}",
            "a rest of a body, ",
        ];
        for begin in absurd {
            check(&format!("{begin}{after}"), &["!", "{ok}"]);
        }
        check(&format!("Content-Length: 1\r\n\r\n{{}}{after}"), &["{", "!", "{ok}"]);
        check(&format!("X: {}\r\n\r\n{{}}{after}", "x".repeat(10_000)), &["!", "{ok}"]);
    }

    #[test]
    fn oversized_bodies_are_skipped() {
        let length = MAX_BODY_BYTES as usize + 1;
        let text =
            format!("Content-Length: {length}\r\n\r\n{}Content-Length: 2\r\n\r\n{{}}", "x".repeat(length));
        let mut frames = Frames::new(text.as_bytes());
        assert!(matches!(frames.next(), Frame::Bad(_)));
        assert_eq!(frames.next(), Frame::Body(b"{}".to_vec()));
        assert!(frames.buffer.capacity() < 1 << 20);
        assert_eq!(frames.next(), Frame::End);
    }

    #[test]
    fn blank_lines_are_not_held() {
        let (blank, frame) = ("\r\n".repeat(1 << 20), "Content-Length: 2\r\n\r\n{}");
        let text = [blank.as_str(), frame].concat();
        let mut frames = Frames::new(text.as_bytes());
        assert_eq!(frames.next(), Frame::Body(b"{}".to_vec()));
        assert!(frames.buffer.capacity() < 1 << 20, "{}", frames.buffer.capacity());
    }

    #[test]
    fn half_a_frame_is_the_end() {
        for text in ["", "Content-Le", "Content-Length: 9\r\n", "Content-Length: 9\r\n\r\n{}", "nothing here"]
        {
            let mut frames = Frames::new(text.as_bytes());
            assert_eq!(frames.next(), Frame::End, "{text:?}");
        }
    }
}
