//! Tests of the paths that an agent may write, and of the command line of the bridge.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use loopkeeper_agent::LoopMode;
use loopkeeper_agent::kind::Dialect;

use super::{bridge_argv, is_inside};

#[test]
fn paths_outside_the_tree_or_in_git_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (root, outer) = (folder.path().join("tree"), folder.path().join("outer"));
    for it in [root.join("sub/.git"), root.join(".git/hooks"), outer.clone()] {
        fs::create_dir_all(it).unwrap();
    }
    fs::write(root.join("a.txt"), "").unwrap();
    fs::write(outer.join("b.txt"), "").unwrap();
    symlink(&outer, root.join("out")).unwrap();
    symlink(outer.join("nothing"), root.join("dangling")).unwrap();
    symlink(root.join("sub"), root.join("in")).unwrap();
    let root = root.canonicalize().unwrap();
    let check = |path: &str, expect: bool| assert_eq!(is_inside(&root, path), expect, "{path}");
    check("a.txt", true);
    check("new/deep/c.txt", true);
    check("in/c.txt", true);
    check(&root.join("a.txt").to_string_lossy(), true);
    check(&root.to_string_lossy(), true);
    for path in ["../outer/b.txt", "out/b.txt", "out/new.txt", "dangling", "/etc/passwd", "new/../../x"] {
        check(path, false);
    }
    check(".git/hooks/pre-commit", false);
    check("sub/.git/config", false);
    check("in/.git/config", false);
    check(".gitignore", true);
}

#[test]
fn only_agents_with_the_protocol_are_driven_by_it() {
    let argv = || vec!["agent".into(), "--acp".into()];
    let program = Path::new("/bin/warden");
    assert_eq!(bridge_argv(program, Dialect::Gemini, LoopMode::Hook, argv()), argv());
    let line = |mode: LoopMode| bridge_argv(program, Dialect::Acp, mode, argv()).join(" ".as_ref());
    assert_eq!(line(LoopMode::Loop), "/bin/warden acp -- agent --acp");
    assert_eq!(line(LoopMode::Hook), "/bin/warden acp --held -- agent --acp");
}
