//! The complete report, as JSON and Markdown.

use std::fmt::Write as _;

use serde::Serialize;

use super::{ProbeRow, Recommendation};
use loopkeeper_text::sanitize;

/// What was probed, when, and the results.
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
    let mut page = format!("# What `{}` can do\n\n", code(&report.agent));
    let version = report.version.as_ref().map_or(String::new(), |it| format!(" {}", sanitize::line(it)));
    let _ = write!(
        page,
        "Found out on {} by starting it{version} {} times, as `{}`.\n\n| question | answer | seen |\n|---|---|---|\n",
        report.at,
        report.calls,
        code(&report.command.join(" ")),
    );
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
    page.push_str("\n## Recommended\n\n");
    for note in &advice.notes {
        let _ = writeln!(page, "- {note}");
    }
    if !advice.toml.is_empty() {
        let gap = if advice.notes.is_empty() { "" } else { "\n" };
        let _ = write!(page, "{gap}```toml\n# loopkeeper.toml\n{}```\n", advice.toml);
    }
    page
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
