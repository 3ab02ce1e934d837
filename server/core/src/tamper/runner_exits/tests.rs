//! Files of tests that end their run or select its tests, and files that only resemble them.

use super::describe;

#[track_caller]
fn check(path: &str, after: &str, expect: &str) {
    assert_eq!(describe(path, "", after).unwrap_or_default(), expect, "{path}: {after}");
    assert_eq!(describe(path, after, after), None, "it was there at the start");
}

const ENDS: &str = "ends the run before its tests";

#[test]
fn files_that_end_the_run() {
    check("tests/test_a.py", "import sys\nsys.exit()\n", ENDS);
    check("tests/test_a.py", "raise SystemExit(0)\n", ENDS);
    check("test/setup.js", "process.exit(0);\n", ENDS);
    check("spec/a_spec.rb", "exit!\n", ENDS);
    check("spec/a_spec.rb", "exit 0\n", ENDS);
    check("tests/ATest.php", "<?php\nexit(0);\n", ENDS);
    check("t/a.t", "exit 0;\n", ENDS);
    check("a_test.go", "func init() {\n\tos.Exit(0)\n}\n", ENDS);
    check("a_test.go", "func init() {\n\tos.Args = os.Args[:1]\n}\n", ENDS);
}

#[test]
fn files_that_drop_the_result_or_select_tests() {
    let drops = "ignores the result of its tests";
    check("a_test.go", "func TestMain(m *testing.M) {\n\tm.Run()\n\tos.Exit(0)\n}\n", drops);
    check("a_test.go", "func TestMain(m *testing.M) { os.Exit(0) }\n", drops);
    check("a_test.go", "func TestMain(m *testing.M) {\n\tfmt.Println(\"ok\")\n}\n", drops);
    check(
        "a_test.go",
        "func TestMain(m *testing.M) {\n\tflag.Set(\"test.run\", \"TestOther\")\n\tos.Exit(m.Run())\n}\n",
        "runs only some of its tests",
    );
}

#[test]
fn files_that_let_their_tests_run() {
    check(
        "a_test.go",
        "func TestMain(m *testing.M) {\n\tcode := m.Run()\n\tstop()\n\tos.Exit(code)\n}\n",
        "",
    );
    check("a_test.go", "func TestMain(m *testing.M) {\n\tstart()\n\tm.Run()\n}\n", "");
    check("a_test.go", "func TestMain(m *testing.M) {\n\tgoleak.VerifyTestMain(m)\n}\n", "");
    check(
        "a_test.go",
        "func TestMain(m *testing.M) {\n\tif os.Getenv(\"HELPER\") != \"\" {\n\t\thelp()\n\t\tos.Exit(0)\n\t}\n\tos.Exit(m.Run())\n}\n",
        "",
    );
    check("a_test.go", "func TestFlags(t *testing.T) {\n\tos.Args = []string{\"app\"}\n}\n", "");
    check("tests/run.py", "sys.exit(main())\n", "");
    check("tests/test_a.py", "def test_a():\n    sys.exit(0)\n", "");
    check("test/a.test.js", "after(() => {\n  process.exit(0);\n});\n", "");
    check("spec/a_spec.rb", "it 'ends' do\n  exit 0\nend\n", "");
    check("app.py", "import sys\nsys.exit()\n", "");
}
