//! Parses bytes from a terminal into keys.

use loopkeeper_view::dashboard::DashboardKey;

const ESCAPE: u8 = 0x1b;
const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";
/// No sequence of a terminal is longer; a paste may be.
const MAX_SEQUENCE: usize = 32;
const MAX_PASTE: usize = 64 * 1024;

/// Bytes that do not form a key yet.
#[derive(Debug, Default)]
pub(super) struct KeyParser {
    bytes: Vec<u8>,
    /// The bytes belong to a paste that is too long: they are dropped up to its end, because as keys they would be
    /// commands.
    drops_paste: bool,
}

/// The first key of the bytes, and its length; no key for sequences that mean nothing here.
enum ParsedKey {
    Found(Option<DashboardKey>, usize),
    Incomplete,
}

impl KeyParser {
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<DashboardKey> {
        self.bytes.extend_from_slice(bytes);
        if self.drops_paste {
            self.drop_paste();
        }
        let mut keys = Vec::new();
        while !self.bytes.is_empty() && !self.drops_paste {
            match parse(&self.bytes) {
                ParsedKey::Found(key, length) => {
                    self.bytes.drain(..length.clamp(1, self.bytes.len()));
                    keys.extend(key);
                }
                ParsedKey::Incomplete if self.bytes.len() > MAX_PASTE => {
                    self.drops_paste = true;
                    self.drop_paste();
                }
                ParsedKey::Incomplete => break,
            }
        }
        keys
    }

    /// Drops the bytes up to the end of the paste; without one, all but what may begin it.
    fn drop_paste(&mut self) {
        match find_paste_end(&self.bytes) {
            Some(end) => {
                self.bytes.drain(..end + PASTE_ENDS.len());
                self.drops_paste = false;
            }
            None => {
                self.bytes.drain(..self.bytes.len().saturating_sub(PASTE_ENDS.len() - 1));
            }
        }
    }

    /// Whether an escape may be the key itself or the beginning of a sequence.
    pub(super) fn is_waiting(&self) -> bool {
        self.bytes.first() == Some(&ESCAPE) && !self.drops_paste && !self.bytes.starts_with(PASTE_BEGINS)
    }

    /// No further byte arrived in time.
    pub(super) fn flush(&mut self) -> Option<DashboardKey> {
        let is_escape = self.bytes == [ESCAPE];
        self.bytes.clear();
        is_escape.then_some(DashboardKey::Escape)
    }
}

fn parse(bytes: &[u8]) -> ParsedKey {
    match bytes {
        _ if bytes.starts_with(PASTE_BEGINS) => paste(bytes),
        [ESCAPE] | [ESCAPE, b'O'] => ParsedKey::Incomplete,
        [ESCAPE, b'[', rest @ ..] => match rest.iter().position(|it| (0x40..=0x7e).contains(it)) {
            Some(end) => ParsedKey::Found(sequence(rest.get(..=end).unwrap_or_default()), end + 3),
            None if bytes.len() > MAX_SEQUENCE => ParsedKey::Found(None, bytes.len()),
            None => ParsedKey::Incomplete,
        },
        [ESCAPE, b'O', last, ..] => ParsedKey::Found(sequence(&[*last]), 3),
        [ESCAPE, ..] => ParsedKey::Found(Some(DashboardKey::Escape), 1),
        [0x03, ..] => ParsedKey::Found(Some(DashboardKey::Interrupt), 1),
        [0x1a, ..] => ParsedKey::Found(Some(DashboardKey::Suspend), 1),
        [b'\r' | b'\n', ..] => ParsedKey::Found(Some(DashboardKey::Enter), 1),
        [0x08 | 0x7f, ..] => ParsedKey::Found(Some(DashboardKey::Backspace), 1),
        _ => character(bytes),
    }
}

