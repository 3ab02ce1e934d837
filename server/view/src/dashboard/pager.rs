//! Screens that scroll: details, output and patch; and the list of keys.

use super::{DashboardLine, DashboardLoop, DashboardStyle};

/// The lines below the first `scroll`; the last line never leaves the screen.
pub(super) fn window(lines: Vec<DashboardLine>, scroll: usize, rows: usize) -> Vec<DashboardLine> {
    let first = scroll.min(lines.len().saturating_sub(rows));
    lines.into_iter().skip(first).take(rows).collect()
}

/// The end of the agent's output, `scroll` lines further up.
pub(super) fn output(shown: &DashboardLoop, scroll: usize, rows: usize) -> Vec<DashboardLine> {
    let mut lines = vec![heading(shown, "output")];
    if shown.output.is_empty() {
        lines.push(DashboardLine::of(
            DashboardStyle::Quiet,
            " The agent has printed nothing in this iteration.",
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

pub(super) fn patch(
    shown: &DashboardLoop,
    patch: &[String],
    scroll: usize,
    rows: usize,
) -> Vec<DashboardLine> {
    let mut lines = vec![heading(shown, "changes")];
    let body = patch.iter().map(|it| DashboardLine::of(patch_style(it), format!(" {it}"))).collect();
    lines.extend(window(body, scroll, rows.saturating_sub(1)));
    lines
}

fn patch_style(line: &str) -> DashboardStyle {
    match line.as_bytes().first() {
        _ if line.starts_with("+++") || line.starts_with("---") || line.starts_with("diff ") => {
            DashboardStyle::Loud
        }
        Some(b'+') => DashboardStyle::Good,
        Some(b'-') => DashboardStyle::Bad,
        Some(b'@') => DashboardStyle::Quiet,
        _ => DashboardStyle::Plain,
    }
}

fn heading(shown: &DashboardLoop, what: &str) -> DashboardLine {
    DashboardLine::of(DashboardStyle::Loud, format!(" {}", shown.title()))
        .and(DashboardStyle::Quiet, format!(" · {what}"))
}

const KEYS: [(&str, &str); 12] = [
    ("↑ ↓ or k j", "select a loop, scroll"),
    ("PgUp PgDn", "scroll by ten lines"),
    ("g G", "first, last"),
    ("Enter", "details of the selected loop"),
    ("Esc", "back"),
    ("o", "output of the agent"),
    ("d", "changes of the loop"),
    ("a", "answer the loop's question"),
    ("p", "pause after the iteration, or continue"),
    ("s", "stop the loop; asks first"),
    ("Ctrl-Z", "suspend this view"),
    ("q", "leave; loops continue"),
];

pub(super) fn help() -> Vec<DashboardLine> {
    let mut lines = vec![DashboardLine::of(DashboardStyle::Loud, " Keys"), DashboardLine::default()];
    lines.extend(KEYS.iter().map(|(key, what)| {
        DashboardLine::of(DashboardStyle::Care, format!(" {key:<12}")).and(DashboardStyle::Plain, *what)
    }));
    lines
}
