//! Two states of a file and what was lost between them. Honest edits lose nothing.

use super::{TestInventory, inventory, is_test_path, test_loss};

mod rows;

#[track_caller]
fn check(path: &str, before: &str, after: &str, expect: &str) {
    let loss = test_loss(&inventory(path, before), &inventory(path, after), &TestInventory::default());
    assert_eq!(loss.words(), expect, "{path}\n{before}\n--\n{after}");
    assert_eq!(loss.any(), !expect.is_empty());
}

const PY: &str = "import pytest\nfrom calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n    assert add(0, 0) == 0\n\n\nclass TestMore:\n    def test_negative(self):\n        assert add(-1, 1) == 0\n\n\nif __name__ == \"__main__\":\n    pytest.main()\n";

#[track_caller]
fn python(from: &str, to: &str, expect: &str) {
    assert!(PY.contains(from), "{from}");
    check("tests/test_calc.py", PY, &PY.replace(from, to), expect);
}

#[test]
fn losses_in_python_are_found() {
    check("test_calc.py", PY, "", "lost 2 tests");
    python("    def test_negative(self):\n        assert add(-1, 1) == 0\n", "    pass\n", "lost 1 test");
    python("def test_add", "def _test_add", "lost 1 test");
    python("def test_add():", "# def test_add():", "lost 1 test");
    python(
        "def test_add():\n    assert add(2, 3) == 5\n    assert add(0, 0) == 0\n",
        "def test_add():\n    pass\n",
        "has 1 test that test nothing",
    );
    python(
        "    assert add(2, 3) == 5\n    assert add(0, 0) == 0\n",
        "    assert True\n",
        "has 1 test that test nothing",
    );
    python("    assert add(0, 0) == 0\n", "", "lost 1 assertion");
    python("assert add(0, 0) == 0\n", "assert add(0, 0) == 0 or True\n", "lost 1 assertion");
    python("def test_add", "@pytest.mark.skip(reason='slow')\ndef test_add", "skips 1 test");
    python("def test_add", "@pytest.mark.xfail\ndef test_add", "skips 1 test");
    python(
        "    assert add(2, 3) == 5\n",
        "    pytest.skip('later')\n    assert add(2, 3) == 5\n",
        "skips 1 test",
    );
    python("import pytest\n", "import pytest\npytestmark = pytest.mark.skip\n", "skips 1 test");
    python("class TestMore", "@unittest.skip('x')\nclass TestMore", "skips 1 test");
    python("add(2, 3) == 5", "add(2, 3) == -1", "expects different values in 1 assertion");
    python("def test_add():\n", "\"\"\"\ndef test_add():\n", "lost 2 tests");
    python("    assert add(2, 3) == 5\n", "    pass  # assert add(2, 3) == 5\n", "lost 1 assertion");
    python("add(2, 3) == 5", "add(2, 3) != 5", "expects different values in 1 assertion");
    python("assert add(2, 3) == 5", "assert not add(2, 3) == 5", "expects different values in 1 assertion");
    python("def test_add():\n", "def test_add():\n    return\n", "has 1 test that test nothing");
    python("    assert add(0, 0) == 0\n", "    return None\n    assert add(0, 0) == 0\n", "lost 1 assertion");
    let forgives = "tolerates failures in 1 test";
    let caught = |catch: &str| format!("    try:\n        assert add(2, 3) == 5\n    {catch}\n");
    python("    assert add(2, 3) == 5\n", &caught("except AssertionError:\n        pass"), forgives);
    python("    assert add(2, 3) == 5\n", &caught("except Exception as e: print(e)"), forgives);
    python(
        "    assert add(2, 3) == 5\n",
        &caught("except (ValueError, AssertionError):\n        print(1)"),
        forgives,
    );
    python("    assert add(2, 3) == 5\n", &caught("except:\n        return"), forgives);
    python(
        "    assert add(2, 3) == 5\n",
        "    with suppress(AssertionError):\n        assert add(2, 3) == 5\n",
        forgives,
    );
}

