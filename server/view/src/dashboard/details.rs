//! The screen of one loop: its sentence, budget, question, criteria over iterations, decisions and the end of its
//! output.

use super::line::wrap;
use super::{DashboardLine, DashboardLoop, DashboardStyle};
use loopkeeper_text::tr;

const OUTPUT_LINES: usize = 8;

pub(super) fn lines(shown: &DashboardLoop, columns: usize) -> Vec<DashboardLine> {
    let status = &shown.status;
    let room = columns.saturating_sub(2);
    let text = |style, text: &str| paragraph(style, text, room);
    let mut lines = vec![DashboardLine::of(DashboardStyle::Bold, format!(" {}", shown.title()))];
    let mut facts = vec![status.agent.clone(), status.id.clone()];
    facts.extend(shown.folder.as_ref().map(|it| tr!("in {folder}", folder = it)));
    facts.extend(status.branch.as_ref().map(|it| tr!("on {branch}", branch = it)));
    lines.push(DashboardLine::of(DashboardStyle::Dim, format!(" {}", facts.join(" · "))));
    lines.extend(text(DashboardStyle::Plain, &shown.headline));
    lines.extend(text(DashboardStyle::Dim, &shown.budget));
    if let Some(question) = &status.question {
        lines.extend(text(
            DashboardStyle::Warning,
            &tr!("Question (a answers): {question}", question = question.text),
        ));
    }
    for warning in status.warnings.iter().chain(&status.forecast) {
        lines.extend(text(DashboardStyle::Warning, &tr!("Note: {warning}", warning)));
    }
    section(&mut lines, tr!("Criteria by iteration"), shown.grid.iter().map(|it| coloured(it)));
    let decisions = shown.decisions.iter();
    section(
        &mut lines,
        tr!("Decisions"),
        decisions.map(|it| DashboardLine::of(DashboardStyle::Plain, format!(" {it}"))),
    );
    let output = shown.output.iter().skip(shown.output.len().saturating_sub(OUTPUT_LINES));
    let activity = status.activity.as_ref().map(|it| tr!("Last seen: {text}", text = it));
    let output = output.cloned().chain(activity);
    section(
        &mut lines,
        tr!("Output"),
        output.map(|it| DashboardLine::of(DashboardStyle::Dim, format!(" {it}"))),
    );
    lines
}

fn paragraph(style: DashboardStyle, text: &str, room: usize) -> Vec<DashboardLine> {
    wrap(text, room).into_iter().map(|it| DashboardLine::of(style, format!(" {it}"))).collect()
}

/// A heading with lines below it, unless there are none.
fn section(all: &mut Vec<DashboardLine>, heading: &'static str, lines: impl Iterator<Item = DashboardLine>) {
    let mut lines = lines.peekable();
    if lines.peek().is_some() {
        all.push(DashboardLine::default());
        all.push(DashboardLine::of(DashboardStyle::Bold, format!(" {heading}")));
        all.extend(lines);
    }
}

/// A row of the grid with its symbols in colour.
fn coloured(row: &str) -> DashboardLine {
    let mut line = DashboardLine::of(DashboardStyle::Plain, " ");
    for char in row.chars() {
        let style = match char {
            '✓' => DashboardStyle::Success,
            '✗' => DashboardStyle::Failure,
            '·' | '─' | '…' => DashboardStyle::Dim,
            _ => DashboardStyle::Plain,
        };
        match line.0.last_mut() {
            Some(last) if last.style == style => last.text.push(char),
            _ => line = line.and(style, char),
        }
    }
    line
}
