//! Finds source locations in an output: `src/a.rs:3:5` in all formats of compilers, runners and stack traces. Parses
//! text heuristically and never checks whether a file exists.

mod context;
mod generic;
mod line_kinds;
mod python;
mod relative;
mod rust;
mod script;
mod source_path;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::path::Path;

use self::context::LocationContext;
pub use self::relative::relative_path;
use super::{Location, MAX_LOCATIONS};
use loopkeeper_text::{sanitize, truncate};

const MESSAGE_CHARS: usize = 200;
/// Maximum length of a line that is parsed: the rest is data.
const LINE_BYTES: usize = 2000;

/// The locations that `output` (both streams, escape sequences stripped) names, each once, errors before warnings.
/// Paths below `root` become relative to it, however the tool prints them.
pub fn read(output: &str, root: &Path) -> Vec<Location> {
    let output = relative::shorten_paths(output, root);
    let lines: Vec<&str> = output.lines().map(|it| truncate::first_bytes(it, LINE_BYTES)).collect();
    let mut context = LocationContext::default();
    let mut found = LocationCollector::default();
    for (at, line) in lines.iter().enumerate() {
        let after = lines.get(at + 1..).unwrap_or_default();
        context.note(line);
        for place in line_locations(line, after, &context) {
            let place = RawLocation { file: relative_path(&place.file, root).to_owned(), ..place };
            found.add(RawLocation { warning: place.warning || context.is_console(), ..place });
        }
        if found.errors.len() >= MAX_LOCATIONS {
            break;
        }
    }
    found.errors.into_iter().chain(found.warnings).take(MAX_LOCATIONS).collect()
}

/// The locations in one line, read by the most specific format that matches.
fn line_locations(line: &str, after: &[&str], context: &LocationContext<'_>) -> Vec<RawLocation> {
    let specific = rust::arrow(line, context)
        .or_else(|| rust::panic(line, after))
        .or_else(|| python::frame(line, after))
        .or_else(|| python::pytest(line, after, context))
        .or_else(|| script::tsc(line))
        .or_else(|| script::linter_entry(line, context))
        .or_else(|| generic::recipe(line))
        .or_else(|| script::frame(line, context));
    specific.map_or_else(|| generic::read(line, context), |it| vec![it])
}

/// A location as parsed: neither sanitised nor filtered.
#[derive(Debug, Default)]
struct RawLocation {
    file: String,
    line: u32,
    column: Option<u32>,
    message: String,
    warning: bool,
}

#[derive(Debug, Default)]
struct LocationCollector {
    seen: HashSet<(String, u32, Option<u32>)>,
    errors: Vec<Location>,
    warnings: Vec<Location>,
}

impl LocationCollector {
    fn add(&mut self, place: RawLocation) {
        let RawLocation { file, line, column, message, warning } = place;
        let warning = warning || is_secondary(&message);
        let file = sanitize::line(&file);
        let column = column.filter(|it| *it > 0);
        if line == 0 || file.is_empty() || is_foreign(&file) {
            return;
        }
        let same_line = |it: &Location| it.file == file && it.line == line;
        if !warning && !message.is_empty() {
            // An error replaces a warning about the same line.
            let is_same = |it: &Location| it.column.is_none() || column.is_none() || it.column == column;
            self.warnings.retain(|it| !(same_line(it) && is_same(it)));
            self.seen.remove(&(file.clone(), line, column));
        }
        if let Some(known) = self.errors.iter_mut().chain(&mut self.warnings).find(|it| same_line(it)) {
            // The same location in another format: merge the details of both.
            if known.column.is_none() || column.is_none() || known.column == column {
                known.column = known.column.or(column);
                if known.message.is_empty() {
                    known.message = sanitize::line_within(&message, MESSAGE_CHARS);
                }
                return;
            }
        }
        if self.seen.insert((file.clone(), line, column)) {
            let message = sanitize::line_within(&message, MESSAGE_CHARS);
            let list = if warning { &mut self.warnings } else { &mut self.errors };
            if list.len() < MAX_LOCATIONS {
                list.push(Location { file, line, column, message, warning });
            }
        }
    }
}

/// Messages that compilers and interpreters print next to their errors.
fn is_secondary(message: &str) -> bool {
    let kind = message.split([':', '[', ' ']).next().unwrap_or_default();
    let marked = message.get(kind.len()..).is_some_and(|it| it.starts_with([':', '[']));
    marked && (["warning", "note", "help", "info", "hint"].contains(&kind) || kind.ends_with("Warning"))
}

/// Sources of a toolchain or a dependency, which the user does not edit.
fn is_foreign(file: &str) -> bool {
    let parts = ["/rustc/", "/.cargo/registry/", "/node_modules/", "/site-packages/", "/lib/python3"];
    parts.iter().any(|it| file.contains(it))
        || ["node:", "node_modules/", "<"].iter().any(|it| file.starts_with(it))
}

/// `text` as a line or column number.
fn number(text: &str) -> Option<u32> {
    if text.is_empty() || !text.bytes().all(|it| it.is_ascii_digit()) { None } else { text.parse().ok() }
}

/// `path:3` or `path:3:5`, the whole of `text`. A drive letter stays with its path.
fn path_line_column(text: &str) -> Option<RawLocation> {
    let (rest, last) = text.rsplit_once(':')?;
    let last = number(last)?;
    let place = |file: &str, line, column| RawLocation {
        file: file.to_owned(),
        line,
        column,
        ..RawLocation::default()
    };
    match rest.rsplit_once(':').and_then(|(file, line)| Some((file, number(line)?))) {
        Some((file, line)) if !file.is_empty() => Some(place(file, line, Some(last))),
        _ if !rest.is_empty() => Some(place(rest, last, None)),
        _ => None,
    }
}
