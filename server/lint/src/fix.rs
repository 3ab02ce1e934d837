//! Edits of a criterion in its document that give it a better check.

use loopkeeper_task::criterion::Criterion;
use loopkeeper_task::proposal::{colon_before_check, propose_criterion};
use loopkeeper_task::{Task, TaskDocument, is_story_file};
use loopkeeper_text::{DocumentRange, tr};

use crate::gate::{self, Gate};
use crate::{BetterLine, Lint, LintContext, ProjectCommand};

/// Replacement text for a range of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintFix {
    pub title: String,
    pub place: DocumentRange,
    pub text: String,
}

/// Attributes at the end of an item, which must stay after the check.
const ATTRIBUTES: &[&str] = &["optional", "可选", "timeout", "group", "stage", "rising", "not falling"];

/// The edits that write a better line, the preferred one first. `project` are the commands that the project has.
pub fn fixes(
    task: &Task,
    documents: &[TaskDocument],
    project: &[ProjectCommand],
    lint: &Lint,
) -> Vec<LintFix> {
    let context = LintContext { task, documents };
    let Some(criterion) = context.criterion(lint.criterion) else { return Vec::new() };
    let judge = || add_check(&context, criterion, "judge");
    let fix = match &lint.better {
        BetterLine::Test => {
            let test = add_check(&context, criterion, &proposed_check(task, project, criterion));
            return test.into_iter().chain(judge()).collect();
        }
        BetterLine::Judge => judge(),
        BetterLine::Command(better) => crate::command_of(criterion)
            .and_then(|command| replace_command(&context, criterion, command, better)),
        BetterLine::Check => replace_check(&context, criterion, &proposed_check(task, project, criterion)),
        BetterLine::Nothing => remove_line(&context, criterion),
        BetterLine::Unknown => None,
    };
    fix.into_iter().collect()
}

/// A check that fails until the work is done, with the tools of the task or of the project.
fn proposed_check(task: &Task, project: &[ProjectCommand], criterion: &Criterion) -> String {
    const MAX_EXAMINED: usize = 100;
    let others = task.criteria.iter().take(MAX_EXAMINED).filter(|it| it.id != criterion.id);
    let mut known: Vec<Criterion> = others.cloned().collect();
    let lines: Vec<String> = project.iter().map(|it| format!("`$ {}`", it.command)).collect();
    if !lines.is_empty() {
        known.extend(loopkeeper_task::parse_inline_task("", &lines).criteria);
    }
    let proposal = propose_criterion(&criterion.name, &known);
    proposal.split('`').nth(1).unwrap_or_default().to_owned()
}

/// The edits that give a criterion without a check one of the project: `Tests pass` gets the test command.
pub fn check_fixes(
    task: &Task,
    documents: &[TaskDocument],
    project: &[ProjectCommand],
    index: usize,
) -> Vec<LintFix> {
    let context = LintContext { task, documents };
    let Some(criterion) = context.criterion(index).filter(|it| it.check.is_none()) else { return Vec::new() };
    let Some(gate) = gate::gate_of_prose(&criterion.name) else { return Vec::new() };
    let command = gate::command_for(gate, project).map(|it| it.command.as_str());
    let command = command.or_else(|| task_command(task, gate));
    command.and_then(|it| add_check(&context, criterion, &format!("$ {it}"))).into_iter().collect()
}

/// The edit by which a judge decides a criterion without a check.
pub fn judge_fix(task: &Task, documents: &[TaskDocument], index: usize) -> Option<LintFix> {
    let context = LintContext { task, documents };
    let criterion = context.criterion(index).filter(|it| it.check.is_none())?;
    add_check(&context, criterion, "judge")
}

/// The command by which another criterion of the task decides the gate.
fn task_command(task: &Task, gate: Gate) -> Option<&str> {
    let commands = task.criteria.iter().take(crate::MAX_CRITERIA).filter_map(crate::command_of);
    let mut decides = commands.filter(|it| gate::gates_of_command(it) == [gate]);
    decides.next()
}

