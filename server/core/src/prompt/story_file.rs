//! The task's text if the task is `prd.json` itself: bare JSON would not tell the agent what to do.

use super::markdown::{code_span, fenced_block, single_line};

/// A longer file is read in its place: only the next story matters now.
const MAX_BYTES: usize = 32 * 1024;

/// Where a story says what must hold, in files that have such a field.
fn criteria_of(text: &str) -> String {
    const FIELDS: [(&str, &str); 3] = [
        ("acceptanceCriteria", "say what must hold"),
        ("acceptance", "says what must hold"),
        ("steps", "say how to try it"),
    ];
    let found = FIELDS.into_iter().find(|(name, _)| text.contains(&format!("\"{name}\"")));
    found.map_or_else(String::new, |(name, use_of)| format!(" Its `{name}` {use_of}."))
}

/// The file at `path` with its `text`, introduced.
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
