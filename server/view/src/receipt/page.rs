//! The receipt as a Markdown page, with the whole of it as JSON at the end, and back from either.

use std::fmt::Write as _;

use loopkeeper_core::check::Status;
use loopkeeper_core::journal::{CheckProgram, HollowTest, Survivor};
use loopkeeper_text::{sanitize, words};

use super::{Acceptance, Receipt, ReceiptMutants, RoundCount};

const FENCE: &str = "```json\n";
/// The row is absent in receipts of older versions.
const MUTANTS: &str = "Mutants of changed lines";
/// The row is absent where the clean room was an overlay.
const COPY: &str = "Clean room";
/// The row is absent where no runner takes a seed.
const SEEDS: &str = "Order of tests";
/// Rows of one list on the page; the JSON has all of them.
const MAX_ROWS: usize = 50;

/// The page for people.
pub fn markdown(receipt: &Receipt) -> String {
    let mut page = String::new();
    let title = if receipt.title.is_empty() { &receipt.task } else { &receipt.title };
    let _ = writeln!(page, "# Receipt: {}\n", sanitize::line(title));
    let _ = writeln!(page, "{}\n", sanitize::line(&words::capitalised(&receipt.outcome.sentence)));
    if !receipt.outcome.verified {
        let _ = writeln!(page, "**Not verified.**\n");
    }
    let rows = [
        ("Loop", receipt.loop_id.clone()),
        ("Task", receipt.task.clone()),
        ("Commit", receipt.commit.clone().unwrap_or_else(|| "none".to_owned())),
        ("Tree", receipt.tree.clone()),
        ("As the agent left it", shown(receipt.verdict.as_left)),
        ("With the judges of the start", pinned(receipt)),
        (COPY, copied(receipt)),
        (SEEDS, receipt.verdict.seeds.join(", ")),
        (MUTANTS, mutants(receipt)),
        ("Agent", receipt.environment.agent.clone()),
        ("Sandbox", receipt.environment.sandbox.clone()),
        ("Variables passed", names(&receipt.environment.passed)),
        ("Variables set", names(&receipt.environment.set)),
        ("loopkeeper", receipt.loopkeeper.clone()),
        ("Journal", format!("{} records, sha256 {}", receipt.journal.records, receipt.journal.sha256)),
    ];
    let _ = writeln!(page, "| | |\n|---|---|");
    for (name, value) in
        rows.iter().filter(|(name, it)| ![COPY, SEEDS, MUTANTS].contains(name) || !it.is_empty())
    {
        let _ = writeln!(page, "| {name} | {} |", cell(value));
    }
    let _ = writeln!(page, "\n## Criteria\n");
    for it in &receipt.criteria {
        let optional = if it.required { "" } else { " (optional)" };
        let fact = if it.fact.is_empty() { String::new() } else { format!(": {}", it.fact) };
        let line = format!("{}{optional}: {}{fact}", it.name, status_word(it.status));
        let _ = writeln!(page, "- {}", sanitize::line(&line));
    }
    list(&mut page, "Judges that changed", &receipt.verdict.changed_judges);
    let survivors = receipt.verdict.mutants.iter().flat_map(|it| &it.survivors).map(Survivor::sentence);
    list(&mut page, "Noticed by no check", &survivors.collect::<Vec<_>>());
    let hollow = receipt.verdict.mutants.iter().flat_map(|it| &it.hollow).map(HollowTest::sentence);
    list(&mut page, "Added tests that notice no mutant", &hollow.collect::<Vec<_>>());
    list(&mut page, "Added files without a reference", &receipt.strays);
    list(&mut page, "Second configurations", &receipt.duplicates);
    let acceptances: Vec<_> = receipt.acceptances.iter().map(Acceptance::sentence).collect();
    let accepted = if acceptances.is_empty() { &receipt.accepted } else { &acceptances };
    list(&mut page, "Accepted by the user", accepted);
    list(&mut page, "Allowed to change by the task", &receipt.may_change);
    let programs: Vec<_> = receipt.environment.programs.iter().map(CheckProgram::sentence).collect();
    list(&mut page, "Programs of the checks", &programs);
    list(&mut page, "Not covered", &receipt.verdict.not_covered);
    let json = serde_json::to_string_pretty(receipt).unwrap_or_default();
    let _ = writeln!(
        page,
        "\n## To verify\n\n`loopkeeper verify` reads this file, on any checkout.\n\n{FENCE}{json}\n```"
    );
    page
}

/// Parses a receipt from its page or its JSON; the error describes the invalid text.
pub fn parse(text: &str) -> Result<Receipt, String> {
    let text = text.replace("\r\n", "\n");
    let json = match text.rsplit_once(FENCE) {
        Some((_, rest)) => rest.rsplit_once("\n```").map_or(rest, |(json, _)| json),
        None => &text,
    };
    let receipt: Receipt =
        serde_json::from_str(json).map_err(|error| format!("is not a receipt: {error}"))?;
    if receipt.format > super::FORMAT {
        return Err("was written by a newer loopkeeper".to_owned());
    }
    if !receipt.is_intact() {
        return Err("was edited: its digest does not fit its content".to_owned());
    }
    let is_page = !text.trim_start().starts_with('{');
    if is_page && text.trim() != markdown(&receipt).trim() {
        return Err("was edited, or printed by another version: its page does not fit its JSON".to_owned());
    }
    Ok(receipt)
}

fn list(page: &mut String, title: &str, rows: &[String]) {
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(page, "\n## {title}\n");
    for row in rows.iter().take(MAX_ROWS) {
        let _ = writeln!(page, "- {}", sanitize::line(row));
    }
    if rows.len() > MAX_ROWS {
        let _ = writeln!(page, "- and {} more", rows.len() - MAX_ROWS);
    }
}

fn names(all: &[String]) -> String {
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}

fn pinned(receipt: &Receipt) -> String {
    match receipt.verdict.pinned {
        None if receipt.verdict.as_left.is_some() => "no judge changed".to_owned(),
        other => shown(other),
    }
}

fn copied(receipt: &Receipt) -> String {
    let copied = receipt.verdict.copied.as_ref();
    copied.map(|it| format!("a copy at another path: {}", it.why)).unwrap_or_default()
}

fn mutants(receipt: &Receipt) -> String {
    match &receipt.verdict.mutants {
        None => String::new(),
        Some(ReceiptMutants { not_run: Some(why), .. }) => format!("not run: {why}"),
        Some(ReceiptMutants { tried: 0, .. }) => "none".to_owned(),
        Some(it) => format!("{} of {} noticed", it.noticed, it.tried),
    }
}

fn shown(count: Option<RoundCount>) -> String {
    count.map_or_else(
        || "not judged in a clean room".to_owned(),
        |it| format!("{} of {} pass", it.passed, it.total),
    )
}

/// `passes`, after the name of a criterion.
pub fn status_word(status: Status) -> &'static str {
    match status {
        Status::Pass => "passes",
        Status::Fail => "fails",
        Status::TimedOut => "timed out",
        Status::CouldNotRun => "cannot run",
        Status::NoTestsRan => "ran no tests",
        Status::Unstable => "could not be judged",
        Status::Unverified => "not checked",
    }
}

fn cell(text: &str) -> String {
    sanitize::line(text).replace('|', "\\|")
}
