//! A home folder for a clean room: new, with links to the caches, tools and settings that builds and tests need. What
//! checks write beside these stays in the room.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::package_folders::PACKAGE_FOLDERS;

/// Linked entries below the home folder, besides the folders of package managers.
const LINKED: [&str; 23] = [
    // Folders that contain packages and tools.
    ".cache",
    "go",
    ".local/lib",
    ".local/bin",
    "bin",
    // Settings, which count as judges if they change.
    ".tool-versions",
    ".asdfrc",
    ".gitconfig",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pythonrc",
    ".pydistutils.cfg",
    ".rspec",
    ".noderc",
    ".config/git",
    ".config/pip",
    ".config/uv",
    ".config/go",
    ".config/mise",
    ".config/jest",
    ".config/nextest.toml",
    ".config/NuGet",
];
/// Entries that no check needs: settings of shells, and histories.
const SHELL_FILES: [&str; 8] = [
    ".bashrc",
    ".bash_profile",
    ".bash_logout",
    ".bash_history",
    ".profile",
    ".zshrc",
    ".lesshst",
    ".sudo_as_admin_successful",
];
/// Folders of tools whose results depend on the path, with the variables that set it.
const PATH_DEPENDENT_FOLDERS: [(&str, &str); 5] = [
    (".cargo", "CARGO_HOME"),
    (".rustup", "RUSTUP_HOME"),
    ("go", "GOPATH"),
    (".cache/go-build", "GOCACHE"),
    (".gradle", "GRADLE_USER_HOME"),
];

fn linked_folders() -> impl Iterator<Item = &'static str> {
    PACKAGE_FOLDERS.into_iter().chain(LINKED)
}

/// What a home folder in a room shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HomeContent {
    #[default]
    Caches,
    /// Everything that the user's home folder holds.
    Everything,
}

#[derive(Debug, Clone)]
pub struct HomeRequest<'a> {
    pub home: &'a Path,
    pub content: HomeContent,
    /// Left out, relative to the home folder.
    pub hidden: &'a [PathBuf],
    /// The work tree, and where it is in the room.
    pub root: (&'a Path, &'a Path),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplacementHome {
    pub path: PathBuf,
    /// Variables that name folders in the user's home, for tools that rebuild everything for another path.
    pub variables: Vec<(&'static str, PathBuf)>,
    /// Whether an entry is missing that is not a file of shells.
    pub leaves_out: bool,
}

pub(super) fn make_home(made: PathBuf, request: &HomeRequest<'_>) -> io::Result<ReplacementHome> {
    let mut links = HomeLinks { request, root: None, leaves_out: false };
    let root = request.root.0.strip_prefix(request.home).ok();
    links.root = root.filter(|it| !it.as_os_str().is_empty());
    links.link_folder(request.home, &made, Path::new(""))?;
    let is_whole = |below: &str| !request.hidden.iter().any(|it| it.starts_with(below));
    let fixed = PATH_DEPENDENT_FOLDERS.iter().map(|(below, name)| (*name, *below));
    let variables = fixed
        .filter(|(_, below)| request.home.join(below).is_dir() && is_whole(below))
        .map(|(name, below)| (name, request.home.join(below)))
        .collect();
    Ok(ReplacementHome { path: made, variables, leaves_out: links.leaves_out })
}

struct HomeLinks<'a> {
    request: &'a HomeRequest<'a>,
    /// The work tree, relative to the home folder.
    root: Option<&'a Path>,
    leaves_out: bool,
}

impl HomeLinks<'_> {
    /// Links in `to` to the entries of `from`. Folders in which some are left out are folders of links again.
    fn link_folder(&mut self, from: &Path, to: &Path, below: &Path) -> io::Result<()> {
        DirBuilder::new().mode(0o700).create(to)?;
        for entry in fs::read_dir(from)? {
            let name = entry?.file_name();
            let (path, from, to) = (below.join(&name), from.join(&name), to.join(&name));
            if self.request.hidden.contains(&path) {
                continue;
            }
            if self.root == Some(path.as_path()) {
                symlink(self.request.root.1, to)?;
            } else if self.is_partly_linked(&path) && from.is_dir() {
                self.link_folder(&from, &to, &path)?;
            } else if self.is_linked(&path) {
                symlink(from, to)?;
            } else {
                self.leaves_out |= !SHELL_FILES.iter().any(|it| path.as_os_str() == *it);
            }
        }
        Ok(())
    }

    fn is_linked(&self, path: &Path) -> bool {
        self.request.content == HomeContent::Everything || linked_folders().any(|it| path.starts_with(it))
    }

    /// Whether only some of the entries below a folder are linked, or one is linked to another place.
    fn is_partly_linked(&self, path: &Path) -> bool {
        let hides = self.request.hidden.iter().any(|it| it.starts_with(path));
        let shows = !self.is_linked(path) && linked_folders().any(|it| Path::new(it).starts_with(path));
        hides || shows || self.root.is_some_and(|it| it.starts_with(path))
    }
}
