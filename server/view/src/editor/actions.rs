//! Code actions: all lens commands, for editors without lenses, and fixes for the parser's findings.

#[cfg(test)]
mod tests;

use std::ops::Range;

use super::diagnostics::findings::kind;
use super::standing::overlap;
use super::verbs::{self, OfferedCommand};
use super::{DiagnosticCode, EditorCommand, TaskView};
use loopkeeper_task::{Finding, FindingCode};
use loopkeeper_text::{DocumentRange, sanitize};

/// An action for a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorAction {
    /// `quickfix`, or `source.loopkeeper.` and a verb.
    pub kind: &'static str,
    pub title: String,
    pub cure: QuickFix,
    /// The diagnostic that it fixes: its range and code.
    pub fixes: Option<(DocumentRange, DiagnosticCode)>,
    pub preferred: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuickFix {
    Command(EditorCommand),
    Edits(Vec<TextEdit>),
}

/// Replacement text for a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    pub place: DocumentRange,
    pub text: String,
}

pub const QUICKFIX: &str = "quickfix";

/// The actions in `file` at `range`: fixes first, then those of criteria and plan items at the range, then those of the
/// task.
pub fn actions(known: &TaskView<'_>, file: &str, range: &Range<usize>) -> Vec<EditorAction> {
    let Some(document) = known.document(file) else { return Vec::new() };
    let here = |place: &DocumentRange| place.file == document.path && overlap(&place.range, range);
    let mut all: Vec<EditorAction> =
        known.task.findings.iter().filter(|it| here(&it.place)).filter_map(fix).collect();
    for criterion in known.task.criteria.iter().filter(|it| here(&it.place)) {
        let weakened = verbs::of_weakened(known, Some(&criterion.id));
        all.extend(weakened.into_iter().map(|it| cure(known, it, &criterion.place)));
        all.extend(verbs::of_criterion(known, criterion).into_iter().map(|it| action(known, it)));
    }
    for item in known.task.plan.iter().filter(|it| here(&it.place)) {
        all.extend(verbs::of_item(item).into_iter().map(|it| action(known, it)));
    }
    if let Some(heading) = known.heading().filter(|it| here(it)) {
        all.extend(verbs::of_weakened(known, None).into_iter().map(|it| cure(known, it, &heading)));
    }
    all.extend(verbs::offered_commands(known).into_iter().map(|it| action(known, it)));
    all
}

fn action(known: &TaskView<'_>, verb: OfferedCommand<'_>) -> EditorAction {
    let title = verb.action_title(known);
    EditorAction {
        kind: verb.kind(),
        cure: QuickFix::Command(verb.command(known, title.clone())),
        title,
        fixes: known.heading().filter(|_| gives_trust(verb)).map(|it| (it, DiagnosticCode::NeedsTrust)),
        preferred: verb == OfferedCommand::TrustShown,
    }
}

fn gives_trust(verb: OfferedCommand<'_>) -> bool {
    matches!(verb, OfferedCommand::Trust | OfferedCommand::TrustShown)
}

/// An action for a reported weakening, attached to its diagnostic.
fn cure(known: &TaskView<'_>, verb: OfferedCommand<'_>, place: &DocumentRange) -> EditorAction {
    EditorAction { fixes: Some((place.clone(), DiagnosticCode::Weakened)), ..action(known, verb) }
}

fn fix(finding: &Finding) -> Option<EditorAction> {
    let text = finding.fix.clone()?;
    let (_, code) = kind(finding.code);
    Some(EditorAction {
        kind: QUICKFIX,
        title: fix_title(finding.code, &text),
        cure: QuickFix::Edits(vec![TextEdit { place: finding.place.clone(), text }]),
        fixes: Some((finding.place.clone(), code)),
        preferred: true,
    })
}

fn fix_title(code: FindingCode, text: &str) -> String {
    const TEXT_CHARS: usize = 60;
    let text = sanitize::line_within(text, TEXT_CHARS);
    match code {
        FindingCode::InlineList => "Write the criteria as a list".to_owned(),
        FindingCode::NotACheck => format!("Make it a check: {text}"),
        FindingCode::BadCheck
        | FindingCode::NoCriteria
        | FindingCode::BadPromise
        | FindingCode::Syntax
        | FindingCode::UnknownKey
        | FindingCode::BadValue
        | FindingCode::Template => format!("Write {text}"),
    }
}
