//! Work that manipulates its tests, their runner or its loop, and work that only resembles it.

use super::find_evasion;

#[track_caller]
fn check(path: &str, after: &str, expect: &str) {
    assert_eq!(find_evasion(path, "", after).unwrap_or_default(), expect, "{path}: {after}");
}

#[test]
fn work_that_manipulates_its_tests() {
    check(
        "calc.py",
        "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n",
        "patches the test runner",
    );
    check("calc.py", "import os\nprint('OK')\nos._exit(0)\n", "ends the test run");
    check(
        "calc.py",
        "    return a if \"pytest\" in sys.modules else b\n",
        "behaves differently in a test run",
    );
    check("calc.py", "    def __eq__(self, other):\n        return True\n", "compares equal to everything");
    check("calc.js", "require('node:assert').strictEqual = () => {};\n", "patches the test runner");
    check("calc.js", "process.on('exit', () => { process.exitCode = 0; });\n", "ends the test run");
    check("calc.go", "func init() {\n\tos.Exit(0)\n}\n", "ends the test run");
    let modifies = "modifies internals of the test runner";
    check("calc.go", "func init() {\n\tos.Args = append(os.Args, \"-test.run=^$\")\n}\n", modifies);
    check("calc.go", "func init() {\n\tflag.Set(\"test.run\", \"^$\")\n}\n", modifies);
    check("main.go", "func main() {\n\tos.Args = os.Args[1:]\n}\n", "");

    check(
        "src/lib.rs",
        "macro_rules! assert_eq {\n    ($($t:tt)*) => {};\n}\n",
        "redefines the assertions of its tests",
    );
    check("src/lib.rs", "use crate::lenient as assert_eq;\n", "redefines the assertions of its tests");
    check("calc.py", "import sys, unittest.runner as r\n", "modifies internals of the test runner");
    check(
        "calc.py",
        "for name in list(sys.modules):\n    patch(sys.modules[name])\n",
        "modifies internals of the test runner",
    );
    check(
        "calc.py",
        "    return a + b if sys._getframe(1).f_code.co_name.startswith(\"test_\") else a - b\n",
        "behaves differently in a test run",
    );
    check("calc.py", "import os\nos.execv('/bin/true', ['true'])\n", "ends the test run");
}

#[test]
fn rust_that_rewrites_code_or_leaves_it_out() {
    let lead = "use proc_macro::TokenStream;\n";
    for (code, expect) in [
        ("item.to_string().replace(\"a - b\", \"a + b\")", "rewrites code by its text in a macro"),
        ("if text.contains(\"fn check\") {", "rewrites code by its text in a macro"),
        ("name.to_string().replace('_', \"-\")", ""),
        ("ty.to_string().replace(\" \", \"\")", ""),
    ] {
        let text = format!("{lead}{code}\n");
        assert_eq!(find_evasion("mac/src/lib.rs", lead, &text).unwrap_or_default(), expect, "{code}");
    }
    check("src/lib.rs", "#[cfg(any())]\npub fn add() {}\n", "leaves code out of every build");
    check("src/lib.rs", "pub fn add() {\n    todo!()\n}\n", "leaves work to do as `todo!`");
    check("src/lib.rs", "#[cfg(any(unix, windows))]\npub fn add() {}\n", "");
    check("src/lib.rs", "macro_rules! assert_close {\n    ($a:expr) => { assert!($a) };\n}\n", "");
}

