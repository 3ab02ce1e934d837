//! Code actions: all lens commands, for editors without lenses, and fixes for the parser's findings.

mod additions;
mod missing_aspects;
mod remarks;
#[cfg(test)]
mod tests;

use std::ops::Range;

use super::diagnostics::findings::severity_and_code;
use super::offered_commands::{self, OfferedCommand};
use super::task_predicates::{is_markdown, overlap};
use super::{DiagnosticCode, EditorCommand, ProjectCommands, QUICKFIX, TaskView, weakened};
use loopkeeper_core::journal::Weakening;
use loopkeeper_task::criterion::CriterionId;
use loopkeeper_task::work_product::wanted_sentence;
use loopkeeper_task::{Finding, FindingCode, TaskDocument};
use loopkeeper_text::tr;
use loopkeeper_text::{DocumentRange, sanitize};

/// An action for a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorAction {
    /// `quickfix`, or `source.loopkeeper.` and a command.
    pub kind: &'static str,
    pub title: String,
    pub fix: QuickFix,
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

/// The actions in `file` at `range`: fixes first, then those of criteria and plan items at the range, then those of the
/// task.
///
/// `project` are the commands that the project has, for fixes.
pub fn actions(
    view: &TaskView<'_>,
    project: ProjectCommands<'_>,
    (file, range): (&str, &Range<usize>),
) -> Vec<EditorAction> {
    let Some(document) = view.document(file) else { return Vec::new() };
    let here = |place: &DocumentRange| place.file == document.path && overlap(&place.range, range);
    let mut all: Vec<EditorAction> =
        view.task.findings.iter().filter(|it| here(&it.place)).filter_map(fix).collect();
    all.extend(remarks::fixes(view, project.gates, &here));
    all.extend(additions::whole_list(view, project.proposed, document, &here));
    all.extend(additions::additions(view, project.declared, document, &here));
    for criterion in view.task.criteria.iter().filter(|it| here(&it.place)) {
        let weakened = offered_commands::weakening_commands(view, Some(&criterion.id));
        all.extend(weakened.into_iter().map(|it| weakening_action(view, it, &criterion.place)));
        all.extend(permissions(view, document, Some(&criterion.id), &criterion.place));
        all.extend(
            offered_commands::criterion_commands(view, criterion).into_iter().map(|it| action(view, it)),
        );
    }
    for item in view.task.plan.iter().filter(|it| here(&it.place)) {
        all.extend(offered_commands::item_commands(item).into_iter().map(|it| action(view, it)));
    }
    if let Some(heading) = view.heading().filter(|it| here(it)) {
        all.extend(
            offered_commands::weakening_commands(view, None)
                .into_iter()
                .map(|it| weakening_action(view, it, &heading)),
        );
        all.extend(permissions(view, document, None, &heading));
        all.extend(strays(view, heading));
    }
    all.extend(offered_commands::offered_commands(view).into_iter().map(|it| action(view, it)));
    all.extend(missing_aspects::completion(view, project, document, &here));
    all
}

/// The sentence for which criteria can be proposed, if the actions at `range` include them.
pub fn sentence_at(view: &TaskView<'_>, file: &str, range: &Range<usize>) -> Option<String> {
    let document = view.document(file).filter(|it| is_markdown(it))?;
    let here = |place: &DocumentRange| place.file == document.path && overlap(&place.range, range);
    let lacks_criteria = |it: &Finding| it.code == FindingCode::NoCriteria && here(&it.place);
    let is_offered =
        view.heading().is_some_and(|it| here(&it)) || view.task.findings.iter().any(lacks_criteria);
    is_offered.then(|| wanted_sentence(view.task)).flatten()
}

fn action(view: &TaskView<'_>, command: OfferedCommand<'_>) -> EditorAction {
    let title = command.action_title(view);
    EditorAction {
        kind: command.kind(),
        fix: QuickFix::Command(command.command(view, title.clone())),
        title,
        fixes: view.heading().filter(|_| gives_trust(command)).map(|it| (it, DiagnosticCode::NeedsTrust)),
        preferred: command == OfferedCommand::TrustShown,
    }
}

