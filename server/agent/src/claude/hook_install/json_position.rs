//! Computes the position and format of a new value in a JSON text: with the indentation and line ends of its
//! neighbours.

use std::ops::Range;

use jsonc_parser::ast::Object;
use jsonc_parser::common::Ranged;
use serde::Serialize as _;
use serde_json::ser::{PrettyFormatter, Serializer};

/// The formatting style of a document.
pub(super) struct JsonStyle<'a> {
    text: &'a str,
    line_end: &'static str,
    /// One step of indentation.
    unit: &'a str,
    /// Whether the document has several lines.
    is_long: bool,
}

impl<'a> JsonStyle<'a> {
    pub(super) fn detect(text: &'a str, root: &Object<'_>) -> Self {
        let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let unit = root.properties.first().and_then(|it| leading_indent(text, it.range.start));
        let is_long = text.get(root.range.start..root.range.end).is_some_and(|it| it.contains('\n'));
        Self { text, line_end, unit: unit.filter(|it| !it.is_empty()).unwrap_or("  "), is_long }
    }

    fn indent(&self, depth: usize) -> String {
        self.unit.repeat(depth)
    }

    /// Formats a property or an element. `indent`: the indentation of its first line; `None` formats it on one line.
    fn format_element(
        &self,
        (name, value): (Option<&str>, &serde_json::Value),
        indent: Option<&str>,
    ) -> String {
        let value = match indent {
            None => value.to_string(),
            Some(indent) => self.pretty(value).replace('\n', &format!("{}{indent}", self.line_end)),
        };
        let colon = if self.is_long || self.text.contains("\": ") { ": " } else { ":" };
        name.map_or_else(String::new, |it| format!("\"{it}\"{colon}")) + &value
    }

    fn pretty(&self, value: &serde_json::Value) -> String {
        let mut bytes = Vec::new();
        let formatter = PrettyFormatter::with_indent(self.unit.as_bytes());
        // Serializing strings, numbers, lists and objects cannot fail.
        let _ = value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter));
        String::from_utf8(bytes).unwrap_or_default()
    }
}

/// Inserts after the last of `children`, in a container at `depth` steps above them.
pub(super) fn insert_last(
    style: &JsonStyle<'_>,
    (container, children): (&impl Ranged, &[impl Ranged]),
    depth: usize,
    new: (Option<&str>, &serde_json::Value),
) -> (Range<usize>, String) {
    let Some(last) = children.last() else {
        let inside = container.start() + 1..container.end() - 1;
        if !style.is_long {
            return (inside, style.format_element(new, None));
        }
        let (indent, outer, end) = (style.indent(depth), style.indent(depth - 1), style.line_end);
        return (inside, format!("{end}{indent}{}{end}{outer}", style.format_element(new, Some(&indent))));
    };
    let at = last.end()..last.end();
    if let Some(indent) = leading_indent(style.text, last.start()) {
        return (at, format!(",{}{indent}{}", style.line_end, style.format_element(new, Some(indent))));
    }
    let gap = if style.text.contains(", ") { " " } else { "" };
    (at, format!(",{gap}{}", style.format_element(new, None)))
}

/// The range of one of `children` with its comma; an only child includes all blanks around it.
pub(super) fn removal_range(container: &impl Ranged, children: &[impl Ranged], index: usize) -> Range<usize> {
    let (Some(child), next) = (children.get(index), children.get(index + 1)) else { return 0..0 };
    let before = index.checked_sub(1).and_then(|it| children.get(it));
    match (before, next) {
        (Some(before), _) => before.end()..child.end(),
        (None, Some(next)) => child.start()..next.start(),
        (None, None) => container.start() + 1..container.end() - 1,
    }
}

/// The blanks before `at`, if nothing else precedes it on its line.
fn leading_indent(text: &str, at: usize) -> Option<&str> {
    let line = text.get(..at)?.rfind('\n').map(|it| it + 1)?;
    text.get(line..at).filter(|it| it.trim_matches([' ', '\t']).is_empty())
}
