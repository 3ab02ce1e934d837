//! Detects work that manipulates the tests which judge it: patches their runner, ends it, detects it, or compares
//! equal to everything. No test can notice that; the text of the change shows it.

use crate::check::test_inventory::{TestLanguage, is_test_path, language};
use loopkeeper_text::language::translate;
use loopkeeper_text::pattern::ConstantPattern;
use loopkeeper_text::tr_later;

/// A pattern, and a description of files that match it.
type EvasionRule = (ConstantPattern, &'static str);

/// The evasion that the file contains since `before`, as half a sentence. `None` for tests.
pub(super) fn find_evasion(path: &str, before: &str, after: &str) -> Option<String> {
    if is_test_path(path) {
        return None;
    }
    let rules: &[EvasionRule] = match language(path) {
        None if path.rsplit_once('.').is_some_and(|(_, it)| it == "lua") => &LUA,
        None => return None,
        Some(language) => rules_of(language),
    };
    let is_new = |rule: &&EvasionRule| rule.0.find_iter(after).count() > rule.0.find_iter(before).count();
    rules.iter().chain(&ALL).find(is_new).map(|(_, what)| translate(what).to_owned())
}

fn rules_of(language: TestLanguage) -> &'static [EvasionRule] {
    match language {
        TestLanguage::Python => &PYTHON,
        TestLanguage::Script => &SCRIPT,
        TestLanguage::Go => &GO,
        TestLanguage::Rust => &RUST,
        TestLanguage::Ruby => &RUBY,
        TestLanguage::Php => &PHP,
        TestLanguage::Perl => &PERL,
        TestLanguage::Jvm => &JVM,
        TestLanguage::Shell => &SHELL,
        TestLanguage::C => &C,
        TestLanguage::CSharp => &[],
    }
}

const PATCHES: &str = tr_later!("patches the test runner");
const ENDS: &str = tr_later!("ends the test run");
const REACHES: &str = tr_later!("modifies internals of the test runner");
const DETECTS: &str = tr_later!("behaves differently in a test run");
const REDEFINES: &str = tr_later!("redefines the assertions of its tests");
const EQUALS: &str = tr_later!("compares equal to everything");
const PRINTS: &str = tr_later!("prints results of tests itself");
const BUILT_IN: &str = tr_later!("replaces functions of the language");
const AT_EXIT: &str = tr_later!("prints as the program exits");
const DETECTS_LOOP: &str = tr_later!("behaves differently in a loop or its clean room");
const SWALLOWS: &str = tr_later!("ignores errors that nothing catches");
const LEAVES_OUT: &str = tr_later!("leaves code out of every build");
const UNDONE: &str = tr_later!("leaves work to do as `todo!`");
const CACHE: &str = tr_later!("uses files in the cache of a package manager");

/// In every language.
static ALL: [EvasionRule; 2] = [
    // Traces of a loop and of its clean room.
    (
        ConstantPattern::new(
            r#"\bLOOPKEEPER_(?:LOOP|SESSION|ROLE)\b|["']LOOPKEEPER_?["']|(?i:env[^\n]*["'][^"'\n]*loopkeeper|loopkeeper[^\n]*\benv)|/proc/(?:1|self)/(?:cmdline|comm|environ|mountinfo|mounts)\b|\bgetp?pid\(\)\s*<\s*\d"#,
        ),
        DETECTS_LOOP,
    ),
    (
        ConstantPattern::new(
            r"\.cache/(?:pip|uv|pypoetry|yarn|go-build|pre-commit)\b|\.npm/_cacache\b|\.cargo/(?:registry|git)\b|\.gradle/caches\b|\.m2/repository\b",
        ),
        CACHE,
    ),
];

