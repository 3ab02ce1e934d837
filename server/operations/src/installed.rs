//! Installs our hooks in a workspace's own settings of Claude Code, and removes them without a trace. The previous
//! contents are stored and restored byte for byte; links are not followed, and nothing outside is changed.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use loopkeeper_agent::claude::hook_install::{self, ClaudeSettingsError, FILE};
use loopkeeper_core::journal::RestrictedCommand;
use loopkeeper_core::trust::{TrustContent, TrustItem, TrustSubject};
use loopkeeper_text::tr;
use serde::{Deserialize, Serialize};

use super::authority;
use super::failure::Failure;
use loopkeeper_system::config_text;
use loopkeeper_system::durable;
use loopkeeper_system::git;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::task_files;
use loopkeeper_system::trust::TrustStore;

/// File name in the workspace's state folder.
const RECORD: &str = "hook.json";

/// Result of installing or removing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstallOutcome {
    Changed,
    /// Nothing had to be changed.
    Nothing,
}

/// State of the file before and after the installation.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct InstallRecord {
    /// `None`: there was no file.
    before: Option<String>,
    after: String,
    /// The file did not exist when the hooks were first installed.
    made: bool,
    /// The folder did not exist either.
    made_folder: bool,
}

/// The settings of one workspace.
pub struct ClaudeSettingsFile<'a> {
    state: &'a StateDir,
    /// Real path.
    root: &'a Path,
    path: PathBuf,
}

impl<'a> ClaudeSettingsFile<'a> {
    pub fn of(state: &'a StateDir, root: &'a Path) -> Result<Self, Failure> {
        let home = std::env::var_os("HOME").and_then(|it| PathBuf::from(it).canonicalize().ok());
        if home.as_deref() == Some(root) {
            return Err(Failure::usage(tr!(
                "this folder is your home: its settings are those of every folder"
            ))
            .hint(tr!("Change to the folder of the project first.")));
        }
        Ok(Self { state, root, path: root.join(FILE) })
    }

    pub fn install(&self, program: &str) -> Result<InstallOutcome, Failure> {
        let found = self.read()?;
        let record = self.record()?;
        let kept = read_record(&record).unwrap_or_default();
        let is_ours = found.as_ref().is_some_and(|it| hook_install::is_installed(it));
        let after =
            hook_install::install_hooks(found.as_deref(), program).map_err(|why| self.unusable(&why))?;
        if found.as_deref() == Some(&*after) {
            return Ok(InstallOutcome::Nothing);
        }
        authority::ensure_user(self.state, RestrictedCommand::Trust)?;
        let before = match &found {
            Some(text) if is_ours && *text == kept.after => kept.before,
            Some(text) if is_ours => self.without_ours(text, kept.made)?,
            other => other.clone(),
        };
        let folder = self.folder();
        let kept = InstallRecord {
            before,
            after,
            made: found.is_none() || (is_ours && kept.made),
            made_folder: !folder.exists() || (is_ours && kept.made_folder),
        };
        let text = serde_json::to_vec(&kept).map_err(Failure::ended)?;
        durable::replace_file(&record, &text)?;
        self.write(found.as_deref(), &kept.after)?;
        self.keep_trust(found.as_deref(), &kept.after)?;
        Ok(InstallOutcome::Changed)
    }

    pub fn remove(&self) -> Result<InstallOutcome, Failure> {
        let record = self.record()?;
        let kept = read_record(&record);
        let found = self.read()?.filter(|it| hook_install::is_installed(it));
        if let Some(found) = &found {
            let after = match &kept {
                Some(kept) if kept.after == *found => kept.before.clone(),
                kept => self.without_ours(found, kept.as_ref().is_some_and(|it| it.made))?,
            };
            match after {
                Some(after) => {
                    self.write(Some(found), &after)?;
                    self.keep_trust(Some(found), &after)?;
                }
                None => fs::remove_file(&self.path).map_err(|error| {
                    permission_error(tr!("cannot remove {path}: {error}", path = self.path.display(), error))
                })?,
            }
        }
        if kept.is_some_and(|it| it.made_folder) {
            // A folder that is not empty stays.
            let _ = fs::remove_dir(self.folder());
        }
        match fs::remove_file(&record) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        Ok(if found.is_some() { InstallOutcome::Changed } else { InstallOutcome::Nothing })
    }

    /// Removes our hooks from a file that was edited since. `made`: we created it; if nothing else is in it, the file
    /// is removed as well.
    fn without_ours(&self, text: &str, made: bool) -> Result<Option<String>, Failure> {
        let text = hook_install::remove_hooks(text).map_err(|why| self.unusable(&why))?;
        Ok(Some(text).filter(|it| !(made && hook_install::is_empty(it))))
    }

