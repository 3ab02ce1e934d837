//! Finds pipes, devices and sockets where git expects files. Git and libgit2 open them without a deadline, and a pipe
//! without a writer would block them indefinitely.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// Files that git or libgit2 reads whenever it opens a repository or asks for its head, status or ignored files.
const FILES: &[&str] = &[
    "HEAD",
    "config",
    "config.worktree",
    "commondir",
    "gitdir",
    "packed-refs",
    "shallow",
    "index",
    "ORIG_HEAD",
    "FETCH_HEAD",
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "info/exclude",
    "info/attributes",
    "info/grafts",
    "info/sparse-checkout",
    "objects/info/alternates",
    "objects/info/commit-graph",
    "objects/info/packs",
    "logs/HEAD",
];
/// Folders in which any name may be read.
const FOLDERS: &[&str] = &["refs", "objects/pack", "objects/info/commit-graphs"];
/// Files in the folders of a work tree with rules for the paths below them.
const RULES: [&str; 2] = [".gitattributes", ".gitignore"];
/// A repository with more loose references is searched in part.
const MAX_ENTRIES: usize = 20_000;
/// The same for loose objects. Git packs them if they are more than about 7,000.
const MAX_OBJECTS: usize = 50_000;
/// Nested `include.path`.
const MAX_INCLUDES: usize = 20;
const MAX_CONFIG_BYTES: u64 = 1024 * 1024;

/// The first path that git would read for the repository around `root` and that is not a regular file.
pub(super) fn find(root: &Path) -> Option<PathBuf> {
    let (git, other) = git_folders(root);
    if let Some(special) = other {
        return Some(special);
    }
    for folder in &git {
        let named = FILES.iter().map(|it| folder.join(it)).find(|it| is_special(it));
        let mut left = MAX_ENTRIES;
        let found =
            named.or_else(|| FOLDERS.iter().find_map(|it| find_in_folder(&folder.join(it), &mut left)));
        let found = found.or_else(|| find_in_objects(folder.join("objects")));
        if found.is_some() {
            return found;
        }
    }
    let configs = git.iter().flat_map(|it| [it.join("config"), it.join("config.worktree")]);
    find_in_configs(configs.collect())
}

/// The first file with rules for one of these paths, relative to the top of the work tree, that is not a regular file.
pub(super) fn find_rules<'a>(top: &Path, paths: impl Iterator<Item = &'a Path>) -> Option<PathBuf> {
    let folders: BTreeSet<&Path> = paths.flat_map(|it| it.ancestors().skip(1)).collect();
    let mut rules = folders.into_iter().flat_map(|folder| RULES.map(|name| top.join(folder).join(name)));
    rules.find(|it| is_special(it))
}

/// Git's folder of the work tree and the one it shares with others, or the special file in its place. Where git finds
/// no repository in a `.git`, it looks in the folders above.
fn git_folders(root: &Path) -> (BTreeSet<PathBuf>, Option<PathBuf>) {
    let mut folders = BTreeSet::new();
    for link in root.ancestors().map(|it| it.join(".git")) {
        if is_special(&link) {
            return (folders, Some(link));
        }
        let Some(folder) = target_folder(link) else { continue };
        folders.insert(folder.clone());
        if is_special(&folder.join("commondir")) {
            return (folders, Some(folder.join("commondir")));
        }
        let shared = small_text(&folder.join("commondir")).map(|it| folder.join(it.trim()));
        folders.extend(shared.clone());
        if is_repository(&folder, shared.as_deref().unwrap_or(&folder)) {
            break;
        }
    }
    (folders, None)
}

/// The folder that a `.git` is, or that it names.
fn target_folder(link: PathBuf) -> Option<PathBuf> {
    if link.is_dir() {
        return Some(link);
    }
    let text = small_text(&link)?;
    Some(link.parent()?.join(text.strip_prefix("gitdir:")?.trim()))
}

fn is_repository(folder: &Path, shared: &Path) -> bool {
    fs::symlink_metadata(folder.join("HEAD")).is_ok()
        && ["objects", "refs"].iter().all(|it| shared.join(it).is_dir())
}

/// Whether the path is neither file nor folder, links followed. A missing one is not special.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir())
}

