//! Opens clean rooms: the overlay or copy of the work tree, hidden files, and the environment.

use loopkeeper_text::tr;
use std::cell::OnceCell;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopkeeper_core::check::CommandExit;
use loopkeeper_core::journal::CleanRoomCopy;
use loopkeeper_system::clean_room::{
    self, BuildFolders, CleanRoom, CopyRequest, HomeContent, HomeRequest, OutsideRequest,
};
use loopkeeper_system::process::{Job, StdinSource, StreamLayout, WardenPool};
use loopkeeper_system::sandbox::Isolation;
use loopkeeper_system::snapshots::TreeEntry;
use loopkeeper_system::trust::permit::ApprovedInput;

use super::{NoVerdict, VerdictRequest};
use crate::run_context::{EnvVars, RunContext, env_value, extend_env};

/// Far above the time of a mount and a shell, which take milliseconds, and of a look at every file of a repository.
const PREPARE_TIMEOUT: Duration = Duration::from_secs(30);

/// How a room differs from the work tree.
#[derive(Debug, Clone, Default)]
pub(super) struct RoomLayout {
    pub(super) entries: Vec<PinnedEntry>,
    /// Ignored files of the agent that are hidden.
    pub(super) products: Vec<PathBuf>,
    /// Those that are included because a check needs them.
    pub(super) needed: Vec<PathBuf>,
    /// Caches that are hidden.
    pub(super) caches: Vec<PathBuf>,
    /// New files and folders outside the work tree that are hidden.
    pub(super) outside: Vec<PathBuf>,
    /// Those of them that are not hidden, because a check needs some.
    pub(super) shown: Vec<PathBuf>,
    /// Files that get the modification time of this moment.
    pub(super) touched: Vec<PathBuf>,
    /// Build folders in a copy of the tree.
    pub(super) builds: BuildFolders,
    pub(super) home: HomeContent,
    /// Variables that change the order of tests.
    pub(super) order: EnvVars,
}

/// The environment in a room.
pub(super) struct RoomEnv {
    pub(super) variables: EnvVars,
    /// The home folder lacks something that the user's holds.
    pub(super) lacks_home_files: bool,
}

/// Where the rooms of one verdict are, found when the first one is opened.
#[derive(Debug, Default)]
pub(super) struct RoomSite(OnceCell<FoundSite>);

#[derive(Debug)]
enum FoundSite {
    /// Overlays whose scratch folders are in this folder.
    Overlay(OverlaySite),
    /// Copies of the tree at another path.
    Copy(CleanRoomCopy),
}

#[derive(Debug, Clone)]
struct OverlaySite {
    parent: PathBuf,
    /// Of the names of rooms.
    prefix: &'static str,
    /// Why what is new outside the work tree cannot be hidden, as text.
    visible: Option<String>,
}

impl RoomSite {
    /// Why what is new outside the work tree is not hidden, as text.
    pub(super) fn visible_outside(&self) -> Option<&str> {
        match self.0.get()? {
            FoundSite::Overlay(site) => site.visible.as_deref(),
            FoundSite::Copy(copied) => Some(&copied.why),
        }
    }

