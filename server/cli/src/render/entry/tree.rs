//! Renders changes of the files: snapshots and rollbacks, the branch and its commits.

use std::fmt::Write as _;

use loopkeeper_core::journal::{Record, SnapshotWhen};
use loopkeeper_text::{sanitize, words};

pub(super) fn snapshot(when: (SnapshotWhen, u32), tree: &str, not_covered: usize) -> String {
    let what = match when {
        (SnapshotWhen::After, 0) => "at the start",
        (SnapshotWhen::Before, _) => "before",
        (SnapshotWhen::After, _) => "after",
        (SnapshotWhen::BeforeRollback, _) => "before the rollback",
    };
    let short: String = tree.chars().take(10).collect();
    let mut text = format!("snapshot {what}: {short}");
    if not_covered > 0 {
        let _ = write!(text, ", without {}", words::counted(not_covered as u64, "file"));
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
        return format!("works on no branch of its own: {}", sanitize::line(note.unwrap_or_default()));
    };
    let new = if made { "new " } else { "" };
    let before = from.filter(|it| *it != branch).map(|it| format!(" (before: {})", sanitize::line(it)));
    format!("works on the {new}branch {}{}", sanitize::line(branch), before.unwrap_or_default())
}

/// `committed 0123456789 feat: US-001 - Login`
pub(super) fn committed(made: Option<(&str, &str)>, note: Option<&str>) -> String {
    let note = note.map(sanitize::line);
    match (made, note) {
        (Some((id, subject)), note) => {
            let id: String = id.chars().take(10).collect();
            let note = note.map_or_else(String::new, |it| format!("; {it}"));
            format!("committed {id} {}{note}", sanitize::line(subject))
        }
        (None, Some(note)) => format!("not committed: {note}"),
        (None, None) => "nothing to commit".to_owned(),
    }
}

pub(super) fn rolled_back(record: &Record) -> String {
    let Record::RolledBack { to, reason, undoes, .. } = record else { return String::new() };
    if undoes.is_some() {
        return "rollback undone: files restored".to_owned();
    }
    let when = match to {
        0 => "the start of the loop".to_owned(),
        to => format!("iteration {to}"),
    };
    let why = reason.as_deref().map_or_else(String::new, |it| format!(": {}", sanitize::line(it)));
    format!("files restored to {when}{why}")
}
