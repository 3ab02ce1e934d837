//! Finds the losses between two states of a file: tests, runs of tests, assertions. Renamed, moved, reformatted and
//! added tests are not a loss.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;

use super::{TestCase, TestInventory};
use loopkeeper_text::clauses::join_with_commas;
use loopkeeper_text::pattern::ConstantPattern;
use loopkeeper_text::tr;
use loopkeeper_text::words::counted;

/// One loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TestLoss {
    pub tests: u32,
    /// Tests that ran and are skipped now.
    pub skipped: u32,
    /// Tests in whose body nothing happens any more.
    pub emptied: u32,
    pub assertions: u32,
    /// Assertions that expect another value than before.
    pub altered: u32,
    /// Tests that forgive more failures than before: caught and dropped, or expected.
    pub forgiving: u32,
    /// Marks that let only some of the tests run.
    pub narrowed: u32,
    /// Rows of values that a parametrised test no longer runs with.
    pub rows: u32,
    /// Rows that hold other values than before.
    pub altered_rows: u32,
}

impl TestLoss {
    pub fn any(self) -> bool {
        self != Self::default()
    }

    /// `lost 2 tests, lost 1 assertion`: a clause about the file.
    pub fn words(self) -> String {
        let tests = |number: u32| (number > 0).then(|| counted(u64::from(number), "test"));
        let cases = |number: u32| (number > 0).then(|| counted(u64::from(number), "test case"));
        let assertions = |number: u32| (number > 0).then(|| counted(u64::from(number), "assertion"));
        let parts = [
            tests(self.tests).map(|count| tr!("lost {count}", count)),
            tests(self.skipped).map(|count| tr!("skips {count}", count)),
            tests(self.emptied).map(|count| tr!("has {count} that test nothing", count)),
            assertions(self.assertions).map(|count| tr!("lost {count}", count)),
            assertions(self.altered).map(|count| tr!("expects different values in {count}", count)),
            cases(self.rows).map(|count| tr!("lost {count}", count)),
            cases(self.altered_rows).map(|count| tr!("changed {count}", count)),
            tests(self.forgiving).map(|count| tr!("tolerates failures in {count}", count)),
            (self.narrowed > 0).then(|| tr!("runs only some of its tests").to_owned()),
        ];
        join_with_commas(parts.into_iter().flatten())
    }
}

/// What `before` had and neither `after` nor the tests that appeared `elsewhere` have.
pub fn test_loss(before: &TestInventory, after: &TestInventory, elsewhere: &TestInventory) -> TestLoss {
    let (mut pool, mut moved) = (UnmatchedTests::new(&after.tests), UnmatchedTests::new(&elsewhere.tests));
    let mut pairs: Vec<(&TestCase, &TestCase)> = Vec::new();
    let mut rest: Vec<&TestCase> = before.tests.iter().collect();
    pair_tests(&mut rest, &mut pairs, |case| pool.take_named(&case.name));
    // A renamed test has the same assertions; the remaining ones are paired with rewritten tests.
    pair_tests(&mut rest, &mut pairs, |case| pool.take_sharing_assertion(case));
    pair_tests(&mut rest, &mut pairs, |case| moved.take_named(&case.name));
    pair_tests(&mut rest, &mut pairs, |_| pool.take_first());
    let mut loss = TestLoss { tests: rest.len() as u32, ..TestLoss::default() };
    let unmatched = pool.unmatched().chain(moved.unmatched());
    let mut spare = LineCounts::new(unmatched.flat_map(|it| &it.assertions).map(String::as_str));
    compare(&mut loss, &pairs, &mut spare);
    let loose = missing_lines(&before.loose, &after.loose);
    loss.assertions += loose.len().saturating_sub(missing_lines(&after.loose, &before.loose).len()) as u32;
    loss.altered += count_altered(&loose, &missing_lines(&after.loose, &before.loose));
    loss.skipped += after.skips.saturating_sub(before.skips);
    loss.narrowed = after.narrowed.saturating_sub(before.narrowed);
    count_rows(&mut loss, before, after, &elsewhere.rows);
    loss
}

