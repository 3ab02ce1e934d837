//! The code lines of a source, without comments and with their indentation. Works line by line by common conventions;
//! a string that contains a comment mark affects at most one line.

use super::TestLanguage;
use super::strings::continued;

pub(super) struct CodeLine<'a> {
    pub(super) number: usize,
    pub(super) indent: usize,
    pub(super) code: &'a str,
}

impl CodeLine<'_> {
    fn new(number: usize, raw: &str) -> Option<CodeLine<'_>> {
        let code = raw.trim();
        let indent =
            raw.chars().take_while(|it| it.is_whitespace()).map(|it| if it == '\t' { 4 } else { 1 }).sum();
        (!code.is_empty()).then_some(CodeLine { number, indent, code })
    }
}

/// Begin and end of comments over several lines, and what begins one to the line's end.
struct CommentSyntax {
    blocks: &'static [(&'static str, &'static str)],
    line: &'static str,
}

fn comments(language: TestLanguage) -> CommentSyntax {
    match language {
        TestLanguage::Python => CommentSyntax { blocks: &[("\"\"\"", "\"\"\""), ("'''", "'''")], line: "#" },
        TestLanguage::Ruby => CommentSyntax { blocks: &[("=begin", "=end")], line: "#" },
        TestLanguage::Perl => {
            CommentSyntax { blocks: &[("=pod", "=cut"), ("=head", "=cut"), ("=begin", "=cut")], line: "#" }
        }
        TestLanguage::Shell => CommentSyntax { blocks: &[], line: "#" },
        TestLanguage::Rust
        | TestLanguage::Script
        | TestLanguage::Go
        | TestLanguage::Jvm
        | TestLanguage::CSharp
        | TestLanguage::Php
        | TestLanguage::C => CommentSyntax { blocks: &[("/*", "*/")], line: "//" },
    }
}

pub(super) fn code(language: TestLanguage, text: &str) -> Vec<CodeLine<'_>> {
    let comments = comments(language);
    let mut until: Option<&str> = None;
    // Elsewhere a single quote is weaker evidence for the end of a string than three of them.
    let inside = (language == TestLanguage::Python).then(|| continued(language, text).strings);
    let mut found = Vec::new();
    for (number, raw) in (1..).zip(text.lines()) {
        if let Some(end) = until {
            if raw.contains(end) {
                until = None;
            }
            continue;
        }
        if inside.as_ref().is_some_and(|it| it.contains(&number)) {
            continue;
        }
        let begins = comments.blocks.iter().find(|(begin, _)| raw.trim_start().starts_with(begin));
        if let Some((begin, end)) = begins {
            let rest = raw.trim_start().get(begin.len()..).unwrap_or_default();
            match rest.split_once(end) {
                Some((_, behind)) => found.extend(CodeLine::new(number, behind)),
                None => until = Some(end),
            }
            continue;
        }
        // An attribute of PHP begins as a comment of others does.
        if !is_comment(raw.trim_start(), &comments) {
            found.extend(CodeLine::new(number, before_comment(language, raw, comments.line)));
        }
    }
    found
}

/// The line up to a comment behind its code.
fn before_comment<'a>(language: TestLanguage, raw: &'a str, mark: &str) -> &'a str {
    // A single quote of Rust is mostly a lifetime.
    let is_quote = |it: char| matches!(it, '"' | '`') || (it == '\'' && language != TestLanguage::Rust);
    let (mut quote, mut escaped, mut blank) = (None, false, false);
    for (at, it) in raw.char_indices() {
        let begins = raw.get(at..).is_some_and(|rest| rest.starts_with(mark));
        match quote {
            None if blank && begins => return raw.get(..at).unwrap_or(raw),
            None if is_quote(it) => quote = Some(it),
            Some(open) if open == it && !escaped => quote = None,
            _ => {}
        }
        escaped = it == '\\' && !escaped;
        blank = it.is_whitespace();
    }
    raw
}

fn is_comment(text: &str, comments: &CommentSyntax) -> bool {
    // A build tag decides whether the file counts at all.
    text.starts_with(comments.line) && !text.starts_with("//go:build")
}
