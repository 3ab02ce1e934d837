//! A loop with a weakening never completes, whatever is claimed, until it is restored or accepted. A check that passes
//! and fails on the same files completes nothing by a single pass.

use crate::decide::sim::{Sim, Turn, criterion, spec};
use crate::decide::{Event, UserCommand, weakening};
use crate::journal::{OutcomeKind, Record};

/// Two checks, failing before the first iteration.
fn two(turns: Vec<Turn>) -> Sim {
    Sim::new(spec(vec![criterion("tests", "t"), criterion("lint", "l")]), "ff", turns)
}

pub(super) fn weakens(results: &'static str, paths: &[&'static str]) -> Turn {
    Turn { weakens: Some(paths.to_vec()), ..Turn::new(results) }
}

/// The loop has ended like this.
#[track_caller]
pub(super) fn ends(sim: &Sim, kind: OutcomeKind, iterations: u32, words: &str) {
    let outcome = sim.state.outcome().unwrap_or_else(|| panic!("has no outcome: {}", sim.sentence()));
    assert_eq!((outcome.kind, sim.state.iteration), (kind, iterations), "{}", outcome.sentence);
    assert!(outcome.sentence.to_string().contains(words), "{}", outcome.sentence);
}

fn rounds(sim: &Sim) -> usize {
    sim.entries.iter().filter(|it| matches!(it.record, Record::ChecksDone { .. })).count()
}

#[test]
fn a_weakening_restored_by_the_agent_completes() {
    let sim = two(vec![weakens("pp", &["tests/a.py"]), weakens("pp", &[])]).run();
    ends(&sim, OutcomeKind::Completed, 2, "completed, verified");
    assert!(sim.prompts[1].contains("## Restore what was weakened"), "{}", sim.prompts[1]);
    assert!(sim.prompts[1].contains("- tests/a.py lost 1 test"));
    let sentence = &sim.state.history[0].sentence;
    assert_eq!(sentence, "1 file changed, 2 of 2 pass; not counted as done: tests/a.py lost 1 test");
}

#[test]
fn a_claim_does_not_lift_a_weakening() {
    let sim = two(vec![weakens("pp", &["tests/a.py"]).says("<promise>COMPLETE</promise>"); 2]).run();
    assert!(sim.state.outcome().is_none());
    assert!(
        sim.sentence().starts_with("every check passes, but tests/a.py lost 1 test: not counted as done")
    );
}

#[test]
fn a_weakening_needs_the_user_after_one_more_iteration() {
    let turns = || vec![weakens("pp", &["tests/a.py", "tests/b.py"]), Turn::idle("pp"), Turn::idle("pp")];
    let sim = two(turns()).run();
    assert_eq!(sim.state.iteration, 2);
    let hint = "Hint: `loopkeeper rollback 20261120-abcdef 0 tests/a.py tests/b.py` restores it, `loopkeeper accept 20261120-abcdef` accepts it as it is, a task that lists tests/a.py, tests/b.py under `May change` allows it";
    assert!(sim.sentence().contains(hint), "{}", sim.sentence());
    let mut alone = spec(vec![criterion("tests", "t"), criterion("lint", "l")]);
    alone.attended = false;
    let sim = Sim::new(alone, "ff", turns()).run();
    ends(
        &sim,
        OutcomeKind::Failed,
        2,
        "every check passes, but tests/a.py lost 1 test; tests/b.py lost 1 test",
    );
    assert!(!sim.sentence().contains("accept"), "nobody is there to accept it");
    assert!(sim.sentence().contains("under `May change` allows it"), "{}", sim.sentence());
}

#[test]
fn a_loop_continues_while_a_check_fails() {
    let turns = vec![weakens("pf", &["tests/a.py"]), Turn::new("pf"), Turn::new("pf"), weakens("pp", &[])];
    ends(&two(turns).run(), OutcomeKind::Completed, 4, "");
}

