//! Finds judges that the checks write while they run: a build script or a link can change the tests of the start as the
//! tests begin, and restore them afterwards. Writes that also occur on the files of the start are normal for the project
//! and do not count.

use loopkeeper_text::clauses;
use loopkeeper_text::tr;
use std::path::PathBuf;

use loopkeeper_core::check::Status;
use loopkeeper_core::journal::Round;
use loopkeeper_system::clean_room::{CleanRoom, FileState};
use loopkeeper_task::criterion::{Check, Criterion, CriterionId};

use super::room::{RoomLayout, shown};
use super::{NoVerdict, VerdictRequest, reports, weakening_scan};
use crate::run_context::RunContext;

/// Maximum number of judges that are watched; later ones are not.
const MAX_JUDGES: usize = 5_000;
/// Files that one sentence names.
const MAX_NAMED: usize = 3;

pub(super) async fn judges_of_start(
    runtime: &RunContext,
    request: &VerdictRequest,
) -> Result<Vec<PathBuf>, NoVerdict> {
    let Some(scan) = request.scan.clone() else { return Ok(Vec::new()) };
    let judges =
        runtime.with_store(move |store| weakening_scan::find_judges(&scan, store, &scan.start)).await?;
    Ok(judges.into_iter().take(MAX_JUDGES).map(PathBuf::from).collect())
}

/// The judges whose state is no longer the one of before.
pub(super) fn find_written(
    room: &CleanRoom,
    judges: &[PathBuf],
    before: &[Option<FileState>],
) -> Vec<String> {
    let after = room.file_states(judges);
    let pairs = judges.iter().zip(before.iter().zip(&after));
    pairs.filter(|(_, (before, after))| before != after).map(|(path, _)| shown(path)).collect()
}

/// Withdraws the passes of rounds in which judges were written.
pub(super) async fn apply_writes(
    runtime: &RunContext,
    request: &VerdictRequest,
    layout: &RoomLayout,
    rounds: Vec<&mut Round>,
) -> Result<(), NoVerdict> {
    if rounds.iter().all(|it| it.wrote.is_empty()) {
        return Ok(());
    }
    let commands: Vec<Criterion> = request.criteria.iter().filter(|it| runs_command(it)).cloned().collect();
    let start = reports::run_at_start(runtime, request, &commands, layout).await?;
    let usual = start.map(|it| it.wrote).unwrap_or_default();
    for round in rounds {
        round.wrote.retain(|it| !usual.contains(it));
        if round.wrote.is_empty() {
            continue;
        }
        let fact = describe_writes(&round.wrote);
        let is_command = |id: &CriterionId| commands.iter().any(|it| it.id == *id);
        let passed =
            round.results.iter_mut().filter(|it| it.status == Status::Pass && is_command(&it.criterion));
        passed.for_each(|it| (it.status, it.fact) = (Status::CouldNotRun, fact.clone()));
    }
    Ok(())
}

fn runs_command(criterion: &Criterion) -> bool {
    matches!(criterion.check, Some(Check::Command { .. }))
}

/// `could not be judged: the checks write tests/a.py while they run, and do not on the files of the start`
fn describe_writes(paths: &[String]) -> String {
    let named = clauses::list(paths.iter().take(MAX_NAMED));
    let more = if paths.len() > MAX_NAMED { tr!(" and others") } else { "" };
    tr!(
        "could not be judged: the checks write {named}{more} while they run, and do not on the files of the start",
        named,
        more
    )
}
