//! Sends one message when a loop ends, needs the user, its breaker opens or its records contain a warning, and none
//! per iteration. Events from before this server's first refresh are not reported. Clients with support for
//! our protocol get `loopkeeper/alert`, others a plain message.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use loopkeeper_core::decide::LoopState;
use loopkeeper_core::decide::exit::was_satisfied_at_start;
use loopkeeper_core::journal::OutcomeKind;
use loopkeeper_text::message::Message;
use loopkeeper_view::{AlertTracker, LoopAlert, LoopStatus, RootHistory, needs_user, notice, warning_notice};
use lsp_types::MessageType;

use super::{alert_actions, satisfied_at_start};
use crate::ext::{self, Alert, AlertKind, AlertParams, AlertSeverity};
use crate::questions;
use crate::session::ServerState;
use loopkeeper_workspace::WorkspaceSnapshot;

#[derive(Default)]
pub(super) struct AlertPublisher {
    tracker: AlertTracker,
    /// Roots whose loops are already known: events found in a newly opened folder are not reported.
    roots: Vec<PathBuf>,
}

impl AlertPublisher {
    pub(super) async fn publish(&mut self, shared: &Arc<ServerState>, snapshot: &WorkspaceSnapshot) {
        let roots = std::mem::replace(&mut self.roots, snapshot.roots.clone());
        let ids: BTreeSet<&str> = snapshot.loops.iter().map(|it| it.status.id.as_str()).collect();
        self.tracker.retain(|id| ids.contains(id));
        for seen in &snapshot.loops {
            let (status, state) = (&seen.status, &seen.state);
            // A loop that started and ended between two refreshes has ended too.
            let is_observed = roots.iter().any(|it| it == seen.dir.root());
            let root = if is_observed { RootHistory::Observed } else { RootHistory::New };
            let Some(alert) = self.tracker.observe(status, state, root) else { continue };
            if was_satisfied_at_start(state) && questions::can_ask(shared) {
                tokio::spawn(satisfied_at_start::ask_user(Arc::clone(shared), Box::new(status.clone())));
                continue;
            }
            send(shared, params(&alert, status, state)).await;
        }
    }
}

fn params(alert: &LoopAlert, status: &LoopStatus, state: &LoopState) -> AlertParams {
    match alert {
        LoopAlert::Warnings(warnings) => AlertParams {
            loop_id: status.id.clone(),
            kind: AlertKind::Warning,
            severity: AlertSeverity::Warning,
            message: warning_notice(status, warnings),
            actions: alert_actions::warning_actions(status),
            follow_up: None,
            commands: Vec::new(),
        },
        LoopAlert::Ended | LoopAlert::NeedsYou | LoopAlert::BreakerOpen => present_alert(status, state),
    }
}

/// The alert about the loop's present state.
fn present_alert(status: &LoopStatus, state: &LoopState) -> AlertParams {
    let actions = alert_actions::state_actions(status, state);
    let message = notice(status);
    // The buttons run the commands that the hint suggests for a terminal.
    let is_offered = actions.iter().any(|it| it.command == ext::ACCEPT_WEAKENING);
    let message = if is_offered { Message::new(message.fact()) } else { message };
    let commands = ext::hint_commands(message.hint());
    let (kind, severity) = match &status.outcome {
        None => (AlertKind::NeedsYou, AlertSeverity::Warning),
        Some(outcome) => match outcome.kind {
            OutcomeKind::Completed | OutcomeKind::Stopped => (AlertKind::Ended, AlertSeverity::Info),
            OutcomeKind::Limit | OutcomeKind::Breaker => (AlertKind::Ended, AlertSeverity::Warning),
            OutcomeKind::Failed => (AlertKind::Ended, AlertSeverity::Error),
        },
    };
    let follow_up = alert_actions::feedback_question(status, state);
    AlertParams {
        loop_id: status.id.clone(),
        kind,
        severity,
        message: message.to_string(),
        actions,
        follow_up,
        commands,
    }
}

/// The open alerts: sent with every status, for a client that connected after the notification.
pub(super) fn open_alerts(snapshot: &WorkspaceSnapshot) -> Vec<AlertParams> {
    let needing = snapshot.loops.iter().filter(|it| needs_user(&it.status));
    needing.map(|it| present_alert(&it.status, &it.state)).collect()
}

async fn send(shared: &ServerState, alert: AlertParams) {
    if shared.session().has_extensions() {
        shared.client.send_notification::<Alert>(alert).await;
        return;
    }
    let severity = match alert.severity {
        AlertSeverity::Info => MessageType::INFO,
        AlertSeverity::Warning => MessageType::WARNING,
        AlertSeverity::Error => MessageType::ERROR,
    };
    shared.client.show_message(severity, alert.message).await;
}
