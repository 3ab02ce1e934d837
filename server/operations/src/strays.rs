//! Reads from the snapshots of a loop what it left and nothing needs.

use std::collections::HashSet;

use loopkeeper_core::decide::LoopState;
use loopkeeper_core::drift::{TaskMentions, TaskTexts};
use loopkeeper_core::strays::{DuplicateConfiguration, TreeText, duplicate_configurations, stray_files};
use loopkeeper_core::tamper::FileVersions;
use loopkeeper_system::snapshots::{SnapshotError, SnapshotStore, TreeEntry};

/// Files of a tree that is searched for references. In a larger one no stray is reported.
const MAX_FILES: usize = 5_000;
/// Bytes of text that are searched.
const MAX_TEXT: usize = 32 * 1024 * 1024;
/// Bytes of a configuration that are read.
const MAX_CONFIGURATION: usize = 1024 * 1024;

/// What a reviewer may want removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoopRemains {
    /// Added files to which nothing refers.
    pub strays: Vec<String>,
    /// One sentence each.
    pub duplicates: Vec<String>,
}

/// Compares the start of the loop with its final tree.
pub fn remains_of_loop(state: &LoopState, store: &SnapshotStore) -> Result<LoopRemains, SnapshotError> {
    let (Some(start), end) = (state.tree_after(0), state.tree.judged.as_str()) else {
        return Ok(LoopRemains::default());
    };
    if start == end {
        return Ok(LoopRemains::default());
    }
    let pair = StartAndEnd { store, start, end };
    let changes = store.files_changed(start, end)?;
    let is_added = |path: &[u8]| matches!(store.entry_at(start, path), Ok(TreeEntry::Nothing));
    let added: Vec<String> = changes
        .iter()
        .filter(|it| it.old.is_none() && it.new.is_some() && is_added(&it.path))
        .map(|it| it.shown.clone())
        .collect();
    let changed: Vec<String> = changes.into_iter().map(|it| it.shown).collect();
    let duplicates = duplicate_configurations(&changed, &pair);
    Ok(LoopRemains {
        strays: strays(state, &pair, &added)?,
        duplicates: duplicates.iter().map(DuplicateConfiguration::sentence).collect(),
    })
}

fn strays(state: &LoopState, pair: &StartAndEnd<'_>, added: &[String]) -> Result<Vec<String>, SnapshotError> {
    if added.is_empty() {
        return Ok(Vec::new());
    }
    let Some(files) = pair.texts()? else { return Ok(Vec::new()) };
    let spec = &state.spec;
    let criteria = state.pinned_criteria();
    let prompt = format!("{}\n{}", spec.title, spec.inline_prompt.as_deref().unwrap_or_default());
    let task =
        TaskMentions::of(&TaskTexts { prompt: &prompt, context: &[], criteria: &criteria, plan: &spec.plan });
    Ok(stray_files(added, &files, &task))
}

struct StartAndEnd<'a> {
    store: &'a SnapshotStore,
    start: &'a str,
    end: &'a str,
}

impl StartAndEnd<'_> {
    /// Every text file of the final tree; `None` if some cannot be read, or there are too many.
    fn texts(&self) -> Result<Option<Vec<TreeText>>, SnapshotError> {
        let paths: HashSet<Vec<u8>> = self.store.paths(self.end)?;
        if paths.len() > MAX_FILES {
            return Ok(None);
        }
        let (mut files, mut size) = (Vec::new(), 0);
        for path in paths {
            let bytes = match self.store.entry_at(self.end, &path)? {
                TreeEntry::File { bytes, .. } | TreeEntry::Link(bytes) => bytes,
                TreeEntry::Nothing => continue,
                TreeEntry::Unknown => return Ok(None),
            };
            if bytes.contains(&0) {
                continue;
            }
            size += bytes.len();
            if size > MAX_TEXT {
                return Ok(None);
            }
            let path = String::from_utf8_lossy(&path).into_owned();
            files.push(TreeText { path, text: String::from_utf8_lossy(&bytes).into_owned() });
        }
        Ok(Some(files))
    }

    fn text(&self, tree: &str, path: &str) -> Option<String> {
        let bytes = self.store.file(tree, path, MAX_CONFIGURATION).ok().flatten()?;
        String::from_utf8(bytes).ok()
    }
}

impl FileVersions for StartAndEnd<'_> {
    fn read_before(&self, path: &str) -> Option<String> {
        self.text(self.start, path)
    }

    fn read_after(&self, path: &str) -> Option<String> {
        self.text(self.end, path)
    }

    fn exists(&self, path: &str) -> bool {
        self.store.contains_path(self.end, path).unwrap_or(false)
    }

    fn existed(&self, path: &str) -> bool {
        self.store.contains_path(self.start, path).unwrap_or(false)
    }
}
