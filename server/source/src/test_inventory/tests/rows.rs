//! The values that parametrised tests run with.

use super::check;

const PYTEST: &str = "import pytest\n\n\n@pytest.mark.parametrize(\n    \"a, b, want\",\n    [\n        (1, 2, 3),\n        (5, 5, 10),\n    ],\n)\ndef test_sums(a, b, want):\n    assert add(a, b) == want\n";
const GO: &str = "func TestTable(t *testing.T) {\n\tcases := []struct{ a, b, want int }{\n\t\t{1, 2, 3},\n\t\t{5, 5, 10},\n\t}\n\tfor _, it := range cases {\n\t\tif got := Add(it.a, it.b); got != it.want {\n\t\t\tt.Errorf(\"got %d\", got)\n\t\t}\n\t}\n}\n";
const JEST: &str = "test.each([\n  [1, 2, 3],\n  [5, 5, 10],\n])('%i + %i', (a, b, want) => {\n  expect(add(a, b)).toBe(want);\n});\n";
const JUNIT: &str = "class CalcTest {\n    @ParameterizedTest\n    @ValueSource(ints = {1, 2, 3})\n    void positive(int a) {\n        assertTrue(add(a, a) > 0);\n    }\n\n    @ParameterizedTest\n    @CsvSource({\"1, 2, 3\", \"5, 5, 10\"})\n    void sums(int a, int b, int want) {\n        assertEquals(want, add(a, b));\n    }\n}\n";
const RSTEST: &str = "#[rstest]\n#[case(1, 2, 3)]\n#[case(5, 5, 10)]\nfn sums(#[case] a: i64, #[case] b: i64, #[case] want: i64) {\n    assert_eq!(add(a, b), want);\n}\n";
const XUNIT: &str = "public class CalcTests {\n    [Theory]\n    [InlineData(1, 2, 3)]\n    [InlineData(5, 5, 10)]\n    public void Sums(int a, int b, int want) {\n        Assert.Equal(want, Calc.Add(a, b));\n    }\n}\n";

#[track_caller]
fn replaced(path: &str, text: &str, (from, to): (&str, &str), expect: &str) {
    assert!(text.contains(from), "{from}");
    check(path, text, &text.replace(from, to), expect);
}

#[test]
fn rows_that_are_lost() {
    let (one, two) = ("lost 1 test case", "lost 2 test cases");
    replaced("test_a.py", PYTEST, ("        (5, 5, 10),\n", ""), one);
    replaced("test_a.py", PYTEST, ("(1, 2, 3),\n        (5, 5, 10),\n", ""), two);
    replaced("test_a.py", PYTEST, ("        (5, 5, 10),\n", "        # (5, 5, 10),\n"), one);
    replaced("a_test.go", GO, ("\t\t{5, 5, 10},\n", ""), one);
    replaced("a_test.go", GO, ("range cases {", "range cases[:1] {"), "runs only some of its tests");
    replaced("a.test.js", JEST, ("  [5, 5, 10],\n", ""), one);
    replaced("CalcTest.java", JUNIT, ("{1, 2, 3}", "{1}"), two);
    replaced("CalcTest.java", JUNIT, (", \"5, 5, 10\"", ""), one);
    replaced("tests/a.rs", RSTEST, ("#[case(5, 5, 10)]\n", ""), one);
    replaced("CalcTests.cs", XUNIT, ("    [InlineData(5, 5, 10)]\n", ""), one);
    let numbers = "@pytest.mark.parametrize('a', [1, 2, 3])\ndef test_a(a):\n    assert add(a, a) > 0\n";
    replaced("test_a.py", numbers, ("[1, 2, 3]", "[1]"), two);
}

#[test]
fn rows_with_other_values() {
    let one = "changed 1 test case";
    replaced("test_a.py", PYTEST, ("(5, 5, 10)", "(5, 5, 0)"), one);
    replaced("test_a.py", PYTEST, ("(5, 5, 10)", "(5, 0, 5)"), one);
    replaced("a_test.go", GO, ("{5, 5, 10}", "{5, 5, -1}"), one);
    replaced("a.test.js", JEST, ("[5, 5, 10]", "[5, 5, 0]"), one);
    replaced("CalcTest.java", JUNIT, ("\"5, 5, 10\"", "\"5, 5, 0\""), one);
    replaced("tests/a.rs", RSTEST, ("case(5, 5, 10)", "case(5, 5, 0)"), one);
    replaced("CalcTests.cs", XUNIT, ("(5, 5, 10)", "(5, 5, 0)"), one);
}

#[test]
fn rows_that_are_added_or_written_in_another_way() {
    replaced("test_a.py", PYTEST, ("(5, 5, 10),", "(5, 5, 10),\n        (2, 2, 4),"), "");
    replaced("test_a.py", PYTEST, ("(5, 5, 10)", "pytest.param(5, 5, 10, id=\"five\")"), "");
    replaced("test_a.py", PYTEST, ("(1, 2, 3),\n        (5, 5, 10),", "(5, 5, 10), (1, 2, 3)"), "");
    replaced("a_test.go", GO, ("{5, 5, 10}", "{a: 5, b: 5, want: 10}"), "");
    replaced("a_test.go", GO, ("got %d", "sum is %d"), "");
    replaced("a.test.js", JEST, ("[5, 5, 10]", "[ 5, 5, 10 ]"), "");
    replaced("a.test.js", JEST, ("[5, 5, 10]", "[\"five\", 5, 5, 10]"), "");
    replaced("CalcTest.java", JUNIT, ("{1, 2, 3}", "{1, 2, 3, 4}"), "");
    replaced("tests/a.rs", RSTEST, ("#[case(5, 5, 10)]", "#[case(5, 5, 10)]\n#[case(2, 2, 4)]"), "");
    // A table became tests of its own.
    let single = "def test_small():\n    assert add(1, 2) == 3\n\n\ndef test_five():\n    assert add(5, 5) == 10\n\n\ndef test_more():\n    assert add(1, 1) == 2\n";
    check("test_a.py", PYTEST, single, "");
    // Inputs of calls are no rows.
    let call = "def test_a():\n    data = load((1, 2), (3, 4))\n    assert data\n";
    replaced("test_a.py", call, ("(1, 2), ", ""), "");
}
