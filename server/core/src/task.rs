//! What a loop works on: a prompt document, its criteria, its plan. Types here; [`read`] and the parsers are
//! below this module. Parsing never fails as a whole: what is broken becomes a [`Finding`], the rest is still a
//! task.

mod assemble;
mod blocks;
pub mod edit;
mod front_matter;
mod grammar;
pub(crate) mod ids;
mod item;
mod kind;
mod markdown;
mod outline;
mod phrases;
pub(crate) mod placeholders;
mod plan;
mod prd;
mod promise;
pub mod proposal;
mod source;
pub mod template;

pub use assemble::{CHECK_ARGUMENT, TaskDocument, add_checks, inline, is_story_file, read};
pub use kind::{DocumentKind, kind_of};
pub(crate) use source::front_matter_end;

use std::ops::Range;

use serde::ser::Error;
use serde::{Deserialize, Serialize, Serializer};

/// Path relative to the root with `/` separators, or `prompt:<hash>` for a task without a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(pub String);

/// 10 hex digits of sha256 over check and expectation (over the prose where there is no check), with `-2`,
/// `-3` … for repeats. Rewording keeps the id, another check makes a new one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CriterionId(pub String);

/// A task as its documents say it, at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Task {
    /// From `OBJECTIVE:` or the first heading; empty when there is neither.
    pub title: String,
    /// The prompt document's text, unchanged: what the agent is told.
    pub prompt: String,
    /// The text between `<promise>` tags that the document asks the agent to print when done.
    pub promise: Option<String>,
    /// `branchName` of the plan.
    pub branch: Option<String>,
    /// Paths listed under `CONTEXT:`, relative to the root, unchecked.
    pub context: Vec<ContextPath>,
    /// Settings that the front matter gives, in its order.
    pub settings: Vec<WrittenSetting>,
    pub criteria: Vec<Criterion>,
    pub plan: Vec<PlanItem>,
    pub findings: Vec<Finding>,
}

/// Text at a place in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextPath {
    pub text: String,
    pub place: DocumentRange,
}

/// A value for a setting that a document gives. It counts for more than the configuration and less than an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenSetting {
    /// As in the configuration: `limits.iterations`.
    pub key: &'static str,
    pub value: String,
    pub place: DocumentRange,
}

/// A byte range in one document of the task. `file` is relative to the root.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DocumentRange {
    pub file: String,
    pub range: Range<usize>,
}

/// One line that must hold when the task is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Criterion {
    pub id: CriterionId,
    /// The prose without check, expectations, attributes and trailing punctuation: the name people see.
    pub name: String,
    /// `None`: unverified, only a claim can stand behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    /// False for `(optional)` and for optional plan sections.
    pub required: bool,
    /// `(timeout 10m)`, in milliseconds; `None` means the configured default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<u32>,
    /// The box in front, where there is one: the agent's claim, never proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticked: Option<bool>,
    /// The plan item this criterion belongs to (a story's acceptance criterion, a box that carries a check).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_item: Option<String>,
    pub place: DocumentRange,
}

impl Criterion {
    /// A required one of which nothing else is said.
    pub fn new(id: impl Into<String>, name: impl Into<String>, check: Option<Check>) -> Self {
        Self {
            id: CriterionId(id.into()),
            name: name.into(),
            check,
            required: true,
            timeout_ms: None,
            group: None,
            stage: None,
            ticked: None,
            plan_item: None,
            place: DocumentRange::default(),
        }
    }
}

/// What loopkeeper runs to see whether a criterion holds, with what is expected of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Check {
    /// `$ command`, by `sh -c` in the root.
    Command { command: String, expect: Vec<Expect> },
    /// Every glob matches at least one file.
    Exists { globs: Vec<String> },
    /// No glob matches any file.
    Missing { globs: Vec<String> },
    /// Some file that the globs match contains the pattern.
    Has { pattern: TextPattern, globs: Vec<String> },
    /// No file that the globs match contains the pattern.
    Lacks { pattern: TextPattern, globs: Vec<String> },
    /// Nothing untracked and unignored beyond what was there at the start.
    Clean,
    /// A request: answered with a status from 200 to 299, unless another is expected.
    Get { url: String, expect: Vec<Expect> },
    /// An agent that looks for a reason against it finds none; of several agents, so many.
    Judge {
        of: Option<(u32, u32)>,
        /// What must hold, in words.
        #[serde(default)]
        prose: String,
    },
}

/// What a check's output must look like besides its exit code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "expect", rename_all = "kebab-case")]
pub enum Expect {
    /// The last number on stdout compares like this.
    Number {
        compare: Compare,
        #[serde(serialize_with = "finite")]
        value: f64,
    },
    /// Found in stdout, else in stderr.
    Matches { pattern: TextPattern },
    /// Found in neither.
    MatchesNot { pattern: TextPattern },
    /// The exit code; 0 when not given.
    Exit { code: i32 },
    /// After `GET`: the HTTP status.
    Status { code: u16 },
}

/// JSON has no word for any other number: it would be written and not be read.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn finite<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() { to.serialize_f64(*value) } else { Err(S::Error::custom("not a finite number")) }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compare {
    Equal,
    NotEqual,
    AtLeast,
    AtMost,
    Above,
    Below,
}

/// `"text"` or `/regex/` or `/regex/i`. `source` is unescaped and is valid: the parser compiled it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextPattern {
    pub source: String,
    pub kind: PatternKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PatternKind {
    Literal,
    Regex,
    RegexIgnoreCase,
}

impl Compare {
    /// As it is written in a task.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::AtLeast => ">=",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::Below => "<",
        }
    }
}

impl TextPattern {
    /// As it is written in a task.
    pub fn written(&self) -> String {
        let source = &self.source;
        match self.kind {
            PatternKind::Literal => format!("\"{}\"", source.replace('\\', "\\\\").replace('"', "\\\"")),
            PatternKind::Regex => format!("/{}/", source.replace('/', "\\/")),
            PatternKind::RegexIgnoreCase => format!("/{}/i", source.replace('/', "\\/")),
        }
    }
}

/// A story of `prd.json` or a box of a fix plan: the agent's own account of its progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanItem {
    /// The story's `id`, else made as a criterion's.
    pub id: String,
    pub title: String,
    pub done: bool,
    /// False under an optional heading and where it is skipped: an open one does not keep the loop going.
    pub blocking: bool,
    pub place: DocumentRange,
    /// In thousandths, lower ones first; `None`: as it stands in the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Items that are to be done before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
}

/// Something a person should know about a document: shown where it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub code: FindingCode,
    /// `name: fact`, at most one more sentence with the cure.
    pub message: String,
    pub place: DocumentRange,
    /// Replacement text for `place`, where there is one obvious cure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingCode {
    /// Begins like a check and does not parse, or two checks, or a broken span. Never run.
    BadCheck,
    /// A bare command in backticks.
    NotACheck,
    /// A criteria section without items.
    NoCriteria,
    /// Criteria written behind a colon in one line: better as a list.
    InlineList,
    /// A doubled promise tag.
    BadPromise,
    /// A document that cannot be read as what it claims to be.
    Syntax,
    /// A key that nobody reads, and that is nearly one that is read.
    UnknownKey,
    /// A key or value of a document that means nothing.
    BadValue,
    /// Text of a template that was to be replaced.
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
            | Self::BadValue => false,
        }
    }

    /// Whether its checks must not run either.
    pub fn blocks_checks(self) -> bool {
        self.blocks_start() && self != Self::Template
    }
}
