//! Renders the end of a loop: its criteria, its outcome, its cost and duration.

use loopkeeper_agent::LoopMode;
use loopkeeper_core::decide::LoopState;
use loopkeeper_core::journal::{OutcomeKind, Record, StopFeedback};
use loopkeeper_text::clauses;
use loopkeeper_text::{tr, words};
use loopkeeper_view::{self as view, StatusFacts, headline, sentences};

use super::{DIM, FAILURE, Glyphs, SUCCESS, WARNING, table};

/// `is_kept`: whether `log` can show the loop later.
pub(crate) fn lines(state: &LoopState, glyphs: Glyphs, is_kept: bool) -> Vec<String> {
    let status = view::status(state, &StatusFacts { now: state.time.last_at, ..StatusFacts::default() });
    let table = table::with_output(&status.criteria, state.criteria.results.values(), glyphs);
    let mut lines: Vec<_> = table.lines().map(str::to_owned).collect();
    let style = match state.outcome() {
        Some(outcome) if outcome.kind == OutcomeKind::Completed && outcome.verified => SUCCESS,
        Some(outcome) if outcome.kind == OutcomeKind::Failed => FAILURE,
        _ => WARNING,
    };
    lines.push(format!("{style}{}{style:#}", headline(&status)));
    let mut facts = vec![words::counted(u64::from(state.iteration), "iteration")];
    facts.extend(state.spent.cost_micros.map(words::cost));
    let mode = state.spec.settings.mode;
    if state.spent.cost_micros.is_none() && mode == LoopMode::Attach {
        facts.extend(state.spent.tokens.map(|it| tr!("{tokens} tokens", tokens = words::amount(it))));
        facts.push(sentences::no_cost(mode).to_owned());
    }
    facts.push(words::duration(state.time.last_at.wall.saturating_sub(state.time.started_at.wall)));
    let facts = clauses::join_with_commas(facts);
    let summary = if is_kept {
        tr!("{facts}; `loopkeeper log {id}` shows all of it", facts, id = status.id)
    } else {
        facts
    };
    lines.push(format!("{DIM}{summary}{DIM:#}"));
    lines
}

/// The end of a loop in its log, or the user's judgement of that moment.
pub(super) fn entry(record: &Record) -> Option<String> {
    match record {
        Record::Ended { outcome } => Some(tr!("ended: {sentence}", sentence = outcome.sentence)),
        Record::Feedback { verdict, text } => Some(tr!(
            "feedback: {sentence}",
            sentence = StopFeedback { verdict: *verdict, text: text.clone() }.sentence()
        )),
        _ => None,
    }
}
