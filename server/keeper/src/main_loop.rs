//! The main loop: selects an event, gets the core's decision, makes the records durable, applies them and performs the
//! effects. Contains no rules about loops.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use loopkeeper_core::decide::durability::Durability;
use loopkeeper_core::decide::{self, Decision, Effect, Event, LoopState, UserCommand, VolatileState};
use loopkeeper_core::journal::{Entry, LoopSpec, Record};
use loopkeeper_text::message::Message;
use loopkeeper_text::moment::Moment;
use loopkeeper_text::tr_later;
use tokio::sync::{mpsc, oneshot};

use super::KeeperError;
use super::control::{ControlReply, ControlRequest, SkippedPath, WatchEvent};
use super::disk_room::{self, DiskWait};
use super::effects::EffectRunner;
use super::event_log::{self, IterationSpan};
use super::signals::{self, StateDirWatch};
use super::state_saver::StateSaver;
use super::user_commands::UserCommands;
use loopkeeper_system::boottime_timer::BoottimeTimer;
use loopkeeper_system::clock;
use loopkeeper_system::journal_file::{JournalError, JournalFile};
use loopkeeper_system::state_dir::lock::Lock;
use loopkeeper_system::state_dir::workspace::LoopDir;

/// Maximum delay before records without a dependent effect are synced.
const GROUP_COMMIT_MS: u64 = 100;

/// An event, and the channel for the answer to its sender.
type QueuedEvent = (Event, Option<oneshot::Sender<ControlReply>>);

/// Called for every record after it became durable.
pub type EntryObserver = Box<dyn FnMut(&Entry)>;

/// One loop, its journal, and the runner of its effects.
pub struct Keeper {
    pub(super) state: LoopState,
    live: VolatileState,
    journal: JournalFile,
    journal_path: PathBuf,
    /// Locks of the loop and of the tree.
    locks: Rc<[Lock; 2]>,
    effects: EffectRunner,
    user_commands: UserCommands,
    /// Timer for deadlines.
    alarm: BoottimeTimer,
    observer: EntryObserver,
    events: mpsc::UnboundedReceiver<Event>,
    requests: mpsc::Receiver<ControlRequest>,
    queue: VecDeque<Event>,
    /// Applied but not yet durable; published after the next sync.
    unpublished: Vec<Entry>,
    /// Reply channel of a permission request that is waiting for the user.
    pending_reply: Option<oneshot::Sender<ControlReply>>,
    finished: bool,
    span: IterationSpan,
    disk_wait: DiskWait,
    saver: StateSaver,
}

/// Parameters of [`Keeper::new`].
pub struct KeeperParams {
    pub journal: JournalFile,
    pub locks: Rc<[Lock; 2]>,
    pub effects: EffectRunner,
    pub observer: EntryObserver,
    pub events: mpsc::UnboundedReceiver<Event>,
    pub requests: mpsc::Receiver<ControlRequest>,
}

/// State of the loop at start-up.
pub enum Startup {
    New(Box<LoopSpec>),
    /// The state according to its journal.
    Existing(Box<LoopState>),
}

impl Keeper {
    /// Writes the first record, or the record that this keeper took over.
    pub fn new(params: KeeperParams, startup: Startup, dir: &LoopDir) -> Result<Self, KeeperError> {
        let KeeperParams { mut journal, locks, effects, mut observer, events, requests } = params;
        let boot = clock::boot_id();
        let (state, first) = match startup {
            Startup::New(spec) => {
                let record = Record::LoopStarted { boot: boot.clone(), spec: spec.clone() };
                let entries = journal.append(clock::now(), vec![record])?;
                let entry = entries.first().ok_or_else(|| KeeperError::no_loop(dir))?;
                event_log::log_record(entry);
                observer(entry);
                (decide::state_from_first(entry), Event::Launched { spec, boot })
            }
            Startup::Existing(state) => {
                let version = env!("CARGO_PKG_VERSION").to_owned();
                (Some(*state), Event::Reopened { boot, version })
            }
        };
        let state = state.ok_or_else(|| KeeperError::no_loop(dir))?;
        let queue = VecDeque::from([first]);
        let journal_path = dir.journal();
        Ok(Self {
            user_commands: UserCommands::new(&state),
            alarm: BoottimeTimer::new()
                .map_err(KeeperError::io(tr_later!("make a timer for"), dir.path()))?,
            span: IterationSpan::new(state.iteration),
            state,
            live: VolatileState::default(),
            journal,
            journal_path,
            locks,
            effects,
            observer,
            events,
            requests,
            queue,
            unpublished: Vec::new(),
            pending_reply: None,
            finished: false,
            disk_wait: DiskWait::default(),
            saver: StateSaver::default(),
        })
    }

