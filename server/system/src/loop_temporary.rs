//! The folder for temporary files of a loop's agents and checks, which is removed after the loop. In it nothing mixes
//! with files of other programs, and nothing remains of what agents and checks left behind.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use super::forced_removal;
use super::state_dir::workspace::LoopDir;

/// Names of the folders begin with it; the loop's id follows. Short, because the path of a socket is limited.
const PREFIX: &str = "loopkeeper-";
/// The link in the loop's folder to the folder, which depends on the environment of the keeper that made it.
const LINK: &str = "temporary";
/// Used if the environment names no folder outside of the work tree.
const DEFAULT_PARENT: &str = "/tmp";
const VARIABLES: [&str; 3] = ["TMPDIR", "TMP", "TEMP"];
/// In the folder; separate, so that checks do not find what the agent left.
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
            // Before the folder, which would otherwise remain after a kill in between.
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

    /// Removes the folder of a loop that has no processes, if there is one.
    pub fn remove(dir: &LoopDir) {
        let Some(folder) = find_recorded(dir) else { return };
        let removed = forced_removal::remove_folder(&folder).and_then(|()| fs::remove_file(link(dir)));
        if let Err(error) = removed {
            tracing::warn!("could not remove the temporary files in {}: {error}", folder.display());
        }
    }
}

/// The variables that lead programs to a folder for temporary files.
pub fn variables(folder: &Path) -> Vec<(OsString, OsString)> {
    VARIABLES.iter().map(|it| (it.into(), folder.into())).collect()
}

fn folder_name(dir: &LoopDir) -> String {
    format!("{PREFIX}{}", dir.id())
}

fn link(dir: &LoopDir) -> PathBuf {
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
    let folder = fs::read_link(link(dir)).ok()?;
    let is_named = folder.file_name().is_some_and(|it| it == folder_name(dir).as_str());
    (is_named && is_own_folder(&folder)).then_some(folder)
}

fn is_own_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.is_dir() && it.uid() == geteuid().as_raw())
}

fn record(dir: &LoopDir, folder: &Path) -> io::Result<()> {
    match fs::remove_file(link(dir)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => symlink(folder, link(dir)),
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

    struct Place {
        around: tempfile::TempDir,
        dir: LoopDir,
    }

    fn place() -> Place {
        let around = tempfile::tempdir().unwrap();
        for name in ["root", "parent", "other"] {
            fs::create_dir(around.path().join(name)).unwrap();
        }
        let state = StateDir::at(&around.path().join("state")).unwrap();
        let workspace = state.workspace(&around.path().join("root")).unwrap();
        let dir = workspace.new_loop(&state, clock::now()).unwrap();
        Place { around, dir }
    }

    #[test]
    fn a_later_keeper_uses_the_folder_of_the_earlier_one_and_removes_it() {
        let Place { around, dir } = place();
        let made = LoopTemporary::create_below(&around.path().join("parent"), &dir).unwrap();
        fs::write(made.of_agents().join("file"), "").unwrap();
        fs::set_permissions(made.of_checks(), Permissions::from_mode(0o777)).unwrap();
        let again = LoopTemporary::create_below(&around.path().join("other"), &dir).unwrap();
        assert_eq!((again.path(), again.of_agents().join("file").exists()), (made.path(), true));
        let mode = fs::metadata(made.of_checks()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        LoopTemporary::remove(&dir);
        assert!(!made.path().exists() && fs::symlink_metadata(link(&dir)).is_err());
        LoopTemporary::remove(&dir);
    }

    #[test]
    fn nothing_else_is_used_or_removed() {
        let Place { around, dir } = place();
        let (parent, other) = (around.path().join("parent"), around.path().join("other"));
        fs::write(other.join("file"), "").unwrap();
        symlink(&other, link(&dir)).unwrap();
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
