//! Searches the snapshots of a loop for files that it added and nothing needs.

use std::collections::BTreeSet;

use loopkeeper_core::decide::LoopState;
use loopkeeper_core::drift::{TaskMentions, TaskTexts};
use loopkeeper_core::strays::{DuplicateConfiguration, duplicate_configurations, may_be_stray, stray_files};
use loopkeeper_core::tamper::FileVersions;
use loopkeeper_system::snapshots::{FileChange, SnapshotError, SnapshotStore, TreeEntry};
use loopkeeper_task::PlanItem;
use loopkeeper_task::criterion::Criterion;

use super::tree_texts::tree_texts;

/// Bytes of a configuration that are read.
const MAX_CONFIGURATION: usize = 1024 * 1024;

/// What a reviewer may want removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RemovalCandidates {
    /// Added files to which nothing refers.
    pub strays: Vec<String>,
    /// One sentence each.
    pub duplicates: Vec<String>,
}

/// Compares the start of the loop with its final tree.
pub fn find_removal_candidates(
    state: &LoopState,
    store: &SnapshotStore,
) -> Result<RemovalCandidates, SnapshotError> {
    let Some(search) = StraySearch::of_loop(state) else { return Ok(RemovalCandidates::default()) };
    let pair = StartAndEnd { store, start: &search.start, end: &state.tree.judged };
    let changes = pair.changes()?;
    let changed: Vec<String> = changes.iter().map(|it| it.shown.clone()).collect();
    let duplicates = duplicate_configurations(&changed, &pair);
    Ok(RemovalCandidates {
        strays: search.strays(&pair, changes)?,
        duplicates: duplicates.iter().map(DuplicateConfiguration::sentence).collect(),
    })
}

/// Looks in a tree for files that the loop added and to which nothing refers.
pub(crate) struct StraySearch {
    /// The tree of the start.
    start: String,
    prompt: String,
    criteria: Vec<Criterion>,
    plan: Vec<PlanItem>,
    /// Written by the checks.
    artefacts: BTreeSet<String>,
}

impl StraySearch {
    pub(crate) fn of_loop(state: &LoopState) -> Option<Self> {
        let spec = &state.spec;
        Some(Self {
            start: state.tree_after(0)?.to_owned(),
            prompt: format!("{}\n{}", spec.title, spec.inline_prompt.as_deref().unwrap_or_default()),
            criteria: state.pinned_criteria(),
            plan: spec.plan.clone(),
            artefacts: state.tree.artefacts.clone(),
        })
    }

    pub(crate) fn in_tree(&self, store: &SnapshotStore, end: &str) -> Result<Vec<String>, SnapshotError> {
        let pair = StartAndEnd { store, start: &self.start, end };
        let changes = pair.changes()?;
        self.strays(&pair, changes)
    }

    fn strays(&self, pair: &StartAndEnd<'_>, changes: Vec<FileChange>) -> Result<Vec<String>, SnapshotError> {
        let is_added = |it: &FileChange| {
            let is_new = it.old.is_none() && it.new.is_some() && !self.artefacts.contains(&it.shown);
            is_new && matches!(pair.store.entry_at(pair.start, &it.path), Ok(TreeEntry::Nothing))
        };
        let added: Vec<String> = changes.into_iter().filter(is_added).map(|it| it.shown).collect();
        if !added.iter().any(|it| may_be_stray(it)) {
            return Ok(Vec::new());
        }
        let Some(files) = tree_texts(pair.store, pair.end)? else { return Ok(Vec::new()) };
        let texts =
            TaskTexts { prompt: &self.prompt, context: &[], criteria: &self.criteria, plan: &self.plan };
        Ok(stray_files(&added, &files, &TaskMentions::of(&texts)))
    }
}

struct StartAndEnd<'a> {
    store: &'a SnapshotStore,
    start: &'a str,
    end: &'a str,
}

impl StartAndEnd<'_> {
    fn changes(&self) -> Result<Vec<FileChange>, SnapshotError> {
        if self.start == self.end { Ok(Vec::new()) } else { self.store.files_changed(self.start, self.end) }
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

    fn existed_before(&self, path: &str) -> bool {
        self.store.contains_path(self.start, path).unwrap_or(false)
    }
}
