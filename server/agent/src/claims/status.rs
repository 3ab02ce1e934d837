//! Parses the status block that Ralph prompts ask for, as `KEY: value` lines or as JSON. The last complete block
//! counts; broken, unfinished and quoted ones, and the template itself, do not. Reports what was stated, not what is
//! true.

mod fields;
mod json;

use super::prose_mask::{MessageLine, MessageLineKind};
pub use fields::{StatusBlock, TestsState, WorkState, WorkType};
use fields::{StatusDraft, parse_bool, split_line};

/// The statements of a message in this form.
#[derive(Debug, Default)]
pub(super) struct ParsedStatus {
    pub(super) block: Option<StatusBlock>,
    /// The exit signal of the last line outside every block that contains nothing else.
    pub(super) exit_line: Option<bool>,
    /// Lines that belong to a block, even to a broken one: they are no prose.
    pub(super) covered: Vec<bool>,
}

/// A fence counts if it contains the block and nothing else, because agents print the block like that. A block among
/// other lines of a fence, in a quotation, or after the introduction of an example does not count.
pub(super) fn read(text: &str, lines: &[MessageLine<'_>]) -> ParsedStatus {
    let mut out = ParsedStatus { covered: vec![false; lines.len()], ..ParsedStatus::default() };
    let mut at = 0;
    let mut is_example = false;
    let mut was_indented = false;
    while let Some(line) = lines.get(at) {
        let rest = lines.get(at..).unwrap_or_default();
        let found = match line.kind {
            MessageLineKind::Spoken => scan_status(text, rest),
            MessageLineKind::Indented if !was_indented => scan_status(text, rest),
            MessageLineKind::Opening => scan_fenced_block(rest),
            _ => StatusScan::Nothing,
        };
        let length = match found {
            StatusScan::Nothing => 1,
            StatusScan::Lines { block, length } => {
                if !is_example && let Some(block) = block {
                    out.block = Some(block);
                }
                out.covered.iter_mut().skip(at).take(length).for_each(|it| *it = true);
                length
            }
            StatusScan::Exit(value) => {
                if !is_example {
                    out.exit_line = Some(value);
                }
                1
            }
        };
        if length == 1 && line.kind == MessageLineKind::Spoken && !line.is_blank() && !is_listed(line.text) {
            is_example = introduces_example(line.text);
        }
        was_indented = line.kind == MessageLineKind::Indented && (was_indented || !line.is_blank());
        at += length.max(1);
    }
    out
}

enum StatusScan {
    Nothing,
    /// A block, or what is left of a broken one.
    Lines {
        block: Option<StatusBlock>,
        length: usize,
    },
    Exit(bool),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StatusHeading {
    /// `---RALPH_STATUS---`: its end has to follow.
    Marker,
    /// `RALPH_STATUS:`: continues while lines are fields.
    Label,
    End,
}

fn status_heading(line: &str) -> Option<StatusHeading> {
    let start = line.trim().trim_matches(['*', '`']).trim();
    let name: String = start.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let is_plain =
        start.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '#' | '*' | '=' | ' '));
    match name.as_str() {
        "endralphstatus" | "ralphstatusend" if is_plain => Some(StatusHeading::End),
        "ralphstatus" if !is_plain => None,
        "ralphstatus" if start.starts_with("--") || start.starts_with("==") => Some(StatusHeading::Marker),
        "ralphstatus" => Some(StatusHeading::Label),
        _ => None,
    }
}

