//! The loop after each of its iterations, as far as a rollback restores it. Most iterations do not change it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Checkpoint;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct CheckpointList {
    /// In the order of their iterations.
    spans: Vec<CheckpointSpan>,
    /// The plan items done, each set as long as it lasted.
    done: Vec<BTreeSet<String>>,
}

/// Iterations in a row with the same checkpoint: the first and the last of them, its claims, whether a goal has turned,
/// and the index of its plan items. As an array, without names.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct CheckpointSpan(u32, u32, u32, bool, usize);

impl CheckpointList {
    /// Replaces the checkpoint of that iteration. There is none of a later one.
    pub(crate) fn insert(&mut self, iteration: u32, checkpoint: Checkpoint) {
        self.remove_from(iteration);
        let Checkpoint { claims, turned, done } = checkpoint;
        if self.done.last() != Some(&done) {
            self.done.push(done);
        }
        let index = self.done.len() - 1;
        match self.spans.last_mut() {
            Some(last)
                if last.1.checked_add(1) == Some(iteration)
                    && (last.2, last.3, last.4) == (claims, turned, index) =>
            {
                last.1 = iteration;
            }
            _ => self.spans.push(CheckpointSpan(iteration, iteration, claims, turned, index)),
        }
    }

    fn remove_from(&mut self, iteration: u32) {
        while self.spans.pop_if(|it| it.0 >= iteration).is_some() {}
        if let Some(last) = self.spans.last_mut() {
            last.1 = last.1.min(iteration.saturating_sub(1));
        }
    }

    pub(crate) fn get(&self, iteration: u32) -> Option<Checkpoint> {
        let span = self.last_span(iteration).filter(|it| iteration <= it.1)?;
        Some(Checkpoint {
            claims: span.2,
            turned: span.3,
            done: self.done.get(span.4).cloned().unwrap_or_default(),
        })
    }

    /// The plan items that were done after the last iteration before this one that has a checkpoint.
    pub(crate) fn done_before(&self, iteration: u32) -> Option<&BTreeSet<String>> {
        let span = self.last_span(iteration.checked_sub(1)?)?;
        self.done.get(span.4)
    }

    /// The last span that begins at or before this iteration.
    fn last_span(&self, iteration: u32) -> Option<&CheckpointSpan> {
        let later = self.spans.partition_point(|it| it.0 <= iteration);
        self.spans.get(later.checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::{Checkpoint, CheckpointList};

    fn checkpoint(claims: u32, done: u32) -> Checkpoint {
        let done = (0..done).map(|it| format!("item {it}")).collect();
        Checkpoint { claims, turned: claims > 1, done }
    }

    #[test]
    fn iterations_without_change_take_no_room() {
        let mut list = CheckpointList::default();
        for iteration in 0..10_000 {
            list.insert(iteration, checkpoint(0, iteration / 1_000));
        }
        assert_eq!((list.spans.len(), list.done.len()), (10, 10));
        assert_eq!(list.get(4_321), Some(checkpoint(0, 4)));
        assert_eq!(list.get(10_000), None);
    }

    proptest! {
        /// Numbers rise, stay as they are where the user changed the criteria, and leave gaps where an iteration was cut
        /// off.
        #[test]
        fn it_holds_what_a_map_would(steps in proptest::collection::vec((0_u32..3, 0_u32..3, 0_u32..3), 1..40)) {
            let (mut list, mut map) = (CheckpointList::default(), BTreeMap::new());
            let mut iteration = 0;
            for (further, claims, done) in steps {
                iteration += further;
                list.insert(iteration, checkpoint(claims, done));
                map.insert(iteration, checkpoint(claims, done));
            }
            for at in 0..=iteration + 1 {
                prop_assert_eq!(list.get(at), map.get(&at).cloned());
                let before = map.range(..at).next_back().map(|(_, it)| &it.done);
                prop_assert_eq!(list.done_before(at), before);
            }
        }
    }
}
