//! Repairs lone surrogates in JSON: editors and agents that keep text in UTF-16 may have one in a text and send it as
//! an escape that UTF-8 cannot represent. It becomes `U+FFFD`, as wide in UTF-16, instead of invalidating the whole
//! message.

use serde::de::DeserializeOwned;

const REPLACEMENT: &[u8] = b"\\ufffd";

/// Parses JSON in which lone surrogates are replaced.
pub fn parse_json<T: DeserializeOwned>(json: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice(json).or_else(|error| match repair_surrogates(json) {
        Some(repaired) => serde_json::from_slice(&repaired),
        None => Err(error),
    })
}

/// The body without lone surrogates; `None` if it contains none.
fn repair_surrogates(body: &[u8]) -> Option<Vec<u8>> {
    let mut repaired = body.to_vec();
    let (mut at, mut found) = (0, false);
    while let Some(next) = body.get(at..).and_then(|it| memchr::memchr(b'\\', it)) {
        at += next;
        at += match (surrogate_half(body, at), surrogate_half(body, at + 6)) {
            (Some(SurrogateHalf::First), Some(SurrogateHalf::Second)) => 12,
            (Some(_), _) => {
                repaired.get_mut(at..at + 6)?.copy_from_slice(REPLACEMENT);
                found = true;
                6
            }
            // The escaped character cannot begin another escape.
            (None, _) => 2,
        };
    }
    found.then_some(repaired)
}

enum SurrogateHalf {
    First,
    Second,
}

/// The half that the escape at `at` encodes.
fn surrogate_half(body: &[u8], at: usize) -> Option<SurrogateHalf> {
    let digits = body.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let number = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    match number {
        0xd800..=0xdbff => Some(SurrogateHalf::First),
        0xdc00..=0xdfff => Some(SurrogateHalf::Second),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::repair_surrogates;

    #[track_caller]
    fn check(body: &str, expect: Option<&str>) {
        let repaired = repair_surrogates(body.as_bytes()).map(|it| String::from_utf8(it).unwrap());
        assert_eq!(repaired.as_deref(), expect, "{body}");
    }

    #[test]
    fn lone_surrogates_are_replaced_and_pairs_are_kept() {
        check(r#""a""#, None);
        check(r#""\ud83d\ude00 \u00e4 \n""#, None);
        check(r#""\\ud83d""#, None);
        check(r#""\ud83d""#, Some(r#""\ufffd""#));
        check(r#""\ude00\ud83d""#, Some(r#""\ufffd\ufffd""#));
        check(r#""\\\ud83dx""#, Some(r#""\\\ufffdx""#));
        check(r#""\ud83d\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#));
        check(r#""\uD83D\uDE00\uDE00""#, Some(r#""\uD83D\uDE00\ufffd""#));
        check(r#""\ud8"#, None);
        check(r"\", None);
    }
}
