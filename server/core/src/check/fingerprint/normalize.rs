//! Normalises one line of a failing check's output: removes everything that differs from run to run.

use std::borrow::Cow;

use loopkeeper_agent::errors;
use loopkeeper_text::pattern::ConstantPattern;
use loopkeeper_text::sanitize;

const LINE_CHARS: usize = 500;
/// Source excerpts, stack frames and the progress of build tools are indented at least this far.
const CONTEXT_INDENT: usize = 3;

/// What a line contributes to the fingerprint.
pub(super) enum LineClass {
    /// It reports one failure: an error, an assertion, a value that is not the expected one.
    Failure(String),
    Other(String),
    /// Source excerpts, stack frames, warnings, progress: they vary with edits that change nothing.
    Noise,
}

pub(super) fn classify_line(raw: &str) -> LineClass {
    let clean = sanitize::line_within(raw, LINE_CHARS);
    let trimmed = clean.trim();
    if trimmed.is_empty() || GUTTER.is_match(trimmed) || WARNING.is_match(trimmed) {
        return LineClass::Noise;
    }
    if errors::is_error(trimmed) || FAILURE.is_match(trimmed) {
        return LineClass::Failure(normalize_text(trimmed));
    }
    // `line_within` keeps no leading blanks.
    let blanks = raw.chars().take_while(|it| it.is_whitespace());
    let indent: usize = blanks.map(|it| if it == '\t' { CONTEXT_INDENT } else { 1 }).sum();
    if indent >= CONTEXT_INDENT || FRAME.is_match(trimmed) || PROGRESS.is_match(trimmed) {
        return LineClass::Noise;
    }
    LineClass::Other(normalize_text(trimmed))
}

/// Replaces times, addresses, temporary paths, line numbers and seeds.
pub(super) fn normalize_text(raw: &str) -> String {
    let mut text = raw.to_owned();
    for rule in &RULES {
        if let Cow::Owned(changed) = rule.pattern.replace_all(&text, rule.with) {
            text = changed;
        }
    }
    HASH.replace_all(&text, |found: &regex::Captures<'_>| {
        let word = found.get(0).map_or("", |it| it.as_str());
        let is_hash = word.contains(|it: char| it.is_ascii_digit()) && word.contains(char::is_alphabetic);
        if is_hash { "<n>".to_owned() } else { word.to_owned() }
    })
    .into_owned()
}

static HASH: ConstantPattern = ConstantPattern::new(r"(?i)\b[0-9a-f]{7,64}\b");

/// `12 | let x = 1;`, `> 3 | …`, ` --> src/a.rs:3:5`, `^^^^`: source as compilers and runners quote it.
static GUTTER: ConstantPattern =
    ConstantPattern::new(r"^(?:>\s*)?\d*\s*[|│](?:\s|$)|^-->\s|^[\^~|\s]+$|^>\s");
/// `..F. [ 50%]`, `src/a_test.py .F`, rules, progress of build tools.
static PROGRESS: ConstantPattern = ConstantPattern::new(
    r"^(?:[\w./-]+\s+)?[.FEsxX,]+(?:\s*\[\s*\d+%\])?$|^[-=_─━⎯*#\s]+$|^(?:Compiling|Downloading|Downloaded|Checking|Building|Blocking|Updating|Locking|Fresh|Finished|Running|Doc-tests|Resolving|Collecting)\s",
);
static WARNING: ConstantPattern = ConstantPattern::new(
    r"(?i)^(?:\S+:\d+:\s+)?(?:npm |yarn |\[)?(?:warn|warning|\w*Warning)\b(?:\]|:|\s)|^\(node:\d+\) \w*Warning",
);
static FRAME: ConstantPattern = ConstantPattern::new(
    r#"^at\s.+[:(]\d+|^File\s"[^"]+",\sline\s\d+|^\d+:\s+(?:0x|\w+::)|^stack backtrace:"#,
);
/// Actual and expected values, marks in front of failing tests, locations with their errors, changed lines.
static FAILURE: ConstantPattern = ConstantPattern::new(
    r"(?x)^(?i:left|right|expected|expect|actual|received|got|want|wanted|found|message|difference|diff)\b.{0,12}[:=\s]
        | ^[✗✘×✖✕❯●]\s | ^assertion\b | ^(?:[\w.@+-]*/)*[\w@+-]+\.\w{1,8}[:(]\d+ | ^\d+:\d+\s+\S
        | ^[+-]\s*\S | \bFAIL(?:ED|URE)?\b | ^\d+\)\s | panicked\sat",
);

