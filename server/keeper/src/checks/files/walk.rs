//! Walks the tree under the root. Links are followed within the root and never out of it; a folder with several names
//! is walked once.

use loopkeeper_text::tr;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::glob::FileGlob;
use loopkeeper_system::work_trees::OtherWorkTrees;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    File,
    Folder,
    /// A link that is dangling or leads out of the root, a socket, a pipe, a device.
    Other,
}

#[derive(Debug, Clone)]
pub(super) struct WalkEntry {
    /// Path relative to the root.
    pub(super) path: PathBuf,
    pub(super) kind: FileKind,
    link: bool,
}

impl WalkEntry {
    /// The path for messages.
    pub(super) fn name(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }
}

#[derive(Debug)]
pub(super) struct GlobWalk<'a> {
    root: &'a Path,
    others: OtherWorkTrees<'a>,
    globs: Vec<FileGlob>,
    stop: &'a AtomicBool,
}

impl<'a> GlobWalk<'a> {
    /// `root` must be a canonical path.
    pub(super) fn new(root: &'a Path, globs: &[String], stop: &'a AtomicBool) -> Result<Self, String> {
        let globs = globs.iter().map(|it| FileGlob::new(it)).collect::<Result<Vec<_>, _>>()?;
        if globs.is_empty() {
            Err(tr!("no file is named").to_owned())
        } else {
            Ok(Self { root, others: OtherWorkTrees::new(root), globs, stop })
        }
    }

    pub(super) fn root(&self) -> &Path {
        self.root
    }

    pub(super) fn globs(&self) -> &[FileGlob] {
        &self.globs
    }

    /// Calls `visit` for matches of the glob in a deterministic order while it returns `true`. Returns a description of
    /// the first entry that could not be read; the error means that the walk was stopped.
    pub(super) fn for_each_match(
        &self,
        glob: &FileGlob,
        mut visit: impl FnMut(&WalkEntry) -> bool,
    ) -> Result<Option<String>, String> {
        let mut problem = None;
        match self.entry(&glob.path) {
            Ok(Some(entry)) if !visit(&entry) => return Ok(None),
            Ok(_) => {}
            Err(reason) => problem = Some(reason),
        }
        if glob.literal {
            return Ok(problem);
        }
        let mut open = PendingFolders::new(&glob.base);
        while let Some(folder) = open.next() {
            let entries = self.canonical_folder(&folder, &mut open.seen).and_then(|it| match it {
                Some(real) => self.children(&folder, &real),
                None => Ok(Vec::new()),
            });
            let entries = entries.unwrap_or_else(|reason| {
                problem.get_or_insert(reason);
                Vec::new()
            });
            for entry in &entries {
                self.check_stop()?;
                if entry.path != glob.path && glob.matches(&entry.path) && !visit(entry) {
                    return Ok(None);
                }
            }
            open.add(entries);
        }
        Ok(problem)
    }

    pub(super) fn check_stop(&self) -> Result<(), String> {
        if self.stop.load(Ordering::Relaxed) { Err(tr!("stopped").to_owned()) } else { Ok(()) }
    }

    /// The folder's canonical path; `None` if it does not exist, is no folder, or is walked under another name.
    fn canonical_folder(
        &self,
        folder: &Path,
        seen: &mut HashSet<PathBuf>,
    ) -> Result<Option<PathBuf>, String> {
        let real = match self.root.join(folder).canonicalize() {
            Ok(real) => real,
            Err(error) if is_absence(&error) => return Ok(None),
            Err(error) => return Err(read_error(folder, &error)),
        };
        if !real.is_dir() {
            return Ok(None);
        }
        if !self.is_inside_root(&real) {
            return Err(tr!("{folder} leads out of the root", folder = folder.to_string_lossy()));
        }
        let is_base = seen.is_empty();
        // A link to an ancestor is a cycle and leads out of the glob's base.
        let is_circle = !is_base && self.parent(folder).is_some_and(|it| it.starts_with(&real));
        Ok((!is_circle && seen.insert(real.clone())).then_some(real))
    }

    fn parent(&self, folder: &Path) -> Option<PathBuf> {
        self.root.join(folder.parent()?).canonicalize().ok()
    }

    fn children(&self, folder: &Path, real: &Path) -> Result<Vec<WalkEntry>, String> {
        let problem = |error: std::io::Error| read_error(folder, &error);
        let mut names = Vec::new();
        for entry in fs::read_dir(real).map_err(problem)? {
            names.push(entry.map_err(problem)?.file_name());
        }
        if names.iter().any(|it| it == ".git") && real != self.root && self.others.holds(real) {
            return Ok(Vec::new());
        }
        names.retain(|it| it != ".git");
        names.sort();
        let entries = names.iter().map(|it| self.entry(&folder.join(it)));
        entries.filter_map(Result::transpose).collect()
    }

    /// The entry at this path, if any.
    fn entry(&self, path: &Path) -> Result<Option<WalkEntry>, String> {
        let at = self.root.join(path);
        let own = match fs::symlink_metadata(&at) {
            Ok(metadata) => metadata.file_type(),
            Err(error) if is_absence(&error) => return Ok(None),
            Err(error) => return Err(read_error(path, &error)),
        };
        let target = at.canonicalize().ok().filter(|it| self.is_inside_root(it));
        let kind = match target.and_then(|it| fs::symlink_metadata(it).ok()).map(|it| it.file_type()) {
            Some(target) if target.is_file() => FileKind::File,
            Some(target) if target.is_dir() => FileKind::Folder,
            _ => FileKind::Other,
        };
        Ok(Some(WalkEntry { path: path.to_path_buf(), kind, link: own.is_symlink() }))
    }

    /// Whether a canonical path is inside the root and not in `.git`.
    fn is_inside_root(&self, real: &Path) -> bool {
        let below = real.strip_prefix(self.root);
        below.is_ok_and(|it| it.components().all(|part| part.as_os_str() != ".git"))
    }
}

/// Folders still to walk. Links come last, so that their targets within the walk are visited under their own names.
struct PendingFolders {
    folders: Vec<PathBuf>,
    links: Vec<PathBuf>,
    seen: HashSet<PathBuf>,
}

impl PendingFolders {
    fn new(base: &Path) -> Self {
        Self { folders: vec![base.to_path_buf()], links: Vec::new(), seen: HashSet::new() }
    }

    fn next(&mut self) -> Option<PathBuf> {
        self.folders.pop().or_else(|| self.links.pop())
    }

    fn add(&mut self, entries: Vec<WalkEntry>) {
        // Popped from the end, so they are pushed in reverse order.
        for WalkEntry { path, kind, link } in entries.into_iter().rev() {
            match (kind, link) {
                (FileKind::Folder, false) => self.folders.push(path),
                (FileKind::Folder, true) => self.links.push(path),
                _ => {}
            }
        }
    }
}

fn is_absence(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

fn read_error(path: &Path, error: &std::io::Error) -> String {
    match path.to_string_lossy() {
        path if path.is_empty() => tr!("could not read the root: {error}", error),
        path => tr!("could not read {path}: {error}", path, error),
    }
}
