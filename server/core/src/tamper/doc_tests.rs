//! Detects examples in the documentation of Rust sources that no longer run, where a check runs them as tests.

use std::collections::HashMap;

use super::{FileVersions, TestLanguage, WeakeningFinding, language, take_one};
use loopkeeper_source::test_inventory::doc_examples::inventory;
use loopkeeper_source::test_inventory::{TestCase, TestInventory, find_additions, test_loss};
use loopkeeper_text::tr;

/// Whether a call of cargo with these arguments runs the examples.
pub(super) fn are_run_by(arguments: &[&str]) -> bool {
    const OTHER_TARGETS: [&str; 9] = [
        "--lib",
        "--bins",
        "--bin",
        "--tests",
        "--test",
        "--examples",
        "--example",
        "--benches",
        "--all-targets",
    ];
    let own = arguments.split(|it| *it == "--").next().unwrap_or_default();
    let is_test =
        own.iter().find(|it| !it.starts_with(['-', '+'])).is_some_and(|it| matches!(*it, "test" | "t"));
    is_test && (own.contains(&"--doc") || !own.iter().any(|it| OTHER_TARGETS.contains(it)))
}

/// The sources that lost examples, or assertions in them.
pub(super) fn find_losses(changed: &[String], files: &dyn FileVersions) -> Vec<WeakeningFinding> {
    let read = |path: &String| {
        let (before, after) = (files.read_before(path), files.read_after(path));
        // Now too long, or no longer text: no comparison is possible.
        (after.is_some() || !files.exists(path)).then(|| SourceExamples::of(path, before, after))
    };
    let sources: Vec<SourceExamples> =
        changed.iter().filter(|it| language(it) == Some(TestLanguage::Rust)).filter_map(read).collect();
    let tests = sources.iter().flat_map(|it| find_additions(&it.before, &it.after).tests).collect();
    let elsewhere = TestInventory { tests, ..TestInventory::default() };
    sources.iter().filter_map(|it| it.describe_loss(&elsewhere)).collect()
}

/// The examples of a source that changed.
struct SourceExamples {
    path: String,
    before: TestInventory,
    after: TestInventory,
}

impl SourceExamples {
    fn of(path: &str, before: Option<String>, after: Option<String>) -> Self {
        let [old, new] = [before, after].map(|it| it.as_deref().map(inventory).unwrap_or_default());
        let (before, mut after) = (without_same(&old, &new), without_same(&new, &old));
        // An example that runs is rather the changed one than a new block that does not.
        after.tests.sort_by_key(|it| it.skipped);
        Self { path: path.to_owned(), before, after }
    }

    fn describe_loss(&self, elsewhere: &TestInventory) -> Option<WeakeningFinding> {
        let loss = test_loss(&self.before, &self.after, elsewhere);
        let (path, what) = (&self.path, loss.words());
        let what = tr!("{path} {what} in the examples of its documentation", path, what);
        loss.any().then(|| WeakeningFinding { path: path.clone(), what, criterion: None })
    }
}

/// The examples that `other` lacks.
fn without_same(all: &TestInventory, other: &TestInventory) -> TestInventory {
    let key = |it: &TestCase| format!("{} {} {:?}", it.name, it.skipped, it.assertions);
    let mut left: HashMap<String, usize> = HashMap::new();
    for case in &other.tests {
        *left.entry(key(case)).or_default() += 1;
    }
    let tests = all.tests.iter().filter(|it| !take_one(&mut left, &key(it))).cloned().collect();
    TestInventory { tests, ..TestInventory::default() }
}
