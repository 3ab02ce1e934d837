//! Rollbacks and crashes: a regression is rolled back and judged again, and the state of the loop is restored with it.

use crate::decide::sim::{Sim, Turn, criterion, item, spec};
use crate::decide::{Decision, Effect, Event, UserCommand, decide};
use crate::journal::{LoopSpec, OutcomeKind, Record};
use crate::loop_state::RollbackCause;
use crate::settings::{CommitPolicy, OnRegression};

fn two(on_regression: OnRegression) -> LoopSpec {
    let mut spec = spec(vec![criterion("tests pass", "make test"), criterion("lint is clean", "make lint")]);
    spec.settings.git.on_regression = on_regression;
    spec
}

/// Plays a loop that rolls back; compares `to` of each rollback and how it ends.
fn check(start: &'static str, turns: Vec<Turn>, rollbacks: &[u32], expect: (OutcomeKind, u32)) -> Sim {
    let mut spec = two(OnRegression::Rollback);
    spec.settings.limits.iterations = 8;
    let sim = Sim::new(spec, start, turns).run();
    assert_eq!(rolled_back(&sim), rollbacks, "{:?}", sim.sentence());
    let kind = sim.state.outcome().map(|it| it.kind);
    assert_eq!((kind, sim.state.iteration), (Some(expect.0), expect.1), "{}", sim.sentence());
    sim
}

fn rolled_back(sim: &Sim) -> Vec<u32> {
    let to = |it: &crate::journal::Entry| match &it.record {
        Record::RolledBack { to, reason: Some(_), .. } => Some(*to),
        _ => None,
    };
    sim.entries.iter().filter_map(to).collect()
}

fn last_sentences(sim: &Sim) -> Vec<&str> {
    sim.state.history.recent().iter().map(|it| it.sentence.as_str()).collect()
}

#[test]
fn a_regression_is_reverted() {
    use OutcomeKind::Completed;
    // A guard, a goal that had turned, both at once; and nothing where nothing broke.
    check("pf", vec![Turn::new("fp"), Turn::new("pp")], &[0], (Completed, 2));
    check("ff", vec![Turn::new("pf"), Turn::new("fp"), Turn::new("pp")], &[1], (Completed, 3));
    check("ff", vec![Turn::new("pf"), Turn::new("pf"), Turn::new("pp")], &[], (Completed, 3));
    check("pf", vec![Turn::new("tf"), Turn::new("pp")], &[0], (Completed, 2));
    // A round that could not judge attributes nothing to an iteration; without a changed file there is nothing to take
    // back.
    check("pf", vec![Turn::new("-f"), Turn::new("pp")], &[], (Completed, 2));
    check("pf", vec![Turn::idle("ff"), Turn::new("pp")], &[], (Completed, 2));
    let sim = Sim::new(two(OnRegression::Keep), "pf", vec![Turn::new("fp"), Turn::new("pp")]).run();
    assert_eq!(rolled_back(&sim), Vec::<u32>::new());
}

#[test]
fn the_prompt_after_a_rollback_names_the_regression_and_the_restored_results() {
    let turns =
        vec![Turn::new("pf"), Turn { changed: vec!["a.rs", "b.rs"], ..Turn::new("fp") }, Turn::new("pp")];
    let sim = check("ff", turns, &[1], (OutcomeKind::Completed, 3));
    let prompt = sim.prompts.get(2).map(String::as_str).unwrap_or_default();
    for part in ["iteration 2 broke tests pass", "- `a.rs`\n- `b.rs`", "Its changes were rolled back"] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    // It reads the results of the files as they are again.
    assert!(!prompt.contains("Regressed"), "{prompt}");
    assert!(prompt.contains("## What holds: keep it so\n\n- tests pass"), "{prompt}");
    let back =
        sim.entries.iter().position(|it| matches!(it.record, Record::RolledBack { .. })).expect("back");
    let next = sim.entries.get(back + 1).map(|it| &it.record);
    assert!(matches!(next, Some(Record::ChecksDone { iteration: None, .. })), "{next:?}");
    assert!(matches!(sim.entries.get(back - 1).map(|it| &it.record), Some(Record::SnapshotTaken { .. })));
}

