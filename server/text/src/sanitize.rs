//! Removes or escapes escape sequences and control, bidi and invisible characters before display. Everything from an
//! agent, a check or a file name passes through here before a person or a client sees it. Total and idempotent.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::truncate;

/// Maximum characters of a [`fn@line`].
pub(crate) const LINE_CHARS: usize = 300;

/// Several lines: keeps only printable characters, `\n` and `\t`.
pub fn text(raw: &str) -> String {
    let stripped = strip_escapes(raw);
    let mut out = String::with_capacity(stripped.len());
    let mut rest = stripped.as_str();
    loop {
        // Most input is plain and is copied in whole runs.
        let plain = rest.bytes().position(|it| !matches!(it, b' '..=b'~' | b'\n' | b'\t'));
        let (run, other) = rest.split_at(plain.unwrap_or(rest.len()));
        out.push_str(run);
        let mut chars = other.chars();
        match chars.next() {
            None => return out,
            // They break lines in editors, but not in terminals.
            Some('\u{2028}' | '\u{2029}') => out.push('\n'),
            Some(c) if c.is_control() || is_invisible(c) => {}
            Some(c) => out.push(c),
        }
        rest = chars.as_str();
    }
}

/// Like [`fn@text`], but keeps colours and font styles. Each line ends without any, so that no line changes the looks of
/// what follows.
pub fn coloured(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for part in raw.split_inclusive('\n') {
        let (line, end) = part.strip_suffix('\n').map_or((part, ""), |it| (it.trim_end_matches('\r'), "\n"));
        let mut rest = line;
        let mut is_styled = false;
        while let Some((before, style, after)) = next_style(rest) {
            push_text(&mut out, before, &mut is_styled);
            out.push_str(style);
            (rest, is_styled) = (after, true);
        }
        push_text(&mut out, rest, &mut is_styled);
        end_style(&mut out, &mut is_styled);
        out.push_str(end);
    }
    out
}

/// Appends text that other characters than `\n` may divide into lines, too.
fn push_text(out: &mut String, raw: &str, is_styled: &mut bool) {
    for (number, line) in text(raw).split('\n').enumerate() {
        if number > 0 {
            end_style(out, is_styled);
            out.push('\n');
        }
        out.push_str(line);
    }
}

fn end_style(out: &mut String, is_styled: &mut bool) {
    if std::mem::take(is_styled) {
        out.push_str("\x1b[0m");
    }
}

/// The first sequence that sets a colour or a font style, with the text before and after it.
fn next_style(line: &str) -> Option<(&str, &str, &str)> {
    const MAX_SEQUENCE_BYTES: usize = 48;
    let mut from = 0;
    loop {
        let at = from + line.get(from..)?.find("\x1b[")?;
        let (before, sequence) = line.split_at(at);
        let parameters = sequence.get(2..)?;
        let end = parameters.trim_start_matches(|c| matches!(c, '0'..='9' | ';'));
        let length = sequence.len() - end.len();
        if let Some(after) = end.strip_prefix('m')
            && length < MAX_SEQUENCE_BYTES
            && !conceals(sequence.get(2..length)?)
        {
            return Some((before, sequence.get(..=length)?, after));
        }
        from = at + 2;
    }
}

/// Whether a style hides text. 8 is also a valid part of a longer colour.
fn conceals(parameters: &str) -> bool {
    let is_colour = parameters.split(';').any(|it| matches!(it, "38" | "48"));
    !is_colour && parameters.split(';').any(|it| it.parse() == Ok(8_u32))
}

/// One line of at most [`LINE_CHARS`] characters; white space is folded and `…` marks a truncation.
pub fn line(raw: &str) -> String {
    line_within(raw, LINE_CHARS)
}

/// Like [`fn@line`], shortened to at most `most` characters.
pub fn line_within(raw: &str, most: usize) -> String {
    let folded: Cow<'_, str> = if is_clean_line(raw) {
        raw.into()
    } else {
        text(raw).split_whitespace().collect::<Vec<_>>().join(" ").into()
    };
    let short = match truncate::shortened(&folded, most) {
        Cow::Owned(short) => Some(short),
        Cow::Borrowed(_) => None,
    };
    short.unwrap_or_else(|| folded.into_owned())
}

/// Whether nothing needs removing or folding, as for nearly every name.
fn is_clean_line(raw: &str) -> bool {
    let mut after_space = true;
    let is_clean = raw.chars().all(|c| {
        let is_space = c == ' ';
        let fits = match c {
            ' ' => !after_space,
            '!'..='~' => true,
            _ => !c.is_whitespace() && !c.is_control() && !is_invisible(c),
        };
        after_space = is_space;
        fits
    });
    is_clean && (!after_space || raw.is_empty())
}

