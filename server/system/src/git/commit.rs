//! Commits what iterations changed on the branch that is checked out. Uses libgit2: no hook runs, nothing is signed,
//! nothing prompts. The commit contains only the named files, with the bytes of the snapshot; what the user has staged
//! stays staged, and other differences stay as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use git2::{Commit, ErrorClass, ErrorCode, Index, IndexEntry, IndexTime, ObjectType, Oid, Repository, Tree};
use loopkeeper_core::decide::CommitOutcome;
use loopkeeper_text::clauses;
use loopkeeper_text::{sanitize, tr};

use crate::snapshots::TreeEntry;

use super::branch::{current_branch, ensure_index_unlocked, ensure_no_operation, unsupported_filter};
use super::commit_mark::CommitMark;
use super::{special_files, special_message};

const FILE: i32 = 0o100_644;
const EXECUTABLE: i32 = 0o100_755;
const LINK: i32 = 0o120_000;
const FOLDER: i32 = 0o040_000;
const OTHER_REPOSITORY: i32 = 0o160_000;
/// A commit of a keeper that died is at most this far behind HEAD.
const MAX_COMMITS_BACK: usize = 20;
const MAX_NAMED: usize = 3;

/// The commit to make.
pub struct CommitRequest<'a> {
    pub root: &'a Path,
    /// The branch that HEAD must be on.
    pub branch: Option<&'a str>,
    pub iteration: u32,
    pub subject: &'a str,
    pub body: &'a str,
    /// The trailer that identifies the commit.
    pub mark: &'a str,
    /// Exists while the commit is made.
    pub in_progress: &'a Path,
}

/// Commits `paths` (relative to the root) with the contents given by `content_of`. Never fails: the obstacle is
/// returned, and everything stays as it is.
pub fn commit_paths(
    request: &CommitRequest<'_>,
    paths: &BTreeSet<Vec<u8>>,
    content_of: impl FnMut(&[u8]) -> TreeEntry,
) -> CommitOutcome {
    let made = CommitBuilder::new(request).and_then(|it| it.create_commit(paths, content_of));
    let made = made.unwrap_or_else(|note| CommitResult { commit: None, note: Some(note) });
    CommitOutcome {
        iteration: request.iteration,
        subject: made.commit.as_ref().map(|_| request.subject.to_owned()),
        commit: made.commit.map(|it| it.to_string()),
        note: made.note,
    }
}

struct CommitResult {
    commit: Option<Oid>,
    note: Option<String>,
}

type StoredEntry = Option<(Oid, i32)>;
/// Keyed by the path from the top of the work tree.
type StoredEntries = BTreeMap<Vec<u8>, StoredEntry>;

struct CommitBuilder<'a> {
    request: &'a CommitRequest<'a>,
    repo: Repository,
    /// Path of the root from the top of the work tree.
    prefix: Vec<u8>,
    left_out: Vec<String>,
    _in_progress: CommitMark<'a>,
}

impl<'a> CommitBuilder<'a> {
    fn new(request: &'a CommitRequest<'a>) -> Result<Self, String> {
        let repo = super::open(request.root).map_err(|error| {
            let is_none = error.code() == ErrorCode::NotFound && error.class() == ErrorClass::Repository;
            if is_none { tr!("there is no git repository here").to_owned() } else { error_message(&error) }
        })?;
        let top =
            repo.workdir().and_then(|it| it.canonicalize().ok()).ok_or(tr!("the repository here is bare"))?;
        let root = request.root.canonicalize().map_err(|it| it.to_string())?;
        let prefix = root.strip_prefix(&top).map_err(|_| tr!("the folder lies outside its work tree"))?;
        let mut prefix = prefix.as_os_str().as_bytes().to_vec();
        if !prefix.is_empty() {
            prefix.push(b'/');
        }
        ensure_no_operation(&repo)?;
        let in_progress = CommitMark::place(request.in_progress, &repo);
        ensure_index_unlocked(&repo)?;
        let on = current_branch(&repo).map_err(|it| error_message(&it))?;
        match (&on, request.branch) {
            (None, _) => return Err(tr!("HEAD is on no branch (detached)").to_owned()),
            (Some(on), Some(wanted)) if on != wanted => {
                let (on, wanted) = (sanitize::line(on), sanitize::line(wanted));
                return Err(tr!("HEAD is on `{on}`, not on the loop's branch `{wanted}`", on, wanted));
            }
            (Some(_), _) => {}
        }
        Ok(Self { request, repo, prefix, left_out: Vec::new(), _in_progress: in_progress })
    }

