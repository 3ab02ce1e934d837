//! Permission requests of the agent (`permissions = "ask"`). The user is asked about one request at a time, with a
//! timeout; an unanswered request is denied, and so is the rest of the iteration. Nothing is allowed that is not
//! recorded as allowed.

use crate::journal::{QuestionKind, Record};
use loopkeeper_agent::PermissionMode;
use loopkeeper_agent::acp::talk::PermissionAnswer;
use loopkeeper_text::message::Message;
use loopkeeper_text::moment::Moment;
use loopkeeper_text::words;

use super::questions::PendingQuestion;
use super::state::{LoopState, Phase, VolatileState};
use super::{Decision, Effect, RefusalReason};

const ALLOW: &str = "allow";
pub(super) const ALWAYS: &str = "always";
const DENY: &str = "deny";
/// Maximum number of questions per iteration.
const MAX: u32 = 50;

/// Refuses, or answers the agent immediately, or asks the user.
pub(super) fn handle_permission_request(state: &LoopState, now: Moment, text: String) -> Vec<Decision> {
    if let Some(message) = cannot_ask_reason(state) {
        let message = message.into();
        return vec![Decision::Effect(Effect::Refuse { code: RefusalReason::Conflict, message })];
    }
    if state.questions.allowed.contains(&text) {
        return Vec::new();
    }
    if let Some(message) = skip_user_reason(state) {
        let message = message.into();
        return vec![Decision::Effect(Effect::Refuse { code: RefusalReason::Conflict, message })];
    }
    let id = format!("permission-{}-{}", state.iteration, state.seq + 1);
    let until = Some(now.plus_ms(state.spec.settings.questions.timeout_ms));
    let record = Record::Asked { id, kind: QuestionKind::Permission, text, until };
    vec![Decision::Record(record), Decision::Effect(Effect::AwaitUser)]
}

/// Why no request is possible at all.
fn cannot_ask_reason(state: &LoopState) -> Option<&'static str> {
    if !matches!(state.phase, Phase::Iterating { .. }) {
        Some("no agent of this loop is at work")
    } else if state.spec.agent.permissions != PermissionMode::Ask {
        Some("the configuration of this loop decides")
    } else if state.stop.is_some() {
        Some("the loop is stopping")
    } else if state.pause.is_some() {
        Some("the loop is about to rest")
    } else {
        None
    }
}

/// Why the user is not asked.
fn skip_user_reason(state: &LoopState) -> Option<&'static str> {
    let asking = &state.questions.permissions;
    if state.questions.open.is_some() {
        Some("the user is being asked about something else")
    } else if !state.spec.attended {
        Some("no user is present to answer")
    } else if asking.unheard {
        Some("its earlier question was not answered")
    } else if asking.count >= MAX {
        Some("it asked too often in this iteration")
    } else {
        None
    }
}

pub(super) fn answer(open: &PendingQuestion, text: &str) -> Vec<Decision> {
    let (word, permit) = match text.trim().to_lowercase().as_str() {
        ALLOW => (ALLOW, PermissionAnswer::Allowed),
        ALWAYS => (ALWAYS, PermissionAnswer::Allowed),
        DENY => (DENY, PermissionAnswer::Denied("the user did not allow it".to_owned())),
        _ => {
            let code = RefusalReason::BadArgument;
            let message = Message::new("the agent waits to be allowed something")
                .with_hint("answer `allow`, `always` or `deny`");
            return vec![Decision::Effect(Effect::Refuse { code, message })];
        }
    };
    let record = Record::Answered { id: open.id.clone(), text: Some(word.to_owned()) };
    vec![Decision::Record(record), Decision::Effect(Effect::Permit(permit))]
}

/// The timeout of the question has passed.
pub(super) fn expire_question(state: &LoopState, now: Moment) -> Option<Vec<Decision>> {
    let open = state.questions.permission()?;
    if open.until.is_some_and(|it| now.awake < it.awake) {
        return Some(Vec::new());
    }
    let time = words::duration(state.spec.settings.questions.timeout_ms);
    Some(close_question(open, PermissionAnswer::Denied(format!("no answer came within {time}"))))
}

/// The agent no longer waits for the answer.
pub(super) fn withdraw_question(state: &LoopState) -> Vec<Decision> {
    state.questions.permission().map_or_else(Vec::new, |it| close_question(it, PermissionAnswer::Cancelled))
}

fn close_question(open: &PendingQuestion, permit: PermissionAnswer) -> Vec<Decision> {
    let record = Record::Answered { id: open.id.clone(), text: None };
    vec![Decision::Record(record), Decision::Effect(Effect::Permit(permit))]
}

/// Withdraws the question when the agent's turn ends or is about to end. Time spent waiting for the user does not count
/// against the agent's limits.
pub(super) fn withdraw_on_turn_end(
    state: &LoopState,
    live: &mut VolatileState,
    now: Moment,
    mut steps: Vec<Decision>,
) -> Vec<Decision> {
    let Some(open) = state.questions.permission() else { return steps };
    let ends = |it: &Decision| {
        let Decision::Record(record) = it else { return false };
        matches!(
            record,
            Record::Stopping { .. }
                | Record::Paused { .. }
                | Record::AgentEnded { .. }
                | Record::AgentLeft { .. }
                | Record::Ended { .. }
        )
    };
    let is_answer =
        |it: &Decision| matches!(it, Decision::Record(Record::Answered { id, .. }) if *id == open.id);
    if steps.iter().any(ends) && !steps.iter().any(is_answer) {
        steps.extend(withdraw_question(state));
    }
    if steps.iter().any(is_answer) {
        (live.last_sign, live.last_look) = (now, now);
    }
    steps
}
