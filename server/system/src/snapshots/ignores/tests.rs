//! Ignore rules, against a table and against git itself.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;

use super::pattern::{self, IgnoreMatch};
use super::{IgnoreRules, is_built_in};
use crate::snapshots::objects::ObjectStore;
use crate::snapshots::walk::TreeWalk;

#[test]
fn a_pattern_ignores_the_same_paths_as_in_git() {
    // Pattern, path, whether it is a folder, whether it is ignored.
    let table: [(&str, &str, bool, bool); 51] = [
        ("a", "a", false, true),
        ("a", "x/a", false, true),
        ("a", "ab", false, false),
        ("/a", "x/a", false, false),
        ("/a", "a", false, true),
        ("a/", "a", false, false),
        ("a/", "x/a", true, true),
        ("x/a", "x/a", false, true),
        ("x/a", "y/x/a", false, false),
        ("*.log", "x/y.log", false, true),
        ("*.log", "x/y.log.gz", false, false),
        ("a*b*c", "aXbbYc", false, true),
        ("a*b*c", "aXbbY", false, false),
        ("a?c", "abc", false, true),
        ("a?c", "ac", false, false),
        ("x/*", "x/a", false, true),
        ("x/*", "x/a/b", false, false),
        ("**/a", "a", false, true),
        ("**/a", "x/y/a", false, true),
        ("x/**", "x", true, false),
        ("x/**", "x/a/b", false, true),
        ("x/**/a", "x/a", false, true),
        ("x/**/a", "x/y/z/a", false, true),
        ("x/**/a", "y/x/a", false, false),
        ("**", "x/a", false, true),
        ("***/a", "a", false, true),
        ("x/****/a", "x/y/z/a", false, true),
        ("x/***", "x/a/b", false, true),
        ("***\\/b", "b", false, false),
        ("x/a**b", "x/a/b", false, false),
        ("x/a**b", "x/aaab", false, true),
        ("[ab]", "a", false, true),
        ("[!ab]", "c", false, true),
        ("[^ab]", "a", false, false),
        ("[a-c]x", "bx", false, true),
        ("[]a]", "]", false, true),
        ("[a-]", "-", false, true),
        ("[[:digit:]]x", "7x", false, true),
        ("[[:digit:]]x", "ax", false, false),
        ("[a", "[a", false, false),
        ("*.{js,ts}", "a.js", false, false),
        ("*.{js,ts}", "a.{js,ts}", false, true),
        ("\\!a", "!a", false, true),
        ("\\#a", "#a", false, true),
        ("#a", "#a", false, false),
        ("a  ", "a", false, true),
        ("a\\ ", "a ", false, true),
        ("a\r", "a", false, true),
        ("a\\/b", "a/b", false, true),
        ("**\\/b", "a/b", false, true),
        ("**\\/b", "b", false, false),
    ];
    for (line, path, is_folder, expect) in table {
        let text = format!("\u{feff}{line}\n");
        let verdict =
            pattern::match_path(&pattern::parse_patterns(text.as_bytes()), path.as_bytes(), is_folder);
        assert_eq!(verdict == IgnoreMatch::Ignored, expect, "{line} {path}");
    }
}

#[test]
fn the_last_matching_pattern_decides() {
    let patterns = pattern::parse_patterns(b"*\n!*.rs\nmain.rs\n!/src/main.rs\n");
    let table = [
        ("a.c", IgnoreMatch::Ignored),
        ("lib.rs", IgnoreMatch::Kept),
        ("main.rs", IgnoreMatch::Ignored),
        ("src/main.rs", IgnoreMatch::Kept),
    ];
    for (path, expect) in table {
        assert_eq!(pattern::match_path(&patterns, path.as_bytes(), false), expect, "{path}");
    }
    assert_eq!(pattern::match_path(&pattern::parse_patterns(b"\n \n"), b"a", false), IgnoreMatch::Silent);
}

#[test]
fn hostile_patterns_do_not_take_exponential_time() {
    let line = format!("{}b\n{}/b\n", "*a".repeat(2000), "**/a*".repeat(500));
    let path = ["a".repeat(4000), vec!["aaaa"; 500].join("/")].join("/");
    assert_eq!(
        pattern::match_path(&pattern::parse_patterns(line.as_bytes()), path.as_bytes(), false),
        IgnoreMatch::Silent
    );
}

#[test]
fn hostile_brackets_take_linear_time() {
    let unterminated = [b"/".as_slice(), &vec![b'['; 1 << 20]].concat();
    assert_eq!(pattern::parse_patterns(&unterminated), []);
    let unnamed = format!("[{}a]", "[:".repeat(1 << 19));
    let long = format!("*[{}]x", "ab".repeat(1 << 19));
    let patterns = pattern::parse_patterns(format!("{unnamed}\n{long}").as_bytes());
    let matched = |name: &str| pattern::match_path(&patterns, name.as_bytes(), false);
    assert_eq!(matched(":"), IgnoreMatch::Ignored);
    assert_eq!(matched(&"ab".repeat(2000)), IgnoreMatch::Silent);
}

