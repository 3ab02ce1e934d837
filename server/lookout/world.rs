//! Everything that is looked at, and what the last look found. Blocks: lives on a thread that may.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopkeeper_core::task::CriterionId;
use loopkeeper_core::view;

use super::loops::Loops;
use super::picture::{Held, LoopSeen, Picture, TaskSeen, Unknown};
use super::results::{self, Alone};
use super::tasks::{self, Saved};
use super::{Nudge, OpenText};
use crate::adapters::config_files;
use crate::adapters::snapshots::Store;
use crate::adapters::state_dir::StateDir;
use crate::adapters::trust::TrustStore;

pub(super) struct World {
    store: StateDir,
    folders: Vec<PathBuf>,
    trusted: bool,
    roots: Vec<PathBuf>,
    saved: Vec<Arc<Saved>>,
    configs: BTreeMap<PathBuf, Arc<str>>,
    loops: Loops,
    /// By the file that holds them.
    alone: BTreeMap<PathBuf, Alone>,
    /// By the task's document.
    unknown: BTreeMap<PathBuf, Unknown>,
    /// The tree of each root as last seen, by a look or by a round of checks.
    trees: BTreeMap<PathBuf, String>,
    /// The newest tree that each task's results speak of.
    judged: BTreeMap<PathBuf, String>,
    open: Vec<OpenText>,
    tasks: Vec<Arc<TaskSeen>>,
    file_troubles: Vec<String>,
    state_troubles: Vec<String>,
}

impl World {
    pub(super) fn new(store: StateDir, folders: Vec<PathBuf>, trusted: bool) -> Self {
        Self {
            store,
            folders,
            trusted,
            roots: Vec::new(),
            saved: Vec::new(),
            configs: BTreeMap::new(),
            loops: Loops::default(),
            alone: BTreeMap::new(),
            unknown: BTreeMap::new(),
            trees: BTreeMap::new(),
            judged: BTreeMap::new(),
            open: Vec::new(),
            tasks: Vec::new(),
            file_troubles: Vec::new(),
            state_troubles: Vec::new(),
        }
    }

    pub(super) fn store(&self) -> &StateDir {
        &self.store
    }

    pub(super) fn set_folders(&mut self, folders: Vec<PathBuf>) {
        self.folders = folders;
    }

    /// Said until the next look at what the state folder holds.
    pub(super) fn trouble(&mut self, trouble: String) {
        self.state_troubles.push(trouble);
    }

    /// Looks at what `nudge` says may have changed.
    pub(super) fn look(&mut self, nudge: Nudge, open: &[OpenText]) {
        let new_document = open.iter().any(|it| !self.open.iter().any(|old| old.path == it.path));
        self.open = open.to_vec();
        let files = nudge.files || new_document;
        if files {
            self.look_at_files();
        }
        if files || nudge.state {
            self.state_troubles = self.loops.look(&self.store, &self.roots);
            self.look_at_trust();
        }
        self.put_together();
    }

    /// Hashes the trees that results speak of, where nobody is at work in them.
    pub(super) fn look_at_trees(&mut self) {
        let with_results = |it: &&Arc<TaskSeen>| !it.results.is_empty() && !self.is_worked_on(it);
        let roots: BTreeSet<PathBuf> =
            self.tasks.iter().filter(with_results).map(|it| it.root.clone()).collect();
        for root in roots {
            let Some(workspace) = self.store.known_workspace(&root) else { continue };
            // A tree that cannot be read now was not seen to change.
            let taken = Store::open(&workspace.snapshots(), &root).and_then(|mut store| store.take());
            if let Ok(snapshot) = taken {
                self.trees.insert(root, snapshot.tree);
            }
        }
        self.put_together();
    }

    /// Folders in which something may happen that matters.
    pub(super) fn places(&self) -> BTreeSet<PathBuf> {
        let mut places: BTreeSet<PathBuf> = self.roots.iter().cloned().collect();
        places.extend(self.roots.iter().map(|it| it.join(".ralph")));
        places.extend(self.saved.iter().filter_map(|it| it.path.parent()).map(Path::to_owned));
        places.extend([self.store.trust(), self.store.workspaces_dir()]);
        for workspace in self.roots.iter().filter_map(|it| self.store.known_workspace(it)) {
            places.extend(["loops", "checks"].map(|it| workspace.path().join(it)));
        }
        let open = self.loops.in_order().into_iter().filter(|it| it.state.outcome.is_none());
        places.extend(open.map(|it| it.dir.path().to_owned()));
        places
    }