/// Rows that became assertions, or that other files have now, are not lost.
fn count_rows(loss: &mut TestLoss, before: &TestInventory, after: &TestInventory, elsewhere: &[String]) {
    let assertions = |it: &TestInventory| it.tests.iter().map(|it| it.assertions.len()).sum::<usize>();
    let mut elsewhere = LineCounts::new(elsewhere.iter().map(String::as_str));
    let mut gone = missing_lines(&before.rows, &after.rows);
    gone.retain(|row| !elsewhere.take(row));
    let new = missing_lines(&after.rows, &before.rows);
    let mut shapes = LineCounts::new(new.iter().map(|it| shape_of_row(it)));
    loss.altered_rows = gone.iter().filter(|row| shapes.take(&shape_of_row(row))).count() as u32;
    let spare = new.len() + assertions(after).saturating_sub(assertions(before));
    // Tests that are gone took their rows with them.
    loss.rows = if loss.tests > 0 { 0 } else { gone.len().saturating_sub(spare) as u32 };
}

fn pair_tests<'a>(
    rest: &mut Vec<&'a TestCase>,
    pairs: &mut Vec<(&'a TestCase, &'a TestCase)>,
    mut find: impl FnMut(&TestCase) -> Option<&'a TestCase>,
) {
    rest.retain(|case| {
        let found = find(case);
        pairs.extend(found.map(|it| (*case, it)));
        found.is_none()
    });
}

/// The row with all of its values taken out.
fn shape_of_row(row: &str) -> String {
    VALUE.replace_all(row, "0").into_owned()
}

/// The tests and rows that one state of a file has and the other lacks.
pub fn find_additions(before: &TestInventory, after: &TestInventory) -> TestInventory {
    let known: HashSet<&str> = before.tests.iter().map(|it| it.name.as_str()).collect();
    let tests = after.tests.iter().filter(|it| !known.contains(it.name.as_str())).cloned().collect();
    let rows = missing_lines(&after.rows, &before.rows).into_iter().map(str::to_owned).collect();
    TestInventory { tests, rows, ..TestInventory::default() }
}

fn compare(loss: &mut TestLoss, pairs: &[(&TestCase, &TestCase)], spare: &mut LineCounts<&str>) {
    for (before, after) in pairs {
        loss.skipped += u32::from(after.skipped && !before.skipped);
        if before.does_something && !after.does_something {
            loss.emptied += 1;
            continue;
        }
        let (gone, new) = (
            missing_lines(&before.assertions, &after.assertions),
            missing_lines(&after.assertions, &before.assertions),
        );
        loss.altered += count_altered(&gone, &new);
        loss.forgiving += u32::from(after.forgives > before.forgives);
        // A value that a test passes to its own helper is still asserted.
        let gone = gone.iter().filter(|line| !spare.take(line)).count();
        loss.assertions += gone.saturating_sub(new.len()) as u32;
    }
}

/// Lines of `a` that `b` lacks; each of `b` matches one.
fn missing_lines<'a>(a: &'a [String], b: &[String]) -> Vec<&'a str> {
    let mut left = LineCounts::new(b.iter().map(String::as_str));
    a.iter().map(String::as_str).filter(|line| !left.take(line)).collect()
}

/// Lines that say the same but for a value: they expect something else now.
fn count_altered(gone: &[&str], new: &[&str]) -> u32 {
    let mut left = LineCounts::new(new.iter().map(|it| without_values(it)));
    gone.iter().filter(|line| left.take(&without_values(line))).count() as u32
}

static VALUE: ConstantPattern =
    ConstantPattern::new(r#"-?\b(?:\d[\d_.]*|true|false|True|False)\b|"(?:[^"\\]|\\.)*""#);

/// The line with its values taken out; the failure messages are kept, since correcting them weakens nothing.
fn without_values(line: &str) -> String {
    let says_why = line.starts_with("assert ") || line.starts_with("assert!(");
    let shaped = VALUE.replace_all(line, |found: &regex::Captures<'_>| {
        let Some(found) = found.get(0) else { return String::new() };
        let before = line.get(..found.start()).unwrap_or_default();
        let is_text = found.as_str().starts_with('"');
        let why = is_text
            && ((before.ends_with(',') && says_why) || FAILURE_CALLS.iter().any(|it| before.ends_with(it)));
        if why || (is_text && !before.ends_with([',', '=', '('])) {
            found.as_str().to_owned()
        } else {
            "0".to_owned()
        }
    });
    OPPOSITES.iter().fold(shaped.into_owned(), |text, (not, plain)| text.replace(not, plain))
}

