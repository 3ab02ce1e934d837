//! Decides whether a line is an error: first discards lines that only contain the word (fields, code, counts of zero,
//! file names, quotations), then requires the form of a real tool's error.

use super::position::{after_names, after_program, has_within};
use loopkeeper_text::pattern::ConstantPattern;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ErrorConfidence {
    Error,
    /// Reports that something failed but not why: the summary under other errors.
    FollowUp,
}

/// Characters before the words that identify an error, such as a list of files.
const MAX_CONTEXT: usize = 200;

/// Cheap pre-check: a line without any of these is not an error, which excludes nearly all lines.
static POSSIBLE_ERROR: ConstantPattern = ConstantPattern::new(
    r"(?i)error|exception|traceback|panic|fail|fatal|npm err|not found|denied|no such file|segmentation|core dumped|not ok|^killed|undefined reference|cannot find|^e\s",
);
/// Log timestamps, and marks before messages.
static LOG_PREFIX: ConstantPattern = ConstantPattern::new(
    r"^(?:\[?\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?\]?\s+|\[?\d\d:\d\d:\d\d[.,\d]*\]?\s+|[^\x00-\x7f]{1,3}\s+)+",
);
static QUOTATION: ConstantPattern =
    ConstantPattern::new(r#""(?:[^"\\]|\\.)*"|`[^`']*`|“[^”]*”|«[^»]*»|(?P<before>^|[\s(\[{=:,])'[^']*'"#);
static FILE: ConstantPattern = ConstantPattern::new(
    r"(?i)[\w./-]*(?:errors?|exceptions?|fail(?:ed|ures?)?|panic)[\w-]*\.[a-z]{1,4}\b(?::\d+)*:?",
);
static ABSENCE: ConstantPattern = ConstantPattern::new(
    r"(?ix)\b(?:0|no|zero|without(?:\sany)?|free\sof)\s+(?:\w+\s+){0,2}(?:errors?|exceptions?|failures?|failed|failing|panics)\b
        | \b\w*(?:errors?|exceptions?|failures?|failed|is_error)\s*[:=]\s*(?:0\b|(?:none|no|false|null|nil|n/a|\[\]|\{\})\s*(?:[,;.|)\]}]|$)|$)",
);
/// Lists, quotations, diffs, comments, tables, headings: text about an error, not the error itself.
static MENTION: ConstantPattern =
    ConstantPattern::new(r"^\s*(?:[-+*>|•]\s|[-+][^-\s]|//|/\*|\#|\d+[.)]\s|<!--|\*\s|@@)");
