//! Creates folders and files that survive a power cut. Everything created here is accessible to the user alone.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Creates a folder and its missing parents. An existing folder is left as it is.
pub fn make_folder(path: &Path) -> io::Result<()> {
    match make_one(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            make_folder(path.parent().ok_or(error)?)?;
            // In some places, such as `/proc`, nothing can be created although the parent exists.
            make_one(path)
        }
        done => done,
    }
}

fn make_one(path: &Path) -> io::Result<()> {
    match make_new_folder(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        done => done,
    }
}

/// Creates a folder that must not exist yet; its parent must exist.
pub fn make_new_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)?;
    sync_folder(path)
}

/// Replaces a file atomically: after a crash it holds the old bytes or the new ones. Writers of the same file must
/// exclude one another.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_by(path, ".new", bytes)
}

/// Like [`replace_file`], for files that several processes may write concurrently: the last writer wins.
pub fn replace_shared_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_by(path, &format!(".{}.new", uuid::Uuid::new_v4()), bytes)
}

fn replace_by(path: &Path, ending: &str, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    let draft = path.with_file_name(name);
    let replaced = write_draft(&draft, bytes).and_then(|()| fs::rename(&draft, path));
    // A draft with a unique name would never be overwritten.
    replaced.inspect_err(|_| drop(fs::remove_file(&draft)))?;
    sync_folder(path)
}

fn write_draft(draft: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(draft)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes the name of `path` durable: a new name is on disk only once the folder that holds it is.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::ErrorKind;
    use std::path::Path;

    use super::{make_folder, replace_shared_file};

    #[test]
    fn a_folder_is_made_with_its_parents_or_the_error_is_returned() {
        let place = tempfile::tempdir().unwrap();
        let deep = place.path().join("a/b/c");
        make_folder(&deep).unwrap();
        make_folder(&deep).unwrap();
        assert!(deep.is_dir());
        fs::write(place.path().join("file"), "").unwrap();
        let in_a_file = make_folder(&place.path().join("file/b")).unwrap_err();
        assert_eq!(in_a_file.kind(), ErrorKind::NotADirectory);
        // The parent exists, but nothing can be created in it.
        let nowhere = make_folder(Path::new("/proc/nothing/can/be/here")).unwrap_err();
        assert_eq!(nowhere.kind(), ErrorKind::NotFound);
    }

    #[test]
    fn a_failed_replacement_leaves_no_draft_behind() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("folder");
        fs::create_dir(&folder).unwrap();
        replace_shared_file(&folder, b"text").unwrap_err();
        let names: Vec<_> = fs::read_dir(&place).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(names, ["folder"]);
    }
}
