//! Classifies one code span: a check, nearly a check, or neither. The span's position is handled by `grammar`.

use globset::GlobBuilder;
use regex::RegexBuilder;

use loopkeeper_text::tr;

use super::fault::SpanError;
use crate::criterion::address::url_fault;
use crate::criterion::{Check, PatternKind, TextPattern};

/// The longest argument that Linux passes to a program.
const MAX_COMMAND_BYTES: usize = 128 * 1024 - 1;

/// The kind of a code span, independent of its context.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CodeSpanKind {
    /// `$ command`: a check in any position.
    Command(Check),
    /// `exists`, `has`, `clean` …: a check only at the end of its item.
    Word(Check),
    /// Begins like a check and does not parse.
    BadCommand(SpanError),
    BadWord(SpanError),
    /// Nearly a check, with the suggested correction.
    Near(String),
    /// Inline code.
    Other,
}

/// Reads a span without guessing an alternative intention.
pub(super) fn parse_exactly(code: &str) -> CodeSpanKind {
    if code.trim_start().starts_with("$ ") && code.trim() == "$" {
        return CodeSpanKind::BadCommand(SpanError::with_hint(
            tr!("`$` without a command"),
            tr!("Write one after it"),
        ));
    }
    let code = code.trim();
    if let Some(rest) = code.strip_prefix('$') {
        return parse_command(rest);
    }
    let (verb, rest) = match code.split_once(' ') {
        Some((verb, rest)) => (verb, Some(rest.trim_start_matches(' '))),
        None => (code, None),
    };
    let check = match (verb, rest) {
        ("exists", Some(rest)) => parse_globs(rest).map(|globs| Check::Exists { globs }),
        ("missing", Some(rest)) => parse_globs(rest).map(|globs| Check::Missing { globs }),
        ("has", Some(rest)) => {
            parse_search("has", rest).map(|(pattern, globs)| Check::Has { pattern, globs })
        }
        ("lacks", Some(rest)) => {
            parse_search("lacks", rest).map(|(pattern, globs)| Check::Lacks { pattern, globs })
        }
        ("clean", None) => Ok(Check::Clean),
        ("clean", Some(_)) => Err(tr!("`clean` takes no arguments").into()),
        ("judge", rest) => parse_judge(rest.unwrap_or_default()),
        // `GET /users` is a common way to name a route of the project: only an absolute URL makes it a check.
        ("GET", Some(rest)) if rest.starts_with("http") => parse_get(rest),
        _ => return CodeSpanKind::Other,
    };
    match check {
        Ok(check) => CodeSpanKind::Word(check),
        Err(reason) => CodeSpanKind::BadWord(reason),
    }
}

fn parse_command(rest: &str) -> CodeSpanKind {
    let Some(command) = rest.strip_prefix(' ') else {
        // `$HOME` is prose; with a tab or a wide space it looks like a check.
        return if rest.starts_with(char::is_whitespace) {
            CodeSpanKind::BadCommand(tr!("`$` must be followed by a plain space").into())
        } else {
            CodeSpanKind::Other
        };
    };
    let command = command.trim();
    if command.contains('\0') {
        return CodeSpanKind::BadCommand(tr!("a NUL byte cannot be part of a command").into());
    }
    if command.len() > MAX_COMMAND_BYTES {
        return CodeSpanKind::BadCommand(SpanError::with_hint(
            tr!("a command of more than 128 KiB cannot be started"),
            tr!("Move it to a script"),
        ));
    }
    CodeSpanKind::Command(Check::Command { command: command.to_owned(), expect: Vec::new() })
}

fn parse_search(verb: &str, rest: &str) -> Result<(TextPattern, Vec<String>), SpanError> {
    let missing = || SpanError::from(tr!("`{verb}` needs \"text\" or /regex/, then a glob", verb));
    let (pattern, rest) = match rest.chars().next() {
        Some('"') => {
            let (source, rest) =
                parse_quoted(rest).ok_or_else(|| SpanError::from(tr!("the quote is never closed")))?;
            (TextPattern { source, kind: PatternKind::Literal }, rest)
        }
        Some('/') => parse_regex(rest)?.ok_or_else(missing)?,
        _ => return Err(missing()),
    };
    if pattern.source.is_empty() {
        return Err(tr!("an empty pattern matches every file").into());
    }
    match rest.strip_prefix(' ') {
        Some(rest) => Ok((pattern, parse_globs(rest)?)),
        None => Err(missing()),
    }
}

/// Parses `/regex/[i]` at the start: the pattern, which compiles, and the text after it. `None`: not of that form.
pub(super) fn parse_regex(text: &str) -> Result<Option<(TextPattern, &str)>, SpanError> {
    let Some((source, rest)) = parse_enclosed(text, '/') else { return Ok(None) };
    let (kind, rest) = match rest.strip_prefix('i') {
        Some(rest) => (PatternKind::RegexIgnoreCase, rest),
        None => (PatternKind::Regex, rest),
    };
    match RegexBuilder::new(&source).multi_line(true).size_limit(REGEX_BYTES).build() {
        Ok(_) => Ok(Some((TextPattern { source, kind }, rest))),
        Err(regex::Error::CompiledTooBig(_)) => Err(tr!("the pattern is too large").into()),
        Err(error) => Err(tr!("bad pattern, {error}", error = last_reason(&error.to_string())).into()),
    }
}

