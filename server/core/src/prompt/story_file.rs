//! The task's text if the task is `prd.json` itself: bare JSON would not tell the agent what to do.

use super::markdown::{code_span, fenced_block, single_line};

/// A longer file is not included: the agent reads the next story in the file.
const MAX_BYTES: usize = 32 * 1024;

/// A sentence about the field that says what must hold, if the file has one.
fn criteria_of(text: &str) -> String {
    const FIELDS: [(&str, &str); 3] = [
        ("acceptanceCriteria", "say what must hold"),
        ("acceptance", "says what must hold"),
        ("steps", "say how to try it"),
    ];
    let found = FIELDS.into_iter().find(|(name, _)| text.contains(&format!("\"{name}\"")));
    found.map_or_else(String::new, |(name, meaning)| format!(" Its `{name}` {meaning}."))
}

/// The text of a task: an introduction, then the `text` of the file at `path`.
pub(crate) fn task_of_stories(path: &str, title: &str, text: &str) -> String {
    let title = if title.trim().is_empty() { path } else { title };
    let path = code_span(&single_line(path));
    let heading = format!(
        "# {}\n\nThe task is the list of stories in {path}. Do one story at a time: the one that is named as the next \
         one below, under \"The plan\", else one of your choice.{}\n\n",
        single_line(title),
        criteria_of(text)
    );
    if text.len() > MAX_BYTES {
        return format!("{heading}The file is long: read the story that you work on there.\n");
    }
    format!(
        "{heading}The file as it is now:\n\n{}",
        fenced_block(text.trim_start_matches('\u{feff}').trim_end())
    )
}
