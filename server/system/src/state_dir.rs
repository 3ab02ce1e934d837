//! Defines the layout of the state folder: outside every workspace, readable by its user alone. Names files and folders,
//! and does not read them.

pub mod binary;
pub mod find;
pub mod lock;
mod lock_holder;
pub mod socket;
mod stopped_keeper;
pub mod workspace;

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use loopkeeper_text::language::translate;
use loopkeeper_text::message::HintedError;
use loopkeeper_text::{tr, tr_later};

use super::{durable, resource_limits};

/// Why the state folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    #[error("{}", tr!("there is no home folder to keep state in"))]
    NoHome,
    #[error("{}", tr!("LOOPKEEPER_STATE_DIR is `{path}`, which is not an absolute path", path = path.display()))]
    Relative { path: PathBuf },
    #[error("{}", tr!("the state folder {path} belongs to user {owner}, this is user {user}", path = path.display(), owner, user))]
    Foreign { path: PathBuf, owner: u32, user: u32 },
    #[error("{}", tr!("the state folder {path} is open to other users (mode {mode})", path = path.display(), mode = format!("{mode:03o}")))]
    Exposed { path: PathBuf, mode: u32 },
    #[error("{}", tr!("the state folder {path} is on a network disk ({kind})", path = path.display(), kind))]
    Network { path: PathBuf, kind: &'static str },
    #[error("{}", tr!("{dir} is kept for {found}, not for {root}", dir = dir.display(), found = found.display(), root = root.display()))]
    Collision { dir: PathBuf, found: PathBuf, root: PathBuf },
    #[error("{}", tr!("{path} is not a loop's folder", path = path.display()))]
    NoLoop { path: PathBuf },
    #[error("{}", tr!("cannot find the work tree {path}: {source}", path = path.display(), source))]
    NoTree { path: PathBuf, source: io::Error },
    #[error("{}", tr!("cannot {action} {path}: {source}", action = translate(action), path = path.display(), source))]
    Io { action: &'static str, path: PathBuf, source: io::Error },
}

impl HintedError for StateError {
    fn hint(&self) -> Option<String> {
        const STATE_DIR_REMEDY: &str =
            tr_later!("Set LOOPKEEPER_STATE_DIR to a folder of yours on a local disk.");
        Some(match self {
            Self::Exposed { path, .. } => tr!("Run `chmod 700 {path}`.", path = path.display()),
            Self::Collision { dir, .. } => tr!("Move {dir} away.", dir = dir.display()),
            Self::NoLoop { .. } => tr!("`loopkeeper status` lists the loops.").to_owned(),
            Self::NoTree { .. } => {
                tr!("Create the folder again, empty: `loopkeeper rollback LOOP 0` puts its files back.")
                    .to_owned()
            }
            Self::NoHome | Self::Relative { .. } | Self::Foreign { .. } | Self::Network { .. } => {
                translate(STATE_DIR_REMEDY).to_owned()
            }
            Self::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                tr!("Make room on that disk.").to_owned()
            }
            Self::Io { source, .. } => {
                resource_limits::hint(source).unwrap_or_else(|| translate(STATE_DIR_REMEDY)).to_owned()
            }
        })
    }
}

impl StateError {
    pub fn no_tree(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::NoTree { path, source }
    }

    fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

/// The state folder, verified to be this user's alone.
#[derive(Debug, Clone)]
pub struct StateDir {
    root: PathBuf,
}

impl StateDir {
    /// Opens the user's state folder, creating it if missing.
    pub fn open() -> Result<Self, StateError> {
        Self::at(&resolve(|name| std::env::var_os(name))?)
    }

    /// The user's state folder if there is one, so that readers work where none can be made, such as in a read-only home.
    pub fn open_existing() -> Result<Option<Self>, StateError> {
        let root = resolve(|name| std::env::var_os(name))?;
        match root.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            _ => Self::at(&root).map(Some),
        }
    }

