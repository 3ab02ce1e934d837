//! Front matter of a prompt document: criteria, commands and settings, in the places where users of other tools write
//! them. Supports the YAML that occurs there: values on one line, quoted or not, over several lines, and lists. Every
//! other key, and unread content below a key, is reported.

mod keys;
#[cfg(test)]
mod tests;
mod yaml;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::grammar::{ItemFault, ItemMode};
use super::item::{ByteOrigin as Bytes, InlineContent};
use super::kind::{DocumentKind, kind_of};
use super::may_change;
use super::outline::{CriterionOrigin, TaskOutline};
use super::prd;
use super::source::{front_matter_end, lines_of};
use super::{FindingCode, WrittenSetting};
use crate::criterion::CriterionId;
pub use keys::{FRONT_MATTER_KEYS, FrontMatterKey};
use loopkeeper_text::closest::closest;
use loopkeeper_text::shell_word::quoted;
use loopkeeper_text::tr;
use yaml::{YamlEntry, YamlPair, YamlValue};

const COMMAND: &str = "test_command";
const CRITERIA: &str = "criteria";
/// Commands whose output is sent to the agent; they decide nothing.
const COMMANDS: &str = "commands";
const AGENT: &str = "agent";
const ITERATIONS: &str = "max_iterations";
const PROMISE: &str = "completion_promise";
const MAY_CHANGE: &str = "may_change";
/// Criteria as another tool writes them: often the same as in the text.
const COMPLETION_CRITERIA: &str = "completion_criteria";
/// The title as another tool writes it.
const TASK: &str = "task";
const KEYS: [&str; 7] = [COMMAND, CRITERIA, COMMANDS, AGENT, ITERATIONS, PROMISE, MAY_CHANGE];
/// Keys of a `RALPH.md` that have no counterpart.
const RALPH_UNSUPPORTED: [&str; 5] = ["args", "credit", "checks", "contexts", "instructions"];
/// Keys of a `RALPH.md` that only describe it.
const RALPH_NOTES: [&str; 3] = ["description", "enabled", "name"];
/// Keys with which no line of prose begins.
const DISTINCTIVE_KEYS: [&str; 5] = [COMMAND, CRITERIA, ITERATIONS, PROMISE, MAY_CHANGE];

pub(super) fn parse_front_matter(text: &str, out: &mut TaskOutline) {
    let end = front_matter_end(text);
    if end <= '\u{feff}'.len_utf8() {
        return note_unclosed(text, out);
    }
    let of_ralph = kind_of(out.file()) == Some(DocumentKind::Ralph);
    let mut aside = Vec::new();
    for entry in yaml::parse_entries(text.get(..end).unwrap_or_default()) {
        match entry.key {
            COMMAND => add_test_commands(out, entry.value, &entry.range),
            CRITERIA => add_criteria(out, entry.value, &entry.range),
            COMPLETION_CRITERIA => {
                let known = out.criteria.len();
                add_criteria(out, entry.value, &entry.range);
                drop_repeated(out, known);
            }
            TASK => {
                if let Some(title) = one_line(out, &entry)
                    && out.title.is_empty()
                {
                    out.title = title;
                }
            }
            COMMANDS => add_informational_commands(out, entry),
            AGENT => set_agent(out, &entry),
            ITERATIONS => set_iterations(out, &entry),
            MAY_CHANGE => allow_changes(out, entry),
            PROMISE => out.promise = one_line(out, &entry).or_else(|| out.promise.take()),
            key if of_ralph && RALPH_UNSUPPORTED.contains(&key) => {
                aside.push((key.to_owned(), entry.key_range));
            }
            key if of_ralph && RALPH_NOTES.contains(&key) => {}
            key => report_unknown_key(out, (key, entry.key_range), closest(key, KEYS)),
        }
    }
    out.add_unsupported_keys(&aside);
}

/// Removes the criteria from index `from` on that repeat an earlier one.
fn drop_repeated(out: &mut TaskOutline, from: usize) {
    let added = out.criteria.split_off(from.min(out.criteria.len()));
    let mut known: HashSet<CriterionId> = out.criteria.iter().map(|it| it.criterion.id.clone()).collect();
    out.criteria.extend(added.into_iter().filter(|it| known.insert(it.criterion.id.clone())));
}

/// Reports a key that would otherwise be ignored silently. `near`: the key that was perhaps intended.
fn report_unknown_key(out: &mut TaskOutline, (key, range): (&str, Range<usize>), near: Option<&str>) {
    let fault = ItemFault::new(FindingCode::UnknownKey, tr!("not read"), &range);
    let hint = near.map(|it| tr!("Did you mean `{name}`?", name = it));
    let fault = ItemFault { hint, ..fault.with_fix(near.map(str::to_owned)) };
    out.add_fault(key, fault);
}

