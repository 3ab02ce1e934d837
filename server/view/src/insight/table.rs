//! The figures as a plain table for a terminal.

use std::fmt::Write as _;

use crate::sentences;
use loopkeeper_text::clauses;
use loopkeeper_text::language::translate;
use loopkeeper_text::words::{self, counted};
use loopkeeper_text::{sanitize, truncate};
use loopkeeper_text::{tr, tr_later};

use super::{Insight, LoopFigures, UNKNOWN_MODEL};

/// Maximum length of a name in the first column.
const NAME_BYTES: usize = 48;
pub(super) const LOOP_COLUMNS: [&str; 7] = [
    tr_later!("loops"),
    tr_later!("verified"),
    tr_later!("tasks"),
    tr_later!("cost"),
    tr_later!("cost known"),
    tr_later!("per verified task"),
    tr_later!("time"),
];
pub(super) const ITERATION_COLUMNS: [&str; 5] = [
    tr_later!("iterations"),
    tr_later!("share"),
    tr_later!("time"),
    tr_later!("cost"),
    tr_later!("cost known"),
];

/// Lines, without colours.
pub fn table(insight: &Insight) -> String {
    if insight.total.loops == 0 && insight.left_out_count == 0 {
        return sentences::sentence(&no_loops(insight)) + "\n";
    }
    let mut out = String::new();
    let _ = writeln!(out, "{}", headline(insight));
    let _ = writeln!(out, "{}", denominators(insight));
    for (title, groups) in [
        (tr!("by agent"), &insight.agents),
        (tr!("by model"), &insight.models),
        (tr!("by project"), &insight.projects),
    ] {
        if groups.is_empty() {
            continue;
        }
        let mut rows = vec![row(title, LOOP_COLUMNS.map(|it| translate(it).to_owned()))];
        rows.extend(groups.iter().map(|it| row(&name_of(it), loop_cells(it))));
        let _ = write!(out, "\n{}", align(&rows));
    }
    if insight.iterations.count > 0 {
        let mut rows =
            vec![row(tr!("what iterations bought"), ITERATION_COLUMNS.map(|it| translate(it).to_owned()))];
        rows.extend(iteration_rows(insight).into_iter().map(|(name, cells)| row(name, cells)));
        let _ = write!(out, "\n{}", align(&rows));
        let waits = insight.iterations.waits_ms;
        if waits > 0 {
            let _ = writeln!(
                out,
                "{}",
                tr!("Waits between iterations: {duration}.", duration = words::duration(waits))
            );
        }
    }
    if let Some(sentence) = insight.feedback.sentence() {
        let _ = writeln!(out, "{sentence}");
    }
    for it in &insight.left_out {
        let _ =
            writeln!(out, "{}", tr!("Left out: {id}, {why}", id = it.loop_id, why = sanitize::line(&it.why)));
    }
    out
}

fn no_loops(insight: &Insight) -> String {
    match &insight.since {
        Some(since) => tr!("No loop since {since}", since),
        None => tr!("No loop yet").to_owned(),
    }
}

/// `$2.40 for each verified task: $4.80 in all, 2 tasks verified.`
pub(super) fn headline(insight: &Insight) -> String {
    let total = &insight.total;
    let tasks = counted(total.verified_tasks, "task");
    let spent = describe_spending(total);
    match total.cost_per_verified_micros {
        Some(each) => {
            let cost = words::capitalised(&cost_bound(total, each));
            tr!("{cost} for each verified task: {spent} in all, {tasks} verified.", cost, spent, tasks)
        }
        None if total.verified_tasks > 0 => {
            tr!(
                "The cost for each verified task is unknown, because no agent reported one: {tasks} verified.",
                tasks
            )
        }
        None if total.cost_known_loops == 0 => tr!("No task is verified yet.").to_owned(),
        None => tr!("No task is verified yet: {spent} in all.", spent),
    }
}

/// The scope of the figures.
pub(super) fn denominators(insight: &Insight) -> String {
    let total = &insight.total;
    let loops = counted(total.loops, "loop");
    let counted_loops = match &insight.since {
        Some(since) => tr!("{loops} since {since}", loops, since),
        None => loops.clone(),
    };
    let open = (total.open_loops > 0).then(|| tr!("{count} not ended", count = total.open_loops));
    let verified = tr!("{count} verified", count = total.verified_loops);
    let counts = clauses::join_with_commas([Some(counted_loops), open, Some(verified)].into_iter().flatten());
    let known = total.cost_known_loops;
    let known = tr!("{counts}; cost known for {known} of {loops}", counts, known, loops);
    sentences::sentence(&match insight.left_out_count {
        0 => known,
        1 => clauses::append_clause(&known, tr!("1 loop cannot be read and is left out")),
        count => {
            let next = tr!("{loops} cannot be read and are left out", loops = counted(count, "loop"));
            clauses::append_clause(&known, &next)
        }
    })
}

pub(super) fn loop_cells(it: &LoopFigures) -> [String; 7] {
    [
        it.loops.to_string(),
        it.verified_loops.to_string(),
        it.verified_tasks.to_string(),
        describe_spending(it),
        tr!("{known} of {total}", known = it.cost_known_loops, total = it.loops),
        it.cost_per_verified_micros.map_or_else(|| "-".to_owned(), |each| cost_bound(it, each)),
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
            tr!("{known} of {total}", known = it.cost_known, total = it.count),
        ];
        (translate(name), cells)
    })
}

fn describe_spending(it: &LoopFigures) -> String {
    if it.cost_known_loops == 0 && it.cost_micros == 0 && it.loops > 0 {
        return tr!("unknown").to_owned();
    }
    cost_bound(it, it.cost_micros)
}

/// `at least $2.40` where some cost is unknown.
fn cost_bound(of: &LoopFigures, micros: u64) -> String {
    let cost = words::cost(micros);
    if of.is_at_least() { tr!("at least {cost}", cost) } else { cost }
}

pub(super) fn name_of(it: &LoopFigures) -> String {
    match it.name.as_deref().unwrap_or_default() {
        UNKNOWN_MODEL => tr!("unknown").to_owned(),
        name => name.to_owned(),
    }
}

fn row<const N: usize>(name: &str, cells: [String; N]) -> Vec<String> {
    // The end of a path says which project it is.
    let short = truncate::last_bytes(name, NAME_BYTES);
    let name = if short.len() < name.len() { format!("…{short}") } else { short.to_owned() };
    std::iter::once(name).chain(cells).collect()
}

/// The first column to the left, the others to the right.
fn align(rows: &[Vec<String>]) -> String {
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
