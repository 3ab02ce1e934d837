//! The shown part of a result within a number of bytes.

use proptest::prelude::*;

use crate::check::excerpt::Excerpt;
use crate::check::{CheckResult, HEAD_BYTES, Location, Status, TAIL_BYTES};
use loopkeeper_task::criterion::CriterionId;
use loopkeeper_text::redact::Redactor;

fn with_output(output: &str) -> CheckResult {
    let Excerpt { head, tail, left_out } = Excerpt::of_text(output, 0, &Redactor::new([]));
    CheckResult { head, tail, left_out, ..failed() }
}

fn failed() -> CheckResult {
    CheckResult::new(CriterionId("0123456789".to_owned()), Status::Fail, "exit 1")
}

fn place(line: u32, message: &str, warning: bool) -> Location {
    Location { file: "a.rs".to_owned(), line, message: message.to_owned(), warning, ..Location::default() }
}

#[test]
fn failures_come_before_bare_locations_and_warnings() {
    let check = |locations: &[Location], expect: &[&str]| {
        let result = CheckResult { locations: locations.to_vec(), ..failed() };
        assert_eq!(result.failure_lines(3, 1000), expect, "{locations:?}");
        assert_eq!(CheckResult { status: Status::Pass, ..result }.failures(), [] as [&Location; 0]);
    };
    check(&[], &[]);
    check(&[place(3, "old", true), place(9, "", false), place(4, "no", false)], &["a.rs:4: no", "a.rs:9"]);
    check(&[place(3, "old", true)], &["a.rs:3: old"]);
    let many: Vec<_> = (1..=5).map(|line| place(line, "no", false)).collect();
    check(&many, &["a.rs:1: no", "a.rs:2: no", "a.rs:3: no", "and 2 more places"]);
    let long =
        CheckResult { locations: vec![place(1, "no", false), place(2, &"x".repeat(99), false)], ..failed() };
    assert_eq!(long.failure_lines(3, 40), ["a.rs:1: no", "and 1 more place"]);
}

#[test]
fn the_end_comes_first_and_then_the_beginning() {
    let lines =
        |from: u32, to: u32| (from..to).map(|n| format!("line {n:04}\n")).collect::<Vec<_>>().concat();
    let short = with_output(&lines(0, 50));
    assert_eq!(short.output_within(1000), lines(0, 50));
    // 10 bytes a line.
    assert_eq!(
        short.output_within(264),
        "[… 300 B of the output omitted here …]\n".to_owned() + &lines(30, 50)
    );
    assert_eq!(short.output_within(0), "");
    let long = with_output(&lines(0, 5000));
    let whole = long.output_within(HEAD_BYTES + TAIL_BYTES + 64);
    let head = lines(0, 409);
    let tail = lines(4181, 5000);
    assert_eq!(whole, format!("{head}[… 37 KiB of the output omitted here …]\n{tail}"));
    let less = long.output_within(TAIL_BYTES + 164);
    assert_eq!(less, format!("{}[… 41 KiB of the output omitted here …]\n{tail}", lines(0, 10)));
}

#[test]
fn results_of_earlier_versions_are_shown_too() {
    let old = CheckResult { head: "first\n".to_owned(), tail: "last\n".to_owned(), ..failed() };
    assert_eq!(old.output_within(1000), "first\n[… part of the output omitted here …]\nlast\n");
    assert_eq!(CheckResult { tail: String::new(), ..old }.output_within(1000), "first\n");
}

#[test]
fn the_last_lines_are_not_blank() {
    let result = with_output("one\n\ntwo  \n\n\nthree\n\n");
    assert_eq!(result.last_lines(2), ["two", "three"]);
    assert_eq!(result.last_lines(9), ["one", "two", "three"]);
    assert_eq!(with_output(&format!("{}last\n", "line\n".repeat(900))).last_lines(1), ["last"]);
}

proptest! {
    #[test]
    fn the_shown_lines_fit_the_limit(lines in prop::collection::vec("\\PC{0,200}", 0..120), limit in 0usize..20_000) {
        let output = lines.join("\n");
        let shown = with_output(&output).output_within(limit);
        prop_assert!(shown.len() <= limit, "{} of {limit}", shown.len());
        if output.len() <= limit.min(HEAD_BYTES) {
            prop_assert_eq!(shown, loopkeeper_text::sanitize::text(&output));
        }
    }
}
