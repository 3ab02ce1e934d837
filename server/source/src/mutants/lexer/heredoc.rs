//! Finds here-documents: texts that begin on the line after their mark and end at a delimiter line.

use super::super::syntax::SpecialText;
use super::word_length;

/// A text that begins after this line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Heredoc {
    end: String,
    /// More may follow on the line of the end.
    is_prefix: bool,
}

/// The length of the mark at the beginning.
pub(super) fn find_opening(special: SpecialText, rest: &str) -> Option<(usize, Heredoc)> {
    let is_php = special == SpecialText::Php;
    let mark = match special {
        SpecialText::Ruby => ["<<~", "<<-", "<<"].into_iter().find(|it| rest.starts_with(it))?,
        SpecialText::Php => ["<<< ", "<<<"].into_iter().find(|it| rest.starts_with(it))?,
        _ => return None,
    };
    let name = rest.get(mark.len()..)?;
    let quote = name.chars().next().filter(|it| matches!(it, '\'' | '"' | '`'));
    let quoted = quote.map_or(0, char::len_utf8);
    let name = name.get(quoted..)?;
    let length = word_length(name);
    let end = name.get(..length)?;
    let is_name = if is_php || quoted > 0 { length > 0 } else { end.starts_with(char::is_uppercase) };
    is_name.then(|| (mark.len() + 2 * quoted + length, Heredoc { end: end.to_owned(), is_prefix: is_php }))
}

/// The length of the bodies after the line break at the beginning, without the last line break.
pub(super) fn bodies_length(rest: &str, heredocs: &[Heredoc]) -> usize {
    let after = rest.get(1..).unwrap_or_default();
    let mut at = 0;
    for heredoc in heredocs {
        at += length(after.get(at..).unwrap_or_default(), heredoc);
    }
    at
}

fn length(text: &str, heredoc: &Heredoc) -> usize {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let rest = trimmed.strip_prefix(heredoc.end.as_str());
        let is_end = rest.is_some_and(|it| {
            it.is_empty()
                || heredoc.is_prefix && !it.starts_with(|it: char| it.is_alphanumeric() || it == '_')
        });
        if is_end {
            let indent = line.len() - line.trim_start().len();
            return at
                + if heredoc.is_prefix {
                    indent + heredoc.end.len()
                } else {
                    line.trim_end_matches('\n').len()
                };
        }
        at += line.len();
    }
    text.len()
}
