//! When a loop ends: claims of the agent where no check decides, stages, groups, and conditions of the user.

use super::outcomes::{summary, two};
use crate::decide::sim::{Sim, Turn, criterion, item, spec};
use crate::journal::LoopSpec;
use crate::settings::GroupRule;
use loopkeeper_task::criterion::Criterion;

const DONE: &str = "<promise>COMPLETE</promise>";

/// Plays a task without checks; each message is one iteration that changes a file.
fn run_with_messages(messages: &[&'static str], expect: &str) -> Sim {
    let turns = messages.iter().map(|it| Turn::new("").says(it)).collect();
    plays(prose(messages.len() as u32), "", turns, expect)
}

fn prose(iterations: u32) -> LoopSpec {
    let mut spec = spec(vec![criterion("it reads well", "")]);
    spec.settings.limits.iterations = iterations;
    spec
}

fn plays(spec: LoopSpec, start: &'static str, turns: Vec<Turn>, expect: &str) -> Sim {
    let sim = Sim::new(spec, start, turns).run();
    assert_eq!(summary(&sim), expect, "{}", sim.sentence());
    sim
}

#[test]
fn an_exit_signal_completes_only_with_enough_indicators() {
    const LIMIT: &str = "Limit verified=false after 1";
    let check = |says, expect| run_with_messages(&[says], expect);
    check(
        "EXIT_SIGNAL: true\nAll features are implemented. All tests pass.",
        "Completed verified=false after 1",
    );
    check("EXIT_SIGNAL: true\nI did some work.", LIMIT);
    check("EXIT_SIGNAL: false\nAll features are implemented. All tests pass.", LIMIT);
    check("EXIT_SIGNAL: false\nI did some work.", LIMIT);
    check("All features are implemented. All tests pass.", LIMIT);
    check("I did some work.", LIMIT);
}

#[test]
fn two_done_signals_in_a_row_complete_a_loop() {
    const TWICE: &str = "Completed verified=false after 2";
    run_with_messages(&[DONE, DONE], TWICE);
    run_with_messages(&["EXIT_SIGNAL: true", "EXIT_SIGNAL: true"], TWICE);
    // Different claims, one after the other, are still two.
    run_with_messages(&["EXIT_SIGNAL: true", DONE], TWICE);
    // Work in between restarts the count, and a veto is no claim.
    run_with_messages(&[DONE, "Found a bug, fixed it.", DONE], "Limit verified=false after 3");
    run_with_messages(
        &[DONE, "EXIT_SIGNAL: false\n<promise>COMPLETE</promise>", DONE],
        "Limit verified=false after 3",
    );
    // Words alone accompany every finished step.
    let words = "All features are implemented. All tests pass.";
    run_with_messages(&[words, words, words], "Limit verified=false after 3");
    let idle = || Turn::idle("").says(words);
    plays(prose(5), "", vec![Turn::new("").says(words), idle(), idle()], "Completed verified=false after 3");
}

#[test]
fn a_plan_is_done_when_every_item_is_ticked() {
    let mut planned = prose(9);
    planned.plan = vec![item("one"), item("two")];
    let turns = vec![Turn { ticks: 1, ..Turn::new("") }, Turn { ticks: 2, ..Turn::new("").says(DONE) }];
    let sim = plays(planned.clone(), "", turns, "Completed verified=false after 2");
    assert!(sim.sentence().contains("every plan item is ticked"), "{}", sim.sentence());
    // The agent itself reports more work.
    let turns = vec![
        Turn { ticks: 2, ..Turn::new("").says("EXIT_SIGNAL: false") },
        Turn { ticks: 2, ..Turn::new("") },
    ];
    plays(planned.clone(), "", turns, "Completed verified=false after 2");
    // An open item is remaining work, whatever is claimed.
    let turns = (0..9).map(|_| Turn { ticks: 1, ..Turn::new("").says(DONE) }).collect();
    plays(planned.clone(), "", turns, "Limit verified=false after 9");
    // Nothing was open from the start: no agent needs to be started.
    for item in &mut planned.plan {
        item.done = true;
    }
    let mut sim = Sim::new(planned, "", Vec::new());
    sim.state.plan.iter_mut().for_each(|it| it.done = true);
    let sim = sim.run();
    assert_eq!(summary(&sim), "Completed verified=false after 0", "{}", sim.sentence());
}

#[test]
fn a_message_that_claims_and_denies_is_not_a_done_signal() {
    const LIMIT: &str = "Limit verified=false after 2";
    for says in [
        "I am about 80% done.\n<promise>COMPLETE</promise>",
        "Progress: 80%\n<promise>COMPLETE</promise>",
        "3 tests are failing.\nEXIT_SIGNAL: true",
        "All features are implemented. All tests pass. Moving to next.\nEXIT_SIGNAL: true",
        "---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---",
    ] {
        let sim = run_with_messages(&[says, says], LIMIT);
        assert_eq!(sim.state.history[0].claim, None, "{says}");
        assert!(
            sim.state.history[0].sentence.contains("claims to be done"),
            "{}",
            sim.state.history[0].sentence
        );
    }
    // Nor does it replace a claim for a criterion without a check.
    let mut half = spec(vec![criterion("tests", "make"), criterion("it reads well", "")]);
    half.settings.limits.iterations = 1;
    let says = "The tests still fail.\nEXIT_SIGNAL: true";
    plays(half, "f-", vec![Turn::new("p-").says(says)], "Limit verified=false after 1");
}

#[test]
fn test_only_iterations_stop_a_loop_without_checks() {
    let tests = || Turn { ran: vec!["cargo test"], ..Turn::new("ff") };
    let only = || Turn { changed: vec!["tests/a.rs"], ..tests() };
    let sim = plays(prose(9), "", vec![only(), only(), only()], "Stopped verified=false after 3");
    assert!(!sim.sentence().contains("claimed"), "{}", sim.sentence());
    assert!(sim.sentence().contains("the last 3 iterations did nothing but run tests"), "{}", sim.sentence());
    // Work in between restarts the count; more than a quarter of the last ten is too much as well.
    let work = || tests();
    let turns = vec![work(), work(), only(), work(), only(), work(), work(), work(), work(), only()];
    let sim = plays(prose(20), "", turns, "Stopped verified=false after 10");
    assert!(sim.sentence().contains("3 of the last 10 iterations"), "{}", sim.sentence());
    // If a check decides, it is only advice.
    let mut checked = spec(two());
    checked.settings.limits.iterations = 4;
    let sim = plays(checked, "ff", vec![only(), only(), only(), only()], "Limit verified=false after 4");
    assert!(sim.prompts[3].contains("did nothing but run tests"), "{}", sim.prompts[3]);
    assert!(!sim.prompts[2].contains("did nothing but run tests"));
}

fn grouped(name: &str, group: &str) -> Criterion {
    Criterion { group: Some(group.to_owned()), ..criterion(name, &format!("make {name}")) }
}

#[test]
fn groups_by_majority_complete_without_being_verified() {
    let spec_with = |rule| {
        let names = [("a", "core"), ("b", "core"), ("c", "core"), ("d", "docs")];
        let mut spec = spec(names.iter().map(|(name, group)| grouped(name, group)).collect());
        spec.settings.exit.groups = rule;
        spec.settings.limits.iterations = 2;
        spec
    };
    let turns = || vec![Turn::new("ppff"), Turn::new("ppfp")];
    plays(spec_with(GroupRule::All), "ffff", turns(), "Limit verified=false after 2");
    let sim = plays(spec_with(GroupRule::Majority), "ffff", turns(), "Completed verified=false after 2");
    assert!(sim.sentence().contains("3 of 4 required criteria"), "{}", sim.sentence());
    plays(spec_with(GroupRule::Majority), "ffff", vec![Turn::new("pppp")], "Completed verified=true after 1");
    // Half is no majority, and a criterion without a group must hold.
    plays(
        spec_with(GroupRule::Majority),
        "ffff",
        vec![Turn::new("pfff"), Turn::new("pffp")],
        "Limit verified=false after 2",
    );
    let mut loose = spec_with(GroupRule::Majority);
    loose.criteria.push(criterion("e", "make e"));
    plays(loose, "fffff", vec![Turn::new("ppfpf"), Turn::new("ppfpp")], "Completed verified=false after 2");
}

#[test]
fn a_stage_is_due_when_the_earlier_ones_hold() {
    let stage =
        |name: &str, stage| Criterion { stage: Some(stage), ..criterion(name, &format!("make {name}")) };
    let spec = spec(vec![stage("tests", 1), stage("lint", 2), stage("coverage", 3)]);
    let turns = vec![Turn::new("pff"), Turn::new("ppf"), Turn::new("ppp")];
    let sim = plays(spec, "fff", turns, "Completed verified=true after 3");
    let asked = |n: usize| {
        let prompt = &sim.prompts[n];
        let (now, later) = prompt.split_once("## What comes later").unwrap_or((prompt, ""));
        let named =
            |text: &str| ["tests", "lint", "coverage"].iter().filter(|it| text.contains(**it)).count();
        (named(now.split_once("## What fails").expect("something fails").1), named(later))
    };
    assert_eq!((asked(0).0, asked(1).0), (1, 1), "{}", sim.prompts[1]);
    assert!(sim.prompts[0].contains("What fails: 1 of 1 checks"), "{}", sim.prompts[0]);
    assert!(sim.prompts[0].contains("- coverage (stage 3)"), "{}", sim.prompts[0]);
    assert!(!sim.prompts[2].contains("What comes later"), "{}", sim.prompts[2]);
}

fn when(condition: &str) -> LoopSpec {
    let mut spec = spec(two());
    spec.settings.exit.when = Some(condition.to_owned());
    spec.settings.limits.iterations = 4;
    spec
}

#[test]
fn exit_when_decides_when_a_loop_ends() {
    let check = |condition, start, turns, expect| plays(when(condition), start, turns, expect);
    let work = || vec![Turn::new("pf"), Turn::new("pp"), Turn::new("pp").says(DONE)];
    check("criteria", "ff", work(), "Completed verified=true after 2");
    check("criteria and promise", "ff", work(), "Completed verified=true after 3");
    check("criteria or iterations>=1", "ff", work(), "Stopped verified=false after 1");
    // A condition that already holds needs no agent, unless it requires more.
    check("criteria", "pp", vec![], "Completed verified=true after 0");
    check("criteria and iterations>0", "pp", vec![Turn::new("pp")], "Completed verified=true after 1");
    // Whatever the condition, a loop does not complete while a check fails.
    let sim = check("promise", "ff", vec![Turn::new("pf").says(DONE)], "Stopped verified=false after 1");
    let expect =
        "ended by exit.when, not completed: promise given, 1 of 2 required checks fail after 1 iteration";
    assert_eq!(sim.sentence(), expect);
    check("promise", "ff", vec![Turn::new("pp").says(DONE)], "Completed verified=true after 1");
    check("plan", "ff", vec![Turn::new("ff")], "Stopped verified=false after 1");
    check("exit_signal and indicators", "ff", vec![Turn::new("ff"); 4], "Limit verified=false after 4");
    let mut alone = when("done_signals>=1 and not exit_signal");
    alone.criteria.clear();
    plays(alone, "", vec![Turn::new("").says(DONE)], "Completed verified=false after 1");
}

#[test]
fn a_condition_without_a_claim_in_it_stops() {
    const STOPPED: &str = "Stopped verified=false after 2";
    const CLAIMED: &str = "Completed verified=false after 2";
    let check = |condition: &str, says: &'static str, expect: &str| {
        let mut spec = when(condition);
        spec.criteria = vec![criterion("it reads well", "")];
        plays(spec, "", vec![Turn::new(""), Turn::new("").says(says)], expect)
    };
    let sim = check("iterations>=2", "", STOPPED);
    let why =
        "ended by exit.when, not completed: iterations 2 >= 2 after 2 iterations, and no claim to be done";
    assert_eq!(sim.sentence(), why);
    check("duration>=2m", "", STOPPED);
    check("cost>=0.02", "", STOPPED);
    check("iterations>=2 and not promise", "", STOPPED);
    check("promise or iterations>=2", "", STOPPED);
    check("plan and iterations>=2", "", STOPPED);
    check("promise or iterations>=2", DONE, CLAIMED);
    check("iterations>=2 and exit_signal", "EXIT_SIGNAL: true", CLAIMED);
    check("text(\"shipped\")", "It is shipped.", CLAIMED);
    // Idle for long: there is no claim.
    let mut idle = when("idle>=1m");
    idle.criteria = vec![criterion("it reads well", "")];
    plays(idle, "", vec![Turn::idle(""), Turn::idle("")], "Stopped verified=false after 1");
    // In addition to passing checks, a criterion without a check is claimed or not.
    let beside = |says: &'static str, expect: &str| {
        let mut spec = when("criteria");
        spec.criteria = vec![criterion("tests", "make"), criterion("it reads well", "")];
        plays(spec, "f-", vec![Turn::new("f-"), Turn::new("p-").says(says)], expect);
    };
    beside("", STOPPED);
    beside(DONE, CLAIMED);
}

