//! Code actions: everything a lens offers, for editors without lenses, and cures of what the parser found.

#[cfg(test)]
mod tests;

use std::ops::Range;

use super::diagnostics::findings::kind;
use super::standing::overlap;
use super::verbs::{self, Verb};
use super::{Code, Command, Known};
use crate::sanitize;
use crate::task::{Finding, FindingCode, Place};

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

pub const QUICKFIX: &str = "quickfix";

/// What can be done in `file` at `range`: cures first, then the criteria and plan items there, then the task.
pub fn actions(known: &Known<'_>, file: &str, range: &Range<usize>) -> Vec<Action> {
    let Some(document) = known.document(file) else { return Vec::new() };
    let here = |place: &Place| place.file == document.path && overlap(&place.range, range);
    let mut all: Vec<Action> =
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
    all.extend(verbs::all(known).into_iter().map(|it| action(known, it)));
    all
}

fn action(known: &Known<'_>, verb: Verb<'_>) -> Action {
    let title = verb.action_title(known);
    Action {
        kind: verb.kind(),
        cure: Cure::Command(verb.command(known, title.clone())),
        title,
        fixes: known.heading().filter(|_| gives_trust(verb)).map(|it| (it, Code::NeedsTrust)),
        preferred: verb == Verb::TrustShown,
    }
}

fn gives_trust(verb: Verb<'_>) -> bool {
    matches!(verb, Verb::Trust | Verb::TrustShown)
}

/// Of what the agent weakened, as it is told at this place.
fn cure(known: &Known<'_>, verb: Verb<'_>, place: &Place) -> Action {
    Action { fixes: Some((place.clone(), Code::Weakened)), ..action(known, verb) }
}

fn fix(finding: &Finding) -> Option<Action> {
    let text = finding.fix.clone()?;
    let (_, code) = kind(finding.code);
    Some(Action {
        kind: QUICKFIX,
        title: fix_title(finding.code, &text),
        cure: Cure::Edits(vec![TextEdit { place: finding.place.clone(), text }]),
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
