//! Python's tracebacks (`File "x.py", line 3, in f`) and pytest's own form (`tests/t.py:12: AssertionError`).

use super::{LocationContext, RawLocation, number, path_line_column};

/// Number of lines below a frame that are searched for the exception.
const TRACEBACK_LINES: usize = 60;

pub(super) fn frame(line: &str, after: &[&str]) -> Option<RawLocation> {
    let (file, rest) = line.trim_start().strip_prefix("File \"")?.split_once("\", line ")?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    Some(RawLocation {
        file: file.to_owned(),
        line: number(digits)?,
        message: exception(after),
        ..RawLocation::default()
    })
}

/// The first line that is not indented ends the traceback and names the exception.
fn exception(after: &[&str]) -> String {
    let within = after.iter().take(TRACEBACK_LINES);
    let end = within.copied().find(|it| it.starts_with(|c: char| !c.is_whitespace()));
    end.filter(|it| !it.starts_with("Traceback")).unwrap_or_default().to_owned()
}

/// `tests/t.py:12: AssertionError` after its `E` lines, or `tests/t.py:12: in test_bad` before them.
pub(super) fn pytest(line: &str, after: &[&str], context: &LocationContext<'_>) -> Option<RawLocation> {
    let (place, detail) = line.split_once(": ")?;
    let place = path_line_column(place).filter(|it| it.column.is_none())?;
    if place.file.contains(' ') || std::path::Path::new(&place.file).extension().is_none_or(|it| it != "py") {
        return None;
    }
    let message = match detail {
        _ if detail.is_empty() || detail.starts_with("in ") => error_below(after),
        _ if detail.contains(' ') || context.pytest.is_empty() => detail.to_owned(),
        _ => context.pytest.clone(),
    };
    Some(RawLocation { message, ..place })
}

/// The first `E` line of the same failure, and the values behind a message.
fn error_below(after: &[&str]) -> String {
    let same = after
        .iter()
        .take(TRACEBACK_LINES)
        .take_while(|it| !it.starts_with("____") && !it.starts_with("===="));
    let mut error_lines = same.filter_map(|it| Some(it.strip_prefix("E   ")?.trim_start()));
    let first = error_lines.next().unwrap_or_default();
    match error_lines.next().filter(|it| it.starts_with("assert ")) {
        Some(values) => format!("{first}, {values}"),
        None => first.to_owned(),
    }
}