#[test]
fn a_third_regression_in_a_row_is_kept_and_reported() {
    let breaks = || Turn::new("fp");
    let sim = check(
        "pf",
        vec![breaks(), breaks(), breaks(), Turn::new("pp")],
        &[0, 0],
        (OutcomeKind::Completed, 4),
    );
    let sentences = last_sentences(&sim);
    assert!(sentences[2].contains("1 broke; kept, since 2 iterations"), "{sentences:?}");
    // An iteration that breaks nothing restarts the count.
    let turns = vec![breaks(), breaks(), Turn::new("pf"), breaks(), Turn::new("pp")];
    check("pf", turns, &[0, 0, 3], (OutcomeKind::Completed, 5));
}

#[test]
fn a_revert_counts_as_no_progress() {
    let mut spec = two(OnRegression::Rollback);
    spec.settings.breaker.no_progress = 2;
    let mut sim = Sim::new(spec, "pf", vec![Turn::new("fp"), Turn::new("fp")]);
    while !sim.entries.iter().any(|it| matches!(it.record, Record::BreakerChanged { .. })) {
        assert!(sim.step(), "{}", sim.sentence());
    }
    assert_eq!((sim.state.iteration, rolled_back(&sim)), (2, vec![0, 0]));
    let reason = sim.state.breaker.reason.clone().unwrap_or_default();
    assert!(reason.contains("2 iterations without a file change that stayed"), "{reason}");
}

#[test]
fn no_rollback_overrules_a_stop_or_an_edit_by_the_user() {
    let start = || Sim::new(two(OnRegression::Rollback), "pf", vec![Turn::new("ff"), Turn::new("pp")]);
    let mut sim = start();
    while sim.state.history.is_empty() || sim.state.history[0].ending.is_none() {
        sim.step();
    }
    sim.command(UserCommand::Stop);
    sim.play();
    assert_eq!(rolled_back(&sim), Vec::<u32>::new(), "a stop leaves the files");
    // Files that the user edits in a pause right after the iteration are kept.
    let mut sim = start();
    sim.step();
    sim.command(UserCommand::Pause);
    sim.play();
    sim.command(UserCommand::Resume);
    while sim.state.history.is_empty() {
        sim.step();
    }
    sim.command(UserCommand::Pause);
    sim.play();
    sim.edited("ff");
    sim.command(UserCommand::Resume);
    sim.play();
    assert_eq!(rolled_back(&sim), Vec::<u32>::new());
    assert_eq!(sim.state.outcome().map(|it| it.kind), Some(OutcomeKind::Completed));
}

/// Stops the loop this many turns after the rollback began.
fn stops(mut sim: Sim, command: UserCommand, turns: usize) {
    for _ in 0..turns {
        sim.step();
    }
    sim.command(command);
    sim.play();
    let back = sim.entries.iter().filter(|it| matches!(it.record, Record::RolledBack { .. })).count();
    let last = sim.entries.last().map(|it| &it.record);
    assert!(back == 1 && matches!(last, Some(Record::Ended { .. })), "{turns}: {back}, {last:?}");
}

#[test]
fn a_stop_waits_for_a_running_rollback() {
    for turns in 0..4 {
        let mut sim = Sim::new(two(OnRegression::Rollback), "pf", vec![Turn::new("ff"), Turn::new("pp")]);
        while !matches!(sim.live.work.rollback(), Some(RollbackCause::Regression { .. })) {
            assert!(sim.step());
        }
        stops(sim, if turns % 2 == 0 { UserCommand::Stop } else { UserCommand::StopNow }, turns);
        let mut sim = Sim::new(two(OnRegression::Keep), "ff", vec![Turn::new("pf"), Turn::new("fp")]);
        while sim.state.history.is_empty() {
            assert!(sim.step());
        }
        sim.command(UserCommand::Pause);
        sim.play();
        sim.command(UserCommand::Rollback { to: 0, paths: Vec::new() });
        // One at a time: this one is refused.
        sim.command(UserCommand::Rollback { to: 1, paths: Vec::new() });
        stops(sim, UserCommand::Stop, turns);
    }
}

