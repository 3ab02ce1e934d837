//! The state shared by all handlers, cheap to clone as an `Arc`. Every part has its own lock, and no lock is held
//! across an await.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tower_lsp::Client;

use super::capabilities::ResolvedClientCapabilities;
use super::check_processes::CheckProcesses;
use super::documents::{Document, Documents};
use super::early_lens_requests::EarlyLensRequests;
use super::open_questions::OpenQuestions;
use super::project_cache::ProjectCache;
use super::trace::ClientTrace;
use super::trust_pages::TrustPages;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_workspace::{IndexScope, OpenText, TextProvider, WorkspaceIndex};

pub struct ServerState {
    /// Awaiting a send waits for the client to read; the transport resolves every request eventually.
    pub client: Client,
    pub(crate) trace: ClientTrace,
    pub documents: Arc<Documents>,
    session: OnceLock<ResolvedClientCapabilities>,
    index: OnceLock<WorkspaceIndex>,
    folders: Mutex<Vec<PathBuf>>,
    pub(crate) open_questions: OpenQuestions,
    pub(crate) trust_pages: TrustPages,
    pub(crate) early_lens_requests: EarlyLensRequests,
    pub(crate) project_files: ProjectCache,
    pub(crate) check_processes: CheckProcesses,
    /// Sequence number of the last status.
    seq: AtomicU64,
}

impl ServerState {
    pub(crate) fn new(client: Client, trace: ClientTrace) -> Self {
        Self {
            client,
            trace,
            documents: Arc::default(),
            session: OnceLock::new(),
            index: OnceLock::new(),
            folders: Mutex::default(),
            open_questions: OpenQuestions::default(),
            trust_pages: TrustPages::default(),
            early_lens_requests: EarlyLensRequests::default(),
            project_files: ProjectCache::default(),
            check_processes: CheckProcesses::default(),
            seq: AtomicU64::new(0),
        }
    }

    /// The capabilities negotiated in `initialize`; before that, those of a client that supports nothing.
    pub fn session(&self) -> &ResolvedClientCapabilities {
        static NO_CAPABILITIES: OnceLock<ResolvedClientCapabilities> = OnceLock::new();
        self.session.get().unwrap_or_else(|| NO_CAPABILITIES.get_or_init(ResolvedClientCapabilities::default))
    }

    /// Called once, by `initialize`.
    pub fn init_session(&self, session: ResolvedClientCapabilities) {
        self.lock_folders().clone_from(&session.folders);
        let _ = self.session.set(session);
    }

    /// The index of tasks and loops; started by the first call.
    pub(crate) fn index(&self) -> &WorkspaceIndex {
        self.index.get_or_init(|| {
            WorkspaceIndex::start(IndexScope {
                state: Arc::new(StateDir::open),
                folders: self.lock_folders().clone(),
                trusted: self.session().trusted,
                texts: Arc::clone(&self.documents) as Arc<dyn TextProvider>,
            })
        })
    }

    /// Updates the folders that are open.
    pub(crate) fn change_folders(&self, added: Vec<PathBuf>, removed: &[PathBuf]) {
        // Before the folders are locked: the first call reads them.
        let index = self.index();
        let mut folders = self.lock_folders();
        folders.retain(|it| !removed.contains(it) && !added.contains(it));
        folders.extend(added);
        index.set_folders(folders.clone());
    }

    pub(crate) fn current_seq(&self) -> u64 {
        self.seq.load(Ordering::SeqCst)
    }

    pub(crate) fn next_seq(&self) -> u64 {
        self.seq.fetch_add(1, Ordering::SeqCst) + 1
    }

    fn lock_folders(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TextProvider for Documents {
    fn open(&self) -> Vec<OpenText> {
        let text = |it: Arc<Document>| {
            let path = it.path.clone()?;
            Some(OpenText { path, text: Arc::clone(&it.text) })
        };
        self.all().into_iter().filter_map(text).collect()
    }
}
