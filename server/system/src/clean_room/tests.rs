//! Rooms as overlays and as copies.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::{
    BuildFolders, CleanRoom, CopyRequest, HomeContent, HomeRequest, remove_abandoned, remove_leftovers,
};
use crate::snapshots::TreeEntry;

fn file(bytes: &str) -> TreeEntry {
    TreeEntry::File { bytes: bytes.as_bytes().to_vec(), executable: true }
}

#[test]
fn the_upper_layer_holds_files_links_and_whiteouts_below_folders_of_the_tree() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    fs::create_dir_all(root.join("tests")).unwrap();
    fs::set_permissions(root.join("tests"), fs::Permissions::from_mode(0o750)).unwrap();
    let scratch = folder.path().join("room");
    let room = CleanRoom::create(&scratch, &root).unwrap();
    room.write(Path::new("tests/a/run"), &file("1")).unwrap();
    room.write(Path::new("tests/link"), &TreeEntry::Link(b"a/run".to_vec())).unwrap();
    room.write(Path::new("tests/new"), &TreeEntry::Nothing).unwrap();

    let upper = scratch.join("upper");
    let mode = |path: &str| fs::symlink_metadata(upper.join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("tests"), mode("tests/a"), mode("tests/a/run")), (0o750, 0o755, 0o755));
    assert_eq!(fs::read_link(upper.join("tests/link")).unwrap(), Path::new("a/run"));
    assert!(fs::symlink_metadata(upper.join("tests/new")).unwrap().file_type().is_char_device());

    for wrong in ["../x", "/x", "a/../x"] {
        assert!(room.write(Path::new(wrong), &file("")).is_err(), "{wrong}");
    }
    assert!(room.write(Path::new("big"), &TreeEntry::Unknown).is_err());
    drop(room);
    assert!(!scratch.exists());
}

/// A tree, and the request to copy it.
struct CleanRoomCopy {
    _folder: tempfile::TempDir,
    root: std::path::PathBuf,
    scratch: std::path::PathBuf,
    request: CopyRequest,
}

fn tree(recorded: &[&str], ignored: &[&str]) -> CleanRoomCopy {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("root");
    for path in recorded.iter().chain(ignored).map(|it| root.join(it)) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "text").unwrap();
    }
    let scratch = folder.path().canonicalize().unwrap().join("room-1");
    let recorded = recorded.iter().map(|it| it.as_bytes().to_vec()).collect();
    let request = CopyRequest { root: root.clone(), recorded, ..CopyRequest::default() };
    CleanRoomCopy { _folder: folder, root, scratch, request }
}

#[test]
fn a_copy_links_installed_packages_and_leaves_out_build_folders() {
    let ignored = [
        "node_modules/left/index.js",
        "node_modules/@mine/x/index.js",
        ".venv/pyvenv.cfg",
        "target/.rustc_info.json",
        "dist/app.js",
        ".env",
    ];
    let it = tree(&["src/a.rs", "packages/b/index.js"], &ignored);
    symlink("../packages/b", it.root.join("node_modules/b")).unwrap();
    symlink(it.root.join("src/a.rs"), it.root.join("absolute")).unwrap();
    symlink("../outside", it.root.join("outside")).unwrap();
    let room = CleanRoom::copy(&it.scratch, it.request.clone()).unwrap();
    let at = |path: &str| room.root().join(path);
    let is_link = |path: &str| fs::symlink_metadata(at(path)).unwrap().is_symlink();

    assert_eq!(room.root(), it.scratch.join("root"));
    for path in ["src/a.rs", "dist/app.js", ".env"] {
        assert!(!is_link(path), "{path}");
        assert_eq!(fs::read_to_string(at(path)).unwrap(), "text");
    }
    assert!(is_link(".venv") && is_link("node_modules/left") && is_link("node_modules/@mine/x"));
    // A package of the same repository is that of the copy.
    assert_eq!(at("node_modules/b").canonicalize().unwrap(), at("packages/b"));
    assert_eq!(fs::read_link(at("absolute")).unwrap(), at("src/a.rs"));
    assert_eq!(fs::read_link(at("outside")).unwrap(), it.root.with_file_name("outside"));
    let facts = room.copy_facts().unwrap();
    assert_eq!(facts.linked, [".venv", "node_modules"].map(Path::new));
    assert_eq!(facts.left_out, [Path::new("target")]);
    drop(room);
    assert!(!it.scratch.exists() && it.root.join(".venv/pyvenv.cfg").exists());

    let builds = CopyRequest { builds: BuildFolders::Linked, ..it.request };
    let room = CleanRoom::copy(&it.scratch, builds).unwrap();
    assert!(room.root().join("target").is_symlink());
}

