//! No loop completes as verified before its final tree passed in a clean room, with the judges of the start too.

use crate::check::{CheckResult, Status, TestCounts};
use crate::decide::UserCommand;
use crate::decide::final_verdict::{CleanRoomGoals, UnrecordedInputs, VerdictReply, VerdictRounds};
use crate::decide::sim::{self, Sim, Turn, criterion, round_of, spec};
use crate::journal::{BreakerState, LoopSpec, OutcomeKind, OutsideFiles, Record, Round};
use crate::settings::SandboxMode;
use crate::tamper::judge_files::{ChangedJudge, JudgeChange};

const JUDGE: &str = "tests/a.py";

fn sandboxed() -> LoopSpec {
    let mut spec = spec(vec![criterion("tests", "t"), criterion("lint", "l")]);
    spec.settings.sandbox = SandboxMode::Auto;
    spec
}

fn loop_with(turns: Vec<Turn>, verdicts: Vec<VerdictReply>) -> Sim {
    let mut sim = Sim::new(sandboxed(), "ff", turns);
    sim.verdicts = verdicts;
    sim
}

/// A round on the two criteria: `p`ass, `f`ail, or a digit: that many tests pass.
fn round(letters: &str, output: &str) -> Round {
    let criteria = sandboxed().criteria;
    let result = |(it, letter): (&loopkeeper_task::criterion::Criterion, char)| {
        let (status, fact) = if letter == 'f' { (Status::Fail, "1 of 2 fail") } else { (Status::Pass, "") };
        let passed = letter.to_digit(10).map(u64::from);
        CheckResult {
            head: output.to_owned(),
            tests: passed.map(|passed| TestCounts { passed, ..TestCounts::default() }),
            ..CheckResult::new(it.id.clone(), status, fact)
        }
    };
    let results = criteria.iter().zip(letters.chars()).map(result).collect();
    round_of(results)
}

fn judge() -> ChangedJudge {
    ChangedJudge {
        path: JUDGE.to_owned(),
        is_new: false,
        replaces_other: false,
        composed: None,
        change: JudgeChange::Other,
    }
}

fn judged(final_round: &str, pinned: Option<&str>, judges: Vec<ChangedJudge>) -> VerdictReply {
    let pinned = pinned.map(|it| round(it, ""));
    VerdictReply::Judged(Box::new(VerdictRounds {
        pinned,
        judges,
        ..sim::verdict_rounds(round(final_round, ""))
    }))
}

fn verdicts(sim: &Sim) -> usize {
    sim.entries.iter().filter(|it| matches!(it.record, Record::FinalVerdict { .. })).count()
}

#[track_caller]
fn completes(sim: &Sim, iterations: u32, sentence: &str) {
    let outcome = sim.state.outcome().unwrap_or_else(|| panic!("open: {}", sim.sentence()));
    assert_eq!(
        (outcome.kind, outcome.verified, sim.state.iteration),
        (OutcomeKind::Completed, true, iterations)
    );
    assert_eq!(outcome.sentence.to_string(), sentence);
}

#[test]
fn a_loop_completes_after_one_verdict() {
    let sim = loop_with(vec![Turn::new("pp")], Vec::new()).run();
    completes(&sim, 1, "completed, verified: all 2 required criteria pass after 1 iteration");
    assert_eq!(verdicts(&sim), 1);
}

#[test]
fn without_a_sandbox_or_any_work_there_is_no_verdict() {
    let mut spec = sandboxed();
    spec.settings.sandbox = SandboxMode::Off;
    assert_eq!(verdicts(&Sim::new(spec, "ff", vec![Turn::new("pp")]).run()), 0);
    assert_eq!(verdicts(&Sim::new(sandboxed(), "pp", Vec::new()).run()), 0);
}

#[test]
fn clean_room_failures_go_to_the_next_iteration() {
    let sim = loop_with(vec![Turn::new("pp"); 2], vec![judged("fp", None, Vec::new())]).run();
    completes(&sim, 2, "completed, verified: all 2 required criteria pass after 2 iterations");
    assert!(sim.prompts[1].contains("1 of 2 fail"), "{}", sim.prompts[1]);
    assert_eq!(verdicts(&sim), 2);
}

