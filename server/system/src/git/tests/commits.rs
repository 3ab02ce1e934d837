//! Commits: their contents, what they leave unchanged, and what prevents them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use loopkeeper_core::decide::CommitOutcome;

use super::{Repo, git};
use crate::git::commit::{CommitRequest, commit_paths};
use crate::git::head;
use crate::snapshots::TreeEntry;

const MARK: &str = "Ralph-Iteration: 20261120-abc123/7";

/// Commits these paths as they are now below `root`.
fn committed_at(root: &Path, branch: Option<&str>, paths: &[&str]) -> CommitOutcome {
    let request = CommitRequest {
        root,
        branch,
        iteration: 7,
        subject: "feat: it",
        body: "Iteration 7: x.",
        mark: MARK,
        in_progress: &mark_of(root),
    };
    let content_of = |path: &[u8]| {
        let path = root.join(String::from_utf8(path.to_vec()).unwrap());
        match fs::symlink_metadata(&path) {
            Err(_) => TreeEntry::Nothing,
            Ok(it) if it.is_dir() => TreeEntry::Nothing,
            Ok(it) if it.is_symlink() => {
                TreeEntry::Link(fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes())
            }
            Ok(_) => TreeEntry::File { bytes: fs::read(&path).unwrap(), executable: false },
        }
    };
    commit_paths(
        &request,
        &paths.iter().map(|it| it.as_bytes().to_vec()).collect::<BTreeSet<_>>(),
        content_of,
    )
}

/// Outside of the repository, as the state folder is.
fn mark_of(root: &Path) -> PathBuf {
    root.with_extension("commit-in-progress")
}

fn committed(repo: &Repo, paths: &[&str]) -> CommitOutcome {
    committed_at(&repo.root(), Some("main"), paths)
}

/// Nothing is committed, the message is this one, and nothing is changed.
#[track_caller]
fn assert_refused(repo: &Repo, branch: Option<&str>, words: &str) {
    let before =
        (repo.git("status --porcelain=v2 --branch"), repo.git("for-each-ref"), repo.git("diff --cached"));
    let made = committed_at(&repo.root(), branch, &["kept"]);
    assert_eq!(made.commit, None);
    let note = made.note.unwrap_or_default();
    assert!(note.contains(words), "{note}");
    assert_eq!(
        (repo.git("status --porcelain=v2 --branch"), repo.git("for-each-ref"), repo.git("diff --cached")),
        before
    );
}

#[test]
fn only_changed_files_are_committed() {
    let repo = Repo::new();
    repo.write("kept", "2\n");
    repo.write("folder/deep/new", "x\n");
    repo.write("other", "staged\n");
    repo.git("add other");
    repo.write("other", "and more\n");
    repo.write("mine", "untracked\n");
    let made = committed(&repo, &["folder/deep/new", "kept"]);
    assert_eq!(made.note, None);
    assert_eq!(made.commit.as_deref(), Some(repo.git("rev-parse HEAD").as_str()));
    assert_eq!(
        repo.git("log -1 --format=%an|%ae|%s|%b"),
        format!("A|a@b.c|feat: it|Iteration 7: x.\n\n{MARK}")
    );
    assert_eq!(repo.git("show --name-status --format= HEAD"), "A\tfolder/deep/new\nM\tkept");
    assert_eq!(repo.git("status --porcelain"), "MM other\n?? mine");
    assert_eq!(repo.git("show :other"), "staged");
    repo.git("fsck --strict");
}

#[test]
fn removed_renamed_and_retyped_files_are_committed() {
    let repo = Repo::new();
    repo.write("a/b", "x\n");
    repo.write("c", "x\n");
    repo.git("add -A");
    repo.git("commit -q -m more");
    fs::remove_dir_all(repo.root().join("a")).unwrap();
    repo.write("a", "a file now\n");
    fs::remove_file(repo.root().join("c")).unwrap();
    repo.write("c/d", "a folder now\n");
    fs::remove_file(repo.root().join("kept")).unwrap();
    symlink("other", repo.root().join("link")).unwrap();
    let made = committed(&repo, &["a", "a/b", "c", "c/d", "kept", "link", "never"]);
    assert_eq!(made.note, None);
    assert_eq!(repo.git("status --porcelain"), "");
    assert_eq!(repo.git("ls-tree -r --name-only HEAD"), "a\nc/d\nlink\nother");
    repo.git("fsck --strict");
}

