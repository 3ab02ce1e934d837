use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::packed_iterations::BLOCK_ROWS;
use super::{Iteration, IterationHistory, MAX_DECISIONS};
use crate::check::Status;
use crate::decide::sim::{Sim, Turn, criterion, spec};
use crate::journal::Claim;
use loopkeeper_agent::errors::Fingerprint;
use loopkeeper_agent::{AgentEnding, ProviderClass, ProviderError};
use loopkeeper_task::criterion::CriterionId;
use loopkeeper_text::moment::Moment;

/// More iterations than are kept as rows.
const MANY: usize = 3 * BLOCK_ROWS;

fn id(name: &str) -> CriterionId {
    CriterionId(name.to_owned())
}

/// A real row, without what is removed from old rows.
fn real_row() -> Iteration {
    let spec = spec(vec![criterion("tests pass", "make test")]);
    let act = Turn { changed: vec!["src/a.rs", ".envrc"], cost: 1_200, ..Turn::new("f") };
    let row = Sim::new(spec, "f", vec![act]).run().state.history[0].clone();
    Iteration { errors: Vec::new(), facts: Vec::new(), ..row }
}

/// Rows that differ in everything that figures contain.
fn rows(count: usize) -> Vec<Iteration> {
    let statuses = [Status::Pass, Status::Fail, Status::TimedOut];
    let endings = [AgentEnding::Exited, AgentEnding::TimedOut, AgentEnding::Held];
    let real = real_row();
    let row = |at: usize| {
        let number = at as u32 + 1;
        let mut row = Iteration { number, ..real.clone() };
        row.started_at = Moment { wall: 1_790_000_000_000 + 60_000 * at as u64, awake: 60_000 * at as u64 };
        row.ended_at = row.started_at.plus_ms(at as u64);
        (row.duration_ms, row.tokens, row.output_bytes) = (at as u64, Some(at as u64 * 7), at as u64 * 3);
        (row.items_done, row.denials, row.test_only) = (number % 5, number % 2, number.is_multiple_of(3));
        row.ending = Some(endings[at % 3]);
        row.claim = (at.is_multiple_of(4)).then_some(Claim::Promise);
        row.row = vec![(id("a"), statuses[at % 3]), (id("b"), Status::Fail)];
        row.failing = (!at.is_multiple_of(3)).then(|| Fingerprint(format!("{:012x}", at / 7)));
        row.claims.decisions = vec![format!("decision {}", at % 30)];
        let error = ProviderError {
            class: ProviderClass::Crash,
            message: String::new(),
            status: None,
            resets_at: None,
        };
        row.error = (at.is_multiple_of(5)).then_some(error);
        row
    };
    (0..count).map(row).collect()
}

/// The same rows with and without packing.
fn histories(count: usize) -> (IterationHistory, IterationHistory) {
    let (mut packed, mut plain) = (IterationHistory::default(), IterationHistory::default());
    for row in rows(count) {
        packed.push(row.clone());
        plain.push(row);
        packed.pack_oldest(BLOCK_ROWS);
    }
    (packed, plain)
}

#[track_caller]
fn assert_same(packed: &IterationHistory, plain: &IterationHistory) {
    assert_eq!(packed.len(), plain.len());
    let whole = |it: &IterationHistory| it.iter().map(std::borrow::Cow::into_owned).collect::<Vec<_>>();
    assert_eq!(whole(packed), whole(plain));
    for (packed, plain) in packed.outlines().zip(plain.outlines()) {
        assert_eq!(packed.figures, plain.figures);
        assert_eq!((packed.results, packed.failing), (plain.results, plain.failing));
    }
    let decisions = |it: &IterationHistory| {
        let mut seen: Vec<String> = Vec::new();
        for decision in it.decisions().map(str::to_owned) {
            if !seen.contains(&decision) {
                seen.push(decision);
            }
        }
        seen.truncate(MAX_DECISIONS);
        seen
    };
    assert_eq!(decisions(packed), decisions(plain));
    for name in ["a", "b", "c"] {
        assert_eq!(packed.has_passed(&id(name)), plain.has_passed(&id(name)), "{name}");
    }
    assert_eq!(packed.autorun_files(), plain.autorun_files());
}

