//! Parses lines of front matter into keys and values, whatever the keys mean.

use std::borrow::Cow;
use std::ops::Range;

use loopkeeper_text::{tr, yaml};

use crate::source::lines_of;

#[derive(Debug, PartialEq)]
pub(super) enum YamlValue {
    /// Empty or `null`.
    Nothing,
    Text(String),
    /// Lines that begin with `- `, each with its bytes; the error is the reason why a line is not text.
    List(Vec<(Result<String, String>, Range<usize>)>),
    /// `[a, b]`
    Flow(Vec<String>),
    Unclear(String),
}

pub(super) struct YamlEntry<'a> {
    pub(super) key: &'a str,
    pub(super) value: YamlValue,
    pub(super) range: Range<usize>,
    pub(super) key_range: Range<usize>,
    lines: Vec<YamlLine<'a>>,
}

/// A key of an item with its value.
pub(super) struct YamlPair<'a> {
    pub(super) key: Cow<'a, str>,
    pub(super) value: String,
    pub(super) key_range: Range<usize>,
    /// The whole line.
    pub(super) range: Range<usize>,
}

impl<'a> YamlEntry<'a> {
    /// The items of a list whose lines are keys with values: `- name: a` above `run: b`. `None`: a different list.
    pub(super) fn items(&self) -> Option<Vec<Vec<YamlPair<'a>>>> {
        self.items_of_lines().or_else(|| self.items_of_braces())
    }

    /// Items with keys in braces: `- {name: a, run: b}`, `[{name: a, run: b}]`.
    fn items_of_braces(&self) -> Option<Vec<Vec<YamlPair<'a>>>> {
        let whole = self.lines.iter().map(|it| it.text).collect::<Vec<_>>().join("\n");
        let document = yaml::parse(&whole);
        let mut items: Vec<Vec<YamlPair<'a>>> = Vec::new();
        for scalar in document.scalars {
            let (index, key) = scalar.path.split_once('.')?;
            let index: usize = index.parse().ok().filter(|it| *it <= items.len())?;
            let line = whole.get(..scalar.range.start)?.matches('\n').count();
            let line = self.lines.get(line)?;
            let (key, key_range) = (Cow::Owned(key.to_owned()), key_range(line, key));
            let pair = YamlPair { key, value: scalar.value, key_range, range: line.range.clone() };
            match items.get_mut(index) {
                Some(item) => item.push(pair),
                None => items.push(vec![pair]),
            }
        }
        (!items.is_empty() && document.fault.is_none()).then_some(items)
    }

    fn items_of_lines(&self) -> Option<Vec<Vec<YamlPair<'a>>>> {
        let mut items: Vec<Vec<YamlPair<'a>>> = Vec::new();
        let is_content = |line: &&YamlLine<'a>| {
            let text = line.text.trim_start();
            !text.is_empty() && !text.starts_with('#') && !matches!(line.text, "---" | "...")
        };
        for line in self.lines.iter().skip(1).filter(is_content) {
            let item_start = item_of(line.text);
            let (key, value) = key_of(item_start.unwrap_or_else(|| line.text.trim_start()))?;
            let key_range = key_range(line, key);
            let (key, value) = (Cow::Borrowed(key), parse_scalar(value));
            let pair = YamlPair { key, value, key_range, range: line.range.clone() };
            match (item_start, items.last_mut()) {
                (Some(_), _) => items.push(vec![pair]),
                (None, Some(item)) => item.push(pair),
                (None, None) => return None,
            }
        }
        (!items.is_empty()).then_some(items)
    }
}

/// The byte range of a line's first key.
fn key_range(line: &YamlLine<'_>, key: &str) -> Range<usize> {
    let start = line.range.start + line.text.find(key).unwrap_or_default();
    start..start + key.len()
}

/// The keys at line starts, in order, each with all lines up to the next key.
pub(super) fn parse_entries(block: &str) -> Vec<YamlEntry<'_>> {
    let mut entries: Vec<YamlEntryDraft<'_>> = Vec::new();
    let mut at = 0;
    for whole in lines_of(block) {
        let text = whole.trim_end();
        let line = YamlLine { text, range: at..at + text.len() };
        at += whole.len();
        match (key_of(line.text), entries.last_mut()) {
            (Some((key, value)), _) => {
                let key_range = key_range(&line, key);
                entries.push(YamlEntryDraft {
                    key,
                    key_range,
                    lines: vec![YamlLine { text: value, range: line.range }],
                });
            }
            (None, Some(draft)) => draft.lines.push(line),
            (None, None) => {}
        }
    }
    entries.into_iter().map(parse_entry).collect()
}

