//! The list of loops: one row each, and below it the selected loop in a few lines.

use super::line::wrap;
use super::{Dashboard, DashboardLine, DashboardLoop, DashboardStyle};
use crate::cells::padded;
use crate::headline::state_word;
use crate::{BreakerStatus, DisplayState};
use loopkeeper_core::check::Status;
use loopkeeper_core::journal::BreakerState;
use loopkeeper_text::clauses;
use loopkeeper_text::tr;
use loopkeeper_text::words;

/// `Breaker open` and a space.
const STATE_CELLS: usize = 13;
const ITERATION_CELLS: usize = 8;
const CRITERIA_CELLS: usize = 14;
const BREAKER_CELLS: usize = 10;
const BUDGET_CELLS: usize = 15;
/// The widths from which a column is shown.
const CRITERIA_FROM: usize = 60;
const BREAKER_FROM: usize = 80;
const BUDGET_FROM: usize = 96;
/// Lines of the selected loop below the list, and the height from which they are shown.
const PREVIEW_ROWS: usize = 5;
const PREVIEW_FROM: usize = 12;

pub(super) fn lines(view: &Dashboard, columns: usize, rows: usize) -> Vec<DashboardLine> {
    let mut lines = vec![summary(view), headings(columns)];
    if view.loops.is_empty() {
        lines.push(DashboardLine::of(
            DashboardStyle::Plain,
            tr!("No loops. `loopkeeper run` starts one, `loopkeeper demo` shows one."),
        ));
        return lines;
    }
    let preview_rows = if rows >= PREVIEW_FROM { PREVIEW_ROWS } else { 0 };
    let room = rows.saturating_sub(lines.len() + preview_rows).max(1);
    let position = view.position();
    // The selected row is always visible.
    let first = (position + 1).saturating_sub(room);
    let visible = view.loops.iter().enumerate().skip(first).take(room);
    lines.extend(visible.map(|(index, it)| row(it, index == position, columns)));
    if preview_rows > 0
        && let Some(current) = view.current()
    {
        lines.push(DashboardLine::default());
        lines.extend(preview(current, columns).into_iter().take(preview_rows - 1));
    }
    lines
}

/// `3 loops: 1 working, 1 needs you, 1 done`
fn summary(view: &Dashboard) -> DashboardLine {
    let states = [DisplayState::Working, DisplayState::NeedsYou, DisplayState::Paused, DisplayState::Done];
    let count = |state: DisplayState| view.loops.iter().filter(|it| it.status.state == state).count();
    let counts = states.into_iter().map(|state| (count(state), state));
    let counts: Vec<_> =
        counts.filter(|(count, _)| *count > 0).map(|(count, state)| counted(count, state)).collect();
    let loops = words::counted(view.loops.len() as u64, "loop");
    let text = if counts.is_empty() {
        loops
    } else {
        tr!("{loops}: {counts}", loops, counts = clauses::list(&counts))
    };
    DashboardLine::of(DashboardStyle::Bold, format!(" {text}"))
}

fn counted(count: usize, state: DisplayState) -> String {
    match (state, count) {
        (DisplayState::NeedsYou, 2..) => tr!("{count} need you", count),
        _ => tr!("{count} {state}", count, state = state_word(state).to_lowercase()),
    }
}

fn headings(columns: usize) -> DashboardLine {
    let mut text = format!("   {}", padded(tr!("STATE"), STATE_CELLS));
    text += &padded(tr!("TASK"), title_cells(columns));
    text += &padded(tr!("ITER"), ITERATION_CELLS);
    if columns >= CRITERIA_FROM {
        text += &padded(tr!("CRITERIA"), CRITERIA_CELLS);
    }
    if columns >= BREAKER_FROM {
        text += &padded(tr!("BREAKER"), BREAKER_CELLS);
    }
    if columns >= BUDGET_FROM {
        text += &padded(tr!("BUDGET"), BUDGET_CELLS);
    }
    DashboardLine::of(DashboardStyle::Dim, text.trim_end())
}

/// The title's column has the width that the others leave.
fn title_cells(columns: usize) -> usize {
    let others = [
        (0, 3 + STATE_CELLS + ITERATION_CELLS),
        (CRITERIA_FROM, CRITERIA_CELLS),
        (BREAKER_FROM, BREAKER_CELLS),
        (BUDGET_FROM, BUDGET_CELLS),
    ];
    let taken: usize = others.iter().filter(|(from, _)| columns >= *from).map(|(_, cells)| cells).sum();
    columns.saturating_sub(taken).max(8)
}