    /// Runs until the loop has ended. An error leaves the loop interrupted, with its agent ended.
    pub async fn run(mut self, then: Option<UserCommand>) -> Result<LoopState, KeeperError> {
        self.queue.extend(then.map(Event::UserAsked));
        let result = self.run_until_finished().await;
        // If this fails, `result` already contains the cause.
        let _ = self.sync();
        self.effects.shutdown().await;
        // No further requests are accepted; pending ones are answered with the error that the loop is ending.
        self.requests.close();
        while self.requests.try_recv().is_ok() {}
        self.effects.context.control.wait_answered().await;
        result?;
        self.user_commands.finish().await;
        self.drain_hook_failures()?;
        Ok(self.state)
    }

    /// Records failures of the user commands for the loop's end, which are reported nowhere else.
    fn drain_hook_failures(&mut self) -> Result<(), KeeperError> {
        while let Ok(event) = self.events.try_recv() {
            if matches!(event, Event::HookFailed { .. }) {
                self.handle_event(event)?;
            }
        }
        self.sync()
    }

    async fn run_until_finished(&mut self) -> Result<(), KeeperError> {
        while !self.finished {
            let Some((event, reply_to)) = self.next_event().await? else {
                self.sync()?;
                continue;
            };
            let answer = self.handle_event(event)?;
            if answer == ControlReply::Later {
                self.pending_reply = reply_to;
            } else if let Some(reply_to) = reply_to {
                // The client may have disconnected.
                let _ = reply_to.send(answer);
            }
        }
        Ok(())
    }

    /// `None`: no event yet.
    async fn next_event(&mut self) -> Result<Option<QueuedEvent>, KeeperError> {
        if let Some(event) = self.queue.pop_front() {
            return Ok(Some((event, None)));
        }
        let remaining = |it: &Entry| (it.at.awake + GROUP_COMMIT_MS).saturating_sub(clock::now().awake);
        let sync_delay = self.unpublished.first().map(remaining);
        let due = decide::deadline(&self.state, &self.live);
        let is_idle = self.state.is_between_iterations() || self.state.outcome().is_some();
        if self.state.is_paused_between_iterations() || (self.state.is_between_iterations() && due.is_some())
        {
            self.prepare_for_wait().await;
        }
        let watch = if is_idle { StateDirWatch::Idle } else { StateDirWatch::Busy };
        // Without its locks this keeper cannot exclude another one.
        let is_journal = || match self.journal.verify_unchanged() {
            // While idle, foreign changes are reported by the next append.
            Err(JournalError::Foreign { .. }) => is_idle,
            result => result.is_ok(),
        };
        let is_ours = || is_journal() && self.locks.iter().all(Lock::is_in_place);
        let root = self.effects.context.state.root();
        let places = || watched_paths(&self.journal_path, root, self.locks.as_slice());
        let mut gone = std::pin::pin!(signals::wait_removed(places, watch, is_ours));
        let due = due.map(|it| it.awake);
        let folders = (root, self.effects.context.runtime.root());
        let lacks_room = self.state.is_paused_between_iterations() && disk_room::is_waiting(&self.state);
        tokio::select! {
            biased;
            signal = self.effects.signals.next() => super::effects::on_signal(&self.state, signal).map(Some),
            Some(event) = self.events.recv() => Ok(Some((event, None))),
            Some(request) = self.requests.recv() => {
                Ok(Some((Event::UserAsked(request.command), Some(request.answer))))
            }
            () = wait_disconnected(&mut self.pending_reply) => {
                self.pending_reply = None;
                Ok(Some((Event::PermissionCallerDisconnected, None)))
            }
            () = sleep(sync_delay) => Ok(None),
            () = self.disk_wait.wait((folders.0, &folders.1), self.state.iteration), if lacks_room => {
                Ok(Some((Event::UserAsked(UserCommand::Resume), None)))
            }
            // `biased`: pending events come first, so a finished process is not reported as timed out.
            () = self.alarm.sleep_until(due) => Ok(Some((Event::DeadlinePassed, None))),
            gone = &mut gone => Err(gone),
        }
    }

