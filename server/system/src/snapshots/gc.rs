//! Deletes objects that no kept snapshot needs. Never deletes young objects or the last snapshot: a keeper may have
//! taken it without having recorded it yet.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

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

/// What a collection deleted, or would delete. Bytes are the disk space freed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GcReport {
    pub removed: u64,
    pub freed_bytes: u64,
    pub kept_bytes: u64,
}

/// All objects that the trees in `roots` need.
pub(super) fn reachable(objects: &ObjectStore, roots: impl Iterator<Item = Oid>) -> Result<HashSet<Oid>> {
    let mut marked = HashSet::new();
    let mut open: Vec<Oid> = roots.filter(|it| objects.has(*it, ObjectType::Tree)).collect();
    while let Some(tree) = open.pop() {
        if !marked.insert(tree) {
            continue;
        }
        for (_, item) in objects.tree(tree)?.iter() {
            match item.kind {
                TreeItemKind::Folder => open.push(item.id),
                TreeItemKind::Marker => {}
                TreeItemKind::File | TreeItemKind::Executable | TreeItemKind::Symlink => {
                    marked.insert(item.id);
                }
            }
        }
    }
    Ok(marked)
}

pub(super) fn collect_objects(dir: &Path, keep: &HashSet<Oid>, sweep: GcMode) -> Result<GcReport> {
    let mut collected = GcReport::default();
    let objects = dir.join("objects");
    for folder in list(&objects)? {
        let prefix = folder.file_name().and_then(|it| it.to_str().map(str::to_owned)).unwrap_or_default();
        if prefix.len() != 2 {
            continue;
        }
        for file in list(&folder)? {
            let rest = file.file_name().and_then(|it| it.to_str()).unwrap_or_default();
            let Ok(id) = Oid::from_str(&format!("{prefix}{rest}")) else { continue };
            let about = fs::metadata(&file).map_err(SnapshotError::io(tr_later!("look at"), &file))?;
            if keep.contains(&id) || is_young(&about) {
                collected.kept_bytes += on_disk(&about);
                continue;
            }
            if sweep == GcMode::Delete {
                fs::remove_file(&file).map_err(SnapshotError::io(tr_later!("delete"), &file))?;
            }
            collected.removed += 1;
            collected.freed_bytes += on_disk(&about);
        }
    }
    Ok(collected)
}

/// Small objects occupy whole blocks.
fn on_disk(about: &fs::Metadata) -> u64 {
    about.blocks() * 512
}

fn is_young(about: &fs::Metadata) -> bool {
    let age = about.modified().and_then(|it| SystemTime::now().duration_since(it).map_err(io::Error::other));
    age.is_ok_and(|it| it < GRACE) || age_unknown(about)
}

/// A time in the future is meaningless; such an object stays.
fn age_unknown(about: &fs::Metadata) -> bool {
    about.modified().is_ok_and(|it| it > SystemTime::now())
}

fn list(folder: &Path) -> Result<Vec<std::path::PathBuf>> {
    let read = || -> io::Result<Vec<_>> { fs::read_dir(folder)?.map(|it| it.map(|it| it.path())).collect() };
    read().map_err(SnapshotError::io(tr_later!("read the folder"), folder))
}
