//! Tests of changes that are in no snapshot, in real folders.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{CWD, Mode, mkfifoat};

use super::{UnrecordedChanges, changed_home_files, find_unrecorded, replaced_programs};

struct Folder(tempfile::TempDir);

impl Folder {
    fn with(paths: &[&str]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for path in paths {
            folder.write(path, "x");
        }
        folder
    }

    fn root(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A moment after everything written so far.
    fn now(&self) -> SystemTime {
        let probe = self.root().join(".probe");
        let before = SystemTime::now();
        // Change times come from a coarse clock.
        loop {
            fs::write(&probe, "").unwrap();
            let written = fs::metadata(&probe).unwrap().modified().unwrap();
            if written > before + Duration::from_millis(1) {
                fs::remove_file(&probe).unwrap();
                return written;
            }
        }
    }

    fn find(&self, recorded: &[&str], since: SystemTime) -> UnrecordedChanges {
        let recorded: HashSet<Vec<u8>> = recorded.iter().map(|it| it.as_bytes().to_vec()).collect();
        find_unrecorded(&self.root(), &recorded, since, Path::new("/nowhere"))
    }
}

fn names(paths: &[PathBuf]) -> Vec<&str> {
    paths.iter().map(|it| it.to_str().unwrap()).collect()
}

#[test]
fn changed_files_are_sorted_by_their_use() {
    let folder = Folder::with(&["src/a.c", "src/old.o", "build/old.o", ".git/config", "other/.git/config"]);
    let since = folder.now();
    for path in ["src/a.c", "build/new.o", "notes.txt", "src/__pycache__/a.pyc", ".git/new", "other/x.py"] {
        folder.write(path, "y");
    }
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    symlink("../src/a.c", folder.root().join("build/link")).unwrap();
    fs::File::options().append(true).open(folder.root().join("src/a.c")).unwrap().set_modified(old).unwrap();

    let found = folder.find(&["src/a.c"], since);
    assert_eq!(names(&found.touched), ["src/a.c"], "an old modification time hides nothing");
    assert_eq!(names(&found.products), ["build/link", "build/new.o", "other"]);
    assert_eq!(names(&found.others), ["notes.txt"]);
    assert_eq!(names(&found.caches), ["src/__pycache__"]);
    assert!(found.patched.is_empty() && !found.is_partial);
}

#[test]
fn files_of_packages_that_were_not_installed_again_are_patched() {
    let folder = Folder::with(&[
        "node_modules/a/package.json",
        "node_modules/a/index.js",
        "node_modules/@s/b/package.json",
        "node_modules/@s/b/lib/b.js",
        "node_modules/c/package.json",
        "node_modules/c/c.js",
    ]);
    let since = folder.now();
    for path in [
        "node_modules/@s/b/lib/b.js",
        "node_modules/c/package.json",
        "node_modules/c/c.js",
        "node_modules/d/package.json",
        "node_modules/d/d.js",
        "node_modules/.cache/x.js",
        "node_modules/.bin/node",
        "node_modules/.bin/d",
    ] {
        folder.write(path, "y");
    }
    assert_eq!(
        names(&folder.find(&[], since).patched),
        ["node_modules/.bin/node", "node_modules/@s/b/lib/b.js"]
    );
}

#[test]
fn programs_of_packages_lead_to_their_files() {
    let folder = Folder::with(&[]);
    folder.write("node_modules/a/package.json", r#"{"name": "a", "bin": {"a": "./bin/a.js", "b": "b.js"}}"#);
    folder.write("node_modules/@s/c/package.json", r#"{"name": "@s/c", "bin": "c.js"}"#);
    let since = folder.now();
    fs::create_dir_all(folder.root().join("node_modules/.bin")).unwrap();
    symlink("../a/bin/a.js", folder.root().join("node_modules/.bin/a")).unwrap();
    symlink("../../quick.sh", folder.root().join("node_modules/.bin/b")).unwrap();
    folder.write("node_modules/.bin/c", "exit 0");
    folder.write("node_modules/.bin/d", "exit 0");
    assert_eq!(names(&folder.find(&[], since).patched), ["node_modules/.bin/b", "node_modules/.bin/c"]);
}

#[test]
fn files_of_a_virtual_environment_are_compared_with_the_records_of_installations() {
    let site = ".venv/lib/python3.11/site-packages";
    let at = |path: &str| format!("{site}/{path}");
    let folder = Folder::with(&[".venv/pyvenv.cfg", ".venv/bin/python", &at("old/a.py"), &at("old/b.py")]);
    let since = folder.now();
    folder.write(&at("old/b.py"), "patched");
    folder.write(&at("new/a.py"), "");
    folder.write(&at("new-1.0.dist-info/RECORD"), "new/a.py,sha256=x,1\n../../../bin/new,,\n");
    folder.write(&at("start.pth"), "import os");
    folder.write(".venv/bin/new", "");
    folder.write(".venv/bin/pytest", "");
    let found = folder.find(&[], since);
    assert_eq!(names(&found.patched), [".venv/bin/pytest", &at("old/b.py"), &at("start.pth")]);

    folder.write(".venv/pyvenv.cfg", "made again");
    assert!(folder.find(&[], since).patched.is_empty());
}

#[test]
fn cargo_builds_the_packages_of_the_work_again() {
    let folder = Folder::with(&[
        "target/.rustc_info.json",
        "target/debug/.fingerprint/mine-0123/x",
        "target/debug/.fingerprint/serde-0123/x",
        "target/x86/release/.fingerprint/mine-0456/x",
    ]);
    folder.write("Cargo.toml", "[package]\nname = \"mine\"\n");
    let found = folder.find(&["Cargo.toml"], folder.now());
    let expect = ["target/debug/.fingerprint/mine-0123", "target/x86/release/.fingerprint/mine-0456"];
    assert_eq!(names(&found.caches), expect);
}

#[test]
fn entries_of_node_modules_that_belong_to_no_package_are_found() {
    let folder = Folder::with(&[
        "libs/part/package.json",
        "node_modules/.cache/old/x.js",
        "node_modules/.prisma/client.js",
        "node_modules/kept/package.json",
        "node_modules/kept/.data/x",
        "scratch/x.js",
    ]);
    let since = folder.now();
    for path in [
        "node_modules/.package-lock.json",
        "node_modules/.cache/old/x.js",
        "node_modules/.pnpm/helper.js",
        "node_modules/helper.js",
        "node_modules/kept/.data/y",
        "node_modules/kept/table.txt",
    ] {
        folder.write(path, "y");
    }
    for (target, link) in [("../libs/part", "part"), ("../scratch", "other"), ("kept", "alias")] {
        symlink(target, folder.root().join("node_modules").join(link)).unwrap();
    }
    let found = folder.find(&["libs/part/package.json"], since);
    let expect = ["node_modules/.pnpm/helper.js", "node_modules/helper.js", "node_modules/other"];
    assert_eq!(names(&found.unlisted), expect);
    let expect = ["node_modules/.cache", "node_modules/kept/.data", "node_modules/kept/table.txt"];
    assert_eq!(names(&found.products), expect);
    assert!(found.patched.is_empty(), "{found:?}");
}

#[test]
fn entries_of_a_build_folder_that_cargo_does_not_make_are_products() {
    let folder = Folder::with(&[
        "target/.rustc_info.json",
        "target/debug/.fingerprint/mine-0123456789abcdef/x",
        "target/old/x",
        "target/tests/trybuild/debug/.fingerprint/x",
    ]);
    let since = folder.now();
    for path in [
        "target/CACHEDIR.TAG",
        "target/data.txt",
        "target/debug/app",
        "target/debug/deps/app-0123456789abcdef.d",
        "target/debug/deps/helper.py",
        "target/debug/extra/helper.py",
        "target/debug/incremental/app-1x2y3z4a5b6c7/x",
        "target/extra/deep/helper.py",
        "target/tests/trybuild/x",
    ] {
        folder.write(path, "y");
    }
    let expect = [
        "target/data.txt",
        "target/debug/app",
        "target/debug/deps/helper.py",
        "target/debug/extra",
        "target/extra",
        "target/tests/trybuild/x",
    ];
    assert_eq!(names(&folder.find(&[], since).products), expect);
}

#[test]
fn changed_folders_of_tools_and_repositories_are_products() {
    let folder = Folder::with(&[
        ".cache/old/x.py",
        ".idea/workspace.xml",
        ".mypy_cache/x.json",
        ".tox/py/pyvenv.cfg",
        ".tox/py/lib/python3.11/site-packages/a.py",
        "vendor/lib/.git/HEAD",
        "vendor/lib/a.py",
        "vendor/same/.git/HEAD",
    ]);
    let since = folder.now();
    for path in [
        ".cache/old/y.py",
        ".mypy_cache/x.json",
        ".tox/helper.py",
        ".tox/py/lib/python3.11/site-packages/a.py",
        "vendor/lib/b.py",
        "vendor/same/.git/index",
    ] {
        folder.write(path, "y");
    }
    let found = folder.find(&[], since);
    assert_eq!(names(&found.products), [".cache", ".mypy_cache", ".tox/helper.py", "vendor/lib"]);
    assert_eq!(names(&found.patched), [".tox/py/lib/python3.11/site-packages/a.py"]);
}

#[test]
fn data_that_no_installation_lists_is_a_product() {
    let site = ".venv/lib/python3.11/site-packages";
    let at = |path: &str| format!("{site}/{path}");
    let folder = Folder::with(&[".venv/pyvenv.cfg", &at("old/a.py"), &at("old/table.json")]);
    let since = folder.now();
    for path in [at("old/answers.json"), at("old/table.json"), at("new/data.json")] {
        folder.write(&path, "y");
    }
    folder.write(&at("new-1.0.dist-info/RECORD"), "new/data.json,,\nnew-1.0.dist-info/RECORD,,\n");
    assert_eq!(names(&folder.find(&[], since).products), [at("old/answers.json")]);
}

#[test]
fn entries_in_the_folders_of_a_repository_that_git_does_not_make_are_unlisted() {
    let id = "0123456789abcdef0123456789abcdef012345";
    let folder = Folder::with(&[".git/HEAD", ".git/objects/old.py", "a.py"]);
    let since = folder.now();
    for path in [
        ".git/hooks/helper.py",
        ".git/info/exclude",
        ".git/info/helper.py",
        &format!(".git/objects/ab/{id}"),
        ".git/objects/ab/helper.py",
        ".git/objects/helper.py",
        ".git/objects/info/commit-graph",
        ".git/objects/info/helper.py",
        ".git/objects/pack/helper.py",
        ".git/objects/pack/pack-0123.idx",
        ".git/objects/pack/tmp_pack_x",
    ] {
        folder.write(path, "y");
    }
    let expect = [
        ".git/hooks/helper.py",
        ".git/info/helper.py",
        ".git/objects/helper.py",
        ".git/objects/info/helper.py",
        ".git/objects/pack/helper.py",
        ".git/objects/ab/helper.py",
    ];
    assert_eq!(names(&folder.find(&["a.py"], since).unlisted), expect);
}

#[test]
fn pipes_in_place_of_manifests_and_records_do_not_block() {
    let folder = Folder::with(&[".venv/pyvenv.cfg", "target/.rustc_info.json"]);
    folder.write("package.json", r#"{"dependencies": {"plus": "1"}}"#);
    let since = folder.now();
    let record = ".venv/lib/python3.11/site-packages/new-1.0.dist-info/RECORD";
    for path in ["node_modules/plus/package.json", record, "Cargo.toml"] {
        let path = folder.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        mkfifoat(CWD, &path, Mode::RUSR).unwrap();
    }
    assert_eq!(folder.find(&["package.json", "Cargo.toml"], since).unlisted, [""; 0].map(PathBuf::from));
}

#[test]
fn new_packages_that_no_manifest_names_are_unlisted() {
    let package = |name: &str| format!("node_modules/{name}/package.json");
    let folder = Folder::with(&[&package("old")]);
    folder.write("package.json", r#"{"dependencies": {"plus": "^1.0.0"}}"#);
    let since = folder.now();
    for name in ["plus", "@s/part", "good"] {
        folder.write(&package(name), "{}");
    }
    folder.write("node_modules/plain/index.js", "");
    folder.write(&package("plus"), r#"{"name": "plus", "dependencies": {"@s/part": "1"}}"#);
    folder.write(&package("good"), r#"{"name": "good"}"#);
    let find = |recorded: &[&str]| folder.find(recorded, since).unlisted;
    assert_eq!(names(&find(&["package.json"])), ["node_modules/good", "node_modules/plain"]);

    // A lock file names all of them.
    folder.write("package-lock.json", r#"{"packages": {"node_modules/plus": {}}}"#);
    let expect = ["node_modules/@s/part", "node_modules/good", "node_modules/plain"];
    assert_eq!(names(&find(&["package.json", "package-lock.json"])), expect);
    folder.write("yarn.lock", "\"@s/part@^1\":\n  version \"1.0.0\"\ngood@^2:\n");
    let all = ["package.json", "package-lock.json", "yarn.lock"];
    assert_eq!(names(&find(&all)), ["node_modules/plain"]);
    assert_eq!(find(&["bun.lockb"]), [""; 0].map(PathBuf::from), "it cannot be read");
}

#[test]
fn unlisted_files_of_repositories_and_environments_are_found() {
    let folder = Folder::with(&[".git/HEAD", "a.py"]);
    let since = folder.now();
    let site = ".venv/lib/python3.11/site-packages";
    for path in [".git/index", ".git/x/good.py", ".venv/pyvenv.cfg", ".tox/a.py", "vendor/good/.git/HEAD"] {
        folder.write(path, "y");
    }
    folder.write(&format!("{site}/mathy/a.py"), "");
    folder.write(&format!("{site}/good.py"), "");
    folder.write(&format!("{site}/mathy-1.0.dist-info/RECORD"), "mathy/a.py,,\n");
    let found = folder.find(&["a.py"], since);
    assert_eq!(names(&found.unlisted), [&format!("{site}/good.py"), ".git/x"]);
    assert_eq!(names(&found.products), [".tox", "vendor/good"]);
}

#[test]
fn replaced_programs_and_changed_personal_configuration_are_found() {
    let folder = Folder::with(&["usr/make", "usr/git", ".npmrc"]);
    for path in ["usr/make", "usr/git"] {
        fs::set_permissions(folder.root().join(path), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let since = folder.now();
    for path in ["bin/make", "bin/tool"] {
        folder.write(path, "y");
        fs::set_permissions(folder.root().join(path), fs::Permissions::from_mode(0o755)).unwrap();
    }
    symlink("../usr/git", folder.root().join("bin/git")).unwrap();
    folder.write(".cargo/config.toml", "y");
    folder.write(".local/lib/python3.11/site-packages/x.pth", "y");
    folder.write(".local/lib/python3.11/site-packages/x.py", "y");
    folder.write(".cache/x", "y");

    let path = std::env::join_paths(["bin", "usr"].map(|it| folder.root().join(it))).unwrap();
    let all = ["make", "git", "tool", "cat"].map(str::to_owned);
    let found = replaced_programs(&all, &path, Path::new("/nowhere"), since);
    let shown: Vec<_> = found.iter().map(|it| (it.name.as_str(), it.original.is_some())).collect();
    assert_eq!(shown, [("make", true), ("git", true), ("tool", false)]);
    assert!(
        replaced_programs(&all, &path, &folder.root(), since).is_empty(),
        "those of the work tree are its own"
    );

    let home = changed_home_files(&folder.root(), since);
    assert_eq!(names(&home), [".cargo/config.toml", ".local/lib/python3.11/site-packages/x.pth"]);
}
