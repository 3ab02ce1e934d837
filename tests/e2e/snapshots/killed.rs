//! A rollback that is killed at every system call that changes something: no file is ever a mixture, nothing is
//! lost, and running it again finishes it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use loopkeeper::adapters::snapshots::Store;

use super::{Place, files};

type Files = BTreeMap<Vec<u8>, (u32, Vec<u8>)>;

const CHILD: &str = "LOOPKEEPER_TEST_RESTORES";
/// The calls by which a snapshot or a rollback changes anything on disk.
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

/// Not a test by itself: the process that is killed.
#[test]
fn child() {
    let Some(order) = std::env::var_os(CHILD) else { return };
    let order = order.into_string().unwrap();
    let [dir, root, tree] = order.split('\n').collect::<Vec<_>>()[..] else { panic!("{order}") };
    Store::open(Path::new(dir), Path::new(root)).unwrap().restore(tree, None).unwrap();
}

#[test]
fn a_killed_rollback_is_finished_by_the_next() {
    if Command::new("strace").arg("-V").output().is_err() {
        crate::not_run("rollback killed at every system call", "strace is not installed");
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

/// Whether the process was killed there; `false` when it came to its end.
fn killed_at(calls: &str, at: u32) -> bool {
    let place = Place::new();
    let (root, dir) = (place.work(), place.dir.path().join("state/snapshots.git"));
    let mut store = Store::open(&dir, &root).unwrap();
    old(&root);
    let target = files(&root);
    let tree = store.take().unwrap().tree;
    new(&root);
    let pre = files(&root);
    drop(store);

    let (trace, inject) = (format!("trace={calls}"), format!("inject={calls}:signal=KILL:when={at}"));
    let status = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "snapshots::killed::child", "--test-threads=1", "--quiet"])
        .env(CHILD, format!("{}\n{}\n{tree}", dir.display(), root.display()))
        .output()
        .unwrap();
    let context = format!("{calls} {at}");
    expect_no_mixture(&root, &pre, &target, &context);

    let mut store = Store::open(&dir, &root).unwrap();
    let restored = store.restore(&tree, None).unwrap();
    assert_eq!(restored.refused, [], "{context}");
    assert_eq!(files(&root), target, "{context}");
    assert_eq!(store.take().unwrap().tree, tree, "{context}");
    expect_everything_stored(&place, &pre, &context);
    !status.status.success()
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

/// Every file is as it was before or as it should be; half-written ones have a name of our own.
fn expect_no_mixture(root: &Path, pre: &Files, target: &Files, context: &str) {
    for (path, file) in files(root) {
        let known = pre.get(&path) == Some(&file) || target.get(&path) == Some(&file);
        let ours = String::from_utf8_lossy(&path).contains(".loopkeeper-restore-");
        assert!(known || ours, "{context}: {}", String::from_utf8_lossy(&path));
    }
}

/// Every content that was there before is in the store: a loose object of its id.
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