#[test]
fn a_copy_is_changed_and_the_tree_is_not() {
    let mut it = tree(&["tests/a", "tests/b"], &["node_modules/x/a.js", "node_modules/x/b.js", "made.py"]);
    it.request.absent = ["made.py", "node_modules/x/b.js"].map(Into::into).into();
    it.request.changed = ["tests/a", "node_modules/x/a.js", "tests/old/c"].map(Into::into).into();
    let room = CleanRoom::copy(&it.scratch, it.request.clone()).unwrap();
    for path in ["tests/a", "node_modules/x/a.js", "tests/old/c"] {
        room.write(Path::new(path), &file("start")).unwrap();
    }
    room.write(Path::new("tests/b"), &TreeEntry::Nothing).unwrap();
    let read = |path: &str| fs::read_to_string(room.root().join(path)).ok();
    for (path, expect) in [
        ("tests/a", Some("start")),
        ("tests/old/c", Some("start")),
        ("node_modules/x/a.js", Some("start")),
        ("node_modules/x/b.js", None),
        ("tests/b", None),
        ("made.py", None),
    ] {
        assert_eq!(read(path).as_deref(), expect, "{path}");
    }
    assert!(!room.is_written(Path::new("made.py")));
    for path in ["tests/a", "tests/b", "node_modules/x/a.js", "node_modules/x/b.js", "made.py"] {
        assert_eq!(fs::read_to_string(it.root.join(path)).unwrap(), "text", "{path}");
    }
}

#[test]
fn a_package_linked_to_the_work_tree_prevents_a_copy() {
    let pointer = ".venv/lib/python3.11/site-packages/__editable__.mine.pth";
    let it = tree(&["a.py"], &[".venv/pyvenv.cfg", pointer]);
    let refused = |text: String| {
        fs::write(it.root.join(pointer), text).unwrap();
        CleanRoom::copy(&it.scratch, it.request.clone()).err().map(|it| it.to_string())
    };
    for other in
        [it.root.join(".venv/src"), it.root.with_file_name("root-other"), it.root.with_extension("py")]
    {
        assert_eq!(refused(other.display().to_string()), None);
    }
    for inside in [it.root.clone(), it.root.join("src"), it.root.join(".venv-2/src")] {
        let why = refused(format!("{}\n", inside.display())).unwrap();
        assert!(why.ends_with("__editable__.mine.pth leads back to the work tree"), "{why}");
    }
}

#[test]
fn values_of_variables_follow_the_copy() {
    let it = tree(&["a"], &[]);
    let room = CleanRoom::copy(&it.scratch, it.request.clone()).unwrap();
    let (root, copy) = (it.root.display(), room.root().display().to_string());
    let moved = |value: String| room.moved_value(value.as_ref()).map(|it| it.into_string().unwrap());
    assert_eq!(moved(format!("/bin:{root}/.venv/bin")), Some(format!("/bin:{copy}/.venv/bin")));
    assert_eq!(moved(format!("{root}/x")), Some(format!("{copy}/x")));
    assert_eq!(moved(format!("{root}-other:/bin/")), None);
}

