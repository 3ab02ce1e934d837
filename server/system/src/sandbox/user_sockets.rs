//! Finds sockets on which programs of the user accept commands: terminals, editors and displays could execute or type
//! commands outside the sandbox. The names contain numbers, so the folders are listed.

use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

/// Beginnings of the names of sockets, or of folders that contain them.
const PROGRAMS: &[&str] =
    &["emacs", "kitty", "nvim.", "sway-ipc.", "vscode-git-", "vscode-ipc-", "wayland-", "zellij-"];
const MULTIPLEXERS: &[&str] = &["tmux-", "screen-", "uscreens"];
/// A folder of a socket is at most this deep: `/tmp/nvim.USER/RANDOM/nvim.PID.0`.
const DEPTH: u32 = 2;
/// More are not looked for.
const MAX_SOCKETS: usize = 200;

/// The sockets of such programs in a folder. Not their folders, in which the agent's own programs make theirs.
pub(super) fn program_sockets(parent: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in entries(parent, PROGRAMS) {
        collect_sockets(&path, DEPTH, &mut found);
    }
    found
}

/// The sockets of displays.
pub(super) fn display_sockets(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect_sockets(folder, 1, &mut found);
    found
}

/// The folders in `parent` in which terminal multiplexers of any user listen.
pub(super) fn multiplexer_folders(parent: &Path) -> Vec<PathBuf> {
    entries(parent, MULTIPLEXERS).collect()
}

fn entries<'a>(parent: &Path, prefixes: &'a [&str]) -> impl Iterator<Item = PathBuf> + use<'a> {
    let entries = fs::read_dir(parent).into_iter().flatten().filter_map(Result::ok);
    let is_one = |name: &str| prefixes.iter().any(|it| name.starts_with(it));
    entries.filter(move |it| is_one(&it.file_name().to_string_lossy())).map(|it| it.path())
}

fn collect_sockets(path: &Path, depth: u32, found: &mut Vec<PathBuf>) {
    let Ok(kind) = fs::symlink_metadata(path).map(|it| it.file_type()) else { return };
    if found.len() >= MAX_SOCKETS {
        return;
    }
    if kind.is_socket() {
        found.push(path.to_owned());
    } else if kind.is_dir() && depth > 0 {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            collect_sockets(&entry.path(), depth - 1, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn sockets_of_programs_are_found_and_their_folders_stay() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["nvim.me/AbC", "emacs0", "other", "tmux-0", "nvim.me/a/b"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        let names =
            ["nvim.me/AbC/nvim.7.0", "emacs0/server", "wayland-0", "other/server", "nvim.me/a/b/deep"];
        let _listening: Vec<UnixListener> =
            names.iter().map(|it| UnixListener::bind(at(it)).unwrap()).collect();
        fs::write(at("wayland-0.lock"), "").unwrap();
        let mut found = program_sockets(folder.path());
        found.sort();
        assert_eq!(found, [at("emacs0/server"), at("nvim.me/AbC/nvim.7.0"), at("wayland-0")]);
        assert_eq!(multiplexer_folders(folder.path()), [at("tmux-0")]);
        assert_eq!(display_sockets(&at("other")), [at("other/server")]);
        assert!(program_sockets(&at("absent")).is_empty());
    }
}
