//! Tests of garbage collection, patches and sizes.

use std::collections::HashSet;
use std::fs;
use std::time::{Duration, SystemTime};

use super::world::World;
use crate::snapshots::{GcMode, SnapshotError};

/// Makes every object look as if it had been written long ago.
fn age_objects(world: &World) {
    for folder in fs::read_dir(world.store_dir().join("objects")).unwrap() {
        for file in fs::read_dir(folder.unwrap().path()).unwrap() {
            let file = fs::File::open(file.unwrap().path()).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(7200)).unwrap();
        }
    }
}

/// Three snapshots of a tree, with one file that never changes.
fn take_three(world: &mut World) -> Vec<String> {
    world.write("same/file", "same");
    (0..3)
        .map(|n| {
            world.write("file", format!("content {n}"));
            world.take().tree
        })
        .collect()
}

#[test]
fn unreferenced_objects_are_collected() {
    let mut world = World::new();
    let trees = take_three(&mut world);
    let keep = HashSet::from([trees[1].clone()]);
    assert_eq!(world.store.collect_garbage(&keep, GcMode::Delete).unwrap().removed, 0, "too young");
    age_objects(&world);
    let measured = world.store.collect_garbage(&keep, GcMode::Measure).unwrap();
    assert_eq!(measured.removed, 2, "one file, one root");
    assert!(measured.freed_bytes > 0 && measured.kept_bytes > 0);
    assert!(world.store.contains_snapshot(&trees[0]));
    assert_eq!(world.store.collect_garbage(&keep, GcMode::Delete).unwrap(), measured);
    assert!(!world.store.contains_snapshot(&trees[0]));
    assert!(world.store.contains_snapshot(&trees[2]), "the last one, whatever refers to it");
    world.restore(&trees[1]);
    assert_eq!(fs::read_to_string(world.path("file")).unwrap(), "content 1");
    assert_eq!(fs::read_to_string(world.path("same/file")).unwrap(), "same");
}

#[test]
fn caches_with_collected_objects_are_not_used() {
    let mut world = World::new();
    let trees = take_three(&mut world);
    let mut other = World::new();
    // Another process takes a snapshot of another tree and collects.
    std::mem::swap(&mut other.store, &mut world.store);
    let stale = &mut other.store;
    world.reopen();
    world.write("file", "content of the other");
    fs::remove_dir_all(world.path("same")).unwrap();
    world.take();
    age_objects(&world);
    world.store.collect_garbage(&HashSet::new(), GcMode::Delete).unwrap();
    assert!(!world.store.contains_snapshot(&trees[2]));
    world.write("file", "content 2");
    world.write("same/file", "same");
    assert_eq!(stale.take_snapshot().unwrap().tree, trees[2]);
    world.write("file", "ruined");
    world.write("same/file", "ruined");
    let restored = world.restore(&trees[2]);
    assert_eq!(restored.written, ["file", "same/file"]);
}

#[test]
fn an_object_that_is_needed_again_becomes_young() {
    let mut world = World::new();
    let trees = take_three(&mut world);
    age_objects(&world);
    world.write("file", "content 0");
    assert_eq!(world.take().tree, trees[0]);
    world.write("file", "content 9");
    world.take();
    // A keeper that needs the first one again but has not recorded that yet.
    world.store.collect_garbage(&HashSet::new(), GcMode::Delete).unwrap();
    world.restore(&trees[0]);
}

#[test]
fn the_state_before_a_rollback_is_kept() {
    let mut world = World::new();
    let trees = take_three(&mut world);
    let restored = world.restore(&trees[0]);
    assert_eq!(restored.before, trees[2]);
    world.write("file", "content 9");
    world.take();
    age_objects(&world);
    world.store.collect_garbage(&HashSet::new(), GcMode::Delete).unwrap();
    let has: Vec<bool> = trees.iter().map(|it| world.store.contains_snapshot(it)).collect();
    assert_eq!(has, [false, false, true]);
}

#[test]
fn a_damaged_tree_stops_a_collection() {
    let mut world = World::new();
    world.write("folder/file", "x");
    let tree = world.take().tree;
    let id = world.store.objects.resolve_snapshot(&tree).unwrap();
    let folder = world.store.objects.tree(id).unwrap()[0].1.id;
    let object = world.store_dir().join("objects").join(crate::snapshots::objects::object_path(folder));
    fs::remove_file(&object).unwrap();
    age_objects(&world);
    let before = world.objects();
    let collected = world.store.collect_garbage(&HashSet::from([tree]), GcMode::Delete);
    assert!(matches!(collected, Err(SnapshotError::Damaged { .. })));
    assert_eq!(world.objects(), before);
}

#[test]
fn leftovers_of_a_killed_process_are_removed() {
    let mut world = World::new();
    world.write("a", "x");
    let incoming = world.store_dir().join("incoming");
    fs::create_dir(&incoming).unwrap();
    fs::write(incoming.join("ab"), "half").unwrap();
    let tree = world.take().tree;
    assert!(!incoming.exists());
    world.write("a", "y");
    world.restore(&tree);
}

#[test]
fn a_patch_shows_what_changed() {
    let mut world = World::new();
    world.write("text", "one\ntwo\n");
    world.write("binary", b"\0\x01");
    world.write("gone", "x\n");
    let a = world.take().tree;
    world.write("text", "one\nthree\nfour\n");
    world.write("binary", b"\0\x02");
    fs::remove_file(world.path("gone")).unwrap();
    fs::File::create(world.path("big")).unwrap().set_len(21 * 1024 * 1024).unwrap();
    let b = world.take().tree;
    let patch = world.store.diff(&a, &b, 1 << 20).unwrap();
    for expect in
        ["-two\n", "+three\n", "+four\n", "-x\n", "Binary files a/binary", "Not stored, appeared: big\n"]
    {
        assert!(patch.contains(expect), "{expect} in {patch}");
    }
    let lines = world.store.count_lines(&a, &b).unwrap().unwrap();
    let counted: Vec<_> = lines.iter().map(|(path, lines)| format!("{path} {lines}")).collect();
    assert_eq!(counted, ["big +0 -0", "binary +0 -0", "gone +0 -1", "text +2 -1"]);
    for n in 0..=500 {
        world.write(format!("many/{n}"), "x\n");
    }
    let many = world.take().tree;
    assert_eq!(world.store.count_lines(&b, &many).unwrap(), None);
    assert_eq!(world.store.diff(&a, &a, 100).unwrap(), "");
    let second = patch.match_indices("diff --git").nth(1).unwrap().0;
    let first = world.store.diff(&a, &b, second).unwrap();
    assert!(first.ends_with("further changes are not shown here\n"), "{first}");
    let short = world.store.diff(&a, &b, 150).unwrap();
    assert!(short.len() < 220 && short.ends_with("further changes are not shown here\n"), "{short}");
}
