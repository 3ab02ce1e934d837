//! The mutable state of the workspace index and the results of its last update. Blocks, so it runs on a blocking
//! thread.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loopkeeper_text::message::HintedError as _;
use loopkeeper_view as view;

use super::loops::LoopIndex;
use super::results::{self, MergedResults, StandaloneChecks};
use super::snapshot::{LoopSnapshot, TaskSnapshot, UntrustedCommands, WorkspaceProblem, WorkspaceSnapshot};
use super::task_cache::{self, CachedTask, OpenTexts, OverlayKey, ResultsKey};
use super::tasks::{self, SavedTask};
use super::watching::WatchedPaths;
use super::{CHECK_POLL_INTERVAL, Invalidation, OpenState, OpenText, POLL_INTERVAL};
use loopkeeper_operations::foreign::{self, PluginLoopFile};
use loopkeeper_system::snapshots::SnapshotStore;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::lock::TreeHolder;
use loopkeeper_system::state_dir::workspace::Workspace;
use loopkeeper_system::trust::TrustStore;
use loopkeeper_system::{config_files, config_text, task_files};

pub(super) struct IndexState {
    state: OpenState,
    /// The first update covers everything, whatever the invalidation contains.
    is_initialized: bool,
    /// `None` if no usable one exists; `state_problems` has the reason.
    store: Option<StateDir>,
    folders: Vec<PathBuf>,
    trusted: bool,
    /// The roots of the opened folders.
    roots: Vec<PathBuf>,
    root_states: BTreeMap<PathBuf, RootState>,
    saved: Vec<Arc<SavedTask>>,
    /// The documents of the tasks that the last search found, readable or not.
    task_paths: BTreeSet<PathBuf>,
    configs: BTreeMap<PathBuf, Arc<str>>,
    foreign: Vec<PluginLoopFile>,
    loops: LoopIndex,
    /// Keyed by the file that contains them.
    check_logs: BTreeMap<PathBuf, StandaloneChecks>,
    /// Keyed by the task's document.
    untrusted: BTreeMap<PathBuf, Arc<UntrustedCommands>>,
    /// The last known tree of each root, from a snapshot or a round of checks.
    trees: BTreeMap<PathBuf, String>,
    open: Vec<OpenText>,
    /// The newest tree of each task's results.
    result_trees: BTreeMap<PathBuf, String>,
    /// The last rollback of each loop that makes results stale.
    rollbacks: BTreeMap<String, u64>,
    /// In the order of `saved`.
    tasks: Vec<CachedTask>,
    file_problems: Vec<String>,
    state_problems: Vec<String>,
    trust_problem: Option<String>,
}

/// The state folder's data about a root.
#[derive(Default)]
struct RootState {
    workspace: Option<Workspace>,
    /// The holder of the tree.
    holder: Option<TreeHolder>,
}

impl IndexState {
    pub(super) fn new(state: OpenState, folders: Vec<PathBuf>, trusted: bool) -> Self {
        Self {
            state,
            is_initialized: false,
            store: None,
            folders,
            trusted,
            roots: Vec::new(),
            root_states: BTreeMap::new(),
            saved: Vec::new(),
            task_paths: BTreeSet::new(),
            configs: BTreeMap::new(),
            foreign: Vec::new(),
            loops: LoopIndex::default(),
            check_logs: BTreeMap::new(),
            untrusted: BTreeMap::new(),
            trees: BTreeMap::new(),
            open: Vec::new(),
            result_trees: BTreeMap::new(),
            rollbacks: BTreeMap::new(),
            tasks: Vec::new(),
            file_problems: Vec::new(),
            state_problems: Vec::new(),
            trust_problem: None,
        }
    }

    pub(super) fn store(&self) -> Option<&StateDir> {
        self.store.as_ref()
    }

    pub(super) fn set_folders(&mut self, folders: Vec<PathBuf>) {
        self.folders = folders;
    }

    /// Shown until the next update of the state folder's contents.
    pub(super) fn report_problem(&mut self, problem: String) {
        self.state_problems.push(problem);
    }

    /// Whether everything has been read once.
    pub(super) fn is_initialized(&self) -> bool {
        self.is_initialized
    }