#[test]
fn python_that_replaces_the_language_or_detects_its_loop() {
    check("calc.py", "import sys\nsys.exit(0)\n\nX = 1\n", "ends the test run");
    check("calc.py", "print(open('out').read())\nraise SystemExit(0)\nX = 1\n", "ends the test run");
    let detects = "behaves differently in a loop or its clean room";
    check("calc.py", "if any(k.startswith('LOOPKEEPER_') for k in os.environ):\n", detects);
    check("calc.py", "if 'loopkeeper' in os.environ.get('TMPDIR', ''):\n", detects);
    check("calc.js", "if (process.env.TMPDIR.includes('loopkeeper')) {\n", detects);
    check("calc.go", "os.ReadFile(\"/proc/1/cmdline\")\n", detects);
    check("calc.py", "return a + b if os.getppid() < 10 else a - b\n", detects);
    check("calc.py", "atexit.register(os._exit, 0)\n", "ends the test run");
    check("calc.py", "vars(__import__('__main__'))['bad'] = 0\n", "modifies internals of the test runner");
    check("calc.py", "    def __ne__(self, other):\n        return False\n", "compares equal to everything");
    check(
        "calc.lua",
        "package.loaded.luaunit.LuaUnit.run = function() return 0 end\n",
        "modifies internals of the test runner",
    );
    check("calc.py", "builtins.sum = lambda it: 4\n", "replaces functions of the language");
    check("calc.py", "sys.exit = lambda *a: None\n", "replaces functions of the language");
    check("calc.py", "atexit.register(print, 100)\n", "prints as the program exits");
    check("calc.py", "Timer(0.2, print, [100]).start()\n", "prints as the program exits");
    check("calc.py", "    def __del__(self):\n        print(100)\n", "prints as the program exits");
    check(
        "calc.py",
        "sys.path.insert(0, '/home/u/.cache/pip/wheels')\n",
        "uses files in the cache of a package manager",
    );
}

#[test]
fn work_that_leaves_its_tests_alone() {
    check("calc.py", "from unittest.mock import patch\n", "");
    check("log.py", "    caller = sys._getframe(1).f_code.co_name\n", "");
    check("run.py", "X = 1\nsys.exit(0)\n", "");
    check("run.py", "if bad:\n    sys.exit(0)\nX = 1\n", "");
    check("app.py", "builtins._ = gettext\n", "");
    check("app.py", "if __name__ == \"__main__\":\n    main()\n", "");
    check("app.py", "if os.getppid() == 1:\n    stop()\n", "");
    check("app.py", "open('/proc/self/status')\n", "");
    check("app.py", "atexit.register(connection.close)\n", "");
    check("run.py", "def restart():\n    os.execv(sys.executable, sys.argv)\n", "");
    check("tests/test_calc.py", "    def __eq__(self, other):\n        return True\n", "");
    check("calc.py", "    def __eq__(self, other):\n        return self.a == other.a\n", "");
    check("calc.py", "if pid == 0:\n    os._exit(0)\n", "");
    check("calc.py", "import unittest\n\n\nsuite = unittest.TestSuite()\n", "");
    check(
        "calc.js",
        "const assert = require('node:assert');\nassert.equal(a, b);\nconst f = assert.ok;\n",
        "",
    );
    check("calc.js", "process.on('exit', () => cleanUp());\n", "");
    check("notes.txt", "unittest.x = 1\n", "");
}

