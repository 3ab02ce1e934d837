//! Sends one message when a loop ends, needs the user or its breaker opens, and none per iteration. Events from before
//! this server's first refresh are not reported. Clients that know us get `loopkeeper/alert`, others a plain message.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use loopkeeper_core::decide::exit::held_already;
use loopkeeper_core::decide::{LoopState, weakening};
use loopkeeper_core::journal::{OutcomeKind, PauseReason, QuestionKind};
use loopkeeper_view::{DisplayPhase, DisplayState, LoopStatus, QuestionStatus, notice};
use lsp_types::{Command, MessageType};
use serde_json::{Value, json};

use crate::commands::loop_questions::PERMITS;
use crate::ext::{self, Alert, AlertKind, AlertParams, Severity};
use crate::questions;
use crate::session::ServerState;
use loopkeeper_workspace::WorkspaceSnapshot;

use super::held;

#[derive(Default)]
pub(super) struct AlertPublisher {
    known: BTreeMap<String, AlertState>,
    /// Roots whose loops are already known: events found in a newly opened folder are not reported.
    roots: Vec<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum AlertState {
    Open,
    NeedsYou(DisplayPhase, String),
    /// The breaker is open and retries automatically; contains the number of openings.
    Tripped(u32),
    Ended,
}

impl AlertPublisher {
    pub(super) async fn publish(&mut self, shared: &Arc<ServerState>, snapshot: &WorkspaceSnapshot) {
        let now = snapshot.loops.iter().map(|it| (it.status.id.clone(), alert_state(&it.status))).collect();
        let known = std::mem::replace(&mut self.known, now);
        let roots = std::mem::replace(&mut self.roots, snapshot.roots.clone());
        for seen in &snapshot.loops {
            let status = &seen.status;
            let before = known.get(&status.id);
            let after = alert_state(status);
            // A loop that started and ended between two refreshes has ended too.
            let is_news = before.is_some() || roots.iter().any(|it| it == seen.dir.root());
            if is_news && before != Some(&after) && after != AlertState::Open {
                if held_already(&seen.state) && questions::can_ask(shared) {
                    tokio::spawn(held::ask_user(Arc::clone(shared), Box::new(status.clone())));
                    continue;
                }
                let mut alert = alert(status, &seen.state);
                if !shared.session().has_extensions() {
                    alert.message = notice(status).to_string();
                }
                send(shared, alert).await;
            }
        }
    }
}

fn alert_state(status: &LoopStatus) -> AlertState {
    match status.state {
        DisplayState::Done => AlertState::Ended,
        DisplayState::NeedsYou => {
            let asked = status.question.as_ref().map(|it| it.id.clone());
            let why =
                asked.or_else(|| status.pause.as_ref().map(|it| it.message.to_string())).unwrap_or_default();
            AlertState::NeedsYou(status.phase, why)
        }
        DisplayState::Working if status.is_cooling() => AlertState::Tripped(status.breaker.trips),
        DisplayState::Working | DisplayState::Paused | DisplayState::Idle => AlertState::Open,
    }
}

fn alert(status: &LoopStatus, state: &LoopState) -> AlertParams {
    let actions = actions(status, state);
    let message = notice(status);
    // The buttons run the commands that the hint suggests for a terminal.
    let is_offered = actions.iter().any(|it| it.command == ext::ACCEPT_WEAKENING);
    let message = if is_offered { message.fact().to_owned() } else { message.to_string() };
    let (kind, severity) = match &status.outcome {
        None => (AlertKind::NeedsYou, Severity::Warning),
        Some(outcome) => match outcome.kind {
            OutcomeKind::Completed | OutcomeKind::Stopped => (AlertKind::Ended, Severity::Info),
            OutcomeKind::Limit | OutcomeKind::Breaker => (AlertKind::Ended, Severity::Warning),
            OutcomeKind::Failed => (AlertKind::Ended, Severity::Error),
        },
    };
    AlertParams { loop_id: status.id.clone(), kind, severity, message, actions }
}

/// The open alerts: sent with every status, for a client that connected after the notification.
pub(super) fn open_alerts(snapshot: &WorkspaceSnapshot) -> Vec<AlertParams> {
    let needing =
        snapshot.loops.iter().filter(|it| matches!(alert_state(&it.status), AlertState::NeedsYou(..)));
    needing.map(|it| alert(&it.status, &it.state)).collect()
}

/// The actions that the user can take, at most three.
fn actions(status: &LoopStatus, state: &LoopState) -> Vec<Command> {
    let of_loop = json!({"loopId": status.id});
    let of_task = json!({"task": status.task.uri});
    let output = command("Show output", ext::OUTPUT, &of_task);
    if status.outcome.is_some() {
        if held_already(state) {
            let anyway = json!({"task": status.task.uri, "anyway": true});
            return vec![command("Start anyway", ext::START, &anyway)];
        }
        return if status.iteration > 0 { of_end(status, output) } else { Vec::new() };
    }
    if let Some(question) = permission_question(status) {
        return permission_commands(&status.id, question);
    }
    let stop = command("Stop", ext::STOP, &of_loop);
    if status.phase == DisplayPhase::Paused
        && status.pause.as_ref().is_some_and(|it| it.reason == PauseReason::Missing)
    {
        let anyway = json!({"loopId": status.id, "anyway": true});
        return vec![
            command("Check again", ext::RESUME, &of_loop),
            command("Go on anyway", ext::RESUME, &anyway),
            stop,
        ];
    }
    match status.phase {
        DisplayPhase::Damaged => Vec::new(),
        DisplayPhase::NeedsAnswer => {
            vec![
                command("Answer…", ext::ANSWER, &of_loop),
                command("Agent decides", ext::RESUME, &of_loop),
                stop,
            ]
        }
        DisplayPhase::Interrupted => vec![command("Resume", ext::RESUME, &of_loop), stop],
        _ if status.breaker.state != loopkeeper_core::journal::BreakerState::Closed => {
            vec![command("Reset and resume", ext::RESET_BREAKER, &of_loop), output, stop]
        }
        _ if weakening::is_blocking(state) => of_weakened(status, state, output),
        _ => vec![command("Resume", ext::RESUME, &of_loop), output, stop],
    }
}

/// What helps to review a loop that worked.
fn of_end(status: &LoopStatus, output: Command) -> Vec<Command> {
    let of_loop = json!({"loopId": status.id});
    let completed = status.outcome.as_ref().is_some_and(|it| it.kind == OutcomeKind::Completed);
    let mut all = vec![command("Review changes", ext::DIFF, &of_loop)];
    all.extend(completed.then(|| command("Receipt", ext::RECEIPT, &of_loop)));
    all.push(output);
    all
}

/// The agent's open permission request.
fn permission_question(status: &LoopStatus) -> Option<&QuestionStatus> {
    let open = status.question.as_ref().filter(|it| it.kind == QuestionKind::Permission);
    open.filter(|_| status.phase == DisplayPhase::NeedsAnswer)
}

fn permission_commands(loop_id: &str, question: &QuestionStatus) -> Vec<Command> {
    let permit = |(title, word)| {
        let answer = json!({"loopId": loop_id, "text": word, "question": question.id});
        command(title, ext::ANSWER, &answer)
    };
    PERMITS.into_iter().map(permit).collect()
}

/// Restore what the agent weakened, or accept it.
fn of_weakened(status: &LoopStatus, state: &LoopState, output: Command) -> Vec<Command> {
    let weakenings: Vec<_> = weakening::unreported(state).collect();
    let accept = command("Accept", ext::ACCEPT_WEAKENING, &json!({"loopId": status.id}));
    if !weakenings.iter().all(|it| weakening::is_of_start(state, it)) {
        return vec![accept, output];
    }
    let paths: BTreeSet<&str> = weakenings.iter().map(|it| it.path.as_str()).collect();
    let restored = json!({"loopId": status.id, "iteration": 0, "paths": paths});
    vec![command("Restore", ext::ROLLBACK, &restored), accept, output]
}

fn command(title: &str, command: &str, argument: &Value) -> Command {
    Command::new(title.to_owned(), command.to_owned(), Some(vec![argument.clone()]))
}

async fn send(shared: &ServerState, alert: AlertParams) {
    if shared.session().has_extensions() {
        shared.client.send_notification::<Alert>(alert).await;
        return;
    }
    let severity = match alert.severity {
        Severity::Info => MessageType::INFO,
        Severity::Warning => MessageType::WARNING,
        Severity::Error => MessageType::ERROR,
    };
    shared.client.show_message(severity, alert.message).await;
}