    /// Updates what may have changed according to `invalidation`.
    pub(super) fn refresh(&mut self, invalidation: Invalidation, open: Vec<OpenText>) {
        let was_open = |it: &OpenText| self.open.iter().any(|old| old.path == it.path);
        let new_document = open.iter().any(|it| !was_open(it) && !self.has_read(&it.path));
        self.open = open;
        let invalidation = if self.is_initialized { invalidation } else { Invalidation::ALL };
        let files = invalidation.files || new_document;
        if files {
            self.refresh_files();
        }
        let state = files || invalidation.state || invalidation.trust;
        let had_store = self.store.is_some();
        if state {
            self.refresh_loops_and_locks();
        }
        if files || invalidation.trust || (self.store.is_some() && !had_store) {
            self.refresh_trust();
        }
        if state {
            self.rebuild_tasks();
        } else {
            self.apply_overlays();
        }
        self.is_initialized = true;
    }

    /// Whether the last update of files read this one.
    fn has_read(&self, path: &Path) -> bool {
        let names = |saved: &Arc<SavedTask>| saved.document_paths().any(|it| it == *path);
        self.configs.contains_key(path) || self.saved.iter().any(names)
    }

    /// Hashes the trees that results belong to, unless a loop or round works in them.
    pub(super) fn hash_trees(&mut self) {
        let with_results = |it: &&CachedTask| !it.task.results.is_empty() && !self.is_worked_on(&it.task);
        let roots: BTreeSet<PathBuf> =
            self.tasks.iter().filter(with_results).map(|it| it.task.root.clone()).collect();
        for root in roots {
            let Some(workspace) = self.root_states.get(&root).and_then(|it| it.workspace.as_ref()) else {
                continue;
            };
            // An unreadable tree does not count as changed.
            let taken = SnapshotStore::open(&workspace.snapshots(), &root)
                .and_then(|mut store| store.take_snapshot());
            if let Ok(snapshot) = taken {
                self.trees.insert(root, snapshot.tree);
            }
        }
        self.apply_overlays();
    }

    /// Finds the roots of the folders, and the state folder; does not read their contents.
    pub(super) fn find_roots(&mut self) {
        self.roots = self.folders.iter().filter_map(|it| config_files::root_of(it).ok()).collect();
        self.store = (self.state)().ok();
    }

    /// The folders to watch, and the files in them that are read.
    pub(super) fn watched_paths(&self) -> WatchedPaths {
        let mut folders: BTreeSet<PathBuf> = self.roots.iter().cloned().collect();
        folders.extend(self.roots.iter().flat_map(|it| [".ralph", ".claude"].map(|name| it.join(name))));
        let mut documents = self.task_paths.clone();
        documents.extend(self.saved.iter().flat_map(|it| it.document_paths()));
        documents.extend(self.roots.iter().flat_map(|it| config_files::other_tool_paths(it)));
        folders.extend(documents.iter().filter_map(|it| it.parent()).map(Path::to_owned));
        let plan_folders: BTreeSet<PathBuf> =
            self.roots.iter().filter_map(|it| task_files::plans_folder(it)).collect();
        folders.extend(plan_folders.iter().cloned());
        if let Some(store) = &self.store {
            folders.extend([store.trust(), store.workspaces_dir(), store.tree_locks_dir()]);
            for folder in self.roots.iter().map(|it| store.workspace_folder(it)) {
                folders.extend([folder.join("loops"), folder.join("checks"), folder]);
            }
        }
        folders.extend(self.loops.open_folders().map(Path::to_owned));
        WatchedPaths { folders, documents, plan_folders }
    }

    /// Polling interval while something runs that may end without an event.
    pub(super) fn poll_interval(&self) -> Option<Duration> {
        let alive = |it: &Arc<LoopSnapshot>| it.state.outcome().is_none() && it.status.keeper.alive;
        if self.tasks.iter().any(|it| it.base.checking) {
            return Some(CHECK_POLL_INTERVAL);
        }
        self.loops.in_order().iter().any(alive).then_some(POLL_INTERVAL)
    }