#[test]
fn a_tick_without_work_is_not_a_milestone() {
    let mut planned = prose(4);
    planned.plan = vec![item("one"), item("two"), item("three")];
    let tick = |ticks, changed| Turn { changed, ticks, ..Turn::new("") };
    let turns =
        vec![tick(1, vec!["PROMPT.md"]), tick(2, vec!["PROMPT.md", "src/a.rs"]), tick(2, vec!["src/a.rs"])];
    let sim = Sim::new(planned, "", turns).run();
    let found: Vec<&[String]> =
        sim.state.history.recent().iter().take(3).map(|it| it.milestones.as_slice()).collect();
    assert_eq!(found, [&[] as &[String], &["done: two".to_owned()], &[]]);
}

#[test]
fn an_iteration_with_a_weakened_test_has_no_milestones() {
    let mut spec = spec(two());
    spec.plan = vec![item("one"), item("two")];
    spec.settings.limits.iterations = 3;
    let weak = Turn { ticks: 1, weakens: Some(vec!["tests/a.py"]), ..Turn::new("pf") };
    let fixed = Turn { ticks: 2, weakens: Some(vec![]), ..Turn::new("pp") };
    let sim = Sim::new(spec, "ff", vec![weak, fixed]).run();
    let history = &sim.state.history;
    assert!(history[0].sentence.contains("not counted as done"), "{}", history[0].sentence);
    assert!(history[0].milestones.is_empty(), "{:?}", history[0].milestones);
    assert_eq!(history[1].milestones, ["now passes: lint is clean", "done: two"]);
}
