//! Numbers over the rounds of a loop: the status of each round and its fact.

use loopkeeper_task::criterion::{Criterion, CriterionId};

use super::{NumberHistory, judge_history, note_without_loop};
use crate::check::{CheckResult, Status};
use loopkeeper_text::language::Language;

/// A criterion with these attributes and spans behind its command.
fn criterion(rules: &str) -> Criterion {
    loopkeeper_task::parse_inline_task("", &[format!("coverage: `$ cov` {rules}")]).criteria.remove(0)
}

fn result(status: Status, number: Option<f64>) -> CheckResult {
    let fact = number.map_or("exit 1".to_owned(), |it| it.to_string());
    CheckResult { number, ..CheckResult::new(CriterionId("c".to_owned()), status, fact) }
}

/// Rounds of a loop as numbers (`-`: the check failed without one, `!`: with a number below its threshold), and the
/// status and fact of each.
#[track_caller]
fn check(rules: &str, rounds: &str, expect: &[&str]) {
    let criterion = criterion(rules);
    let mut history: Option<NumberHistory> = None;
    let facts: Vec<String> = rounds
        .split_whitespace()
        .map(|round| {
            let status = if round.starts_with(['-', '!']) { Status::Fail } else { Status::Pass };
            let mut result = result(status, round.trim_start_matches('!').parse().ok());
            judge_history(&criterion, history, &mut result);
            history = Some(match history {
                None => NumberHistory::starting(&result),
                Some(mut it) => {
                    it.add(&result);
                    it
                }
            });
            format!("{} {}", result.status.word(), result.fact)
        })
        .collect();
    assert_eq!(facts, expect, "{rules}: {rounds}");
}

#[test]
fn not_falling_compares_with_the_highest_number() {
    check("(not falling)", "74", &["pass 74"]);
    check("(not falling)", "74 74", &["pass 74", "pass 74, baseline 74"]);
    check("(not falling)", "74 73.9", &["pass 74", "fail 73.9, must not fall below 74 (baseline)"]);
    check(
        "(not falling)",
        "74 76.4 75 76.4",
        &[
            "pass 74",
            "pass 76.4, baseline 74",
            "fail 75, must not fall below 76.4 (best so far)",
            "pass 76.4, baseline 74",
        ],
    );
    // Below the threshold at the start; what failed sets no mark.
    check(
        "`>= 80` (not falling)",
        "!70 !78 80 79.5",
        &["fail 70", "fail 78", "pass 80, baseline 70", "fail 79.5, must not fall below 80 (best so far)"],
    );
    check("(not falling)", "- 76", &["fail exit 1", "fail 76, no baseline number to compare with"]);
    check("(not falling)", "74 - 74", &["pass 74", "fail exit 1", "pass 74, baseline 74"]);
}

#[test]
fn rising_needs_a_higher_number() {
    check(
        "(rising)",
        "74 74 76 75 77",
        &[
            "fail 74, must rise above 74 (baseline)",
            "fail 74, must rise above 74 (baseline)",
            "pass 76, baseline 74",
            "fail 75, must not fall below 76 (best so far)",
            "pass 77, baseline 74",
        ],
    );
    check(
        "(rising)",
        "74 70",
        &["fail 74, must rise above 74 (baseline)", "fail 70, must rise above 74 (baseline)"],
    );
}

#[test]
fn compared_with_the_baseline() {
    check("`== baseline`", "5 5 6", &["pass 5", "pass 5, baseline 5", "fail 6, needs == 5 (baseline)"]);
    check("`<= baseline`", "5 3 4", &["pass 5", "pass 3, baseline 5", "pass 4, baseline 5"]);
    check("`< baseline`", "5 4", &["fail 5, needs < 5 (baseline)", "pass 4, baseline 5"]);
    check("`>= baseline`", "- 4", &["fail exit 1", "fail 4, no baseline number to compare with"]);
}

#[test]
fn a_rollback_leaves_the_baseline() {
    let mut history = NumberHistory::starting(&result(Status::Pass, Some(74.0)));
    history.add(&result(Status::Pass, Some(90.0)));
    history.forget_best();
    let mut later = result(Status::Pass, Some(76.0));
    judge_history(&criterion("(not falling)"), Some(history), &mut later);
    assert_eq!((later.status, later.fact.as_str()), (Status::Pass, "76, baseline 74"));
}

#[test]
fn outside_a_loop_only_the_threshold_decides() {
    let check = |rules, status, expect: &str| {
        let mut result = result(status, Some(81.0));
        note_without_loop(&criterion(rules), &mut result);
        assert_eq!((result.status, result.fact.as_str()), (status, expect));
    };
    check("(rising)", Status::Pass, "81, no loop: nothing to compare with");
    check("`>= 80` (not falling)", Status::Pass, "81, no loop: nothing to compare with");
    check("`>= 90` (not falling)", Status::Fail, "81");
    check("`>= 80`", Status::Pass, "81");
}

#[test]
fn facts_are_in_the_language_of_the_process() {
    Language::SimplifiedChinese.during(|| {
        check(
            "(rising)",
            "60 60 70",
            &["fail 60，必须高于 60（基准）", "fail 60，必须高于 60（基准）", "pass 70，基准 60"],
        );
        check(
            "(not falling)",
            "60 70 65",
            &["pass 60", "pass 70，基准 60", "fail 65，不得低于 70（目前最佳）"],
        );
    });
}
