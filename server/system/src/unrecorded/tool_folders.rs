//! Classifies paths by whether package managers and version managers keep downloads, installed packages or tools there.

use std::path::Path;

use super::programs::is_home_setting;
use crate::package_folders::PACKAGE_FOLDERS;

/// How a search outside the work tree treats a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PathClass {
    /// Searched, and counts if it is new.
    Searched,
    /// Searched, but does not count itself, because something that is left out may be below.
    Around,
    LeftOut,
}

/// Below the home folder, in folders that also contain other files.
const DOWNLOAD_FOLDERS: [&str; 20] = [
    "go/pkg",
    ".local/share/virtualenvs",
    ".cache/Cypress",
    ".cache/bazel",
    ".cache/ccache",
    ".cache/composer",
    ".cache/coursier",
    ".cache/deno",
    ".cache/go-build",
    ".cache/mise",
    ".cache/ms-playwright",
    ".cache/node",
    ".cache/node-gyp",
    ".cache/pip",
    ".cache/pnpm",
    ".cache/pre-commit",
    ".cache/puppeteer",
    ".cache/pypoetry",
    ".cache/uv",
    ".cache/yarn",
];

fn download_folders() -> impl Iterator<Item = &'static str> {
    PACKAGE_FOLDERS.into_iter().chain(DOWNLOAD_FOLDERS)
}

/// Where a path below the home folder is.
pub(super) fn classify_in_home(below: &Path) -> PathClass {
    let first = below.components().next().and_then(|it| it.as_os_str().to_str());
    // Comparing paths by their parts is slow for every folder of a home folder.
    let download_folders = || download_folders().filter(|it| it.split('/').next() == first);
    if download_folders().any(|it| below.starts_with(it)) || is_home_setting(below) {
        PathClass::LeftOut
    } else if download_folders().any(|it| Path::new(it).starts_with(below))
        || [".local/lib", ".local/bin"].iter().any(|it| below == Path::new(it))
    {
        PathClass::Around
    } else {
        PathClass::Searched
    }
}

/// Whether a folder holds installed packages of Python, with lists of their files, or is around one.
pub(super) fn is_around_packages(path: &Path) -> bool {
    let is_python = path.parent().is_some_and(|it| it.ends_with("lib"))
        && path.file_name().is_some_and(|it| it.to_string_lossy().starts_with("python"));
    is_python || holds_packages(path)
}

pub(super) fn holds_packages(path: &Path) -> bool {
    path.ends_with("site-packages") || path.ends_with("dist-packages")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn downloads_and_settings_are_left_out() {
        let check = |below: &str, expect| assert_eq!(classify_in_home(Path::new(below)), expect, "{below}");
        for below in [".cargo/registry/src", ".npm", ".cache/pip/http", "go/pkg/mod", ".gitconfig"] {
            check(below, PathClass::LeftOut);
        }
        for below in ["go", ".local", ".local/share", ".local/lib", ".local/bin", ".cache"] {
            check(below, PathClass::Around);
        }
        for below in [".cache/x", ".config/x", "x", ".local/lib/x", ".local/bin/x", "go/bin/x"] {
            check(below, PathClass::Searched);
        }
    }

    #[test]
    fn folders_of_python_packages() {
        let check = |path: &str, expect| assert_eq!(is_around_packages(Path::new(path)), expect, "{path}");
        check("/home/u/.local/lib/python3.11", true);
        check("/usr/local/lib/python3.11/dist-packages", true);
        check("/home/u/.local/lib/python3.11/good", false);
        check("/home/u/python3.11", false);
    }
}
