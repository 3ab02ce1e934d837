//! Finds files that only tests use although nothing in their path says so: helpers with assertions of their own, and
//! expected results. They judge the work like the tests that read them.
//!
//! The rule prefers to regard a file as work: a mention of it in any source that is no test, in a manifest or in the
//! task is sufficient, and so is a test that is named after it.

mod helpers;
mod mentions;
mod rust_modules;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::drift::{TaskMentions, names};
use crate::strays::TreeText;
use crate::tamper::is_golden;
use loopkeeper_source::test_inventory::{TestLanguage, is_test_path, language};
use loopkeeper_text::pattern::ConstantPattern;

use mentions::{MentionWords, find_mentions};

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
                    || (helpers::asserts(path, text) && !subjects.contains(&normalised(names::stem(path))))
            })
    };
    let all = || candidates.iter().map(String::as_str);
    let compiled: BTreeSet<&str> =
        all().filter(|it| rust_modules::is_of_tests(it, &texts) && !task.mention(it)).collect();
    let mut support: BTreeSet<&str> = all().filter(is_candidate).collect();
    let words: BTreeMap<&str, MentionWords> = support
        .iter()
        .map(|it| (*it, mention_words(it, texts.get(it).copied().unwrap_or_default())))
        .collect();
    let mentions = find_mentions(&words, files);
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
    let is_found = |it: &&String| support.contains(it.as_str()) || compiled.contains(it.as_str());
    candidates.iter().filter(is_found).cloned().collect()
}

/// Whether the file contains data that results are compared with.
fn is_expected_result(path: &str) -> bool {
    static CASES: ConstantPattern = ConstantPattern::new(
        r"(?i)^(?:.*[_.-])?(?:test[_-]?)?(?:cases|vectors)$|^(?:.*[_.-])?test[_-]?data$",
    );
    const DOCUMENTS: [&str; 5] = ["md", "rst", "adoc", "mdx", "lock"];
    language(path).is_none()
        && !DOCUMENTS.contains(&names::extension(path))
        && (is_golden(path) || CASES.is_match(names::stem(path)))
}

/// Whether other files use the declarations of files in its language.
fn is_importable(path: &str) -> bool {
    language(path).is_some_and(|it| !matches!(it, TestLanguage::C | TestLanguage::Perl))
        && names::stem(path).len() > 2
}

/// How other files mention this one.
fn mention_words(path: &str, text: &str) -> MentionWords {
    match language(path) {
        None => MentionWords::Data,
        Some(TestLanguage::Go) => MentionWords::Declared(helpers::declared_in_go(text)),
        Some(TestLanguage::Jvm | TestLanguage::CSharp | TestLanguage::Php) => MentionWords::TypeName,
        Some(_) => MentionWords::Module,
    }
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