fn gives_trust(command: OfferedCommand<'_>) -> bool {
    matches!(command, OfferedCommand::Trust | OfferedCommand::TrustShown)
}

/// An action for a reported weakening, attached to its diagnostic.
fn weakening_action(view: &TaskView<'_>, command: OfferedCommand<'_>, place: &DocumentRange) -> EditorAction {
    EditorAction { fixes: Some((place.clone(), DiagnosticCode::Weakened)), ..action(view, command) }
}

/// Removes the strays. Their bytes are kept in a snapshot.
fn strays(view: &TaskView<'_>, heading: DocumentRange) -> Option<EditorAction> {
    let paths = view.removable_strays();
    let removes = action(view, OfferedCommand::RemoveStrays(paths));
    (!paths.is_empty()).then_some(EditorAction { fixes: Some((heading, DiagnosticCode::Stray)), ..removes })
}

/// Actions that write into the task which of the weakened files it allows to change, from its next loop on.
fn permissions(
    view: &TaskView<'_>,
    document: &TaskDocument,
    criterion: Option<&CriterionId>,
    place: &DocumentRange,
) -> Vec<EditorAction> {
    if !is_markdown(document) {
        return Vec::new();
    }
    let permission = |it: &Weakening| EditorAction {
        kind: QUICKFIX,
        title: tr!("Let the next loop change \"{path}\"", path = sanitize::line(&it.path)),
        fix: QuickFix::Edits(vec![permission_edit(view, document, &it.path)]),
        fixes: Some((place.clone(), DiagnosticCode::Weakened)),
        preferred: false,
    };
    weakened::weakenings_at(view, criterion).filter(|it| !it.path.is_empty()).map(permission).collect()
}

/// Adds the path to the list under `May change`, or a section of that name at the end.
fn permission_edit(view: &TaskView<'_>, document: &TaskDocument, path: &str) -> TextEdit {
    let text = document.text.as_str();
    let list = view.task.settings.iter().find(|it| it.key == "criteria.may_change");
    let end = list.filter(|it| it.place.file == document.path).map(|it| it.place.range.end);
    let is_item = |end: &usize| {
        let line = text.get(..*end).and_then(|it| it.lines().last()).unwrap_or_default();
        line.trim_start().starts_with(['-', '*', '+'])
    };
    let at = |at: usize| DocumentRange { file: document.path.clone(), range: at..at };
    if let Some(end) = end.filter(is_item) {
        return TextEdit { place: at(end), text: format!("\n- {path}") };
    }
    let gap = if text.ends_with('\n') { "\n" } else { "\n\n" };
    TextEdit { place: at(text.len()), text: format!("{gap}## May change\n\n- {path}\n") }
}

fn fix(finding: &Finding) -> Option<EditorAction> {
    let text = finding.fix.clone()?;
    let (_, code) = severity_and_code(finding.code);
    Some(EditorAction {
        kind: QUICKFIX,
        title: fix_title(finding.code, &text),
        fix: QuickFix::Edits(vec![TextEdit { place: finding.place.clone(), text }]),
        fixes: Some((finding.place.clone(), code)),
        preferred: true,
    })
}

fn fix_title(code: FindingCode, text: &str) -> String {
    const TEXT_CHARS: usize = 60;
    let text = sanitize::line_within(text, TEXT_CHARS);
    match code {
        FindingCode::InlineList => tr!("Write the criteria as a list").to_owned(),
        FindingCode::NotACheck => tr!("Make it a check: {text}", text),
        FindingCode::BadCheck
        | FindingCode::NoCriteria
        | FindingCode::BadPromise
        | FindingCode::Syntax
        | FindingCode::UnknownKey
        | FindingCode::BadValue
        | FindingCode::UnsupportedKeys
        | FindingCode::Template => tr!("Write {text}", text),
    }
}