fn find_in_folder(folder: &Path, left: &mut usize) -> Option<PathBuf> {
    for entry in fs::read_dir(folder).ok()?.flatten() {
        *left = left.checked_sub(1)?;
        let Ok(kind) = entry.file_type() else { continue };
        let found = if kind.is_dir() {
            find_in_folder(&entry.path(), left)
        } else {
            Some(entry.path()).filter(|it| !kind.is_file() && is_special(it))
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Searches the objects of a repository, and those of others that its list of alternates names.
fn find_in_objects(objects: PathBuf) -> Option<PathBuf> {
    let (mut folders, mut left) = (vec![objects], MAX_OBJECTS);
    for _ in 0..MAX_INCLUDES {
        let folder = folders.pop()?;
        let alternates = folder.join("info/alternates");
        if is_special(&alternates) {
            return Some(alternates);
        }
        let is_read = |it: &fs::DirEntry| it.file_name().len() == 2 || it.file_name() == "pack";
        let mut below = fs::read_dir(&folder).into_iter().flatten().flatten().filter(is_read);
        let found = below.find_map(|it| find_in_folder(&it.path(), &mut left));
        if found.is_some() {
            return found;
        }
        let listed = small_text(&alternates).unwrap_or_default();
        folders.extend(listed.lines().map(|it| folder.join(it)));
    }
    None
}

/// Files that configurations name: other configurations, and lists of ignored files and attributes.
fn find_in_configs(mut configs: Vec<PathBuf>) -> Option<PathBuf> {
    let mut seen = 0;
    while let Some(config) = configs.pop() {
        seen += 1;
        if seen > MAX_INCLUDES {
            return None;
        }
        let Some(text) = small_text(&config) else { continue };
        for (key, value) in text.lines().filter_map(|it| it.split_once('=')) {
            let key = key.trim().rsplit([']', ' ', '\t']).next().unwrap_or_default().to_ascii_lowercase();
            if !["path", "excludesfile", "attributesfile"].contains(&key.as_str()) {
                continue;
            }
            let value = value.trim().trim_matches('"');
            let home = value.strip_prefix("~/").and_then(|it| Some(std::env::home_dir()?.join(it)));
            let target = home.or_else(|| Some(config.parent()?.join(value)))?;
            if is_special(&target) {
                return Some(target);
            }
            if key == "path" {
                configs.push(target);
            }
        }
    }
    None
}

/// The text of a regular file; `None` if it is missing, too large, or not a regular file.
fn small_text(path: &Path) -> Option<String> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    file.metadata().ok().filter(fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    file.take(MAX_CONFIG_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::find;
    use std::fs;
    use std::process::Command;

    #[test]
    fn a_pipe_is_found_wherever_git_would_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        git2::Repository::init(&root).unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        assert_eq!(find(&root.join("a/b")), None);
        let pipe = |path: &std::path::Path| {
            let _ = fs::remove_file(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
        };
        for name in [
            "HEAD",
            "config",
            "shallow",
            "index",
            "refs/heads/deep/main",
            "objects/info/alternates",
            "objects/ab/cdef",
        ] {
            let path = root.join(".git").join(name);
            let before = fs::read(&path).ok();
            pipe(&path);
            assert_eq!(find(&root.join("a/b")).as_deref(), Some(path.as_path()), "{name}");
            fs::remove_file(&path).unwrap();
            before.inspect(|it| fs::write(&path, it).unwrap());
        }
        let (object, alternates) = (root.join("other/ab/cdef"), root.join(".git/objects/info/alternates"));
        pipe(&object);
        fs::write(&alternates, root.join("other").to_string_lossy().as_bytes()).unwrap();
        assert_eq!(find(&root), Some(object));
        fs::remove_file(&alternates).unwrap();
        pipe(&root.join("elsewhere"));
        fs::write(root.join(".git/config"), "[include]\n\tpath = more\n").unwrap();
        fs::write(root.join(".git/more"), "[core]\nexcludesFile = ../elsewhere\n").unwrap();
        assert_eq!(find(&root), Some(root.join(".git/../elsewhere")));
        // An empty folder is no repository: git reads the one above.
        pipe(&root.join(".git/shallow"));
        fs::create_dir(root.join("a/.git")).unwrap();
        assert_eq!(find(&root.join("a/b")), Some(root.join(".git/shallow")));
        fs::remove_file(root.join(".git/shallow")).unwrap();
        fs::remove_dir_all(root.join(".git")).unwrap();
        pipe(&root.join(".git"));
        assert_eq!(find(&root), Some(root.join(".git")));
    }
}