#[test]
fn an_iteration_that_the_provider_failed_was_not_informed_of_the_weakening() {
    let turns = vec![
        weakens("pp", &["tests/a.py"]),
        Turn::fails(loopkeeper_agent::ProviderClass::Crash, "pp"),
        weakens("pp", &[]),
    ];
    ends(&two(turns).run(), OutcomeKind::Completed, 3, "");
}

#[test]
fn acceptance_during_a_pause_completes_at_once() {
    let mut sim = two(vec![weakens("pp", &["tests/a.py"]), Turn::idle("pp")]).run();
    sim.command(UserCommand::AcceptWeakening { by: None });
    sim.play();
    ends(&sim, OutcomeKind::Completed, 2, "completed, verified");
    let accepted = |it: &crate::journal::Entry| matches!(&it.record, Record::WeakeningAccepted { paths, .. } if *paths == ["tests/a.py"]);
    assert!(sim.entries.iter().any(accepted));
}

#[test]
fn acceptance_does_not_complete_a_loop_whose_criteria_the_user_changes() {
    let mut sim = two(vec![weakens("pp", &["tests/a.py"]), weakens("ppp", &[])]);
    sim.play_iterations(1);
    sim.documents.push(criterion("docs", "d"));
    sim.standing = "ppf";
    while !sim.live.work.is_pinning() {
        assert!(sim.step(), "{}", sim.sentence());
    }
    sim.command(UserCommand::AcceptWeakening { by: None });
    // The keeper decides again while the checks run.
    sim.event(Event::Continued);
    sim.play();
    ends(&sim, OutcomeKind::Completed, 2, "completed, verified: all 3");
}

#[test]
fn acceptance_needs_a_weakening() {
    let mut sim = two(vec![Turn::new("pf")]);
    for _ in 0..6 {
        sim.step();
    }
    sim.command(UserCommand::AcceptWeakening { by: None });
    while sim.refused.is_empty() && sim.step() {}
    assert_eq!(sim.refused, ["nothing is weakened: there is nothing to accept"]);
}

#[test]
fn resuming_gives_the_agent_one_more_iteration() {
    let mut sim = two(vec![weakens("pp", &["tests/a.py"]), Turn::idle("pp"), weakens("pp", &[])]).run();
    sim.command(UserCommand::Resume);
    sim.play();
    ends(&sim, OutcomeKind::Completed, 3, "");
}

#[test]
fn a_restore_by_the_user_completes_without_the_agent() {
    let mut sim = two(vec![weakens("pp", &["tests/a.py"]), Turn::idle("pp")]).run();
    sim.edited("pp");
    sim.weak.clear();
    sim.edited.push("tests/a.py".to_owned());
    sim.command(UserCommand::Resume);
    sim.play();
    ends(&sim, OutcomeKind::Completed, 2, "");
}

