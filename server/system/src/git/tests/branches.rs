//! Branches: switched to if that loses nothing, else refused.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use loopkeeper_core::decide::LoopBranch;
use rustix::fs::{CWD, Mode, mkfifoat};

use super::{Repo, git};
use crate::git::branch::{preview_switch, switch_to_branch};

/// The state of a repository.
fn repository_state(root: &Path) -> [String; 3] {
    [git(root, "status --porcelain=v2 --branch"), git(root, "for-each-ref"), git(root, "diff --cached")]
}

/// Switches to the branch, then a second time, which changes nothing.
#[track_caller]
fn assert_switched(repo: &Repo, name: &str, from: Option<&str>, made: bool) {
    preview_switch(&repo.root(), name).unwrap();
    let switched = switch_to_branch(&repo.root(), name).unwrap();
    let branch = |from: Option<&str>, made| LoopBranch {
        name: Some(name.to_owned()),
        from: from.map(str::to_owned),
        made,
        note: None,
    };
    assert_eq!(switched, branch(from, made));
    assert_eq!(repo.git("symbolic-ref --short HEAD"), name);
    let before = repository_state(&repo.root());
    assert_eq!(switch_to_branch(&repo.root(), name).unwrap(), branch(Some(name), false));
    assert_eq!(repository_state(&repo.root()), before);
}

/// The switch is refused with this message, and nothing is changed.
#[track_caller]
fn assert_refused(repo: &Repo, name: &str, words: &str) {
    let before = repository_state(&repo.root());
    for error in
        [preview_switch(&repo.root(), name).unwrap_err(), switch_to_branch(&repo.root(), name).unwrap_err()]
    {
        assert!(error.to_string().contains(words), "{error}");
    }
    assert_eq!(repository_state(&repo.root()), before);
}

#[test]
fn a_new_branch_keeps_files_and_index_as_they_are() {
    let repo = Repo::new();
    repo.write("kept", "2\n");
    repo.write("new", "x\n");
    repo.write("other", "2\n");
    repo.git("add other");
    let before = (repo.git("status --porcelain"), fs::read(repo.root().join(".git/index")).unwrap());
    assert_switched(&repo, "ralph/task", Some("main"), true);
    assert_eq!((repo.git("status --porcelain"), fs::read(repo.root().join(".git/index")).unwrap()), before);
    assert_eq!(repo.git("rev-parse HEAD"), repo.git("rev-parse main"));
}

#[test]
fn a_branch_is_created_before_the_first_commit_and_from_a_detached_head() {
    let repo = Repo::empty();
    repo.write("new", "x\n");
    assert_switched(&repo, "ralph/task", Some("main"), true);
    repo.git("add new");
    repo.git("commit -q -m first");
    assert_eq!(repo.git("branch --format=%(refname:short)"), "ralph/task");
    let repo = Repo::new();
    repo.git("checkout -q --detach");
    assert_switched(&repo, "ralph/task", None, true);
}

#[test]
fn an_existing_branch_is_checked_out_where_no_changed_file_is_in_the_way() {
    let repo = Repo::new();
    repo.git("checkout -q -b there");
    repo.write("other", "there\n");
    repo.write("only", "there\n");
    repo.git("add -A");
    repo.git("commit -q -m there");
    repo.git("checkout -q main");
    repo.write("kept", "mine\n");
    repo.write("mine", "x\n");
    repo.write("staged", "x\n");
    repo.git("add staged");
    assert_switched(&repo, "there", Some("main"), false);
    assert_eq!(
        (repo.text("kept"), repo.text("other"), repo.text("only")),
        ("mine\n".into(), "there\n".into(), "there\n".into())
    );
    assert_eq!(repo.git("status --porcelain"), " M kept\nA  staged\n?? mine");
}

