//! Discovers the tasks of a root: a walk by names, with the same ignore rules as the tree, to a bounded depth.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use loopkeeper_task::{DocumentKind, TaskId, kind_of};

use super::gate_files::gate_files;
use super::{DiscoveredTask, TaskFileError, relative};
use crate::config_text;
use crate::snapshots::ignores::{FolderMarkers, IgnoreRules, users_excludes_file};
use crate::work_trees::OtherWorkTrees;

/// Maximum number of path components below the root.
const MAX_DEPTH: usize = 6;

/// The tasks of a root: the most specific first, then those that `[tasks] files` names. Plans belong to every task in
/// their folder; if a root contains only plans, the plans of each folder are a task.
pub fn discover(
    root: &Path,
    exclude: &[String],
    extra_files: &[String],
) -> Result<Vec<DiscoveredTask>, TaskFileError> {
    fs::read_dir(root).map_err(|source| TaskFileError::Read { path: root.to_owned(), source })?;
    let mut rules = IgnoreRules::new(root, users_excludes_file());
    rules.start();
    let mut walk = TaskWalk {
        root,
        exclude: glob_set(exclude)?,
        rules,
        others: OtherWorkTrees::new(root),
        plans_folder: plans_folder(root),
        folders: BTreeMap::new(),
    };
    walk.visit_folder(root, 1);
    let mut tasks = walk.tasks();
    let named: Vec<DiscoveredTask> = extra_files.iter().map(|name| task_at(root, name)).collect();
    for task in named {
        if tasks.iter().all(|(_, found)| found.path != task.path) {
            tasks.push((usize::MAX, task));
        }
    }
    if tasks.is_empty() {
        tasks = walk.plans_alone();
    }
    Ok(tasks.into_iter().map(|(_, found)| found).collect())
}

struct TaskWalk<'a> {
    root: &'a Path,
    exclude: GlobSet,
    rules: IgnoreRules,
    others: OtherWorkTrees<'a>,
    /// The folder for plans according to the configuration of another tool.
    plans_folder: Option<PathBuf>,
    /// The documents of each folder, by kind and name.
    folders: BTreeMap<PathBuf, Vec<(DocumentKind, PathBuf)>>,
}

