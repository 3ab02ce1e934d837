//! An edit that adds criteria for the aspects that the grade of a task lacks, if the project has commands for them, and
//! limits of its scope.

use super::additions::{self, CriterionAddition};
use super::{EditorAction, ProjectCommands, QuickFix, TextEdit};
use crate::editor::task_predicates::is_markdown;
use crate::editor::{DeclaredCommand, TaskView};
use loopkeeper_lint::{self as lint, Gate, GradeLevel, TaskAspect, line_aspects};
use loopkeeper_task::criterion::Criterion;
use loopkeeper_task::{TaskDocument, parse_inline_task, parse_task};
use loopkeeper_text::language::in_language_of;
use loopkeeper_text::{DocumentRange, tr, tr_later};

/// An aspect that a command of the project can decide.
const GATES: [(TaskAspect, Gate); 3] =
    [(TaskAspect::Tests, Gate::Tests), (TaskAspect::Types, Gate::Types), (TaskAspect::Lint, Gate::Lint)];
/// More criteria than these without a check need their author.
const MAX_CHECKED: usize = 20;

const LIMITS: &str = tr_later!("Limits");
const LIMIT_ITEMS: [&str; 2] =
    [tr_later!("Change only what this task requires."), tr_later!("No test is removed or weakened.")];

/// What would be written.
#[derive(Default, Clone)]
struct CompletionEdits {
    /// Checks of criteria that have none.
    checks: Vec<TextEdit>,
    /// New criteria, without their bullets.
    criteria: Vec<String>,
    has_limits: bool,
    aspects: Vec<TaskAspect>,
}

/// The action on the heading of a task that is not comprehensive.
pub(super) fn completion(
    view: &TaskView<'_>,
    project: ProjectCommands<'_>,
    document: &TaskDocument,
    here: &impl Fn(&DocumentRange) -> bool,
) -> Option<EditorAction> {
    let grade = &view.task_lints().grade;
    let is_due =
        is_markdown(document) && grade.level != GradeLevel::Comprehensive && view.open_loop().is_none();
    view.heading().filter(|it| is_due && here(it))?;
    let place = additions::at_heading(view, document);
    let whole = CompletionEdits::of(view, project, document);
    let without_limits = CompletionEdits { has_limits: false, ..whole.clone() };
    let without_checks = CompletionEdits { checks: Vec::new(), ..whole.clone() };
    let added = [whole, without_checks, without_limits]
        .into_iter()
        .find(|it| !it.is_empty() && it.is_read(view, document, &place))?;
    Some(EditorAction {
        // Not a quick fix: editors list those before the start of a loop. Visual Studio Code has no other kind that it
        // lists at the cursor.
        kind: "refactor.loopkeeper.complete",
        title: tr!("Add what is missing: {aspects}", aspects = added.words().join(tr!(", "))),
        fix: QuickFix::Edits(added.edits(document, &place)),
        fixes: None,
        preferred: false,
    })
}

impl CompletionEdits {
    /// Commands of the project first, then the criteria of a new task for the same sentence.
    fn of(view: &TaskView<'_>, project: ProjectCommands<'_>, document: &TaskDocument) -> Self {
        let grade = &view.task_lints().grade;
        let mut added = Self { checks: checks(view, project, document), has_limits: true, ..Self::default() };
        let mut missing: Vec<TaskAspect> =
            grade.missing.iter().copied().filter(|it| *it != TaskAspect::Scope).collect();
        added.has_limits = missing.len() < grade.missing.len();
        for (aspect, gate) in GATES {
            let command = command_for(view, project, gate).filter(|_| missing.contains(&aspect));
            let Some(command) = command else { continue };
            added.criteria.push(additions::item_of(document, command));
            added.aspects.push(aspect);
            missing.retain(|it| *it != aspect);
        }
        for line in project.proposed.iter().filter(|it| !has_check(view, it)) {
            let aspects = line_aspects(line);
            let gained: Vec<TaskAspect> = missing.iter().copied().filter(|it| aspects.contains(it)).collect();
            missing.retain(|it| !gained.contains(it));
            if !gained.is_empty() {
                added.criteria.push(line.clone());
                added.aspects.extend(gained);
            }
        }
        added
    }

    fn is_empty(&self) -> bool {
        self.checks.is_empty() && self.criteria.is_empty() && !self.has_limits
    }