static PYTHON: [EvasionRule; 11] = [
    (ConstantPattern::new(r"(?m)^\s*(?:unittest|pytest|_pytest)(?:\.\w+)+\s*=[^=]"), PATCHES),
    (ConstantPattern::new(r"\bsetattr\(\s*(?:unittest|pytest|_pytest)\b"), PATCHES),
    (
        ConstantPattern::new(
            r"(?m)^os\.(?:_exit|abort|kill|exec[lv]p?e?)\(|\batexit\.register\([^\n]*\b_exit\(",
        ),
        ENDS,
    ),
    (
        ConstantPattern::new(
            r#"["'](?:pytest|_pytest|unittest)["']\s+(?:not\s+)?in\s+sys\.modules|PYTEST_CURRENT_TEST"#,
        ),
        DETECTS,
    ),
    (
        ConstantPattern::new(
            r#"(?m)^\s*(?:import|from)\s[^#\n]*\b(?:unittest\.(?:case|loader|main|result|runner|suite)|_pytest)\b|sys\.modules\[\s*["'](?:_?pytest|unittest)"#,
        ),
        REACHES,
    ),
    (ConstantPattern::new(r"\bfor\s[^:\n]*\sin\s(?:\w+\()*sys\.modules\b"), REACHES),
    (
        ConstantPattern::new(
            r#"(?:\b_getframe|\binspect\.(?:stack|currentframe)|\bset(?:trace|profile))\([^\n]*["']_?test"#,
        ),
        DETECTS,
    ),
    (ConstantPattern::new(r"def __eq__\(self, *\w+[^)]*\)[^:\n]*:\s*return True\b"), EQUALS),
    // At the top level, with code after it.
    (
        ConstantPattern::new(
            r"(?m)^(?:(?:sys\.)?exit\(\s*0?\s*\)|quit\(\s*0?\s*\)|raise SystemExit(?:\(\s*0?\s*\))?)[^\S\n]*\n\s*\S",
        ),
        ENDS,
    ),
    (
        ConstantPattern::new(
            r#"(?m)^\s*(?:builtins|__builtins__)(?:\.|\[\s*["'])(?:print|sum|len|abs|all|any|min|max|round|range|zip|open|eval|exec|exit|isinstance|int|float|bool|\w+Error|Exception)\b["'\]\s]*=[^=]|\bsetattr\(\s*(?:builtins|__builtins__)\b|(?m)^\s*(?:sys\.exit|os\._exit)\s*=[^=]"#,
        ),
        BUILT_IN,
    ),
    (ConstantPattern::new(r"\batexit\.register\(\s*(?:print\b|lambda\b[^\n]*\bprint\()"), AT_EXIT),
];

