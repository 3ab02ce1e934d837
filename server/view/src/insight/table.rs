//! The figures as a plain table for a terminal.

use std::fmt::Write as _;

use loopkeeper_text::words::{self, counted};
use loopkeeper_text::{sanitize, truncate};

use super::{Insight, LoopFigures};

/// Of a name in the first column.
const NAME_BYTES: usize = 48;
pub(super) const LOOP_COLUMNS: [&str; 7] =
    ["loops", "verified", "tasks", "cost", "cost known", "per verified task", "time"];
pub(super) const ITERATION_COLUMNS: [&str; 5] = ["iterations", "share", "time", "cost", "cost known"];

/// Lines, without colours.
pub fn table(insight: &Insight) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", headline(insight));
    let _ = writeln!(out, "{}", denominators(insight));
    for (title, groups) in
        [("by agent", &insight.agents), ("by model", &insight.models), ("by project", &insight.projects)]
    {
        if groups.is_empty() {
            continue;
        }
        let mut rows = vec![row(title, LOOP_COLUMNS.map(str::to_owned))];
        rows.extend(groups.iter().map(|it| row(&name_of(it), loop_cells(it))));
        let _ = write!(out, "\n{}", aligned(&rows));
    }
    if insight.iterations.count > 0 {
        let mut rows = vec![row("what iterations bought", ITERATION_COLUMNS.map(str::to_owned))];
        rows.extend(iteration_rows(insight).into_iter().map(|(name, cells)| row(name, cells)));
        let _ = write!(out, "\n{}", aligned(&rows));
        let waits = insight.iterations.waits_ms;
        if waits > 0 {
            let _ = writeln!(out, "Waits between iterations: {}.", words::duration(waits));
        }
    }
    if let Some(sentence) = insight.feedback.sentence() {
        let _ = writeln!(out, "{sentence}");
    }
    for it in &insight.left_out {
        let _ = writeln!(out, "Left out: {}, {}", it.loop_id, sanitize::line(&it.why));
    }
    out
}

/// `$2.40 for each verified task: $4.80 in all, 2 tasks verified.`
pub(super) fn headline(insight: &Insight) -> String {
    let total = &insight.total;
    let tasks = format!("{} verified", counted(total.verified_tasks, "task"));
    match total.cost_per_verified_micros {
        Some(each) => {
            let each = words::capitalised(&bounded(total, each));
            format!("{each} for each verified task: {} in all, {tasks}.", spent(total))
        }
        None => format!("No cost for each verified task: {} in all, {tasks}.", spent(total)),
    }
}

/// What the figures are of.
pub(super) fn denominators(insight: &Insight) -> String {
    let total = &insight.total;
    let open = if total.open_loops > 0 { format!(", {} not ended", total.open_loops) } else { String::new() };
    let left_out = match insight.left_out_count {
        0 => String::new(),
        count => format!("; {} cannot be read and left out", counted(count, "loop")),
    };
    let since = insight.since.as_ref().map(|it| format!(" since {it}")).unwrap_or_default();
    format!(
        "{}{since}{open}, {} verified; cost known for {} of {}{left_out}.",
        counted(total.loops, "loop"),
        total.verified_loops,
        total.cost_known_loops,
        counted(total.loops, "loop"),
    )
}

pub(super) fn loop_cells(it: &LoopFigures) -> [String; 7] {
    [
        it.loops.to_string(),
        it.verified_loops.to_string(),
        it.verified_tasks.to_string(),
        spent(it),
        format!("{} of {}", it.cost_known_loops, it.loops),
        it.cost_per_verified_micros.map_or_else(|| "-".to_owned(), |each| bounded(it, each)),
        words::duration(it.duration_ms),
    ]
}

pub(super) fn iteration_rows(insight: &Insight) -> [(&'static str, [String; 5]); 4] {
    insight.iterations.rows().map(|(name, it)| {
        let cost = if it.cost_known == 0 { "-".to_owned() } else { words::cost(it.cost_micros) };
        let cells = [
            it.count.to_string(),
            format!("{} %", it.percent),
            words::duration(it.duration_ms),
            cost,
            format!("{} of {}", it.cost_known, it.count),
        ];
        (name, cells)
    })
}

fn spent(it: &LoopFigures) -> String {
    if it.cost_known_loops == 0 && it.cost_micros == 0 && it.loops > 0 {
        return "unknown".to_owned();
    }
    bounded(it, it.cost_micros)
}

/// `at least $2.40` where some cost is unknown.
fn bounded(of: &LoopFigures, micros: u64) -> String {
    let at_least = if of.is_at_least() { "at least " } else { "" };
    format!("{at_least}{}", words::cost(micros))
}

pub(super) fn name_of(it: &LoopFigures) -> String {
    it.name.as_deref().unwrap_or_default().to_owned()
}

fn row<const N: usize>(name: &str, cells: [String; N]) -> Vec<String> {
    // The end of a path says which project it is.
    let short = truncate::last(name, NAME_BYTES);
    let name = if short.len() < name.len() { format!("…{short}") } else { short.to_owned() };
    std::iter::once(name).chain(cells).collect()
}

/// The first column to the left, the others to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|at| rows.iter().filter_map(|it| it.get(at)).map(|it| words::width(it)).max().unwrap_or(0))
        .collect();
    let mut out = String::new();
    for cells in rows {
        let mut line = String::new();
        for (at, (cell, max)) in cells.iter().zip(&widths).enumerate() {
            let pad = " ".repeat(max.saturating_sub(words::width(cell)));
            let parts: [&str; 3] = if at == 0 { [cell, &pad, ""] } else { ["  ", &pad, cell] };
            line.extend(parts);
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}
