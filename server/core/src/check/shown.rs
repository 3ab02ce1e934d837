//! The part of a result that is shown, identically to agents and users: the locations of its failures and its output
//! within a number of bytes.

#[cfg(test)]
mod tests;

use super::{CheckResult, Location, Status, TAIL_BYTES};
use loopkeeper_text::{tr, truncate, words};

/// Room for the line that counts what is left out.
const NOTE_BYTES: usize = 64;

impl CheckResult {
    /// The locations of its failures, those with a message first; warnings only if nothing else is named.
    pub fn failures(&self) -> Vec<&Location> {
        if matches!(self.status, Status::Pass | Status::Unverified) {
            return Vec::new();
        }
        let errors = self.locations.iter().filter(|it| !it.warning);
        let all: Vec<_> =
            if errors.clone().next().is_some() { errors.collect() } else { self.locations.iter().collect() };
        let (with_message, bare): (Vec<_>, Vec<_>) = all.into_iter().partition(|it| !it.message.is_empty());
        [with_message, bare].concat()
    }

    /// A line for each of the first failures, as far as they fit, and one that counts the rest.
    pub fn failure_lines(&self, places: usize, bytes: usize) -> Vec<String> {
        let failures = self.failures();
        let mut room = bytes;
        let fits = |line: &String| {
            let fits = line.len() < room;
            room = room.saturating_sub(line.len() + 1);
            fits
        };
        let mut lines: Vec<_> =
            failures.iter().take(places).map(|it| it.line_of_text()).take_while(fits).collect();
        let more = failures.len() - lines.len();
        if more > 0 && !lines.is_empty() {
            lines.push(tr!("and {count}", count = words::counted(more as u64, "more place")));
        }
        lines
    }

    /// The output within a number of bytes: the end takes precedence, and the beginning gets the remaining room. A line
    /// marks where output is left out.
    pub fn output_within(&self, bytes: usize) -> String {
        let whole = [self.head.as_str(), &self.tail].concat();
        let between = if self.tail.is_empty() { Some(0) } else { self.left_out };
        let is_whole = between == Some(0);
        if is_whole && whole.len() <= bytes {
            return whole;
        }
        let room = bytes.saturating_sub(NOTE_BYTES);
        if room == 0 {
            return String::new();
        }
        let end = last_of(if is_whole { &whole } else { &self.tail }, room.min(TAIL_BYTES));
        let before = if is_whole { whole.strip_suffix(end).unwrap_or_default() } else { &self.head };
        let begin = first_of(before, room - end.len());
        let cut = whole.len() - begin.len() - end.len();
        match between.map(|it| it + cut as u64) {
            Some(0) => whole,
            left_out => [begin, &note(begin, left_out), end].concat(),
        }
    }

    /// The last lines that are not blank.
    pub fn last_lines(&self, lines: usize) -> Vec<&str> {
        let end = if self.tail.is_empty() { &self.head } else { &self.tail };
        let all: Vec<_> = end.lines().map(str::trim_end).filter(|it| !it.is_empty()).collect();
        all.get(all.len().saturating_sub(lines)..).unwrap_or_default().to_vec()
    }
}

impl Location {
    /// `src/a.rs:3:5: what is wrong`.
    pub fn line_of_text(&self) -> String {
        let column = self.column.map(|it| format!(":{it}")).unwrap_or_default();
        let message = if self.message.is_empty() { String::new() } else { format!(": {}", self.message) };
        format!("{}:{}{column}{message}", self.file, self.line)
    }
}

/// `left_out`: unknown in records of earlier versions.
fn note(before: &str, left_out: Option<u64>) -> String {
    let line_end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let what = match left_out {
        Some(bytes) => tr!("{size} of the output omitted here", size = words::bytes(bytes)),
        None => tr!("part of the output omitted here").to_owned(),
    };
    format!("{line_end}[… {what} …]\n")
}

/// The first bytes, to the end of a line; empty if not even one line fits.
fn first_of(text: &str, bytes: usize) -> &str {
    let first = truncate::first_bytes(text, bytes);
    if first.len() == text.len() {
        return text;
    }
    first.rfind('\n').and_then(|at| first.get(..=at)).unwrap_or_default()
}

/// The last bytes, from the start of a line where that costs little.
fn last_of(text: &str, bytes: usize) -> &str {
    let last = truncate::last_bytes(text, bytes);
    let before = text.strip_suffix(last).unwrap_or_default();
    match last.find('\n') {
        Some(at) if !before.is_empty() && !before.ends_with('\n') && at < bytes / 4 => {
            last.get(at + 1..).unwrap_or_default()
        }
        _ => last,
    }
}
