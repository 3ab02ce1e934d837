//! `loopkeeper/iterations`: a loop's history, with the results of every criterion.

use std::path::PathBuf;
use std::sync::Arc;

use loopkeeper_core::check::Status;
use loopkeeper_core::decide::{Iteration, LoopState};
use loopkeeper_core::journal::PinnedCriterion;
use loopkeeper_text::tr;
use loopkeeper_text::{sanitize, words};
use loopkeeper_view::editor;
use tower_lsp::jsonrpc::Result;

use crate::commands::{loop_named, run_blocking};
use crate::ext::{CriterionRow, IterationEntry, IterationsParams, IterationsResult};
use crate::session::ServerState;
use loopkeeper_operations::failure::Failure;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_workspace::Invalidation;

pub(crate) async fn handle(shared: &Arc<ServerState>, params: &IterationsParams) -> Result<IterationsResult> {
    let snapshot = shared.index().refresh(Invalidation::LOOPS).await;
    // The index has read it already: a long journal is not read twice.
    if let Some(loop_view) = snapshot.loop_with(&params.loop_id) {
        return Ok(iterations(&loop_view.state, params.last));
    }
    let roots: Vec<PathBuf> = snapshot.roots.clone();
    let (id, last) = (params.loop_id.clone(), params.last);
    let result = run_blocking(move || {
        let store = StateDir::open().map_err(Failure::from)?;
        let loop_view = loop_named(&store, &roots, &id)?;
        Ok(iterations(&loop_view.state, last))
    });
    Ok(result.await?)
}

fn iterations(state: &LoopState, last: Option<usize>) -> IterationsResult {
    let row = |it: &PinnedCriterion| CriterionRow {
        id: it.criterion.id.0.clone(),
        name: sanitize::line(&it.criterion.name),
        row: editor::row(state, &it.criterion.id),
    };
    let baseline = baseline_entry(state);
    let count = state.history.len() + usize::from(baseline.is_some());
    let skipped = last.map_or(0, |last| count.saturating_sub(last));
    let (baseline, skipped) = match (baseline, skipped) {
        (Some(_), 1..) => (None, skipped - 1),
        (baseline, _) => (baseline, skipped),
    };
    let shown = state.history.rows_from(skipped);
    IterationsResult {
        loop_id: state.spec.loop_id.clone(),
        criteria: state.criteria.pinned.iter().map(row).collect(),
        iterations: baseline.into_iter().chain(shown.map(|it| iteration_entry(state, &it))).collect(),
    }
}

/// The baseline, once its round is over. Every rollback can restore it.
fn baseline_entry(state: &LoopState) -> Option<IterationEntry> {
    state.tree_after(0)?;
    let passes = |it: &&PinnedCriterion| editor::row(state, &it.criterion.id).starts_with('✓');
    Some(IterationEntry {
        iteration: 0,
        started_at: words::rfc3339(state.time.started_at.wall),
        duration_ms: None,
        cost_micros: None,
        changed: None,
        added: None,
        removed: None,
        milestones: Vec::new(),
        commit: None,
        rolled_back: false,
        passed: state.criteria.pinned.iter().filter(passes).count() as u64,
        total: state.criteria.pinned.len() as u64,
        summary: editor::start_tally(state).sentence(),
    })
}

fn iteration_entry(state: &LoopState, iteration: &Iteration) -> IterationEntry {
    let ended = iteration.ending.is_some() || !iteration.row.is_empty();
    IterationEntry {
        iteration: iteration.number,
        started_at: words::rfc3339(iteration.started_at.wall),
        duration_ms: ended.then_some(iteration.duration_ms),
        cost_micros: iteration.cost_micros,
        changed: ended.then_some(iteration.changes.count),
        added: iteration.changes.lines.map(|it| it.added),
        removed: iteration.changes.lines.map(|it| it.removed),
        milestones: iteration.milestones.iter().map(|it| sanitize::line(it)).collect(),
        commit: iteration.commit.clone(),
        rolled_back: iteration.rolled_back,
        passed: iteration.row.iter().filter(|(_, status)| *status == Status::Pass).count() as u64,
        total: iteration.row.len() as u64,
        summary: summary(state, iteration, ended),
    }
}

/// Empty while the iteration runs. A failed iteration has no round of checks.
fn summary(state: &LoopState, iteration: &Iteration, ended: bool) -> String {
    match (ended, iteration.row.is_empty()) {
        (false, _) => String::new(),
        (true, true) => tr!("not checked").to_owned(),
        (true, false) => editor::iteration_tally(state, iteration).sentence(),
    }
}
