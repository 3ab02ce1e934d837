//! Detects lines of the start that the work withdraws from a type checker: they only gained a cast to `any`, or lost
//! their types. A cast in new code is the work itself.

use std::collections::{BTreeMap, BTreeSet};

use super::linters::CheckLinters;
use super::{FileVersions, WeakeningFinding};
use loopkeeper_source::test_inventory::{TestLanguage, is_test_path, language};
use loopkeeper_text::pattern::ConstantPattern;
use loopkeeper_text::tr;

/// Maximum number of removed lines, alike except for their types, that a new line is compared with.
const MAX_ALIKE: usize = 50;

static SCRIPT_ESCAPE: ConstantPattern =
    ConstantPattern::new(r"\bas\s+(?:any|never)\b|\bas\s+unknown\s+as\b|<any>|:\s*any\b");
static SCRIPT_TYPE: ConstantPattern = ConstantPattern::new(
    r"\s+as\s+(?:unknown\s+as\s+)?[A-Za-z_][\w.]*(?:<[^<>]*>)?(?:\[\])*|<any>|\??:\s*[A-Za-z_][\w.]*(?:<[^<>]*>)?(?:\[\])*",
);
static PYTHON_ESCAPE: ConstantPattern = ConstantPattern::new(r"\bAny\b");
static PYTHON_TYPE: ConstantPattern = ConstantPattern::new(
    r#"\s*->\s*["']?[A-Za-z_][\w.]*(?:\[[^\[\]]*\])?["']?|:\s*["']?[A-Za-z_][\w.]*(?:\[[^\[\]]*\])?["']?"#,
);

/// The sources in which a line of the start escapes a type checker of the checks.
pub(super) fn find_escapes(
    linters: &CheckLinters,
    changed: &[String],
    files: &dyn FileVersions,
) -> Vec<WeakeningFinding> {
    let sources = changed.iter().filter(|it| !is_test_path(it));
    sources.filter_map(|path| find_escape(linters, path, files)).collect()
}

fn find_escape(linters: &CheckLinters, path: &str, files: &dyn FileVersions) -> Option<WeakeningFinding> {
    let finding = |what| Some(WeakeningFinding { path: path.to_owned(), what, criterion: None });
    if let Some(source) = stubbed_source(path, files).filter(|_| linters.checks_python_types()) {
        return finding(tr!(
            "{path} takes the place of {source}, so that the type checker does not read it",
            path,
            source
        ));
    }
    let language = match language(path)? {
        TestLanguage::Script if linters.checks_typescript() => TestLanguage::Script,
        TestLanguage::Python if linters.checks_python_types() => TestLanguage::Python,
        _ => return None,
    };
    let (before, after) = (files.read_before(path)?, files.read_after(path)?);
    let number = first_escape(language, &before, &after)?;
    finding(tr!("{path} takes the types from a line of the start in line {number}", path, number))
}

/// `calc.py`, if `calc.pyi` is new next to it: type checkers read the stub instead.
fn stubbed_source(path: &str, files: &dyn FileVersions) -> Option<String> {
    let source = path.strip_suffix(".pyi").map(|it| format!("{it}.py"))?;
    let is_stubbed = files.exists(path) && !files.existed_before(path) && files.existed_before(&source);
    is_stubbed.then_some(source)
}

/// The number of the first new line that is a removed one with fewer types, or with a cast.
fn first_escape(language: TestLanguage, before: &str, after: &str) -> Option<usize> {
    let old: BTreeSet<&str> = before.lines().map(str::trim).collect();
    let new: BTreeSet<&str> = after.lines().map(str::trim).collect();
    let mut removed: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for line in old.difference(&new) {
        removed.entry(without_types(language, line)).or_default().push(line);
    }
    let escapes = |line: &str| {
        let same = removed.get(&without_types(language, line)).into_iter().flatten();
        same.take(MAX_ALIKE).any(|it| is_looser(language, it, line))
    };
    after.lines().position(|line| !old.contains(line.trim()) && escapes(line.trim())).map(|it| it + 1)
}

fn without_types(language: TestLanguage, line: &str) -> String {
    let types: &ConstantPattern = if language == TestLanguage::Python { &PYTHON_TYPE } else { &SCRIPT_TYPE };
    types.replace_all(line, "").split_whitespace().collect()
}

fn is_looser(language: TestLanguage, old: &str, new: &str) -> bool {
    let escapes = |pattern: &ConstantPattern| pattern.find_iter(new).count() > pattern.find_iter(old).count();
    if language != TestLanguage::Python {
        return escapes(&SCRIPT_ESCAPE);
    }
    let types = |line: &str| PYTHON_TYPE.find_iter(line).count();
    // Functions without types are not checked.
    let is_bare = new.contains("def ") && types(new) == 0 && types(old) > 0;
    is_bare || escapes(&PYTHON_ESCAPE)
}
