//! Shows a running loop on the terminal: as a live block if the terminal can be redrawn, otherwise as plain lines. A
//! reader that stops does not stop the loop: a write error ends only the output.

use std::io::{self, IsTerminal};

use rustix::termios::tcgetwinsize;

use super::Glyphs;
use super::screen::Screen;
use crate::out::Ui;

const MIN_COLUMNS: usize = 20;
const DEFAULT_COLUMNS: usize = 80;

/// The destination of progress output.
pub(crate) enum ProgressOutput<'a> {
    /// Permanent lines, and a block below them that is redrawn.
    Redrawn { out: &'a mut Ui, screen: Screen },
    /// Permanent lines only.
    Plain { out: &'a mut Ui },
}

impl<'a> ProgressOutput<'a> {
    pub(crate) fn new(out: &'a mut Ui) -> Self {
        let cut_mark = match Glyphs::of_environment() {
            Glyphs::Unicode => '…',
            Glyphs::Ascii => '~',
        };
        if can_redraw() {
            Self::Redrawn { out, screen: Screen::with_cut_mark(cut_mark) }
        } else {
            Self::Plain { out }
        }
    }

    /// Permanent lines only, also on a terminal.
    pub(crate) fn plain(out: &'a mut Ui) -> Self {
        Self::Plain { out }
    }

    /// Prints permanent lines.
    pub(crate) fn print(&mut self, lines: &[String]) {
        if lines.is_empty() {
            return;
        }
        match self {
            Self::Redrawn { out, screen } => {
                let text = screen.print(lines);
                out.write(&text);
            }
            Self::Plain { out } => lines.iter().for_each(|it| out.line(it)),
        }
    }

    /// Replaces the block at the end.
    pub(crate) fn set_block(&mut self, block: &[String]) {
        if let Self::Redrawn { out, screen } = self {
            let text = screen.draw(block, columns());
            if !text.is_empty() {
                out.write(&text);
            }
        }
    }

    /// Whether the reader has closed the pipe.
    pub(crate) fn is_closed(&self) -> bool {
        match self {
            Self::Redrawn { out, .. } | Self::Plain { out } => out.is_closed(),
        }
    }
}

/// Redrawing requires a terminal that supports cursor movement.
pub(crate) fn can_redraw() -> bool {
    let dumb = std::env::var_os("TERM").is_none_or(|it| it.is_empty() || it == "dumb");
    io::stdout().is_terminal() && !dumb
}

fn columns() -> usize {
    match tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_col > 0 => usize::from(size.ws_col).max(MIN_COLUMNS),
        _ => DEFAULT_COLUMNS,
    }
}
