//! Loads tasks as saved in their files, and replaces them with the texts that are open in the editor. Read-only.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopkeeper_core::settings::LayerKind;
use loopkeeper_core::strays::DuplicateConfiguration;
use loopkeeper_core::trust::{TrustItem, TrustSubject};
use loopkeeper_task::criterion::Check;
use loopkeeper_task::{self as task, DocumentKind, Task, TaskDocument, TaskId};

use super::OpenText;
use super::snapshot::{ConfigSnapshot, TaskSnapshot, UntrustedCommands};
use loopkeeper_operations as operations;
use loopkeeper_operations::leftovers::leftovers;
use loopkeeper_operations::resolved_task::{self, ResolvedTask};
use loopkeeper_system::config_files;
use loopkeeper_system::task_files::{self, DiscoveredTask, LoadedTask};
use loopkeeper_system::trust::TrustStore;

/// One task on disk.
pub(super) struct SavedTask {
    pub(super) root: PathBuf,
    pub(super) id: TaskId,
    pub(super) path: PathBuf,
    pub(super) documents: Arc<Vec<TaskDocument>>,
    pub(super) task: Arc<Task>,
    pub(super) title: String,
    /// Parsed from its documents only.
    loaded: LoadedTask,
    /// Everything needed for a start; `None` if the configuration is invalid.
    work: Option<ResolvedTask>,
    /// Two configurations of one tool next to it.
    pub(super) leftovers: Arc<Vec<DuplicateConfiguration>>,
}

/// One task with the editor's texts in place of those on disk.
pub(super) struct OverlaidTask {
    pub(super) documents: Arc<Vec<TaskDocument>>,
    pub(super) task: Arc<Task>,
    pub(super) live: bool,
}

impl OverlaidTask {
    /// Whether the snapshot was made from the same parsed task.
    pub(super) fn is_parsed_in(&self, snapshot: &TaskSnapshot) -> bool {
        Arc::ptr_eq(&self.task, &snapshot.task) && Arc::ptr_eq(&self.documents, &snapshot.documents)
    }
}

/// The roots of these folders, and of the task documents in them and in the editor.
pub(super) fn roots(folders: &[PathBuf], open: &[OpenText]) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = Vec::new();
    let mut add = |root: PathBuf| {
        if !roots.contains(&root) {
            roots.push(root);
        }
    };
    for folder in folders {
        let Ok(root) = config_files::root_of(folder) else { continue };
        let settings = config_files::load(&root, &[]).ok().and_then(|it| it.settings().ok().cloned());
        let exclude = settings.map_or_else(Vec::new, |it| it.task_exclude.clone());
        let found = task_files::discover(&root, &exclude, &[]).unwrap_or_default();
        add(root);
        for root in found.iter().filter_map(|it| own_root(&it.path)) {
            add(root);
        }
    }
    for text in open {
        let kind = task::kind_of(&text.path.to_string_lossy());
        // `CLAUDE.md` is in folders that are no work tree too.
        if kind.is_some_and(|it| it != DocumentKind::StoryPrompt && task_files::has_marker(&text.path, it)) {
            own_root(&text.path).into_iter().for_each(&mut add);
        }
    }
    roots
}

/// The tasks of one root that do not belong to another root.
pub(super) fn tasks_of_root(root: &Path) -> Result<Vec<DiscoveredTask>, String> {
    // An invalid configuration hides no task: the task reports the error.
    let resolved = config_files::load(root, &[]).ok();
    let settings = resolved.as_ref().and_then(|it| it.settings().ok().cloned()).unwrap_or_default();
    let found = task_files::discover(root, &settings.task_exclude, &settings.task_files)
        .map_err(|error| error.to_string())?;
    Ok(found.into_iter().filter(|it| own_root(&it.path).is_none_or(|it| it == *root)).collect())
}

fn own_root(document: &Path) -> Option<PathBuf> {
    config_files::root_of(document.parent()?).ok()
}

impl SavedTask {
    /// Loads the task, and parses it again if its documents differ from those of `last`. Fails if they cannot be read
    /// at all; then there is no document to show the errors in.
    pub(super) fn load(root: &Path, found: &DiscoveredTask, last: Option<&Self>) -> Result<Self, String> {
        let nothing = LoadedTask::default();
        let loaded = task_files::reload(root, found, last.map_or(&nothing, |it| &it.loaded))
            .map_err(|error| error.to_string())?;
        let leftovers = Arc::new(leftovers(root, &found.id.0));
        if let Ok(work) = ResolvedTask::with_documents(root, found, loaded.clone()) {
            return Ok(Self {
                loaded,
                root: root.to_owned(),
                id: work.id.clone(),
                path: found.path.clone(),
                documents: Arc::clone(&work.documents),
                task: Arc::clone(&work.task),
                title: work.title(),
                work: Some(work),
                leftovers,
            });
        }
        Ok(Self {
            root: root.to_owned(),
            id: found.id.clone(),
            path: found.path.clone(),
            title: found.id.0.clone(),
            documents: Arc::clone(&loaded.documents),
            task: with_environment_findings(root, &loaded),
            loaded,
            work: None,
            leftovers,
        })
    }

