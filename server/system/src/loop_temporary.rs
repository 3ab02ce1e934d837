//! Manages the folder for temporary files of a loop's agents and checks, which is removed after the loop. Their files
//! do not mix with those of other programs, and none remain.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use super::forced_removal;
use super::state_dir::StateDir;
use super::state_dir::workspace::LoopDir;

/// Names of the folders begin with it; the loop's id follows. Short, because the path of a socket is limited.
const PREFIX: &str = "loopkeeper-";
/// The link in the loop's folder to the folder, which depends on the environment of the keeper that made it.
const LINK: &str = "temporary";
/// Used if the environment names no folder outside of the work tree.
const DEFAULT_PARENT: &str = "/tmp";
const VARIABLES: [&str; 3] = ["TMPDIR", "TMP", "TEMP"];
/// Separate folders, so that checks do not find what the agent left.
const AGENTS: &str = "agent";
const CHECKS: &str = "checks";

/// The folder of one loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopTemporary {
    folder: PathBuf,
}

impl LoopTemporary {
    /// Makes the folder, or finds that of an earlier keeper of the loop.
    pub fn create(dir: &LoopDir) -> io::Result<Self> {
        Self::create_below(&choose_parent(dir.root()), dir)
    }

    fn create_below(parent: &Path, dir: &LoopDir) -> io::Result<Self> {
        let recorded = find_recorded(dir);
        let folder = recorded.clone().unwrap_or_else(|| parent.join(folder_name(dir)));
        if recorded.is_none() {
            // Before the folder is made, which would otherwise remain after a kill in between.
            record(dir, &folder)?;
            make_private(&folder)?;
        }
        let made = Self { folder };
        make_private(&made.of_agents())?;
        make_private(&made.of_checks())?;
        Ok(made)
    }

    pub fn path(&self) -> &Path {
        &self.folder
    }

    pub fn of_agents(&self) -> PathBuf {
        self.folder.join(AGENTS)
    }

    pub fn of_checks(&self) -> PathBuf {
        self.folder.join(CHECKS)
    }

    /// Removes the folder of a loop that has no processes and gets none, if there is one.
    pub fn remove(dir: &LoopDir) {
        let Some(folder) = recorded_path(dir) else { return };
        let removed = remove_own(&folder)
            .and_then(|()| remove_own(&path_aside(&folder)))
            .and_then(|()| fs::remove_file(link_path(dir)));
        if let Err(error) = removed {
            tracing::warn!("could not remove the temporary files in {}: {error}", folder.display());
        }
    }

    /// Removes the folder of a loop whose keeper was killed, unless a keeper starts in the meantime.
    pub fn remove_abandoned(store: &StateDir, dir: &LoopDir) {
        let Some(folder) = recorded_path(dir) else { return };
        if let Err(error) = remove_without_keeper(store, dir, &folder) {
            // A reader without write permission still shows the loop.
            tracing::debug!("could not remove the temporary files in {}: {error}", folder.display());
        }
    }
}

/// The folder is not removed in place, because a keeper that starts would use it, nor under the lock, because other loops
/// would wait for the removal. The link is removed last, so that the next reader finds the rest if this process is killed.
fn remove_without_keeper(store: &StateDir, dir: &LoopDir, folder: &Path) -> io::Result<()> {
    let aside = path_aside(folder);
    remove_own(&aside)?;
    let move_aside = || if is_own_folder(folder) { fs::rename(folder, &aside) } else { Ok(()) };
    let Some(moved) = store.without_keeper(dir, move_aside).map_err(io::Error::other)? else { return Ok(()) };
    moved?;
    remove_own(&aside)?;
    let unlink = || if is_own_folder(folder) { Ok(()) } else { fs::remove_file(link_path(dir)) };
    store.without_keeper(dir, unlink).map_err(io::Error::other)?.unwrap_or(Ok(()))
}

/// The variables that set the folder for temporary files of programs.
pub fn variables(folder: &Path) -> Vec<(OsString, OsString)> {
    VARIABLES.iter().map(|it| (it.into(), folder.into())).collect()
}

fn folder_name(dir: &LoopDir) -> String {
    format!("{PREFIX}{}", dir.id())
}

fn link_path(dir: &LoopDir) -> PathBuf {
    dir.path().join(LINK)
}

/// Temporary files in the work tree would be changes.
fn choose_parent(root: &Path) -> PathBuf {
    let named = std::env::temp_dir().canonicalize().ok().filter(|it| !it.starts_with(root));
    named.unwrap_or_else(|| DEFAULT_PARENT.into())
}

/// The folder that the link leads to. Without a sandbox an agent can change the link, so it decides nothing alone: the
/// name has to be that of the loop, and the folder one of this user.
fn find_recorded(dir: &LoopDir) -> Option<PathBuf> {
    recorded_path(dir).filter(|it| is_own_folder(it))
}

