//! Finds the syntactic position of an offset in a TOML text: in a table header, in a key, in a value. Works on lines,
//! so that incomplete texts are supported; never fails, at worst it finds nothing.

use std::ops::Range;

/// A position in the text, with its table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SettingsCursor {
    /// Between `[` and `]`.
    Header {
        name: Range<usize>,
    },
    /// Before `=`: the dotted path before the last name, and that name. `is_set`: `=` follows.
    Key {
        section: Vec<String>,
        name: Range<usize>,
        is_set: bool,
    },
    /// After `=`.
    Value {
        key: Vec<String>,
        value: Range<usize>,
    },
    Nothing,
}

/// One non-empty line.
struct SettingsLine {
    range: Range<usize>,
    section: Vec<String>,
    /// Whether it continues a value that began on an earlier line.
    continues: bool,
}

pub(super) fn cursor_at(text: &str, offset: usize) -> SettingsCursor {
    let within = |it: &SettingsLine| it.range.start <= offset && offset <= it.range.end;
    let Some(line) = lines(text).into_iter().find(within) else { return SettingsCursor::Nothing };
    let content = text.get(line.range.clone()).unwrap_or_default();
    let content = content.get(..comment(content)).unwrap_or(content);
    if line.continues || offset > line.range.start + content.len() {
        return SettingsCursor::Nothing;
    }
    let start = line.range.start;
    if content.trim_start().starts_with('[') {
        return header(content, start, offset);
    }
    match equals(content) {
        Some(at) if offset > start + at => {
            let key = path(content.get(..at).unwrap_or_default());
            let value = content.get(at + 1..).unwrap_or_default();
            let from = start + at + 1 + value.len() - value.trim_start().len();
            let to = from + value.trim().len();
            SettingsCursor::Value {
                key: [line.section, key].concat(),
                value: from.min(offset)..to.max(offset),
            }
        }
        found => {
            key(&line, content.get(..found.unwrap_or(content.len())).unwrap_or_default(), found.is_some())
        }
    }
}

/// All dotted paths that are assigned in the text, without those in inline tables.
pub(super) fn assigned_paths(text: &str) -> Vec<Vec<String>> {
    let assigned = lines(text).into_iter().filter(|it| !it.continues).filter_map(|it| {
        let content = text.get(it.range.clone())?;
        let key = content.get(..equals(content)?)?;
        (!content.trim_start().starts_with(['[', '#'])).then(|| [it.section, path(key)].concat())
    });
    assigned.collect()
}

/// The text after `=` of this path, without a comment.
pub(super) fn value<'a>(text: &'a str, wanted: &[&str]) -> Option<&'a str> {
    lines(text).into_iter().filter(|it| !it.continues).find_map(|it| {
        let content = text.get(it.range.clone())?;
        let content = content.get(..comment(content))?;
        let at = equals(content)?;
        let is_it = [it.section, path(content.get(..at)?)].concat().iter().eq(wanted);
        Some(content.get(at + 1..)?.trim()).filter(|_| is_it)
    })
}

/// All tables with a header.
pub(super) fn tables(text: &str) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = lines(text).into_iter().map(|it| it.section).collect();
    all.dedup();
    all
}

fn header(content: &str, start: usize, offset: usize) -> SettingsCursor {
    let open = content.find('[').unwrap_or_default();
    let inner = content.get(open + 1..).unwrap_or_default();
    if inner.starts_with('[') {
        return SettingsCursor::Nothing;
    }
    let len = inner.find(']').unwrap_or(inner.trim_end().len());
    let name = start + open + 1..start + open + 1 + len;
    if (name.start..=name.end).contains(&offset) {
        SettingsCursor::Header { name }
    } else {
        SettingsCursor::Nothing
    }
}

fn key(line: &SettingsLine, content: &str, is_set: bool) -> SettingsCursor {
    let text = content.trim();
    let from = line.range.start + content.len() - content.trim_start().len();
    let dot = text.rfind('.');
    let section = dot.map_or_else(Vec::new, |at| path(text.get(..at).unwrap_or_default()));
    let name = from + dot.map_or(0, |at| at + 1)..from + text.len();
    SettingsCursor::Key { section: [line.section.clone(), section].concat(), name, is_set }
}

fn lines(text: &str) -> Vec<SettingsLine> {
    let mut all = Vec::new();
    let mut section: Vec<String> = Vec::new();
    let mut open = OpenValue::default();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\n', '\r']);
        let range = at..at + content.len();
        at += line.len();
        let continues = open.is_open();
        let is_header = !continues && content.trim_start().starts_with('[');
        if is_header {
            let inner = content.trim_start().trim_start_matches('[');
            section = path(inner.split(']').next().unwrap_or_default());
        } else {
            open.take(content);
        }
        all.push(SettingsLine { range, section: section.clone(), continues });
    }
    if text.is_empty() || text.ends_with('\n') {
        all.push(SettingsLine { range: text.len()..text.len(), section, continues: open.is_open() });
    }
    all
}

/// Constructs left open at the end of a line: brackets, or a multi-line string.
#[derive(Default)]
struct OpenValue {
    depth: usize,
    quotes: Option<&'static str>,
}

impl OpenValue {
    fn is_open(&self) -> bool {
        self.depth > 0 || self.quotes.is_some()
    }

    fn take(&mut self, line: &str) {
        let mut rest = line;
        loop {
            if let Some(quotes) = self.quotes {
                let Some((_, behind)) = rest.split_once(quotes) else { return };
                self.quotes = None;
                rest = behind;
            }
            let Some(at) = rest.find(['"', '\'', '[', ']', '{', '}', '#']) else { return };
            let found = rest.get(at..).unwrap_or_default();
            match found.as_bytes().first() {
                Some(b'#') | None => return,
                Some(b'[' | b'{') => self.depth += 1,
                Some(b']' | b'}') => self.depth = self.depth.saturating_sub(1),
                Some(_) => {
                    let triple = ["\"\"\"", "'''"].into_iter().find(|it| found.starts_with(it));
                    if let Some(triple) = triple {
                        self.quotes = Some(triple);
                        rest = found.get(3..).unwrap_or_default();
                        continue;
                    }
                    rest = found.get(quoted(found)..).unwrap_or_default();
                    continue;
                }
            }
            rest = found.get(1..).unwrap_or_default();
        }
    }
}

/// The length of the quoted text at the start, up to the end of the line if it is not closed.
fn quoted(text: &str) -> usize {
    let mut chars = text.char_indices();
    let Some((_, quote)) = chars.next() else { return 0 };
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' if quote == '"' => {
                chars.next();
            }
            _ if char == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Offset of the first `=` outside of quotes.
fn equals(content: &str) -> Option<usize> {
    outside(content, '=')
}

/// Offset of the comment, otherwise the end.
fn comment(content: &str) -> usize {
    outside(content, '#').unwrap_or(content.len())
}

fn outside(content: &str, wanted: char) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = content.get(at..)?.find(['"', '\'', wanted]) {
        let rest = content.get(at + found..)?;
        if rest.starts_with(wanted) {
            return Some(at + found);
        }
        at += found + quoted(rest);
    }
    None
}

/// `agents."mine".command` without quotes and spaces.
fn path(text: &str) -> Vec<String> {
    let name = |it: &str| it.trim().trim_matches(['"', '\'']).to_owned();
    if text.trim().is_empty() { Vec::new() } else { text.split('.').map(name).collect() }
}
