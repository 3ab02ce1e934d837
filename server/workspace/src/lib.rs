//! Indexes the tasks, loops and results below some folders, for views that stay open. Watches, reads and folds; starts
//! nothing, changes nothing except that it ends the processes of killed keepers, and does not depend on the protocol of
//! its clients.
//!
//! One tokio task owns the [`state::IndexState`]. [`WorkspaceIndex::invalidate`] reports a change; changes reported
//! during an update are merged. Every update publishes a new [`WorkspaceSnapshot`].

pub mod adaptive_blocking;
pub mod live;
mod loops;
mod results;
pub mod snapshot;
mod state;
mod task_cache;
mod tasks;
mod watching;
pub mod worker_thread;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};

use self::adaptive_blocking::AdaptiveBlocking;
pub use self::live::LiveFeed;
pub use self::snapshot::WorkspaceSnapshot;
use self::state::IndexState;
pub use self::tasks::{config_kind, is_config};
use self::watching::{FileWatcher, WatchedPaths};
use self::worker_thread::WorkerThread;
use loopkeeper_system::state_dir::{StateDir, StateError};
use loopkeeper_text::message::Message;
use loopkeeper_text::tr;

/// Events arrive in bursts; only their final result is read.
const DEBOUNCE: Duration = Duration::from_millis(40);
/// Polling interval while something is running, for changes that produce no event.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// Polling interval during stand-alone checks: results are written shortly before the tree lock is released.
const CHECK_POLL_INTERVAL: Duration = Duration::from_millis(500);

/// What may have changed.
#[expect(clippy::struct_excessive_bools, reason = "each may have changed without the others")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Invalidation {
    /// Texts open in the editor.
    pub texts: bool,
    /// Task documents and configuration on disk, and the set of them.
    pub files: bool,
    /// Journals and results: the state folder's contents for loops and checks.
    pub state: bool,
    /// The list of trusted items.
    pub trust: bool,
    /// Any file of the work tree: results may no longer match the current tree.
    pub tree: bool,
    /// Reported by a watcher, so that more events may follow immediately.
    pub burst: bool,
}

impl Invalidation {
    pub const TEXTS: Self =
        Self { texts: true, files: false, state: false, trust: false, tree: false, burst: false };
    pub const FILES: Self = Self { files: true, ..Self::TEXTS };
    pub const LOOPS: Self = Self { state: true, ..Self::TEXTS };
    pub const STATE: Self = Self { trust: true, ..Self::LOOPS };
    pub const ALL: Self = Self { files: true, tree: true, ..Self::STATE };

    pub const fn in_burst(self) -> Self {
        Self { burst: true, ..self }
    }

    /// Whether more than the editor's texts must be read.
    fn is_deep(self) -> bool {
        self.files || self.state || self.trust
    }

    fn merge(self, other: Self) -> Self {
        Self {
            texts: self.texts || other.texts,
            files: self.files || other.files,
            state: self.state || other.state,
            trust: self.trust || other.trust,
            tree: self.tree || other.tree,
            burst: self.burst || other.burst,
        }
    }
}

/// The editor's texts, which take precedence over files on disk.
pub trait TextProvider: Send + Sync + 'static {
    fn open(&self) -> Vec<OpenText>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenText {
    pub path: PathBuf,
    pub text: Arc<str>,
}

/// Publishes the snapshots. Clones refer to the same index.
#[derive(Clone)]
pub struct WorkspaceIndex {
    pending: Arc<PendingInvalidations>,
    snapshots: watch::Receiver<Arc<WorkspaceSnapshot>>,
    live: LiveFeed,
    worker: WorkerThread,
}

#[derive(Default)]
struct PendingInvalidations {
    /// The pending invalidation and the number of the last one.
    invalidation: Mutex<(Invalidation, u64)>,
    folders: Mutex<Option<Vec<PathBuf>>>,
    woken: Notify,
}

/// Opens the folder of loops and results: called again each time, because the folder may have been repaired or deleted.
pub type OpenState = Arc<dyn Fn() -> Result<StateDir, StateError> + Send + Sync>;

/// The scope of an index.
pub struct IndexScope {
    pub state: OpenState,
    pub folders: Vec<PathBuf>,
    /// Whether the editor trusts the workspace: otherwise no stored result counts.
    pub trusted: bool,
    pub texts: Arc<dyn TextProvider>,
}