    /// Releases what only a job needs, because there may be none for hours.
    async fn prepare_for_wait(&self) {
        self.effects.context.runtime.dismiss_wardens().await;
        // A pending sync would load the pages again.
        if self.unpublished.is_empty()
            && let Err(error) = loopkeeper_memory::release_program_pages()
        {
            tracing::debug!("the program's pages stay in memory: {error}");
        }
    }

    fn handle_event(&mut self, event: Event) -> Result<ControlReply, KeeperError> {
        let now = clock::now();
        self.effects.observe(&event);
        let asked = matches!(event, Event::UserAsked(_));
        let steps = decide::decide(&self.state, &mut self.live, now, event);
        let (mut records, mut effects) = (Vec::new(), Vec::new());
        for step in steps {
            match step {
                Decision::Record(record) => records.push(record),
                Decision::Effect(effect) => effects.push(effect),
            }
        }
        let durability = if asked { Durability::Now } else { Durability::required_for(&records, &effects) };
        self.record(now, records, durability)?;
        let _entered = self.span.enter(self.state.iteration);
        let mut answer = ControlReply::Done { seq: self.state.position.seq };
        for effect in effects {
            match effect {
                Effect::Continue => self.queue.push_back(Event::Continued),
                Effect::Finish => self.finished = true,
                Effect::AwaitUser => answer = ControlReply::Later,
                Effect::Permit(permit) => {
                    if let Some(reply_to) = self.pending_reply.take() {
                        let _ = reply_to.send(ControlReply::Permitted(permit));
                    }
                }
                Effect::Refuse { code, message } => answer = super::effects::refusal(code, message),
                Effect::PrepareRollback { to, paths } => answer = self.prepare_rollback(to, paths)?,
                Effect::Rollback { to, tree, paths, since } => {
                    answer = self.roll_back((to, tree), paths, since.as_deref())?;
                }
                other => self.effects.perform(&self.state, other),
            }
        }
        Ok(answer)
    }

    fn prepare_rollback(&mut self, to: u32, paths: Vec<String>) -> Result<ControlReply, KeeperError> {
        match self.effects.snapshot_before_rollback() {
            Ok(snapshot) => self.handle_event(Event::RollbackReady { to, paths, snapshot }),
            Err(message) => self.not_rolled_back(message),
        }
    }

    fn roll_back(
        &mut self,
        (to, tree): (u32, String),
        paths: Vec<String>,
        since: Option<&str>,
    ) -> Result<ControlReply, KeeperError> {
        match self.effects.roll_back(&tree, &paths, since) {
            Ok(restored) => {
                let (from, after) = (restored.before, restored.after);
                let refused = restored.refused.iter().map(|it| it.path.clone()).collect();
                let answer =
                    self.handle_event(Event::RolledBack { to, paths, tree, from, after, refused })?;
                let ControlReply::Done { seq } = answer else { return Ok(answer) };
                let refused = restored.refused.into_iter();
                Ok(ControlReply::Restored {
                    seq,
                    written: restored.written.len(),
                    removed: restored.removed.len(),
                    refused: refused.map(|it| SkippedPath { path: it.path, why: it.why }).collect(),
                })
            }
            Err(message) => self.not_rolled_back(message),
        }
    }