#[test]
fn the_same_failure_in_the_clean_room_opens_the_breaker() {
    let mut sim = Sim::new(LoopSpec { attended: false, ..sandboxed() }, "ff", vec![Turn::new("pp"); 9]);
    sim.verdicts = vec![judged("fp", None, Vec::new()); 9];
    let sim = sim.run();
    assert_eq!((sim.state.breaker.state, sim.state.iteration), (BreakerState::Open, 5));
    let reason = "5 iterations with the same failure: tests: 1 of 2 fail in a clean room";
    assert_eq!(sim.state.breaker.reason.as_deref(), Some(reason));
    let reached = sim.state.history.recent().iter().map(|it| it.milestones.concat());
    assert_eq!(
        reached.collect::<Vec<_>>(),
        ["now passes: testsnow passes: lint", "", "", "", ""],
        "a pass that the clean room refuted is none"
    );
}

#[test]
fn the_sentence_of_a_limit_names_failures_in_the_clean_room() {
    let mut spec = sandboxed();
    spec.settings.limits.iterations = 2;
    let mut sim = Sim::new(spec, "ff", vec![Turn::new("pp"); 2]);
    sim.verdicts = vec![judged("fp", None, Vec::new()); 2];
    let sim = sim.run();
    let expect =
        "limit reached: 2 iterations; 1 of 2 required criteria pass, 1 passes here and fails in a clean room";
    assert_eq!(sim.sentence(), expect);
}

#[test]
fn a_round_that_passes_does_not_replace_a_verdict_that_failed() {
    let mut sim = loop_with(vec![Turn::new("pp"); 2], vec![judged("fp", None, Vec::new())]);
    while verdicts(&sim) == 0 {
        assert!(sim.step(), "never judged");
    }
    sim.command(UserCommand::Pause);
    sim.command(UserCommand::Check);
    sim.play();
    assert!(sim.state.criteria.required_checks_pass(), "the round in the work tree passes");
    assert_eq!(sim.state.outcome(), None);
    sim.command(UserCommand::Resume);
    sim.play();
    completes(&sim, 2, "completed, verified: all 2 required criteria pass after 2 iterations");
}

#[test]
fn a_pass_that_needs_a_changed_judge_is_weakened_until_it_is_accepted() {
    let needs_judge = judged("pp", Some("fp"), vec![judge()]);
    let mut sim = loop_with(vec![Turn::new("pp"), Turn::idle("pp")], vec![needs_judge]).run();
    let what = "tests/a.py changed, and with its version of the start \"tests\" fails: 1 of 2 fail";
    assert!(sim.prompts[1].contains(what), "{}", sim.prompts[1]);
    assert!(sim.sentence().starts_with(&format!("every check passes, but {what}")), "{}", sim.sentence());
    assert_eq!((sim.state.iteration, verdicts(&sim)), (2, 1));
    sim.command(UserCommand::AcceptWeakening { by: None });
    sim.play();
    completes(
        &sim,
        2,
        "completed, verified: all 2 required criteria pass after 2 iterations; you accepted tests/a.py",
    );
    assert_eq!(verdicts(&sim), 2);
}

#[test]
fn a_judge_that_the_agent_edits_again_is_judged_again() {
    let needs_judge = judged("pp", Some("fp"), vec![judge()]);
    let turns = vec![Turn::new("pp"), Turn { changed: vec![JUDGE], ..Turn::new("pp") }];
    let sim = loop_with(turns, vec![needs_judge]).run();
    completes(&sim, 2, "completed, verified: all 2 required criteria pass after 2 iterations");
}

#[test]
fn a_weakening_that_the_work_does_not_need_is_lifted() {
    let weakens = Turn { weakens: Some(vec![JUDGE]), ..Turn::new("pp") };
    let sim = loop_with(vec![weakens.clone()], vec![judged("pp", Some("pp"), vec![judge()])]).run();
    completes(
        &sim,
        1,
        "completed, verified: all 2 required criteria pass after 1 iteration; \
         1 test file changed, the checks pass with the old one too",
    );
    // The verdict is about another file.
    let other = ChangedJudge { path: "tests/b.py".to_owned(), ..judge() };
    let sim = loop_with(vec![weakens, Turn::idle("pp")], vec![judged("pp", Some("pp"), vec![other])]).run();
    assert!(sim.sentence().contains("tests/a.py lost 1 test"), "{}", sim.sentence());
}

