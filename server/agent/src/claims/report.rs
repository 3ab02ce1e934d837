//! Formats claims for display: each with its source and weight, and the contradictions between them.

use serde::{Deserialize, Serialize};

use super::indicators::{Indicator, IndicatorSource};
use super::status::{TestsState, WorkState, WorkType};
use super::{Claims, PHRASES_FOR_A_CLAIM};
use loopkeeper_text::language::translate;
use loopkeeper_text::{tr, tr_later};

/// One claim in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClaimRow {
    pub claim: String,
    pub source: String,
    pub weight: String,
}

/// `EXIT_SIGNAL: true · status block · decisive`.
impl std::fmt::Display for ClaimRow {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} · {} · {}", self.claim, self.source, self.weight)
    }
}

const STATUS_BLOCK: &str = tr_later!("status block");
const SHOWN_ONLY: &str = tr_later!("shown only");
/// In percent; a phrase below it is a weak sign.
const MIN_STRONG_PERCENT: u8 = 75;

fn claim_row(claim: impl Into<String>, source: &'static str, weight: impl Into<String>) -> ClaimRow {
    ClaimRow { claim: claim.into(), source: translate(source).to_owned(), weight: weight.into() }
}

impl Claims {
    /// Every claim, the strongest first.
    pub fn report_rows(&self) -> Vec<ClaimRow> {
        let mut out = Vec::new();
        if self.promise {
            out.push(claim_row(tr!("the promise"), tr_later!("tag"), tr!("decisive")));
        }
        if let Some(signal) = self.exit_signal {
            let in_block = self.status.as_ref().and_then(|it| it.exit_signal) == Some(signal);
            let weight = if signal { tr!("decisive") } else { tr!("vetoes every other claim") };
            out.push(claim_row(
                format!("EXIT_SIGNAL: {signal}"),
                if in_block { STATUS_BLOCK } else { tr_later!("line") },
                weight,
            ));
        }
        self.list_status(&mut out);
        out.extend(self.indicators.iter().map(|it| claim_row(&it.phrase, source_of(it), weight_of(it))));
        out.extend(
            self.not_yet
                .iter()
                .map(|it| claim_row(&it.phrase, source_of(it), tr!("not yet: no indicator counts"))),
        );
        if let Some(percent) = self.progress {
            let claim = tr!("progress {percent} %", percent);
            out.push(claim_row(claim, tr_later!("words or status block"), translate(SHOWN_ONLY)));
        }
        out.extend(self.notes.iter().map(|it| claim_row(it, tr_later!("note"), translate(SHOWN_ONLY))));
        out
    }

    /// Every claim as a sentence, the strongest first.
    pub fn sentences(&self) -> Vec<String> {
        let mut out = Vec::new();
        if self.promise {
            out.push(tr!("The agent says it is done (promise tag).").to_owned());
        }
        if let Some(signal) = self.exit_signal {
            out.push(if signal {
                tr!("The agent says it is done (EXIT_SIGNAL: {signal}).", signal)
            } else {
                tr!("The agent says it is not done (EXIT_SIGNAL: {signal}).", signal)
            });
        }
        let mut fields = Vec::new();
        self.list_status(&mut fields);
        out.extend(fields.iter().map(|it| tr!("The agent reports {claim}.", claim = it.claim)));
        let quote = |it: &Indicator, meaning: &str| {
            tr!("The agent's words mean \"{phrase}\" ({meaning}).", phrase = it.phrase, meaning)
        };
        out.extend(self.indicators.iter().map(|it| quote(it, strength_of(it))));
        out.extend(self.not_yet.iter().map(|it| quote(it, tr!("an indication of remaining work"))));
        out.extend(self.progress.map(|percent| tr!("The agent reports {percent} % progress.", percent)));
        let note = |it: &String| tr!("The agent notes: {note}.", note = it.trim_end_matches('.'));
        out.extend(self.notes.iter().map(note));
        out
    }

    fn list_status(&self, out: &mut Vec<ClaimRow>) {
        let Some(block) = &self.status else { return };
        let mut field = |name: &str, value: Option<String>| {
            out.extend(
                value.map(|it| claim_row(format!("{name}: {it}"), STATUS_BLOCK, translate(SHOWN_ONLY))),
            );
        };
        field("STATUS", block.state.as_ref().filter(|it| **it != WorkState::Complete).map(state_word));
        field("TESTS_STATUS", block.tests.as_ref().filter(|it| **it != TestsState::Passing).map(tests_word));
        field("WORK_TYPE", block.work_type.as_ref().map(work_word));
        field("FILES_MODIFIED", block.files_modified.map(|it| it.to_string()));
        field("TASKS_COMPLETED_THIS_LOOP", block.tasks_completed.map(|it| it.to_string()));
        field("RECOMMENDATION", block.recommendation.clone());
    }