fn scan_status(text: &str, rest: &[MessageLine<'_>]) -> StatusScan {
    let Some(first) = rest.first() else { return StatusScan::Nothing };
    match status_heading(first.text) {
        Some(StatusHeading::Marker) => scan_marked_block(rest),
        Some(StatusHeading::Label) => scan_labelled_fields(rest),
        Some(StatusHeading::End) => StatusScan::Lines { block: None, length: 1 },
        None => json::scan_bare_object(text, rest).unwrap_or_else(|| scan_exit_line(first.text)),
    }
}

/// From the marker to its end; without one, everything up to the next block is a broken one.
fn scan_marked_block(rest: &[MessageLine<'_>]) -> StatusScan {
    let heading_of = |line: &MessageLine<'_>| match line.kind {
        MessageLineKind::Spoken | MessageLineKind::Indented => status_heading(line.text),
        MessageLineKind::Opening | MessageLineKind::Fenced | MessageLineKind::Quoted => None,
    };
    let mut body = Vec::new();
    for (at, line) in rest.iter().enumerate().skip(1) {
        match heading_of(line) {
            Some(StatusHeading::End) => {
                return StatusScan::Lines { block: parse_body(&body), length: at + 1 };
            }
            Some(StatusHeading::Marker) => return StatusScan::Lines { block: None, length: at },
            _ if matches!(line.kind, MessageLineKind::Spoken | MessageLineKind::Indented) => {
                body.push(line.text);
            }
            _ => {}
        }
    }
    StatusScan::Lines { block: None, length: rest.len() }
}

/// The fields after a label. After a blank line only known fields continue them.
fn scan_labelled_fields(rest: &[MessageLine<'_>]) -> StatusScan {
    let mut draft = StatusDraft::default();
    let mut length = 1;
    let mut after_blank = false;
    for (at, line) in rest.iter().enumerate().skip(1) {
        if line.is_blank() {
            after_blank = true;
            continue;
        }
        if !matches!(line.kind, MessageLineKind::Spoken | MessageLineKind::Indented) {
            break;
        }
        if status_heading(line.text) == Some(StatusHeading::End) {
            length = at + 1;
            break;
        }
        let Some((key, value)) = split_line(line.text) else { break };
        if !draft.add_field(key, value) && after_blank {
            break;
        }
        after_blank = false;
        length = at + 1;
    }
    StatusScan::Lines { block: draft.finish(), length }
}

fn scan_fenced_block(rest: &[MessageLine<'_>]) -> StatusScan {
    let length = rest.iter().skip(1).take_while(|it| it.kind == MessageLineKind::Fenced).count() + 1;
    let inside: Vec<&str> = rest
        .iter()
        .take(length.saturating_sub(1))
        .skip(1)
        .map(|it| it.text)
        .filter(|it| !it.trim().is_empty())
        .collect();
    let block = match inside.split_first() {
        Some((first, body)) => match (status_heading(first), body.split_last()) {
            (Some(_), Some((last, body))) if status_heading(last) == Some(StatusHeading::End) => {
                parse_body(body)
            }
            (Some(StatusHeading::Label), _) => parse_body(body),
            _ => json::parse_object(&inside.join("\n")),
        },
        None => None,
    };
    StatusScan::Lines { block, length }
}

/// A body in which every line is a field, or which is one JSON object.
fn parse_body(body: &[&str]) -> Option<StatusBlock> {
    let text = body.join("\n");
    if text.trim_start().starts_with('{') {
        return json::parse_object(&text);
    }
    let mut draft = StatusDraft::default();
    for line in body.iter().filter(|it| !it.trim().is_empty()) {
        match split_line(line) {
            Some((key, value)) => {
                draft.add_field(key, value);
            }
            // The value of the previous field may have several lines, but another block may not begin in them.
            None if status_heading(line).is_none() => {}
            None => return None,
        }
    }
    draft.finish()
}

/// A line that contains only the exit signal. One in a code span mentions the signal and does not give it.
fn scan_exit_line(line: &str) -> StatusScan {
    let signal = split_line(line)
        .filter(|_| !line.trim_start().starts_with('`'))
        .filter(|(key, _)| fields::canonical_key(key) == "exitsignal");
    signal.and_then(|(_, value)| parse_bool(value)).map_or(StatusScan::Nothing, StatusScan::Exit)
}

fn is_listed(line: &str) -> bool {
    line.trim_start().starts_with(['-', '*', '+', '•'])
        || split_line(line).is_some_and(|(_, value)| !value.is_empty())
}

/// `When everything is done I will print:` and `The format, for example:` make what follows an example.
fn introduces_example(line: &str) -> bool {
    const WORDS: &[&str] = &[
        "example",
        "e.g",
        "for instance",
        "format",
        "template",
        "such as",
        "would",
        "will ",
        "should",
        "must",
        "when ",
        "once ",
        "if ",
        "please",
        "quote",
        "prompt",
        "instruct",
        "asked to",
        "expected",
        "placeholder",
        "looks like",
        "例如",
        "比如",
        "示例",
        "格式",
        "模板",
        "如果",
        "要求",
        "一旦",
        "将",
    ];
    let text = line.trim().trim_matches(['*', '_']).to_lowercase();
    let names_what_follows = text.ends_with([':', '：', '>']);
    names_what_follows && WORDS.iter().any(|it| text.contains(it))
}
