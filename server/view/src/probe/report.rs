//! The complete report, as JSON and Markdown.

use std::fmt::Write as _;

use serde::Serialize;

use super::{ProbeRow, Recommendation};
use loopkeeper_text::sanitize;
use loopkeeper_text::tr;

/// The probed agent, the time, and the results.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProbeReport {
    pub agent: String,
    pub version: Option<String>,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// RFC 3339.
    pub at: String,
    /// Number of agent starts.
    pub calls: usize,
    pub rows: Vec<ProbeRow>,
    pub recommendation: Recommendation,
}

/// Renders the report as a Markdown page.
pub fn render_markdown(report: &ProbeReport) -> String {
    let mut page = format!("# {}\n\n", tr!("What `{agent}` can do", agent = code(&report.agent)));
    let _ = writeln!(page, "{}\n", origin(report));
    let _ = writeln!(page, "{}\n|---|---|---|", tr!("| question | answer | seen |"));
    for row in &report.rows {
        let _ = writeln!(
            page,
            "| {} | {} | {} |",
            row.question.words(),
            row.answer.word(),
            escape_cell(&row.fact)
        );
    }
    let advice = &report.recommendation;
    let _ = writeln!(page, "\n## {}\n", tr!("Recommended"));
    for note in &advice.notes {
        let _ = writeln!(page, "- {note}");
    }
    if !advice.toml.is_empty() {
        let gap = if advice.notes.is_empty() { "" } else { "\n" };
        let _ = write!(page, "{gap}```toml\n# loopkeeper.toml\n{}```\n", advice.toml);
    }
    page
}

/// When and how the answers were found.
fn origin(report: &ProbeReport) -> String {
    let (time, count, command) = (&report.at, report.calls, code(&report.command.join(" ")));
    match report.version.as_deref().map(sanitize::line) {
        Some(version) => tr!(
            "Determined on {time} by starting it {version} {count} times, as `{command}`.",
            time,
            version,
            count,
            command
        ),
        None => {
            tr!("Determined on {time} by starting it {count} times, as `{command}`.", time, count, command)
        }
    }
}

/// Escapes the agent's text, so that it cannot end the table or start other markup.
fn escape_cell(text: &str) -> String {
    let plain = |it: char| match it {
        '|' | '\\' | '`' | '*' | '_' | '<' | '[' | ']' | '!' => format!("\\{it}"),
        other => other.to_string(),
    };
    sanitize::line(text).chars().map(plain).collect()
}

fn code(text: &str) -> String {
    sanitize::line_within(text, 400).replace('`', "'")
}
