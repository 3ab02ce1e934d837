//! Compares what test runners print with the reports that they write in a clean room. A discrepancy that also occurs on
//! the files of the start is a property of the project, so a fault counts only if it does not occur there.

use std::collections::BTreeMap;
use std::path::PathBuf;

use loopkeeper_core::check::report::{ReportFault, ReportingRunner};
use loopkeeper_core::decide::weakening::WeakeningScan;
use loopkeeper_core::journal::Round;
use loopkeeper_system::snapshots::SnapshotStore;
use loopkeeper_task::criterion::{Criterion, CriterionId};

use super::room::{PinnedEntry, RoomLayout};
use super::{NoVerdict, VerdictRequest, run_in_room};
use crate::run_context::{RunContext, SnapshotFailure};

/// Where pytest reads options. If they request a report, ours would replace it.
const PYTEST_FILES: [&str; 5] = ["pyproject.toml", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg"];
/// Longer files of options are not read.
const MAX_BYTES: usize = 1024 * 1024;
/// With more changed files, the files of the start are not laid over the tree.
const MAX_CHANGED: usize = 5_000;

/// The runners that may be asked: those whose options at the start ask for no report.
pub(super) async fn choose_runners(
    runtime: &RunContext,
    request: &VerdictRequest,
) -> Result<BTreeMap<CriterionId, ReportingRunner>, NoVerdict> {
    let known = request.known_runners.clone();
    let Some(scan) = request.scan.clone() else { return Ok(BTreeMap::new()) };
    if known.is_empty() {
        return Ok(known);
    }
    let has_own = move |store: &mut SnapshotStore| {
        let mentions = |name: &&str| {
            let text = store.file(&scan.start, name, MAX_BYTES).ok().flatten();
            text.is_some_and(|it| String::from_utf8_lossy(&it).contains("junit"))
        };
        Ok::<_, SnapshotFailure>(PYTEST_FILES.iter().any(mentions))
    };
    let has_own = runtime.with_store(has_own).await?;
    Ok(known.into_iter().filter(|(_, runner)| !has_own || *runner != ReportingRunner::Pytest).collect())
}

/// Withdraws the passes of checks whose runner contradicts itself. `rounds`: as the agent left the tree, then with the judges
/// of the start if some changed.
pub(super) async fn apply_faults(
    runtime: &RunContext,
    request: &VerdictRequest,
    layout: &RoomLayout,
    rounds: &mut [&mut Round],
) -> Result<(), NoVerdict> {
    // A fault that the judges of the start do not have is one of the changed judges, which that round decides.
    let is_faulty = |it: &&Criterion| rounds.last().is_some_and(|round| fault(request, round, it).is_some());
    let faulty: Vec<Criterion> = request.criteria.iter().filter(is_faulty).cloned().collect();
    if faulty.is_empty() {
        return Ok(());
    }
    let start = run_at_start(runtime, request, &faulty, layout).await?;
    for round in rounds {
        for criterion in &faulty {
            let Some(fault) = fault(request, round, criterion) else { continue };
            if fault.is_new(criterion, start.as_ref().and_then(|it| it.result(&criterion.id))) {
                let same = round.results.iter_mut().filter(|it| it.criterion == criterion.id);
                same.for_each(|it| fault.apply(it));
            }
        }
    }
    Ok(())
}

fn fault(request: &VerdictRequest, round: &Round, criterion: &Criterion) -> Option<ReportFault> {
    request.asked_runners.get(&criterion.id)?;
    ReportFault::of_result(criterion, round.result(&criterion.id)?)
}

/// The checks on the files of the start; `None` where these cannot be laid over the tree.
pub(super) async fn run_at_start(
    runtime: &RunContext,
    request: &VerdictRequest,
    criteria: &[Criterion],
    layout: &RoomLayout,
) -> Result<Option<Round>, NoVerdict> {
    let Some(scan) = request.scan.clone() else { return Ok(None) };
    let tree = request.tree.clone();
    let Some(entries) = runtime.with_store(move |store| start_entries(&scan, store, &tree)).await? else {
        return Ok(None);
    };
    match run_in_room(runtime, request, criteria, &layout.with_entries(entries)).await {
        Ok((round, _)) => Ok(Some(round)),
        Err(NoVerdict::Unavailable(why)) => {
            tracing::debug!("no room with the files of the start: {why}");
            Ok(None)
        }
        Err(other) => Err(other),
    }
}

fn start_entries(
    scan: &WeakeningScan,
    store: &SnapshotStore,
    tree: &str,
) -> Result<Option<Vec<PinnedEntry>>, SnapshotFailure> {
    let changed = store.changed_paths(&scan.start, tree)?;
    if changed.len() > MAX_CHANGED {
        return Ok(None);
    }
    let entry = |path: &String| {
        let entry = store.entry_at(scan.version_of(path), path.as_bytes())?;
        Ok(PinnedEntry::Tree(PathBuf::from(path), entry))
    };
    changed.iter().map(entry).collect::<Result<Vec<_>, SnapshotFailure>>().map(Some)
}
