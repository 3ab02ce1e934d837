//! The first and last lines of an output, for prompts, hovers and the journal: sanitised, redacted, capped.

#[cfg(test)]
mod tests;

use super::output::Output;
use super::{CommandRun, HEAD_BYTES, TAIL_BYTES};
use crate::redact::Redactor;
use crate::{cut, sanitize};

/// What of an output is kept with its result. `tail` is empty when `head` holds everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Excerpt {
    pub head: String,
    pub tail: String,
}

impl Excerpt {
    /// Of both streams, stdout first.
    pub fn of(run: &CommandRun, redactor: &Redactor) -> Self {
        Self::of_output(&Output::of(run), redactor)
    }

    pub(super) fn of_output(output: &Output, redactor: &Redactor) -> Self {
        // Redacted as a whole: a secret that lies across a cut must not show its halves.
        of_text(&redactor.redact(&sanitize::text(&output.both())))
    }
}

fn of_text(text: &str) -> Excerpt {
    if text.len() <= HEAD_BYTES {
        return Excerpt { head: text.to_owned(), tail: String::new() };
    }
    let (head, rest) = text.split_at(end_of_head(text));
    Excerpt { head: head.to_owned(), tail: rest.get(start_of_tail(rest)..).unwrap_or_default().to_owned() }
}

/// After the last line that fits whole, or within the first line when that alone is too long.
fn end_of_head(text: &str) -> usize {
    let head = cut::first(text, HEAD_BYTES);
    head.rfind('\n').map_or(head.len(), |at| at + 1)
}

fn start_of_tail(text: &str) -> usize {
    let least = text.len() - cut::last(text, TAIL_BYTES).len();
    let at_line = least == 0 || text.get(..least).is_some_and(|it| it.ends_with('\n'));
    let next = || text.get(least..).and_then(|it| it.find('\n')).map(|at| least + at + 1);
    if at_line { least } else { next().filter(|it| *it < text.len()).unwrap_or(least) }
}