/// Small enough that reading a document stays fast, large enough for any realistic pattern.
const REGEX_BYTES: usize = 1 << 20;

fn last_reason(error: &str) -> &str {
    error.rsplit("error: ").next().unwrap_or(error).trim()
}

/// Text in double quotes with `\"` and `\\`, and the remaining text.
fn parse_quoted(text: &str) -> Option<(String, &str)> {
    let mut inner = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Some((inner, text.get(at + 1..)?)),
            '\\' => match chars.next()? {
                (_, escaped @ ('"' | '\\')) => inner.push(escaped),
                (_, other) => inner.extend(['\\', other]),
            },
            _ => inner.push(char),
        }
    }
    None
}

/// Text between two `fence` characters; `\` before one keeps it, every other escape is left as it is.
fn parse_enclosed(text: &str, fence: char) -> Option<(String, &str)> {
    let mut inner = String::new();
    let mut chars = text.strip_prefix(fence)?.char_indices();
    let base = fence.len_utf8();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => match chars.next()? {
                (_, escaped) if escaped == fence => inner.push(fence),
                (_, other) => inner.extend(['\\', other]),
            },
            _ if char == fence => return Some((inner, text.get(base + at + fence.len_utf8()..)?)),
            _ => inner.push(char),
        }
    }
    None
}

fn parse_globs(text: &str) -> Result<Vec<String>, SpanError> {
    let mut globs = Vec::new();
    let mut rest = text.trim_matches(' ');
    while !rest.is_empty() {
        let (word, after) = if rest.starts_with('"') {
            parse_quoted(rest).ok_or_else(|| SpanError::from(tr!("the quote is never closed")))?
        } else {
            let end = rest.find(' ').unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            validate_plain_name(word)?;
            (word.to_owned(), after)
        };
        if !after.is_empty() && !after.starts_with(' ') {
            return Err(tr!("no space after a quoted name").into());
        }
        validate_glob(&word)?;
        globs.push(word);
        rest = after.trim_start_matches(' ');
    }
    if globs.is_empty() { Err(tr!("no file is named").into()) } else { Ok(globs) }
}

/// Validates an unquoted name. Taken literally a mistyped one would name no file, and a check for a missing file would
/// pass.
fn validate_plain_name(word: &str) -> Result<(), SpanError> {
    if word.ends_with(',') {
        return Err(SpanError::with_hint(tr!("a comma after a name"), tr!("Put a space between names")));
    }
    if word.starts_with(['\'', '“', '”', '‘', '’']) {
        return Err(tr!("names are quoted with \"").into());
    }
    if word.starts_with('$') {
        return Err(tr!("variables are not read in names").into());
    }
    match word.chars().find(|char| char.is_whitespace() || char.is_control()) {
        Some(_) => Err(tr!("names are separated by plain spaces").into()),
        None => Ok(()),
    }
}

/// A glob that compiles and cannot leave the root.
fn validate_glob(glob: &str) -> Result<(), SpanError> {
    if glob.is_empty() {
        return Err(tr!("an empty name matches nothing").into());
    }
    if glob.starts_with(['/', '~']) || glob.split('/').any(|part| part == "..") {
        return Err(tr!("`{glob}` leaves the root", glob).into());
    }
    // Compiling takes far longer than the rest of this function, and most names contain no pattern.
    if !glob.contains(['*', '?', '[', ']', '{', '}', '\\']) {
        return Ok(());
    }
    match GlobBuilder::new(glob).literal_separator(true).build() {
        Ok(_) => Ok(()),
        Err(error) => Err(tr!("bad glob, {kind}", kind = error.kind()).into()),
    }
}

fn parse_get(rest: &str) -> Result<Check, SpanError> {
    match url_fault(rest) {
        None => Ok(Check::Get { url: rest.to_owned(), expect: Vec::new() }),
        Some(fault) => Err(tr!("`GET` needs one http:// or https:// address, and {fault}", fault).into()),
    }
}

/// More judges cost more than they add.
const MAX_JUDGES: u32 = 9;

fn parse_judge(rest: &str) -> Result<Check, SpanError> {
    if rest.is_empty() {
        return Ok(judge_of(None));
    }
    let words: Vec<&str> = rest.split(' ').filter(|word| !word.is_empty()).collect();
    if let &[first, "of", second] = words.as_slice()
        && let (Ok(needed), Ok(asked)) = (first.parse::<u32>(), second.parse::<u32>())
        && (1..=asked).contains(&needed)
        && asked <= MAX_JUDGES
    {
        return Ok(judge_of(Some((needed, asked))));
    }
    Err(tr!("`judge` takes no argument, or a vote such as `2 of 3` with at most {most}", most = MAX_JUDGES)
        .into())
}

/// The judge's statement is the rest of its item.
fn judge_of(of: Option<(u32, u32)>) -> Check {
    Check::Judge { of, prose: String::new() }
}
