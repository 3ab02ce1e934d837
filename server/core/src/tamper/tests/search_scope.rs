//! Files that `lacks` no longer reads.

use std::collections::BTreeSet;

use crate::tamper::{FileVersions, ProtectionRules};
use loopkeeper_task::criterion::{Check, Criterion, PatternKind, TextPattern};

/// A tree after the work; a text that begins with `->` is a link out of it.
struct Trees<'a>(&'a [(&'a str, &'a str, &'a str)]);

impl Trees<'_> {
    fn version(&self, path: &str, after: bool) -> Option<&str> {
        let (_, old, new) = self.0.iter().find(|it| it.0 == path)?;
        Some(if after { *new } else { *old }).filter(|it| !it.is_empty())
    }
}

impl FileVersions for Trees<'_> {
    fn read_before(&self, path: &str) -> Option<String> {
        self.version(path, false).map(str::to_owned)
    }

    fn read_after(&self, path: &str) -> Option<String> {
        self.version(path, true).filter(|it| !it.starts_with("->")).map(str::to_owned)
    }

    fn exists(&self, path: &str) -> bool {
        self.read_after(path).is_some()
    }

    fn leads_out(&self, path: &str) -> bool {
        self.version(path, true).is_some_and(|it| it.starts_with("->"))
    }
}

/// `changes`: path, text before and after; empty: no such file.
#[track_caller]
fn check(globs: &[&str], changes: &[(&str, &str, &str)], expect: &[&str]) {
    let pattern = TextPattern { source: "TODO".to_owned(), kind: PatternKind::Regex };
    let globs = globs.iter().map(ToString::to_string).collect();
    let criterion = Criterion::new("a".to_owned(), "a", Some(Check::Lacks { pattern, globs }));
    let rules = ProtectionRules::new(&[&criterion], &[], &BTreeSet::new());
    let changed: Vec<String> = changes.iter().map(|it| it.0.to_owned()).collect();
    assert!(changed.iter().all(|it| rules.is_relevant(it)), "{changes:?}");
    let found = rules.find_weakenings(&changed, &Trees(changes));
    let found: Vec<String> = found.into_iter().map(|it| it.what).collect();
    assert_eq!(found, expect, "{changes:?}");
}

#[test]
fn links_out_of_the_tree_hide_what_lacks_reads() {
    let link = |path: &str| format!("{path} is a link out of the work tree, where `lacks` reads nothing");
    check(&["src/**"], &[("src/a.py", "# TODO\n", "->../a.py")], &[&link("src/a.py")]);
    check(&["src/**"], &[("src/b.py", "", "->../b.py")], &[&link("src/b.py")]);
    check(
        &["src/*/a.py"],
        &[("src/core", "", "->../core"), ("src/core/a.py", "# TODO\n", "")],
        &[&link("src/core")],
    );
    check(&["src/**"], &[("docs/a.md", "TODO\n", "->../a.md")], &[]);
    check(&["src/**"], &[("src/a.py", "# TODO\n", "pass\n")], &[]);
}

#[test]
fn files_that_move_away_with_the_text() {
    let moved = "lib/a.py contains /TODO/ and replaces src/a.py, which `lacks` read";
    check(&["src/**"], &[("src/a.py", "# TODO\n", ""), ("lib/a.py", "", "# TODO\n")], &[moved]);
    check(
        &["src/*.py"],
        &[("src/a.py", "# TODO\n", ""), ("src/a.txt", "", "# TODO\n")],
        &["src/a.txt contains /TODO/ and replaces src/a.py, which `lacks` read"],
    );
    check(&["src/**"], &[("src/a.py", "# TODO\n", ""), ("lib/a.py", "", "pass\n")], &[]);
    check(&["src/**"], &[("src/a.py", "# TODO\n", ""), ("src/b.py", "", "# TODO\n")], &[]);
    check(&["src/**"], &[("src/a.py", "# TODO\n", ""), ("TODO.md", "", "TODO: a\n")], &[]);
    check(&["src/**"], &[("src/a.py", "# TODO\n", ""), ("lib/a.py", "# TODO\n", "# TODO 2\n")], &[]);
    check(&["src/**"], &[("src/a.py", "pass\n", ""), ("lib/a.py", "", "# TODO\n")], &[]);
}

#[test]
fn lines_that_move_away() {
    let (old, shim) = ("def a():\n    # TODO: check\n    pass\n", "from b import *\n");
    let moved = "b.py has the line of src/a.py with /TODO/, and `lacks` does not read it";
    check(&["src/**"], &[("src/a.py", old, shim), ("b.py", "", old)], &[moved]);
    check(&["src/**"], &[("src/a.py", old, shim), ("b.py", "b = 1\n", old)], &[moved]);
    check(&["src/**"], &[("src/a.py", old, shim), ("b.py", old, old)], &[]);
    check(&["src/**"], &[("src/a.py", old, shim), ("b.py", "", "# TODO: other\n")], &[]);
    check(&["src/**"], &[("src/a.py", old, shim), ("src/b.py", "", old), ("b.py", "", old)], &[]);
}