#[test]
fn a_restored_file_is_no_longer_reported_but_counts_until_judged() {
    let rolls_back = |paths: &[&str], refused: &[&str], to: u32| {
        let mut sim = two(vec![weakens("pp", &["tests/a.py", "tests/b.py"]), Turn::idle("pp")]).run();
        let owned = |all: &[&str]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        let tree = sim.state.tree_after(to).expect("a tree").to_owned();
        let (paths, refused) = (owned(paths), owned(refused));
        let (from, after) = ("gone".to_owned(), tree.clone());
        sim.event(Event::RolledBack { to, paths, tree, from, after, refused });
        sim
    };
    let check = |paths: &[&str], refused: &[&str], to: u32, told: &[&str]| {
        let sim = rolls_back(paths, refused, to);
        let left: Vec<&str> = weakening::unreported(&sim.state).map(|it| it.path.as_str()).collect();
        assert_eq!(left, told, "{paths:?} {refused:?} {to}");
        assert_eq!(weakening::current_weakenings(&sim.state).count(), 2);
        assert!(sim.state.outcome().is_none(), "{}", sim.sentence());
    };
    check(&["tests/a.py"], &[], 0, &["tests/b.py"]);
    check(&["tests/"], &[], 0, &[]);
    check(&[], &[], 0, &[]);
    check(&["test"], &[], 0, &["tests/a.py", "tests/b.py"]);
    check(&["tests"], &["tests/b.py"], 0, &["tests/b.py"]);
    check(&["tests"], &["tests"], 0, &["tests/a.py", "tests/b.py"]);
    // The tree of the iteration that weakened them.
    check(&[], &[], 1, &["tests/a.py", "tests/b.py"]);
    let mut sim = rolls_back(&["tests"], &[], 0);
    let tree = sim.state.tree_after(1).expect("a tree").to_owned();
    let paths = vec!["tests/b.py".to_owned()];
    let (from, after, refused) = ("gone".to_owned(), tree.clone(), Vec::new());
    sim.event(Event::RolledBack { to: 1, paths, tree, from, after, refused });
    let left: Vec<&str> = weakening::unreported(&sim.state).map(|it| it.path.as_str()).collect();
    assert_eq!(left, ["tests/b.py"]);
}

#[test]
fn more_edits_than_a_record_names_move_the_whole_baseline() {
    let mut sim = two(vec![weakens("pp", &["tests/a.py"]), Turn::idle("pp")]).run();
    sim.edited("pp");
    sim.weak.clear();
    sim.edited = (0..500).map(|it| format!("tests/{it}.py")).collect();
    sim.command(UserCommand::Resume);
    sim.play();
    ends(&sim, OutcomeKind::Completed, 2, "");
    assert_eq!(weakening::inspection(&sim.state).unwrap().start, "tree2");
}

#[test]
fn fewer_tests_than_at_the_start_do_not_pass() {
    let one = |turns| Sim::new(spec(vec![criterion("tests", "t"), criterion("lint", "l")]), "5f", turns);
    let sim = one(vec![Turn::new("3p"), Turn::new("5p")]).run();
    ends(&sim, OutcomeKind::Completed, 2, "");
    assert!(sim.prompts[1].contains("tests runs 3 tests, 5 at the start"), "{}", sim.prompts[1]);
    let mut sim = one(vec![Turn::new("3p"), Turn::idle("3p")]).run();
    assert!(sim.sentence().starts_with("every check passes, but tests runs 3 tests, 5 at the start"));
    sim.command(UserCommand::AcceptWeakening { by: None });
    sim.play();
    ends(&sim, OutcomeKind::Completed, 2, "");
    ends(&one(vec![Turn::new("7p")]).run(), OutcomeKind::Completed, 1, "");
    // Tests that the user removes between two iterations are no longer expected.
    let mut sim = one(vec![Turn::new("3p"), Turn::idle("3p")]).run();
    sim.edited("2p");
    sim.command(UserCommand::Resume);
    for _ in 0..8 {
        sim.step();
    }
    assert_eq!(sim.state.weakening.tests.values().copied().collect::<Vec<_>>(), [4]);
    // The same together with a criterion that the user adds.
    let mut sim = one(vec![Turn::new("5f"), Turn::new("3pp")]);
    sim.play_iterations(1);
    sim.edited("3ff");
    sim.documents.push(criterion("docs", "d"));
    sim.play();
    ends(&sim, OutcomeKind::Completed, 2, "completed, verified");
}

#[test]
fn passes_on_another_tree_do_not_count_for_a_flaky_check() {
    let prose = criterion("it reads well", "");
    let checked = vec![criterion("tests", "t"), criterion("lint", "l")];
    let spec = spec([checked.clone(), vec![prose]].concat());
    let mut sim = Sim::new(spec, "ff-", vec![Turn::idle("pp-"), Turn::idle("pp-")]);
    sim.play_iterations(2);
    assert_eq!(sim.state.criteria.flaky.passes, 2);
    let before = rounds(&sim);
    sim.edited("pp");
    sim.documents = checked;
    sim.play();
    ends(&sim, OutcomeKind::Completed, 2, "completed, verified");
    assert_eq!(rounds(&sim) - before, 2, "two more after the first round on the new tree");
}

