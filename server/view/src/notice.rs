//! The text of a notification about a loop that has ended or needs the user. A question comes first, because a
//! notification may be cut off at the end.

use super::{DisplayPhase, DisplayState, LoopStatus, headline};
use crate::sentences;
use loopkeeper_core::decide::early_warning::EarlyWarning;
use loopkeeper_core::journal::{PauseReason, QuestionKind};
use loopkeeper_text::message::Message;
use loopkeeper_text::sanitize;
use loopkeeper_text::tr;

/// Maximum length of a task's title before a question.
const TITLE_CHARS: usize = 24;

/// `"Pay" asks: Which database do you want?`
pub fn notice(status: &LoopStatus) -> Message {
    let short = short_title(status);
    if let Some(question) = status.question.as_ref().filter(|_| status.phase == DisplayPhase::NeedsAnswer) {
        let fact = match question.kind {
            QuestionKind::Agent => {
                tr!("{title} asks: {question}", title = short, question = sanitize::line(&question.text))
            }
            // Not shortened, so that no part of the requested action is hidden.
            QuestionKind::Permission => {
                let text = sentences::permission_request(&sanitize::visible(&question.text));
                tr!("{title}: {text}", title = short, text)
            }
            QuestionKind::Denied | QuestionKind::UsageLimit => {
                tr!("{title}: {text}", title = short, text = sanitize::line(&question.text))
            }
        };
        return fact.into();
    }
    let pause = status.pause.as_ref().filter(|it| it.reason != PauseReason::User);
    match pause.filter(|_| status.state == DisplayState::NeedsYou && status.phase == DisplayPhase::Paused) {
        Some(pause) => pause
            .message
            .map_parts(sanitize::line)
            .map_fact(|it| tr!("{title} needs you: {reason}", title = short, reason = it)),
        None => headline(status)
            .map_fact(|it| {
                tr!("{title}: {text}", title = tr!("\"{title}\"", title = title(status)), text = it)
            })
            .map_parts(sanitize::line),
    }
}

/// `"Pay": 2 iterations without a file change; the breaker opens at 3`
pub fn warning_notice(status: &LoopStatus, warnings: &[EarlyWarning]) -> String {
    let title = short_title(status);
    let all = warnings.iter().map(|it| sanitize::line(&it.sentence));
    let text = all.reduce(|sentence, next| tr!("{sentence}. {next}", sentence, next));
    tr!("{title}: {text}", title, text = text.unwrap_or_default())
}

fn short_title(status: &LoopStatus) -> String {
    tr!("\"{title}\"", title = sanitize::line_within(title(status), TITLE_CHARS))
}

fn title(status: &LoopStatus) -> &str {
    if status.task.title.is_empty() { &status.task.uri } else { &status.task.title }
}

#[cfg(test)]
mod tests;
