//! Skips double quotes and expansions, which nest.

use super::super::lexer::SourcePart;
use super::tokens::{ShellReader, backquoted_length};

/// An open construct at some position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NestingLevel {
    /// `"…"`
    Double,
    /// `$(…)`, `<(…)`
    Command,
    /// `(…)` inside of another.
    Group,
    /// `${…}`; within double quotes, a single quote means itself.
    Expansion { is_quoted: bool },
}

/// An outermost command substitution.
struct OpenSubstitution {
    /// Levels that are open around it.
    depth: usize,
    start: usize,
    line: u32,
}

impl ShellReader<'_> {
    /// Skips the string or substitution that begins here. `None`: it does not end, or contains here-documents or
    /// `case`, whose brackets do not match.
    pub(super) fn skip_nested(&mut self) -> Option<()> {
        let mut open: Vec<NestingLevel> = Vec::new();
        let mut substitution: Option<OpenSubstitution> = None;
        loop {
            let rest = self.rest();
            let first = rest.chars().next()?;
            let level = open.last().copied();
            if let Some((opened, length)) = find_opening(rest, level) {
                self.skip(length);
                if opened == NestingLevel::Command && substitution.is_none() {
                    let (depth, start, line) = (open.len(), self.position(), self.line);
                    substitution = Some(OpenSubstitution { depth, start, line });
                }
                open.push(opened);
                continue;
            }
            if closes(first, level) {
                open.pop();
                if let Some(it) = substitution.take_if(|it| it.depth == open.len()) {
                    let range = it.start..self.position();
                    self.script.substitutions.push(SourcePart { range, line: it.line });
                }
                self.skip(1);
                if open.is_empty() {
                    return Some(());
                }
                continue;
            }
            let length = self.plain_length(rest, level)?;
            self.skip(length);
        }
    }

    /// The length of what neither opens nor closes.
    fn plain_length(&self, rest: &str, level: Option<NestingLevel>) -> Option<usize> {
        let first = rest.chars().next()?;
        let is_code = matches!(level, Some(NestingLevel::Command | NestingLevel::Group));
        let quotes = is_code || level == Some(NestingLevel::Expansion { is_quoted: false });
        match first {
            '\\' => Some(1 + rest.chars().nth(1).map_or(0, char::len_utf8)),
            '`' => backquoted_length(rest),
            '\'' if quotes => Some(rest.get(1..)?.find('\'')? + 2),
            '<' if is_code && rest.starts_with("<<<") => Some(3),
            '<' if is_code && rest.starts_with("<<") => None,
            '#' if is_code && self.begins_word() => Some(rest.find('\n').unwrap_or(rest.len())),
            'c' if is_code && rest.starts_with("case ") && self.begins_word() => None,
            _ => Some(first.len_utf8()),
        }
    }

    fn begins_word(&self) -> bool {
        self.letter_before().is_none_or(|it| it.is_whitespace() || matches!(it, '(' | ';' | '&' | '|'))
    }
}

fn find_opening(rest: &str, level: Option<NestingLevel>) -> Option<(NestingLevel, usize)> {
    let is_text = level == Some(NestingLevel::Double);
    let is_quoted = matches!(level, Some(NestingLevel::Double | NestingLevel::Expansion { is_quoted: true }));
    if rest.starts_with('"') && !is_text {
        return Some((NestingLevel::Double, 1));
    }
    if rest.starts_with("$(") || (!is_quoted && (rest.starts_with("<(") || rest.starts_with(">("))) {
        return Some((NestingLevel::Command, 2));
    }
    if rest.starts_with("${") {
        return Some((NestingLevel::Expansion { is_quoted }, 2));
    }
    let groups = matches!(level, None | Some(NestingLevel::Command | NestingLevel::Group));
    (groups && rest.starts_with('(')).then_some((NestingLevel::Group, 1))
}

fn closes(first: char, level: Option<NestingLevel>) -> bool {
    match level {
        Some(NestingLevel::Double) => first == '"',
        Some(NestingLevel::Command | NestingLevel::Group) => first == ')',
        Some(NestingLevel::Expansion { .. }) => first == '}',
        None => false,
    }
}
