//! Finds new entries in the folder of the repository that git does not make. No checkout of the tree has them.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use super::{UnrecordedScan, changed_at, is_created_since};

/// Entries that git and its extensions make in the folder of a repository.
const GIT_ENTRIES: [&str; 27] = [
    "HEAD",
    "ORIG_HEAD",
    "FETCH_HEAD",
    "COMMIT_EDITMSG",
    "TAG_EDITMSG",
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "MERGE_RR",
    "AUTO_MERGE",
    "SQUASH_MSG",
    "config",
    "config.worktree",
    "description",
    "index",
    "packed-refs",
    "shallow",
    "branches",
    "hooks",
    "info",
    "logs",
    "objects",
    "refs",
    "reftable",
    "rr-cache",
    "modules",
    "worktrees",
];
const INFO_ENTRIES: [&str; 5] = ["attributes", "exclude", "grafts", "refs", "sparse-checkout"];
const OBJECT_INFO_ENTRIES: [&str; 5] =
    ["alternates", "commit-graph", "commit-graphs", "http-alternates", "packs"];
const PACK_EXTENSIONS: [&str; 8] = ["pack", "idx", "rev", "bitmap", "mtimes", "keep", "promisor", "lock"];
/// Beginnings of the names of files that git is writing, and of its index of packs.
const PACK_PREFIXES: [&str; 4] = ["tmp_", ".tmp-", "loose-", "multi-pack-index"];

impl UnrecordedScan<'_> {
    pub(super) fn find_unknown_in_repository(&mut self) {
        self.add_unknown(Path::new(".git"), |name| is_named(name, &GIT_ENTRIES));
        self.add_unknown(Path::new(".git/hooks"), |_| false);
        self.add_unknown(Path::new(".git/info"), |name| is_named(name, &INFO_ENTRIES));
        let objects = Path::new(".git/objects");
        self.add_unknown(objects, |name| is_named(name, &["info", "pack"]) || is_hex(name, 2));
        self.add_unknown(&objects.join("info"), |name| is_named(name, &OBJECT_INFO_ENTRIES));
        self.add_unknown(&objects.join("pack"), is_pack_file);
        for folder in fs::read_dir(self.root.join(objects)).into_iter().flatten().flatten() {
            let name = folder.file_name();
            // A new entry updates the change time of its folder.
            let is_changed = || folder.metadata().is_ok_and(|it| changed_at(&it) >= self.since);
            if is_hex(&name, 2) && is_changed() {
                self.add_unknown(&objects.join(&name), is_loose_object);
            }
        }
    }

    fn add_unknown(&mut self, folder: &Path, is_known: impl Fn(&OsStr) -> bool) {
        let mut names: Vec<_> = Vec::new();
        for entry in fs::read_dir(self.root.join(folder)).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_lock = name.to_string_lossy().ends_with(".lock");
            let is_new = || entry.metadata().is_ok_and(|it| is_created_since(&it, self.since));
            if !is_known(&name) && !is_lock && is_new() {
                names.push(name);
            }
        }
        names.sort();
        self.found.unlisted.extend(names.into_iter().map(|it| folder.join(it)));
    }
}

fn is_named(name: &OsStr, names: &[&str]) -> bool {
    names.iter().any(|it| name == *it)
}

fn is_hex(name: &OsStr, length: usize) -> bool {
    name.len() == length && name.to_string_lossy().bytes().all(|it| it.is_ascii_hexdigit())
}

/// The rest of the id of a loose object, of 20 or of 32 bytes.
fn is_loose_object(name: &OsStr) -> bool {
    is_hex(name, 38) || is_hex(name, 62) || name.to_string_lossy().starts_with("tmp_obj_")
}

fn is_pack_file(name: &OsStr) -> bool {
    let text = name.to_string_lossy();
    let extension = Path::new(name).extension().and_then(OsStr::to_str).unwrap_or_default();
    (text.starts_with("pack-") && PACK_EXTENSIONS.contains(&extension))
        || PACK_PREFIXES.iter().any(|it| text.starts_with(it))
}
