//! A temporary home folder: symbolic links to the entries of the user's own, except for one replaced file.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::Path;

/// Links in `ours` to everything in `theirs` except the file named `but`. Files that the program created in `ours` are
/// kept.
pub fn populate_shadow_home(theirs: &Path, ours: &Path, but: &str) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(ours)?;
    let entries = match fs::read_dir(theirs) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let link = ours.join(entry.file_name());
        if entry.file_name() == but || link.symlink_metadata().is_ok() {
            continue;
        }
        symlink(entry.path(), link)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::populate_shadow_home;

    #[test]
    fn all_but_one_file_link_to_the_users_home() {
        let folder = tempfile::tempdir().unwrap();
        let (theirs, ours) = (folder.path().join("theirs"), folder.path().join("state/ours"));
        populate_shadow_home(&theirs, &ours, "settings").unwrap();
        assert_eq!(fs::read_dir(&ours).unwrap().count(), 0, "a missing home of theirs is no error");
        fs::create_dir_all(theirs.join("tmp")).unwrap();
        for name in ["settings", "login", "projects"] {
            fs::write(theirs.join(name), "theirs").unwrap();
        }
        populate_shadow_home(&theirs, &ours, "settings").unwrap();
        fs::remove_file(ours.join("projects")).unwrap();
        for (path, text) in [("settings", "ours"), ("login", "new"), ("projects", "ours"), ("tmp/a", "new")] {
            fs::write(ours.join(path), text).unwrap();
        }
        populate_shadow_home(&theirs, &ours, "settings").unwrap();
        let read = |path: &str| fs::read_to_string(theirs.join(path)).unwrap();
        assert_eq!(
            [read("settings"), read("login"), read("projects"), read("tmp/a")],
            ["theirs", "new", "theirs", "new"]
        );
        assert_eq!(fs::read_to_string(ours.join("projects")).unwrap(), "ours", "its own stays");
    }
}
