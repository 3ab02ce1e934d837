//! Finds the folders of the user in which a loop has no work: other projects, documents, programs. They are read-only.
//!
//! Entries of the home folder whose names begin with a dot are left out: caches, toolchains and the folders of agents,
//! without which no build runs.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::repository_layout::{common_dir, repository_top};

/// Entries of the home folder in which package managers and toolchains write.
const TOOL_FOLDERS: [&str; 14] = [
    "go",
    "snap",
    "R",
    "perl5",
    "node_modules",
    "miniconda3",
    "anaconda3",
    "miniforge3",
    "mambaforge",
    "micromamba",
    "Android",
    "flutter",
    "emsdk",
    "esp",
];
/// Variables that name a folder in which these tools write.
const TOOL_VARIABLES: [&str; 32] = [
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "RUSTUP_HOME",
    "SCCACHE_DIR",
    "CCACHE_DIR",
    "GOPATH",
    "GOCACHE",
    "GOMODCACHE",
    "GRADLE_USER_HOME",
    "MAVEN_USER_HOME",
    "NPM_CONFIG_CACHE",
    "NPM_CONFIG_PREFIX",
    "PNPM_HOME",
    "YARN_CACHE_FOLDER",
    "BUN_INSTALL",
    "DENO_DIR",
    "NVM_DIR",
    "VOLTA_HOME",
    "PIP_CACHE_DIR",
    "UV_CACHE_DIR",
    "POETRY_CACHE_DIR",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYENV_ROOT",
    "GEM_HOME",
    "BUNDLE_PATH",
    "COMPOSER_HOME",
    "NUGET_PACKAGES",
    "ANDROID_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "HF_HOME",
];
/// One mount for each entry takes longer than a mount of the folder and of what stays writable in it. It also makes hard
/// links from caches into the work tree impossible, so that package managers copy instead.
const MAX_SINGLE_MOUNTS: usize = 50;

/// The read-only entries of one folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OtherFolders {
    folder: PathBuf,
    pub(super) entries: Vec<PathBuf>,
    /// Entries that are writable or contain something writable.
    writable: Vec<PathBuf>,
    /// Whether new entries can be made in the folder itself.
    is_open: bool,
}

impl OtherFolders {
    /// The folder and what stays writable in it, if it is to be mounted as a whole.
    pub(super) fn whole(&self) -> Option<(&Path, &[PathBuf])> {
        (self.entries.len() > MAX_SINGLE_MOUNTS && !self.is_open).then_some((&self.folder, &self.writable))
    }
}

/// The folders that stay writable besides the work tree: its repository, and those that variables name.
pub(super) fn tool_folders(root: &Path, variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let named = TOOL_VARIABLES.iter().filter_map(|it| variable(it)).map(PathBuf::from);
    let named = named.filter(|it| it.is_absolute());
    let repository = repository_top(root).and_then(|top| common_dir(&top));
    let all = named.chain(repository).filter_map(|it| fs::canonicalize(it).ok());
    all.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The other entries of the home folder and of the folders between it and the work tree, or, beside a work tree elsewhere,
/// the other repositories. All paths are real.
pub(super) fn other_folders(home: Option<&Path>, root: &Path, writable: &[PathBuf]) -> Vec<OtherFolders> {
    let home = home.filter(|it| it.parent().is_some());
    let is_top = |it: &PathBuf| Some(it.as_path()) != home;
    let top = repository_top(root).filter(is_top).unwrap_or_else(|| root.to_owned());
    let used: Vec<&Path> = writable.iter().map(PathBuf::as_path).chain([top.as_path()]).collect();
    let mut found = Vec::new();
    if let Some(home) = home.filter(|it| !it.starts_with(&top)) {
        add_entries(home, true, &used, &mut found);
    }
    if let Some(around) = top.parent().filter(|it| !home.is_some_and(|home| it.starts_with(home))) {
        add_repositories(around, &used, &mut found);
    }
    found.retain(|it| !it.entries.is_empty());
    // A mount of a folder as a whole would cover one inside it that was made before.
    found.sort_by(|one, other| one.folder.cmp(&other.folder));
    found
}

fn add_entries(folder: &Path, is_home: bool, used: &[&Path], found: &mut Vec<OtherFolders>) {
    let (mut entries, mut writable) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let is_tool = name.as_bytes().starts_with(b".") || TOOL_FOLDERS.iter().any(|it| name == *it);
        // The target of a link is found at its own place.
        if entry.file_type().is_ok_and(|it| it.is_symlink()) || is_home && is_tool {
            continue;
        }
        let is_used = used.contains(&path.as_path());
        let is_around = used.iter().any(|it| it.starts_with(&path));
        if is_around && !is_used {
            add_entries(&path, false, used, found);
        }
        if is_around { &mut writable } else { &mut entries }.push(path);
    }
    entries.sort();
    found.push(OtherFolders { folder: folder.to_owned(), entries, writable, is_open: is_home });
}