/// Appends a check to a criterion: before its attributes, instead of its final punctuation.
fn add_check(context: &LintContext<'_>, criterion: &Criterion, check: &str) -> Option<LintFix> {
    let text = context.text_of(&criterion.place);
    if text.is_empty() || check.contains('`') {
        return None;
    }
    let end = len_without_attributes(text);
    let kept = text.get(..end)?.trim_end();
    let prose = kept.trim_end_matches(['.', ':', ';', ',', '。', '：', '；']);
    let from = criterion.place.range.start + prose.len();
    let to = criterion.place.range.start + end;
    let gap = if end < text.len() { " " } else { "" };
    let colon = colon_before_check(context.document_text(&criterion.place.file), prose);
    let written = escaped(&criterion.place.file, check);
    Some(LintFix {
        title: tr!("Make it a check: `{check}`", check),
        place: DocumentRange { file: criterion.place.file.clone(), range: from..to },
        text: format!("{colon}`{written}`{gap}"),
    })
}

/// The length of the text before the attributes at its end.
fn len_without_attributes(text: &str) -> usize {
    let mut end = text.trim_end().len();
    loop {
        let before = text.get(..end).unwrap_or_default().trim_end_matches(['.', '。', ' ']);
        let closed = before.ends_with([')', '）']);
        let Some(open) = before.rfind(['(', '（']).filter(|_| closed) else { return end };
        let inside = before.get(open..).unwrap_or_default().trim_start_matches(['(', '（']).trim_start();
        if !ATTRIBUTES.iter().any(|it| inside.starts_with(it)) {
            return end;
        }
        end = open;
    }
}

/// Replaces the command of a check.
fn replace_command(
    context: &LintContext<'_>,
    criterion: &Criterion,
    command: &str,
    better: &str,
) -> Option<LintFix> {
    let written = escaped(&criterion.place.file, command);
    let text = context.text_of(&criterion.place);
    let mut found = text.match_indices(written.as_str());
    let (at, _) = found.next()?;
    if found.next().is_some() || better.contains('`') {
        return None;
    }
    let start = criterion.place.range.start + at;
    Some(LintFix {
        title: tr!("Write `$ {better}`", better),
        place: DocumentRange { file: criterion.place.file.clone(), range: start..start + written.len() },
        text: escaped(&criterion.place.file, better),
    })
}

/// Replaces the whole check, with its expectations: everything from its first backtick to the last.
fn replace_check(context: &LintContext<'_>, criterion: &Criterion, check: &str) -> Option<LintFix> {
    let text = context.text_of(&criterion.place);
    let (first, last) = (text.find('`')?, text.rfind('`')?);
    let start = criterion.place.range.start;
    Some(LintFix {
        title: tr!("Write a check that fails until the work is done: `{check}`", check),
        place: DocumentRange { file: criterion.place.file.clone(), range: start + first..start + last + 1 },
        text: format!("`{}`", escaped(&criterion.place.file, check)),
    })
}

/// Removes the line of a criterion, if nothing else is on it.
fn remove_line(context: &LintContext<'_>, criterion: &Criterion) -> Option<LintFix> {
    let document = context.documents.iter().find(|it| it.path == criterion.place.file)?;
    if is_story_file(&document.path) {
        return None;
    }
    let (text, range) = (document.text.as_str(), criterion.place.range.clone());
    let start = text.get(..range.start)?.rfind('\n').map_or(0, |it| it + 1);
    let rest = text.get(range.end..)?;
    let end = range.end + rest.find('\n').map_or(rest.len(), |it| it + 1);
    let is_item = text.get(start..range.start)?.trim_start().starts_with(['-', '*', '+'])
        || text.get(start..range.start)?.trim_start().starts_with(|it: char| it.is_ascii_digit());
    let is_alone = rest.get(..rest.find('\n').unwrap_or(rest.len()))?.trim().is_empty();
    (is_item && is_alone && !text.get(range)?.contains('\n')).then(|| LintFix {
        title: tr!("Remove this line").to_owned(),
        place: DocumentRange { file: document.path.clone(), range: start..end },
        text: String::new(),
    })
}

/// Escapes a text for its document: JSON strings escape quotes and backslashes.
fn escaped(file: &str, text: &str) -> String {
    if is_story_file(file) { text.replace('\\', "\\\\").replace('"', "\\\"") } else { text.to_owned() }
}
