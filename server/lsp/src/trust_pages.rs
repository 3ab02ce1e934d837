//! Records the commands of a task that were last shown to the user.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The last page of commands that was shown for each root, by file: consent without a question applies to it.
#[derive(Default)]
pub(crate) struct TrustPages(Mutex<BTreeMap<PathBuf, ShownCommands>>);

struct ShownCommands {
    task: String,
    hash: String,
}

impl TrustPages {
    /// Records a page; replaces that of any other task in the same file.
    pub(crate) fn record_page(&self, page: &Path, task: &str, hash: &str) {
        let shown = ShownCommands { task: task.to_owned(), hash: hash.to_owned() };
        self.lock().insert(page.to_owned(), shown);
    }

    /// Removes pages that were answered or are outdated.
    pub(crate) fn forget(&self, task: &str) {
        self.lock().retain(|_, it| it.task != task);
    }

    /// The hash of the page of this task.
    pub(crate) fn hash(&self, task: &str) -> Option<String> {
        self.lock().values().find(|it| it.task == task).map(|it| it.hash.clone())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, ShownCommands>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::TrustPages;

    #[test]
    fn a_page_belongs_to_one_task() {
        let pages = TrustPages::default();
        let file = Path::new("/state/a/pages/commands.txt");
        pages.record_page(file, "file:///a/PROMPT.md", "1");
        assert_eq!(pages.hash("file:///a/PROMPT.md").as_deref(), Some("1"));
        pages.record_page(file, "file:///a/fix.ralph.md", "2");
        assert_eq!(pages.hash("file:///a/PROMPT.md"), None);
        assert_eq!(pages.hash("file:///a/fix.ralph.md").as_deref(), Some("2"));
        pages.forget("file:///a/fix.ralph.md");
        assert_eq!(pages.hash("file:///a/fix.ralph.md"), None);
    }
}