fn row(shown: &DashboardLoop, is_selected: bool, columns: usize) -> DashboardLine {
    let status = &shown.status;
    let style = |style| if is_selected { DashboardStyle::Selected } else { style };
    let plain = style(DashboardStyle::Plain);
    let title_room = title_cells(columns);
    let title = match &shown.folder {
        Some(folder) => tr!("{title} in {folder}", title = shown.title(), folder),
        None => shown.title().to_owned(),
    };
    let mark = if is_selected { " ▸ " } else { "   " };
    let state = padded(state_label(shown), STATE_CELLS);
    let mut line = DashboardLine::of(plain, mark)
        .and(style(state_style(shown)), state)
        .and(plain, padded(&title, title_room.saturating_sub(1)) + " ")
        .and(plain, padded(&format!("{}/{}", status.iteration, status.limits.iterations), ITERATION_CELLS));
    if columns >= CRITERIA_FROM {
        line = criteria(line, shown, is_selected);
    }
    if columns >= BREAKER_FROM {
        let (text, breaker_style) = breaker(&status.breaker, &shown.band);
        line = line.and(style(breaker_style), padded(&text, BREAKER_CELLS));
    }
    if columns >= BUDGET_FROM {
        line = line.and(style(DashboardStyle::Dim), padded(&shown.most_used, BUDGET_CELLS));
    }
    line
}

/// One symbol per criterion if they fit, else the count.
fn criteria(line: DashboardLine, shown: &DashboardLoop, is_selected: bool) -> DashboardLine {
    let items = &shown.status.criteria.items;
    if items.len() >= CRITERIA_CELLS {
        let text = padded(&shown.status.criteria.brief, CRITERIA_CELLS);
        let style = if is_selected { DashboardStyle::Selected } else { DashboardStyle::Plain };
        return line.and(style, text);
    }
    let symbols = items.iter().fold(line, |line, item| {
        let (symbol, style) = match item.status {
            Some(Status::Pass) => ("✓", DashboardStyle::Success),
            Some(Status::Unverified) | None => ("·", DashboardStyle::Dim),
            Some(_) => ("✗", DashboardStyle::Failure),
        };
        line.and(if is_selected { DashboardStyle::Selected } else { style }, symbol)
    });
    let style = if is_selected { DashboardStyle::Selected } else { DashboardStyle::Plain };
    symbols.and(style, " ".repeat(CRITERIA_CELLS - items.len()))
}

fn breaker(breaker: &BreakerStatus, band: &str) -> (String, DashboardStyle) {
    match breaker.state {
        BreakerState::Open => (tr!("open" @ "breaker").to_owned(), DashboardStyle::Failure),
        BreakerState::HalfOpen => (tr!("trying").to_owned(), DashboardStyle::Warning),
        BreakerState::Closed if breaker.counts.no_progress > 0 => (band.to_owned(), DashboardStyle::Warning),
        BreakerState::Closed => (band.to_owned(), DashboardStyle::Dim),
    }
}

fn preview(shown: &DashboardLoop, columns: usize) -> Vec<DashboardLine> {
    let mut lines: Vec<DashboardLine> = wrap(&shown.headline, columns.saturating_sub(2))
        .into_iter()
        .take(2)
        .map(|it| DashboardLine::of(DashboardStyle::Bold, format!(" {it}")))
        .collect();
    lines.push(DashboardLine::of(DashboardStyle::Dim, format!(" {}", shown.budget)));
    let activity = shown.status.activity.as_deref().or(shown.output.back().map(String::as_str));
    lines.extend(activity.map(|it| DashboardLine::of(DashboardStyle::Plain, format!(" {it}"))));
    lines
}

fn state_label(shown: &DashboardLoop) -> &'static str {
    if shown.status.is_cooling() {
        return tr!("Breaker open");
    }
    match &shown.status.outcome {
        Some(outcome) if outcome.verified => tr!("Verified"),
        Some(_) => tr!("Ended"),
        None => state_word(shown.status.state),
    }
}

fn state_style(shown: &DashboardLoop) -> DashboardStyle {
    match (shown.status.state, &shown.status.outcome) {
        (_, Some(outcome)) if outcome.verified => DashboardStyle::Success,
        (_, Some(_)) => DashboardStyle::Dim,
        (DisplayState::Working, _) if !shown.status.is_cooling() => DashboardStyle::Bold,
        _ => DashboardStyle::Warning,
    }
}