static SCRIPT: [EvasionRule; 8] = [
    (
        ConstantPattern::new(
            r#"(?:\bassert|require\(\s*["'](?:node:)?assert(?:/strict)?["']\s*\))(?:\.\w+)+\s*=[^=>]|\bglobal(?:This)?\.(?:expect|describe|it|test|beforeEach|afterEach)\s*=[^=>]"#,
        ),
        PATCHES,
    ),
    (
        ConstantPattern::new(
            r#"require\(\s*["'](?:chai|mocha|vitest|expect|jest-\w+|@jest/\w+)["']\s*\)(?:\.\w+)+\s*=[^=>]|\bRunner\.prototype\.(?:fail|run\w*|emit)\s*=[^=>]"#,
        ),
        PATCHES,
    ),
    (
        ConstantPattern::new(
            r"\bexpect\.extend\(\s*\{[^}]*\bto(?:Be|Equal|StrictEqual|Match|MatchObject|Throw|Contain|HaveLength|HaveProperty)\s*[(:]",
        ),
        REDEFINES,
    ),
    (
        ConstantPattern::new(
            r"(?m)^(?:setTimeout|setImmediate|queueMicrotask|process\.nextTick)\([^\n]*\bprocess\.exit\(\s*0?\s*\)",
        ),
        ENDS,
    ),
    (ConstantPattern::new(r#"process\.on\(\s*["'](?:exit|beforeExit)["'][^\n]*exitCode\s*=\s*0"#), ENDS),
    // At the top level, with code after it.
    (
        ConstantPattern::new(
            r"(?m)^(?:[^\n{}]*;\s*)?process\.(?:exit|reallyExit)\(\s*0?\s*\)\s*;?[^\S\n]*\n\s*\S",
        ),
        ENDS,
    ),
    (
        ConstantPattern::new(
            r#"process\.on\(\s*["']uncaughtException["']\s*,\s*\(?\w*\)?\s*=>\s*(?:\{\s*\}|console\.log\()"#,
        ),
        SWALLOWS,
    ),
    (ConstantPattern::new(r"\b(?:NODE_TEST_CONTEXT|JEST_WORKER_ID|VITEST_WORKER_ID)\b"), DETECTS),
];

static GO: [EvasionRule; 2] = [
    (ConstantPattern::new(r"func init\(\)\s*\{[^}]*\bos\.Exit\(0\)"), ENDS),
    (ConstantPattern::new(r#"\btesting\.Testing\(\)|flag\.Lookup\("test\."#), DETECTS),
];

static RUST: [EvasionRule; 3] = [
    (ConstantPattern::new(r"#!?\[cfg\(any\(\)\)\]"), LEAVES_OUT),
    (ConstantPattern::new(r"\btodo!\("), UNDONE),
    (
        ConstantPattern::new(
            r"\bmacro_rules!\s*(?:debug_)?assert(?:_eq|_ne)?\b|\bas\s+(?:debug_)?assert(?:_eq|_ne)?\s*[;,}]",
        ),
        REDEFINES,
    ),
];

static RUBY: [EvasionRule; 4] = [
    (
        ConstantPattern::new(
            r"\bRSpec\.(?:configuration|world|reset|clear_examples)\b|\b(?:class|module)\s+(?:RSpec|Minitest|Test::Unit)\b",
        ),
        PATCHES,
    ),
    (ConstantPattern::new(r"\bat_exit\b[^\n]*\bexit!"), ENDS),
    (ConstantPattern::new(r"\bdef ==\(\s*\w+\s*\)\s*(?:=\s*|;\s*)?true\b"), EQUALS),
    (ConstantPattern::new(r"\bdefined\?\(?\s*(?:::)?(?:RSpec|Minitest)\b"), DETECTS),
];

static PHP: [EvasionRule; 3] = [
    (ConstantPattern::new(r"\bregister_shutdown_function\([^\n]*\b(?:exit|die)\(\s*0?\s*\)"), ENDS),
    (ConstantPattern::new(r"(?m)^\s*namespace\s+PHPUnit\\"), REDEFINES),
    (ConstantPattern::new(r"\b(?:PHPUNIT_COMPOSER_INSTALL|__PHPUNIT_PHAR__|PHPUNIT_TESTSUITE)\b"), DETECTS),
];

static PERL: [EvasionRule; 3] = [
    (
        ConstantPattern::new(r"\bpackage\s+(?:Test::(?:More|Builder|Simple|Harness|Most|Deep)|TAP::\w+)\b"),
        REDEFINES,
    ),
    (ConstantPattern::new(r"\*(?:main|Test::\w+(?:::\w+)*)::\w+\s*=[^=~]"), PATCHES),
    (ConstantPattern::new(r#"\bprint\b[^\n]*["'](?:not )?ok \d"#), PRINTS),
];

static JVM: [EvasionRule; 2] = [
    (ConstantPattern::new(r"\bgetRuntime\(\)\.halt\(\s*0|\bstatic\s*\{[^}]*\bSystem\.exit\(\s*0"), ENDS),
    (
        ConstantPattern::new(
            r"(?m)^\s*package\s+(?:org\.(?:junit|hamcrest|testng|assertj|spockframework)|junit\.framework|kotlin\.test)\b",
        ),
        REDEFINES,
    ),
];

static SHELL: [EvasionRule; 2] = [
    (ConstantPattern::new(r#"(?m)^\s*trap\s+["']?(?:exit\s+0|true|:)["']?\s+(?:0|EXIT)\b"#), ENDS),
    (
        ConstantPattern::new(
            r"(?m)^\s*(?:function\s+)?(?:\[|(?:assert|refute)(?:_\w+)?)\s*\(\)|^\s*alias\s+(?:\[|test)=",
        ),
        REDEFINES,
    ),
];

static C: [EvasionRule; 2] = [
    (
        ConstantPattern::new(
            r"(?m)^\s*#\s*(?:undef\s+assert|define\s+(?:assert\b|NDEBUG))|\b__assert_fail\s*\([^;{]*\{",
        ),
        REDEFINES,
    ),
    (
        ConstantPattern::new(
            r"(?:__attribute__\s*\(\(\s*(?:__)?constructor(?:__)?|\[\[gnu::constructor)[^{;]*\{[^}]*\b_?_?(?:quick_)?[eE]xit\s*\(\s*0",
        ),
        ENDS,
    ),
];

static LUA: [EvasionRule; 3] = [
    (ConstantPattern::new(r"(?m)^\s*os\.exit\s*=[^=]"), BUILT_IN),
    (ConstantPattern::new(r#"\brequire\s*\(?\s*["'](?:luassert|busted|luaunit|say)\b"#), REACHES),
    (ConstantPattern::new(r"(?m)^os\.exit\(\s*(?:0|true)?\s*[,)]"), ENDS),
];

#[cfg(test)]
mod tests {
    use super::find_evasion;

    #[test]
    fn work_that_reaches_into_its_tests() {
        let check = |path: &str, after: &str, expect: &str| {
            assert_eq!(find_evasion(path, "", after).unwrap_or_default(), expect, "{path}: {after}");
        };
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
        check(
            "calc.py",
            "    def __eq__(self, other):\n        return True\n",
            "compares equal to everything",
        );
        check("calc.js", "require('node:assert').strictEqual = () => {};\n", "patches the test runner");
        check("calc.js", "process.on('exit', () => { process.exitCode = 0; });\n", "ends the test run");
        check("calc.go", "func init() {\n\tos.Exit(0)\n}\n", "ends the test run");

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

        check("src/lib.rs", "#[cfg(any())]\npub fn add() {}\n", "leaves code out of every build");
        check("src/lib.rs", "pub fn add() {\n    todo!()\n}\n", "leaves work to do as `todo!`");
        check("src/lib.rs", "#[cfg(any(unix, windows))]\npub fn add() {}\n", "");
        check("src/lib.rs", "macro_rules! assert_close {\n    ($a:expr) => { assert!($a) };\n}\n", "");
        check("log.py", "    caller = sys._getframe(1).f_code.co_name\n", "");
        check("calc.py", "from unittest.mock import patch\n", "");
        check("calc.py", "import sys\nsys.exit(0)\n\nX = 1\n", "ends the test run");
        check("calc.py", "print(open('out').read())\nraise SystemExit(0)\nX = 1\n", "ends the test run");
        let detects = "behaves differently in a loop or its clean room";
        check("calc.py", "if any(k.startswith('LOOPKEEPER_') for k in os.environ):\n", detects);
        check("calc.py", "if 'loopkeeper' in os.environ.get('TMPDIR', ''):\n", detects);
        check("calc.js", "if (process.env.TMPDIR.includes('loopkeeper')) {\n", detects);
        check("calc.go", "os.ReadFile(\"/proc/1/cmdline\")\n", detects);
        check("calc.py", "return a + b if os.getppid() < 10 else a - b\n", detects);
        check("calc.py", "builtins.sum = lambda it: 4\n", "replaces functions of the language");
        check("calc.py", "sys.exit = lambda *a: None\n", "replaces functions of the language");
        check("calc.py", "atexit.register(print, 100)\n", "prints as the program exits");
        check(
            "calc.py",
            "sys.path.insert(0, '/home/u/.cache/pip/wheels')\n",
            "uses files in the cache of a package manager",
        );

        check("run.py", "X = 1\nsys.exit(0)\n", "");
        check("run.py", "if bad:\n    sys.exit(0)\nX = 1\n", "");
        check("app.py", "builtins._ = gettext\n", "");
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
        let check = |path: &str, after: &str, expect: &str| {
            assert_eq!(find_evasion(path, "", after).unwrap_or_default(), expect, "{path}: {after}");
        };
        check(
            "calc.js",
            "require('chai').Assertion.prototype.assert = () => {};\n",
            "patches the test runner",
        );
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
        check(
            "calc.c",
            "__attribute__((constructor)) static void go(void) { _exit(0); }\n",
            "ends the test run",
        );
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
}
