//! Escape sequences, control, bidi and invisible characters out of what is shown: everything that came from an
//! agent, a check or a file name goes through here before a person or a client sees it. Total and idempotent.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

/// Characters of a [`fn@line`].
pub(crate) const LINE_CHARS: usize = 300;

/// Several lines: only printable characters, `\n` and `\t` are left.
pub fn text(raw: &str) -> String {
    let stripped = strip_escapes(raw);
    let mut out = String::with_capacity(stripped.len());
    let mut rest = stripped.as_str();
    loop {
        // Most of what comes is plain, and goes in whole runs.
        let plain = rest.bytes().position(|it| !matches!(it, b' '..=b'~' | b'\n' | b'\t'));
        let (run, other) = rest.split_at(plain.unwrap_or(rest.len()));
        out.push_str(run);
        let mut chars = other.chars();
        match chars.next() {
            None => return out,
            // They break lines in editors, though not in terminals.
            Some('\u{2028}' | '\u{2029}') => out.push('\n'),
            Some(c) if c.is_control() || is_invisible(c) => {}
            Some(c) => out.push(c),
        }
        rest = chars.as_str();
    }
}

/// One line of at most [`LINE_CHARS`] characters; white space is folded, what is cut off shows as `…`.
pub fn line(raw: &str) -> String {
    line_within(raw, LINE_CHARS)
}

/// As [`fn@line`], of at most `most` characters.
pub fn line_within(raw: &str, most: usize) -> String {
    let folded: Cow<'_, str> = if is_clean_line(raw) {
        raw.into()
    } else {
        text(raw).split_whitespace().collect::<Vec<_>>().join(" ").into()
    };
    if folded.chars().count() <= most {
        return folded.into_owned();
    }
    let kept: String = folded.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Nothing is to be taken out or folded, which is so for nearly every name.
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

/// Every character that could hide, move or imitate something, escaped so that it shows: `^[`, `\u{202e}`.
/// For pages on which a person decides what may run; nothing is left out, line ends show too.
pub fn visible(raw: &str) -> String {
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

/// What a terminal would show of `raw` as far as searching goes: escape sequences out, every line end `\n`. A
/// carriage return alone ends a line too, so that no state of a progress bar is lost. Tabs and all other
/// characters stay.
pub fn strip_escapes(raw: &str) -> String {
    stripped(raw, '\n')
}

/// The same, but a carriage return alone stays what it is: what follows it replaces the line.
pub fn strip_escapes_but_returns(raw: &str) -> String {
    stripped(raw, '\r')
}

fn stripped(raw: &str, lone_return: char) -> String {
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

/// Where the next one stands, by the bytes that can begin one.
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

/// What follows the escape sequence at the start of `text`.
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

/// Parameters, intermediates and the final character; a sequence that breaks off ends where it breaks off.
fn skip_control(text: &str) -> &str {
    let end =
        text.trim_start_matches(|c| matches!(c, '0'..='?')).trim_start_matches(|c| matches!(c, ' '..='/'));
    end.strip_prefix(|c| matches!(c, '@'..='~')).unwrap_or(end)
}

/// Titles, links, clipboard writes: everything up to the terminator. Where none follows on the same line only
/// the introducer goes: an unfinished sequence must not hide text from a search.
fn skip_string(text: &str) -> &str {
    let ends = |c| is_introducer(c) || matches!(c, '\x07' | '\u{9c}' | '\n');
    let Some(at) = text.find(ends) else { return text };
    let (_, end) = text.split_at(at);
    let terminated = ["\x07", "\u{9c}", "\x1b\\"].iter().find_map(|it| end.strip_prefix(it));
    terminated.unwrap_or(text)
}

/// Bidi controls, zero-width and filler characters, tags, supplementary variation selectors: they show nothing
/// themselves and change or hide what stands beside them.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Spaces that are none to a shell, variation selectors, private use: fine in prose, not in a command.
fn is_odd(c: char) -> bool {
    matches!(c,
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
        | '\u{e000}'..='\u{f8ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{f0000}'..='\u{10ffff}')
}

/// Text of a file as it may appear in a message: short, and with control, bidi and other invisible
/// characters escaped.
pub fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut short: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    short.replace("\\'", "'")
}
