//! The buttons of alerts, as commands of this server.

use std::collections::BTreeSet;

use loopkeeper_core::decide::exit::was_satisfied_at_start;
use loopkeeper_core::decide::{LoopState, weakening};
use loopkeeper_core::journal::{BreakerState, OutcomeKind, PauseReason, QuestionKind, StopVerdict};
use loopkeeper_text::language::translate;
use loopkeeper_text::tr;
use loopkeeper_view::{DisplayPhase, LoopStatus, QuestionStatus};
use lsp_types::Command;
use serde_json::{Value, json};

use crate::commands::loop_questions::PERMISSION_ANSWERS;
use crate::ext::{self, AlertQuestion};
use loopkeeper_operations::continuation;

/// How far the button continues an ended loop.
const MORE_ITERATIONS: u32 = 10;

/// The actions that the user can take, at most three.
pub(super) fn state_actions(status: &LoopStatus, state: &LoopState) -> Vec<Command> {
    let of_loop = json!({"loopId": status.id});
    let of_task = json!({"task": status.task.uri});
    let output = command(tr!("Show output"), ext::OUTPUT, &of_task);
    if status.outcome.is_some() {
        if was_satisfied_at_start(state) {
            let anyway = json!({"task": status.task.uri, "anyway": true});
            return vec![command(tr!("Start anyway"), ext::START, &anyway)];
        }
        return if status.iteration > 0 { actions_after_end(status, state, output) } else { Vec::new() };
    }
    if let Some(question) = permission_question(status) {
        return permission_commands(&status.id, question);
    }
    let stop = command(tr!("Stop"), ext::STOP, &of_loop);
    if status.phase == DisplayPhase::Paused
        && status.pause.as_ref().is_some_and(|it| it.reason == PauseReason::Missing)
    {
        let anyway = json!({"loopId": status.id, "anyway": true});
        return vec![
            command(tr!("Check again"), ext::RESUME, &of_loop),
            command(tr!("Continue anyway"), ext::RESUME, &anyway),
            stop,
        ];
    }
    match status.phase {
        DisplayPhase::Damaged => Vec::new(),
        DisplayPhase::NeedsAnswer => {
            vec![
                command(tr!("Answer…"), ext::ANSWER, &of_loop),
                command(tr!("Agent decides"), ext::RESUME, &of_loop),
                stop,
            ]
        }
        DisplayPhase::Interrupted => vec![command(tr!("Resume"), ext::RESUME, &of_loop), stop],
        _ if status.breaker.state != BreakerState::Closed => {
            vec![command(tr!("Reset and resume"), ext::RESET_BREAKER, &of_loop), output, stop]
        }
        _ if weakening::is_blocking(state) => weakening_actions(status, state, output),
        _ => vec![command(tr!("Resume"), ext::RESUME, &of_loop), output, stop],
    }
}

/// What helps to review a loop that worked, to undo its work, and what fits its outcome. More than three buttons are cut
/// off in Visual Studio Code.
fn actions_after_end(status: &LoopStatus, state: &LoopState, output: Command) -> Vec<Command> {
    let of_loop = json!({"loopId": status.id});
    let mut all = vec![command(tr!("Review all changes"), ext::DIFF, &of_loop)];
    if state.tree_after(0).is_some() {
        all.push(command(tr!("Undo"), ext::ROLLBACK, &json!({"loopId": status.id, "iteration": 0})));
    }
    all.push(match status.outcome.as_ref().map(|it| it.kind) {
        Some(OutcomeKind::Completed) => command(tr!("Receipt"), ext::RECEIPT, &of_loop),
        Some(OutcomeKind::Limit | OutcomeKind::Breaker | OutcomeKind::Stopped)
            if continuation::is_possible(&state.spec) =>
        {
            let title = tr!("Continue with {count} more", count = MORE_ITERATIONS);
            let argument = json!({"loopId": status.id, "more": MORE_ITERATIONS});
            command(&title, ext::RESUME, &argument)
        }
        _ => output,
    });
    all
}

/// Offered before the loop stops automatically.
pub(super) fn warning_actions(status: &LoopStatus) -> Vec<Command> {
    let of_loop = json!({"loopId": status.id});
    vec![
        command(tr!("Show output"), ext::OUTPUT, &json!({"task": status.task.uri})),
        command(tr!("Pause"), ext::PAUSE, &of_loop),
        command(tr!("Stop"), ext::STOP, &of_loop),
    ]
}

/// Asked once, after the user reacted to the end of a loop that ended without a command.
pub(super) fn feedback_question(status: &LoopStatus, state: &LoopState) -> Option<AlertQuestion> {
    let kind = status.outcome.as_ref()?.kind;
    let ended_itself = matches!(kind, OutcomeKind::Completed | OutcomeKind::Limit | OutcomeKind::Breaker);
    if !ended_itself || status.iteration == 0 || state.feedback.is_some() {
        return None;
    }
    let answers = [
        (tr!("Yes"), StopVerdict::Right),
        (tr!("Too early"), StopVerdict::TooEarly),
        (tr!("Too late"), StopVerdict::TooLate),
    ];
    let answer = |(title, verdict): (&str, StopVerdict)| {
        command(title, ext::FEEDBACK, &json!({"loopId": status.id, "verdict": verdict.word()}))
    };
    Some(AlertQuestion {
        message: tr!("Was this the right moment to stop?").to_owned(),
        actions: answers.map(answer).to_vec(),
    })
}

/// The agent's open permission request.
fn permission_question(status: &LoopStatus) -> Option<&QuestionStatus> {
    let open = status.question.as_ref().filter(|it| it.kind == QuestionKind::Permission);
    open.filter(|_| status.phase == DisplayPhase::NeedsAnswer)
}

fn permission_commands(loop_id: &str, question: &QuestionStatus) -> Vec<Command> {
    let permit = |(title, word)| {
        let answer = json!({"loopId": loop_id, "text": word, "question": question.id});
        command(translate(title), ext::ANSWER, &answer)
    };
    PERMISSION_ANSWERS.into_iter().map(permit).collect()
}

/// Restores or accepts the weakened files.
fn weakening_actions(status: &LoopStatus, state: &LoopState, output: Command) -> Vec<Command> {
    let weakenings: Vec<_> = weakening::unreported(state).collect();
    let accept = command(tr!("Accept"), ext::ACCEPT_WEAKENING, &json!({"loopId": status.id}));
    if !weakenings.iter().all(|it| weakening::is_of_start(state, it)) {
        return vec![accept, output];
    }
    let paths: BTreeSet<&str> = weakenings.iter().map(|it| it.path.as_str()).collect();
    let restored = json!({"loopId": status.id, "iteration": 0, "paths": paths});
    vec![command(tr!("Restore"), ext::ROLLBACK, &restored), accept, output]
}

fn command(title: &str, command: &str, argument: &Value) -> Command {
    Command::new(title.to_owned(), command.to_owned(), Some(vec![argument.clone()]))
}
