//! Finds the rows of values that parametrised tests run with: groups in brackets that hold nothing but literals, within
//! a list or in the arguments of what parametrises a test.

use super::TestLanguage;
use loopkeeper_text::pattern::ConstantPattern;

/// Maximum size of a row; longer groups are data of another kind.
const MAX_ROW: usize = 500;

/// A bracket that is still open.
struct OpenGroup {
    /// The byte behind the bracket.
    from: usize,
    bracket: u8,
    /// The name before the bracket, which then calls or indexes it.
    callee: String,
    has_groups: bool,
}

/// The rows in the code of a file, each as its values without their names. `asserts`: whether a line is an assertion,
/// whose values are compared with it.
pub(super) fn table_rows(language: TestLanguage, code: &str, asserts: impl Fn(&str) -> bool) -> Vec<String> {
    let bytes = code.as_bytes();
    let (mut open, mut rows): (Vec<OpenGroup>, Vec<String>) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(byte) = bytes.get(at).copied() {
        match byte {
            // A single quote is mostly a lifetime.
            b'\'' if language == TestLanguage::Rust => {
                at += if bytes.get(at + 2) == Some(&b'\'') { 2 } else { 0 };
            }
            b'"' | b'\'' | b'`' => at += string_length(bytes.get(at..).unwrap_or_default()),
            b'(' | b'[' | b'{' => {
                if let Some(outer) = open.last_mut() {
                    outer.has_groups = true;
                }
                let callee = callee(code.get(..at).unwrap_or_default());
                open.push(OpenGroup { from: at + 1, bracket: byte, callee, has_groups: false });
            }
            b')' | b']' | b'}' => {
                if let Some(group) = open.pop().filter(|it| !it.has_groups && at - it.from <= MAX_ROW)
                    && let Some(values) = code.get(group.from..at).and_then(values)
                    && !asserts(line_of(code, group.from))
                {
                    rows.extend(rows_of(&group, open.last(), values));
                }
            }
            _ => {}
        }
        at += 1;
    }
    rows
}

/// The rows that a group of values is, in the group around it.
fn rows_of(group: &OpenGroup, outer: Option<&OpenGroup>, values: Vec<String>) -> Vec<String> {
    static ROW: ConstantPattern =
        ConstantPattern::new(r"^(?:param|case|arguments|of|row|InlineData|TestCase|test_case|Entry)$");
    static LIST: ConstantPattern =
        ConstantPattern::new(r"^(?:parametrize|each|values|ValueSource|CsvSource|Values)$");
    let is_list = |it: &OpenGroup| LIST.is_match(&it.callee);
    if ROW.is_match(&group.callee) {
        return vec![values.join(",")];
    }
    if is_list(group) || (group.callee.is_empty() && outer.is_some_and(is_list)) {
        return values;
    }
    // A literal of a type in Go has its name before the bracket: `[]case{{1, 2}}`.
    let is_in_list =
        outer.is_some_and(|it| it.bracket != b'(' && (it.callee.is_empty() || it.bracket == b'{'));
    let is_row = group.callee.is_empty() && values.len() > 1 && is_in_list;
    if is_row { vec![values.join(",")] } else { Vec::new() }
}

/// The literals of a group, without the names of fields; `None` if something else is among them.
fn values(inner: &str) -> Option<Vec<String>> {
    static VALUE: ConstantPattern = ConstantPattern::new(
        r#"(?x)^\s*(?:(?P<name>\w+|"\w+"|'\w+')\s*(?:=>|[:=])\s*)?(?P<value>
            [+-]?\d[\w.]* | "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | `[^`]*`
            | true | false | True | False | None | nil | null | undefined )\s*(?:,|$)"#,
    );
    let (mut rest, mut found) = (inner, Vec::new());
    while !rest.trim().is_empty() {
        let item = VALUE.captures(rest)?;
        let (all, value) = (item.get(0)?, item.name("value")?);
        // The name of a row says nothing about its values.
        if item.name("name").is_none_or(|it| it.as_str() != "id") {
            found.push(value.as_str().replace('\'', "\""));
        }
        rest = rest.get(all.end()..)?;
    }
    (!found.is_empty()).then_some(found)
}

/// The name that ends the text.
fn callee(before: &str) -> String {
    let is_of_name = |it: char| it.is_alphanumeric() || it == '_';
    let name = before.trim_end_matches(is_of_name);
    match before.get(name.len()..) {
        Some("") | None if before.ends_with([')', ']']) => ")".to_owned(),
        Some("in" | "return" | "yield") | None => String::new(),
        Some(name) => name.to_owned(),
    }
}

fn line_of(code: &str, at: usize) -> &str {
    let begin = code.get(..at).and_then(|it| it.rfind('\n')).map_or(0, |it| it + 1);
    code.get(begin..).and_then(|it| it.lines().next()).unwrap_or_default().trim()
}

/// Up to the last byte of the string; one that is not closed on its line is none.
fn string_length(bytes: &[u8]) -> usize {
    let Some(quote) = bytes.first() else { return 0 };
    let mut is_escaped = false;
    for (at, byte) in bytes.iter().enumerate().skip(1) {
        match byte {
            b'\n' if *quote != b'`' => return 0,
            b'\\' => is_escaped = !is_escaped,
            it if it == quote && !is_escaped => return at,
            _ => is_escaped = false,
        }
    }
    0
}
