//! Asks the user the question of a loop, and executes the command for the answer.

use std::sync::Arc;
use std::time::Duration;

use loopkeeper_core::journal::QuestionKind;
use loopkeeper_text::{tr, tr_later};
use loopkeeper_view::{LoopStatus, QuestionStatus, notice};

use super::{CommandOutcome, loop_commands, trust};
use crate::ext::{AnswerArgs, CommandResult, ResumeArgs, StopArgs};
use crate::questions::{self, ClientQuestion, QuestionSupport};
use crate::session::ServerState;
use crate::transport::spawn_after_response;
use loopkeeper_operations::local_time::LocalZone;
use loopkeeper_system::clock;

const WAIT: &str = tr_later!("Wait");
const STOP: &str = tr_later!("Stop");
const DECIDE: &str = tr_later!("Agent decides");
/// Answers to a permission request, with their labels.
pub(crate) const PERMISSION_ANSWERS: [(&str, &str); 3] = [
    (tr_later!("Allow once"), "allow"),
    (tr_later!("Allow for this loop"), "always"),
    (tr_later!("Deny"), "deny"),
];

/// Answers the question of a loop. Without an answer, the user is asked for it where that is possible.
pub(super) async fn answer(shared: &Arc<ServerState>, args: AnswerArgs) -> CommandOutcome {
    if args.text.is_none() {
        trust::refuse_without_editor(shared, &args.loop_id)?;
        if ask_after_command(shared, &args.loop_id) {
            return Ok(CommandResult { loop_id: Some(args.loop_id), ..CommandResult::default() });
        }
    }
    loop_commands::answer(shared, args).await
}

/// Answers a question, in a client that may only be asked about the user's own commands. `false` if it is asked
/// in another way, or if the question does not exist.
fn ask_after_command(shared: &Arc<ServerState>, loop_id: &str) -> bool {
    if QuestionSupport::of(shared) != QuestionSupport::Unannounced {
        return false;
    }
    let snapshot = shared.index().snapshot();
    let Some(loop_view) = snapshot.loops.iter().find(|it| it.status.id == loop_id) else { return false };
    let question = loop_view.status.question.clone().filter(|_| loop_view.status.keeper.alive);
    question.is_some_and(|question| {
        let status = Box::new(loop_view.status.clone());
        spawn_after_response(ask_user(Arc::clone(shared), status, question));
        true
    })
}

/// Asks the user, and sends the answer to the loop.
pub(crate) async fn ask_user(shared: Arc<ServerState>, status: Box<LoopStatus>, question: QuestionStatus) {
    let asked = ClientQuestion {
        message: message(&status, &question),
        answers: match question.kind {
            QuestionKind::UsageLimit => vec![WAIT, STOP],
            QuestionKind::Permission => PERMISSION_ANSWERS.map(|(title, _)| title).to_vec(),
            QuestionKind::Agent | QuestionKind::Denied => vec![DECIDE, STOP],
        },
        page: None,
        expiry: expiry(&question),
    };
    let Some(answer) = questions::ask_client(&shared, &asked).await else { return };
    let loop_id = status.id;
    let asked = Some(question.id);
    let done = match (question.kind, answer.as_str()) {
        (QuestionKind::UsageLimit, WAIT | STOP) => {
            let text = Some(answer.to_lowercase());
            loop_commands::answer(&shared, AnswerArgs { loop_id, text, question: asked }).await
        }
        (QuestionKind::Permission, title) => {
            let word = PERMISSION_ANSWERS.into_iter().find(|(it, _)| *it == title);
            let text = word.map(|(_, word)| word.to_owned());
            loop_commands::answer(&shared, AnswerArgs { loop_id, text, question: asked }).await
        }
        (_, DECIDE) => {
            loop_commands::resume(&shared, ResumeArgs { loop_id, anyway: false, more: None }).await
        }
        (_, STOP) => loop_commands::stop(&shared, StopArgs { loop_id, now: false }).await,
        _ => return,
    };
    if let Err(refusal) = done {
        refusal.show(&shared).await;
    }
}

fn message(status: &LoopStatus, question: &QuestionStatus) -> String {
    let id = &status.id;
    match question.kind {
        QuestionKind::UsageLimit => {
            let until = status.wait.as_ref().and_then(|it| LocalZone::parse_millis(&it.resumes_at));
            let now = clock::now().wall;
            match until.map(|it| LocalZone::local().short(it, now)) {
                Some(until) => tr!(
                    "Wait or stop? The provider's usage limit is reached, so the loop waits until {until}.",
                    until
                ),
                None => {
                    tr!("Wait or stop? The provider's usage limit is reached, so the loop waits.").to_owned()
                }
            }
        }
        QuestionKind::Permission => notice(status).to_string(),
        QuestionKind::Agent => {
            let notice = notice(status);
            tr!("{notice} Answer with `loopkeeper answer {id} '…'` in a terminal.", notice, id)
        }
        QuestionKind::Denied => {
            let notice = notice(status);
            tr!("{notice}. Or answer with `loopkeeper answer {id} '…'` in a terminal.", notice, id)
        }
    }
}

/// The time for which the loop waits for the answer.
fn expiry(question: &QuestionStatus) -> Duration {
    let expires = question.expires_at.as_deref().and_then(LocalZone::parse_millis);
    expires.map_or(questions::EXPIRY, |it| Duration::from_millis(it.saturating_sub(clock::now().wall)))
}
