//! Gaps in the checks of an ended loop are marked in its sources while the lines are unchanged.

use super::editor_fixture::{EditorFixture, has, is_in};
use crate::support::scenario::Scenario;

const CODE: &str = "def fee(amount):\n    return 0\n";
const TESTS: &str = "import unittest\n\nfrom fees import fee\n\n\nclass Fees(unittest.TestCase):\n    def test_small(self):\n        self.assertEqual(fee(10), 12)\n";
const WORK: &str = "printf 'def fee(amount):\\n    if amount > 100:\\n        return amount - 5\\n    return amount + 2\\n' > fees.py
printf 'import unittest\\n\\nfrom fees import fee\\n\\n\\nclass More(unittest.TestCase):\\n    def test_runs(self):\\n        fee(10)\\n' > tests/test_more.py";

#[test]
fn a_surviving_mutant_is_marked_until_its_line_changes() {
    let scenario = Scenario {
        files: &[("fees.py", CODE), ("tests/test_fees.py", TESTS)],
        criteria: &["Tests pass: `$ python3 -m unittest discover -s tests`"],
        acts: &[WORK],
        ..Scenario::default()
    };
    let mut fixture = EditorFixture::open(&scenario);
    let id = fixture.start("PROMPT.md");
    fixture.status(|it| is_in(it, &id, "done"));
    let hints = fixture.remarks("fees.py", |it| has(it, "unnoticed"));
    let expected = "unnoticed: no check notices `return amount + 5` instead. Add a test for it.";
    let hint = hints.iter().find(|it| it["message"] == expected).unwrap_or_else(|| panic!("{hints:#?}"));
    assert_eq!((hint["severity"].as_u64(), hint["source"].as_str()), (Some(4), Some("ralph")));
    let start = &hint["range"]["start"];
    assert_eq!((start["line"].as_u64(), start["character"].as_u64()), (Some(2), Some(8)));
    let hints = fixture.remarks("tests/test_more.py", |it| has(it, "hollow-test"));
    assert_eq!(
        hints[0]["message"],
        "test_runs: no fault in the changed lines makes it fail. Make it stricter."
    );
    assert_eq!(hints[0]["range"]["start"]["line"], 6);
    fixture.show("fees.py");
    fixture.type_into("fees.py", 2, "def fee(amount):\n    return amount + 2\n");
    fixture.remarks("fees.py", |it| !has(it, "unnoticed"));
}
