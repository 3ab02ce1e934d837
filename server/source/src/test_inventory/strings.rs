//! Finds lines that begin inside a string, or inside brackets, where a line of Python is not a statement.

use std::collections::BTreeSet;

use super::TestLanguage;

/// How a string begins and ends, and whether it continues over the end of a line; the longest first.
type QuoteSyntax = (&'static str, &'static str, bool);

fn quotes(language: TestLanguage) -> &'static [QuoteSyntax] {
    match language {
        TestLanguage::Python => {
            &[("\"\"\"", "\"\"\"", true), ("'''", "'''", true), ("\"", "\"", false), ("'", "'", false)]
        }
        // A character that is a quote opens no string, and a single one is mostly a lifetime.
        TestLanguage::Rust => {
            &[("r##\"", "\"##", true), ("r#\"", "\"#", true), ("'\"'", "", false), ("\"", "\"", true)]
        }
        TestLanguage::Ruby | TestLanguage::Php | TestLanguage::Perl => {
            &[("\"", "\"", true), ("'", "'", true)]
        }
        _ => &[("`", "`", true), ("\"", "\"", false), ("'", "'", false)],
    }
}

/// The numbers of the lines that begin within a string, and within brackets.
#[derive(Debug, Default)]
pub(super) struct ContinuationLines {
    pub(super) strings: BTreeSet<usize>,
    pub(super) brackets: BTreeSet<usize>,
}

pub(super) fn continued(language: TestLanguage, text: &str) -> ContinuationLines {
    let hashes = matches!(
        language,
        TestLanguage::Python | TestLanguage::Ruby | TestLanguage::Perl | TestLanguage::Shell
    );
    let mut state = StringScanState { quotes: quotes(language), until: None, depth: 0 };
    let mut found = ContinuationLines::default();
    for (number, raw) in (1..).zip(text.lines()) {
        if state.until.is_some() {
            found.strings.insert(number);
        } else if language == TestLanguage::Python && state.depth > 0 {
            found.brackets.insert(number);
        }
        state.read_line(raw, if hashes { "#" } else { "//" });
    }
    found
}

struct StringScanState {
    quotes: &'static [QuoteSyntax],
    until: Option<&'static str>,
    depth: u32,
}

impl StringScanState {
    fn read_line(&mut self, raw: &str, comment: &str) {
        let mut rest = raw;
        let mut on = self.until.is_some();
        while let Some(first) = rest.chars().next() {
            let mut length = first.len_utf8();
            if let Some(end) = self.until {
                if first == '\\' {
                    length += rest.chars().nth(1).map_or(0, char::len_utf8);
                } else if rest.starts_with(end) {
                    length = end.len();
                    self.until = None;
                }
            } else if rest.starts_with(comment) {
                break;
            } else if let Some((begin, end, several)) = self.quotes.iter().find(|it| rest.starts_with(it.0)) {
                length = begin.len();
                self.until = Some(*end).filter(|it| !it.is_empty());
                on = *several;
            } else if matches!(first, '(' | '[' | '{') {
                self.depth += 1;
            } else if matches!(first, ')' | ']' | '}') {
                self.depth = self.depth.saturating_sub(1);
            }
            rest = rest.get(length..).unwrap_or_default();
        }
        if !on {
            self.until = None;
        }
    }
}
