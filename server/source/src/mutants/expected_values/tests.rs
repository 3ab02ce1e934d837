//! Assertions of equality in each language, and the values put in place of the expected ones.

use super::{ExpectedValue, batches, expected_values, with_other_values};

#[track_caller]
fn check(path: &str, text: &str, expect: &[&str]) {
    let values = expected_values(path, text);
    let line = |it: &ExpectedValue| {
        let changed = with_other_values(text, std::iter::once(it));
        changed.lines().nth(it.line as usize - 1).unwrap_or_default().trim().to_owned()
    };
    assert_eq!(values.iter().map(line).collect::<Vec<_>>(), expect, "{text}");
}

fn in_python(body: &str) -> String {
    let lines: Vec<&str> = body.lines().collect();
    format!("def test_it():\n    {}\n", lines.join("\n    "))
}

#[test]
fn assertions_of_python() {
    let one = |body: &str, expect: &str| check("tests/test_a.py", &in_python(body), &[expect]);
    one("assert add(1, 2) == 3", "assert add(1, 2) == 2");
    one("assert 3 == add(1, 2), 'sum'", "assert 2 == add(1, 2), 'sum'");
    one("assert name() == \"a\"", "assert name() == \"~a\"");
    one("assert name() == ''", "assert name() == '~'");
    one("assert rows() == [10, 2]", "assert rows() == [11, 2]");
    one("assert (add(1, 2) == 3)", "assert (add(1, 2) == 2)");
    one("assert ok() == True", "assert ok() == False");
    one("assert price() == 1.50", "assert price() == 0.50");
    one("self.assertEqual(add(1, 2), 3)", "self.assertEqual(add(1, 2), 2)");
    one("self.assertEqual(-3, add(1, 2), 'sum')", "self.assertEqual(-2, add(1, 2), 'sum')");
}

#[test]
fn assertions_that_may_pass_with_another_value_are_ignored() {
    let one = |body: &str| check("tests/test_a.py", &in_python(body), &[]);
    one("assert add(1, 2) > 3");
    one("assert add(1, 2) != 3");
    one("assert not add(1, 2) == 3");
    one("assert add(1, 2) == 3 or slow()");
    one("assert add(1, 2) == pytest.approx(3)");
    one("assert 1 == 1");
    one("assert a == b == 3");
    one("assert 3 in sums()");
    one("assert x is 3");
    one("self.assertAlmostEqual(add(1, 2), 3)");
    one("self.assertEqual(add(1, 2), 0x10)");
    one("self.assertEqual(add(1, 2), 1e9)");
    one("self.assertEqual(add(1, 2), 3, delta)");
    one("if slow:\n    assert add(1, 2) == 3");
    one("for a in sums:\n    assert add(a) == 3");
    one("with raises(AssertionError):\n    assert add(1, 2) == 3");
    one("return\nassert add(1, 2) == 3");
    check("tests/test_a.py", "@pytest.mark.skip\ndef test_it():\n    assert add(1, 2) == 3\n", &[]);
    check("calc.py", "def add(a, b):\n    return a == 3\n", &[]);
}

#[test]
fn assertions_of_javascript() {
    let one = |body: &str, expect: &[&str]| {
        check("test/a.test.js", &format!("test('it', () => {{\n  {body}\n}});\n"), expect);
    };
    one("assert.strictEqual(add(1, 2), 3);", &["assert.strictEqual(add(1, 2), 2);"]);
    one("expect(add(1, 2)).toBe(3);", &["expect(add(1, 2)).toBe(2);"]);
    one("expect(rows()).toEqual(['a', 'b']);", &["expect(rows()).toEqual(['~a', 'b']);"]);
    one("expect(add(1, 2)).to.equal(3);", &["expect(add(1, 2)).to.equal(2);"]);
    one("expect(rows()).to.deep.equal([1]);", &["expect(rows()).to.deep.equal([0]);"]);
    one("t.is(add(1, 2), 3);", &["t.is(add(1, 2), 2);"]);
    one("assert(add(1, 2) === 3);", &["assert(add(1, 2) === 2);"]);
    one("expect(add(1, 2)).not.toBe(3);", &[]);
    one("expect(add(1, 2)).toBeCloseTo(3);", &[]);
    one("await expect(load()).resolves.toBe(3);", &[]);
    one("expect(add(1, 2)).toEqual(expect.anything());", &[]);
    one("assert.throws(() => assert.equal(add(1, 2), 3));", &[]);
    check(
        "a.test.ts",
        "it('adds', () => expect(add(1, 2)).toBe(3));\n",
        &["it('adds', () => expect(add(1, 2)).toBe(2));"],
    );
    check("a.test.ts", "it.only('adds', () => {\n  expect(add(1, 2)).toBe(3);\n});\n", &[]);
    check(
        "tests/run.js",
        "const assert = require('assert');\nassert.strictEqual(add(1, 2), 3);\nassert.strictEqual(double(4), 8);\n",
        &["assert.strictEqual(add(1, 2), 2);", "assert.strictEqual(double(4), 7);"],
    );
}

