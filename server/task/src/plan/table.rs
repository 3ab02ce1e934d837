//! Reads tables with a column for the status as plans: every row is an item. A table with an unknown status is not a
//! plan.

use std::ops::Range;

use super::super::grammar::{self, ItemMode};
use super::super::item::{ByteOrigin as Bytes, InlineContent};
use super::super::outline::TaskOutline;
use super::super::source::MarkdownSource;
use super::push_item;

const STATUS_COLUMNS: [&str; 6] = ["status", "state", "done", "done?", "状态", "完成"];
/// Columns that never contain what is to be done.
const OTHER_COLUMNS: [&str; 14] = [
    "",
    "#",
    "id",
    "no",
    "no.",
    "nr",
    "priority",
    "prio",
    "phase",
    "owner",
    "date",
    "序号",
    "编号",
    "优先级",
];

const DONE_WORDS: [&str; 15] = [
    "done",
    "complete",
    "completed",
    "finished",
    "closed",
    "yes",
    "✅",
    "☑",
    "✔",
    "✓",
    "[x]",
    "x",
    "已完成",
    "完成",
    "是",
];
const DROPPED_WORDS: [&str; 8] =
    ["skipped", "cancelled", "canceled", "dropped", "deferred", "n/a", "已取消", "跳过"];
const OPEN_WORDS: [&str; 32] = [
    "todo",
    "to do",
    "to-do",
    "open",
    "pending",
    "planned",
    "blocked",
    "doing",
    "wip",
    "started",
    "in progress",
    "in-progress",
    "in_progress",
    "not started",
    "not done",
    "partial",
    "next",
    "no",
    "❌",
    "⬜",
    "🔲",
    "☐",
    "🚧",
    "⏳",
    "🔄",
    "[ ]",
    "[~]",
    "待办",
    "待完成",
    "进行中",
    "未开始",
    "未完成",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowStatus {
    Done,
    Open,
    Dropped,
}

pub(in super::super) fn take_table(
    out: &mut TaskOutline,
    source: &MarkdownSource<'_>,
    range: Range<usize>,
    optional: bool,
) {
    for (title, status) in rows(source.slice(&range), range.start).unwrap_or_default() {
        let text = source.slice(&title);
        let inline = InlineContent::of_plain(text, &Bytes::At(title.start));
        let read = grammar::parse_item(&inline, ItemMode::PlanBox);
        push_item(out, &read, &inline, status == RowStatus::Done, optional || status == RowStatus::Dropped);
    }
}

/// The titles of the rows, in bytes of the document, each with its status. `None`: no plan.
fn rows(table: &str, start: usize) -> Option<Vec<(Range<usize>, RowStatus)>> {
    let mut lines = line_ranges(table);
    let header = cells(table, lines.next()?);
    let names: Vec<String> =
        header.iter().filter_map(|it| Some(normalised(table.get(it.clone())?))).collect();
    let status_at = names.iter().position(|it| STATUS_COLUMNS.contains(&it.as_str()))?;
    let title_at = (0..names.len()).find(|at| {
        *at != status_at && names.get(*at).is_some_and(|it| !OTHER_COLUMNS.contains(&it.as_str()))
    })?;
    let mut rows = Vec::new();
    // Below the header is the delimiter row.
    for line in lines.skip(1) {
        let cells = cells(table, line);
        let (Some(title), Some(status)) = (cells.get(title_at), cells.get(status_at)) else { continue };
        if title.is_empty() {
            continue;
        }
        let status = status_of(table.get(status.clone())?)?;
        rows.push((title.start + start..title.end + start, status));
    }
    Some(rows)
}

fn line_ranges(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        start..start + line.trim_end().len()
    })
}

/// The trimmed cells of a row, at their bytes. A pipe after a backslash is text.
fn cells(table: &str, line: Range<usize>) -> Vec<Range<usize>> {
    let row = table.get(line.clone()).unwrap_or_default();
    let row_start = line.start + (row.len() - row.trim_start().len());
    let row = row.trim();
    let begins = usize::from(row.starts_with('|'));
    let mut cells = Vec::new();
    let (mut from, mut escaped) = (begins, false);
    for (at, byte) in row.bytes().enumerate().skip(begins) {
        if byte == b'|' && !escaped {
            cells.push(trim_range(row, from..at, row_start));
            from = at + 1;
        }
        escaped = byte == b'\\' && !escaped;
    }
    if from < row.len() {
        cells.push(trim_range(row, from..row.len(), row_start));
    }
    cells
}

fn trim_range(row: &str, range: Range<usize>, row_start: usize) -> Range<usize> {
    let text = row.get(range.clone()).unwrap_or_default();
    let start = row_start + range.start + (text.len() - text.trim_start().len());
    start..start + text.trim().len()
}

/// Removes emphasis and converts to lower case.
fn normalised(cell: &str) -> String {
    cell.trim().trim_matches(['*', '_', '`', ':']).trim().to_lowercase()
}

/// `✅ Done (2 of 2)` is decided by its sign, `done - yesterday` by the words before the dash. `None`: not known.
fn status_of(cell: &str) -> Option<RowStatus> {
    let text = normalised(cell).replace('\u{fe0f}', "");
    let end = text.find(['(', '（', ',', '，', ':', '：', '–', '—']).or_else(|| text.find(" - "));
    let text = text.get(..end.unwrap_or(text.len()))?.trim();
    if let Some(percent) = text.strip_suffix('%').and_then(|it| it.trim().parse::<u32>().ok()) {
        return Some(if percent >= 100 { RowStatus::Done } else { RowStatus::Open });
    }
    let sign = text.split(|it: char| it.is_alphanumeric() || it.is_whitespace()).next()?;
    [sign, text].into_iter().filter(|it| !it.is_empty() || text.is_empty()).find_map(known_status)
}

fn known_status(word: &str) -> Option<RowStatus> {
    if word.is_empty() || OPEN_WORDS.contains(&word) {
        Some(RowStatus::Open)
    } else if DONE_WORDS.contains(&word) {
        Some(RowStatus::Done)
    } else {
        DROPPED_WORDS.contains(&word).then_some(RowStatus::Dropped)
    }
}
