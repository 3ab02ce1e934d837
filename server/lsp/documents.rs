//! The documents that are open in the editor: their text, version, and whether the file says something else.
//! What runs is the saved file; this is for showing places and for refusing to start on unsaved changes.

pub mod positions;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lsp_types::{TextDocumentContentChangeEvent, Url};

use self::positions::{Encoding, Lines};

/// A file larger than this is no document of ours.
const LARGEST: u64 = 16 << 20;

/// One open document as it was at one version. Never changes: who holds it sees one consistent text.
#[derive(Debug)]
pub struct Document {
    pub uri: Url,
    pub version: i32,
    pub text: Arc<str>,
    pub lines: Lines,
    /// The file's text when it was last opened or saved.
    saved: Arc<str>,
}

impl Document {
    /// The user has changes that a run would not see.
    pub fn is_dirty(&self) -> bool {
        !is_same(&self.text, &self.saved)
            // An editor that reloads a file says so as a change.
            && !on_disk(&self.uri).is_some_and(|it| is_same(&self.text, &it))
    }

    fn new(uri: Url, version: i32, text: Arc<str>, saved: Arc<str>) -> Arc<Self> {
        let lines = Lines::of(&text);
        Arc::new(Self { uri, version, text, lines, saved })
    }
}

#[derive(Default)]
pub struct Documents {
    open: Mutex<HashMap<Url, Arc<Document>>>,
}

impl Documents {
    pub fn get(&self, uri: &Url) -> Option<Arc<Document>> {
        self.book().get(uri).cloned()
    }

    pub fn all(&self) -> Vec<Arc<Document>> {
        self.book().values().cloned().collect()
    }

    /// An editor may open a document with changes that it kept from its last session.
    pub(crate) fn open(&self, uri: Url, version: i32, text: String) {
        let text: Arc<str> = text.into();
        let saved = on_disk(&uri).map_or_else(|| Arc::clone(&text), Arc::from);
        self.book().insert(uri.clone(), Document::new(uri, version, text, saved));
    }

    /// Full texts are what was agreed; a range from a client that did not listen is applied all the same.
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
                    let bytes = Lines::of(&text).bytes(&text, range, encoding);
                    text.replace_range(bytes, &change.text);
                }
            }
        }
        let after = Document::new(uri.clone(), version, text.into(), Arc::clone(&before.saved));
        self.book().insert(uri.clone(), after);
    }

    pub(crate) fn save(&self, uri: &Url) {
        let Some(it) = self.get(uri) else { return };
        let saved = Document::new(uri.clone(), it.version, Arc::clone(&it.text), Arc::clone(&it.text));
        self.book().insert(uri.clone(), saved);
    }

    pub(crate) fn close(&self, uri: &Url) {
        self.book().remove(uri);
    }

    fn book(&self) -> MutexGuard<'_, HashMap<Url, Arc<Document>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The file behind a document, read as editors read it.
fn on_disk(uri: &Url) -> Option<String> {
    let path = (uri.scheme() == "file").then(|| uri.to_file_path().ok()).flatten()?;
    let facts = path.metadata().ok().filter(|it| it.is_file() && it.len() <= LARGEST);
    let bytes = facts.and_then(|_| std::fs::read(path).ok())?;
    let text = String::from_utf8_lossy(&bytes);
    Some(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
}

/// Line ends and a missing last one are the editor's business, not changes of the user.
fn is_same(one: &str, other: &str) -> bool {
    one == other || one.lines().eq(other.lines())
}
