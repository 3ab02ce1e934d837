//! Receipts: writes the receipt of a loop from its journal and its snapshots, and compares one with a checkout.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use loopkeeper_core::check::CheckResult;
use loopkeeper_core::decide::LoopState;
use loopkeeper_core::decide::weakening;
use loopkeeper_core::journal::{CheckProgram, Entry, Record};
use loopkeeper_keeper::stray_search::{RemovalCandidates, find_removal_candidates};
use loopkeeper_keeper::weakening_scan::find_judges;
use loopkeeper_system::check_programs::{ProgramFile, find_program, hash_file};
use loopkeeper_system::journal_file;
use loopkeeper_system::regular_file;
use loopkeeper_system::scratch::ScratchDir;
use loopkeeper_system::snapshots::{SnapshotError, SnapshotStore};
use loopkeeper_system::state_dir::StateError;
use loopkeeper_system::state_dir::workspace::{LoopDir, Workspace};
use loopkeeper_task::criterion::Criterion;
use loopkeeper_text::digest::sha256;
use loopkeeper_text::tr;
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
    tailer.advance()?;
    if let Some(damage) = tailer.damage() {
        return Err(damaged_error(damage.clone()));
    }
    let state = tailer.state().ok_or_else(|| not_ended(dir))?;
    of_state(workspace, dir, state)
}

/// The same for a loop whose journal was read to its end and is not damaged.
pub fn of_state(workspace: &Workspace, dir: &LoopDir, state: &LoopState) -> Result<Receipt, Failure> {
    if state.outcome().is_none() {
        return Err(not_ended(dir));
    }
    let path = dir.journal();
    let mut entries = Vec::new();
    // Both read the whole journal, which is large after a long loop.
    let (hashed, read) = std::thread::scope(|scope| {
        let hashing = std::thread::Builder::new().spawn_scoped(scope, || hash_file(&path));
        let add = |entry| add_entry(&mut entries, entry);
        let read = journal_file::each_wanted(&path, Receipt::depends_on_type, add);
        let hashed = match hashing {
            Ok(thread) => thread.join().unwrap_or_else(|_| hash_file(&path)),
            // No further thread may be started here.
            Err(_) => hash_file(&path),
        };
        (hashed, read)
    });
    read?;
    let sha256 = hashed.map_err(Failure::ended)?;
    // Records of a keeper that was replaced have no number.
    let journal = JournalDigest { records: state.position.seq, sha256 };
    let store = SnapshotStore::open(&workspace.snapshots(), workspace.root())?;
    let RemovalCandidates { strays, duplicates } = find_removal_candidates(state, &store)?;
    let (judges, changed) = (judges(state, &store)?, changed(state, &store)?);
    let files = ReceiptFiles { judges, changed, strays, duplicates, journal };
    Receipt::of_loop(state, &entries, files).ok_or_else(|| not_ended(dir))
}

fn not_ended(dir: &LoopDir) -> Failure {
    Failure::conflict(tr!("loop {id} has not ended: there is no receipt yet", id = dir.id()))
        .hint(tr!("`loopkeeper status` shows what it does."))
}

/// Adds a record, but keeps only the last snapshot with a commit: each iteration has two snapshots.
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
    let note = |then: &CheckProgram| program_note(then, find_program(&then.name, &search_path).as_ref());
    let programs = receipt.environment.programs.iter().filter_map(note);
    let accepted = receipt
        .acceptances
        .iter()
        .map(|it| tr!("accepted by the user: {sentence}", sentence = it.sentence()));
    programs.chain(accepted).collect()
}

/// How the program differs from that of the receipt. A file without a hash is neither the same nor another one.
fn program_note(then: &CheckProgram, now: Option<&ProgramFile>) -> Option<String> {
    let version = then.version.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
    let name = &then.name;
    let Some(now) = now else {
        return Some(tr!("{name}{version} of the receipt is not installed here", name, version));
    };
    let (path_then, path_now) = (format!("{}{version}", then.path), now.path.display());
    match (&then.sha256, &now.sha256) {
        (Some(before), Some(after)) if before == after => None,
        (Some(_), Some(_)) => Some(tr!(
            "{name} is {then} in the receipt, and another file here: {now}",
            name,
            then = path_then,
            now = path_now
        )),
        (None, _) | (_, None) => Some(tr!(
            "{name} is {then} in the receipt and {now} here; whether they are the same file is unknown, \
             because one of them has no hash",
            name,
            then = path_then,
            now = path_now
        )),
    }
}

