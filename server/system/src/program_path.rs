//! Resolves program names to absolute paths before anything starts. The current folder is never searched.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// The program's file: a name without a slash by `search` (a `PATH`), one with a slash relative to `root`.
pub(crate) fn resolve_program(name: &OsStr, search: &OsStr, root: &Path) -> Option<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        return Some(root.join(name)).filter(|path| is_executable(path));
    }
    find_in_path(name, search)
}

/// The first executable of this name. Empty or relative entries of `PATH` mean the caller's current folder and are
/// skipped.
pub(crate) fn find_in_path(name: &OsStr, search: &OsStr) -> Option<PathBuf> {
    if name.is_empty() {
        return None;
    }
    std::env::split_paths(search)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|path| is_executable(path))
}

pub(crate) fn is_executable(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn names_are_resolved_to_executable_files() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let at = |path: &str| root.join(path);
        for (path, mode) in [("tool", 0o755), ("bin/tool", 0o755), ("bin/data", 0o644), ("bin/only", 0o755)] {
            std::fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            std::fs::write(at(path), "").unwrap();
            std::fs::set_permissions(at(path), PermissionsExt::from_mode(mode)).unwrap();
        }
        std::fs::create_dir(at("bin/folder")).unwrap();
        let search = [Path::new(""), Path::new("."), Path::new("bin"), &at("bin")];
        let search = std::env::join_paths(search).unwrap();
        let check = |name: &str, expect: Option<&str>| {
            assert_eq!(resolve_program(OsStr::new(name), &search, root), expect.map(&at), "{name}");
        };
        check("tool", Some("bin/tool"));
        check("./tool", Some("./tool"));
        check("bin/only", Some("bin/only"));
        check("data", None);
        check("./bin/data", None);
        check("folder", None);
        check("absent", None);
        check("", None);
        let absolute = at("bin/only");
        assert_eq!(resolve_program(absolute.as_os_str(), OsStr::new(""), root), Some(absolute.clone()));
    }
}
