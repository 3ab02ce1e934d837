use proptest::prelude::*;
use regex::Regex;

use super::{ConstantPattern, ascii};

/// Everything that patterns of this workspace are made of.
const PATTERNS: [&str; 16] = [
    r"(?i)error|exception|traceback|panic|fail|^e\s",
    r"^(?:\[?\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?\]?\s+|[^\x00-\x7f]{1,3}\s+)+",
    r#""(?:[^"\\]|\\.)*"|`[^`']*`|“[^”]*”|«[^»]*»|(?P<before>^|[\s(\[{=:,])'[^']*'"#,
    r"^\s*(?:[-+*>|•]\s|[-+][^-\s]|//|/\*|\#|\d+[.)]\s|@@)",
    r"\b\d+(?:[.,]\d+)*\s?(?:ns|[µμ]s|us|ms|s)\b(?:\s?\d+(?:[.,]\d+)*\s?(?:ms|s|m|min)\b)*",
    r"^(?:\S{1,5}(?::\s|\s-\s)){0,2}(?:error|Error)(?:\[[\w:-]+\])?:\s+\S",
    r".{0,5}\b[Ss]eg\sfault\b|.{0,5}\((?:[A-Z]\w*::)*\w+Error\)$",
    r"^[✗✘×✖✕❯●]\s|^assertion\b",
    r"(?i)\b(\w*[ks]eed)\b\W{0,4}",
    r"(?m)^(?:[^\n]*?: )?[‘'\x22](?P<env>[^’'\x22\n]+)[’'\x22]: No such\s*$",
    r"^[^\x00-\x7f\p{L}]{1,3}\s+|[\p{Lu}--[A-C]]x",
    r"(?:[您你]?的?)已(?:达到|超出)|a*?b{2,3}|(?:ab|a)(?:c|bcd)(d*)",
    r"(?s)a.c|[^a]\B.",
    r"(?:[0-9a-c]{3})?\b|(?:a*)?b|(?:x{2}){1,2}?y|(?:(?:z+?)*)c",
    r"(?i)(?:\||\bresets?[\s:=]{1,4})(?P<epoch>\d{2}(?:\d{3})?)\b",
    r"",
];

fn found(pattern: &Regex, text: &str) -> Vec<Vec<Option<(usize, usize)>>> {
    let groups = |it: regex::Captures<'_>| it.iter().map(|it| it.map(|it| (it.start(), it.end()))).collect();
    pattern.captures_iter(text).map(groups).collect()
}

fn names(pattern: &Regex) -> Vec<Option<&str>> {
    pattern.capture_names().collect()
}

proptest! {
    #[test]
    fn ascii_text_gives_the_same_matches(parts in prop::collection::vec(prop_oneof![
        "[ -~]{0,3}", "[\\x00-\\x20]", "error: |Error: ", "2026-11-27T10:02:03Z ", "'[a-z]?'", "\"[a-z\\\\]*\"", "`x`",
        "[0-9]{1,2}\\.?[0-9]? ?(ms|s|us)", "seg fault", "\\([A-Z]::aError\\)", "[sSkK]eed", "[a-d]{1,5}", "a: |b - ", "\\|[0-9]{1,6}", "[xyz]{1,4}",
        "'[a-z]': No such\n",
    ], 0..8)) {
        let text = parts.concat();
        for pattern in PATTERNS {
            let (whole, ascii) = (Regex::new(pattern).unwrap(), Regex::new(&ascii::restrict(pattern)).unwrap());
            prop_assert_eq!(found(&ascii, &text), found(&whole, &text), "{}", pattern);
            prop_assert_eq!(names(&ascii), names(&whole));
        }
    }
}

#[test]
fn other_text_is_read_by_the_whole_pattern() {
    let word = ConstantPattern::new(r"\b(?P<word>\w+)\b");
    let words = |text: &str| word.find_iter(text).map(|it| it.as_str().to_owned()).collect::<Vec<_>>();
    assert_eq!(words("grüße an k"), ["grüße", "an", "k"]);
    assert_eq!(words("gr e an k"), ["gr", "e", "an", "k"]);
    assert_eq!(word.replace_all("é e", "<$word>"), "<é> <e>");
    assert_eq!(word.replace("e f", "<$word>"), "<e> f");
    assert!(ConstantPattern::new("(?i)k").is_match("\u{212a}"));
    assert!(word.captures("…").is_none() && word.find("").is_none());
}

/// The states of an automaton of `\w` alone are some thousand bytes for ASCII and some hundred thousand for Unicode.
#[test]
fn an_ascii_pattern_has_no_character_beyond() {
    for pattern in PATTERNS {
        let restricted = ascii::restrict(pattern);
        assert!(restricted.is_ascii() && !restricted.contains(r"\u"), "{restricted}");
        assert!(!restricted.contains(r"\x80"), "{restricted}");
    }
    assert_eq!(ascii::restrict(r"\d\b“?"), r"(?-u:[0-9])(?-u:\b)(?:[a&&b]){0,1}");
}
