//! Questions to the user: from the agent's last message, about denied tools, and whether to wait for a usage limit. A
//! question holds its loop for a limited time, and never an unattended loop.

use crate::journal::{OutcomeKind, PauseReason, QuestionKind, Record, WaitReason};
use crate::loop_state::{Iteration, LoopState, PendingQuestion, Phase, VolatileState, Wait};
use crate::settings::{UnansweredPolicy, UsageLimitPolicy};
use loopkeeper_agent::PermissionMode;
use loopkeeper_text::clauses::list;
use loopkeeper_text::language::Language;
use loopkeeper_text::message::Message;
use loopkeeper_text::moment::Moment;
use loopkeeper_text::tr;

use super::endings::{end_now, pause_or_end};
use super::spans::iterations;
use super::{Decision, Effect, RefusalReason, limits, permissions};

/// The timeout of the question at a usage limit.
const AT_LIMIT_MS: u64 = 30_000;

/// Applies an answer. If the loop is paused because of the question, this resumes it.
pub(super) fn apply_answer(state: &mut LoopState, at: Moment, id: &str, text: Option<&str>) {
    let waited = state.questions.record_wait(at, id, text);
    if let (Phase::Iterating(agent), Some(ms)) = (&mut state.phase, waited) {
        // Not charged to the agent.
        agent.since = agent.since.plus_ms(ms);
    }
    if state.questions.record_answer(id, text) {
        state.pause.take_if(|it| it.reason == PauseReason::Question);
    }
}

/// Between iterations: asks, waits for the answer, or continues without one. `None`: no question blocks the loop.
pub(super) fn next(state: &LoopState, now: Moment) -> Option<Vec<Decision>> {
    if let Some(open) = &state.questions.open {
        let at_limit = open.kind == QuestionKind::UsageLimit;
        if at_limit && state.phase.wait().is_none_or(|it| it.until.awake <= now.awake) {
            // There is no reason left to wait.
            return None;
        }
        if open.until.is_none_or(|it| it.awake <= now.awake) {
            return Some(without_answer(state, open));
        }
        // The loop also waits for a usage limit.
        return (!at_limit).then(Vec::new);
    }
    let (kind, text) = question_after_iteration(state)?;
    let until = now.plus_ms(state.spec.settings.questions.timeout_ms);
    let question =
        PendingQuestion { until: state.spec.attended.then_some(until), ..new_question(state, kind, text) };
    let mut steps = vec![question_record(&question)];
    if !state.spec.attended {
        steps.extend(without_answer(state, &question));
    }
    Some(steps)
}

/// Begins a wait, or ends the loop if its time ends before the wait does. At a usage limit the user may decline to wait.
pub(super) fn begin_wait(state: &LoopState, now: Moment, wait: Wait) -> Vec<Decision> {
    if let Some(outcome) = limits::wait_limit_outcome(state, &wait) {
        return Decision::record_and_continue(Record::Ended { outcome });
    }
    let Wait { reason, until, met_by } = wait;
    let is_quota = reason == WaitReason::Quota;
    if is_quota && !state.spec.attended && state.spec.settings.usage_limit == UsageLimitPolicy::Stop {
        return end_at_usage_limit(state);
    }
    let answer_by = now.plus_ms(AT_LIMIT_MS);
    // A wait shorter than the time to answer raises no question.
    let is_asked = is_quota && state.spec.attended && answer_by.awake < until.awake;
    let question = is_asked.then(|| {
        let text = usage_limit_text(state, met_by.as_deref());
        let question = new_question(state, QuestionKind::UsageLimit, text);
        question_record(&PendingQuestion { until: Some(answer_by), ..question })
    });
    let wait = Decision::Record(Record::Waiting { reason, until, met_by });
    std::iter::once(wait).chain(question).chain([Decision::Effect(Effect::Continue)]).collect()
}

fn usage_limit_text(state: &LoopState, met_by: Option<&str>) -> String {
    let agent = &state.spec.agent.name;
    match met_by {
        None => tr!("The provider's usage limit is reached: wait until it is lifted, or stop?").to_owned(),
        Some(id) => tr!(
            "Loop {id} reached the usage limit of `{agent}`: wait until it is lifted, or stop?",
            id,
            agent
        ),
    }
}

/// Handles an answer of the user.
pub(super) fn answer(
    state: &LoopState,
    live: &mut VolatileState,
    now: Moment,
    text: String,
) -> Vec<Decision> {
    let refuse = |code, message| vec![Decision::Effect(Effect::Refuse { code, message })];
    let Some(open) = &state.questions.open else {
        let message = Message::new(tr!("the loop has no open question"))
            .with_hint(tr!("`loopkeeper steer` sends the agent a message"));
        return refuse(RefusalReason::Conflict, message);
    };
    if open.kind == QuestionKind::Permission {
        return permissions::answer(live, now, open, &text);
    }
    let answered =
        |text: String| Decision::Record(Record::Answered { id: open.id.clone(), text: Some(text) });
    if open.kind != QuestionKind::UsageLimit {
        return vec![answered(text), Decision::Effect(Effect::Continue)];
    }
    match text.trim().to_lowercase().as_str() {
        word @ "wait" => vec![answered(word.to_owned()), Decision::Effect(Effect::Continue)],
        word @ "stop" => {
            let iterations = iterations(state.iteration);
            let sentence = tr!("stopped at the provider's usage limit, after {iterations}", iterations);
            [vec![answered(word.to_owned())], end_now(OutcomeKind::Stopped, sentence, None)].concat()
        }
        _ => {
            let message =
                Message::new(tr!("the loop asks whether to wait")).with_hint(tr!("answer `wait` or `stop`"));
            refuse(RefusalReason::BadArgument, message)
        }
    }
}

