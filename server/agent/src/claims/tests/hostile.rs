//! Any text at all: bounded, total, and no slower than its length.

use std::fmt::Write as _;

use proptest::prelude::{any, prop, proptest};

use super::claims;
use crate::claims::{Claims, read};

fn assert_bounded(claims: &Claims) {
    assert!(claims.indicators.len() <= 26 && claims.not_yet.len() <= 26);
    let mut lines = claims.indicators.iter().chain(&claims.not_yet).map(|it| &it.excerpt);
    assert!(lines.all(|it| it.chars().count() <= 120));
    assert!(claims.decisions.len() <= 16 && claims.notes.len() <= 9);
    assert!(claims.question.as_ref().is_none_or(|it| it.chars().count() <= 500));
    assert!(claims.status.as_ref().is_none_or(|it| it.others.len() <= 16));
    assert!(claims.progress.is_none_or(|it| it <= 100));
    claims.report_rows();
    claims.contradiction();
}

#[test]
fn repetitive_messages_stay_bounded() {
    const PIECES: &[&str] = &[
        "done ",
        "`",
        "``` ",
        "```\n",
        "{",
        "{\n",
        "{\"a\":\n",
        "---RALPH_STATUS---\n",
        "RALPH_STATUS:\n",
        "'a ",
        "“",
        "\"",
        "not ",
        "all tests ",
        "all _ ",
        "? ",
        "should i ",
        "完成",
        "没有",
        "80% ",
        "\n",
        "EXIT_SIGNAL: true\n",
        "<promise>",
        "DECISION: a\n",
        "Learnings:\n- a\n",
        "- [ ] done\n",
        "STATUS: COMPLETE\n",
        "> ",
        "not, ",
        "all the big red tests ",
        "``x` ",
        "* ",
        "[{\"exit_signal\":",
        "{\"exit_signal\":true}\n",
        "\u{301}",
        "“ “ ",
    ];
    for piece in PIECES {
        let text = piece.repeat(16 * 1024 / piece.len());
        assert_bounded(&claims(&text));
    }
}

#[test]
fn many_different_phrases_stay_bounded() {
    let words: Vec<(String, u8)> = (0..300).map(|it| (format!("word{it}"), 90)).collect();
    let mut text = String::new();
    for it in 0..300 {
        let _ = writeln!(text, "word{it}.");
    }
    assert_bounded(&read(&text, "COMPLETE", &words));
}

proptest! {
    #[test]
    fn total_on_any_text(text in any::<String>(), promise in any::<String>(), word in any::<String>(), percent in any::<u8>()) {
        assert_bounded(&read(&text, &promise, &[(word, percent)]));
    }

    #[test]
    fn total_on_likely_text(parts in prop::collection::vec(prop::sample::select(vec![
        "done", " ", "\n", "not", "`", "```", "---RALPH_STATUS---", "---END_RALPH_STATUS---", "EXIT_SIGNAL: true",
        "STATUS: COMPLETE", "{\"exit_signal\":true}", "> ", "    ", "完成", "。", "？", "'", "\"", "“", "é", "\r\n", ": ",
        "80%", "- ", "DECISION: x", "Should I?", "all tests pass", "|", "…",
    ]), 0..40)) {
        let text = parts.concat();
        let claims = claims(&text);
        assert_bounded(&claims);
        // The result depends on the text alone.
        assert_eq!(claims, super::claims(&text));
    }

    #[test]
    fn nothing_in_a_fence_beside_other_lines_claims(inside in "[a-z]{1,20}") {
        let fence = "`".repeat(20);
        let text = format!(
            "{fence}\n{inside}\n---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---\n\
             All tests pass. Done.\nDECISION: {inside}\nShould I go on?\n{fence}\n"
        );
        assert_eq!(claims(&text), Claims::default());
    }
}
