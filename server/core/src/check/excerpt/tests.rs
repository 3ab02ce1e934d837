//! Cutting outputs: caps, whole lines and characters, nothing hidden by the cut.

use proptest::prelude::*;

use super::{CommandRun, Excerpt, HEAD_BYTES, TAIL_BYTES, of_text};
use crate::redact::Redactor;

#[test]
fn short_outputs_stay_whole() {
    let run = CommandRun {
        stdout: b"\x1b[32mok\x1b[0m".to_vec(),
        stderr: b"warned\r\n".to_vec(),
        ..CommandRun::default()
    };
    let expect = Excerpt { head: "ok\nwarned\n".to_owned(), tail: String::new() };
    assert_eq!(Excerpt::of(&run, &Redactor::new([])), expect);
}

#[test]
fn long_outputs_keep_whole_lines_of_both_ends() {
    let text = (0..5000).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat();
    let Excerpt { head, tail } = of_text(&text);
    assert!(head.starts_with("line 0\n") && head.ends_with('\n') && head.len() > HEAD_BYTES - 20);
    assert!(tail.starts_with("line ") && tail.ends_with("line 4999\n") && tail.len() > TAIL_BYTES - 20);
}

#[test]
fn one_endless_line_is_cut_at_characters() {
    let Excerpt { head, tail } = of_text(&"é".repeat(20_000));
    assert_eq!((head.len(), tail.len()), (HEAD_BYTES, TAIL_BYTES));
}

#[test]
fn a_secret_across_the_cut_does_not_show() {
    let secret = "very-secret-value";
    let redactor = Redactor::new([secret.to_owned()]);
    let text = format!("{}{secret}{}", "x".repeat(HEAD_BYTES - 5), "y".repeat(TAIL_BYTES * 2));
    let run = CommandRun { stdout: text.into_bytes(), ..CommandRun::default() };
    let Excerpt { head, tail } = Excerpt::of(&run, &redactor);
    assert!(!head.contains("very") && !tail.contains("value"));
}

proptest! {
    #[test]
    fn caps_hold_and_the_ends_are_the_ends(lines in prop::collection::vec("\\PC{0,300}", 0..80)) {
        let text = lines.join("\n");
        let Excerpt { head, tail } = of_text(&text);
        prop_assert!(head.len() <= HEAD_BYTES && tail.len() <= TAIL_BYTES);
        prop_assert!(text.starts_with(&head) && text.ends_with(&tail));
        prop_assert!(head.len() + tail.len() <= text.len());
    }
}