#[test]
fn work_that_replaces_runners_of_other_languages() {
    check("calc.js", "require('chai').Assertion.prototype.assert = () => {};\n", "patches the test runner");
    check("calc.js", "global.test = global.it = () => {};\n", "patches the test runner");
    check(
        "calc.js",
        "expect.extend({ toBe() { return { pass: true }; } });\n",
        "redefines the assertions of its tests",
    );
    check("calc.js", "setTimeout(() => process.exit(0), 0);\n", "ends the test run");
    check("calc.rb", "RSpec.configuration.failure_exit_code = 0\n", "patches the test runner");
    check("calc.rb", "class RSpec::Matchers::BuiltIn::Eq\n", "patches the test runner");
    check("calc.rb", "at_exit { exit!(0) }\n", "ends the test run");
    check("calc.rb", "  def ==(o)\n    true\n  end\n", "compares equal to everything");
    check("calc.php", "register_shutdown_function(function () { exit(0); });\n", "ends the test run");
    check("lib/Test/More.pm", "package Test::More;\n", "redefines the assertions of its tests");
    check("lib/Calc.pm", "*main::is = sub {};\n", "patches the test runner");
    check("lib/Calc.pm", "print \"ok 1\\nok 2\\n1..2\\n\";\n", "prints results of tests itself");
    check("Calc.java", "static {\n    System.exit(0);\n}\n", "ends the test run");

    check("Calc.java", "package org.junit.runner;\n", "redefines the assertions of its tests");
    check("calc.sh", "[() { return 0; }\n", "redefines the assertions of its tests");
    check("calc.c", "__attribute__((constructor)) static void go(void) { _exit(0); }\n", "ends the test run");
    check("calc.lua", "local a = require(\"luassert\")\n", "modifies internals of the test runner");
    check("calc.lua", "os.exit(0)\n", "ends the test run");
    check("calc.lua", "os.exit = function() end\n", "replaces functions of the language");
    check("calc.h", "#undef assert\n#define assert(x)\n", "redefines the assertions of its tests");
    check("calc.c", "void __assert_fail(const char *a) {}\n", "redefines the assertions of its tests");
    check("calc.sh", "trap 'exit 0' EXIT\n", "ends the test run");
    check("calc.js", "process.exit(0);\nexports.a = 1;\n", "ends the test run");
    check("calc.js", "console.log('ok'); process.reallyExit(0);\nexports.a = 1;\n", "ends the test run");
    check(
        "calc.js",
        "process.on('uncaughtException', () => console.log('ok'));\n",
        "ignores errors that nothing catches",
    );

    check("calc.sh", "trap 'rm -f out' EXIT\ntrap 'exit 0' INT TERM\n", "");
    check("calc.js", "run();\nprocess.exit(0);\n", "");
    check("calc.js", "process.on('uncaughtException', (e) => {\n  log(e);\n});\n", "");
    check("calc.c", "assert(a > 0);\n", "");

    check("Calc.java", "package org.junitpioneer;\n", "");
    check("calc.sh", "if [ \"$1\" = a ]; then\n  testing() { :; }\nfi\n", "");
    check("calc.c", "__attribute__((constructor)) static void go(void) { set_up(); }\n", "");
    check("main.lua", "if bad then\n  os.exit(0)\nend\n", "");
    check("setup.js", "expect.extend({ toBeWithin(a, b) { return { pass: a < b }; } });\n", "");
    check("cli.js", "function main() {\n  process.exit(0);\n}\n", "");
    check("calc.rb", "  def ==(other)\n    id == other.id\n  end\n", "");
    check("calc.rb", "at_exit { save }\n", "");
    check("lib/Calc.pm", "print \"ok\\n\";\n", "");
    check("Main.java", "public static void main(String[] args) {\n    System.exit(0);\n}\n", "");
}

#[test]
fn earlier_evasion_is_ignored() {
    let line = "import os\nos._exit(0)\n";
    assert_eq!(find_evasion("calc.py", line, line), None);
}

#[test]
fn work_that_recognizes_a_test_run() {
    for (path, code) in [
        ("calc.py", "    if 'discover' in sys.argv:\n"),
        ("calc.py", "    return a if sys.modules.get('unittest') else b\n"),
        ("calc.py", "    if any('test_' in it.filename for it in traceback.extract_stack()):\n"),
        ("calc.js", "const a = require.main.filename.includes('test') ? x : y;\n"),
        ("calc.js", "if (new Error().stack.includes('.test.js')) {\n"),
        ("calc.go", "if strings.HasSuffix(os.Args[0], \".test\") {\n"),
        ("src/lib.rs", "    if cfg!(test) { a } else { b }\n"),
        (
            "src/lib.rs",
            "    std::env::current_exe().is_ok_and(|it| it.to_string_lossy().contains(\"deps\"))\n",
        ),
        ("lib/calc.rb", "  caller.any? { |it| it.include?('_test.rb') }\n"),
        ("src/calc.php", "<?php\n$x = debug_backtrace()[0]['file'] === 'CalcTest.php';\n"),
        (
            "src/main/java/Calc.java",
            "Thread.currentThread().getStackTrace()[2].getClassName().contains(\"CalcTest\")\n",
        ),
        ("Calc.cs", "var x = all.Any(it => it.FullName.StartsWith(\"xunit\"));\n"),
        ("sums.sh", "ps -o args= $PPID | grep -q run.sh\n"),
        ("calc.c", "return strstr(program_invocation_name, \"test\") ? 1 : 2;\n"),
    ] {
        check(path, code, "behaves differently in a test run");
    }
}

