//! Tests of the entries that a restore writes, leaves and refuses.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use super::world::{Contents, Entry, World, contents};
use crate::snapshots::{RestoreReport, SnapshotError};

/// Refused paths with their reasons.
fn refused(restored: &RestoreReport) -> Vec<(&str, &str)> {
    restored.refused.iter().map(|it| (it.path.as_str(), it.why.as_str())).collect()
}

fn file(world: &World, path: &str) -> String {
    fs::read_to_string(world.path(path)).unwrap()
}

#[test]
fn a_restore_and_its_undo_restore_every_kind_of_entry() {
    let mut world = World::new();
    world.write("kept", "same");
    world.write("edited", b"before\r\n\0\xff");
    world.write("deleted/deep/file", "x");
    world.write("script", "#!/bin/sh\n");
    world.mode("script", 0o755);
    world.link("link", "kept");
    world.link("dangling", "/no/where");
    world.write(OsStr::from_bytes(b"-rf \xff\n\x1b[2J"), "hostile");
    world.write("was-file", "f");
    world.write("was-folder/a/b", "f");
    world.link("was-link", "kept");
    let start = world.take().tree;
    let before = world.contents();

    world.write("edited", "after");
    fs::remove_dir_all(world.path("deleted")).unwrap();
    world.mode("script", 0o644);
    fs::remove_file(world.path("link")).unwrap();
    world.link("link", "edited");
    fs::remove_file(world.path(OsStr::from_bytes(b"-rf \xff\n\x1b[2J"))).unwrap();
    world.write("new/deep/file", "n");
    fs::remove_file(world.path("was-file")).unwrap();
    world.write("was-file/x/y", "d");
    fs::remove_dir_all(world.path("was-folder")).unwrap();
    world.write("was-folder", "f");
    fs::remove_file(world.path("was-link")).unwrap();
    world.write("was-link/x", "d");
    let after = world.contents();

    let restored = world.restore(&start);
    assert_eq!(refused(&restored), []);
    assert_eq!(world.contents(), before);
    assert_eq!(world.take().tree, start);
    let mut removed = restored.removed.clone();
    removed.sort();
    assert_eq!(removed, ["new/deep/file", "was-file/x/y", "was-folder", "was-link/x"]);

    let back = world.restore(&restored.before);
    assert_eq!(refused(&back), []);
    assert_eq!(world.contents(), after);
    assert_eq!(back.before, start);
}

#[test]
fn only_the_selected_paths_are_restored() {
    let mut world = World::new();
    for path in ["src/a", "src/b", "docs/c", "top"] {
        world.write(path, "1");
    }
    let start = world.take().tree;
    for path in ["src/a", "src/b", "docs/c", "top", "src/new"] {
        world.write(path, "2");
    }
    let restored = world.store.restore(&start, Some(&["src/".to_owned(), "top".to_owned()])).unwrap();
    assert_eq!(restored.written, ["src/a", "src/b", "top"]);
    assert_eq!(restored.removed, ["src/new"]);
    assert_eq!(file(&world, "docs/c"), "2");
}