/// Calls that fail with the message which follows.
const FAILURE_CALLS: [&str; 7] = ["Error(", "Errorf(", "Fatal(", "Fatalf(", "fail(", "Fail(", "panic!("];

/// An inverted assertion expects another value, too.
const OPPOSITES: &[(&str, &str)] = &[
    ("assertFalse", "assertTrue"),
    ("assertNot", "assert"),
    ("assertIsNot", "assertIs"),
    ("assert_not", "assert"),
    ("assert_ne", "assert_eq"),
    ("refute", "assert"),
    ("NotEqual", "Equal"),
    ("notEqual", "equal"),
    ("notStrictEqual", "strictEqual"),
    ("notDeep", "deep"),
    (".not.", "."),
    (".not_to", ".to"),
    (".to_not", ".to"),
    ("toBeFalsy", "toBeTruthy"),
    ("isFalse", "isTrue"),
    ("IsFalse", "IsTrue"),
    ("NotNull", "Null"),
    ("NotNil", "Nil"),
    ("NotContains", "Contains"),
    ("_NE(", "_EQ("),
    ("_FALSE(", "_TRUE("),
    ("!==", "==="),
    ("!=", "=="),
    ("assert!(!", "assert!("),
    ("assert not ", "assert "),
    ("-ne ", "-eq "),
];

/// Lines, each of which matches at most one other.
struct LineCounts<Line>(HashMap<Line, usize>);

impl<Line: Borrow<str> + Eq + Hash> LineCounts<Line> {
    fn new(lines: impl IntoIterator<Item = Line>) -> Self {
        let mut counts = HashMap::new();
        for line in lines {
            *counts.entry(line).or_default() += 1;
        }
        Self(counts)
    }

    /// Whether such a line was left.
    fn take(&mut self, line: &str) -> bool {
        match self.0.get_mut(line) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }
}

/// Tests, each of which matches at most one other. Indexed, since a generated file can hold thousands.
struct UnmatchedTests<'a> {
    cases: &'a [TestCase],
    is_taken: Vec<bool>,
    in_order: VecDeque<usize>,
    by_name: HashMap<&'a str, VecDeque<usize>>,
    by_assertion: HashMap<&'a str, VecDeque<usize>>,
}

impl<'a> UnmatchedTests<'a> {
    fn new(cases: &'a [TestCase]) -> Self {
        let mut by_name = HashMap::<&str, VecDeque<usize>>::new();
        let mut by_assertion = HashMap::<&str, VecDeque<usize>>::new();
        for (at, case) in cases.iter().enumerate() {
            by_name.entry(&case.name).or_default().push_back(at);
            for line in &case.assertions {
                by_assertion.entry(line).or_default().push_back(at);
            }
        }
        let (is_taken, in_order) = (vec![false; cases.len()], (0..cases.len()).collect());
        Self { cases, is_taken, in_order, by_name, by_assertion }
    }

    fn take_named(&mut self, name: &str) -> Option<&'a TestCase> {
        let at = first_left(self.by_name.get_mut(name)?, &self.is_taken)?;
        self.take(at)
    }

    fn take_sharing_assertion(&mut self, case: &TestCase) -> Option<&'a TestCase> {
        let shared = case.assertions.iter().filter_map(|line| {
            let tests = self.by_assertion.get_mut(line.as_str())?;
            first_left(tests, &self.is_taken)
        });
        let at = shared.min()?;
        self.take(at)
    }

    fn take_first(&mut self) -> Option<&'a TestCase> {
        let at = first_left(&mut self.in_order, &self.is_taken)?;
        self.take(at)
    }

    fn take(&mut self, at: usize) -> Option<&'a TestCase> {
        *self.is_taken.get_mut(at)? = true;
        self.cases.get(at)
    }

    fn unmatched(&self) -> impl Iterator<Item = &'a TestCase> + '_ {
        self.cases.iter().zip(&self.is_taken).filter(|(_, is_taken)| !**is_taken).map(|(case, _)| case)
    }
}

/// The first of the tests that is not taken; those before it are dropped.
fn first_left(tests: &mut VecDeque<usize>, is_taken: &[bool]) -> Option<usize> {
    while let Some(at) = tests.front().copied() {
        if is_taken.get(at) == Some(&false) {
            return Some(at);
        }
        tests.pop_front();
    }
    None
}