impl IndexScope {
    fn build_state(&self) -> IndexState {
        IndexState::new(Arc::clone(&self.state), self.folders.clone(), self.trusted)
    }

    /// Runs an update that may block. An update that panics is a bug, but must not stop later updates.
    async fn update_state(
        &self,
        (quick, size): (&mut AdaptiveBlocking, usize),
        mut index_state: IndexState,
        work: impl FnOnce(&mut IndexState) + Send + 'static,
    ) -> IndexState {
        let worked = quick.run(size, move || {
            work(&mut index_state);
            index_state
        });
        worked.await.unwrap_or_else(|| {
            let mut index_state = self.build_state();
            index_state.report_problem(
                Message::new(tr!("reading the folders failed"))
                    .with_hint(tr!("this is a bug, please report it"))
                    .to_string(),
            );
            index_state
        })
    }
}

impl WorkspaceIndex {
    /// Starts updating; ends when the last clone is dropped. Needs a tokio runtime.
    pub fn start(scope: IndexScope) -> Self {
        let pending = Arc::new(PendingInvalidations::default());
        let (sender, snapshots) = watch::channel(Arc::new(WorkspaceSnapshot::default()));
        let worker = WorkerThread::start("index");
        let index = Self { pending: Arc::clone(&pending), snapshots, live: LiveFeed::default(), worker };
        index.invalidate(Invalidation::ALL);
        let (live, worker) = (index.live.clone(), index.worker.clone());
        let index_worker = IndexWorker { pending: Arc::clone(&pending), sender, live, worker };
        tokio::spawn(index_worker.run(scope));
        index
    }

    /// The latest snapshot, after the first update.
    pub async fn wait_until_ready(&self) -> Arc<WorkspaceSnapshot> {
        const FIRST_SNAPSHOT_TIMEOUT: Duration = Duration::from_secs(10);
        let snapshot = self.snapshot();
        if snapshot.is_complete {
            return snapshot;
        }
        let mut snapshots = self.snapshots.clone();
        let _ = timeout(FIRST_SNAPSHOT_TIMEOUT, snapshots.wait_for(|it| it.is_complete)).await;
        self.snapshot()
    }

    /// Reports that something may have changed.
    pub fn invalidate(&self, invalidation: Invalidation) {
        let _ = self.pending.invalidate(invalidation);
    }

    /// Replaces the set of open folders.
    pub fn set_folders(&self, folders: Vec<PathBuf>) {
        *self.pending.folders.lock().unwrap_or_else(PoisonError::into_inner) = Some(folders);
        self.invalidate(Invalidation::ALL);
    }

    /// The latest snapshot.
    pub fn snapshot(&self) -> Arc<WorkspaceSnapshot> {
        self.snapshots.borrow().clone()
    }

    /// A snapshot from an update that began after this call, with a time limit: for responses that must include the
    /// caller's own change.
    pub async fn refresh(&self, invalidation: Invalidation) -> Arc<WorkspaceSnapshot> {
        const TIMEOUT: Duration = Duration::from_secs(5);
        let mut snapshots = self.snapshots.clone();
        let number = self.pending.invalidate(invalidation);
        let _ = timeout(TIMEOUT, snapshots.wait_for(|it| it.answers >= number)).await;
        self.snapshot()
    }

    /// A receiver of new snapshots; only the latest is kept.
    pub fn subscribe_snapshots(&self) -> watch::Receiver<Arc<WorkspaceSnapshot>> {
        self.snapshots.clone()
    }

    /// The index's worker thread, for computations on its snapshots.
    pub fn worker(&self) -> &WorkerThread {
        &self.worker
    }

    /// Data from keepers that is not in the journal.
    pub fn live_feed(&self) -> &LiveFeed {
        &self.live
    }
}

impl PendingInvalidations {
    /// Returns its number: the update that answers it answers all earlier ones.
    fn invalidate(&self, invalidation: Invalidation) -> u64 {
        let mut pending = self.invalidation.lock().unwrap_or_else(PoisonError::into_inner);
        *pending = (pending.0.merge(invalidation), pending.1 + 1);
        self.woken.notify_one();
        pending.1
    }

    fn take(&self) -> (Invalidation, u64) {
        let mut pending = self.invalidation.lock().unwrap_or_else(PoisonError::into_inner);
        (std::mem::take(&mut pending.0), pending.1)
    }
}

