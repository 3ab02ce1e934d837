//! Code actions: everything a lens offers, for editors without lenses, and cures of what the parser found.

use std::ops::Range;

use super::{Code, Command, Known};
use crate::task::Place;

/// Something to do at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// `quickfix`, or `source.loopkeeper.` and a verb.
    pub kind: &'static str,
    pub title: String,
    pub cure: Cure,
    /// The diagnostic that it cures: at this place, with this code.
    pub fixes: Option<(Place, Code)>,
    pub preferred: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cure {
    Command(Command),
    Edits(Vec<TextEdit>),
}

/// New text for a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    pub place: Place,
    pub text: String,
}

/// What can be done in `file` at `range`.
pub fn actions(_known: &Known<'_>, _file: &str, _range: &Range<usize>) -> Vec<Action> {
    Vec::new()
}
