//! Plan edits by the user: skip or resume an item, move an item. Each edit changes only the necessary bytes and is
//! verified by parsing the result; an edit with any other effect is refused.

mod boxes;
mod stories;
#[cfg(test)]
mod tests;
mod verify;
mod yaml_tasks;

use std::ops::Range;

use loopkeeper_text::message::Message;
use loopkeeper_text::tr;

use super::assemble::is_story_file;
use super::{DocumentKind, PlanItem, Task, TaskDocument, kind_of, parse_task};

/// The requested change of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanEdit {
    /// Skip the item, or resume it if it is skipped.
    Skip,
    /// Move the item this many places earlier among the open items; negative: later.
    Raise(i32),
}

/// One change of one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentEdit {
    /// Relative to the root.
    pub file: String,
    /// Byte range in the original document.
    pub range: Range<usize>,
    /// The replacement text.
    pub text: String,
    /// The whole document after the edit.
    pub after: String,
    pub done: PlanEditOutcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanEditOutcome {
    Skipped,
    Resumed,
    /// Moved earlier by this many places; negative: later.
    Moved(i32),
}

/// Why nothing is changed, with the alternative as the hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanEditError {
    /// No item, or several, match this name.
    Unknown(Message),
    Conflict(Message),
}

/// How a document writes its items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlanForm {
    Json,
    Yaml,
    /// Boxes, and rows of tables.
    Markdown,
}

/// A direction of a move among the open items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MoveDirection {
    Earlier,
    Later,
}

/// Byte replacements, in order of position.
type TextSplices = Vec<(Range<usize>, String)>;

const MAX_STEPS: i32 = 100;

/// An item in the document that holds it.
struct PlanEditTarget<'a> {
    task: &'a Task,
    document: &'a TaskDocument,
    item: &'a PlanItem,
}

/// Computes the change of the document for an edit of the item with this id.
pub fn compute_edit(
    documents: &[TaskDocument],
    item: &str,
    edit: PlanEdit,
) -> Result<DocumentEdit, PlanEditError> {
    let task = parse_task(documents);
    let target = find_target(documents, &task, item)?;
    if let Some(refused) = target.refuse_database_file(edit) {
        return Err(refused);
    }
    let (file, before) = (target.document.path.clone(), target.document.text.clone());
    let (after, done) = match edit {
        PlanEdit::Skip => skip(documents, &target)?,
        PlanEdit::Raise(by) => move_item(documents, &target, by)?,
    };
    let (range, text) = difference(&before, &after);
    Ok(DocumentEdit { file, range, text, after, done })
}

/// The item with this id or title, or whose title contains this text when no other open item's does.
pub fn find_item<'a>(task: &'a Task, name: &str) -> Result<&'a PlanItem, PlanEditError> {
    let wanted = name.trim().to_lowercase();
    let exact = |it: &&PlanItem| it.title.to_lowercase() == wanted;
    let part = |it: &&PlanItem| !it.done && !wanted.is_empty() && it.title.to_lowercase().contains(&wanted);
    if let Some(it) = task.plan.iter().find(|it| it.id == name) {
        return Ok(it);
    }
    let mut found: Vec<&PlanItem> = task.plan.iter().filter(exact).collect();
    if found.is_empty() {
        found = task.plan.iter().filter(part).collect();
    }
    match found.as_slice() {
        [one] => Ok(one),
        [] => Err(PlanEditError::Unknown(tr!("the plan has no item \"{name}\"", name).into())),
        _ => Err(PlanEditError::Unknown(tr!("the plan has several items \"{name}\"", name).into())),
    }
}

fn find_target<'a>(
    documents: &'a [TaskDocument],
    task: &'a Task,
    id: &str,
) -> Result<PlanEditTarget<'a>, PlanEditError> {
    let unknown = || PlanEditError::Unknown(tr!("the plan has no item \"{name}\"", name = id).into());
    let item = task.plan.iter().find(|it| it.id == id).ok_or_else(unknown)?;
    let document = documents.iter().find(|it| it.path == item.place.file).ok_or_else(unknown)?;
    Ok(PlanEditTarget { task, document, item })
}

