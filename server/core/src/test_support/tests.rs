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

#[test]
fn helpers_of_the_same_package_need_no_import() {
    let equal = "package calc\n\nimport \"testing\"\n\nfunc equal(t testing.TB, got, want int) {}\n";
    let calc = ("calc.go", "package calc\n\nfunc Add(a, b int) int { return a + b }\n");
    let test = ("calc_test.go", "package calc\n\nfunc TestAdd(t *testing.T) { equal(t, Add(1, 2), 3) }\n");
    check("", &[("helpers.go", equal), calc, test], &["helpers.go"]);
    let used = ("calc.go", "package calc\n\nfunc Add(a, b int) int { equal(nil, a, b); return a + b }\n");
    check("", &[("helpers.go", equal), used, test], &[]);
    // Another package has a function of this name.
    let other = ("web/a.go", "package web\n\nfunc run() { equal(1, 2) }\n");
    check("", &[("helpers.go", equal), calc, other, test], &["helpers.go"]);
    let exported =
        "package want\n\nimport (\n\t\"testing\"\n)\n\nfunc Equal(t testing.TB, got, want int) {}\n";
    let test =
        ("calc_test.go", "package calc\n\nfunc TestAdd(t *testing.T) { want.Equal(t, Add(1, 2), 3) }\n");
    check("", &[("want/want.go", exported), calc, test], &["want/want.go"]);
    let used = ("calc.go", "package calc\n\nfunc Add(a, b int) int { return want.Equal(nil, a, b) }\n");
    check("", &[("want/want.go", exported), used, test], &[]);
    // A package without tests in it.
    check("", &[("sum.go", "package calc\n\nfunc Sum() {}\n"), ("calc_test.go", "Sum()\n")], &[]);
}

#[test]
fn helpers_are_types_of_their_name() {
    let java = "class TestHelper {\n    static void same(int a, int b) {}\n}\n";
    let test = ("src/CalcTest.java", "TestHelper.same(Calc.add(1, 2), 3);\n");
    check("", &[("src/TestHelper.java", java), test], &["src/TestHelper.java"]);
    let used = ("src/Calc.java", "class Calc {\n    int a = TestHelper.one();\n}\n");
    check("", &[("src/TestHelper.java", java), used, test], &[]);
    let junit = "import static org.junit.jupiter.api.Assertions.assertEquals;\n\nclass Sums {}\n";
    check("", &[("src/Sums.java", junit), ("src/CalcTest.java", "new Sums();\n")], &["src/Sums.java"]);
    check("", &[("src/Sums.java", "class Sums {}\n"), ("src/CalcTest.java", "new Sums();\n")], &[]);
    let asserts = "static class Check {\n    public static void AssertSum(int a) {}\n}\n";
    check(
        "",
        &[("Calc/Check.cs", asserts), ("Calc/CalcTests.cs", "Check.AssertSum(3);\n")],
        &["Calc/Check.cs"],
    );
    let xunit = "using Xunit;\n\nstatic class Sums {}\n";
    check("", &[("Calc/Sums.cs", xunit), ("Calc/CalcTests.cs", "Sums.Same(3);\n")], &["Calc/Sums.cs"]);
    let php = "<?php\ntrait SumAssertions\n{\n}\n";
    check(
        "",
        &[("src/SumAssertions.php", php), ("tests/CalcTest.php", "use SumAssertions;\n")],
        &["src/SumAssertions.php"],
    );
    let unit = "<?php\nuse PHPUnit\\Framework\\Assert;\n\nfinal class Sums\n{\n}\n";
    check("", &[("src/Sums.php", unit), ("tests/CalcTest.php", "new Sums();\n")], &["src/Sums.php"]);
}

#[test]
fn modules_of_rust_that_only_tests_contain() {
    let same = ("src/sums.rs", "pub fn same(a: i64, b: i64) {}\n");
    let check_in =
        |declaration: &str, expect: &[&str]| check("", &[("src/lib.rs", declaration), same], expect);
    check_in("#[cfg(test)]\nmod sums;\n", &["src/sums.rs"]);
    check_in("#[cfg(test)]\n#[allow(dead_code)]\npub(crate) mod sums;\n", &["src/sums.rs"]);
    check_in("#[cfg(test)]\nmod tests;\nmod sums;\n", &[]);
    check_in("#[cfg(not(test))]\nmod sums;\n", &[]);
    check_in("pub mod sums;\n", &[]);
    check_in("mod calc;\n", &[]);
    let folder = [
        ("src/lib.rs", "#[cfg(test)]\nmod help;\n"),
        ("src/help/mod.rs", "mod sums;\n"),
        ("src/help/sums.rs", ""),
    ];
    check("", &folder, &["src/help/mod.rs", "src/help/sums.rs"]);
    let below = [
        ("src/lib.rs", "mod calc;\n"),
        ("src/calc.rs", "#[cfg(test)]\nmod sums;\n"),
        ("src/calc/sums.rs", ""),
    ];
    check("", &below, &["src/calc/sums.rs"]);
    check("Extend `src/sums.rs`.", &[("src/lib.rs", "#[cfg(test)]\nmod sums;\n"), same], &[]);
}

#[test]
fn cases_that_only_tests_read() {
    let test =
        ("tests/test_calc.py", "for it in json.load(open('cases.json')):\n    assert f(it[0]) == it[1]\n");
    check("", &[("cases.json", "[]\n"), ("calc.py", ""), test], &["cases.json"]);
    let used = ("calc.py", "CASES = open('cases.json')\n");
    check("", &[("cases.json", "[]\n"), used, test], &[]);
    let vectors = ("tests/a.rs", "include_str!(\"../data/sha_vectors.txt\");\n");
    check("", &[("data/sha_vectors.txt", "1\n"), vectors], &["data/sha_vectors.txt"]);
}