    /// Opens the state folder at a given place, creating it if missing.
    pub fn at(root: &Path) -> Result<Self, StateError> {
        durable::make_folder(root).map_err(StateError::io(tr_later!("make the state folder"), root))?;
        let root = root.canonicalize().map_err(StateError::no_tree(root))?;
        verify_private(&root)?;
        let state = Self { root };
        for folder in [
            state.trust(),
            state.bin_dir(),
            state.socket_dir(),
            state.tree_locks_dir(),
            state.workspaces_dir(),
        ] {
            durable::make_folder(&folder).map_err(StateError::io(tr_later!("make"), &folder))?;
        }
        Ok(state)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The list of trusted items.
    pub fn trust(&self) -> PathBuf {
        self.root.join("trust")
    }

    /// The starts of agents of all loops in the last hour.
    pub fn calls(&self) -> PathBuf {
        self.root.join("calls")
    }

    /// The usage limits that loops reached, by agent and account.
    pub fn usage_limits(&self) -> PathBuf {
        self.root.join("usage-limits")
    }

    /// Copies of this program that keepers run from.
    pub fn bin_dir(&self) -> PathBuf {
        self.root.join("bin")
    }

    /// The keepers' sockets.
    pub fn socket_dir(&self) -> PathBuf {
        self.root.join("run")
    }

    /// Locks that record which loop works in which tree.
    pub fn tree_locks_dir(&self) -> PathBuf {
        self.root.join("trees")
    }

    /// The folders of all workspaces.
    pub fn workspaces_dir(&self) -> PathBuf {
        self.root.join("workspaces")
    }
}

/// The place of the state folder, from the environment.
fn resolve(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, StateError> {
    let path = |name: &str| variable(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    if let Some(path) = path("LOOPKEEPER_STATE_DIR") {
        return if path.is_absolute() { Ok(path) } else { Err(StateError::Relative { path }) };
    }
    let home = path("HOME").filter(|it| it.is_absolute());
    // A sandboxed editor would have a separate state folder, which no terminal would ever read.
    let is_sandboxed = |path: &PathBuf| {
        home.as_ref()
            .is_some_and(|it| path.starts_with(it.join(".var/app")) || path.starts_with(it.join("snap")))
    };
    path("XDG_STATE_HOME")
        .filter(|it| it.is_absolute() && !is_sandboxed(it))
        .or_else(|| home.as_ref().map(|it| it.join(".local/state")))
        .map(|it| it.join("loopkeeper"))
        .ok_or(StateError::NoHome)
}

/// The folder must be this user's alone: a user who can write to it can make loops run anything.
fn verify_private(root: &Path) -> Result<(), StateError> {
    let path = || root.to_owned();
    // Metadata of the opened folder, so that the folder found is the one checked.
    let found = std::fs::File::open(root).and_then(|it| it.metadata());
    let found = found.map_err(StateError::io(tr_later!("look at"), root))?;
    let user = rustix::process::geteuid().as_raw();
    if found.uid() != user {
        return Err(StateError::Foreign { path: path(), owner: found.uid(), user });
    }
    let mode = found.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(StateError::Exposed { path: path(), mode });
    }
    match network_file_system(root) {
        Some(kind) => Err(StateError::Network { path: path(), kind }),
        None => Ok(()),
    }
}

/// Locks and syncs have other guarantees there than on a local disk.
#[cfg(target_os = "linux")]
fn network_file_system(path: &Path) -> Option<&'static str> {
    match rustix::fs::statfs(path).ok()?.f_type as u32 {
        0x6969 => Some("NFS"),
        0x517B | 0xFF53_4D42 | 0xFE53_4D42 => Some("SMB"),
        0x0102_1997 => Some("9p"),
        0x00C3_6400 => Some("Ceph"),
        0x5346_414F | 0x6B41_4653 => Some("AFS"),
        0x7375_7245 => Some("Coda"),
        0x0BD0_0BD0 => Some("Lustre"),
        _ => None,
    }
}

#[cfg(not(target_os = "linux"))]
fn network_file_system(_path: &Path) -> Option<&'static str> {
    None
}

#[cfg(test)]
mod tests;
