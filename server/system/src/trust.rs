//! Stores what the user allowed to run; [`permit`] is the proof of it that code must present to start a program. An
//! unreadable list means that nothing is trusted. Which items need trust, and how they are shown, is
//! `loopkeeper_core::trust`.

pub mod agent_files;
pub mod permit;

use std::collections::{BTreeSet, HashSet};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use loopkeeper_core::trust::TrustItem;
use loopkeeper_task::TaskId;
use loopkeeper_text::digest::sha256;
use loopkeeper_text::language::translate;
use loopkeeper_text::message::HintedError;
use loopkeeper_text::{tr, tr_later};
use serde::{Deserialize, Serialize};

use super::durable;
use super::last_result::LastResult;
use super::state_dir::lock::{LockMode, acquire_gate};
use super::state_dir::{StateDir, StateError};

/// Why trust could not be read or stored.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("{}", tr!("the list of what you trust, {path}, is damaged: nothing is trusted", path = path.display()))]
    Damaged { path: PathBuf },
    #[error("{}", tr!("cannot {action} the list of what you trust, {path}: {source}", action = translate(action), path = path.display(), source))]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error(transparent)]
    State(#[from] StateError),
}

impl HintedError for TrustError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Damaged { .. } => {
                tr!("Trust again what you need; the damaged list is kept next to it.").to_owned()
            }
            Self::Io { .. } => tr!("Check the permissions of that folder, and the disk.").to_owned(),
            Self::State(error) => return error.hint(),
        })
    }
}

/// The user's grants when the store was opened.
#[derive(Debug)]
pub struct TrustStore {
    path: PathBuf,
    lock: PathBuf,
    grants: Vec<Grant>,
    problem: Option<TrustError>,
}

/// One grant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Grant {
    hash: String,
    /// Real path, for display and for revoking; trust itself depends on the hash.
    root: String,
    /// The task for which it was granted.
    task: Option<String>,
    kind: String,
}

/// The last line: without it the list is incomplete.
#[derive(Serialize, Deserialize)]
struct GrantListFooter {
    end: usize,
    /// sha256 of everything before this line.
    sum: String,
}

impl TrustStore {
    /// Never fails: an unreadable list trusts nothing, and [`Self::load_error`] returns the reason.
    pub fn open(state: &StateDir) -> Self {
        let (path, lock) = (state.trust().join("granted.jsonl"), state.trust().join("lock"));
        let mut store = Self { path, lock, grants: Vec::new(), problem: None };
        store.load();
        store
    }

    /// The reason why nothing is trusted, if the list could not be read.
    pub fn load_error(&self) -> Option<&TrustError> {
        self.problem.as_ref()
    }

    /// The items that the user has not trusted, each command once, in display order. `root` is the real path.
    pub fn untrusted_items(&self, root: &Path, items: &[TrustItem]) -> Vec<TrustItem> {
        self.iter_untrusted(root, items).cloned().collect()
    }