#[test]
fn repeating_a_commit_gives_the_same_commit() {
    let repo = Repo::new();
    let old = fs::read(repo.root().join(".git/index")).unwrap();
    repo.write("kept", "2\n");
    let first = committed(&repo, &["kept"]);
    assert_eq!(committed(&repo, &["kept"]).commit, first.commit);
    // The keeper died before it wrote the index, and the user has continued to work.
    fs::write(repo.root().join(".git/index"), old).unwrap();
    repo.write("kept", "mine\n");
    assert_eq!(committed(&repo, &["kept"]).commit, first.commit);
    assert_eq!(
        (repo.git("status --porcelain").as_str(), repo.git("rev-list --count HEAD").as_str()),
        (" M kept", "2")
    );
}

#[test]
fn the_agents_own_commits_leave_nothing_to_commit() {
    let repo = Repo::new();
    repo.write("kept", "2\n");
    repo.git("commit -q -a -m own");
    assert_eq!(committed(&repo, &["kept"]), CommitOutcome { iteration: 7, ..CommitOutcome::default() });
    assert_eq!(repo.git("rev-list --count HEAD"), "2");
}

#[test]
fn the_first_commit_contains_only_the_named_files() {
    let repo = Repo::empty();
    repo.write("new", "x\n");
    repo.write("mine", "x\n");
    assert!(committed(&repo, &["new"]).commit.is_some());
    assert_eq!(
        (repo.git("log --format=%s").as_str(), repo.git("status --porcelain").as_str()),
        ("feat: it", "?? mine")
    );
}

#[test]
fn obstacles_to_a_commit_are_reported() {
    let changed = || {
        let repo = Repo::new();
        repo.write("kept", "2\n");
        repo
    };
    assert_refused(&changed(), Some("ralph/x"), "HEAD is on `main`, not on the loop's branch `ralph/x`");
    let repo = changed();
    repo.git("checkout -q --detach");
    assert_refused(&repo, None, "HEAD is on no branch (detached)");
    let repo = changed();
    repo.write(".git/index.lock", "");
    let made = committed(&repo, &["kept"]);
    assert_eq!((made.commit, made.note.as_deref()), (None, Some("another git process holds index.lock")));
    let repo = changed();
    repo.git("checkout -q -b there");
    repo.git("commit -q --allow-empty -m there");
    repo.git("checkout -q main");
    repo.git("commit -q --allow-empty -m here");
    repo.git("merge -q --no-commit --no-ff there");
    assert_refused(&repo, Some("main"), "a merge is in progress");
    let repo = changed();
    repo.git("config user.name ");
    repo.git("config user.email ");
    assert_refused(&repo, Some("main"), "git has no author");
    let folder = tempfile::tempdir().unwrap();
    let made = committed_at(folder.path(), None, &["kept"]);
    assert_eq!(made.note.as_deref(), Some("there is no git repository here"));
    git(folder.path(), "init -q --bare");
    assert_eq!(
        committed_at(folder.path(), None, &["kept"]).note.as_deref(),
        Some("the repository here is bare")
    );
}

#[test]
fn files_with_filters_and_nested_repositories_are_not_committed() {
    let repo = Repo::new();
    repo.write(".git/info/attributes", "*.bin filter=big\n*.txt text eol=crlf\n");
    repo.write("a.bin", "x");
    repo.write("a.txt", "one\r\ntwo\r\n");
    let inner = repo.root().join("inner");
    fs::create_dir(&inner).unwrap();
    git(&inner, "init -q");
    repo.write("inner/x", "x\n");
    let made = committed(&repo, &["a.bin", "a.txt", "inner/x"]);
    let left_out = "left out: a.bin (needs the filter `big`), inner/x (in a separate repository)";
    assert_eq!(made.note.as_deref(), Some(left_out));
    assert_eq!(repo.git("show --name-only --format= HEAD"), "a.txt");
    assert_eq!(repo.git("cat-file -p HEAD:a.txt"), "one\ntwo");
}

#[test]
fn commits_work_in_a_subfolder_a_second_work_tree_and_a_sparse_checkout() {
    let repo = Repo::new();
    repo.write("sub/a", "x\n");
    repo.write("b", "x\n");
    assert!(committed_at(&repo.root().join("sub"), Some("main"), &["a"]).commit.is_some());
    assert_eq!(repo.git("status --porcelain"), "?? b");
    assert_eq!(repo.git("show --name-only --format= HEAD"), "sub/a");
    let repo = Repo::new();
    repo.write("b", "x\n");
    repo.git("worktree add -q ../second -b second");
    let second = repo.dir.path().join("second");
    fs::write(second.join("kept"), "second\n").unwrap();
    assert!(committed_at(&second, Some("second"), &["kept"]).commit.is_some());
    assert_eq!(
        (git(&second, "status --porcelain").as_str(), repo.git("status --porcelain").as_str()),
        ("", "?? b")
    );
    let repo = Repo::new();
    repo.git("sparse-checkout set --no-cone kept");
    repo.write("kept", "2\n");
    assert!(committed(&repo, &["kept"]).commit.is_some());
    assert_eq!(repo.git("show --name-only --format= HEAD"), "kept");
    assert!(repo.git("ls-files -v").contains("S other"), "{}", repo.git("ls-files -v"));
}

