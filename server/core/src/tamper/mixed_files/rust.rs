//! Rust sources: the modules of tests inside a source file are judges, the code around them is work.

use std::ops::Range;

use regex::Regex;

use loopkeeper_text::pattern::ConstantPattern;

/// The final source with the test modules of the start.
pub(super) fn source(start: &str, end: &str) -> Option<String> {
    let old = test_modules(start);
    if old.is_empty() {
        return None;
    }
    let mut text = end.to_owned();
    for module in old {
        let block = start.get(module.range.clone())?;
        match declaration(&text, &module.name) {
            Some(range) if text.get(range.clone()) == Some(block) => {}
            Some(range) => text.replace_range(range, block),
            None => {
                text.push_str("\n\n");
                text.push_str(block);
                text.push('\n');
            }
        }
    }
    (text != end).then_some(text)
}

struct TestModule {
    name: String,
    /// With its attributes.
    range: Range<usize>,
}

/// The modules with `#[cfg(test)]` and a body, at the top level of the file.
fn test_modules(text: &str) -> Vec<TestModule> {
    static TEST_MODULE_HEAD: ConstantPattern = ConstantPattern::new(
        r"(?m)^#\[cfg\(test\)\]\s*(?:#\[[^\]\n]*\]\s*)*(?:pub(?:\([a-z]+\))?\s+)?mod\s+(\w+)\s*\{",
    );
    let mut found: Vec<TestModule> = Vec::new();
    for head in TEST_MODULE_HEAD.captures_iter(text) {
        let (Some(all), Some(name)) = (head.get(0), head.get(1)) else { continue };
        if found.last().is_some_and(|it| all.start() < it.range.end) {
            continue;
        }
        if let Some(end) = end_of_block(text, all.end()) {
            found.push(TestModule { name: name.as_str().to_owned(), range: all.start()..end });
        }
    }
    found
}

/// The module of this name at the top level, whatever attributes it has, with or without a body.
fn declaration(text: &str, name: &str) -> Option<Range<usize>> {
    let head = Regex::new(&format!(
        r"(?m)^(?:#\[[^\n]*\]\s*)*(?:pub(?:\([a-z]+\))?\s+)?mod\s+{}\s*(\{{|;)",
        regex::escape(name)
    ));
    let head = head.ok()?.captures(text)?;
    let (all, open) = (head.get(0)?, head.get(1)?);
    let end = if open.as_str() == ";" { open.end() } else { end_of_block(text, open.end())? };
    Some(all.start()..end)
}

/// The end of the block that was opened before `from`, after its closing brace. Skips comments, strings and characters.
fn end_of_block(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (from, 1usize);
    while let Some(byte) = bytes.get(at) {
        let rest = text.get(at..).unwrap_or_default();
        at += match byte {
            b'/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            b'/' if rest.starts_with("/*") => comment_length(rest)?,
            b'"' => string_length(rest)?,
            b'r' if is_raw_string(rest) && !follows_word(bytes, at) => raw_string_length(rest)?,
            b'\'' => character_length(rest),
            b'{' => {
                depth += 1;
                1
            }
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
                1
            }
            _ => 1,
        };
    }
    None
}

/// Comments can be nested.
fn comment_length(text: &str) -> Option<usize> {
    let mut depth = 1usize;
    let mut at = 2;
    while depth > 0 {
        let rest = text.get(at..)?;
        let close = rest.find("*/")?;
        let open = rest.find("/*").filter(|open| *open < close);
        at += open.unwrap_or(close) + 2;
        depth = if open.is_some() { depth + 1 } else { depth - 1 };
    }
    Some(at)
}

fn follows_word(bytes: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|it| bytes.get(it));
    before.is_some_and(|it| it.is_ascii_alphanumeric() && *it != b'b' || *it == b'_')
}

fn string_length(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, char) in text.char_indices().skip(1) {
        match char {
            '"' if !escaped => return Some(at + 1),
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    None
}

fn is_raw_string(text: &str) -> bool {
    text.get(1..).is_some_and(|it| it.trim_start_matches('#').starts_with('"'))
}

fn raw_string_length(text: &str) -> Option<usize> {
    let hashes = text.bytes().skip(1).take_while(|it| *it == b'#').count();
    let open = 2 + hashes;
    let close = format!("\"{}", "#".repeat(hashes));
    Some(open + text.get(open..)?.find(&close)? + close.len())
}

/// A character, or the tick of a lifetime.
fn character_length(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), _) => text.get(3..).and_then(|it| it.find('\'')).map_or(1, |it| it + 4),
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}
