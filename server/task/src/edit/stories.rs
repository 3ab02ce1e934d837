//! Edits of `prd.json` and other lists of stories in JSON, in the author's style: with the indentation, line ends and
//! spaces of the adjacent properties.

use std::ops::Range;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::{Range as JsonRange, Ranged};
use loopkeeper_text::lines::line_around;
use loopkeeper_text::message::Message;
use loopkeeper_text::tr;

use super::super::PlanItem;
use super::super::prd;
use super::super::{DocumentKind, kind_of};
use super::{PlanEditError, PlanEditTarget, TextSplices, apply_splices, conflict_error, place_of};

const SKIPPED: &str = "\"skipped\"";
/// The lists of stories, in the order in which they are looked for.
const STORY_LISTS: [&str; 4] = ["userStories", "stories", "tasks", "features"];
/// Files whose own tool refuses a field that it does not know.
const STRICT_FILES: [&str; 2] = ["queue.jsonc", "queue.json"];

pub(super) fn skip(target: &PlanEditTarget<'_>) -> Result<TextSplices, PlanEditError> {
    let path = target.document.path.as_str();
    let name = path.rsplit('/').next().unwrap_or(path);
    if STRICT_FILES.contains(&name) {
        let title = &target.item.title;
        let fact = tr!("\"{title}\" has no field in {file} for skipped tasks", title, file = name);
        let hint = tr!("write `\"status\": \"rejected\"`");
        return Err(conflict_error(Message::new(fact).with_hint(hint)));
    }
    let text = target.document.text.as_str();
    with_story(target, target.item, |story, offset| {
        let Some(property) = property(story, "skipped") else {
            return insert_skipped(text, story, offset);
        };
        match &property.value {
            Value::BooleanLit(flag) if flag.value => Some(
                remove_last_property(text, story, offset)
                    .unwrap_or_else(|| vec![(range_in_file(flag.range, offset), "false".to_owned())]),
            ),
            Value::BooleanLit(flag) => Some(vec![(range_in_file(flag.range, offset), "true".to_owned())]),
            _ => None,
        }
    })?
    .ok_or_else(|| {
        let fact = tr!("\"{title}\" cannot be skipped as it is written", title = target.item.title);
        conflict_error(Message::new(fact).with_hint(tr!("write `\"skipped\": true`")))
    })
}

/// Inserts `"skipped": true` after the last property, in the same format.
fn insert_skipped(text: &str, story: &Object<'_>, offset: usize) -> Option<TextSplices> {
    let last = story.properties.last()?;
    let (range, colon) = (range_in_file(last.range, offset), colon(text, last, offset));
    let before = last_but_one(story).map(|it| it.range.end + offset);
    let gap = gap(text, before, range.start).unwrap_or(if colon == ":" { "" } else { " " });
    Some(vec![(range.end..range.end, format!(",{gap}{SKIPPED}{colon}true"))])
}

/// Removes the last property, if inserting it again would restore the text byte for byte.
fn remove_last_property(text: &str, story: &Object<'_>, offset: usize) -> Option<TextSplices> {
    let last = story.properties.last().filter(|it| it.name.as_str() == "skipped")?;
    let from = last_but_one(story)?.range.end + offset;
    let without = vec![(from..last.range.end + offset, String::new())];
    let shorter = Object {
        properties: story.properties.iter().take(story.properties.len() - 1).cloned().collect(),
        range: story.range,
    };
    let again = apply_splices(&apply_splices(text, &without), &insert_skipped(text, &shorter, offset)?);
    (again == text).then_some(without)
}

fn last_but_one<'a>(story: &'a Object<'a>) -> Option<&'a ObjectProp<'a>> {
    story.properties.iter().rev().nth(1)
}

