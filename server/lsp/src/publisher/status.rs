//! Sends `loopkeeper/status`: the complete status, at most once a second and only after a change.

use std::sync::Arc;
use std::time::Duration;

use loopkeeper_text::sanitize;
use loopkeeper_view::{self as view, LoopStatus};
use tokio::time::Instant;

use super::{Throttle, alerts};
use crate::ext::{ServerHealth, StatusChanged, StatusParams, TaskEntry, VERSION};
use crate::foreign;
use crate::session::ServerState;
use loopkeeper_workspace::WorkspaceSnapshot;
use loopkeeper_workspace::snapshot::{LoopSnapshot, TaskSnapshot, WorkspaceProblem};

/// Maximum number of criteria that are sent individually; the counts include all of them.
const MAX_ITEMS: usize = 1000;

const INTERVAL: Duration = Duration::from_secs(1);

pub(super) struct StatusPublisher {
    /// The last status that was sent, without its tasks.
    sent: Option<StatusParams>,
    tasks: Vec<TaskEntry>,
    /// Entries of the last snapshot's tasks, reused while their task does not change.
    entries: Vec<(Arc<TaskSnapshot>, TaskEntry)>,
    /// Whether an entry changed since the last status was sent.
    differs: bool,
    throttle: Throttle,
}

impl Default for StatusPublisher {
    fn default() -> Self {
        let (tasks, entries) = (Vec::new(), Vec::new());
        Self { sent: None, tasks, entries, differs: true, throttle: Throttle::new(INTERVAL) }
    }
}

impl StatusPublisher {
    /// Returns when to try again.
    pub(super) async fn publish(
        &mut self,
        shared: &ServerState,
        snapshot: &WorkspaceSnapshot,
    ) -> Option<Instant> {
        if !shared.session().has_extensions() {
            return None;
        }
        // A burst of changes results in one status.
        if let Some(due) = self.throttle.next_allowed() {
            return Some(due);
        }
        self.update_entries(snapshot);
        let mut head = status_without_tasks(shared, snapshot);
        let same_head = self.sent.as_ref().is_some_and(|it| is_same(it, &head));
        if same_head && !self.differs {
            return None;
        }
        let tasks: Vec<TaskEntry> = self.entries.iter().map(|(_, entry)| entry.clone()).collect();
        self.differs = false;
        if same_head && tasks == self.tasks {
            return None;
        }
        let _ = self.throttle.try_acquire();
        head.seq = shared.next_seq();
        self.sent = Some(head.clone());
        self.tasks.clone_from(&tasks);
        shared.client.send_notification::<StatusChanged>(StatusParams { tasks, ..head }).await;
        None
    }

    fn update_entries(&mut self, snapshot: &WorkspaceSnapshot) {
        self.differs |= self.entries.len() != snapshot.tasks.len();
        let mut before = std::mem::take(&mut self.entries).into_iter();
        for task in &snapshot.tasks {
            let old = before.next();
            let same = old.as_ref().is_some_and(|(it, _)| Arc::ptr_eq(it, task));
            let entry = match old {
                Some((_, entry)) if same => entry,
                old => {
                    let entry = of_task(task);
                    self.differs |= old.is_none_or(|(_, it)| it != entry);
                    entry
                }
            };
            self.entries.push((Arc::clone(task), entry));
        }
    }
}

/// The current status.
pub(crate) fn current_status(shared: &ServerState, snapshot: &WorkspaceSnapshot) -> StatusParams {
    StatusParams {
        tasks: snapshot.tasks.iter().map(|it| of_task(it)).collect(),
        ..status_without_tasks(shared, snapshot)
    }
}

/// The status without its tasks.
fn status_without_tasks(shared: &ServerState, snapshot: &WorkspaceSnapshot) -> StatusParams {
    let (health, message) = match &snapshot.problem {
        None => (ServerHealth::Ok, None),
        Some(WorkspaceProblem::Files(message)) => (ServerHealth::Warning, Some(message)),
        Some(WorkspaceProblem::State(message)) => (ServerHealth::Error, Some(message)),
    };
    StatusParams {
        version: VERSION,
        seq: shared.current_seq(),
        health,
        message: message.map(|it| sanitize::text(it)),
        trusted: snapshot.trusted,
        loops: snapshot.loops.iter().map(|it| of_loop(shared, it)).collect(),
        tasks: Vec::new(),
        foreign: snapshot.foreign.iter().map(foreign::entry).collect(),
        alerts: alerts::open_alerts(snapshot),
    }
}

/// The status of a loop, including live data of its keeper.
pub(crate) fn of_loop(shared: &ServerState, seen: &LoopSnapshot) -> LoopStatus {
    let mut status = seen.status.clone();
    status.criteria.items.truncate(MAX_ITEMS);
    if status.state == view::DisplayState::Working {
        status.activity = shared.index().live_feed().activity(&status.id);
    }
    status
}

fn of_task(task: &TaskSnapshot) -> TaskEntry {
    let mut criteria = task.criteria();
    criteria.items.truncate(MAX_ITEMS);
    TaskEntry {
        id: task.shown_id(),
        uri: task.uri.clone(),
        root: view::file_uri(&task.root.to_string_lossy()),
        title: sanitize::line(&task.title),
        state: task.state(),
        loop_id: task.last_loop.as_ref().map(|it| it.status.id.clone()),
        checking: task.checking,
        rounds: task.rounds,
        unknown_commands: task.untrusted.count,
        criteria,
    }
}

/// Ignores fields that change continuously.
fn is_same(one: &StatusParams, other: &StatusParams) -> bool {
    let without_changing_fields = |it: &StatusParams| {
        let mut it = it.clone();
        it.seq = 0;
        it.loops.iter_mut().for_each(|it| it.paused_ms = 0);
        it
    };
    without_changing_fields(one) == without_changing_fields(other)
}