#[test]
fn files_that_would_be_overwritten_prevent_a_checkout() {
    let there = || {
        let repo = Repo::new();
        repo.git("checkout -q -b there");
        repo.write("other", "there\n");
        repo.write("only", "there\n");
        repo.write(".gitignore", "ignored\n");
        repo.git("add -A");
        repo.git("commit -q -m there");
        repo.git("checkout -q main");
        repo
    };
    let overwritten = "would be overwritten";
    let repo = there();
    repo.write("other", "mine\n");
    assert_refused(&repo, "there", overwritten);
    assert_eq!(repo.text("other"), "mine\n");
    let repo = there();
    repo.write("only", "mine\n");
    assert_refused(&repo, "there", overwritten);
    let repo = there();
    repo.write(".git/info/exclude", "only\n");
    repo.write("only", "mine\n");
    assert_refused(&repo, "there", overwritten);
    let repo = there();
    repo.write(".git/index.lock", "");
    assert_refused(&repo, "there", "another git process holds index.lock");
    // Creating a branch does not need the index.
    assert_switched(&repo, "new", Some("main"), true);
    let repo = there();
    repo.git("sparse-checkout set --no-cone kept");
    assert_refused(&repo, "there", "sparse");
    assert_switched(&repo, "new", Some("main"), true);
    let repo = there();
    repo.git("config filter.big.smudge false");
    repo.write(".git/info/attributes", "only filter=big\n");
    assert_refused(&repo, "there", "only needs the filter `big`");
}

#[test]
fn a_merge_in_progress_prevents_a_checkout() {
    let repo = Repo::new();
    repo.git("checkout -q -b there");
    repo.git("commit -q --allow-empty -m there");
    repo.git("checkout -q main");
    repo.git("commit -q --allow-empty -m here");
    repo.git("merge -q --no-commit --no-ff there");
    assert_refused(&repo, "there", "a merge is in progress");
    assert_refused(&repo, "new", "a merge is in progress");
}

#[test]
fn invalid_and_conflicting_names_are_refused() {
    let repo = Repo::new();
    assert_refused(&repo, "a b", "it contains a space");
    assert_refused(&repo, "main/x", "a branch `main` is in the way of its name");
    repo.git("branch ralph/one");
    assert_refused(&repo, "ralph", "branches below `ralph/` are in the way of its name");
}

#[test]
fn a_branch_of_another_work_tree_is_refused_and_a_submodule_has_its_own() {
    let repo = Repo::new();
    repo.git("worktree add -q ../second -b second");
    assert_refused(&repo, "second", "checked out in another work tree");
    let second = repo.dir.path().join("second");
    assert!(preview_switch(&second, "main").unwrap_err().to_string().contains("another work tree"));
    assert!(switch_to_branch(&second, "third").unwrap().made);
    assert_eq!(git(&second, "symbolic-ref --short HEAD"), "third");
    assert_eq!(repo.git("symbolic-ref --short HEAD"), "main");
    // A pipe without a writer in place of the other work tree's HEAD.
    let head = repo.root().join(".git/worktrees/second/HEAD");
    fs::remove_file(&head).unwrap();
    mkfifoat(CWD, &head, Mode::RUSR).unwrap();
    preview_switch(&repo.root(), "second").unwrap();
    let outer = Repo::new();
    outer.git(&format!("-c protocol.file.allow=always submodule --quiet add {} sub", repo.root().display()));
    let sub = outer.root().join("sub");
    assert!(switch_to_branch(&sub, "ralph/sub").unwrap().made);
    assert_eq!(
        (git(&sub, "symbolic-ref --short HEAD").as_str(), outer.git("symbolic-ref --short HEAD").as_str()),
        ("ralph/sub", "main")
    );
}

#[test]
fn a_missing_work_tree_is_reported() {
    let note = |root: &Path| switch_to_branch(root, "ralph/x").unwrap().note.unwrap_or_default();
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(note(folder.path()), "there is no git repository here");
    git(folder.path(), "init -q --bare");
    assert_eq!(note(folder.path()), "the repository here is bare");
    let repo = Repo { dir: tempfile::tempdir().unwrap() };
    fs::create_dir(repo.root()).unwrap();
    repo.git("init -q -b main --object-format=sha256");
    assert!(
        preview_switch(&repo.root(), "ralph/x")
            .unwrap_err()
            .to_string()
            .contains("check the branch out yourself")
    );
}

#[test]
fn no_hook_runs() {
    let repo = Repo::new();
    repo.git("branch there");
    for hook in ["post-checkout", "reference-transaction"] {
        let path = repo.root().join(".git/hooks").join(hook);
        fs::write(&path, "#!/bin/sh\ntouch hooked\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    switch_to_branch(&repo.root(), "there").unwrap();
    switch_to_branch(&repo.root(), "new").unwrap();
    assert!(!repo.root().join("hooked").exists());
}
