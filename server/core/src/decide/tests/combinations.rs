//! Combinations of two features that hold on their own: what one leaves behind, the other has to expect.

use crate::decide::final_verdict::VerdictReply;
use crate::decide::mutants::{MutantCounts, MutantReply};
use crate::decide::sim::{Sim, Turn, criterion, item, spec};
use crate::decide::{
    CommitOutcome, Decision, Effect, Event, SnapshotFacts, UserCommand, apply, decide, weakening,
};
use crate::journal::{Entry, LoopSpec, OutcomeKind, Record, SurvivingMutant};
use crate::settings::{CommitPolicy, MutantPolicy, OnRegression, SandboxMode};
use loopkeeper_agent::{AgentEnding, ProviderClass};
use loopkeeper_task::criterion::Check;

use super::weakening::{ends, weakens};

/// Two checks, failing before the first iteration.
fn two() -> LoopSpec {
    spec(vec![criterion("tests", "t"), criterion("lint", "l")])
}

/// Plays until the condition holds.
#[track_caller]
fn until(sim: &mut Sim, holds: impl Fn(&Sim) -> bool) {
    while !holds(sim) {
        assert!(sim.step(), "nothing is left to do: {}", sim.sentence());
    }
}

fn begins_work(decisions: &[Decision]) -> bool {
    let is_work = |it: &Effect| {
        matches!(it, Effect::RunChecks { .. } | Effect::JudgeFinalTree { .. } | Effect::TestMutants(_))
    };
    decisions.iter().any(|it| matches!(it, Decision::Effect(effect) if is_work(effect)))
}

/// The work that is stopped at once does not begin again.
#[track_caller]
fn stops_at_once(mut sim: Sim, reply: Event) {
    sim.command(UserCommand::StopNow);
    let mut live = sim.live.clone();
    let decisions = decide(&sim.state, &mut live, sim.now, reply);
    assert!(!begins_work(&decisions), "{decisions:?}");
    assert!(!begins_work(&decide(&sim.state, &mut live, sim.now, Event::Continued)));
}

#[test]
fn a_weakening_does_not_prevent_a_stop_by_exit_when() {
    let mut made = two();
    made.settings.exit.when = Some("iterations>=2".to_owned());
    let turns = vec![weakens("pf", &["tests/a.py"]), Turn::new("pf"), Turn::new("pf")];
    let sim = Sim::new(made, "ff", turns).run();
    ends(&sim, OutcomeKind::Stopped, 2, "iterations 2 >= 2, 1 of 2 required checks fail");
}

#[test]
fn a_criterion_that_the_user_adds_voids_the_verdict_and_the_mutants() {
    let mut made = two();
    made.settings.sandbox = SandboxMode::Auto;
    made.settings.mutants = MutantPolicy::Require;
    let survivor = SurvivingMutant {
        path: "calc.py".to_owned(),
        line: 2,
        before: "return a + b".to_owned(),
        after: "return a - b".to_owned(),
    };
    let counts = MutantCounts { tried: 2, noticed: 1, survivors: vec![survivor], hollow: Vec::new() };
    let mut sim = Sim::new(made, "ff", vec![Turn::new("pp"), Turn::idle("ppp")]);
    sim.mutants = [Some(MutantReply::Tested(counts))].into();
    until(&mut sim, |it| it.state.weakening.mutants.is_some());
    sim.documents.push(criterion("more tests", "m"));
    sim.standing = "ppp";
    sim.play();
    ends(&sim, OutcomeKind::Completed, 1, "completed, verified: all 3 required criteria pass");
    let verdicts = sim.entries.iter().filter(|it| matches!(it.record, Record::FinalVerdict { .. })).count();
    assert_eq!((verdicts, sim.tested.len()), (2, 2));
}

#[test]
fn a_stop_at_once_begins_no_further_round_of_a_flaky_check() {
    let mut sim = Sim::new(two(), "ff", vec![Turn::idle("pp")]);
    until(&mut sim, |it| it.state.iteration == 1 && it.live.work.is_checking());
    stops_at_once(sim, Event::ChecksCancelled);
}