    fn create_commit(
        mut self,
        paths: &BTreeSet<Vec<u8>>,
        mut content_of: impl FnMut(&[u8]) -> TreeEntry,
    ) -> Result<CommitResult, String> {
        let repo = self.reopen_repository()?;
        let error = |it: git2::Error| error_message(&it);
        let mut index = repo.index().map_err(error)?;
        if index.has_conflicts() {
            return Err(tr!("the index contains conflicts").to_owned());
        }
        let parent = match repo.head() {
            Ok(head) => Some(head.peel_to_commit().map_err(error)?),
            Err(it) if it.code() == ErrorCode::UnbornBranch => None,
            Err(it) => return Err(error_message(&it)),
        };
        if let Some(made) = parent.as_ref().and_then(|it| self.find_interrupted_commit(it)) {
            return self.finish_commit(&made, &mut index, paths).map_err(error);
        }
        let author = repo
            .signature()
            .map_err(|_| tr!("git has no author; set `git config user.name` and `user.email`").to_owned())?;
        self.ensure_readable_rules(paths)?;
        let base = parent.as_ref().map(Commit::tree).transpose().map_err(error)?;
        let mut entries = StoredEntries::new();
        for path in paths {
            let whole = [self.prefix.as_slice(), path].concat();
            if let Some(entry) = self.new_entry(base.as_ref(), &whole, || content_of(path)).map_err(error)? {
                entries.insert(whole, entry);
            }
        }
        let tree = rebuild_tree(&repo, base.as_ref(), &entries).map_err(error)?;
        let tree = match tree {
            Some(tree) => tree,
            None => repo.treebuilder(None).and_then(|it| it.write()).map_err(error)?,
        };
        let note = self.skipped_note();
        if base.as_ref().map_or(entries.values().all(Option::is_none), |it| it.id() == tree) {
            return Ok(CommitResult { commit: None, note });
        }
        let tree = repo.find_tree(tree).map_err(error)?;
        let message = format!("{}\n\n{}\n\n{}\n", self.request.subject, self.request.body, self.request.mark);
        let parents: Vec<&Commit<'_>> = parent.iter().collect();
        let id = repo.commit(Some("HEAD"), &author, &author, &message, &tree, &parents).map_err(error)?;
        let stale = update_index(&mut index, base.as_ref(), &entries).err();
        let stale =
            stale.map(|it| tr!("the index could not be updated: {error}", error = error_message(&it)));
        let notes = [note, stale].into_iter().flatten();
        let note = Some(clauses::join_clauses(notes)).filter(|it| !it.is_empty());
        Ok(CommitResult { commit: Some(id), note })
    }

    /// Fails if reading the attributes of a path could block.
    fn ensure_readable_rules(&self, paths: &BTreeSet<Vec<u8>>) -> Result<(), String> {
        let Some(top) = self.repo.workdir() else { return Ok(()) };
        let whole =
            |path: &Vec<u8>| PathBuf::from(OsStr::from_bytes(&[self.prefix.as_slice(), path].concat()));
        let whole: Vec<PathBuf> = paths.iter().map(whole).collect();
        match special_files::find_rules(top, whole.iter().map(PathBuf::as_path)) {
            Some(path) => Err(special_message(&path)),
            None => Ok(()),
        }
    }

