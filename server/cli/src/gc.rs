//! `gc`: removes old ended loops and the snapshots that only they needed. `[keep]` defines what is old.

use std::collections::HashSet;

use loopkeeper_core::journal::{RestrictedCommand, SnapshotWhen};
use loopkeeper_core::settings::Settings;
use loopkeeper_text::{sanitize, tr, words};

use super::exit::Exit;
use super::failure::{self, ExitResult, Failure};
use super::out::Ui;
use loopkeeper_core::liveness::KeeperLiveness;
use loopkeeper_operations::authority;
use loopkeeper_operations::loops::LoopView;
use loopkeeper_system::loop_temporary::LoopTemporary;
use loopkeeper_system::snapshots::{GcMode, SnapshotStore};
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::workspace::Workspace;
use loopkeeper_system::{clock, config_files};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print what would be removed; remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// The properties of a loop that decide whether it may be removed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LoopRetention {
    /// Milliseconds of wall time of its last record; `None` while it has not ended.
    ended_at: Option<u64>,
    /// Whether it holds a tree saved before a rollback: the only copy of files that the user may want back.
    irreplaceable: bool,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    let store = StateDir::open()?;
    if !args.dry_run {
        authority::ensure_user(&store, RestrictedCommand::Gc)?;
    }
    let sweep = if args.dry_run { GcMode::Measure } else { GcMode::Delete };
    for workspace in store.workspaces()? {
        if let Err(failure) = collect_workspace(&store, &workspace, sweep, out) {
            // A failure in one workspace must not prevent the cleanup of the others.
            failure::report(&failure);
        }
    }
    remove_leftovers(&store, sweep, out)?;
    Ok(Exit::Done)
}

/// Removes programs of other versions, unless a keeper may run from one, and locks of unused trees.
fn remove_leftovers(store: &StateDir, sweep: GcMode, out: &mut Ui) -> Result<(), Failure> {
    for dir in store.loops()? {
        if store.keeper_of(&dir)? != KeeperLiveness::Gone {
            return Ok(());
        }
    }
    for (path, bytes) in store.old_binaries(env!("CARGO_PKG_VERSION"))? {
        if sweep == GcMode::Delete {
            store.remove_binary(&path)?;
        }
        let (name, size) = (path.file_name().unwrap_or_default().display(), words::bytes(bytes));
        out.line(if sweep == GcMode::Delete {
            tr!("Removed the program bin/{name}, {size}", name, size)
        } else {
            tr!("Would remove the program bin/{name}, {size}", name, size)
        });
    }
    if sweep == GcMode::Delete {
        store.sweep_trees()?;
    }
    Ok(())
}

fn collect_workspace(
    store: &StateDir,
    workspace: &Workspace,
    sweep: GcMode,
    out: &mut Ui,
) -> Result<(), Failure> {
    let settings = config_files::load(workspace.root(), &[])?.settings()?.clone();
    let (mut loops, mut unread) = (Vec::new(), 0_u64);
    for dir in workspace.loops()? {
        match LoopView::read(store, dir) {
            Ok(Some(loop_view)) if loop_view.damage.is_none() => loops.push(loop_view),
            Ok(_) | Err(_) => unread += 1,
        }
    }
    loops.sort_by_key(|it| it.state.time.started_at.wall);
    let gone = select_expired(&loops.iter().map(age).collect::<Vec<_>>(), &settings, clock::now().wall);
    let mut kept = Vec::new();
    for (loop_view, gone) in loops.into_iter().zip(gone) {
        if gone { remove(store, &loop_view, sweep, out)? } else { kept.push(loop_view) }
    }
    if unread > 0 {
        // The trees that they need are unknown.
        let unread = words::counted(unread, "loop");
        out.line(tr!(
            "{workspace}: {unread} cannot be read; snapshots stay.",
            workspace = display_name(workspace),
            unread
        ));
        return Ok(());
    }
    shrink(store, workspace, kept, (&settings, sweep), out)
}

fn age(loop_view: &LoopView) -> LoopRetention {
    LoopRetention {
        ended_at: loop_view
            .state
            .outcome()
            .filter(|_| !loop_view.is_alive())
            .map(|_| loop_view.state.time.last_at.wall),
        irreplaceable: loop_view
            .state
            .tree
            .snapshots
            .iter()
            .any(|it| it.when == SnapshotWhen::BeforeRollback),
    }
}

