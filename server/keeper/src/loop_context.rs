//! Context of one loop: where it runs, where its files are, and the channel for its events.

use std::cell::RefCell;
use std::rc::Rc;

use loopkeeper_core::decide::Event;
use loopkeeper_view::hook_payload::HookPayload;
use tokio::sync::mpsc;

use super::control::ControlState;
use super::parsed_task::ParsedTaskCache;
use super::run_context::RunContext;
use loopkeeper_system::git::executed_files::ExecutedFiles;
use loopkeeper_system::git::head_cache::HeadCache;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::workspace::LoopDir;

/// The event that precedes the next start of the agent, until it is delivered.
pub(super) type PendingStartHook = Rc<RefCell<Option<HookPayload>>>;

/// Context shared by everything that runs for this loop.
#[derive(Clone)]
pub struct LoopContext {
    pub runtime: RunContext,
    pub state: Rc<StateDir>,
    pub dir: LoopDir,
    pub control: ControlState,
    pub events: mpsc::UnboundedSender<Event>,
    pub head: Rc<RefCell<HeadCache>>,
    /// Files of git that are executed, as of the last snapshot; unknown before this keeper's first snapshot.
    pub executed_files: Rc<RefCell<Option<ExecutedFiles>>>,
    pub task: Rc<RefCell<ParsedTaskCache>>,
    pub start_hook: PendingStartHook,
}

impl LoopContext {
    pub(super) fn new(
        dir: &LoopDir,
        state: &Rc<StateDir>,
        runtime: RunContext,
        control: &ControlState,
        events: mpsc::UnboundedSender<Event>,
    ) -> Self {
        Self {
            runtime,
            state: Rc::clone(state),
            dir: dir.clone(),
            control: control.clone(),
            events,
            head: Rc::default(),
            executed_files: Rc::default(),
            task: Rc::default(),
            start_hook: Rc::default(),
        }
    }

    /// The receiver is dropped when the loop ends.
    pub(super) fn send_event(&self, event: Event) {
        let _ = self.events.send(event);
    }
}
