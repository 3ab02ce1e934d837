//! Tests with real repositories.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::OtherWorkTrees;

fn git(dir: &Path, arguments: &[&str]) {
    let identity =
        ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"];
    let output = Command::new("git").args(identity).args(arguments).current_dir(dir).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn repository(dir: &Path) {
    fs::create_dir_all(dir).unwrap();
    git(dir, &["init", "-q"]);
    fs::write(dir.join("a.txt"), "a").unwrap();
    git(dir, &["add", "."]);
    git(dir, &["commit", "-q", "-m", "first"]);
}

#[test]
fn only_linked_work_trees_of_the_same_repository_are_recognised() {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    let (root, library) = (base.join("root"), base.join("library"));
    repository(&root);
    repository(&library);
    git(&root, &["worktree", "add", "-q", ".claude/worktrees/x"]);
    git(&root, &["worktree", "add", "-q", "../outside"]);
    git(&root, &["submodule", "--quiet", "add", library.to_str().unwrap(), "sub"]);
    repository(&root.join("nested"));
    git(&root.join("nested"), &["worktree", "add", "-q", "../of-nested"]);
    fs::create_dir(root.join("plain")).unwrap();
    fs::create_dir(root.join("broken")).unwrap();
    fs::write(root.join("broken/.git"), "gitdir: ").unwrap();
    let others = OtherWorkTrees::new(&root);
    assert!(others.holds(&root.join(".claude/worktrees/x")));
    for part in ["sub", "nested", "of-nested", "plain", "broken", ".claude", "nowhere"] {
        assert!(!others.holds(&root.join(part)), "{part}");
    }
    assert_eq!(others.paths(), [".claude/worktrees/x"]);
    // A folder of the repository and another work tree lead to the same repository.
    let plain = root.join("plain");
    git(&root, &["worktree", "add", "-q", "plain/y"]);
    assert_eq!(OtherWorkTrees::new(&plain).paths(), ["y"]);
    let linked = root.join(".claude/worktrees/x");
    git(&linked, &["worktree", "add", "-q", "z"]);
    assert_eq!(OtherWorkTrees::new(&linked).paths(), ["z"]);
    // A work tree that git no longer lists is still not part of the tree.
    fs::remove_dir_all(root.join(".git/worktrees/x")).unwrap();
    assert!(others.holds(&linked));
}

#[test]
fn without_a_repository_there_are_no_other_work_trees() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("x")).unwrap();
    fs::write(dir.path().join("x/.git"), "gitdir: /nowhere/.git/worktrees/x\n").unwrap();
    let others = OtherWorkTrees::new(dir.path());
    assert!(!others.holds(&dir.path().join("x")));
    assert!(others.paths().is_empty());
}
