//! Detects work that manipulates the tests which judge it: patches their runner, ends it, detects it, or compares
//! equal to everything. No test can notice that; the text of the change shows it.

mod exits;
#[cfg(test)]
mod tests;

use loopkeeper_source::test_inventory::{TestLanguage, is_test_path, language};
use loopkeeper_text::language::translate;
use loopkeeper_text::pattern::ConstantPattern;
use loopkeeper_text::tr_later;

/// A pattern, and a description of files that match it.
type EvasionRule = (ConstantPattern, &'static str);

/// The evasion that the file gained since `before`, as a clause; `None` for tests.
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
    let exits = |text: &str| language(path).map_or(0, |it| exits::count_exits(it, text));
    let ends = || (exits(after) > exits(before)).then_some(&ENDS_RUN);
    let found = rules.iter().chain(&ALL).find(is_new).map(|(_, what)| what);
    found.or_else(ends).map(|what| translate(what).to_owned())
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
        TestLanguage::CSharp => &CSHARP,
    }
}

const PATCHES: &str = tr_later!("patches the test runner");
const ENDS_RUN: &str = tr_later!("ends the test run");
const MODIFIES_RUNNER: &str = tr_later!("modifies internals of the test runner");
const DETECTS_RUN: &str = tr_later!("behaves differently in a test run");
const REDEFINES: &str = tr_later!("redefines the assertions of its tests");
const EQUALS_EVERYTHING: &str = tr_later!("compares equal to everything");
const PRINTS_RESULTS: &str = tr_later!("prints results of tests itself");
const BUILT_IN: &str = tr_later!("replaces functions of the language");
const PRINTS_AT_EXIT: &str = tr_later!("prints as the program exits");
const DETECTS_LOOP: &str = tr_later!("behaves differently in a loop or its clean room");
const IGNORES_ERRORS: &str = tr_later!("ignores errors that nothing catches");
const EXCLUDES_CODE: &str = tr_later!("leaves code out of every build");
const UNFINISHED: &str = tr_later!("leaves work to do as `todo!`");
const REWRITES_CODE: &str = tr_later!("rewrites code by its text in a macro");
const CACHE: &str = tr_later!("uses files in the cache of a package manager");

/// Rules for every language.
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

static PYTHON: [EvasionRule; 15] = [
    (ConstantPattern::new(r"(?m)^\s*(?:unittest|pytest|_pytest)(?:\.\w+)+\s*=[^=]"), PATCHES),
    (ConstantPattern::new(r"\bsetattr\(\s*(?:unittest|pytest|_pytest)\b"), PATCHES),
    (
        ConstantPattern::new(
            r"(?m)^os\.(?:_exit|abort|kill|exec[lv]p?e?)\(|\batexit\.register\([^\n]*\b_exit\b",
        ),
        ENDS_RUN,
    ),
    (
        ConstantPattern::new(
            r#"["'](?:pytest|_pytest|unittest|pluggy)(?:\.\w+)*["']\s+(?:not\s+)?in\s+sys\.modules|PYTEST_(?:CURRENT_TEST|VERSION|XDIST_\w+)"#,
        ),
        DETECTS_RUN,
    ),
    (
        ConstantPattern::new(
            r#"(?m)^\s*(?:import|from)\s[^#\n]*\b(?:unittest\.(?:case|loader|main|result|runner|suite)|_pytest)\b|sys\.modules\[\s*["'](?:_?pytest|unittest|__main__)|\b__import__\(\s*["']__main__|(?m:^\s*(?:import|from)\s+__main__\b)"#,
        ),
        MODIFIES_RUNNER,
    ),
    (ConstantPattern::new(r"\bfor\s[^:\n]*\sin\s(?:\w+\()*sys\.modules\b"), MODIFIES_RUNNER),
    (
        ConstantPattern::new(
            r#"(?:\b_getframe|\binspect\.(?:stack|currentframe)|\bset(?:trace|profile))\([^\n]*["']_?test"#,
        ),
        DETECTS_RUN,
    ),
    (
        ConstantPattern::new(
            r"def (?:__eq__\(self, *\w+[^)]*\)[^:\n]*:\s*return True|__ne__\(self, *\w+[^)]*\)[^:\n]*:\s*return False)\b",
        ),
        EQUALS_EVERYTHING,
    ),
    (
        ConstantPattern::new(
            r#"__(?:eq|ne)__["']?\s*[:=]\s*lambda\b[^:\n]*:\s*(?:True|False|1|0|not\b)|def __(?:eq|ne)__\([^)]*\)[^:\n]*:\s*return (?:1|0|not (?:None|True|False)|bool\([01]\))\s*$|\bmock\.ANY\b|\bimport\s[^#\n]*\bANY\b|\bpytest\.approx\("#,
        ),
        EQUALS_EVERYTHING,
    ),
    (
        ConstantPattern::new(
            r#"\bsys\.modules\.get\(\s*["'](?:_?pytest|unittest)\b|["'](?:discover|unittest|pytest)["'][^\n]*\bsys\.argv|\bsys\.argv\b[^\n]*["'][^"'\n]*(?:unittest|pytest|discover)"#,
        ),
        DETECTS_RUN,
    ),
    (
        ConstantPattern::new(
            r#"\b(?:extract_stack|walk_stack|format_stack|print_stack)\([^\n]*["'][^"'\n]*test|["'][^"'\n]*test[^\n]*\b(?:extract_stack|walk_stack|format_stack|_getframe|inspect\.stack|currentframe)\("#,
        ),
        DETECTS_RUN,
    ),
    (ConstantPattern::new(r"(?m)^\s*sys\.excepthook\s*=[^=\n]*(?:exit|lambda)"), IGNORES_ERRORS),
    // At the top level, with code after it.
    (
        ConstantPattern::new(
            r"(?m)^(?:(?:sys\.)?exit\(\s*0?\s*\)|quit\(\s*0?\s*\)|raise SystemExit(?:\(\s*0?\s*\))?)[^\S\n]*\n\s*\S",
        ),
        ENDS_RUN,
    ),
    (
        ConstantPattern::new(
            r#"(?m)^\s*(?:builtins|__builtins__)(?:\.|\[\s*["'])(?:print|sum|len|abs|all|any|min|max|round|range|zip|open|eval|exec|exit|isinstance|int|float|bool|\w+Error|Exception)\b["'\]\s]*=[^=]|\bsetattr\(\s*(?:builtins|__builtins__)\b|(?m)^\s*(?:sys\.exit|os\._exit)\s*=[^=]"#,
        ),
        BUILT_IN,
    ),
    (
        ConstantPattern::new(
            r"\batexit\.register\(\s*(?:print\b|lambda\b[^\n]*\bprint\()|\bTimer\([^\n]*\bprint\b|\bdef __del__\(self\)[^:\n]*:\s*print\(",
        ),
        PRINTS_AT_EXIT,
    ),
];