static CODE: ConstantPattern = ConstantPattern::new(
    r"(?x) [,;{(\\]$ | => | -> | :: (?:Error|Exception) | \b(?:Result|Option|Box)< | \bcatch\s*[({] | ^\s*(?:\}\s*)?(?:except|catch|rescue)\b
        | \b(?:fn|def|func|function|class|struct|enum|impl|interface|import|const|let|var|pub|throw|throws|raise|return|extends|assert_eq)\b.*[({:;=]
        | \b(?:throw|raise|return)\s+(?:new\s+)?\w | \b(?:Err|Error|Exception)\( | \w\.(?:error|fatal|exception|fail)\(
        | ^\s*(?:error|exception|fatal)\s*[:=]\s*(?:[A-Z]\w*<|&|\$|Some\(|[a-z_.]+\(|string\b|boolean\b|unknown\b|any\b)",
);
/// Prefixes of tool output that count even if the line looks like code.
static TOOL_PREFIX: ConstantPattern = ConstantPattern::new(
    r"^(?:error\[[A-Z]*\d+\]: |Traceback \(most recent call last\)|(?:\S+(?:: | - ))?error [A-Z]+\d+: |thread .* panicked at|--- FAIL: |test result: FAILED|npm (?:ERR!|error) )",
);
static FOLLOW_UP: ConstantPattern = ConstantPattern::new(
    r"(?x)^(?: npm\s(?:ERR!|error)\s | test\sresult:\sFAILED | error:\stest\sfailed | error:\saborting\sdue\sto | error:\s(?:\d+\starget|could\snot\scompile)
        | FAIL(?:ED)?$ | FAIL\s | .*\bbuild\sfailed\.?$ | Build\sFAILED | BUILD\sFAILED | make(?:\[\d+\])?:\s\*\*\* | error:\s(?:script|process|command|recipe|task)\b
        | FAILED\s\(\w+=\d | =+\s.*\bfailed\b | Tests?:?\s+.*\bfailed\b | ERROR:\s(?:Test|Build|Job)\s(?:run\s)?failed | .*\d+\s(?:\w+\s)?(?:failed|FAILED|failures?|errors?)\W*$)",
);
/// A message of a compiler or a program, at the beginning of a line or after names.
static MESSAGE: ConstantPattern = ConstantPattern::new(
    r"^(?:(?:PHP\s)?(?:[Ff]atal|[Pp]arse|[Ii]nternal|[Cc]ompiler)\s)?(?:error|Error|ERROR)(?:\[[\w:-]+\]|\s\[[\w-]+\]|\s[A-Z]+\d+)?:\s+\S",
);
/// The kernel's reasons, after the name of a program.
static REASON: ConstantPattern = ConstantPattern::new(
    r"(?:^|:\s)(?:Permission\sdenied|No\ssuch\sfile\sor\sdirectory|Is\sa\sdirectory|Not\sa\sdirectory)",
);
static CRASH: ConstantPattern = ConstantPattern::new(r"\b[Ss]egmentation\sfault\b|\bcore\sdumped\b");
static LINKER: ConstantPattern = ConstantPattern::new(r":\sundefined\sreference\sto\b");
static CERTAIN_LINKER: ConstantPattern = ConstantPattern::new(r": undefined reference to ");
/// The name of an error at the end of a line.
static ERROR_NAME: ConstantPattern = ConstantPattern::new(r"\((?:[A-Z]\w*::)*\w+(?:Error|Exception)\)$");
static ERROR: ConstantPattern = ConstantPattern::new(
    r"(?x)^(?:
          [\[<(]?(?:ERROR|FATAL|CRITICAL|SEVERE)[\])>]?(?:[:|]?\s+)\S
        | level=(?:error|fatal)\b
        | (?:Uncaught\s|Unhandled\s|Caused\sby:\s|E\s{1,8}|\[\w+\]\s)?(?:\(in\spromise\)\s)?(?:[A-Za-z_][\w$]*(?:\.|::|\\))*\w*(?:Error|Exception)(?:\s\[[\w-]+\])?:(?:\s|$)
        | Exception\sin\sthread\b
        | E\s{1,8}assert\s
        | Traceback\s\(most\srecent\scall\slast\)
        | panic:\s
        | thread\s.*panicked\sat\b
        | (?:\S+:\s){0,2}fatal:\s
        | ---\sFAIL:\s
        | FAILED\s+\S | not\sok\s\d+
        | test\s\S+\s(?:-\s\S+\s)*\.\.\.\sFAILED$
        | \s*\d+:\d+\s+error\s+\S
        | (?:\S+:\s)(?:line\s\d+:\s|\d+:\s)?(?:\S+:\s)?(?:command\s)?not\sfound(?::\s\S+)?$
        | (?:\S+:\s)command\snot\sfound:\s\S+$
        | Permission\sdenied\b
        | Killed$
        | Cannot\sfind\smodule\b
        )",
);

pub(super) fn rate_line(line: &str) -> Option<ErrorConfidence> {
    if !POSSIBLE_ERROR.is_match(line) {
        return None;
    }
    let bare = LOG_PREFIX.replace(line, "");
    let is_certain = TOOL_PREFIX.is_match(&bare) || has_within(&CERTAIN_LINKER, &bare, MAX_CONTEXT);
    if !is_certain && (MENTION.is_match(&bare) || only_mentions(&bare)) {
        return None;
    }
    // Quoted text is not the error of this line. Each quotation becomes a placeholder.
    let spoken = QUOTATION.replace_all(&bare, "${before}_");
    let spoken = if is_certain { spoken } else { FILE.replace_all(&spoken, "_").into_owned().into() };
    if FOLLOW_UP.is_match(&spoken) {
        return Some(ErrorConfidence::FollowUp);
    }
    reports_error(&spoken).then_some(ErrorConfidence::Error)
}

/// Lengths of the text before an error are counted here: a pattern in which it is repeated up to 200 times has as many
/// copies of it in memory.
fn reports_error(line: &str) -> bool {
    ERROR.is_match(line)
        || after_names(line, 2).iter().any(|it| MESSAGE.is_match(it))
        || after_program(line).is_some_and(|it| has_within(&REASON, it, MAX_CONTEXT))
        || has_within(&CRASH, line, 120)
        || has_within(&LINKER, line, MAX_CONTEXT)
        || has_within(&ERROR_NAME, line, MAX_CONTEXT)
}

fn only_mentions(line: &str) -> bool {
    ABSENCE.is_match(line) || CODE.is_match(&QUOTATION.replace_all(line, "${before}_"))
}
