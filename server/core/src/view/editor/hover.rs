//! Hovers, as blocks that are rendered once: everything in them is hostile until it went through a renderer.

use super::Known;
use crate::task::Place;

/// What is shown about a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    pub place: Place,
    pub blocks: Vec<Block>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    Title(String),
    Text(String),
    /// Lines of fixed width: a command, an output, the grid.
    Code(String),
}

impl Hover {
    /// Markdown in which nothing but our own structure is markup.
    pub fn markdown(&self) -> String {
        self.plain()
    }

    pub fn plain(&self) -> String {
        String::new()
    }
}

/// What there is to say about the byte at `offset` of `file`.
pub fn hover(_known: &Known<'_>, _file: &str, _offset: usize) -> Option<Hover> {
    None
}
