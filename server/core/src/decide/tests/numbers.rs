//! Criteria whose number is compared with earlier rounds of the loop. A digit of an act is the number printed.

use crate::check::{CheckResult, Status};
use crate::decide::UserCommand;
use crate::decide::final_verdict::{VerdictReply, VerdictRounds};
use crate::decide::replay;
use crate::decide::sim::{Sim, Turn, criterion, round_of, spec, verdict_rounds};
use crate::journal::{LoopSpec, Role};
use crate::settings::SandboxMode;
use crate::tamper::judge_files::{ChangedJudge, JudgeChange};
use loopkeeper_task::criterion::{Criterion, NumberRule};

fn with_rule(rule: NumberRule) -> Criterion {
    Criterion { number_rules: vec![rule], ..criterion("coverage", "cov") }
}

/// Another criterion keeps the loop going until it passes.
fn loop_spec(rule: NumberRule, iterations: u32) -> LoopSpec {
    let mut spec = spec(vec![with_rule(rule), criterion("tests", "t")]);
    spec.settings.limits.iterations = iterations;
    spec
}

fn fact(sim: &Sim) -> &str {
    let id = &sim.state.criteria.pinned[0].criterion.id;
    &sim.state.criteria.results[id].fact
}

/// `expect`: the fact of the last round, whether the loop is verified, and its iterations.
#[track_caller]
fn check(rule: NumberRule, start: &'static str, turns: &[&'static str], expect: (&str, bool, u32)) -> Sim {
    let turns: Vec<Turn> = turns.iter().map(|it| Turn::new(it)).collect();
    let sim = Sim::new(loop_spec(rule, turns.len() as u32), start, turns).run();
    let outcome = sim.state.outcome().expect("ended");
    assert_eq!((fact(&sim), outcome.verified, sim.state.iteration), expect, "{}", sim.sentence());
    sim
}

#[test]
fn a_number_must_not_fall_below_the_best_so_far() {
    let rule = NumberRule::NotFalling;
    let sim = check(rule, "5f", &["5p"], ("5, baseline 5", true, 1));
    assert_eq!(sim.state.criteria.pinned[0].role, Role::Guard);
    check(rule, "5f", &["4p"], ("4, must not fall below 5 (baseline)", false, 1));
    // The reference rises to the best number, and stays there.
    check(rule, "5f", &["7f", "6p"], ("6, must not fall below 7 (best so far)", false, 2));
    check(rule, "5f", &["7f", "6p", "7p"], ("7, baseline 5", true, 3));
    check(rule, "ff", &["5p"], ("5, no baseline number to compare with", false, 1));
}

#[test]
fn a_number_must_rise_above_its_baseline() {
    let sim = check(NumberRule::Rising, "5p", &["5p", "6p"], ("6, baseline 5", true, 2));
    assert_eq!(sim.state.criteria.pinned[0].role, Role::Goal);
    assert!(sim.prompts[0].contains("Found: 5, must rise above 5 (baseline)"), "{}", sim.prompts[0]);
    assert!(sim.prompts[0].contains("(rising)"), "{}", sim.prompts[0]);
}

#[test]
fn the_reference_is_replayed() {
    let sim = check(
        NumberRule::NotFalling,
        "5f",
        &["7f", "6p"],
        ("6, must not fall below 7 (best so far)", false, 2),
    );
    let replayed = replay(&sim.entries).expect("a state");
    assert_eq!(replayed.criteria.numbers, sim.state.criteria.numbers);
    assert_eq!(replayed.criteria.numbers.values().next().expect("numbers").best, Some(7.0));
}

#[test]
fn a_rollback_resets_the_best_number() {
    let mut sim = Sim::new(loop_spec(NumberRule::NotFalling, 3), "5f", vec![Turn::new("8f")]);
    while sim.state.history.is_empty() {
        assert!(sim.step());
    }
    sim.command(UserCommand::Pause);
    sim.play();
    assert_eq!(fact(&sim), "8, baseline 5");
    sim.command(UserCommand::Rollback { to: 0, paths: Vec::new() });
    sim.play();
    sim.turns.push(Turn::new("6p"));
    sim.command(UserCommand::Resume);
    sim.play();
    assert_eq!(fact(&sim), "6, baseline 5", "{}", sim.sentence());
}

#[test]
fn the_clean_room_compares_with_the_same_numbers() {
    let mut spec = loop_spec(NumberRule::NotFalling, 1);
    spec.settings.sandbox = SandboxMode::Auto;
    let number = |it: &Criterion| CheckResult {
        number: Some(6.0).filter(|_| !it.number_rules.is_empty()),
        ..CheckResult::new(it.id.clone(), Status::Pass, "")
    };
    let results = spec.criteria.iter().map(number).collect();
    let mut sim = Sim::new(spec, "5f", vec![Turn::new("7p")]);
    sim.verdicts = vec![VerdictReply::Judged(Box::new(verdict_rounds(round_of(results))))];
    let sim = sim.run();
    assert!(!sim.state.outcome().expect("ended").verified);
    assert_eq!(fact(&sim), "6, must not fall below 7 (best so far) in a clean room");
}

#[test]
fn a_changed_script_that_measures_is_compared_as_at_the_start() {
    let plays = |path: &str| {
        let mut spec = loop_spec(NumberRule::Rising, 1);
        spec.settings.sandbox = SandboxMode::Auto;
        let of = |number: f64| {
            let result = |it: &Criterion| CheckResult {
                number: Some(number).filter(|_| !it.number_rules.is_empty()),
                ..CheckResult::new(it.id.clone(), Status::Pass, "")
            };
            round_of(spec.criteria.iter().map(result).collect())
        };
        let judge = ChangedJudge {
            path: path.to_owned(),
            is_new: false,
            replaces_other: false,
            composed: None,
            change: JudgeChange::Other,
        };
        let rounds = VerdictRounds { pinned: Some(of(5.0)), judges: vec![judge], ..verdict_rounds(of(7.0)) };
        let mut sim = Sim::new(spec, "5f", vec![Turn::new("7p")]);
        sim.verdicts = vec![VerdictReply::Judged(Box::new(rounds))];
        sim.run()
    };
    // The command of the criterion is `cov`.
    let weakened = plays("cov").state.weakening.weakened;
    assert!(weakened[0].what.starts_with("cov changed, and with its version of the start"), "{weakened:?}");
    assert!(plays("tests/a.py").state.outcome().expect("ended").verified);
}
