//! The records of a loop as text for a terminal, next to the output of its agent: iterations, results of checks, hints of
//! the user, questions, the end. Colours are those of the terminal's theme, and never the only mark.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use loopkeeper_core::check::{CheckResult, Status};
use loopkeeper_core::decide::LoopState;
use loopkeeper_core::journal::{BreakerState, Entry, Outcome, OutcomeKind, PauseReason, Record, Round};
use loopkeeper_text::tr;
use loopkeeper_text::{sanitize, words};

use crate::criterion_names::CriterionNames;
use crate::sentences;

/// Limits for each failing check.
const MAX_PLACES: usize = 5;
const LAST_LINES: usize = 3;

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const CYAN: &str = "\x1b[36m";
const RESET: &str = "\x1b[0m";

/// Describes the records of one journal in their order, because later records depend on earlier ones.
#[derive(Debug, Default)]
pub struct TranscriptWriter {
    names: CriterionNames,
    /// Hints that no iteration has read.
    unread: Vec<String>,
}

impl TranscriptWriter {
    /// Describes the records after those that `state` contains.
    pub fn after(state: &LoopState) -> Self {
        let mut names = CriterionNames::default();
        names.add(state.criteria.pinned.iter().map(|it| &it.criterion));
        Self { names, unread: state.steering.iter().map(|it| sanitize::line(it)).collect() }
    }

    /// Observes a record that is not shown.
    pub fn skip(&mut self, entry: &Entry) {
        self.names.observe(&entry.record);
        match &entry.record {
            Record::Steered { text } => self.unread.push(sanitize::line(text)),
            Record::IterationIntended { .. } => self.unread.clear(),
            _ => {}
        }
    }

    /// The lines of a record; `None`: the record is not shown. `read_at`: the iteration that reads a hint, if it is known.
    pub fn describe(&mut self, entry: &Entry, read_at: Option<u32>) -> Option<String> {
        self.names.observe(&entry.record);
        Some(match &entry.record {
            Record::LoopStarted { spec, .. } => {
                let title = sanitize::line(&spec.title);
                let agent = sanitize::line(&spec.agent.name);
                let most = spec.settings.limits.iterations;
                let limit =
                    tr!("at most {iterations}", iterations = words::counted(most.into(), "iteration"));
                format!("{BOLD}{title}{RESET} {DIM}· {agent} · {limit}{RESET}\n")
            }
            Record::Baseline { round: Some(round), iteration, .. } => {
                let what =
                    if *iteration == 0 { tr!("Checks before iteration 1") } else { tr!("Changed criteria") };
                self.round_lines(what, round)
            }
            Record::IterationIntended { iteration, .. } => self.iteration_heading(*iteration),
            Record::ChecksDone { round, .. } => self.round_lines(tr!("Checks"), round),
            Record::IterationEnded { sentence, .. } => dim_line(sentence),
            Record::Steered { text } => self.hint_line(text, read_at),
            Record::Asked { text, .. } => format!("{YELLOW}? {}{RESET}\n", sanitize::line(text)),
            Record::Answered { text: Some(text), .. } => {
                let answered = tr!("You answered: {text}", text = sanitize::line(text));
                format!("{CYAN}» {answered}{RESET}\n")
            }
            Record::Answered { text: None, .. } => dim_line(tr!("Not answered: the agent decides.")),
            Record::BreakerChanged { state: BreakerState::Open, reason, .. } => {
                let fact = match reason.as_deref().map(sanitize::line) {
                    Some(reason) => tr!("Breaker open: {reason}", reason),
                    None => tr!("Breaker open").to_owned(),
                };
                format!("{YELLOW}! {fact}{RESET}\n")
            }
            Record::Paused { reason: PauseReason::User, .. } => dim_line(tr!("Paused by you")),
            Record::Paused { message, .. } => {
                let paused = tr!("Paused: {reason}", reason = sanitize::line(&message.sentences()));
                format!("{YELLOW}! {paused}{RESET}\n")
            }
            Record::Resumed {} => dim_line(tr!("Resumed")),
            Record::AgentChanged { from, to, reason, message, .. } => {
                dim_line(&sentences::takeover((from, to), *reason, None, message.as_deref()))
            }
            Record::RolledBack { to: 0, .. } => dim_line(tr!("Files rolled back to the start")),
            Record::RolledBack { to, .. } => {
                dim_line(&tr!("Files rolled back to iteration {number}", number = to))
            }
            Record::Ended { outcome } => outcome_line(outcome),
            _ => return None,
        })
    }