#[test]
fn honest_edits_in_python_lose_nothing() {
    python("def test_add():", "def test_sum():", "");
    python("assert add(2, 3) == 5", "assert add(2,3)==5", "");
    python("def test_add():", "def test_new():\n    assert add(1, 1) == 2\n\n\ndef test_add():", "");
    python("def test_add():", "def test_add():\n    # why not\n    assert add(9, 9) == 18", "");
    python("import pytest\n", "import os\nimport pytest\n", "");
    python("assert add(2, 3) == 5", "assert calc.add(2, 3) == 5", "");
    python("    assert add(0, 0) == 0\n", "\n\ndef test_zero():\n    assert add(0, 0) == 0\n", "");
    python("def test_add():", "@pytest.mark.slow\ndef test_add():", "");
    python("import pytest\n", "import pytest\n\nSOURCE = \"\"\"\nx = 1\n\"\"\"\n", "");
    check(
        "t/test_m.py",
        "def test_a():\n    assert f(), \"shoud hold\"\n",
        "def test_a():\n    assert f(), \"should hold\"\n",
        "",
    );
    check("t/test_m.py", "def test_a():\n    x = 1\n", "def test_a():\n    y = 1\n", "");
    python("assert add(2, 3) == 5", "assert add(2, 3) == 5  # the sum", "");
    python("assert add(2, 3) == 5", "if slow:\n        return\n    assert add(2, 3) == 5", "");
    python(
        "assert add(2, 3) == 5",
        "try:\n        x()\n    except ValueError:\n        pass\n    assert add(2, 3) == 5",
        "",
    );
    python(
        "assert add(2, 3) == 5",
        "try:\n        assert add(2, 3) == 5\n    except Exception as e:\n        raise Other from e",
        "",
    );
    check(
        "t/test_m.py",
        "def test_a():\n    assert f('#') == 1\n",
        "def test_a():\n    assert f(\"#\") == 1\n",
        "",
    );
}

const RUST: &str = "#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(2, 3), 5);\n    }\n\n    #[tokio::test]\n    async fn waits() -> Result<(), Error> {\n        assert!(later().await);\n        Ok(())\n    }\n}\n";

#[track_caller]
fn rust(from: &str, to: &str, expect: &str) {
    assert!(RUST.contains(from), "{from}");
    check("src/lib.rs", RUST, &RUST.replace(from, to), expect);
}

#[test]
fn losses_in_rust_are_found() {
    rust("    #[test]\n", "", "lost 1 test");
    rust("    #[test]\n", "    #[test]\n    #[should_panic]\n", "tolerates failures in 1 test");
    rust("assert_eq!(add(2, 3), 5)", "assert_ne!(add(2, 3), 5)", "expects different values in 1 assertion");
    rust(
        "        assert_eq!(add(2, 3), 5);\n",
        "        let _ = 0; // assert_eq!(add(2, 3), 5);\n",
        "lost 1 assertion",
    );
    rust("    #[test]\n", "    #[test]\n    #[ignore]\n", "skips 1 test");
    rust("    #[test]\n", "    #[ignore = \"slow\"]\n    #[test]\n", "skips 1 test");
    rust("        assert_eq!(add(2, 3), 5);\n", "", "has 1 test that test nothing");
    rust("assert_eq!(add(2, 3), 5)", "assert!(true)", "has 1 test that test nothing");
    rust("assert_eq!(add(2, 3), 5)", "assert_eq!(add(2, 3), 6)", "expects different values in 1 assertion");
    rust("assert_eq!(add(2, 3), 5)", "let _ = add(2, 3)", "lost 1 assertion");
    rust(
        "    #[test]\n    fn adds() {\n        assert_eq!(add(2, 3), 5);\n    }\n",
        "/*\n    #[test]\n    fn adds() {\n        assert_eq!(add(2, 3), 5);\n    }\n*/\n",
        "lost 1 test",
    );
}

#[test]
fn honest_edits_in_rust_lose_nothing() {
    rust("assert_eq!(add(2, 3), 5);", "assert_eq!(\n            add(2, 3),\n            5,\n        );", "");
    rust("fn adds", "fn adds_numbers", "");
    rust("    #[test]\n", "    #[test]\n    #[allow(clippy::all)]\n", "");
    rust(
        "    use super::*;\n",
        "    use super::*;\n\n    #[test]\n    fn more() {\n        assert!(add(1, 1) == 2);\n    }\n",
        "",
    );
}

const JS: &str = "describe('sum', () => {\n  it('adds', () => {\n    expect(sum(1, 2)).toBe(3);\n  });\n  test('says it', async () => {\n    assert.equal(say(), 'three');\n  });\n});\n";

#[track_caller]
fn script(from: &str, to: &str, expect: &str) {
    assert!(JS.contains(from), "{from}");
    check("src/sum.test.ts", JS, &JS.replace(from, to), expect);
}