    pub(super) fn document_paths(&self) -> impl Iterator<Item = PathBuf> {
        self.documents.iter().map(|it| self.root.join(&it.path))
    }

    /// The task with the editor's text of each document that is open there.
    pub(super) fn with_open_texts(&self, texts: &[Option<Arc<str>>]) -> OverlaidTask {
        let live = texts.iter().any(Option::is_some);
        let texts = || self.documents.iter().zip(texts);
        let is_other = |(document, text): (&TaskDocument, &Option<Arc<str>>)| {
            text.as_ref().is_some_and(|it| **it != *document.text)
        };
        if !texts().any(is_other) {
            return OverlaidTask {
                documents: Arc::clone(&self.documents),
                task: Arc::clone(&self.task),
                live,
            };
        }
        let shown = |(document, text): (&TaskDocument, &Option<Arc<str>>)| TaskDocument {
            path: document.path.clone(),
            text: text.as_ref().map_or_else(|| document.text.clone(), |it| it.as_ref().to_owned()),
        };
        let documents: Vec<TaskDocument> = texts().map(shown).collect();
        let loaded =
            LoadedTask { task: Arc::new(task::parse_task(&documents)), documents: Arc::new(documents) };
        OverlaidTask {
            task: with_environment_findings(&self.root, &loaded),
            documents: loaded.documents,
            live,
        }
    }

    /// Whether both look the same, whatever a start would find.
    pub(super) fn is_same_view(&self, other: &Self) -> bool {
        (&self.root, &self.id, &self.path, &self.title) == (&other.root, &other.id, &other.path, &other.title)
            && self.leftovers == other.leftovers
            && (Arc::ptr_eq(&self.documents, &other.documents) || self.documents == other.documents)
            && (Arc::ptr_eq(&self.task, &other.task) || self.task == other.task)
    }

    /// Its commands that are not trusted.
    pub(super) fn untrusted_commands(&self, trust: &TrustStore) -> UntrustedCommands {
        let Some(work) = &self.work else { return UntrustedCommands::default() };
        let Ok(items) = operations::trust::known_items(work, |_| ()) else {
            return UntrustedCommands::default();
        };
        let unknown: Vec<&TrustItem> = trust.iter_untrusted(&work.root, &items).collect();
        let commands: HashSet<&str> = unknown.iter().copied().filter_map(command_of).collect();
        let needs = |check: &Check| matches!(check, Check::Command { command, .. } if commands.contains(command.as_str()));
        let criteria = work.task.criteria.iter().filter(|it| it.check.as_ref().is_some_and(needs));
        UntrustedCommands { count: unknown.len(), criteria: criteria.map(|it| it.id.clone()).collect() }
    }
}

/// The task with findings that depend on its surroundings: missing context files, settings that the workspace refuses.
fn with_environment_findings(root: &Path, loaded: &LoadedTask) -> Arc<Task> {
    let mut task = Arc::clone(&loaded.task);
    let mut findings = task_files::missing_context(root, &task);
    findings.extend(resolved_task::refused_settings(root, loaded));
    if !findings.is_empty() {
        Arc::make_mut(&mut task).findings.extend(findings);
    }
    task
}

fn command_of(item: &TrustItem) -> Option<&str> {
    match &item.runs {
        TrustSubject::Check { command } => Some(command),
        TrustSubject::Request { url } => Some(url),
        TrustSubject::Agent { .. }
        | TrustSubject::Settings { .. }
        | TrustSubject::Limit { .. }
        | TrustSubject::Server { .. }
        | TrustSubject::Hook { .. }
        | TrustSubject::AgentFile { .. } => None,
    }
}

/// `loopkeeper.toml`, or the user's own configuration.
pub fn is_config(path: &Path) -> bool {
    path.ends_with("loopkeeper.toml") || path.ends_with("loopkeeper/config.toml")
}

/// Whose configuration the file at `path` is: the user's own file may set more.
pub fn config_kind(path: &Path) -> LayerKind {
    if path.ends_with("loopkeeper/config.toml") { LayerKind::User } else { LayerKind::Workspace }
}

/// The configuration files of these roots, as open in the editor.
pub(super) fn configs(
    roots: &[PathBuf],
    open: &[OpenText],
    saved: &BTreeMap<PathBuf, Arc<str>>,
) -> Vec<Arc<ConfigSnapshot>> {
    let mut texts = saved.clone();
    let other_tool_file = |path: &Path| roots.iter().find_map(|it| config_files::other_tool_file(it, path));
    for text in open.iter().filter(|it| is_config(&it.path) || other_tool_file(&it.path).is_some()) {
        texts.insert(text.path.clone(), Arc::clone(&text.text));
    }
    let is_shown = |path: &PathBuf| {
        roots.iter().any(|root| path.starts_with(root)) || open.iter().any(|it| it.path == *path)
    };
    texts
        .into_iter()
        .filter(|(path, _)| is_shown(path))
        .map(|(path, text)| Arc::new(ConfigSnapshot { other_tool: other_tool_file(&path), path, text }))
        .collect()
}
