//! One keeper process: its view of the loop, and how far it is with the event that it handles. A kill may come between
//! any two steps.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use loopkeeper_core::decide::durability::Durability;
use loopkeeper_core::decide::{self, Decision, Effect, LoopState, VolatileState};
use loopkeeper_core::journal::reading::ChecksumChain;
use loopkeeper_core::journal::{Entry, Record, SnapshotWhen};
use loopkeeper_text::moment::Moment;

use super::Omission;
use super::world::{Facts, Request, Signal, boot_id, loop_spec};

/// The model's clock does not advance: no wait of a loop without errors needs it.
const NOW: Moment = Moment { wall: 1_795_000_000_000, awake: 1_000_000 };

/// How far the event is handled.
#[derive(Debug, Clone, Default)]
pub(crate) enum Turn {
    /// It waits for an event.
    #[default]
    Idle,
    /// Decided, and nothing else has written to the journal: the records are about to be written.
    Decided { records: Vec<Record>, effects: VecDeque<Effect>, durability: Durability },
    /// The records are written, and have to be synced before the effects.
    Written { effects: VecDeque<Effect> },
    /// The effects are about to be performed.
    Effects(VecDeque<Effect>),
}

#[derive(Debug, Clone)]
pub(crate) struct KeeperProcess {
    pub(crate) state: LoopState,
    live: VolatileState,
    pub(crate) turn: Turn,
    /// The request that is answered at the end of the turn.
    pub(crate) asked: Option<Request>,
    pub(crate) signals: VecDeque<Signal>,
    /// The lock's file is no longer the one that it locked.
    pub(crate) has_lost_lock: bool,
    chain: ChecksumChain,
    epoch: u32,
    /// Lines of the journal after its last write.
    known_len: usize,
    /// The lines that it was started on, and everything that it handled since: what it is follows from these.
    started_on: usize,
    handled: Vec<Signal>,
}

/// What is known of the journal when a keeper starts.
pub(crate) struct JournalStart<'a> {
    pub(crate) entries: &'a [Arc<Entry>],
    pub(crate) chain: ChecksumChain,
    pub(crate) epoch: u32,
    pub(crate) len: usize,
    pub(crate) boot: u8,
}

impl KeeperProcess {
    pub(crate) fn start(journal: JournalStart<'_>, facts: Facts, omission: Omission) -> Self {
        let (state, turn, signal) = if let Some(state) = replay(journal.entries, omission) {
            (state, Turn::Idle, Signal::Reopened { boot: journal.boot })
        } else {
            let spec = Box::new(loop_spec(facts.bound));
            let record = Record::LoopStarted { boot: boot_id(journal.boot), spec };
            let first = Entry { seq: 1, epoch: journal.epoch, at: NOW, record: record.clone() };
            let (records, effects) = (vec![record], VecDeque::new());
            let turn = Turn::Decided { records, effects, durability: Durability::Now };
            (decide::state_from_first(&first).expect("a first record"), turn, Signal::Launched)
        };
        Self {
            state,
            live: VolatileState::default(),
            turn,
            asked: None,
            signals: [signal].into(),
            has_lost_lock: false,
            chain: journal.chain,
            epoch: journal.epoch,
            known_len: journal.len,
            started_on: journal.len,
            handled: Vec::new(),
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.turn, Turn::Idle)
    }

    /// Decides about the next signal. Nothing is written yet.
    pub(crate) fn decide_next(&mut self, facts: Facts) {
        let Some(signal) = self.signals.pop_front() else { return };
        self.handled.push(signal);
        let event = signal.event(&self.state, facts);
        let (mut records, mut effects) = (Vec::new(), VecDeque::new());
        for step in decide::decide(&self.state, &mut self.live, NOW, event) {
            match step {
                Decision::Record(record) => records.push(record),
                Decision::Effect(effect) => effects.push_back(effect),
            }
        }
        let durability = match signal {
            Signal::Asked(request) => {
                self.asked = Some(request);
                Durability::Now
            }
            _ => Durability::required_for(&records, effects.make_contiguous()),
        };
        self.turn = Turn::Decided { records, effects, durability };
    }