#[test]
fn a_stop_at_once_begins_no_round_after_a_commit() {
    let mut made = two();
    made.settings.git.commit = CommitPolicy::Server;
    made.criteria[1].check = Some(Check::Clean);
    let mut sim = Sim::new(made, "fp", vec![Turn::new("pf")]);
    until(&mut sim, |it| it.live.work.is_committing);
    let commit = Some("c1".to_owned());
    let made = CommitOutcome { iteration: 1, commit, ..CommitOutcome::default() };
    stops_at_once(sim, Event::Committed(made));
}

#[test]
fn a_prompt_that_the_provider_refused_leaves_hints_and_answers_to_the_next() {
    let asks = Turn::new("pf").says("Shall I use the old parser?");
    let refused = Turn::fails(ProviderClass::Transient, "pf");
    let crashes = Turn::fails(ProviderClass::Crash, "pf");
    let works = Turn { error: Some(ProviderClass::Transient), ..Turn::new("pf") };
    let mut sim = Sim::new(two(), "ff", vec![asks, refused, crashes, works, Turn::new("pp")]);
    until(&mut sim, |it| it.state.questions.open.is_some());
    sim.command(UserCommand::Steer("mind the fixtures".to_owned()));
    sim.command(UserCommand::Answer("no, the new one".to_owned()));
    sim.play_iterations(2);
    sim.command(UserCommand::Steer("and the docs".to_owned()));
    sim.play();
    let with = |text: &str| sim.prompts.iter().map(|it| it.contains(text)).collect::<Vec<_>>();
    assert_eq!(with("mind the fixtures"), [false, true, true, true, false]);
    assert_eq!(with("no, the new one"), [false, true, true, true, false]);
    assert_eq!(with("and the docs"), [false, false, true, true, false]);
    let both = &sim.prompts[2];
    assert!(both.find("mind the fixtures") < both.find("and the docs"), "{both}");
}

#[test]
fn files_that_the_user_edits_in_a_pause_are_judged_before_the_next_iteration() {
    let mut sim = Sim::new(two(), "ff", vec![Turn::new("pf"), Turn::new("pf")]);
    sim.play_iterations(1);
    sim.edited("ff");
    until(&mut sim, |it| it.live.work.is_checking());
    sim.command(UserCommand::Pause);
    sim.play();
    sim.edited("pp");
    sim.command(UserCommand::Resume);
    sim.play();
    ends(&sim, OutcomeKind::Completed, 1, "completed, verified");
}

#[test]
fn items_that_the_user_opens_in_a_pause_keep_the_loop_going() {
    let mut made = two();
    made.plan = vec![item("one")];
    let ticked = Turn { ticks: 1, ..Turn::new("pf") };
    let mut sim = Sim::new(made, "ff", vec![ticked.clone(), Turn { ticks: 2, ..Turn::new("pp") }]);
    sim.play_iterations(1);
    sim.plan = Some(vec![item("one"), item("two")]);
    sim.edited("pp");
    sim.play();
    ends(&sim, OutcomeKind::Completed, 2, "completed, verified");
}

#[test]
fn an_item_that_the_user_skips_keeps_no_loop_going() {
    let mut made = two();
    made.plan = vec![item("one")];
    let mut sim = Sim::new(made, "ff", vec![Turn::new("pp"), Turn::new("pp")]);
    sim.play_iterations(1);
    let mut skipped = item("one");
    skipped.blocking = false;
    sim.plan = Some(vec![skipped]);
    sim.play();
    ends(&sim, OutcomeKind::Completed, 1, "completed, verified");
}

/// The user restores these files from the start.
fn restores(sim: &mut Sim, paths: &[&str], after: &str) {
    let tree = sim.state.tree_after(0).expect("a tree").to_owned();
    let paths = paths.iter().map(ToString::to_string).collect();
    let (from, after, refused) = (sim.state.tree.last.clone(), after.to_owned(), Vec::new());
    sim.event(Event::RolledBack { to: 0, paths, tree, from, after, refused });
}

