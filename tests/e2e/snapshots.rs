//! Snapshots and rollback over repositories of every kind: the user's git stays unchanged, bytes and modes are restored
//! exactly.

mod denied;
mod disks;
mod hostile;
mod killed;
mod kinds;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use loopkeeper_system::git;
use loopkeeper_system::snapshots::SnapshotStore;

use kinds::{KINDS, Made};

/// Everything that can be known about a file without reading its access time.
#[derive(Debug, PartialEq, Eq)]
struct Fact {
    mode: u32,
    bytes: Vec<u8>,
    modified: (i64, i64),
    inode: u64,
}

/// A folder for one repository, its work tree at `work`, and our store next to it.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("r/work")).unwrap();
        fs::create_dir_all(dir.path().join("home")).unwrap();
        Self { dir }
    }

    /// The folder of the repository and everything it needs.
    fn all(&self) -> PathBuf {
        self.dir.path().join("r")
    }

    fn work(&self) -> PathBuf {
        self.all().join("work")
    }

    fn store(&self, root: &Path) -> SnapshotStore {
        SnapshotStore::open(&self.dir.path().join("state/snapshots.git"), root).unwrap()
    }

    fn git_command(&self, dir: &Path) -> Command {
        let mut command = Command::new("git");
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.dir.path().join("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .args(["-c", "user.name=n", "-c", "user.email=e", "-c", "init.defaultBranch=main"])
            .args(["-c", "protocol.file.allow=always", "-c", "commit.gpgSign=false"])
            .current_dir(dir);
        command
    }

    fn try_git(&self, dir: &Path, arguments: &[&str]) -> Output {
        self.git_command(dir).args(arguments).output().unwrap()
    }

    fn git(&self, dir: &Path, arguments: &[&str]) -> String {
        let output = self.try_git(dir, arguments);
        assert!(
            output.status.success(),
            "git {arguments:?}: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Output of `git status`, without letting it touch the index.
    fn status(&self, dir: &Path) -> String {
        let output = self.try_git(dir, &["--no-optional-locks", "status", "--porcelain=v2", "--branch"]);
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    }
}

#[test]
fn every_kind_of_repository_comes_back_and_its_git_is_not_touched() {
    for (name, make) in KINDS {
        let place = Place::new();
        match make(&place) {
            Made::At(root) => contract(name, &place, &root),
            Made::NotHere(why) => crate::not_run(&format!("snapshots of a repository: {name}"), &why),
        }
    }
}

fn contract(name: &str, place: &Place, root: &Path) {
    let status = place.status(root);
    let before = facts(&place.all());
    let mut store = place.store(root);
    let start = store.take_snapshot().unwrap();
    assert_eq!(start.not_covered, [], "{name}");
    assert_eq!(store.take_snapshot().unwrap(), start, "{name}: taken again");
    assert_same(&facts(&place.all()), &before, &format!("{name}: a snapshot changed something"));
    asks_git_as_git_answers(name, place, root);
    assert_same(&facts(&place.all()), &before, &format!("{name}: a question changed something"));

    let files = files(root);
    ruin(root);
    assert_ne!(store.take_snapshot().unwrap().tree, start.tree, "{name}: control, the tree is ruined");
    let restored = store.restore(&start.tree, None).unwrap();
    assert_eq!(restored.refused, [], "{name}");
    assert_same(&self::files(root), &files, &format!("{name}: bytes and modes"));
    assert_eq!(store.take_snapshot().unwrap().tree, start.tree, "{name}");
    assert_same(&gits(facts(&place.all())), &gits(before), &format!("{name}: the rollback touched git"));
    assert_eq!(place.status(root), status, "{name}");
}

/// HEAD and untracked files, compared with plain git.
fn asks_git_as_git_answers(name: &str, place: &Place, root: &Path) {
    let plain = |arguments: &[&str]| -> Option<String> {
        let output = place.try_git(root, arguments);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        output.status.success().then(|| text.trim_end_matches('\n').to_owned())
    };
    let head = git::head(root).unwrap_or_else(|it| panic!("{name}: {it}"));
    let commit = plain(&["rev-parse", "--verify", "-q", "HEAD^{commit}"]);
    assert_eq!(head.as_ref().map(|it| it.commit.clone()), commit, "{name}");
    if let Some(head) = head {
        assert_eq!(Some(head.tree), plain(&["rev-parse", "HEAD^{tree}"]), "{name}");
        assert_eq!(head.branch, plain(&["symbolic-ref", "-q", "--short", "HEAD"]), "{name}");
    }
    let untracked = git::untracked_paths(root).unwrap_or_else(|it| panic!("{name}: {it}"));
    let listed = plain(&["ls-files", "--others", "--exclude-standard", "-z"]);
    let listed: Option<Vec<&str>> =
        listed.as_ref().map(|it| it.split('\0').filter(|it| !it.is_empty()).collect());
    assert_eq!(untracked.as_ref().map(Vec::len), listed.as_ref().map(Vec::len), "{name}: untracked");
    // Names that need no escaping are reported unchanged.
    let is_plain = |it: &str| it.chars().all(|it| it.is_ascii_graphic() && it != '\\');
    for (ours, theirs) in untracked.iter().flatten().zip(listed.iter().flatten()) {
        assert!(ours == theirs || !is_plain(theirs), "{name}: {ours} is {theirs}");
    }
}

/// Everything below `dir`.
fn facts(dir: &Path) -> BTreeMap<Vec<u8>, Fact> {
    let mut found = BTreeMap::new();
    walk(dir, &mut |path, about| {
        let bytes = if about.is_symlink() {
            fs::read_link(path).unwrap().into_os_string().into_vec()
        } else if about.is_file() {
            fs::read(path).unwrap()
        } else {
            Vec::new()
        };
        let key = path.strip_prefix(dir).unwrap().as_os_str().as_bytes().to_vec();
        // git itself sets this one's time whenever it reads a split index.
        let shared = path.file_name().is_some_and(|it| it.as_bytes().starts_with(b"sharedindex."));
        let modified = if shared { (0, 0) } else { (about.mtime(), about.mtime_nsec()) };
        found.insert(key, Fact { mode: about.mode(), bytes, modified, inode: about.ino() });
    });
    found
}

fn assert_same<T: PartialEq + std::fmt::Debug>(
    a: &BTreeMap<Vec<u8>, T>,
    b: &BTreeMap<Vec<u8>, T>,
    context: &str,
) {
    let differs = a.keys().chain(b.keys()).find(|it| a.get(*it) != b.get(*it));
    if let Some(path) = differs {
        let shown = String::from_utf8_lossy(path);
        panic!("{context}: {shown:?} is {:?}, was {:?}", a.get(path), b.get(path));
    }
}

/// Files of git itself: everything in a `.git`, and the repositories next to the work tree.
fn gits(mut facts: BTreeMap<Vec<u8>, Fact>) -> BTreeMap<Vec<u8>, Fact> {
    facts
        .retain(|path, _| !path.starts_with(b"work") || path.split(|it| *it == b'/').any(|it| it == b".git"));
    facts
}

/// Bytes and executable bits of the files in a snapshot.
fn files(root: &Path) -> BTreeMap<Vec<u8>, (u32, Vec<u8>)> {
    let mut facts = facts(root);
    facts.retain(|path, it| {
        let in_git = path.split(|it| *it == b'/').any(|it| it == b".git");
        !in_git && it.mode & 0o170_000 != 0o040_000 && it.mode & 0o170_000 != 0o010_000
    });
    facts.into_iter().map(|(path, it)| (path, (it.mode & 0o170_100, it.bytes))).collect()
}

/// The worst that an agent may do: every file overwritten, deleted, replaced or changed in mode, others added.
fn ruin(root: &Path) {
    let mut paths = Vec::new();
    walk(root, &mut |path, about| {
        let in_git = path.components().any(|it| it.as_os_str() == ".git");
        if !in_git && (about.is_file() || about.is_symlink()) {
            paths.push((path.to_path_buf(), about.is_symlink()));
        }
    });
    for (index, (path, is_link)) in paths.iter().enumerate() {
        match index % 5 {
            _ if *is_link => fs::remove_file(path).unwrap(),
            0 => fs::write(path, "ruined\r\n").unwrap(),
            1 => fs::remove_file(path).unwrap(),
            2 => {
                let mode = fs::metadata(path).unwrap().permissions().mode();
                fs::set_permissions(path, fs::Permissions::from_mode(mode ^ 0o111)).unwrap();
            }
            3 => {
                fs::remove_file(path).unwrap();
                symlink("/etc/passwd", path).unwrap();
            }
            _ => {
                fs::remove_file(path).unwrap();
                fs::create_dir(path).unwrap();
                fs::write(path.join("inside"), "ruined").unwrap();
            }
        }
    }
    fs::create_dir_all(root.join("by agent/deep")).unwrap();
    fs::write(root.join("by agent/deep/file"), "new").unwrap();
}

fn walk(dir: &Path, visit: &mut dyn FnMut(&Path, &fs::Metadata)) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let about = path.symlink_metadata().unwrap();
        visit(&path, &about);
        if about.is_dir() {
            walk(&path, visit);
        }
    }
}