    fn words(&self) -> Vec<&'static str> {
        let mut words: Vec<&str> = self.aspects.iter().map(|it| it.words()).collect();
        words.extend(self.has_limits.then(|| TaskAspect::Scope.words()));
        words.extend((!self.checks.is_empty()).then(|| tr!("a check for each criterion")));
        words
    }

    /// The checks and the criteria at their places and the limits at the end, in their order; one edit for one place.
    fn edits(&self, document: &TaskDocument, place: &CriterionAddition<'_>) -> Vec<TextEdit> {
        let mut edits = self.checks.clone();
        if !self.criteria.is_empty() {
            edits.push(place.edit(&self.criteria));
        }
        edits.sort_by_key(|it| (it.place.range.start, it.place.range.end));
        let mut edits = joined(edits);
        if self.has_limits {
            add_limits(document, &mut edits);
        }
        for edit in &mut edits {
            edit.text = with_line_ends(document, std::mem::take(&mut edit.text));
        }
        edits
    }

    /// Whether the task has all of its criteria and exactly the added ones after the edits.
    fn is_read(&self, view: &TaskView<'_>, document: &TaskDocument, place: &CriterionAddition<'_>) -> bool {
        let mut documents = view.documents.to_vec();
        let Some(mine) = documents.iter_mut().find(|it| it.path == document.path) else { return false };
        for edit in self.edits(document, place).iter().rev() {
            if mine.text.get(edit.place.range.clone()).is_none() {
                return false;
            }
            mine.text.replace_range(edit.place.range.clone(), &edit.text);
        }
        let task = parse_task(&documents);
        let ids: Vec<_> = task.criteria.iter().map(|it| &it.id).collect();
        let before = view.task.criteria.iter();
        let unchecked = |all: &[Criterion]| all.iter().filter(|it| it.check.is_none()).count();
        task.criteria.len() == view.task.criteria.len() + self.criteria.len()
            && unchecked(&task.criteria) + self.checks.len() == unchecked(&view.task.criteria)
            && before.filter(|it| it.check.is_some()).all(|it| ids.contains(&&it.id))
    }
}

/// For each required criterion without a check: the command of the project that decides it, else a judge.
fn checks(view: &TaskView<'_>, project: ProjectCommands<'_>, document: &TaskDocument) -> Vec<TextEdit> {
    let (task, documents) = (view.task, view.documents);
    let is_open = |it: &Criterion| it.required && it.check.is_none() && it.place.file == document.path;
    let open = task.criteria.iter().enumerate().filter(|(_, it)| is_open(it)).take(MAX_CHECKED);
    let fix = |(index, _): (usize, &Criterion)| {
        let command = lint::check_fixes(task, documents, project.gates, index).into_iter().next();
        let fix = command.or_else(|| lint::judge_fix(task, documents, index))?;
        Some(TextEdit { place: fix.place, text: fix.text })
    };
    open.filter_map(fix).collect()
}

fn command_for<'a>(
    view: &TaskView<'_>,
    project: ProjectCommands<'a>,
    gate: Gate,
) -> Option<&'a DeclaredCommand> {
    let commands = project.gates.iter().filter(|it| it.gate == gate);
    let mut declared =
        commands.filter_map(|it| project.declared.iter().find(|own| own.command == it.command));
    declared.find(|it| it.is_writable() && !additions::has_command(view, &it.command))
}

fn has_check(view: &TaskView<'_>, line: &str) -> bool {
    let read = parse_inline_task("", &[line.to_owned()]).criteria;
    read.iter().any(|it| view.task.criteria.iter().any(|own| own.check == it.check))
}

/// Joins an insertion to an edit that ends there, because editors differ in the order of edits at one place.
fn joined(edits: Vec<TextEdit>) -> Vec<TextEdit> {
    let mut all: Vec<TextEdit> = Vec::new();
    for edit in edits {
        match all.last_mut().filter(|it| it.place.range.end == edit.place.range.start) {
            Some(last) if edit.place.range.is_empty() => last.text.push_str(&edit.text),
            _ => all.push(edit),
        }
    }
    all
}

/// A section at the end of the document; in one edit with an insertion there.
fn add_limits(document: &TaskDocument, edits: &mut Vec<TextEdit>) {
    let end = document.text.len();
    let gap = match edits.last() {
        Some(last) if last.place.range.end == end && last.text.ends_with('\n') => "\n",
        None if document.text.ends_with('\n') => "\n",
        Some(last) if last.place.range.end < end && document.text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let heading = in_language_of(&document.text, LIMITS);
    let items = LIMIT_ITEMS.map(|it| format!("- {}\n", in_language_of(&document.text, it)));
    let limits = format!("{gap}## {heading}\n\n{}", items.concat());
    match edits.last_mut().filter(|it| it.place.range.end == end) {
        Some(last) => last.text.push_str(&limits),
        None => edits.push(TextEdit {
            place: DocumentRange { file: document.path.clone(), range: end..end },
            text: limits,
        }),
    }
}

fn with_line_ends(document: &TaskDocument, text: String) -> String {
    let has_returns = document.text.contains("\r\n");
    if has_returns { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text }
}

#[cfg(test)]
mod tests;
