//! Renders the receipt as a Markdown page that ends with the complete receipt as JSON, and parses a receipt from
//! either.

use std::fmt::Write as _;

use loopkeeper_core::check::Status;
use loopkeeper_core::journal::{CheckProgram, HollowTest, SurvivingMutant};
use loopkeeper_text::clauses;
use loopkeeper_text::language::{Language, translate};
use loopkeeper_text::markdown::escaped;
use loopkeeper_text::{sanitize, tr, tr_later, words};

use super::{Acceptance, Receipt, ReceiptCriterion, ReceiptMutants, RoundCount};

const FENCE: &str = "```json\n";
/// The row is absent in receipts of older versions.
const MUTANTS: &str = tr_later!("Mutants of changed lines");
/// The row is absent where the clean room was an overlay.
const COPY: &str = tr_later!("Clean room");
/// The row is absent where no runner takes a seed.
const SEEDS: &str = tr_later!("Order of tests");
/// Rows of one list on the page; the JSON has all of them.
const MAX_ROWS: usize = 50;

/// The page for people.
pub fn markdown(receipt: &Receipt) -> String {
    let mut page = String::new();
    let title = if receipt.title.is_empty() { &receipt.task } else { &receipt.title };
    let _ = writeln!(page, "# {}\n", tr!("Receipt: {title}", title = line(title)));
    let _ = writeln!(page, "{}\n", line(&words::capitalised(&receipt.outcome.sentence)));
    if !receipt.outcome.verified {
        let _ = writeln!(page, "**{}**\n", tr!("Not verified."));
    }
    let _ = writeln!(page, "| | |\n|---|---|");
    for (name, value) in
        facts(receipt).iter().filter(|(name, it)| ![COPY, SEEDS, MUTANTS].contains(name) || !it.is_empty())
    {
        let _ = writeln!(page, "| {} | {} |", translate(name), line(value));
    }
    let _ = writeln!(page, "\n## {}\n", tr!("Criteria"));
    for it in &receipt.criteria {
        let _ = writeln!(page, "- {}", line(&criterion(it)));
    }
    list(&mut page, tr!("Judges that changed"), &receipt.verdict.changed_judges);
    let survivors =
        receipt.verdict.mutants.iter().flat_map(|it| &it.survivors).map(SurvivingMutant::sentence);
    list(&mut page, tr!("Noticed by no check"), &survivors.collect::<Vec<_>>());
    let hollow = receipt.verdict.mutants.iter().flat_map(|it| &it.hollow).map(HollowTest::sentence);
    list(&mut page, tr!("Added tests that notice no mutant"), &hollow.collect::<Vec<_>>());
    list(&mut page, tr!("Added files without a reference"), &receipt.strays);
    list(&mut page, tr!("Second configurations"), &receipt.duplicates);
    let acceptances: Vec<_> = receipt.acceptances.iter().map(Acceptance::sentence).collect();
    let accepted = if acceptances.is_empty() { &receipt.accepted } else { &acceptances };
    list(&mut page, tr!("Accepted by the user"), accepted);
    list(&mut page, tr!("Allowed to change by the task"), &receipt.may_change);
    let programs: Vec<_> = receipt.environment.programs.iter().map(CheckProgram::sentence).collect();
    list(&mut page, tr!("Programs of the checks"), &programs);
    list(&mut page, tr!("Not covered"), &receipt.verdict.not_covered);
    let json = serde_json::to_string_pretty(receipt).unwrap_or_default();
    let how = tr!("`loopkeeper verify` reads this file, on any checkout.");
    let _ = writeln!(page, "\n## {}\n\n{how}\n\n{FENCE}{json}\n```", tr!("To verify"));
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
        serde_json::from_str(json).map_err(|error| tr!("is not a receipt: {error}", error))?;
    if receipt.format > super::FORMAT {
        return Err(tr!("was written by a newer loopkeeper").to_owned());
    }
    if !receipt.is_intact() {
        return Err(tr!("was edited: its digest does not fit its content").to_owned());
    }
    let is_page = !text.trim_start().starts_with('{');
    if is_page && !is_page_of(&text, &receipt) {
        return Err(
            tr!("was edited, or printed by another version: its page does not fit its JSON").to_owned()
        );
    }
    Ok(receipt)
}

