//! Receipts: writes the receipt of a loop from its journal and its snapshots, and compares one with a checkout.

use std::fs;
use std::path::Path;

use loopkeeper_core::check::CheckResult;
use loopkeeper_core::decide::LoopState;
use loopkeeper_core::decide::weakening;
use loopkeeper_core::journal::{CheckProgram, Entry, Record};
use loopkeeper_keeper::stray_search::{LoopRemains, remains_of_loop};
use loopkeeper_keeper::weakening_scan::find_judges;
use loopkeeper_system::check_programs::{find_program, hash_file};
use loopkeeper_system::scratch::ScratchDir;
use loopkeeper_system::snapshots::{SnapshotError, SnapshotStore};
use loopkeeper_system::state_dir::workspace::{LoopDir, Workspace};
use loopkeeper_task::criterion::Criterion;
use loopkeeper_text::digest::sha256;
use loopkeeper_view::receipt::{FileHash, JournalDigest, Receipt, ReceiptFiles, check_hash, status_word};

use super::failure::{Failure, FailureKind};
use super::follow::LoopTailer;
use super::loops::damaged_error;
use super::resolved_task::ResolvedTask;

/// Files of one list.
const MAX_FILES: usize = 2_000;

/// The receipt of a loop that ended.
pub fn of_loop(workspace: &Workspace, dir: &LoopDir) -> Result<Receipt, Failure> {
    let mut tailer = LoopTailer::from_saved_state(&dir.journal());
    let mut entries = Vec::new();
    tailer.each_wanted_before(Receipt::depends_on_type, |entry| add_entry(&mut entries, entry))?;
    tailer.poll_each(|entry| add_entry(&mut entries, entry))?;
    if let Some(damage) = tailer.damage() {
        return Err(damaged_error(damage.clone()));
    }
    let not_ended = || {
        Failure::conflict(format_args!("loop {} has not ended: there is no receipt yet", dir.id()))
            .hint("`loopkeeper status` shows what it does.")
    };
    let state = tailer.state().ok_or_else(not_ended)?;
    let sha256 = hash_file(&dir.journal()).map_err(Failure::ended)?;
    // Of overtaken keepers there are none among them.
    let journal = JournalDigest { records: state.position.seq, sha256 };
    let store = SnapshotStore::open(&workspace.snapshots(), workspace.root())?;
    let LoopRemains { strays, duplicates } = remains_of_loop(state, &store)?;
    let (judges, changed) = (judges(state, &store)?, changed(state, &store)?);
    let files = ReceiptFiles { judges, changed, strays, duplicates, journal };
    Receipt::of_loop(state, &entries, files).ok_or_else(not_ended)
}

/// Of the snapshots only the last one with a commit is of interest, and there are two in each iteration.
fn add_entry(entries: &mut Vec<Entry>, entry: Entry) {
    match &entry.record {
        Record::SnapshotTaken { head: None, .. } => return,
        Record::SnapshotTaken { .. } => {
            entries.retain(|it| !matches!(it.record, Record::SnapshotTaken { .. }));
        }
        record if !Receipt::depends_on(record) => return,
        _ => {}
    }
    entries.push(entry);
}

fn judges(state: &LoopState, store: &SnapshotStore) -> Result<Vec<FileHash>, Failure> {
    let Some(scan) = weakening::inspection(state) else { return Ok(Vec::new()) };
    let paths = find_judges(&scan, store, &state.tree.judged)
        .map_err(|it| Failure::from_message(FailureKind::Broken, it.message))?;
    Ok(paths
        .into_iter()
        .take(MAX_FILES)
        .map(|it| hash_of(store, &state.tree.judged, it))
        .collect::<Result<_, _>>()?)
}

fn changed(state: &LoopState, store: &SnapshotStore) -> Result<Vec<FileHash>, Failure> {
    let Some(start) = state.tree_after(0) else { return Ok(Vec::new()) };
    let paths = store.changed_paths(start, &state.tree.judged)?;
    Ok(paths
        .into_iter()
        .take(MAX_FILES)
        .map(|it| hash_of(store, &state.tree.judged, it))
        .collect::<Result<_, _>>()?)
}

fn hash_of(store: &SnapshotStore, tree: &str, path: String) -> Result<FileHash, SnapshotError> {
    let sha256 = store.file(tree, &path, usize::MAX)?.map(|it| sha256(&it));
    Ok(FileHash { path, sha256 })
}

