//! What an editor shows of a task and its loop, as plain data: byte ranges instead of positions, words instead
//! of protocol types. Every function here is a function of [`TaskView`] alone; nothing looks, waits or decides.
//!
//! Text that people see is sanitised here, diagnostics are functions of results and never of the clock, and at
//! most three lenses stand over one line.

mod actions;
mod completion;
mod diagnostics;
#[cfg(test)]
mod fixture;
mod foreign;
mod grid;
mod hover;
mod lenses;
mod message;
#[cfg(test)]
mod properties;
mod reading;
pub mod settings;
mod standing;
mod state;
mod summary;
mod symbols;
mod verbs;
mod weakened;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub use self::actions::{EditorAction, QUICKFIX, QuickFix, TextEdit, actions};
pub use self::completion::{Suggestion, SuggestionKind, in_check};
pub use self::diagnostics::{
    Diagnostic, DiagnosticCode, RelatedLocation, RelatedTarget, Severity, SourceFailure,
};
pub use self::diagnostics::{diagnostics, source_failures};
pub use self::foreign::{CODE as FOREIGN_CODE, MESSAGE as FOREIGN_MESSAGE, about, remedies};
pub(crate) use self::grid::grid;
pub use self::grid::{iteration_tally, row, start_tally};
pub use self::hover::{Hover, HoverBlock, hover};
pub use self::lenses::{Lens, lenses};
pub use self::reading::describe_check;
pub use self::symbols::{Symbol, SymbolKind, symbols};
use super::LoopStatus;
use loopkeeper_core::check::CheckResult;
use loopkeeper_core::decide::LoopState;
use loopkeeper_task::criterion::CriterionId;
use loopkeeper_task::{Task, TaskDocument};

/// All that is known of one task when its views are made.
#[derive(Debug, Clone, Copy)]
pub struct TaskView<'a> {
    /// How commands name the task: a file URI, or an id.
    pub reference: &'a str,
    /// Read from `documents`, so that its places are theirs.
    pub task: &'a Task,
    /// The task's texts, the prompt first; of a document that is open in the editor the text it shows.
    pub documents: &'a [TaskDocument],
    /// The open loop of the task, else its latest.
    pub status: Option<&'a LoopStatus>,
    /// The same loop, for its history. A damaged journal has none.
    pub state: Option<&'a LoopState>,
    /// The latest result of each criterion, by a loop or by checks alone.
    pub results: &'a BTreeMap<CriterionId, LatestResult<'a>>,
    /// A round of checks without a loop is running.
    pub checking: bool,
    pub trust: TrustState<'a>,
    /// A document of the task is open in the editor: remarks on wording are for its writer alone.
    pub live: bool,
}

/// The latest result of one criterion.
#[derive(Debug, Clone, Copy)]
pub struct LatestResult<'a> {
    pub result: &'a CheckResult,
    /// The tree changed since.
    pub stale: bool,
    /// URI of the file with everything the check printed.
    pub output: Option<&'a str>,
}

/// What may run.
#[derive(Debug, Clone, Copy)]
pub struct TrustState<'a> {
    /// The editor's own trust in the folder.
    pub editor: bool,
    /// Commands of the task that nobody trusts yet, its agent's and its settings' included.
    pub unknown: usize,
    /// The criteria among them.
    pub criteria: &'a BTreeSet<CriterionId>,
    /// The hash of the page of commands that the user was shown, where there is one.
    pub shown: Option<&'a str>,
}

impl Default for TrustState<'_> {
    fn default() -> Self {
        static NONE: BTreeSet<CriterionId> = BTreeSet::new();
        Self { editor: true, unknown: 0, criteria: &NONE, shown: None }
    }
}

/// Something to be done by the server, as an editor offers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorCommand {
    pub title: String,
    /// Its full name: `loopkeeper.server.start`.
    pub command: &'static str,
    /// The one argument.
    pub argument: Value,
}