    /// Like [`Self::untrusted_items`], without copies.
    pub fn iter_untrusted<'a>(
        &'a self,
        root: &'a Path,
        items: &'a [TrustItem],
    ) -> impl Iterator<Item = &'a TrustItem> {
        let known: HashSet<&str> = self.grants.iter().map(|it| it.hash.as_str()).collect();
        // Without a grant no hash needs to be computed.
        let is_known = move |it: &&TrustItem| {
            !known.is_empty() && known.contains(it.hash(root.as_os_str().as_bytes()).as_str())
        };
        let mut seen = HashSet::new();
        items.iter().filter(move |it| !is_known(it)).filter(move |it| seen.insert(&it.runs))
    }

    /// Stores the user's grant of these items, durably.
    pub fn grant(
        &mut self,
        root: &Path,
        task: Option<&TaskId>,
        items: &[TrustItem],
    ) -> Result<(), TrustError> {
        self.update_grants(|grants| {
            grants.extend(items.iter().map(|it| Grant {
                hash: it.hash(root.as_os_str().as_bytes()),
                root: root.to_string_lossy().into_owned(),
                task: task.map(|it| it.0.clone()),
                kind: it.runs.kind().to_owned(),
            }));
        })
    }

    /// Revokes all grants of a task or, without one, of the whole root.
    pub fn revoke(&mut self, root: &Path, task: Option<&TaskId>) -> Result<(), TrustError> {
        let root = root.to_string_lossy();
        self.update_grants(|grants| {
            let is_revoked =
                |it: &&Grant| it.root == root && task.is_none_or(|task| it.task.as_ref() == Some(&task.0));
            // The same command may have been trusted for another task too; both grants have the same hash.
            let hashes: BTreeSet<String> =
                grants.iter().filter(is_revoked).map(|it| it.hash.clone()).collect();
            grants.retain(|it| !hashes.contains(&it.hash));
        })
    }

    /// Changes the list that is on disk now, because another process may have added to it.
    fn update_grants(&mut self, change: impl FnOnce(&mut Vec<Grant>)) -> Result<(), TrustError> {
        let _gate = acquire_gate(&self.lock, LockMode::Exclusive)?;
        self.load();
        match self.problem.take() {
            Some(TrustError::Damaged { .. }) => self.put_aside()?,
            Some(problem) => return Err(problem),
            None => {}
        }
        change(&mut self.grants);
        self.grants.sort();
        self.grants.dedup();
        durable::replace_file(&self.path, encode(&self.grants).as_bytes())
            .map_err(self.io(tr_later!("write")))
    }

    fn load(&mut self) {
        let read = match std::fs::read(&self.path) {
            Ok(bytes) => parse_cached(bytes).ok_or_else(|| TrustError::Damaged { path: self.path.clone() }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(self.io(tr_later!("read"))(error)),
        };
        (self.grants, self.problem) = match read {
            Ok(grants) => (grants, None),
            Err(problem) => (Vec::new(), Some(problem)),
        };
    }

    fn put_aside(&self) -> Result<(), TrustError> {
        let aside = (1_u32..).map(|number| self.path.with_extension(format!("damaged-{number}")));
        let free = aside.into_iter().find(|it| !it.exists()).unwrap_or_default();
        std::fs::rename(&self.path, free).map_err(self.io(tr_later!("put aside")))
    }

    fn io(&self, action: &'static str) -> impl FnOnce(io::Error) -> TrustError {
        let path = self.path.clone();
        move |source| TrustError::Io { action, path, source }
    }
}

fn encode(grants: &[Grant]) -> String {
    // Only strings and numbers, which always serialise.
    let line = |it: Result<String, _>| it.unwrap_or_default() + "\n";
    let list: String = grants.iter().map(|it| line(serde_json::to_string(it))).collect();
    let end = GrantListFooter { end: grants.len(), sum: sha256(list.as_bytes()) };
    list + &line(serde_json::to_string(&end))
}

/// Every query reads the file; it is parsed only after a change.
fn parse_cached(bytes: Vec<u8>) -> Option<Vec<Grant>> {
    static LAST: LastResult<Vec<u8>, Vec<Grant>> = LastResult::new();
    LAST.get_or_compute(bytes, |bytes| parse(bytes).ok_or(())).ok()
}

fn parse(bytes: &[u8]) -> Option<Vec<Grant>> {
    let whole = bytes.strip_suffix(b"\n")?;
    let last = whole.iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1);
    let (list, end) = whole.split_at_checked(last)?;
    let end: GrantListFooter = serde_json::from_slice(end).ok()?;
    let lines = list.split_inclusive(|it| *it == b'\n');
    let grants: Vec<Grant> = lines.map(serde_json::from_slice).collect::<Result<_, _>>().ok()?;
    (end.sum == sha256(list) && end.end == grants.len()).then_some(grants)
}

#[cfg(test)]
mod tests;
