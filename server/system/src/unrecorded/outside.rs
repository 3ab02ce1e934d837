//! Finds files and folders that were created outside the work tree since a moment, at the levels that are cheap to
//! search: around the work tree, in the home folder, in folders for temporary files and for programs of the machine.
//! Downloads of package managers are left out.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsStr;
use std::fs::{self, DirEntry, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{Access, access};

use super::packages::listed_files;
use super::tool_folders::{PathClass, classify_in_home, holds_packages, is_around_packages};
use super::{changed_at, is_created_since};

/// Every process can write to them.
pub const SHARED_FOLDERS: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];
/// Folders of the machine, with the number of levels that are searched.
const MACHINE_FOLDERS: [(&str, usize); 5] =
    [("/", 1), ("/opt", 2), ("/srv", 2), ("/usr/local", 4), ("/usr/lib/python3/dist-packages", 1)];
/// Levels of other folders.
const LEVELS: usize = 3;
/// Levels of `.local` in the home folder, for `.local/lib/python3.11/site-packages/x`.
const LOCAL_LEVELS: usize = 5;
/// Folders that are searched below each folder where a search begins.
const MAX_FOLDERS: usize = 600;
/// Limit of the new entries that are returned.
const MAX_FOUND: usize = 1_000;
/// Folders with a program's own data.
const SKIPPED_FOLDERS: [&str; 4] = [".git", ".hg", ".svn", ".jj"];
/// Folders of the kernel and of processes.
const VIRTUAL_FOLDERS: [&str; 5] = ["/proc", "/sys", "/dev", "/run", "/lost+found"];

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
    /// Whether there are more.
    pub is_partial: bool,
}

/// The outermost entries that were created since.
pub fn find_outside(search: &OutsideSearch<'_>) -> OutsideEntries {
    let mut walk = OutsideWalk {
        search,
        seen: HashSet::new(),
        listed: HashSet::new(),
        starts: 0,
        found: Vec::new(),
        is_cut_short: false,
    };
    let shared = || SHARED_FOLDERS.iter().map(|it| (Path::new(*it), LEVELS));
    let own: Vec<(&Path, usize)> = search.home.iter().map(|it| (*it, LEVELS)).chain(shared()).collect();
    let around = search.root.ancestors().skip(1).filter(|it| own.iter().all(|(own, _)| own != it));
    let around = around.filter(|it| it.parent().is_some()).map(|it| (it, LEVELS - 1));
    let machine = MACHINE_FOLDERS.iter().map(|(folder, levels)| (Path::new(*folder), *levels));
    for (folder, levels) in around.chain(own.iter().copied()).chain(machine) {
        walk.starts += 1;
        walk.search_below(folder, levels);
    }
    let OutsideWalk { mut found, listed, is_cut_short, .. } = walk;
    found.retain(|(.., path)| !listed.contains(path));
    found.sort();
    let is_partial = is_cut_short || found.len() > MAX_FOUND;
    OutsideEntries { paths: found.into_iter().take(MAX_FOUND).map(|(.., path)| path).collect(), is_partial }
}

struct OutsideWalk<'a> {
    search: &'a OutsideSearch<'a>,
    seen: HashSet<PathBuf>,
    /// Files of packages that were installed since.
    listed: HashSet<PathBuf>,
    /// The number of searches so far.
    starts: usize,
    /// Each entry with the number of its search and its depth.
    found: Vec<(usize, usize, PathBuf)>,
    /// Whether a search ended because too much was found, before listed files are left out.
    is_cut_short: bool,
}

impl OutsideWalk<'_> {
    /// Searches the folders below `start`, level by level.
    fn search_below(&mut self, start: &Path, levels: usize) {
        let mut queue = VecDeque::from([(start.to_owned(), levels)]);
        let mut remaining = MAX_FOLDERS;
        while let Some((folder, levels)) = queue.pop_front() {
            if self.found.len() > 2 * MAX_FOUND {
                self.is_cut_short = true;
                return;
            }
            if remaining == 0 {
                return;
            }
            remaining -= 1;
            for subfolder in self.visit_entries(&folder, levels) {
                let levels = if self.is_local(&subfolder) { LOCAL_LEVELS } else { levels };
                let levels = levels.saturating_sub(1);
                queue.push_back((subfolder, levels));
            }
        }
    }

    /// Adds the new entries of a folder, and returns its old subfolders if there are more levels.
    fn visit_entries(&mut self, folder: &Path, levels: usize) -> Vec<PathBuf> {
        let Ok(metadata) = fs::symlink_metadata(folder) else { return Vec::new() };
        let since = self.search.since;
        // A new entry updates the change time of its folder, which no program can set back.
        let is_changed = changed_at(&metadata) >= since && access(folder, Access::WRITE_OK).is_ok();
        let is_searched =
            metadata.is_dir() && (is_changed || levels > 1) && self.seen.insert(folder.to_owned());
        let Some(listing) = is_searched.then(|| fs::read_dir(folder).ok()).flatten() else {
            return Vec::new();
        };
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
            // Most entries are old files.
            if !is_changed && !is_folder {
                continue;
            }
            let path = entry.path();
            let class = self.classify(&path);
            if class == PathClass::LeftOut {
                continue;
            }
            let is_new = is_changed
                && class == PathClass::Searched
                && entry.metadata().is_ok_and(|it| can_be_covered(&it) && is_created_since(&it, since));
            if is_new && !is_shared {
                self.found.push((self.starts, path.components().count(), path));
            } else if !is_new && (levels > 1 || class == PathClass::Around) && is_folder {
                subfolders.push(path);
            }
        }
        subfolders
    }

    fn classify(&self, path: &Path) -> PathClass {
        let OutsideSearch { home, root, needed, .. } = self.search;
        let own = || std::iter::once(*root).chain(needed.iter().map(PathBuf::as_path));
        let is_skipped = path.file_name().is_some_and(|name| SKIPPED_FOLDERS.iter().any(|it| name == *it));
        let is_virtual = VIRTUAL_FOLDERS.iter().any(|it| path == Path::new(it));
        if is_skipped || is_virtual || own().any(|it| path.starts_with(it)) {
            return PathClass::LeftOut;
        }
        match home.and_then(|home| path.strip_prefix(home).ok()) {
            Some(below) => classify_in_home(below).max(self.classify_around(path)),
            None => self.classify_around(path),
        }
    }

    fn classify_around(&self, path: &Path) -> PathClass {
        let OutsideSearch { home, root, needed, .. } = self.search;
        let all = std::iter::once(*root).chain(*home).chain(needed.iter().map(PathBuf::as_path));
        let mut all = all.chain(SHARED_FOLDERS.map(Path::new));
        if all.any(|it| it.starts_with(path)) || is_around_packages(path) {
            PathClass::Around
        } else {
            PathClass::Searched
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
