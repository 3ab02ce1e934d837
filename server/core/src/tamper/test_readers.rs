//! Detects work that reads the tests which judge it: a source that names a file of tests of the start in a new literal,
//! or in a shell script as the argument of a command that reads.

use super::{FileVersions, WeakeningFinding};
use loopkeeper_source::test_inventory::{TestLanguage, is_test_path, language};
use loopkeeper_text::pattern::ConstantPattern;
use loopkeeper_text::tr;

/// Maximum number of sources that are read.
const MAX_SOURCES: usize = 2000;
/// Longer lines are generated.
const MAX_LINE: usize = 1000;

/// The sources that read tests of the start, but did not at the start.
pub(super) fn find_test_readers(changed: &[String], files: &dyn FileVersions) -> Vec<WeakeningFinding> {
    let is_source = |it: &&String| language(it).is_some() && !is_test_path(it);
    changed.iter().filter(is_source).take(MAX_SOURCES).filter_map(|it| reader(it, files)).collect()
}

fn reader(path: &str, files: &dyn FileVersions) -> Option<WeakeningFinding> {
    let after = files.read_after(path)?;
    let before = files.read_before(path).unwrap_or_default();
    let names = after.lines().filter(|it| it.len() <= MAX_LINE).flat_map(|it| named_tests(path, it));
    let tests = names.flat_map(|name| test_paths(path, name).map(move |test| (name, test)));
    let (_, read) =
        tests.into_iter().find(|(name, test)| !before.contains(name) && files.existed_before(test))?;
    let what = tr!("{path} reads {read}, a file of the tests", path, read);
    Some(WeakeningFinding { path: path.to_owned(), what, criterion: None })
}

/// Words of the line that may be a path of a test, and that something reads.
fn named_tests<'a>(path: &str, line: &'a str) -> Vec<&'a str> {
    static LITERAL: ConstantPattern = ConstantPattern::new(r#"["'`](?P<name>[^"'`\n]{3,200})["'`]"#);
    static EXECUTION: ConstantPattern = ConstantPattern::new(
        r"\b(?:run|runs|spawn\w*|exec(?:Sync|File|FileSync|[lv]p?e?)|system|Popen|call|check_output|command|Command|pytest|unittest|jest|vitest|mocha|import|from|require|mod|path\s*=)\b",
    );
    static FILE_READ: ConstantPattern = ConstantPattern::new(
        r"(?:^|[\s|;&(`])(?:cat|sed|grep|awk|head|tail|cut|cp|tac|sort|tr|xargs|read)\s|<\s*\S",
    );
    let code = line.trim_start();
    if code.starts_with(['#', '*']) && !code.starts_with("#include") || code.starts_with("//") {
        return Vec::new();
    }
    if language(path) == Some(TestLanguage::Shell) {
        let words = code.split(|it: char| it.is_whitespace() || "\"'`;()|<>&$".contains(it));
        return if FILE_READ.is_match(code) {
            words.filter(|it| it.contains('/')).collect()
        } else {
            Vec::new()
        };
    }
    if EXECUTION.is_match(code) {
        return Vec::new();
    }
    LITERAL.captures_iter(code).filter_map(|it| Some(it.name("name")?.as_str())).collect()
}

/// The paths of tests that the name can mean, from the root or from the folder of the source.
fn test_paths(source: &str, name: &str) -> impl Iterator<Item = String> {
    let name = name.trim_start_matches(['.', '/']);
    let folder = source.rsplit_once('/').map_or("", |(folder, _)| folder);
    let candidates = [name.to_owned(), format!("{folder}/{name}")];
    candidates.into_iter().filter(|it| {
        let has_ending = it.rsplit('/').next().is_some_and(|it| it.contains('.'));
        has_ending && is_test_path(it)
    })
}