/// The updating side of the index.
struct IndexWorker {
    pending: Arc<PendingInvalidations>,
    sender: watch::Sender<Arc<WorkspaceSnapshot>>,
    live: LiveFeed,
    worker: WorkerThread,
}

impl IndexWorker {
    async fn run(self, mut scope: IndexScope) {
        let mut index_state = scope.build_state();
        let mut watcher = {
            let pending = Arc::clone(&self.pending);
            FileWatcher::new(move |invalidation| {
                let _ = pending.invalidate(invalidation);
            })
        };
        index_state =
            scope.update_state((&mut self.blocking_executor(), 0), index_state, IndexState::find_roots).await;
        let Some((back, _)) = update_watches(watcher, index_state.watched_paths()).await else { return };
        watcher = back;
        let (mut poll_interval, mut quick) = (None, self.blocking_executor());
        // A separate thread, because publishing snapshots does not wait for it.
        let trees = WorkerThread::start("trees");
        while self.wait_for_work(poll_interval).await {
            let (mut invalidation, mut number) = self.pending.take();
            if invalidation.burst {
                sleep(DEBOUNCE).await;
                let (more, last) = self.pending.take();
                (invalidation, number) = (invalidation.merge(more), last);
            }
            if let Some(folders) = self.pending.folders.lock().unwrap_or_else(PoisonError::into_inner).take()
            {
                scope.folders.clone_from(&folders);
                index_state.set_folders(folders);
            }
            // A panic of the provider is raised again where the update's own panics are caught.
            let open = catch_unwind(AssertUnwindSafe(|| scope.texts.open()));
            let size = open.iter().flatten().map(|it| it.text.len()).sum();
            let mut slow = self.blocking_executor();
            // Every other invalidation reads files.
            let is_keystroke = index_state.is_initialized() && !invalidation.is_deep() && !invalidation.tree;
            let quick = if is_keystroke { &mut quick } else { &mut slow };
            index_state = scope
                .update_state((quick, size), index_state, move |index_state| {
                    index_state.refresh(invalidation, open.unwrap_or_else(|panic| resume_unwind(panic)));
                })
                .await;
            if invalidation.is_deep() {
                let Some((back, is_new)) = update_watches(watcher, index_state.watched_paths()).await else {
                    return;
                };
                watcher = back;
                if is_new {
                    let _ = self.pending.invalidate(Invalidation { files: true, ..Invalidation::STATE });
                }
            }
            self.publish(&index_state, number);
            if invalidation.tree {
                let mut slow = AdaptiveBlocking::new(trees.clone());
                index_state = scope.update_state((&mut slow, 0), index_state, IndexState::hash_trees).await;
                self.publish(&index_state, number);
            }
            poll_interval = index_state.poll_interval();
        }
    }

    /// The executor for work whose duration is unknown.
    fn blocking_executor(&self) -> AdaptiveBlocking {
        AdaptiveBlocking::new(self.worker.clone())
    }

    /// False after the last handle of the index was dropped.
    async fn wait_for_work(&self, poll_interval: Option<Duration>) -> bool {
        tokio::select! {
            () = self.pending.woken.notified() => {}
            () = sleep(poll_interval.unwrap_or(POLL_INTERVAL)), if poll_interval.is_some() => {
                let _ = self.pending.invalidate(Invalidation::LOOPS);
            },
            () = self.sender.closed() => return false,
        }
        !self.sender.is_closed()
    }

    fn publish(&self, index_state: &IndexState, number: u64) {
        let snapshot = WorkspaceSnapshot { answers: number, ..index_state.snapshot() };
        let pending = Arc::clone(&self.pending);
        if let Some(store) = index_state.store() {
            self.live.follow_keepers(store, &snapshot.loops, move || {
                let _ = pending.invalidate(Invalidation::LOOPS);
            });
        }
        self.sender.send_replace(Arc::new(snapshot));
    }
}

/// Watches these paths; returns whether one of them is new. `None`: the thread panicked.
async fn update_watches(mut watcher: FileWatcher, paths: WatchedPaths) -> Option<(FileWatcher, bool)> {
    let updated = tokio::task::spawn_blocking(move || {
        let is_new = watcher.set_paths(paths);
        (watcher, is_new)
    });
    updated.await.ok()
}

#[cfg(test)]
mod tests;