#[test]
fn old_tests_that_cannot_run_make_the_outcome_claimed_unless_only_imports_changed() {
    let cannot = |weakened: bool, change: JudgeChange| {
        let pinned = Some(round("fp", "ImportError: cannot import name 'add'"));
        let judges = vec![ChangedJudge { change, ..judge() }];
        let rounds = VerdictRounds { pinned, judges, ..sim::verdict_rounds(round("pp", "")) };
        let act = Turn { weakens: weakened.then(|| vec![JUDGE]), ..Turn::new("pp") };
        loop_with(vec![act, Turn::idle("pp")], vec![VerdictReply::Judged(Box::new(rounds))]).run()
    };
    let renamed = cannot(false, JudgeChange::Other);
    let expect = "completed, claimed, not verified: all 2 required criteria pass after 1 iteration; \
                  1 test file changed, and the checks cannot run with the old one: review it";
    assert_eq!(renamed.sentence(), expect);
    completes(
        &cannot(false, JudgeChange::OnlyImports),
        1,
        "completed, verified: all 2 required criteria pass after 1 iteration; \
         1 test file changed, and the checks cannot run with the old one: review it",
    );
    assert!(
        cannot(true, JudgeChange::Other)
            .sentence()
            .starts_with("every check passes, but tests/a.py lost 1 test, and with")
    );
}

#[test]
fn an_input_that_could_not_be_judged_leaves_the_outcome_claimed() {
    let check = |unrecorded: UnrecordedInputs, reason: &str| {
        let rounds = VerdictRounds { unrecorded, ..sim::verdict_rounds(round("pp", "")) };
        let sim = loop_with(vec![Turn::new("pp")], vec![VerdictReply::Judged(Box::new(rounds))]).run();
        let expect = format!(
            "completed, claimed, not verified: all 2 required criteria pass after 1 iteration; {reason}"
        );
        assert_eq!(sim.sentence(), expect);
        assert!(!sim.state.outcome().unwrap().verified);
    };
    check(
        UnrecordedInputs {
            left_outside: vec!["/home/u/x".to_owned(), "/opt/y".to_owned()],
            ..UnrecordedInputs::default()
        },
        "the checks need files created outside the work tree since the start, one of: /home/u/x, /opt/y",
    );
    check(
        UnrecordedInputs { unlisted: vec!["lib/impl.js".to_owned()], ..UnrecordedInputs::default() },
        "the checks need lib/impl.js, which the tree does not hold: ignored since the start, or listed in no manifest",
    );
    check(
        UnrecordedInputs {
            outside: OutsideFiles { count: 1000, is_partial: true, visible: None },
            ..UnrecordedInputs::default()
        },
        "could not be judged, because too much is new outside the work tree to hide it",
    );
    check(
        UnrecordedInputs { unstored: vec!["tests/big.json".to_owned()], ..UnrecordedInputs::default() },
        "could not be judged, because it changed and is too large to be stored: tests/big.json",
    );
    check(
        UnrecordedInputs { of_judge: vec!["/home/u/bin/claude".to_owned()], ..UnrecordedInputs::default() },
        "the agent that answered `judge` is new since the start: /home/u/bin/claude",
    );
    check(
        UnrecordedInputs { hidden_from_clean: vec!["a.py".to_owned()], ..UnrecordedInputs::default() },
        "`clean` did not see a.py, which git ignores by rules outside the tree",
    );
    check(
        UnrecordedInputs { is_partial: true, ..UnrecordedInputs::default() },
        "could not be judged, because too many ignored files changed to compare all of them",
    );
}

