//! Tests of file checks with ignored, linked, unreadable and oversized files.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use loopkeeper_core::check::Status;
use loopkeeper_task::criterion::{Check, PatternKind, TextPattern};
use loopkeeper_text::language::Language;
use tempfile::TempDir;

use super::evaluate;

fn write(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A work tree with all kinds of entries, and a secret folder outside of it.
fn tree() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = &folder.path().join("root");
    write(folder.path(), "outside/secret.txt", "TODO outside");
    write(root, "src/main.rs", "fn main() {}\n// TODO: one\n// TODO: two TODO\n");
    write(root, "src/deep/lib.rs", "pub fn f() {}\r\nend\r\n");
    write(root, "README.md", "# Title\n");
    write(root, ".gitignore", "/target\nhidden.rs\n");
    write(root, "target/out.o", "object");
    write(root, "src/hidden.rs", "// TODO: hidden\n");
    write(root, ".git/config", "[core]");
    write(root, "sub/.git/config", "[core]");
    write(root, "odd [1].txt", "odd");
    fs::create_dir(root.join("empty")).unwrap();
    symlink("../outside", root.join("way-out")).unwrap();
    symlink("../outside/secret.txt", root.join("secret.link")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    symlink("src/main.rs", root.join("main.link")).unwrap();
    symlink("..", root.join("src/loop")).unwrap();
    folder
}

fn globs(written: &str) -> Vec<String> {
    written.split('|').map(str::to_owned).collect()
}

fn pattern(source: &str, kind: PatternKind) -> TextPattern {
    TextPattern { source: source.to_owned(), kind }
}

/// Status and fact, or the reason of a check that could not run.
fn run_check(root: &Path, check: &Check) -> (Status, String) {
    match evaluate(root, check, &AtomicBool::new(false)) {
        Ok(finding) => (finding.status, finding.fact),
        Err(reason) => (Status::CouldNotRun, reason),
    }
}

#[test]
fn exists_needs_a_match_for_every_glob() {
    let folder = tree();
    let check = |written: &str, status: Status, fact: &str| {
        let check = Check::Exists { globs: globs(written) };
        assert_eq!(run_check(&folder.path().join("root"), &check), (status, fact.to_owned()), "{written}");
    };
    let absent = |written: &str| check(written, Status::Fail, &format!("{written} does not exist"));
    for there in [
        "README.md",
        "./README.md",
        "src/*.rs",
        "**/lib.rs",
        "src/**/lib.rs",
        "target/out.o",
        "target/*.o",
        "src",
        "src/",
        "empty",
        "empty/",
        ".gitignore",
        "*",
        "main.link",
        "src/{main,lib}.rs",
        "odd [1].txt",
        "README.md|src/*.rs",
        "src/deep",
    ] {
        check(there, Status::Pass, "exists");
    }
    for not in [
        "docs",
        "*.rs",
        "empty/*",
        "em*",
        "README.md/",
        "dangling",
        "secret.link",
        "way-out",
        "sub/*",
        "src/*.py",
    ] {
        absent(not);
    }
    check("README.md|docs|more", Status::Fail, "docs and 1 more do not exist");
    check("way-out/secret.txt", Status::Fail, "way-out/secret.txt does not exist");
    check("way-out/*", Status::CouldNotRun, "way-out leads out of the root");
    check("../outside", Status::CouldNotRun, "../outside is outside the root");
    check("/etc/passwd", Status::CouldNotRun, "/etc/passwd is outside the root");
    check("src/../../outside", Status::CouldNotRun, "src/../../outside is outside the root");
    check(".git/config", Status::CouldNotRun, ".git/config: .git is not looked at");
    check("src/[a", Status::CouldNotRun, "src/[a: unclosed character class; missing ']'");
}

#[test]
fn missing_fails_for_any_match() {
    let folder = tree();
    let check = |written: &str, status: Status, fact: &str| {
        let check = Check::Missing { globs: globs(written) };
        assert_eq!(run_check(&folder.path().join("root"), &check), (status, fact.to_owned()), "{written}");
    };
    check("docs", Status::Pass, "no file matches");
    check("docs/**|*.tmp", Status::Pass, "no file matches");
    check("README.md", Status::Fail, "README.md exists");
    check("target", Status::Fail, "target exists");
    check("em*", Status::Fail, "empty exists");
    check("dangling", Status::Fail, "dangling exists");
    check("secret.link", Status::Fail, "secret.link exists");
    check("way-out/secret.txt", Status::Fail, "way-out/secret.txt exists");
    check("**/hidden.rs", Status::Fail, "src/hidden.rs exists");
    check("src/*.rs|README.md", Status::Fail, "README.md and 2 more exist");
    check("way-out/**", Status::CouldNotRun, "way-out leads out of the root");
    check(".git/index.lock", Status::CouldNotRun, ".git/index.lock: .git is not looked at");
}

#[test]
fn has_needs_one_file_with_the_pattern() {
    let folder = tree();
    let check = |source: &str, kind, written: &str, status: Status, fact: &str| {
        let check = Check::Has { pattern: pattern(source, kind), globs: globs(written) };
        assert_eq!(
            run_check(&folder.path().join("root"), &check),
            (status, fact.to_owned()),
            "{source} {written}"
        );
    };
    check("TODO: one", PatternKind::Literal, "src/*.rs", Status::Pass, "found in src/main.rs");
    check("^end$", PatternKind::Regex, "**/*.rs", Status::Pass, "found in src/deep/lib.rs");
    check("^FN", PatternKind::RegexIgnoreCase, "src/main.rs", Status::Pass, "found in src/main.rs");
    check("object", PatternKind::Literal, "target/*", Status::Pass, "found in target/out.o");
    check("a.c", PatternKind::Literal, "README.md", Status::Fail, "\"a.c\" not found in README.md");
    check("absent", PatternKind::Regex, "src/**", Status::Fail, "/absent/ not found in 3 files");
    check("x", PatternKind::Literal, "docs/*", Status::Fail, "no file matches docs/*");
    check("x", PatternKind::Literal, "src", Status::Fail, "no file matches src, write src/**");
    check("outside", PatternKind::Literal, "secret.link", Status::Fail, "no file matches secret.link");
    check("(", PatternKind::Regex, "src/**", Status::CouldNotRun, "/(/ is not a pattern");
    check("core", PatternKind::Literal, "**/config", Status::Fail, "no file matches **/config");
}

#[test]
fn lacks_fails_for_any_file_with_the_pattern() {
    let folder = tree();
    let root = folder.path().join("root");
    let check = |source: &str, written: &str, status: Status, fact: &str| {
        let check = Check::Lacks { pattern: pattern(source, PatternKind::Literal), globs: globs(written) };
        assert_eq!(run_check(&root, &check), (status, fact.to_owned()), "{source} {written}");
    };
    check("FIXME", "src/*.rs", Status::Pass, "not in 2 files");
    check("TODO", "src/main.rs", Status::Fail, "\"TODO\" found in src/main.rs");
    check("TODO", "**/*.rs", Status::Fail, "\"TODO\" found in 2 files");
    check("TODO", "docs/*.md", Status::Fail, "no file matches docs/*.md");
    check("TODO", "src", Status::Fail, "no file matches src, write src/**");
    let lacks = Check::Lacks { pattern: pattern("TODO", PatternKind::Literal), globs: globs("src/main.rs") };
    let places = evaluate(&root, &lacks, &AtomicBool::new(false)).unwrap().locations;
    let places: Vec<_> = places.iter().map(|it| (it.file.as_str(), it.line, it.message.as_str())).collect();
    assert_eq!(places, [("src/main.rs", 2, "// TODO: one"), ("src/main.rs", 3, "// TODO: two TODO")]);
}

#[test]
fn a_folder_behind_a_link_within_the_root_is_searched_once() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "elsewhere/a.rs", "TODO");
    write(folder.path(), "src/b.rs", "fine");
    symlink("../elsewhere", folder.path().join("src/link")).unwrap();
    symlink("..", folder.path().join("src/up")).unwrap();
    let lacks = |written: &str| {
        let check = Check::Lacks { pattern: pattern("TODO", PatternKind::Literal), globs: globs(written) };
        run_check(folder.path(), &check)
    };
    assert_eq!(lacks("src/**"), (Status::Fail, "\"TODO\" found in src/link/a.rs".to_owned()));
    assert_eq!(lacks("**/*.rs"), (Status::Fail, "\"TODO\" found in elsewhere/a.rs".to_owned()));
    assert_eq!(lacks("src/*.rs"), (Status::Pass, "not in src/b.rs".to_owned()));
}

