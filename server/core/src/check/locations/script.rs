//! Stack frames of JavaScript (`at f (file:///x.js:3:4)`) and tsc's two forms.

use super::{Context, Place, generic, number, path_line_column};

/// `TypeError: x is not a function`, `AssertionError [ERR_ASSERTION]: 2 == 3`, `Error: boom`.
pub(super) fn is_exception(line: &str) -> bool {
    let line = line.trim_start();
    let name = line.split([':', ' ']).next().unwrap_or_default();
    let named = name.ends_with("Error") && name.bytes().all(|it| it.is_ascii_alphanumeric());
    named && line.contains(": ")
}

/// `at f (place)`, `at place`, `at async f (place)`; in node's TAP the `at` is left out.
pub(super) fn frame(line: &str, context: &Context) -> Option<Place> {
    let line = line.trim();
    let inner = if let Some(call) = line.strip_suffix(')') {
        call.rsplit_once(" (")?.1
    } else {
        let place = line.strip_prefix("at ")?;
        place.strip_prefix("async ").unwrap_or(place)
    };
    let place = path_line_column(inner)?;
    place.column?;
    let file = local(&place.file).filter(|it| generic::is_source(it))?;
    Some(Place { file, message: context.exception.clone(), ..place })
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

/// `a.ts(3,5): error TS2322: …` and `a.ts:3:5 - error TS2322: …`.
pub(super) fn tsc(line: &str) -> Option<Place> {
    let plain = || {
        let (place, message) = line.split_once("): ")?;
        let (file, position) = place.rsplit_once('(')?;
        let (at, column) = position.split_once(',')?;
        Some((
            Place { file: file.to_owned(), line: number(at)?, column: number(column), ..Place::default() },
            message,
        ))
    };
    let pretty = || {
        let (place, message) = line.split_once(" - ")?;
        Some((path_line_column(place)?, message))
    };
    let (place, message) = plain().or_else(pretty)?;
    let code = message.strip_prefix("error ").or_else(|| message.strip_prefix("warning "))?;
    let is_tsc = code.starts_with("TS") && !place.file.is_empty();
    is_tsc.then(|| Place { message: message.to_owned(), warning: message.starts_with("warning"), ..place })
}
