//! Finds files that only tests use although nothing in their path says so: helpers with assertions of their own, and
//! expected results. They judge the work like the tests that read them.
//!
//! The rule prefers to regard a file as work: a mention of it in any source that is no test, in a manifest or in the
//! task is sufficient, and so is a test that is named after it.

mod mentions;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::drift::{TaskMentions, names};
use crate::strays::TreeText;
use crate::tamper::is_golden;
use loopkeeper_source::test_inventory::{TestLanguage, is_test_path, language};
use loopkeeper_text::pattern::ConstantPattern;

use mentions::{MentionKind, find_mentions};

/// Whether a file of this path can belong to tests; the texts of the tree decide whether it does.
pub fn may_support_tests(path: &str) -> bool {
    !is_test_path(path) && (is_expected_result(path) || is_importable(path))
}

/// Those of the candidates that only tests use. `files` must be all text files of the tree: a mention in one that is
/// missing would not be found.
pub fn find_test_support(candidates: &[String], files: &[TreeText], task: &TaskMentions) -> Vec<String> {
    let texts: HashMap<&str, &str> = files.iter().map(|it| (it.path.as_str(), it.text.as_str())).collect();
    let subjects: BTreeSet<String> =
        files.iter().filter(|it| is_test_path(&it.path)).map(|it| subject_of(&it.path)).collect();
    let is_candidate = |path: &&str| {
        may_support_tests(path)
            && !task.mention(path)
            && texts.get(path).is_some_and(|text| {
                is_expected_result(path)
                    || (asserts(path, text) && !subjects.contains(&normalised(names::stem(path))))
            })
    };
    let mut support: BTreeSet<&str> = candidates.iter().map(String::as_str).filter(is_candidate).collect();
    if support.is_empty() {
        return Vec::new();
    }
    let kinds: BTreeMap<&str, MentionKind> = support.iter().map(|it| (*it, mention_kind(it))).collect();
    let mentions = find_mentions(&kinds, files);
    // A file that work uses may use others: repeat until nothing but tests and their files use the remaining ones.
    loop {
        let of_work = |path: &&str| mentions.of(path).any(|it| !is_test_path(it) && !support.contains(it));
        let used: Vec<&str> = support.iter().copied().filter(|it| of_work(it)).collect();
        if used.is_empty() {
            break;
        }
        support.retain(|it| !used.contains(it));
    }
    support.retain(|path| mentions.of(path).any(is_test_path));
    candidates.iter().filter(|it| support.contains(it.as_str())).cloned().collect()
}

/// Whether the file contains data that results are compared with.
fn is_expected_result(path: &str) -> bool {
    const DOCUMENTS: [&str; 5] = ["md", "rst", "adoc", "mdx", "lock"];
    is_golden(path) && language(path).is_none() && !DOCUMENTS.contains(&names::extension(path))
}

/// Whether files of its language are used by their names.
fn is_importable(path: &str) -> bool {
    matches!(
        language(path),
        Some(TestLanguage::Python | TestLanguage::Script | TestLanguage::Shell | TestLanguage::Ruby)
    ) && names::stem(path).len() > 2
}

/// How other files mention this one.
fn mention_kind(path: &str) -> MentionKind {
    if is_expected_result(path) { MentionKind::Data } else { MentionKind::Module }
}

/// Whether the file consists of assertions for tests, by its name or by its functions.
fn asserts(path: &str, text: &str) -> bool {
    static NAME: ConstantPattern = ConstantPattern::new(
        r"(?i)(?:^|[_.-])(?:asserts?|assertions?|expectations?|matchers?|test[_-]?(?:utils?|helpers?|kit|lib|support))(?:[_.-]|$)",
    );
    static FUNCTION: ConstantPattern = ConstantPattern::new(
        r"(?m)^[ \t]*(?:export\s+)?(?:(?:async\s+)?(?:def|function)\s+(?:self\.)?(?P<name>\w+)|(?P<shell>\w+)\s*\(\)\s*\{|(?:module\.)?exports\.(?P<export>\w+)\s*=)",
    );
    static OF_TESTS: ConstantPattern = ConstantPattern::new(
        r"(?i)^_*(?:assert|expect|should|fail|pass|ok|not_ok|check|verify|compare|die|skip|set_?up|tear_?down|run_?test|test)",
    );
    static ASSERTION: ConstantPattern = ConstantPattern::new(r"(?i)^_*(?:assert|expect|fail)");
    if NAME.is_match(names::stem(path)) {
        return true;
    }
    let named = FUNCTION.captures_iter(text).filter_map(|it| {
        ["name", "shell", "export"].into_iter().find_map(|name| Some(it.name(name)?.as_str()))
    });
    let functions: Vec<&str> = named.collect();
    functions.iter().all(|it| OF_TESTS.is_match(it)) && functions.iter().any(|it| ASSERTION.is_match(it))
}

/// `parser` of `test_parser.py` and `parser.test.js`.
fn subject_of(test: &str) -> String {
    const MARKS: [&str; 3] = ["test", "tests", "spec"];
    let stem = names::stem(test);
    let parts: Vec<&str> =
        stem.split(['_', '-', '.']).filter(|it| !MARKS.contains(&it.to_ascii_lowercase().as_str())).collect();
    let joined = normalised(&parts.concat());
    MARKS.iter().find_map(|it| joined.strip_suffix(it)).map_or(joined.clone(), str::to_owned)
}

/// `user-login`, `user_login` and `userLogin` are one name.
fn normalised(name: &str) -> String {
    name.chars().filter(|it| !matches!(it, '_' | '-' | '.')).flat_map(char::to_lowercase).collect()
}
