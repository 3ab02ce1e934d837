//! Renders text for users: records, criteria, times, the live block of a running loop. Contains no rules about loops.

pub(crate) mod ending;
pub(crate) mod entry;
pub(crate) mod live;
pub(crate) mod progress;
pub(crate) mod remedy;
pub(crate) mod restore_points;
pub(crate) mod screen;
pub(crate) mod table;

use clap::builder::styling::{AnsiColor, Style};
use loopkeeper_text::words;

pub(crate) const SUCCESS: Style = AnsiColor::Green.on_default();
pub(crate) const FAILURE: Style = AnsiColor::Red.on_default();
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const BOLD: Style = Style::new().bold();

/// The text with spaces up to a width in terminal cells, for a column of a table.
pub(crate) fn padded(text: &str, cells: usize) -> String {
    text.to_owned() + &" ".repeat(cells.saturating_sub(words::width(text)))
}

/// The character set that the terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Glyphs {
    Unicode,
    Ascii,
}

impl Glyphs {
    /// Determined by the locale, as in other programs.
    pub(crate) fn of_environment() -> Self {
        let set = |name: &str| std::env::var(name).ok().filter(|it| !it.is_empty());
        let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG")).unwrap_or_default();
        let locale = locale.to_ascii_lowercase();
        if locale.contains("utf-8") || locale.contains("utf8") { Self::Unicode } else { Self::Ascii }
    }
}
