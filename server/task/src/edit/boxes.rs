//! Edits of a Markdown plan: `(optional)` after a box, and list items or rows of a table swapped as whole blocks.

use std::ops::Range;

use loopkeeper_text::message::Message;
use loopkeeper_text::tr;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::super::PlanItem;
use super::super::blocks::MARKDOWN_OPTIONS;
use super::super::plan::DROPPED;
use super::super::source::MarkdownSource;
use super::{PlanEditError, PlanEditTarget, TextSplices, conflict_error};

const MARK: &str = " (optional)";
/// Accepted spellings. A space before one is removed with it.
const MARK_SPELLINGS: [&str; 4] = ["(optional)", "（可选）", "(可选)", "（optional）"];

pub(super) fn skip(target: &PlanEditTarget<'_>) -> Result<TextSplices, PlanEditError> {
    let place = target.item.place.range.clone();
    if target.item.blocking {
        return Ok(vec![(place.end..place.end, MARK.to_owned())]);
    }
    let before = target.document.text.get(..place.start).unwrap_or_default();
    if before.ends_with(DROPPED) {
        let mark = before.len() - DROPPED.len() + 1;
        return Ok(vec![(mark..mark + 1, " ".to_owned())]);
    }
    let text = target.document.text.get(place.clone()).unwrap_or_default();
    let found = MARK_SPELLINGS.iter().filter_map(|mark| Some((text.rfind(mark)?, mark.len()))).max();
    let Some((at, length)) = found else {
        let fact = tr!("\"{title}\" is optional by its heading", title = target.item.title);
        return Err(conflict_error(Message::new(fact).with_hint(tr!("move it to another one"))));
    };
    let space = usize::from(text.get(..at).is_some_and(|it| it.ends_with(' ')));
    let start = place.start + at - space;
    Ok(vec![(start..place.start + at + length, String::new())])
}

/// The items in the same list as the target.
pub(super) fn in_one_list<'a>(target: &PlanEditTarget<'_>, items: Vec<&'a PlanItem>) -> Vec<&'a PlanItem> {
    let blocks = item_blocks(&target.document.text);
    let list = |it: &PlanItem| enclosing_block(&blocks, it).map(|it| it.list);
    let mine = list(target.item);
    items.into_iter().filter(|it| mine.is_some() && list(it) == mine).collect()
}

/// Swaps both blocks with all nested content. Numbers of an ordered list keep their position.
pub(super) fn swap(target: &PlanEditTarget<'_>, other: &PlanItem) -> Result<TextSplices, PlanEditError> {
    let text = target.document.text.as_str();
    let blocks = item_blocks(text);
    let whole =
        |item: &PlanItem| enclosing_block(&blocks, item).map(|it| (whole_lines(text, &it.range), it.is_row));
    let (Some((mut one, is_row)), Some((mut two, _))) = (whole(target.item), whole(other)) else {
        let fact = tr!("\"{title}\" is not in a list", title = target.item.title);
        return Err(conflict_error(Message::new(fact).with_hint(tr!("move it by hand"))));
    };
    let numbers = (leading_number(text, &one), leading_number(text, &two));
    if let (Some(first), Some(second)) = numbers
        && first.len() == second.len()
        && !is_row
    {
        (one.start, two.start) = (first.end, second.end);
    }
    Ok(super::exchange_ranges(text, one, two))
}

/// One list item with its nested content, or one row of a table.
struct ItemBlock {
    /// The list or table that contains it.
    list: usize,
    is_row: bool,
    range: Range<usize>,
}

fn item_blocks(text: &str) -> Vec<ItemBlock> {
    let source = MarkdownSource::new(text);
    let (mut open, mut lists, mut found) = (Vec::new(), 0, Vec::new());
    for (event, range) in Parser::new_ext(source.spread(), MARKDOWN_OPTIONS).into_offset_iter() {
        match event {
            Event::Start(Tag::List(_) | Tag::Table(_)) => {
                open.push(lists);
                lists += 1;
            }
            Event::End(TagEnd::List(_) | TagEnd::Table) => {
                open.pop();
            }
            Event::Start(tag @ (Tag::Item | Tag::TableRow)) => {
                let (list, is_row) = (open.last().copied().unwrap_or_default(), tag == Tag::TableRow);
                found.push(ItemBlock { list, is_row, range: source.original(range) });
            }
            _ => {}
        }
    }
    found
}

/// The innermost block around an item.
fn enclosing_block<'a>(blocks: &'a [ItemBlock], item: &PlanItem) -> Option<&'a ItemBlock> {
    blocks.iter().filter(|it| it.range.contains(&item.place.range.start)).min_by_key(|it| it.range.len())
}

/// The lines of a range up to the last non-empty one, without the final line end.
fn whole_lines(text: &str, range: &Range<usize>) -> Range<usize> {
    let start = text.get(..range.start).and_then(|it| it.rfind('\n')).map_or(0, |at| at + 1);
    let start = start.max(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 });
    let trimmed_len = text.get(range.clone()).unwrap_or_default().trim_end().len();
    let rest = text.get(range.start + trimmed_len..).unwrap_or_default();
    let end = range.start + trimmed_len + rest.find('\n').unwrap_or(rest.len());
    let carriage = usize::from(text.get(..end).is_some_and(|it| it.ends_with('\r')));
    start..(end - carriage).max(range.start + trimmed_len)
}

/// The leading digits of an item.
fn leading_number(text: &str, block: &Range<usize>) -> Option<Range<usize>> {
    let line = text.get(block.clone())?;
    let bare = line.trim_start_matches([' ', '\t']);
    let digits = bare.len() - bare.trim_start_matches(|it: char| it.is_ascii_digit()).len();
    let start = block.start + line.len() - bare.len();
    (digits > 0).then_some(start..start + digits)
}
