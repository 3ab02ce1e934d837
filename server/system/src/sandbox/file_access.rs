//! The files that the sandbox hides from jobs, and those that it keeps them from changing.
//!
//! Caches, toolchains and the agent's own folders stay writable, because builds need them. Hidden is what no build
//! needs and an agent could use elsewhere: credentials, and sockets of programs that run commands outside the sandbox.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Credentials and private data, below the home folder.
const SECRETS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    ".pgpass",
    ".my.cnf",
    ".pypirc",
    ".vault-token",
    ".git-credentials",
    ".password-store",
    ".terraform.d",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".config/op",
    ".config/rclone",
    ".config/doctl",
    ".config/containers/auth.json",
    ".config/git/credentials",
    ".config/sops",
    ".config/age",
    ".local/share/keyrings",
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".screen",
    ".bash_history",
    ".zsh_history",
    ".local/share/fish/fish_history",
];

/// What later runs with the user's rights outside the sandbox, below the home folder.
const STARTUP: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".config/fish",
    ".gitconfig",
    ".config/git",
    ".config/autostart",
    ".config/systemd",
    ".local/share/systemd",
    ".tmux.conf",
    ".vimrc",
    ".config/nvim",
    ".emacs.d",
    ".config/Code/User",
    ".vscode/extensions",
];

/// Credentials of agents, below the home folder; checks do not need them.
const AGENT_LOGINS: &[&str] = &[
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".qwen/oauth_creds.json",
    ".local/share/opencode/auth.json",
    ".config/github-copilot",
];

/// Services that start programs elsewhere, and their queues.
const SERVICES: &[&str] = &[
    "/run/docker.sock",
    "/run/containerd",
    "/run/podman",
    "/run/crio",
    "/run/dbus/system_bus_socket",
    "/run/systemd/private",
    "/run/screen",
    "/var/spool/cron",
    "/var/spool/at",
    "/var/spool/atjobs",
];

/// The same in the folder for the sockets of a user (`XDG_RUNTIME_DIR`).
const USER_SERVICES: &[&str] =
    &["bus", "systemd", "docker.sock", "podman", "gnupg", "keyring", "gcr", "ssh-agent.socket"];

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
    /// `sandbox.allow`: paths that stay as they are.
    pub allow: Vec<String>,
    /// `sandbox.hide`: further hidden paths.
    pub hide: Vec<String>,
}

/// What a mount namespace changes about files. Paths that do not exist when a warden starts are left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileAccess {
    pub(super) hidden: Vec<PathBuf>,
    pub(super) read_only: Vec<PathBuf>,
    pub(super) writable: Vec<PathBuf>,
}

impl FileAccess {
    /// The rules for agents. `variable` looks up an environment variable of this process.
    pub fn for_agents(request: &FileAccessRequest, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let home = |paths: &[&str]| -> Vec<PathBuf> {
            request.home.iter().flat_map(|home| paths.iter().map(|it| home.join(it))).collect()
        };
        let set = |name: &str| variable(name).filter(|it| !it.is_empty()).map(PathBuf::from);
        let mut hidden = home(SECRETS);
        hidden.extend(SERVICES.iter().map(PathBuf::from));
        if let Some(runtime) = set("XDG_RUNTIME_DIR") {
            hidden.extend(USER_SERVICES.iter().map(|it| runtime.join(it)));
        }
        hidden.extend(set("SSH_AUTH_SOCK").filter(|it| !it.is_dir()));
        hidden.extend(multiplexer_folders(Path::new("/tmp")));
        hidden.extend(set("TMUX_TMPDIR").iter().flat_map(|it| multiplexer_folders(it)));
        hidden.extend(request.hide.iter().map(|it| expand(it, request.home.as_deref())));
        let mut read_only = home(STARTUP);
        read_only.extend(request.protected.iter().cloned());
        let allowed: Vec<_> = request.allow.iter().map(|it| expand(it, request.home.as_deref())).collect();
        let applies = |path: &PathBuf| !request.root.starts_with(path) && !allowed.contains(path);
        hidden.retain(applies);
        read_only.retain(applies);
        let mut writable = request.writable.clone();
        // A path below a hidden or protected folder.
        writable.extend(allowed);
        Self { hidden, read_only, writable }
    }

    /// The same for checks, which have no login of an agent.
    #[must_use]
    pub fn for_checks(&self, home: Option<&Path>) -> Self {
        let mut access = self.clone();
        let logins = home.into_iter().flat_map(|home| AGENT_LOGINS.iter().map(|it| home.join(it)));
        access.hidden.extend(logins.filter(|it| !self.writable.contains(it)));
        access
    }

    /// The same with another folder that jobs write to.
    #[must_use]
    pub(super) fn with_writable(&self, folder: Option<&Path>) -> Self {
        let mut access = self.clone();
        access.writable.extend(folder.map(Path::to_owned));
        access
    }

