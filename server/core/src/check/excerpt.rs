//! The beginning and the end of an output that are stored with a result: sanitised, redacted, bounded.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use super::{CommandRun, GAP, HEAD_BYTES, TAIL_BYTES};
use loopkeeper_text::redact::Redactor;
use loopkeeper_text::{sanitize, truncate, words};

const KEPT_BYTES: usize = HEAD_BYTES + TAIL_BYTES;
/// Where the whole does not fit, lines are shortened to this, so that one line does not displace all others.
const LINE_BYTES: usize = KEPT_BYTES / 8;
/// Maximum number of distinct overwritten states of one line that are kept.
const MAX_STATES: usize = 20;

/// The stored part of an output. `tail` is empty when `head` holds everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Excerpt {
    pub head: String,
    pub tail: String,
    /// Bytes between the two, where there are two.
    pub left_out: Option<u64>,
}

impl Excerpt {
    pub(super) fn of(run: &CommandRun, redactor: &Redactor) -> Self {
        Self::of_text(&String::from_utf8_lossy(&run.in_order()), run.dropped, redactor)
    }

    /// `dropped`: bytes that are missing at a [`GAP`].
    pub fn of_text(raw: &str, dropped: u64, redactor: &Redactor) -> Self {
        // Redacted as a whole: a secret that lies across a cut must not show its halves.
        let text = redactor.redact(&readable(raw));
        let text = shorten_long_lines(&text);
        if text.len() <= HEAD_BYTES {
            return Self { head: text.into_owned(), ..Self::default() };
        }
        let (head, rest) = text.split_at(end_of_head(&text));
        let (between, tail) = rest.split_at(start_of_tail(rest));
        let missing = if between.contains(GAP) { dropped } else { 0 };
        let left_out = Some(between.len() as u64 + missing);
        Self { head: head.to_owned(), tail: tail.to_owned(), left_out }
    }
}

/// An output as people read it: printable, each line in the state in which a terminal leaves it.
pub fn readable(raw: &str) -> String {
    let stripped = sanitize::strip_escapes_but_returns(raw);
    sanitize::text(&drop_progress_states(&stripped))
}

/// Drops the states of progress bars that later ones replace. States that differ in more than numbers and signs are
/// kept: some tools end their lines with carriage returns.
fn drop_progress_states(text: &str) -> Cow<'_, str> {
    if !text.contains('\r') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let mut states: Vec<&str> = Vec::new();
        for state in line.split('\r').filter(|it| !it.trim().is_empty()) {
            if states.last().is_some_and(|it| letters(it).eq(letters(state))) {
                states.pop();
            }
            states.push(state);
        }
        let last = states.get(states.len().saturating_sub(MAX_STATES)..).unwrap_or_default();
        out.push_str(&last.join("\n"));
    }
    Cow::Owned(out)
}

fn letters(state: &str) -> impl Iterator<Item = char> {
    state.chars().filter(|it| it.is_alphabetic())
}

/// Shortens the longest lines, only as far as needed for the whole text to fit.
fn shorten_long_lines(text: &str) -> Cow<'_, str> {
    let mut most = KEPT_BYTES;
    let mut fitting = Cow::Borrowed(text);
    while fitting.len() > KEPT_BYTES && most >= LINE_BYTES {
        fitting = shortened(text, most);
        most /= 2;
    }
    fitting
}

fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    /// Room for the number of bytes and the text around it.
    const NOTE_BYTES: usize = 32;
    if text.lines().all(|it| it.len() <= most) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if line.len() <= most {
            out.push_str(line);
            continue;
        }
        let kept = most - NOTE_BYTES;
        let (begin, end) = (truncate::first_bytes(line, kept / 3), truncate::last_bytes(line, kept * 2 / 3));
        let left_out = line.len() - begin.len() - end.len();
        out.extend([begin, &format!(" [… {} …] ", words::counted(left_out as u64, "byte")), end]);
    }
    Cow::Owned(out)
}

/// After the last line that fits whole, or within the first line when that alone is too long.
fn end_of_head(text: &str) -> usize {
    let head = truncate::first_bytes(text, HEAD_BYTES);
    head.rfind('\n').map_or(head.len(), |at| at + 1)
}

fn start_of_tail(text: &str) -> usize {
    let least = text.len() - truncate::last_bytes(text, TAIL_BYTES).len();
    let at_line = least == 0 || text.get(..least).is_some_and(|it| it.ends_with('\n'));
    let next = || text.get(least..).and_then(|it| it.find('\n')).map(|at| least + at + 1);
    if at_line { least } else { next().filter(|it| *it < text.len()).unwrap_or(least) }
}
