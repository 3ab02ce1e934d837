//! Holds the documents that are open in the editor: their text, version, and whether they differ from the file. Runs
//! use the saved files; this is for ranges and for refusing to start on unsaved changes.

pub mod positions;

use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loopkeeper_system::regular_file;
use lsp_types::{TextDocumentContentChangeEvent, Url};

use self::positions::{Encoding, LinePositions};

/// A larger file is not treated as a document.
const MAX_BYTES: u64 = 16 << 20;

/// One version of an open document. Immutable, so every holder has one consistent text.
#[derive(Debug)]
pub struct Document {
    pub uri: Url,
    /// The file's path with its folder canonicalized, as of this version. `None` if it is not a file.
    pub path: Option<PathBuf>,
    pub version: i32,
    pub text: Arc<str>,
    pub lines: LinePositions,
    /// The file's text when it was last opened or saved.
    saved: Arc<str>,
}

impl Document {
    /// Whether the user has changes that a run would not use.
    pub fn is_dirty(&self) -> bool {
        !is_same(&self.text, &self.saved)
            // An editor that reloads a file reports that as a change.
            && !on_disk(&self.uri).is_some_and(|it| is_same(&self.text, &it))
    }

    fn new(uri: Url, version: i32, text: Arc<str>, saved: Arc<str>) -> Arc<Self> {
        let lines = LinePositions::of(&text);
        let path = file_path(&uri).map(|it| canonical_parent_path(&it));
        Arc::new(Self { uri, path, version, text, lines, saved })
    }
}

#[derive(Default)]
pub struct Documents {
    open: Mutex<HashMap<Url, Arc<Document>>>,
}

impl Documents {
    pub fn get(&self, uri: &Url) -> Option<Arc<Document>> {
        self.lock_documents().get(uri).cloned()
    }

    pub fn all(&self) -> Vec<Arc<Document>> {
        self.lock_documents().values().cloned().collect()
    }

    /// An editor may open a document with unsaved changes restored from its last session.
    pub(crate) fn open(&self, uri: Url, version: i32, text: String) {
        let text: Arc<str> = text.into();
        let saved = on_disk(&uri).map_or_else(|| Arc::clone(&text), Arc::from);
        self.lock_documents().insert(uri.clone(), Document::new(uri, version, text, saved));
    }

    /// Full text was negotiated; a range from a client that ignores this is applied nevertheless.
    pub(crate) fn change(
        &self,
        uri: &Url,
        version: i32,
        changes: &[TextDocumentContentChangeEvent],
        encoding: Encoding,
    ) {
        let Some(before) = self.get(uri) else { return };
        let mut text = before.text.to_string();
        for change in changes {
            match change.range {
                None => text.clone_from(&change.text),
                Some(range) => {
                    let bytes = LinePositions::of(&text).bytes(&text, range, encoding);
                    text.replace_range(bytes, &change.text);
                }
            }
        }
        let after = Document::new(uri.clone(), version, text.into(), Arc::clone(&before.saved));
        self.lock_documents().insert(uri.clone(), after);
    }

    pub(crate) fn save(&self, uri: &Url) {
        let Some(it) = self.get(uri) else { return };
        let saved = Document::new(uri.clone(), it.version, Arc::clone(&it.text), Arc::clone(&it.text));
        self.lock_documents().insert(uri.clone(), saved);
    }

    pub(crate) fn close(&self, uri: &Url) {
        self.lock_documents().remove(uri);
    }

    fn lock_documents(&self) -> MutexGuard<'_, HashMap<Url, Arc<Document>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The file behind a document, decoded as editors do.
fn on_disk(uri: &Url) -> Option<String> {
    let path = file_path(uri)?;
    let mut bytes = Vec::new();
    regular_file::open(&path).ok()?.take(MAX_BYTES + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > MAX_BYTES {
        return None;
    }
    let text = String::from_utf8_lossy(&bytes);
    Some(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
}

/// The path of a file on this machine. A URI of another scheme may have a path too: `git:/work/PROMPT.md` is an old
/// version of the file.
pub(crate) fn file_path(uri: &Url) -> Option<PathBuf> {
    (uri.scheme() == "file").then(|| uri.to_file_path().ok())?
}

/// Ignores line endings and a missing final newline, because they are the editor's choice and not the user's change.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    one == other || one.lines().eq(other.lines())
}

/// The path with its folder canonicalized: a document that is a link itself keeps its name.
pub(crate) fn canonical_parent_path(path: &Path) -> PathBuf {
    let folder = path.parent().and_then(|it| it.canonicalize().ok());
    match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Documents, Encoding};
    use lsp_types::{TextDocumentContentChangeEvent, Url};
    use std::fs;

    /// Takes the text on disk, the text that the editor opens, and its changes.
    #[track_caller]
    fn check(disk: Option<&[u8]>, opened: &str, then: impl Fn(&Documents, &Url), is_dirty: bool) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("PROMPT.md");
        if let Some(bytes) = disk {
            fs::write(&path, bytes).unwrap();
        }
        let uri = Url::from_file_path(path).unwrap();
        let documents = Documents::default();
        documents.open(uri.clone(), 1, opened.to_owned());
        then(&documents, &uri);
        assert_eq!(documents.get(&uri).unwrap().is_dirty(), is_dirty);
    }

    fn change(documents: &Documents, uri: &Url, text: &str) {
        let whole = TextDocumentContentChangeEvent { range: None, range_length: None, text: text.to_owned() };
        documents.change(uri, 2, &[whole], Encoding::Utf16);
    }

    #[test]
    fn a_document_is_dirty_if_its_text_differs_from_the_file() {
        check(Some(b"a\n"), "a\n", |_, _| {}, false);
        check(Some(b"a\n"), "b\n", |_, _| {}, true);
        check(None, "a\n", |_, _| {}, false);
        check(Some(b"a\n"), "a\n", |them, uri| change(them, uri, "b\n"), true);
        check(Some(b"a\n"), "b\n", |them, uri| change(them, uri, "a\n"), false);
        let saved = |them: &Documents, uri: &Url| {
            change(them, uri, "b\n");
            them.save(uri);
        };
        check(Some(b"a\n"), "a\n", saved, false);
    }

    #[test]
    fn a_change_of_the_file_does_not_make_a_document_dirty() {
        let behind = |_: &Documents, uri: &Url| fs::write(uri.to_file_path().unwrap(), "new\n").unwrap();
        check(Some(b"a\n"), "a\n", behind, false);
        let reloaded = |them: &Documents, uri: &Url| {
            behind(them, uri);
            change(them, uri, "new\n");
        };
        check(Some(b"a\n"), "a\n", reloaded, false);
    }

    #[test]
    fn only_file_uris_have_a_path() {
        let check = |uri: &str, expect: Option<&str>| {
            let (uri, documents) = (Url::parse(uri).unwrap(), Documents::default());
            documents.open(uri.clone(), 1, String::new());
            let path = documents.get(&uri).unwrap().path.clone();
            assert_eq!(path.as_deref(), expect.map(std::path::Path::new), "{uri}");
        };
        check("file:///none/a.md", Some("/none/a.md"));
        check("git:/none/a.md?HEAD", None);
        check("vscode-vfs://github/none/a.md", None);
        check("untitled:Untitled-1", None);
    }

    #[test]
    fn line_endings_and_byte_order_marks_are_not_changes() {
        check(Some(b"a\r\nb"), "a\nb\n", |_, _| {}, false);
        check(Some("\u{feff}a\n".as_bytes()), "a\n", |_, _| {}, false);
        check(Some(b"a\n"), "a\n\n", |_, _| {}, true);
    }
}
