//! The checkpoint after each iteration of a loop. Most iterations share that of the one before.

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

/// Iterations in a row with the same checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(from = "SpanArray", into = "SpanArray")]
struct CheckpointSpan {
    first: u32,
    last: u32,
    claims: u32,
    turned: bool,
    /// The index of the plan items done.
    done: usize,
}

/// A span as it is stored, without names.
type SpanArray = (u32, u32, u32, bool, usize);

impl CheckpointList {
    /// Replaces the checkpoint of that iteration. There is none of a later one.
    pub(crate) fn insert(&mut self, iteration: u32, checkpoint: Checkpoint) {
        self.remove_from(iteration);
        let Checkpoint { claims, turned, done } = checkpoint;
        if self.done.last() != Some(&done) {
            self.done.push(done);
        }
        let span =
            CheckpointSpan { first: iteration, last: iteration, claims, turned, done: self.done.len() - 1 };
        match self.spans.last_mut().filter(|it| it.continues_with(&span)) {
            Some(last) => last.last = iteration,
            None => self.spans.push(span),
        }
    }

    fn remove_from(&mut self, iteration: u32) {
        while self.spans.pop_if(|it| it.first >= iteration).is_some() {}
        if let Some(span) = self.spans.last_mut() {
            span.last = span.last.min(iteration.saturating_sub(1));
        }
    }

    pub(crate) fn get(&self, iteration: u32) -> Option<Checkpoint> {
        let span = self.last_span(iteration).filter(|it| iteration <= it.last)?;
        Some(Checkpoint {
            claims: span.claims,
            turned: span.turned,
            done: self.done.get(span.done).cloned().unwrap_or_default(),
        })
    }

    /// The plan items that were done after the last iteration before this one that has a checkpoint.
    pub(crate) fn done_before(&self, iteration: u32) -> Option<&BTreeSet<String>> {
        let span = self.last_span(iteration.checked_sub(1)?)?;
        self.done.get(span.done)
    }

    /// The last span that begins at or before this iteration.
    fn last_span(&self, iteration: u32) -> Option<&CheckpointSpan> {
        let later = self.spans.partition_point(|it| it.first <= iteration);
        self.spans.get(later.checked_sub(1)?)
    }
}

impl CheckpointSpan {
    fn continues_with(&self, next: &Self) -> bool {
        self.last.checked_add(1) == Some(next.first)
            && (self.claims, self.turned, self.done) == (next.claims, next.turned, next.done)
    }
}

impl From<CheckpointSpan> for SpanArray {
    fn from(span: CheckpointSpan) -> Self {
        (span.first, span.last, span.claims, span.turned, span.done)
    }
}

impl From<SpanArray> for CheckpointSpan {
    fn from((first, last, claims, turned, done): SpanArray) -> Self {
        Self { first, last, claims, turned, done }
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
    fn iterations_without_a_change_share_a_span() {
        let mut list = CheckpointList::default();
        for iteration in 0..10_000 {
            list.insert(iteration, checkpoint(0, iteration / 1_000));
        }
        assert_eq!((list.spans.len(), list.done.len()), (10, 10));
        assert_eq!(list.get(4_321), Some(checkpoint(0, 4)));
        assert_eq!(list.get(10_000), None);
        let stored = serde_json::to_value(&list).unwrap();
        assert_eq!(stored["spans"][1].to_string(), "[1000,1999,0,false,1]");
    }

    proptest! {
        /// Numbers rise, stay as they are where the user changed the criteria, and leave gaps where an iteration was cut
        /// off.
        #[test]
        fn it_equals_a_map_of_checkpoints(steps in proptest::collection::vec((0_u32..3, 0_u32..3, 0_u32..3), 1..40)) {
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
