//! Parses the documents of a task: a prompt, its criteria, its plan. The types are here, the parsers in modules below,
//! behind [`parse_task`]. Parsing never fails as a whole: a broken part becomes a [`Finding`], the rest is still a
//! task.

mod assemble;
mod blocks;
pub mod change_kind;
pub mod criterion;
pub mod dependencies;
pub mod edit;
mod embedded;
mod front_matter;
mod gates;
mod grammar;
pub mod ids;
pub mod import;
mod item;
mod kind;
mod markdown;
mod may_change;
pub mod new_task;
mod outline;
mod phrases;
pub mod placeholders;
mod plan;
mod prd;
mod promise;
mod promise_tag;
mod prompt_parts;
pub mod proposal;
pub mod queue;
mod requirements;
mod source;
mod task_lines;
mod task_list;
pub mod template;
pub mod work_product;

pub use assemble::{CHECK_ARGUMENT, add_checks, is_story_file, parse_inline_task, parse_task};
pub use embedded::is_task_text;
pub use front_matter::{FRONT_MATTER_KEYS, FrontMatterKey};
pub use kind::{DocumentKind, kind_of};
pub use requirements::has_task_headings;
pub use source::front_matter_end;

use serde::{Deserialize, Serialize};

use crate::criterion::Criterion;
use loopkeeper_text::DocumentRange;

/// Path relative to the root with `/` separators, or `prompt:<hash>` for a task without a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(pub String);

/// One file of a task, as text. Byte ranges refer to this text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskDocument {
    /// Relative to the root, with `/` separators.
    pub path: String,
    pub text: String,
}

/// A task as defined by its documents at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Task {
    /// From `OBJECTIVE:` or the first heading; empty if there is neither.
    pub title: String,
    /// The prompt document's text as sent to the agent: unchanged but for the parts that it includes.
    pub prompt: String,
    /// The text between `<promise>` tags that the document asks the agent to print when done.
    pub promise: Option<String>,
    /// `branchName` of the plan.
    pub branch: Option<String>,
    /// Paths listed under `CONTEXT:`, relative to the root, unchecked.
    pub context: Vec<ContextPath>,
    /// Settings from the front matter, in order.
    pub settings: Vec<WrittenSetting>,
    pub criteria: Vec<Criterion>,
    pub plan: Vec<PlanItem>,
    pub findings: Vec<Finding>,
}

/// A path at a position in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextPath {
    pub text: String,
    pub place: DocumentRange,
}

impl ContextPath {
    /// A path that no document mentions.
    pub fn implicit(path: String) -> Self {
        Self { place: DocumentRange { file: path.clone(), range: 0..0 }, text: path }
    }

    pub fn is_implicit(&self) -> bool {
        self.place.file == self.text
    }
}

/// A setting given by a document. It overrides the configuration and is overridden by an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenSetting {
    /// The key as in the configuration: `limits.iterations`.
    pub key: &'static str,
    pub value: String,
    pub place: DocumentRange,
}

/// A story of `prd.json` or a box of a fix plan: the agent's own account of its progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanItem {
    /// The story's `id`, or one derived like a criterion's.
    pub id: String,
    pub title: String,
    pub done: bool,
    /// False under an optional heading and if skipped: an open item of this kind does not keep the loop running.
    pub blocking: bool,
    pub place: DocumentRange,
    /// Priority in thousandths, lower first; `None`: document order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Items that must be done before this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// The field that says that the story is done, where it differs from [`DocumentKind::done_value`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done_field: Option<String>,
    /// The value of that field for a done story, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done_value: Option<String>,
}

/// A remark on a document for its author, shown at its position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub code: FindingCode,
    /// `name: fact`, and at most one more sentence with the remedy.
    pub message: String,
    pub place: DocumentRange,
    /// Replacement text for `place`, if there is one obvious remedy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingCode {
    /// Begins like a check and does not parse, or has two checks or a broken span. Never run.
    BadCheck,
    /// A bare command in backticks.
    NotACheck,
    /// A criteria section without items.
    NoCriteria,
    /// Criteria after a colon on one line: better written as a list.
    InlineList,
    /// A doubled promise tag.
    BadPromise,
    /// A document that is malformed for its type.
    Syntax,
    /// A key that is not read.
    UnknownKey,
    /// A key or value of a document without a meaning.
    BadValue,
    /// Keys of another tool without a counterpart.
    #[serde(rename = "left-aside")]
    UnsupportedKeys,
    /// Template text that was meant to be replaced.
    Template,
}

impl FindingCode {
    /// Whether a task with this finding must not start: it would run less than its author wrote.
    pub fn blocks_start(self) -> bool {
        match self {
            Self::BadCheck | Self::Syntax | Self::Template => true,
            Self::NotACheck
            | Self::NoCriteria
            | Self::InlineList
            | Self::BadPromise
            | Self::UnknownKey
            | Self::BadValue
            | Self::UnsupportedKeys => false,
        }
    }

    /// Whether the checks of the task must not run either.
    pub fn blocks_checks(self) -> bool {
        self.blocks_start() && self != Self::Template
    }
}
