//! Mutants of the lines that a loop changed, which are tried before it completes as verified.

use crate::check::{CheckResult, Status};
use crate::decide::UserCommand;
use crate::decide::final_verdict::VerdictReply;
use crate::decide::mutants::{MutantCounts, MutantReply, mutant_timeout_ms};
use crate::decide::sim::{Sim, Turn, criterion, round_of, spec, verdict_rounds};
use crate::journal::{LoopSpec, OutcomeKind, Record, SurvivingMutant};
use crate::settings::{MutantPolicy, SandboxMode};

fn spec_with(policy: MutantPolicy) -> LoopSpec {
    let mut spec = spec(vec![criterion("tests", "t"), criterion("lint", "l")]);
    spec.settings.sandbox = SandboxMode::Auto;
    spec.settings.mutants = policy;
    spec
}

fn sim(policy: MutantPolicy, turns: Vec<Turn>, replies: Vec<MutantReply>) -> Sim {
    let mut sim = Sim::new(spec_with(policy), "ff", turns);
    sim.mutants = replies.into_iter().map(Some).collect();
    sim
}

fn survivor() -> SurvivingMutant {
    SurvivingMutant {
        path: "calc.py".to_owned(),
        line: 2,
        before: "return a + b".to_owned(),
        after: "return a - b".to_owned(),
    }
}

fn found(tried: u64, survivors: Vec<SurvivingMutant>) -> MutantReply {
    MutantReply::Tested(MutantCounts {
        tried,
        noticed: tried - survivors.len() as u64,
        survivors,
        hollow: Vec::new(),
    })
}

fn records(sim: &Sim) -> Vec<&Record> {
    sim.entries.iter().map(|it| &it.record).filter(|it| matches!(it, Record::Mutants { .. })).collect()
}

#[track_caller]
fn completes(sim: &Sim, iterations: u32) {
    let outcome = sim.state.outcome().unwrap_or_else(|| panic!("open: {}", sim.sentence()));
    let end = (outcome.kind, outcome.verified, sim.state.iteration);
    assert_eq!(end, (OutcomeKind::Completed, true, iterations), "{}", outcome.sentence);
}

/// A positive verdict whose checks took this long each.
fn verdict(ms: u64) -> VerdictReply {
    let result = |it: &loopkeeper_task::criterion::Criterion| CheckResult {
        duration_ms: ms,
        ..CheckResult::new(it.id.clone(), Status::Pass, "")
    };
    let results = spec_with(MutantPolicy::Tell).criteria.iter().map(result).collect();
    VerdictReply::Judged(Box::new(verdict_rounds(round_of(results))))
}

#[test]
fn survivors_are_recorded_once_and_the_loop_completes() {
    let sim = sim(MutantPolicy::Tell, vec![Turn::new("pp")], vec![found(3, vec![survivor()])]).run();
    completes(&sim, 1);
    let [Record::Mutants { tried: 3, noticed: 2, survivors, skipped: None, .. }] = records(&sim)[..] else {
        panic!("{:?}", records(&sim));
    };
    assert_eq!(*survivors, [survivor()]);
    assert_eq!(sim.tested.len(), 1);
    assert_eq!(
        survivor().sentence(),
        "calc.py:2: no check notices `return a - b` in place of `return a + b`"
    );
}

#[test]
fn mutants_need_the_setting_and_a_clean_room_verdict() {
    let check = |sim: Sim| {
        let sim = sim.run();
        assert!(sim.tested.is_empty() && records(&sim).is_empty(), "{}", sim.sentence());
    };
    check(sim(MutantPolicy::Off, vec![Turn::new("pp")], Vec::new()));
    check(sim(MutantPolicy::Tell, vec![Turn::idle("fp")], Vec::new()));
    let mut no_room = sim(MutantPolicy::Tell, vec![Turn::new("pp")], Vec::new());
    no_room.verdicts = vec![VerdictReply::Unavailable { why: "no bubblewrap".to_owned() }];
    check(no_room);
    let mut off = spec_with(MutantPolicy::Tell);
    off.settings.sandbox = SandboxMode::Off;
    check(Sim::new(off, "ff", vec![Turn::new("pp")]));
}

