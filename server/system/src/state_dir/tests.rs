use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use loopkeeper_core::journal::Record;
use loopkeeper_task::TaskId;
use loopkeeper_text::message::HintedError as _;
use loopkeeper_text::moment::Moment;
use tempfile::TempDir;

use super::binary::HelperBinary;
use super::find::FindError;
use super::lock::{LockError, TreeHolder};
use super::workspace::LoopDir;
use super::{StateDir, StateError, resolve};
use crate::journal_file::JournalFile;
use loopkeeper_core::liveness::KeeperLiveness;

/// A state folder and a folder for workspaces.
fn state() -> (TempDir, StateDir) {
    let dir = tempfile::tempdir().unwrap();
    let state = StateDir::at(&dir.path().join("deep/state")).unwrap();
    (dir, state)
}

fn folder(dir: &TempDir, name: &str) -> PathBuf {
    let path = dir.path().join(name);
    fs::create_dir_all(&path).unwrap();
    path.canonicalize().unwrap()
}

fn now() -> Moment {
    Moment { wall: 1_795_183_200_000, awake: 1 }
}

fn new_loop(state: &StateDir, root: &Path) -> LoopDir {
    state.workspace(root).unwrap().new_loop(state, now()).unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_state_folder_is_chosen_from_the_environment() {
    let check = |variables: &[(&str, &str)], expect: Result<&str, &str>| {
        let found = resolve(|name| {
            let found = variables.iter().find(|it| it.0 == name);
            found.map(|it| OsString::from(it.1))
        });
        let found = found.map_err(|error| error.to_string());
        let expect = expect.map(PathBuf::from).map_err(str::to_owned);
        assert_eq!(found, expect, "{variables:?}");
    };
    let home = ("HOME", "/home/u");
    let own = Ok("/home/u/.local/state/loopkeeper");
    check(&[home], own);
    check(&[home, ("XDG_STATE_HOME", "/xdg")], Ok("/xdg/loopkeeper"));
    check(&[home, ("XDG_STATE_HOME", "")], own);
    check(&[home, ("XDG_STATE_HOME", "relative")], own);
    check(&[home, ("XDG_STATE_HOME", "/home/u/.var/app/com.editor/.local/state")], own);
    check(&[home, ("XDG_STATE_HOME", "/home/u/snap/code/1")], own);
    check(&[home, ("XDG_STATE_HOME", "/home/u/snapshots")], Ok("/home/u/snapshots/loopkeeper"));
    check(&[home, ("XDG_STATE_HOME", "/xdg"), ("LOOPKEEPER_STATE_DIR", "/here")], Ok("/here"));
    check(&[home, ("LOOPKEEPER_STATE_DIR", "")], own);
    check(
        &[home, ("LOOPKEEPER_STATE_DIR", "here")],
        Err("LOOPKEEPER_STATE_DIR is `here`, which is not an absolute path"),
    );
    check(&[("XDG_STATE_HOME", "/xdg")], Ok("/xdg/loopkeeper"));
    check(&[], Err("there is no home folder to keep state in"));
    check(&[("HOME", "nowhere")], Err("there is no home folder to keep state in"));
}

#[test]
fn everything_made_is_private() {
    let (dir, state) = state();
    let made = new_loop(&state, &folder(&dir, "project"));
    for path in
        [state.root(), &state.trust(), &state.bin_dir(), &state.socket_dir(), made.path(), &made.prompts()]
    {
        assert_eq!(mode(path), 0o700, "{}", path.display());
    }
    let lock = state.lock_loop(&made).unwrap();
    assert_eq!(mode(&made.lock()), 0o600);
    drop(lock);
    StateDir::at(state.root()).unwrap();
}

#[test]
fn a_folder_that_others_can_open_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for bits in [0o755, 0o710, 0o777] {
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(bits)).unwrap();
        let error = StateDir::at(dir.path()).unwrap_err();
        assert!(matches!(error, StateError::Exposed { mode, .. } if mode == bits), "{error}");
        assert!(error.hint().unwrap().starts_with("Run `chmod 700 /"));
        assert!(fs::read_dir(dir.path()).unwrap().next().is_none());
    }
}

