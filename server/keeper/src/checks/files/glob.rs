//! One glob of a criterion: relative to the root, `*` within a folder, `**` across folders.

use loopkeeper_text::tr;
use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

#[derive(Debug, Clone)]
pub(super) struct FileGlob {
    /// The glob as the user wrote it.
    pub(super) written: String,
    /// Whether it contains no special characters.
    pub(super) literal: bool,
    /// Whether it ends with `/`.
    pub(super) folder_only: bool,
    /// Its path if all characters are taken literally.
    pub(super) path: PathBuf,
    /// The folder that contains all matches.
    pub(super) base: PathBuf,
    matcher: GlobMatcher,
}

impl FileGlob {
    /// The error describes what is wrong with the glob.
    pub(super) fn new(written: &str) -> Result<Self, String> {
        let trimmed = written.trim_end_matches('/');
        let path: PathBuf = Path::new(trimmed).components().filter(|it| *it != Component::CurDir).collect();
        if !path.components().all(|it| matches!(it, Component::Normal(_))) || written.starts_with('/') {
            return Err(tr!("{written} is outside the root", written));
        }
        if path.components().any(|it| it.as_os_str() == ".git") {
            return Err(tr!("{written}: .git is not looked at", written));
        }
        let pattern = path.to_string_lossy();
        let built = GlobBuilder::new(&pattern).literal_separator(true).build();
        let matcher =
            built.map_err(|error| tr!("{written}: {kind}", written, kind = error.kind()))?.compile_matcher();
        let plain = |it: &Component<'_>| !is_special(&it.as_os_str().to_string_lossy());
        let literal = path.components().all(|it| plain(&it));
        let base: PathBuf = path.components().take_while(plain).collect();
        let base = if literal { base.parent().map(Path::to_path_buf).unwrap_or_default() } else { base };
        let folder_only = written.ends_with('/');
        Ok(Self { written: written.to_owned(), literal, folder_only, path, base, matcher })
    }

    /// `path` is relative to the root.
    pub(super) fn matches(&self, path: &Path) -> bool {
        self.path == path || self.matcher.is_match(path)
    }
}

fn is_special(part: &str) -> bool {
    part.contains(['*', '?', '[', ']', '{', '}', '\\'])
}
