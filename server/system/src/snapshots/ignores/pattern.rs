//! Parses the lines of a `.gitignore` and matches them on bytes exactly as git does (braces are literal, `[[:alpha:]]`
//! works, names need not be UTF-8). Even hostile patterns are parsed in linear time, and matched without backtracking
//! beyond the last `*`.

/// Result of matching a path against a list of patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IgnoreMatch {
    Ignored,
    Kept,
    Silent,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IgnorePattern {
    negated: bool,
    folders_only: bool,
    /// Has a slash: matched against the path below the file's folder, else against the last name only.
    anchored: bool,
    parts: Vec<PatternSegment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternSegment {
    /// `**` between slashes, or more stars.
    AnyFolders,
    /// A literal without special characters.
    Literal(Vec<u8>),
    /// `*` followed by a literal.
    Suffix(Vec<u8>),
    Glob(Vec<GlobToken>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum GlobToken {
    Byte(u8),
    One,
    Many,
    Class { negated: bool, bytes: Box<[bool; 256]> },
}

/// All patterns of a file, in order.
pub(super) fn parse_patterns(text: &[u8]) -> Vec<IgnorePattern> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    text.split(|it| *it == b'\n').filter_map(|it| parse_line(it.strip_suffix(b"\r").unwrap_or(it))).collect()
}

/// The last pattern that matches decides.
pub(super) fn match_path(patterns: &[IgnorePattern], path: &[u8], is_folder: bool) -> IgnoreMatch {
    let name = path.rsplit(|it| *it == b'/').next().unwrap_or(path);
    let hit = patterns.iter().rev().find(|it| {
        (is_folder || !it.folders_only) && if it.anchored { it.path(path) } else { it.name(name) }
    });
    match hit {
        Some(it) if it.negated => IgnoreMatch::Kept,
        Some(_) => IgnoreMatch::Ignored,
        None => IgnoreMatch::Silent,
    }
}

fn parse_line(line: &[u8]) -> Option<IgnorePattern> {
    if line.starts_with(b"#") {
        return None;
    }
    let line = without_trailing_spaces(line);
    let (negated, line) = line.strip_prefix(b"!").map_or((false, line), |it| (true, it));
    let (folders_only, line) = line.strip_suffix(b"/").map_or((false, line), |it| (true, it));
    let anchored = line.contains(&b'/');
    let line = line.strip_prefix(b"/").unwrap_or(line);
    if line.is_empty() {
        return None;
    }
    let parts = if anchored { split(line)?.into_iter().map(part).collect() } else { vec![glob(line)] };
    let parts = parts.into_iter().collect::<Option<Vec<_>>>()?;
    Some(IgnorePattern { negated, folders_only, anchored, parts })
}

/// A backslash preserves the space after it.
fn without_trailing_spaces(line: &[u8]) -> &[u8] {
    let mut end = 0;
    let mut at = 0;
    while let Some(byte) = line.get(at) {
        at += if *byte == b'\\' { 2 } else { 1 };
        if *byte != b' ' {
            end = at;
        }
    }
    line.get(..end.min(line.len())).unwrap_or(line)
}

/// Splits at slashes outside of brackets. `None`: an invalid class, with which the line can never match.
fn split(line: &[u8]) -> Option<Vec<&[u8]>> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(byte) = line.get(at) {
        match byte {
            // An escaped slash is a slash, except that a `**` before it matches at least one folder.
            b'\\' if line.get(at + 1) == Some(&b'/') => {
                let part = line.get(start..at);
                parts.extend(part.filter(|it| is_any_folders(it)).map(|_| b"*".as_slice()));
                parts.extend(part);
                at += 1;
                start = at + 1;
            }
            b'\\' => at += 1,
            b'[' => at += class(line.get(at + 1..)?)?.1,
            b'/' => {
                parts.extend(line.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    parts.extend(line.get(start..));
    Some(parts)
}

fn part(text: &[u8]) -> Option<PatternSegment> {
    if is_any_folders(text) { Some(PatternSegment::AnyFolders) } else { glob(text) }
}

fn is_any_folders(part: &[u8]) -> bool {
    part.len() >= 2 && part.iter().all(|it| *it == b'*')
}

/// `None`: can never match (an unterminated class, a trailing backslash).
fn glob(text: &[u8]) -> Option<PatternSegment> {
    let special = |text: &[u8]| text.iter().any(|it| b"*?[\\".contains(it));
    if !special(text) {
        return Some(PatternSegment::Literal(text.to_vec()));
    }
    if let Some(rest) = text.strip_prefix(b"*")
        && !special(rest)
    {
        return Some(PatternSegment::Suffix(rest.to_vec()));
    }
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'?' => tokens.push(GlobToken::One),
            b'*' if tokens.last() == Some(&GlobToken::Many) => {}
            b'*' => tokens.push(GlobToken::Many),
            b'\\' => {
                tokens.push(GlobToken::Byte(*text.get(at)?));
                at += 1;
            }
            b'[' => {
                let (token, length) = class(text.get(at..)?)?;
                tokens.push(token);
                at += length;
            }
            byte => tokens.push(GlobToken::Byte(*byte)),
        }
    }
    Some(PatternSegment::Glob(tokens))
}

/// A bracket expression after its `[`, and its length including the `]`.
fn class(text: &[u8]) -> Option<(GlobToken, usize)> {
    let negated = matches!(text.first(), Some(b'!' | b'^'));
    let first = usize::from(negated);
    let mut at = first;
    let mut bytes = Box::new([false; 256]);
    let mut add = |(low, high): (u8, u8)| {
        // The range is empty if its ends are reversed.
        bytes.get_mut(usize::from(low)..=usize::from(high)).unwrap_or_default().fill(true);
    };
    // Index of the next `]`, kept because a search from each `[:` would take quadratic time.
    let mut close = 0;
    loop {
        let byte = *text.get(at)?;
        if byte == b']' && at > first {
            return Some((GlobToken::Class { negated, bytes }, at + 1));
        }
        if text.get(at..)?.starts_with(b"[:") {
            let start = at + 2;
            if close < start {
                close = start + text.get(start..)?.iter().position(|it| *it == b']')?;
            }
            if let Some(name) = text.get(start..close)?.strip_suffix(b":") {
                named_class(name)?.iter().copied().for_each(&mut add);
                at = close + 1;
                continue;
            }
        }
        let (low, next) = class_byte(text, at)?;
        at = next;
        if text.get(at) == Some(&b'-') && text.get(at + 1).is_some_and(|it| *it != b']') {
            let (high, next) = class_byte(text, at + 1)?;
            at = next;
            add((low, high));
        } else {
            add((low, low));
        }
    }
}

fn class_byte(text: &[u8], at: usize) -> Option<(u8, usize)> {
    match text.get(at)? {
        b'\\' => Some((*text.get(at + 1)?, at + 2)),
        byte => Some((*byte, at + 1)),
    }
}

fn named_class(name: &[u8]) -> Option<&'static [(u8, u8)]> {
    Some(match name {
        b"alnum" => &[(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')],
        b"alpha" => &[(b'A', b'Z'), (b'a', b'z')],
        b"blank" => &[(b' ', b' '), (b'\t', b'\t')],
        b"cntrl" => &[(0, 31), (127, 127)],
        b"digit" => &[(b'0', b'9')],
        b"graph" => &[(b'!', b'~')],
        b"lower" => &[(b'a', b'z')],
        b"print" => &[(b' ', b'~')],
        b"punct" => &[(b'!', b'/'), (b':', b'@'), (b'[', b'`'), (b'{', b'~')],
        b"space" => &[(b' ', b' '), (b'\t', b'\r')],
        b"upper" => &[(b'A', b'Z')],
        b"xdigit" => &[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')],
        _ => return None,
    })
}

impl IgnorePattern {
    fn name(&self, name: &[u8]) -> bool {
        self.parts.first().is_some_and(|it| it.matches(name))
    }

    /// `**` matches any number of folders; at the end, at least one name.
    fn path(&self, path: &[u8]) -> bool {
        let mut parts = self.parts.as_slice();
        let mut rest = Some(path);
        let mut retry: Option<(&[PatternSegment], &[u8])> = None;
        loop {
            match (parts, rest) {
                ([], None) | ([PatternSegment::AnyFolders], Some(_)) => return true,
                ([PatternSegment::AnyFolders, after @ ..], Some(text)) => {
                    retry = Some((after, text));
                    parts = after;
                    continue;
                }
                ([part, after @ ..], Some(text)) => {
                    let (name, below) = split_first(text);
                    if part.matches(name) {
                        (parts, rest) = (after, below);
                        continue;
                    }
                }
                _ => {}
            }
            // The last `**` matches one more folder.
            let Some((after, text)) = retry else { return false };
            let Some(below) = split_first(text).1 else { return false };
            retry = Some((after, below));
            (parts, rest) = (after, Some(below));
        }
    }
}

fn split_first(path: &[u8]) -> (&[u8], Option<&[u8]>) {
    match path.iter().position(|it| *it == b'/') {
        Some(at) => (path.get(..at).unwrap_or(path), path.get(at + 1..)),
        None => (path, None),
    }
}

impl PatternSegment {
    fn matches(&self, name: &[u8]) -> bool {
        match self {
            Self::AnyFolders => true,
            Self::Literal(it) => it == name,
            Self::Suffix(it) => name.ends_with(it),
            Self::Glob(tokens) => matches(tokens, name),
        }
    }
}

fn matches(tokens: &[GlobToken], name: &[u8]) -> bool {
    let (mut tokens, mut rest) = (tokens, name);
    let mut retry: Option<(&[GlobToken], &[u8])> = None;
    loop {
        match (tokens, rest) {
            ([], []) | ([GlobToken::Many], _) => return true,
            ([GlobToken::Many, after @ ..], _) => {
                retry = Some((after, rest));
                tokens = after;
                continue;
            }
            ([token, after @ ..], [byte, below @ ..]) if token.matches(*byte) => {
                (tokens, rest) = (after, below);
                continue;
            }
            _ => {}
        }
        // The last `*` matches one more byte.
        let Some((after, [_, below @ ..])) = retry else { return false };
        retry = Some((after, below));
        (tokens, rest) = (after, below);
    }
}

impl GlobToken {
    fn matches(&self, byte: u8) -> bool {
        match self {
            Self::Byte(it) => *it == byte,
            Self::One | Self::Many => true,
            Self::Class { negated, bytes } => bytes.get(usize::from(byte)) != Some(negated),
        }
    }
}