fn skip(
    documents: &[TaskDocument],
    target: &PlanEditTarget<'_>,
) -> Result<(String, PlanEditOutcome), PlanEditError> {
    if target.item.done {
        let title = &target.item.title;
        return Err(conflict_error(tr!("\"{title}\" is done: there is nothing to skip", title)));
    }
    let splices = match target.form() {
        PlanForm::Json => stories::skip(target)?,
        PlanForm::Yaml => yaml_tasks::skip(target)?,
        PlanForm::Markdown => boxes::skip(target)?,
    };
    let after = apply_splices(&target.document.text, &splices);
    verify::verify_skip(documents, target, &after)?;
    Ok((after, if target.item.blocking { PlanEditOutcome::Skipped } else { PlanEditOutcome::Resumed }))
}

/// Moves one place after the other, as far as possible.
fn move_item(
    documents: &[TaskDocument],
    target: &PlanEditTarget<'_>,
    by: i32,
) -> Result<(String, PlanEditOutcome), PlanEditError> {
    if by == 0 {
        let title = &target.item.title;
        return Err(conflict_error(tr!("\"{title}\" stays where it is when it moves by 0", title)));
    }
    let mut documents = documents.to_vec();
    // More than any realistic request; each step parses the plan again.
    let by = by.clamp(-MAX_STEPS, MAX_STEPS);
    let direction = if by > 0 { MoveDirection::Earlier } else { MoveDirection::Later };
    let mut at = place_of(target.task, target.item);
    let (file, mut after, mut moved) = (target.document.path.as_str(), target.document.text.clone(), 0);
    while moved != by {
        let task = parse_task(&documents);
        let Some(item) = task.plan.iter().filter(|it| it.place.file == file).nth(at) else { break };
        let Some(document) = documents.iter().find(|it| it.path == file) else { break };
        let target = PlanEditTarget { task: &task, document, item };
        match target.find_neighbor(direction).and_then(|other| swap_with_neighbor(&documents, &target, other))
        {
            Ok(step) => (after, at) = step,
            Err(_) if moved != 0 => break,
            Err(refused) => return Err(refused),
        }
        moved += by.signum();
        documents.iter_mut().filter(|it| it.path == file).for_each(|it| it.text.clone_from(&after));
    }
    Ok((after, PlanEditOutcome::Moved(moved)))
}

/// The document with the item and its neighbour swapped, and the item's new place.
fn swap_with_neighbor(
    documents: &[TaskDocument],
    target: &PlanEditTarget<'_>,
    other: &PlanItem,
) -> Result<(String, usize), PlanEditError> {
    let form = target.form();
    let splices = match (target.item.priority, other.priority) {
        (Some(mine), Some(its)) if mine != its && form == PlanForm::Yaml => {
            yaml_tasks::swap_priorities(target, other)?
        }
        (Some(mine), Some(its)) if mine != its => stories::swap_priorities(target, other)?,
        (Some(_), None) | (None, Some(_)) => {
            let (title, other) = (&target.item.title, &other.title);
            let fact = tr!(
                "\"{title}\" cannot change places with \"{other}\": one of them has no `priority`",
                title,
                other
            );
            return Err(conflict_error(Message::new(fact).with_hint(tr!("give it one"))));
        }
        _ => match form {
            PlanForm::Json => stories::swap(target, other)?,
            PlanForm::Yaml => yaml_tasks::swap(target, other)?,
            PlanForm::Markdown => boxes::swap(target, other)?,
        },
    };
    let after = apply_splices(&target.document.text, &splices);
    let place = verify::verify_swap(documents, target, other, (&splices, &after))?;
    Ok((after, place))
}

