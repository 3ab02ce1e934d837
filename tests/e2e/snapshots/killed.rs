//! A rollback that is killed at every system call that changes something: no file is ever a mixture, nothing is lost,
//! and running it again completes it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use loopkeeper_system::snapshots::SnapshotStore;

use super::{Place, files};

type Files = BTreeMap<Vec<u8>, (u32, Vec<u8>)>;

const CHILD: &str = "LOOPKEEPER_TEST_RESTORES";
const NAIVE: &str = "LOOPKEEPER_TEST_RESTORES_NAIVELY";
/// The system calls by which a snapshot or a rollback changes anything on disk.
const CALLS: [&str; 10] = [
    "renameat2",
    "renameat,rename",
    "unlinkat,unlink,rmdir",
    "mkdirat,mkdir",
    "symlinkat",
    "fdatasync",
    "fsync",
    "write",
    "fchmod",
    "ftruncate",
];

/// Not an independent test: the process that is killed.
#[test]
fn child() {
    let Some(order) = std::env::var_os(CHILD) else { return };
    let order = order.into_string().unwrap();
    let [dir, root, tree] = order.split('\n').collect::<Vec<_>>()[..] else { panic!("{order}") };
    SnapshotStore::open(Path::new(dir), Path::new(root)).unwrap().restore(tree, None).unwrap();
}

/// Not an independent test: the wrong implementation.
#[test]
fn naive_child() {
    let Some(root) = std::env::var_os(NAIVE) else { return };
    let mut file = fs::File::create(Path::new(&root).join("changed")).unwrap();
    for part in [b"old ".as_slice(), b"changed"] {
        file.write_all(part).unwrap();
    }
}

#[test]
fn control_a_naive_rollback_leaves_a_mixture() {
    if !has_strace("control of killed rollbacks") {
        return;
    }
    let found = (1..20).any(|at| {
        let place = Place::new();
        let root = place.work();
        old(&root);
        let target = files(&root);
        new(&root);
        let pre = files(&root);
        killed_child("write", at, ("naive_child", NAIVE, root.display().to_string()));
        mixture(&root, &pre, &target).is_some()
    });
    assert!(found);
}

fn has_strace(what: &str) -> bool {
    let has = Command::new("strace").arg("-V").output().is_ok();
    if !has {
        crate::not_run(what, "strace is not installed");
    }
    has
}

#[test]
fn a_killed_rollback_is_finished_by_the_next() {
    if !has_strace("rollback killed at every system call") {
        return;
    }
    let mut kills = 0;
    for calls in CALLS {
        for at in 1.. {
            if !killed_at(calls, at) {
                break;
            }
            kills += 1;
        }
    }
    assert!(kills > 20, "control: only {kills} kills");
}

/// Whether the process was killed there; `false` if it finished.
fn killed_at(calls: &str, at: u32) -> bool {
    let place = Place::new();
    let (root, dir) = (place.work(), place.dir.path().join("state/snapshots.git"));
    let mut store = SnapshotStore::open(&dir, &root).unwrap();
    old(&root);
    let target = files(&root);
    let tree = store.take_snapshot().unwrap().tree;
    new(&root);
    let pre = files(&root);
    drop(store);

    let order = format!("{}\n{}\n{tree}", dir.display(), root.display());
    let killed = killed_child(calls, at, ("child", CHILD, order));
    let context = format!("{calls} {at}");
    assert_eq!(mixture(&root, &pre, &target), None, "{context}");

    let mut store = SnapshotStore::open(&dir, &root).unwrap();
    let restored = store.restore(&tree, None).unwrap();
    assert_eq!(restored.refused, [], "{context}");
    assert_eq!(files(&root), target, "{context}");
    assert_eq!(store.take_snapshot().unwrap().tree, tree, "{context}");
    expect_everything_stored(&place, &pre, &context);
    killed
}

/// Runs a test of this file in a process that is killed at a call; `false` if it finished.
fn killed_child(calls: &str, at: u32, (test, variable, value): (&str, &str, String)) -> bool {
    let (trace, inject) = (format!("trace={calls}"), format!("inject={calls}:signal=KILL:when={at}"));
    let output = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &format!("snapshots::killed::{test}"), "--test-threads=1", "--quiet"])
        .env(variable, value)
        .output()
        .unwrap();
    // strace ends by the signal that ended the process.
    let is_killed = output.status.signal() == Some(9);
    assert!(is_killed || output.status.success(), "{calls} {at}: {output:?}");
    is_killed
}

fn old(root: &Path) {
    fs::create_dir_all(root.join("d/e")).unwrap();
    for name in ["changed", "removed", "d/e/removed", "becomes-folder"] {
        fs::write(root.join(name), format!("old {name}")).unwrap();
    }
    std::os::unix::fs::symlink("changed", root.join("link")).unwrap();
}

fn new(root: &Path) {
    fs::write(root.join("changed"), "new changed").unwrap();
    for name in ["removed", "becomes-folder", "link"] {
        fs::remove_file(root.join(name)).unwrap();
    }
    fs::remove_dir_all(root.join("d")).unwrap();
    fs::create_dir(root.join("becomes-folder")).unwrap();
    for name in ["becomes-folder/new", "added", "link"] {
        fs::write(root.join(name), format!("new {name}")).unwrap();
    }
}

/// A file with neither its old nor its new contents; half-written ones have a temporary name.
fn mixture(root: &Path, pre: &Files, target: &Files) -> Option<String> {
    let mut found = files(root).into_iter().filter(|(path, file)| {
        let known = pre.get(path) == Some(file) || target.get(path) == Some(file);
        !known && !String::from_utf8_lossy(path).contains(".loopkeeper-restore-")
    });
    found.next().map(|it| String::from_utf8_lossy(&it.0).into_owned())
}

/// Every previous content is in the store: a loose object of its id.
fn expect_everything_stored(place: &Place, pre: &Files, context: &str) {
    let dir: PathBuf = place.dir.path().join("state/snapshots.git");
    for (path, (_, bytes)) in pre {
        let file = place.dir.path().join("content");
        fs::write(&file, bytes).unwrap();
        let id = place.git(&dir, &["hash-object", "--no-filters", file.to_str().unwrap()]);
        let stored = place.git(&dir, &["cat-file", "blob", id.trim()]);
        assert_eq!(stored.as_bytes(), bytes, "{context}: {}", String::from_utf8_lossy(path));
    }
}
