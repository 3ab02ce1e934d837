//! Records the documents whose lenses a client requested before they were known as tasks, because it does not request
//! them again unless it is asked to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Default)]
pub(crate) struct EarlyLensRequests(Mutex<BTreeSet<PathBuf>>);

impl EarlyLensRequests {
    /// Records a request; `found` is whether the response had lenses.
    pub(crate) fn record(&self, path: &Path, found: bool) {
        let mut early = self.lock();
        if found {
            early.remove(path);
        } else {
            early.insert(path.to_owned());
        }
    }

    /// Forgets documents that were closed.
    pub(crate) fn retain(&self, open: &BTreeSet<PathBuf>) {
        self.lock().retain(|it| open.contains(it));
    }

    /// Removes a document; returns whether it was recorded.
    pub(crate) fn take(&self, path: &Path) -> bool {
        self.lock().remove(path)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use super::EarlyLensRequests;

    #[test]
    fn a_document_is_recorded_until_its_lenses_are_found_or_it_is_closed() {
        let early = EarlyLensRequests::default();
        let path = Path::new("/a/PROMPT.md");
        early.record(path, false);
        assert!(early.take(path) && !early.take(path));
        early.record(path, false);
        early.record(path, true);
        assert!(!early.take(path));
        early.record(path, false);
        early.retain(&BTreeSet::from([PathBuf::from("/a/PROMPT.md")]));
        early.retain(&BTreeSet::new());
        assert!(!early.take(path));
    }
}