    /// The arguments of bubblewrap after those that mount everything.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let mut arguments = Vec::new();
        let mut add = |words: &[&str], paths: &[&Path]| {
            arguments.extend(words.iter().map(OsString::from));
            arguments.extend(paths.iter().map(|it| it.as_os_str().to_owned()));
        };
        for path in real_paths(&self.read_only) {
            add(&["--ro-bind"], &[&path, &path]);
        }
        for path in real_paths(&self.hidden) {
            if path.is_dir() {
                add(&["--perms", "0500", "--tmpfs"], &[&path]);
                add(&["--remount-ro"], &[&path]);
            } else {
                // Not accessible, because the mount allows no devices.
                add(&["--ro-bind", "/dev/null"], &[&path]);
            }
        }
        for path in real_paths(&self.writable) {
            add(&["--bind"], &[&path, &path]);
        }
        arguments
    }
}

/// The paths that exist, without symbolic links, each once.
fn real_paths(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut real: Vec<_> = paths.iter().filter_map(|it| fs::canonicalize(it).ok()).collect();
    real.sort();
    real.dedup();
    real
}

/// The folders in `parent` in which terminal multiplexers of any user listen.
fn multiplexer_folders(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().filter_map(Result::ok);
    let is_multiplexer = |name: &str| ["tmux-", "screen-", "uscreens"].iter().any(|it| name.starts_with(it));
    entries.filter(|it| is_multiplexer(&it.file_name().to_string_lossy())).map(|it| it.path()).collect()
}

/// `~/x` below the home folder, other paths as they are.
fn expand(path: &str, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(request: &FileAccessRequest) -> FileAccess {
        FileAccess::for_agents(request, |_| None)
    }

    fn request(root: &str) -> FileAccessRequest {
        FileAccessRequest { home: Some("/home/u".into()), root: root.into(), ..FileAccessRequest::default() }
    }

    #[test]
    fn credentials_are_hidden_and_startup_files_protected() {
        let access = access(&request("/home/u/project"));
        assert!(access.hidden.contains(&"/home/u/.ssh".into()), "{access:?}");
        assert!(access.read_only.contains(&"/home/u/.bashrc".into()), "{access:?}");
        assert!(!access.hidden.contains(&"/home/u/.codex/auth.json".into()), "{access:?}");
        let checks = access.for_checks(Some(Path::new("/home/u")));
        assert!(checks.hidden.contains(&"/home/u/.codex/auth.json".into()), "{checks:?}");
    }

    #[test]
    fn the_work_tree_and_the_folders_above_it_stay_as_they_are() {
        let access = access(&request("/home/u/.config/nvim/plugin"));
        assert!(!access.read_only.contains(&"/home/u/.config/nvim".into()), "{access:?}");
        assert!(access.read_only.contains(&"/home/u/.gitconfig".into()), "{access:?}");
    }

    #[test]
    fn the_configuration_allows_and_hides() {
        let allow = vec!["~/.ssh".to_owned(), "/run/docker.sock".to_owned()];
        let hide = vec!["~/other".to_owned(), "/srv/data".to_owned()];
        let access = access(&FileAccessRequest { allow, hide, ..request("/home/u/project") });
        for (path, is_hidden) in [
            ("/home/u/.ssh", false),
            ("/run/docker.sock", false),
            ("/home/u/.aws", true),
            ("/home/u/other", true),
            ("/srv/data", true),
        ] {
            assert_eq!(access.hidden.contains(&path.into()), is_hidden, "{path}");
        }
    }

    #[test]
    fn what_decides_is_protected_also_below_the_work_tree() {
        let protected = vec!["/home/u/project/.git/hooks".into()];
        let access = access(&FileAccessRequest { protected, ..request("/home/u/project") });
        assert!(access.read_only.contains(&"/home/u/project/.git/hooks".into()), "{access:?}");
    }

    #[test]
    fn only_what_exists_becomes_an_argument() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        fs::create_dir(home.join(".ssh")).unwrap();
        fs::write(home.join(".netrc"), "").unwrap();
        fs::write(home.join(".profile"), "").unwrap();
        let root = home.join("project");
        let access = access(&FileAccessRequest { home: Some(home.clone()), root, ..Default::default() });
        let arguments = access.arguments();
        let below_home: Vec<_> = arguments.iter().filter(|it| Path::new(it).starts_with(&home)).collect();
        let path = |name: &str| home.join(name).into_os_string();
        // The source and the target of the protected file, the target of the hidden file, the hidden folder twice.
        let expected = [".profile", ".profile", ".netrc", ".ssh", ".ssh"].map(path);
        assert_eq!(below_home, expected.iter().collect::<Vec<_>>());
    }
}