    /// A second handle, so that `self` can record omitted paths while the first one is borrowed.
    fn reopen_repository(&self) -> Result<Repository, String> {
        Repository::open(self.repo.path()).map_err(|it| error_message(&it))
    }

    /// The commit with our mark, made by a keeper that died before it recorded the commit.
    fn find_interrupted_commit<'r>(&self, head: &Commit<'r>) -> Option<Commit<'r>> {
        let is_ours = |it: &Commit<'_>| {
            it.message_bytes().split(|it| *it == b'\n').any(|line| line == self.request.mark.as_bytes())
        };
        let first_parent = |it: &Commit<'r>| it.parent(0).ok();
        std::iter::successors(Some(head.clone()), first_parent).take(MAX_COMMITS_BACK).find(is_ours)
    }

    /// Completes the work of a keeper that may have died before it updated the index.
    fn finish_commit(
        &self,
        made: &Commit<'_>,
        index: &mut Index,
        paths: &BTreeSet<Vec<u8>>,
    ) -> Result<CommitResult, git2::Error> {
        let (before, now) = (made.parent(0).and_then(|it| it.tree()).ok(), made.tree()?);
        let mut entries = StoredEntries::new();
        for path in paths {
            let whole = [self.prefix.as_slice(), path].concat();
            let entry = stored_entry(Some(&now), &whole);
            entries.insert(whole, entry);
        }
        update_index(index, before.as_ref(), &entries)?;
        Ok(CommitResult { commit: Some(made.id()), note: None })
    }

    /// `None`: the path is left out.
    fn new_entry(
        &mut self,
        base: Option<&Tree<'_>>,
        path: &[u8],
        content_of: impl FnOnce() -> TreeEntry,
    ) -> Result<Option<StoredEntry>, git2::Error> {
        let whole = PathBuf::from(OsStr::from_bytes(path));
        if self.is_in_other_repository(base, &whole) {
            self.leave_out(&whole, tr!("in a separate repository"));
            return Ok(None);
        }
        let old = stored_entry(base, path);
        let (bytes, executable) = match content_of() {
            TreeEntry::Nothing => return Ok(Some(None)),
            TreeEntry::Link(target) => return Ok(Some(Some((self.repo.blob(&target)?, LINK)))),
            TreeEntry::File { bytes, executable } => (bytes, executable),
            TreeEntry::Unknown => {
                self.leave_out(&whole, tr!("too large to be stored"));
                return Ok(None);
            }
        };
        if let Some(filter) = unsupported_filter(&self.repo, &whole) {
            self.leave_out(&whole, &tr!("needs the filter `{filter}`", filter));
            return Ok(None);
        }
        let mut blob = self.repo.blob_writer(Some(&whole))?;
        blob.write_all(&bytes).map_err(|it| git2::Error::from_str(&it.to_string()))?;
        let id = blob.commit()?;
        // If the file system keeps no executable bit, the stored mode counts.
        let trusted = self.repo.config()?.get_bool("core.fileMode").unwrap_or(true);
        let was = old.map(|(_, mode)| mode).filter(|it| *it == EXECUTABLE && !trusted);
        let mode = was.unwrap_or(if executable && trusted { EXECUTABLE } else { FILE });
        Ok(Some(Some((id, mode))))
    }

    /// Whether the path is in a submodule or in a nested repository.
    fn is_in_other_repository(&self, base: Option<&Tree<'_>>, path: &Path) -> bool {
        let Some(top) = self.repo.workdir() else { return true };
        let folders = path.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty());
        let is_linked = |it: &Path| {
            base.and_then(|tree| tree.get_path(it).ok()).is_some_and(|it| it.filemode() == OTHER_REPOSITORY)
        };
        folders.into_iter().any(|it| top.join(it).join(".git").symlink_metadata().is_ok() || is_linked(it))
    }

    fn leave_out(&mut self, path: &Path, why: &str) {
        self.left_out.push(tr!("{path} ({why})", path = sanitize::line(&path.to_string_lossy()), why));
    }

    fn skipped_note(&self) -> Option<String> {
        let named = clauses::list_within(&self.left_out, MAX_NAMED);
        (!named.is_empty()).then(|| tr!("left out: {named}", named))
    }
}