#[test]
fn a_restored_file_is_resolved_together_with_a_criterion_that_the_user_adds() {
    let turns = vec![weakens("pp", &["tests/a.py"]), Turn::idle("pp")];
    let mut sim = Sim::new(two(), "ff", turns).run();
    sim.weak.clear();
    sim.edited("ppp");
    restores(&mut sim, &["tests/a.py"], "tree2");
    sim.documents.push(criterion("docs", "d"));
    sim.command(UserCommand::Resume);
    sim.play();
    ends(&sim, OutcomeKind::Completed, 2, "completed, verified: all 3");
}

#[test]
fn a_restored_file_is_not_accepted() {
    let accepted = |paths: &[&str]| {
        let turns = vec![weakens("pp", &["tests/a.py", "tests/b.py"]), Turn::idle("pp")];
        let mut sim = Sim::new(two(), "ff", turns).run();
        restores(&mut sim, paths, "restored");
        sim.command(UserCommand::AcceptWeakening { by: None });
        let found = sim.entries.iter().find_map(|it| match &it.record {
            Record::WeakeningAccepted { paths, .. } => Some(paths.clone()),
            _ => None,
        });
        sim.play();
        (found, sim.refused)
    };
    assert_eq!(accepted(&["tests/a.py"]), (Some(vec!["tests/b.py".to_owned()]), Vec::new()));
    let refused = vec!["nothing is weakened: there is nothing to accept".to_owned()];
    assert_eq!(accepted(&["tests"]), (None, refused));
}

#[test]
fn tests_that_the_agent_added_are_not_expected_after_the_user_removed_them() {
    let check = |after: &'static str, edited: &'static str, expect: u64| {
        let mut sim = Sim::new(two(), "5f", vec![Turn::new(after), Turn::new("5f")]);
        sim.play_iterations(1);
        sim.edited(edited);
        until(&mut sim, |it| it.state.iteration == 2);
        assert_eq!(
            sim.state.weakening.tests.values().copied().collect::<Vec<_>>(),
            [expect],
            "{after} {edited}"
        );
    };
    check("8f", "6f", 5);
    check("8f", "5f", 5);
    check("8f", "4f", 4);
    check("5f", "4f", 4);
    check("3f", "2f", 4);
    check("3f", "9f", 5);
}

/// A file that the user rolled back beside own edits.
#[test]
fn a_file_that_the_user_rolls_back_is_compared_with_the_version_of_the_rollback() {
    let turns = vec![weakens("pp", &["tests/a.py"]), Turn::idle("pp")];
    let mut sim = Sim::new(two(), "ff", turns).run();
    sim.edited("pp");
    let tree = sim.state.tree_after(1).expect("a tree").to_owned();
    let paths = vec!["tests".to_owned()];
    let (from, after, refused) = ("edited".to_owned(), "rolled back".to_owned(), Vec::new());
    sim.event(Event::RolledBack { to: 1, paths, tree, from, after, refused });
    let scan = weakening::inspection(&sim.state).unwrap();
    assert_eq!(scan.last_version_of("tests/a.py"), "rolled back");
    assert_eq!(scan.last_version_of("src/a.py"), sim.state.weakening.last_tree);
}

fn before_iteration(sim: &Sim, edited: &str) -> Vec<Decision> {
    let snapshot =
        SnapshotFacts { tree: "now".to_owned(), edited: vec![edited.to_owned()], ..SnapshotFacts::default() };
    decide(&sim.state, &mut sim.live.clone(), sim.now, Event::SnapshotTaken(snapshot))
}

#[test]
fn an_interrupted_rollback_is_no_edit_of_the_user() {
    let records_edit = |decisions: &[Decision]| {
        decisions.iter().any(|it| matches!(it, Decision::Record(Record::ProtectedEdited { .. })))
    };
    let mut sim = Sim::new(two(), "ff", vec![Turn::new("pf")]);
    sim.play_iterations(1);
    assert!(records_edit(&before_iteration(&sim, "tests/a.py")));
    sim.command(UserCommand::Pause);
    let snapshot = SnapshotFacts { tree: "aside".to_owned(), ..SnapshotFacts::default() };
    sim.command(UserCommand::Rollback { to: 0, paths: Vec::new() });
    let decisions = decide(
        &sim.state,
        &mut sim.live.clone(),
        sim.now,
        Event::RollbackReady { to: 0, paths: Vec::new(), snapshot },
    );
    let Some(Decision::Record(record)) = decisions.into_iter().next() else { panic!("no record") };
    let seq = sim.state.position.seq + 1;
    let entry = Entry { seq, epoch: 1, at: sim.now, record };
    apply(&mut sim.state, &entry);
    sim.entries.push(entry);
    sim.crash("boot-1");
    sim.command(UserCommand::Resume);
    assert!(!records_edit(&before_iteration(&sim, "tests/a.py")));
}

