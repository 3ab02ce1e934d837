//! The syntax of tests, skips and assertions in each language: one table of line patterns per language.

use loopkeeper_text::pattern::ConstantPattern;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TestLanguage {
    Rust,
    /// JavaScript and TypeScript.
    Script,
    Python,
    Go,
    /// Java, Kotlin, Scala, Groovy.
    Jvm,
    CSharp,
    Ruby,
    Php,
    Perl,
    Shell,
    /// C and C++.
    C,
}

/// The language of a file, by its name.
pub fn language(path: &str) -> Option<TestLanguage> {
    let (_, extension) = name(path).rsplit_once('.')?;
    Some(match extension {
        "rs" => TestLanguage::Rust,
        "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" | "vue" | "svelte" => {
            TestLanguage::Script
        }
        "py" => TestLanguage::Python,
        "go" => TestLanguage::Go,
        "java" | "kt" | "kts" | "scala" | "groovy" => TestLanguage::Jvm,
        "cs" => TestLanguage::CSharp,
        "rb" => TestLanguage::Ruby,
        "php" => TestLanguage::Php,
        "pl" | "pm" | "t" => TestLanguage::Perl,
        "sh" | "bash" | "bats" | "zsh" => TestLanguage::Shell,
        "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" => TestLanguage::C,
        _ => return None,
    })
}