static SCRIPT: [EvasionRule; 12] = [
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
        ENDS_RUN,
    ),
    (ConstantPattern::new(r#"process\.on\(\s*["'](?:exit|beforeExit)["'][^\n]*exitCode\s*=\s*0"#), ENDS_RUN),
    // At the top level, with code after it.
    (
        ConstantPattern::new(
            r"(?m)^(?:[^\n{}]*;\s*)?process\.(?:exit|reallyExit)\(\s*0?\s*\)\s*;?[^\S\n]*\n\s*\S",
        ),
        ENDS_RUN,
    ),
    (
        ConstantPattern::new(
            r#"process\.on\(\s*["']uncaughtException["']\s*,\s*\(?\w*\)?\s*=>\s*(?:\{\s*\}|console\.log\()"#,
        ),
        IGNORES_ERRORS,
    ),
    (
        // A guard around a side effect is usual; another value in tests is not.
        ConstantPattern::new(
            r#"\b(?:NODE_TEST_CONTEXT|JEST_WORKER_ID|VITEST_WORKER_ID)\b|\benv\.VITEST\b|\bNODE_ENV\b\s*[!=]==?\s*["'`]test["'`]\s*(?:\?[^?.]|\)\s*\{?\s*return\b)"#,
        ),
        DETECTS_RUN,
    ),
    (
        ConstantPattern::new(
            r#"\brequire\.main\b[^\n]*(?:test|spec)|\bstack\b[^\n]*\b(?:includes|match|indexOf|search|test)\([^\n]*(?:test|spec)|\bprocess\.(?:argv|execArgv)\b[^\n]*["'][^"'\n]*(?:--test|jest|mocha|vitest)|\btypeof\s+(?:describe|it|jest|vi|expect)\b|\bnpm_lifecycle_event\b"#,
        ),
        DETECTS_RUN,
    ),
    (
        ConstantPattern::new(
            r#"process\.on\(\s*["']uncaughtException["'][^;]*\bprocess\.(?:exit|reallyExit)\(\s*0?\s*\)"#,
        ),
        IGNORES_ERRORS,
    ),
    (
        ConstantPattern::new(
            r#"\b(?:assign|definePropert(?:y|ies)|setPrototypeOf)\(\s*(?:require\(\s*["'](?:node:)?(?:assert|test)\b|assert\b)|\bModule\._load\s*=[^=]"#,
        ),
        PATCHES,
    ),
    (
        ConstantPattern::new(r"\basymmetricMatch\b|\bjest\.asymmetricMatcher\b|\bexpect\.(?:anything|any)\("),
        EQUALS_EVERYTHING,
    ),
];

static GO: [EvasionRule; 4] = [
    (
        ConstantPattern::new(
            r#"func init\(\)\s*\{[^}]*\bos\.Args\s*=|\bflag\.(?:CommandLine\.)?Set\(\s*"test\."#,
        ),
        MODIFIES_RUNNER,
    ),
    (ConstantPattern::new(r"func init\(\)\s*\{[^}]*\bos\.Exit\(0\)"), ENDS_RUN),
    (
        ConstantPattern::new(
            r#"\btesting\.Testing\(\)|flag\.Lookup\("test\.|\bos\.Args\[0\][^\n]*test|(?s:\bruntime\.Callers?\(.*"[^"\n]*_test)"#,
        ),
        DETECTS_RUN,
    ),
    (ConstantPattern::new(r"\bsyscall\.(?:Exit|Kill)\("), ENDS_RUN),
];

static RUST: [EvasionRule; 6] = [
    (
        ConstantPattern::new(
            r#"(?s)\bproc_macro\b.*(?:\.replace\(\s*"\w+\s+[^"]+"|\.contains\(\s*"(?:fn|assert|#\[test)\b[^"]*")"#,
        ),
        REWRITES_CODE,
    ),
    (ConstantPattern::new(r"#!?\[cfg\(any\(\)\)\]"), EXCLUDES_CODE),
    (ConstantPattern::new(r"\btodo!\("), UNFINISHED),
    (ConstantPattern::new(r"\bfn (?:eq|ne)\(\s*&self\s*,\s*_\w*\s*:"), EQUALS_EVERYTHING),
    (
        ConstantPattern::new(
            r#"\bcfg!\(\s*test\s*\)|\bcurrent_exe\(\)[^;]*"[^"]*(?:test|deps)|"NEXTEST(?:_\w+)?"|"RUST_TEST_THREADS"|\bthread::current\(\)\s*\.name\(\)\s*(?:[!=]=|\.(?:is_some_and|is_none_or|map_or))|#\[cfg\(not\(test\)\)\]\s*(?:#\[[^\]\n]*\]\s*)*(?:pub(?:\([a-z]+\))?\s+)?(?:(?:async|const|unsafe)\s+)*fn\b"#,
        ),
        DETECTS_RUN,
    ),
    (
        ConstantPattern::new(
            r"\bmacro_rules!\s*(?:debug_)?assert(?:_eq|_ne)?\b|\bas\s+(?:debug_)?assert(?:_eq|_ne)?\s*[;,}]",
        ),
        REDEFINES,
    ),
];

static RUBY: [EvasionRule; 5] = [
    (
        ConstantPattern::new(
            r"\bRSpec\.(?:configuration|world|reset|clear_examples)\b|\b(?:class|module)\s+(?:RSpec|Minitest|Test::Unit)\b",
        ),
        PATCHES,
    ),
    (ConstantPattern::new(r"\bat_exit\b[^\n]*\bexit!"), ENDS_RUN),
    (ConstantPattern::new(r"\bdef ==\(\s*\w+\s*\)\s*(?:=\s*|;\s*)?true\b"), EQUALS_EVERYTHING),
    (ConstantPattern::new(r"\bdefined\?\(?\s*(?:::)?(?:RSpec|Minitest)\b"), DETECTS_RUN),
    (
        ConstantPattern::new(
            r"(?:\$PROGRAM_NAME|\$0|\bcaller(?:_locations)?|\$LOADED_FEATURES)\b[^\n]*(?:test|spec)",
        ),
        DETECTS_RUN,
    ),
];

static PHP: [EvasionRule; 4] = [
    (ConstantPattern::new(r"\bregister_shutdown_function\([^\n]*\b(?:exit|die)\(\s*0?\s*\)"), ENDS_RUN),
    (ConstantPattern::new(r"(?m)^\s*namespace\s+PHPUnit\\"), REDEFINES),
    (
        ConstantPattern::new(
            r#"\b(?:PHPUNIT_COMPOSER_INSTALL|__PHPUNIT_PHAR__|PHPUNIT_TESTSUITE)\b|\bclass_exists\(\s*["']\\*PHPUnit\b"#,
        ),
        DETECTS_RUN,
    ),
    (ConstantPattern::new(r"\bdebug_backtrace\([^\n]*[Tt]est|\bargv\b[^\n]*phpunit"), DETECTS_RUN),
];

static PERL: [EvasionRule; 4] = [
    (ConstantPattern::new(r#"\$ENV\{\s*["']?HARNESS_|\$INC\{\s*["']Test/"#), DETECTS_RUN),
    (
        ConstantPattern::new(r"\bpackage\s+(?:Test::(?:More|Builder|Simple|Harness|Most|Deep)|TAP::\w+)\b"),
        REDEFINES,
    ),
    (ConstantPattern::new(r"\*(?:main|Test::\w+(?:::\w+)*)::\w+\s*=[^=~]"), PATCHES),
    (ConstantPattern::new(r#"\bprint\b[^\n]*["'](?:not )?ok \d"#), PRINTS_RESULTS),
];

static JVM: [EvasionRule; 4] = [
    (ConstantPattern::new(r"\bgetRuntime\(\)\.halt\(\s*0|\bstatic\s*\{[^}]*\bSystem\.exit\(\s*0"), ENDS_RUN),
    (
        ConstantPattern::new(
            r"(?m)^\s*package\s+(?:org\.(?:junit|hamcrest|testng|assertj|spockframework)|junit\.framework|kotlin\.test)\b",
        ),
        REDEFINES,
    ),
    (
        ConstantPattern::new(
            r"\bboolean equals\([^)]*\)\s*\{\s*return true|\bfun equals\([^)]*\)[^={\n]*=\s*true",
        ),
        EQUALS_EVERYTHING,
    ),
    (
        ConstantPattern::new(
            r#"\b(?:getStackTrace|StackWalker|forName)\b[^;]*"[^"\n]*(?:[Tt]est|junit|surefire)|"sun\.java\.command""#,
        ),
        DETECTS_RUN,
    ),
];

static CSHARP: [EvasionRule; 2] = [
    (
        ConstantPattern::new(
            r"\b(?:override\s+bool\s+Equals|operator\s*==)\s*\([^)]*\)\s*(?:=>\s*true|\{\s*return\s+true)",
        ),
        EQUALS_EVERYTHING,
    ),
    (
        ConstantPattern::new(r#""(?:xunit|nunit|testhost|Microsoft\.VisualStudio\.TestPlatform)[^"\n]*""#),
        DETECTS_RUN,
    ),
];

static SHELL: [EvasionRule; 4] = [
    (ConstantPattern::new(r#"(?m)^\s*trap\s+["']?(?:exit\s+0|true|:)["']?\s+(?:0|EXIT)\b"#), ENDS_RUN),
    (
        ConstantPattern::new(
            r"(?m)^\s*(?:function\s+)?(?:\[|(?:assert|refute)(?:_\w+)?)\s*\(\)|^\s*alias\s+(?:\[|test)=",
        ),
        REDEFINES,
    ),
    (
        ConstantPattern::new(
            r"\bBATS_(?:TEST|SUITE|RUN|VERSION|ROOT)\w*|/proc/\$\{?PPID|\bps\s[^\n]*\$\{?PPID",
        ),
        DETECTS_RUN,
    ),
    (ConstantPattern::new(r"\bkill\b[^\n]*\$\{?PPID"), ENDS_RUN),
];

static C: [EvasionRule; 5] = [
    (
        ConstantPattern::new(
            r"(?m)^\s*#\s*(?:undef\s+assert|define\s+(?:assert\b|main\b|NDEBUG))|\b__assert_fail\s*\([^;{]*\{",
        ),
        REDEFINES,
    ),
    (
        ConstantPattern::new(
            r"(?:__attribute__\s*\(\(\s*(?:__)?constructor(?:__)?|\[\[gnu::constructor)[^{;]*\{[^}]*\b_?_?(?:quick_)?[eE]xit\s*\(\s*0",
        ),
        ENDS_RUN,
    ),
    (
        ConstantPattern::new(r"\b(?:signal|sigaction|sigset)\s*\(\s*SIG(?:ABRT|SEGV|ILL|TRAP|FPE)\b"),
        IGNORES_ERRORS,
    ),
    (ConstantPattern::new(r"\boperator\s*==\s*\([^)]*\)[^{;]*\{\s*return\s+true"), EQUALS_EVERYTHING),
    (
        ConstantPattern::new(
            r#"\b(?:program_invocation_(?:short_)?name|__progname|getprogname)\b[^;]*"[^"\n]*test"#,
        ),
        DETECTS_RUN,
    ),
];

static LUA: [EvasionRule; 3] = [
    (ConstantPattern::new(r"(?m)^\s*os\.exit\s*=[^=]"), BUILT_IN),
    (
        ConstantPattern::new(
            r#"(?:\brequire\s*\(?\s*["']|\bpackage\.(?:loaded|preload)(?:\.|\[\s*["']))(?:luassert|busted|luaunit|say)\b"#,
        ),
        MODIFIES_RUNNER,
    ),
    (ConstantPattern::new(r"(?m)^os\.exit\(\s*(?:0|true)?\s*[,)]"), ENDS_RUN),
];