/// The same for a question that was shown to the user: the open question may be a different one now.
pub(super) fn answer_to(
    (state, live, now): (&LoopState, &mut VolatileState, Moment),
    question: &str,
    text: String,
) -> Vec<Decision> {
    if state.questions.open.as_ref().is_some_and(|it| it.id != question) {
        let message = Message::new(tr!("that question is no longer open"))
            .with_hint(tr!("`loopkeeper status` shows the current question"));
        return vec![Decision::Effect(Effect::Refuse { code: RefusalReason::Conflict, message })];
    }
    answer(state, live, now, text)
}

/// The user resumes without an answer: the agent decides.
pub(super) fn waive_question(state: &LoopState) -> Option<Decision> {
    let by_user = state.pause.as_ref().is_some_and(|it| it.reason != PauseReason::Question);
    let open = state.questions.blocking_question().filter(|_| !by_user)?;
    Some(Decision::Record(Record::Answered { id: open.id.clone(), text: None }))
}

fn without_answer(state: &LoopState, open: &PendingQuestion) -> Vec<Decision> {
    let settings = &state.spec.settings;
    let answered = Decision::Record(Record::Answered { id: open.id.clone(), text: None });
    match open.kind {
        QuestionKind::UsageLimit if settings.usage_limit == UsageLimitPolicy::Stop => {
            [vec![answered], end_at_usage_limit(state)].concat()
        }
        QuestionKind::Agent | QuestionKind::Denied
            if settings.questions.unanswered == UnansweredPolicy::Pause =>
        {
            pause_or_end(
                state,
                PauseReason::Question,
                tr!("unanswered question: {question}", question = open.text),
            )
        }
        QuestionKind::Agent | QuestionKind::Denied | QuestionKind::UsageLimit | QuestionKind::Permission => {
            vec![answered, Decision::Effect(Effect::Continue)]
        }
    }
}

fn end_at_usage_limit(state: &LoopState) -> Vec<Decision> {
    let iterations = iterations(state.iteration);
    let sentence = tr!("limit reached: the provider's usage limit, after {iterations}", iterations);
    end_now(OutcomeKind::Limit, sentence, None)
}

fn new_question(state: &LoopState, kind: QuestionKind, text: String) -> PendingQuestion {
    let word = match kind {
        QuestionKind::Agent => "agent",
        QuestionKind::UsageLimit => "usage-limit",
        QuestionKind::Denied => "denied",
        QuestionKind::Permission => "permission",
    };
    PendingQuestion { id: format!("{word}-{}", state.iteration), kind, text, until: None }
}

fn question_record(question: &PendingQuestion) -> Decision {
    let PendingQuestion { id, kind, text, until } = question.clone();
    Decision::Record(Record::Asked { id, kind, text, until })
}

/// The question that the last iteration leaves to the user.
fn question_after_iteration(state: &LoopState) -> Option<(QuestionKind, String)> {
    let last = state.last_iteration()?;
    if state.questions.asked_after >= last.number || last.is_provider_failure() {
        return None;
    }
    if let Some(text) = &last.claims.question {
        return Some((QuestionKind::Agent, text.clone()));
    }
    // With `permissions = "ask"` the user saw each denial already.
    let text =
        denial_question(state, last).filter(|_| state.spec.agent.permissions != PermissionMode::Ask)?;
    (!was_asked(state, last)).then_some((QuestionKind::Denied, text))
}

/// Whether the denials of this iteration were asked about. The records hold the text of the question, in the language of
/// the keeper that asked.
fn was_asked(state: &LoopState, last: &Iteration) -> bool {
    [Language::English, Language::SimplifiedChinese].into_iter().any(|language| {
        let text = language.during(|| denial_question(state, last));
        text.is_some_and(|it| state.questions.denied.contains(&it))
    })
}

/// Denials that keep the agent from its work: it changed nothing, or requests the same again.
fn denial_question(state: &LoopState, last: &Iteration) -> Option<String> {
    let before = state.history.recent().iter().rev().nth(1);
    let again = |it: &String| before.is_some_and(|before| before.denied.contains(it));
    if last.denials == 0 || (last.changes.has_progress() && !last.denied.iter().any(again)) {
        return None;
    }
    let what = match last.denied.as_slice() {
        [] => tr!("a tool").to_owned(),
        some => list(some.iter().map(|it| format!("`{it}`"))),
    };
    let agent = &state.spec.agent.name;
    Some(tr!(
        "The agent was denied {what}. Allow it with `permissions` of `[agents.{agent}]`, or write the command as a \
         check of the task",
        what,
        agent
    ))
}
