//! Parses the claims in the agent's own last message: typed, each with its weight. Claims are hints, never proof,
//! and nothing here decides. Code, fences, quotations and quoted parts of the prompt are not claims.
//!
//! Indicators: every phrase of the table (`phrases.rs`) or of the user's dictionary counts once per message, however
//! often it occurs, and only from a confidence of 50 % on. A phrase in a condition, plan, wish or question does not
//! count; a single word about a part ("finished the parser", "step 2 is done") weighs 40 %. One *not yet* phrase, or
//! one negated phrase ("not done", "almost complete"), is a veto: then no indicator of the message counts.
//! `STATUS: COMPLETE` and `TESTS_STATUS: PASSING` of a status block count as the equivalent phrases; another `STATUS`,
//! or failing tests, are a veto like *not yet*.

pub mod indicators;
mod labels;
mod phrases;
mod progress;
mod promise;
mod prose;
mod prose_mask;
mod question;
mod report;
pub mod status;
mod test_only;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use indicators::{Indicator, IndicatorMatches, IndicatorSource};
use loopkeeper_text::sanitize;
use phrases::COUNTS_FROM;
pub use promise::promise;
use prose_mask::MessageLineKind;
pub use report::ClaimRow;
use status::{StatusBlock, TestsState, WorkState};
pub use test_only::is_test_only;

/// Maximum length of a claim's line.
const EXCERPT_CHARS: usize = 120;
/// Maximum number of distinct phrases that are kept, of each kind.
const MAX_LISTED: usize = 24;
/// Number of phrases that together claim completion when contradictions are searched.
const PHRASES_FOR_A_CLAIM: usize = 2;

/// What one message claims. Bounded, whatever the message.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Claims {
    pub promise: bool,
    /// The exit signal of the last status block and of a separate line; `false` if they differ.
    pub exit_signal: Option<bool>,
    pub status: Option<StatusBlock>,
    pub indicators: Vec<Indicator>,
    pub not_yet: Vec<Indicator>,
    /// In percent.
    pub progress: Option<u8>,
    pub notes: Vec<String>,
    /// What the agent asks the user, at most 500 characters.
    pub question: Option<String>,
    /// What it decided or learned and marked as lasting.
    pub decisions: Vec<String>,
}

/// Reads the agent's last message. `words` are the user's own phrases with their confidence in percent; a
/// built-in phrase of the same name takes theirs, and 0 switches it off.
pub fn read(final_text: &str, promise: &str, words: &[(String, u8)]) -> Claims {
    let lines = prose_mask::lines(final_text);
    let stated = status::read(final_text, &lines);
    let is_prose = |at: usize, line: &prose_mask::MessageLine<'_>| {
        line.kind == MessageLineKind::Spoken && !stated.covered.get(at).copied().unwrap_or_default()
    };
    let masked = prose_mask::mask_lines(&lines, is_prose);
    let sentences = prose::sentences(&masked, &lines);
    let mut found = indicators::find(final_text, &sentences, words);
    if let Some(block) = &stated.block {
        add_stated(&mut found, block);
    }
    let marked = labels::find_labelled(final_text, &masked, &lines);
    let block = stated.block.as_ref();
    let notes = block.and_then(|it| it.notes.clone()).into_iter().chain(marked.notes).collect();
    let mut claims = Claims {
        promise: self::promise(final_text, promise),
        exit_signal: combine_signals(block.and_then(|it| it.exit_signal), stated.exit_line),
        progress: block.and_then(|it| it.progress).or_else(|| progress::find(&sentences)),
        indicators: found.done,
        not_yet: found.not_yet,
        notes,
        question: None,
        decisions: marked.decisions,
        status: stated.block,
    };
    let question = question::find(final_text, &sentences);
    claims.question = question
        .filter(|it| it.kind == question::AgentQuestionKind::Needed || !claims.is_report())
        .map(|it| it.text);
    claims
}

/// Two signals that differ count as no.
fn combine_signals(in_block: Option<bool>, on_line: Option<bool>) -> Option<bool> {
    match (in_block, on_line) {
        (Some(in_block), Some(on_line)) => Some(in_block && on_line),
        (in_block, on_line) => in_block.or(on_line),
    }
}

/// Indicators from the fields of a status block.
fn add_stated(found: &mut IndicatorMatches, block: &StatusBlock) {
    let one = |phrase: &str, percent: u8, excerpt: &str| Indicator {
        phrase: phrase.to_owned(),
        percent,
        source: IndicatorSource::Status,
        excerpt: excerpt.to_owned(),
    };
    match &block.state {
        Some(WorkState::Complete) => {
            add_indicator(&mut found.done, one("complete", 90, "STATUS: COMPLETE"));
        }
        Some(WorkState::InProgress) => {
            add_indicator(&mut found.not_yet, one("in progress", 90, "STATUS: IN_PROGRESS"));
        }
        Some(WorkState::Blocked) => {
            add_indicator(&mut found.not_yet, one("blocked", 90, "STATUS: BLOCKED"));
        }
        Some(WorkState::Other(_)) | None => {}
    }
    match &block.tests {
        Some(TestsState::Passing) => {
            add_indicator(&mut found.done, one("all tests passing", 70, "TESTS_STATUS: PASSING"));
        }
        Some(TestsState::Failing) => {
            add_indicator(&mut found.not_yet, one("tests failing", 90, "TESTS_STATUS: FAILING"));
        }
        Some(TestsState::NotRun | TestsState::Other(_)) | None => {}
    }
}

/// Each phrase once, with its highest confidence.
fn add_indicator(list: &mut Vec<Indicator>, indicator: Indicator) {
    match list.iter_mut().find(|it| it.phrase == indicator.phrase) {
        Some(known) if known.percent >= indicator.percent => {}
        Some(known) => *known = indicator,
        None => list.push(indicator),
    }
}

impl Indicator {
    /// Whether its confidence is enough.
    pub fn counts(&self) -> bool {
        self.percent >= COUNTS_FROM
    }
}

impl Claims {
    /// The indicators that count together: none if anything means *not yet*.
    pub fn indicator_count(&self) -> usize {
        if self.not_yet.is_empty() { self.indicators.iter().filter(|it| it.counts()).count() } else { 0 }
    }

    /// Whether the message reports finished work, so that an offer at its end is politeness.
    fn is_report(&self) -> bool {
        self.promise || self.exit_signal == Some(true) || self.indicator_count() > 0
    }
}

/// The line of the message that contains `at`, without leading blanks.
fn excerpt(text: &str, at: usize) -> String {
    let rest = text.get(at..).unwrap_or_default();
    let at = at + (rest.len() - rest.trim_start().len());
    let begin = text.get(..at).and_then(|it| it.rfind('\n')).map_or(0, |it| it + 1);
    let end = text.get(at..).and_then(|it| it.find('\n')).map_or(text.len(), |it| at + it);
    sanitize::line_within(text.get(begin..end).unwrap_or_default(), EXCERPT_CHARS)
}
