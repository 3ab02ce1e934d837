//! A criterion and its check: what must hold when a task is done, and how it is verified. Types only: `grammar` parses
//! them, and the module `check` of the core judges the results of the checks.

pub mod address;
mod number_rule;

use regex::RegexBuilder;
use serde::ser::Error;
use serde::{Deserialize, Serialize, Serializer};

pub use number_rule::NumberRule;

use loopkeeper_text::DocumentRange;

/// 10 hex digits of sha256 over check and expectation (over the prose if there is no check), with `-2`, `-3` … for
/// repeats. Rewording keeps the id, a different check creates a new one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CriterionId(pub String);

/// One line that must hold when the task is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Criterion {
    pub id: CriterionId,
    /// The prose without check, expectations, attributes and trailing punctuation: the displayed name.
    pub name: String,
    /// `None`: unverified, only a claim can support it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    /// Comparisons of the number that the command prints with numbers of earlier rounds of the loop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub number_rules: Vec<NumberRule>,
    /// False for `(optional)` and for optional plan sections.
    pub required: bool,
    /// `(timeout 10m)`, in milliseconds; `None` means the configured default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<u32>,
    /// The state of the leading box, if there is one: the agent's claim, never proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticked: Option<bool>,
    /// The plan item this criterion belongs to (a story's acceptance criterion, a box that carries a check).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_item: Option<String>,
    pub place: DocumentRange,
}

/// The stage of a criterion that names none.
pub const FIRST_STAGE: u32 = 1;

impl Criterion {
    /// A required criterion with defaults for everything else.
    pub fn new(id: impl Into<String>, name: impl Into<String>, check: Option<Check>) -> Self {
        Self {
            id: CriterionId(id.into()),
            name: name.into(),
            check,
            number_rules: Vec::new(),
            required: true,
            timeout_ms: None,
            group: None,
            stage: None,
            ticked: None,
            plan_item: None,
            place: DocumentRange::default(),
        }
    }

    /// The criterion's stage, or the first if none is given.
    pub fn stage_or_first(&self) -> u32 {
        self.stage.unwrap_or(FIRST_STAGE)
    }
}

/// What loopkeeper runs to verify a criterion, with its expectations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Check {
    /// `$ command`, run by `sh -c` in the root.
    Command { command: String, expect: Vec<Expect> },
    /// Every glob matches at least one file.
    Exists { globs: Vec<String> },
    /// No glob matches any file.
    Missing { globs: Vec<String> },
    /// Some file matched by the globs contains the pattern.
    Has { pattern: TextPattern, globs: Vec<String> },
    /// No file matched by the globs contains the pattern.
    Lacks { pattern: TextPattern, globs: Vec<String> },
    /// No untracked, unignored files beyond those present at the start.
    Clean,
    /// A request that is answered with a status from 200 to 299, unless another is expected.
    Get { url: String, expect: Vec<Expect> },
    /// A judge agent finds no reason against the criterion; with several agents, the given number of them.
    Judge {
        of: Option<(u32, u32)>,
        /// The statement to verify, in prose.
        #[serde(default)]
        prose: String,
    },
}

/// Expectations on a check's output and exit code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "expect", rename_all = "kebab-case")]
pub enum Expect {
    /// The last number on stdout satisfies this comparison.
    Number {
        compare: Compare,
        #[serde(serialize_with = "serialize_finite")]
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

/// JSON cannot represent any other number: it would be written and not be readable.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn serialize_finite<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
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

/// `"text"` or `/regex/` or `/regex/i`. `source` is unescaped and valid, because the parser compiled it.
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
    /// The notation in a task.
    pub fn sign(self) -> &'static str {
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
    /// The notation in a task.
    pub fn written(&self) -> String {
        let source = &self.source;
        match self.kind {
            PatternKind::Literal => format!("\"{}\"", source.replace('\\', "\\\\").replace('"', "\\\"")),
            PatternKind::Regex => format!("/{}/", source.replace('/', "\\/")),
            PatternKind::RegexIgnoreCase => format!("/{}/i", source.replace('/', "\\/")),
        }
    }
}

/// Compiles a pattern; `^` and `$` match at line ends, as in every pattern of a criterion.
pub fn compiled(pattern: &TextPattern) -> Option<regex::Regex> {
    let source = match pattern.kind {
        PatternKind::Literal => regex::escape(&pattern.source),
        PatternKind::Regex | PatternKind::RegexIgnoreCase => pattern.source.clone(),
    };
    let ignore_case = pattern.kind == PatternKind::RegexIgnoreCase;
    RegexBuilder::new(&source).multi_line(true).case_insensitive(ignore_case).build().ok()
}
