//! Reads fix plans: every box is a plan item, and one with a check is also a criterion. Open boxes under an optional
//! heading do not keep a loop running.

mod table;
#[cfg(test)]
mod tests;

use std::ops::Range;

use super::grammar::{self, ItemMode};
use super::item::{ByteOrigin as Bytes, InlineContent};
use super::outline::{CriterionOrigin, NAME_CHARS, TaskOutline};
use super::source::{MarkdownSource, lines_of};
use super::{FindingCode, PlanItem, phrases};
use loopkeeper_text::tr;
use loopkeeper_text::truncate::shortened;

pub(super) use table::take_table;

/// The optional headings around the current position.
#[derive(Debug, Default)]
pub(super) struct OptionalHeadings<'a> {
    levels: Vec<u8>,
    /// The titles of optional sections, where the user of another tool lists them.
    titles: Option<&'a [String]>,
}

impl<'a> OptionalHeadings<'a> {
    pub(super) fn titled(titles: Option<&'a [String]>) -> Self {
        Self { levels: Vec::new(), titles }
    }

    pub(super) fn enter(&mut self, level: u8, heading: &str) {
        self.levels.retain(|&open| open < level);
        let is_optional = match self.titles {
            Some(titles) => {
                let title = heading.trim().to_lowercase();
                phrases::is_marked_optional(heading) || titles.iter().any(|it| it.to_lowercase() == title)
            }
            None => phrases::is_optional(heading),
        };
        if is_optional {
            self.levels.push(level);
        }
    }

    pub(super) fn is_optional(&self) -> bool {
        !self.levels.is_empty()
    }
}

/// A box outside criteria sections.
pub(super) fn take_box(out: &mut TaskOutline, text: &InlineContent<'_>, done: bool, optional: bool) {
    let read = grammar::parse_item(text, ItemMode::PlanBox);
    let plan = push_item(out, &read, text, done, optional);
    if read.means_check() {
        out.add_item(
            read,
            text.range.clone(),
            CriterionOrigin { ticked: Some(done), plan: Some(plan), optional },
        );
    }
}

/// The item's index in the plan.
pub(super) fn push_item(
    out: &mut TaskOutline,
    read: &grammar::ParsedItem,
    text: &InlineContent<'_>,
    done: bool,
    optional: bool,
) -> usize {
    out.plan.push(PlanItem {
        id: read.id.clone(),
        title: shortened(&read.name, NAME_CHARS).into_owned(),
        done,
        blocking: !optional && !read.attributes.optional,
        priority: None,
        depends_on: Vec::new(),
        done_field: None,
        done_value: None,
        place: out.place(text.range.clone()),
    });
    out.plan.len() - 1
}

/// The mark of a list item.
#[derive(Debug, Clone, Copy)]
pub(super) struct BoxState {
    pub(super) ticked: Option<bool>,
    /// It does not have to be done: given up, or optional.
    pub(super) is_dropped: bool,
}

/// Marks of boxes that are begun, blocked or given up, as some tools write them.
const MARKS: [&str; 4] = ["[/] ", "[~] ", "[!] ", DROPPED];
pub(super) const DROPPED: &str = "[-] ";
/// Marks of items that do not have to be done, in the plans of Kiro.
const OPTIONAL_MARKS: [&str; 3] = ["[ ]* ", "[x]* ", "[-]* "];

/// The text of `- [/] text`, an open item, and its state. `is_dash_begun`: `[-]` is an item that was begun.
pub(super) fn marked_box<'a>(
    source: &MarkdownSource<'_>,
    text: &InlineContent<'a>,
    is_dash_begun: bool,
) -> Option<(InlineContent<'a>, BoxState)> {
    let written = source.slice(&text.range);
    let marks = MARKS.iter().chain(&OPTIONAL_MARKS);
    let (mark, rest) = marks.into_iter().find_map(|it| Some((*it, written.strip_prefix(it)?)))?;
    // The text may begin on the line after the mark.
    let shown = rest.trim_start();
    let from = text.range.end - shown.len();
    let is_dropped = OPTIONAL_MARKS.contains(&mark) || mark == DROPPED && !is_dash_begun;
    if shown.is_empty() {
        return None;
    }
    let state = BoxState { ticked: Some(mark.starts_with("[x]")), is_dropped };
    Some((text.clipped(&(from..text.range.end)), state))
}

/// Reports `- [ ]text`, `- [] text`, `- [ x] text`: not a box in Markdown, but clearly intended as one.
pub(super) fn report_near_box(out: &mut TaskOutline, source: &MarkdownSource<'_>, text: &InlineContent<'_>) {
    let written = source.slice(&text.range);
    let Some((mark, rest)) = written.strip_prefix('[').and_then(|it| it.split_once(']')) else { return };
    let meant = match mark.trim() {
        "" => "[ ]",
        "x" | "X" => "[x]",
        _ => return,
    };
    // `[]byte` is a type.
    let is_type = mark.is_empty() && !rest.starts_with(char::is_whitespace);
    let escaped = source.is_escaped(text.range.start);
    if is_type
        || escaped
        || mark.len() > 2
        || rest.is_empty()
        || rest.starts_with(['(', '['])
        || text.link.is_some()
    {
        return;
    }
    let space = if rest.starts_with([' ', '\t']) { "" } else { " " };
    let range = text.range.start..text.range.end - rest.len();
    let fact = tr!("no checkbox, so it is not an item of the plan");
    let fault = grammar::ItemFault::new(FindingCode::BadValue, fact, &range)
        .with_hint(tr!("Write `[ ] text`"))
        .with_fix(Some(format!("{meant}{space}")));
    out.add_fault(&text.plain_text(), fault);
}

/// The boxes that are indented so far that Markdown reads them as code, which no author of a plan intends.
pub(super) fn indented_boxes<'a>(
    source: &MarkdownSource<'_>,
    range: &Range<usize>,
) -> Vec<(bool, InlineContent<'a>)> {
    let mut at = range.start;
    let mut boxes = Vec::new();
    for line in lines_of(source.slice(range)) {
        let start = at;
        at += line.len();
        let Some((done, text)) = box_line(line.trim_end()) else { continue };
        let from = start + line.trim_end().len() - text.len();
        boxes.push((done, InlineContent::of_plain(text, &Bytes::At(from))));
    }
    boxes
}

/// Splits `- [ ] text` into whether it is ticked and its text.
pub(super) fn box_line(line: &str) -> Option<(bool, &str)> {
    let rest = line.trim_start().strip_prefix(['-', '*', '+'])?.trim_start();
    let inner = rest.strip_prefix('[')?;
    let (mark, rest) = inner.split_once(']')?;
    let done = match mark {
        " " => false,
        "x" | "X" => true,
        _ => return None,
    };
    let text = rest.strip_prefix([' ', '\t'])?.trim_start();
    (!text.is_empty()).then_some((done, text))
}
