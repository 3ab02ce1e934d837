//! Manages the files of one workspace, and of each loop in it.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use loopkeeper_task::TaskId;
use loopkeeper_text::moment::Moment;
use loopkeeper_text::tr_later;
use rustix::rand::{GetRandomFlags, getrandom};
use sha2::{Digest, Sha256};

use super::{StateDir, StateError};
use crate::durable;

/// Folder below a loop's folder: the agent's home, for agents that find our hooks there.
pub const HOME: &str = "home";

/// The folder kept for one root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    pub(super) dir: PathBuf,
    pub(super) root: PathBuf,
}

/// The folder of one loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopDir {
    id: String,
    dir: PathBuf,
    root: PathBuf,
}

impl StateDir {
    /// Opens the folder of the workspace at `root`, creating it if missing.
    pub fn workspace(&self, root: &Path) -> Result<Workspace, StateError> {
        let root = root.canonicalize().map_err(StateError::io(tr_later!("find the workspace"), root))?;
        let dir = self.workspaces_dir().join(path_id(&root));
        let workspace = Workspace { dir, root };
        durable::make_folder(&workspace.loops_dir())
            .map_err(StateError::io(tr_later!("make"), &workspace.dir))?;
        durable::make_folder(&workspace.dir.join("checks"))
            .map_err(StateError::io(tr_later!("make"), &workspace.dir))?;
        workspace.record_root()?;
        Ok(workspace)
    }

    /// The folder of the workspace at `root`, if it exists. Creates nothing.
    pub fn known_workspace(&self, root: &Path) -> Option<Workspace> {
        let root = root.canonicalize().ok()?;
        Workspace::read(&self.workspaces_dir().join(path_id(&root))).filter(|it| it.root == root)
    }

    /// Path of the folder for the workspace at `root`, a real path, whether or not it exists.
    pub fn workspace_folder(&self, root: &Path) -> PathBuf {
        self.workspaces_dir().join(path_id(root))
    }

    /// The state folder, workspace and loop that a loop's folder belongs to.
    pub fn of_loop(dir: &Path) -> Result<(Self, Workspace, LoopDir), StateError> {
        let no_loop = || StateError::NoLoop { path: dir.to_owned() };
        let dir = dir.canonicalize().map_err(|_| no_loop())?;
        let id = dir.file_name().and_then(OsStr::to_str).filter(|it| is_loop_id(it)).ok_or_else(no_loop)?;
        let mut above = dir.ancestors().skip(2);
        let (Some(kept), Some(state)) = (above.next(), above.nth(1)) else { return Err(no_loop()) };
        let workspace = Workspace::read(kept).ok_or_else(no_loop)?;
        let found = LoopDir { id: id.to_owned(), root: workspace.root.clone(), dir: dir.clone() };
        let state = Self::at(state)?;
        if state.workspaces_dir().join(path_id(&workspace.root)).join("loops").join(id) == dir {
            Ok((state, workspace, found))
        } else {
            Err(no_loop())
        }
    }
}

impl Workspace {
    /// Real path of the workspace.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The snapshot store of the workspace.
    pub fn snapshots(&self) -> PathBuf {
        self.dir.join("snapshots.git")
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// The record of check rounds without a loop.
    pub fn checks(&self, task: &TaskId) -> PathBuf {
        self.dir.join("checks").join(format!("{}.jsonl", file_name_of(&task.0)))
    }

    /// The question about this task that the user was asked before a start, as one word; empty if none was asked.
    pub fn asked_before_start(&self, task: &TaskId) -> String {
        std::fs::read_to_string(self.question_file(task)).unwrap_or_default().trim().to_owned()
    }

    /// Records the question, so that it is asked once.
    pub fn record_asked(&self, task: &TaskId, word: &str) -> Result<(), StateError> {
        let file = self.question_file(task);
        let folder = self.dir.join("asked");
        durable::make_folder(&folder).map_err(StateError::io(tr_later!("make"), &folder))?;
        std::fs::write(&file, format!("{word}\n")).map_err(StateError::io(tr_later!("write"), &file))
    }

    fn question_file(&self, task: &TaskId) -> PathBuf {
        self.dir.join("asked").join(file_name_of(&task.0))
    }

    /// Creates a new loop's folder, with an id that is unique for this user.
    pub fn new_loop(&self, state: &StateDir, now: Moment) -> Result<LoopDir, StateError> {
        loop {
            let id = new_loop_id(now).map_err(StateError::io(tr_later!("name a loop in"), &self.dir))?;
            if state.workspaces()?.iter().any(|it| it.loops_dir().join(&id).exists()) {
                continue;
            }
            let dir = self.loops_dir().join(&id);
            match durable::make_new_folder(&dir) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(StateError::io(tr_later!("make the loop's folder"), &dir)(error)),
                Ok(()) => {
                    let made = LoopDir { id, dir, root: self.root.clone() };
                    for folder in [made.prompts(), made.output()] {
                        let result = durable::make_folder(&folder);
                        result.map_err(StateError::io(tr_later!("make"), &folder)).inspect_err(|_| {
                            let _ = std::fs::remove_dir_all(&made.dir);
                        })?;
                    }
                    return Ok(made);
                }
            }
        }
    }