#[test]
fn a_folder_of_another_user_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    // Root owns every folder that it did not give away; other users do not own `/`.
    let foreign = if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(dir.path(), Some(65534), None).unwrap();
        dir.path()
    } else {
        Path::new("/")
    };
    let error = StateDir::at(foreign).unwrap_err();
    assert!(matches!(error, StateError::Foreign { .. }), "{error}");
    assert!(error.hint().unwrap().contains("LOOPKEEPER_STATE_DIR"));
}

#[test]
fn a_file_in_the_place_of_the_folder_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state");
    fs::write(&path, "").unwrap();
    assert!(matches!(StateDir::at(&path), Err(StateError::Io { .. })));
    assert!(matches!(StateDir::at(&path.join("below")), Err(StateError::Io { .. })));
}

#[test]
fn a_workspace_is_identified_by_its_real_path() {
    let (dir, state) = state();
    let root = folder(&dir, "project");
    let link = dir.path().join("link");
    symlink(&root, &link).unwrap();
    let workspace = state.workspace(&link).unwrap();
    assert_eq!(workspace.root(), root);
    assert_eq!(workspace, state.workspace(&root).unwrap());
    assert_eq!(state.workspaces().unwrap(), std::slice::from_ref(&workspace));
    let name = workspace.dir.file_name().unwrap().to_str().unwrap().to_owned();
    assert!(name.len() == 16 && name.bytes().all(|it| it.is_ascii_hexdigit()), "{name}");

    fs::write(workspace.dir.join("root"), "").unwrap();
    assert_eq!(workspace, state.workspace(&root).unwrap());
    fs::write(workspace.dir.join("root"), "/another").unwrap();
    assert!(matches!(state.workspace(&root), Err(StateError::Collision { .. })));
    assert!(matches!(state.workspace(&root.join("missing")), Err(StateError::Io { .. })));
}

#[test]
fn a_loop_has_a_unique_id_and_is_found_by_its_folder() {
    let (dir, state) = state();
    let root = folder(&dir, "project");
    let made = new_loop(&state, &root);
    assert!(made.id().starts_with("20261120-") && made.id().len() == 15, "{}", made.id());
    assert_eq!(made.journal(), made.path().join("journal.jsonl"));
    let (found_state, workspace, found) = StateDir::of_loop(made.path()).unwrap();
    assert_eq!((found_state.root(), workspace.root(), &found), (state.root(), root.as_path(), &made));

    for no_loop in [made.prompts(), root.clone(), state.root().to_owned(), root.join("missing")] {
        assert!(
            matches!(StateDir::of_loop(&no_loop), Err(StateError::NoLoop { .. })),
            "{}",
            no_loop.display()
        );
    }
    let planted = folder(&dir, "workspaces/x/loops/20261120-aaaaaa");
    assert!(matches!(StateDir::of_loop(&planted), Err(StateError::NoLoop { .. })));
}

#[test]
fn a_loop_is_found_by_its_id_or_a_unique_prefix() {
    let (dir, state) = state();
    assert!(matches!(state.find("2026"), Err(FindError::NoLoops)));
    let mut ids = Vec::new();
    for (name, wall) in [("one", 3_000), ("two", 1_000), ("two", 2_000)] {
        let made = new_loop(&state, &folder(&dir, name));
        let mut journal = JournalFile::create(&made.journal()).unwrap();
        journal.append(Moment { wall, awake: 0 }, vec![Record::Resumed {}]).unwrap();
        ids.push(made.id().to_owned());
    }
    fs::create_dir_all(state.workspaces().unwrap()[0].dir.join("loops/not-a-loop")).unwrap();
    let all: Vec<_> = state.loops().unwrap().iter().map(|it| it.id().to_owned()).collect();
    assert_eq!(all, [ids[1].clone(), ids[2].clone(), ids[0].clone()]);
    // `latest` depends on the user's current folder.
    assert!(matches!(state.find("latest"), Err(FindError::Unknown { .. })));
    for id in &ids {
        assert_eq!(state.find(id).unwrap().id(), id);
    }
    match state.find("2026") {
        Err(FindError::Ambiguous { candidates, .. }) => {
            assert_eq!(candidates, [ids[0].clone(), ids[2].clone(), ids[1].clone()]);
        }
        other => panic!("{other:?}"),
    }
    for unknown in ["2025", "", "../../", "20261120-0"] {
        let found = state.find(unknown);
        assert!(matches!(&found, Err(FindError::Unknown { .. })), "{unknown}: {found:?}");
    }
}