#[test]
fn no_hook_runs_and_nothing_is_signed() {
    let repo = Repo::new();
    repo.git("config commit.gpgSign true");
    repo.git("config gpg.program false");
    for hook in ["pre-commit", "commit-msg", "post-commit", "reference-transaction"] {
        let path = repo.root().join(".git/hooks").join(hook);
        fs::write(&path, "#!/bin/sh\ntouch hooked\nexit 1\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    repo.write("kept", "2\n");
    assert!(committed(&repo, &["kept"]).commit.is_some());
    assert!(!repo.root().join("hooked").exists());
}

#[test]
fn executable_bits_and_names_are_kept() {
    let repo = Repo::new();
    let request = CommitRequest {
        root: &repo.root(),
        branch: None,
        iteration: 1,
        subject: "s",
        body: "b",
        mark: MARK,
        in_progress: &mark_of(&repo.root()),
    };
    let files = BTreeMap::from([
        (b"run.sh".to_vec(), TreeEntry::File { bytes: b"#!/bin/sh\n".to_vec(), executable: true }),
        (b"na\xffme \"q\"".to_vec(), TreeEntry::File { bytes: b"x".to_vec(), executable: false }),
        (b"huge".to_vec(), TreeEntry::Unknown),
    ]);
    let paths = files.keys().cloned().collect();
    let made = commit_paths(&request, &paths, |path| files.get(path).cloned().unwrap_or(TreeEntry::Nothing));
    assert_eq!(made.note.as_deref(), Some("left out: huge (too large to be stored)"));
    let listed = repo.git("ls-tree -r HEAD");
    assert!(listed.contains("100755 blob") && listed.contains("\\377me"), "{listed}");
}

#[test]
fn locks_of_a_commit_that_was_interrupted_are_removed() {
    for lock in [".git/index.lock", ".git/refs/heads/main.lock"] {
        let changed = || {
            let repo = Repo::new();
            repo.write("kept", "2\n");
            repo
        };
        let repo = changed();
        repo.write(lock, "");
        let made = committed(&repo, &["kept"]);
        assert!(made.commit.is_none() && made.note.is_some(), "{lock} of another process: {made:?}");
        assert!(repo.root().join(lock).exists() && !mark_of(&repo.root()).exists());

        let repo = changed();
        fs::write(mark_of(&repo.root()), "").unwrap();
        repo.write(lock, "");
        let made = committed(&repo, &["kept"]);
        assert!(made.commit.is_some() && made.note.is_none(), "{lock} of a killed keeper: {made:?}");
        assert!(!repo.root().join(lock).exists() && !mark_of(&repo.root()).exists());

        let repo = changed();
        let mark = fs::File::create(mark_of(&repo.root())).unwrap();
        mark.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
        repo.write(lock, "");
        let made = committed(&repo, &["kept"]);
        assert!(made.commit.is_none(), "{lock} taken a minute after the keeper was killed: {made:?}");
    }
}

#[test]
fn pipes_in_place_of_attributes_do_not_block() {
    for path in [".gitattributes", "folder/.gitattributes", ".git/info/attributes"] {
        let repo = Repo::new();
        repo.write("folder/new", "x\n");
        fs::create_dir_all(repo.root().join(".git/info")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, repo.root().join(path), rustix::fs::Mode::RUSR).unwrap();
        let made = committed(&repo, &["folder/new"]);
        assert_eq!(made.commit, None, "{path}");
        let note = made.note.unwrap_or_default();
        assert!(note.contains(&format!("{path} is not a regular file")), "{note}");
    }
}

#[test]
fn pipes_in_place_of_objects_do_not_block() {
    let repo = Repo::new();
    let id = head(&repo.root()).unwrap().unwrap().commit;
    let object = repo.root().join(".git/objects").join(&id[..2]).join(&id[2..]);
    fs::remove_file(&object).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &object, rustix::fs::Mode::RUSR).unwrap();
    let refused = head(&repo.root()).unwrap_err().to_string();
    assert!(refused.ends_with(&format!("{id} is not a regular file", id = &id[2..])), "{refused}");
}
