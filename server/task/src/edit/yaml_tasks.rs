//! Edits of a list of tasks in YAML: `skipped: true` in a line below the title, with the same indentation; whole tasks
//! or their numbers swapped.

use std::ops::Range;

use loopkeeper_text::lines::line_around;
use loopkeeper_text::message::Message;
use loopkeeper_text::tr;
use loopkeeper_text::yaml::{self, YamlDocument, YamlElement, YamlScalar};

use super::super::PlanItem;
use super::{PlanEditError, PlanEditTarget, TextSplices, conflict_error, exchange_ranges};

/// The keys of the numbers that order tasks; the first one that a task has counts.
const PRIORITIES: [&str; 2] = ["priority", "parallel_group"];

pub(super) fn skip(target: &PlanEditTarget<'_>) -> Result<TextSplices, PlanEditError> {
    let text = target.document.text.as_str();
    let document = yaml::parse(text);
    let unclear = || {
        let fact = tr!("\"{title}\" cannot be skipped as it is written", title = target.item.title);
        conflict_error(Message::new(fact).with_hint(tr!("write `skipped: true`")))
    };
    let title = title_of(&document, target.item).ok_or_else(unclear)?;
    match field_of(&document, title, "skipped") {
        None => insert_flag(text, &title.range).ok_or_else(unclear),
        Some(flag) if flag.value == "true" => Ok(remove_flag(text, &title.range, &flag.range)),
        Some(flag) if flag.value == "false" => Ok(vec![(flag.range.clone(), "true".to_owned())]),
        Some(_) => Err(unclear()),
    }
}

/// Swaps the numbers; everything else keeps its position.
pub(super) fn swap_priorities(
    target: &PlanEditTarget<'_>,
    other: &PlanItem,
) -> Result<TextSplices, PlanEditError> {
    let document = yaml::parse(&target.document.text);
    let number = |item: &PlanItem| {
        let title = title_of(&document, item);
        let found = title.and_then(|it| PRIORITIES.iter().find_map(|name| field_of(&document, it, name)));
        let title = &item.title;
        let missing = || conflict_error(tr!("\"{title}\" has no `priority` that could be changed", title));
        found.map(|it| it.range.clone()).ok_or_else(missing)
    };
    Ok(exchange_ranges(&target.document.text, number(target.item)?, number(other)?))
}

/// Swaps the whole tasks.
pub(super) fn swap(target: &PlanEditTarget<'_>, other: &PlanItem) -> Result<TextSplices, PlanEditError> {
    let text = target.document.text.as_str();
    let document = yaml::parse(text);
    let block = |item: &PlanItem| element_of(&document, item).and_then(|it| task_block(text, &it.range));
    let (Some(one), Some(two)) = (block(target.item), block(other)) else {
        let fact = tr!("\"{title}\" cannot be moved as it is written", title = target.item.title);
        let hint = tr!("write each task of the list from a line of its own");
        return Err(conflict_error(Message::new(fact).with_hint(hint)));
    };
    Ok(exchange_ranges(text, one, two))
}

/// The items in the same list as the target.
pub(super) fn in_one_list<'a>(target: &PlanEditTarget<'_>, items: Vec<&'a PlanItem>) -> Vec<&'a PlanItem> {
    let document = yaml::parse(&target.document.text);
    let list = |it: &PlanItem| Some(element_of(&document, it)?.path.rsplit_once('.')?.0.to_owned());
    let mine = list(target.item);
    items.into_iter().filter(|it| mine.is_some() && list(it) == mine).collect()
}

fn title_of<'a>(document: &'a YamlDocument, item: &PlanItem) -> Option<&'a YamlScalar> {
    let place = &item.place.range;
    document.scalars.iter().find(|it| it.range.start <= place.start && place.end <= it.range.end)
}

/// Another field of the task with this title.
fn field_of<'a>(document: &'a YamlDocument, title: &YamlScalar, name: &str) -> Option<&'a YamlScalar> {
    let path = format!("{}.{name}", title.path.rsplit_once('.').map_or("", |it| it.0));
    document.scalars.iter().find(|it| it.path == path && !it.value.trim().is_empty())
}

fn element_of<'a>(document: &'a YamlDocument, item: &PlanItem) -> Option<&'a YamlElement> {
    let (path, _) = title_of(document, item)?.path.rsplit_once('.')?;
    document.elements.iter().find(|it| it.path == path)
}

/// The lines of a task that begins with a dash, or the braces of one in a list in brackets.
fn task_block(text: &str, element: &Range<usize>) -> Option<Range<usize>> {
    let first = line_around(text, element.start);
    let is_after_dash = text.get(first.start..element.start)?.trim() == "-";
    let is_in_braces = text.get(element.start..)?.starts_with('{');
    if is_after_dash {
        return Some(first.start..line_around(text, element.end).end);
    }
    is_in_braces.then(|| element.clone())
}

/// Inserts a line with the flag below the title; `None` if the title is not alone in its line.
fn insert_flag(text: &str, title: &Range<usize>) -> Option<TextSplices> {
    let line = whole_line(text, title)?;
    let before = text.get(line.start..title.start)?;
    let key = before.trim_start_matches([' ', '-']);
    let is_key =
        key.trim_end().strip_suffix(':').is_some_and(|it| it.bytes().all(|it| it.is_ascii_alphanumeric()));
    let after = text.get(title.end..line.end)?.trim();
    let is_alone = is_key && (after.is_empty() || after.starts_with('#'));
    let column = before.len() - key.len();
    let end = if text.get(line.end..).is_some_and(|it| it.starts_with("\r\n")) { "\r\n" } else { "\n" };
    is_alone.then(|| vec![(line.end..line.end, format!("{end}{}skipped: true", " ".repeat(column)))])
}

/// Removes the line of the flag if inserting it again would restore the text; else only changes the value.
fn remove_flag(text: &str, title: &Range<usize>, flag: &Range<usize>) -> TextSplices {
    let whole = || {
        let line = whole_line(text, title)?;
        let (at, added) = insert_flag(text, title)?.pop()?;
        let is_next = text.get(line.end..)?.strip_prefix(&added)?;
        let is_whole = is_next.is_empty() || is_next.starts_with(['\n', '\r']);
        is_whole.then(|| vec![(at.start..at.start + added.len(), String::new())])
    };
    whole().unwrap_or_else(|| vec![(flag.clone(), "false".to_owned())])
}

/// The line that contains a range, without its line end; `None` if the range spans several lines.
fn whole_line(text: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let is_in_one = !text.get(range.clone())?.contains('\n');
    is_in_one.then(|| line_around(text, range.start))
}
