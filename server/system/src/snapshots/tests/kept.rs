//! Tests of the contents of a snapshot, and of the cost of another one.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::world::World;
use crate::snapshots::{SnapshotError, SnapshotStore, TreeEntry, UnstoredReason};

fn paths(world: &mut World) -> Vec<String> {
    let empty = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
    let tree = world.take().tree;
    if tree == empty {
        return Vec::new();
    }
    // The store knows the empty tree only after it was a snapshot.
    let id = world.store.objects.insert(git2::ObjectType::Tree, &[]).unwrap();
    world.store.objects.sync_inserted().unwrap();
    let mut paths = world.store.changed_paths(&id.to_string(), &tree).unwrap();
    paths.sort();
    paths
}

#[test]
fn the_tree_contains_the_files_that_are_not_ignored() {
    let mut world = World::new();
    for path in [
        ".gitignore",
        "a.txt",
        ".hidden",
        ".git/config",
        "sub/.git/config",
        "sub/in-nested",
        "target/x",
        "b/target",
        "node_modules/x/y",
        "src/__pycache__/x",
        ".venv/x",
        ".pytest_cache/x",
        ".mypy_cache/x",
        ".a.txt.swp",
        "src/.b.swo",
        "swp",
        "x.swp",
        ".x.kate-swp",
        "out.log",
        "src/out.log",
        "keep.log",
        "only/a",
        "only/b/c",
    ] {
        world.write(path, path);
    }
    world.write(".gitignore", "*.log\n!keep.log\n/only/b\n");
    world.link(".#a.txt", "me@host.123");
    fs::create_dir(world.path("empty")).unwrap();
    let expect =
        [".gitignore", ".hidden", "a.txt", "b/target", "keep.log", "only/a", "sub/in-nested", "swp", "x.swp"];
    assert_eq!(paths(&mut world), expect);
}

#[test]
fn a_gitignore_may_cancel_a_built_in_rule() {
    let mut world = World::new();
    world.write("target/x", "");
    world.write(".git/HEAD", "");
    world.write(".gitignore", "!target/\n!.git\n");
    assert_eq!(paths(&mut world), [".gitignore", "target/x"]);
}

