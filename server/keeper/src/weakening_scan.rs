//! Compares tests and protected files in snapshots: with the baseline after the agent ran, with the last iteration
//! before it starts. Reads only the store, and only if a relevant file changed.

use std::cell::RefCell;
use std::collections::BTreeSet;

use loopkeeper_core::decide::SnapshotFacts;
use loopkeeper_core::decide::weakening::WeakeningScan;
use loopkeeper_core::drift::{TaskMentions, TaskTexts};
use loopkeeper_core::tamper::judge_files::ChangedJudge;
use loopkeeper_core::tamper::{FileVersions, MAX_BYTES, WeakeningFinding};
use loopkeeper_core::test_support::{find_test_support, may_support_tests};
use loopkeeper_source::mutants::{ChangedSource, is_source, may_be_script};
use loopkeeper_source::test_inventory::is_test_file;

use super::run_context::SnapshotFailure;
use super::tree_texts::tree_texts;
use loopkeeper_system::snapshots::{SnapshotError, SnapshotStore, TreeEntry};

/// Sources of which mutants are made.
const MAX_SOURCES: usize = 100;

/// Files in the new snapshot that are weaker than at the pinned start.
pub(super) fn find_weakened(
    scan: &WeakeningScan,
    store: &SnapshotStore,
    snapshot: &SnapshotFacts,
) -> Result<Vec<WeakeningFinding>, SnapshotFailure> {
    let changed = paths_changed_since_pin(scan, store, &snapshot.tree)?;
    let changed: Vec<String> = changed.into_iter().filter(|it| scan.watch.is_relevant(it)).collect();
    let pair = TreePair::new(scan, store, &snapshot.tree);
    let found = scan.watch.find_weakenings(&changed, &pair);
    pair.unless_damaged(found)
}

/// Judges that differ from the pinned start.
pub fn find_changed_judges(
    scan: &WeakeningScan,
    store: &SnapshotStore,
    tree: &str,
) -> Result<Vec<ChangedJudge>, SnapshotFailure> {
    let changed: Vec<String> = paths_changed_since_pin(scan, store, tree)?.into_iter().collect();
    let pair = TreePair::new(scan, store, tree);
    let mut inputs = scan.watch.find_setup_inputs(&changed, &pair);
    let mentions = mentions_of_task(scan);
    inputs.retain(|it| !mentions.mention(it));
    let support = test_support_among(scan, store, &changed)?;
    let watch = scan.watch.clone().with_test_support(support).with_setup_inputs(inputs);
    let judges = watch.changed_judges(&changed, &pair);
    pair.unless_damaged(judges)
}

fn mentions_of_task(scan: &WeakeningScan) -> TaskMentions {
    TaskMentions::of(&TaskTexts { prompt: &scan.task, context: &[], criteria: &[], plan: &[] })
}

/// The changed files that only tests used at the start. None if its tree is too large to be searched.
fn test_support_among(
    scan: &WeakeningScan,
    store: &SnapshotStore,
    changed: &[String],
) -> Result<Vec<String>, SnapshotFailure> {
    let candidates: Vec<String> = changed.iter().filter(|it| may_support_tests(it)).cloned().collect();
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    let Some(files) = tree_texts(store, &scan.start)? else { return Ok(Vec::new()) };
    Ok(find_test_support(&candidates, &files, &mentions_of_task(scan)))
}

/// Sources of the work, and files of tests, that differ from the pinned start.
pub(super) fn find_changed_sources(
    scan: &WeakeningScan,
    store: &SnapshotStore,
    tree: &str,
) -> Result<(Vec<ChangedSource>, Vec<ChangedSource>), SnapshotFailure> {
    let changed: Vec<String> = paths_changed_since_pin(scan, store, tree)?.into_iter().collect();
    let tests: Vec<String> = changed.iter().filter(|it| is_test_file(it)).cloned().collect();
    let (mut sources, rest): (Vec<String>, Vec<String>) = changed.into_iter().partition(|it| is_source(it));
    // Their first line decides, so that only so many are read.
    sources.extend(rest.into_iter().filter(|it| may_be_script(it)).take(MAX_SOURCES));
    let changed = sources;
    let pair = TreePair::new(scan, store, tree);
    let judges = scan.watch.judges_among(&changed, &pair);
    let work = changed.into_iter().filter(|it| !judges.contains(it) && !scan.watch.is_artefact(it));
    let source = |path: String| {
        let after = pair.read_after(&path)?;
        let before = pair.read_before(&path);
        // The lines of a file that cannot be read as text are not known.
        (before.is_some() || !pair.existed_before(&path)).then_some(ChangedSource { path, before, after })
    };
    let tests = tests.into_iter().filter(|it| !scan.watch.is_artefact(it));
    let found = (
        work.take(MAX_SOURCES).filter_map(source).collect(),
        tests.take(MAX_SOURCES).filter_map(source).collect(),
    );
    pair.unless_damaged(found)
}

