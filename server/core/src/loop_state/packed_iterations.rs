//! Old iterations in little memory: their numbers and results as decisions read them, and everything else compressed,
//! in blocks. Ten thousand take about two megabytes instead of fifteen.

mod packed_figures;
mod row_block;

use std::collections::BTreeSet;

use crate::check::Status;
use loopkeeper_agent::errors::Fingerprint;
use loopkeeper_task::criterion::CriterionId;
use serde::{Deserialize, Serialize};

use super::{Iteration, IterationOutline};
use packed_figures::PackedFigures;
use row_block::RowBlock;

/// Number of rows in a block.
pub(super) const BLOCK_ROWS: usize = 64;
/// Number of the last distinct results, or failures, that are searched for those of a row. Alternating ones recur soon or
/// not at all.
const SEARCH_WINDOW: usize = 64;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct PackedIterations {
    figures: Vec<PackedFigures>,
    /// Results of whole rounds. Most iterations share those of the one before.
    results: Vec<Vec<(CriterionId, Status)>>,
    failing: Vec<Fingerprint>,
    blocks: Vec<RowBlock>,
    /// Criteria that passed after an iteration that was not rolled back.
    passed: BTreeSet<CriterionId>,
    /// Lasting decisions of iterations that were not rolled back, each once, the newest last; no more than the prompt of an
    /// iteration names.
    decisions: Vec<String>,
    /// Changed files that are executed later without being asked.
    autorun: BTreeSet<String>,
    /// Names of the agents at work.
    agents: BTreeSet<String>,
}

impl PackedIterations {
    pub(super) fn len(&self) -> usize {
        self.figures.len()
    }

    pub(super) fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// Adds one block. `max_decisions` is the number of decisions that are kept.
    pub(super) fn add(&mut self, rows: Vec<Iteration>, max_decisions: usize) {
        for row in &rows {
            let figures = PackedFigures {
                figures: IterationOutline::of(row).figures,
                results: self.index_of_results(&row.row),
                failing: row.failing.as_ref().map(|it| self.index_of_failing(it)),
            };
            self.figures.push(figures);
            if !self.agents.contains(&row.agent) {
                self.agents.insert(row.agent.clone());
            }
            self.summarise(row, max_decisions);
        }
        self.blocks.push(RowBlock::of(rows));
    }

    fn index_of_results(&mut self, results: &[(CriterionId, Status)]) -> u32 {
        index_in(&mut self.results, |it| it == results, || results.to_vec())
    }

    fn index_of_failing(&mut self, failing: &Fingerprint) -> u32 {
        index_in(&mut self.failing, |it| it == failing, || failing.clone())
    }

    /// Adds a row to the summaries of all rows.
    fn summarise(&mut self, row: &Iteration, max_decisions: usize) {
        self.autorun.extend(row.autorun_files().map(str::to_owned));
        if row.rolled_back {
            return;
        }
        for (id, _) in row.row.iter().filter(|(_, status)| *status == Status::Pass) {
            if !self.passed.contains(id) {
                self.passed.insert(id.clone());
            }
        }
        for decision in &row.claims.decisions {
            self.decisions.retain(|it| it != decision);
            self.decisions.push(decision.clone());
        }
        self.decisions.drain(..self.decisions.len().saturating_sub(max_decisions));
    }

    /// Marks exactly these as rolled back.
    pub(super) fn mark_rolled_back(&mut self, numbers: &BTreeSet<u32>, max_decisions: usize) {
        let mut has_changed = false;
        for PackedFigures { figures, .. } in &mut self.figures {
            let is_rolled_back = numbers.contains(&figures.number);
            has_changed |= figures.rolled_back != is_rolled_back;
            figures.rolled_back = is_rolled_back;
        }
        if !has_changed {
            return;
        }
        self.passed.clear();
        self.decisions.clear();
        self.autorun.clear();
        for block in 0..self.block_count() {
            for row in self.unpack(block) {
                self.summarise(&row, max_decisions);
            }
        }
    }

    pub(super) fn outline(&self, index: usize) -> Option<IterationOutline<'_>> {
        let PackedFigures { figures, results, failing } = *self.figures.get(index)?;
        Some(IterationOutline {
            figures,
            results: self.results.get(results as usize).map(Vec::as_slice).unwrap_or_default(),
            failing: failing.and_then(|it| self.failing.get(it as usize)),
            facts: &[],
            errors: &[],
        })
    }

    /// The rows of one block.
    pub(super) fn unpack(&self, block: usize) -> Vec<Iteration> {
        let first = block * BLOCK_ROWS;
        let mut rows = self.blocks.get(block).and_then(RowBlock::rows).unwrap_or_default();
        for (offset, row) in rows.iter_mut().enumerate() {
            if let Some(outline) = self.outline(first + offset) {
                packed_figures::complete(row, &outline);
            }
        }
        rows
    }

    /// Changes a text of one row. Its figures do not change.
    pub(super) fn edit(&mut self, index: usize, change: impl FnOnce(&mut Iteration)) {
        let block = index / BLOCK_ROWS;
        let mut rows = self.unpack(block);
        if let Some(row) = rows.get_mut(index % BLOCK_ROWS) {
            change(row);
        }
        if let Some(stored) = self.blocks.get_mut(block) {
            *stored = RowBlock::of(rows);
        }
    }

    pub(super) fn passed(&self) -> &BTreeSet<CriterionId> {
        &self.passed
    }

    pub(super) fn decisions(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.decisions.iter().map(String::as_str)
    }

    pub(super) fn autorun_files(&self) -> impl Iterator<Item = &str> {
        self.autorun.iter().map(String::as_str)
    }

    pub(super) fn has_agent(&self, name: &str) -> bool {
        self.agents.contains(name)
    }
}

/// The index of a value that is among the last ones of a list, or is added to it.
fn index_in<T>(list: &mut Vec<T>, is_same: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> u32 {
    let searched = list.len().saturating_sub(SEARCH_WINDOW);
    let known = list.iter().skip(searched).rposition(is_same).map(|it| searched + it);
    let index = known.unwrap_or(list.len());
    if known.is_none() {
        list.push(make());
    }
    u32::try_from(index).unwrap_or(u32::MAX)
}
