//! Finds the loop that Claude Code's own plugin runs in a folder, by its state file; cancels it like its own command
//! does, by removing that file, or imports it as a task. Starts nothing, and follows no link out of the folder.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use loopkeeper_core::plugin_loop::{self, DOCUMENT, FILES, PluginLoop};
use loopkeeper_text::{sanitize, tr};

use super::failure::{Failure, FailureKind};
use loopkeeper_system::durable::sync_folder;
use loopkeeper_system::{config_files, config_text};

/// Number of names tried for the new document.
const MAX_NAMES: u32 = 99;

/// A loop of the plugin, as found in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginLoopFile {
    /// The parent folder of `.claude`.
    pub folder: PathBuf,
    pub path: PathBuf,
    pub state: PluginLoop,
    text: String,
}

/// Result of importing a loop.
#[derive(Debug)]
pub struct ImportResult {
    pub document: PathBuf,
    /// Why the plugin's loop still continues.
    pub problem: Option<String>,
}

/// The plugin's loop in `folder`, if its file can be read.
pub fn find_in(folder: &Path) -> Option<PluginLoopFile> {
    FILES.iter().find_map(|name| read(&folder.join(name)).ok())
}

/// The loop of this folder, else of its root.
pub fn find_current() -> Option<PluginLoopFile> {
    let folder = std::env::current_dir().ok()?;
    find_in(&folder).or_else(|| find_in(&config_files::root_of(&folder).ok()?))
}

/// The loop whose state file is `path`.
pub fn open(path: &Path) -> Result<PluginLoopFile, Failure> {
    let shown = sanitize::visible(&path.to_string_lossy());
    let absolute = std::path::absolute(path)?;
    if !FILES.iter().any(|it| absolute.ends_with(it)) {
        let what = tr!("{shown} cannot be imported: its format is not supported yet", shown);
        return Err(Failure::new(FailureKind::Unsupported, what).hint(tr!(
            "So far only texts (.md, .txt, .log) and a loop of Claude Code's plugin can be: `{file}`.",
            file = FILES[0]
        )));
    }
    read(&absolute).map_err(|why| {
        Failure::usage(tr!("{shown} is not a running loop of Claude Code's plugin: {why}", shown, why)).hint(
            tr!("The file is there only while such a loop runs; the prompt can be written into a task by hand."),
        )
    })
}

/// Reads the file if neither it nor its folder is a link, because links may lead anywhere.
fn read(path: &Path) -> Result<PluginLoopFile, String> {
    let folder = path.parent().unwrap_or(path);
    let as_text = |error: io::Error| error.to_string();
    let (there, file) =
        (fs::symlink_metadata(folder).map_err(as_text)?, fs::symlink_metadata(path).map_err(as_text)?);
    if !there.is_dir() || !file.is_file() {
        return Err(tr!("it is a link, or no file").to_owned());
    }
    let text = config_text::read_text(path).map_err(|error| error.to_string())?;
    let text = text.ok_or_else(|| tr!("it is gone").to_owned())?;
    let state = plugin_loop::parse_state_file(&text).map_err(|error| error.to_string())?;
    let folder = folder.parent().unwrap_or(folder).to_owned();
    Ok(PluginLoopFile { folder, path: path.to_owned(), state, text })
}

impl PluginLoopFile {
    /// Removes its state file: its hook finds none and lets the session end.
    pub fn cancel(&self) -> Result<(), Failure> {
        // The file may have been replaced by something else.
        read(&self.path).map_err(|why| Failure::conflict(tr!("the loop no longer exists: {why}", why)))?;
        fs::remove_file(&self.path).map_err(|error| {
            Failure::ended(tr!("cannot remove {path}: {error}", path = self.path.display(), error))
                .hint(tr!("`/cancel-ralph` in its session ends it."))
        })
    }

    /// Its prompt as a task document.
    pub fn document(&self) -> Result<String, Failure> {
        plugin_loop::task_document(&self.text).map_err(Failure::ended)
    }

