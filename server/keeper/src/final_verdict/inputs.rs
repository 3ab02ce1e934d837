//! Finds what a final verdict depends on besides the snapshot: ignored files, caches, installed packages, programs, and
//! the user's own configuration, as far as they changed since the loop began.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Instant, SystemTime};

use loopkeeper_core::decide::final_verdict::UnrecordedInputs;
use loopkeeper_core::journal::{CheckProgram, OutsideFiles};
use loopkeeper_core::tamper::judge_files::{ChangedJudge, JudgeChange};
use loopkeeper_system::clean_room::{BuildFolders, HomeContent};
use loopkeeper_system::snapshots::SnapshotStore;
use loopkeeper_system::unrecorded::{self, OutsideEntries, OutsideSearch, UnrecordedChanges};
use tracing::debug;

use super::room::{PinnedEntry, RoomLayout, RoomSite, needed_outside, shown, with_real_paths};
use super::{NoVerdict, VerdictRequest, programs, weakening_scan};
use crate::run_context::{RunContext, SnapshotFailure, env_value};

#[derive(Debug, Default)]
pub(super) struct VerdictInputs {
    pub(super) changes: UnrecordedChanges,
    /// Judges that no snapshot holds.
    pub(super) judges: Vec<ChangedJudge>,
    /// The entries that restore judges outside the work tree to their state at the start, by path.
    pub(super) outside: BTreeMap<String, PinnedEntry>,
    /// Judges that changed, of which the version of the start is not stored.
    pub(super) unstored: Vec<String>,
    /// The programs that the checks run by name.
    pub(super) ran: Vec<CheckProgram>,
    /// Programs that changed in place.
    programs: Vec<String>,
    /// New programs that a judge runs in place of others.
    of_judge: Vec<String>,
    /// Those of the hidden products that an installation from the tree would not bring back.
    pub(super) unlisted: Vec<PathBuf>,
    /// New files that only rules outside the tree ignore.
    hidden_from_clean: Vec<PathBuf>,
    /// What is new outside the work tree.
    pub(super) entries_outside: OutsideEntries,
}

impl VerdictInputs {
    /// The layout of a room that contains only these of the ignored products.
    pub(super) fn layout(&self, needed: &[PathBuf]) -> RoomLayout {
        let products = self.changes.products.iter().filter(|it| !needed.contains(it));
        RoomLayout {
            entries: Vec::new(),
            products: products.cloned().collect(),
            needed: needed.to_vec(),
            caches: self.changes.caches.clone(),
            outside: self.entries_outside.paths.clone(),
            touched: self.changes.touched.clone(),
            shown: Vec::new(),
            builds: BuildFolders::LeftOut,
            home: HomeContent::Caches,
            order: Vec::new(),
        }
    }

    pub(super) fn into_facts(self, layout: &RoomLayout, site: &RoomSite) -> UnrecordedInputs {
        let outside = OutsideFiles {
            count: self.entries_outside.paths.len() as u64,
            is_partial: self.entries_outside.is_partial,
            visible: site.visible_outside().map(str::to_owned),
        };
        let is_unlisted = |it: &PathBuf| self.unlisted.contains(it);
        UnrecordedInputs {
            left_outside: layout.shown.iter().map(|it| shown(it)).collect(),
            outside,
            needs_home: layout.home == HomeContent::Everything,
            needed: layout.needed.iter().filter(|it| !is_unlisted(it)).map(|it| shown(it)).collect(),
            unlisted: layout.needed.iter().filter(|it| is_unlisted(it)).map(|it| shown(it)).collect(),
            patched: self.changes.patched.iter().map(|it| shown(it)).collect(),
            programs: self.programs,
            of_judge: self.of_judge,
            hidden_from_clean: self.hidden_from_clean.iter().map(|it| shown(it)).collect(),
            unstored: self.unstored,
            ran: self.ran,
            is_partial: self.changes.is_partial,
        }
    }
}