#[test]
fn a_repository_of_the_copy_has_its_own_index_and_the_objects_of_the_user() {
    let it = tree(&["sub/a"], &[]);
    let repository = git2::Repository::init(&it.root).unwrap();
    let mut index = repository.index().unwrap();
    index.add_path(Path::new("sub/a")).unwrap();
    index.write().unwrap();
    let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
    let user = git2::Signature::now("u", "u@u").unwrap();
    let commit = repository.commit(Some("HEAD"), &user, &user, "start", &tree, &[]).unwrap();

    // The root may be a folder of the repository.
    for below in ["", "sub"] {
        let request = CopyRequest { root: it.root.join(below), ..it.request.clone() };
        let room = CleanRoom::copy(&it.scratch, request).unwrap();
        let copied = git2::Repository::discover(room.root()).unwrap();
        assert_eq!(copied.head().unwrap().target(), Some(commit), "{below}");
        assert!(copied.find_commit(commit).is_ok() && copied.path().starts_with(&it.scratch));
        copied.index().unwrap().clear().unwrap();
        copied.index().unwrap().write().unwrap();
        assert_eq!(room.root(), it.scratch.join("root").join(below));
    }
    assert_eq!(repository.index().unwrap().len(), 1);
}

#[test]
fn rooms_of_a_killed_keeper_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let closed = folder.path().join("room-1/closed");
    fs::create_dir_all(closed.join("inner")).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
    fs::create_dir(folder.path().join("verdict")).unwrap();
    remove_leftovers(folder.path());
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(names, ["verdict"]);
}

#[test]
fn only_unused_rooms_in_folders_of_many_programs_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let used = CleanRoom::create(&at("loopkeeper-room-used"), folder.path()).unwrap();
    for name in ["loopkeeper-room-left/upper", "loopkeeper-room-new", "room-other", "loopkeeper-20261120"] {
        fs::create_dir_all(at(name)).unwrap();
    }
    for name in ["loopkeeper-room-used", "loopkeeper-room-left", "room-other", "loopkeeper-20261120"] {
        let long_ago = SystemTime::now() - Duration::from_secs(3600);
        fs::File::open(at(name)).unwrap().set_modified(long_ago).unwrap();
    }
    remove_abandoned(folder.path());
    let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["loopkeeper-20261120", "loopkeeper-room-new", "loopkeeper-room-used", "room-other"]);
    drop(used);
    assert!(!at("loopkeeper-room-used").exists());
}

#[test]
fn a_new_home_has_caches_and_settings_and_nothing_else() {
    let it = tree(&["a"], &[]);
    let home = it.root.with_file_name("home");
    for path in [".cargo/registry/x", ".config/git/config", ".config/other/y", ".bashrc", "project/a"] {
        fs::create_dir_all(home.join(path).parent().unwrap()).unwrap();
        fs::write(home.join(path), "text").unwrap();
    }
    let room = CleanRoom::create(&it.scratch, &it.root).unwrap();
    let (hidden, project) = (Vec::new(), home.join("project"));
    let request = HomeRequest {
        home: &home,
        content: HomeContent::Caches,
        hidden: &hidden,
        root: (&project, &it.root),
    };
    let made = room.make_home(&request).unwrap();
    let has = |path: &str| made.path.join(path).exists();
    for (path, expect) in [
        (".cargo/registry/x", true),
        (".config/git/config", true),
        (".config/other", false),
        (".bashrc", false),
        ("project/a", true),
    ] {
        assert_eq!(has(path), expect, "{path}");
    }
    assert_eq!(made.path.join("project").canonicalize().unwrap(), it.root);
    assert_eq!(made.variables, [("CARGO_HOME", home.join(".cargo"))]);
    assert!(made.leaves_out);
    fs::write(made.path.join("written"), "").unwrap();
    assert!(!home.join("written").exists());
    drop(room);

    let room = CleanRoom::create(&it.scratch, &it.root).unwrap();
    let hidden = [".cargo/registry/x".into()];
    let request = HomeRequest { content: HomeContent::Everything, hidden: &hidden, ..request };
    let made = room.make_home(&request).unwrap();
    assert!(made.path.join(".config/other/y").exists() && !made.path.join(".cargo/registry/x").exists());
    // The variable would lead to what is hidden.
    assert!(made.variables.is_empty() && !made.leaves_out);
}
