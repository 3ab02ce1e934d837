//! Locations of JavaScript tools: stack frames (`at f (file:///x.js:3:4)`), tsc's two formats, lists of linters.

use super::source_path::{is_source, local_path};
use super::{LocationContext, RawLocation, number, path_line_column};

/// `  12:5  error  message  rule` below the line that names the file: ESLint, yamllint, stylelint.
pub(super) fn linter_entry(line: &str, context: &LocationContext<'_>) -> Option<RawLocation> {
    let (position, rest) = line.strip_prefix("  ")?.trim_start().split_once(char::is_whitespace)?;
    let (at, column) = position.split_once(':')?;
    let (severity, rest) = rest.trim_start().split_once(char::is_whitespace)?;
    let warning = match severity {
        "error" | "✖" | "×" => false,
        "warning" | "warn" | "info" | "⚠" => true,
        _ => return None,
    };
    let message = match rest.trim().rsplit_once("  ") {
        Some((message, rule)) => format!("{} ({rule})", message.trim_end()),
        None => rest.trim().to_owned(),
    };
    let (line, column) = (number(at)?, number(column));
    let file = context.heading.to_owned();
    (!file.is_empty()).then_some(RawLocation { file, line, column, message, warning })
}

/// `at f (place)`, `at place`, `at async f (place)`; in node's TAP the `at` is left out. Vitest's are `❯ f place`.
pub(super) fn frame(line: &str, context: &LocationContext<'_>) -> Option<RawLocation> {
    let line = line.trim();
    let inner = if let Some(call) = line.strip_suffix(')') {
        call.rsplit_once(" (")?.1
    } else if let Some(call) = line.strip_prefix("❯ ") {
        call.rsplit(' ').next()?
    } else {
        let place = line.strip_prefix("at ")?;
        place.strip_prefix("async ").unwrap_or(place)
    };
    let place = path_line_column(inner)?;
    place.column?;
    let file = local_path(&place.file).filter(|it| is_source(it))?;
    Some(RawLocation { file, message: context.exception.clone(), ..place })
}

/// `a.ts(3,5): error TS2322: …` and `a.ts:3:5 - error TS2322: …`; compilers of C# write the first form too.
pub(super) fn tsc(line: &str) -> Option<RawLocation> {
    let plain = || {
        let (place, message) = line.split_once("): ")?;
        let (file, position) = place.rsplit_once('(')?;
        let (at, column) = position.split_once(',')?;
        Some((
            RawLocation {
                file: file.to_owned(),
                line: number(at)?,
                column: number(column),
                ..RawLocation::default()
            },
            message,
        ))
    };
    let pretty = || {
        let (place, message) = line.split_once(" - ")?;
        Some((path_line_column(place)?, message))
    };
    let (place, message) = plain().or_else(pretty)?;
    let code = message.strip_prefix("error ").or_else(|| message.strip_prefix("warning "))?;
    let code = code.split(':').next()?;
    let is_code = code.starts_with(|it: char| it.is_ascii_uppercase())
        && code.ends_with(|it: char| it.is_ascii_digit())
        && code.bytes().all(|it| it.is_ascii_alphanumeric());
    let is_place = is_code && !place.file.is_empty();
    is_place.then(|| RawLocation {
        message: message.to_owned(),
        warning: message.starts_with("warning"),
        ..place
    })
}