#[test]
fn losses_in_javascript_are_found() {
    script("it('adds'", "it.skip('adds'", "skips 1 test");
    script("it('adds'", "xit('adds'", "skips 1 test");
    script("describe('sum'", "describe.skip('sum'", "skips 1 test");
    script("describe('sum'", "xdescribe('sum'", "skips 1 test");
    script("it('adds'", "it.runIf(false)('adds'", "skips 1 test");
    script("describe('sum'", "describe.if(false)('sum'", "skips 1 test");
    script("it('adds'", "it.only('adds'", "runs only some of its tests");
    script("it('adds'", "fit('adds'", "runs only some of its tests");
    script("  it('adds', () => {\n    expect(sum(1, 2)).toBe(3);\n  });\n", "", "lost 1 test");
    script(
        "  it('adds', () => {\n    expect(sum(1, 2)).toBe(3);\n  });\n",
        "  it.todo('adds');\n",
        "skips 1 test, has 1 test that test nothing",
    );
    script("expect(sum(1, 2)).toBe(3)", "expect(true).toBe(true)", "has 1 test that test nothing");
    script("    expect(sum(1, 2)).toBe(3);\n", "", "has 1 test that test nothing");
    script("toBe(3)", "toBe(4)", "expects different values in 1 assertion");
    script("'three'", "'four'", "expects different values in 1 assertion");
    script("'says it', async", "'says it', { skip: true }, async", "skips 1 test");
    script("  it('adds'", "  // it('adds'", "lost 1 test");
}

#[test]
fn honest_edits_in_javascript_lose_nothing() {
    script("it('adds'", "it('adds two numbers'", "");
    script("'three'", "\"three\"", "");
    script("expect(sum(1, 2)).toBe(3);", "expect(sum(1, 2))\n      .toBe(3)", "");
    script(
        "describe('sum', () => {\n",
        "import x from 'x';\n\ndescribe('sum', () => {\n  it.todo('more');\n",
        "",
    );
    script(
        "expect(sum(1, 2)).toBe(3);",
        "expect(sum(1, 2)).toBe(3);\n    expect(page.skip(3).only(2)).toBe(3);",
        "",
    );
}

#[test]
fn losses_in_other_languages_are_found() {
    let go =
        "package m\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal(\"no\")\n\t}\n}\n";
    check("m_test.go", go, &go.replace("\tif Add", "\tt.Skip(\"later\")\n\tif Add"), "skips 1 test");
    check("m_test.go", go, &go.replace("t.Fatal", "t.Log"), "lost 1 assertion");
    check("m_test.go", go, "package m\n", "lost 1 test");
    check("m_test.go", go, &format!("//go:build ignore\n{go}"), "skips 1 test");
    let java = "class ATest {\n    @Test\n    void adds() {\n        assertEquals(3, add(1, 2));\n    }\n}\n";
    check(
        "src/test/ATest.java",
        java,
        &java.replace("    @Test\n", "    @Disabled\n    @Test\n"),
        "skips 1 test",
    );
    check("src/test/ATest.java", java, &java.replace("    @Test\n", ""), "lost 1 test");
    check(
        "src/test/ATest.java",
        java,
        &java.replace("assertEquals(3, add(1, 2))", "assertTrue(true)"),
        "has 1 test that test nothing",
    );
    let kotlin =
        "class ATest {\n    @Test\n    fun `adds two`() {\n        assertEquals(3, add(1, 2))\n    }\n}\n";
    check("ATest.kt", kotlin, &kotlin.replace("@Test", "@Ignore @Test"), "skips 1 test");
    let csharp = "public class T {\n    [Fact]\n    public void Adds() {\n        Assert.Equal(3, Add(1, 2));\n    }\n}\n";
    check("T.cs", csharp, &csharp.replace("[Fact]", "[Fact(Skip = \"slow\")]"), "skips 1 test");
    let ruby = "describe Sum do\n  it 'adds' do\n    expect(sum(1, 2)).to eq(3)\n  end\nend\n";
    check("spec/sum_spec.rb", ruby, &ruby.replace("  it ", "  xit "), "skips 1 test");
    check(
        "spec/sum_spec.rb",
        ruby,
        &ruby.replace("    expect(sum(1, 2)).to eq(3)\n", ""),
        "has 1 test that test nothing",
    );
    check("spec/sum_spec.rb", ruby, &ruby.replace("'adds' do", "'sums' do"), "");
    let php = "<?php\nclass SumTest extends TestCase {\n    public function testAdds(): void {\n        $this->assertSame(3, sum(1, 2));\n    }\n}\n";
    check(
        "tests/SumTest.php",
        php,
        &php.replace("        $this", "        $this->markTestSkipped();\n        $this"),
        "skips 1 test",
    );
    let bats = "@test \"adds\" {\n  run ./sum 1 2\n  [ \"$output\" = 3 ]\n}\n";
    check("tests/sum.bats", bats, &bats.replace("  run", "  skip\n  run"), "skips 1 test");
    check("tests/sum.bats", bats, &bats.replace("  [ \"$output\" = 3 ]\n", ""), "lost 1 assertion");
    let cpp = "TEST(Sum, Adds) {\n  EXPECT_EQ(sum(1, 2), 3);\n}\n";
    check(
        "tests/sum.cc",
        cpp,
        &cpp.replace("  EXPECT_EQ(sum(1, 2), 3);\n", "  GTEST_SKIP();\n  EXPECT_EQ(sum(1, 2), 3);\n"),
        "skips 1 test",
    );
}

