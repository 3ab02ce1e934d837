//! A repository whose configuration names programs wherever git would run one: taking, comparing, restoring and
//! querying run none of them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use loopkeeper_system::git;

use super::Place;

/// Everything in a configuration that git may run while it reads a work tree.
fn configuration(program: &Path) -> String {
    let program = program.display();
    format!(
        "[core]
\tfsmonitor = {program}
\thooksPath = {program}-hooks
\tsshCommand = {program}
\tgitProxy = {program}
\taskPass = {program}
\tpager = {program}
\teditor = {program}
\talternateRefsCommand = {program}
[diff]
\texternal = {program}
[diff \"evil\"]
\ttextconv = {program}
\tcommand = {program}
[merge \"evil\"]
\tdriver = {program}
[filter \"evil\"]
\tclean = {program}
\tsmudge = {program}
\tprocess = {program}
\trequired = true
[alias]
\tls-files = !{program}
\trev-parse = !{program}
\tsymbolic-ref = !{program}
[credential]
\thelper = !{program}
[gpg]
\tprogram = {program}
[uploadpack]
\tpackObjectsHook = {program}
[pager]
\tls-files = {program}
\trev-parse = {program}
"
    )
}

struct Trap {
    place: Place,
    canary: PathBuf,
}

impl Trap {
    fn new() -> Self {
        let place = Place::new();
        let work = place.work();
        let (program, canary) = (place.dir.path().join("program"), place.dir.path().join("canary"));
        let script = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\n", canary.display());
        let hooks = place.dir.path().join("program-hooks");
        fs::create_dir(&hooks).unwrap();
        for file in [program.clone(), hooks.join("post-index-change"), hooks.join("post-checkout")] {
            fs::write(&file, &script).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        place.git(&work, &["init", "-q"]);
        fs::write(work.join("a.evil"), "a").unwrap();
        place.git(&work, &["add", "-A"]);
        place.git(&work, &["commit", "-q", "-m", "c"]);
        for inner in ["nested", "bare.git"] {
            fs::create_dir(work.join(inner)).unwrap();
        }
        place.git(&work.join("nested"), &["init", "-q"]);
        fs::write(work.join("nested/x"), "x").unwrap();
        place.git(&work.join("nested"), &["add", "-A"]);
        place.git(&work.join("nested"), &["commit", "-q", "-m", "c"]);
        place.git(&work.join("bare.git"), &["init", "-q", "--bare"]);
        fs::write(work.join(".gitattributes"), "* filter=evil diff=evil merge=evil\n").unwrap();
        fs::write(place.dir.path().join("included"), configuration(&program)).unwrap();
        let include = format!("[include]\n\tpath = {}\n", place.dir.path().join("included").display());
        for config in [".git/config", "nested/.git/config", "bare.git/config"] {
            let text = fs::read_to_string(work.join(config)).unwrap();
            fs::write(work.join(config), text + &configuration(&program) + &include).unwrap();
        }
        // So that the index is stale and git has to read the file again.
        fs::write(work.join("a.evil"), "b").unwrap();
        assert!(!canary.exists());
        Self { place, canary }
    }

    fn assert_nothing_ran(&self, after: &str) {
        let ran = fs::read_to_string(&self.canary).unwrap_or_default();
        assert_eq!(ran, "", "{after} ran a program");
    }
}

#[test]
fn control_plain_git_runs_what_the_configuration_names() {
    let trap = Trap::new();
    trap.place.try_git(&trap.place.work(), &["status"]);
    assert!(trap.canary.exists(), "the trap does not work");
}

#[test]
fn control_an_embedded_bare_repository_is_a_trap_too() {
    let trap = Trap::new();
    let bare = trap.place.work().join("bare.git");
    trap.place.try_git(&bare, &["--work-tree=.", "status"]);
    assert!(trap.canary.exists(), "the trap does not work");
}

#[test]
fn nothing_that_a_configuration_names_is_run() {
    for root in [".", "nested", "bare.git"] {
        let trap = Trap::new();
        let root = trap.place.work().join(root).canonicalize().unwrap();
        let mut store = trap.place.store(&root);
        let start = store.take_snapshot().unwrap().tree;
        trap.assert_nothing_ran("taking a snapshot");
        fs::write(root.join("new"), "new").unwrap();
        let after = store.take_snapshot().unwrap().tree;
        store.changed_paths(&start, &after).unwrap();
        store.diff(&start, &after, 1 << 20).unwrap();
        store.count_lines(&start, &after).unwrap();
        trap.assert_nothing_ran("comparing");
        store.restore(&start, None).unwrap();
        trap.assert_nothing_ran("restoring");
        git::head(&root).unwrap();
        trap.assert_nothing_ran("asking for HEAD");
        git::untracked_paths(&root).unwrap();
        trap.assert_nothing_ran("asking for untracked files");
    }
}

#[test]
fn the_git_program_is_asked_without_running_anything() {
    // libgit2 does not read this format, so HEAD comes from the program.
    let trap = Trap::new();
    let root = trap.place.dir.path().join("r/sha256");
    fs::create_dir(&root).unwrap();
    trap.place.git(&root, &["init", "-q", "--object-format=sha256"]);
    fs::write(root.join("a"), "a").unwrap();
    trap.place.git(&root, &["add", "-A"]);
    trap.place.git(&root, &["commit", "-q", "-m", "c"]);
    let config = fs::read_to_string(root.join(".git/config")).unwrap();
    let program = trap.place.dir.path().join("program");
    fs::write(root.join(".git/config"), config + &configuration(&program)).unwrap();
    fs::write(root.join("untracked"), "a").unwrap();
    let head = git::head(&root).unwrap().unwrap();
    assert_eq!((head.commit.len(), head.tree.len(), head.branch.as_deref()), (64, 64, Some("main")));
    assert_eq!(git::untracked_paths(&root).unwrap().unwrap(), ["untracked"]);
    trap.assert_nothing_ran("asking the git program");
    trap.place.try_git(&root, &["status"]);
    assert!(trap.canary.exists(), "control: the trap works");
}
