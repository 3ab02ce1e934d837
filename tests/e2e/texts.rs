//! What people read in a terminal and on pages, recorded in `texts/*.txt`, so that a change of wording is one
//! difference to review. `UPDATE_EXPECT=1` rewrites the files. Texts of the editor are recorded by the tests of
//! `server/view`, in the same folder.

mod editor_commands;
mod errors;
mod help;
mod normalized;
mod pages;
mod refusals;

use std::fmt::Display;

use crate::cli::{Ran, Terminal};

/// Titled sections of one file.
#[derive(Default)]
struct Transcript(String);

impl Transcript {
    fn section(&mut self, title: &str, body: impl Display) {
        let gap = if self.0.is_empty() { "" } else { "\n" };
        let body = body.to_string();
        self.0.extend([gap, "== ", title, "\n\n", body.trim_end(), "\n"]);
    }

    /// A title for the commands after it.
    fn heading(&mut self, title: &str) {
        let gap = if self.0.is_empty() { "" } else { "\n" };
        self.0.extend([gap, "== ", title, "\n"]);
    }

    /// Runs a command and records what it prints, errors after the rest, and its exit code.
    fn run(&mut self, terminal: &Terminal, args: &[&str]) {
        let ran = Ran::of(&terminal.command(args).env("COLUMNS", "100").output().expect("the binary starts"));
        self.ran(terminal, args, &ran);
    }

    fn ran(&mut self, terminal: &Terminal, args: &[&str], ran: &Ran) {
        let gap = if self.0.is_empty() { "" } else { "\n" };
        let line = args.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(" ");
        let printed = normalized::normalized(&format!("{}{}", ran.stdout, ran.stderr), terminal);
        let code = ran.code.expect("an exit code");
        let code = code.to_string();
        self.0.extend([gap, "$ loopkeeper ", &line, "\n", printed.trim_end(), "\n[exit ", &code, "]\n"]);
    }
}

fn quoted(word: &str) -> String {
    if word.is_empty() || word.contains([' ', '`']) { format!("'{word}'") } else { word.to_owned() }
}