/// The checks pass with the judges of the start, but run fewer tests than at the start.
#[test]
fn fewer_tests_with_the_old_judges_count_as_weakened_unless_the_task_allows_it() {
    let plays = |may_change: &[&str], changed: &'static str| {
        let mut spec = sandboxed();
        spec.settings.may_change = may_change.iter().map(ToString::to_string).collect();
        let act = Turn { changed: vec![changed], ..Turn::new("5p") };
        let mut sim = Sim::new(spec, "5f", vec![act, Turn::idle("5p")]);
        sim.verdicts = vec![judged("5p", Some("3p"), vec![judge()])];
        sim.run()
    };
    let is_weakened = |may_change: &[&str], changed: &'static str| {
        let sim = plays(may_change, changed);
        let what =
            "tests/a.py changed, and with its version of the start \"tests\" runs 3 tests, 5 at the start";
        assert!(sim.sentence().contains(what), "{}", sim.sentence());
    };
    is_weakened(&[], "app.py");
    is_weakened(&["golden/**"], "app.py");
    completes(
        &plays(&["golden/**"], "golden/a.txt"),
        1,
        "completed, verified: all 2 required criteria pass after 1 iteration; \
         1 test file changed, the checks pass with the old one too",
    );
}

#[test]
fn added_tests_are_not_compared_with_goals_without_tests() {
    let new = ChangedJudge { is_new: true, change: JudgeChange::OnlyAdded, ..judge() };
    let sim = loop_with(vec![Turn::new("pp")], vec![judged("pp", Some("fp"), vec![new.clone()])]).run();
    completes(
        &sim,
        1,
        "completed, verified: all 2 required criteria pass after 1 iteration; 1 test file added",
    );
    let instead = ChangedJudge { replaces_other: true, ..new };
    let turns = vec![Turn::new("pp"), Turn::idle("pp")];
    let sim = loop_with(turns, vec![judged("pp", Some("fp"), vec![instead])]).run();
    assert!(
        sim.sentence().contains("tests/a.py is new, and without it \"tests\" fails"),
        "{}",
        sim.sentence()
    );
}

#[test]
fn a_missing_clean_room_is_reported() {
    let why = VerdictReply::Unavailable { why: "bubblewrap is not installed".to_owned() };
    completes(
        &loop_with(vec![Turn::new("pp")], vec![why]).run(),
        1,
        "completed, verified: all 2 required criteria pass after 1 iteration; \
         judged in the work tree, without a clean room: bubblewrap is not installed",
    );
}

#[test]
fn files_that_change_under_the_verdict_are_judged_again() {
    let sim = loop_with(vec![Turn::new("pp")], vec![VerdictReply::Disturbed]).run();
    completes(&sim, 1, "completed, verified: all 2 required criteria pass after 1 iteration");
    assert_eq!(verdicts(&sim), 1);
    let rounds = sim.entries.iter().filter(|it| matches!(it.record, Record::ChecksDone { .. })).count();
    assert_eq!(rounds, 2);
}

#[test]
fn a_stop_now_does_not_wait_for_the_verdict() {
    let mut sim = loop_with(vec![Turn::new("pp")], Vec::new());
    while !sim.live.work.is_checking() {
        assert!(sim.step(), "never asked for a verdict");
    }
    sim.command(UserCommand::StopNow);
    sim.play();
    assert_eq!(sim.state.outcome().map(|it| it.kind), Some(OutcomeKind::Stopped), "{}", sim.sentence());
}

#[test]
fn goals_that_only_lack_coverage_are_judged_with_new_tests() {
    let check = |passed: u64, failed: u64, output: &str, expect: usize| {
        let sim = loop_with(vec![Turn::new("pp")], Vec::new()).run();
        let mut state = sim.state.clone();
        let id = state.criteria.pinned.first().map(|it| it.criterion.id.clone()).unwrap();
        state.weakening.tests.insert(id.clone(), 3);
        let tests = Some(TestCounts { passed, failed, skipped: 0 });
        let result =
            CheckResult { tests, head: output.to_owned(), ..CheckResult::new(id, Status::Fail, "exit 1") };
        let goals = CleanRoomGoals::of(&state);
        assert_eq!(goals.to_repeat(&round_of(vec![result])).len(), expect, "{passed} {failed} {output}");
    };
    let covers_too_little = "FAIL Required test coverage of 90% not reached. Total coverage: 76.00%";
    check(3, 0, covers_too_little, 1);
    check(3, 1, covers_too_little, 0);
    check(3, 0, "Jest: \"global\" coverage threshold for lines (90%) not met: 60%", 1);
    check(3, 0, "exit 1", 0);
}