#[test]
fn unread_files_do_not_pass() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(root, "a.txt", "fine");
    let big = fs::File::create(root.join("big.txt")).unwrap();
    big.set_len(super::search::FILE_BYTES + 1).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, root.join("pipe.txt"), rustix::fs::Mode::from_raw_mode(0o600))
        .unwrap();
    let all = globs("*.txt");
    let sought = pattern("TODO", PatternKind::Literal);
    let has = Check::Has { pattern: sought.clone(), globs: all.clone() };
    let lacks = Check::Lacks { pattern: sought, globs: all };
    let too_big = (Status::CouldNotRun, "big.txt is over 16 MiB".to_owned());
    assert_eq!(run_check(root, &has), too_big);
    assert_eq!(run_check(root, &lacks), too_big);
    write(root, "z.txt", "TODO");
    assert_eq!(run_check(root, &has), (Status::Pass, "found in z.txt".to_owned()));
    assert_eq!(run_check(root, &lacks), (Status::Fail, "\"TODO\" found in z.txt".to_owned()));
    fs::remove_file(root.join("big.txt")).unwrap();
    fs::remove_file(root.join("z.txt")).unwrap();
    assert_eq!(run_check(root, &lacks), (Status::Pass, "not in a.txt".to_owned()));
}

#[test]
fn an_unreadable_folder_does_not_pass() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(root, "closed/a.txt", "TODO");
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    let missing = run_check(root, &Check::Missing { globs: globs("**/b.txt") });
    let is_open_to_us = fs::read_dir(root.join("closed")).is_ok();
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o700)).unwrap();
    // Permissions do not apply to root, which can read the folder.
    let expect = if is_open_to_us { Status::Pass } else { Status::CouldNotRun };
    assert_eq!(missing.0, expect, "{missing:?}");
}

