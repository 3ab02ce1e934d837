//! Permission requests of the agent (`permissions = "ask"`). The user is asked about one request at a time, with a
//! timeout; an unanswered request is denied, and so is the rest of the iteration. Nothing is allowed that is not
//! recorded as allowed.

use crate::journal::{QuestionKind, Record};
use crate::loop_state::{ALWAYS, LoopState, PendingQuestion, Phase, VolatileState};
use loopkeeper_agent::PermissionMode;
use loopkeeper_agent::acp::client::PermissionAnswer;
use loopkeeper_text::language::Language;
use loopkeeper_text::message::Message;
use loopkeeper_text::moment::Moment;
use loopkeeper_text::tr;
use loopkeeper_text::words;

use super::{Decision, Effect, RefusalReason};

const ALLOW: &str = "allow";
const DENY: &str = "deny";
/// Maximum number of questions per iteration.
const MAX_QUESTIONS: u32 = 50;

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
    let id = format!("permission-{}-{}", state.iteration, state.position.seq + 1);
    let until = Some(now.plus_ms(state.spec.settings.questions.timeout_ms));
    let record = Record::Asked { id, kind: QuestionKind::Permission, text, until };
    vec![Decision::Record(record), Decision::Effect(Effect::AwaitUser)]
}

/// Why no request is possible at all. This text and the other refusals are for the agent, in English.
fn cannot_ask_reason(state: &LoopState) -> Option<&'static str> {
    if !matches!(state.phase, Phase::Iterating(_)) {
        Some("no agent of this loop is at work")
    } else if state.spec.agent.permissions != PermissionMode::Ask {
        Some("the configuration of this loop decides")
    } else if state.stop.is_some() {
        Some("the loop is stopping")
    } else if state.pause.is_some() {
        Some("the loop is about to pause")
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
    } else if asking.count >= MAX_QUESTIONS {
        Some("there were too many requests in this iteration")
    } else {
        None
    }
}

pub(super) fn answer(
    live: &mut VolatileState,
    now: Moment,
    open: &PendingQuestion,
    text: &str,
) -> Vec<Decision> {
    let (word, permit) = match text.trim().to_lowercase().as_str() {
        ALLOW => (ALLOW, PermissionAnswer::Allowed),
        ALWAYS => (ALWAYS, PermissionAnswer::Allowed),
        DENY => (DENY, PermissionAnswer::Denied("the user did not allow it".to_owned())),
        _ => {
            let code = RefusalReason::BadArgument;
            let message = Message::new(tr!("the agent waits for a permission"))
                .with_hint(tr!("answer `allow`, `always` or `deny`"));
            return vec![Decision::Effect(Effect::Refuse { code, message })];
        }
    };
    close_question(live, now, open, (Some(word), permit))
}

/// The timeout of the question has passed.
pub(super) fn expire_question(
    state: &LoopState,
    live: &mut VolatileState,
    now: Moment,
) -> Option<Vec<Decision>> {
    let open = state.questions.permission()?;
    if open.until.is_some_and(|it| now.awake < it.awake) {
        return Some(Vec::new());
    }
    // The text is for the agent.
    let time = Language::English.during(|| words::duration(state.spec.settings.questions.timeout_ms));
    let denied = PermissionAnswer::Denied(format!("no answer came within {time}"));
    Some(close_question(live, now, open, (None, denied)))
}

/// Closes a pending request that no longer needs an answer: the turn ends or is about to end, or the hook has exited.
pub(super) fn withdraw_question(state: &LoopState, live: &mut VolatileState, now: Moment) -> Vec<Decision> {
    let Some(open) = state.questions.permission() else { return Vec::new() };
    close_question(live, now, open, (None, PermissionAnswer::Cancelled))
}

/// The time that the agent waited for the user does not count as idle time.
fn close_question(
    live: &mut VolatileState,
    now: Moment,
    open: &PendingQuestion,
    (text, permit): (Option<&str>, PermissionAnswer),
) -> Vec<Decision> {
    (live.agent.last_activity, live.agent.last_activity_check) = (now, now);
    let record = Record::Answered { id: open.id.clone(), text: text.map(str::to_owned) };
    vec![Decision::Record(record), Decision::Effect(Effect::Permit(permit))]
}
