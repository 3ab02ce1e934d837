//! Finds where the repository of a work tree stores what a commit writes. Only reads files. A `.git` that leads
//! elsewhere counts only if that place leads back: a work tree must not name a folder that is not its own.

use std::path::{Path, PathBuf};

use loopkeeper_agent::codex::start::{configures_sandbox, sets_sandbox};
use loopkeeper_agent::commits::GitDirs;

use crate::config_text;
use crate::repository_layout::{linked_git_dir, shared_dir, work_tree_of};

/// The repository that contains `root`.
pub(super) fn find_repository(root: &Path) -> Option<GitDirs> {
    let top = root.ancestors().find(|it| it.join(".git").symlink_metadata().is_ok())?;
    let dot_git = top.join(".git");
    let kind = dot_git.symlink_metadata().ok()?;
    let (git_dir, common_dir) = if kind.is_dir() {
        (dot_git.clone(), dot_git)
    } else if kind.is_file() {
        linked_git_dirs(top)?
    } else {
        return None;
    };
    let text = |it: PathBuf| it.canonicalize().ok()?.into_os_string().into_string().ok();
    if !common_dir.join("HEAD").is_file() {
        return None;
    }
    Some(GitDirs { git_dir: text(git_dir)?, common_dir: text(common_dir)? })
}

/// The git directory of a linked work tree, and the one that it shares with other work trees.
fn linked_git_dirs(top: &Path) -> Option<(PathBuf, PathBuf)> {
    let git_dir = linked_git_dir(top)?;
    if work_tree_of(&git_dir)?.canonicalize().ok()? != top.canonicalize().ok()? {
        return None;
    }
    let common_dir = shared_dir(git_dir.clone())?;
    Some((git_dir, common_dir))
}

/// Whether Codex's sandbox is configured elsewhere: by the user's arguments or by its configuration.
pub(super) fn has_codex_sandbox_setting(words: &[String], env: &[&[(String, String)]]) -> bool {
    let variable = |name: &str| {
        let set = env.iter().rev().copied().flatten().find(|it| it.0 == name);
        set.map(|it| it.1.clone()).or_else(|| std::env::var(name).ok()).filter(|it| !it.is_empty())
    };
    let home = variable("CODEX_HOME").map(PathBuf::from);
    let home = home.or_else(|| variable("HOME").map(|it| Path::new(&it).join(".codex")));
    let config = home.and_then(|it| config_text::read_text(&it.join("config.toml")).ok().flatten());
    sets_sandbox(words) || config.is_some_and(|it| configures_sandbox(&it))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use rustix::fs::{CWD, Mode, mkfifoat};

    use super::{find_repository, has_codex_sandbox_setting};

    fn git(folder: &Path, words: &[&str]) {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(words).current_dir(folder);
        assert!(command.output().unwrap().status.success(), "{words:?}");
    }

    #[test]
    fn the_folders_that_a_commit_writes_to_are_found() {
        let place = tempfile::tempdir().unwrap();
        let base = place.path().canonicalize().unwrap();
        let (main, other) = (base.join("main"), base.join("other"));
        fs::create_dir_all(main.join("sub")).unwrap();
        assert_eq!(find_repository(&main), None);
        git(&main, &["init", "-q"]);
        git(&main, &["commit", "-q", "--allow-empty", "-m", "x"]);
        git(&main, &["worktree", "add", "-q", "../other"]);
        let text = |it: &str| base.join(it).to_str().unwrap().to_owned();
        let found = find_repository(&main).unwrap();
        assert_eq!((found.git_dir, found.common_dir), (text("main/.git"), text("main/.git")));
        assert_eq!(find_repository(&main.join("sub")), find_repository(&main));
        let found = find_repository(&other).unwrap();
        assert_eq!((found.git_dir, found.common_dir), (text("main/.git/worktrees/other"), text("main/.git")));
        // A folder that only claims to belong there.
        let stranger = base.join("stranger");
        fs::create_dir(&stranger).unwrap();
        for content in [text("main/.git/worktrees/other"), text("main/.git"), text("nowhere")] {
            fs::write(stranger.join(".git"), format!("gitdir: {content}\n")).unwrap();
            assert_eq!(find_repository(&stranger), None, "{content}");
        }
        // A pipe without a writer.
        let disguised = base.join("disguised");
        fs::create_dir(&disguised).unwrap();
        mkfifoat(CWD, disguised.join("gitdir"), Mode::RUSR).unwrap();
        fs::write(stranger.join(".git"), "gitdir: ../disguised\n").unwrap();
        assert_eq!(find_repository(&stranger), None);
        fs::remove_file(stranger.join(".git")).unwrap();
        std::os::unix::fs::symlink(main.join(".git"), stranger.join(".git")).unwrap();
        assert_eq!(find_repository(&stranger), None);
    }

    #[test]
    fn a_sandbox_that_the_user_configured_is_left_to_them() {
        let home = tempfile::tempdir().unwrap();
        let env = [("CODEX_HOME".to_owned(), home.path().to_str().unwrap().to_owned())];
        let has_setting = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            has_codex_sandbox_setting(&words, &[&env])
        };
        for words in [
            &["-s", "read-only"][..],
            &["--sandbox=workspace-write"],
            &["-c", "sandbox_workspace_write.network_access=true"],
            &["--config=permissions.x.extends=\":workspace\""],
            &["--profile", "mine"],
        ] {
            assert!(has_setting(words), "{words:?}");
        }
        assert!(!has_setting(&["-c", "model=\"x\"", "-m", "y"]));
        assert!(!has_setting(&["-c", "permissions.loopkeeper.network.enabled=true"]));
        for (config, expect) in [
            ("model = \"x\"\n", false),
            ("sandbox_mode = \"read-only\"\n", false),
            ("[sandbox_workspace_write]\nnetwork_access = true\n", true),
            ("[sandbox", false),
        ] {
            fs::write(home.path().join("config.toml"), config).unwrap();
            assert_eq!(has_setting(&[]), expect, "{config}");
        }
    }
}