/// Every judge of `tree`, changed or not.
pub fn find_judges(
    scan: &WeakeningScan,
    store: &SnapshotStore,
    tree: &str,
) -> Result<Vec<String>, SnapshotFailure> {
    let mut paths: Vec<String> =
        store.paths(tree)?.into_iter().filter_map(|it| String::from_utf8(it).ok()).collect();
    paths.sort();
    let pair = TreePair::new(scan, store, tree);
    let judges = scan.watch.judges_among(&paths, &pair);
    pair.unless_damaged(judges)
}

/// Judges that changed, of which the store does not hold the version that counts. `touched`: files that were written,
/// even if size and time are those of before.
pub(super) fn find_unstored_judges(
    scan: &WeakeningScan,
    store: &SnapshotStore,
    tree: &str,
    touched: Vec<String>,
) -> Result<Vec<String>, SnapshotFailure> {
    let mut changed = paths_changed_since_pin(scan, store, tree)?;
    changed.extend(touched);
    let mut unstored = Vec::new();
    for path in changed.into_iter().filter(|it| !scan.watch.is_allowed(it)) {
        if matches!(store.entry_at(scan.version_of(&path), path.as_bytes())?, TreeEntry::Unknown) {
            unstored.push(path);
        }
    }
    let pair = TreePair::new(scan, store, tree);
    let judges = scan.watch.judges_among(&unstored, &pair);
    pair.unless_damaged(judges)
}

/// Judges among changed files that no snapshot holds.
pub(super) fn find_unrecorded_judges(
    scan: &WeakeningScan,
    store: &SnapshotStore,
    tree: &str,
    paths: &[String],
) -> Vec<ChangedJudge> {
    scan.watch.unrecorded_judges(paths, &TreePair::new(scan, store, tree))
}

/// The programs that the checks run by name.
pub(super) fn programs(scan: &WeakeningScan, store: &SnapshotStore, tree: &str) -> Vec<String> {
    scan.watch.programs(&TreePair::new(scan, store, tree))
}

fn paths_changed_since_pin(
    scan: &WeakeningScan,
    store: &SnapshotStore,
    tree: &str,
) -> Result<BTreeSet<String>, SnapshotFailure> {
    let mut changed: BTreeSet<String> = store.changed_paths(&scan.start, tree)?.into_iter().collect();
    for (path, pin) in &scan.pins {
        if store.is_same_entry(pin, tree, path.as_bytes())? {
            changed.remove(path);
        } else {
            changed.insert(path.clone());
        }
    }
    Ok(changed)
}

/// Relevant files that the user changed since the last iteration.
pub(super) fn user_edited_paths(
    scan: &WeakeningScan,
    store: &SnapshotStore,
    snapshot: &SnapshotFacts,
) -> Result<Vec<String>, SnapshotFailure> {
    if scan.last_tree.is_empty() || scan.last_tree == snapshot.tree {
        return Ok(Vec::new());
    }
    let changed = store.changed_paths(&scan.last_tree, &snapshot.tree)?;
    let pair = EditedTrees { store, before: &scan.last_tree, after: &snapshot.tree };
    // A file that equals its version after a rollback was not edited.
    let is_edited = |path: &String| {
        let last = scan.last_version_of(path);
        last == scan.last_tree
            || store.file(last, path, usize::MAX).ok() != store.file(&snapshot.tree, path, usize::MAX).ok()
    };
    let changed = changed.into_iter().filter(is_edited);
    Ok(changed.filter(|it| scan.watch.is_relevant_edit(it, &pair)).collect())
}

/// The tree after the last iteration and the tree now.
struct EditedTrees<'a> {
    store: &'a SnapshotStore,
    before: &'a str,
    after: &'a str,
}

impl FileVersions for EditedTrees<'_> {
    fn read_before(&self, path: &str) -> Option<String> {
        read_text(self.store, self.before, path)
    }

    fn read_after(&self, path: &str) -> Option<String> {
        read_text(self.store, self.after, path)
    }

    fn exists(&self, path: &str) -> bool {
        self.store.file(self.after, path, usize::MAX).is_ok_and(|it| it.is_some())
    }
}

fn read_text(store: &SnapshotStore, tree: &str, path: &str) -> Option<String> {
    let bytes = store.file(tree, path, MAX_BYTES).ok().flatten()?;
    String::from_utf8(bytes).ok()
}

/// The tree at the pin and the tree now.
struct TreePair<'a> {
    scan: &'a WeakeningScan,
    store: &'a SnapshotStore,
    now: &'a str,
    /// The first read that failed.
    damage: RefCell<Option<SnapshotError>>,
}

