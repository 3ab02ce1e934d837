//! Determines which paths the tree leaves out: `.gitignore` files, `.git/info/exclude`, the user's excludes file and a
//! built-in list. Reads them without git and without running anything; symlinked `.gitignore` files do not count, as in
//! git.

mod pattern;

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags};

use crate::regular_file::{read_linked, read_open};
use crate::repository_layout;
use pattern::{IgnoreMatch, IgnorePattern};

/// Folders that no loop needs in a snapshot; `!target/` in a `.gitignore` includes one again.
const BUILT_IN_FOLDERS: [&[u8]; 6] =
    [b"target", b"node_modules", b"__pycache__", b".venv", b".pytest_cache", b".mypy_cache"];

/// The rules of one tree. Patterns stay compiled between walks.
pub(crate) struct IgnoreRules {
    root: PathBuf,
    excludes_file: Option<PathBuf>,
    levels: Vec<IgnoreLevel>,
    compiled: HashMap<PathBuf, (Vec<u8>, Arc<[IgnorePattern]>)>,
    reads_exclude: bool,
}

struct IgnoreLevel {
    /// Length of the absolute path of the folder that the patterns are relative to, including the slash after it.
    base: usize,
    patterns: Arc<[IgnorePattern]>,
}

/// Number of rule files that a folder added, to be returned when leaving it.
#[must_use]
pub(crate) struct PushedLevels(usize);

impl IgnoreRules {
    pub(crate) fn new(root: &Path, excludes_file: Option<PathBuf>) -> Self {
        let root = root.to_path_buf();
        Self { root, excludes_file, levels: Vec::new(), compiled: HashMap::new(), reads_exclude: true }
    }

    /// The same without the rules that no snapshot contains and that `is_written` reports as written since a moment.
    pub(crate) fn without_recent_rules(&self, is_written: impl Fn(&Path) -> bool) -> Self {
        let exclude = repository_layout::repository_top(&self.root)
            .and_then(|top| repository_layout::common_dir(&top))
            .map(|it| it.join("info/exclude"));
        let excludes_file = self.excludes_file.clone().filter(|it| !is_written(it));
        Self {
            reads_exclude: !exclude.is_some_and(|it| is_written(&it)),
            ..Self::new(&self.root, excludes_file)
        }
    }

    /// Starts a walk with the rules of the folders above the root.
    pub(crate) fn start(&mut self) {
        self.levels.clear();
        let root = self.root.clone();
        let top = repository_layout::repository_top(&root).unwrap_or_else(|| root.clone());
        if let Some(file) = self.excludes_file.clone() {
            self.push(&file, &top, read_linked(&file));
        }
        if top == root {
            return;
        }
        self.enter_repository(&top);
        let mut above: Vec<&Path> = root.ancestors().skip(1).take_while(|it| it.starts_with(&top)).collect();
        above.reverse();
        for folder in above {
            let file = folder.join(".gitignore");
            let text = read_rules(CWD, &file);
            self.push(&file, folder, text);
        }
    }

    /// The rule files of a folder: `.gitignore`, and `info/exclude` where a repository begins.
    pub(crate) fn push_folder(
        &mut self,
        fd: BorrowedFd<'_>,
        path: &[u8],
        holds: FolderMarkers,
    ) -> PushedLevels {
        let before = self.levels.len();
        if holds.repository || holds.rules {
            let folder = PathBuf::from(std::ffi::OsStr::from_bytes(path));
            if holds.repository {
                self.enter_repository(&folder);
            }
            if holds.rules {
                let text = read_rules(fd, Path::new(".gitignore"));
                self.push(&folder.join(".gitignore"), &folder, text);
            }
        }
        PushedLevels(self.levels.len() - before)
    }

    /// Like [`Self::push_folder`], with the `.gitignore` of another time.
    pub(crate) fn enter_with_rules(&mut self, folder: &Path, rules: Option<Vec<u8>>) {
        self.enter_repository(folder);
        self.push(&folder.join(".gitignore"), folder, rules);
    }

    pub(crate) fn pop_folder(&mut self, entered: &PushedLevels) {
        self.levels.truncate(self.levels.len() - entered.0);
    }

    /// `path` is absolute; the folders above it are not ignored.
    pub(crate) fn is_ignored(&self, path: &[u8], name: &[u8], is_folder: bool) -> bool {
        for level in self.levels.iter().rev() {
            let below = path.get(level.base..).unwrap_or_default();
            match pattern::match_path(&level.patterns, below, is_folder) {
                IgnoreMatch::Ignored => return true,
                IgnoreMatch::Kept => return false,
                IgnoreMatch::Silent => {}
            }
        }
        is_built_in(name, is_folder)
    }

    fn enter_repository(&mut self, top: &Path) {
        let Some(common) = repository_layout::common_dir(top) else { return };
        if self.reads_exclude {
            let file = common.join("info/exclude");
            let text = read_linked(&file);
            self.push(&file, top, text);
        }
    }

    fn push(&mut self, file: &Path, base: &Path, text: Option<Vec<u8>>) {
        let Some(text) = text else { return };
        let patterns = match self.compiled.get(file) {
            Some((known, patterns)) if *known == text => Arc::clone(patterns),
            _ => {
                let patterns: Arc<[IgnorePattern]> = pattern::parse_patterns(&text).into();
                self.compiled.insert(file.to_path_buf(), (text, Arc::clone(&patterns)));
                patterns
            }
        };
        if !patterns.is_empty() {
            let path = base.as_os_str().as_bytes();
            self.levels.push(IgnoreLevel { base: path.len() + usize::from(!path.ends_with(b"/")), patterns });
        }
    }
}

/// Rule files seen in a folder's listing.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FolderMarkers {
    pub rules: bool,
    pub repository: bool,
}

/// The user's `core.excludesFile`, with git's default.
pub(crate) fn users_excludes_file() -> Option<PathBuf> {
    let set = git2::Config::open_default().and_then(|mut it| it.snapshot()?.get_path("core.excludesfile"));
    set.ok().or_else(|| {
        let config = std::env::var_os("XDG_CONFIG_HOME").filter(|it| !it.is_empty()).map(PathBuf::from);
        let config = config.or_else(|| std::env::home_dir().map(|it| it.join(".config")))?;
        Some(config.join("git/ignore"))
    })
}

fn is_built_in(name: &[u8], is_folder: bool) -> bool {
    if is_folder {
        return BUILT_IN_FOLDERS.contains(&name);
    }
    is_swap_file(name)
}

/// vim's `.name.swp` and its successors, Emacs' lock links, Kate's swap files, which change with every keystroke.
fn is_swap_file(name: &[u8]) -> bool {
    let Some(rest) = name.strip_prefix(b".") else { return false };
    let vim = matches!(rest, [.., b'.', b's', b'w', b'a'..=b'p']);
    vim || rest.starts_with(b"#") || rest.ends_with(b".kate-swp")
}

/// A rule file inside the tree: never read through a symlink, never blocking on a pipe.
fn read_rules(fd: impl AsFd, name: &Path) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    read_open(rustix::fs::openat(fd, name, flags, Mode::empty()).ok()?)
}

#[cfg(test)]
mod tests;
