//! Tests of snapshots that are reused or abandoned.

use std::fs::File;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use super::world::World;
use crate::snapshots::SnapshotError;

const LONG: Duration = Duration::from_secs(3600);

#[test]
fn a_recent_snapshot_is_reused() {
    let mut world = World::new();
    world.write("a", "1");
    let first = world.store.take_or_reuse(LONG).unwrap();
    world.write("a", "2");
    assert_eq!(world.store.take_or_reuse(LONG).unwrap(), first);
    let second = world.store.take_or_reuse(Duration::ZERO).unwrap();
    assert_ne!(second.tree, first.tree);
    assert_eq!(world.store.take_or_reuse(LONG).unwrap(), second);
}

#[test]
fn no_snapshot_is_reused_after_a_rollback() {
    let mut world = World::new();
    world.write("a", "1");
    let first = world.store.take_snapshot().unwrap();
    world.write("a", "2");
    let second = world.store.take_snapshot().unwrap();
    world.store.restore(&first.tree, None).unwrap();
    assert_eq!(world.store.take_or_reuse(LONG).unwrap().tree, first.tree);
    world.store.restore(&second.tree, None).unwrap();
    assert_eq!(world.store.take_or_reuse(LONG).unwrap().tree, second.tree);
}

#[test]
fn a_snapshot_over_its_timeout_is_abandoned_and_the_next_is_complete() {
    let mut world = World::new();
    for n in 0..60 {
        world.write(format!("folder{}/{n}", n % 7), format!("{n}"));
    }
    let whole = world.store.take_snapshot().unwrap();
    world.write("folder3/new", "new");
    for _ in 0..2 {
        world.store.set_time_limit(Some(Duration::ZERO));
        assert!(matches!(world.store.take_snapshot(), Err(SnapshotError::OutOfTime)));
    }
    world.store.set_time_limit(None);
    let after = world.store.take_snapshot().unwrap();
    assert_eq!((after.n_files, whole.n_files), (61, 60));
    assert_eq!(world.store.changed_paths(&whole.tree, &after.tree).unwrap(), ["folder3/new"]);
}

#[test]
fn a_store_that_another_process_keeps_locked_does_not_block() {
    let mut world = World::new();
    world.write("a", "1");
    let first = world.take();
    let lock = File::open(world.store_dir().join("lock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    world.store.set_time_limit(Some(Duration::from_millis(20)));
    assert!(matches!(world.store.take_snapshot(), Err(SnapshotError::OutOfTime)));
    flock(&lock, FlockOperation::Unlock).unwrap();
    assert_eq!(world.store.take_snapshot().unwrap().tree, first.tree);
}