    /// About the copy, where no overlay can be had.
    pub(super) fn as_copy(&self) -> Option<&CleanRoomCopy> {
        match self.0.get() {
            Some(FoundSite::Copy(copied)) => Some(copied),
            _ => None,
        }
    }
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

/// Opens a clean room: an overlay at the first location where the kernel supports one, else a copy of the tree.
pub(super) async fn open_room(
    runtime: &RunContext,
    request: &VerdictRequest,
    layout: &RoomLayout,
) -> Result<(CleanRoom, WardenPool), NoVerdict> {
    match request.site.0.get() {
        Some(FoundSite::Overlay(site)) => return Ok(open_overlay(runtime, request, site, layout).await?),
        Some(FoundSite::Copy(_)) => return open_copy(runtime, request, layout).await,
        None => {}
    }
    let mut failure = None;
    for visible in [false, true] {
        let own = (runtime.outputs.clone(), clean_room::PREFIX);
        let shared = clean_room::shared_parents().map(|it| (it, clean_room::SHARED_PREFIX));
        for (parent, prefix) in std::iter::once(own).chain(shared) {
            let visible = failure.as_ref().map(ToString::to_string).filter(|_| visible);
            let site = OverlaySite { parent, prefix, visible };
            match open_overlay(runtime, request, &site, layout).await {
                Ok(made) => {
                    let _ = request.site.0.set(FoundSite::Overlay(site));
                    return Ok(made);
                }
                Err(error) => failure = failure.or(Some(error)),
            }
        }
    }
    let why = failure.map_or_else(|| tr!("no folder for it").to_owned(), |it| it.to_string());
    let made = open_copy(runtime, request, layout).await.map_err(|error| error.after(&why))?;
    let linked = made.0.copy_facts().iter().flat_map(|it| &it.linked).map(|it| shown(it)).collect();
    let is_writable = !runtime.check_wardens.isolation().can_close_folders();
    let why = runtime.redactor.redact(&why);
    let _ = request.site.0.set(FoundSite::Copy(CleanRoomCopy { why, linked, is_writable }));
    Ok(made)
}

async fn open_overlay(
    runtime: &RunContext,
    request: &VerdictRequest,
    site: &OverlaySite,
    layout: &RoomLayout,
) -> io::Result<(CleanRoom, WardenPool)> {
    let mut room = CleanRoom::create(&site.parent.join(room_name(site.prefix)), &runtime.root())?;
    fill(&room, layout)?;
    if site.visible.is_none() {
        let mut needed = needed_outside(runtime);
        needed.push(room.folder().to_owned());
        let (since, needed) = (request.since, with_real_paths(needed));
        room.hide_outside(&OutsideRequest { since, needed: &needed, covered: &layout.outside })?;
    }
    let wardens = WardenPool::in_room(&isolation_in_room(runtime), room.access());
    prepare(&wardens, (&runtime.root(), ":"), &runtime.check_env).await?;
    Ok((room, wardens))
}

async fn open_copy(
    runtime: &RunContext,
    request: &VerdictRequest,
    layout: &RoomLayout,
) -> Result<(CleanRoom, WardenPool), NoVerdict> {
    let tree = request.tree.clone();
    let recorded = runtime.with_store(move |store| Ok(store.paths(&tree)?)).await?;
    let wanted = CopyRequest {
        root: runtime.root(),
        recorded,
        own: runtime.outputs.clone(),
        absent: layout.products.iter().chain(&layout.caches).cloned().collect(),
        changed: layout.entries.iter().filter_map(PinnedEntry::in_tree).cloned().collect(),
        builds: layout.builds,
    };
    let (folder, layout) = (runtime.outputs.join(room_name(clean_room::PREFIX)), layout.clone());
    let make = move || {
        let room = CleanRoom::copy(&folder, wanted)?;
        fill(&room, &layout)?;
        Ok::<_, io::Error>(room)
    };
    // A large tree takes seconds.
    let room = tokio::task::spawn_blocking(make).await.map_err(io::Error::other)??;
    let wardens = WardenPool::in_room(&isolation_in_room(runtime), room.access());
    let mut env = runtime.check_env.as_ref().clone();
    move_into(&room, &mut env);
    // The index remembers the files of the work tree: without this, all of them look changed to some commands.
    let refresh = "command -v git >/dev/null && git update-index -q --refresh; :";
    for repository in room.copy_facts().iter().flat_map(|it| &it.repositories) {
        prepare(&wardens, (repository, refresh), &env).await?;
    }
    Ok((room, wardens))
}

/// The paths outside the work tree that a room needs as they are, however new: of the loop, and of the repository.
pub(super) fn needed_outside(runtime: &RunContext) -> Vec<PathBuf> {
    let root = runtime.root();
    let repository = clean_room::repository_of(&root);
    let state = runtime.calls.parent().map(Path::to_owned);
    [root, runtime.outputs.clone()].into_iter().chain(state).chain(repository).collect()
}

/// The paths, also without links.
pub(super) fn with_real_paths(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let real: Vec<PathBuf> = paths.iter().filter_map(|it| it.canonicalize().ok()).collect();
    paths.into_iter().chain(real).collect()
}

/// The isolation of checks, without the loop's temporary folder: it is older than the loop's first record, so it does not
/// count as new.
fn isolation_in_room(runtime: &RunContext) -> Isolation {
    let isolation = runtime.check_wardens.isolation().clone();
    runtime.temporary.iter().fold(isolation, |it, temporary| it.hiding(temporary.path()))
}

fn room_name(prefix: &str) -> String {
    let id = uuid::Uuid::new_v4().simple().to_string();
    // Short, because the path of a socket in a copy is limited.
    format!("{prefix}{}", id.get(..8).unwrap_or(&id))
}

/// Runs a line of ours in the room, which also shows whether anything can run there.
async fn prepare(wardens: &WardenPool, (folder, line): (&Path, &str), env: &EnvVars) -> io::Result<()> {
    let job = Job {
        argv: ApprovedInput::internal(["/bin/sh", "-c", line].map(OsString::from).to_vec()),
        cwd: folder.to_owned(),
        env: env.clone(),
        stdin: StdinSource::Null,
        grace: Duration::ZERO,
        output: None,
    };
    match wardens.run_to_end(&job, StreamLayout::Together, PREPARE_TIMEOUT).await.ending {
        CommandExit::Exited(0) => Ok(()),
        CommandExit::NotStarted(why) => Err(io::Error::other(why)),
        other => Err(io::Error::other(tr!(
            "its first process did not run: {ending}",
            ending = format!("{other:?}")
        ))),
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

/// The environment of checks, with folders of the room for temporary files and as the home folder, and the programs of
/// the start where these changed.
pub(super) fn room_env(runtime: &RunContext, room: &CleanRoom, layout: &RoomLayout) -> io::Result<RoomEnv> {
    let mut env = runtime.check_env.as_ref().clone();
    move_into(room, &mut env);
    let folder = OsString::from(room.temporary());
    extend_env(&mut env, ["TMPDIR", "TMP", "TEMP"].map(|it| (it.into(), folder.clone())).to_vec());
    let lacks_home_files = set_home(runtime, room, layout, &mut env)?;
    let programs: Vec<_> = layout.entries.iter().filter_map(PinnedEntry::program).collect();
    if let Some(path) = env_value(&env, "PATH").filter(|_| !programs.is_empty()) {
        let made = room.make_programs(programs.into_iter())?;
        let folders = std::iter::once(made).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(folders).map_err(io::Error::other)?;
        extend_env(&mut env, vec![("PATH".into(), path)]);
    }
    extend_env(&mut env, layout.order.clone());
    Ok(RoomEnv { variables: env, lacks_home_files })
}

/// Sets the home folder; also returns whether the new one lacks something. A home folder in the work tree is a part of
/// the tree.
fn set_home(
    runtime: &RunContext,
    room: &CleanRoom,
    layout: &RoomLayout,
    env: &mut EnvVars,
) -> io::Result<bool> {
    let (root, inside) = (runtime.root(), room.root());
    let home = env_value(env, "HOME").map(PathBuf::from).filter(|it| it.is_absolute() && it.is_dir());
    let Some(home) = home.filter(|it| !it.starts_with(&root) && !it.starts_with(&inside)) else {
        return Ok(false);
    };
    let hidden: Vec<PathBuf> = layout.entries.iter().filter_map(PinnedEntry::below_home).collect();
    if layout.home == HomeContent::Everything && hidden.is_empty() {
        return Ok(false);
    }
    let request = HomeRequest { home: &home, content: layout.home, hidden: &hidden, root: (&root, &inside) };
    let made = room.make_home(&request)?;
    let unset = made.variables.into_iter().filter(|(name, _)| env_value(env, name).is_none());
    let mut more: EnvVars = unset.map(|(name, path)| (name.into(), path.into())).collect();
    more.push(("HOME".into(), made.path.into()));
    extend_env(env, more);
    Ok(made.leaves_out)
}

/// Paths in the work tree become those of a copy, in which no repository around it is found. An overlay is another file
/// system than the repository around it, where Git would stop.
fn move_into(room: &CleanRoom, env: &mut EnvVars) {
    let moved = |(name, value): &(OsString, OsString)| Some((name.clone(), room.moved_value(value)?));
    let mut more: EnvVars = env.iter().filter_map(moved).collect();
    more.push(match room.copy_facts() {
        Some(_) => ("GIT_CEILING_DIRECTORIES".into(), room.folder().into()),
        None => ("GIT_DISCOVERY_ACROSS_FILESYSTEM".into(), "1".into()),
    });
    extend_env(env, more);
}

pub(super) fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

impl PinnedEntry {
    /// A file of the work tree with another text.
    pub(super) fn edited(runtime: &RunContext, path: &str, text: String) -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        let metadata = std::fs::metadata(runtime.root().join(path));
        let executable = metadata.is_ok_and(|it| it.permissions().mode() & 0o111 != 0);
        Self::Tree(PathBuf::from(path), TreeEntry::File { bytes: text.into_bytes(), executable })
    }

    fn in_tree(&self) -> Option<&PathBuf> {
        match self {
            Self::Tree(path, _) => Some(path),
            Self::Home(_) | Self::Program(..) => None,
        }
    }

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
