//! One line per loop: its state first, then its progress.

use super::{DisplayPhase, DisplayState, LoopStatus};
use crate::sentences;
use loopkeeper_core::journal::{PauseReason, QuestionKind, WaitReason};
use loopkeeper_text::message::Message;
use loopkeeper_text::words;

/// `Working: iteration 4/25, 3 of 5 criteria pass, $1.24`. Contains no time of day, which each view adds itself.
pub fn headline(status: &LoopStatus) -> Message {
    // The outcome in a damaged journal may be wrong.
    if let Some(outcome) = status.outcome.as_ref().filter(|_| status.phase != DisplayPhase::Damaged) {
        let rolled_back = if status.stale { " (files rolled back since)" } else { "" };
        return outcome.sentence.clone().map_fact(|it| format!("{}{rolled_back}", words::capitalised(&it)));
    }
    if let Some(wanted) = requested_permission(status) {
        // The agent's text comes last, because text after it could not be distinguished from it.
        let iteration = iteration(status);
        return format!("{}: {iteration}, {}, {wanted}", word(status), status.criteria.sentence()).into();
    }
    let mut counts = status.criteria.sentence();
    counts.extend(status.spent.cost_micros.map(|it| format!(", {}", words::cost(it))));
    // The breaker's reason is in parentheses, because a colon would be the second one of the line.
    let colon = if status.is_cooling() { "" } else { ":" };
    what(status).map_fact(|it| format!("{}{colon} {}", word(status), followed_by(&it, &counts)))
}

/// `fact, counts`, or two sentences if the fact ends one, like a question of the agent.
fn followed_by(fact: &str, counts: &str) -> String {
    let fact = fact.trim_end();
    if fact.ends_with(['?', '!', '.', '。', '？']) {
        format!("{fact} {}", words::capitalised(counts))
    } else {
        format!("{fact}, {counts}")
    }
}

/// The state in one or two words.
fn word(status: &LoopStatus) -> &'static str {
    match status.state {
        DisplayState::Working if status.is_cooling() => "Breaker open",
        DisplayState::Working => "Working",
        DisplayState::NeedsYou => "Needs you",
        DisplayState::Paused => "Paused",
        DisplayState::Done => "Done",
        DisplayState::Idle => "Idle",
    }
}

/// The action for which the agent needs permission.
fn requested_permission(status: &LoopStatus) -> Option<String> {
    let question = status.question.as_ref().filter(|it| it.kind == QuestionKind::Permission)?;
    (status.phase == DisplayPhase::NeedsAnswer).then(|| sentences::wanted(&question.text))
}

fn iteration(status: &LoopStatus) -> String {
    format!("iteration {}/{}", status.iteration, status.limits.iterations)
}

fn what(status: &LoopStatus) -> Message {
    let iteration = iteration(status);
    let fact = match status.phase {
        DisplayPhase::Baseline => "checks before iteration 1".into(),
        DisplayPhase::Iterating => iteration,
        DisplayPhase::Checking => format!("{iteration}, running checks"),
        DisplayPhase::Waiting => match status.wait.as_ref().map(|it| it.reason) {
            Some(WaitReason::Quota) => format!("{iteration}, waiting for the provider's usage limit"),
            Some(WaitReason::Backoff) => format!("{iteration}, waiting to try the agent again"),
            Some(WaitReason::Calls) => format!("{iteration}, waiting: the calls of this hour are used up"),
            Some(WaitReason::Breaker) => {
                let why = status.breaker.reason.as_deref().unwrap_or("no progress");
                format!("at {iteration} ({why}), retries automatically")
            }
            Some(WaitReason::Other) => format!("{iteration}, waiting"),
            Some(WaitReason::Between) | None => format!("{iteration}, waiting before the next"),
        },
        DisplayPhase::Stopping => format!("{iteration}, stopping"),
        DisplayPhase::Untrusted => "its commands are not trusted".into(),
        DisplayPhase::NeedsAnswer => format!("{iteration}, {}", question_text(status)),
        DisplayPhase::Interrupted => return interrupted(status, &iteration),
        DisplayPhase::Damaged => "its journal is damaged".into(),
        DisplayPhase::Paused => match &status.pause {
            Some(pause) if pause.reason == PauseReason::Missing && status.iteration == 0 => {
                return pause.message.clone();
            }
            Some(pause) if pause.reason != PauseReason::User => {
                return pause.message.clone().map_fact(|it| format!("{iteration}, {it}"));
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
        Some(it) if it.kind == QuestionKind::Agent => format!("the agent asks: {}", it.text),
        Some(it) => it.text.clone(),
        None => "the agent asks a question".into(),
    }
}

/// A keeper that exited because of a full disk recorded that reason.
fn interrupted(status: &LoopStatus, iteration: &str) -> Message {
    if status.keeper.stopped {
        return format!("{iteration}, the loop's process is stopped").into();
    }
    match &status.pause {
        Some(pause) if pause.reason == PauseReason::Disk => {
            pause.message.clone().map_fact(|it| format!("interrupted in {iteration}, {it}"))
        }
        _ if status.iteration == 0 => "interrupted before the first iteration".into(),
        _ => format!("interrupted in {iteration}").into(),
    }
}
