//! Excerpts of outputs: limits, whole lines and characters, no information lost at the cut.

use proptest::prelude::*;

use super::{CommandRun, Excerpt, GAP, HEAD_BYTES, KEPT_BYTES, TAIL_BYTES, readable};
use loopkeeper_text::redact::Redactor;

fn of_text(text: &str) -> Excerpt {
    Excerpt::of_text(text, 0, &Redactor::new([]))
}

#[test]
fn short_outputs_stay_whole() {
    let run = CommandRun {
        stdout: b"\x1b[32mok\x1b[0m".to_vec(),
        stderr: b"warned\r\n".to_vec(),
        ..CommandRun::default()
    };
    let expect = Excerpt { head: "ok\nwarned\n".to_owned(), ..Excerpt::default() };
    assert_eq!(Excerpt::of(&run, &Redactor::new([])), expect);
}

#[test]
fn long_outputs_keep_whole_lines_of_both_ends() {
    let text = (0..5000).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat();
    let Excerpt { head, tail, left_out } = of_text(&text);
    assert_eq!(left_out, Some((text.len() - head.len() - tail.len()) as u64));
    assert!(head.starts_with("line 0\n") && head.ends_with('\n') && head.len() > HEAD_BYTES - 20);
    assert!(tail.starts_with("line ") && tail.ends_with("line 4999\n") && tail.len() > TAIL_BYTES - 20);
}

#[test]
fn head_and_tail_of_an_output_that_fits_have_no_gap() {
    let text = "a line\n".repeat(KEPT_BYTES / 7 - 2);
    let Excerpt { head, tail, left_out } = of_text(&text);
    assert_eq!((head + &tail, left_out), (text, Some(0)));
}

#[test]
fn an_endless_line_is_cut_at_a_character_boundary() {
    let Excerpt { head, tail, left_out } = of_text(&"é".repeat(20_000));
    assert!(head.starts_with("éé") && tail.ends_with("éé") && left_out == Some(0));
    let whole = head + &tail;
    assert!(whole.contains(" bytes …] é") && whole.len() > KEPT_BYTES - 40 && whole.len() <= KEPT_BYTES);
}

#[test]
fn a_long_line_does_not_displace_the_others() {
    let dump = format!("{{\"data\": \"{}\"}}\n", "x".repeat(100_000));
    let text =
        ["src/a.rs:3: first\n", &dump, "src/a.rs:9: assertion failed\n", &dump, &dump, "1 failed\n"].concat();
    let Excerpt { head, tail, .. } = of_text(&text);
    assert!(head.starts_with("src/a.rs:3: first\n{"), "{head}");
    assert!((head + &tail).contains("\nsrc/a.rs:9: assertion failed\n"), "{tail}");
    assert!(tail.ends_with("xx\"}\n1 failed\n"), "{tail}");
}

#[test]
fn overwritten_progress_output_is_dropped() {
    let check = |raw: &str, expect: &str| assert_eq!(readable(raw), expect, "{raw:?}");
    check("one\r\ntwo\r\n", "one\ntwo\n");
    check("one\r\r\n\r\ntwo", "one\n\ntwo");
    check(" 1% of 3 MB\r 50% of 3 MB\r100% of 3 MB\ndone\n", "100% of 3 MB\ndone\n");
    check("\x1b[2K\r⠙ wait\x1b[2K\r⠹ wait\x1b[2K\rdone\n", "⠹ wait\ndone\n");
    // Lines that end in carriage returns alone stay.
    check("one\rtwo\rthree", "one\ntwo\nthree");
    let bar =
        (0..5000).map(|n| format!("\r{n:>4}/5000 [{}]", "#".repeat(n / 500))).collect::<Vec<_>>().concat();
    check(&format!("begin{bar}\nassertion failed\n"), "begin\n4999/5000 [#########]\nassertion failed\n");
    let names =
        (0..5000).map(|n| format!("\rBuilding {}", "ab".repeat(n % 7 + 1))).collect::<Vec<_>>().concat();
    assert!(readable(&names).lines().count() <= 20);
}

#[test]
fn dropped_output_is_counted_where_the_gap_is_omitted() {
    let half = "a line\n".repeat(2_000);
    let of = |raw: &str| Excerpt::of_text(raw, 1_000_000, &Redactor::new([])).left_out;
    let gap = of(&format!("{half}{GAP}\n{half}")).expect("more than fits");
    assert!(gap > 1_000_000 + half.len() as u64, "{gap}");
    assert!(of(&format!("{GAP}\n{half}{half}")).is_some_and(|it| it < 1_000_000));
}

#[test]
fn any_bytes_are_read() {
    let run = CommandRun { both: b"caf\xe9 \xff\xfe \x00ok\n".to_vec(), ..CommandRun::default() };
    assert_eq!(Excerpt::of(&run, &Redactor::new([])).head, "caf\u{fffd} \u{fffd}\u{fffd} ok\n");
    let cjk = "失敗した\n".repeat(3_000);
    let Excerpt { head, tail, .. } = of_text(&cjk);
    assert!(head.starts_with("失敗した\n") && head.ends_with('\n') && tail.starts_with("失敗した\n"));
}

#[test]
fn a_secret_across_the_cut_does_not_show() {
    let secret = "very-secret-value";
    let redactor = Redactor::new([secret.to_owned()]);
    let text = format!("{}{secret}{}", "x".repeat(HEAD_BYTES - 5), "y".repeat(TAIL_BYTES * 2));
    let run = CommandRun { stdout: text.into_bytes(), ..CommandRun::default() };
    let Excerpt { head, tail, .. } = Excerpt::of(&run, &redactor);
    assert!(!head.contains("very") && !tail.contains("value"));
}

proptest! {
    #[test]
    fn caps_hold_and_the_ends_are_the_ends(lines in prop::collection::vec("\\PC{0,300}", 0..80)) {
        let text = readable(&lines.join("\n"));
        let Excerpt { head, tail, .. } = of_text(&text);
        prop_assert!(head.len() <= HEAD_BYTES && tail.len() <= TAIL_BYTES);
        prop_assert!(text.starts_with(&head) && text.ends_with(&tail));
        prop_assert!(head.len() + tail.len() <= text.len());
    }
}