fn add_repositories(folder: &Path, used: &[&Path], found: &mut Vec<OtherFolders>) {
    let paths = fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
    let is_other = |it: &PathBuf| it.join(".git").exists() && !used.iter().any(|used| used.starts_with(it));
    let mut entries: Vec<PathBuf> = paths.filter(is_other).collect();
    entries.sort();
    found.push(OtherFolders { folder: folder.to_owned(), entries, writable: Vec::new(), is_open: true });
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Home(tempfile::TempDir);

    impl Home {
        fn with(paths: &[&str]) -> Self {
            let home = Self(tempfile::tempdir().unwrap());
            for path in paths {
                let path = home.at(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "ref: refs/heads/main\n").unwrap();
            }
            home
        }

        fn at(&self, path: &str) -> PathBuf {
            self.0.path().canonicalize().unwrap().join(path)
        }

        /// The read-only paths below the folder, for a work tree in it.
        fn others(&self, home: &str, root: &str, writable: &[&str]) -> Vec<String> {
            let writable: Vec<PathBuf> = writable.iter().map(|it| self.at(it)).collect();
            let found = other_folders(Some(&self.at(home)), &self.at(root), &writable);
            let base = self.at("");
            let mut paths: Vec<String> = found
                .iter()
                .flat_map(|it| &it.entries)
                .map(|it| it.strip_prefix(&base).unwrap().to_str().unwrap().to_owned())
                .collect();
            paths.sort();
            paths
        }
    }

    const USUAL: [&str; 9] = [
        "u/.bashrc",
        "u/.cache/x",
        "u/go/pkg/x",
        "u/Documents/letter",
        "u/notes.txt",
        "u/code/mine/src/a.rs",
        "u/code/other/a.rs",
        "u/code/.shared/a",
        "u/code/group/third/a.rs",
    ];

    #[test]
    fn other_projects_and_documents_are_read_only() {
        let home = Home::with(&USUAL);
        let expect = ["u/Documents", "u/code/.shared", "u/code/group", "u/code/other", "u/notes.txt"];
        assert_eq!(home.others("u", "u/code/mine", &[]), expect);
        assert_eq!(
            home.others("u", "u/code/mine", &["u/code/group/third", "u/Documents"]),
            ["u/code/.shared", "u/code/other", "u/notes.txt"]
        );
        assert_eq!(home.others("u", "u", &[]), [""; 0], "the home folder is the work tree");
        assert_eq!(home.others("u/.cache", "u/.cache", &[]), [""; 0]);
    }

    #[test]
    fn the_repository_of_the_work_tree_stays_writable() {
        let home =
            Home::with(&["u/code/mine/.git/HEAD", "u/code/mine/part/a", "u/code/mine/b", "u/code/other/a"]);
        assert_eq!(home.others("u", "u/code/mine/part", &[]), ["u/code/other"]);
        let tools = tool_folders(&home.at("u/code/mine/part"), |name| {
            (name == "CARGO_TARGET_DIR").then(|| home.at("u/code/other").into())
        });
        assert_eq!(tools, [home.at("u/code/mine/.git"), home.at("u/code/other")]);
    }

    #[test]
    fn a_repository_in_the_home_folder_itself_is_not_the_work() {
        let home = Home::with(&["u/.git/HEAD", "u/mine/a", "u/other/a"]);
        assert_eq!(home.others("u", "u/mine", &[]), ["u/other"]);
    }

    #[test]
    fn repositories_beside_a_work_tree_elsewhere_are_read_only() {
        let home = Home::with(&["u/other/a", "srv/mine/a", "srv/second/.git/HEAD", "srv/data/a"]);
        assert_eq!(home.others("u", "srv/mine", &[]), ["srv/second", "u/other"]);
    }

    #[test]
    fn outer_folders_are_mounted_before_inner_ones() {
        let numbers = 0..=MAX_SINGLE_MOUNTS;
        let names: Vec<String> =
            numbers.flat_map(|it| [format!("u/code/{it}/a"), format!("u/code/in/{it}/a")]).collect();
        let mut paths: Vec<&str> = names.iter().map(String::as_str).collect();
        paths.push("u/code/in/mine/a");
        let home = Home::with(&paths);
        let found = other_folders(Some(&home.at("u")), &home.at("u/code/in/mine"), &[]);
        let whole: Vec<&Path> = found.iter().filter_map(|it| Some(it.whole()?.0)).collect();
        assert_eq!(whole, [home.at("u/code"), home.at("u/code/in")]);
    }

    #[test]
    fn many_entries_are_mounted_with_their_folder() {
        let names: Vec<String> = (0..=MAX_SINGLE_MOUNTS).map(|it| format!("u/code/{it}/a")).collect();
        let mut paths: Vec<&str> = names.iter().map(String::as_str).collect();
        paths.push("u/code/mine/a");
        let home = Home::with(&paths);
        let found = other_folders(Some(&home.at("u")), &home.at("u/code/mine"), &[]);
        assert_eq!(found[0].whole(), Some((home.at("u/code").as_path(), &[home.at("u/code/mine")][..])));
        fs::remove_dir_all(home.at("u/code/0")).unwrap();
        let found = other_folders(Some(&home.at("u")), &home.at("u/code/mine"), &[]);
        assert_eq!(found[0].whole(), None);
    }
}