impl TaskWalk<'_> {
    /// A folder that cannot be read contains no task that could be started.
    fn visit_folder(&mut self, folder: &Path, depth: usize) {
        let Ok(handle) = File::open(folder) else { return };
        let Ok(listing) = fs::read_dir(folder) else { return };
        let entries: Vec<fs::DirEntry> = listing.flatten().collect();
        let has_entry = |name: &str| entries.iter().any(|entry| entry.file_name() == name);
        let markers = FolderMarkers { rules: has_entry(".gitignore"), repository: has_entry(".git") };
        if markers.repository && depth > 1 && self.others.holds(folder) {
            return;
        }
        let entered = self.rules.push_folder(handle.as_fd(), folder.as_os_str().as_bytes(), markers);
        for entry in &entries {
            self.visit_entry(entry, depth);
        }
        self.rules.pop_folder(&entered);
    }

    fn visit_entry(&mut self, entry: &fs::DirEntry, depth: usize) {
        let (path, name) = (entry.path(), entry.file_name());
        let Ok(file_type) = entry.file_type() else { return };
        let is_folder = file_type.is_dir();
        let below = relative(self.root, &path);
        if name == ".git"
            || self.exclude.is_match(&below)
            || self.rules.is_ignored(path.as_os_str().as_bytes(), name.as_bytes(), is_folder)
        {
            return;
        }
        if is_folder {
            if depth < MAX_DEPTH && !is_archive(&path) {
                self.visit_folder(&path, depth + 1);
            }
        } else if let Some(kind) = kind_of(&below).or_else(|| self.kind_by_folder(&path))
            // A link is listed, so that one that leaves the root is refused with a message.
            && (file_type.is_file() || file_type.is_symlink())
            && !kind.is_gates()
            && (has_marker(&path, kind) || kind == DocumentKind::ExecutionPlan && kind_of(&below).is_none())
            && (!kind.needs_text() || has_task_text(self.root, &path, kind))
            && let Some(folder) = path.parent()
        {
            self.folders.entry(folder.to_owned()).or_default().push((kind, path));
        }
    }

    /// A plan in a folder that only a configuration names.
    fn kind_by_folder(&self, path: &Path) -> Option<DocumentKind> {
        let is_there = path.parent() == self.plans_folder.as_deref() && path.extension()? == "md";
        (is_there && loopkeeper_task::has_task_headings(&text_of(self.root, path)?))
            .then_some(DocumentKind::ExecutionPlan)
    }

    fn tasks(&self) -> Vec<(usize, DiscoveredTask)> {
        let mut tasks: Vec<(DocumentKind, usize, DiscoveredTask)> = Vec::new();
        for documents in self.folders.values() {
            let plans = plans(documents);
            for (kind, path) in prompts(documents) {
                tasks.push((*kind, path.components().count(), self.discovered_task(path, plans.clone())));
            }
        }
        tasks.sort_by(|a, b| (a.0, a.1, &a.2.path).cmp(&(b.0, b.1, &b.2.path)));
        tasks.into_iter().map(|(_, depth, found)| (depth, found)).collect()
    }

    fn plans_alone(&self) -> Vec<(usize, DiscoveredTask)> {
        let mut tasks: Vec<(usize, DiscoveredTask)> = Vec::new();
        for documents in self.folders.values() {
            let is_apart = |it: &&(DocumentKind, PathBuf)| it.0.is_apart();
            // Each of these files is a separate task.
            for (_, path) in documents.iter().filter(is_apart) {
                tasks.push((path.components().count(), self.discovered_task(path, Vec::new())));
            }
            let rest: Vec<_> = documents.iter().filter(|it| !is_apart(it)).cloned().collect();
            let mut plans = plans(&rest).into_iter();
            if let Some(first) = plans.next() {
                tasks.push((first.components().count(), self.discovered_task(&first, plans.collect())));
            }
        }
        tasks.sort_by(|a, b| (a.0, &a.1.path).cmp(&(b.0, &b.1.path)));
        tasks
    }

    fn discovered_task(&self, path: &Path, mut plans: Vec<PathBuf>) -> DiscoveredTask {
        plans.extend(named_todo(self.root, path));
        plans.extend(gate_files(self.root, path));
        DiscoveredTask { id: TaskId(relative(self.root, path)), path: path.to_owned(), plans }
    }
}

/// The folder into which a script moves the stories of earlier features, beside those of the present one.
fn is_archive(folder: &Path) -> bool {
    folder.ends_with("archive") && folder.with_file_name("prd.json").symlink_metadata().is_ok()
}

/// The prompt documents of a folder. One for the stories beside it counts only if there is no other.
fn prompts(documents: &[(DocumentKind, PathBuf)]) -> Vec<&(DocumentKind, PathBuf)> {
    let prompts = documents.iter().filter(|it| !it.0.is_plan());
    let (story_prompts, mut prompts): (Vec<_>, Vec<_>) =
        prompts.partition(|it| it.0 == DocumentKind::StoryPrompt);
    if prompts.is_empty() {
        prompts.extend(story_prompts.into_iter().min());
    }
    prompts
}

fn plans(documents: &[(DocumentKind, PathBuf)]) -> Vec<PathBuf> {
    let mut plans: Vec<&(DocumentKind, PathBuf)> =
        documents.iter().filter(|(kind, _)| kind.is_plan() && !kind.is_apart()).collect();
    plans.sort();
    plans.into_iter().map(|(_, path)| path.clone()).collect()
}