/// Compares the task and the files of a checkout with the receipt.
pub fn compare_files(receipt: &Receipt, work: &ResolvedTask) -> Result<ReceiptComparison, Failure> {
    let mut comparison = ReceiptComparison::default();
    compare_criteria(receipt, &work.task.criteria, &mut comparison.differences);
    let judges = receipt.judges.iter().map(|it| (it, true));
    let mut reported = Vec::new();
    for (file, is_judge) in judges.chain(receipt.changed.iter().map(|it| (it, false))) {
        let Some(found) = file_difference(&work.root, file) else { continue };
        // A judge that the loop changed is in both lists.
        if !reported.contains(&(&file.path, found)) {
            comparison.differences.push(found.sentence(&file.path, is_judge));
            reported.push((&file.path, found));
        }
    }
    comparison.is_same_tree = current_tree(&work.root)? == receipt.tree;
    Ok(comparison)
}

/// Ids depend on the check, so that an edited one is found by its name.
fn compare_criteria(receipt: &Receipt, now: &[Criterion], differences: &mut Vec<String>) {
    let by_id: HashMap<&str, &Criterion> = now.iter().map(|it| (it.id.0.as_str(), it)).collect();
    // The first of several with the same name.
    let by_name: HashMap<&str, &Criterion> = now.iter().rev().map(|it| (it.name.as_str(), it)).collect();
    for it in &receipt.criteria {
        match by_id.get(it.id.as_str()).or_else(|| by_name.get(it.name.as_str())) {
            None => differences.push(tr!("the task has no criterion \"{name}\"", name = it.name)),
            Some(now) if check_hash(now) != it.check => {
                differences.push(tr!("the check of \"{name}\" differs", name = it.name));
            }
            Some(_) => {}
        }
    }
    let ids: HashSet<&str> = receipt.criteria.iter().map(|it| it.id.as_str()).collect();
    let names: HashSet<&str> = receipt.criteria.iter().map(|it| it.name.as_str()).collect();
    for it in now.iter().filter(|now| now.required) {
        if !ids.contains(it.id.0.as_str()) && !names.contains(it.name.as_str()) {
            differences.push(tr!("the task has another criterion, \"{name}\"", name = it.name));
        }
    }
}

/// How a file differs from its entry in a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileDifference {
    Restored,
    Missing,
    NoFile,
    OtherContent,
    Unreadable,
}

impl FileDifference {
    fn sentence(self, path: &str, is_judge: bool) -> String {
        let file = if is_judge { tr!("judge {path}", path) } else { tr!("changed file {path}", path) };
        match self {
            Self::Restored => tr!("{file} is there, and was deleted", file),
            Self::Missing => tr!("{file} is missing", file),
            Self::NoFile => tr!("{file} is not a file", file),
            Self::OtherContent => tr!("{file} differs", file),
            Self::Unreadable => tr!("{file} cannot be read", file),
        }
    }
}

/// `None`: as in the receipt.
fn file_difference(root: &Path, file: &FileHash) -> Option<FileDifference> {
    let found = fs::symlink_metadata(root.join(&file.path));
    match (&file.sha256, found) {
        (None, Ok(_)) => Some(FileDifference::Restored),
        (expect, Err(error)) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            expect.as_ref().map(|_| FileDifference::Missing)
        }
        (_, Err(_)) => Some(FileDifference::Unreadable),
        (Some(expect), Ok(metadata)) => {
            let bytes = if metadata.is_symlink() {
                fs::read_link(root.join(&file.path)).map(|it| it.into_os_string().into_encoded_bytes())
            } else if metadata.is_file() {
                read_regular(&root.join(&file.path))
            } else {
                return Some(FileDifference::NoFile);
            };
            match bytes {
                Ok(bytes) if sha256(&bytes) == *expect => None,
                Ok(_) => Some(FileDifference::OtherContent),
                Err(_) => Some(FileDifference::Unreadable),
            }
        }
    }
}