#[test]
fn a_task_id_becomes_one_safe_file_name() {
    let (dir, state) = state();
    let workspace = state.workspace(&folder(&dir, "project")).unwrap();
    let name = |task: &str| {
        let path = workspace.checks(&TaskId(task.to_owned()));
        assert_eq!(path.parent(), Some(workspace.dir.join("checks").as_path()));
        path.file_name().unwrap().to_str().unwrap().to_owned()
    };
    assert_eq!(name("PROMPT.md"), "PROMPT.md.jsonl");
    assert_eq!(name(".ralph/PROMPT.md"), "%2Eralph%2FPROMPT.md.jsonl");
    assert_eq!(name("../../x"), "%2E.%2F..%2Fx.jsonl");
    assert_eq!(name("prompt:ab12"), "prompt%3Aab12.jsonl");
    let (one, other) = ("完".repeat(100) + "a", "完".repeat(100) + "b");
    assert!(name(&one).len() < 255);
    assert_ne!(name(&one), name(&other));
}

#[test]
fn sockets_work_below_long_paths() {
    let (dir, state) = state();
    assert_eq!(
        state.socket("20261120-aaaaaa").unwrap().path(),
        state.socket_dir().join("20261120-aaaaaa.sock")
    );
    let deep = StateDir::at(&dir.path().join("x".repeat(120))).unwrap();
    let address = deep.socket("20261120-aaaaaa").unwrap();
    let listener = std::os::unix::net::UnixListener::bind(address.path()).unwrap();
    assert!(deep.socket_dir().join("20261120-aaaaaa.sock").exists());
    let other = deep.socket("20261120-aaaaaa").unwrap();
    std::os::unix::net::UnixStream::connect(other.path()).unwrap();
    drop(listener);
}

#[test]
fn one_keeper_per_loop() {
    let (dir, state) = state();
    let made = new_loop(&state, &folder(&dir, "project"));
    assert_eq!(state.keeper_of(&made).unwrap(), KeeperLiveness::Gone);
    let lock = state.lock_loop(&made).unwrap();
    assert!(lock.is_in_place());
    assert_eq!(
        state.keeper_of(&made).unwrap(),
        KeeperLiveness::Alive { pid: Some(std::process::id()), stopped: false }
    );
    assert!(matches!(state.lock_loop(&made), Err(LockError::Held { loop_id }) if loop_id == made.id()));
    drop(lock);
    assert_eq!(state.keeper_of(&made).unwrap(), KeeperLiveness::Gone);

    let lock = state.lock_loop(&made).unwrap();
    fs::remove_file(made.lock()).unwrap();
    assert!(!lock.is_in_place());
    assert!(state.lock_loop(&made).unwrap().is_in_place());
}

#[test]
fn a_keeper_excludes_others_even_if_its_lock_file_was_deleted() {
    let (dir, state) = state();
    let made = new_loop(&state, &folder(&dir, "project"));
    let lock = state.lock_loop(&made).unwrap();
    let journal = JournalFile::create(&made.journal()).unwrap();
    fs::remove_file(made.lock()).unwrap();
    let unknown = KeeperLiveness::Alive { pid: None, stopped: false };
    assert_eq!(state.keeper_of(&made).unwrap(), unknown);
    assert!(matches!(state.lock_loop(&made), Err(LockError::Held { .. })));
    assert_eq!(state.keeper_of(&made).unwrap(), unknown, "the refused keeper left no record of itself");
    drop((lock, journal));
    assert_eq!(state.keeper_of(&made).unwrap(), KeeperLiveness::Gone);
}

#[test]
fn probing_never_prevents_a_keeper_from_starting() {
    const ROUNDS: usize = 300;
    let (dir, state) = state();
    let made = new_loop(&state, &folder(&dir, "project"));
    let (takes, probes) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let unfinished = || [&takes, &probes].iter().any(|it| it.load(Ordering::Relaxed) < ROUNDS);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while unfinished() {
                    state.keeper_of(&made).unwrap();
                    probes.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        while unfinished() {
            drop(state.lock_loop(&made).unwrap());
            takes.fetch_add(1, Ordering::Relaxed);
        }
    });
    // Control: without the gate, a process that only probes blocks the lock.
    let probing = fs::File::open(made.lock()).unwrap();
    probing.try_lock_shared().unwrap();
    assert!(matches!(state.lock_loop(&made), Err(LockError::Held { .. })));
}

