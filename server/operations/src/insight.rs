//! Reads the journals of many loops, one after the other, and adds them up. Changes nothing: not even what an abandoned
//! loop left behind is ended.

use std::path::{Path, PathBuf, absolute};

use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::workspace::LoopDir;
use loopkeeper_text::{sanitize, tr, words};
use loopkeeper_view::insight::{Insight, InsightBuilder, LoopFacts};

use super::failure::Failure;
use super::follow::LoopTailer;

/// The loops that are added up.
#[derive(Debug, Clone, Default)]
pub struct InsightScope {
    /// Folders; their workspaces and those below them. Empty: all of this user.
    pub folders: Vec<PathBuf>,
    /// Wall time in milliseconds: loops that started earlier are left out.
    pub since: Option<u64>,
}

pub fn insight(store: &StateDir, scope: &InsightScope) -> Result<Insight, Failure> {
    let mut builder = InsightBuilder::default();
    for dir in loops_in(store, &scope.folders)? {
        add_journal(&mut builder, &dir, scope.since);
    }
    Ok(builder.finish(scope.since.map(words::rfc3339)))
}

fn loops_in(store: &StateDir, folders: &[PathBuf]) -> Result<Vec<LoopDir>, Failure> {
    let all = store.loops()?;
    if folders.is_empty() {
        return Ok(all);
    }
    let folders: Vec<PathBuf> = folders.iter().map(|it| real_path(it)).collect();
    for folder in &folders {
        if !all.iter().any(|it| it.root().starts_with(folder)) {
            let folder = sanitize::visible(&folder.to_string_lossy());
            return Err(Failure::usage(tr!("there is no loop in {folder}", folder))
                .hint(tr!("`loopkeeper insight` without a path reads the loops of all folders.")));
        }
    }
    let is_wanted = |it: &LoopDir| folders.iter().any(|folder| it.root().starts_with(folder));
    Ok(all.into_iter().filter(is_wanted).collect())
}

/// The folder of a loop may be gone.
fn real_path(folder: &Path) -> PathBuf {
    folder.canonicalize().or_else(|_| absolute(folder)).unwrap_or_else(|_| folder.to_owned())
}

fn add_journal(builder: &mut InsightBuilder, dir: &LoopDir, since: Option<u64>) {
    let mut tailer = LoopTailer::from_saved_state(&dir.journal());
    if let Err(error) = tailer.advance() {
        return builder.leave_out(dir.id(), error.to_string());
    }
    let starts_earlier =
        since.is_some_and(|since| tailer.state().is_some_and(|it| it.time.started_at.wall < since));
    if starts_earlier {
        return;
    }
    if let Some(damage) = tailer.damage() {
        return builder.leave_out(dir.id(), damage.fact().to_owned());
    }
    // Without a record it is just being started, or its start was cut off: nothing was spent.
    if let Some(state) = tailer.state() {
        builder.add(&LoopFacts::of(state));
    }
}
