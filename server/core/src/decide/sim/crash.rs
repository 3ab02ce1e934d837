//! Simulates a keeper that is killed, and the one that takes over.

use super::Sim;
use crate::decide::{Decision, Event, VolatileState, apply, decide, replay};
use crate::journal::Entry;

impl Sim {
    /// Ends the keeper, and replays its journal in a new one.
    pub fn crash(&mut self, boot: &str) {
        self.finished = false;
        self.queue.clear();
        (self.process.alive, self.process.works) = (false, false);
        self.live = VolatileState::default();
        self.state = replay(&self.entries).expect("replays");
        if self.state.outcome().is_some() {
            self.finished = true;
            return;
        }
        self.state.position.epoch += 1;
        let epoch = self.state.position.epoch;
        if boot != self.state.position.boot {
            self.now.awake = 5_000;
        }
        let event = Event::Reopened { boot: boot.to_owned(), version: "0.1.0".to_owned() };
        for step in decide(&self.state, &mut self.live, self.now, event) {
            match step {
                Decision::Record(record) => {
                    let entry = Entry { seq: self.state.position.seq + 1, epoch, at: self.now, record };
                    apply(&mut self.state, &entry);
                    self.entries.push(entry);
                }
                Decision::Effect(effect) => self.queue.push(effect),
            }
        }
    }
}
