//! Everything outside of the keepers, and the steps that it can take: kills, power cuts, agents, requests.

use std::sync::Arc;

use loopkeeper_agent::AgentEnding;
use loopkeeper_core::decide::{Effect, LoopState};
use loopkeeper_core::journal::Record;

use super::disk::Disk;
use super::keeper::{JournalStart, KeeperProcess, Turn};
use super::world::{Facts, Request, Signal, Tree};
use super::{Bound, Omission};

pub(crate) const KEEPERS: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    Start(usize),
    /// Decides about the next event, and finds the journal as it left it.
    Decide(usize),
    Write(usize),
    Sync(usize),
    /// Starts the agent.
    Perform(usize),
    AgentExits(usize),
    /// The same, and it weakened the test.
    AgentWeakens(usize),
    /// The guard ends what a killed keeper left.
    EndOrphans,
    Ask(usize, Request),
    Kill(usize),
    PowerCut {
        lost: usize,
        torn: bool,
    },
    LoseLock,
    /// A keeper finds that its lock is not in its place, and ends.
    Notice(usize),
}

/// An agent at work; `keeper` is `None` once that was killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct AgentProcess {
    pub(crate) keeper: Option<usize>,
    /// Its keeper had lost the lock when it was started.
    pub(crate) is_unlocked: bool,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub(crate) struct Machine {
    pub(crate) disk: Disk,
    lock: Option<usize>,
    keepers: [Option<Arc<KeeperProcess>>; KEEPERS],
    pub(crate) agents: Vec<AgentProcess>,
    pub(crate) tree: Tree,
    boot: u8,
    left: Bound,
    /// Iterations whose agent was started, in this order.
    pub(crate) starts: Vec<u32>,
    /// Requests that a keeper answered, with the number of starts before the answer.
    pub(crate) acknowledged: Vec<(Request, usize)>,
    /// `seq` of the last record that a keeper published.
    pub(crate) published: u64,
    /// Keepers that took over an iteration in flight.
    pub(crate) takeovers: u8,
}

