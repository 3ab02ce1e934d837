//! Finds labelled lines in the agent's message: decisions and learnings that are kept, and notes.

use super::prose::is_cjk;
use super::prose_mask::MessageLine;
use loopkeeper_text::sanitize;

/// Maximum length of a decision or a note.
const MARKED_CHARS: usize = 300;
const MAX_DECISIONS: usize = 16;
const MAX_NOTES: usize = 8;

const DECISIONS: &[&str] = &[
    "decision",
    "decisions",
    "key decision",
    "key decisions",
    "decided",
    "learned",
    "learnt",
    "learning",
    "learnings",
    "lesson",
    "lessons",
    "lessons learned",
    "决定",
    "决策",
    "经验",
    "学到",
    "教训",
];
const NOTES: &[&str] = &["note", "notes", "progress notes", "备注", "注意"];

#[derive(Debug, Default)]
pub(super) struct LabelledLines {
    pub(super) decisions: Vec<String>,
    pub(super) notes: Vec<String>,
}

/// `DECISION: …` alone on its line, or a label with the list below it. `masked` marks what is quoted.
pub(super) fn find_labelled(text: &str, masked: &str, lines: &[MessageLine<'_>]) -> LabelledLines {
    let mut out = LabelledLines::default();
    let mut open: Option<&[&str]> = None;
    for line in lines {
        let is_spoken = masked.get(line.range.clone()).is_some_and(|it| !it.trim().is_empty());
        let whole = if is_spoken { text.get(line.range.clone()).unwrap_or_default() } else { "" };
        let (item, bullet) = without_bullet(whole);
        if let Some((labels, value)) = split_label(item) {
            open = value.is_empty().then_some(labels);
            out.add_entry(labels, value);
        } else if item.is_empty() {
            // A blank line may separate a label and its list.
        } else if let Some(labels) = open.filter(|_| bullet) {
            out.add_entry(labels, item);
        } else {
            open = None;
        }
    }
    out
}

impl LabelledLines {
    fn add_entry(&mut self, labels: &[&str], value: &str) {
        let (list, max) = if labels == DECISIONS {
            (&mut self.decisions, MAX_DECISIONS)
        } else {
            (&mut self.notes, MAX_NOTES)
        };
        let value = sanitize::line_within(value, MARKED_CHARS);
        let is_placeholder =
            value.starts_with('<') && value.ends_with('>') || matches!(value.as_str(), "…" | "...");
        if list.len() < max && !value.is_empty() && !is_placeholder && !list.contains(&value) {
            list.push(value);
        }
    }
}

fn without_bullet(line: &str) -> (&str, bool) {
    let start = line.trim().trim_start_matches('#').trim_start();
    let item = start.strip_prefix(['-', '+', '•']).or_else(|| start.strip_prefix("* "));
    item.map_or((start, false), |it| (it.trim(), true))
}

fn split_label(line: &str) -> Option<(&'static [&'static str], &str)> {
    let decoration = |c: char| c.is_whitespace() || matches!(c, '*' | '_');
    let (label, value) = line.trim_start_matches(decoration).split_once([':', '：'])?;
    let label = label.trim_matches(decoration).to_lowercase();
    let labels = [DECISIONS, NOTES].into_iter().find(|it| it.contains(&label.as_str()))?;
    let value = value.trim_start_matches(['*', '_', ' ']).trim_end();
    let is_value = value.is_empty() || line.contains([' ', '：']) || value.starts_with(is_cjk);
    is_value.then_some((labels, value))
}
