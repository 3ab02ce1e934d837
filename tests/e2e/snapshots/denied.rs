//! Files and folders that we may not read or write. Root may access everything, so the test runs itself as user nobody.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

use loopkeeper_system::snapshots::{SnapshotStore, UnstoredReason};

const CHILD: &str = "LOOPKEEPER_TEST_AS_NOBODY";
const NOBODY: u32 = 65534;

#[test]
fn denied_files_are_named() {
    if !rustix::process::geteuid().is_root() {
        return as_somebody(tempfile::tempdir().unwrap().path());
    }
    let dir = tempfile::tempdir().unwrap();
    chown(dir.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    let program = dir.path().join("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program)
        .args(["--exact", "snapshots::denied::child", "--test-threads=1"])
        .env(CHILD, dir.path())
        .env("HOME", dir.path())
        .current_dir(dir.path())
        .output();
    match output {
        Ok(output) => assert!(
            output.status.success(),
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ),
        Err(it) => crate::not_run("snapshots of unreadable files", &format!("setpriv: {it}")),
    }
}

/// Not an independent test: the unprivileged process.
#[test]
fn child() {
    if let Some(dir) = std::env::var_os(CHILD) {
        as_somebody(Path::new(&dir));
    }
}

fn as_somebody(dir: &Path) {
    let root = dir.join("work");
    let write = |path: &str, mode: u32| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "content").unwrap();
        allow(&path, mode);
    };
    write("plain", 0o644);
    write("write-only", 0o200);
    write("closed/x", 0o644);
    write("listable/x", 0o644);
    write("fixed/x", 0o644);
    allow(&root.join("closed"), 0o000);
    allow(&root.join("listable"), 0o444);
    let mut store = SnapshotStore::open(&dir.join("state/snapshots.git"), &root).unwrap();
    let start = store.take_snapshot().unwrap();
    let named: Vec<_> = start.not_covered.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(named, ["closed", "listable/x", "write-only"]);
    assert!(start.not_covered.iter().all(|it| it.why == UnstoredReason::Unreadable));
    assert_eq!(store.take_snapshot().unwrap(), start);

    fs::write(root.join("plain"), "ruined").unwrap();
    fs::write(root.join("fixed/x"), "ruined").unwrap();
    fs::write(root.join("fixed/new"), "ruined").unwrap();
    allow(&root.join("fixed"), 0o555);
    let restored = store.restore(&start.tree, None).unwrap();
    assert_eq!(restored.written, ["plain"]);
    let refused: Vec<_> = restored.refused.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(refused, ["fixed/new", "fixed/x"]);
    assert!(restored.refused.iter().all(|it| it.why.contains("denied")), "{restored:?}");
    assert_eq!(fs::read(root.join("fixed/x")).unwrap(), b"ruined");

    allow(&root.join("fixed"), 0o755);
    let restored = store.restore(&start.tree, None).unwrap();
    assert_eq!((restored.written.len(), restored.removed.len(), restored.refused.len()), (1, 1, 0));
    for path in ["closed", "listable"] {
        allow(&root.join(path), 0o755);
    }
}

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}