#[test]
fn a_walk_that_is_stopped_says_nothing() {
    let folder = tree();
    let check = Check::Missing { globs: globs("**/nothing") };
    let stopped = evaluate(&folder.path().join("root"), &check, &AtomicBool::new(true));
    assert_eq!(stopped, Err("stopped".to_owned()));
}

#[test]
fn globs_exclude_other_work_trees_of_the_repository() {
    let folder = tree();
    let root = &folder.path().join("root").canonicalize().unwrap();
    write(root, ".git/HEAD", "ref: refs/heads/main\n");
    write(root, "trees/x/.git", &format!("gitdir: {}\n", root.join(".git/worktrees/x").display()));
    write(root, "trees/x/only-there.txt", "FIXME");
    let fixme = || pattern("FIXME", PatternKind::Literal);
    let check = |check: Check, expect: Status| assert_eq!(run_check(root, &check).0, expect, "{check:?}");
    check(Check::Exists { globs: globs("**/only-there.txt") }, Status::Fail);
    check(Check::Missing { globs: globs("**/only-there.txt") }, Status::Pass);
    check(Check::Lacks { pattern: fixme(), globs: globs("**") }, Status::Pass);
    check(Check::Has { pattern: fixme(), globs: globs("**/*.txt") }, Status::Fail);
    // A nested repository is part of the tree.
    write(root, "sub/.git/HEAD", "ref: refs/heads/main\n");
    write(root, "sub/inner.txt", "FIXME");
    check(Check::Has { pattern: fixme(), globs: globs("**/*.txt") }, Status::Pass);
}

#[test]
fn a_fact_is_in_the_language_of_the_user() {
    let folder = tree();
    let root = &folder.path().join("root");
    let check = |check: &Check, expect: &str| {
        let (_, fact) = Language::SimplifiedChinese.during(|| run_check(root, check));
        assert_eq!(fact, expect);
    };
    check(&Check::Exists { globs: globs("README.md|no.md|none.md") }, "no.md 以及另外 1 个不存在");
    check(&Check::Exists { globs: globs("../secret.txt") }, "../secret.txt 在根目录之外");
    let todo = pattern("TODO", PatternKind::Literal);
    check(
        &Check::Lacks { pattern: todo.clone(), globs: globs("src/main.rs") },
        "在 src/main.rs 中找到 \"TODO\"",
    );
    check(&Check::Lacks { pattern: todo, globs: globs("src") }, "没有文件匹配 src，请写成 src/**");
}