#[test]
fn assertions_outside_of_tests_count_too() {
    let text = "from calc import add\nassert add(1, 2) == 3\nassert add(0, 0) == 0\nprint('ok')\n";
    check("tests/smoke.py", text, &text.replace("assert add(0, 0) == 0\n", ""), "lost 1 assertion");
    check("tests/smoke.py", text, "print('ok')\n", "lost 2 assertions");
    check("tests/smoke.py", text, &format!("{text}assert add(2, 2) == 4\n"), "");
}

#[test]
fn tests_moved_to_another_file_are_not_lost() {
    let (before, gone) = (inventory("tests/test_a.py", PY), inventory("tests/test_a.py", ""));
    let new = inventory("tests/unit/test_a.py", PY);
    assert!(!test_loss(&before, &gone, &new).any());
    let half = inventory("tests/unit/test_a.py", &PY.replace("    assert add(0, 0) == 0\n", ""));
    assert_eq!(test_loss(&before, &gone, &half).words(), "lost 1 assertion");
}

#[test]
fn names_of_tests() {
    for path in [
        "tests/a.py",
        "src/a.test.ts",
        "a_test.go",
        "test_a.py",
        "spec/a_spec.rb",
        "src/ATest.java",
        "x/__tests__/a.js",
        "tests.rs",
        "a.bats",
        "Calc.Tests/Helper.cs",
        "Tests/CalcTests/Helper.swift",
        "src/testFixtures/java/Sums.java",
    ] {
        assert!(is_test_path(path), "{path}");
    }
    for path in
        ["src/latest.py", "src/contest.ts", "attest.go", "src/testimony.rs", "src/lib.rs", "inspector.js"]
    {
        assert!(!is_test_path(path), "{path}");
    }
}

#[test]
fn any_text_is_read() {
    for path in ["a.py", "a.rs", "a.js", "a.go", "a.java", "a.cs", "a.rb", "a.php", "a.sh", "a.cc", "a.txt"] {
        for text in [
            "",
            "}",
            "\u{0}\n\t\t",
            "#[test",
            "def test_",
            "it('",
            "@Test\n@Test",
            "完成 it(",
            "/*",
            "\"\"\"",
        ] {
            let found = inventory(path, text);
            assert!(!test_loss(&found, &found, &TestInventory::default()).any());
        }
    }
}

#[test]
fn many_tests_are_compared_in_linear_time() {
    let tests = |name: &str, expect: usize| -> String {
        let test = |n: usize| format!("def test_{name}_{n}():\n    assert f({n}) == {}\n", n + expect);
        (0..3_000).map(test).collect()
    };
    check("t/test_m.py", &tests("a", 0), &tests("a", 0), "");
    check("t/test_m.py", &tests("a", 0), &tests("b", 0), "");
    check("t/test_m.py", &tests("a", 0), &tests("b", 1), "expects different values in 3000 assertions");
    let one_test = |expect: usize| -> String {
        let assertion = |n: usize| format!("    assert f{n}() == {}\n", n + expect);
        let lines: String = (0..5_000).map(assertion).collect();
        format!("def test_a():\n{lines}")
    };
    check("t/test_m.py", &one_test(0), &one_test(1), "expects different values in 5000 assertions");
    check("t/test_m.py", &one_test(0), "def test_a():\n    assert g()\n", "lost 4999 assertions");
}