pub(super) async fn find_inputs(
    runtime: &RunContext,
    request: &VerdictRequest,
) -> Result<VerdictInputs, NoVerdict> {
    let entries_outside = find_entries_outside(runtime, request).await;
    let Some(scan) = request.scan.clone() else {
        return Ok(VerdictInputs { entries_outside, ..VerdictInputs::default() });
    };
    let (root, own, tree, since) =
        (runtime.root(), runtime.outputs.clone(), request.tree.clone(), request.since);
    let path = env_value(&runtime.check_env, "PATH").unwrap_or_default().to_owned();
    let home = env_value(&runtime.check_env, "HOME").map(PathBuf::from);
    let judge: Vec<String> = runtime.spec.judge.iter().filter_map(|it| it.argv.first().cloned()).collect();
    let has_clean = request.has_clean;
    let find = move |store: &mut SnapshotStore| {
        let recorded = store.paths(&tree)?;
        let mut inputs = VerdictInputs {
            changes: unrecorded::find_unrecorded(&root, &recorded, since, &own),
            ..VerdictInputs::default()
        };
        inputs.add_unlisted(store, &scan.start, since)?;
        if has_clean && !inputs.changes.is_partial {
            inputs.hidden_from_clean = store.newly_ignored(&tree, since, &inputs.unlisted)?;
        }
        let touched = inputs.changes.touched.iter().map(|it| shown(it)).collect();
        inputs.unstored = weakening_scan::find_unstored_judges(&scan, store, &tree, touched)?;
        let is_open = |it: &String| !scan.pins.contains_key(it);
        let changes = &mut inputs.changes;
        let changed: Vec<String> =
            changes.products.iter().chain(&changes.others).map(|it| shown(it)).collect();
        inputs.judges = weakening_scan::find_unrecorded_judges(&scan, store, &tree, &changed);
        inputs.judges.retain(|it| is_open(&it.path));
        changes.products.retain(|it| inputs.judges.iter().all(|judge| judge.path != shown(it)));
        for below in home.iter().flat_map(|it| unrecorded::changed_home_files(it, since)) {
            inputs.add_outside(format!("~/{}", shown(&below)), PinnedEntry::Home(below));
        }
        let names = weakening_scan::programs(&scan, store, &tree);
        inputs.ran = programs::find_programs(&names, &path);
        for program in unrecorded::replaced_programs(&names, &path, &root, since) {
            let path = shown(&program.path);
            match program.original {
                Some(original) => inputs.add_outside(path, PinnedEntry::Program(program.name, original)),
                None => inputs.programs.push(path),
            }
        }
        for program in unrecorded::replaced_programs(&judge, &path, &root, since) {
            // An agent that updated itself replaces nothing.
            if program.original.is_some() {
                inputs.of_judge.push(shown(&program.path));
            }
        }
        inputs.judges.retain(|it| is_open(&it.path));
        Ok::<_, SnapshotFailure>(inputs)
    };
    let inputs = runtime.with_store(find).await?;
    Ok(VerdictInputs { entries_outside, ..inputs })
}

async fn find_entries_outside(runtime: &RunContext, request: &VerdictRequest) -> OutsideEntries {
    let (root, needed) = (real_path(runtime.root()), with_real_paths(needed_outside(runtime)));
    let home = env_value(&runtime.check_env, "HOME").map(|it| real_path(it.into()));
    let since = request.since;
    let find = move || {
        let (home, started) = (home.as_deref().filter(|it| it.is_absolute()), Instant::now());
        let found = unrecorded::find_outside(&OutsideSearch { home, root: &root, needed: &needed, since });
        (found, started.elapsed())
    };
    let (found, took) = tokio::task::spawn_blocking(find).await.unwrap_or_default();
    debug!(us = took.as_micros(), found = found.paths.len(), "searched outside the work tree");
    found
}

fn real_path(path: PathBuf) -> PathBuf {
    path.canonicalize().unwrap_or(path)
}

impl VerdictInputs {
    /// Hides what is ignored only since the loop began, and packages that nothing in the tree lists.
    fn add_unlisted(
        &mut self,
        store: &SnapshotStore,
        start: &str,
        since: SystemTime,
    ) -> Result<(), SnapshotFailure> {
        if self.changes.is_partial {
            return Ok(());
        }
        let changes = &mut self.changes;
        let ignored: Vec<PathBuf> = changes.products.iter().chain(&changes.others).cloned().collect();
        self.unlisted = store.newly_ignored(start, since, &ignored)?;
        self.unlisted.append(&mut changes.unlisted);
        let others = self.unlisted.iter().filter(|it| !changes.products.contains(it));
        let others: Vec<PathBuf> = others.cloned().collect();
        changes.products.extend(others);
        changes.others.retain(|it| !self.unlisted.contains(it));
        Ok(())
    }

    fn add_outside(&mut self, path: String, entry: PinnedEntry) {
        self.judges.push(ChangedJudge {
            path: path.clone(),
            is_new: true,
            replaces_other: true,
            composed: None,
            change: JudgeChange::Other,
        });
        self.outside.insert(path, entry);
    }
}
