//! Renders blocks as Markdown and plain text. External content cannot contain markup or links or end its fence;
//! control, bidi and invisible characters are removed.

use super::{Hover, HoverBlock};
use loopkeeper_core::prompt::markdown::fenced_block;
use loopkeeper_text::language::translate;
use loopkeeper_text::sanitize;
use loopkeeper_text::{tr, tr_later};

impl Hover {
    /// Markdown whose only markup is our own structure. `commands`: those that the client offers as links.
    pub fn markdown(&self, commands: &[String]) -> String {
        let blocks = self.blocks.iter().map(|it| match it {
            HoverBlock::Title(text) => format!("**{}**", escaped(&sanitize::line(text))),
            HoverBlock::Text(text) => escaped(&line(text)),
            HoverBlock::Code(text) => fenced_block(&sanitize::text(text)).trim_end().to_owned(),
            HoverBlock::Details(id) => links(id, commands)
                .unwrap_or_else(|| tr!("Details: `{command}`", command = status_command(id))),
        });
        joined(blocks)
    }

    pub fn plain(&self) -> String {
        let blocks = self.blocks.iter().map(|it| match it {
            HoverBlock::Title(text) => sanitize::line(text),
            HoverBlock::Text(text) => line(text),
            HoverBlock::Code(text) => sanitize::text(text).trim_end().to_owned(),
            HoverBlock::Details(id) => tr!("Details: {command}", command = status_command(id)),
        });
        joined(blocks)
    }
}

/// The commands of clients that show the details of a loop, with their titles.
const COMMANDS: [(&str, &str); 2] =
    [(tr_later!("Details"), "loopkeeper.showDashboard"), (tr_later!("Output"), "loopkeeper.showOutput")];

/// Links to the commands that the client offers.
fn links(id: &str, commands: &[String]) -> Option<String> {
    // The argument is part of a URI, so an id of any other form gets no link.
    let is_plain = id.chars().all(|it| it.is_ascii_alphanumeric() || it == '-');
    let offered = COMMANDS.iter().filter(|(_, command)| is_plain && commands.iter().any(|it| it == command));
    let links: Vec<String> = offered
        .map(|(title, command)| {
            let title = translate(title);
            format!("[{title}](command:{command}?%5B%7B%22loopId%22%3A%22{id}%22%7D%5D)")
        })
        .collect();
    (!links.is_empty()).then(|| links.join(" · "))
}

fn status_command(id: &str) -> String {
    format!("loopkeeper status {}", sanitize::line(id).replace('`', ""))
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
    let mut follows_digits = true;
    for (at, char) in line.char_indices() {
        let (before, rest) = line.split_at(at);
        let special = match char {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '|' | '~' | '$' | '@' => true,
            '-' | '+' | '=' | '#' | '!' => at == 0,
            // A numbered list.
            '.' | ')' => at > 0 && follows_digits || before.ends_with("www"),
            ':' => rest.starts_with("://"),
            _ => false,
        };
        if special {
            out.push('\\');
        }
        out.push(char);
        follows_digits &= char.is_ascii_digit();
    }
    out
}
