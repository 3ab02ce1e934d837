//! Redraws a few lines at the end of a terminal in place, with permanent lines above them.
//!
//! Each change is one write, from the first cell that may differ to the last: nothing is blanked first, so nothing
//! flickers. The cursor is never hidden and stays below the block, so that nothing has to be restored however the
//! program ends.

use loopkeeper_text::words;

/// The current content of the block.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    lines: Vec<String>,
    /// Shows that a line continues.
    cut_mark: Option<char>,
}

impl Screen {
    pub(crate) fn with_cut_mark(mark: char) -> Self {
        Self { cut_mark: Some(mark), ..Self::default() }
    }

    /// The output that replaces the block by `lines`; empty if nothing differs.
    pub(crate) fn draw(&mut self, lines: &[String], columns: usize) -> String {
        let lines: Vec<_> = lines.iter().map(|it| truncate_line(it, columns, self.cut_mark)).collect();
        if lines == self.lines {
            return String::new();
        }
        let mut text = self.home();
        for line in &lines {
            text.push_str(line);
            text.push_str("\x1b[K\n");
        }
        // The remaining lines of a taller block.
        text.push_str("\x1b[J");
        self.lines = lines;
        text
    }

    /// The output that prints `above` permanently in place of the block, and the block below it.
    pub(crate) fn print(&mut self, above: &[String]) -> String {
        let mut text = self.home();
        for line in above.iter().chain(&self.lines) {
            text.push_str(line);
            text.push_str("\x1b[K\n");
        }
        text.push_str("\x1b[J");
        text
    }

    fn home(&self) -> String {
        match self.lines.len() {
            0 => String::new(),
            height => format!("\r\x1b[{height}A"),
        }
    }
}

/// The line, truncated to fewer than `columns` cells, because a line that wraps would be miscounted when the cursor moves up.
fn truncate_line(line: &str, columns: usize, mark: Option<char>) -> String {
    let mark = mark.filter(|_| {
        let bare = anstream::adapter::strip_str(line).to_string();
        bare.chars().map(words::cells).sum::<usize>() >= columns
    });
    let columns = columns.saturating_sub(mark.map_or(0, words::cells));
    let mut cells = 0;
    let mut text = String::new();
    let mut rest = line.chars();
    while let Some(char) = rest.next() {
        if char == '\x1b' {
            text.push(char);
            copy_sequence(&mut rest, &mut text);
            continue;
        }
        cells += words::cells(char);
        if cells >= columns {
            text.extend(mark);
            text.push_str("\x1b[0m");
            break;
        }
        text.push(char);
    }
    text
}

/// Colours take no cell. Only our own sequences occur here: those of external text were removed.
fn copy_sequence(rest: &mut std::str::Chars<'_>, text: &mut String) {
    for char in rest.by_ref() {
        text.push(char);
        if char.is_ascii_alphabetic() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Screen, truncate_line};

    /// The visible lines after some output: supports the few sequences of the block, and wrapping.
    fn shown(output: &str, columns: usize) -> Vec<String> {
        let (mut rows, mut row, mut column) = (vec![String::new()], 0usize, 0usize);
        let mut rest = output.chars();
        while let Some(char) = rest.next() {
            match char {
                '\x1b' => {
                    let sequence: String =
                        rest.by_ref().skip(1).take_while(|it| !it.is_ascii_alphabetic()).collect();
                    let word = output[..output.len() - rest.as_str().len()].chars().last();
                    match word {
                        Some('A') => row -= sequence.parse::<usize>().unwrap(),
                        Some('K') => rows[row].truncate(column),
                        Some('J') => {
                            rows.truncate(row + 1);
                            rows[row].truncate(column);
                        }
                        _ => {}
                    }
                }
                '\r' => column = 0,
                '\n' => {
                    row += 1;
                    column = 0;
                    if row == rows.len() {
                        rows.push(String::new());
                    }
                }
                char => {
                    assert!(column < columns, "wrapped");
                    rows[row].truncate(column);
                    rows[row].push(char);
                    column += 1;
                }
            }
        }
        rows
    }

    fn lines(text: &[&str]) -> Vec<String> {
        text.iter().map(|it| (*it).to_owned()).collect()
    }

    #[test]
    fn the_block_is_replaced_in_place_and_what_is_above_stays() {
        let mut screen = Screen::default();
        let mut output = String::from("before\n");
        output += &screen.draw(&lines(&["one", "two", "three"]), 80);
        assert_eq!(shown(&output, 80), ["before", "one", "two", "three", ""]);
        output += &screen.draw(&lines(&["1", "2"]), 80);
        assert_eq!(shown(&output, 80), ["before", "1", "2", ""]);
        output += &screen.print(&lines(&["stays"]));
        assert_eq!(shown(&output, 80), ["before", "stays", "1", "2", ""]);
        assert_eq!(screen.draw(&lines(&["1", "2"]), 80), "");
        output += &screen.draw(&[], 80);
        assert_eq!(shown(&output, 80), ["before", "stays", ""]);
        assert_eq!(screen.draw(&[], 80), "");
    }

    #[test]
    fn lines_never_wrap() {
        let check = |line: &str, columns, expect: &str| {
            let cut = truncate_line(line, columns, None);
            assert_eq!(anstream::adapter::strip_str(&cut).to_string(), expect, "{columns}");
        };
        check("short", 80, "short");
        check("abcdef", 4, "abc");
        check("\x1b[31mabcdef\x1b[0m", 4, "abc");
        check("进度进度", 5, "进度");
        let marked = |line: &str, columns, expect: &str| {
            let cut = truncate_line(line, columns, Some('…'));
            assert_eq!(anstream::adapter::strip_str(&cut).to_string(), expect, "{columns}");
        };
        marked("abc", 4, "abc");
        marked("abcdef", 4, "ab…");
        marked("\x1b[31mabc\x1b[0m", 4, "abc");
        marked("进度进度", 6, "进度…");
        let mut screen = Screen::default();
        let output = screen.draw(&lines(&[&"x".repeat(500)]), 20);
        assert_eq!(shown(&output, 20)[0].len(), 19);
    }
}
