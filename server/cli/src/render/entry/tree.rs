//! Renders changes of the files: snapshots and rollbacks, the branch and its commits.

use std::fmt::Write as _;

use loopkeeper_core::journal::{Record, SnapshotWhen};
use loopkeeper_text::{sanitize, tr, words};

pub(super) fn snapshot(when: (SnapshotWhen, u32), tree: &str, not_covered: usize) -> String {
    let tree: String = tree.chars().take(10).collect();
    let mut text = match when {
        (SnapshotWhen::After, 0) => tr!("snapshot at the start: {tree}", tree),
        (SnapshotWhen::Before, _) => tr!("snapshot before: {tree}", tree),
        (SnapshotWhen::After, _) => tr!("snapshot after: {tree}", tree),
        (SnapshotWhen::BeforeRollback, _) => tr!("snapshot before the rollback: {tree}", tree),
    };
    if not_covered > 0 {
        let _ =
            write!(text, "{}", tr!(", without {files}", files = words::counted(not_covered as u64, "file")));
    }
    text
}

/// `works on the new branch ralph/task (before: main)`
pub(super) fn branch_taken(
    (branch, from): (Option<&str>, Option<&str>),
    made: bool,
    note: Option<&str>,
) -> String {
    let Some(branch) = branch else {
        return tr!("works on no separate branch: {note}", note = sanitize::line(note.unwrap_or_default()));
    };
    let before =
        from.filter(|it| *it != branch).map(|it| tr!(" (before: {branch})", branch = sanitize::line(it)));
    let (branch, before) = (sanitize::line(branch), before.unwrap_or_default());
    if made {
        tr!("works on the new branch {branch}{before}", branch, before)
    } else {
        tr!("works on the branch {branch}{before}", branch, before)
    }
}

/// `committed 0123456789 feat: US-001 - Login`
pub(super) fn committed(made: Option<(&str, &str)>, note: Option<&str>) -> String {
    let note = note.map(sanitize::line);
    match (made, note) {
        (Some((id, subject)), note) => {
            let id: String = id.chars().take(10).collect();
            let note = note.map_or_else(String::new, |it| tr!("; {note}", note = it));
            tr!("committed {id} {subject}{note}", id, subject = sanitize::line(subject), note)
        }
        (None, Some(note)) => tr!("not committed: {note}", note),
        (None, None) => tr!("nothing to commit").to_owned(),
    }
}

pub(super) fn rolled_back(record: &Record) -> String {
    let Record::RolledBack { to, reason, undoes, .. } = record else { return String::new() };
    if undoes.is_some() {
        return tr!("rollback undone: files restored").to_owned();
    }
    let why = reason.as_deref().map_or_else(String::new, |it| tr!(": {why}", why = sanitize::line(it)));
    match to {
        0 => tr!("files restored to the start of the loop{why}", why),
        number => tr!("files restored to iteration {number}{why}", number, why),
    }
}
