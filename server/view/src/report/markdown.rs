//! The report as a Markdown page, for pull requests and summaries of workflow jobs.

use std::fmt::Write as _;

use loopkeeper_core::check::Status;
use loopkeeper_text::words;

use super::LoopReport;

/// Iterations of the grid, the newest ones; the table has all of them.
const COLUMNS: usize = 40;

/// The page.
pub fn markdown(report: &LoopReport) -> String {
    let mut page = format!("# {}\n\n**{}**\n\n", escaped(&report.title), escaped(&report.sentence));
    let _ = writeln!(
        page,
        "Loop `{}` on `{}` with {}, started {}. {}.\n",
        report.loop_id,
        report.task.replace('`', "'"),
        escaped(&report.agent),
        report.started_at,
        escaped(&report.budget)
    );
    for it in &report.warnings {
        let _ = writeln!(page, "- {}.", escaped(&words::capitalised(it)));
    }
    if !report.warnings.is_empty() {
        page.push('\n');
    }
    if let Some(it) = &report.feedback {
        let _ = writeln!(page, "Feedback: {}.\n", escaped(it));
    }
    write_criteria(&mut page, report);
    write_iterations(&mut page, report);
    if !report.errors.is_empty() {
        page.push_str("\n## Errors\n\n");
        for it in &report.errors {
            let _ = writeln!(page, "- {}: {}", words::counted(it.count as u64, "time"), escaped(&it.text));
        }
    }
    if !report.test_gaps.is_empty() {
        page.push_str("\n## Missed by the checks\n\n");
        for it in &report.test_gaps {
            let _ = writeln!(page, "- {}", escaped(it));
        }
    }
    if !report.decisions.is_empty() {
        page.push_str("\n## Decisions of the agent\n\n");
        for it in &report.decisions {
            let _ = writeln!(page, "- {}", escaped(it));
        }
    }
    page
}

fn write_criteria(page: &mut String, report: &LoopReport) {
    page.push_str("## Criteria\n\n| criterion | over the iterations | now |\n|---|---|---|\n");
    for it in &report.criteria {
        let first = it.cells.len().saturating_sub(COLUMNS);
        let cells: String = it.cells.iter().skip(first).map(|it| glyph(*it)).collect();
        let now = if it.fact.is_empty() { glyph(it.now).to_string() } else { escaped(&it.fact) };
        let optional = if it.required { "" } else { " (optional)" };
        let _ = writeln!(page, "| {}{optional} | {cells} | {now} |", escaped(&it.name));
    }
}

fn write_iterations(page: &mut String, report: &LoopReport) {
    page.push_str(
        "\n## Iterations\n\n| # | what it did | time | cost | files | lines |\n|---|---|---|---|---|---|\n",
    );
    for it in &report.iterations {
        let back = if it.taken_back { " (rolled back)" } else { "" };
        let cost = it.cost_micros.map(words::cost).unwrap_or_default();
        let lines = it.lines.map(|it| it.to_string()).unwrap_or_default();
        let time = words::duration(it.duration_ms);
        let (number, files) = (it.number, it.files);
        let _ = writeln!(
            page,
            "| {number} | {}{back} | {time} | {cost} | {files} | {lines} |",
            escaped(&it.sentence)
        );
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

/// Text that Markdown shows as it is.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => out.extend(['\\', it]),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            it => out.push(it),
        }
    }
    out
}
