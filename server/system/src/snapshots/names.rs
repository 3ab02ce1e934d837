//! Shows path names as text. Internally, names are always bytes, as on disk.

use std::fmt::Write as _;

/// A path in display form: UTF-8 stays; every other byte, and everything that could move a cursor or reorder text, is
/// escaped. Different paths never look the same, so the text can also be used to compare and select paths.
pub(crate) fn display_path(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        for it in chunk.valid().chars() {
            push_escaped(&mut text, it);
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

fn push_escaped(text: &mut String, character: char) {
    match character {
        '\\' => text.push_str("\\\\"),
        '\n' => text.push_str("\\n"),
        '\t' => text.push_str("\\t"),
        '\r' => text.push_str("\\r"),
        _ if character.is_ascii_control() => {
            let _ = write!(text, "\\x{:02x}", character as u32);
        }
        _ if character.is_control() || is_invisible(character) => {
            let _ = write!(text, "\\u{{{:x}}}", character as u32);
        }
        _ => text.push(character),
    }
}

/// Whether it is a bidi control, an invisible separator or the byte order mark.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Whether `path` is one of `selected`, or is below one of them.
pub(super) fn is_selected(path: &[u8], selected: &[String]) -> bool {
    let text = display_path(path);
    selected.iter().any(|it| {
        let it = it.trim_end_matches('/');
        text.strip_prefix(it).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// Whether the name is valid in a folder; any other name in a tree object means that the store is damaged.
pub(super) fn is_entry_name(name: &[u8]) -> bool {
    !matches!(name, b"" | b"." | b".." | b".git") && !name.contains(&b'/') && !name.contains(&0)
}

/// `parent/name`; just `name` at the root.
pub(super) fn join(parent: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(parent.len() + 1 + name.len());
    if !parent.is_empty() {
        path.extend_from_slice(parent);
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

#[cfg(test)]
mod tests {
    use super::{display_path, is_selected};

    #[test]
    fn different_names_are_shown_differently() {
        let table: [(&[u8], &str); 9] = [
            (b"src/main.rs", "src/main.rs"),
            ("größe/文件".as_bytes(), "größe/文件"),
            (b"a\nb\tc\rd", "a\\nb\\tc\\rd"),
            (b"a\\nb", "a\\\\nb"),
            (b"\x1b[31mred", "\\x1b[31mred"),
            (b"\xff\xfe-rf", "\\xff\\xfe-rf"),
            (b"-rf", "-rf"),
            ("a\u{202e}b\u{2066}".as_bytes(), "a\\u{202e}b\\u{2066}"),
            ("a\u{9b}b".as_bytes(), "a\\u{9b}b"),
        ];
        for (path, expect) in table {
            assert_eq!(display_path(path), expect);
        }
    }

    #[test]
    fn a_selection_contains_paths_and_everything_below_them() {
        let paths = ["src".to_owned(), "a\\nb".to_owned(), "docs/".to_owned()];
        let table: [(&[u8], bool); 6] = [
            (b"src", true),
            (b"src/a/b.rs", true),
            (b"src2/a", false),
            (b"a\nb", true),
            (b"docs/x", true),
            (b"other", false),
        ];
        for (path, expect) in table {
            assert_eq!(is_selected(path, &paths), expect, "{}", display_path(path));
        }
    }
}
