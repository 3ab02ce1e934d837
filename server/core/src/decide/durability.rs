//! Decides whether records must be synced immediately. A sync costs as much as the rest of a turn, and most records of
//! an iteration only report progress, followed by a record that has effects.

use super::Effect;
use crate::journal::{Record, SnapshotWhen};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Synced before any effect is performed.
    Now,
    /// Synced with the next urgent record, or after a short delay.
    Soon,
}

impl Durability {
    /// Decided by the effects of the same turn: reading the tree or documents changes nothing outside.
    pub fn required_for(records: &[Record], effects: &[Effect]) -> Self {
        // A slot that is taken twice after a crash is charged once.
        let is_observation = |it: &Effect| {
            matches!(
                it,
                Effect::Continue | Effect::TakeSnapshot | Effect::ReadTask | Effect::TakeCallSlot { .. }
            )
        };
        if records.iter().all(only_reports) && effects.iter().all(is_observation) {
            Self::Soon
        } else {
            Self::Now
        }
    }
}

/// Whether a loop that loses this record in a power cut only repeats work.
fn only_reports(record: &Record) -> bool {
    match record {
        Record::AgentStarted { .. }
        | Record::AgentEnded { .. }
        | Record::AgentLeft { .. }
        | Record::ChecksDone { .. }
        | Record::IterationEnded { .. }
        | Record::HookFailed { .. } => true,
        Record::SnapshotTaken { when, .. } => *when != SnapshotWhen::BeforeRollback,
        // A new record is synced at once, which is always safe.
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::journal::{Outcome, OutcomeKind};

    use super::*;

    fn spawn() -> Effect {
        let (session, prompt) = (String::new(), String::new());
        Effect::SpawnAgent { iteration: 1, session, resumed: false, session_tokens: 0, prompt }
    }

    fn taken(when: SnapshotWhen) -> Record {
        Record::SnapshotTaken {
            iteration: 1,
            when,
            tree: String::new(),
            head: None,
            not_covered: Vec::new(),
            undoes: None,
        }
    }

    #[test]
    fn records_with_effects_are_durable_at_once() {
        let check = |records: &[Record], effects: &[Effect], expect| {
            assert_eq!(Durability::required_for(records, effects), expect, "{records:?} {effects:?}");
        };
        let started = Record::AgentStarted {
            iteration: 1,
            pid: 1,
            agent_pid: None,
            domain: String::new(),
            network: None,
            holds: None,
        };
        let intended = Record::IterationIntended {
            iteration: 1,
            session: String::new(),
            resumed: false,
            prompt: String::new(),
            tree: String::new(),
            calls_this_hour: 1,
            calls_note: None,
        };
        let outcome =
            Outcome { kind: OutcomeKind::Stopped, verified: false, sentence: "".into(), cause: None };
        let checks = Effect::RunChecks { criteria: Vec::new(), repeats: 0 };
        check(std::slice::from_ref(&started), &[], Durability::Soon);
        check(std::slice::from_ref(&started), &[Effect::TakeSnapshot], Durability::Soon);
        check(&[taken(SnapshotWhen::Before)], &[Effect::ReadTask], Durability::Soon);
        check(&[taken(SnapshotWhen::After)], &[checks], Durability::Now);
        check(&[taken(SnapshotWhen::BeforeRollback)], &[], Durability::Now);
        check(&[intended], &[spawn()], Durability::Now);
        check(&[], &[spawn()], Durability::Now);
        check(&[], &[Effect::ReadTask], Durability::Soon);
        check(&[], &[Effect::TakeCallSlot { iteration: 1, heeds_limits: true }], Durability::Soon);
        check(&[started, Record::Ended { outcome }], &[Effect::Continue], Durability::Now);
        check(&[Record::Resumed {}], &[Effect::Continue], Durability::Now);
    }
}
