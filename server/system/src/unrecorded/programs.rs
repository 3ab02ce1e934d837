//! Finds programs and personal configuration outside the work tree that changed since a moment.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::is_changed_since;
use crate::program_path::is_executable;

/// Files below the home folder that decide how test runners, interpreters and build tools run.
const HOME_FILES: [&str; 16] = [
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".cargo/config.toml",
    ".cargo/config",
    ".gitconfig",
    ".config/git/config",
    ".pythonrc",
    ".pydistutils.cfg",
    ".config/pip/pip.conf",
    ".config/nextest.toml",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".rspec",
    ".config/go/env",
    ".noderc",
];
/// Folders in which every file does.
const HOME_FOLDERS: [&str; 2] = [".gradle/init.d", ".config/jest"];

/// A changed program that is first in the search path, and the program that would run without it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplacedProgram {
    pub name: String,
    pub path: PathBuf,
    pub original: Option<PathBuf>,
}

/// The programs of these names that changed since. Programs below `root` belong to the work tree.
pub fn replaced_programs(
    names: &[String],
    search_path: &OsStr,
    root: &Path,
    since: SystemTime,
) -> Vec<ReplacedProgram> {
    let is_changed = |path: &PathBuf| {
        let target = path.canonicalize();
        is_changed_since(path, since) || target.is_ok_and(|it| is_changed_since(&it, since))
    };
    let find = |name: &String| {
        let folders = std::env::split_paths(search_path).filter(|it| it.is_absolute());
        let mut found = folders.map(|it| it.join(name)).filter(|it| is_executable(it));
        let path = found.next().filter(|it| !it.starts_with(root) && is_changed(it))?;
        let original = found.find(|it| !is_changed(it));
        Some(ReplacedProgram { name: name.clone(), path, original })
    };
    names.iter().filter_map(find).collect()
}

/// The personal configuration that changed since, relative to `home`.
pub fn changed_home_files(home: &Path, since: SystemTime) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = HOME_FILES.iter().map(PathBuf::from).collect();
    let mut folders: Vec<PathBuf> = HOME_FOLDERS.iter().map(PathBuf::from).collect();
    for python in names_in(&home.join(".local/lib")) {
        folders.push(Path::new(".local/lib").join(python).join("site-packages"));
    }
    for folder in folders {
        let names = names_in(&home.join(&folder));
        let decides = |it: &PathBuf| {
            let extension = it.extension().and_then(OsStr::to_str);
            let is_start_up =
                ["sitecustomize.py", "usercustomize.py"].iter().any(|name| it.as_os_str() == *name);
            !folder.ends_with("site-packages") || extension == Some("pth") || is_start_up
        };
        found.extend(names.into_iter().filter(decides).map(|it| folder.join(it)));
    }
    found.retain(|it| is_changed_since(&home.join(it), since));
    found
}

/// Whether a path below the home folder is a setting that [`changed_home_files`] finds.
pub(super) fn is_home_setting(below: &Path) -> bool {
    HOME_FILES.iter().any(|it| below == Path::new(it)) || HOME_FOLDERS.iter().any(|it| below.starts_with(it))
}

fn names_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|it| PathBuf::from(it.file_name())).take(1000).collect()
}
