//! Disks that fill up and disks that lose power: acknowledged data survives, failures are reported and can be retried.

use std::fs;
use std::path::Path;

use loopkeeper_system::snapshots::{SnapshotError, SnapshotStore};

use super::files;
use crate::not_run;
use crate::rigs::disk::Disk;

fn write(root: &Path, count: usize, text: &str) {
    for n in 0..count {
        let path = root.join(format!("d{}/f{n}", n % 7));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text} {n}")).unwrap();
    }
}

#[test]
fn root_a_snapshot_outlives_a_power_cut() {
    // Many new objects, few, none, and few again.
    let steps = [(300, "one"), (3, "two"), (3, "two"), (1, "three")];
    for cut_after in 1..=steps.len() {
        let disk = match Disk::ext4() {
            Ok(disk) => disk,
            Err(why) => return not_run("power cut after a snapshot", &why),
        };
        let dir = tempfile::tempdir().unwrap();
        let (store, root) = (Path::new("state/snapshots.git"), dir.path());
        let mut live = SnapshotStore::open(&disk.path().join(store), root).unwrap();
        let mut acknowledged = Vec::new();
        for (count, text) in &steps[..cut_after] {
            write(root, *count, text);
            acknowledged.push((live.take_snapshot().unwrap().tree, files(root)));
        }
        fs::write(disk.path().join("unsynced"), "control").unwrap();
        let after = disk.cut_power().unwrap();
        assert_ne!(fs::read(after.path().join("unsynced")).unwrap_or_default(), b"control", "control");
        let mut cut = SnapshotStore::open(&after.path().join(store), root).unwrap();
        for (tree, expect) in &acknowledged {
            assert_eq!(cut.restore(tree, None).unwrap().refused, []);
            assert_eq!(files(root), *expect);
        }
    }
}

#[test]
fn root_a_rollback_outlives_a_power_cut() {
    for count in [3, 200] {
        let disk = match Disk::ext4() {
            Ok(disk) => disk,
            Err(why) => return not_run("power cut after a rollback", &why),
        };
        let root = disk.path().join("work");
        fs::create_dir(&root).unwrap();
        let mut store = SnapshotStore::open(&disk.path().join("snapshots.git"), &root).unwrap();
        write(&root, count, "target");
        let (target, expect) = (store.take_snapshot().unwrap().tree, files(&root));
        write(&root, count, "ruined");
        fs::write(root.join("added"), "ruined").unwrap();
        store.restore(&target, None).unwrap();
        let after = disk.cut_power().unwrap();
        assert_eq!(files(&after.path().join("work")), expect, "{count} files");
    }
}

#[test]
fn root_a_full_disk_costs_nothing_that_was_stored() {
    let disk = match Disk::memory("size=1m") {
        Ok(disk) => disk,
        Err(why) => return not_run("snapshots on a full disk", &why),
    };
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let mut store = SnapshotStore::open(&disk.path().join("snapshots.git"), root).unwrap();
    write(root, 10, "before");
    let (tree, expect) = (store.take_snapshot().unwrap().tree, files(root));
    fs::write(disk.path().join("filler"), vec![1; 700 * 1024]).unwrap();
    write(root, 200, "more");
    for _ in 0..2 {
        let error = store.take_snapshot().unwrap_err();
        let full = matches!(&error, SnapshotError::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull);
        assert!(full, "{error}");
    }
    let after = files(root);
    assert!(store.restore(&tree, None).is_err(), "nothing can be stored before it");
    assert_eq!(files(root), after);
    fs::remove_file(disk.path().join("filler")).unwrap();
    let restored = store.restore(&tree, None).unwrap();
    assert_eq!(restored.refused, []);
    assert_eq!(files(root), expect);
    store.restore(&restored.before, None).unwrap();
    assert_eq!(files(root), after);
}

#[test]
fn root_a_rollback_on_a_full_disk_is_finished_later() {
    let disk = match Disk::memory("size=1m") {
        Ok(disk) => disk,
        Err(why) => return not_run("rollback on a full disk", &why),
    };
    let dir = tempfile::tempdir().unwrap();
    let root = disk.path().join("work");
    fs::create_dir(&root).unwrap();
    let mut store = SnapshotStore::open(&dir.path().join("snapshots.git"), &root).unwrap();
    write(&root, 100, &"long ".repeat(600));
    let (tree, expect) = (store.take_snapshot().unwrap().tree, files(&root));
    fs::remove_dir_all(root.join("d1")).unwrap();
    write(&root, 1, "short");
    let ruined = files(&root);
    let mut filler = vec![1; 1024 * 1024];
    while fs::write(disk.path().join("filler"), &filler).is_err() {
        filler.truncate(filler.len() - 4096);
    }
    let error = store.restore(&tree, None).unwrap_err();
    let SnapshotError::Incomplete { before, .. } = &error else { panic!("{error}") };
    fs::remove_file(disk.path().join("filler")).unwrap();
    let restored = store.restore(&tree, None).unwrap();
    assert_eq!((restored.refused.len(), files(&root)), (0, expect));
    store.restore(before, None).unwrap();
    assert_eq!(files(&root), ruined);
}