#[test]
fn no_rollback_starts_beside_running_checks() {
    let mut sim = Sim::new(two(OnRegression::Keep), "ff", vec![Turn::new("pf"), Turn::new("pp")]);
    while sim.state.history.is_empty() {
        assert!(sim.step());
    }
    sim.command(UserCommand::Pause);
    sim.play();
    sim.command(UserCommand::Check);
    sim.command(UserCommand::Rollback { to: 0, paths: Vec::new() });
    assert!(sim.live.work.rollback().is_none(), "refused while they run");
    sim.play();
    sim.command(UserCommand::Rollback { to: 0, paths: Vec::new() });
    assert!(sim.live.work.rollback().is_some(), "taken once they have ended");
    sim.command(UserCommand::Check);
    assert!(!sim.live.work.is_checking(), "nor checks beside a rollback");
    sim.command(UserCommand::StopNow);
    sim.play();
    let last = sim.entries.last().map(|it| &it.record);
    assert!(matches!(last, Some(Record::Ended { .. })), "{last:?}");
}

/// The loop is paused while criteria that the user added are judged for the first time.
#[test]
fn nothing_starts_beside_the_first_round_of_changed_criteria() {
    let mut sim = Sim::new(two(OnRegression::Keep), "ff", vec![Turn::new("pf"), Turn::new("ppp")]);
    sim.play_iterations(1);
    sim.documents.push(criterion("docs build", "make docs"));
    sim.standing = "pff";
    while !sim.live.work.is_pinning() {
        assert!(sim.step());
    }
    sim.command(UserCommand::Pause);
    sim.command(UserCommand::Rollback { to: 0, paths: Vec::new() });
    assert!(sim.live.work.rollback().is_none(), "refused while they run");
    sim.command(UserCommand::Check);
    assert!(!sim.live.work.is_checking(), "the round that runs is the answer");
    sim.play();
    assert_eq!(sim.state.criteria.pinned.len(), 3);
    assert_eq!(sim.state.criteria.results.len(), 3);
}

#[test]
fn a_repeated_check_command_starts_no_second_round() {
    let mut sim = paused_after_two();
    let rounds_of = |sim: &mut Sim| {
        let event = Event::UserAsked(UserCommand::Check);
        let steps = decide(&sim.state, &mut sim.live, sim.now, event);
        steps.iter().filter(|it| matches!(it, Decision::Effect(Effect::RunChecks { .. }))).count()
    };
    assert_eq!((rounds_of(&mut sim), rounds_of(&mut sim)), (1, 0));
}

/// The user rolls back between the round in which everything passes and the end of the loop.
#[test]
fn a_loop_does_not_complete_by_results_of_files_that_were_rolled_back() {
    for paths in [Vec::new(), vec!["src/lib.rs".to_owned()]] {
        let mut sim = Sim::new(two(OnRegression::Keep), "ff", vec![Turn::new("pp"), Turn::new("pp")]);
        while !sim.entries.iter().any(|it| matches!(it.record, Record::IterationEnded { .. })) {
            assert!(sim.step());
        }
        sim.command(UserCommand::Pause);
        sim.command(UserCommand::Rollback { to: 0, paths });
        sim.play();
        assert_eq!(sim.state.outcome(), None);
        sim.standing = "ff";
        sim.command(UserCommand::Resume);
        sim.play();
        let kind = sim.state.outcome().map(|it| it.kind);
        assert_eq!((kind, sim.state.iteration), (Some(OutcomeKind::Completed), 2));
    }
}

