//! Finds sockets on which programs of the user accept commands: terminals, editors and displays could execute or type
//! commands outside the sandbox. The names contain numbers, so the folders are listed.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

/// Beginnings of the names of sockets, or of folders that contain them.
const PROGRAM_PREFIXES: &[&str] = &[
    "dbus-",
    "emacs",
    "i3-",
    "kitty",
    "nvim.",
    "pulse-",
    "ssh-",
    "sway-ipc.",
    "vscode-git-",
    "vscode-ipc-",
    "wayland-",
    "zellij-",
];
const MULTIPLEXER_PREFIXES: &[&str] = &["tmux-", "tmate-", "screen-", "uscreens", "abduco"];
/// Variables with the address of such a socket.
const ADDRESS_VARIABLES: &[&str] = &[
    "SSH_AUTH_SOCK",
    "DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_HOST",
    "CONTAINER_HOST",
    "BUILDKIT_HOST",
    "TMUX",
    "NVIM",
    "KITTY_LISTEN_ON",
    "WEZTERM_UNIX_SOCKET",
    "SWAYSOCK",
    "I3SOCK",
    "VSCODE_IPC_HOOK_CLI",
    "VSCODE_GIT_IPC_HANDLE",
    "PULSE_SERVER",
];
/// A folder of a socket is at most this deep: `/tmp/nvim.USER/RANDOM/nvim.PID.0`.
const DEPTH: u32 = 2;
/// At most so many sockets are found in a folder.
const MAX_SOCKETS: usize = 200;

/// The sockets of such programs in a folder. Not their folders, in which the agent's own programs make theirs.
pub(super) fn program_sockets(parent: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in entries_with_prefix(parent, PROGRAM_PREFIXES) {
        collect_sockets(&path, DEPTH, &mut found);
    }
    found
}

/// The sockets that the environment names: plain paths, or addresses such as `unix:path=/run/bus,guid=1`.
pub(super) fn named_sockets(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let path = |value: OsString| {
        let value = value.into_string().ok()?;
        let value =
            ["unix:path=", "unix://", "unix:"].iter().find_map(|it| value.strip_prefix(it)).unwrap_or(&value);
        let path = PathBuf::from(value.split([',', ';']).next()?);
        let is_socket = || fs::metadata(&path).is_ok_and(|it| it.file_type().is_socket());
        (path.is_absolute() && is_socket()).then_some(path)
    };
    ADDRESS_VARIABLES.iter().filter_map(|it| variable(it)).filter_map(path).collect()
}

/// The sockets of displays.
pub(super) fn display_sockets(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect_sockets(folder, 1, &mut found);
    found
}

/// The folders in `parent` in which terminal multiplexers of any user listen.
pub(super) fn multiplexer_folders(parent: &Path) -> Vec<PathBuf> {
    entries_with_prefix(parent, MULTIPLEXER_PREFIXES).collect()
}

fn entries_with_prefix<'a>(parent: &Path, prefixes: &'a [&str]) -> impl Iterator<Item = PathBuf> + use<'a> {
    let entries_with_prefix = fs::read_dir(parent).into_iter().flatten().filter_map(Result::ok);
    let has_prefix = |name: &str| prefixes.iter().any(|it| name.starts_with(it));
    entries_with_prefix.filter(move |it| has_prefix(&it.file_name().to_string_lossy())).map(|it| it.path())
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

    #[test]
    fn sockets_are_found_by_addresses_in_variables() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("socket");
        let _listening = UnixListener::bind(&at).unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let check = |name: &str, value: &str, expect: bool| {
            let value = value.replace('@', folder.path().to_str().unwrap());
            let found = named_sockets(|it| (it == name).then(|| value.clone().into()));
            assert_eq!(found, if expect { vec![at.clone()] } else { Vec::new() }, "{name}={value}");
        };
        check("DBUS_SESSION_BUS_ADDRESS", "unix:path=@/socket,guid=1", true);
        check("DBUS_SESSION_BUS_ADDRESS", "unix:path=@/socket;tcp:host=x", true);
        check("DOCKER_HOST", "unix://@/socket", true);
        check("DOCKER_HOST", "tcp://127.0.0.1:2375", false);
        check("SSH_AUTH_SOCK", "@/socket", true);
        check("TMUX", "@/socket,4242,0", true);
        check("NVIM", "@/file", false);
        check("NVIM", "socket", false);
        check("OTHER", "@/socket", false);
    }
}