    pub(super) fn snapshot(&self) -> WorkspaceSnapshot {
        let of_state =
            self.state_problems.iter().chain(&self.trust_problem).cloned().map(WorkspaceProblem::State);
        let mut problems = of_state.chain(self.file_problems.iter().cloned().map(WorkspaceProblem::Files));
        WorkspaceSnapshot {
            roots: self.roots.clone(),
            tasks: self.tasks.iter().map(|it| Arc::clone(&it.task)).collect(),
            loops: self.loops.in_order(),
            configs: tasks::configs(&self.roots, &self.open, &self.configs),
            foreign: self.foreign.clone(),
            trusted: self.trusted,
            problem: problems.next(),
            answers: 0,
            is_complete: true,
        }
    }

    fn refresh_files(&mut self) {
        self.roots = tasks::roots(&self.folders, &self.open);
        self.file_problems.clear();
        let last = std::mem::take(&mut self.saved);
        self.task_paths.clear();
        self.configs.clear();
        self.foreign = self.roots.iter().filter_map(|it| foreign::find_in(it)).collect();
        for root in &self.roots {
            let path = root.join("loopkeeper.toml");
            if let Ok(Some(text)) = config_text::read_text(&path) {
                self.configs.insert(path, text.into());
            }
            let found = tasks::tasks_of_root(root).unwrap_or_else(|problem| {
                self.file_problems.push(problem);
                Vec::new()
            });
            for found in found {
                self.task_paths.insert(found.path.clone());
                let last = last.iter().find(|it| it.path == found.path);
                match SavedTask::load(root, &found, last.map(|it| &**it)) {
                    Ok(saved) => self.saved.push(Arc::new(saved)),
                    Err(problem) => self.file_problems.push(problem),
                }
            }
        }
    }

    fn refresh_loops_and_locks(&mut self) {
        // Opened again each time: the folder may have been repaired, deleted or exposed to others since.
        self.store = None;
        self.root_states.clear();
        match (self.state)() {
            Ok(store) => {
                self.state_problems = self.loops.refresh(&store, &self.roots);
                for root in &self.roots {
                    let holder = store.tree_holder(root).ok().flatten().map(|(holder, _)| holder);
                    let root_state = RootState { workspace: store.known_workspace(root), holder };
                    self.root_states.insert(root.clone(), root_state);
                }
                self.store = Some(store);
            }
            Err(error) => self.state_problems = vec![error.to_message().sentences()],
        }
    }

    fn refresh_trust(&mut self) {
        // Without a state folder nothing can be started, and the previous data stays.
        let Some(trust) = self.store.as_ref().map(TrustStore::open) else { return };
        self.trust_problem = trust.load_error().map(ToString::to_string);
        self.untrusted =
            self.saved.iter().map(|it| (it.path.clone(), Arc::new(it.untrusted_commands(&trust)))).collect();
    }

    /// Rebuilds the tasks whose inputs changed.
    fn rebuild_tasks(&mut self) {
        let loops = self.loops.in_order();
        let before = std::mem::take(&mut self.tasks).into_iter();
        let mut before: BTreeMap<PathBuf, CachedTask> = before.map(|it| (it.task.path.clone(), it)).collect();
        let mut parts = Vec::new();
        for saved in self.saved.clone() {
            let cached = before.remove(&saved.path);
            let base = self.results_key(saved, &loops);
            let cached = cached.filter(|it| it.base.is_same_key(&base));
            let latest = cached.is_none().then(|| self.latest_results(&base));
            parts.push((base, cached, latest));
        }
        let checked: BTreeSet<PathBuf> =
            parts.iter().filter_map(|it| self.check_log_path(&it.0.saved)).collect();
        self.check_logs.retain(|path, _| checked.contains(path));
        // Trees are now known that only the results of a later task contained.
        let open = self.open_texts();
        let build = |(base, cached, latest)| self.build_task(base, cached, latest, &open);
        self.tasks = parts.into_iter().map(build).collect();
    }

    /// Combines tasks and results with the texts in the editor and the current trees.
    fn apply_overlays(&mut self) {
        let open = self.open_texts();
        let before = std::mem::take(&mut self.tasks).into_iter();
        let build = |it: CachedTask| self.build_task(it.base.clone(), Some(it), None, &open);
        self.tasks = before.map(build).collect();
    }

    fn open_texts(&self) -> OpenTexts {
        self.open.iter().map(|it| (it.path.clone(), Arc::clone(&it.text))).collect()
    }

