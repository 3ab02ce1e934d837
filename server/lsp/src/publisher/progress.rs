//! Sends `$/progress`: one readable token per running loop, with an end message that contains its state.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use loopkeeper_text::clauses;
use loopkeeper_text::sanitize;
use loopkeeper_text::tr;
use loopkeeper_view::{DisplayPhase, DisplayState, LoopStatus};
use lsp_types::notification::Progress as ProgressNotification;
use lsp_types::request::WorkDoneProgressCreate;
use lsp_types::{
    NumberOrString, ProgressParams, ProgressParamsValue, ProgressToken, WorkDoneProgress,
    WorkDoneProgressBegin, WorkDoneProgressCreateParams, WorkDoneProgressEnd, WorkDoneProgressReport,
};
use tokio::sync::Notify;
use tokio::sync::oneshot::{self, error::TryRecvError};
use tokio::time::{Instant, timeout};

use super::{Throttle, earlier_deadline, status};
use crate::session::ServerState;
use loopkeeper_workspace::WorkspaceSnapshot;

const INTERVAL: Duration = Duration::from_secs(2);
/// Without a reply to the token's creation after this time, no progress is shown.
const TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Default)]
pub(super) struct ProgressPublisher {
    shown: BTreeMap<String, ProgressEntry>,
    replies: Arc<Notify>,
}

struct ProgressEntry {
    token: ProgressToken,
    state: TokenState,
    message: String,
    throttle: Throttle,
}

enum TokenState {
    /// The request for the token is unanswered.
    Requested(oneshot::Receiver<bool>),
    Begun,
    /// The client rejected the token.
    Rejected,
}

impl ProgressPublisher {
    /// Resolves when the client replied to a request for a token.
    pub(super) fn wait_for_reply(&self) -> impl Future<Output = ()> + use<> {
        let replies = Arc::clone(&self.replies);
        async move { replies.notified().await }
    }

    pub(super) async fn publish(
        &mut self,
        shared: &Arc<ServerState>,
        snapshot: &WorkspaceSnapshot,
    ) -> Option<Instant> {
        let window = shared.session().client.window.as_ref();
        if window.and_then(|it| it.work_done_progress) != Some(true) {
            return None;
        }
        let is_working =
            |id: &String| snapshot.loop_with(id).is_some_and(|it| it.status.state == DisplayState::Working);
        let ended: Vec<String> = self.shown.keys().filter(|it| !is_working(it)).cloned().collect();
        for id in ended {
            let last =
                snapshot.loop_with(&id).map_or_else(|| tr!("gone").to_owned(), |it| ending(&it.status));
            if let Some(ProgressEntry { token, state: TokenState::Begun, .. }) = self.shown.remove(&id) {
                let end = WorkDoneProgressEnd { message: Some(last) };
                send(shared, token, WorkDoneProgress::End(end)).await;
            }
        }
        let mut due = None;
        for seen in snapshot.loops.iter().filter(|it| it.status.state == DisplayState::Working) {
            let status = status::of_loop(shared, seen);
            let task = sanitize::line(&seen.state.spec.task.0);
            due = earlier_deadline(due, self.update_progress(shared, &status, &task).await);
        }
        due
    }