/// The value of a key that takes one line of text.
fn one_line(out: &mut TaskOutline, entry: &YamlEntry<'_>) -> Option<String> {
    match &entry.value {
        YamlValue::Nothing => None,
        YamlValue::Text(text) if !text.contains('\n') => {
            Some(text.clone()).filter(|it| !it.trim().is_empty())
        }
        _ => {
            report_unread(
                out,
                entry.key,
                tr!("takes one value. Write it as one line of text"),
                entry.range.clone(),
            );
            None
        }
    }
}

fn add_setting(out: &mut TaskOutline, entry: &YamlEntry<'_>, key: &'static str, value: String) {
    let place = out.place(entry.range.clone());
    out.settings.push(WrittenSetting { key, value, place });
}

/// The agent's name. Other tools accept a whole command line there, of which only the program is used: permissions come
/// from the configuration.
fn set_agent(out: &mut TaskOutline, entry: &YamlEntry<'_>) {
    let Some(value) = one_line(out, entry) else { return };
    let mut words = value.split_whitespace();
    let program = words.next().unwrap_or_default().to_owned();
    if words.next().is_some() {
        let fact =
            tr!("only `{program}` of this line is used. Write arguments into `loopkeeper.toml`", program);
        out.add_finding(FindingCode::BadValue, AGENT, &fact, entry.range.clone());
    }
    add_setting(out, entry, "agent", program);
}

fn set_iterations(out: &mut TaskOutline, entry: &YamlEntry<'_>) {
    let Some(value) = one_line(out, entry) else { return };
    if value.trim().parse::<u32>().is_ok_and(|it| it > 0) {
        add_setting(out, entry, "limits.iterations", value.trim().to_owned());
    } else {
        report_unread(out, ITERATIONS, tr!("takes a whole number from 1"), entry.range.clone());
    }
}

/// Globs: one, several with commas between them, or a list.
fn allow_changes(out: &mut TaskOutline, entry: YamlEntry<'_>) {
    match entry.value {
        YamlValue::Nothing => {}
        YamlValue::Text(text) => out.allow_changes(&may_change::globs(&text), entry.range),
        YamlValue::Flow(items) => out.allow_changes(&items, entry.range),
        YamlValue::List(items) => {
            for (item, range) in items {
                match item {
                    Ok(text) => out.allow_changes(&may_change::globs(&text), range),
                    Err(fault) => report_unread(out, MAY_CHANGE, &fault, range),
                }
            }
        }
        YamlValue::Unclear(fault) => report_unread(out, MAY_CHANGE, &fault, entry.range),
    }
}

/// A list of `name` and `run`, or of commands.
fn add_informational_commands(out: &mut TaskOutline, entry: YamlEntry<'_>) {
    if let Some(items) = entry.items() {
        return items.iter().for_each(|it| add_named_command(out, it));
    }
    match entry.value {
        YamlValue::Nothing => {}
        YamlValue::Text(text) => add_informational_command(out, (&text, &text), None, entry.range),
        YamlValue::List(items) => {
            for (item, range) in items {
                match item {
                    // Keys in braces that cannot be read.
                    Ok(text) if text.starts_with('{') => report_unread(out, COMMANDS, no_list(), range),
                    Ok(text) => add_informational_command(out, (&text, &text), None, range),
                    Err(fault) => report_unread(out, COMMANDS, &fault, range),
                }
            }
        }
        YamlValue::Flow(_) | YamlValue::Unclear(_) => report_unread(out, COMMANDS, no_list(), entry.range),
    }
}

fn no_list() -> &'static str {
    tr!("takes a list. Write `- name: …` and `run: …` below it")
}