fn holder(id: &str) -> TreeHolder {
    TreeHolder::Loop { id: id.to_owned() }
}

#[test]
fn a_check_round_names_its_task_as_the_holder() {
    let (dir, state) = state();
    let root = folder(&dir, "a");
    let checks = TreeHolder::Checks { task: "docs/PROMPT.md".to_owned() };
    let _lock = state.lock_tree(&root, &checks).unwrap();
    assert_eq!(state.tree_holder(&root).unwrap(), Some((checks, root.clone())));
    let error = state.lock_tree(&root, &holder("20261120-aaaaaa")).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("checks of docs/PROMPT.md are already running in {}", root.display())
    );
    assert!(error.hint().unwrap().contains("when the checks are done"), "{}", error.hint().unwrap());
}

#[test]
fn a_tree_has_one_holder_at_a_time() {
    let (dir, state) = state();
    let check = |held: &str, wanted: &str, free: bool| {
        let (held, wanted) = (folder(&dir, held), folder(&dir, wanted));
        let lock = state.lock_tree(&held, &holder("20261120-aaaaaa")).unwrap();
        let found = state.tree_holder(&wanted).unwrap();
        match state.lock_tree(&wanted, &holder("20261120-bbbbbb")) {
            Ok(_) => assert!(free && found.is_none(), "{}", wanted.display()),
            Err(LockError::TreeBusy { holder: named, path }) => {
                assert!(!free, "{}", wanted.display());
                assert_eq!((named.loop_id(), &path), (Some("20261120-aaaaaa"), &held));
                assert_eq!(found, Some((named, path)));
            }
            Err(error) => panic!("{error}"),
        }
        drop(lock);
        drop(state.lock_tree(&wanted, &holder("20261120-bbbbbb")).unwrap());
    };
    check("a", "a", false);
    check("a", "a/b/c", false);
    check("a/b/c", "a", false);
    check("a/b", "a/c", true);
    check("a", "ab", true);
    check("ab", "a", true);
    check("with\nnewline", "with\nnewline/x", false);
    symlink(folder(&dir, "a/b"), dir.path().join("link")).unwrap();
    check("a", "link", false);
    check("link", "a/b/c", false);
}

#[test]
fn only_locks_without_a_holder_are_removed() {
    let (dir, state) = state();
    let held = state.lock_tree(&folder(&dir, "held"), &holder("20261120-aaaaaa")).unwrap();
    drop(state.lock_tree(&folder(&dir, "free"), &holder("20261120-bbbbbb")).unwrap());
    state.sweep_trees().unwrap();
    assert_eq!(fs::read_dir(state.root().join("trees")).unwrap().count(), 2, "the held one and the gate");
    assert!(held.is_in_place());
    assert!(state.tree_holder(&folder(&dir, "held")).unwrap().is_some());
    drop(state.lock_tree(&folder(&dir, "free"), &holder("20261120-bbbbbb")).unwrap());
}

#[test]
fn of_concurrent_locks_of_nested_trees_one_wins() {
    let (dir, state) = state();
    let roots: Vec<_> = ["a", "a/b", "a/b/c", "a/b/c/d"].iter().map(|it| folder(&dir, it)).collect();
    for round in 0..10 {
        let start = Barrier::new(roots.len() * 2);
        let done = Barrier::new(roots.len() * 2);
        let winners: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = roots
                .iter()
                .chain(&roots)
                .map(|root| {
                    let (state, start, done) = (&state, &start, &done);
                    scope.spawn(move || {
                        start.wait();
                        let lock = state.lock_tree(root, &holder("20261120-aaaaaa"));
                        done.wait();
                        usize::from(lock.is_ok())
                    })
                })
                .collect();
            threads.into_iter().map(|it| it.join().unwrap()).sum()
        });
        assert_eq!(winners, 1, "round {round}");
    }
}

#[test]
fn an_unreadable_holder_blocks_every_tree() {
    let (dir, state) = state();
    let lock = state.lock_tree(&folder(&dir, "a"), &holder("20261120-aaaaaa")).unwrap();
    let file = fs::read_dir(state.tree_locks_dir()).unwrap().map(|it| it.unwrap().path());
    let file = file.into_iter().find(|it| it.extension().is_some_and(|it| it == "lock")).unwrap();
    fs::write(file, "").unwrap();
    let error = state.lock_tree(&folder(&dir, "elsewhere"), &holder("20261120-bbbbbb")).unwrap_err();
    assert!(matches!(error, LockError::TreeBusy { .. }), "{error}");
    drop(lock);
    state.lock_tree(&folder(&dir, "elsewhere"), &holder("20261120-bbbbbb")).unwrap();
}