    /// Writes its prompt as a new task next to the existing ones, then cancels it. Overwrites nothing.
    pub fn take_over(&self) -> Result<ImportResult, Failure> {
        let document = write_new(&self.folder, DOCUMENT, &self.document()?)?;
        let problem = self.cancel().err().map(|it| it.to_string());
        Ok(ImportResult { document, problem })
    }
}

/// The path that [`write_new`] tries first among those that are free.
pub(super) fn free_path(folder: &Path, name: &str) -> PathBuf {
    let mut paths = numbered_paths(folder, name);
    paths.find(|it| it.symlink_metadata().is_err()).unwrap_or_else(|| folder.join(name))
}

fn numbered_paths(folder: &Path, name: &str) -> impl Iterator<Item = PathBuf> {
    let numbered = move |number: u32| match (number, name.split_once('.')) {
        (2.., Some((stem, rest))) => folder.join(format!("{stem}-{number}.{rest}")),
        _ => folder.join(name),
    };
    (1..=MAX_NAMES).map(numbered)
}

/// Writes a new file, with a number in its name where that is taken.
pub(super) fn write_new(folder: &Path, name: &str, text: &str) -> Result<PathBuf, Failure> {
    for path in numbered_paths(folder, name) {
        let failed = |error: io::Error| {
            Failure::ended(tr!("cannot write {path}: {error}", path = path.display(), error))
                .hint(tr!("check the folder's permissions."))
        };
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
            Ok(mut file) => {
                file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
                sync_folder(&path).map_err(failed)?;
                return Ok(path);
            }
        }
    }
    Err(Failure::conflict(tr!(
        "{name} already exists, and so do {count} more of its kind",
        name,
        count = MAX_NAMES
    ))
    .hint(tr!("Remove those that are not needed.")))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::{find_in, open};

    const STATE: &str =
        "---\nactive: true\niteration: 3\nmax_iterations: 20\ncompletion_promise: \"ALL\"\n---\n\nBuild.\n";

    fn put(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn an_imported_loop_overwrites_no_document() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join(".claude/ralph-loop.local.md");
        assert_eq!(find_in(root.path()), None);
        put(&file, STATE);
        put(&root.path().join("ralph-loop.ralph.md"), "mine");
        let taken = find_in(root.path()).unwrap().take_over().unwrap();
        assert_eq!(taken.document, root.path().join("ralph-loop-2.ralph.md"));
        assert_eq!(taken.problem, None);
        assert!(!file.exists(), "the plugin's loop continues");
        assert!(fs::read_to_string(taken.document).unwrap().contains("<promise>ALL</promise>"));
        assert_eq!(fs::read_to_string(root.path().join("ralph-loop.ralph.md")).unwrap(), "mine");
    }

    #[test]
    fn a_loop_under_an_older_file_name_can_be_cancelled_once() {
        let root = tempfile::tempdir().unwrap();
        put(&root.path().join(".claude/.ralph-loop.local.md"), STATE);
        let found = find_in(root.path()).unwrap();
        found.cancel().unwrap();
        assert!(found.cancel().unwrap_err().to_string().contains("no longer exists"));
    }

    #[test]
    fn links_and_other_formats_are_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let elsewhere = root.path().join("elsewhere");
        put(&elsewhere.join("ralph-loop.local.md"), STATE);
        symlink(&elsewhere, root.path().join(".claude")).unwrap();
        assert_eq!(find_in(root.path()), None);
        fs::remove_file(root.path().join(".claude")).unwrap();
        fs::create_dir(root.path().join(".claude")).unwrap();
        let file = root.path().join(".claude/ralph-loop.local.md");
        symlink(elsewhere.join("ralph-loop.local.md"), &file).unwrap();
        assert_eq!(find_in(root.path()), None);
        assert!(open(&file).unwrap_err().to_string().contains("link"));
        let other = open(Path::new("prd.json")).unwrap_err();
        assert!(other.to_string().contains("prd.json cannot be imported"), "{other}");
    }
}
