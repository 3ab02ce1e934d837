//! Detects work that evades the linters and type checkers which judge it: directives that suppress findings, and
//! sources that are renamed so that a checker does not read them. A directive that only moved does not count.

use std::collections::HashMap;

use super::linters::{CheckLinters, Directive, may_have_directives};
use super::{FileVersions, WeakeningFinding, file_name, take_one};
use loopkeeper_source::test_inventory::{TestLanguage, language};
use loopkeeper_text::tr;

/// Maximum number of sources that are read.
const MAX_SOURCES: usize = 2000;

/// The sources with more suppressed findings than at the start.
pub(super) fn find_suppressions(
    linters: &CheckLinters,
    changed: &[String],
    files: &dyn FileVersions,
) -> Vec<WeakeningFinding> {
    if linters.is_empty() {
        return Vec::new();
    }
    let sources: Vec<&String> =
        changed.iter().filter(|it| may_have_directives(it)).take(MAX_SOURCES).collect();
    let mut removed = HashMap::<String, usize>::new();
    let mut added: Vec<(&String, Directive)> = Vec::new();
    for path in &sources {
        let mut before = HashMap::<String, usize>::new();
        for directive in read_directives(linters, path, files.read_before(path)) {
            *before.entry(directive.line).or_default() += 1;
        }
        let after = read_directives(linters, path, files.read_after(path));
        added.extend(after.into_iter().filter(|it| !take_one(&mut before, &it.line)).map(|it| (*path, it)));
        for (line, count) in before {
            *removed.entry(line).or_default() += count;
        }
    }
    added.retain(|(_, directive)| !take_one(&mut removed, &directive.line));
    let suppressed = added.into_iter().map(|(path, directive)| suppression_finding(path, &directive));
    let renamed =
        sources.iter().filter(|_| linters.checks_typescript()).filter_map(|it| find_renamed(it, files));
    let hidden =
        sources.iter().filter(|_| linters.checks_go()).filter_map(|it| find_hidden(it, &sources, files));
    let mut found: Vec<WeakeningFinding> = suppressed.chain(renamed).chain(hidden).collect();
    found.dedup_by(|a, b| a.path == b.path);
    found
}

fn read_directives(linters: &CheckLinters, path: &str, text: Option<String>) -> Vec<Directive> {
    text.map_or_else(Vec::new, |it| linters.directives(path, &it))
}

fn suppression_finding(path: &str, directive: &Directive) -> WeakeningFinding {
    let Directive { linter, number, .. } = directive;
    let what = tr!("{path} suppresses findings of {linter} in line {number}", path, linter, number);
    WeakeningFinding { path: path.to_owned(), what, criterion: None }
}

/// `calc.ts` became `calc.js`, which the type checker does not read.
fn find_renamed(path: &str, files: &dyn FileVersions) -> Option<WeakeningFinding> {
    let (stem, extension) = path.rsplit_once('.')?;
    if !matches!(extension, "js" | "jsx" | "mjs" | "cjs") || files.existed_before(path) || !files.exists(path)
    {
        return None;
    }
    let is_typed = |it: &&str| {
        let typed = format!("{stem}.{it}");
        files.existed_before(&typed) && !files.exists(&typed)
    };
    let typed = ["ts", "tsx", "mts", "cts"].into_iter().find(|it| is_typed(it))?;
    let old = format!("{}.{typed}", file_name(stem));
    let what = tr!("{path} replaces {old}, so that tsc does not check its types", path, old);
    Some(WeakeningFinding { path: path.to_owned(), what, criterion: None })
}

/// `calc.go` became `testdata/calc.go` or `_calc.go`, which the tools of Go do not read.
fn find_hidden(path: &str, sources: &[&String], files: &dyn FileVersions) -> Option<WeakeningFinding> {
    let is_skipped = |it: &str| it == "testdata" || it == "vendor" || it.starts_with(['_', '.']);
    let is_new =
        language(path) == Some(TestLanguage::Go) && files.exists(path) && !files.existed_before(path);
    if !is_new || !path.split('/').any(is_skipped) {
        return None;
    }
    let name = file_name(path).trim_start_matches(['_', '.']);
    let is_replaced = |it: &str| {
        file_name(it) == name
            && !it.split('/').any(is_skipped)
            && files.existed_before(it)
            && !files.exists(it)
    };
    let old = sources.iter().find(|it| is_replaced(it))?;
    let what = tr!("{path} replaces {old}, so that go does not read it", path, old);
    Some(WeakeningFinding { path: path.to_owned(), what, criterion: None })
}
