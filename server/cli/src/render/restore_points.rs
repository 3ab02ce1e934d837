//! Lists the snapshots that a rollback can restore, with the milestones reached there, one line per iteration.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use loopkeeper_core::check::{CriteriaTally, Status};
use loopkeeper_core::decide::{Iteration, LoopState};
use loopkeeper_task::criterion::CriterionId;
use loopkeeper_text::{sanitize, tr, words};

use super::{DIM, SUCCESS};

pub(crate) fn lines(state: &LoopState) -> Vec<String> {
    let start = state.tree_after(0).map(|_| format!("   0  {}", tr!("the start")));
    let optional: BTreeSet<&CriterionId> =
        state.criteria.pinned.iter().filter(|it| !it.criterion.required).map(|it| &it.criterion.id).collect();
    let kept = state.history.iter().filter(|it| state.tree_after(it.number).is_some());
    let lines: Vec<String> = start.into_iter().chain(kept.map(|it| line(&it, &optional))).collect();
    if lines.is_empty() { vec![tr!("There is no snapshot yet.").to_owned()] } else { lines }
}

/// `   2  3 files +10 -2, 1 of 2 pass; now passes: tests pass; commit 0123456789`
fn line(iteration: &Iteration, optional: &BTreeSet<&CriterionId>) -> String {
    let changes = &iteration.changes;
    let lines = changes.lines.map_or_else(String::new, |it| format!(" {it}"));
    let judged = iteration.row.iter().filter(|(_, status)| *status != Status::Unverified);
    let tally = CriteriaTally::of(judged.map(|(id, status)| (!optional.contains(id), Some(*status))));
    let verdict = if tally.is_judged() { tr!(", {tally}", tally = tally.of_round()) } else { String::new() };
    let mut text =
        format!("{:>4}  {}{lines}{verdict}", iteration.number, words::counted(changes.count, "file"));
    for reached in &iteration.milestones {
        let _ = write!(
            text,
            "{}",
            tr!("; {text}", text = format!("{SUCCESS}{}{SUCCESS:#}", sanitize::line(reached)))
        );
    }
    let commit = iteration.commit.iter().map(|it| it.chars().take(10).collect::<String>());
    let subjects = iteration.commits.iter().map(|it| format!("`{}`", sanitize::line(it)));
    let committed: Vec<String> = commit.chain(subjects).collect();
    if !committed.is_empty() {
        let _ = write!(text, "{}", quiet_clause(&tr!("commit {ids}", ids = committed.join(" "))));
    }
    if iteration.rolled_back {
        let _ = write!(text, "{}", quiet_clause(tr!("rolled back")));
    }
    text
}

fn quiet_clause(text: &str) -> String {
    tr!("; {text}", text = format!("{DIM}{text}{DIM:#}"))
}
