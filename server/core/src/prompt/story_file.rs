//! The task's text if the task is `prd.json` itself: bare JSON would not tell the agent what to do.

use super::markdown::{code_span, fenced_block, single_line};

/// A longer file is read in its place: only the next story matters now.
const MAX_BYTES: usize = 32 * 1024;

/// The file at `path` with its `text`, introduced.
pub(crate) fn task_of_stories(path: &str, title: &str, text: &str) -> String {
    let title = if title.trim().is_empty() { path } else { title };
    let path = code_span(&single_line(path));
    let heading = format!(
        "# {}\n\nThe task is the list of stories in {path}. Do one story at a time, the next one first: it is named \
         below, under \"The plan\". Its `acceptanceCriteria` say what must hold.\n\n",
        single_line(title)
    );
    if text.len() > MAX_BYTES {
        return format!("{heading}The file is long: read the story that you work on there.\n");
    }
    format!(
        "{heading}The file as it is now:\n\n{}",
        fenced_block(text.trim_start_matches('\u{feff}').trim_end())
    )
}