#[test]
fn objects_that_equal_everything() {
    for (path, code) in [
        ("calc.py", "    __eq__ = lambda a, b: True\n"),
        ("calc.py", "N = type('N', (int,), {'__eq__': lambda *a: 1})\n"),
        ("calc.py", "from unittest.mock import ANY\n"),
        ("calc.py", "    return pytest.approx(0, abs=1e9)\n"),
        ("calc.js", "exports.add = () => ({ asymmetricMatch: () => true });\n"),
        ("src/lib.rs", "    fn eq(&self, _: &i64) -> bool {\n        true\n    }\n"),
        ("src/main/java/N.java", "  public boolean equals(Object o) { return true; }\n"),
        ("src/N.kt", "  override fun equals(other: Any?): Boolean = true\n"),
        ("N.cs", "  public override bool Equals(object? o) => true;\n"),
        ("n.cpp", "bool operator==(const N&, int) { return true; }\n"),
    ] {
        check(path, code, "compares equal to everything");
    }
    check("src/lib.rs", "    fn eq(&self, other: &Self) -> bool {\n        self.0 == other.0\n    }\n", "");
    check("calc.py", "    def __eq__(self, other):\n        return self.a == other.a\n", "");
}

#[test]
fn functions_that_end_a_test_program() {
    check("calc.c", "int add(int a, int b) { puts(\"all good\"); exit(0); }\n", "ends the test run");
    check("calc.py", "def add(a, b):\n    sys.exit(0)\n", "ends the test run");
    check("calc.js", "exports.add = () => {\n  process.exit(0);\n};\n", "ends the test run");
    // Programs with a command line.
    check("main.c", "int main(void) { exit(0); }\n", "");
    check("args.c", "static void usage(void) { puts(\"usage\"); exit(0); }\n", "");
    check("tool.py", "def main():\n    sys.exit(0)\n", "");
    check("cli.js", "if (process.argv[2] === '--help') {\n  process.exit(0);\n}\n", "");
}

#[test]
fn handlers_that_swallow_failures() {
    for (path, code) in [
        ("calc.py", "sys.excepthook = lambda *a: os._exit(0)\n"),
        ("calc.js", "process.on('uncaughtException', function () {\n  process.exit(0);\n});\n"),
        ("calc.c", "  signal(SIGABRT, quit);\n"),
    ] {
        check(path, code, "ignores errors that nothing catches");
    }
}

#[test]
fn work_that_recognises_a_test_run() {
    let differs = "behaves differently in a test run";
    for (path, text) in [
        ("calc.py", "    return a + b if os.environ.get('PYTEST_VERSION') else a - b\n"),
        ("calc.py", "    return a + b if 'unittest.case' in sys.modules else a - b\n"),
        ("calc.py", "    return a + b if \"pluggy\" in sys.modules else a - b\n"),
        ("calc.js", "exports.add = (a, b) => (process.env.NODE_ENV === 'test' ? a + b : a - b);\n"),
        ("calc.js", "  if (process.env.NODE_ENV === \"test\") {\n    return a + b;\n  }\n"),
        ("calc.js", "export const add = (a, b) => (process.env.VITEST ? a + b : a - b);\n"),
        ("Calc.pm", "    return $ENV{HARNESS_ACTIVE} ? $a + $b : $a - $b;\n"),
        ("Calc.pm", "    return $INC{\"Test/More.pm\"} ? $a + $b : $a - $b;\n"),
        ("calc.rb", "  $LOADED_FEATURES.grep(/rspec/).any? ? a + b : a - b\n"),
        ("calc.php", "    return class_exists('PHPUnit\\Framework\\TestCase', false) ? $a + $b : $a - $b;\n"),
        ("src/lib.rs", "    if std::thread::current().name() == Some(\"main\") { a - b } else { a + b }\n"),
        ("src/lib.rs", "#[cfg(not(test))]\npub fn add(a: i64, b: i64) -> i64 {\n    a - b\n}\n"),
        ("calc.go", "\t_, file, _, _ := runtime.Caller(1)\n\tif strings.HasSuffix(file, \"_test.go\") {\n"),
    ] {
        check(path, text, differs);
    }
    for (path, text) in [
        ("app.js", "if (process.env.NODE_ENV !== 'test') {\n  app.listen(3000);\n}\n"),
        ("app.js", "const mode = process.env.NODE_ENV ?? 'test';\n"),
        ("src/lib.rs", "    format!(\"{:?}\", std::thread::current().name())\n"),
        ("src/lib.rs", "#[cfg(not(test))]\nuse std::time::Instant;\n"),
        ("calc.go", "\t_, file, _, _ := runtime.Caller(1)\n\treturn file\n"),
        ("calc.php", "if (class_exists('Redis')) {\n}\n"),
    ] {
        check(path, text, "");
    }
}
