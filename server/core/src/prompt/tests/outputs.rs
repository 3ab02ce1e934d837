//! Outputs of failing checks in a prompt: locations of failures first, then the output with its end kept.

use super::{PromptFixture, command};
use crate::check::counts::fixture;
use crate::check::excerpt::Excerpt;
use crate::check::judge::judge;
use crate::check::{CheckResult, CommandExit, CommandRun, Location, Status};
use crate::journal::Role;
use crate::prompt::MAX_BYTES;
use loopkeeper_task::criterion::Criterion;
use loopkeeper_text::redact::Redactor;

/// The result of `cargo test` with a page of warnings before three failures, as it is judged.
fn cargo_result(name: &str) -> CheckResult {
    let run = CommandRun {
        ending: CommandExit::Exited(101),
        both: fixture("cargo_warnings").into_bytes(),
        ..CommandRun::default()
    };
    judge(
        &Criterion::new(name, name, Some(command("cargo test"))),
        &run,
        std::path::Path::new("/"),
        &Redactor::new([]),
    )
}

#[test]
fn a_page_of_warnings_hides_no_failure() {
    let assertions =
        ["sums must add up, left: 0, right: 4", "left: \"#7\", right: \"№7\"", "mean is wrong: 4"];
    let fixture = |checks: usize| {
        (0..checks).fold(PromptFixture::new(), |mut fixture, n| {
            let name = format!("tests {n}");
            fixture = fixture.with(&name, Some(command("cargo test")), Role::Goal, None);
            let result = cargo_result(&name);
            fixture.results.insert(result.criterion.clone(), result);
            fixture
        })
    };
    let text = fixture(1).build();
    let (_, rest) = text.split_once("Where it fails:\n\n").expect("places");
    let (places, output) = rest.split_once("Its output:\n\n").expect("the output");
    assert!(assertions.iter().all(|it| places.contains(it)) && !places.contains("unused"), "{places}");
    assert!(
        output.contains("Compiling ledger") && output.contains("\ntest result: FAILED. 1 passed; 3 failed")
    );
    assert!(output.contains("panicked at src/lib.rs:79:9:\nassertion `left == right` failed"), "{output}");
    // More than fits: each of them still shows its location and its end.
    let text = fixture(90).build();
    assert!(text.len() <= MAX_BYTES && text.len() > MAX_BYTES - 90 * 300, "{}", text.len());
    for it in assertions.iter().chain(&["test result: FAILED. 1 passed; 3 failed"]) {
        assert!(text.matches(it).count() >= 90, "{it}");
    }
}

#[test]
fn the_end_of_every_output_is_there_to_its_last_8_kib() {
    let line = |n: u32| format!("line {n:05}\n");
    let long = (0..20_000).map(line).collect::<Vec<_>>().concat();
    let Excerpt { head, tail, left_out } = Excerpt::of_text(&long, 0, &Redactor::new([]));
    let mut fixture =
        PromptFixture::new().with("a", command("a"), Role::Goal, Some((Status::Fail, "exit 1", "")));
    fixture.results.values_mut().for_each(|it| {
        (it.head, it.tail, it.left_out) = (head.clone(), tail.clone(), left_out);
        it.locations = (1..=50)
            .map(|n| Location {
                file: "a.rs".into(),
                line: n,
                message: "x".repeat(200),
                ..Location::default()
            })
            .collect();
    });
    let text = fixture.build();
    assert!(
        text.contains("```\nline 00000\n") && text.contains("KiB of the output omitted here …]\n"),
        "{text}"
    );
    assert!(text.contains(&long[long.len() - 8_184..]) && text.contains("\nand 31 more places\n"), "{text}");
}

#[test]
fn outputs_are_shortened_before_the_task_is() {
    let mut fixture = PromptFixture { task: format!("TASK {}", "t".repeat(150_000)), ..PromptFixture::new() };
    for n in 0..60 {
        let long = format!("{}END{n}\n", "x".repeat(6_000));
        fixture =
            fixture.with(&format!("c{n}"), command("c"), Role::Goal, Some((Status::Fail, "exit 1", &long)));
    }
    let text = fixture.build();
    assert!(
        text.len() <= MAX_BYTES && text.contains(&fixture.task) && text.contains("END59"),
        "{}",
        text.len()
    );

    fixture.task = format!("TASK {}", "ü".repeat(200_000));
    let text = fixture.build();
    assert!(text.len() <= MAX_BYTES && text.starts_with("TASK ü"));
    assert!(text.contains("read it in its file") && text.contains("### c59") && !text.contains("END59"));
}
