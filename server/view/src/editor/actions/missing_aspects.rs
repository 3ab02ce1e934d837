//! An edit that adds what the grade of a task misses, as far as the project has commands for it, and limits of its scope.

use super::additions::{self, CriterionAddition};
use super::{EditorAction, ProjectCommands, QuickFix, TextEdit};
use crate::editor::{DeclaredCommand, TaskView};
use loopkeeper_lint::{Aspect, Gate, GradeLevel};
use loopkeeper_task::{TaskDocument, parse_task};
use loopkeeper_text::language::in_language_of;
use loopkeeper_text::{DocumentRange, tr, tr_later};

/// What a command of the project can decide.
const GATES: [(Aspect, Gate); 3] =
    [(Aspect::Tests, Gate::Tests), (Aspect::Types, Gate::Types), (Aspect::Lint, Gate::Lint)];

/// The action on the heading of a task that is not comprehensive.
pub(super) fn completion(
    known: &TaskView<'_>,
    project: ProjectCommands<'_>,
    document: &TaskDocument,
    here: &impl Fn(&DocumentRange) -> bool,
) -> Option<EditorAction> {
    let grade = &known.task_lints().grade;
    let is_prose = document.path.to_lowercase().ends_with(".md");
    let is_due = is_prose && grade.level != GradeLevel::Comprehensive && known.open_loop().is_none();
    known.heading().filter(|it| is_due && here(it))?;
    let commands: Vec<(Aspect, &DeclaredCommand)> = GATES
        .iter()
        .filter(|(aspect, _)| grade.missing.contains(aspect))
        .filter_map(|(aspect, gate)| Some((*aspect, command_for(known, project, *gate)?)))
        .collect();
    let lacks_scope = grade.missing.contains(&Aspect::Scope);
    let place = additions::at_heading(known, document);
    let candidates = [
        (edits(document, &place, &commands, lacks_scope), lacks_scope),
        (edits(document, &place, &commands, false), false),
    ];
    let (edits, has_limits) = candidates
        .into_iter()
        .find(|(it, _)| !it.is_empty() && is_read(known, document, it, commands.len()))?;
    let mut aspects: Vec<&str> = commands.iter().map(|it| it.0.words()).collect();
    aspects.extend(has_limits.then(|| Aspect::Scope.words()));
    Some(EditorAction {
        // Not a quick fix: editors list those before the start of a loop.
        kind: "source.loopkeeper.complete",
        title: tr!("Add what is missing: {aspects}", aspects = aspects.join(tr!(", "))),
        fix: QuickFix::Edits(edits),
        fixes: None,
        preferred: false,
    })
}

const LIMITS: &str = tr_later!("Limits");
const LIMIT_ITEMS: [&str; 2] =
    [tr_later!("Change only what this task requires."), tr_later!("No test is removed or weakened.")];

fn command_for<'a>(
    known: &TaskView<'_>,
    project: ProjectCommands<'a>,
    gate: Gate,
) -> Option<&'a DeclaredCommand> {
    let commands = project.gates.iter().filter(|it| it.gate == gate);
    let mut declared =
        commands.filter_map(|it| project.declared.iter().find(|own| own.command == it.command));
    declared.find(|it| it.is_writable() && !additions::has_command(known, &it.command))
}

/// The criteria at their place and the limits at the end; in one edit where that is the same place.
fn edits(
    document: &TaskDocument,
    place: &CriterionAddition<'_>,
    commands: &[(Aspect, &DeclaredCommand)],
    lacks_scope: bool,
) -> Vec<TextEdit> {
    let mut edits = additions_alone(document, place, commands);
    if !lacks_scope {
        return edits;
    }
    let end = document.text.len();
    let gap = match edits.last() {
        Some(last) if last.place.range.start == end && last.text.ends_with('\n') => "\n",
        None if document.text.ends_with('\n') => "\n",
        Some(last) if last.place.range.start < end && document.text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let heading = in_language_of(&document.text, LIMITS);
    let items = LIMIT_ITEMS.map(|it| format!("- {}\n", in_language_of(&document.text, it)));
    let limits = with_line_ends(document, format!("{gap}## {heading}\n\n{}", items.concat()));
    match edits.last_mut().filter(|it| it.place.range.start == end) {
        Some(last) => last.text.push_str(&limits),
        None => edits.push(TextEdit {
            place: DocumentRange { file: document.path.clone(), range: end..end },
            text: limits,
        }),
    }
    edits
}

fn additions_alone(
    document: &TaskDocument,
    place: &CriterionAddition<'_>,
    commands: &[(Aspect, &DeclaredCommand)],
) -> Vec<TextEdit> {
    let commands: Vec<&DeclaredCommand> = commands.iter().map(|it| it.1).collect();
    if commands.is_empty() {
        return Vec::new();
    }
    let mut edit = place.edit(&commands);
    edit.text = with_line_ends(document, edit.text);
    vec![edit]
}

fn with_line_ends(document: &TaskDocument, text: String) -> String {
    let has_returns = document.text.contains("\r\n");
    if has_returns { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text }
}

/// Whether the task has all of its criteria and exactly the added ones after the edits.
fn is_read(known: &TaskView<'_>, document: &TaskDocument, edits: &[TextEdit], added: usize) -> bool {
    let mut documents = known.documents.to_vec();
    let Some(mine) = documents.iter_mut().find(|it| it.path == document.path) else { return false };
    for edit in edits.iter().rev() {
        if !mine.text.is_char_boundary(edit.place.range.start) {
            return false;
        }
        mine.text.insert_str(edit.place.range.start, &edit.text);
    }
    let task = parse_task(&documents);
    let ids: Vec<_> = task.criteria.iter().map(|it| &it.id).collect();
    task.criteria.len() == known.task.criteria.len() + added
        && known.task.criteria.iter().all(|it| ids.contains(&&it.id))
}

#[cfg(test)]
mod tests;
