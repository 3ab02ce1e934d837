//! Tests of the search outside the work tree, in a real home folder with a project in it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::{MAX_FOUND, OutsideEntries, OutsideSearch, find_outside};

struct Home(tempfile::TempDir);

impl Home {
    fn with(paths: &[&str]) -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        for path in paths {
            home.write(path, "x");
        }
        home
    }

    fn path(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A moment after everything made so far, and before everything made later.
    fn now(&self) -> SystemTime {
        self.write(".probe", "");
        let made = fs::metadata(self.path().join(".probe")).unwrap().created().unwrap();
        fs::remove_file(self.path().join(".probe")).unwrap();
        // Times of files come from a coarse clock.
        while SystemTime::now() < made + Duration::from_millis(40) {
            std::thread::yield_now();
        }
        made + Duration::from_millis(20)
    }

    /// The new entries of this home folder: the machine has others.
    fn find(&self, needed: &[&str], since: SystemTime) -> Vec<String> {
        let (home, root) = (self.path(), self.path().join("work/project"));
        let needed: Vec<PathBuf> = needed.iter().map(|it| home.join(it)).collect();
        let search = OutsideSearch { home: Some(&home), root: &root, needed: &needed, since };
        let OutsideEntries { paths, .. } = find_outside(&search);
        let below = paths.iter().filter_map(|it| it.strip_prefix(&home).ok());
        let mut names: Vec<String> = below.map(|it| it.to_str().unwrap().to_owned()).collect();
        names.sort();
        names
    }
}

#[test]
fn new_files_and_folders_are_found_at_the_upper_levels() {
    let home = Home::with(&["work/project/a", "old/a", ".cache/old/a", ".config/old/a", ".local/share/x/a"]);
    let since = home.now();
    let new = ["work/lib/a", "answers", "old/b", ".cache/new/a", ".config/old/b", ".local/share/x/b"];
    for path in new.iter().chain(&["work/project/b", "old/.git/x"]) {
        home.write(path, "y");
    }
    home.write("old/a", "changed");
    symlink("/etc/hosts", home.path().join("link")).unwrap();
    let expect = [".cache/new", ".config/old/b", ".local/share/x/b", "answers", "old/b", "work/lib"];
    assert_eq!(home.find(&[], since), expect);
    assert_eq!(home.find(&[], SystemTime::now() + Duration::from_secs(1)), [""; 0]);
}

#[test]
fn needed_paths_and_downloads_are_left_out() {
    let home = Home::with(&["work/project/a", "old/a"]);
    let since = home.now();
    for path in ["state/loops/x", ".cargo/registry/x", ".cache/pip/x", "go/pkg/mod/x", "go/bin/x", ".npmrc"] {
        home.write(path, "y");
    }
    assert_eq!(home.find(&["state/loops"], since), ["go/bin"]);
}

#[test]
fn packages_of_python_are_left_out_if_an_installation_lists_them() {
    let site = ".local/lib/python3.11/site-packages";
    let home = Home::with(&["work/project/a"]);
    let since = home.now();
    let files = ["mathy/__init__.py", "mathy-1.0.dist-info/METADATA", "alone.py", "good/calc.py"];
    for path in files {
        home.write(&format!("{site}/{path}"), "y");
    }
    home.write(".local/bin/mathy", "y");
    let record = "mathy/__init__.py,sha256=x,1\nmathy-1.0.dist-info/METADATA,,\n../../../bin/mathy,,\n";
    home.write(&format!("{site}/mathy-1.0.dist-info/RECORD"), record);
    home.write(".local/lib/good/calc.py", "y");
    let at = |it: &str| format!("{site}/{it}");
    let expect = [".local/lib/good".to_owned(), at("alone.py"), at("good")];
    assert_eq!(home.find(&[], since), expect);
}

#[test]
fn a_search_that_was_cut_short_is_partial() {
    let site = ".local/lib/python3.11/site-packages";
    let home = Home::with(&["work/project/a"]);
    fs::create_dir_all(home.path().join(site).join("later")).unwrap();
    let since = home.now();
    let names: Vec<String> = (0..=2 * MAX_FOUND).map(|it| format!("m{it}.py")).collect();
    for name in &names {
        home.write(&format!("{site}/{name}"), "");
    }
    home.write(&format!("{site}/many-1.0.dist-info/RECORD"), &(names.join(",,\n") + ",,\n"));
    let (path, root) = (home.path(), home.path().join("work/project"));
    let found = find_outside(&OutsideSearch { home: Some(&path), root: &root, needed: &[], since });
    assert!(found.is_partial, "{} found", found.paths.len());
}

#[test]
fn only_a_folder_that_was_a_cache_before_is_left_out() {
    let home = Home::with(&["work/project/a", "built/CACHEDIR.TAG", "built/a"]);
    let since = home.now();
    home.write("built/b", "y");
    home.write("new/CACHEDIR.TAG", "y");
    assert_eq!(home.find(&[], since), ["new"]);
}