#[test]
fn a_rollback_restores_claims_and_plan() {
    let mut sim = paused_after_two();
    assert_eq!((sim.state.streaks.claims, sim.state.open_items().count()), (1, 0));
    sim.command(UserCommand::Rollback { to: 1, paths: vec!["src/lib.rs".to_owned()] });
    sim.play();
    assert!(!sim.state.history[1].rolled_back, "a rollback of single files marks no iteration");
    sim.command(UserCommand::Rollback { to: 1, paths: Vec::new() });
    sim.play();
    assert_eq!((sim.state.streaks.claims, sim.state.open_items().count()), (0, 1));
    assert!(!sim.state.history[0].rolled_back && sim.state.history[1].rolled_back);
    sim.command(UserCommand::Resume);
    while sim.prompts.len() < 3 {
        assert!(sim.step());
    }
    assert!(sim.prompts[2].contains("2 (rolled back"), "{}", sim.prompts[2]);
    assert!(!sim.prompts[2].contains("said that all was done"), "{}", sim.prompts[2]);
}

/// A loop that is paused after two iterations: `ff`, then `pf`, then `fp` with a claim.
fn paused_after_two() -> Sim {
    let mut spec = two(OnRegression::Keep);
    spec.plan = vec![item("one"), item("two")];
    let says = "<promise>COMPLETE</promise>";
    let turns = vec![Turn { ticks: 1, ..Turn::new("pf") }, Turn { ticks: 2, ..Turn::new("fp").says(says) }];
    let mut sim = Sim::new(spec, "ff", turns);
    while sim.state.iteration < 2 {
        assert!(sim.step());
    }
    sim.command(UserCommand::Pause);
    sim.play();
    sim
}

#[test]
fn an_undo_restores_the_state_and_can_be_redone() {
    let mut sim = paused_after_two();
    let memory = |sim: &Sim| {
        let rolled_back: Vec<bool> = sim.state.history.iter().map(|it| it.rolled_back).collect();
        let marked = sim.state.history.iter().filter(|it| it.rolled_back).map(|it| it.number);
        assert!(marked.eq(sim.state.rollback.rolled_back.iter().copied()));
        (sim.state.tree.last.clone(), sim.state.streaks.claims, sim.state.open_items().count(), rolled_back)
    };
    let command = |sim: &mut Sim, command: UserCommand| {
        sim.command(command);
        sim.play();
        assert!(sim.live.work.rollback().is_none());
        memory(sim)
    };
    let before = memory(&sim);
    assert_eq!((before.1, before.2, before.3.as_slice()), (1, 0, &[false, false][..]));
    let back = command(&mut sim, UserCommand::Rollback { to: 1, paths: Vec::new() });
    assert_eq!((back.1, back.2, back.3.as_slice()), (0, 1, &[false, true][..]));
    assert_ne!(back.0, before.0);
    assert!(sim.state.tree.is_unjudged);
    assert_eq!(command(&mut sim, UserCommand::UndoRollback), before);
    assert_eq!(command(&mut sim, UserCommand::UndoRollback), back, "done again");
    assert_eq!(command(&mut sim, UserCommand::UndoRollback), before);
    // One of several: the files are as they were before that one.
    let start = command(&mut sim, UserCommand::Rollback { to: 0, paths: Vec::new() });
    command(&mut sim, UserCommand::Rollback { to: 1, paths: Vec::new() });
    assert_eq!(command(&mut sim, UserCommand::UndoRollback), start);
    assert_eq!(crate::decide::replay(&sim.entries).unwrap().rollback.last, sim.state.rollback.last);
}

#[test]
fn a_rollback_is_not_undone_after_another_iteration() {
    let mut sim = paused_after_two();
    sim.command(UserCommand::UndoRollback);
    sim.play();
    assert!(sim.refused.last().unwrap().starts_with("there is no rollback of loop "), "{:?}", sim.refused);
    sim.command(UserCommand::Rollback { to: 1, paths: Vec::new() });
    sim.play();
    sim.turns.extend([Turn::new("pf"), Turn::new("pp")]);
    sim.command(UserCommand::Resume);
    while sim.state.history.len() < 3 {
        assert!(sim.step());
    }
    sim.command(UserCommand::Pause);
    sim.play();
    sim.command(UserCommand::UndoRollback);
    sim.play();
    let refused = sim.refused.last().unwrap();
    assert!(refused.starts_with("iteration 3 was started after the rollback"), "{refused}");
    assert!(refused.contains(" 2` restores the files of iteration 2"), "{refused}");
}

