//! Editor views of a task and its loop, as plain data: byte ranges instead of positions, strings instead of protocol
//! types. All functions here are pure functions of [`TaskView`].
//!
//! Displayed text is sanitised here. Diagnostics depend on results and never on the clock. A line has at most three
//! lenses.

mod actions;
mod completion;
mod diagnostic;
mod diagnostics;
#[cfg(test)]
pub(crate) mod fixture;
mod foreign;
mod grid;
mod hover;
mod lenses;
mod message;
mod offered_commands;
mod project_facts;
#[cfg(test)]
mod properties;
mod queue;
mod reading;
pub mod settings;
mod state;
mod summary;
mod symbols;
mod task_predicates;
#[cfg(test)]
mod texts;
mod weakened;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub use self::actions::{EditorAction, QuickFix, TextEdit, actions, sentence_at};
pub use self::completion::{Suggestion, SuggestionKind, in_check, is_in_check};
pub use self::diagnostic::{
    Diagnostic, DiagnosticCode, RelatedLocation, RelatedTarget, Severity, SourceFailure,
};
pub use self::diagnostics::{SourceHint, diagnostics, remarks, source_failures, source_hints};
pub use self::foreign::{CODE as FOREIGN_CODE, MESSAGE as FOREIGN_MESSAGE, hover_blocks, remedies};
pub(crate) use self::grid::breaker_band;
pub(crate) use self::grid::grid;
pub(crate) use self::grid::without_progress;
pub use self::grid::{iteration_tally, row, start_tally};
pub use self::hover::{Hover, HoverBlock, hover};
pub use self::lenses::{Lens, lenses};
pub use self::project_facts::{DeclaredCommand, ProjectCommands, ProjectFacts};
pub use self::queue::queue_diagnostics;
pub use self::reading::describe_check;
pub use self::symbols::{Symbol, SymbolKind, symbols};
use super::LoopStatus;
use loopkeeper_core::check::CheckResult;
use loopkeeper_core::decide::LoopState;
use loopkeeper_core::strays::DuplicateConfiguration;
use loopkeeper_lint::LintCache;
use loopkeeper_task::criterion::CriterionId;
use loopkeeper_task::{Task, TaskDocument};

/// The facts about one task, from which the texts of the editor are made.
#[derive(Debug, Clone, Copy)]
pub struct TaskView<'a> {
    /// Name of the task in commands: a file URI, or an id.
    pub reference: &'a str,
    /// The task, parsed from `documents`, to which its ranges refer.
    pub task: &'a Task,
    /// Texts of the task, the prompt first; for a document that is open in the editor, the editor's text.
    pub documents: &'a [TaskDocument],
    /// The open loop of the task, otherwise its latest loop.
    pub status: Option<&'a LoopStatus>,
    /// State of the same loop, for its history. `None` if the journal is damaged.
    pub state: Option<&'a LoopState>,
    /// The latest result of each criterion, from a loop or a check round without a loop.
    pub results: &'a BTreeMap<CriterionId, LatestResult<'a>>,
    /// Whether a check round without a loop is running.
    pub checking: bool,
    pub trust: TrustState<'a>,
    /// Whether a document of the task is open in the editor. Remarks on wording are shown only then.
    pub live: bool,
    /// Files that this loop added, that nothing refers to and that are still there.
    pub strays: &'a [String],
    /// Two configurations of one tool in the root or next to the task.
    pub leftovers: &'a [DuplicateConfiguration],
    /// The lints of this task and these documents.
    pub lints: &'a LintCache,
}

/// The latest result of one criterion.
#[derive(Debug, Clone, Copy)]
pub struct LatestResult<'a> {
    pub result: &'a CheckResult,
    /// Whether the tree changed since.
    pub stale: bool,
    /// URI of the file with the complete output of the check.
    pub output: Option<&'a str>,
}

/// Trust in the editor and in the commands of the task.
#[derive(Debug, Clone, Copy)]
pub struct TrustState<'a> {
    /// Whether the editor trusts the folder.
    pub editor: bool,
    /// Number of untrusted commands of the task, its agent and its settings.
    pub unknown: usize,
    /// The criteria with untrusted commands.
    pub criteria: &'a BTreeSet<CriterionId>,
    /// The hash of the page of commands that was shown to the user, if any.
    pub shown: Option<&'a str>,
}

impl Default for TrustState<'_> {
    fn default() -> Self {
        static NONE: BTreeSet<CriterionId> = BTreeSet::new();
        Self { editor: true, unknown: 0, criteria: &NONE, shown: None }
    }
}

/// The kind of an action that fixes a problem; the protocol defines it.
pub const QUICKFIX: &str = "quickfix";

/// A server command, as an editor offers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorCommand {
    pub title: String,
    /// The full name: `loopkeeper.server.start`.
    pub command: &'static str,
    /// The only argument.
    pub argument: Value,
}
