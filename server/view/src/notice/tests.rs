use super::notice;
use crate::status::tests::idle;
use crate::{DisplayPhase, DisplayState, LoopStatus, PauseStatus, QuestionStatus};
use loopkeeper_core::journal::{PauseReason, QuestionKind};
use loopkeeper_text::message::Message;

fn asking(title: &str, kind: QuestionKind, text: &str) -> LoopStatus {
    let mut status = needing(title);
    status.phase = DisplayPhase::NeedsAnswer;
    status.question =
        Some(QuestionStatus { id: "q".to_owned(), kind, text: text.to_owned(), expires_at: None });
    status
}

fn needing(title: &str) -> LoopStatus {
    let mut status = idle();
    title.clone_into(&mut status.task.title);
    (status.state, status.phase, status.pause) = (DisplayState::NeedsYou, DisplayPhase::Paused, None);
    status
}

#[test]
fn the_question_comes_first() {
    let check = |title: &str, kind: QuestionKind, text: &str, expect: &str| {
        assert_eq!(notice(&asking(title, kind, text)).to_string(), expect);
    };
    check(
        "Say hello politely",
        QuestionKind::Agent,
        "Which greeting do you prefer:\nformal or informal?",
        "\"Say hello politely\" asks: Which greeting do you prefer: formal or informal?",
    );
    let wanted = "\"Pay\": the agent wants to run a command: git push^[[2J";
    check("Pay", QuestionKind::Permission, "run a command: git push\u{1b}[2J", wanted);
    check("Pay", QuestionKind::Denied, "Bash(rm) was denied", "\"Pay\": Bash(rm) was denied");
    // A long title leaves room for the question.
    let long = notice(&asking(&"very ".repeat(20), QuestionKind::Agent, "Which one?")).to_string();
    assert!(long.find("Which one?").is_some_and(|it| it <= 40), "{long}");
}

#[test]
fn a_waiting_loop_names_its_reason() {
    let message = || Message::new("the agent is not logged in").with_hint("log in");
    let pause = |reason| PauseStatus { reason, message: message() };
    let mut status = needing("Pay");
    status.pause = Some(pause(PauseReason::Agent));
    assert_eq!(notice(&status).to_string(), "\"Pay\" needs you: the agent is not logged in. Hint: log in");
    status.phase = DisplayPhase::Interrupted;
    assert!(notice(&status).fact().starts_with("\"Pay\": Needs you: interrupted"), "{}", notice(&status));
}
