//! The language server over its pipes: properties that hold for every client, whatever it sends and however it ends.

mod cancelled;
mod documents;
pub(crate) mod editor_fixture;
mod endings;
mod foreign;
mod frames;
mod limits;
mod lints;
mod load;
mod loop_commands;
mod loop_end;
mod many;
mod mutants;
mod noise;
mod odd_clients;
mod other_settings;
mod plan;
mod questions;
mod remarks;
mod requests;
mod shown;
mod starting;
mod survival;
mod transcripts;
mod weakened;

use std::process::Command;

use serde_json::{Value, json};

use crate::cli::Terminal;
use crate::support::lsp::Editor;

/// A server initialised by an editor on this terminal's work tree.
fn greeted(terminal: &Terminal) -> Editor {
    let mut editor = Editor::start(server(terminal));
    editor.initialize(&terminal.root(), &json!({}));
    editor
}

fn server(terminal: &Terminal) -> Command {
    terminal.command(&["--stdio"])
}

/// The code of an error response.
#[track_caller]
fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {answer:#}"))
}