/// The text between a property and the one before it: a line end and an indentation, or spaces.
fn gap(text: &str, before: Option<usize>, start: usize) -> Option<&str> {
    let head = text.get(..start)?;
    let blank = head.trim_end_matches([' ', '\t']).len();
    let line_end = match head.get(..blank)? {
        it if it.ends_with("\r\n") => 2,
        it if it.ends_with('\n') => 1,
        _ => 0,
    };
    if line_end > 0 {
        return head.get(blank - line_end..);
    }
    let between = text.get(before?..start)?.strip_prefix(',')?;
    between.trim_matches([' ', '\t']).is_empty().then_some(between)
}

/// The colon of a property with the spaces around it.
fn colon<'a>(text: &'a str, property: &ObjectProp<'_>, offset: usize) -> &'a str {
    let between = property.name.end() + offset..property.value.start() + offset;
    let colon = text.get(between).unwrap_or_default();
    if colon.chars().all(|it| matches!(it, ' ' | '\t' | ':')) { colon } else { ": " }
}

/// Swaps the numbers; everything else keeps its position.
pub(super) fn swap_priorities(
    target: &PlanEditTarget<'_>,
    other: &PlanItem,
) -> Result<TextSplices, PlanEditError> {
    let number = |item: &PlanItem| {
        let found = with_story(target, item, |story, offset| {
            Some(range_in_file(property(story, "priority")?.value.range(), offset))
        })?;
        let title = &item.title;
        found.ok_or_else(|| conflict_error(tr!("\"{title}\" has no `priority` that could be changed", title)))
    };
    Ok(super::exchange_ranges(&target.document.text, number(target.item)?, number(other)?))
}

/// Swaps the whole stories.
pub(super) fn swap(target: &PlanEditTarget<'_>, other: &PlanItem) -> Result<TextSplices, PlanEditError> {
    let range =
        |item: &PlanItem| with_story(target, item, |story, offset| range_in_file(story.range, offset));
    Ok(super::exchange_ranges(&target.document.text, range(target.item)?, range(other)?))
}

/// A range of the JSON, which begins at `offset` of the file.
fn range_in_file(range: JsonRange, offset: usize) -> Range<usize> {
    range.start + offset..range.end + offset
}

fn property<'a>(story: &'a Object<'a>, name: &str) -> Option<&'a ObjectProp<'a>> {
    story.properties.iter().rev().find(|it| it.name.as_str() == name)
}

/// Runs a closure on the story that an item was read from, with the offset of its document's JSON in the file.
fn with_story<T>(
    target: &PlanEditTarget<'_>,
    item: &PlanItem,
    read: impl FnOnce(&Object<'_>, usize) -> T,
) -> Result<T, PlanEditError> {
    let text = target.document.text.as_str();
    let kind = kind_of(&target.document.path);
    let title = &item.title;
    let lost = || conflict_error(tr!("\"{title}\" has moved since it was read", title));
    if kind == Some(DocumentKind::RuntimeTasks) {
        let range = line_around(text, item.place.range.start);
        let parsed = prd::parse_json(text.get(range.clone()).unwrap_or_default()).ok();
        let task = parsed.as_ref().and_then(|it| it.value.as_ref()?.as_object());
        return task.map(|it| read(it, range.start)).ok_or_else(lost);
    }
    let json = text.strip_prefix('\u{feff}').unwrap_or(text);
    let offset = text.len() - json.len();
    let parsed = prd::parse_json(json).ok();
    let root = parsed.as_ref().and_then(|it| it.value.as_ref());
    let stories = match root {
        Some(Value::Object(root)) => {
            STORY_LISTS.into_iter().find_map(|name| property(root, name)).and_then(|it| it.value.as_array())
        }
        Some(Value::Array(list)) => Some(list),
        _ => None,
    };
    let mut stories = stories.into_iter().flat_map(|it| &it.elements).filter_map(Value::as_object);
    // Every story is an item, in the same order.
    let story = stories.nth(place_of(target.task, item));
    story.map(|it| read(it, offset)).ok_or_else(lost)
}
