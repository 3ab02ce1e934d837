//! The report as a Markdown page, for pull requests and summaries of workflow jobs.

use std::fmt::Write as _;

use crate::sentences;
use loopkeeper_core::check::Status;
use loopkeeper_text::markdown::escaped;
use loopkeeper_text::tr;
use loopkeeper_text::words;

use super::{LoopReport, minute};

/// Iterations of the grid, the newest ones; the table has all of them.
const COLUMNS: usize = 40;

/// The page.
pub fn markdown(report: &LoopReport) -> String {
    let mut page = format!("# {}\n\n**{}**\n\n", escaped(&report.title), escaped(&report.sentence));
    let origin = tr!(
        "Loop `{id}` on `{task}` with {agent}, started {time}. {budget}.",
        id = report.loop_id,
        task = report.task.replace('`', "'"),
        agent = escaped(&report.agent),
        time = minute(&report.started_at),
        budget = escaped(&report.budget)
    );
    let _ = writeln!(page, "{origin}\n");
    for it in &report.warnings {
        let _ = writeln!(page, "- {}", escaped(&sentences::sentence(it)));
    }
    if !report.warnings.is_empty() {
        page.push('\n');
    }
    if let Some(it) = &report.feedback {
        let _ = writeln!(page, "{}\n", tr!("Feedback: {feedback}.", feedback = escaped(it)));
    }
    write_criteria(&mut page, report);
    write_iterations(&mut page, report);
    if !report.errors.is_empty() {
        heading(&mut page, tr!("Errors"));
        for it in &report.errors {
            let times = words::counted(it.count as u64, "time");
            let _ = writeln!(page, "- {}", tr!("{times}: {text}", times, text = escaped(&it.text)));
        }
    }
    if !report.test_gaps.is_empty() {
        heading(&mut page, tr!("Missed by the checks"));
        for it in &report.test_gaps {
            let _ = writeln!(page, "- {}", escaped(it));
        }
    }
    if !report.decisions.is_empty() {
        heading(&mut page, tr!("Decisions of the agent"));
        for it in &report.decisions {
            let _ = writeln!(page, "- {}", escaped(it));
        }
    }
    page
}

fn heading(page: &mut String, title: &str) {
    let _ = writeln!(page, "\n## {title}\n");
}

fn write_criteria(page: &mut String, report: &LoopReport) {
    let columns = tr!("| criterion | over the iterations | now |");
    let _ = writeln!(page, "## {}\n\n{columns}\n|---|---|---|", tr!("Criteria"));
    for it in &report.criteria {
        let first = it.cells.len().saturating_sub(COLUMNS);
        let cells: String = it.cells.iter().skip(first).map(|it| glyph(*it)).collect();
        let now = if it.fact.is_empty() { glyph(it.now).to_string() } else { escaped(&it.fact) };
        let name = escaped(&it.name);
        let name = if it.required { name } else { tr!("{name} (optional)", name) };
        let _ = writeln!(page, "| {name} | {cells} | {now} |");
    }
}

fn write_iterations(page: &mut String, report: &LoopReport) {
    heading(page, tr!("Iterations"));
    let columns = tr!("| # | what it did | time | cost | files | lines |");
    let _ = writeln!(page, "{columns}\n|---|---|---|---|---|---|");
    for it in &report.iterations {
        let sentence = escaped(&it.sentence);
        let sentence = if it.rolled_back { tr!("{sentence} (rolled back)", sentence) } else { sentence };
        let cost = it.cost_micros.map(words::cost).unwrap_or_default();
        let lines = it.lines.map(|it| it.to_string()).unwrap_or_default();
        let time = words::duration(it.duration_ms);
        let (number, files) = (it.number, it.files);
        let _ = writeln!(page, "| {number} | {sentence} | {time} | {cost} | {files} | {lines} |");
    }
}

fn glyph(status: Option<Status>) -> char {
    match status {
        Some(Status::Pass) => '✓',
        Some(Status::Unstable | Status::Unverified) => '?',
        Some(_) => '✗',
        None => '·',
    }
}