fn paste(bytes: &[u8]) -> ParsedKey {
    match find_paste_end(bytes) {
        Some(end) => {
            let text = bytes.get(PASTE_BEGINS.len()..end).unwrap_or_default();
            let text = String::from_utf8_lossy(text).into_owned();
            ParsedKey::Found(Some(DashboardKey::Paste(text)), end + PASTE_ENDS.len())
        }
        None => ParsedKey::Incomplete,
    }
}

fn find_paste_end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(PASTE_ENDS.len()).position(|it| it == PASTE_ENDS)
}

/// What follows `ESC [` or `ESC O`.
fn sequence(bytes: &[u8]) -> Option<DashboardKey> {
    Some(match bytes {
        b"A" => DashboardKey::Up,
        b"B" => DashboardKey::Down,
        b"M" => DashboardKey::Enter,
        b"H" | b"1~" | b"7~" => DashboardKey::Home,
        b"F" | b"4~" | b"8~" => DashboardKey::End,
        b"5~" => DashboardKey::PageUp,
        b"6~" => DashboardKey::PageDown,
        _ => return None,
    })
}

fn character(bytes: &[u8]) -> ParsedKey {
    let length = match bytes.first() {
        Some(0xc0..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf7) => 4,
        _ => 1,
    };
    let Some(first) = bytes.get(..length) else { return ParsedKey::Incomplete };
    let char = str::from_utf8(first).ok().and_then(|it| it.chars().next()).filter(|it| !it.is_control());
    ParsedKey::Found(char.map(DashboardKey::Char), if char.is_some() { length } else { 1 })
}

#[cfg(test)]
mod tests {
    use super::{KeyParser, MAX_PASTE};
    use loopkeeper_view::dashboard::DashboardKey::{self, *};

    #[test]
    fn bytes_are_keys_however_they_are_split() {
        let check = |bytes: &[u8], expect: &[DashboardKey]| {
            for split in 0..=bytes.len() {
                let mut parser = KeyParser::default();
                let mut keys = parser.feed(&bytes[..split]);
                keys.extend(parser.feed(&bytes[split..]));
                keys.extend(parser.flush());
                assert_eq!(keys, expect, "{bytes:?} split at {split}");
            }
        };
        check(b"jk", &[Char('j'), Char('k')]);
        check("é进".as_bytes(), &[Char('é'), Char('进')]);
        check(b"\x1b[A\x1b[B\x1bOA\x1bOB", &[Up, Down, Up, Down]);
        check(b"\x1b[5~\x1b[6~\x1b[1~\x1b[F", &[PageUp, PageDown, Home, End]);
        check(b"\x1b", &[Escape]);
        check(b"\x1b\x1b", &[Escape, Escape]);
        check(b"\x1bq", &[Escape, Char('q')]);
        check(b"\x03\x1a\r\x7f", &[Interrupt, Suspend, Enter, Backspace]);
        check(b"\x1b[200~s\ny\x1b[201~q", &[Paste("s\ny".to_owned()), Char('q')]);
        // Mouse reports, unknown sequences and invalid bytes mean nothing.
        check(b"\x1b[<0;1;1M\x1b[99;5u\x00\xff", &[]);
    }

    #[test]
    fn nothing_of_a_paste_that_is_too_long_is_a_key() {
        let mut parser = KeyParser::default();
        let chunk = "sq".repeat(700);
        let mut keys = parser.feed(b"\x1b[200~");
        for _ in 0..MAX_PASTE / chunk.len() + 2 {
            keys.extend(parser.feed(chunk.as_bytes()));
        }
        keys.extend(parser.feed(b"sq\x1b[20"));
        assert!(!parser.is_waiting());
        keys.extend(parser.feed(b"1~j"));
        assert_eq!(keys, [Char('j')]);
        assert_eq!(parser.feed(b"\x1b[200~s\x1b[201~"), [Paste("s".to_owned())]);
    }

    #[test]
    fn an_endless_sequence_is_dropped() {
        let mut parser = KeyParser::default();
        assert_eq!(parser.feed(format!("\x1b[{}", "1;".repeat(100)).as_bytes()), []);
        assert_eq!(parser.feed(b"q"), [Char('q')]);
    }
}
