//! Removes known secrets and secret-shaped text from what is stored. One scanner serves whole texts and streams, with
//! the same result for any chunking. It misses secrets that it does not know: it limits a leak, it does not make
//! logging safe.

mod export;
mod shapes;
#[cfg(test)]
mod tests;
mod variables;

use std::sync::Arc;

pub use export::{ExportRedactor, RedactionCounts};
use shapes::{SHAPE_LOOKAHEAD, SHAPES, TailCharset};
pub use variables::take_values;

const MARK: &[u8] = b"[redacted]";
/// Shorter values would redact ordinary words.
const MIN_VALUE_BYTES: usize = 8;
const PAIRS: usize = 1 << 16;

/// The patterns: exact values first, then the shapes of well-known tokens.
#[derive(Debug, Clone)]
pub struct Redactor {
    /// Known values, longest first.
    known: Arc<[Vec<u8>]>,
    starts: Arc<Prefilter>,
    /// Bytes of lookahead needed to classify a byte.
    lookahead: usize,
    /// A known value contains a line end.
    spans_lines: bool,
}

impl Redactor {
    /// Redacts these values (those of at least 8 bytes) in addition to the shapes.
    pub fn new(known: impl IntoIterator<Item = String>) -> Self {
        let mut known: Vec<Vec<u8>> =
            known.into_iter().filter(|it| it.len() >= MIN_VALUE_BYTES).map(String::into_bytes).collect();
        known.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        known.dedup();
        let longest = known.first().map_or(0, Vec::len);
        let mut starts = Prefilter { pairs: vec![0; PAIRS / 64], firsts: vec![false; 1 << 8] };
        starts.add(MARK);
        for it in &known {
            starts.add(it);
        }
        for it in SHAPES {
            starts.add(it.prefix);
        }
        let spans_lines = known.iter().any(|it| it.contains(&b'\n'));
        Self {
            spans_lines,
            known: known.into(),
            starts: Arc::new(starts),
            lookahead: longest.max(SHAPE_LOOKAHEAD) + MARK.len(),
        }
    }

    /// Redacts the values of variables whose names mark them as secret.
    pub fn from_env(vars: impl IntoIterator<Item = (String, String)>) -> Self {
        Self::new(vars.into_iter().filter(|(name, _)| is_secret_name(name)).map(|(_, value)| value))
    }

    /// `text` with every secret replaced by `[redacted]`.
    pub fn redact(&self, text: &str) -> String {
        let mut stream = self.stream();
        let mut out = stream.push(text.as_bytes());
        out.extend(stream.finish());
        // Secrets begin and end at character boundaries, so this never replaces anything.
        String::from_utf8(out).unwrap_or_else(|it| String::from_utf8_lossy(it.as_bytes()).into_owned())
    }

    /// Redacts bytes that arrive in pieces, with the same result.
    pub fn stream(&self) -> RedactingStream {
        RedactingStream { redactor: self.clone(), held: Vec::new(), previous: None, mode: StreamState::Plain }
    }

    /// The longest known value at the start of `bytes`. One that overlaps a mark in the text does not count; otherwise
    /// a second pass could match what the first one produced.
    fn known_at(&self, bytes: &[u8]) -> usize {
        let found = |it: &&Vec<u8>| bytes.starts_with(it) && !begins_mark_within(bytes, it.len());
        self.known.iter().find(found).map_or(0, Vec::len)
    }
}

/// The byte pairs with which any pattern begins. Nearly all text is skipped by this test.
#[derive(Debug)]
struct Prefilter {
    /// One bit per pair, because keepers keep several of these in memory for hours.
    pairs: Vec<u64>,
    firsts: Vec<bool>,
}

impl Prefilter {
    fn add(&mut self, sought: &[u8]) {
        if let [first, second, ..] = sought
            && let (word, bit) = Self::place(*first, *second)
            && let Some(pairs) = self.pairs.get_mut(word)
            && let Some(first) = self.firsts.get_mut(usize::from(*first))
        {
            *pairs |= bit;
            *first = true;
        }
    }

    fn place(first: u8, second: u8) -> (usize, u64) {
        let index = usize::from(first) << 8 | usize::from(second);
        (index / 64, 1 << (index % 64))
    }

    /// The first position where a pattern may begin, or the end of `bytes`.
    fn first_in(&self, bytes: &[u8]) -> usize {
        let pair = |pair: &[u8]| match pair {
            [first, second] => {
                let (word, bit) = Self::place(*first, *second);
                self.pairs.get(word).is_some_and(|it| it & bit != 0)
            }
            _ => true,
        };
        let last = bytes.last().and_then(|it| self.firsts.get(usize::from(*it))).is_some_and(|it| *it);
        bytes.windows(2).position(pair).unwrap_or(bytes.len() - usize::from(last))
    }
}

