//! Tasks as their files say it, and as the editor shows them. Reads only.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopkeeper_core::task::Check;
use loopkeeper_core::task::{self, Document, Task, TaskId};
use loopkeeper_core::trust::{Item, Runs};

use super::OpenText;
use super::picture::{ConfigSeen, Unknown};
use crate::adapters::config_files;
use crate::adapters::task_files::{self, Found};
use crate::adapters::trust::TrustStore;
use crate::front;
use crate::front::work::Work;

/// One task as it is on disk.
pub(super) struct Saved {
    pub(super) root: PathBuf,
    pub(super) id: TaskId,
    pub(super) path: PathBuf,
    pub(super) documents: Arc<Vec<Document>>,
    pub(super) task: Arc<Task>,
    pub(super) title: String,
    /// Everything a start would need; none where the configuration cannot be taken.
    work: Option<Work>,
}

/// One task with the texts of the editor in place of those on disk.
pub(super) struct Shown {
    pub(super) documents: Arc<Vec<Document>>,
    pub(super) task: Arc<Task>,
    pub(super) live: bool,
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
        let found = task_files::discover(&root, &[], &[]).unwrap_or_default();
        add(root);
        for root in found.iter().filter_map(|it| own_root(&it.path)) {
            add(root);
        }
    }
    for text in open {
        if task::kind_of(&text.path.to_string_lossy()).is_some() {
            own_root(&text.path).into_iter().for_each(&mut add);
        }
    }
    roots
}

/// The tasks of one root that are not another root's.
pub(super) fn of_root(root: &Path) -> Result<Vec<Found>, String> {
    // A configuration that cannot be read hides no task: it is the task that says so.
    let settings = config_files::load(root, &[]).ok().and_then(|it| it.settings().ok().cloned());
    let (exclude, files) = settings.map(|it| (it.task_exclude, it.task_files)).unwrap_or_default();
    let found = task_files::discover(root, &exclude, &files).map_err(|error| error.to_string())?;
    Ok(found.into_iter().filter(|it| own_root(&it.path).is_none_or(|it| it == *root)).collect())
}

fn own_root(document: &Path) -> Option<PathBuf> {
    config_files::root_of(document.parent()?).ok()
}

impl Saved {
    /// `None` where its files cannot be read at all; then there is nothing to show them in.
    pub(super) fn load(root: &Path, found: &Found) -> Result<Self, String> {
        if let Ok(work) = Work::at(root, found) {
            return Ok(Self {
                root: root.to_owned(),
                id: work.id.clone(),
                path: found.path.clone(),
                documents: Arc::clone(&work.documents),
                task: Arc::clone(&work.task),
                title: work.title(),
                work: Some(work),
            });
        }
        let loaded = task_files::load(root, found).map_err(|error| error.to_string())?;
        Ok(Self {
            root: root.to_owned(),
            id: found.id.clone(),
            path: found.path.clone(),
            title: found.id.0.clone(),
            documents: Arc::new(loaded.documents),
            task: Arc::new(loaded.task),
            work: None,
        })
    }

    /// With the text that the editor shows of each document, where it shows one.
    pub(super) fn shown(&self, texts: &[Option<Arc<str>>]) -> Shown {
        let live = texts.iter().any(Option::is_some);
        let texts = || self.documents.iter().zip(texts);
        let is_other = |(document, text): (&Document, &Option<Arc<str>>)| {
            text.as_ref().is_some_and(|it| **it != *document.text)
        };
        if !texts().any(is_other) {
            return Shown { documents: Arc::clone(&self.documents), task: Arc::clone(&self.task), live };
        }
        let shown = |(document, text): (&Document, &Option<Arc<str>>)| Document {
            path: document.path.clone(),
            text: text.as_ref().map_or_else(|| document.text.clone(), |it| it.as_ref().to_owned()),
        };
        let documents: Vec<Document> = texts().map(shown).collect();
        Shown { task: Arc::new(task::read(&documents)), documents: Arc::new(documents), live }
    }

    /// Looks the same as `other`, whatever a start would find.
    pub(super) fn shows(&self, other: &Self) -> bool {
        (&self.root, &self.id, &self.path, &self.title) == (&other.root, &other.id, &other.path, &other.title)
            && self.documents == other.documents
            && self.task == other.task
    }

    /// What of it nobody trusts yet.
    pub(super) fn unknown(&self, trust: &TrustStore) -> Unknown {
        let Some(work) = &self.work else { return Unknown::default() };
        let Ok(items) = front::trust::known_items(work, |_| ()) else { return Unknown::default() };
        let unknown = trust.unknown(&work.root, &items);
        let commands: BTreeSet<&str> = unknown.iter().filter_map(command_of).collect();
        let needs = |check: &Check| matches!(check, Check::Command { command, .. } if commands.contains(command.as_str()));
        let criteria = work.task.criteria.iter().filter(|it| it.check.as_ref().is_some_and(needs));
        Unknown { count: unknown.len(), criteria: criteria.map(|it| it.id.clone()).collect() }
    }
}

fn command_of(item: &Item) -> Option<&str> {
    match &item.runs {
        Runs::Check { command } => Some(command),
        Runs::Request { url } => Some(url),
        Runs::Agent { .. }
        | Runs::Settings { .. }
        | Runs::Server { .. }
        | Runs::Hook { .. }
        | Runs::Surface { .. } => None,
    }
}

/// `loopkeeper.toml`, or the user's own configuration.
pub(crate) fn is_config(path: &Path) -> bool {
    path.ends_with("loopkeeper.toml") || path.ends_with("loopkeeper/config.toml")
}

/// The configuration files of these roots, as the editor shows them.
pub(super) fn configs(
    roots: &[PathBuf],
    open: &[OpenText],
    saved: &BTreeMap<PathBuf, Arc<str>>,
) -> Vec<Arc<ConfigSeen>> {
    let mut texts = saved.clone();
    for text in open.iter().filter(|it| is_config(&it.path)) {
        texts.insert(text.path.clone(), Arc::clone(&text.text));
    }
    let mine = |path: &PathBuf| {
        roots.iter().any(|root| path.starts_with(root)) || open.iter().any(|it| it.path == *path)
    };
    texts
        .into_iter()
        .filter(|(path, _)| mine(path))
        .map(|(path, text)| Arc::new(ConfigSeen { path, text }))
        .collect()
}
