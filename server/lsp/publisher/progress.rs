//! `$/progress`: one readable token per loop at work, with an end that says how it stands.

use std::collections::BTreeMap;
use std::time::Duration;

use loopkeeper_core::sanitize;
use loopkeeper_core::view::{LoopStatus, Phase, State};
use lsp_types::notification::Progress as ProgressNotification;
use lsp_types::request::WorkDoneProgressCreate;
use lsp_types::{
    NumberOrString, ProgressParams, ProgressParamsValue, ProgressToken, WorkDoneProgress,
    WorkDoneProgressBegin, WorkDoneProgressCreateParams, WorkDoneProgressEnd, WorkDoneProgressReport,
};
use tokio::time::{Instant, timeout};

use super::{Pace, sooner, status};
use crate::lookout::Picture;
use crate::lsp::shared::Shared;

const EVERY: Duration = Duration::from_secs(2);
/// A client that does not answer the token's creation is shown no progress.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Default)]
pub(super) struct Progress {
    shown: BTreeMap<String, Shown>,
}

struct Shown {
    /// `None`: the client did not want it.
    token: Option<ProgressToken>,
    message: String,
    pace: Pace,
}

impl Progress {
    pub(super) async fn publish(&mut self, shared: &Shared, picture: &Picture) -> Option<Instant> {
        let window = shared.session().client.window.as_ref();
        if window.and_then(|it| it.work_done_progress) != Some(true) {
            return None;
        }
        let at_work = |id: &String| picture.loop_with(id).is_some_and(|it| it.status.state == State::Working);
        let over: Vec<String> = self.shown.keys().filter(|it| !at_work(it)).cloned().collect();
        for id in over {
            let last = picture.loop_with(&id).map_or_else(|| "gone".to_owned(), |it| ending(&it.status));
            if let Some(Shown { token: Some(token), .. }) = self.shown.remove(&id) {
                let end = WorkDoneProgressEnd { message: Some(last) };
                send(shared, token, WorkDoneProgress::End(end)).await;
            }
        }
        let mut due = None;
        for seen in picture.loops.iter().filter(|it| it.status.state == State::Working) {
            let status = status::of_loop(shared, seen);
            let task = sanitize::line(&seen.state.spec.task.0);
            due = sooner(due, self.one(shared, &status, &task).await);
        }
        due
    }

    async fn one(&mut self, shared: &Shared, status: &LoopStatus, task: &str) -> Option<Instant> {
        let message = message(status);
        if let Some(shown) = self.shown.get_mut(&status.id) {
            let token = shown.token.clone().filter(|_| shown.message != message)?;
            if let Err(due) = shown.pace.step() {
                return Some(due);
            }
            shown.message.clone_from(&message);
            let report = WorkDoneProgressReport {
                message: Some(message),
                percentage: Some(percentage(status)),
                cancellable: Some(false),
            };
            send(shared, token, WorkDoneProgress::Report(report)).await;
            return None;
        }
        let token = self.token(task, &status.id);
        let created = shared
            .client
            .send_request::<WorkDoneProgressCreate>(WorkDoneProgressCreateParams { token: token.clone() });
        let wanted = matches!(timeout(PATIENCE, created).await, Ok(Ok(())));
        let mut pace = Pace::new(EVERY);
        let _ = pace.step();
        if wanted {
            let begin = WorkDoneProgressBegin {
                title: format!("Ralph {task}"),
                cancellable: Some(false),
                message: Some(message.clone()),
                percentage: Some(percentage(status)),
            };
            send(shared, token.clone(), WorkDoneProgress::Begin(begin)).await;
        }
        self.shown.insert(status.id.clone(), Shown { token: wanted.then_some(token), message, pace });
        None
    }

    /// Read out by some editors; two folders may have tasks of the same name.
    fn token(&self, task: &str, loop_id: &str) -> ProgressToken {
        let token = NumberOrString::String(format!("ralph/{task}"));
        let is_taken = self.shown.values().any(|it| it.token.as_ref() == Some(&token));
        if is_taken { NumberOrString::String(format!("ralph/{task} {loop_id}")) } else { token }
    }
}

async fn send(shared: &Shared, token: ProgressToken, value: WorkDoneProgress) {
    let params = ProgressParams { token, value: ProgressParamsValue::WorkDone(value) };
    shared.client.send_notification::<ProgressNotification>(params).await;
}

/// `iteration 4/25, 3 of 5 pass, editing src/auth.rs`
fn message(status: &LoopStatus) -> String {
    let iteration = format!("iteration {}/{}", status.iteration, status.limits.iterations);
    let criteria = &status.criteria;
    let mut parts = match status.phase {
        Phase::Baseline => vec!["first checks".to_owned()],
        Phase::Checking => vec![iteration, "running checks".to_owned()],
        Phase::Waiting => vec![iteration, "waiting".to_owned()],
        Phase::Stopping => vec![iteration, "stopping".to_owned()],
        _ => vec![iteration],
    };
    if criteria.passed + criteria.failed > 0 {
        parts.push(format!("{} of {} pass", criteria.passed, criteria.total));
    }
    parts.extend(status.activity.as_deref().map(|it| sanitize::line_within(it, 60)));
    parts.join(", ")
}

fn ending(status: &LoopStatus) -> String {
    status.outcome.as_ref().map_or_else(|| loopkeeper_core::view::headline(status), |it| it.sentence.clone())
}

/// Of the iterations; never 100 before the end, which some editors take for it.
fn percentage(status: &LoopStatus) -> u32 {
    let most = status.limits.iterations.max(1);
    (status.iteration.saturating_sub(1) * 100 / most).min(99)
}
