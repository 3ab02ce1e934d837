//! What a notification says of a loop that has ended or needs its user: a question comes first, since a notification
//! may be cut off at the end.

use super::{DisplayPhase, DisplayState, LoopStatus, headline};
use crate::sentences;
use loopkeeper_core::journal::{PauseReason, QuestionKind};
use loopkeeper_text::sanitize;

/// Of a task's title, before a question.
const TITLE_CHARS: usize = 24;

/// `"Pay" asks: Which database do you want?`
pub fn notice(status: &LoopStatus) -> String {
    let title = if status.task.title.is_empty() { &status.task.uri } else { &status.task.title };
    let short = format!("\"{}\"", sanitize::line_within(title, TITLE_CHARS));
    if let Some(question) = status.question.as_ref().filter(|_| status.phase == DisplayPhase::NeedsAnswer) {
        return match question.kind {
            QuestionKind::Agent => format!("{short} asks: {}", sanitize::line(&question.text)),
            // Whole: nothing of what is to be allowed is hidden.
            QuestionKind::Permission => {
                format!("{short}: {}", sentences::wanted(&sanitize::visible(&question.text)))
            }
            QuestionKind::Denied | QuestionKind::UsageLimit => {
                format!("{short}: {}", sanitize::line(&question.text))
            }
        };
    }
    let pause = status.pause.as_ref().filter(|it| it.reason != PauseReason::User);
    match pause.filter(|_| status.state == DisplayState::NeedsYou && status.phase == DisplayPhase::Paused) {
        Some(pause) => format!("{short} needs you: {}", sanitize::line(&pause.message)),
        None => sanitize::line(&format!("\"{title}\": {}", headline(status))),
    }
}

#[cfg(test)]
mod tests;
