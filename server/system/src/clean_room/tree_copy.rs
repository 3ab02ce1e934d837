//! Copies the final tree to another path, for a clean room where no overlay can be mounted. Folders of installed packages
//! and other large ignored folders are links to those of the work tree; a build folder is left out, because a build
//! makes it again. Nothing here follows a link or writes to the work tree.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};

use loopkeeper_text::tr;

use super::repository_copy;
use crate::repository_layout::repository_top;
use crate::unrecorded::{SnapshotPaths, normalized, parent_folders};

/// Limits of the ignored files that are copied; what exceeds them is linked.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
const MAX_FOLDER_ENTRIES: usize = 2_000;
const MAX_DEPTH: usize = 100;
/// A longer file of a virtual environment names no folder.
const MAX_POINTER: u64 = 64 * 1024;

/// What a copy contains.
#[derive(Debug, Clone, Default)]
pub struct CopyRequest {
    pub root: PathBuf,
    /// The files of the final tree. Every other file is ignored by git.
    pub recorded: SnapshotPaths,
    /// A folder in the state folder, which may lie in the work tree.
    pub own: PathBuf,
    /// Left out, relative to the root.
    pub absent: Vec<PathBuf>,
    /// Written in the copy later: no folder around them is a link.
    pub changed: Vec<PathBuf>,
    pub builds: BuildFolders,
}

/// Whether folders with build results exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BuildFolders {
    #[default]
    LeftOut,
    Linked,
}

/// What differs between the copy and the tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CopyFacts {
    /// Ignored files and folders that are those of the work tree.
    pub linked: Vec<PathBuf>,
    /// Build folders that are not there.
    pub left_out: Vec<PathBuf>,
    /// Folders of the copy with a repository.
    pub repositories: Vec<PathBuf>,
}

/// Where the files around the root are in the copy: the whole repository that contains the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CopyMap {
    pub(super) from: PathBuf,
    pub(super) to: PathBuf,
}

impl CopyMap {
    /// `folder`: where the copy is made.
    pub(super) fn new(folder: &Path, root: &Path) -> Self {
        let top = repository_top(root).and_then(|it| it.canonicalize().ok());
        // A repository around the state folder, such as one of the whole home folder, is no project.
        let top = top.filter(|it| root.starts_with(it) && !folder.starts_with(it));
        let from = top.unwrap_or_else(|| root.to_owned());
        let name = from.file_name().unwrap_or(OsStr::new("root"));
        Self { to: folder.join(name), from }
    }

    pub(super) fn map(&self, path: &Path) -> Option<PathBuf> {
        let below = path.strip_prefix(&self.from).ok()?;
        // Joined with nothing, it would end in a slash.
        Some(if below.as_os_str().is_empty() { self.to.clone() } else { self.to.join(below) })
    }

    /// The value of a variable with paths, separated by colons, as it is in the copy; `None` where it is the same.
    pub(super) fn map_value(&self, value: &OsStr) -> Option<OsString> {
        let parts = value.as_bytes().split(|it| *it == b':').map(|it| Path::new(OsStr::from_bytes(it)));
        let moved = parts.map(|it| self.map(it).unwrap_or_else(|| it.to_owned())).collect::<Vec<_>>();
        let joined = moved.iter().map(|it| it.as_os_str()).collect::<Vec<_>>().join(OsStr::new(":"));
        (joined != value && moved.iter().any(|it| it.starts_with(&self.to))).then_some(joined)
    }
}

pub(super) fn copy_tree(map: &CopyMap, request: &CopyRequest) -> io::Result<CopyFacts> {
    let folders = parent_folders(&request.recorded);
    let mut copy = TreeCopy { map, request, folders, remaining: MAX_BYTES, facts: CopyFacts::default() };
    copy.make_parents()?;
    copy.copy_folder(Path::new(""), 0)?;
    Ok(copy.facts)
}

struct TreeCopy<'a> {
    map: &'a CopyMap,
    request: &'a CopyRequest,
    /// Folders that contain files of the tree.
    folders: HashSet<&'a [u8]>,
    /// Bytes of ignored files that may still be copied.
    remaining: u64,
    facts: CopyFacts,
}

