//! Reads folders of checks, contexts and instructions of other tools: front matter with a command, and a text for the
//! prompt.

use loopkeeper_text::yaml::{self, YamlScalar};

use super::add_command;
use crate::outline::TaskOutline;
use crate::source::front_matter_end;

/// `checks/NAME/CHECK.md`: front matter with `command` and `timeout` in seconds.
pub(super) fn add_check(file: &str, text: &str, out: &mut TaskOutline) {
    let scalars = front_matter(text);
    let of = |key: &str| scalars.iter().find(|it| it.path == key);
    if !is_enabled(text) {
        return;
    }
    let Some(command) = of("command") else { return };
    let timeout = of("timeout").and_then(|it| it.value.parse::<u64>().ok()).map(|it| it.saturating_mul(1000));
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
    !front_matter(text).iter().any(|it| it.path == "enabled" && it.value == "false")
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

/// Keys of the front matter, with their places in `text`.
fn front_matter(text: &str) -> Vec<YamlScalar> {
    let block = text.get(..front_matter_end(text)).unwrap_or_default();
    let inner = block.trim_start_matches('\u{feff}').trim_start_matches('-');
    let offset = block.len() - inner.len();
    let mut scalars = yaml::scalars(inner.trim_end().trim_end_matches('-'));
    for it in &mut scalars {
        it.range = it.range.start + offset..it.range.end + offset;
    }
    scalars
}