#[test]
fn an_empty_tree_has_an_id_and_a_missing_root_is_an_error() {
    let mut world = World::new();
    assert_eq!(world.take().tree, "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    fs::remove_dir(world.root()).unwrap();
    assert!(matches!(world.store.take_snapshot(), Err(SnapshotError::NoTree { .. })));
}

#[test]
fn a_root_that_was_replaced_is_an_error() {
    let check = |replace: fn(&Path, &Path)| {
        let mut world = World::new();
        world.write("a", "1");
        let tree = world.take().tree;
        let (root, aside) = (world.root().clone(), world.root().with_extension("aside"));
        fs::rename(&root, &aside).unwrap();
        replace(&root, &aside);
        assert!(matches!(world.store.take_snapshot(), Err(SnapshotError::NoTree { .. })));
        assert!(matches!(world.store.restore(&tree, None), Err(SnapshotError::NoTree { .. })));
        // A later process knows the path alone.
        let is_link = root.is_symlink();
        let opened = SnapshotStore::open(&root.with_extension("later"), &root);
        assert_eq!(matches!(opened, Err(SnapshotError::NoTree { .. })), is_link);
        // Control: moved back, it is the same folder.
        if is_link { fs::remove_file(&root) } else { fs::remove_dir_all(&root) }.unwrap();
        fs::rename(&aside, &root).unwrap();
        assert_eq!(world.take().tree, tree);
    };
    check(|root, _| fs::create_dir(root).unwrap());
    check(|root, aside| symlink(aside, root).unwrap());
    check(|root, aside| symlink(aside.parent().unwrap(), root).unwrap());
}

#[test]
fn bytes_modes_links_and_names_determine_the_id() {
    let mut world = World::new();
    let mut seen = vec![world.take().tree];
    let mut differs = |world: &mut World, what: &str| {
        let tree = world.take().tree;
        assert!(!seen.contains(&tree), "{what}");
        assert_eq!(world.take().tree, tree, "{what}: taken again");
        seen.push(tree);
    };
    world.write("a", "1");
    differs(&mut world, "a file");
    world.write("a", "2");
    differs(&mut world, "other bytes");
    world.mode("a", 0o755);
    differs(&mut world, "executable");
    world.link("l", "a");
    differs(&mut world, "a symlink");
    fs::remove_file(world.path("l")).unwrap();
    world.link("l", "/nowhere");
    differs(&mut world, "another target");
    world.write(OsStr::from_bytes(b"\xff\n\x1b[31m -rf"), "x");
    differs(&mut world, "a hostile name");
    world.write("d/e/f", "x");
    differs(&mut world, "a file below");
}

#[test]
fn an_unchanged_tree_is_neither_read_nor_written() {
    let mut world = World::new();
    for n in 0..20 {
        world.write(format!("d{}/f{n}", n % 3), format!("{n}"));
        age(&world, &format!("d{}/f{n}", n % 3));
    }
    // Their change time is now in any case: after the clock's tick they count as settled.
    settle();
    let first = world.take();
    let (read, objects) = (world.store.unsaved.files, world.objects());
    assert_eq!(read, 20);
    assert_eq!(world.take(), first);
    assert_eq!(world.store.unsaved.files, read);
    assert_eq!(world.objects(), objects);
    // Another process reads the cache that was written at the end.
    world.reopen();
    assert_eq!(world.take(), first);
    assert_eq!(world.store.unsaved.files, 0);
    world.write("d1/f1", "other");
    world.take();
    assert_eq!(world.store.unsaved.files, 1);
    assert_eq!(world.objects(), objects + 3, "one file, one folder, the root");
}

/// Waits until a change made now is older than the clock's tick.
fn settle() {
    let until = SystemTime::now() + Duration::from_millis(150);
    while SystemTime::now() < until {
        std::thread::yield_now();
    }
}

fn age(world: &World, path: &str) {
    let file = fs::File::options().write(true).open(world.path(path)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
}

#[test]
fn a_change_with_equal_size_and_time_is_detected() {
    let mut world = World::new();
    world.write("a", "one");
    let modified = fs::metadata(world.path("a")).unwrap().modified().unwrap();
    settle();
    let first = world.take().tree;
    world.write("a", "two");
    fs::File::options().write(true).open(world.path("a")).unwrap().set_modified(modified).unwrap();
    assert_ne!(world.take().tree, first);
}

#[test]
fn changes_within_one_clock_tick_are_detected() {
    let mut world = World::new();
    let mut trees = Vec::new();
    for n in 0..50 {
        world.write("a", format!("{n:03}"));
        trees.push(world.take().tree);
    }
    trees.dedup();
    assert_eq!(trees.len(), 50);
}

#[test]
fn a_damaged_or_foreign_cache_is_rebuilt() {
    let mut world = World::new();
    for n in 0..600 {
        world.write(format!("f{n}"), format!("{n}"));
    }
    let tree = world.take().tree;
    let cache = world.store_dir().join("stat-cache");
    let bytes = fs::read(&cache).unwrap();
    let flipped: Vec<u8> = bytes.iter().map(|it| it ^ 1).collect();
    for damaged in [&[][..], &bytes[..bytes.len() / 2], &flipped] {
        fs::write(&cache, damaged).unwrap();
        world.reopen();
        fs::write(&cache, damaged).unwrap();
        assert_eq!(world.take().tree, tree);
        assert_eq!(world.store.unsaved.files, 0, "saved again");
    }
}

#[test]
fn unstored_files_are_named_and_their_changes_detected() {
    let mut world = World::new();
    world.write("small", "x");
    let big = fs::File::create(world.path("big\n")).unwrap();
    big.set_len(20 * 1024 * 1024 + 1).unwrap();
    let first = world.take();
    assert_eq!(first.n_files, 1);
    let [it] = first.not_covered.as_slice() else { panic!("{first:?}") };
    assert_eq!((it.path.as_str(), it.size, it.why), ("big\\n", 20 * 1024 * 1024 + 1, UnstoredReason::TooBig));
    assert_eq!(world.take(), first);
    big.set_len(20 * 1024 * 1024 + 2).unwrap();
    let second = world.take();
    assert_eq!(world.store.changed_paths(&first.tree, &second.tree).unwrap(), ["big\\n"]);
    big.set_len(20 * 1024 * 1024).unwrap();
    assert_eq!(world.take().not_covered, []);
}

#[test]
fn special_files_are_skipped_without_blocking() {
    let mut world = World::new();
    world.write("a", "x");
    let first = world.take();
    for pipe in ["pipe", ".gitignore", "sub/.gitignore", ".git/info/exclude"] {
        fs::create_dir_all(world.path(pipe).parent().unwrap()).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o644);
        rustix::fs::mknodat(rustix::fs::CWD, world.path(pipe), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    }
    world.write(".git/HEAD", "ref: refs/heads/main\n");
    drop(std::os::unix::net::UnixListener::bind(world.path("socket")).unwrap());
    assert_eq!(world.take(), first);
    world.write("a", "y");
    world.restore(&first.tree);
    assert!(world.path("pipe").exists() && world.path("socket").exists());
}

#[test]
fn folders_below_the_depth_limit_are_not_read() {
    let mut world = World::new();
    let deep = vec!["d"; 250].join("/");
    world.write(format!("{deep}/x"), "x");
    world.write("a", "x");
    let snapshot = world.take();
    assert_eq!(snapshot.n_files, 1);
    assert_eq!(snapshot.not_covered.iter().map(|it| it.why).collect::<Vec<_>>(), [UnstoredReason::TooDeep]);
}

#[test]
fn our_state_folder_is_excluded_from_the_tree() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join(".local/state/loopkeeper/workspaces/0123/snapshots.git");
    fs::write(dir.path().join("a"), "x").unwrap();
    let mut store = crate::snapshots::SnapshotStore::open_with(&store, dir.path(), None).unwrap();
    let first = store.take_snapshot().unwrap();
    assert_eq!(first.n_files, 1);
    fs::write(dir.path().join(".local/state/loopkeeper/calls"), "x").unwrap();
    assert_eq!(store.take_snapshot().unwrap(), first);
    fs::write(dir.path().join(".local/state/other"), "x").unwrap();
    assert_eq!(store.take_snapshot().unwrap().n_files, 2);
}

#[test]
fn a_deleted_store_is_an_error() {
    let mut world = World::new();
    world.write("a", "x");
    let tree = world.take().tree;
    assert!(world.store.contains_snapshot(&tree));
    assert!(!world.store.contains_snapshot("0000000000000000000000000000000000000000"));
    assert!(!world.store.contains_snapshot("-rf"));
    assert!(matches!(world.store.changed_paths(&tree, "abc"), Err(SnapshotError::Unknown { .. })));
    fs::remove_dir_all(world.store_dir()).unwrap();
    assert!(matches!(world.store.take_snapshot(), Err(SnapshotError::Missing { .. })));
    assert!(matches!(world.store.restore(&tree, None), Err(SnapshotError::Missing { .. })));
    assert!(matches!(world.store.changed_paths(&tree, &tree), Err(SnapshotError::Missing { .. })));
    assert!(!world.store.contains_snapshot(&tree));
}

fn git(root: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=T", "-c", "user.email=t@example.org"];
    let output = Command::new("git").args(identity).args(arguments).current_dir(root).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn other_work_trees_are_excluded_from_the_tree() {
    let mut world = World::new();
    world.write("a.txt", "a");
    git(&world.root(), &["init", "-q"]);
    git(&world.root(), &["add", "."]);
    git(&world.root(), &["commit", "-q", "-m", "first"]);
    // Plain files in the snapshot are left alone once another work tree replaces them.
    world.write("trees/x/old.txt", "old");
    let before = world.take().tree;
    fs::remove_dir_all(world.path("trees")).unwrap();
    git(&world.root(), &["worktree", "add", "-q", "trees/x"]);
    assert_eq!(paths(&mut world), ["a.txt"]);
    let clean = world.take().tree;
    world.write("trees/x/work.txt", "of somebody else");
    assert_eq!(world.take().tree, clean);
    world.write("a.txt", "changed");
    let contents = world.contents();
    let restored = world.restore(&before);
    assert_eq!(restored.written, ["a.txt"]);
    assert_eq!(restored.removed, [""; 0]);
    let refused: Vec<_> = restored.refused.iter().map(|it| (it.path.as_str(), it.why.as_str())).collect();
    assert_eq!(refused, [("trees/x/old.txt", "it belongs to another work tree of the repository")]);
    let mut after = world.contents();
    after.insert(b"a.txt".to_vec(), contents.get(&b"a.txt"[..]).unwrap().clone());
    assert_eq!(after, contents);
}

#[test]
fn all_files_of_a_snapshot_are_read_in_the_order_of_its_folders() {
    let mut world = World::new();
    world.write("b/two", "2");
    world.write("a/one", "1");
    world.link("link", "a/one");
    let tree = world.take().tree;
    let read = |most: usize, until: usize| {
        let mut found = Vec::new();
        let taken = world.store.read_files(&tree, most, |path, entry| {
            found.push((String::from_utf8(path).unwrap(), entry));
            found.len() < until
        });
        taken.unwrap();
        found
    };
    let file = |path: &str, bytes: &str| {
        (path.to_owned(), TreeEntry::File { bytes: bytes.into(), executable: false })
    };
    let all = [file("a/one", "1"), file("b/two", "2"), ("link".to_owned(), TreeEntry::Link("a/one".into()))];
    assert_eq!(read(3, 9), all);
    assert_eq!(read(3, 2), all[..2]);
    assert_eq!(read(2, 9), []);
}

#[test]
fn paths_ignored_only_since_a_snapshot_are_found() {
    let mut world = World::new();
    world.write(".git/HEAD", "ref: refs/heads/main\n");
    world.write(".gitignore", "/built\n*.log\n.cache/\n");
    let start = world.take().tree;
    let since = SystemTime::now() - Duration::from_secs(1);
    world.write(".gitignore", "/built\n*.log\n.cache/\n/lib\n");
    world.write(".cache/a.py", "1");
    world.write(".git/info/exclude", "data.json\n");
    let paths = ["built/a.js", "x.log", "lib/impl.js", "data.json", "node_modules/a.js", ".cache"];
    let paths = paths.map(PathBuf::from);
    let found = world.store.newly_ignored(&start, since, &paths).unwrap();
    assert_eq!(found, [PathBuf::from("lib/impl.js"), PathBuf::from("data.json")]);
}
