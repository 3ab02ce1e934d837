//! Shapes of well-known tokens: a prefix, then a run of an alphabet. No shape depends on what follows its run and none
//! contains `[` or `]`; idempotence and independence of the chunking need both.

/// A token's shape.
pub(super) struct TokenShape {
    pub(super) prefix: &'static [u8],
    alphabet: fn(u8) -> bool,
    /// Minimum number of characters after the prefix.
    least: usize,
    /// Whether a preceding letter or digit rules out a match, because it would be in the middle of a word.
    starts_word: bool,
}

/// Characters that extend a token after its recognised prefix.
#[derive(Debug, Clone, Copy)]
pub(super) enum TailCharset {
    Nothing,
    /// Continues while the characters are in this alphabet.
    Run(fn(u8) -> bool),
    /// The body of a PEM block, up to and with its end line.
    Pem,
}

/// Length of the longest prefix with its minimum run.
pub(super) const SHAPE_LOOKAHEAD: usize = 80;
const PEM_HEADER: usize = 64;

const fn shape(prefix: &'static str, least: usize) -> TokenShape {
    TokenShape { prefix: prefix.as_bytes(), alphabet: is_word, least, starts_word: false }
}

pub(super) const SHAPES: &[TokenShape] = &[
    TokenShape { prefix: b"-----BEGIN ", alphabet: is_word, least: 0, starts_word: false },
    shape("AKIA", 16),
    shape("ASIA", 16),
    TokenShape { prefix: b"aws_secret_access_key=", alphabet: is_base64, least: 30, starts_word: false },
    TokenShape { prefix: b"aws_secret_access_key = ", alphabet: is_base64, least: 30, starts_word: false },
    TokenShape { prefix: b"AWS_SECRET_ACCESS_KEY=", alphabet: is_base64, least: 30, starts_word: false },
    TokenShape { prefix: b"\"SecretAccessKey\": \"", alphabet: is_base64, least: 30, starts_word: false },
    shape("ghp_", 30),
    shape("gho_", 30),
    shape("ghu_", 30),
    shape("ghs_", 30),
    shape("ghr_", 30),
    shape("github_pat_", 30),
    shape("glpat-", 20),
    shape("npm_", 36),
    shape("AIza", 35),
    TokenShape { prefix: b"sk-", alphabet: is_word, least: 20, starts_word: true },
    TokenShape { prefix: b"sk_live_", alphabet: is_word, least: 20, starts_word: true },
    shape("xoxb-", 10),
    shape("xoxp-", 10),
    shape("xoxa-", 10),
    shape("xoxr-", 10),
    shape("xoxs-", 10),
    shape("xapp-", 10),
    // The header of every JWT is a JSON object: base64 of `{"`.
    TokenShape { prefix: b"eyJ", alphabet: is_dotted, least: 24, starts_word: true },
];

impl TokenShape {
    /// The minimum length of the token at the start of `bytes`, and how its tail is recognised.
    pub(super) fn at(&self, bytes: &[u8], previous: Option<u8>) -> Option<(usize, TailCharset)> {
        let after = bytes.strip_prefix(self.prefix)?;
        if self.prefix == b"-----BEGIN " {
            return private_key_header(bytes).map(|length| (length, TailCharset::Pem));
        }
        if self.starts_word && previous.is_some_and(|it| it.is_ascii_alphanumeric()) {
            return None;
        }
        let run = after.iter().take(self.least).take_while(|it| (self.alphabet)(**it)).count();
        (run == self.least).then_some((self.prefix.len() + run, TailCharset::Run(self.alphabet)))
    }
}

#[cfg(test)]
impl TokenShape {
    pub(super) fn size(&self) -> usize {
        self.prefix.len() + self.least.max(if self.prefix.starts_with(b"-----") { 40 } else { 0 })
    }

    pub(super) fn allows(&self, byte: u8) -> bool {
        (self.alphabet)(byte)
    }
}

impl TailCharset {
    /// How many bytes at the start of `bytes` certainly still belong to the secret, and how its tail continues.
    pub(super) fn continuation(self, bytes: &[u8], last: u8) -> (usize, Self) {
        let Some(&byte) = bytes.first() else { return (0, Self::Nothing) };
        match self {
            Self::Run(alphabet) if alphabet(byte) => (1, self),
            Self::Pem => match pem_end(bytes) {
                Some(length) => (length, Self::Nothing),
                None if in_pem(byte, last) => (1, Self::Pem),
                None => (0, Self::Nothing),
            },
            Self::Run(_) | Self::Nothing => (0, Self::Nothing),
        }
    }
}

fn private_key_header(bytes: &[u8]) -> Option<usize> {
    const END: &[u8] = b"PRIVATE KEY-----";
    let head = bytes.get(..PEM_HEADER.min(bytes.len()))?;
    let at = head.windows(END.len()).position(|it| it == END)?;
    let kind = head.get(b"-----BEGIN ".len()..at)?;
    kind.iter().all(|it| it.is_ascii_uppercase() || *it == b' ').then_some(at + END.len())
}

fn pem_end(bytes: &[u8]) -> Option<usize> {
    const PEM_END_MARKER: &[u8] = b"-----END ";
    let head = bytes.get(..PEM_HEADER.min(bytes.len()))?;
    let name = head.strip_prefix(PEM_END_MARKER)?;
    let at = name.windows(5).position(|it| it == b"-----")?;
    let kind = name.get(..at)?;
    kind.iter().all(|it| it.is_ascii_uppercase() || *it == b' ').then_some(PEM_END_MARKER.len() + at + 5)
}

/// Base64 over several lines, indented or with literal `\n`, and the headers of an encrypted key. A space between words
/// ends a truncated block.
fn in_pem(byte: u8, last: u8) -> bool {
    match byte {
        b' ' | b'\t' => matches!(last, b' ' | b'\t' | b'\n' | b':' | b','),
        b'\r' | b'\n' | b'\\' | b':' | b',' | b'-' => true,
        _ => is_base64(byte),
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_dotted(byte: u8) -> bool {
    is_word(byte) || byte == b'.'
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}
