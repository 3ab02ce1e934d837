//! Reads folders of checks, contexts and instructions of other tools: front matter with a command, and a text for the
//! prompt.

use loopkeeper_text::tr;
use loopkeeper_text::yaml::{self, YamlDocument};

use super::{add_command, report_unread};
use crate::FindingCode;
use crate::outline::TaskOutline;
use crate::source::front_matter_end;

/// The keys that are read.
const KEYS: [&str; 3] = ["command", "timeout", "enabled"];

/// `checks/NAME/CHECK.md`: front matter with `command` and `timeout` in seconds.
pub(super) fn add_check(file: &str, text: &str, out: &mut TaskOutline) {
    let scalars = front_matter(text).scalars;
    let of = |key: &str| scalars.iter().find(|it| it.path == key);
    if !is_enabled(text) {
        return;
    }
    if let Some(it) = scalars.iter().find(|it| it.path.starts_with("command.")) {
        let fact = tr!("takes one value. Write it as one line of text");
        report_unread(out, "command", fact, it.range.clone());
    }
    let Some(command) = of("command") else { return };
    let timeout = of("timeout").and_then(|it| {
        let seconds = it.value.parse::<u64>().ok();
        if seconds.is_none() {
            let fact = tr!("takes a number of seconds");
            out.add_finding(FindingCode::BadValue, "timeout", fact, it.range.clone());
        }
        seconds.map(|it| it.saturating_mul(1000))
    });
    add_command(out, name_of(file), &command.value, command.range.clone(), timeout);
}

/// `checks/NAME/run.sh`, an executable instead of a command.
pub(super) fn add_script(file: &str, text: &str, out: &mut TaskOutline) {
    let first_line = text.lines().next().map_or(0, str::len);
    add_command(out, name_of(file), &loopkeeper_text::shell_word::quoted(file), 0..first_line, None);
}

/// `contexts/NAME/CONTEXT.md`: the output of its command goes into the prompt and decides nothing.
pub(super) fn add_context(file: &str, text: &str, out: &mut TaskOutline) {
    let before = out.criteria.len();
    add_check(file, text, out);
    for draft in out.criteria.iter_mut().skip(before) {
        draft.criterion.required = false;
    }
}

/// The name of the folder that contains the file.
pub(crate) fn name_of(file: &str) -> &str {
    file.rsplit('/').nth(1).unwrap_or(file)
}

pub(crate) fn is_enabled(text: &str) -> bool {
    !front_matter(text).scalars.iter().any(|it| it.path == "enabled" && it.value == "false")
}

/// The text after the front matter, without comments.
pub(crate) fn body(text: &str) -> String {
    let mut rest = text.get(front_matter_end(text)..).unwrap_or_default();
    let mut body = String::new();
    while let Some((before, behind)) = rest.split_once("<!--") {
        body.push_str(before);
        rest = behind.split_once("-->").map_or("", |(_, behind)| behind);
    }
    body.push_str(rest);
    body.trim().to_owned()
}

/// Why the front matter cannot be read, and the byte of the fault.
pub(super) fn front_matter_fault(text: &str) -> Option<(String, usize)> {
    front_matter(text).fault.or_else(|| unclosed_key(text))
}

/// A key of front matter that no line closes: it would count as text.
fn unclosed_key(text: &str) -> Option<(String, usize)> {
    let behind = text.trim_start_matches('\u{feff}').strip_prefix("---")?;
    if front_matter_end(text) > '\u{feff}'.len_utf8() || !behind.starts_with(['\n', '\r']) {
        return None;
    }
    let mut at = text.len() - behind.len();
    for line in behind.split_inclusive('\n') {
        let key = KEYS.iter().find(|key| line.strip_prefix(**key).is_some_and(|it| it.starts_with(':')));
        if let Some(key) = key {
            return Some((tr!("no `---` closes it, so `{key}` is not read. Add one", key), at));
        }
        at += line.len();
    }
    None
}

/// The front matter, with places in `text`.
fn front_matter(text: &str) -> YamlDocument {
    let block = text.get(..front_matter_end(text)).unwrap_or_default();
    let inner = block.trim_start_matches('\u{feff}').trim_start_matches('-');
    let offset = block.len() - inner.len();
    let mut document = yaml::parse(inner.trim_end().trim_end_matches('-'));
    for it in &mut document.scalars {
        it.range = it.range.start + offset..it.range.end + offset;
    }
    document.fault = document.fault.map(|(fault, at)| (fault, at + offset));
    document
}