#[test]
fn the_built_in_list_has_folders_and_swap_files() {
    let table: [(&[u8], bool, bool); 8] = [
        (b"target", true, true),
        (b"target", false, false),
        (b".main.rs.swp", false, true),
        (b".main.rs.swo", false, true),
        (b".#main.rs", false, true),
        (b"main.swp", false, false),
        (b".swp", false, false),
        (b".gitignore", false, false),
    ];
    for (name, is_folder, expect) in table {
        assert_eq!(is_built_in(name, is_folder), expect, "{}", String::from_utf8_lossy(name));
    }
}

#[test]
fn rules_of_every_place_count_in_gits_order() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().join("top");
    fs::create_dir_all(top.join("sub/deep")).unwrap();
    git(&top, &["init", "-q"]);
    fs::write(dir.path().join("excludes"), "by-user\nkept\n/sub/deep/anchored\n").unwrap();
    fs::write(top.join(".git/info/exclude"), "by-exclude\n!kept\n").unwrap();
    fs::write(top.join(".gitignore"), "by-top\n").unwrap();
    // Above the repository: does not count.
    fs::write(dir.path().join(".gitignore"), "plain\n").unwrap();
    fs::write(top.join("sub/.gitignore"), "by-sub\n!by-exclude-too\n").unwrap();
    for name in ["by-user", "by-exclude", "by-top", "by-sub", "kept", "plain", "anchored"] {
        fs::write(top.join("sub/deep").join(name), "x").unwrap();
    }
    let expect = ["kept", "plain"];
    assert_eq!(walked(&top.join("sub/deep"), Some(&dir.path().join("excludes"))), expect);

    // A linked work tree shares the rules of its repository.
    git(&top, &["-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "c"]);
    git(&top, &["worktree", "add", "-q", "../linked"]);
    fs::write(dir.path().join("linked/by-exclude"), "x").unwrap();
    fs::write(dir.path().join("linked/plain"), "x").unwrap();
    assert_eq!(walked(&dir.path().join("linked"), None), ["plain"]);
}

fn git(dir: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new("git")
        .args(["-c", "core.excludesFile=/dev/null"])
        .args(arguments)
        .current_dir(dir)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// The paths that the walk puts into the tree.
fn walked(root: &Path, excludes_file: Option<&Path>) -> Vec<String> {
    let store = tempfile::tempdir().unwrap();
    let mut objects = ObjectStore::open(store.path()).unwrap();
    let mut rules = IgnoreRules::new(root, excludes_file.map(Path::to_path_buf));
    let folder = TreeWalk::new(&mut rules, &mut objects, root, None).run(None, None).unwrap();
    let mut paths = Vec::new();
    collect(&folder, "", &mut paths);
    paths
}

fn collect(folder: &crate::snapshots::cache::CachedFolder, prefix: &str, paths: &mut Vec<String>) {
    for entry in &folder.entries {
        let path = format!("{prefix}{}", String::from_utf8_lossy(&entry.name));
        match &entry.node {
            crate::snapshots::cache::CachedNode::Folder(it) => {
                collect(it, &format!("{path}/"), paths);
            }
            _ => paths.push(path),
        }
    }
}

const NAMES: [&str; 8] = ["a", "b", "ab", "a b", "{a,b}", "[a]", "#a", "a\\"];

fn lines() -> impl Strategy<Value = Vec<String>> {
    let token = prop::sample::select(vec![
        "a", "b", "a", "b", "*", "**", "?", "/", "/", "[ab]", "[!a]", "[a", "]", "\\", "!", " ", "#",
        "{a,b}", "-",
    ]);
    let line = (prop::bool::weighted(0.3), prop::collection::vec(token, 1..6))
        .prop_map(|(negated, tokens)| format!("{}{}", if negated { "!" } else { "" }, tokens.concat()));
    // Here git's answer is arbitrary: it compares an address in the pattern with one in the path.
    let is_arbitrary = |line: &String| {
        let line = line.trim_start_matches('!');
        line.match_indices("**").any(|(at, _)| at > 0 && !line[..at].ends_with(['/', '*']))
    };
    let line = line.prop_filter("`**` inside of a name", move |it| !is_arbitrary(it));
    prop::collection::vec(line, 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn random_rules_ignore_the_same_paths_as_in_git(top in lines(), below in lines()) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        git(root, &["init", "-q"]);
        for a in NAMES {
            // A folder and a file of every name, two levels deep.
            fs::create_dir_all(root.join(a)).unwrap();
            for b in NAMES {
                fs::write(root.join(a).join(b), "x").unwrap();
            }
            fs::create_dir_all(root.join("d").join(a)).unwrap();
            fs::write(root.join("d").join(a).join("b"), "x").unwrap();
            fs::write(root.join(format!("{a}.")), "x").unwrap();
        }
        fs::write(root.join(".gitignore"), top.join("\n")).unwrap();
        fs::write(root.join("a/.gitignore"), below.join("\n")).unwrap();
        let listed = git(root, &["ls-files", "--others", "--exclude-standard", "-z"]);
        let theirs: BTreeSet<String> = listed
            .split(|it| *it == 0)
            .map(|it| String::from_utf8_lossy(it).into_owned())
            .filter(|it| !it.is_empty() && !it.ends_with(".gitignore"))
            .collect();
        let ours: BTreeSet<String> =
            walked(root, None).into_iter().filter(|it| !it.ends_with(".gitignore")).collect();
        prop_assert_eq!(ours, theirs, "{:?} {:?}", top, below);
    }
}
