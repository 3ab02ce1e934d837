//! Determines the files that the sandbox hides from jobs, and those that jobs cannot change.
//!
//! Caches, toolchains and the agent's own folders stay writable, because builds need them; other projects and documents
//! are read-only. Files that no build needs and an agent could use elsewhere are hidden: credentials, and sockets of
//! programs that run commands outside the sandbox.

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use loopkeeper_agent::catalog;
use loopkeeper_agent::kind::AgentKind;
use rustix::fs::{Access, access};
use rustix::process::geteuid;

use super::known_paths::{
    AGENT_SETTINGS, OTHER_LOGINS, QUEUES, SECRETS, SERVICES, STARTUP, SYSTEM_STARTUP, USER_SERVICES,
};
use super::landlock_rules::LandlockRules;
use super::other_folders::{OtherFolders, other_folders, tool_folders};
use super::real_paths::existing_real_paths;
use super::user_sockets::{display_sockets, multiplexer_folders, named_sockets, program_sockets};
use crate::clean_room::RoomAccess;

/// Where this user's files are, and what the configuration says about them.
#[derive(Debug, Clone, Default)]
pub struct FileAccessRequest {
    pub home: Option<PathBuf>,
    /// The work tree: neither it nor a folder above it is hidden or protected.
    pub root: PathBuf,
    /// Read-only besides the startup files: state that decides, git hooks.
    pub protected: Vec<PathBuf>,
    /// Folders below protected ones that jobs write to.
    pub writable: Vec<PathBuf>,
    /// The agents of the loop.
    pub agents: Vec<AgentKind>,
    /// `sandbox.allow`: paths that stay as they are.
    pub allow: Vec<String>,
    /// `sandbox.write`: paths that are not read-only.
    pub write: Vec<String>,
    /// `sandbox.hide`: further hidden paths.
    pub hide: Vec<String>,
}

/// What a mount namespace changes about files. Paths that do not exist when a warden starts are left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileAccess {
    /// The work tree, without links.
    pub(super) root: PathBuf,
    pub(super) hidden: Vec<PathBuf>,
    /// Hidden from checks only: agents need them.
    pub(super) logins: Vec<PathBuf>,
    /// Sockets, and folders of sockets.
    pub(super) services: Vec<PathBuf>,
    pub(super) read_only: Vec<PathBuf>,
    /// The settings of the loop's agents: read-only as well, but not for agents under Landlock. Nothing could be created
    /// beside these files, and the agents keep their state there.
    pub(super) agent_settings: Vec<PathBuf>,
    /// Read-only as well.
    pub(super) others: Vec<OtherFolders>,
    pub(super) writable: Vec<PathBuf>,
    /// The work tree, where a copy of it is judged: read-only.
    pub(super) closed: Option<PathBuf>,
    /// Mount points that are read-only as a whole.
    pub(super) fixed: Vec<PathBuf>,
}

impl FileAccess {
    /// The rules for agents. `variable` looks up an environment variable of this process.
    pub fn for_agents(request: &FileAccessRequest, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let home = |paths: &[&str]| -> Vec<PathBuf> {
            request.home.iter().flat_map(|home| paths.iter().map(|it| home.join(it))).collect()
        };
        let set = |name: &str| set_path(&variable, name);
        let mut services = service_paths(&variable);
        let mut hidden = home(SECRETS);
        hidden.extend(QUEUES.iter().map(PathBuf::from));
        hidden.extend(request.hide.iter().map(|it| request.resolve(it)));
        let root = real_path(&request.root);
        let is_around = |path: &PathBuf| root.starts_with(real_path(path));
        for list in [&mut hidden, &mut services] {
            list.retain(|it| !is_around(it));
        }
        // A startup file in the work tree, even behind a link, belongs to the work.
        let is_outside = |it: &PathBuf| !real_path(it).starts_with(&root) && !is_around(it);
        let (agent_settings, other_settings) = request.agent_settings();
        let agent_settings = agent_settings.into_iter().filter(is_outside).collect();
        let startup = home(STARTUP).into_iter().chain(other_settings).filter(is_outside);
        let system = SYSTEM_STARTUP.iter().map(PathBuf::from);
        let read_only =
            startup.chain(system).chain(request.protected.clone()).filter(|it| !is_around(it)).collect();
        let allowed = request.allow.iter().map(|it| request.resolve(it));
        let is_visible = |path: &PathBuf| !hidden.iter().any(|it| path.starts_with(it));
        let written = request.write.iter().map(|it| request.resolve(it)).filter(is_visible);
        let writable: Vec<PathBuf> = request.writable.iter().cloned().chain(allowed).chain(written).collect();
        let used = [tool_folders(&root, &variable), existing_real_paths(&writable)].concat();
        let home = request.home.as_deref().map(real_path);
        let others = other_folders(home.as_deref(), &root, &used);
        let logins = request.home.iter().flat_map(|home| logins(home, set)).collect();
        Self {
            root,
            hidden,
            logins,
            services,
            read_only,
            agent_settings,
            others,
            writable,
            closed: None,
            fixed: Vec::new(),
        }
    }