fn error_message(error: &git2::Error) -> String {
    sanitize::line(error.message())
}

fn stored_entry(tree: Option<&Tree<'_>>, path: &[u8]) -> StoredEntry {
    let entry = tree?.get_path(Path::new(OsStr::from_bytes(path))).ok()?;
    (entry.kind() != Some(ObjectType::Tree)).then(|| (entry.id(), entry.filemode()))
}

/// Builds the tree with these entries; `None` if it is empty. Unchanged folders are not opened.
fn rebuild_tree(
    repo: &Repository,
    base: Option<&Tree<'_>>,
    entries: &StoredEntries,
) -> Result<Option<Oid>, git2::Error> {
    let mut folders: BTreeMap<&[u8], StoredEntries> = BTreeMap::new();
    let mut builder = repo.treebuilder(base)?;
    let base_mode = |name: &[u8]| base.and_then(|it| it.get_name_bytes(name)).map(|it| it.filemode());
    for (path, entry) in entries {
        match path.iter().position(|it| *it == b'/') {
            Some(at) => {
                let (name, rest) = path.split_at(at);
                let below = rest.get(1..).unwrap_or_default().to_vec();
                folders.entry(name).or_default().insert(below, *entry);
            }
            // A former file may be replaced by a folder.
            None if entry.is_none() && base_mode(path).is_some_and(|it| it != FOLDER) => {
                builder.remove(path.as_slice())?;
            }
            None => {}
        }
    }
    for (name, below) in folders {
        let old = base.and_then(|it| it.get_name_bytes(name)).filter(|it| it.filemode() == FOLDER);
        let old = old.map(|it| repo.find_tree(it.id())).transpose()?;
        match rebuild_tree(repo, old.as_ref(), &below)? {
            Some(tree) => drop(builder.insert(name, tree, FOLDER)?),
            None if old.is_some() => builder.remove(name)?,
            None => {}
        }
    }
    let files = entries.iter().filter(|(path, _)| !path.contains(&b'/'));
    for (path, entry) in files {
        if let Some((id, mode)) = entry {
            builder.insert(path.as_slice(), *id, *mode)?;
        }
    }
    if builder.is_empty() { Ok(None) } else { builder.write().map(Some) }
}

/// Updates the index entries, except those that the user has staged differently.
fn update_index(
    index: &mut Index,
    before: Option<&Tree<'_>>,
    entries: &StoredEntries,
) -> Result<(), git2::Error> {
    let mut is_changed = false;
    for (path, entry) in entries {
        let old = stored_entry(before, path);
        let staged = index.get_path(Path::new(OsStr::from_bytes(path)), 0);
        let staged = staged.map(|it| (it.id, i32::try_from(it.mode).unwrap_or_default()));
        if staged != old || staged == *entry {
            continue;
        }
        is_changed = true;
        match entry {
            Some((id, mode)) => index.add(&index_entry(path, *id, *mode))?,
            None => index.remove(Path::new(OsStr::from_bytes(path)), 0)?,
        }
    }
    if is_changed { index.write() } else { Ok(()) }
}

/// Without times and sizes git compares the file itself.
fn index_entry(path: &[u8], id: Oid, mode: i32) -> IndexEntry {
    let never = IndexTime::new(0, 0);
    IndexEntry {
        ctime: never,
        mtime: never,
        dev: 0,
        ino: 0,
        mode: mode.cast_unsigned(),
        uid: 0,
        gid: 0,
        file_size: 0,
        id,
        flags: 0,
        flags_extended: 0,
        path: path.to_vec(),
    }
}