impl TreeCopy<'_> {
    /// Makes the folders between the top of the repository and the root, with links to their other entries.
    fn make_parents(&mut self) -> io::Result<()> {
        let root = &self.request.root;
        make_private(&self.map.to)?;
        let below = root.strip_prefix(&self.map.from).map_err(io::Error::other)?;
        let mut at = self.map.from.clone();
        for part in below.components() {
            for entry in fs::read_dir(&at)? {
                let name = entry?.file_name();
                if name != ".git" && name != part.as_os_str() {
                    symlink(at.join(&name), self.target(&at.join(&name))?)?;
                }
            }
            if fs::symlink_metadata(at.join(".git")).is_ok() {
                self.copy_repository(&at)?;
            }
            at.push(part);
            make_private(&self.target(&at)?)?;
        }
        Ok(())
    }

    fn copy_folder(&mut self, path: &Path, depth: usize) -> io::Result<()> {
        if depth > MAX_DEPTH {
            return Err(io::Error::other(tr!("its folders are too deep")));
        }
        let from = self.request.root.join(path);
        for (name, metadata) in entries(&from)? {
            let (path, from) = (path.join(&name), from.join(&name));
            if self.request.absent.contains(&path) {
                continue;
            }
            if name == ".git" {
                self.copy_repository(&self.request.root.join(path.parent().unwrap_or(&path)))?;
            } else if metadata.is_symlink() {
                self.copy_link(&from)?;
            } else if metadata.is_file() {
                self.copy_file(&path, &metadata)?;
            } else if metadata.is_dir() && !self.request.own.starts_with(&from) {
                self.copy_subfolder(&path, &metadata, depth)?;
            }
        }
        Ok(())
    }

    fn copy_subfolder(&mut self, path: &Path, metadata: &Metadata, depth: usize) -> io::Result<()> {
        let from = self.request.root.join(path);
        if !self.folders.contains(path.as_os_str().as_bytes()) {
            let is_packages = path.ends_with("node_modules");
            let is_environment = from.join("pyvenv.cfg").is_file();
            if is_environment && let Some(file) = leads_back(&from, &self.map.from) {
                return Err(io::Error::other(tr!(
                    "{file} leads back to the work tree",
                    file = file.display()
                )));
            }
            if !is_packages && from.join(".rustc_info.json").is_file() {
                if self.request.builds == BuildFolders::LeftOut {
                    self.facts.left_out.push(path.to_owned());
                    return Ok(());
                }
                return self.link_folder(path);
            }
            if is_packages || is_environment || !self.is_small(&from) {
                return self.link_folder(path);
            }
        }
        let to = self.target(&from)?;
        make_private(&to)?;
        self.copy_folder(path, depth + 1)?;
        fs::set_permissions(to, metadata.permissions())
    }

    /// Whether an ignored folder is copied. A repository in it is not.
    fn is_small(&self, folder: &Path) -> bool {
        let (mut entries_left, mut bytes) = (MAX_FOLDER_ENTRIES, 0);
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let Ok(found) = entries(&folder) else { return false };
            for (name, metadata) in found {
                if entries_left == 0 || bytes > self.remaining || name == ".git" {
                    return false;
                }
                entries_left -= 1;
                if metadata.is_dir() {
                    folders.push(folder.join(name));
                } else {
                    bytes += metadata.len();
                }
            }
        }
        bytes <= self.remaining
    }

    fn copy_file(&mut self, path: &Path, metadata: &Metadata) -> io::Result<()> {
        let from = self.request.root.join(path);
        if !self.request.recorded.contains(path.as_os_str().as_bytes()) {
            if metadata.len() > self.remaining {
                self.facts.linked.push(path.to_owned());
                return symlink(&from, self.target(&from)?);
            }
            self.remaining -= metadata.len();
        }
        let to = self.target(&from)?;
        match fs::copy(&from, &to) {
            // Checks cannot read it either.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => symlink(&from, &to),
            Err(error) => Err(error),
            Ok(_) => File::open(&to)?.set_modified(metadata.modified()?),
        }
    }

    /// Links a folder of installed packages, or another that is not copied.
    fn link_folder(&mut self, path: &Path) -> io::Result<()> {
        self.facts.linked.push(path.to_owned());
        self.link_or_descend(path)
    }

    /// Makes a link to a folder, or a folder of links if something in it differs or leads back into the tree.
    fn link_or_descend(&mut self, path: &Path) -> io::Result<()> {
        let (from, request) = (self.request.root.join(path), self.request);
        let differs = request.absent.iter().chain(&request.changed).any(|it| it.starts_with(path));
        if !differs && !has_links_to_workspace(path) {
            return symlink(&from, self.target(&from)?);
        }
        make_private(&self.target(&from)?)?;
        for (name, metadata) in entries(&from)? {
            let (path, from) = (path.join(&name), from.join(&name));
            if request.absent.contains(&path) {
                continue;
            }
            if metadata.is_symlink() {
                self.copy_link(&from)?;
            } else if metadata.is_dir() {
                self.link_or_descend(&path)?;
            } else {
                symlink(&from, self.target(&from)?)?;
            }
        }
        Ok(())
    }

    /// Copies a link so that it leads to the same file of the copy, or to the same file outside of the tree.
    fn copy_link(&self, from: &Path) -> io::Result<()> {
        let target = fs::read_link(from)?;
        let absolute = normalized(&from.parent().unwrap_or(from).join(&target));
        let moved = match self.map.map(&absolute) {
            Some(_) if target.is_relative() => target,
            Some(inside) => inside,
            None => absolute,
        };
        symlink(moved, self.target(from)?)
    }

    fn copy_repository(&mut self, folder: &Path) -> io::Result<()> {
        let to = self.target(folder)?;
        if repository_copy::copy_repository(folder, &to)? {
            self.facts.repositories.push(to);
        }
        Ok(())
    }

    fn target(&self, from: &Path) -> io::Result<PathBuf> {
        self.map.map(from).ok_or_else(|| io::Error::other(tr!("{path} is outside", path = from.display())))
    }
}

