//! Finds files and folders that were created outside the work tree since a moment, at the levels that are cheap to look
//! at: around the work tree, in the home folder, in folders for temporary files and for programs of the machine.
//! Downloads of package managers are left out.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsStr;
use std::fs::{self, DirEntry, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{Access, access};

use super::packages::listed_files;
use super::tool_folders::{Place, holds_packages, is_around_packages, place_in_home};
use super::{changed_at, is_created_since};

/// Every process can write to them.
pub const SHARED_FOLDERS: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];
/// Folders of the machine, with how many levels of each are looked at.
const MACHINE: [(&str, usize); 5] =
    [("/", 1), ("/opt", 2), ("/srv", 2), ("/usr/local", 4), ("/usr/lib/python3/dist-packages", 1)];
/// Levels of other folders.
const LEVELS: usize = 3;
/// Of the home folder `.local` has two more: `.local/lib/python3.11/site-packages/x`.
const LOCAL_LEVELS: usize = 5;
/// Folders that are looked at below each folder where the search begins.
const MAX_FOLDERS: usize = 600;
/// Beyond this many new entries nothing is known.
const MAX_FOUND: usize = 1_000;
/// Folders with an entry for each process, or with a program's own data.
const SKIPPED_FOLDERS: [&str; 4] = [".git", ".hg", ".svn", ".jj"];
const VIRTUAL: [&str; 5] = ["/proc", "/sys", "/dev", "/run", "/lost+found"];

#[derive(Debug, Clone)]
pub struct OutsideSearch<'a> {
    pub home: Option<&'a Path>,
    /// The work tree, without links.
    pub root: &'a Path,
    /// Paths that are left out, with what is below them and around them.
    pub needed: &'a [PathBuf],
    pub since: SystemTime,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct OutsideEntries {
    /// Files and folders, those near the work tree first, and of these those of upper levels.
    pub paths: Vec<PathBuf>,
    /// There are more.
    pub is_partial: bool,
}

/// The outermost entries that were created since.
pub fn find_outside(search: &OutsideSearch<'_>) -> OutsideEntries {
    let mut walk =
        OutsideWalk { search, seen: HashSet::new(), listed: HashSet::new(), found: Vec::new(), starts: 0 };
    let shared = || SHARED_FOLDERS.iter().map(|it| (Path::new(*it), LEVELS));
    let own: Vec<(&Path, usize)> = search.home.iter().map(|it| (*it, LEVELS)).chain(shared()).collect();
    let around = search.root.ancestors().skip(1).filter(|it| own.iter().all(|(own, _)| own != it));
    let around = around.filter(|it| it.parent().is_some()).map(|it| (it, LEVELS - 1));
    let machine = MACHINE.iter().map(|(folder, levels)| (Path::new(*folder), *levels));
    for (folder, levels) in around.chain(own.iter().copied()).chain(machine) {
        walk.starts += 1;
        walk.folder(folder, levels);
    }
    let OutsideWalk { mut found, listed, .. } = walk;
    found.retain(|(.., path)| !listed.contains(path));
    found.sort();
    let is_partial = found.len() > MAX_FOUND;
    OutsideEntries { paths: found.into_iter().take(MAX_FOUND).map(|(.., path)| path).collect(), is_partial }
}

struct OutsideWalk<'a> {
    search: &'a OutsideSearch<'a>,
    seen: HashSet<PathBuf>,
    /// Files of packages that were installed since.
    listed: HashSet<PathBuf>,
    /// How often a search has begun.
    starts: usize,
    /// With the number of its search, and its depth.
    found: Vec<(usize, usize, PathBuf)>,
}