    fn results_key(&mut self, saved: Arc<SavedTask>, loops: &[Arc<LoopSnapshot>]) -> ResultsKey {
        let is_of_task =
            |it: &&Arc<LoopSnapshot>| it.state.spec.task == saved.id && it.dir.root() == saved.root;
        let open = loops.iter().filter(is_of_task).find(|it| it.state.outcome().is_none());
        let last_loop = open.or_else(|| loops.iter().find(is_of_task)).cloned();
        let alone = self.check_log_path(&saved).map(|path| {
            let alone = self.check_logs.entry(path.clone()).or_insert_with(|| StandaloneChecks::new(&path));
            alone.reload();
            alone.version()
        });
        let holder = self.root_states.get(&saved.root).and_then(|it| it.holder.as_ref());
        let checking = matches!(holder, Some(TreeHolder::Checks { task }) if *task == saved.id.0);
        ResultsKey { saved, last_loop, round_version: alone.unwrap_or_default(), checking }
    }

    /// The file of its stand-alone checks.
    fn check_log_path(&self, saved: &SavedTask) -> Option<PathBuf> {
        Some(self.root_states.get(&saved.root)?.workspace.as_ref()?.checks(&saved.id))
    }

    /// The results for a new base: its round saw the tree later than this index did.
    fn latest_results(&mut self, base: &ResultsKey) -> MergedResults {
        let alone = self.check_log_path(&base.saved).and_then(|it| self.check_logs.get(&it));
        let latest = results::merge_latest(alone, base.last_loop.as_deref());
        let before = self.result_trees.insert(base.saved.path.clone(), latest.tree.clone());
        if !latest.tree.is_empty() && before.as_ref() != Some(&latest.tree) {
            self.trees.insert(base.saved.root.clone(), latest.tree.clone());
        }
        if let Some(it) = base.last_loop.as_ref().filter(|it| it.status.stale)
            && let Some(rollback) = it.state.rollback.last.as_ref().map(|it| it.seq)
            && self.rollbacks.insert(it.status.id.clone(), rollback) != Some(rollback)
        {
            // A rollback by another program also changed the tree just now.
            self.trees.insert(base.saved.root.clone(), it.state.tree.last.clone());
        }
        latest
    }

    fn build_task(
        &self,
        base: ResultsKey,
        cached: Option<CachedTask>,
        latest: Option<MergedResults>,
        open: &OpenTexts,
    ) -> CachedTask {
        let saved = Arc::clone(&base.saved);
        let overlay = OverlayKey {
            texts: task_cache::open_texts(&saved, open),
            untrusted: self.untrusted.get(&saved.path).cloned().unwrap_or_default(),
            tree: self.trees.get(&saved.root).filter(|_| !base.is_at_work()).cloned(),
        };
        let previous = cached.as_ref().map(|it| Arc::clone(&it.task));
        let latest = match cached {
            Some(cached) if cached.overlay.is_same_key(&overlay) => return CachedTask { base, ..cached },
            Some(cached) => cached.latest,
            None => latest.unwrap_or_default(),
        };
        let mut results = latest.results.clone();
        for held in results.values_mut() {
            let now = overlay.tree.as_ref();
            held.stale = now.is_some_and(|now| !held.tree.is_empty() && held.tree != *now);
        }
        let shown = saved.with_open_texts(&overlay.texts);
        let lints =
            previous.filter(|it| shown.is_parsed_in(it)).map(|it| it.lints.clone()).unwrap_or_default();
        let task = Arc::new(TaskSnapshot {
            root: saved.root.clone(),
            id: saved.id.clone(),
            uri: view::file_uri(&saved.path.to_string_lossy()),
            path: saved.path.clone(),
            title: saved.title.clone(),
            task: shown.task,
            documents: shown.documents,
            lints,
            live: shown.live,
            texts: overlay.texts.clone(),
            results,
            last_loop: base.last_loop.clone(),
            checking: base.checking,
            rounds: base.round_version,
            untrusted: Arc::clone(&overlay.untrusted),
            leftovers: Arc::clone(&saved.leftovers),
        });
        CachedTask { base, latest, overlay, task }
    }

    fn is_worked_on(&self, task: &TaskSnapshot) -> bool {
        let alive = |it: &Arc<LoopSnapshot>| it.dir.root() == task.root && it.status.keeper.alive;
        task.checking || self.loops.in_order().iter().any(alive)
    }
}
