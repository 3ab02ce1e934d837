//! Screens that scroll: details, output and patch; and the list of keys.

use super::{DashboardLine, DashboardLoop, DashboardStyle};
use crate::cells::padded;
use loopkeeper_text::language::translate;
use loopkeeper_text::{tr, tr_later};

/// The lines below the first `scroll`; the last line never leaves the screen.
pub(super) fn window(lines: Vec<DashboardLine>, scroll: usize, rows: usize) -> Vec<DashboardLine> {
    let first = scroll.min(lines.len().saturating_sub(rows));
    lines.into_iter().skip(first).take(rows).collect()
}

/// The end of the agent's output, `scroll` lines further up.
pub(super) fn output(shown: &DashboardLoop, scroll: usize, rows: usize) -> Vec<DashboardLine> {
    let mut lines = vec![heading(shown, tr!("output"))];
    if shown.output.is_empty() {
        lines.push(DashboardLine::of(
            DashboardStyle::Dim,
            format!(" {}", tr!("The agent has printed nothing in this iteration.")),
        ));
        return lines;
    }
    let room = rows.saturating_sub(lines.len());
    let last = shown.output.len().saturating_sub(scroll).max(room.min(shown.output.len()));
    let first = last.saturating_sub(room);
    let visible = shown.output.iter().skip(first).take(last - first);
    lines.extend(visible.map(|it| DashboardLine::of(DashboardStyle::Plain, format!(" {it}"))));
    lines
}

/// The number of lines that do not fit below the heading.
pub(super) fn lines_beyond(lines: usize, rows: usize) -> usize {
    lines.saturating_sub(rows.saturating_sub(1))
}

pub(super) fn patch(
    shown: &DashboardLoop,
    patch: &[String],
    scroll: usize,
    rows: usize,
) -> Vec<DashboardLine> {
    let mut lines = vec![heading(shown, tr!("changes"))];
    let body = patch.iter().map(|it| DashboardLine::of(patch_style(it), format!(" {it}"))).collect();
    lines.extend(window(body, scroll, rows.saturating_sub(1)));
    lines
}

fn patch_style(line: &str) -> DashboardStyle {
    match line.as_bytes().first() {
        _ if line.starts_with("+++") || line.starts_with("---") || line.starts_with("diff ") => {
            DashboardStyle::Bold
        }
        Some(b'+') => DashboardStyle::Success,
        Some(b'-') => DashboardStyle::Failure,
        Some(b'@') => DashboardStyle::Dim,
        _ => DashboardStyle::Plain,
    }
}

fn heading(shown: &DashboardLoop, what: &str) -> DashboardLine {
    DashboardLine::of(DashboardStyle::Bold, format!(" {}", shown.title()))
        .and(DashboardStyle::Dim, format!(" · {what}"))
}

/// Width of the first column of the list of keys.
const KEY_CELLS: usize = 12;

const KEYS: [(&str, &str); 12] = [
    (tr_later!("↑ ↓ or k j"), tr_later!("select a loop, scroll")),
    ("PgUp PgDn", tr_later!("scroll by ten lines")),
    ("g G", tr_later!("first, last")),
    ("Enter", tr_later!("details of the selected loop")),
    ("Esc", tr_later!("back")),
    ("o", tr_later!("output of the agent")),
    ("d", tr_later!("changes of the loop")),
    ("a", tr_later!("answer the loop's question")),
    ("p", tr_later!("pause after the iteration, or continue")),
    ("s", tr_later!("stop the loop; asks first")),
    ("Ctrl-Z", tr_later!("suspend this view")),
    ("q", tr_later!("leave; loops continue")),
];

pub(super) fn help() -> Vec<DashboardLine> {
    let mut lines =
        vec![DashboardLine::of(DashboardStyle::Bold, format!(" {}", tr!("Keys"))), DashboardLine::default()];
    lines.extend(KEYS.iter().map(|(key, what)| {
        DashboardLine::of(DashboardStyle::Warning, format!(" {}", padded(translate(key), KEY_CELLS)))
            .and(DashboardStyle::Plain, translate(what))
    }));
    lines
}
