//! The iterations of a loop. The newest are rows as their records filled them; older ones are packed, so that a loop of
//! ten thousand iterations needs little more memory than one of a hundred.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use crate::check::Status;
use crate::prompt::MAX_DECISIONS;
use loopkeeper_task::criterion::CriterionId;
use serde::{Deserialize, Serialize};

use super::packed_iterations::{BLOCK_ROWS, PackedIterations};
use super::{Iteration, IterationOutline};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct IterationHistory {
    packed: PackedIterations,
    recent: Vec<Iteration>,
}

impl IterationHistory {
    pub fn len(&self) -> usize {
        self.packed.len() + self.recent.len()
    }

    pub fn is_empty(&self) -> bool {
        self.recent.is_empty()
    }

    pub fn push(&mut self, row: Iteration) {
        self.recent.push(row);
    }

    pub fn last(&self) -> Option<&Iteration> {
        self.recent.last()
    }

    pub fn last_mut(&mut self) -> Option<&mut Iteration> {
        self.recent.last_mut()
    }

    /// Those that are not packed: at least the last hundred.
    pub fn recent(&self) -> &[Iteration] {
        &self.recent
    }

    pub fn recent_mut(&mut self) -> &mut [Iteration] {
        &mut self.recent
    }

    /// The last `count` of those that are not packed.
    pub fn newest(&self, count: usize) -> &[Iteration] {
        self.recent.get(self.recent.len().saturating_sub(count)..).unwrap_or_default()
    }

    /// All rows, oldest first. Packed ones are unpacked: code that needs no texts uses [`Self::outlines`].
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Cow<'_, Iteration>> {
        self.rows_from(0)
    }

    /// The rows from an index on.
    pub fn rows_from(&self, first: usize) -> impl DoubleEndedIterator<Item = Cow<'_, Iteration>> {
        let first_block = first / BLOCK_ROWS;
        let unpack = move |block: usize| {
            let skipped = if block == first_block { first % BLOCK_ROWS } else { 0 };
            self.packed.unpack(block).into_iter().skip(skipped).map(Cow::Owned)
        };
        let skipped = first.saturating_sub(self.packed.len());
        let recent = self.recent.get(skipped..).unwrap_or_default();
        (first_block..self.packed.block_count()).flat_map(unpack).chain(recent.iter().map(Cow::Borrowed))
    }

    /// The outlines of all of them, oldest first.
    pub fn outlines(
        &self,
    ) -> impl DoubleEndedIterator<Item = IterationOutline<'_>> + ExactSizeIterator + Clone {
        self.outlines_within(0..self.len())
    }

    /// Those of the rows in a range of indices.
    pub fn outlines_within(
        &self,
        range: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = IterationOutline<'_>> + ExactSizeIterator + Clone {
        range.map(|index| self.outline_at(index))
    }

    pub fn outline(&self, index: usize) -> Option<IterationOutline<'_>> {
        (index < self.len()).then(|| self.outline_at(index))
    }

    /// `index` must be less than [`Self::len`].
    fn outline_at(&self, index: usize) -> IterationOutline<'_> {
        match index.checked_sub(self.packed.len()) {
            None => self.packed.outline(index),
            Some(index) => self.recent.get(index).map(IterationOutline::of),
        }
        .unwrap_or_default()
    }

    /// Those whose work was not rolled back.
    pub fn kept_outlines(&self) -> impl DoubleEndedIterator<Item = IterationOutline<'_>> {
        self.outlines().filter(|it| !it.figures.rolled_back)
    }

    /// The row of an iteration.
    pub fn find(&self, number: u32) -> Option<Cow<'_, Iteration>> {
        self.rows_from(self.index_of(number)?).next()
    }

    /// Searches backwards, because nearly always one of the last is requested.
    fn index_of(&self, number: u32) -> Option<usize> {
        self.outlines().rposition(|it| it.figures.number == number)
    }

    /// Adds facts that no decision reads to the row of an iteration.
    pub(crate) fn edit(&mut self, number: u32, change: impl FnOnce(&mut Iteration)) {
        let Some(index) = self.index_of(number) else { return };
        match index.checked_sub(self.packed.len()) {
            None => self.packed.edit(index, change),
            Some(index) => {
                if let Some(row) = self.recent.get_mut(index) {
                    change(row);
                }
            }
        }
    }

    /// Marks exactly these iterations as rolled back.
    pub(crate) fn mark_rolled_back(&mut self, numbers: &BTreeSet<u32>) {
        self.packed.mark_rolled_back(numbers, MAX_DECISIONS);
        for row in &mut self.recent {
            row.rolled_back = numbers.contains(&row.number);
        }
    }

    /// Packs the oldest block of rows if at least `whole` rows remain. Their errors and facts were removed before.
    pub(crate) fn pack_oldest(&mut self, whole: usize) {
        if self.recent.len() >= whole.saturating_add(BLOCK_ROWS) {
            let rows = self.recent.drain(..BLOCK_ROWS).collect();
            self.packed.add(rows, MAX_DECISIONS);
        }
    }

    /// Criteria that passed after an iteration that was not rolled back; one may occur more than once.
    pub fn passed(&self) -> impl Iterator<Item = &CriterionId> {
        self.packed.passed().iter().chain(self.recently_passed())
    }

    fn recently_passed(&self) -> impl Iterator<Item = &CriterionId> {
        let kept = self.recent.iter().filter(|it| !it.rolled_back);
        kept.flat_map(|it| &it.row).filter(|(_, status)| *status == Status::Pass).map(|(id, _)| id)
    }

    /// Whether the criterion passed after an iteration that was not rolled back.
    pub(crate) fn has_passed(&self, id: &CriterionId) -> bool {
        self.packed.passed().contains(id) || self.recently_passed().any(|it| it == id)
    }

    pub(crate) fn has_agent(&self, name: &str) -> bool {
        self.packed.has_agent(name) || self.recent.iter().any(|it| it.agent == name)
    }

    pub(crate) fn autorun_files(&self) -> BTreeSet<&str> {
        self.recent.iter().flat_map(Iteration::autorun_files).chain(self.packed.autorun_files()).collect()
    }

    /// Decisions that were marked as lasting, the newest first; one may occur more than once. Rolled back ones are left
    /// out.
    pub(crate) fn decisions(&self) -> impl Iterator<Item = &str> {
        let kept = self.recent.iter().rev().filter(|it| !it.rolled_back);
        let recent = kept.flat_map(|it| it.claims.decisions.iter().rev());
        recent.map(String::as_str).chain(self.packed.decisions().rev())
    }
}

/// For tests, in which nothing is packed.
#[cfg(any(test, feature = "simulator"))]
#[expect(clippy::expect_used, reason = "a test names an iteration that there is")]
impl std::ops::Index<usize> for IterationHistory {
    type Output = Iteration;

    fn index(&self, index: usize) -> &Iteration {
        assert_eq!(self.packed.len(), 0);
        self.recent.get(index).expect("an iteration")
    }
}

#[cfg(any(test, feature = "simulator"))]
#[expect(clippy::expect_used, reason = "a test names an iteration that there is")]
impl std::ops::IndexMut<usize> for IterationHistory {
    fn index_mut(&mut self, index: usize) -> &mut Iteration {
        assert_eq!(self.packed.len(), 0);
        self.recent.get_mut(index).expect("an iteration")
    }
}

#[cfg(test)]
mod tests;
