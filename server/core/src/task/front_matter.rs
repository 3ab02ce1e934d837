//! Front matter of a prompt document: `test_command` and `criteria`, where users of other tools write them. Every
//! other key is the document's own business. Of YAML what people write there: values in one line, quoted or not,
//! over several lines, and lists; what else stands under these two keys is reported.

#[cfg(test)]
mod tests;
mod yaml;

use std::ops::Range;

use super::FindingCode;
use super::grammar::Mode;
use super::item::{Inline, Origin as Bytes};
use super::outline::{Origin, Outline};
use super::prd;
use super::source::{front_matter_end, lines_of};
use yaml::Value;

const COMMAND: &str = "test_command";
const CRITERIA: &str = "criteria";

pub(super) fn read(text: &str, out: &mut Outline) {
    let end = front_matter_end(text);
    if end <= '\u{feff}'.len_utf8() {
        return note_unclosed(text, out);
    }
    for entry in yaml::entries(text.get(..end).unwrap_or_default()) {
        match entry.key {
            COMMAND => command_of(out, entry.value, &entry.range),
            CRITERIA => criteria_of(out, entry.value, &entry.range),
            _ => {}
        }
    }
}

/// Keys that nobody closed are the document's own text: what its author set there would count for nothing.
fn note_unclosed(text: &str, out: &mut Outline) {
    let Some(behind) = text.trim_start_matches('\u{feff}').strip_prefix("---") else { return };
    let mut at = text.len() - behind.len();
    let block = lines_of(behind).enumerate();
    for (index, line) in block.take_while(|(index, line)| *index == 0 || !line.trim().is_empty()) {
        let range = at..at + line.trim_end().len();
        at += line.len();
        let ours = [COMMAND, CRITERIA].into_iter().find(|key| yaml::value_of(line, key).is_some());
        match ours {
            _ if index == 0 && !line.trim().is_empty() => return,
            Some(key) => {
                let fact = format!("`{key}` is not read, since no `---` closes it. Write one");
                return out.find(FindingCode::Syntax, NAME, &fact, range);
            }
            None => {}
        }
    }
}

const NAME: &str = "front matter";

fn command_of(out: &mut Outline, value: Value, range: &Range<usize>) {
    match value {
        Value::Nothing => {}
        Value::Text(text) => command(out, &text, range),
        Value::List(items) => {
            for (item, range) in items {
                match item {
                    Ok(text) => command(out, &text, &range),
                    Err(fault) => unread(out, COMMAND, &fault, range),
                }
            }
        }
        Value::Flow(_) => {
            unread(out, COMMAND, "a list in brackets. Write it as one line of text", range.clone());
        }
        Value::Unclear(fault) => unread(out, COMMAND, &fault, range.clone()),
    }
}

fn criteria_of(out: &mut Outline, value: Value, range: &Range<usize>) {
    match value {
        Value::Nothing => {}
        Value::Text(text) => criterion(out, &text, range),
        Value::List(items) => {
            for (item, range) in items {
                match item {
                    Ok(text) => criterion(out, &text, &range),
                    Err(fault) => unread(out, CRITERIA, &fault, range),
                }
            }
        }
        Value::Flow(items) => items.iter().for_each(|it| criterion(out, it, range)),
        Value::Unclear(fault) => unread(out, CRITERIA, &fault, range.clone()),
    }
}

/// Less would be checked than its author wrote: no loop starts over it.
fn unread(out: &mut Outline, key: &str, fault: &str, range: Range<usize>) {
    out.find(FindingCode::Syntax, key, fault, range);
}

fn criterion(out: &mut Outline, text: &str, range: &Range<usize>) {
    if text.starts_with("$ ") {
        command(out, text, range);
    } else if !text.trim().is_empty() {
        let inline = Inline::of_plain(text, &Bytes::Whole(range.clone()));
        out.add_criterion(&inline, Mode::Criterion, Origin::default());
    }
}

fn command(out: &mut Outline, text: &str, range: &Range<usize>) {
    if !text.trim().is_empty() {
        let inline = Inline::of_plain(text, &Bytes::Whole(range.clone()));
        out.add_item(prd::command_item(text, &inline), range.clone(), Origin::default());
    }
}
