//! `path:line[:col]` anywhere in a line. A path is a name with an extension; bare names need one that sources
//! have, so that times, hosts, addresses and versions do not match.

use super::source_path::{is_source, local_path};
use super::{LocationContext, RawLocation, number, path_line_column};
use loopkeeper_text::pattern::ConstantPattern;

static LOCATION: ConstantPattern = ConstantPattern::new(
    r#"(?:^|[\s"'`(\[{<=,;|])(?P<file>(?:file://)?(?:/?[A-Za-z]:[\\/])?[^\s:"'`()\[\]{}<>=,;|*?]+):(?P<line>[0-9]+)(?::(?P<column>[0-9]+))?"#,
);

pub(super) fn read(line: &str, context: &LocationContext<'_>) -> Vec<RawLocation> {
    if !line.contains(':') {
        return Vec::new();
    }
    LOCATION.captures_iter(line).filter_map(|it| place(line, &it, context)).collect()
}

/// `make: *** [Makefile:5: test] Error 1`: which recipe failed, not where it went wrong.
pub(super) fn recipe(line: &str) -> Option<RawLocation> {
    let (make, rest) = line.split_once(": *** [")?;
    let (place, _) = rest.split_once("] ")?;
    let (place, _) = place.rsplit_once(": ")?;
    let message = line.get(make.len() + 2..).unwrap_or_default().to_owned();
    Some(RawLocation { message, warning: true, ..path_line_column(place)? })
}

fn place(line: &str, found: &regex::Captures<'_>, context: &LocationContext<'_>) -> Option<RawLocation> {
    let whole = found.get(0)?;
    let after = line.get(whole.end()..).unwrap_or_default();
    let file = local_path(found.name("file")?.as_str())?;
    if after.starts_with(|c: char| c.is_alphanumeric() || c == '_') || !is_source(&file) {
        return None;
    }
    let rest =
        after.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '-' | ')' | '\'' | '"'));
    // In a trace of Go an offset follows the place.
    let is_frame = rest.is_empty() && line.trim_start().starts_with("at ") || rest.starts_with("+0x");
    let message = if is_frame { &context.exception } else { rest };
    Some(RawLocation {
        file,
        line: number(found.name("line")?.as_str())?,
        column: found.name("column").and_then(|it| number(it.as_str())),
        warning: rest.starts_with("warning"),
        message: message.to_owned(),
    })
}
