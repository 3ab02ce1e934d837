//! The texts of a snapshot, for searches that need every file of its tree.

use loopkeeper_core::strays::TreeText;
use loopkeeper_system::snapshots::{SnapshotError, SnapshotStore, TreeEntry};

/// Files of a tree that is searched.
const MAX_FILES: usize = 5_000;
/// Bytes of text that are searched.
const MAX_TEXT: usize = 32 * 1024 * 1024;

/// Every text file of the tree; `None` if some cannot be read, or there are too many.
pub(crate) fn tree_texts(store: &SnapshotStore, tree: &str) -> Result<Option<Vec<TreeText>>, SnapshotError> {
    let (mut files, mut size, mut is_whole) = (Vec::new(), 0, true);
    store.read_files(tree, MAX_FILES, |path, entry| {
        let bytes = match entry {
            TreeEntry::File { bytes, .. } | TreeEntry::Link(bytes) => bytes,
            TreeEntry::Nothing => return true,
            TreeEntry::Unknown => {
                is_whole = false;
                return false;
            }
        };
        if !bytes.contains(&0) {
            size += bytes.len();
            files.push(TreeText { path: into_lossy_string(path), text: into_lossy_string(bytes) });
        }
        is_whole = size <= MAX_TEXT;
        is_whole
    })?;
    // A tree with too many files is not read at all.
    Ok((is_whole && !files.is_empty()).then_some(files))
}

/// Avoids a copy if the bytes are UTF-8, as nearly all are.
fn into_lossy_string(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