impl OutsideWalk<'_> {
    /// Looks at the folders below `start`, level by level.
    fn folder(&mut self, start: &Path, levels: usize) {
        let mut queue = VecDeque::from([(start.to_owned(), levels)]);
        let mut remaining = MAX_FOLDERS;
        while let Some((folder, levels)) = queue.pop_front() {
            if remaining == 0 || self.found.len() > 2 * MAX_FOUND {
                return;
            }
            remaining -= 1;
            for subfolder in self.entries(&folder, levels) {
                let levels = if self.is_local(&subfolder) { LOCAL_LEVELS } else { levels };
                let levels = levels.saturating_sub(1);
                queue.push_back((subfolder, levels));
            }
        }
    }

    /// Adds the new entries of a folder, and returns its old subfolders if there are more levels.
    fn entries(&mut self, folder: &Path, levels: usize) -> Vec<PathBuf> {
        let Ok(metadata) = fs::symlink_metadata(folder) else { return Vec::new() };
        let since = self.search.since;
        // A new entry updates the change time of its folder, which no program can set back.
        let is_changed = changed_at(&metadata) >= since && access(folder, Access::WRITE_OK).is_ok();
        let looks = metadata.is_dir() && (is_changed || levels > 1) && self.seen.insert(folder.to_owned());
        let Some(listing) = looks.then(|| fs::read_dir(folder).ok()).flatten() else { return Vec::new() };
        let entries: Vec<DirEntry> = listing.flatten().collect();
        if is_changed && is_old_cache(&entries, since) {
            return Vec::new();
        }
        if is_changed && holds_packages(folder) {
            self.listed.extend(listed_files(folder, since));
        }
        let mut subfolders = Vec::new();
        // A room replaces these folders, without their new entries.
        let is_shared = SHARED_FOLDERS.iter().any(|it| folder == Path::new(it));
        for entry in entries {
            let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
            // Most entries: old files.
            if !is_changed && !is_folder {
                continue;
            }
            let path = entry.path();
            let place = self.place(&path);
            if place == Place::LeftOut {
                continue;
            }
            let is_new = is_changed
                && place == Place::Searched
                && entry.metadata().is_ok_and(|it| can_be_covered(&it) && is_created_since(&it, since));
            if is_new && !is_shared {
                self.found.push((self.starts, path.components().count(), path));
            } else if !is_new && (levels > 1 || place == Place::Around) && is_folder {
                subfolders.push(path);
            }
        }
        subfolders
    }

    fn place(&self, path: &Path) -> Place {
        let OutsideSearch { home, root, needed, .. } = self.search;
        let own = || std::iter::once(*root).chain(needed.iter().map(PathBuf::as_path));
        let is_skipped = path.file_name().is_some_and(|name| SKIPPED_FOLDERS.iter().any(|it| name == *it));
        let is_virtual = VIRTUAL.iter().any(|it| path == Path::new(it));
        if is_skipped || is_virtual || own().any(|it| path.starts_with(it)) {
            return Place::LeftOut;
        }
        match home.and_then(|home| path.strip_prefix(home).ok()) {
            Some(below) => place_in_home(below).max(self.around(path)),
            None => self.around(path),
        }
    }

    fn around(&self, path: &Path) -> Place {
        let OutsideSearch { home, root, needed, .. } = self.search;
        let all = std::iter::once(*root).chain(*home).chain(needed.iter().map(PathBuf::as_path));
        let mut all = all.chain(SHARED_FOLDERS.map(Path::new));
        if all.any(|it| it.starts_with(path)) || is_around_packages(path) {
            Place::Around
        } else {
            Place::Searched
        }
    }

    fn is_local(&self, path: &Path) -> bool {
        self.search.home.is_some_and(|it| path.strip_prefix(it).is_ok_and(|it| it == Path::new(".local")))
    }
}

/// A mount over a link would cover its target.
fn can_be_covered(metadata: &Metadata) -> bool {
    metadata.is_dir() || metadata.is_file()
}

/// Build tools and package managers mark folders that they can make again.
fn is_old_cache(entries: &[DirEntry], since: SystemTime) -> bool {
    let tag = entries.iter().find(|it| it.file_name() == OsStr::new("CACHEDIR.TAG"));
    tag.is_some_and(|it| it.metadata().is_ok_and(|it| !is_created_since(&it, since)))
}

#[cfg(test)]
mod tests;