    /// Something is at work that may end without a sign.
    pub(super) fn is_busy(&self) -> bool {
        let alive = |it: &Arc<LoopSeen>| it.state.outcome.is_none() && it.status.keeper.alive;
        self.tasks.iter().any(|it| it.checking) || self.loops.in_order().iter().any(alive)
    }

    pub(super) fn picture(&self) -> Picture {
        let troubles: Vec<String> = self.file_troubles.iter().chain(&self.state_troubles).cloned().collect();
        Picture {
            roots: self.roots.clone(),
            tasks: self.tasks.clone(),
            loops: self.loops.in_order(),
            configs: tasks::configs(&self.roots, &self.open, &self.configs),
            trusted: self.trusted,
            trouble: troubles.first().cloned(),
            looked: true,
        }
    }

    fn look_at_files(&mut self) {
        self.roots = tasks::roots(&self.folders, &self.open);
        self.file_troubles.clear();
        self.saved.clear();
        self.configs.clear();
        for root in &self.roots {
            let path = root.join("loopkeeper.toml");
            if let Ok(Some(text)) = config_files::read_text(&path) {
                self.configs.insert(path, text.into());
            }
            let found = tasks::of_root(root).unwrap_or_else(|trouble| {
                self.file_troubles.push(trouble);
                Vec::new()
            });
            for found in found {
                match Saved::load(root, &found) {
                    Ok(saved) => self.saved.push(Arc::new(saved)),
                    Err(trouble) => self.file_troubles.push(trouble),
                }
            }
        }
    }

    fn look_at_trust(&mut self) {
        let trust = TrustStore::open(&self.store);
        self.state_troubles.extend(trust.trouble().map(ToString::to_string));
        self.unknown = self.saved.iter().map(|it| (it.path.clone(), it.unknown(&trust))).collect();
    }

    fn put_together(&mut self) {
        let loops = self.loops.in_order();
        let saved = self.saved.clone();
        self.tasks = saved.iter().map(|it| Arc::new(self.seen(it, &loops))).collect();
    }

    fn seen(&mut self, saved: &Saved, loops: &[Arc<LoopSeen>]) -> TaskSeen {
        let shown = saved.shown(&self.open);
        let mine = |it: &&Arc<LoopSeen>| it.state.spec.task == saved.id && it.dir.root() == saved.root;
        let open = loops.iter().filter(mine).find(|it| it.state.outcome.is_none());
        let last_loop = open.or_else(|| loops.iter().find(mine)).cloned();
        let holder = self.store.tree_holder(&saved.root).ok().flatten().map(|(holder, _)| holder);
        let results = self.results(saved, last_loop.as_deref());
        TaskSeen {
            root: saved.root.clone(),
            id: saved.id.clone(),
            uri: view::file_uri(&saved.path.to_string_lossy()),
            path: saved.path.clone(),
            title: saved.title.clone(),
            task: shown.task,
            documents: shown.documents,
            live: shown.live,
            results,
            last_loop,
            checking: holder.is_some_and(|it| it == format!("checks of {}", saved.id.0)),
            unknown: self.unknown.get(&saved.path).cloned().unwrap_or_default(),
        }
    }

    fn results(&mut self, saved: &Saved, last_loop: Option<&LoopSeen>) -> BTreeMap<CriterionId, Held> {
        let checks = self.store.known_workspace(&saved.root).map(|it| it.checks(&saved.id));
        let alone = checks.map(|path| {
            let alone = self.alone.entry(path.clone()).or_insert_with(|| Alone::new(&path));
            alone.look();
            &*alone
        });
        let results::Latest { mut results, tree } = results::latest(alone, last_loop);
        if !tree.is_empty() && self.judged.get(&saved.path) != Some(&tree) {
            // A round that just ended saw the tree later than we did.
            self.trees.insert(saved.root.clone(), tree.clone());
            self.judged.insert(saved.path.clone(), tree);
        }
        let at_work = last_loop.is_some_and(|it| it.state.outcome.is_none() && it.status.keeper.alive);
        let now = self.trees.get(&saved.root).filter(|_| !at_work);
        for held in results.values_mut() {
            held.stale = now.is_some_and(|now| !held.tree.is_empty() && held.tree != *now);
        }
        results
    }

    fn is_worked_on(&self, task: &TaskSeen) -> bool {
        let alive = |it: &Arc<LoopSeen>| it.dir.root() == task.root && it.status.keeper.alive;
        task.checking || self.loops.in_order().iter().any(alive)
    }
}