    /// Hints that were shown as waiting are named again, with the iteration that reads them.
    fn iteration_heading(&mut self, iteration: u32) -> String {
        let heading = tr!("Iteration {number}", number = iteration);
        let mut text = format!("\n{BOLD}── {heading} ──{RESET}\n");
        for hint in std::mem::take(&mut self.unread) {
            let read = tr!("Your hint, read now: {hint}", hint);
            let _ = writeln!(text, "{CYAN}» {read}{RESET}");
        }
        text
    }

    fn hint_line(&mut self, text: &str, read_at: Option<u32>) -> String {
        let hint = sanitize::line(text);
        let state = match read_at {
            Some(number) => tr!("(sent, read at iteration {number})", number),
            None => tr!("(sent, read at the start of the next iteration)").to_owned(),
        };
        let sent = tr!("You: {hint}", hint);
        let line = format!("{CYAN}» {sent}{RESET} {DIM}{state}{RESET}\n");
        if read_at.is_none() {
            self.unread.push(hint);
        }
        line
    }

    fn round_lines(&self, what: &str, round: &Round) -> String {
        let Some(tally) = self.names.tally(round) else {
            return dim_line(&tr!("{what}: nothing to check", what));
        };
        let tally = tr!("{what}: {counts}", what, counts = tally.of_round());
        let mut text = format!("{BOLD}{tally}{RESET}\n");
        for result in round.results.iter().filter(|it| it.status != Status::Unverified) {
            self.write_result(&mut text, result);
        }
        text
    }

    /// The places of a failure are whole `file:line` texts, which terminals turn into links.
    fn write_result(&self, text: &mut String, result: &CheckResult) {
        let name = self.names.name(&result.criterion);
        let fact = sanitize::line(&result.fact);
        if result.status == Status::Pass {
            let _ = writeln!(text, "  {GREEN}✓{RESET} {name}{}", passing_fact(&fact));
            return;
        }
        let failed = tr!("{name}: {fact}", name, fact);
        let _ = writeln!(text, "  {RED}✗{RESET} {failed}");
        let places = result.failure_lines(MAX_PLACES, usize::MAX);
        let last = || result.last_lines(LAST_LINES).into_iter().map(str::to_owned).collect();
        let lines: Vec<String> = if places.is_empty() { last() } else { places };
        for line in lines {
            let _ = writeln!(text, "      {DIM}{}{RESET}", sanitize::line(&line));
        }
    }
}

/// The fact of a check that passes; most have none worth reading.
fn passing_fact(fact: &str) -> String {
    if fact.is_empty() { String::new() } else { format!(" {DIM}· {fact}{RESET}") }
}

/// A remark next to the output of the agent: one line.
pub fn dim_line(text: &str) -> String {
    format!("{DIM}{}{RESET}\n", sanitize::line(text))
}

fn outcome_line(outcome: &Outcome) -> String {
    let (mark, colour) = match outcome.kind {
        OutcomeKind::Completed if outcome.verified => ('✓', GREEN),
        OutcomeKind::Completed => ('?', YELLOW),
        OutcomeKind::Stopped => ('■', DIM),
        OutcomeKind::Limit | OutcomeKind::Breaker | OutcomeKind::Failed => ('✗', RED),
    };
    format!(
        "\n{colour}{mark}{RESET} {BOLD}{}{RESET}\n",
        words::capitalised(&sanitize::line(&outcome.sentence.sentences()))
    )
}
