//! Sums by which bytes are known again.

use sha2::{Digest, Sha256};

/// 64 hex of sha256.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Two small digits for each byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |it: u8| DIGITS.get(usize::from(it)).copied().map(char::from);
    bytes.iter().flat_map(|it| [digit(it >> 4), digit(it & 15)]).flatten().collect()
}
