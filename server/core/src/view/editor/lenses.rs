//! Code lenses: state first, then at most two verbs. What a lens offers, an action offers too (`actions.rs`).

use super::{Command, Known};
use crate::task::Place;

/// A few words over a line, perhaps to be clicked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lens {
    /// The first line of what it is about.
    pub place: Place,
    pub title: String,
    /// `None`: only said.
    pub command: Option<Command>,
}

/// The lenses over one document, in the order in which they stand.
pub fn lenses(_known: &Known<'_>, _file: &str) -> Vec<Lens> {
    Vec::new()
}