/// Whether a text is the page of a receipt in one of the languages, since it may have been printed in another one.
fn is_page_of(text: &str, receipt: &Receipt) -> bool {
    let languages = [Language::English, Language::SimplifiedChinese];
    languages.iter().any(|it| it.during(|| markdown(receipt)).trim() == text.trim())
}

/// The rows of the first table.
fn facts(receipt: &Receipt) -> [(&'static str, String); 15] {
    [
        (tr_later!("Loop"), receipt.loop_id.clone()),
        (tr_later!("Task"), receipt.task.clone()),
        (tr_later!("Commit"), receipt.commit.clone().unwrap_or_else(none_text)),
        (tr_later!("Tree"), receipt.tree.clone()),
        (tr_later!("As the agent left it"), format_count(receipt.verdict.final_round)),
        (tr_later!("With the judges of the start"), pinned_result(receipt)),
        (COPY, copied(receipt)),
        (SEEDS, clauses::list(&receipt.verdict.seeds)),
        (MUTANTS, mutants(receipt)),
        (tr_later!("Agent"), receipt.environment.agent.clone()),
        (tr_later!("Sandbox"), receipt.environment.sandbox.clone()),
        (tr_later!("Variables passed"), names(&receipt.environment.passed)),
        (tr_later!("Variables set"), names(&receipt.environment.set)),
        ("loopkeeper", receipt.loopkeeper.clone()),
        (tr_later!("Journal"), journal(receipt)),
    ]
}

fn journal(receipt: &Receipt) -> String {
    let journal = &receipt.journal;
    tr!("{count} records, sha256 {digest}", count = journal.records, digest = journal.sha256)
}

fn criterion(it: &ReceiptCriterion) -> String {
    let name = &it.name;
    let name = if it.required { name.clone() } else { tr!("{name} (optional)", name) };
    let status = status_word(it.status);
    let line = tr!("{name}: {status}", name, status);
    if it.fact.is_empty() { line } else { tr!("{line}: {fact}", line, fact = it.fact) }
}

fn none_text() -> String {
    tr!("none").to_owned()
}

fn list(page: &mut String, title: &str, rows: &[String]) {
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(page, "\n## {title}\n");
    for row in rows.iter().take(MAX_ROWS) {
        let _ = writeln!(page, "- {}", line(row));
    }
    if rows.len() > MAX_ROWS {
        let _ = writeln!(page, "- {}", tr!("and {count} more", count = rows.len() - MAX_ROWS));
    }
}

fn names(all: &[String]) -> String {
    if all.is_empty() { none_text() } else { clauses::list(all) }
}

fn pinned_result(receipt: &Receipt) -> String {
    match receipt.verdict.pinned {
        None if receipt.verdict.final_round.is_some() => tr!("no judge changed").to_owned(),
        other => format_count(other),
    }
}

fn copied(receipt: &Receipt) -> String {
    let copied = receipt.verdict.copied.as_ref();
    copied.map(|it| tr!("a copy at another path: {reason}", reason = it.why)).unwrap_or_default()
}

fn mutants(receipt: &Receipt) -> String {
    match &receipt.verdict.mutants {
        None => String::new(),
        Some(ReceiptMutants { not_run: Some(why), .. }) => tr!("not run: {reason}", reason = why),
        Some(ReceiptMutants { tried: 0, .. }) => none_text(),
        Some(it) => tr!("{count} of {total} noticed", count = it.noticed, total = it.tried),
    }
}

fn format_count(count: Option<RoundCount>) -> String {
    count.map_or_else(
        || tr!("not judged in a clean room").to_owned(),
        |it| tr!("{passed} of {total} pass", passed = it.passed, total = it.total),
    )
}

/// `passes`, after the name of a criterion.
pub fn status_word(status: Status) -> &'static str {
    match status {
        Status::Pass => tr!("passes"),
        Status::Fail => tr!("fails"),
        Status::TimedOut => tr!("timed out"),
        Status::CouldNotRun => tr!("cannot run"),
        Status::NoTestsRan => tr!("ran no tests"),
        Status::Unstable => tr!("could not be judged"),
        Status::Unverified => tr!("not checked"),
    }
}

/// One line of text that is no markup.
fn line(text: &str) -> String {
    escaped(&sanitize::line(text))
}