#[test]
fn the_time_depends_on_one_round_of_the_checks() {
    let check = |ms: u64, budget_ms: Option<u64>, skipped: Option<&str>| {
        let mut sim = sim(MutantPolicy::Tell, vec![Turn::new("pp")], Vec::new());
        sim.verdicts = vec![verdict(ms)];
        let sim = sim.run();
        completes(&sim, 1);
        assert_eq!(sim.tested.first().map(|it| it.budget_ms), budget_ms);
        let [Record::Mutants { skipped: why, .. }] = records(&sim)[..] else { panic!("{ms}") };
        assert_eq!(why.as_deref(), skipped);
    };
    check(10, Some(10_000), None);
    check(1_000, Some(20_000), None);
    check(1_500, Some(30_000), None);
    check(2_000, None, Some("one round of the checks takes 4.0 s"));
    for (took, timeout, expect) in [(10, 600_000, 1_000), (2_000, 600_000, 6_000), (2_000, 3_000, 3_000)] {
        assert_eq!(mutant_timeout_ms(took, timeout), expect);
    }
}

#[test]
fn files_that_change_meanwhile_are_judged_again() {
    let replies = vec![MutantReply::Disturbed, found(1, Vec::new())];
    let sim = sim(MutantPolicy::Tell, vec![Turn::new("pp")], replies).run();
    completes(&sim, 1);
    assert_eq!((records(&sim).len(), sim.tested.len()), (1, 2));
}

#[test]
fn a_stop_ends_the_run_and_the_loop_completes() {
    let mut sim = sim(MutantPolicy::Tell, vec![Turn::new("pp")], Vec::new());
    sim.mutants = [None].into();
    while sim.tested.is_empty() {
        assert!(sim.step(), "never asked for mutants");
    }
    sim.command(UserCommand::StopNow);
    sim.play();
    completes(&sim, 1);
    assert!(records(&sim).is_empty());
}

/// A run of four mutants of which this many survive.
fn left(survivors: usize) -> MutantReply {
    found(4, vec![survivor(); survivors])
}

/// The loop with required mutants after these iterations and runs: its iterations, whether it is verified, its sentence.
#[track_caller]
fn required(turns: Vec<Turn>, replies: Vec<MutantReply>) -> (u32, bool, String) {
    let sim = sim(MutantPolicy::Require, turns, replies).run();
    let outcome = sim.state.outcome().cloned().unwrap_or_else(|| panic!("open: {}", sim.sentence()));
    assert_eq!(outcome.kind, OutcomeKind::Completed, "{}", outcome.sentence);
    (sim.state.iteration, outcome.verified, outcome.sentence.to_string())
}

#[test]
fn required_survivors_go_to_the_next_prompt_until_none_is_left() {
    let turns = || vec![Turn::new("pp"), Turn::new("pp"), Turn::new("pp"), Turn::new("pp")];
    let (iterations, verified, sentence) = required(turns(), vec![left(2), left(1), left(0)]);
    assert_eq!((iterations, verified), (3, true), "{sentence}");
    // An iteration that kills no further mutant, then one that does: the count starts again.
    let (iterations, verified, _) = required(turns(), vec![left(2), left(2), left(1), left(0)]);
    assert_eq!((iterations, verified), (4, true));
}

#[test]
fn two_iterations_without_a_killed_mutant_end_as_claimed() {
    let check = |turns: Vec<Turn>, replies: Vec<MutantReply>| {
        let (iterations, verified, sentence) = required(turns, replies);
        assert_eq!((iterations, verified), (3, false), "{sentence}");
        assert!(sentence.starts_with("completed, claimed, not verified: "), "{sentence}");
        assert!(sentence.ends_with("; no check notices 2 of 4 mutants: calc.py:2"), "{sentence}");
    };
    let works = || Turn::new("pp");
    check(vec![works(), works(), works()], vec![left(2), left(3), left(2)]);
    // Nothing changed, nothing is tried again.
    check(vec![works(), Turn::idle("pp"), Turn::idle("pp")], vec![left(2)]);
}