fn add_named_command(out: &mut TaskOutline, item: &[YamlPair<'_>]) {
    const KNOWN_FIELDS: [&str; 3] = ["name", "run", "timeout"];
    let of = |key: &str| item.iter().find(|it| it.key == key && !it.value.trim().is_empty());
    for pair in item.iter().filter(|it| !KNOWN_FIELDS.contains(&&*it.key) && it.key != "command") {
        report_unknown_key(out, (&pair.key, pair.key_range.clone()), closest(&pair.key, KNOWN_FIELDS));
    }
    let timeout_ms = of("timeout").and_then(|it| {
        let seconds = it.value.trim().parse::<u64>().ok().filter(|it| *it > 0);
        if seconds.is_none() {
            out.add_finding(
                FindingCode::BadValue,
                "timeout",
                tr!("takes a number of seconds"),
                it.range.clone(),
            );
        }
        seconds.map(|it| it.saturating_mul(1000))
    });
    if let Some(run) = of("run").or_else(|| of("command")) {
        let name = of("name").map_or(&run.value, |it| &it.value);
        add_informational_command(out, (name, &run.value), timeout_ms, run.range.clone());
    } else {
        let range = item.first().map_or(0..0, |it| it.range.clone());
        report_unread(out, COMMANDS, tr!("an item without `run`. Write the command below its name"), range);
    }
}

/// A command whose output is sent to the agent: optional, so that it does not keep a loop running.
fn add_informational_command(
    out: &mut TaskOutline,
    (name, run): (&str, &str),
    timeout_ms: Option<u64>,
    range: Range<usize>,
) {
    if run.trim().is_empty() {
        return;
    }
    let run = in_own_folder(out.file(), run);
    let inline = InlineContent::of_plain(&run, &Bytes::Whole(range.clone()));
    let mut item = prd::command_item(&run, &inline).renamed(name.trim());
    item.attributes.optional = true;
    item.attributes.timeout_ms = item.attributes.timeout_ms.or(timeout_ms);
    out.add_item(item, range, CriterionOrigin::default());
}

/// A program in the folder of a `RALPH.md` (`./run.sh`) is run there, all others in the root.
fn in_own_folder<'a>(file: &str, run: &'a str) -> Cow<'a, str> {
    match file.rsplit_once('/') {
        Some((folder, "RALPH.md")) if run.starts_with("./") => {
            Cow::Owned(format!("cd {} && {run}", quoted(folder)))
        }
        _ => Cow::Borrowed(run),
    }
}

/// Reports unclosed front matter: it counts as the document's own text, so its settings would be ignored.
fn note_unclosed(text: &str, out: &mut TaskOutline) {
    let Some(behind) = text.trim_start_matches('\u{feff}').strip_prefix("---") else { return };
    let mut at = text.len() - behind.len();
    let block = lines_of(behind).enumerate();
    for (index, line) in block.take_while(|(index, line)| *index == 0 || !line.trim().is_empty()) {
        let range = at..at + line.trim_end().len();
        at += line.len();
        let ours = DISTINCTIVE_KEYS.into_iter().find(|key| yaml::value_of(line, key).is_some());
        match ours {
            _ if index == 0 && !line.trim().is_empty() => return,
            Some(key) => {
                let fact = tr!("no `---` closes it, so `{key}` is not read. Add one", key);
                return out.add_finding(FindingCode::Syntax, tr!("front matter"), &fact, range);
            }
            None => {}
        }
    }
}

fn add_test_commands(out: &mut TaskOutline, value: YamlValue, range: &Range<usize>) {
    match value {
        YamlValue::Nothing => {}
        YamlValue::Text(text) => add_command(out, &text, range),
        YamlValue::List(items) => {
            for (item, range) in items {
                match item {
                    Ok(text) => add_command(out, &text, &range),
                    Err(fault) => report_unread(out, COMMAND, &fault, range),
                }
            }
        }
        YamlValue::Flow(_) => {
            report_unread(
                out,
                COMMAND,
                tr!("a list in brackets. Write it as one line of text"),
                range.clone(),
            );
        }
        YamlValue::Unclear(fault) => report_unread(out, COMMAND, &fault, range.clone()),
    }
}

fn add_criteria(out: &mut TaskOutline, value: YamlValue, range: &Range<usize>) {
    match value {
        YamlValue::Nothing => {}
        YamlValue::Text(text) => add_criterion(out, &text, range),
        YamlValue::List(items) => {
            for (item, range) in items {
                match item {
                    Ok(text) => add_criterion(out, &text, &range),
                    Err(fault) => report_unread(out, CRITERIA, &fault, range),
                }
            }
        }
        YamlValue::Flow(items) => items.iter().for_each(|it| add_criterion(out, it, range)),
        YamlValue::Unclear(fault) => report_unread(out, CRITERIA, &fault, range.clone()),
    }
}

/// Reports unread content as blocking, because the loop would otherwise check less than its author wrote.
fn report_unread(out: &mut TaskOutline, key: &str, fault: &str, range: Range<usize>) {
    out.add_finding(FindingCode::Syntax, key, fault, range);
}

fn add_criterion(out: &mut TaskOutline, text: &str, range: &Range<usize>) {
    if text.starts_with("$ ") {
        add_command(out, text, range);
    } else if !text.trim().is_empty() {
        let inline = InlineContent::of_plain(text, &Bytes::Whole(range.clone()));
        out.add_criterion(&inline, ItemMode::Criterion, CriterionOrigin::default());
    }
}

fn add_command(out: &mut TaskOutline, text: &str, range: &Range<usize>) {
    if !text.trim().is_empty() {
        let inline = InlineContent::of_plain(text, &Bytes::Whole(range.clone()));
        out.add_item(prd::command_item(text, &inline), range.clone(), CriterionOrigin::default());
    }
}
