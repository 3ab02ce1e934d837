//! Generates read-only files that a client opens: outputs, patches, the commands of a task. They are in the state
//! folder with mode 0600; a new file replaces the old one of the same name.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use lsp_types::{ShowDocumentParams, Url};

use super::session::ServerState;
use loopkeeper_operations::failure::Failure;
use loopkeeper_system::durable;
use loopkeeper_system::state_dir::StateDir;

/// Pages older than this are removed.
const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Helix opens documents without announcing it; a version that does not returns an error.
const UNANNOUNCED_CLIENT: &str = "helix";

/// How long an editor may take to open a page.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct VirtualDocuments {
    folder: PathBuf,
}

impl VirtualDocuments {
    /// The pages of one root.
    pub(crate) fn of(root: &Path) -> Result<Self, Failure> {
        let workspace = StateDir::open()?.workspace(root)?;
        let pages = Self { folder: workspace.path().join("pages") };
        pages.remove_old(SystemTime::now());
        Ok(pages)
    }

    /// Removes old pages. All are copies, so the originals are stored elsewhere or were deleted on purpose.
    fn remove_old(&self, now: SystemTime) {
        for page in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let made = page.metadata().and_then(|it| it.modified());
            let age = made.ok().and_then(|it| now.duration_since(it).ok()).unwrap_or_default();
            if age > MAX_AGE {
                let path = page.path();
                // A failed removal is retried by the next call.
                let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path));
            }
        }
    }

    /// Returns the path of a page for another writer; removes an older one.
    pub(crate) fn prepare_path(&self, name: &str) -> Result<PathBuf, Failure> {
        durable::make_folder(&self.folder)?;
        let path = self.folder.join(name);
        let _ = std::fs::remove_file(&path);
        Ok(path)
    }

    pub(crate) fn write_page(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, Failure> {
        self.write_page_below(Path::new(name), bytes)
    }

    /// `name` must consist of plain components: no `..`, no root.
    pub(crate) fn write_page_below(&self, name: &Path, bytes: &[u8]) -> Result<PathBuf, Failure> {
        let path = self.folder.join(name);
        if let Some(folder) = path.parent() {
            durable::make_folder(folder)?;
        }
        durable::replace_shared_file(&path, bytes)?;
        // Editors warn when the user types into a read-only file.
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o400))?;
        Ok(path)
    }
}

pub(crate) fn uri(page: &Path) -> String {
    loopkeeper_view::file_uri(&page.to_string_lossy())
}

/// Opens a page if the client supports it, without taking the focus.
pub(crate) fn open_page(shared: &Arc<ServerState>, uri: &str) {
    let (shared, uri) = (Arc::clone(shared), uri.to_owned());
    tokio::spawn(async move { open_page_and_wait(&shared, &uri).await });
}

/// Opens a page and waits for the reply; `false` if the client did not open it.
pub(crate) async fn open_page_and_wait(shared: &ServerState, uri: &str) -> bool {
    show(shared, uri, ShowTarget::EditorWithoutFocus).await
}

/// Opens a document for editing.
pub(crate) async fn open_for_editing(shared: &ServerState, uri: &str) -> bool {
    show(shared, uri, ShowTarget::EditorWithFocus).await
}

/// Opens a page outside the editor.
pub(crate) fn open_in_browser(shared: &Arc<ServerState>, uri: &str) {
    let (shared, uri) = (Arc::clone(shared), uri.to_owned());
    tokio::spawn(async move { show(&shared, &uri, ShowTarget::Browser).await });
}

#[derive(Clone, Copy)]
enum ShowTarget {
    EditorWithoutFocus,
    EditorWithFocus,
    Browser,
}

async fn show(shared: &ServerState, uri: &str, target: ShowTarget) -> bool {
    let session = shared.session();
    let window = session.client.window.as_ref();
    let announced = window.and_then(|it| it.show_document.as_ref()).is_some_and(|it| it.support);
    let can = announced || session.client_name.as_deref() == Some(UNANNOUNCED_CLIENT);
    let Some(uri) = Url::parse(uri).ok().filter(|_| can) else { return false };
    let (external, take_focus) = match target {
        ShowTarget::EditorWithoutFocus => (None, Some(false)),
        ShowTarget::EditorWithFocus => (None, Some(true)),
        ShowTarget::Browser => (Some(true), None),
    };
    let params = ShowDocumentParams { uri, external, take_focus, selection: None };
    let answer = tokio::time::timeout(OPEN_TIMEOUT, shared.client.show_document(params)).await;
    matches!(answer, Ok(Ok(true)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::SystemTime;

    use super::{MAX_AGE, VirtualDocuments};

    #[test]
    fn old_pages_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let pages = VirtualDocuments { folder: folder.path().join("pages") };
        let page = pages.write_page("commands.txt", b"make").unwrap();
        let below = pages.write_page_below(Path::new("20261120-abcdef-0001/before/a"), b"a").unwrap();
        pages.remove_old(SystemTime::now() + MAX_AGE / 2);
        assert!(page.is_file() && below.is_file());
        pages.remove_old(SystemTime::now() + MAX_AGE * 2);
        assert!(!page.exists() && !below.exists());
        pages.write_page("commands.txt", b"make").unwrap();
    }
}