/// `node_modules` and its folders of scopes and programs link to the packages of the same repository.
fn has_links_to_workspace(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_bytes();
    let is_in_modules = path.parent().is_some_and(|it| it.ends_with("node_modules"));
    name == b"node_modules" || (is_in_modules && (name == b".bin" || name.starts_with(b"@")))
}

/// The file of a virtual environment by which an installed package is imported from the work tree.
fn leads_back(environment: &Path, root: &Path) -> Option<PathBuf> {
    let pythons = entries(&environment.join("lib")).unwrap_or_default().into_iter();
    let folders = pythons.map(|(name, _)| environment.join("lib").join(name).join("site-packages"));
    let files = folders.flat_map(|folder| {
        let names = entries(&folder).unwrap_or_default().into_iter();
        let is_pointer = |(name, metadata): &(OsString, Metadata)| {
            let extension = Path::new(name).extension().and_then(OsStr::to_str);
            let is_named =
                matches!(extension, Some("pth" | "egg-link")) || name.as_bytes().starts_with(b"__editable__");
            is_named && metadata.is_file() && metadata.len() <= MAX_POINTER
        };
        names.filter(is_pointer).map(move |(name, _)| folder.join(name)).collect::<Vec<_>>()
    });
    let root = root.as_os_str().as_bytes();
    let names_root = |it: &PathBuf| {
        let text = fs::read(it).unwrap_or_default();
        let inside = environment.as_os_str().as_bytes();
        let mut places = text.windows(root.len()).enumerate().filter(|(_, it)| *it == root);
        places.any(|(at, _)| {
            let place = text.get(at..).unwrap_or_default();
            begins_with_path(place, root) && !begins_with_path(place, inside)
        })
    };
    files.into_iter().find(names_root)
}

/// Whether `text` begins with `path` itself, not with a longer name.
fn begins_with_path(text: &[u8], path: &[u8]) -> bool {
    let is_name = |it: &u8| it.is_ascii_alphanumeric() || !it.is_ascii() || b"-_.".contains(it);
    text.strip_prefix(path).is_some_and(|rest| !rest.first().is_some_and(is_name))
}

/// The entries of a folder, by name.
fn entries(folder: &Path) -> io::Result<Vec<(OsString, Metadata)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        found.push((entry.file_name(), entry.metadata()?));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)
}