    /// Why a claim of done cannot be valid, in one sentence.
    pub fn contradiction(&self) -> Option<String> {
        let claim = self.completion_claim()?;
        let state = self.status.as_ref().and_then(|it| it.state.as_ref());
        let tests = self.status.as_ref().and_then(|it| it.tests.as_ref());
        let field = match (self.progress, state, tests) {
            (Some(percent), ..) if percent < 100 => {
                return Some(tr!("the agent claims to be done ({claim}) at {percent} %", claim, percent));
            }
            (_, Some(WorkState::InProgress), _) => "STATUS: IN_PROGRESS",
            (_, Some(WorkState::Blocked), _) => "STATUS: BLOCKED",
            (_, _, Some(TestsState::Failing)) => "TESTS_STATUS: FAILING",
            _ if self.exit_signal == Some(false) => "EXIT_SIGNAL: false",
            _ => {
                let excerpt = &self.not_yet.first()?.excerpt;
                return Some(tr!(
                    "the agent claims to be done ({claim}) and says that it is not: {excerpt}",
                    claim,
                    excerpt
                ));
            }
        };
        Some(tr!("the agent claims to be done ({claim}) with {field}", claim, field))
    }

    /// The message reports remaining work in some form: any other claim in it is no signal.
    pub fn denies_completion(&self) -> bool {
        !self.not_yet.is_empty() || self.contradiction().is_some()
    }

    /// The claim that states completion, if there is one.
    fn completion_claim(&self) -> Option<&'static str> {
        let is_complete = self.status.as_ref().and_then(|it| it.state.as_ref()) == Some(&WorkState::Complete);
        if self.promise {
            Some(tr!("promise"))
        } else if self.exit_signal == Some(true) {
            Some("EXIT_SIGNAL")
        } else if is_complete {
            Some("STATUS")
        } else {
            (self.indicator_count() >= PHRASES_FOR_A_CLAIM).then(|| tr!("its words"))
        }
    }
}

fn source_of(indicator: &Indicator) -> &'static str {
    match indicator.source {
        IndicatorSource::Status => STATUS_BLOCK,
        IndicatorSource::Words => tr_later!("words"),
        IndicatorSource::Dictionary => "exit.words",
    }
}

fn strength_of(indicator: &Indicator) -> &'static str {
    match indicator.percent {
        _ if !indicator.counts() => tr!("too weak an indication of completion to count"),
        MIN_STRONG_PERCENT.. => tr!("an indication of completion"),
        _ => tr!("a weak indication of completion"),
    }
}

fn weight_of(indicator: &Indicator) -> String {
    let decimal = format!("{}.{:02}", indicator.percent / 100, indicator.percent % 100);
    let decimal = decimal.strip_suffix('0').unwrap_or(&decimal);
    if indicator.counts() { decimal.to_owned() } else { tr!("{decimal}, too weak to count", decimal) }
}

fn state_word(state: &WorkState) -> String {
    match state {
        WorkState::Complete => "COMPLETE".to_owned(),
        WorkState::InProgress => "IN_PROGRESS".to_owned(),
        WorkState::Blocked => "BLOCKED".to_owned(),
        WorkState::Other(text) => text.clone(),
    }
}

fn tests_word(tests: &TestsState) -> String {
    match tests {
        TestsState::Passing => "PASSING".to_owned(),
        TestsState::Failing => "FAILING".to_owned(),
        TestsState::NotRun => "NOT_RUN".to_owned(),
        TestsState::Other(text) => text.clone(),
    }
}

fn work_word(work: &WorkType) -> String {
    match work {
        WorkType::Implementation => "IMPLEMENTATION".to_owned(),
        WorkType::Testing => "TESTING".to_owned(),
        WorkType::Documentation => "DOCUMENTATION".to_owned(),
        WorkType::Refactoring => "REFACTORING".to_owned(),
        WorkType::Debugging => "DEBUGGING".to_owned(),
        WorkType::Other(text) => text.clone(),
    }
}
