//! Deletes objects that no kept snapshot needs. Never deletes young objects or the last snapshot: a keeper may have
//! taken it without having recorded it yet.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use git2::{ObjectType, Oid};
use loopkeeper_text::tr_later;

use super::error::{Result, SnapshotError};
use super::objects::ObjectStore;
use super::tree::TreeItemKind;

/// Younger objects may belong to a snapshot that is not recorded yet.
const GRACE: Duration = Duration::from_secs(3600);

/// Whether to delete, or only to report what would be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GcMode {
    Measure,
    Delete,
}

/// The objects that a collection deleted, or would delete. Bytes are disk space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GcReport {
    pub removed: u64,
    pub freed_bytes: u64,
    pub kept_bytes: u64,
}

/// All objects that the trees in `roots` need.
pub(super) fn reachable_objects(
    objects: &ObjectStore,
    roots: impl Iterator<Item = Oid>,
) -> Result<HashSet<Oid>> {
    let mut marked = HashSet::new();
    let mut waiting: Vec<Oid> = roots.filter(|it| objects.has(*it, ObjectType::Tree)).collect();
    while let Some(tree) = waiting.pop() {
        if !marked.insert(tree) {
            continue;
        }
        for (_, item) in objects.tree(tree)?.iter() {
            match item.kind {
                TreeItemKind::Folder => waiting.push(item.id),
                TreeItemKind::Marker => {}
                TreeItemKind::File | TreeItemKind::Executable | TreeItemKind::Symlink => {
                    marked.insert(item.id);
                }
            }
        }
    }
    Ok(marked)
}

pub(super) fn collect_objects(dir: &Path, keep: &HashSet<Oid>, mode: GcMode) -> Result<GcReport> {
    let mut collected = GcReport::default();
    let objects = dir.join("objects");
    for folder in list_folder(&objects)? {
        let prefix = folder.file_name().and_then(|it| it.to_str().map(str::to_owned)).unwrap_or_default();
        if prefix.len() != 2 {
            continue;
        }
        for file in list_folder(&folder)? {
            let rest = file.file_name().and_then(|it| it.to_str()).unwrap_or_default();
            let Ok(id) = Oid::from_str(&format!("{prefix}{rest}")) else { continue };
            let metadata = fs::metadata(&file).map_err(SnapshotError::io(tr_later!("look at"), &file))?;
            if keep.contains(&id) || is_young(&metadata) {
                collected.kept_bytes += disk_bytes(&metadata);
                continue;
            }
            if mode == GcMode::Delete {
                fs::remove_file(&file).map_err(SnapshotError::io(tr_later!("delete"), &file))?;
            }
            collected.removed += 1;
            collected.freed_bytes += disk_bytes(&metadata);
        }
    }
    Ok(collected)
}

/// Small objects occupy whole blocks.
fn disk_bytes(metadata: &fs::Metadata) -> u64 {
    metadata.blocks() * 512
}

/// A time in the future is meaningless; such an object stays.
fn is_young(metadata: &fs::Metadata) -> bool {
    metadata.modified().is_ok_and(|it| it.elapsed().map_or(true, |age| age < GRACE))
}

fn list_folder(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = || -> io::Result<Vec<_>> { fs::read_dir(folder)?.map(|it| it.map(|it| it.path())).collect() };
    read().map_err(SnapshotError::io(tr_later!("read the folder"), folder))
}
