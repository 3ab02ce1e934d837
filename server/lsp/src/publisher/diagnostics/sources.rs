//! Copies of check failures in the source files that they name, only in existing files of the work tree.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use loopkeeper_system::regular_file;
use loopkeeper_text::sanitize;
use loopkeeper_view::editor::{SourceFailure, SourceHint};
use lsp_types::{Diagnostic, Position, Range};

use super::{DiagnosticsContext, severity};
use crate::documents::positions::Encoding;
use loopkeeper_workspace::snapshot::TaskSnapshot;

/// In a larger source, the range of a failure has no end.
const MAX_BYTES: u64 = 2 << 20;

pub(super) fn diagnostic(
    task: &TaskSnapshot,
    context: &DiagnosticsContext,
    failure: &SourceFailure,
) -> Option<(PathBuf, Diagnostic)> {
    let path = path(task, &failure.file)?;
    let line = line(context, &path, failure.line)?;
    let diagnostic = Diagnostic {
        range: range(&line, (failure.line, failure.column), context.encoding),
        severity: Some(severity(failure.severity)),
        source: Some(SourceFailure::SOURCE.to_owned()),
        message: failure.message.clone(),
        tags: context.tags(failure.stale),
        ..Diagnostic::default()
    };
    Some((path, diagnostic))
}

/// Accepts only a regular file in the work tree, because outputs may name any path.
pub(super) fn path(task: &TaskSnapshot, file: &str) -> Option<PathBuf> {
    let path = task.root.join(file).canonicalize().ok()?;
    (path.starts_with(&task.root) && path.is_file()).then_some(path)
}

/// The line of a hint; `None` where it was edited since.
pub(super) fn hint_range(context: &DiagnosticsContext, path: &Path, hint: &SourceHint) -> Option<Range> {
    let line = line(context, path, hint.line)?;
    let is_same = sanitize::line(&line).contains(&hint.expects);
    is_same.then(|| range(&line, (hint.line, None), context.encoding))
}

/// The line of an output that names a location, from 0; the first line if there is none. Tools format locations in many
/// ways, but all of them print the file and the number.
pub(super) fn line_naming(output: &Path, place: Option<&(String, u32)>) -> u32 {
    const MAX_BYTES: u64 = 256 << 10;
    let Some((file, line)) = place else { return 0 };
    let mut bytes = Vec::new();
    let read = File::open(output).and_then(|it| it.take(MAX_BYTES).read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes);
    let found = read.ok().and_then(|_| text.lines().position(|it| names_location(it, file, *line)));
    found.unwrap_or_default() as u32
}

/// The number must be a whole one outside of the file's name: line 8 is neither in `a.rs:88` nor in `v8.rs:1`.
fn names_location(text: &str, file: &str, line: u32) -> bool {
    let number = line.to_string();
    text.contains(file)
        && text.replace(file, " ").split(|it: char| !it.is_ascii_digit()).any(|it| it == number)
}

/// A line of the editor's text, or of the file if it is not open. Lines from 1.
fn line(context: &DiagnosticsContext, path: &Path, number: u32) -> Option<String> {
    let index = number.checked_sub(1)? as usize;
    if let Some(document) = context.open.get(path) {
        return document.text.lines().nth(index).map(str::to_owned);
    }
    let mut bytes = Vec::new();
    regular_file::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    String::from_utf8_lossy(&bytes).lines().nth(index).map(str::to_owned)
}

/// The range from the column to the end of the line; without a column, the whole line except its indentation.
fn range(line: &str, (number, column): (u32, Option<u32>), encoding: Encoding) -> Range {
    let indentation = line.len() - line.trim_start().len();
    // Tools count characters.
    let column = column.and_then(|it| it.checked_sub(1)).map(|it| it as usize);
    let from = column.and_then(|it| line.char_indices().nth(it)).map_or(indentation, |(at, _)| at);
    let count = |to: usize| {
        let before = line.get(..to).unwrap_or(line);
        match encoding {
            Encoding::Utf8 => before.len() as u32,
            Encoding::Utf16 => before.encode_utf16().count() as u32,
        }
    };
    let number = number.saturating_sub(1);
    let end = line.trim_end().len().max(from);
    Range::new(Position::new(number, count(from)), Position::new(number, count(end)))
}

#[cfg(test)]
mod tests {
    use super::{line_naming, range};
    use crate::documents::positions::Encoding;

    #[test]
    fn a_location_in_an_output_is_found_by_file_and_whole_number() {
        let output = tempfile::NamedTempFile::new().unwrap();
        let text = "2 failures\nsrc/v8.rs:88:1 a\nsrc/v8.rs:8 b\nFile \"src/a.py\", line 3\n";
        std::fs::write(output.path(), text).unwrap();
        let check = |file: &str, line: u32, expect: u32| {
            let found = line_naming(output.path(), Some(&(file.to_owned(), line)));
            assert_eq!(found, expect, "{file}:{line}");
        };
        check("src/v8.rs", 88, 1);
        check("src/v8.rs", 8, 2);
        check("src/a.py", 3, 3);
        check("src/a.py", 33, 0);
        check("none.rs", 2, 0);
        assert_eq!(line_naming(output.path(), None), 0);
    }

    #[test]
    fn a_failure_marks_from_its_column_to_the_end_of_the_line() {
        let check = |line: &str, column: Option<u32>, expect: (u32, u32)| {
            let range = range(line, (3, column), Encoding::Utf16);
            assert_eq!((range.start.character, range.end.character), expect, "{line:?}");
            assert_eq!((range.start.line, range.end.line), (2, 2));
        };
        check("    x = 1  ", None, (4, 9));
        check("    x = 1", Some(5), (4, 9));
        check("é = 🎉 + 1", Some(5), (4, 10));
        check("short", Some(40), (0, 5));
        check("", None, (0, 0));
        check("   ", Some(0), (3, 3));
    }
}
