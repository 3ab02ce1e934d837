//! Lints the criteria of a task: wording that no check can decide, checks that cannot fail, criteria that contradict or
//! repeat each other, checks with side effects. The remarks are for its author and never prevent a start.

mod cache;
mod conflicts;
mod external_effects;
mod fix;
mod gate;
mod grade;
mod shell;
mod suitability;
mod vacuous_checks;
mod wording;

use loopkeeper_task::criterion::{Check, Criterion};
use loopkeeper_task::{Task, TaskDocument};
use loopkeeper_text::DocumentRange;
use regex::Regex;

pub use self::cache::{LintCache, TaskLints};
pub use self::fix::{LintFix, check_fixes, fixes, judge_fix};
pub use self::gate::{Gate, ProjectCommand};
pub use self::grade::{Grade, GradeLevel, TaskAspect, grade, line_aspects};
pub use self::suitability::{Unsuitability, unsuitable};
pub use self::wording::has_unmeasured_goal;

/// Maximum number of criteria that are examined, so that a keystroke in a very long task stays fast.
const MAX_CRITERIA: usize = 1000;

/// One remark on one criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lint {
    pub code: LintCode,
    /// Index in [`Task::criteria`].
    pub criterion: usize,
    /// The words at fault, or the whole criterion.
    pub place: DocumentRange,
    /// Why, without the criterion's name: `"properly" is not measurable`.
    pub fact: String,
    /// What to write instead; may be empty.
    pub remedy: &'static str,
    better: BetterLine,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LintCode {
    /// Words without a measure, and no check.
    Vague,
    /// A matter of taste, and no check.
    Subjective,
    /// A check that passes whatever the agent does.
    Weak,
    /// The same check, or the same words, twice.
    Duplicate,
    /// Two criteria that cannot both hold.
    Contradictory,
    /// Deletes, publishes, deploys or needs a secret.
    Unsafe,
}

impl LintCode {
    pub const ALL: [Self; 6] =
        [Self::Vague, Self::Subjective, Self::Weak, Self::Duplicate, Self::Contradictory, Self::Unsafe];

    pub fn word(self) -> &'static str {
        match self {
            Self::Vague => "vague",
            Self::Subjective => "subjective",
            Self::Weak => "weak",
            Self::Duplicate => "duplicate",
            Self::Contradictory => "contradictory",
            Self::Unsafe => "unsafe",
        }
    }
}

/// What a fix writes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum BetterLine {
    /// A check by a test, or else by a judge.
    Test,
    /// A check by a judge.
    Judge,
    /// Another command in the place of this one.
    Command(String),
    /// Another check in the place of this one.
    Check,
    /// No line at all.
    Nothing,
    Unknown,
}

/// The remarks on a task, in document order. `documents` are those it was parsed from.
pub fn lints(task: &Task, documents: &[TaskDocument]) -> Vec<Lint> {
    let context = LintContext { task, documents };
    let mut all = Vec::new();
    for index in 0..task.criteria.len().min(MAX_CRITERIA) {
        all.extend(wording::lint(&context, index));
        all.extend(vacuous_checks::lint(&context, index));
        all.extend(external_effects::lint(&context, index));
    }
    all.extend(conflicts::lints(&context));
    // Harm comes first: some views show one remark for each criterion.
    all.sort_by_key(|it| (it.criterion, it.code != LintCode::Unsafe, it.code));
    all
}

/// The input of every rule.
#[derive(Clone, Copy)]
struct LintContext<'a> {
    task: &'a Task,
    documents: &'a [TaskDocument],
}

impl<'a> LintContext<'a> {
    fn criterion(&self, index: usize) -> Option<&'a Criterion> {
        self.task.criteria.get(index)
    }

    fn document_text(&self, file: &str) -> &'a str {
        self.documents.iter().find(|it| it.path == file).map_or("", |it| it.text.as_str())
    }

    /// The text of a criterion in its document.
    fn text_of(&self, place: &DocumentRange) -> &'a str {
        self.document_text(&place.file).get(place.range.clone()).unwrap_or_default()
    }

    /// The place of `words` within a criterion, ignoring ASCII case; the whole criterion if they are not there verbatim.
    fn place_of(&self, criterion: &Criterion, words: &str) -> DocumentRange {
        let text = self.text_of(&criterion.place).to_ascii_lowercase();
        let Some(at) = text.find(&words.to_ascii_lowercase()).filter(|_| !words.is_empty()) else {
            return criterion.place.clone();
        };
        let start = criterion.place.range.start + at;
        DocumentRange { file: criterion.place.file.clone(), range: start..start + words.len() }
    }
}

/// Compiles a pattern, ignoring case. Word boundaries are those of ASCII, because with others a match in Chinese text
/// takes ten times as long.
fn pattern(source: &str) -> Option<Regex> {
    Regex::new(&format!("(?xi){}", source.replace(r"\b", r"(?-u:\b)"))).ok()
}

/// The command of a check, if it is one.
fn command_of(criterion: &Criterion) -> Option<&str> {
    match &criterion.check {
        Some(Check::Command { command, .. }) => Some(command),
        _ => None,
    }
}

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod grade_corpus;
#[cfg(test)]
mod tests;
