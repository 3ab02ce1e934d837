//! A keeper without an agent: one round of checks on the tree as it is, recorded in the journal's format.

mod shortened;

use std::collections::BTreeSet;
use std::path::Path;

use loopkeeper_core::check::Status;
use loopkeeper_core::journal::{Entry, LoopSpec, Record, Round};

use super::rounds::{self, Request};
use super::stage::Stage;
use super::{KeeperError, main_loop::Observer};
use crate::adapters::clock;
use crate::adapters::journal_file::JournalFile;
use crate::adapters::process::orphans;
use crate::adapters::state_dir::StateDir;
use crate::adapters::state_dir::workspace::Workspace;

/// A tree that still moves after this many rounds is unstable.
const MAX_ROUNDS: usize = 3;

/// Checks every criterion of `spec`, holding the work tree's lock meanwhile.
pub async fn check(
    state: &StateDir,
    workspace: &Workspace,
    spec: LoopSpec,
    mut observer: Observer,
) -> Result<Round, KeeperError> {
    let _tree_lock = state.lock_tree(workspace.root(), &format!("checks of {}", spec.task.0))?;
    orphans::adopt().map_err(KeeperError::io("adopt the orphans of", workspace.root()))?;
    let path = workspace.checks(&spec.task);
    let outputs = path.with_extension("outputs");
    crate::adapters::durable::make_folder(&outputs).map_err(KeeperError::io("make", &outputs))?;
    let stage = Stage::set(state, workspace, spec, &outputs)?;
    let round = steady_round(&stage).await?;
    for entry in record(&path, &round)? {
        observer(&entry);
    }
    Ok(round)
}

/// What the checks write the first time are their artefacts; whatever else moves the tree makes them say nothing.
async fn steady_round(stage: &Stage) -> Result<Round, KeeperError> {
    let mut artefacts: BTreeSet<String> = BTreeSet::new();
    let mut rounds = 0;
    loop {
        rounds += 1;
        let judged = rounds::judge(stage, Request::at_rest(stage.spec.criteria.clone())).await;
        let (mut round, wrote) = judged.map_err(|it| KeeperError::Workspace { message: it.message })?;
        let stray = wrote.iter().find(|it| !artefacts.contains(*it)).cloned();
        let Some(stray) = stray else { return Ok(round) };
        if rounds == 1 {
            artefacts.extend(wrote);
        } else if rounds == MAX_ROUNDS {
            for result in round.results.iter_mut().filter(|it| it.status == Status::Pass) {
                result.status = Status::Unstable;
                result.fact = format!("passed, but {stray} changed while the checks ran");
            }
            return Ok(round);
        }
    }
}

fn record(path: &Path, round: &Round) -> Result<Vec<Entry>, KeeperError> {
    shortened::shorten(path)?;
    let mut journal =
        if path.exists() { JournalFile::open(path)?.journal } else { JournalFile::create(path)? };
    let record = Record::ChecksDone { iteration: None, round: Box::new(round.clone()) };
    Ok(journal.append(clock::now(), vec![record])?)
}