#[test]
fn a_lock_is_not_inherited() {
    let (dir, state) = state();
    let made = new_loop(&state, &folder(&dir, "project"));
    let lock = state.lock_loop(&made).unwrap();
    let mut command = std::process::Command::new("sh");
    let mut child =
        command.args(["-c", "echo up; read _"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // Only once it prints is it certainly past exec, where inherited files are closed.
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    drop(lock);
    assert_eq!(state.keeper_of(&made).unwrap(), KeeperLiveness::Gone);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_program_is_copied_once_for_each_version() {
    let (dir, state) = state();
    let source = dir.path().join("original");
    let install = |bytes: &str| {
        let _ = fs::remove_file(&source);
        fs::write(&source, bytes).unwrap();
        fs::set_permissions(&source, fs::Permissions::from_mode(0o755)).unwrap();
        let target = state.install(&source, "0.1.0").unwrap();
        assert_eq!(target, state.bin_dir().join("0.1.0"));
        assert_eq!(fs::read_to_string(&target).unwrap(), bytes);
        assert_ne!(mode(&target) & 0o100, 0);
        fs::metadata(target).unwrap().ino()
    };
    let first = install("one");
    assert_eq!(install("one"), first, "the same bytes stay where they are");
    assert_ne!(install("two"), first);
    fs::remove_file(&source).unwrap();
    assert_eq!(fs::read_to_string(state.bin_dir().join("0.1.0")).unwrap(), "two");
    fs::write(state.bin_dir().join("0.1.0"), "t").unwrap();
    install("two");
    fs::write(state.bin_dir().join("0.0.9"), "old").unwrap();
    fs::write(state.bin_dir().join("0.1.0-warden"), "in use").unwrap();
    fs::write(state.bin_dir().join("0.1.0-keeper"), "in use").unwrap();
    let old = state.old_binaries("0.1.0").unwrap();
    assert_eq!(old, [(state.bin_dir().join("0.0.9"), 3)]);
    state.remove_binary(&old[0].0).unwrap();
    let leftovers: Vec<_> =
        fs::read_dir(state.bin_dir()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(leftovers.len(), 4, "{leftovers:?}");
}

#[test]
fn the_running_program_is_installed_even_from_another_disk() {
    let (dir, state) = state();
    let target = state.install_binary("9.9.9").unwrap();
    assert_eq!(fs::read(&target).unwrap(), fs::read(std::env::current_exe().unwrap()).unwrap());
    let copy = dir.path().join("copy");
    super::binary::copy(&target, &copy).unwrap();
    assert_eq!((fs::read(&copy).unwrap(), mode(&copy)), (fs::read(&target).unwrap(), 0o700));
}

#[test]
fn helpers_are_installed_beside_the_program() {
    let check = |part: HelperBinary, program: &str, expect: &str| {
        assert_eq!(part.path_beside(Path::new(program)), Path::new(expect), "{program}");
    };
    check(HelperBinary::Warden, "/bin/loopkeeper", "/bin/loopkeeper-warden");
    check(HelperBinary::Keeper, "/bin/loopkeeper", "/bin/loopkeeper-keeper");
    check(HelperBinary::Warden, "/state/bin/0.1.0-keeper", "/state/bin/0.1.0-warden");
    check(HelperBinary::Keeper, "/state/bin/0.1.0-keeper", "/state/bin/0.1.0-keeper");
    check(HelperBinary::Request, "/state/bin/0.1.0-keeper", "/state/bin/0.1.0-request");
    check(HelperBinary::Warden, "/keeper", "/keeper-warden");
}

#[test]
fn a_missing_helper_is_taken_from_an_earlier_installation() {
    let (_dir, state) = state();
    assert_eq!(state.install_helper(HelperBinary::Keeper, "0.1.0").unwrap(), None);
    let earlier = state.bin_dir().join("0.1.0-keeper");
    fs::write(&earlier, "").unwrap();
    assert_eq!(state.install_helper(HelperBinary::Keeper, "0.1.0").unwrap(), Some(earlier));
}
