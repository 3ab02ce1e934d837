//! A repository for the copy of a work tree: its own index, HEAD and references, and the objects of the original. What
//! programs do with it reaches neither index nor HEAD of the user.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use loopkeeper_text::tr;

use crate::repository_layout::{common_dir, linked_git_dir};

/// Files of one work tree.
const OWN_FILES: [&str; 3] = ["HEAD", "index", "config.worktree"];
/// Files shared by all work trees.
const COMMON_FILES: [&str; 6] =
    ["config", "packed-refs", "shallow", "info/exclude", "info/attributes", "info/grafts"];
const MAX_DEPTH: usize = 20;

/// Makes `.git` in `to` for the repository of the work tree in `from`; `false` if there is none.
pub(super) fn copy_repository(from: &Path, to: &Path) -> io::Result<bool> {
    let Some(common) = common_dir(from).and_then(|it| it.canonicalize().ok()) else { return Ok(false) };
    let plain = from.join(".git");
    let own = if plain.is_dir() { Some(plain) } else { linked_git_dir(from) };
    let Some(own) = own else {
        return Ok(false);
    };
    let made = to.join(".git");
    for folder in ["objects/info", "info", "refs"] {
        fs::create_dir_all(made.join(folder))?;
    }
    let mut alternates = common.join("objects").as_os_str().as_bytes().to_vec();
    alternates.push(b'\n');
    fs::write(made.join("objects/info/alternates"), alternates)?;
    let sparse = "info/sparse-checkout";
    for name in OWN_FILES.into_iter().chain([sparse]) {
        copy_if_exists(&own.join(name), &made.join(name))?;
    }
    // The index may be split.
    for entry in fs::read_dir(&own)? {
        let name = entry?.file_name();
        if name.as_bytes().starts_with(b"sharedindex.") {
            copy_if_exists(&own.join(&name), &made.join(&name))?;
        }
    }
    for name in COMMON_FILES {
        copy_if_exists(&common.join(name), &made.join(name))?;
    }
    for folder in ["refs", "reftable"] {
        copy_files(&common.join(folder), &made.join(folder), 0)?;
    }
    adapt_config(&made.join("config"))?;
    Ok(true)
}

fn copy_if_exists(from: &Path, to: &Path) -> io::Result<()> {
    match fs::metadata(from) {
        Ok(metadata) if metadata.is_file() => fs::copy(from, to).map(drop),
        _ => Ok(()),
    }
}

fn copy_files(from: &Path, to: &Path, depth: usize) -> io::Result<()> {
    let listing = match fs::read_dir(from) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        listing => listing?,
    };
    if depth > MAX_DEPTH {
        return Err(io::Error::other(tr!("its references are too deep")));
    }
    fs::create_dir_all(to)?;
    for entry in listing {
        let entry = entry?;
        let (kind, to) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_files(&entry.path(), &to, depth + 1)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

/// The work tree of the copy is around `.git`, and no watcher knows it.
fn adapt_config(path: &Path) -> io::Result<()> {
    let adapt = || {
        let mut config = git2::Config::open(path)?;
        config.set_bool("core.bare", false)?;
        config.set_bool("core.fsmonitor", false)?;
        match config.remove("core.worktree") {
            Err(error) if error.code() != git2::ErrorCode::NotFound => Err(error),
            _ => Ok(()),
        }
    };
    adapt().map_err(|error| io::Error::other(error.message().to_owned()))
}
