//! One line per loop: its state first, then its progress.

use super::{DisplayPhase, DisplayState, LoopStatus};
use crate::sentences;
use loopkeeper_core::journal::{PauseReason, QuestionKind, WaitReason};
use loopkeeper_text::clauses;
use loopkeeper_text::message::Message;
use loopkeeper_text::tr;
use loopkeeper_text::words;

/// `Working: iteration 4/25, 3 of 5 criteria pass, $1.24`. Contains no time of day, which each view adds itself.
pub fn headline(status: &LoopStatus) -> Message {
    // The outcome in a damaged journal may be wrong.
    if let Some(outcome) = status.outcome.as_ref().filter(|_| status.phase != DisplayPhase::Damaged) {
        return outcome.sentence.clone().map_fact(|it| {
            let outcome = words::capitalised(&it);
            if status.stale { tr!("{outcome} (files changed since)", outcome) } else { outcome }
        });
    }
    if let Some(wanted) = requested_permission(status) {
        // The agent's text comes last, because text after it could not be distinguished from it.
        let text = clauses::join_with_commas([iteration(status), status.criteria.sentence(), wanted]);
        return tr!("{state}: {text}", state = loop_state_word(status), text).into();
    }
    let cost = status.spent.cost_micros.map(words::cost);
    let counts = clauses::join_with_commas(std::iter::once(status.criteria.sentence()).chain(cost));
    // The breaker's reason is in parentheses, because a colon would be the second one of the line.
    describe_phase(status).map_fact(|it| {
        let (state, text) = (loop_state_word(status), followed_by(&it, &counts));
        if status.is_cooling() {
            tr!("{state} {text}", state, text)
        } else {
            tr!("{state}: {text}", state, text)
        }
    })
}

/// `fact, counts`, or two sentences if the fact ends one, like a question of the agent.
fn followed_by(fact: &str, counts: &str) -> String {
    let fact = fact.trim_end();
    if fact.ends_with(['?', '!', '.', '。', '？', '！']) {
        sentences::paragraph([fact, &words::capitalised(counts)])
    } else {
        clauses::join_with_commas([fact, counts])
    }
}

/// The state of a loop in one or two words.
fn loop_state_word(status: &LoopStatus) -> &'static str {
    match status.state {
        DisplayState::Working if status.is_cooling() => tr!("Breaker open"),
        state => state_word(state),
    }
}

/// The state in one or two words.
pub(crate) fn state_word(state: DisplayState) -> &'static str {
    match state {
        DisplayState::Working => tr!("Working"),
        DisplayState::NeedsYou => tr!("Needs you"),
        DisplayState::Paused => tr!("Paused"),
        DisplayState::Done => tr!("Done"),
        DisplayState::Idle => tr!("Idle"),
    }
}

/// The action for which the agent needs permission.
fn requested_permission(status: &LoopStatus) -> Option<String> {
    let question = status.question.as_ref().filter(|it| it.kind == QuestionKind::Permission)?;
    (status.phase == DisplayPhase::NeedsAnswer).then(|| sentences::permission_request(&question.text))
}

fn iteration(status: &LoopStatus) -> String {
    tr!("iteration {iteration}/{limit}", iteration = status.iteration, limit = status.limits.iterations)
}

fn describe_phase(status: &LoopStatus) -> Message {
    let iteration = iteration(status);
    let fact = match status.phase {
        DisplayPhase::Baseline => tr!("checks before iteration 1").into(),
        DisplayPhase::Iterating => iteration,
        DisplayPhase::Checking => tr!("{iteration}, running checks", iteration),
        DisplayPhase::Waiting => match status.wait.as_ref().map(|it| it.reason) {
            Some(WaitReason::Quota) => tr!("{iteration}, waiting for the provider's usage limit", iteration),
            Some(WaitReason::Backoff) => tr!("{iteration}, waiting to try the agent again", iteration),
            Some(WaitReason::Calls) => {
                tr!("{iteration}, waiting: the hourly call limit is reached", iteration)
            }
            Some(WaitReason::Breaker) => {
                let why = status.breaker.reason.as_deref().unwrap_or(tr!("no progress"));
                tr!("at {iteration} ({why}), retries automatically", iteration, why)
            }
            Some(WaitReason::Other) => tr!("{iteration}, waiting", iteration),
            Some(WaitReason::Between) | None => tr!("{iteration}, waiting before the next", iteration),
        },
        DisplayPhase::Stopping => tr!("{iteration}, stopping", iteration),
        DisplayPhase::Untrusted => tr!("its commands are not trusted").into(),
        DisplayPhase::NeedsAnswer => clauses::join_with_commas([iteration, question_text(status)]),
        DisplayPhase::Interrupted => return interrupted_message(status, &iteration),
        DisplayPhase::Damaged => tr!("its journal is damaged").into(),
        DisplayPhase::Paused => match &status.pause {
            Some(pause) if pause.reason == PauseReason::Missing && status.iteration == 0 => {
                return pause.message.clone();
            }
            Some(pause) if pause.reason != PauseReason::User => {
                return pause.message.clone().map_fact(|it| clauses::join_with_commas([iteration, it]));
            }
            _ => iteration,
        },
        DisplayPhase::Ended => {
            return status.outcome.as_ref().map(|it| it.sentence.clone()).unwrap_or_default();
        }
    };
    fact.into()
}

/// The text of a denial is a full sentence already.
fn question_text(status: &LoopStatus) -> String {
    match &status.question {
        Some(it) if it.kind == QuestionKind::Agent => tr!("the agent asks: {question}", question = it.text),
        Some(it) => it.text.clone(),
        None => tr!("the agent asks a question").into(),
    }
}

/// A keeper that exited because of a full disk recorded that reason.
fn interrupted_message(status: &LoopStatus, iteration: &str) -> Message {
    if status.keeper.stopped {
        return tr!("{iteration}, the loop's process is stopped", iteration).into();
    }
    match &status.pause {
        Some(pause) if pause.reason == PauseReason::Disk => pause
            .message
            .clone()
            .map_fact(|it| tr!("interrupted in {iteration}, {reason}", iteration, reason = it)),
        _ if status.iteration == 0 => tr!("interrupted before the first iteration").into(),
        _ => tr!("interrupted in {iteration}", iteration).into(),
    }
}