    /// The same for checks, which have no login of an agent and keep no state beside its settings.
    #[must_use]
    pub fn for_checks(&self) -> Self {
        let mut access = self.clone();
        access.hidden.append(&mut access.logins);
        access.read_only.append(&mut access.agent_settings);
        access
    }

    pub(super) fn hide(&mut self, folder: &Path) {
        self.writable.retain(|it| it != folder);
        self.hidden.push(folder.to_owned());
    }

    /// The same for jobs in a clean room: they write to its folder, and not to a work tree of which it is a copy.
    #[must_use]
    pub(super) fn in_room(&self, room: Option<&RoomAccess>) -> Self {
        let mut access = self.clone();
        access.writable.extend(room.and_then(RoomAccess::folder).map(Path::to_owned));
        access.closed = room.and_then(RoomAccess::read_only_folder).map(Path::to_owned);
        access
    }

    /// The arguments of bubblewrap after those that mount everything.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let writable = existing_real_paths(&self.writable);
        let is_restricted = |it: &PathBuf| !writable.contains(it);
        let hidden = existing_real_paths(&[self.hidden.as_slice(), &self.services].concat());
        let hidden: Vec<_> = outermost_paths(hidden.into_iter().filter(is_restricted));
        let (folders, files): (Vec<_>, Vec<_>) = hidden.into_iter().partition(|it| it.is_dir());
        let mut arguments = Vec::new();
        let mut add = |words: &[&str], paths: &[&Path]| {
            arguments.extend(words.iter().map(OsString::from));
            arguments.extend(paths.iter().map(|it| it.as_os_str().to_owned()));
        };
        // With `try`, because a folder such as that of an `ssh-agent` may be removed before bubblewrap mounts it.
        // First, because a mount covers those made below it before.
        for (folder, kept) in self.others.iter().filter_map(OtherFolders::whole) {
            add(&["--ro-bind-try"], &[folder, folder]);
            for path in kept {
                add(&["--bind-try"], &[path, path]);
            }
        }
        for path in &self.pinned_folders() {
            add(&["--bind-try"], &[path, path]);
        }
        let single = self.others.iter().filter(|it| it.whole().is_none());
        for path in single.flat_map(|it| &it.entries).filter(|it| it.exists()) {
            add(&["--ro-bind-try"], &[path, path]);
        }
        for path in existing_real_paths(&self.read_only_paths()).into_iter().filter(is_restricted) {
            add(&["--ro-bind-try"], &[&path, &path]);
        }
        for path in &self.fixed {
            add(&["--ro-bind"], &[path, path]);
        }
        for path in &folders {
            add(&["--perms", "0500", "--tmpfs"], &[path]);
        }
        for path in &files {
            // Not accessible, because the mount allows no devices.
            add(&["--ro-bind", "/dev/null"], &[path]);
        }
        for path in &writable {
            add(&["--bind-try"], &[path, path]);
        }
        // Last, because a writable path may lie in a hidden folder.
        for path in &folders {
            add(&["--remount-ro"], &[path]);
        }
        arguments
    }

    fn read_only_paths(&self) -> Vec<PathBuf> {
        self.read_only.iter().chain(&self.agent_settings).chain(&self.closed).cloned().collect()
    }

    /// The folders around restricted paths that could be moved away, and others put in their place. A mount point cannot
    /// be moved. The work tree and what is around it are left out, because nothing can be linked across mount points.
    fn pinned_folders(&self) -> Vec<PathBuf> {
        let restricted = existing_real_paths(
            &[self.hidden.as_slice(), &self.services, &self.read_only, &self.agent_settings].concat(),
        );
        let is_movable = |it: &Path| {
            let parent = it.parent().filter(|it| it.parent().is_some());
            parent.is_some_and(|it| access(it, Access::WRITE_OK).is_ok())
        };
        let folders = restricted.iter().flat_map(|path| {
            let is_inside = path.starts_with(&self.root);
            let around = path.ancestors().skip(1);
            around.filter(move |it| !is_inside || (it.starts_with(&self.root) && *it != self.root))
        });
        let mut folders: Vec<PathBuf> = folders.filter(|it| is_movable(it)).map(Path::to_owned).collect();
        folders.sort();
        folders.dedup();
        folders
    }

    /// The rules that Landlock can express: it limits neither sockets with a path nor paths in the work tree.
    pub(super) fn landlock_rules(&self) -> LandlockRules {
        if *self == Self::default() {
            return LandlockRules::default();
        }
        let writable = existing_real_paths(&self.writable);
        let outside = |paths: &[PathBuf]| -> Vec<PathBuf> {
            let real = existing_real_paths(paths).into_iter();
            real.filter(|it| !it.starts_with(&self.root) && !writable.contains(it)).collect()
        };
        let hidden = outside(&self.hidden);
        let read_only = outside(&[self.read_only.as_slice(), &self.other_paths()].concat());
        let read_only = read_only.into_iter().chain(self.closed.clone()).collect();
        LandlockRules { hidden, read_only, open: writable, scope: true, no_tcp: false }
    }

    /// Other projects and documents.
    pub(super) fn other_paths(&self) -> Vec<PathBuf> {
        self.others.iter().flat_map(|it| it.entries.iter().cloned()).collect()
    }

    /// The hidden paths that [`Self::landlock_rules`] leaves open.
    pub(super) fn hidden_in_root(&self) -> impl Iterator<Item = PathBuf> {
        existing_real_paths(&self.hidden).into_iter().filter(|it| it.starts_with(&self.root))
    }
}