#[test]
fn an_undo_reverts_only_the_restore() {
    let mut world = World::new();
    for path in ["changed", "removed", "kept", "was-folder/x", "edited"] {
        world.write(path, "1");
    }
    let start = world.take().tree;
    world.write("changed", "2");
    fs::set_permissions(world.path("changed"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(world.path("removed")).unwrap();
    fs::remove_dir_all(world.path("was-folder")).unwrap();
    world.write("was-folder", "a file");
    world.write("new/deep", "2");
    world.link("link", "changed");
    world.write("edited", "2");
    let before = world.contents();
    let restored = world.restore(&start);
    assert_eq!(restored.after, start);
    let undo = |world: &mut World| {
        let preview = world.store.restore_since_preview(&restored.before, &restored.after).unwrap();
        let undone = world.store.restore_since(&restored.before, &restored.after).unwrap();
        assert_eq!(refused(&undone), []);
        let sorted = |mut paths: Vec<String>| {
            paths.sort();
            paths
        };
        assert_eq!(sorted(preview.written), sorted(undone.written.clone()));
        assert_eq!(sorted(preview.removed), sorted(undone.removed.clone()));
        undone
    };
    let undone = undo(&mut world);
    assert_eq!(world.contents(), before);
    // Later changes stay where the restore changed nothing; overwritten ones are in the snapshot taken before it.
    world.restore(&start);
    world.write("kept", "mine");
    world.write("mine", "mine");
    world.write("edited", "mine");
    let undone_again = undo(&mut world);
    assert_eq!((file(&world, "kept"), file(&world, "mine")), ("mine".into(), "mine".into()));
    assert_eq!(file(&world, "edited"), "2");
    assert_eq!(undone.after, restored.before);
    assert_eq!(world.store.file(&undone_again.before, "edited", 9).unwrap().unwrap(), b"mine");
    // After undoing the undo, the state is as before.
    world.store.restore_since(&undone_again.before, &undone_again.after).unwrap();
    assert_eq!(world.take().tree, undone_again.before);
}

#[test]
fn ignored_files_repositories_and_empty_folders_stay() {
    let mut world = World::new();
    world.write("a", "1");
    let start = world.take().tree;
    world.write(".gitignore", "*.secret\n");
    world.write("new/x.secret", "mine");
    world.write("new/y", "agent's");
    world.write("nested/.git/HEAD", "ref: refs/heads/main\n");
    world.write("nested/z", "agent's");
    world.write("target/out", "built");
    fs::create_dir(world.path("empty")).unwrap();
    let restored = world.restore(&start);
    let why = "ignored until now, so no snapshot contains it";
    assert_eq!(refused(&restored), [("new/x.secret", why)]);
    let left_over: Vec<String> =
        world.contents().keys().map(|it| String::from_utf8_lossy(it).into_owned()).collect();
    let expect = [
        "a",
        "empty",
        "nested",
        "nested/.git",
        "nested/.git/HEAD",
        "new",
        "new/x.secret",
        "target",
        "target/out",
    ];
    assert_eq!(left_over, expect);
}

#[test]
fn files_hidden_by_a_new_ignore_rule_are_restored() {
    let mut world = World::new();
    world.write("src/main.rs", "good");
    world.write("src/lib.rs", "good");
    let start = world.take().tree;
    world.write(".gitignore", "*\n");
    world.write("src/main.rs", "ruined");
    world.write("src/other.rs", "ignored, never stored");
    fs::remove_file(world.path("src/lib.rs")).unwrap();
    let ruined = world.contents();
    let restored = world.restore(&start);
    let left = "ignored until now, so no snapshot contains it";
    assert_eq!(refused(&restored), [("src/other.rs", left)]);
    assert!(!world.path(".gitignore").exists());
    assert_eq!((file(&world, "src/main.rs"), file(&world, "src/lib.rs")), ("good".into(), "good".into()));
    assert_eq!(file(&world, "src/other.rs"), "ignored, never stored");
    world.restore(&restored.before);
    // Under the restored rules, files that no snapshot knows and files that the first rollback created look the same.
    let mut expect = ruined;
    expect.insert(b"src/lib.rs".to_vec(), Entry::File { bytes: b"good".to_vec(), executable: false });
    assert_eq!(world.contents(), expect);
}

#[test]
fn files_ignored_at_the_snapshot_are_not_deleted() {
    let mut world = World::new();
    world.write(".gitignore", "*.env\n/private\n");
    world.write("src/.gitignore", "*.tmp\n");
    for path in ["a.env", "private/key", "src/x.tmp", "src/y.env", "src/main.rs"] {
        world.write(path, "mine");
    }
    let start = world.take().tree;
    let before = world.contents();
    fs::remove_file(world.path(".gitignore")).unwrap();
    fs::remove_file(world.path("src/.gitignore")).unwrap();
    world.write("src/new.rs", "agent's");
    let restored = world.restore(&start);
    assert_eq!(refused(&restored), []);
    assert_eq!(restored.removed, ["src/new.rs"]);
    assert_eq!(world.contents(), before);
}

#[test]
fn a_folder_with_only_rules_that_ignore_themselves_is_left_out() {
    let mut world = World::new();
    world.write("cache/.gitignore", "*\n");
    world.write("cache/x", "x");
    let start = world.take();
    assert_eq!(start.n_files, 0);
    world.write("tmp/.gitignore", "*\n!keep\n");
    world.write("tmp/keep", "x");
    world.write("tmp/junk", "x");
    let with = world.take().tree;
    assert_eq!(world.store.changed_paths(&start.tree, &with).unwrap(), ["tmp/.gitignore", "tmp/keep"]);
}

const BIG: u64 = 20 * 1024 * 1024 + 1;

#[test]
fn files_that_are_not_stored_are_left_and_reported() {
    let world = World::new();
    let big = |path: &str, len: u64| {
        fs::File::create(world.path(path)).unwrap().set_len(len).unwrap();
    };
    big("grows", 10);
    big("shrinks", BIG);
    big("goes", BIG);
    big("stays", BIG);
    let mut world = world;
    let start = world.take().tree;
    for (path, len) in [("grows", BIG), ("shrinks", 10), ("comes", BIG)] {
        fs::File::create(world.path(path)).unwrap().set_len(len).unwrap();
    }
    fs::remove_file(world.path("goes")).unwrap();
    let before = world.contents();
    let restored = world.restore(&start);
    let why = "its bytes were never stored";
    assert_eq!(refused(&restored), [("comes", why), ("goes", why), ("grows", why), ("shrinks", why)]);
    assert_eq!(world.contents(), before);
}

#[test]
fn a_folder_with_unstored_files_is_not_replaced_by_a_file() {
    let mut world = World::new();
    world.write(".gitignore", "*.secret\n");
    for path in ["ignored", "repository", "empty"] {
        world.write(path, "a file");
    }
    let start = world.take().tree;
    for path in ["ignored", "repository", "empty"] {
        fs::remove_file(world.path(path)).unwrap();
        world.write(format!("{path}/stored"), "x");
    }
    world.write("ignored/x.secret", "mine");
    world.write("repository/.git/HEAD", "x");
    fs::create_dir_all(world.path("empty/a/b")).unwrap();
    let restored = world.restore(&start);
    let why = "a folder with files that no snapshot contains is in its place";
    assert_eq!(refused(&restored), [("ignored", why), ("repository", why)]);
    assert_eq!(file(&world, "ignored/stored"), "x");
    assert_eq!(file(&world, "ignored/x.secret"), "mine");
    assert_eq!(file(&world, "empty"), "a file");
}

#[test]
fn nothing_is_written_through_a_symlink() {
    let mut world = World::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("file"), "theirs").unwrap();
    world.write("folder/file", "ours");
    world.write("gone/file", "ours");
    let start = world.take().tree;
    // In the snapshot taken before: replaced by the folder again.
    fs::remove_dir_all(world.path("folder")).unwrap();
    world.link("folder", outside.path());
    // Ignored, so never stored: left, and paths below it are refused.
    fs::remove_dir_all(world.path("gone")).unwrap();
    world.write(".git/info/exclude", "/gone\n");
    world.write(".git/HEAD", "ref: refs/heads/main\n");
    world.link("gone", outside.path());
    let restored = world.restore(&start);
    assert_eq!(refused(&restored), [("gone/file", "something that is not a folder is in its way")]);
    assert_eq!(file(&world, "folder/file"), "ours");
    let expect = Entry::File { bytes: b"theirs".to_vec(), executable: false };
    assert_eq!(contents(outside.path()), Contents::from([(b"file".to_vec(), expect)]));
}

#[test]
fn permissions_of_overwritten_files_stay() {
    let mut world = World::new();
    world.write("secret", "1");
    world.mode("secret", 0o600);
    world.write("script", "1");
    world.mode("script", 0o750);
    let start = world.take().tree;
    world.write("secret", "2");
    world.write("script", "2");
    world.mode("script", 0o640);
    world.restore(&start);
    let mode = |path: &str| fs::metadata(world.path(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("secret"), mode("script")), (0o600, 0o750));
}

#[test]
fn a_restore_that_was_killed_is_run_again() {
    let mut world = World::new();
    for n in 0..10 {
        world.write(format!("f{n}"), "1");
    }
    let start = world.take().tree;
    for n in 0..10 {
        world.write(format!("f{n}"), "2");
    }
    // Left by a process that died between creating its file and renaming it.
    world.write(".loopkeeper-restore-0123", "1");
    world.write("f3", "1");
    let restored = world.restore(&start);
    assert_eq!(restored.written.len(), 9);
    assert_eq!(world.contents().len(), 10);
    let again = world.restore(&start);
    assert_eq!(again, RestoreReport { before: start.clone(), after: start, ..RestoreReport::default() });
}

#[test]
fn what_an_interrupted_restore_moved_aside_is_kept_unless_it_is_stored() {
    let mut world = World::new();
    world.write("a", "start of a long text");
    let start = world.take().tree;
    world.write("a", "2");
    // Moved aside and not put back: the user saved it at that moment.
    world.write(".loopkeeper-restore-mine", "written by the user");
    world.write(".loopkeeper-restore-part", "start of");
    let restored = world.restore(&start);
    assert_eq!(file(&world, "a"), "start of a long text");
    assert_eq!(file(&world, ".loopkeeper-restore-mine"), "written by the user");
    let refused: Vec<_> = restored.refused.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(refused, [".loopkeeper-restore-mine"]);
    assert_eq!(world.contents().len(), 2, "a part of a stored file is removed");
}

#[test]
fn a_damaged_store_changes_nothing() {
    let mut world = World::new();
    world.write("a", "1");
    world.write("b", "1b");
    let start = world.take().tree;
    world.write("a", "2");
    world.write("b", "2b");
    let id = git2::Oid::hash_object(git2::ObjectType::Blob, b"1b").unwrap();
    let object = world.store_dir().join("objects").join(crate::snapshots::objects::object_path(id));
    fs::remove_file(&object).unwrap();
    let before = world.contents();
    assert!(matches!(world.store.restore(&start, None), Err(SnapshotError::Damaged { .. })));
    assert_eq!(world.contents(), before);
    // Truncated, as after a disk failure.
    fs::write(&object, b"x\x01").unwrap();
    let error = world.store.restore(&start, None).unwrap_err();
    assert!(error.to_string().contains("damaged"), "{error}");
    assert_eq!(file(&world, "b"), "2b");
    assert!(matches!(world.store.restore(&"0".repeat(40), None), Err(SnapshotError::Unknown { .. })));
}