/// Selects the loops to remove, oldest first, by number and by age.
fn select_expired(loops: &[LoopRetention], settings: &Settings, now: u64) -> Vec<bool> {
    let mut surplus = loops.len().saturating_sub(settings.keep_loops as usize);
    let oldest = now.saturating_sub(u64::from(settings.keep_days) * DAY_MS);
    let mut goes = |it: &LoopRetention| match it.ended_at {
        Some(ended_at) if !it.irreplaceable && (surplus > 0 || ended_at < oldest) => {
            surplus = surplus.saturating_sub(1);
            true
        }
        _ => false,
    };
    loops.iter().map(&mut goes).collect()
}

/// Sweeps the snapshots; while they still exceed the limit, the oldest ended loops are removed as well.
fn shrink(
    store: &StateDir,
    workspace: &Workspace,
    mut kept: Vec<LoopView>,
    (settings, sweep): (&Settings, GcMode),
    out: &mut Ui,
) -> Result<(), Failure> {
    if !workspace.snapshots().exists() || !workspace.root().exists() {
        return Ok(());
    }
    let mut snapshots = SnapshotStore::open(&workspace.snapshots(), workspace.root())?;
    while snapshots.collect_garbage(&trees(&kept), GcMode::Measure)?.kept_bytes > settings.keep_bytes {
        let spare = |it: &LoopView| age(it).ended_at.is_some() && !age(it).irreplaceable;
        let Some(index) = kept.iter().position(spare) else { break };
        remove(store, &kept.remove(index), sweep, out)?;
    }
    let collected = snapshots.collect_garbage(&trees(&kept), sweep)?;
    let root = display_name(workspace);
    let loops = words::counted(kept.len() as u64, "loop");
    let (stored, freed) = (words::bytes(collected.kept_bytes), words::bytes(collected.freed_bytes));
    out.line(if sweep == GcMode::Delete {
        tr!("{root}: {loops}, {stored} of snapshots kept. Freed {freed}.", root, loops, stored, freed)
    } else {
        tr!("{root}: {loops}, {stored} of snapshots kept. Would free {freed}.", root, loops, stored, freed)
    });
    Ok(())
}

fn trees(loops: &[LoopView]) -> HashSet<String> {
    let of_loop = |it: &LoopView| {
        let undo =
            it.state.rollback.last.iter().flat_map(|it| [Some(it.from.clone()), it.after.clone()]).flatten();
        let snapshots = it.state.tree.snapshots.iter().map(|it| it.tree.to_owned());
        // The trees for an undo, and the one from which the user's later changes are computed.
        undo.chain(snapshots).chain([it.state.tree.last.clone()]).collect::<Vec<_>>()
    };
    loops.iter().flat_map(of_loop).collect()
}

fn remove(store: &StateDir, loop_view: &LoopView, sweep: GcMode, out: &mut Ui) -> Result<(), Failure> {
    let what = tr!("loop {id} ({task})", id = loop_view.dir.id(), task = loop_view.state.spec.task.0);
    if sweep == GcMode::Measure {
        out.line(tr!("Would remove {what}", what));
        return Ok(());
    }
    let _lock = store.lock_loop(&loop_view.dir)?;
    LoopTemporary::remove(&loop_view.dir);
    std::fs::remove_dir_all(loop_view.dir.path()).map_err(|error| {
        Failure::ended(tr!("cannot remove {path}: {error}", path = loop_view.dir.path().display(), error))
    })?;
    out.line(tr!("Removed {what}", what));
    Ok(())
}

/// The work tree's folder, with its name escaped for the terminal.
fn display_name(workspace: &Workspace) -> String {
    sanitize::visible(&workspace.root().to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::{DAY_MS, LoopRetention, select_expired};
    use loopkeeper_core::settings::Settings;

    #[test]
    fn only_old_ended_loops_go() {
        let now = 1000 * DAY_MS;
        let ended = |days: u64| LoopRetention { ended_at: Some(now - days * DAY_MS), irreplaceable: false };
        let open = || LoopRetention { ended_at: None, irreplaceable: false };
        let precious = |days: u64| LoopRetention { irreplaceable: true, ..ended(days) };
        let check = |loops: &[LoopRetention], keep_loops: u32, expect: &[bool]| {
            let settings = Settings { keep_loops, keep_days: 60, ..Settings::default() };
            assert_eq!(select_expired(loops, &settings, now), expect, "{loops:?}");
        };
        check(&[], 20, &[]);
        check(&[ended(61), ended(59)], 20, &[true, false]);
        check(&[ended(3), ended(2), ended(1)], 2, &[true, false, false]);
        check(&[open(), ended(2), ended(1)], 2, &[false, true, false]);
        check(&[open(), open(), open()], 1, &[false, false, false]);
        check(&[precious(99), ended(2), ended(1)], 2, &[false, true, false]);
    }
}