/// Whether the name or a folder identifies it as a file of tests.
pub fn is_test_path(path: &str) -> bool {
    static NAME: ConstantPattern = ConstantPattern::new(
        r"(?:^|[._-])(?:[Tt]ests?|[Ss]pec)(?:[._-]|$)|[A-Za-z0-9](?:Tests?|TestCase|Spec|IT)\.[a-z]+$|\.bats$|\.t$",
    );
    const FOLDERS: [&str; 11] = [
        "test",
        "tests",
        "Tests",
        "__tests__",
        "spec",
        "specs",
        "e2e",
        "testing",
        "testFixtures",
        "androidTest",
        "integrationTest",
    ];
    // Projects of C#: `Calc.Tests`.
    const ENDS: [&str; 4] = [".Tests", ".Test", ".UnitTests", ".IntegrationTests"];
    let folder = |it: &str| FOLDERS.contains(&it) || ENDS.iter().any(|end| it.ends_with(end));
    let is_in = path.rsplit_once('/').is_some_and(|(folders, _)| folders.split('/').any(folder));
    // Most paths have none of these, and a pattern is compiled when it is first asked.
    let may_be = |it: &str| ["est", "pec", "IT.", ".bats", ".t"].iter().any(|sign| it.contains(sign));
    is_in || Some(name(path)).filter(|it| may_be(it)).is_some_and(|it| NAME.is_match(it))
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The patterns of one language, each for one line.
pub(super) struct LanguagePatterns {
    /// A complete test; `name` where it has one.
    pub(super) test: ConstantPattern,
    /// What gives a marked test its name.
    pub(super) named: ConstantPattern,
    /// A line that qualifies the following one.
    pub(super) mark: ConstantPattern,
    /// Those of these lines that mark a test.
    pub(super) marks_test: ConstantPattern,
    pub(super) skip: ConstantPattern,
    pub(super) only: ConstantPattern,
    assertion: ConstantPattern,
}

/// Statements that resemble assertions and assert nothing.
static NO_OP_ASSERTION: ConstantPattern = ConstantPattern::new(
    r#"(?x)
        \bassert\s*\(?\s*(?:True|1|not\s+False|1\s*==\s*1|True\s*==\s*True|"[^"]+")\s*\)?\s*(?:$|[,;\#])
        | \bor\s+True\b | \|\|\s*true\b
        | assert!\(\s*true\b | assert_eq!\(\s*(?:true\s*,\s*true|1\s*,\s*1)\s*[,)]
        | assert(?:True|\.True|\.IsTrue|\.ok|\.equal)?\s*\(\s*(?:true|True|1\s*,\s*1|true\s*,\s*true)\s*[,)]
        | Assert\.(?:True|IsTrue)\(\s*true\s*[,)] | assertTrue\(\s*true\s*[,)] | assertEquals\(\s*1\s*,\s*1\s*\)
        | expect\(\s*(?:true|1)\s*\)\s*\.(?:to\.be\.true|to\.equal\((?:true|1)\)|toBe\((?:true|1)\)|toEqual\((?:true|1)\)|toBeTruthy\(\)|to\s+be|to\s+eq)
        | ^(?:\[\s+1\s+(?:-eq|=|==)\s+1\s+\]|true|:)$
        "#,
);

/// A line that does nothing.
static NO_OP_LINE: ConstantPattern = ConstantPattern::new(
    r"^(?:pass|\.\.\.|return(?:\s+(?:None|true|nil|null|0))?|true|:|exit\s+0|end|begin|try|do|[{}()\[\],;:\s]*|\}?\s*=>\s*\{?|\}\s*\)\s*|#.*|//.*)\s*;?(?:\s*[})\];,]*)$",
);

impl LanguagePatterns {
    pub(super) fn asserts(&self, text: &str) -> bool {
        self.assertion.is_match(text) && !NO_OP_ASSERTION.is_match(text)
    }

    pub(super) fn has_effect(text: &str) -> bool {
        !NO_OP_LINE.is_match(text) && !NO_OP_ASSERTION.is_match(text)
    }

    /// Nothing after it in the same block is reached.
    pub(super) fn returns(text: &str) -> bool {
        static RETURN: ConstantPattern =
            ConstantPattern::new(r"^return(?:\s+(?:None|True|true|nil|null|0|Ok\(\(\)\)))?\s*;?$");
        RETURN.is_match(text)
    }

    /// The rest of the line behind a catch that takes failed assertions as well, or a call that drops them.
    pub(super) fn after_catch(text: &str) -> Option<&str> {
        static CATCH: ConstantPattern = ConstantPattern::new(
            r"(?x)
                ^except\s*(?:\(?\s*(?:\w+\s*,\s*)*(?:AssertionError|Exception|BaseException)\b[^:]*)?:\s*(?P<rest>.*)$
                | \bcatch\s*\(\s*(?:final\s+)?(?:\w+\s*:\s*)?(?:Throwable|AssertionError|AssertionFailedError|AssertionException)\b[^)]*\)\s*\{(?P<of_type>.*)$
                | \bcatch\s*(?:\(\s*\w*\s*\))?\s*\{(?P<of_any>.*)$
                | \bsuppress\(\s*(?:AssertionError|Exception|BaseException)\b(?P<dropped>\s*)
                | \.catch\(\s*(?:\(\s*\w*\s*\)|\w+)\s*=>\s*\{(?P<empty>\s*\}.*)$
                | \bcatch_unwind\b(?P<unwound>\s*)",
        );
        let found = CATCH.captures(text)?;
        if found.name("dropped").or_else(|| found.name("unwound")).is_some() {
            return Some("}");
        }
        let rest = ["rest", "of_type", "of_any", "empty"].into_iter().find_map(|it| found.name(it))?;
        Some(rest.as_str().trim())
    }

    /// It only prints, and decides nothing.
    pub(super) fn only_says(text: &str) -> bool {
        static PRINT_STATEMENT: ConstantPattern = ConstantPattern::new(
            r"^(?:print\w*!?|echo|console\.\w+|log\w*\.\w+|System\.out\.\w+|fmt\.Print\w*|puts|continue)\b[^;]*;?$",
        );
        PRINT_STATEMENT.is_match(text)
    }

    /// The part of a test's first line that belongs to its body.
    pub(super) fn body(text: &str) -> &str {
        let behind = |mark: &str| text.split_once(mark).map(|(_, body)| body);
        behind("=>").or_else(|| behind("{")).or_else(|| behind("):")).unwrap_or_default()
    }

    const fn new(table: [&'static str; 7]) -> Self {
        let [test, named, mark, marks_test, skip, only, assertion] = table;
        Self {
            test: ConstantPattern::new(test),
            named: ConstantPattern::new(named),
            mark: ConstantPattern::new(mark),
            marks_test: ConstantPattern::new(marks_test),
            skip: ConstantPattern::new(skip),
            only: ConstantPattern::new(only),
            assertion: ConstantPattern::new(assertion),
        }
    }
}

/// Matches nothing.
const NO_MATCH: &str = r"[^\s\S]";

impl TestLanguage {
    pub(super) fn patterns(self) -> &'static LanguagePatterns {
        match self {
            Self::Rust => &RUST,
            Self::Script => &SCRIPT,
            Self::Python => &PYTHON,
            Self::Go => &GO,
            Self::Jvm => &JVM,
            Self::CSharp => &CSHARP,
            Self::Ruby => &RUBY,
            Self::Php => &PHP,
            Self::Perl => &PERL,
            Self::Shell => &SHELL,
            Self::C => &C,
        }
    }
}

static RUST: LanguagePatterns = LanguagePatterns::new([
    NO_MATCH,
    r"\bfn\s+(?P<name>\w+)",
    r"^#!?\[",
    r"^#\[(?:\w+::)*(?:test|rstest|test_case|proptest|quickcheck|case)\b",
    r"#\[ignore|#!?\[cfg\((?:any\(\)|FALSE|false)\)|\bignore\s*=",
    NO_MATCH,
    r"\b(?:\w*assert\w*|panic)!|#\[should_panic|\bassert_\w+\(|\.expect_err\(|\.unwrap_err\(",
]);

static SCRIPT: LanguagePatterns = LanguagePatterns::new([
    r#"^(?:await\s+)?(?:f|x)?(?:it|test|specify|Deno\.test|t\.test)(?:\.\w+)*(?:\([^)'"`]*\))?\s*(?:\(|`)\s*(?:['"`](?P<name>[^'"`]*))?"#,
    NO_MATCH,
    NO_MATCH,
    NO_MATCH,
    r#"\b(?:xit|xtest|xdescribe|xcontext|xspecify|pending)\s*\(|\b(?:it|test|describe|context|suite|specify|t)(?:\.\w+)*\.(?:skip|todo|fixme|skipIf|failing|fails)(?:\.each)?\s*[(`]|\b(?:it|test|describe|suite)(?:\.\w+)*\.(?:runIf|if)\(\s*(?:false|0)\s*\)|\b(?:skip|todo|ignore)\s*:\s*(?:true|['"`])|\bthis\.skip\(|^process\.exit\(0?\)"#,
    r"\b(?:it|test|describe|context|suite|specify)(?:\.\w+)*\.only\b|\b(?:fit|fdescribe|fcontext)\s*\(|\bonly\s*:\s*true",
    r"\bexpect\w*\s*[(.]|\bassert\w*\s*[(.]|\.should\b|\bt\.(?:is|not|deepEqual|equal|equals|true|false|ok|same|strictEqual|throws|throwsAsync|snapshot|match|rejects)\s*\(",
]);

static PYTHON: LanguagePatterns = LanguagePatterns::new([
    r"^(?:async\s+)?def\s+(?P<name>test\w*)\s*\(",
    NO_MATCH,
    r"^@",
    NO_MATCH,
    r"\bmark\.(?:skip|skipif|xfail)\b|\bpytest\.(?:skip|xfail|importorskip)\(|\bunittest\.(?:skip|expectedFailure)|^@(?:skip|skipIf|skipUnless|expectedFailure)\b|\bskipTest\(|\bSkipTest\b|\b__test__\s*=\s*False|\bcollect_ignore|^(?:sys\.exit|os\._exit|exit|quit)\(0?\)",
    r"^for\b.*\bin\s+\w+\[\d*:\d*\]\s*:",
    r"^assert\b|[;:]\s*assert\b|\bself\.(?:assert|fail)\w*\(|\bpytest\.(?:raises|warns|fail)\(|\braises\(|\bassert_\w+\(|\.assert_\w+\(",
]);

static GO: LanguagePatterns = LanguagePatterns::new([
    r"^func\s+(?:\([^)]*\)\s*)?(?P<name>(?:Test|Fuzz|Example|Benchmark)\w*)\s*\(",
    NO_MATCH,
    NO_MATCH,
    NO_MATCH,
    r"\b[tbf]\.Skip(?:f|Now)?\(|^//go:build\s+(?:ignore|never|skip)\b",
    r"^for\b.*\brange\s+\w+\[\d*:\d*\]",
    r"\b[tbf]\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\b(?:assert|require|is|suite|s)\.[A-Z]\w*\(",
]);

static JVM: LanguagePatterns = LanguagePatterns::new([
    r#"^(?:"(?P<name>[^"]+)"\s+(?:in|should)\b|(?:test|it)\("[^"]*"\))"#,
    r"\b(?:fun|void|def)\s+(?P<name>`[^`]+`|\w+)\s*\(",
    r"^@",
    r"@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b",
    r"@(?:Disabled|Ignore|Ignored)\b|\bassume\w*\(\s*false|\benabled\s*=\s*false",
    NO_MATCH,
    r"\bassert\w*\s*[({<.]|\bshould\w*\b|\bverify\w*\(|\bfail\(|\bexpectThat\b|expected\s*=|\bexpect\w*\(",
]);

static CSHARP: LanguagePatterns = LanguagePatterns::new([
    NO_MATCH,
    r"\b(?:void|Task|ValueTask)\s+(?P<name>\w+)\s*\(",
    r"^\[",
    r"\[(?:[\w.]+\s*\([^\]]*\)\s*,\s*)?(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod)\b",
    r"\bSkip\s*=|\[(?:Ignore|Explicit)\b|\bAssert\.(?:Ignore|Inconclusive)\b|\bSkip\.If",
    NO_MATCH,
    r"\b\w*Assert\.\w+|\.Should\w*\(|\.Verify\(",
]);

static RUBY: LanguagePatterns = LanguagePatterns::new([
    r#"^(?:def\s+(?P<name>test_\w+)|[xf]?(?:it|specify|scenario|example|test)[\s(]+['"])"#,
    NO_MATCH,
    NO_MATCH,
    NO_MATCH,
    r"^(?:xit|xdescribe|xcontext|xspecify|xscenario|xexample|skip|pending)\b|,\s*:?(?:skip|pending)\b",
    r"^(?:fit|fdescribe|fcontext|fspecify)\b|,\s*:?focus\b",
    r"\bexpect\b|\bassert\w*\b|\brefute\w*\b|\.should(?:_not)?\b|\bmust_\w+|\bis_expected\b",
]);

static PHP: LanguagePatterns = LanguagePatterns::new([
    r#"\bfunction\s+(?P<name>test\w*)\s*\(|^(?:it|test)\(\s*['"]"#,
    r"\bfunction\s+(?P<name>\w+)\s*\(",
    r"^#\[",
    r"^#\[\\?(?:\w+\\)*Test\b",
    r"\bmarkTest(?:Skipped|Incomplete)\(|->(?:skip|todo)\(",
    r"->only\(",
    r"(?:->|::)assert\w*\(|\bexpect\(|->expect\w+\(|(?:->|::)fail\(",
]);

static PERL: LanguagePatterns = LanguagePatterns::new([
    r"^(?:sub\s+(?P<name>test\w*)|subtest\b)",
    NO_MATCH,
    NO_MATCH,
    NO_MATCH,
    r"\bskip_all\b|\bskip\s*\(|^TODO:|\$TODO\s*=|\btodo_skip\b",
    NO_MATCH,
    r"\b(?:ok|is|isnt|like|unlike|is_deeply|cmp_ok|can_ok|isa_ok|new_ok|throws_ok|dies_ok|lives_ok|eq_or_diff|cmp_deeply|fail)\s*[(\s]",
]);

static SHELL: LanguagePatterns = LanguagePatterns::new([
    r#"^@test\s+["'](?P<name>[^"']*)|^(?:function\s+)?test\w*\s*\(\)"#,
    NO_MATCH,
    NO_MATCH,
    NO_MATCH,
    r"^skip\b",
    NO_MATCH,
    r"^(?:if\s+)?!?\s*(?:\[\[?|test)\s|\b(?:assert|refute)\w*\s|\bgrep\s+-\w*q|\b(?:diff|cmp)\s|\|\|\s*(?:exit|fail|return|die)\b|\bexit\s+[1-9]|\breturn\s+[1-9]",
]);

static C: LanguagePatterns = LanguagePatterns::new([
    r"^(?:TYPED_)?(?:TEST|TEST_F|TEST_P|TEST_CASE|SCENARIO|BOOST_AUTO_TEST_CASE|Test)\s*\(\s*(?P<name>[^)]*)|^(?:static\s+)?(?:void|int)\s+test\w*\s*\(",
    NO_MATCH,
    NO_MATCH,
    NO_MATCH,
    r"\bGTEST_SKIP\b|\bDISABLED_|\[!?\.?(?:hide|mayfail)\]|\bSKIP\(|\bTEST_IGNORE",
    NO_MATCH,
    r"\b(?:EXPECT|ASSERT|REQUIRE|CHECK|BOOST|TEST_ASSERT|cr_assert|ck_assert)\w*\s*\(|\bassert\s*\(",
]);
