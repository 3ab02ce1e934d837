//! rustc's arrows (`--> src/a.rs:3:5`) and panics (`panicked at src/lib.rs:10:5:`).

use super::{LocationContext, MESSAGE_CHARS, RawLocation, path_line_column};
use loopkeeper_text::sanitize;

/// The message is on the line above an arrow: `note: …` below an error, a rule's name in other tools that draw arrows.
pub(super) fn arrow(line: &str, context: &LocationContext<'_>) -> Option<RawLocation> {
    let place = path_line_column(line.trim_start().strip_prefix("--> ")?.trim_end())?;
    place.column?;
    let above = context.previous;
    let is_message =
        !above.is_empty() && !above.starts_with(|it: char| it.is_whitespace() || it.is_ascii_digit());
    let message = if is_message { above } else { context.diagnostic };
    Some(RawLocation { message: message.to_owned(), ..place })
}

/// The message is on the following lines; before Rust 1.73 it preceded the location, in quotes.
pub(super) fn panic(line: &str, after: &[&str]) -> Option<RawLocation> {
    let (_, location) = line.split_once("panicked at ")?;
    if let Some(place) = location.trim_end().strip_suffix(':').and_then(path_line_column) {
        place.column?;
        return Some(RawLocation { message: panic_message(after), ..place });
    }
    let (message, place) = location.strip_prefix('\'')?.rsplit_once("', ")?;
    Some(RawLocation { message: message.to_owned(), ..path_line_column(place.trim_end())? })
}

fn panic_message(after: &[&str]) -> String {
    let sides = |it: &&&str| ["left: ", "right: "].iter().any(|side| it.trim_start().starts_with(side));
    let first = after.first().copied().unwrap_or_default().trim();
    let rest = after.iter().skip(1).take(2).take_while(sides).map(|it| it.trim());
    let parts: Vec<&str> = std::iter::once(first).chain(rest).collect();
    // A long value on the left must not displace the one on the right.
    let part_chars = MESSAGE_CHARS / parts.len();
    let is_long = parts.iter().map(|it| it.len() + 2).sum::<usize>() > MESSAGE_CHARS;
    let part = |it: &&str| if is_long { sanitize::line_within(it, part_chars - 2) } else { (*it).to_owned() };
    parts.iter().map(part).collect::<Vec<_>>().join(", ")
}