/// A key with its lines; the first one contributes the text after the colon.
struct YamlEntryDraft<'a> {
    key: &'a str,
    key_range: Range<usize>,
    lines: Vec<YamlLine<'a>>,
}

/// The text after `key:`.
pub(super) fn value_of<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    key_of(line).filter(|(found, _)| *found == key).map(|(_, value)| value)
}

#[derive(Debug, Clone)]
struct YamlLine<'a> {
    text: &'a str,
    range: Range<usize>,
}

fn key_of(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let key = key.trim_end();
    let bare = key.trim_matches(['"', '\'']);
    let is_word = |char: char| char.is_alphanumeric() || "_-.".contains(char);
    (!bare.is_empty() && !line.starts_with('-') && bare.chars().all(is_word)).then(|| (bare, value.trim()))
}

fn parse_entry(draft: YamlEntryDraft<'_>) -> YamlEntry<'_> {
    let YamlEntryDraft { key, key_range, lines: whole } = draft;
    let lines = whole.as_slice();
    let is_content = |line: &&YamlLine<'_>| !line.text.is_empty() && !line.text.starts_with(['#', '-']);
    let (first, rest) = lines.split_first().map_or(("", lines), |(line, rest)| (line.text, rest));
    let start = lines.first().map_or(0, |line| line.range.start);
    let end = lines.first().into_iter().chain(rest.iter().filter(is_content)).last();
    let mut range = start..end.map_or(start, |line| line.range.end);
    let value_text =
        if first.starts_with('[') { without_flow_comment(first) } else { without_comment(first) };
    let value = if value_text.is_empty() && rest.iter().any(|line| item_of(line.text).is_some()) {
        range = key_range.clone();
        parse_list(rest)
    } else if is_null(value_text) {
        unread_lines_fault(rest).map_or(YamlValue::Nothing, YamlValue::Unclear)
    } else if value_text.starts_with('[')
        && (value_text.ends_with(']') && !value_text.starts_with("[ ") || value_text == "[")
    {
        parse_flow(first, rest)
    } else {
        parse_text(first, rest).map_or_else(YamlValue::Unclear, YamlValue::Text)
    };
    YamlEntry { key, value, range, key_range, lines: whole }
}

fn is_null(value: &str) -> bool {
    matches!(value, "" | "~" | "null" | "Null" | "NULL")
}

/// The fault of lines below a key without a value that are neither a list nor empty.
fn unread_lines_fault(rest: &[YamlLine<'_>]) -> Option<String> {
    let is_content = |line: &&YamlLine<'_>| !line.text.is_empty() && !line.text.trim_start().starts_with('#');
    let ends = |line: &&YamlLine<'_>| matches!(line.text, "---" | "...");
    rest.iter()
        .filter(is_content)
        .find(|line| !ends(line))
        .map(|_| tr!("keys are not read here. Write each as one line of text").to_owned())
}

/// The text of a list item after its dash.
fn item_of(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('-')?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.trim())
}

fn parse_list(lines: &[YamlLine<'_>]) -> YamlValue {
    let mut items: Vec<Vec<YamlLine<'_>>> = Vec::new();
    for line in lines.iter().filter(|line| !line.text.is_empty()) {
        match (item_of(line.text), items.last_mut()) {
            (Some(text), _) => items.push(vec![YamlLine { text, range: line.range.clone() }]),
            (None, Some(item)) if line.text.starts_with([' ', '\t']) => item.push(line.clone()),
            (None, _) => {}
        }
    }
    let read = |item: Vec<YamlLine<'_>>| {
        let (first, rest) = item.split_first()?;
        let end = rest.last().map_or(first.range.end, |line| line.range.end);
        let value_text = without_comment(first.text);
        let value =
            if is_null(value_text) && rest.is_empty() { return None } else { parse_text(first.text, rest) };
        Some((value, first.range.start..end))
    };
    YamlValue::List(items.into_iter().filter_map(read).collect())
}

/// Parses `[a, "b"]`, also over several lines.
fn parse_flow(first: &str, rest: &[YamlLine<'_>]) -> YamlValue {
    let mut whole = without_flow_comment(first).to_owned();
    if !whole.ends_with(']') {
        for line in rest {
            let value_text = without_flow_comment(line.text.trim());
            whole.push_str(value_text);
            if value_text.ends_with(']') {
                break;
            }
        }
    }
    let Some(inner) = whole.strip_prefix('[').and_then(|it| it.strip_suffix(']')) else {
        return YamlValue::Unclear(tr!("a list that is not closed. Write the `]`").to_owned());
    };
    YamlValue::Flow(split_flow(inner).into_iter().map(parse_scalar).filter(|it| !it.is_empty()).collect())
}

/// Splits at commas outside quotes and code spans.
fn split_flow(inner: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, _) in unquoted_chars(inner).filter(|(_, char)| *char == ',') {
        parts.push(inner.get(from..at).unwrap_or_default());
        from = at + 1;
    }
    parts.push(inner.get(from..).unwrap_or_default());
    parts
}

/// Removes a comment ` # …` from a line of a list in brackets, except inside quotes and code spans.
fn without_flow_comment(line: &str) -> &str {
    let is_comment = |(at, char): &(usize, char)| {
        *char == '#' && line.get(..*at).is_some_and(|it| it.is_empty() || it.ends_with(char::is_whitespace))
    };
    let end = unquoted_chars(line).find(is_comment).map_or(line.len(), |(at, _)| at);
    line.get(..end).unwrap_or_default().trim()
}

/// The characters outside quotes and code spans. Quotes count only at the start of a list or an item.
fn unquoted_chars(flow: &str) -> impl Iterator<Item = (usize, char)> {
    let mut quote: Option<char> = None;
    let mut is_start = true;
    flow.char_indices().filter(move |&(at, char)| {
        let was_quoted = quote.is_some();
        match (quote, char) {
            (Some(open), char) if open == char => quote = None,
            (None, '`') => quote = Some('`'),
            (None, '"' | '\'') if is_start => quote = Some(char),
            _ => {}
        }
        let begins_item = char == ',' || at == 0 && char == '[' || is_start && char.is_whitespace();
        is_start = quote.is_none() && begins_item;
        !was_quoted
    })
}

/// A value with its continuation lines.
fn parse_text(first: &str, rest: &[YamlLine<'_>]) -> Result<String, String> {
    let further = rest.iter().map(|line| line.text);
    let further: Vec<&str> =
        further.take_while(|line| line.is_empty() || line.starts_with([' ', '\t'])).collect();
    let further = further.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
    let value_text = without_comment(first);
    let is_block = value_text.starts_with(['|', '>'])
        && value_text.chars().skip(1).all(|it| "+-".contains(it) || it.is_ascii_digit());
    if is_block {
        let lines: Vec<&str> = further.collect();
        return Ok(lines.join(if value_text.starts_with('|') { "\n" } else { " " }));
    }
    let mut whole = first.to_owned();
    for line in further.filter(|line| !line.starts_with('#')) {
        let is_quoted = first.starts_with(['"', '\'']);
        if !is_quoted
            && key_of(line)
                .is_some_and(|(_, value)| line.ends_with(':') || line.contains(": ") || value.is_empty())
        {
            return Err(tr!("keys are not read here. Write each as one line of text").to_owned());
        }
        whole.push(' ');
        whole.push_str(line);
    }
    Ok(parse_scalar(&whole))
}

/// A value as YAML reads it: without quotes and trailing comment.
fn parse_scalar(value: &str) -> String {
    let value = value.trim();
    parse_quoted(value).unwrap_or_else(|| without_comment(value).to_owned())
}

/// `None`: not quoted, or text follows the closing quote.
fn parse_quoted(value: &str) -> Option<String> {
    let quote = value.chars().next().filter(|it| matches!(it, '"' | '\''))?;
    let mut inner = String::new();
    let mut chars = value.char_indices().skip(1).peekable();
    while let Some((at, char)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        match (char, next) {
            ('\\', Some(escaped @ ('"' | '\\'))) if quote == '"' => {
                inner.push(escaped);
                chars.next();
            }
            ('\'', Some('\'')) if quote == '\'' => {
                inner.push('\'');
                chars.next();
            }
            (char, _) if char == quote => {
                let behind = value.get(at + 1..)?;
                let is_alone = behind.trim().is_empty()
                    || behind.starts_with([' ', '\t']) && behind.trim().starts_with('#');
                return is_alone.then_some(inner);
            }
            (char, _) => inner.push(char),
        }
    }
    None
}

/// Removes a comment ` # …`, except inside a code span.
fn without_comment(value: &str) -> &str {
    let mut in_code = false;
    let mut before = ' ';
    for (at, char) in value.char_indices() {
        match char {
            '`' => in_code = !in_code,
            '#' if !in_code && before.is_whitespace() => {
                return value.get(..at).unwrap_or_default().trim();
            }
            _ => {}
        }
        before = char;
    }
    value.trim()
}
