//! Identifies the programs that checks run by name: the path and the hash of each file.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use loopkeeper_text::digest::hex;
use sha2::{Digest as _, Sha256};

use crate::program_path::find_in_path;

/// Larger programs are found but not hashed.
const MAX_BYTES: u64 = 512 * 1024 * 1024;

/// The file that runs for a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramFile {
    /// Links resolved.
    pub path: PathBuf,
    pub sha256: Option<String>,
}

/// The first program of this name in the search path.
pub fn find_program(name: &str, search_path: &OsStr) -> Option<ProgramFile> {
    let path = find_in_path(OsStr::new(name), search_path)?.canonicalize().ok()?;
    let sha256 = hash(&path).ok().flatten();
    Some(ProgramFile { path, sha256 })
}

fn hash(path: &Path) -> io::Result<Option<String>> {
    if path.metadata()?.len() > MAX_BYTES {
        return Ok(None);
    }
    hash_file(path).map(Some)
}

/// SHA-256 of a file of any length.
pub fn hash_file(path: &Path) -> io::Result<String> {
    hash_contents(File::open(path)?)
}

/// SHA-256 of everything that is read.
pub(crate) fn hash_contents(mut file: impl Read) -> io::Result<String> {
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0; 64 * 1024]);
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(hex(&hasher.finalize()));
        }
        hasher.update(buffer.get(..count).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use loopkeeper_text::digest::sha256;

    use super::find_program;

    #[test]
    fn the_first_executable_file_of_the_name_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let write = |path: &str, mode: u32| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        };
        write("a/tool", 0o644);
        write("b/tool-1", 0o755);
        symlink("tool-1", root.join("b/tool")).unwrap();
        write("c/tool", 0o755);
        let path = std::env::join_paths(["a", "b", "c"].map(|it| root.join(it))).unwrap();
        let found = find_program("tool", &path).unwrap();
        assert_eq!((found.path, found.sha256), (root.join("b/tool-1"), Some(sha256(b"#!/bin/sh\n"))));
        assert_eq!(find_program("other", &path), None);
    }
}