/// Sockets, and folders of sockets, of services that start programs outside the sandbox.
fn service_paths(variable: &impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let set = |name: &str| set_path(variable, name);
    let mut services: Vec<PathBuf> = SERVICES.iter().map(PathBuf::from).collect();
    // The usual folder exists even if the environment does not name it, as in a job of cron.
    let usual = PathBuf::from(format!("/run/user/{}", geteuid().as_raw()));
    for runtime in set("XDG_RUNTIME_DIR").into_iter().chain([usual]) {
        services.extend(USER_SERVICES.iter().map(|it| runtime.join(it)));
        services.extend(program_sockets(&runtime));
    }
    services.extend(named_sockets(variable));
    services.extend(program_sockets(Path::new("/tmp")));
    services.extend(display_sockets(Path::new("/tmp/.X11-unix")));
    services.extend(display_sockets(Path::new("/tmp/.ICE-unix")));
    services.extend(multiplexer_folders(Path::new("/tmp")));
    services.extend(set("TMUX_TMPDIR").iter().flat_map(|it| multiplexer_folders(it)));
    services
}

/// The path in a variable that is not empty.
fn set_path(variable: &impl Fn(&str) -> Option<OsString>, name: &str) -> Option<PathBuf> {
    variable(name).filter(|it| !it.is_empty()).map(PathBuf::from)
}

impl FileAccessRequest {
    /// The settings of the loop's agents, and those of other agents.
    fn agent_settings(&self) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for (kind, folder, names) in AGENT_SETTINGS {
            let folders = self.home.iter().map(|it| it.join(folder));
            let paths = folders.flat_map(|folder| names.iter().map(move |it| folder.join(it)));
            if self.agents.contains(kind) { own.extend(paths) } else { others.extend(paths) }
        }
        (own, others)
    }

    /// `~/x` is below the home folder, another relative path below the work tree.
    fn resolve(&self, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => self.root.join(path),
        }
    }
}

/// The files that contain the logins of agents. If a variable moves one, the usual place may contain an older login.
fn logins(home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let files = catalog::CATALOG.iter().flat_map(|it| it.files);
    let moved = files.clone().filter_map(|it| it.moved);
    let moved = moved.filter_map(|(name, below)| Some(variable(name)?.join(below)));
    let usual = files.map(|it| it.at_home).chain(OTHER_LOGINS.iter().copied());
    usual.map(|it| home.join(it)).chain(moved).collect()
}

/// Resolves symbolic links; a path that does not exist is returned as it is.
fn real_path(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Removes paths below another one, which an empty folder covers. `paths` is sorted.
fn outermost_paths(paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !kept.last().is_some_and(|it| path.starts_with(it)) {
            kept.push(path);
        }
    }
    kept
}