    /// Whether the journal is as this keeper left it.
    pub(crate) fn knows(&self, len: usize) -> bool {
        self.known_len == len
    }

    /// Writes the decided records and applies them; returns the lines. `None`: nothing is decided.
    pub(crate) fn write(&mut self, omission: Omission) -> Option<Vec<String>> {
        let Turn::Decided { records, effects, durability } = std::mem::take(&mut self.turn) else {
            return None;
        };
        let mut lines = Vec::new();
        for record in records {
            let entry = Entry { seq: self.chain.last_seq() + 1, epoch: self.epoch, at: NOW, record };
            lines.push(self.chain.append(&entry).expect("a record that fits"));
            apply(&mut self.state, &entry, omission);
        }
        self.known_len += lines.len();
        self.turn = match durability {
            Durability::Now => Turn::Written { effects },
            Durability::Soon => Turn::Effects(effects),
        };
        Some(lines)
    }

    /// The records are on the disk.
    pub(crate) fn synced(&mut self) {
        if let Turn::Written { effects } = std::mem::take(&mut self.turn) {
            self.turn = Turn::Effects(effects);
        }
    }

    pub(crate) fn next_effect(&self) -> Option<&Effect> {
        match &self.turn {
            Turn::Effects(effects) => effects.front(),
            _ => None,
        }
    }

    pub(crate) fn pop_effect(&mut self) -> Option<Effect> {
        match &mut self.turn {
            Turn::Effects(effects) => effects.pop_front(),
            _ => None,
        }
    }

    /// Ends the turn if all of its effects are performed; returns the request that it answers.
    pub(crate) fn end_turn(&mut self) -> Option<Request> {
        if !matches!(&self.turn, Turn::Effects(effects) if effects.is_empty()) {
            return None;
        }
        self.turn = Turn::Idle;
        self.asked.take()
    }

    fn position(&self) -> (usize, u32, usize, bool) {
        (self.started_on, self.epoch, self.known_len, self.has_lost_lock)
    }

    fn handling(&self) -> (&[Signal], &VecDeque<Signal>, (u8, usize), Option<Request>) {
        (&self.handled, &self.signals, self.progress(), self.asked)
    }

    fn progress(&self) -> (u8, usize) {
        match &self.turn {
            Turn::Idle => (0, 0),
            Turn::Decided { .. } => (1, 0),
            Turn::Written { .. } => (2, 0),
            Turn::Effects(effects) => (3, effects.len()),
        }
    }
}

fn replay(entries: &[Arc<Entry>], omission: Omission) -> Option<LoopState> {
    let (first, rest) = entries.split_first()?;
    let mut state = decide::state_from_first(first)?;
    for entry in rest {
        apply(&mut state, entry, omission);
    }
    Some(state)
}

/// As the program does, without what is left out.
fn apply(state: &mut LoopState, entry: &Entry, omission: Omission) {
    let before = state.weakening.clone();
    decide::apply(state, entry);
    match (omission, &entry.record) {
        (Omission::RollbackOrigin, Record::RolledBack { .. }) => {
            state.weakening.last_tree = before.last_tree;
            state.weakening.partial_rollbacks = before.partial_rollbacks;
        }
        (Omission::Interruption, Record::SnapshotTaken { when: SnapshotWhen::BeforeRollback, tree, .. }) => {
            if let Some(last) = &mut state.rollback.last {
                last.after = Some(tree.clone());
            }
        }
        (Omission::RestoredFiles, Record::ChecksDone { iteration: None, .. }) => {
            state.weakening.weakened = before.weakened;
            state.weakening.restored = before.restored;
        }
        _ => {}
    }
}

/// Everything else follows from these and the lines on the disk.
impl PartialEq for KeeperProcess {
    fn eq(&self, other: &Self) -> bool {
        self.position() == other.position() && self.handling() == other.handling()
    }
}

impl Hash for KeeperProcess {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.position().hash(state);
        self.handling().hash(state);
    }
}
