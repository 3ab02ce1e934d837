//! Stack frames of JavaScript (`at f (file:///x.js:3:4)`) and tsc's two forms.

use super::{LocationContext, RawLocation, generic, number, path_line_column};

/// `TypeError: x is not a function`, `AssertionError [ERR_ASSERTION]: 2 == 3`, `Error: boom`.
pub(super) fn is_exception(line: &str) -> bool {
    let line = line.trim_start();
    let name = line.split([':', ' ']).next().unwrap_or_default();
    let is_name = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'.' | b'_' | b'$');
    let named = (name.ends_with("Error") || name.ends_with("Exception")) && name.bytes().all(is_name);
    named && line.contains(": ") || line.starts_with("expect(") && line.contains(").")
}

/// What belongs to a failed comparison: `Expected: 4`, `+ actual - expected`, `0 !== 4`.
pub(super) fn is_detail(text: &str) -> bool {
    let begins = ["+", "-", "Expected", "Received"].iter().any(|it| text.starts_with(it));
    begins && !text.starts_with("--") || text.contains(" !== ")
}

/// Jest repeats what a test wrote to the console, with the place of the call.
pub(super) fn is_console(text: &str) -> bool {
    text.strip_prefix("console.").is_some_and(|it| ["log", "info", "debug", "warn", "error"].contains(&it))
}

/// `error: 'boom'` and `error: |-` of TAP; empty where the text is on the lines below.
pub(super) fn tap_error(line: &str) -> Option<&str> {
    let said = line.strip_prefix("  ")?.trim().strip_prefix("error: ")?;
    let quoted = said.strip_prefix('\'').and_then(|it| it.strip_suffix('\''));
    quoted.or_else(|| said.starts_with('|').then_some(""))
}

/// `  12:5  error  message  rule` below the line that names the file: ESLint, yamllint, stylelint.
pub(super) fn listed(line: &str, context: &LocationContext<'_>) -> Option<RawLocation> {
    let (position, said) = line.strip_prefix("  ")?.trim_start().split_once(char::is_whitespace)?;
    let (at, column) = position.split_once(':')?;
    let (severity, said) = said.trim_start().split_once(char::is_whitespace)?;
    let warning = match severity {
        "error" | "✖" | "×" => false,
        "warning" | "warn" | "info" | "⚠" => true,
        _ => return None,
    };
    let message = match said.trim().rsplit_once("  ") {
        Some((message, rule)) => format!("{} ({rule})", message.trim_end()),
        None => said.trim().to_owned(),
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
    let file = local(&place.file).filter(|it| generic::is_source(it))?;
    Some(RawLocation { file, message: context.exception.clone(), ..place })
}

/// The path of a `file://` address; `None` for other addresses and for the runtime's own modules.
pub(super) fn local(address: &str) -> Option<String> {
    let Some(path) = address.strip_prefix("file://") else {
        let other = address.contains("://") || address.starts_with("node:");
        return (!other).then(|| address.to_owned());
    };
    // `file:///C:/x.js` names a drive.
    let drive = path.strip_prefix('/').filter(|it| it.get(1..2) == Some(":"));
    Some(unescaped(drive.unwrap_or(path)))
}

fn unescaped(path: &str) -> String {
    let mut out = Vec::new();
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|it| std::str::from_utf8(it).ok());
        let value = code.filter(|_| byte == b'%').and_then(|it| u8::from_str_radix(it, 16).ok());
        out.push(value.unwrap_or(byte));
        rest = if value.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&out).into_owned()
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