#[test]
fn an_interrupted_rollback_or_undo_is_undone_by_the_next_undo() {
    let mut sim = paused_after_two();
    sim.command(UserCommand::Rollback { to: 1, paths: Vec::new() });
    sim.play();
    let at = sim.entries.iter().rposition(|it| matches!(it.record, Record::SnapshotTaken { .. })).unwrap();
    // The keeper died before the record of the rollback: it is not known which files were restored.
    let cut = crate::decide::replay(&sim.entries[..=at]).unwrap();
    let last = crate::decide::undo::undoable_rollback(&cut).unwrap();
    assert_eq!((last.after.as_ref(), last.position_before), (None, 2));
    assert_eq!(last.from, sim.state.rollback.last.as_ref().unwrap().from);
    // After an interrupted undo, the same rollback is undone again.
    let rolled_back = sim.state.rollback.last.clone();
    sim.command(UserCommand::UndoRollback);
    sim.play();
    let at = sim.entries.iter().rposition(|it| matches!(it.record, Record::SnapshotTaken { .. })).unwrap();
    assert_eq!(crate::decide::replay(&sim.entries[..=at]).unwrap().rollback.last, rolled_back);
    assert!(sim.state.rollback.last.as_ref().unwrap().is_undo);
}

#[test]
fn a_criterion_that_turns_is_a_milestone() {
    let mut spec = two(OnRegression::Keep);
    spec.plan = vec![item("one"), item("two")];
    let turns = vec![
        Turn { ticks: 1, ..Turn::new("pf") },
        Turn { ticks: 1, ..Turn::new("ff") },
        Turn { ticks: 2, ..Turn::new("pp") },
    ];
    let sim = Sim::new(spec, "ff", turns).run();
    let reached: Vec<String> = sim.state.history.iter().map(|it| it.milestones.join(", ")).collect();
    let all = [
        "now passes: tests pass, done: one",
        "",
        "now passes: tests pass, now passes: lint is clean, done: two",
    ];
    assert_eq!(reached, all);
}

#[test]
fn the_prompt_forbids_commits_if_configured() {
    let check = |commit, expect: bool| {
        let mut spec = two(OnRegression::Keep);
        spec.settings.git.commit = commit;
        let sim = Sim::new(spec, "pf", vec![Turn::new("pp")]).run();
        assert_eq!(sim.prompts[0].contains("- Do not commit"), expect, "{commit:?}");
    };
    check(CommitPolicy::Agent, false);
    check(CommitPolicy::Never, true);
}

/// A restored machine, or another time namespace of the same boot.
#[test]
fn a_clock_that_went_back_does_not_lengthen_a_wait() {
    let mut spec = two(OnRegression::Keep);
    spec.settings.limits.between_ms = 5_000;
    let mut sim = Sim::new(spec, "ff", vec![Turn::new("ff"), Turn::new("pp")]);
    while sim.state.phase.wait().is_none() {
        assert!(sim.step(), "{}", sim.sentence());
    }
    sim.now.awake = 5;
    sim.crash("boot-1");
    let until = sim.state.phase.wait().map(|it| it.until.awake);
    assert!(until.is_some_and(|it| it <= 5_005), "{until:?}");
    sim.play();
    assert_eq!(sim.state.outcome().map(|it| it.kind), Some(OutcomeKind::Completed), "{}", sim.sentence());
}

#[test]
fn an_interrupted_iteration_is_no_failure_of_the_agent() {
    let mut sim = Sim::new(two(OnRegression::Keep), "ff", vec![Turn::new("pp"); 5]);
    for crash in 1..=4 {
        while sim.state.iteration < crash {
            assert!(sim.step(), "{}", sim.sentence());
        }
        sim.crash(&format!("boot-{crash}"));
    }
    sim.play();
    assert_eq!(sim.state.outcome().map(|it| it.kind), Some(OutcomeKind::Completed), "{}", sim.sentence());
}
