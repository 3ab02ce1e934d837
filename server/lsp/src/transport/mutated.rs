//! Mutated frames and bodies: none panics, and the pieces in which the bytes arrive make no difference.

use std::io::{self, Read};

use loopkeeper_fuzz::Fuzzer;

use super::frames::{Frame, Frames};
use super::message::parse_message;

const WORDS: &[&str] = &[
    "Content-Length: 2\r\n\r\n{}",
    "Content-Length: 99999999999\r\n\r\n",
    "content-length:",
    "\r\n\r\n",
    "Content-Type: x\r\n",
    "{\"jsonrpc\":\"2.0\",",
    "\"id\":",
    "\"method\":\"exit\"",
    "\"params\":[",
    "\\ud83d",
    "[[[[",
];

/// Returns a few bytes at a time.
struct Pieces<'a>(&'a [u8]);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(1 + self.0.len() % 5);
        Read::read(&mut self.0, &mut buffer[..most])
    }
}

fn frames_of(input: impl Read) -> Vec<Frame> {
    let mut frames = Frames::new(input);
    std::iter::from_fn(|| Some(frames.next()).filter(|it| *it != Frame::End)).collect()
}

fn parse_all(input: &[u8]) {
    let frames = frames_of(input);
    for frame in &frames {
        if let Frame::Body(body) = frame {
            parse_message(body);
        }
    }
    assert_eq!(frames_of(Pieces(input)), frames);
}

fn framed(body: &[u8]) -> Vec<u8> {
    [format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

/// Where lengths without a body follow each other, the frame at their end is still found.
#[test]
fn a_frame_is_found_after_headers_that_are_too_long() {
    let headers = [
        "Content-Length: 46\r\n".repeat(1_000),
        "X: y\r\n".repeat(2_000),
        format!("Content-Length: {}\r\n", "9".repeat(10_000)),
        format!("Content-Length: 46\r\n{}\r\n", "x".repeat(10_000)),
        format!("{}no colon\r\n", "Content-Length: 46\r\n".repeat(100)),
    ];
    for text in headers {
        let bytes = [text.as_bytes(), b"no colon\n", &framed(b"{}")].concat();
        let frames = frames_of(&*bytes);
        assert_eq!(frames.last(), Some(&Frame::Body(b"{}".to_vec())), "{text:.40}: {frames:?}");
        assert!(frames.len() < 10, "{text:.40}: {} frames", frames.len());
        assert_eq!(frames_of(Pieces(&bytes)), frames);
    }
}

#[test]
fn pieces_of_any_bytes_give_the_same_frames() {
    Fuzzer::new("frames", WORDS, &[]).run(parse_all);
}

#[test]
fn a_frame_follows_anything_with_a_length() {
    Fuzzer::new("frames", WORDS, &[]).run(|input| {
        let bytes = [framed(input), framed(b"{}")].concat();
        assert_eq!(frames_of(&*bytes), [Frame::Body(input.to_vec()), Frame::Body(b"{}".to_vec())]);
        parse_message(input);
    });
}

#[test]
fn parsing_takes_linear_time() {
    let fuzzer = Fuzzer::new("frames", WORDS, &[]);
    fuzzer.run_growing(|input| drop(frames_of(input)));
    fuzzer.run_growing(|input| drop(parse_message(input)));
}