fn recorded_path(dir: &LoopDir) -> Option<PathBuf> {
    let folder = fs::read_link(link_path(dir)).ok()?;
    folder.file_name().is_some_and(|it| it == folder_name(dir).as_str()).then_some(folder)
}

/// The name under which the folder of an abandoned loop is removed.
fn path_aside(folder: &Path) -> PathBuf {
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push("-old");
    folder.with_file_name(name)
}

fn remove_own(folder: &Path) -> io::Result<()> {
    if is_own_folder(folder) { forced_removal::remove_folder(folder) } else { Ok(()) }
}

fn is_own_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.is_dir() && it.uid() == geteuid().as_raw())
}

fn record(dir: &LoopDir, folder: &Path) -> io::Result<()> {
    match fs::remove_file(link_path(dir)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => symlink(folder, link_path(dir)),
    }
}

/// Anyone can make a folder of this name in a shared parent: only one of this user is used, and closed to others.
fn make_private(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_own_folder(folder) => {
            fs::set_permissions(folder, Permissions::from_mode(0o700))
        }
        made => made,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
    use crate::state_dir::StateDir;

    struct World {
        around: tempfile::TempDir,
        state: StateDir,
        dir: LoopDir,
    }

    fn world() -> World {
        let around = tempfile::tempdir().unwrap();
        for name in ["root", "parent", "other"] {
            fs::create_dir(around.path().join(name)).unwrap();
        }
        let state = StateDir::at(&around.path().join("state")).unwrap();
        let workspace = state.workspace(&around.path().join("root")).unwrap();
        let dir = workspace.new_loop(&state, clock::now()).unwrap();
        World { around, state, dir }
    }

    #[test]
    fn a_later_keeper_uses_the_folder_of_the_earlier_one_and_removes_it() {
        let World { around, dir, .. } = world();
        let made = LoopTemporary::create_below(&around.path().join("parent"), &dir).unwrap();
        fs::write(made.of_agents().join("file"), "").unwrap();
        fs::set_permissions(made.of_checks(), Permissions::from_mode(0o777)).unwrap();
        let again = LoopTemporary::create_below(&around.path().join("other"), &dir).unwrap();
        assert_eq!((again.path(), again.of_agents().join("file").exists()), (made.path(), true));
        let mode = fs::metadata(made.of_checks()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        LoopTemporary::remove(&dir);
        assert!(!made.path().exists() && fs::symlink_metadata(link_path(&dir)).is_err());
        LoopTemporary::remove(&dir);
    }

    #[test]
    fn the_folder_of_an_abandoned_loop_is_removed_only_while_it_has_no_keeper() {
        let World { around, state, dir } = world();
        let made = LoopTemporary::create_below(&around.path().join("parent"), &dir).unwrap();
        let lock = state.lock_loop(&dir).unwrap();
        LoopTemporary::remove_abandoned(&state, &dir);
        assert!(made.of_agents().exists());
        drop(lock);
        LoopTemporary::remove_abandoned(&state, &dir);
        assert!(!made.path().exists() && fs::symlink_metadata(link_path(&dir)).is_err());
        assert_eq!(fs::read_dir(around.path().join("parent")).unwrap().count(), 0);
    }

    #[test]
    fn a_killed_removal_is_finished_by_the_next_one() {
        for by_keeper in [true, false] {
            let World { around, state, dir } = world();
            let parent = around.path().join("parent");
            let made = LoopTemporary::create_below(&parent, &dir).unwrap();
            fs::write(made.of_agents().join("file"), "").unwrap();
            fs::rename(made.path(), path_aside(made.path())).unwrap();
            if by_keeper {
                let again = LoopTemporary::create_below(&parent, &dir).unwrap();
                assert!(!again.of_agents().join("file").exists());
                LoopTemporary::remove(&dir);
            } else {
                LoopTemporary::remove_abandoned(&state, &dir);
            }
            assert_eq!(fs::read_dir(&parent).unwrap().count(), 0, "{by_keeper}");
            assert!(fs::symlink_metadata(link_path(&dir)).is_err(), "{by_keeper}");
        }
    }

    #[test]
    fn folders_that_a_link_leads_to_are_neither_used_nor_removed() {
        let World { around, dir, .. } = world();
        let (parent, other) = (around.path().join("parent"), around.path().join("other"));
        fs::write(other.join("file"), "").unwrap();
        symlink(&other, link_path(&dir)).unwrap();
        LoopTemporary::remove(&dir);
        assert!(other.join("file").exists());
        symlink(&other, parent.join(folder_name(&dir))).unwrap();
        let error = LoopTemporary::create_below(&parent, &dir).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        LoopTemporary::remove(&dir);
        assert!(other.join("file").exists());
    }

    #[test]
    fn temporary_files_stay_out_of_the_work_tree() {
        let parent = std::env::temp_dir().canonicalize().unwrap();
        assert_eq!(choose_parent(Path::new("/work/tree")), parent);
        assert_eq!(choose_parent(&parent), Path::new(DEFAULT_PARENT));
    }
}