    /// Its loops, in no particular order.
    pub fn loops(&self) -> Result<Vec<LoopDir>, StateError> {
        let names = folders_in(&self.loops_dir())?;
        let ids = names.into_iter().filter_map(|it| it.into_string().ok()).filter(|it| is_loop_id(it));
        Ok(ids.map(|id| LoopDir { dir: self.loops_dir().join(&id), root: self.root.clone(), id }).collect())
    }

    /// Reads which workspace an existing folder belongs to; `None` if the folder does not record it.
    pub(super) fn read(dir: &Path) -> Option<Self> {
        let bytes = std::fs::read(dir.join("root")).ok().filter(|it| !it.is_empty())?;
        Some(Self { dir: dir.to_owned(), root: PathBuf::from(OsStr::from_bytes(&bytes)) })
    }

    fn loops_dir(&self) -> PathBuf {
        self.dir.join("loops")
    }

    /// Records which workspace the folder belongs to, because its name is a hash.
    fn record_root(&self) -> Result<(), StateError> {
        let path = self.dir.join("root");
        match Self::read(&self.dir) {
            Some(found) if found.root == self.root => Ok(()),
            Some(found) => Err(StateError::Collision {
                dir: self.dir.clone(),
                found: found.root,
                root: self.root.clone(),
            }),
            None => durable::replace_shared_file(&path, self.root.as_os_str().as_bytes())
                .map_err(StateError::io(tr_later!("write"), &path)),
        }
    }
}

impl LoopDir {
    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Real path of its workspace.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn journal(&self) -> PathBuf {
        self.dir.join("journal.jsonl")
    }

    /// The prompt of each iteration: `NNNN.md`.
    pub fn prompts(&self) -> PathBuf {
        self.dir.join("prompts")
    }

    /// The home of an agent that finds our hooks there.
    pub fn home(&self) -> PathBuf {
        self.dir.join(HOME)
    }

    /// The output of each iteration: `NNNN.out`, `NNNN.tail`.
    pub fn output(&self) -> PathBuf {
        self.dir.join("output")
    }

    /// Exists while the keeper commits in the user's repository.
    pub fn commit_in_progress(&self) -> PathBuf {
        self.dir.join("commit-in-progress")
    }

    pub(super) fn lock(&self) -> PathBuf {
        self.dir.join("lock")
    }
}

/// 16 hex digits that identify a real path.
pub(super) fn path_id(path: &Path) -> String {
    short_hash(path.as_os_str().as_bytes())
}

fn new_loop_id(now: Moment) -> std::io::Result<String> {
    const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut bytes = [0_u8; 6];
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    let letters = bytes.iter().filter_map(|it| BASE32.get(usize::from(it % 32)).copied().map(char::from));
    let day = Timestamp::from_millisecond(now.wall as i64).unwrap_or_default();
    Ok(format!("{}-{}", day.strftime("%Y%m%d"), letters.collect::<String>()))
}

fn is_loop_id(name: &str) -> bool {
    let Some((day, letters)) = name.split_once('-') else { return false };
    day.len() == 8
        && day.bytes().all(|it| it.is_ascii_digit())
        && letters.len() == 6
        && letters.bytes().all(|it| matches!(it, b'a'..=b'z' | b'2'..=b'7'))
}

/// A task's id as one file name: readable if possible, never a path, unique for each task.
fn file_name_of(task: &str) -> String {
    const MAX_NAME_BYTES: usize = 180;
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
        b'.' => ".".to_owned(),
        _ => format!("%{byte:02X}"),
    };
    let name: String = task.bytes().map(encode).collect();
    // A leading dot would hide the file or be `..`.
    let name = if name.starts_with('.') { format!("%2E{}", name.get(1..).unwrap_or_default()) } else { name };
    if name.len() <= MAX_NAME_BYTES {
        return name;
    }
    let hash = short_hash(task.as_bytes());
    format!("{}%{hash}", name.get(..MAX_NAME_BYTES).unwrap_or_default())
}

/// 16 hex digits of the sha256 of these bytes.
fn short_hash(bytes: &[u8]) -> String {
    let first = Sha256::digest(bytes).first_chunk::<8>().copied().unwrap_or_default();
    format!("{:016x}", u64::from_be_bytes(first))
}

/// Names of the folders in `parent`; empty if it does not exist.
pub(super) fn folders_in(parent: &Path) -> Result<Vec<OsString>, StateError> {
    let failed = || StateError::io(tr_later!("list"), parent);
    let entries = match std::fs::read_dir(parent) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(failed())?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed())?;
        if entry.file_type().is_ok_and(|it| it.is_dir()) {
            names.push(entry.file_name());
        }
    }
    Ok(names)
}
