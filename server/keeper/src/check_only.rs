//! A keeper without an agent: one round of checks on the tree as it is, recorded in the journal's format.

mod compaction;

use loopkeeper_text::tr_later;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use loopkeeper_core::check::number_history::note_without_loop;
use loopkeeper_core::decide::mark_unstable;
use loopkeeper_core::journal::{Entry, LoopSpec, Record, Round};

use super::rounds::{self, RoundRequest};
use super::run_context::{self, RunContext, RunFolders};
use super::{KeeperError, main_loop::EntryObserver};
use loopkeeper_system::clock;
use loopkeeper_system::journal_file::{JournalError, JournalFile};
use loopkeeper_system::logging;
use loopkeeper_system::process::orphans;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::lock::TreeHolder;
use loopkeeper_system::state_dir::workspace::Workspace;

/// A tree that still moves after this many rounds is unstable.
const MAX_ROUNDS: usize = 3;

/// Checks every criterion of `spec` while holding the lock of the work tree.
pub async fn check_task(
    state: &StateDir,
    workspace: &Workspace,
    spec: LoopSpec,
    mut observer: EntryObserver,
) -> Result<Round, KeeperError> {
    let _log = logging::log_to_stderr(run_context::redactor(&spec))?;
    let _tree_lock = state.lock_tree(workspace.root(), &TreeHolder::Checks { task: spec.task.0.clone() })?;
    orphans::become_subreaper()
        .map_err(KeeperError::io(tr_later!("adopt the orphans of"), workspace.root()))?;
    let path = workspace.checks(&spec.task);
    let outputs = path.with_extension("outputs");
    loopkeeper_system::durable::make_folder(&outputs)
        .map_err(KeeperError::io(tr_later!("make"), &outputs))?;
    let runtime = RunContext::new(state, workspace, spec, RunFolders { outputs, ..RunFolders::default() })?;
    let round = run_until_steady(&runtime).await;
    runtime.dismiss_wardens().await;
    let mut round = round?;
    let criteria: HashMap<_, _> = runtime.spec.criteria.iter().map(|it| (&it.id, it)).collect();
    for result in &mut round.results {
        if let Some(criterion) = criteria.get(&result.criterion) {
            note_without_loop(criterion, result);
        }
    }
    for entry in record(&path, &round)? {
        observer(&entry);
    }
    Ok(round)
}

/// Repeats the round until the tree no longer changes. Files that the checks write in the first run are artefacts; any other change of the tree invalidates the results.
async fn run_until_steady(runtime: &RunContext) -> Result<Round, KeeperError> {
    let mut artefacts: BTreeSet<String> = BTreeSet::new();
    let mut rounds = 0;
    loop {
        rounds += 1;
        let judged = rounds::run_round(runtime, RoundRequest::without_loop(&runtime.spec)).await;
        let (mut round, wrote) = judged.map_err(|it| KeeperError::Workspace { message: it.message })?;
        let stray = wrote.iter().find(|it| !artefacts.contains(*it)).cloned();
        let Some(stray) = stray else { return Ok(round) };
        if rounds == 1 {
            artefacts.extend(wrote);
        } else if rounds == MAX_ROUNDS {
            mark_unstable(&mut round, &stray);
            return Ok(round);
        }
    }
}

fn record(path: &Path, round: &Round) -> Result<Vec<Entry>, KeeperError> {
    move_damaged_aside(path)?;
    compaction::compact(path)?;
    let mut journal =
        if path.exists() { JournalFile::open_with(path, |_| ())?.0 } else { JournalFile::create(path)? };
    let record = Record::ChecksDone { iteration: None, round: Box::new(round.clone()) };
    Ok(journal.append(clock::now(), vec![record])?)
}

/// Earlier results are found again by the next round, so a damaged record must not prevent checking. Its bytes are
/// kept.
fn move_damaged_aside(path: &Path) -> Result<(), KeeperError> {
    if !path.exists() || !matches!(JournalFile::open(path), Err(JournalError::Damaged { .. })) {
        return Ok(());
    }
    let names = (1..=u32::MAX).map(|it| path.with_extension(format!("damaged-{it}")));
    let aside = names.into_iter().find(|it| !it.exists()).unwrap_or_default();
    tracing::warn!("the record of earlier checks is damaged; its bytes are in {}", aside.display());
    std::fs::rename(path, &aside).map_err(KeeperError::io(tr_later!("put aside"), path))
}

#[cfg(test)]
mod tests {
    use loopkeeper_core::journal::Round;

    use super::record;
    use loopkeeper_system::journal_file::JournalFile;

    #[test]
    fn a_damaged_record_is_put_aside_and_the_round_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("PROMPT.md.jsonl");
        let round = Round {
            tree_before: "a".into(),
            tree_after: "a".into(),
            wrote: Vec::new(),
            results: Vec::new(),
            judging: None,
        };
        record(&path, &round).unwrap();
        record(&path, &round).unwrap();
        let damaged = std::fs::read_to_string(&path).unwrap().replacen("treeBefore", "treeBefxre", 1);
        std::fs::write(&path, &damaged).unwrap();
        record(&path, &round).unwrap();
        assert_eq!(JournalFile::open(&path).unwrap().entries.len(), 1);
        let aside = folder.path().join("PROMPT.md.damaged-1");
        assert_eq!(std::fs::read_to_string(aside).unwrap(), damaged, "nothing is lost");
    }
}
