//! Opens clean rooms: the overlay of the work tree, hidden files, and the environment.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopkeeper_core::check::CommandExit;
use loopkeeper_system::clean_room::CleanRoom;
use loopkeeper_system::process::{Job, StdinSource, StreamLayout, WardenPool};
use loopkeeper_system::snapshots::TreeEntry;
use loopkeeper_system::trust::permit::Approved;

use super::NoVerdict;
use crate::run_context::{EnvVars, RunContext, extend_env};

/// Far above the time of a mount and a shell, which take milliseconds.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// How a room differs from the work tree.
#[derive(Debug, Clone, Default)]
pub(super) struct RoomLayout {
    pub(super) entries: Vec<PinnedEntry>,
    /// Ignored files of the agent that are hidden.
    pub(super) products: Vec<PathBuf>,
    /// Caches that are hidden.
    pub(super) caches: Vec<PathBuf>,
    /// Files that get the modification time of this moment.
    pub(super) touched: Vec<PathBuf>,
}

/// A judge as it was at the start.
#[derive(Debug, Clone)]
pub(super) enum PinnedEntry {
    Tree(PathBuf, TreeEntry),
    /// Hidden below the home folder.
    Home(PathBuf),
    /// The program of this name that runs without the changed one.
    Program(String, PathBuf),
}

impl RoomLayout {
    pub(super) fn with_entries(&self, entries: Vec<PinnedEntry>) -> Self {
        Self { entries, ..self.clone() }
    }
}

/// Opens a clean room at the first location where the kernel supports an overlay.
pub(super) async fn open_room(
    runtime: &RunContext,
    layout: &RoomLayout,
) -> Result<(CleanRoom, WardenPool), NoVerdict> {
    let mut failure = None;
    for parent in [runtime.outputs.as_path(), Path::new("/dev/shm"), &std::env::temp_dir()] {
        match try_room(runtime, parent, layout).await {
            Ok(made) => return Ok(made),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    Err(failure.unwrap_or_else(|| io::Error::other("no folder for it")).into())
}

async fn try_room(
    runtime: &RunContext,
    parent: &Path,
    layout: &RoomLayout,
) -> io::Result<(CleanRoom, WardenPool)> {
    let name = format!("room-{}", uuid::Uuid::new_v4().simple());
    let room = CleanRoom::create(&parent.join(name), &runtime.root())?;
    fill(&room, layout)?;
    let wardens = WardenPool::in_overlay(runtime.check_wardens.isolation(), room.mount());
    let job = Job {
        argv: Approved::internal(["/bin/sh", "-c", ":"].map(OsString::from).to_vec()),
        cwd: runtime.root(),
        env: runtime.check_env.to_vec(),
        stdin: StdinSource::Null,
        grace: Duration::ZERO,
        output: None,
    };
    match wardens.run_to_end(&job, StreamLayout::Together, PROBE_TIMEOUT).await.ending {
        CommandExit::Exited(0) => Ok((room, wardens)),
        CommandExit::NotStarted(why) => Err(io::Error::other(why)),
        other => Err(io::Error::other(format!("its first process did not run: {other:?}"))),
    }
}

fn fill(room: &CleanRoom, layout: &RoomLayout) -> io::Result<()> {
    for entry in &layout.entries {
        if let PinnedEntry::Tree(path, entry) = entry {
            room.write(path, entry)?;
        }
    }
    for path in layout.products.iter().chain(&layout.caches) {
        room.hide(path)?;
    }
    // If a file was removed meanwhile, the comparison of the tree detects it.
    layout.touched.iter().try_for_each(|it| match room.refresh(it) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    })
}

/// The environment of checks, with a folder of the room for temporary files, and the home folder and the programs of
/// the start where these changed.
pub(super) fn room_env(runtime: &RunContext, room: &CleanRoom, layout: &RoomLayout) -> io::Result<EnvVars> {
    let mut env = runtime.check_env.as_ref().clone();
    let folder = OsString::from(room.temporary());
    extend_env(&mut env, ["TMPDIR", "TMP", "TEMP"].map(|it| (it.into(), folder.clone())).to_vec());
    let hidden: Vec<PathBuf> = layout.entries.iter().filter_map(PinnedEntry::below_home).collect();
    if let Some(home) = env_value(&env, "HOME").filter(|_| !hidden.is_empty()) {
        let made = room.make_home(Path::new(&home), &hidden)?;
        extend_env(&mut env, vec![("HOME".into(), made.into())]);
    }
    let programs: Vec<_> = layout.entries.iter().filter_map(PinnedEntry::program).collect();
    if let Some(path) = env_value(&env, "PATH").filter(|_| !programs.is_empty()) {
        let made = room.make_programs(programs.into_iter())?;
        let folders = std::iter::once(made).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(folders).map_err(io::Error::other)?;
        extend_env(&mut env, vec![("PATH".into(), path)]);
    }
    Ok(env)
}

pub(super) fn env_value(env: &EnvVars, name: &str) -> Option<OsString> {
    env.iter().find(|(known, _)| known == OsStr::new(name)).map(|(_, value)| value.clone())
}

impl PinnedEntry {
    fn below_home(&self) -> Option<PathBuf> {
        match self {
            Self::Home(path) => Some(path.clone()),
            Self::Tree(..) | Self::Program(..) => None,
        }
    }

    fn program(&self) -> Option<(&str, &Path)> {
        match self {
            Self::Program(name, original) => Some((name, original)),
            Self::Tree(..) | Self::Home(_) => None,
        }
    }
}
