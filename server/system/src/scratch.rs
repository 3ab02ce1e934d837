//! Makes a temporary folder with git repositories for one probe of an agent, removed on drop.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::durable::make_new_folder;
use super::forced_removal::remove_folder;

/// Maximum number of files that are read from the folder.
const MAX_FILES: usize = 100;
const MAX_BYTES: u64 = 64 * 1024;

/// The folder; removed with everything in it when dropped.
#[derive(Debug)]
pub struct ScratchDir {
    root: PathBuf,
}

impl ScratchDir {
    pub fn new() -> io::Result<Self> {
        let root =
            std::env::temp_dir().canonicalize()?.join(format!("loopkeeper-probe-{}", uuid::Uuid::new_v4()));
        make_new_folder(&root)?;
        Ok(Self { root })
    }

    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Creates an empty folder below it.
    pub fn folder(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.root.join(name);
        make_new_folder(&folder)?;
        Ok(folder)
    }

    /// Creates a repository below it.
    pub fn repository(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.folder(name)?;
        git2::Repository::init(&folder).map_err(io::Error::other)?;
        Ok(folder)
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        // What cannot be removed stays in the folder for temporary files.
        let _ = remove_folder(&self.root);
    }
}

/// Writes files into a folder, creating missing parents.
pub fn write_files(folder: &Path, files: &[(String, String)]) -> io::Result<()> {
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, text)?;
    }
    Ok(())
}

/// The regular files directly in a folder.
#[derive(Debug, Default)]
pub struct ScratchSnapshot {
    files: BTreeMap<String, ((i64, i64), String)>,
}

impl ScratchSnapshot {
    pub fn capture(folder: &Path) -> Self {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let file = |entry: fs::DirEntry| {
            let meta = entry.metadata().ok().filter(|it| it.is_file() && it.len() <= MAX_BYTES)?;
            let text = String::from_utf8_lossy(&fs::read(entry.path()).ok()?).into_owned();
            let name = entry.file_name().to_string_lossy().into_owned();
            Some((name, ((meta.mtime(), meta.mtime_nsec()), text)))
        };
        Self { files: entries.filter_map(file).take(MAX_FILES).collect() }
    }

    /// Names of files that were written since `before`, even with the same content.
    pub fn written_since(&self, before: &Self) -> Vec<String> {
        let is_new = |(name, file): &(&String, &((i64, i64), String))| before.files.get(*name) != Some(*file);
        self.files.iter().filter(is_new).map(|(name, _)| name.clone()).collect()
    }

    pub fn contents(self) -> BTreeMap<String, String> {
        self.files.into_iter().map(|(name, (_, text))| (name, text)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{ScratchDir, ScratchSnapshot, write_files};

    #[test]
    fn scratch_contents_are_visible_and_removed_at_the_end() {
        let scratch = ScratchDir::new().unwrap();
        let folder = scratch.repository("a").unwrap();
        let files = ["one", "two", "deep/three"].map(|it| (it.to_owned(), it.to_owned()));
        write_files(&folder, &files).unwrap();
        let before = ScratchSnapshot::capture(&folder);
        assert!(ScratchSnapshot::capture(&folder).written_since(&before).is_empty());
        fs::write(folder.join("two"), "2").unwrap();
        fs::write(folder.join("four"), "4").unwrap();
        let long_ago = std::time::SystemTime::UNIX_EPOCH;
        fs::File::options().write(true).open(folder.join("one")).unwrap().set_modified(long_ago).unwrap();
        let after = ScratchSnapshot::capture(&folder);
        assert_eq!(after.written_since(&before), ["four", "one", "two"]);
        let contents = after.contents();
        assert_eq!(contents.keys().collect::<Vec<_>>(), ["four", "one", "two"]);
        assert_eq!(contents["two"], "2");
        let root = scratch.path().to_owned();
        drop(scratch);
        assert!(!root.exists());
    }
}
