//! Lists the loops, and finds the one that a query means. Reads only names and the first record of journals.

use std::io::{BufRead, BufReader, Read};
use std::time::UNIX_EPOCH;

use loopkeeper_core::journal::line;
use loopkeeper_text::clauses;
use loopkeeper_text::message::HintedError;
use loopkeeper_text::tr;

use super::workspace::{LoopDir, Workspace, folders_in};
use super::{StateDir, StateError};
use crate::regular_file;

/// Why a query names no loop.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    #[error("{}", tr!("there is no loop yet"))]
    NoLoops,
    #[error("{}", tr!("no loop is called `{query}`", query))]
    Unknown { query: String },
    /// Candidates, newest first.
    #[error("{}", tr!("`{query}` may be any of {candidates}", query, candidates = clauses::list(candidates)))]
    Ambiguous { query: String, candidates: Vec<String> },
    #[error(transparent)]
    State(#[from] StateError),
}

impl HintedError for FindError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoLoops => tr!("`loopkeeper run` starts one.").to_owned(),
            Self::Unknown { .. } => tr!("`loopkeeper status` lists the loops.").to_owned(),
            Self::Ambiguous { .. } => tr!("Type more of its id.").to_owned(),
            Self::State(error) => return error.hint(),
        })
    }
}

impl StateDir {
    /// Every workspace with a folder in the state folder.
    pub fn workspaces(&self) -> Result<Vec<Workspace>, StateError> {
        let parent = self.workspaces_dir();
        let names = folders_in(&parent)?;
        Ok(names.iter().filter_map(|it| Workspace::read(&parent.join(it))).collect())
    }

    /// Every loop of this user, oldest first.
    pub fn loops(&self) -> Result<Vec<LoopDir>, StateError> {
        let mut loops = Vec::new();
        for workspace in self.workspaces()? {
            loops.extend(workspace.loops()?);
        }
        loops.sort_by_cached_key(|it| (started_at(it), it.id().to_owned()));
        Ok(loops)
    }

    /// The loop that `query` means: its id or a unique prefix of it.
    pub fn find(&self, query: &str) -> Result<LoopDir, FindError> {
        let mut loops = self.loops()?;
        if loops.is_empty() {
            return Err(FindError::NoLoops);
        }
        loops.retain(|it| !query.is_empty() && it.id().starts_with(query));
        if loops.len() > 1 {
            let candidates = loops.iter().rev().map(|it| it.id().to_owned()).collect();
            return Err(FindError::Ambiguous { query: query.to_owned(), candidates });
        }
        loops.pop().ok_or_else(|| FindError::Unknown { query: query.to_owned() })
    }
}

/// Wall time in milliseconds at which the loop began, from its first record, else from its folder.
fn started_at(found: &LoopDir) -> u64 {
    /// A longer first line is not one of our records.
    const MAX_FIRST_LINE_BYTES: u64 = 16 * 1024 * 1024;
    let first_record = || {
        // A pipe in its place would block.
        let file = regular_file::open(&found.journal()).ok()?;
        let mut text = Vec::new();
        BufReader::new(file.take(MAX_FIRST_LINE_BYTES)).read_until(b'\n', &mut text).ok()?;
        let (entry, _) = line::decode_line(text.strip_suffix(b"\n")?, 0).ok()?;
        Some(entry.at.wall)
    };
    let made = || {
        let time = std::fs::metadata(found.path()).and_then(|it| it.modified()).ok()?;
        Some(time.duration_since(UNIX_EPOCH).ok()?.as_millis() as u64)
    };
    first_record().or_else(made).unwrap_or(0)
}