/// Whether a variable of this name holds a secret rather than a path to one. A path is part of too many other texts.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.as_bytes();
    let ends =
        |end: &&str| name.windows(end.len()).last().is_some_and(|it| it.eq_ignore_ascii_case(end.as_bytes()));
    let holds = |word: &&str| name.windows(word.len()).any(|it| it.eq_ignore_ascii_case(word.as_bytes()));
    let is_path = ["_FILE", "_PATH", "_DIR", "_HOME", "_SOCK"].iter().any(ends);
    !is_path && ["TOKEN", "KEY", "SECRET", "PASSWORD", "PASSWD"].iter().any(holds)
}

fn begins_mark_within(bytes: &[u8], length: usize) -> bool {
    (1..length).any(|at| bytes.get(at..).is_some_and(|it| it.starts_with(MARK)))
}

/// Redacts bytes that arrive in pieces; holds back bytes that may still turn out to be part of a secret.
#[derive(Debug)]
pub struct RedactingStream {
    redactor: Redactor,
    held: Vec<u8>,
    /// The last byte written.
    previous: Option<u8>,
    mode: StreamState,
}

#[derive(Debug)]
enum StreamState {
    Plain,
    /// Inside a secret whose mark is already written: `remaining` bytes certainly belong to it, then as many as `tail`
    /// determines.
    Covered {
        remaining: usize,
        tail: TailCharset,
        last: u8,
    },
}

impl RedactingStream {
    /// Takes bytes and returns those that are safe to store.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(bytes);
        self.drain(if self.is_decided() { 1 } else { self.redactor.lookahead })
    }

    /// A secret of one line ends with its line, so that what a program printed last is not held until it prints more.
    fn is_decided(&self) -> bool {
        let is_plain = matches!(self.mode, StreamState::Plain);
        let may_begin_key = self.held.windows(2).any(|it| it == b"--");
        is_plain && !may_begin_key && !self.redactor.spans_lines && self.held.ends_with(b"\n")
    }

    /// Returns the bytes that were still held back.
    pub fn finish(&mut self) -> Vec<u8> {
        self.drain(1)
    }

    fn drain(&mut self, need: usize) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        let mut out = Vec::with_capacity(held.len());
        let mut rest = held.as_slice();
        loop {
            let calm = self.bytes_before_match(rest);
            out.extend_from_slice(calm);
            self.previous = calm.last().copied().or(self.previous);
            rest = rest.get(calm.len()..).unwrap_or_default();
            if rest.len() < need.max(1) {
                break;
            }
            let used = self.step(rest, &mut out);
            rest = rest.get(used..).unwrap_or_default();
        }
        self.held = rest.to_vec();
        out
    }

    /// The bytes before the next position where a pattern may begin.
    fn bytes_before_match<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        if matches!(self.mode, StreamState::Covered { .. }) {
            return &[];
        }
        bytes.get(..self.redactor.starts.first_in(bytes)).unwrap_or_default()
    }

    /// Classifies the first byte of `rest`; returns how many bytes were consumed.
    fn step(&mut self, rest: &[u8], out: &mut Vec<u8>) -> usize {
        if let StreamState::Covered { remaining, tail, last } = &mut self.mode {
            if *remaining == 0 {
                (*remaining, *tail) = tail.continuation(rest, *last);
            }
            *remaining = (*remaining).max(self.redactor.known_at(rest));
            if *remaining == 0 {
                self.mode = StreamState::Plain;
                return 0;
            }
            *remaining -= 1;
            *last = rest.first().copied().unwrap_or_default();
            return 1;
        }
        if rest.starts_with(MARK) {
            self.write_mark(out);
            return MARK.len();
        }
        let known = self.redactor.known_at(rest);
        let shape = SHAPES.iter().find_map(|it| it.at(rest, self.previous));
        if known == 0 && shape.is_none() {
            out.extend(rest.first());
            self.previous = rest.first().copied();
            return 1;
        }
        let (length, tail) = shape.unwrap_or((0, TailCharset::Nothing));
        self.mode = StreamState::Covered { remaining: length.max(known), tail, last: 0 };
        self.write_mark(out);
        0
    }

    fn write_mark(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(MARK);
        self.previous = MARK.last().copied();
    }
}