    async fn update_progress(
        &mut self,
        shared: &Arc<ServerState>,
        status: &LoopStatus,
        task: &str,
    ) -> Option<Instant> {
        let message = message(status);
        if !self.shown.contains_key(&status.id) {
            let shown = self.create_progress(shared, self.token(task, &status.id));
            self.shown.insert(status.id.clone(), shown);
            return None;
        }
        let shown = self.shown.get_mut(&status.id)?;
        match &mut shown.state {
            TokenState::Rejected => None,
            TokenState::Requested(answer) => {
                let accepted =
                    answer.try_recv().map_or_else(|it| (it == TryRecvError::Closed).then_some(false), Some);
                shown.state = if accepted? { TokenState::Begun } else { TokenState::Rejected };
                if matches!(shown.state, TokenState::Begun) {
                    let _ = shown.throttle.try_acquire();
                    shown.message.clone_from(&message);
                    let begin = WorkDoneProgressBegin {
                        title: format!("Ralph {task}"),
                        cancellable: Some(false),
                        message: Some(message),
                        percentage: Some(percentage(status)),
                    };
                    send(shared, shown.token.clone(), WorkDoneProgress::Begin(begin)).await;
                }
                None
            }
            TokenState::Begun if shown.message == message => None,
            TokenState::Begun => {
                if let Err(due) = shown.throttle.try_acquire() {
                    return Some(due);
                }
                shown.message.clone_from(&message);
                let report = WorkDoneProgressReport {
                    message: Some(message),
                    percentage: Some(percentage(status)),
                    cancellable: Some(false),
                };
                send(shared, shown.token.clone(), WorkDoneProgress::Report(report)).await;
                None
            }
        }
    }

    /// Requests the token without waiting for the reply.
    fn create_progress(&self, shared: &Arc<ServerState>, token: ProgressToken) -> ProgressEntry {
        let (sender, answer) = oneshot::channel();
        let (shared, requested, replies) = (Arc::clone(shared), token.clone(), Arc::clone(&self.replies));
        tokio::spawn(async move {
            let params = WorkDoneProgressCreateParams { token: requested };
            let created = shared.client.send_request::<WorkDoneProgressCreate>(params);
            let _ = sender.send(matches!(timeout(TIMEOUT, created).await, Ok(Ok(()))));
            replies.notify_one();
        });
        ProgressEntry {
            token,
            state: TokenState::Requested(answer),
            message: String::new(),
            throttle: Throttle::new(INTERVAL),
        }
    }

    /// Readable, because some editors show it; contains the loop because two folders may have tasks of the same name.
    fn token(&self, task: &str, loop_id: &str) -> ProgressToken {
        let token = NumberOrString::String(format!("ralph/{task}"));
        let is_taken = self.shown.values().any(|it| it.token == token);
        if is_taken { NumberOrString::String(format!("ralph/{task} {loop_id}")) } else { token }
    }
}

async fn send(shared: &ServerState, token: ProgressToken, value: WorkDoneProgress) {
    let params = ProgressParams { token, value: ProgressParamsValue::WorkDone(value) };
    shared.client.send_notification::<ProgressNotification>(params).await;
}

/// `iteration 4/25, 3 of 5 criteria pass, editing src/auth.rs`
fn message(status: &LoopStatus) -> String {
    let (iteration, limit) = (status.iteration, status.limits.iterations);
    let iteration = tr!("iteration {iteration}/{limit}", iteration, limit);
    let criteria = &status.criteria;
    let mut parts = match status.phase {
        DisplayPhase::Baseline => vec![tr!("checks before iteration 1").to_owned()],
        DisplayPhase::Checking => vec![iteration, tr!("running checks").to_owned()],
        DisplayPhase::Waiting => vec![iteration, tr!("waiting").to_owned()],
        DisplayPhase::Stopping => vec![iteration, tr!("stopping").to_owned()],
        _ => vec![iteration],
    };
    parts.extend((criteria.passed + criteria.failed > 0).then(|| criteria.sentence()));
    parts.extend(status.activity.as_deref().map(|it| sanitize::line_within(it, 60)));
    clauses::join_with_commas(&parts)
}

fn ending(status: &LoopStatus) -> String {
    status
        .outcome
        .as_ref()
        .map_or_else(|| loopkeeper_view::headline(status), |it| it.sentence.clone())
        .to_string()
}

/// The share of iterations; never 100 before the end, because some editors treat 100 as the end.
fn percentage(status: &LoopStatus) -> u32 {
    let most = status.limits.iterations.max(1);
    (status.iteration.saturating_sub(1).saturating_mul(100) / most).min(99)
}
