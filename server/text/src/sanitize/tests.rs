//! Sanitiser tests: input that could deceive a terminal, an editor or a reader.

use proptest::prelude::*;

use super::{LINE_CHARS, coloured, is_invisible, line, line_within, strip_escapes, text, visible};

#[test]
fn text_keeps_what_is_printed() {
    let check = |input: &str, expect: &str| assert_eq!(text(input), expect, "{input:?}");
    check("plain\n\ttabs stay", "plain\n\ttabs stay");
    check("\x1b[31mred\x1b[0m", "red");
    check("\x1b[1;38;5;196mdeep\x1b[39;49;00m", "deep");
    check("ok\x1b(B\x1b[m.", "ok.");
    check("\u{9b}31mred", "red");
    check("\x1b]8;;http://evil.example/\x1b\\link\x1b]8;;\x1b\\", "link");
    check("\x1b]52;c;ZXZpbA==\x07after", "after");
    check("\x1bP1$r0m\x1b\\after", "after");
    check("\u{9d}0;title\u{9c}after", "after");
    check("\x1b]0;no end\nnext", "0;no end\nnext");
    check("\x1b]0;no end", "0;no end");
    check("\x1b[31", "");
    check("\x1b", "");
    check("a\x1b\x1b[31mb", "ab");
    check("one\r\ntwo\r\r\nthree", "one\ntwo\nthree");
    check("10%\r20%\rdone\n", "10%\n20%\ndone\n");
    check("bell\x07 back\x08 nul\0 del\x7f", "bell back nul del");
    check("user\u{202e}gnp.exe", "usergnp.exe");
    check("ze\u{200b}ro\u{feff} wi\u{2060}dth", "zero width");
    check("tag\u{e0041}s", "tags");
    check("one\u{2028}two", "one\ntwo");
    check("完成 ✓ é ❤\u{fe0f}", "完成 ✓ é ❤\u{fe0f}");
}

#[test]
fn colours_are_kept_and_nothing_else() {
    let check = |input: &str, expect: &str| assert_eq!(coloured(input), expect, "{input:?}");
    check("plain\n\ttabs\n", "plain\n\ttabs\n");
    check("\x1b[31mred\x1b[0m\n", "\x1b[31mred\x1b[0m\x1b[0m\n");
    check("\x1b[1;38;5;8mgrey", "\x1b[1;38;5;8mgrey\x1b[0m");
    check("\x1b[31mred\nnext", "\x1b[31mred\x1b[0m\nnext");
    check("\x1b[8mhidden", "hidden");
    check("\x1b[0;08mhidden", "hidden");
    check("\x1b[2J\x1b[H\x1b[?25lclear\x1b[6n", "clear");
    check("\x1b]8;;http://evil.example/\x1b\\link\x1b]8;;\x1b\\", "link");
    check("\x1b]0;title\x07\x1b[32mok", "\x1b[32mok\x1b[0m");
    check("\x1b]52;c;\x1b[31mx\x07after", "52;c;\x1b[31mxafter\x1b[0m");
    check("\x1b[31", "");
    check("10%\r20%\n", "10%\n20%\n");
    check("one\r\ntwo\r\r\nthree", "one\ntwo\nthree");
    check("\x1b[31m10%\r20%\n", "\x1b[31m10%\x1b[0m\n20%\n");
    check("\x1b[31mone\u{2028}two", "\x1b[31mone\x1b[0m\ntwo");
    check("user\u{202e}gnp.exe\u{9b}31m", "usergnp.exe");
    check(&format!("\x1b[{}mx", "1;".repeat(99)), "x");
}

proptest! {
    #[test]
    fn coloured_text_without_its_colours_is_sanitised(raw in ".*") {
        let shown = coloured(&raw);
        prop_assert_eq!(text(&shown.replace('\n', "")), text(&shown).replace('\n', ""));
        let styles = shown.matches('\x1b').count();
        prop_assert_eq!(styles, shown.split("\x1b[").skip(1).filter(|it| it.trim_start_matches(|c| matches!(c, '0'..='9' | ';')).starts_with('m')).count());
    }
}

#[test]
fn lines_are_folded_and_cut() {
    let check = |input: &str, expect: &str| assert_eq!(line_within(input, 6), expect, "{input:?}");
    check("abc", "abc");
    check(" a\n\tb  c ", "a b c");
    check("abcdef", "abcdef");
    check("abcdefg", "abcde…");
    check("abcd efgh", "abcd…");
    check("äöüßäöü", "äöüßä…");
    assert_eq!(line(&"x".repeat(LINE_CHARS + 1)).chars().count(), LINE_CHARS);
}

#[test]
fn visible_hides_nothing() {
    let check = |input: &str, expect: &str| assert_eq!(visible(input), expect, "{input:?}");
    check("cargo test -- --nocapture", "cargo test -- --nocapture");
    check("ls\x1b[2K", "ls^[[2K");
    check("a\r\nb\tc\x7f", "a^M^Jb^Ic^?");
    check("\u{202e}txt", "\\u{202e}txt");
    check("a\u{a0}b\u{3000}c\u{200b}", "a\\u{a0}b\\u{3000}c\\u{200b}");
    check("\u{85}\u{9b}", "\\u{85}\\u{9b}");
    check("测试 é", "测试 é");
}

#[test]
fn stripping_keeps_everything_but_the_sequences() {
    let check = |input: &str, expect: &str| assert_eq!(strip_escapes(input), expect, "{input:?}");
    check("a\tb\x1b[0m\u{200b}c\0", "a\tb\u{200b}c\0");
    check("\x1b[31merr\x1b[1mor\x1b[0m", "error");
}

/// Text rich in the characters that the sanitiser handles.
fn hostile() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("\x1b".to_owned()),
        Just("\x1b[".to_owned()),
        Just("\x1b]8;;".to_owned()),
        Just("\x1bP".to_owned()),
        Just("\x1b\\".to_owned()),
        Just("\x07".to_owned()),
        Just("\r".to_owned()),
        Just("\n".to_owned()),
        "[\u{80}-\u{9f}]",
        "[\u{200b}-\u{206f}]",
        "[ -~]{0,4}",
        any::<char>().prop_map(|c| c.to_string()),
    ];
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn text_is_printable_and_idempotent(input in hostile()) {
        let once = text(&input);
        prop_assert!(once.chars().all(|c| matches!(c, '\n' | '\t') || !(c.is_control() || is_invisible(c))));
        prop_assert_eq!(text(&once), once);
    }

    #[test]
    fn line_is_one_short_line_and_idempotent(input in hostile(), most in 1usize..20) {
        let once = line_within(&input, most);
        prop_assert!(!once.contains(['\n', '\t', '\r']));
        prop_assert!(once.chars().count() <= most);
        prop_assert_eq!(line_within(&once, most), once);
    }

    #[test]
    fn visible_has_nothing_to_hide(input in hostile()) {
        let once = visible(&input);
        prop_assert!(once.chars().all(|c| !(c.is_control() || is_invisible(c))));
        prop_assert!(once.chars().count() >= input.chars().count());
        prop_assert_eq!(visible(&once), once);
    }

    #[test]
    fn stripping_is_idempotent(input in hostile()) {
        let once = strip_escapes(&input);
        prop_assert_eq!(strip_escapes(&once), once);
    }
}
