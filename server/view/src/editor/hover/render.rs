//! Renders blocks as Markdown and plain text. External content cannot contain markup or links or end its fence;
//! control, bidi and invisible characters are removed.

use super::{Hover, HoverBlock};
use loopkeeper_core::prompt::markdown::fenced_block;
use loopkeeper_text::sanitize;

impl Hover {
    /// Markdown whose only markup is our own structure.
    pub fn markdown(&self) -> String {
        let blocks = self.blocks.iter().map(|it| match it {
            HoverBlock::Title(text) => format!("**{}**", escaped(&sanitize::line(text))),
            HoverBlock::Text(text) => escaped(&line(text)),
            HoverBlock::Code(text) => fenced_block(&sanitize::text(text)).trim_end().to_owned(),
        });
        joined(blocks)
    }

    pub fn plain(&self) -> String {
        let blocks = self.blocks.iter().map(|it| match it {
            HoverBlock::Title(text) => sanitize::line(text),
            HoverBlock::Text(text) => line(text),
            HoverBlock::Code(text) => sanitize::text(text).trim_end().to_owned(),
        });
        joined(blocks)
    }
}

fn line(text: &str) -> String {
    const LINE_CHARS: usize = 600;
    sanitize::line_within(text, LINE_CHARS)
}

fn joined(blocks: impl Iterator<Item = String>) -> String {
    blocks.filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Escapes one line of text, so that Markdown shows it unchanged: no emphasis, code, link, HTML, entity, heading or
/// address that a viewer would turn into a link.
fn escaped(line: &str) -> String {
    let mut out = String::with_capacity(line.len() + 8);
    for (at, char) in line.char_indices() {
        let rest = line.get(at..).unwrap_or_default();
        let before = line.get(..at).unwrap_or_default();
        let starts = before.chars().all(|it| it.is_ascii_digit());
        let special = match char {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '|' | '~' | '$' | '@' => true,
            '-' | '+' | '=' | '#' | '!' => at == 0,
            // A numbered list.
            '.' | ')' => at > 0 && starts || before.ends_with("www"),
            ':' => rest.starts_with("://"),
            _ => false,
        };
        if special {
            out.push('\\');
        }
        out.push(char);
    }
    out
}