#[test]
fn a_pause_is_not_idle_time() {
    let mut made = two();
    made.settings.exit.when = Some("criteria or idle>=10m".to_owned());
    let mut sim = Sim::new(made, "ff", vec![Turn::new("pf"), Turn::new("pp")]);
    sim.play_iterations(1);
    sim.command(UserCommand::Pause);
    sim.play();
    sim.now = sim.now.plus_ms(3_600_000);
    sim.command(UserCommand::Resume);
    sim.play();
    ends(&sim, OutcomeKind::Completed, 2, "completed, verified");
}

#[test]
fn an_agent_that_is_stopped_is_not_ended_as_idle() {
    let mut sim = Sim::new(two(), "ff", Vec::new());
    until(&mut sim, |it| it.state.phase.running_agent().is_some_and(|it| it.pid.is_some()));
    sim.command(UserCommand::StopNow);
    let idle = sim.now.plus_ms(sim.state.spec.settings.limits.idle_ms);
    let decisions = decide(&sim.state, &mut sim.live, idle, Event::ActivityChecked { alive: false });
    assert_eq!(decisions, []);
    assert_eq!(sim.live.agent.ending, Some(AgentEnding::Stopped));
}

#[test]
fn a_weakening_that_the_loop_rolled_back_is_not_reported() {
    let mut made = two();
    made.settings.git.on_regression = OnRegression::Rollback;
    let mut sim =
        Sim::new(made, "ff", vec![Turn::new("pf"), weakens("fp", &["tests/a.py"]), Turn::new("pp")]);
    until(&mut sim, |it| it.state.rollback.last.is_some());
    sim.weak.clear();
    sim.play();
    assert!(!sim.prompts[2].contains("Restore what was weakened"), "{}", sim.prompts[2]);
    assert!(!weakening::has_unresolved(&sim.state));
}

#[test]
fn a_pause_commits_no_work_that_may_be_rolled_back() {
    let mut made = two();
    made.settings.git.commit = CommitPolicy::Server;
    made.settings.git.on_regression = OnRegression::Rollback;
    let mut sim = Sim::new(made, "pf", vec![Turn::new("ff"), Turn::new("pp")]);
    until(&mut sim, |it| it.state.phase.running_agent().is_none() && it.state.iteration == 1);
    sim.command(UserCommand::Pause);
    sim.play();
    assert!(sim.commits.is_empty(), "{:?}", sim.commits);
    sim.command(UserCommand::Resume);
    sim.play();
    ends(&sim, OutcomeKind::Completed, 2, "completed, verified");
    assert_eq!(sim.commits.len(), 1, "only the second iteration");
}

#[test]
fn files_that_change_during_each_final_verdict_end_the_loop_as_claimed() {
    let mut made = two();
    made.settings.sandbox = SandboxMode::Auto;
    let mut sim = Sim::new(made.clone(), "ff", vec![Turn::new("pp")]);
    sim.verdicts = vec![VerdictReply::Disturbed; 100];
    sim.play();
    ends(&sim, OutcomeKind::Completed, 1, "completed, claimed, not verified");
    assert_eq!(sim.verdicts.len(), 96);
    made.settings.mutants = MutantPolicy::Require;
    let mut sim = Sim::new(made, "ff", vec![Turn::new("pp")]);
    sim.mutants = vec![Some(MutantReply::Disturbed); 100].into();
    sim.play();
    ends(&sim, OutcomeKind::Completed, 1, "completed, claimed, not verified");
    assert_eq!(sim.mutants.len(), 96);
}
