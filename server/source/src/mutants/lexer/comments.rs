//! Finds the end of comments.

use super::super::syntax::{BlockComment, SourceFamily, SourceSyntax, SpecialText};
use super::special::lua_long_bracket;

#[derive(Debug, Clone, Copy)]
pub(super) struct CommentPosition {
    /// At the beginning of the file.
    pub(super) is_first: bool,
    pub(super) is_line_start: bool,
}

/// The length of the comment at the beginning of `rest`.
pub(super) fn length(syntax: &SourceSyntax, rest: &str, position: CommentPosition) -> Option<usize> {
    for comment in syntax.block_comments {
        if rest.starts_with(comment.open) && (position.is_line_start || !comment.is_at_line_start) {
            return Some(block(rest, comment));
        }
    }
    if syntax.special == SpecialText::Lua
        && let Some(length) = rest.strip_prefix("--").and_then(lua_long_bracket)
    {
        return Some("--".len() + length);
    }
    let ends_source =
        syntax.special == SpecialText::Ruby && position.is_line_start && rest.starts_with("__END__");
    if ends_source {
        return Some(rest.len());
    }
    let is_interpreter = position.is_first && rest.starts_with("#!") && !rest.starts_with("#![");
    let starts = syntax.line_comments.iter().any(|it| rest.starts_with(it));
    (is_interpreter || starts).then(|| line(rest, syntax))
}

/// Up to the end of the line; a preprocessor continues it with a backslash.
fn line(rest: &str, syntax: &SourceSyntax) -> usize {
    let end = |from: usize| rest.get(from..).and_then(|it| it.find('\n')).map_or(rest.len(), |it| from + it);
    let mut at = end(0);
    if let Some((_, close)) = syntax.code_marks {
        return rest.get(..at).and_then(|it| it.find(close)).unwrap_or(at);
    }
    let is_directive = syntax.family == SourceFamily::CLike && rest.starts_with('#');
    while is_directive && at < rest.len() && rest.get(..at).is_some_and(|it| it.ends_with('\\')) {
        at = end(at + 1);
    }
    at
}

fn block(rest: &str, comment: &BlockComment) -> usize {
    let (open, close) = (comment.open, comment.close);
    if comment.is_at_line_start {
        let found =
            rest.match_indices(close).find(|(at, _)| rest.get(..*at).is_some_and(|it| it.ends_with('\n')));
        return found.map_or(rest.len(), |(at, _)| at + close.len());
    }
    let mut depth = 1_u32;
    let mut at = open.len();
    while depth > 0 {
        let Some(inner) = rest.get(at..).filter(|it| !it.is_empty()) else { return rest.len() };
        if inner.starts_with(close) {
            depth -= 1;
            at += close.len();
        } else if comment.nests && inner.starts_with(open) {
            depth += 1;
            at += open.len();
        } else {
            at += inner.chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}