/// Another entry may have taken the place of the file since its kind was read.
fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    regular_file::open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The id that a snapshot of the tree would have, computed in a temporary store.
fn current_tree(root: &Path) -> Result<String, Failure> {
    let folder = ScratchDir::new()?;
    let root = root.canonicalize().map_err(StateError::no_tree(root))?;
    let mut store = SnapshotStore::open(folder.path(), &root)?;
    Ok(store.take_snapshot()?.tree)
}

/// The results of a new round that differ from those of the receipt, one sentence each.
pub fn compare_results(receipt: &Receipt, results: &[CheckResult]) -> Vec<String> {
    let by_id: HashMap<&str, _> = receipt.criteria.iter().map(|it| (it.id.as_str(), it)).collect();
    let difference = |it: &CheckResult| {
        let known = by_id.get(it.criterion.0.as_str())?;
        let (then, now) = (status_word(known.status), status_word(it.status));
        if known.status == it.status {
            return None;
        }
        let difference = tr!("\"{name}\" {then} in the receipt and {now} here", name = known.name, then, now);
        if it.fact.is_empty() {
            return Some(difference);
        }
        Some(tr!("{difference}: {fact}", difference, fact = it.fact))
    };
    results.iter().filter_map(difference).collect()
}

#[cfg(test)]
mod tests {
    use loopkeeper_text::language::Language;

    use super::{CheckProgram, FileDifference, FileHash, ProgramFile, file_difference, program_note};

    #[test]
    fn programs_are_compared_by_their_hashes() {
        let check = |then: Option<&str>, now: Option<Option<&str>>, expect: Option<&str>| {
            let then = CheckProgram {
                name: "tool".to_owned(),
                path: "/a/tool".to_owned(),
                version: Some("1.2".to_owned()),
                sha256: then.map(str::to_owned),
            };
            let now = now.map(|it| ProgramFile { path: "/b/tool".into(), sha256: it.map(str::to_owned) });
            let note = program_note(&then, now.as_ref());
            match expect {
                None => assert_eq!(note, None),
                Some(part) => assert!(note.as_ref().is_some_and(|it| it.contains(part)), "{note:?}"),
            }
        };
        check(Some("x"), Some(Some("x")), None);
        check(
            Some("x"),
            Some(Some("y")),
            Some("tool is /a/tool (1.2) in the receipt, and another file here: /b"),
        );
        check(Some("x"), None, Some("tool (1.2) of the receipt is not installed here"));
        let unknown =
            "/b/tool here; whether they are the same file is unknown, because one of them has no hash";
        check(None, Some(None), Some(unknown));
        check(None, Some(Some("x")), Some(unknown));
        check(Some("x"), Some(None), Some(unknown));
    }

    #[test]
    fn files_are_compared_with_their_entries() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.md"), "a").unwrap();
        std::fs::create_dir(folder.path().join("b")).unwrap();
        let check = |path: &str, sha256: Option<&str>, expect: Option<&str>| {
            let file = FileHash { path: path.to_owned(), sha256: sha256.map(str::to_owned) };
            let found = file_difference(folder.path(), &file).map(|it| it.sentence(path, true));
            assert_eq!(found.as_deref(), expect, "{path}");
        };
        check("a.md", Some(&super::sha256(b"a")), None);
        check("a.md", Some("0"), Some("judge a.md differs"));
        check("a.md", None, Some("judge a.md is there, and was deleted"));
        check("b", Some("0"), Some("judge b is not a file"));
        check("c", Some("0"), Some("judge c is missing"));
        check("c", None, None);
        check("a.md/c", None, None);
        std::os::unix::fs::symlink("d", folder.path().join("d")).unwrap();
        check("d/c", Some("0"), Some("judge d/c cannot be read"));
        check("d/c", None, Some("judge d/c cannot be read"));
    }

    #[test]
    fn a_difference_is_written_in_the_language_of_the_user() {
        let sentence = |it: FileDifference, is_judge| {
            Language::SimplifiedChinese.during(|| it.sentence("a.md", is_judge))
        };
        assert_eq!(sentence(FileDifference::Missing, true), "评判文件 a.md 缺失");
        assert_eq!(sentence(FileDifference::Restored, false), "已更改的文件 a.md 存在，而它已被删除");
    }
}