/// The task with this document and the plans that are in its folder now, whether or not the document exists, is ignored
/// or excluded.
pub fn task_at(root: &Path, name: &str) -> DiscoveredTask {
    let clean: PathBuf = Path::new(name).components().filter(|part| *part != Component::CurDir).collect();
    let path = root.join(clean);
    let mut documents = Vec::new();
    for entry in path.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten() {
        // Plans are recognised in any folder, and folders can be long: most entries are skipped by name.
        let kind = kind_of(&relative(root, &entry.path())).filter(|it| it.is_plan() && !it.is_gates());
        let Some(kind) = kind.filter(|it| has_marker(&entry.path(), *it)) else { continue };
        let is_folder = entry.file_type().is_ok_and(|file_type| file_type.is_dir());
        let is_plan = || !kind.needs_text() || has_task_text(root, &entry.path(), kind);
        if !is_folder && entry.path() != path && is_plan() {
            documents.push((kind, entry.path()));
        }
    }
    let mut plans = plans(&documents);
    plans.extend(named_todo(root, &path));
    plans.extend(gate_files(root, &path));
    DiscoveredTask { id: TaskId(relative(root, &path)), plans, path }
}

/// `TODO.md` beside a prompt that names it. Notes that have nothing to do with the task would keep its loop running.
fn named_todo(root: &Path, prompt: &Path) -> Option<PathBuf> {
    const NAME: &str = "TODO.md";
    let path = prompt.with_file_name(NAME);
    let is_there = path != prompt && path.symlink_metadata().is_ok();
    let is_named = is_there
        && kind_of(&relative(root, prompt)).is_none_or(|it| !it.is_plan())
        && text_of(root, prompt).is_some_and(|it| it.contains(NAME));
    (is_named && has_task_text(root, &path, DocumentKind::TodoPlan)).then_some(path)
}

/// Whether the files exist by which another tool makes a document of this name a task.
pub fn has_marker(path: &Path, kind: DocumentKind) -> bool {
    let is_beside = |name: &str| path.parent().is_some_and(|it| it.join(name).symlink_metadata().is_ok());
    let is_older = kind == DocumentKind::BeadsIssues && path.ends_with("beads.jsonl");
    if kind.successor().is_some_and(is_beside) || is_older && is_beside("issues.jsonl") {
        return false;
    }
    let Some((up, names)) = kind.markers() else { return true };
    let folder = path.ancestors().nth(up + 1);
    folder.is_some_and(|it| names.iter().any(|name| it.join(name).symlink_metadata().is_ok()))
}

/// Whether the text of a document that needs it makes it a task.
fn has_task_text(root: &Path, path: &Path, kind: DocumentKind) -> bool {
    text_of(root, path).is_some_and(|it| loopkeeper_task::is_task_text(kind, &it))
}

fn text_of(root: &Path, path: &Path) -> Option<String> {
    super::read(root, path).ok().map(|it| String::from_utf8_lossy(&it).into_owned())
}

/// Whether a document is a task only because the configuration of another tool names its folder.
pub fn is_in_plans_folder(root: &Path, path: &Path) -> bool {
    kind_of(&relative(root, path)).is_none() && path.parent().map(Path::to_owned) == plans_folder(root)
}

/// `plans_dir` of `.ralphex/config`, in the root.
pub fn plans_folder(root: &Path) -> Option<PathBuf> {
    let text = config_text::read_text(&root.join(".ralphex/config")).ok().flatten()?;
    let value = text.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "plans_dir").then(|| value.trim().trim_matches(['"', '\'']).trim_start_matches("./"))
    })?;
    let folder = Path::new(value.trim_end_matches('/'));
    let is_below = folder.components().all(|it| matches!(it, Component::Normal(_)));
    (is_below && !value.is_empty()).then(|| root.join(folder))
}

fn glob_set(globs: &[String]) -> Result<GlobSet, TaskFileError> {
    let mut set = GlobSetBuilder::new();
    let failed = |glob: &str| {
        let glob = glob.to_owned();
        |source| TaskFileError::BadGlob { glob, source }
    };
    for glob in globs {
        set.add(GlobBuilder::new(glob).literal_separator(true).build().map_err(failed(glob))?);
    }
    set.build().map_err(failed(&globs.join(", ")))
}
