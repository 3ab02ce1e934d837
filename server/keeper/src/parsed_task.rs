//! Caches the task as last parsed, so that unchanged documents are not parsed again.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use loopkeeper_task::{Task, TaskDocument};
use loopkeeper_text::digest::sha256;

use loopkeeper_system::task_files::{self, DiscoveredTask, LoadedTask, TaskFileError};

/// Hash of each document by its path.
pub(super) type DocumentHashes = BTreeMap<String, String>;

/// The last parsed task: it is read twice between two iterations and rarely differs.
#[derive(Debug, Default)]
pub struct ParsedTaskCache {
    last: LoadedTask,
    hashes: DocumentHashes,
}

impl ParsedTaskCache {
    /// Larger tasks are parsed each time, so that an idle keeper stays small.
    const MAX_BYTES: usize = 64 * 1024;

    pub(super) fn reload(
        &mut self,
        root: &Path,
        found: &DiscoveredTask,
    ) -> Result<(Arc<Task>, DocumentHashes), TaskFileError> {
        let loaded = task_files::reload(root, found, &self.last)?;
        if !Arc::ptr_eq(&loaded.task, &self.last.task) {
            self.hashes = hash_documents(&loaded.documents);
        }
        let task = Arc::clone(&loaded.task);
        let is_small = loaded.documents.iter().map(|it| it.text.len()).sum::<usize>() <= Self::MAX_BYTES;
        self.last = if is_small { loaded } else { LoadedTask::default() };
        Ok((task, self.hashes.clone()))
    }
}

fn hash_documents(documents: &[TaskDocument]) -> DocumentHashes {
    documents.iter().map(|it| (it.path.clone(), sha256(it.text.as_bytes()))).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::ParsedTaskCache;
    use loopkeeper_system::task_files;

    #[test]
    fn every_change_of_a_task_is_detected() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let prompt = "# Go\n\n## Done when\n\n- one: `$ true`\n";
        let long = format!("{prompt}{}", "x".repeat(ParsedTaskCache::MAX_BYTES));
        let other = long.replace("one", "two");
        let states: &[(&str, &[u8])] = &[
            ("PROMPT.md", prompt.as_bytes()),
            ("PROMPT.md", b"# Go\n\n## Done when\n\n- one: `$ trus`\n"),
            // Different bytes that decode to the same text.
            ("PROMPT.md", b"# Go\n\xff\xfe\n"),
            ("PROMPT.md", b"# Go\n\xfe\xff\n"),
            ("PROMPT.md", long.as_bytes()),
            ("PROMPT.md", other.as_bytes()),
            ("fix_plan.md", b"- [ ] first\n"),
            ("fix_plan.md", b"- [x] first\n"),
            ("PROMPT.md", prompt.as_bytes()),
        ];
        let mut last = ParsedTaskCache::default();
        for (name, bytes) in states {
            fs::write(root.join(name), bytes).unwrap();
            let found = task_files::task_at(root, "PROMPT.md");
            let reloaded = task_files::load(root, &found).unwrap();
            let hashes = super::hash_documents(&reloaded.documents);
            for _ in 0..2 {
                let read = last.reload(root, &found).unwrap();
                assert_eq!(read, (reloaded.task.clone(), hashes.clone()), "{name}: {}", bytes.escape_ascii());
            }
        }
    }
}