impl PlanEditTarget<'_> {
    /// The refusal of an edit in a file that its own tool writes from a database.
    fn refuse_database_file(&self, edit: PlanEdit) -> Option<PlanEditError> {
        if kind_of(&self.document.path) != Some(DocumentKind::BeadsIssues) {
            return None;
        }
        let PlanItem { title, id, .. } = self.item;
        let fact = tr!("\"{title}\" is an issue of Beads, which would undo a change of its file", title);
        let hint = match edit {
            PlanEdit::Skip => format!("`bd update {id} --status deferred`"),
            PlanEdit::Raise(_) => format!("`bd update {id} --priority 1`"),
        };
        Some(conflict_error(Message::new(fact).with_hint(tr!("run {command}", command = hint))))
    }

    fn form(&self) -> PlanForm {
        match kind_of(&self.document.path) {
            Some(DocumentKind::YamlTaskList | DocumentKind::YamlTaskTree) => PlanForm::Yaml,
            _ if is_story_file(&self.document.path) => PlanForm::Json,
            _ => PlanForm::Markdown,
        }
    }

    /// Whether the document can contain several lists, between which items do not move.
    fn has_lists(&self) -> bool {
        self.form() == PlanForm::Markdown || kind_of(&self.document.path) == Some(DocumentKind::YamlTaskTree)
    }

    /// The open item directly before or after this one, if the two may be swapped.
    fn find_neighbor(&self, direction: MoveDirection) -> Result<&PlanItem, PlanEditError> {
        if self.item.done {
            let title = &self.item.title;
            return Err(conflict_error(tr!("\"{title}\" is done: its place makes no difference", title)));
        }
        let mut row: Vec<&PlanItem> = self.task.plan.iter().filter(|it| self.is_beside(it)).collect();
        match self.form() {
            PlanForm::Json => {}
            PlanForm::Yaml => row = yaml_tasks::in_one_list(self, row),
            PlanForm::Markdown => row = boxes::in_one_list(self, row),
        }
        row.sort_by_key(|it| (it.priority.is_none(), it.priority));
        let at = row.iter().position(|it| it.place == self.item.place);
        let other = at.and_then(|at| match direction {
            MoveDirection::Earlier => at.checked_sub(1),
            MoveDirection::Later => Some(at + 1),
        });
        other.and_then(|at| row.get(at).copied()).ok_or_else(|| conflict_error(self.end_of_list(direction)))
    }

    /// Why the item cannot be moved any further in this direction.
    fn end_of_list(&self, direction: MoveDirection) -> String {
        let title = &self.item.title;
        match (direction, self.has_lists()) {
            (MoveDirection::Earlier, false) => tr!("\"{title}\" is already the first open item", title),
            (MoveDirection::Earlier, true) => {
                tr!("\"{title}\" is already the first open item of its list", title)
            }
            (MoveDirection::Later, false) => tr!("\"{title}\" is already the last open item", title),
            (MoveDirection::Later, true) => {
                tr!("\"{title}\" is already the last open item of its list", title)
            }
        }
    }

    fn is_beside(&self, other: &PlanItem) -> bool {
        let mine = self.item;
        !other.done && other.blocking == mine.blocking && other.place.file == mine.place.file
    }
}

/// The item's index among the items of its file.
fn place_of(task: &Task, item: &PlanItem) -> usize {
    let mut of_file = task.plan.iter().filter(|it| it.place.file == item.place.file);
    of_file.position(|it| it.place == item.place).unwrap_or_default()
}

fn conflict_error(fact: impl Into<Message>) -> PlanEditError {
    PlanEditError::Conflict(fact.into())
}

fn apply_splices(text: &str, splices: &TextSplices) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    let mut at = 0;
    for (range, new) in splices {
        out.push_str(text.get(at..range.start).unwrap_or_default());
        out.push_str(new);
        at = range.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Swaps two ranges of one text.
fn exchange_ranges(text: &str, one: Range<usize>, other: Range<usize>) -> TextSplices {
    let slice = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default().to_owned();
    let (first, second) = if one.start <= other.start { (one, other) } else { (other, one) };
    let (its, mine) = (slice(&second), slice(&first));
    vec![(first, its), (second, mine)]
}

/// The smallest range in which two texts differ, and its content in the second.
fn difference(before: &str, after: &str) -> (Range<usize>, String) {
    let same = |(one, other): &(char, char)| one == other;
    let begin: usize = before.chars().zip(after.chars()).take_while(same).map(|(it, _)| it.len_utf8()).sum();
    let (left, new) = (before.get(begin..).unwrap_or_default(), after.get(begin..).unwrap_or_default());
    let end: usize =
        left.chars().rev().zip(new.chars().rev()).take_while(same).map(|(it, _)| it.len_utf8()).sum();
    (begin..before.len() - end, new.get(..new.len() - end).unwrap_or_default().to_owned())
}