impl Machine {
    pub(crate) fn new(bound: Bound) -> Self {
        Self {
            disk: Disk::default(),
            lock: None,
            keepers: [None, None],
            agents: Vec::new(),
            tree: Tree::default(),
            boot: 0,
            left: bound,
            starts: Vec::new(),
            acknowledged: Vec::new(),
            published: 0,
            takeovers: 0,
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.disk.entries.last().is_some_and(|it| matches!(it.record, Record::Ended { .. }))
    }

    pub(crate) fn actions(&self, omission: Omission, actions: &mut Vec<Action>) {
        let may_start = self.lock.is_none() || omission == Omission::Lock;
        if may_start && !self.has_ended() && self.disk.damage.is_none() {
            actions.extend(self.keepers.iter().position(Option::is_none).map(Action::Start));
        }
        for (index, keeper) in self.keepers.iter().enumerate() {
            if let Some(keeper) = keeper {
                self.keeper_actions(index, keeper, actions);
            }
        }
        actions.extend((0..self.agents.len()).map(Action::AgentExits));
        if self.left.weakenings > 0 {
            actions.extend((0..self.agents.len()).map(Action::AgentWeakens));
        }
        if omission != Omission::Cleanup && self.agents.iter().any(|it| it.keeper.is_none()) {
            actions.push(Action::EndOrphans);
        }
        if self.left.power_cuts > 0 && self.keepers.iter().any(Option::is_some) {
            let unsynced = self.disk.unsynced();
            actions.extend((0..=unsynced).map(|lost| Action::PowerCut { lost, torn: false }));
            if unsynced > 0 {
                actions.push(Action::PowerCut { lost: unsynced, torn: true });
            }
        }
        if self.left.lock_losses > 0 && self.lock.is_some() {
            actions.push(Action::LoseLock);
        }
    }

    fn keeper_actions(&self, index: usize, keeper: &KeeperProcess, actions: &mut Vec<Action>) {
        match &keeper.turn {
            Turn::Idle if !keeper.signals.is_empty() => actions.push(Action::Decide(index)),
            Turn::Idle => {}
            Turn::Decided { .. } => actions.push(Action::Write(index)),
            Turn::Written { .. } => actions.push(Action::Sync(index)),
            Turn::Effects(_) => actions.push(Action::Perform(index)),
        }
        let next = keeper.signals.front();
        // Its own next steps come before requests.
        let is_open = !matches!(
            next,
            Some(
                Signal::Launched
                    | Signal::Reopened { .. }
                    | Signal::Continued
                    | Signal::RollbackReady { .. }
                    | Signal::RolledBack { .. }
            )
        );
        if keeper.is_idle() && is_open && !self.has_ended() {
            actions.extend(self.requests(keeper).map(|it| Action::Ask(index, it)));
        }
        if self.left.kills > 0 {
            actions.push(Action::Kill(index));
        }
        if keeper.has_lost_lock && keeper.is_idle() {
            actions.push(Action::Notice(index));
        }
    }

    fn requests(&self, keeper: &KeeperProcess) -> impl Iterator<Item = Request> {
        let left = self.left;
        let asks =
            [(left.steers, Request::Steer), (left.stops, Request::Stop), (left.stops, Request::StopNow)];
        let is_paused = keeper.state.is_paused_between_iterations();
        let rollbacks = (0..=keeper.state.iteration).map(|to| Request::RollBack { to });
        let rollbacks = rollbacks.chain([Request::RestoreTest]).map(move |it| (left.rollbacks, it));
        let resumes = std::iter::once((left.resumes, Request::Resume));
        let while_paused = rollbacks.chain(resumes).filter(move |_| is_paused);
        asks.into_iter().chain(while_paused).filter(|it| it.0 > 0).map(|it| it.1)
    }

    /// What the keepers make of the journal.
    pub(crate) fn states(&self) -> impl Iterator<Item = &LoopState> {
        self.keepers.iter().flatten().map(|it| &it.state)
    }

    pub(crate) fn step(&mut self, action: Action, omission: Omission, facts: Facts) {
        match action {
            Action::Start(index) => self.start(index, omission, facts),
            Action::Decide(index) => {
                let has_lost_lock = self.keeper(index).has_lost_lock;
                self.keeper(index).decide_next(facts);
                if !self.knows_journal(index) {
                    self.end(index);
                } else if !has_lost_lock {
                    // One step: with the lock, nothing else writes in between.
                    self.write(index, omission);
                }
            }
            Action::Write(index) => self.write(index, omission),
            Action::Sync(index) => self.sync(index, omission),
            Action::Perform(index) => self.perform(index),
            Action::AgentExits(index) => self.agent_exits(index),
            Action::AgentWeakens(index) => {
                self.left.weakenings -= 1;
                self.tree.weakenings += 1;
                self.agent_exits(index);
            }
            Action::EndOrphans => self.agents.retain(|it| it.keeper.is_some()),
            Action::Ask(index, request) => self.ask(index, request),
            Action::Kill(index) => {
                self.left.kills -= 1;
                let orphaned = self.agents.iter_mut().filter(|it| it.keeper == Some(index));
                orphaned.for_each(|it| it.keeper = None);
                self.release(index);
            }
            Action::PowerCut { lost, torn } => self.cut_power(lost, torn),
            Action::LoseLock => {
                self.left.lock_losses -= 1;
                if let Some(index) = self.lock.take() {
                    self.keeper(index).has_lost_lock = true;
                }
            }
            Action::Notice(index) => self.end(index),
        }
    }

    fn keeper(&mut self, index: usize) -> &mut KeeperProcess {
        Arc::make_mut(self.keepers[index].as_mut().expect("a living keeper"))
    }

    fn knows_journal(&self, index: usize) -> bool {
        self.keepers[index].as_ref().is_some_and(|it| it.knows(self.disk.len()))
    }

    fn start(&mut self, index: usize, omission: Omission, facts: Facts) {
        self.lock = Some(index);
        if omission != Omission::Cleanup {
            for agent in std::mem::take(&mut self.agents) {
                if let Some(keeper) = agent.keeper {
                    let ended = Signal::AgentEnded { ending: AgentEnding::Exited };
                    self.keeper(keeper).signals.push_back(ended);
                }
            }
        }
        self.disk.open();
        if omission != Omission::Sync {
            self.disk.sync();
        }
        let chain = self.disk.chain.clone();
        let next = chain.last_epoch() + 1;
        let epoch = if omission == Omission::Epoch { 1 } else { next };
        let (entries, len) = (self.disk.entries.as_slice(), self.disk.len());
        let journal = JournalStart { entries, chain, epoch, len, boot: self.boot };
        let keeper = KeeperProcess::start(journal, facts, omission);
        self.takeovers += u8::from(keeper.state.phase.running_agent().is_some());
        self.keepers[index] = Some(Arc::new(keeper));
        // The first record of a loop; of another, nothing is decided yet.
        self.write(index, omission);
    }

    fn write(&mut self, index: usize, omission: Omission) {
        let Some(lines) = self.keeper(index).write(omission) else { return };
        for line in lines {
            self.disk.append(&line);
        }
        self.perform_internal(index);
    }

    fn sync(&mut self, index: usize, omission: Omission) {
        if omission != Omission::Sync {
            self.disk.sync();
        }
        let keeper = self.keeper(index);
        keeper.synced();
        if !keeper.has_lost_lock {
            let seq = keeper.state.position.seq;
            self.published = self.published.max(seq);
        }
        self.perform_internal(index);
    }

    /// Performs the next effect, which is visible outside, and those after it that are not.
    fn perform(&mut self, index: usize) {
        let keeper = self.keeper(index);
        let is_unlocked = keeper.has_lost_lock;
        if let Some(Effect::SpawnAgent { iteration, .. }) = keeper.pop_effect() {
            keeper.signals.push_back(Signal::AgentStarted);
            self.agents.push(AgentProcess { keeper: Some(index), is_unlocked });
            if !is_unlocked {
                self.starts.push(iteration);
            }
        }
        self.perform_internal(index);
    }

    /// Effects that a kill makes undone: a kill before one of them is like a kill before the first.
    fn perform_internal(&mut self, index: usize) {
        loop {
            let tree = self.tree;
            let keeper = self.keeper(index);
            if matches!(keeper.next_effect(), Some(Effect::SpawnAgent { .. })) {
                return;
            }
            let Some(effect) = keeper.pop_effect() else { break };
            let answer = match effect {
                Effect::Continue => Some(Signal::Continued),
                Effect::TakeSnapshot => Some(Signal::Snapshot { tree }),
                Effect::ReadTask => Some(Signal::Documents),
                Effect::RunChecks { .. } => Some(Signal::Checks { tree }),
                Effect::JudgeFinalTree { .. } => Some(Signal::Verdict { tree }),
                Effect::TestMutants(_) => Some(Signal::Mutants),
                Effect::CancelChecks => Some(Signal::ChecksCancelled),
                Effect::TakeCallSlot { iteration, .. } => Some(Signal::CallSlot { iteration }),
                Effect::CheckActivity => Some(Signal::NoActivity),
                Effect::StopAgent { why, .. } => {
                    self.agents.retain(|it| it.keeper != Some(index));
                    Some(Signal::AgentEnded { ending: why })
                }
                Effect::PrepareRollback { to, paths } => {
                    Some(Signal::RollbackReady { to, only_test: !paths.is_empty(), tree })
                }
                Effect::Rollback { to, tree: source, paths, .. } => {
                    let (source, only_test) = (Tree::of_name(&source), !paths.is_empty());
                    let after =
                        Tree { changes: if only_test { tree.changes } else { source.changes }, ..source };
                    self.tree = after;
                    Some(Signal::RolledBack { to, only_test, source, before: tree, after })
                }
                Effect::Refuse { .. } => {
                    keeper.asked = None;
                    None
                }
                Effect::Finish => {
                    // The answer is sent before the process exits.
                    self.answer(index);
                    return self.end(index);
                }
                other => unreachable!("no loop of the model has {other:?}"),
            };
            self.keeper(index).signals.extend(answer);
        }
        self.answer(index);
    }

    /// Ends the turn if nothing is left of it, and answers its request.
    fn answer(&mut self, index: usize) {
        let starts = self.starts.len();
        let keeper = self.keeper(index);
        let is_valid = !keeper.has_lost_lock;
        if let Some(request) = keeper.end_turn().filter(|_| is_valid) {
            self.acknowledged.push((request, starts));
        }
    }

    fn agent_exits(&mut self, index: usize) {
        let agent = self.agents.remove(index);
        self.tree.changes += 1;
        if let Some(keeper) = agent.keeper {
            let ended = Signal::AgentEnded { ending: AgentEnding::Exited };
            self.keeper(keeper).signals.push_back(ended);
        }
    }

    fn ask(&mut self, index: usize, request: Request) {
        match request {
            Request::Steer => self.left.steers -= 1,
            Request::Stop | Request::StopNow => self.left.stops -= 1,
            Request::Resume => self.left.resumes -= 1,
            Request::RollBack { .. } | Request::RestoreTest => self.left.rollbacks -= 1,
        }
        self.keeper(index).signals.push_front(Signal::Asked(request));
    }

    fn cut_power(&mut self, lost: usize, torn: bool) {
        self.left.power_cuts -= 1;
        self.disk.cut(lost, torn);
        self.agents.clear();
        self.boot += 1;
        (self.keepers, self.lock) = ([None, None], None);
    }

    /// The keeper ends by itself, with its agent.
    fn end(&mut self, index: usize) {
        self.agents.retain(|it| it.keeper != Some(index));
        self.release(index);
    }

    fn release(&mut self, index: usize) {
        self.keepers[index] = None;
        if self.lock == Some(index) {
            self.lock = None;
        }
    }
}