#[test]
fn assertions_of_compiled_languages() {
    check(
        "src/lib.rs",
        "#[cfg(test)]\nmod tests {\n    #[test]\n    fn small() {\n        assert_eq!(add(1, 2), 3);\n        assert_eq!(name(), \"a\", \"why {}\", 1);\n        assert!(add(1, 2) == 3);\n        assert_eq!(letter(), 'a');\n        assert_eq!(rows(), vec![255u8]);\n    }\n}\n",
        &[
            "assert_eq!(add(1, 2), 2);",
            "assert_eq!(name(), \"~a\", \"why {}\", 1);",
            "assert!(add(1, 2) == 2);",
            "assert_eq!(rows(), vec![254u8]);",
        ],
    );
    check("tests/a.rs", "#[test]\n#[should_panic]\nfn small() {\n    assert_eq!(add(1, 2), 3);\n}\n", &[]);
    check(
        "calc_test.go",
        "func TestAdd(t *testing.T) {\n\tif got := Add(1, 2); got != 3 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n\tassert.Equal(t, 10, Add(5, 5))\n\tif Add(1, 2) != 3 {\n\t\treturn\n\t}\n}\n",
        &["if got := Add(1, 2); got != 2 {", "assert.Equal(t, 11, Add(5, 5))"],
    );
    check(
        "src/test/java/CalcTest.java",
        "class CalcTest {\n    @Test\n    public void small() {\n        assertEquals(3, Calc.add(1, 2));\n        assertEquals(1.5, Calc.half(3), 0.01);\n        assertEquals(\"sum\", 3, Calc.add(1, 2));\n        assertThat(Calc.add(1, 2)).isEqualTo(3);\n    }\n}\n",
        &[
            "assertEquals(2, Calc.add(1, 2));",
            "assertEquals(\"sum\", 2, Calc.add(1, 2));",
            "assertThat(Calc.add(1, 2)).isEqualTo(2);",
        ],
    );
    check(
        "tests/main.c",
        "int main(void) {\n  assert(add(1, 2) == 3);\n  assert(twice(4) == 8 && add(0, 0) == 0);\n  return 0;\n}\n",
        &["assert(add(1, 2) == 2);"],
    );
    check("a_test.cc", "TEST(Sums, Small) {\n  EXPECT_EQ(add(1, 2), 3);\n}\n", &["EXPECT_EQ(add(1, 2), 2);"]);
}

#[test]
fn assertions_of_other_languages() {
    check(
        "test/calc_test.rb",
        "class CalcTest < Minitest::Test\n  def test_small\n    assert_equal 3, Calc.add(1, 2)\n    assert_equal(3, Calc.add(1, 2))\n  end\nend\n",
        &["assert_equal(2, Calc.add(1, 2))"],
    );
    check(
        "spec/calc_spec.rb",
        "it 'adds' do\n  expect(Calc.add(1, 2)).to eq(3)\n  expect(Calc.add(1, 2)).not_to eq(4)\nend\n",
        &["expect(Calc.add(1, 2)).to eq(2)"],
    );
    check(
        "tests/CalcTest.php",
        "<?php\nclass CalcTest extends TestCase {\n    public function testSmall() {\n        $this->assertSame(3, add(1, 2));\n    }\n}\n",
        &["$this->assertSame(2, add(1, 2));"],
    );
}

#[test]
fn failures_and_errors_of_syntax_take_the_place_of_a_value() {
    let text = in_python("assert add(1, 2) == 3");
    let values = expected_values("tests/test_a.py", &text);
    let [value] = values.as_slice() else { panic!("{values:?}") };
    assert_eq!(
        value.with_failure(&text).unwrap_or_default(),
        in_python("assert False; assert add(1, 2) == 3")
    );
    assert_eq!(value.with_syntax_error(&text), in_python("assert add(1, 2) == )]})"));
    assert_eq!(value.describe(&text), ("3".to_owned(), "2".to_owned()));
    // The body of a function without braces is one expression.
    let text = "it('adds', () => expect(add(1, 2)).toBe(3));\n";
    let head = expected_values("a.test.ts", text);
    assert!(head.first().is_some_and(|it| it.with_failure(text).is_none()));
}

#[test]
fn each_batch_has_one_value_of_a_test() {
    let text = "def test_a():\n    assert f() == 1\n    assert f() == 2\n\ndef test_b():\n    assert f() == 3\n\nassert f() == 4\nassert f() == 5\n";
    let lines = |it: &Vec<ExpectedValue>| it.iter().map(|it| it.line).collect::<Vec<_>>();
    let found: Vec<Vec<u32>> = batches(expected_values("tests/test_a.py", text)).iter().map(lines).collect();
    assert_eq!(found, [vec![2, 6, 8, 9], vec![3]]);
}
