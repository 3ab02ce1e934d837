//! Removes secrets and the path of the user's home directory from exported text, and counts the replacements.

use super::{MARK, Redactor};

/// Redacts everything that is exported.
#[derive(Debug, Clone)]
pub struct ExportRedactor {
    redactor: Redactor,
    /// Without a final `/`; empty if the home directory is unusable as a pattern.
    home: Vec<u8>,
}

/// Numbers of replacements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RedactionCounts {
    pub secrets: usize,
    pub homes: usize,
}

impl RedactionCounts {
    pub fn add(&mut self, other: Self) {
        self.secrets += other.secrets;
        self.homes += other.homes;
    }
}

impl ExportRedactor {
    pub fn new(redactor: Redactor, home: &str) -> Self {
        Self { redactor, home: home.trim_end_matches('/').as_bytes().to_vec() }
    }

    /// The same bytes with `[redacted]` for each secret and `~` for the home folder.
    pub fn clean(&self, bytes: &[u8]) -> (Vec<u8>, RedactionCounts) {
        let mut stream = self.redactor.stream();
        let mut out = stream.push(bytes);
        out.extend(stream.finish());
        let secrets = marks(&out).saturating_sub(marks(bytes));
        let (out, homes) = self.without_home(&out);
        (out, RedactionCounts { secrets, homes })
    }

    fn without_home(&self, bytes: &[u8]) -> (Vec<u8>, usize) {
        let (mut out, mut homes, mut at) = (Vec::with_capacity(bytes.len()), 0, 0);
        while let Some(rest) = bytes.get(at..).filter(|it| !it.is_empty()) {
            let is_home = !self.home.is_empty()
                && rest.starts_with(&self.home)
                && !at.checked_sub(1).and_then(|it| bytes.get(it)).copied().is_some_and(is_component_byte)
                && !rest.get(self.home.len()).copied().is_some_and(is_component_byte);
            if is_home {
                out.push(b'~');
                homes += 1;
                at += self.home.len();
            } else {
                out.extend(rest.first());
                at += 1;
            }
        }
        (out, homes)
    }
}

/// Whether a byte continues a path component.
fn is_component_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') || byte >= 0x80
}

fn marks(bytes: &[u8]) -> usize {
    bytes.windows(MARK.len()).filter(|it| *it == MARK).count()
}

#[cfg(test)]
mod tests {
    use super::{ExportRedactor, RedactionCounts};
    use crate::redact::Redactor;

    #[test]
    fn secrets_and_the_home_folder_are_taken_out_and_counted() {
        let cleaner = ExportRedactor::new(Redactor::new(["hunter2-hunter2".to_owned()]), "/home/me/");
        let check = |text: &str, expect: &str, secrets, homes| {
            let (out, found) = cleaner.clean(text.as_bytes());
            assert_eq!(String::from_utf8(out).unwrap(), expect);
            assert_eq!(found, RedactionCounts { secrets, homes }, "{text}");
        };
        check("", "", 0, 0);
        check("password hunter2-hunter2!", "password [redacted]!", 1, 0);
        check("[redacted] already", "[redacted] already", 0, 0);
        check("cd /home/me/w && ls /home/me", "cd ~/w && ls ~", 0, 2);
        check("\"file:///home/me/a\"", "\"file://~/a\"", 0, 1);
        check("/home/mee /srv/home/me /home/me2", "/home/mee /srv/home/me /home/me2", 0, 0);
        let (out, found) = ExportRedactor::new(Redactor::new([]), "/").clean(b"/ \xff");
        assert_eq!((out.as_slice(), found), (&b"/ \xff"[..], RedactionCounts::default()));
    }
}