    /// Whether the file would be committed, or count as the agent's work.
    pub fn is_seen_by_git(&self) -> bool {
        git::is_ignored(self.root, Path::new(FILE)) == Some(false)
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(self.root)
    }

    /// `None`: the file does not exist.
    fn read(&self) -> Result<Option<String>, Failure> {
        for path in [self.folder(), &self.path] {
            match fs::symlink_metadata(path) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                Err(error) => {
                    return Err(permission_error(tr!(
                        "cannot read {path}: {error}",
                        path = self.path.display(),
                        error
                    )));
                }
                Ok(found) if found.is_symlink() => {
                    return Err(Failure::usage(tr!(
                        "{path} is a link: nothing was changed",
                        path = path.display()
                    ))
                    .hint(tr!("It may lead to settings of other folders; put a separate file there.")));
                }
                Ok(_) => {}
            }
        }
        let bytes = task_files::read(self.root, &self.path)?;
        let text = String::from_utf8(bytes);
        text.map(Some)
            .map_err(|_| self.unusable(&ClaudeSettingsError::Syntax(tr!("it is not UTF-8 text").to_owned())))
    }

    fn write(&self, found: Option<&str>, after: &str) -> Result<(), Failure> {
        if let Some(found) = found {
            return Ok(task_files::replace(self.root, &self.path, (found, after))?);
        }
        let put = || -> io::Result<()> {
            fs::create_dir_all(self.folder())?;
            let mut file = OpenOptions::new().write(true).create_new(true).open(&self.path)?;
            file.write_all(after.as_bytes())?;
            file.sync_all()?;
            durable::sync_folder(&self.path)
        };
        put().map_err(|error| {
            permission_error(tr!("cannot write {path}: {error}", path = self.path.display(), error))
        })
    }

    /// The user requested this very change: a file trusted before is trusted after it.
    fn keep_trust(&self, before: Option<&str>, after: &str) -> Result<(), Failure> {
        let item = |text: &str| {
            let (path, content) = (FILE.as_bytes().to_vec(), TrustContent::File(text.as_bytes().to_vec()));
            TrustItem::new(TrustSubject::AgentFile { path, content })
        };
        let mut store = TrustStore::open(self.state);
        let was_trusted = before.is_none_or(|it| store.untrusted_items(self.root, &[item(it)]).is_empty());
        if was_trusted {
            store.grant(self.root, None, &[item(after)])?;
        }
        Ok(())
    }

    fn record(&self) -> Result<PathBuf, Failure> {
        Ok(self.state.workspace(self.root)?.path().join(RECORD))
    }

    fn unusable(&self, why: &ClaudeSettingsError) -> Failure {
        Failure::usage(tr!("nothing was changed in {path}: {why}", path = self.path.display(), why))
            .hint(tr!("Claude Code reads no such file either; correct it and try again."))
    }
}

fn permission_error(fact: String) -> Failure {
    Failure::ended(fact).hint(tr!("Check the permissions of that folder."))
}

/// Whether Claude Code calls our hooks in this folder, for every event that this version needs.
pub fn ensure_installed(root: &Path) -> Result<(), Failure> {
    let text = config_text::read_text(&root.join(FILE))?.unwrap_or_default();
    if hook_install::is_complete(&text) {
        return Ok(());
    }
    if hook_install::is_installed(&text) {
        return Err(Failure::usage(tr!("the hooks in {file} are incomplete for this version", file = FILE))
            .hint(tr!("`loopkeeper hook install` adds what is missing, then restart `claude`.")));
    }
    Err(Failure::usage(tr!("Claude Code does not ask loopkeeper in this folder"))
        .hint(tr!("`loopkeeper hook install` lets it, then restart `claude`.")))
}

/// An unreadable record counts as none: our hooks can be recognised without it.
fn read_record(record: &Path) -> Option<InstallRecord> {
    serde_json::from_slice(&fs::read(record).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rustix::fs::{CWD, Mode, mkfifoat};

    use super::{FILE, ensure_installed};

    #[test]
    fn settings_that_are_no_file_are_named() {
        let root = tempfile::tempdir().unwrap();
        let settings = root.path().join(FILE);
        fs::create_dir(settings.parent().unwrap()).unwrap();
        let refused = ensure_installed(root.path()).unwrap_err();
        assert_eq!(refused.message.fact(), "Claude Code does not ask loopkeeper in this folder");
        let pipe = root.path().join("pipe");
        mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
        std::os::unix::fs::symlink(&pipe, &settings).unwrap();
        let refused = ensure_installed(root.path()).unwrap_err();
        assert!(refused.message.fact().contains("is not a regular file"), "{refused:?}");
        fs::remove_file(&settings).unwrap();
        mkfifoat(CWD, &settings, Mode::RUSR | Mode::WUSR).unwrap();
        assert!(ensure_installed(root.path()).is_err());
    }
}
