//! Reads a queue (`QUEUE.md`) with its faults, for `run` and for `check --lint`.

use std::path::{Path, PathBuf};

use loopkeeper_system::task_files;
use loopkeeper_task::queue::{TaskQueue, parse_queue};
use loopkeeper_view::editor::{Diagnostic, queue_diagnostics};

use super::failure::Failure;

pub(crate) struct QueueDocument {
    /// The folder to which its paths are relative.
    pub(crate) folder: PathBuf,
    pub(crate) text: String,
    pub(crate) queue: TaskQueue,
    /// What prevents its start; editors show the same.
    pub(crate) faults: Vec<Diagnostic>,
}

impl QueueDocument {
    /// The tasks themselves are not read.
    pub(crate) fn read(path: &str) -> Result<Self, Failure> {
        let folder = Path::new(path).parent().filter(|it| *it != Path::new("")).unwrap_or(Path::new("."));
        let text = String::from_utf8_lossy(&task_files::read(folder, Path::new(path))?).into_owned();
        let queue = parse_queue(path, &text);
        let faults = queue_diagnostics(path, &text, |it| folder.join(it).is_file());
        Ok(Self { folder: folder.to_owned(), text, queue, faults })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::QueueDocument;

    #[test]
    fn an_entry_that_is_no_file_is_a_fault() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("b")).unwrap();
        fs::write(folder.path().join("a.md"), "").unwrap();
        let path = folder.path().join("QUEUE.md");
        fs::write(&path, "- [A](a.md)\n- [B](b)\n- [C](c.md)\n").unwrap();
        let document = QueueDocument::read(path.to_str().unwrap()).unwrap();
        assert_eq!(document.queue.entries.len(), 3);
        let messages: Vec<&str> = document.faults.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(messages.len(), 2, "{messages:?}");
        assert!(messages[0].contains("there is no file b"), "{messages:?}");
        assert!(messages[1].contains("there is no file c.md"), "{messages:?}");
    }
}
