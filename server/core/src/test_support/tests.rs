//! Trees, and the files in them that only tests use.

use super::find_test_support;
use crate::drift::{TaskMentions, TaskTexts};
use crate::strays::TreeText;

/// Each file is a candidate, except for tests.
#[track_caller]
fn check(task: &str, tree: &[(&str, &str)], expect: &[&str]) {
    let text = |(path, text): &(&str, &str)| TreeText { path: (*path).to_owned(), text: (*text).to_owned() };
    let files: Vec<TreeText> = tree.iter().map(text).collect();
    let candidates: Vec<String> = files.iter().map(|it| it.path.clone()).collect();
    let mentions = TaskMentions::of(&TaskTexts { prompt: task, context: &[], criteria: &[], plan: &[] });
    assert_eq!(find_test_support(&candidates, &files, &mentions), expect, "{tree:?}");
}

const SAME: &str =
    "exports.assertSame = (a, b) => {\n  if (a !== b) throw new Error(`${a} is not ${b}`);\n};\n";
const CALC: (&str, &str) = ("lib/calc.js", "exports.add = (a, b) => a + b;\n");

#[test]
fn helpers_that_only_tests_import() {
    let js = "const { assertSame } = require('../lib/same');\nconst { add } = require('../lib/calc');\n";
    check("", &[("lib/same.js", SAME), CALC, ("test/all.test.js", js)], &["lib/same.js"]);
    let python = "from tools.assertions import same\nfrom calc import add\n";
    check(
        "",
        &[
            ("tools/assertions.py", "def same(a, b):\n    assert a == b\n"),
            ("calc.py", ""),
            ("tests/test_calc.py", python),
        ],
        &["tools/assertions.py"],
    );
    let shell = "fail() {\n  echo \"$1\"\n  exit 1\n}\nexpect() {\n  [ \"$1\" = \"$2\" ] || fail \"$1\"\n}\n";
    check(
        "",
        &[("common.sh", shell), ("tests/run.sh", ". ./common.sh\nexpect 3 \"$(./sums 1 2)\"\n")],
        &["common.sh"],
    );
    // A helper of a helper, and one that both import.
    let chain = "const { assertSame } = require('./same');\nexports.assertSum = (a) => assertSame(a, 3);\n";
    check(
        "",
        &[
            ("lib/same.js", SAME),
            ("lib/sum-of.js", chain),
            ("test/all.test.js", "require('../lib/sum-of');\n"),
        ],
        &["lib/sum-of.js"],
    );
}

#[test]
fn modules_that_are_work() {
    let test = "const { add } = require('../lib/calc');\nconst { assertSame } = require('../lib/same');\n";
    // A library whose modules only its tests import.
    check("", &[CALC, ("test/all.test.js", "const { add } = require('../lib/calc');\n")], &[]);
    let used = ("lib/calc.js", "const { assertSame } = require('./same');\nexports.add = (a, b) => a + b;\n");
    check("", &[("lib/same.js", SAME), used, ("test/all.test.js", test)], &[]);
    let manifest = ("package.json", "{ \"main\": \"lib/same.js\" }\n");
    check("", &[("lib/same.js", SAME), CALC, manifest, ("test/all.test.js", test)], &[]);
    check("", &[("lib/same.js", SAME), ("test/same.test.js", test)], &[]);
    check("", &[("lib/assert.js", SAME), ("test/assert.test.js", "require('../lib/assert');\n")], &[]);
    check(
        "Let `lib/same.js` compare lists.",
        &[("lib/same.js", SAME), CALC, ("test/all.test.js", test)],
        &[],
    );
    // Nothing imports it.
    check("", &[("lib/same.js", SAME), CALC], &[]);
    let dies = "die() {\n  echo \"$1\" >&2\n  exit 1\n}\nsum() {\n  echo $(($1 + $2))\n}\n";
    check("", &[("lib/math.sh", dies), ("tests/run.sh", ". lib/math.sh\ntest \"$(sum 1 2)\" = 3\n")], &[]);
    let checks = "def check_email(text):\n    return '@' in text\n\n\ndef verify_phone(text):\n    return text.isdigit()\n";
    check("", &[("forms.py", checks), ("tests/test_all.py", "from forms import check_email\n")], &[]);
}

#[test]
fn expected_results_that_only_tests_name() {
    let test = "def test_sum():\n    assert run() == open('expected/sum.json').read()\n";
    check(
        "",
        &[("expected/sum.json", "3\n"), ("calc.py", "sum = 3\n"), ("tests/test_calc.py", test)],
        &["expected/sum.json"],
    );
    let folder = "def test_all():\n    for it in Path('golden').iterdir():\n        assert run(it) == it.read_text()\n";
    check("", &[("golden/a.txt", "1\n"), ("calc.py", ""), ("tests/test_calc.py", folder)], &["golden/a.txt"]);
    check("", &[("out.golden", "1\n"), ("tests/run.sh", "./app | diff - out.golden\n")], &["out.golden"]);
}

#[test]
fn data_that_is_work() {
    let test = "def test_sum():\n    assert rates() == json.load(open('data/rates.json'))\n";
    check("", &[("data/rates.json", "3\n"), ("tests/test_calc.py", test)], &[]);
    let of_work = ("calc.py", "REFERENCE = open('reference/rates.json')\n");
    let test = "def test_sum():\n    assert rates() == json.load(open('reference/rates.json'))\n";
    check("", &[("reference/rates.json", "3\n"), of_work, ("tests/test_calc.py", test)], &[]);
    let by_folder = ("calc.py", "for it in os.listdir(\"fixtures\"):\n    load(it)\n");
    let test = "assert load() == open('fixtures/a.json')\n";
    check("", &[("fixtures/a.json", "3\n"), by_folder, ("tests/test_calc.py", test)], &[]);
    check(
        "",
        &[("golden/a.txt", "1\n"), ("tests/test_calc.py", "def test_a():\n    assert f() == 1\n")],
        &[],
    );
    check(
        "",
        &[("docs/reference/api.md", "1\n"), ("tests/test_docs.py", "open('docs/reference/api.md')\n")],
        &[],
    );
    let test = "assert run() == open('expected/sum.json').read()\n";
    check("Correct `expected/sum.json`.", &[("expected/sum.json", "3\n"), ("tests/test_calc.py", test)], &[]);
}