    fn not_rolled_back(&mut self, message: Message) -> Result<ControlReply, KeeperError> {
        self.handle_event(Event::RollbackFailed { message: message.clone() })?;
        Ok(ControlReply::Refused { code: "conflict", message })
    }

    /// Writes the records, then applies them. They are durable before their effects are performed and before they are
    /// published.
    fn record(
        &mut self,
        now: Moment,
        records: Vec<Record>,
        durability: Durability,
    ) -> Result<(), KeeperError> {
        if records.is_empty() {
            return if durability == Durability::Now { self.sync() } else { Ok(()) };
        }
        let written = match durability {
            Durability::Now => self.journal.append(now, records.clone()),
            Durability::Soon => self.journal.append_unsynced(now, records.clone()),
        };
        let entries = match written {
            Ok(entries) => entries,
            Err(error @ JournalError::Full { .. }) => self.record_on_full_disk(now, records, &error)?,
            Err(error) => return Err(error.into()),
        };
        for entry in entries {
            if matches!(entry.record, Record::Resumed {}) {
                // If this fails, there is no reserve for the next full disk; the current one is resolved.
                let _ = self.journal.refill_reserve();
            }
            decide::apply(&mut self.state, &entry);
            let entered = self.span.enter(self.state.iteration);
            event_log::log_record(&entry);
            drop(entered);
            self.user_commands.observe(&self.state, &entry);
            self.unpublished.push(entry);
        }
        if durability == Durability::Now {
            self.publish_committed();
        }
        self.saver.save_if_due(&self.state, &self.journal);
        Ok(())
    }

    /// Makes all written records durable and publishes them.
    fn sync(&mut self) -> Result<(), KeeperError> {
        match self.journal.sync() {
            Ok(()) => {}
            Err(error @ JournalError::Full { .. }) => {
                self.record_on_full_disk(Moment::default(), Vec::new(), &error)?;
            }
            Err(error) => return Err(error.into()),
        }
        self.publish_committed();
        Ok(())
    }

    fn publish_committed(&mut self) {
        for entry in self.unpublished.drain(..) {
            self.effects.context.control.seq.set(entry.seq);
            (self.observer)(&entry);
            // The send fails if there are no watchers.
            let _ = self.effects.context.control.watch_events.send(WatchEvent::Recorded { seq: entry.seq });
        }
        self.user_commands.dispatch_pending(&self.effects.context);
    }

    /// Uses the reserve to write the records and the pause of the loop.
    fn record_on_full_disk(
        &mut self,
        now: Moment,
        records: Vec<Record>,
        error: &JournalError,
    ) -> Result<Vec<Entry>, KeeperError> {
        self.journal.recover()?;
        self.journal.spend_reserve()?;
        let entries = self.journal.append(now, records)?;
        self.queue.push_front(Event::DiskFilled { message: error.to_string().into() });
        Ok(entries)
    }
}

/// Paths that must not move: the journal first, the locks, and the state folders that contain them.
fn watched_paths(journal: &Path, root: &Path, locks: &[Lock]) -> Vec<PathBuf> {
    let folders = journal.ancestors().take_while(|it| it.starts_with(root));
    let locks = locks.iter().map(Lock::path);
    folders.chain(locks).map(Path::to_path_buf).collect()
}

/// Resolves when the waiting client disconnects.
async fn wait_disconnected(pending: &mut Option<oneshot::Sender<ControlReply>>) {
    match pending {
        Some(reply) => reply.closed().await,
        None => std::future::pending().await,
    }
}

async fn sleep(ms: Option<u64>) {
    match ms {
        Some(ms) => tokio::time::sleep(std::time::Duration::from_millis(ms)).await,
        None => std::future::pending().await,
    }
}