#[test]
fn a_crash_loses_no_weakening() {
    let mut sim = two(vec![weakens("pp", &["tests/a.py"]), Turn::idle("pp")]).run();
    sim.crash("boot-2");
    sim.play();
    assert!(sim.state.outcome().is_none());
    sim.command(UserCommand::AcceptWeakening { by: None });
    sim.play();
    ends(&sim, OutcomeKind::Completed, 2, "");
}

#[test]
fn a_pass_on_an_unchanged_tree_is_needed_three_times() {
    let sim = two(vec![Turn::idle("pp")]).run();
    ends(&sim, OutcomeKind::Completed, 1, "");
    assert_eq!(rounds(&sim), 3, "a flaky check runs twice more");
    let sim = two(vec![Turn::new("pp")]).run();
    assert_eq!(rounds(&sim), 1, "one pass after a change is enough");
    let sim = two(vec![Turn::idle("pf"), Turn::idle("fp"), Turn::idle("pp")]).run();
    ends(&sim, OutcomeKind::Completed, 3, "");
    assert_eq!(rounds(&sim), 5, "two flips and more: three passes in a row");
}

#[test]
fn a_lucky_pass_completes_nothing() {
    let mut sim = two(vec![Turn::idle("pp"), Turn::new("pp")]);
    while rounds(&sim) < 1 {
        sim.step();
    }
    sim.standing = "fp";
    sim.play();
    ends(&sim, OutcomeKind::Completed, 2, "");
    let first =
        sim.entries.iter().rposition(|it| matches!(it.record, Record::IterationIntended { .. })).unwrap();
    let after =
        sim.entries[first..].iter().filter(|it| matches!(it.record, Record::ChecksDone { .. })).count();
    assert_eq!(after, 3, "two flips: three passes in a row");
}

#[test]
fn an_end_without_a_pass_requests_no_further_round() {
    let mut made = spec(vec![criterion("tests", "t")]);
    made.settings.exit.when = Some("iterations>=2".to_owned());
    // It passes and fails on the same files.
    let sim = Sim::new(made, "f", vec![Turn::new("p"), Turn::idle("f")]).run();
    ends(&sim, OutcomeKind::Stopped, 2, "ended by exit.when");
}

#[test]
fn files_that_a_rollback_restores_are_not_edits_of_the_user() {
    let mut sim = two(vec![weakens("pp", &["tests/a.py"]), Turn::idle("pp")]).run();
    let tree = sim.state.tree_after(1).expect("a tree").to_owned();
    let (from, after) = ("gone".to_owned(), tree.clone());
    sim.event(Event::RolledBack {
        to: 1,
        paths: Vec::new(),
        tree: tree.clone(),
        from,
        after,
        refused: Vec::new(),
    });
    assert_eq!(sim.state.weakening.last_tree, tree);
    let (from, after) = ("gone".to_owned(), "partly".to_owned());
    let paths = vec!["tests/b.py".to_owned()];
    sim.event(Event::RolledBack { to: 0, paths, tree: "start".to_owned(), from, after, refused: Vec::new() });
    assert_eq!(sim.state.weakening.last_tree, tree, "the other files may be edited by the user");
}

#[test]
fn a_limit_names_the_weakening_that_prevents_the_end() {
    let mut made = spec(vec![criterion("tests", "t")]);
    made.settings.limits.iterations = 1;
    let sim = Sim::new(made, "f", vec![weakens("p", &["tests/a.py"])]).run();
    let words = "the one required criterion passes; not counted as done: tests/a.py lost 1 test";
    ends(&sim, OutcomeKind::Limit, 1, words);
}