impl<'a> TreePair<'a> {
    fn new(scan: &'a WeakeningScan, store: &'a SnapshotStore, now: &'a str) -> Self {
        Self { scan, store, now, damage: RefCell::default() }
    }

    /// What was found, unless a file could not be read: it would count as one that does not exist.
    fn unless_damaged<T>(self, found: T) -> Result<T, SnapshotFailure> {
        self.damage.into_inner().map_or(Ok(found), |it| Err(it.into()))
    }

    fn bytes(&self, tree: &str, path: &str, limit: usize) -> Option<Vec<u8>> {
        self.store.file(tree, path, limit).unwrap_or_else(|error| {
            self.damage.borrow_mut().get_or_insert(error);
            None
        })
    }

    fn text(&self, tree: &str, path: &str) -> Option<String> {
        String::from_utf8(self.bytes(tree, path, MAX_BYTES)?).ok()
    }
}

impl FileVersions for TreePair<'_> {
    fn read_before(&self, path: &str) -> Option<String> {
        self.text(self.scan.version_of(path), path)
    }

    fn read_after(&self, path: &str) -> Option<String> {
        self.text(self.now, path)
    }

    fn exists(&self, path: &str) -> bool {
        self.bytes(self.now, path, usize::MAX).is_some()
    }

    fn leads_out(&self, path: &str) -> bool {
        self.store.leads_out(self.now, path).unwrap_or(false)
    }

    fn existed_before(&self, path: &str) -> bool {
        self.bytes(self.scan.version_of(path), path, usize::MAX).is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;
    use std::os::unix::fs::symlink;

    use loopkeeper_core::decide::weakening::WeakeningScan;
    use loopkeeper_core::tamper::ProtectionRules;
    use loopkeeper_system::snapshots::SnapshotStore;

    use super::{find_changed_judges, paths_changed_since_pin};

    #[test]
    fn a_judge_that_cannot_be_read_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let (root, state) = (folder.path().canonicalize().unwrap().join("work"), folder.path().join("state"));
        fs::create_dir_all(root.join("tests")).unwrap();
        let mut store = SnapshotStore::open(&state, &root).unwrap();
        let mut take = |text: &str| {
            fs::write(root.join("tests/test_a.py"), text).unwrap();
            store.take_snapshot().unwrap().tree
        };
        let (start, now) = (take("assert one\n"), take("assert other\n"));
        let scan = WeakeningScan {
            watch: ProtectionRules::new(&[], &[], &BTreeSet::new()),
            start: start.clone(),
            pins: BTreeMap::new(),
            last_tree: String::new(),
            partial_rollbacks: Vec::new(),
            task: String::new(),
        };
        let judges = || {
            let store = SnapshotStore::open(&state, &root).unwrap();
            find_changed_judges(&scan, &store, &now).map(|it| it.len())
        };
        assert_eq!(judges().map_err(|it| it.message), Ok(1));
        let [change] = store.files_changed(&start, &now).unwrap().try_into().unwrap();
        let id = change.new.unwrap();
        let is_removed = ["", "objects"]
            .iter()
            .any(|it| fs::remove_file(state.join(it).join(&id[..2]).join(&id[2..])).is_ok());
        assert!(is_removed, "{id} is a file of the store");
        assert!(judges().is_err());
    }

    #[test]
    fn any_other_entry_than_the_pinned_one_is_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("work");
        let test = root.join("a.py");
        fs::create_dir(&root).unwrap();
        let mut store = SnapshotStore::open(&folder.path().join("state"), &root).unwrap();
        let mut take = |entry: Option<&str>| {
            let _ = fs::remove_file(&test);
            entry.inspect(|it| symlink(it, &test).unwrap());
            store.take_snapshot().unwrap().tree
        };
        let (nothing, link, other) = (take(None), take(Some("b.py")), take(Some("../c.py")));
        let check = |pin: &str, now: &str, expect: &[&str]| {
            let scan = WeakeningScan {
                watch: ProtectionRules::new(&[], &[], &BTreeSet::new()),
                start: nothing.clone(),
                pins: BTreeMap::from([("a.py".to_owned(), pin.to_owned())]),
                last_tree: String::new(),
                partial_rollbacks: Vec::new(),
                task: String::new(),
            };
            let changed = paths_changed_since_pin(&scan, &store, now).unwrap();
            assert_eq!(Vec::from_iter(changed), expect, "{pin} {now}");
        };
        check(&nothing, &link, &["a.py"]);
        check(&link, &other, &["a.py"]);
        check(&link, &nothing, &["a.py"]);
        check(&link, &link, &[]);
        check(&nothing, &nothing, &[]);
    }
}