#[test]
fn packing_changes_no_row() {
    let (packed, plain) = histories(MANY);
    assert!(packed.recent().len() < 2 * BLOCK_ROWS);
    assert_same(&packed, &plain);
    assert!(packed.has_agent(&real_row().agent) && !packed.has_agent("another"));
}

#[test]
fn rows_are_found_by_index_and_by_number() {
    let (packed, plain) = histories(MANY);
    for first in [0, 1, BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 5, MANY - 1, MANY, MANY + 9] {
        let numbers = |it: &IterationHistory| it.rows_from(first).map(|it| it.number).collect::<Vec<_>>();
        assert_eq!(numbers(&packed), numbers(&plain), "{first}");
        let backwards = packed.rows_from(first).rev().map(|it| it.number);
        assert!(backwards.eq(numbers(&plain).into_iter().rev()), "{first}");
    }
    for number in [0, 1, 64, 65, 192, 193] {
        assert_eq!(packed.find(number), plain.find(number), "{number}");
    }
}

#[test]
fn a_rollback_and_its_undo_reach_packed_rows() {
    let (mut packed, mut plain) = histories(MANY);
    let passed = packed.has_passed(&id("a"));
    let (later, none): (BTreeSet<u32>, _) = ((1..=MANY as u32).collect(), BTreeSet::new());
    for numbers in [&later, &(40..=70).collect(), &none] {
        packed.mark_rolled_back(numbers);
        plain.mark_rolled_back(numbers);
        assert_same(&packed, &plain);
    }
    assert!(passed && packed.has_passed(&id("a")));
}

#[test]
fn a_commit_is_added_to_a_packed_row() {
    let (mut packed, mut plain) = histories(MANY);
    for history in [&mut packed, &mut plain] {
        history.edit(3, |it| it.commit = Some("c0ffee".to_owned()));
        history.edit(9_999, |_| panic!("there is no such iteration"));
    }
    assert_same(&packed, &plain);
    assert_eq!(packed.find(3).unwrap().commit.as_deref(), Some("c0ffee"));
}

#[test]
fn a_stored_history_is_read_unchanged() {
    let (packed, _) = histories(MANY);
    let text = serde_json::to_string(&packed).unwrap();
    assert_eq!(serde_json::from_str::<IterationHistory>(&text).unwrap(), packed);
}

#[test]
fn failures_that_alternate_are_stored_once() {
    let mut history = IterationHistory::default();
    for (at, row) in rows(4 * BLOCK_ROWS).into_iter().enumerate() {
        let failing = Some(Fingerprint(format!("failure {}", at % 7)));
        history.push(Iteration { failing, ..row });
    }
    let plain = history.clone();
    while history.len() - history.recent().len() < 3 * BLOCK_ROWS {
        history.pack_oldest(0);
    }
    assert_same(&history, &plain);
    let packed = serde_json::to_value(&history).unwrap()["packed"].to_string();
    assert_eq!(packed.matches("failure ").count(), 7);
}

#[test]
fn ten_thousand_packed_rows_take_little_room() {
    let (packed, _) = histories(10_000);
    let text = serde_json::to_string(&packed).unwrap();
    assert!(text.len() < 3_000_000, "{}", text.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn rollbacks_mark_packed_rows_like_others(
        steps in proptest::collection::vec((0_u32..200, 0_u32..200), 1..6),
    ) {
        let (mut packed, mut plain) = histories(MANY + 7);
        for (from, count) in steps {
            let numbers: BTreeSet<u32> = (from..from + count).collect();
            packed.mark_rolled_back(&numbers);
            plain.mark_rolled_back(&numbers);
            assert_same(&packed, &plain);
        }
    }
}
