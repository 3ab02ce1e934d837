//! `loopkeeper/status`: whole, at most one a second, only when something changed.

use std::time::Duration;

use loopkeeper_core::sanitize;
use loopkeeper_core::view::{self, CriteriaStatus, LoopStatus};
use tokio::time::Instant;

use super::Pace;
use crate::lookout::Picture;
use crate::lookout::picture::{LoopSeen, TaskSeen, Trouble};
use crate::lsp::ext::{Health, StatusChanged, StatusParams, TaskEntry, VERSION};
use crate::lsp::shared::Shared;

const EVERY: Duration = Duration::from_secs(1);

pub(super) struct Status {
    sent: Option<StatusParams>,
    pace: Pace,
}

impl Default for Status {
    fn default() -> Self {
        Self { sent: None, pace: Pace::new(EVERY) }
    }
}

impl Status {
    /// When it has to be tried again.
    pub(super) async fn publish(&mut self, shared: &Shared, picture: &Picture) -> Option<Instant> {
        if !shared.session().knows_us() {
            return None;
        }
        // A status of many tasks is not made for nothing; a burst of changes is one.
        if let Some(due) = self.pace.due() {
            return Some(due);
        }
        let mut status = of(shared, picture);
        if self.sent.as_ref().is_some_and(|it| is_same(it, &status)) {
            return None;
        }
        if let Err(due) = self.pace.step() {
            return Some(due);
        }
        status.seq = shared.next_seq();
        shared.client.send_notification::<StatusChanged>(status.clone()).await;
        self.sent = Some(status);
        None
    }
}

/// The status at this moment.
pub(crate) fn of(shared: &Shared, picture: &Picture) -> StatusParams {
    let (health, message) = match &picture.trouble {
        None => (Health::Ok, None),
        Some(Trouble::Files(message)) => (Health::Warning, Some(message)),
        Some(Trouble::State(message)) => (Health::Error, Some(message)),
    };
    StatusParams {
        version: VERSION,
        seq: shared.seq(),
        health,
        message: message.map(|it| sanitize::text(it)),
        trusted: picture.trusted,
        loops: picture.loops.iter().map(|it| of_loop(shared, it)).collect(),
        tasks: picture.tasks.iter().map(|it| of_task(it)).collect(),
    }
}

/// With what only its keeper tells.
pub(crate) fn of_loop(shared: &Shared, seen: &LoopSeen) -> LoopStatus {
    let mut status = plain(seen.status.clone());
    if status.state == view::State::Working {
        status.activity = shared.lookout().live().activity(&status.id);
    }
    status
}

fn of_task(task: &TaskSeen) -> TaskEntry {
    TaskEntry {
        id: task.shown_id(),
        uri: task.uri.clone(),
        root: view::file_uri(&task.root.to_string_lossy()),
        title: sanitize::line(&task.title),
        state: task.state(),
        loop_id: task.last_loop.as_ref().map(|it| it.status.id.clone()),
        checking: task.checking,
        unknown_commands: task.unknown.count,
        criteria: plain_places(task.criteria()),
    }
}

/// Without what a file's name could do to whoever shows it.
pub(crate) fn plain(status: LoopStatus) -> LoopStatus {
    LoopStatus { criteria: plain_places(status.criteria), ..status }
}

fn plain_places(mut criteria: CriteriaStatus) -> CriteriaStatus {
    for item in &mut criteria.items {
        item.place.file = sanitize::visible(&item.place.file);
    }
    criteria
}

/// But for what grows by itself.
fn is_same(one: &StatusParams, other: &StatusParams) -> bool {
    let still = |it: &StatusParams| {
        let mut it = it.clone();
        it.seq = 0;
        it.loops.iter_mut().for_each(|it| it.paused_ms = 0);
        it
    };
    still(one) == still(other)
}