/// The end of a loop of two iterations.
#[track_caller]
fn limited(policy: MutantPolicy, turns: Vec<Turn>, replies: Vec<MutantReply>, expect: &str) {
    let mut spec = spec_with(policy);
    spec.settings.limits.iterations = 2;
    let mut sim = Sim::new(spec, "ff", turns);
    sim.mutants = replies.into_iter().map(Some).collect();
    let sim = sim.run();
    let outcome = sim.state.outcome().unwrap_or_else(|| panic!("open: {}", sim.sentence()));
    assert_eq!(outcome.sentence.to_string(), expect);
    assert!(!outcome.verified || expect.starts_with("completed"), "{expect}");
}

#[test]
fn a_limit_names_the_required_survivors() {
    const REACHED: &str = "limit reached: 2 iterations; 2 of 2 required criteria pass";
    let works = || vec![Turn::new("pp"), Turn::new("pp")];
    let check = |turns: Vec<Turn>, replies: Vec<MutantReply>, expect: &str| {
        limited(MutantPolicy::Require, turns, replies, expect);
    };
    check(works(), vec![left(3), left(2)], &format!("{REACHED}; no check notices 2 of 4 mutants: calc.py:2"));
    let elsewhere = |line: u32| SurvivingMutant { line, ..survivor() };
    // In the order of the lines, whatever the order of the run.
    let four = [5, 3, 6, 4].map(elsewhere).to_vec();
    let named = "; no check notices 4 of 9 mutants: calc.py:3, calc.py:4, calc.py:5 …";
    check(works(), vec![left(3), found(9, four)], &format!("{REACHED}{named}"));
    // Idle: the survivors are those of the same tree.
    let idle = vec![Turn::new("pp"), Turn::idle("pp")];
    check(idle, vec![left(1)], &format!("{REACHED}; no check notices 1 of 4 mutants: calc.py:2"));
    // A tree that fails its checks has no mutants yet: what fails is open.
    let fails = vec![Turn::new("pp"), Turn::new("fp")];
    check(fails, vec![left(1)], "limit reached: 2 iterations; 1 of 2 required criteria pass");
    let never = vec![Turn::new("fp"), Turn::new("pf")];
    check(never, Vec::new(), "limit reached: 2 iterations; 1 of 2 required criteria pass");
    // Control: survivors that are only shown keep nothing open.
    let told = "completed, verified: all 2 required criteria pass after 1 iteration";
    limited(MutantPolicy::Tell, works(), vec![left(2)], told);
}

#[test]
fn required_mutants_that_were_not_tried_leave_the_loop_claimed() {
    let skipped = MutantReply::Skipped { why: "the time ran out before the first".to_owned() };
    let (iterations, verified, sentence) = required(vec![Turn::new("pp")], vec![skipped]);
    assert_eq!((iterations, verified), (1, false));
    assert!(sentence.ends_with("; no mutants were tried: the time ran out before the first"), "{sentence}");
    let mut no_room = sim(MutantPolicy::Require, vec![Turn::new("pp")], Vec::new());
    no_room.verdicts = vec![VerdictReply::Unavailable { why: "no bubblewrap".to_owned() }];
    let no_room = no_room.run();
    assert!(!no_room.state.outcome().unwrap().verified, "{}", no_room.sentence());
    // Nothing that can be mutated is no survivor.
    let (_, verified, sentence) = required(vec![Turn::new("pp")], vec![found(0, Vec::new())]);
    assert!(verified, "{sentence}");
}

#[test]
fn a_slow_round_is_repeated_where_mutants_are_required() {
    let mut sim = sim(MutantPolicy::Require, vec![Turn::new("pp")], Vec::new());
    sim.verdicts = vec![verdict(4_000)];
    let sim = sim.run();
    assert_eq!(sim.tested.first().map(|it| it.budget_ms), Some(80_000));
}