/// Escapes every character that could hide, move or imitate something, so that it is visible: `^[`, `\u{202e}`. For
/// pages on which the user decides what may run: nothing is dropped, and line ends are shown too.
pub fn visible(raw: &str) -> String {
    if raw.bytes().all(|it| matches!(it, b' '..=b'~')) {
        return raw.to_owned();
    }
    let mut out = String::with_capacity(raw.len());
    for c in raw.chars() {
        match c {
            '\0'..='\x1f' => out.extend(['^', char::from(c as u8 + 0x40)]),
            '\x7f' => out.push_str("^?"),
            _ if c.is_control() || is_invisible(c) || is_odd(c) => out.extend(c.escape_unicode()),
            _ => out.push(c),
        }
    }
    out
}

/// Plain text for searching: escape sequences are removed and every line end becomes `\n`. A lone carriage return ends
/// a line too, so that no state of a progress bar is lost. Tabs and all other characters are kept.
pub fn strip_escapes(raw: &str) -> String {
    strip_controls(raw, '\n')
}

/// Like [`strip_escapes`], but keeps a lone carriage return, after which text replaces the line.
pub fn strip_escapes_but_returns(raw: &str) -> String {
    strip_controls(raw, '\r')
}

fn strip_controls(raw: &str, lone_return: char) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = introducer(rest) {
        let (plain, special) = rest.split_at(at);
        out.push_str(plain);
        if special.starts_with('\r') {
            let after = special.trim_start_matches('\r');
            let line_end = after.strip_prefix('\n');
            out.push(if line_end.is_some() { '\n' } else { lone_return });
            rest = line_end.unwrap_or(after);
        } else {
            rest = skip_sequence(special);
        }
    }
    out.push_str(rest);
    out
}

/// The position of the next escape sequence, found by the bytes that can begin one.
fn introducer(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let rest = text.as_bytes().get(from..)?;
        let at = from + rest.iter().position(|it| matches!(it, b'\r' | 0x1b | 0xc2))?;
        if text.get(at..)?.starts_with(is_introducer) {
            return Some(at);
        }
        from = at + 1;
    }
}

fn is_introducer(c: char) -> bool {
    matches!(c, '\r' | '\x1b' | '\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}'..='\u{9f}')
}

/// Returns the text after the escape sequence at the start of `text`.
fn skip_sequence(text: &str) -> &str {
    let mut chars = text.chars();
    match chars.next() {
        Some('\u{9b}') => skip_control(chars.as_str()),
        Some('\x1b') => skip_escape(chars.as_str()),
        _ => skip_string(chars.as_str()),
    }
}

fn skip_escape(text: &str) -> &str {
    let mut chars = text.chars();
    match chars.next() {
        Some('[') => skip_control(chars.as_str()),
        Some(']' | 'P' | 'X' | '^' | '_') => skip_string(chars.as_str()),
        Some(' '..='/') => {
            let end = text.trim_start_matches(|c| matches!(c, ' '..='/'));
            end.strip_prefix(|c| matches!(c, '0'..='~')).unwrap_or(end)
        }
        Some('0'..='~') => chars.as_str(),
        _ => text,
    }
}

/// Skips parameters, intermediates and the final character; an incomplete sequence ends where it breaks off.
fn skip_control(text: &str) -> &str {
    let end =
        text.trim_start_matches(|c| matches!(c, '0'..='?')).trim_start_matches(|c| matches!(c, ' '..='/'));
    end.strip_prefix(|c| matches!(c, '@'..='~')).unwrap_or(end)
}

/// Skips titles, links and clipboard writes up to the terminator. Without a terminator on the same line only the
/// introducer is removed: an unfinished sequence must not hide text from a search.
fn skip_string(text: &str) -> &str {
    let ends = |c| is_introducer(c) || matches!(c, '\x07' | '\u{9c}' | '\n');
    let Some(at) = text.find(ends) else { return text };
    let (_, end) = text.split_at(at);
    let terminated = ["\x07", "\u{9c}", "\x1b\\"].iter().find_map(|it| end.strip_prefix(it));
    terminated.unwrap_or(text)
}

/// Bidi controls, zero-width and filler characters, tags, supplementary variation selectors: they are invisible
/// themselves and change or hide adjacent text.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Spaces that a shell does not treat as spaces, variation selectors, private use: fine in prose, not in a command.
fn is_odd(c: char) -> bool {
    matches!(c,
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
        | '\u{e000}'..='\u{f8ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{f0000}'..='\u{10ffff}')
}

/// Text of a file for use in a message: short, with control, bidi and other invisible characters escaped.
pub fn shown(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let mut short: String = text.chars().take(MAX_CHARS).flat_map(char::escape_debug).collect();
    if text.chars().nth(MAX_CHARS).is_some() {
        short.push('…');
    }
    short.replace("\\'", "'")
}