struct ReplacementRule {
    pattern: ConstantPattern,
    with: &'static str,
}

macro_rules! rule {
    ($pattern:literal, $with:literal) => {
        ReplacementRule { pattern: ConstantPattern::new($pattern), with: $with }
    };
}

/// Applied in this order: a rule precedes those that would break up its matches.
static RULES: [ReplacementRule; 13] = [
    // Temporary paths, with everything below them.
    rule!(
        r#"(?:[A-Za-z]:)?(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm|run/user/\d+)/[^\s'"`:,;()\[\]<>]*|(?i)[A-Z]:\\Users\\[^\\\s]+\\AppData\\Local\\Temp\\[^\s'"`:,;]*"#,
        "<tmp>"
    ),
    rule!(
        r"\.?\b(?:tmp[._-]?|temp[._-])[0-9A-Za-z_]*\d[0-9A-Za-z_]*\b|\.tmp[0-9A-Za-z_]{4,}|\bpytest-of-\w+/pytest-\d+",
        "<tmp>"
    ),
    rule!(r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "<id>"),
    // Dates and times of day.
    rule!(
        r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\s?Z|\s?[+-]\d\d:?\d\d)?)?|\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?(?:\s?[AP]M)?|\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+\d{1,2}(?:,? \d{4})?\b",
        "<time>"
    ),
    rule!(
        r"(?i)\b((?:random(?:ized|ly)?|shuffled?|prng|rng)?[-_ ]?seed(?:ed|s)?|shuffle|random(?:ized)? order|proptest: cc)\b\W{0,4}(?:(?:is|was|of|with|by|value|used|using)\W{1,3})*(?:0x)?[0-9a-f]*\d[0-9a-f]*",
        "$1 <seed>"
    ),
    rule!(
        r"(?i)\b(duration(?:_ms)?|elapsed|took)\b\W{1,12}\d+(?:[.,:]\d+)*|\b(time)\s?[:=]\s*\d+(?:[.,:]\d+)*|^(real|user|sys)\s+\d+m[\d.,]+s$",
        "$1$2$3 <time>"
    ),
    rule!(
        r"\b\d+(?:[.,]\d+)*\s?(?:ns|[µμ]s|us|ms|s|m|h|min|mins|secs?|seconds?|minutes?|hours?|(?:milli|micro|nano)seconds?)\b(?:\s?\d+(?:[.,]\d+)*\s?(?:ms|s|m|min)\b)*",
        "<time>"
    ),
    // Addresses, hashes, process and thread numbers, ports.
    rule!(r"(?i)\b0x[0-9a-f]+\b|\b1[5-9]\d{8}(?:\d{3})?\b", "<n>"),
    rule!(
        r"(?i)\b((?:pid|tid|process|thread|goroutine|worker|port)[ =:#]{1,3})\d+\b|(localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):\d+|(thread '[^']*' \()\d+\)",
        "$1$2$3<n>"
    ),
    // A location keeps its file.
    rule!(r"(\b(?:[\w.@+-]+/)*[\w@+-]+\.[A-Za-z]\w{0,7})(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\):)", "$1:<n>"),
    rule!(
        r"(?i)\b(lines?|columns?|col)[ :#]{1,2}\d+(?:-\d+)?|^\d+:\d+(\s)|^([\w./-]+):\d+(?::\d+)?:|#L\d+",
        "$1$2$3<n>"
    ),
    // Numbers of tests in an order that may be random, and a count of warnings behind one of tests.
    rule!(r"^((?:not )?ok) \d+|^\d+(\))\s", "$1$2 "),
    rule!(r"\b(passed|failed|errors?|skipped|xfailed|deselected), \d+ warnings?\b", "$1"),
];
