//! Lines of styled text, truncated to the width of the terminal.

use super::DashboardCharset;
use crate::cells::truncated;
use loopkeeper_text::words;

/// The meaning of a text; the terminal chooses the colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DashboardStyle {
    #[default]
    Plain,
    Bold,
    Dim,
    Success,
    Failure,
    Warning,
    /// The selected row.
    Selected,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DashboardSpan {
    pub text: String,
    pub style: DashboardStyle,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DashboardLine(pub Vec<DashboardSpan>);

impl DashboardLine {
    pub(super) fn of(style: DashboardStyle, text: impl Into<String>) -> Self {
        Self::default().and(style, text)
    }

    pub(super) fn and(mut self, style: DashboardStyle, text: impl Into<String>) -> Self {
        self.0.push(DashboardSpan { text: text.into(), style });
        self
    }

    /// The text without styles.
    pub fn plain(&self) -> String {
        self.0.iter().map(|it| it.text.as_str()).collect()
    }

    /// At most `columns` cells, without control characters, in the terminal's character set.
    pub(super) fn fit(self, columns: usize, charset: DashboardCharset) -> Self {
        let mut room = columns;
        let mut spans = Vec::new();
        for span in self.0 {
            let shown: String = span.text.chars().filter(|it| !it.is_control()).collect();
            let text = truncated(&shown, room);
            let is_cut = text != shown;
            room = room.saturating_sub(words::width(&text));
            let text = match charset {
                DashboardCharset::Unicode => text,
                DashboardCharset::Ascii => text.chars().map(ascii).collect(),
            };
            spans.push(DashboardSpan { text, style: span.style });
            if is_cut {
                break;
            }
        }
        Self(spans)
    }
}

/// Lines of at most `columns` cells, broken at spaces.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace().flat_map(|it| parts_of_width(it, columns)) {
        match lines.last_mut() {
            Some(last) if words::width(last) + 1 + words::width(&word) <= columns => {
                last.push(' ');
                last.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// Text without spaces between its words, such as Chinese, is broken anywhere; other words are not broken.
fn parts_of_width(word: &str, columns: usize) -> Vec<String> {
    if words::width(word) <= columns || word.chars().all(|it| words::cells(it) < 2) {
        return vec![word.to_owned()];
    }
    let mut parts = vec![String::new()];
    for char in word.chars() {
        let last = parts.last().map_or(0, |it| words::width(it));
        if last > 0 && last + words::cells(char) > columns {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut() {
            part.push(char);
        }
    }
    parts
}

/// The symbols that the view itself uses; other characters are the user's.
fn ascii(char: char) -> char {
    match char {
        '✓' => '+',
        '✗' => 'x',
        '·' => '.',
        '─' => '-',
        '…' => '~',
        '◆' => '*',
        '▸' => '>',
        '▁'..='█' => char::from_digit(char as u32 - '▁' as u32 + 1, 10).unwrap_or('#'),
        other => other,
    }
}