/// How a checkout differs from a receipt.
#[derive(Debug, Default)]
pub struct ReceiptComparison {
    /// One sentence each.
    pub differences: Vec<String>,
    /// All files of the tree are the same, not only those that the receipt lists.
    pub is_same_tree: bool,
}

/// Notes for a reviewer that do not affect the comparison: different programs, and accepted weakenings.
pub fn notes(receipt: &Receipt) -> Vec<String> {
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    let program = |then: &CheckProgram| {
        let version = then.version.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
        let name = &then.name;
        match find_program(name, &search_path) {
            None => Some(format!("{name}{version} of the receipt is not installed here")),
            Some(now) if now.sha256 == then.sha256 => None,
            Some(now) => {
                let now = now.path.display();
                Some(format!("{name} is {}{version} in the receipt, and another file here: {now}", then.path))
            }
        }
    };
    let programs = receipt.environment.programs.iter().filter_map(program);
    let accepted = receipt.acceptances.iter().map(|it| format!("accepted by the user: {}", it.sentence()));
    programs.chain(accepted).collect()
}

/// Compares the task and the files of a checkout with the receipt.
pub fn compare_files(receipt: &Receipt, work: &ResolvedTask) -> Result<ReceiptComparison, Failure> {
    let mut comparison = ReceiptComparison::default();
    compare_criteria(receipt, &work.task.criteria, &mut comparison.differences);
    for (kind, files) in [("judge", &receipt.judges), ("changed file", &receipt.changed)] {
        for file in files {
            if let Some(what) = file_difference(&work.root, file) {
                let difference = format!("{kind} {} {what}", file.path);
                if !comparison.differences.iter().any(|it| it.ends_with(&format!(" {} {what}", file.path))) {
                    comparison.differences.push(difference);
                }
            }
        }
    }
    comparison.is_same_tree = current_tree(&work.root)? == receipt.tree;
    Ok(comparison)
}

/// Ids depend on the check, so that an edited one is found by its name.
fn compare_criteria(receipt: &Receipt, now: &[Criterion], differences: &mut Vec<String>) {
    for it in &receipt.criteria {
        let same_id = now.iter().find(|now| now.id.0 == it.id);
        match same_id.or_else(|| now.iter().find(|now| now.name == it.name)) {
            None => differences.push(format!("the task has no criterion \"{}\"", it.name)),
            Some(now) if check_hash(now) != it.check => {
                differences.push(format!("the check of \"{}\" is another", it.name));
            }
            Some(_) => {}
        }
    }
    for it in now.iter().filter(|now| now.required) {
        if receipt.criteria.iter().all(|known| known.id != it.id.0 && known.name != it.name) {
            differences.push(format!("the task has another criterion, \"{}\"", it.name));
        }
    }
}

/// `None`: as in the receipt.
fn file_difference(root: &Path, file: &FileHash) -> Option<&'static str> {
    let found = fs::symlink_metadata(root.join(&file.path));
    match (&file.sha256, found) {
        (None, Err(_)) => None,
        (None, Ok(_)) => Some("is there, and was deleted"),
        (Some(_), Err(_)) => Some("is missing"),
        (Some(expect), Ok(metadata)) => {
            let bytes = if metadata.is_symlink() {
                fs::read_link(root.join(&file.path)).map(|it| it.into_os_string().into_encoded_bytes())
            } else if metadata.is_file() {
                fs::read(root.join(&file.path))
            } else {
                return Some("is no file");
            };
            match bytes {
                Ok(bytes) if sha256(&bytes) == *expect => None,
                Ok(_) => Some("differs"),
                Err(_) => Some("cannot be read"),
            }
        }
    }
}

/// The id that a snapshot of the tree would have, computed in a temporary store.
fn current_tree(root: &Path) -> Result<String, Failure> {
    let folder = ScratchDir::new()?;
    let mut store = SnapshotStore::open(folder.path(), root)?;
    Ok(store.take_snapshot()?.tree)
}

/// The results of a new round that differ from those of the receipt, one sentence each.
pub fn compare_results(receipt: &Receipt, results: &[CheckResult]) -> Vec<String> {
    let difference = |it: &CheckResult| {
        let known = receipt.criteria.iter().find(|known| known.id == it.criterion.0)?;
        let (then, now) = (status_word(known.status), status_word(it.status));
        let fact = if it.fact.is_empty() { String::new() } else { format!(": {}", it.fact) };
        (known.status != it.status)
            .then(|| format!("\"{}\" {then} in the receipt and {now} here{fact}", known.name))
    };
    results.iter().filter_map(difference).collect()
}
