//! Follows the loops of the state folder through their journals and the streams of their keepers.

use std::collections::HashSet;

use loopkeeper_core::liveness::KeeperLiveness;
use loopkeeper_operations::current_tree::CurrentTree;
use loopkeeper_operations::follow::LoopTailer;
use loopkeeper_operations::watch_client::{WatchMessage, WatchStream};
use loopkeeper_system::clock;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::workspace::LoopDir;
use loopkeeper_text::sanitize;
use loopkeeper_view::StatusFacts;
use loopkeeper_view::dashboard::{Dashboard, DashboardLoop};
use tokio::sync::mpsc;

use super::events::DashboardEvent;
use crate::exit::Exit;
use crate::failure::Failure;

/// Ended loops that are shown, the newest ones.
const MAX_ENDED: usize = 20;

struct FeedEntry {
    dir: LoopDir,
    tailer: LoopTailer,
    keeper: KeeperLiveness,
    /// Whether a task reads its keeper's stream.
    has_stream: bool,
}

impl FeedEntry {
    fn is_ended(&self) -> bool {
        self.tailer.state().is_some_and(|it| it.outcome().is_some())
    }

    fn to_dashboard_loop(&self, tree: Option<&CurrentTree>) -> Option<DashboardLoop> {
        let damaged = self.tailer.damage().is_some();
        let facts = StatusFacts { now: clock::now(), keeper: self.keeper, damaged, activity: None };
        let root = self.dir.root();
        let is_here = tree.is_some_and(|it| it.contains_root(root));
        let folder = (!is_here).then(|| sanitize::visible(&root.to_string_lossy()));
        Some(DashboardLoop::new(self.tailer.state()?, &facts, folder))
    }
}

pub(super) struct LoopFeed {
    store: StateDir,
    tree: Option<CurrentTree>,
    loops: Vec<FeedEntry>,
    /// Ended loops that are too old to be shown.
    omitted: HashSet<String>,
    events: mpsc::Sender<DashboardEvent>,
}

impl LoopFeed {
    pub(super) fn new(store: StateDir, events: mpsc::Sender<DashboardEvent>) -> Self {
        Self { store, tree: CurrentTree::find(), loops: Vec::new(), omitted: HashSet::new(), events }
    }

    /// Finds new and removed loops, and polls every journal and keeper.
    pub(super) fn scan(&mut self, view: &mut Dashboard) -> Result<(), Failure> {
        let dirs = self.store.loops()?;
        let ids: HashSet<String> = dirs.iter().map(|it| it.id().to_owned()).collect();
        self.loops.retain(|it| ids.contains(it.dir.id()));
        for dir in dirs {
            if !self.omitted.contains(dir.id()) && !self.loops.iter().any(|it| it.dir.id() == dir.id()) {
                let tailer = LoopTailer::from_saved_state(&dir.journal());
                let keeper = KeeperLiveness::Gone;
                self.loops.push(FeedEntry { dir, tailer, keeper, has_stream: false });
            }
        }
        let selected = view.selected().map(str::to_owned);
        for it in &mut self.loops {
            // The keeper first: if it ends in between, the journal records that.
            let keeper = self.store.keeper_of(&it.dir)?;
            let is_other_keeper = keeper != it.keeper;
            it.keeper = keeper;
            let has_news = it.tailer.advance().unwrap_or_default();
            // Elapsed times change in the displayed loop.
            let is_looked_at = selected.as_deref() == Some(it.dir.id()) && !it.is_ended();
            if has_news || is_other_keeper || is_looked_at {
                it.to_dashboard_loop(self.tree.as_ref()).into_iter().for_each(|it| view.set_loop(it));
            }
        }
        self.omit_old(view);
        self.connect();
        Ok(())
    }

    /// Reads the journals of running loops without a stream, or of the one whose keeper reported a record.
    pub(super) fn poll(&mut self, id: Option<&str>, view: &mut Dashboard) {
        let wanted = |it: &&mut FeedEntry| match id {
            Some(id) => it.dir.id() == id,
            None => it.keeper.is_alive() && !it.has_stream,
        };
        for it in self.loops.iter_mut().filter(wanted) {
            // A journal that cannot be read now is read again by the next scan.
            if it.tailer.advance().unwrap_or_default() {
                it.to_dashboard_loop(self.tree.as_ref()).into_iter().for_each(|it| view.set_loop(it));
            }
        }
    }

    /// The last iteration of a loop.
    pub(super) fn iteration(&self, id: &str) -> Option<u32> {
        self.loops.iter().find(|it| it.dir.id() == id)?.tailer.state().map(|it| it.iteration)
    }

    /// Its exit code, if it has ended.
    pub(super) fn exit_of(&self, id: &str) -> Option<Exit> {
        let followed = self.loops.iter().find(|it| it.dir.id() == id)?;
        followed.tailer.state()?.outcome().map(Exit::of)
    }

    /// The stream ended: a keeper that still runs is connected to again.
    pub(super) fn stream_ended(&mut self, id: &str) {
        self.loops.iter_mut().filter(|it| it.dir.id() == id).for_each(|it| it.has_stream = false);
    }

    fn omit_old(&mut self, view: &mut Dashboard) {
        let mut ended: Vec<_> = self.loops.iter().filter(|it| it.is_ended()).map(|it| it.dir.id()).collect();
        // The ids begin with the date; the list of the folder is in the order of their start.
        ended.reverse();
        let old = ended.into_iter().skip(MAX_ENDED).filter(|it| view.selected() != Some(*it));
        let old: HashSet<String> = old.map(str::to_owned).collect();
        self.loops.retain(|it| !old.contains(it.dir.id()));
        self.omitted.extend(old);
        view.retain(|id| self.loops.iter().any(|it| it.dir.id() == id));
    }

    fn connect(&mut self) {
        let without = |it: &&mut FeedEntry| it.keeper.is_alive() && !it.has_stream;
        for it in self.loops.iter_mut().filter(without) {
            it.has_stream = true;
            let (store, id, events) = (self.store.clone(), it.dir.id().to_owned(), self.events.clone());
            tokio::spawn(async move {
                if let Some(mut stream) = WatchStream::connect(&store, &id).await {
                    while let Some(message) = stream.next().await {
                        if events.send(event(&id, message)).await.is_err() {
                            return;
                        }
                    }
                }
                let _ = events.send(DashboardEvent::StreamEnded { id }).await;
            });
        }
    }
}

fn event(id: &str, message: WatchMessage) -> DashboardEvent {
    let id = id.to_owned();
    match message.kind.as_str() {
        "activity" => DashboardEvent::Activity { id, text: message.text },
        "output" => DashboardEvent::OutputLine { id, text: message.text },
        _ => DashboardEvent::Recorded { id },
    }
}
