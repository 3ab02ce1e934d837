//! How loops end: from the turns of the agent and the results of the checks to outcome, sentence and iterations.

use crate::decide::sim::{Sim, Turn, criterion, item, quiet_run, spec};
use crate::decide::{Event, Phase, UserCommand, breaker, exit};
use crate::journal::{Edit, LoopSpec, OutcomeKind, PauseReason, Proposal, Record};
use loopkeeper_agent::{AgentRun, ProviderClass};
use loopkeeper_task::criterion::Criterion;

const DONE: &str = "<promise>COMPLETE</promise>";

pub(super) fn two() -> Vec<Criterion> {
    vec![criterion("tests pass", "make test"), criterion("lint is clean", "make lint")]
}

/// Plays a loop of two checked criteria and compares `kind verified iterations`.
fn check(start: &'static str, turns: Vec<Turn>, expect: &str) -> Sim {
    let sim = Sim::new(spec(two()), start, turns).run();
    assert_eq!(summary(&sim), expect, "{}", sim.sentence());
    sim
}

pub(super) fn summary(sim: &Sim) -> String {
    let n = sim.state.iteration;
    match (sim.state.outcome(), &sim.state.pause) {
        (Some(it), _) => format!("{:?} verified={} after {n}", it.kind, it.verified),
        (None, Some(it)) => format!("Paused {:?} after {n}", it.reason),
        (None, None) => format!("at work in {n}"),
    }
}

#[test]
fn a_loop_completes_when_every_check_passes() {
    check("ff", vec![Turn::new("pp")], "Completed verified=true after 1");
    check("ff", vec![Turn::new("pf"), Turn::new("fp"), Turn::new("pp")], "Completed verified=true after 3");
    // A claim while a check fails is ignored.
    check("ff", vec![Turn::new("pf").says(DONE), Turn::new("pp")], "Completed verified=true after 2");
    // No claim is needed if the checks pass.
    check("fp", vec![Turn::idle("fp"), Turn::new("pp")], "Completed verified=true after 2");
    // A guard that broke keeps the loop going.
    check("pf", vec![Turn::new("fp"), Turn::new("pp")], "Completed verified=true after 2");
    // Timeouts and zero tests are no passes.
    check("ff", vec![Turn::new("pt"), Turn::new("pz"), Turn::new("pp")], "Completed verified=true after 3");
}

#[test]
fn a_task_that_already_holds_starts_no_agent() {
    let sim = check("pp", vec![], "Completed verified=true after 0");
    assert!(sim.sentence().contains("already holds"), "{}", sim.sentence());
}

#[test]
fn a_loop_started_anyway_needs_a_claim() {
    let mut spec = spec(two());
    spec.anyway = true;
    let turns = vec![Turn::new("pp"), Turn::new("pp").says(DONE)];
    assert_eq!(summary(&Sim::new(spec, "pp", turns).run()), "Completed verified=true after 2");
}

#[test]
fn provider_failures_do_not_count_as_no_progress() {
    let limited = || Turn::fails(ProviderClass::Transient, "ff");
    let turns = vec![limited(), limited(), limited(), limited(), Turn::new("pp")];
    let sim = check("ff", turns, "Completed verified=true after 5");
    assert!(sim.entries.iter().any(|it| matches!(it.record, Record::Waiting { .. })));
}

#[test]
fn an_agent_that_cannot_work_needs_the_user() {
    check("ff", vec![Turn::fails(ProviderClass::Login, "ff")], "Paused Agent after 1");
    let crash = || Turn::fails(ProviderClass::Crash, "ff");
    let sim = check("ff", vec![crash(), crash(), crash()], "Paused Agent after 3");
    assert_eq!(waits(&sim), 2, "no wait after the last");
    // The time of a pause counts for the wait.
    let mut sim = Sim::new(spec(two()), "ff", vec![crash(), Turn::new("pp")]);
    while sim.state.iteration == 0 {
        sim.step();
    }
    sim.command(UserCommand::Pause);
    sim.play();
    sim.now = sim.now.plus_ms(60_000);
    sim.command(UserCommand::Resume);
    sim.play();
    assert_eq!((summary(&sim).as_str(), waits(&sim)), ("Completed verified=true after 2", 0));
}

#[test]
fn a_round_that_ends_before_it_is_cancelled_ends_the_loop_once() {
    let mut sim = Sim::new(spec(two()), "ff", vec![]);
    while sim.state.phase != Phase::Baseline {
        sim.step();
    }
    // The results arrive before the answer to the cancellation.
    sim.command(UserCommand::Stop);
    sim.play();
    sim.event(Event::ChecksCancelled);
    let ends = sim.entries.iter().filter(|it| matches!(it.record, Record::Ended { .. })).count();
    assert_eq!((ends, sim.sentence().as_str()), (1, "stopped before the first iteration"));
}

#[test]
fn a_stopping_loop_refuses_further_commands() {
    let mut sim = Sim::new(spec(two()), "ff", vec![Turn::new("ff")]);
    while sim.state.iteration == 0 {
        sim.step();
    }
    sim.command(UserCommand::Stop);
    for command in [
        UserCommand::Pause,
        UserCommand::Resume,
        UserCommand::Steer("left".to_owned()),
        UserCommand::ResetBreaker,
    ] {
        sim.command(command);
    }
    sim.play();
    assert_eq!(sim.refused.len(), 4);
    assert!(sim.refused.iter().all(|it| it.starts_with("the loop is stopping. Hint: ")), "{:?}", sim.refused);
    assert_eq!(summary(&sim), "Stopped verified=false after 1");
}

#[test]
fn a_wait_ends_with_the_loops_time() {
    let mut short = spec(two());
    short.settings.limits.between_ms = 3_600_000;
    short.settings.limits.duration_ms = 120_000;
    let sim = Sim::new(short, "ff", vec![Turn::new("ff")]).run();
    assert_eq!(summary(&sim), "Limit verified=false after 1");
    assert!(sim.state.time.worked_ms < 121_000, "{}", sim.state.time.worked_ms);
}

#[test]
fn files_changed_during_a_pause_are_judged_before_the_agent_starts() {
    let mut sim = Sim::new(spec(two()), "ff", vec![Turn::new("pf"), Turn::new("pp")]);
    while sim.state.iteration == 0 {
        sim.step();
    }
    sim.command(UserCommand::Pause);
    sim.play();
    sim.edited("fp");
    sim.command(UserCommand::Resume);
    sim.play();
    assert_eq!(summary(&sim), "Completed verified=true after 2");
    assert!(sim.prompts[1].contains("### tests pass\n\nRegressed"), "{}", sim.prompts[1]);
    // Work that the user finished needs no agent.
    let mut sim = Sim::new(spec(two()), "ff", vec![Turn::new("pf")]);
    while sim.state.iteration == 0 {
        sim.step();
    }
    sim.command(UserCommand::Pause);
    sim.play();
    sim.edited("pp");
    sim.command(UserCommand::Resume);
    sim.play();
    assert_eq!(summary(&sim), "Completed verified=true after 1");
}

fn waits(sim: &Sim) -> usize {
    sim.entries.iter().filter(|it| matches!(it.record, Record::Waiting { .. })).count()
}

#[test]
fn sentences_agree_in_number() {
    let mut one = spec(vec![criterion("tests pass", "make test")]);
    one.attended = false;
    let check =
        |spec, start, turns, expect: &str| assert_eq!(Sim::new(spec, start, turns).run().sentence(), expect);
    let already =
        "completed, verified: already holds, the one required criterion passed before the first iteration";
    let sim = Sim::new(one.clone(), "p", vec![]).run();
    assert!(sim.sentence().starts_with(already), "{}", sim.sentence());
    let own = "completed, verified: the one required criterion passes after 1 iteration";
    check(one.clone(), "f", vec![Turn::new("p")], own);
    one.settings.breaker.no_progress = 1;
    check(one, "f", vec![Turn::idle("f")], "breaker open: 1 iteration without a file change");
    let mut short = spec(two());
    short.settings.limits.duration_ms = 1_500;
    check(
        short,
        "ff",
        vec![Turn::new("ff")],
        "limit reached: 1.5 s of work, after 1 iteration; 0 of 2 required criteria pass",
    );
}

#[test]
fn quota_waits_until_the_reset() {
    let sim = check(
        "ff",
        vec![Turn::fails(ProviderClass::Quota, "ff"), Turn::new("pp")],
        "Completed verified=true after 2",
    );
    assert!(sim.state.elapsed_ms(sim.now) > 3_600_000);
}

#[test]
fn limits_end_the_loop() {
    let mut few = spec(two());
    few.settings.limits.iterations = 2;
    let busy = || vec![Turn::new("ff"), Turn::new("pf"), Turn::new("pp")];
    let sim = Sim::new(few, "ff", busy()).run();
    assert_eq!(summary(&sim), "Limit verified=false after 2");
    assert_eq!(sim.sentence(), "limit reached: 2 iterations; 1 of 2 required criteria pass");

    let mut few = spec(two());
    few.settings.limits.iterations = 2;
    let sim = Sim::new(few, "fu", vec![Turn::new("fu"), Turn::new("pu")]).run();
    let ends = "limit reached: 2 iterations; 1 of 2 required criteria pass, 1 unstable: files change while they are checked";
    assert_eq!(sim.sentence(), ends);

    let mut cheap = spec(two());
    cheap.settings.limits.cost_micros = 15_000;
    assert_eq!(summary(&Sim::new(cheap, "ff", busy()).run()), "Limit verified=false after 2");

    let mut short = spec(two());
    short.settings.limits.duration_ms = 90_000;
    assert_eq!(summary(&Sim::new(short, "ff", busy()).run()), "Limit verified=false after 2");
}

#[test]
fn a_hanging_agent_is_ended_and_its_tree_judged() {
    // No act left: the agent hangs. Three such iterations need the user.
    let sim = check("ff", vec![], "Paused Agent after 3");
    assert_eq!(breaker::counts(&sim.state).no_progress, 0);
}

#[test]
fn without_checks_only_claims_count() {
    let prose = || vec![criterion("looks nice", "")];
    let claim = || Turn::new("-").says(DONE);
    let sim = Sim::new(spec(prose()), "-", vec![claim(), claim()]).run();
    assert_eq!(summary(&sim), "Completed verified=false after 2");
    // Not in a row: no end.
    let turns = vec![claim(), Turn::new("-"), claim(), claim()];
    assert_eq!(summary(&Sim::new(spec(prose()), "-", turns).run()), "Completed verified=false after 4");
    // In addition to checks one claim is enough, and is needed.
    let mixed = || vec![criterion("tests pass", "make test"), criterion("looks nice", "")];
    let turns = vec![Turn::new("p-"), Turn::new("p-").says(DONE)];
    assert_eq!(summary(&Sim::new(spec(mixed()), "f-", turns).run()), "Completed verified=false after 2");
    // No criteria at all.
    assert_eq!(
        summary(&Sim::new(spec(vec![]), "", vec![claim(), claim()]).run()),
        "Completed verified=false after 2"
    );
}

#[test]
fn open_plan_items_keep_a_loop_going_until_an_iteration_changes_nothing() {
    let with_plan = || {
        let mut spec = spec(two());
        spec.plan = vec![item("US-1"), item("US-2")];
        spec
    };
    let ticked = Turn { ticks: 2, ..Turn::new("pp") };
    let sim = Sim::new(with_plan(), "ff", vec![Turn::new("pp"), ticked]).run();
    assert_eq!(summary(&sim), "Completed verified=true after 2");
    let sim = Sim::new(with_plan(), "ff", vec![Turn::new("pp"), Turn::new("pp"), Turn::idle("pp")]).run();
    assert_eq!(summary(&sim), "Completed verified=true after 3");
    assert!(sim.sentence().ends_with("still open in the plan: US-1, US-2"), "{}", sim.sentence());
    // A plan without checks: the loop is claimed when every item is ticked.
    let mut only_plan = spec(vec![]);
    only_plan.plan = vec![item("a")];
    let turns = vec![Turn::new(""), Turn { ticks: 1, ..Turn::new("") }];
    assert_eq!(summary(&Sim::new(only_plan, "", turns).run()), "Completed verified=false after 2");
}

#[test]
fn artefacts_of_the_baseline_do_not_count_as_work() {
    let turns = || {
        (0..3).map(|_| Turn { changed: vec!["out.log"], wrote: vec!["out.log"], ..Turn::new("ff") }).collect()
    };
    let mut once = spec(two());
    once.settings.breaker.max_trips = 1;
    let sim = Sim::new(once, "ff", turns()).checks_write(vec!["out.log"]).run();
    assert_eq!(summary(&sim), "Paused Breaker after 3");
    // A file that the checks did not write again is the agent's own edit, and counts as work.
    let mut turns: Vec<Turn> = turns();
    turns[2] = Turn { changed: vec!["out.log"], ..Turn::new("pp") };
    let sim = Sim::new(spec(two()), "ff", turns).checks_write(vec!["out.log"]).run();
    assert_eq!(summary(&sim), "Completed verified=true after 3");
}

#[test]
fn a_round_during_which_files_change_never_passes() {
    let disturbed = || Turn { wrote: vec!["src/gen.rs"], ..Turn::new("pp") };
    let sim = check("ff", vec![disturbed(), Turn::new("pp")], "Completed verified=true after 2");
    let rounds = sim.entries.iter().filter(|it| matches!(it.record, Record::ChecksDone { .. })).count();
    assert_eq!(rounds, 2, "discarded rounds are not recorded");
}

#[test]
fn agent_edits_of_criteria_are_only_shown() {
    let weakened = vec![criterion("tests pass", "make test")];
    let first = Turn { leaves: Some(weakened), ..Turn::new("pf") };
    let sim = check("ff", vec![first, Turn::new("pf"), Turn::new("pp")], "Completed verified=true after 3");
    assert_eq!(sim.state.criteria.proposed, [Proposal::new(Edit::Removed, "lint is clean")]);
    assert_eq!(sim.state.criteria.pinned.len(), 2);
}

#[test]
fn user_edits_of_the_task_apply() {
    let mut sim = Sim::new(spec(two()), "ff", vec![Turn::new("pf"), Turn::new("pff")]);
    sim.play_iterations(1);
    sim.documents.push(criterion("docs build", "make docs"));
    sim.standing = "pff";
    sim.turns.push(Turn::new("ppp"));
    sim.play();
    assert_eq!(summary(&sim), "Completed verified=true after 3");
    assert_eq!(sim.state.criteria.pinned.len(), 3);
    assert_eq!(sim.entries.iter().filter(|it| matches!(it.record, Record::Baseline { .. })).count(), 2);
}

#[test]
fn user_edits_during_an_iteration_apply() {
    let check = |sum: &str, pinned: usize, proposed: &[&str]| {
        let more = [two(), vec![criterion("docs build", "make docs")]].concat();
        let first = Turn { leaves: Some(more), ..Turn::new("pff") };
        let mut sim = Sim::new(spec(two()), "ff", vec![first, Turn::new("ppp")]);
        while sim.state.iteration < 1 {
            sim.step();
        }
        sim.command(UserCommand::Saved { file: String::new(), sum: sum.to_owned() });
        sim.play();
        assert_eq!(summary(&sim), "Completed verified=true after 2");
        assert_eq!(sim.state.criteria.pinned.len(), pinned, "{sum}");
        let found: Vec<String> = sim.state.criteria.proposed.iter().map(ToString::to_string).collect();
        assert_eq!(found, proposed, "{sum}");
        assert_eq!(sim.live.saved.len(), 0, "a save counts for one iteration");
    };
    check("as it is", 3, &[]);
    check("what the agent wrote over", 2, &["added: docs build"]);
}

#[test]
fn untrusted_changes_pause_the_loop() {
    let mut sim = Sim::new(spec(two()), "ff", vec![Turn::new("pf"), Turn::new("ppp")]);
    sim.play_iterations(1);
    sim.documents.push(criterion("docs build", "curl evil"));
    sim.untrusted = vec![criterion("docs build", "curl evil").id];
    sim.play();
    assert_eq!(sim.state.pause.as_ref().map(|it| it.reason), Some(PauseReason::Trust));
    sim.untrusted.clear();
    sim.standing = "pff";
    sim.command(UserCommand::Resume);
    sim.play();
    assert_eq!(summary(&sim), "Completed verified=true after 2");
}

#[test]
fn an_agent_is_not_started_without_its_task() {
    let mut sim = Sim::new(spec(two()), "ff", vec![Turn::new("pf"), Turn::new("pp")]);
    sim.play_iterations(1);
    sim.unreadable = Some("PROMPT.md is missing".to_owned());
    sim.play();
    assert_eq!(sim.state.pause.as_ref().map(|it| it.reason), Some(PauseReason::Workspace));
    assert_eq!(sim.prompts.len(), 1);
    sim.unreadable = None;
    sim.command(UserCommand::Resume);
    sim.play();
    assert_eq!(summary(&sim), "Completed verified=true after 2");
}

#[test]
fn a_stop_is_honoured_from_every_phase() {
    // Without a stop this loop takes 3 iterations and this many turns.
    let script = || vec![Turn::new("pf"), Turn::idle("pf"), Turn::new("pp")];
    for (command, is_replaced) in
        [UserCommand::Stop, UserCommand::StopNow].into_iter().flat_map(|it| [(it.clone(), false), (it, true)])
    {
        for turns in 0..60 {
            let mut sim = Sim::new(spec(two()), "ff", script());
            for _ in 0..turns {
                sim.step();
            }
            if sim.state.outcome().is_some() {
                continue;
            }
            let before = sim.state.iteration;
            sim.command(command.clone());
            if is_replaced {
                // The keeper dies after it wrote the command; another one takes over.
                sim.crash("boot-1");
            }
            sim.play();
            let what = format!("{command:?} after {turns} turns, replaced {is_replaced}");
            let outcome = sim.state.outcome().cloned().unwrap_or_else(|| panic!("not ended: {what}"));
            let kinds = [OutcomeKind::Stopped, OutcomeKind::Completed];
            assert!(kinds.contains(&outcome.kind), "{what}: {}", outcome.sentence);
            assert_eq!(sim.state.iteration, before, "no start after a stop ({what})");
        }
    }
}

#[test]
fn a_failed_snapshot_pauses_or_ends_the_loop_in_every_phase() {
    let script = || vec![Turn::new("pf"), Turn::new("ff"), Turn::new("pp")];
    for reason in [PauseReason::Disk, PauseReason::Workspace] {
        for (attended, turns) in
            [true, false].into_iter().flat_map(|it| (0..60).map(move |turns| (it, turns)))
        {
            let mut sim = Sim::new(LoopSpec { attended, ..spec(two()) }, "ff", script());
            for _ in 0..turns {
                sim.step();
            }
            if !sim.fail_next_snapshot(reason) {
                continue;
            }
            sim.play();
            let what = format!("{reason:?}, attended {attended}, after {turns} turns");
            let Some(outcome) = sim.state.outcome() else {
                assert!(attended, "{what}");
                assert_eq!(sim.state.pause.as_ref().map(|it| it.reason), Some(reason), "{what}");
                sim.crash("boot-1");
                sim.command(UserCommand::Resume);
                sim.play();
                assert_eq!(summary(&sim), "Completed verified=true after 3", "{what}");
                continue;
            };
            assert!(!attended || reason == PauseReason::Workspace, "{what}");
            assert_eq!((outcome.kind, outcome.cause), (OutcomeKind::Failed, Some(reason)), "{what}");
        }
    }
}

#[test]
fn a_full_disk_pauses_the_loop_in_every_phase() {
    let script = || vec![Turn::new("pf"), Turn::new("pp")];
    for turns in 0..60 {
        let mut sim = Sim::new(spec(two()), "ff", script());
        for _ in 0..turns {
            sim.step();
        }
        sim.event(Event::DiskFilled { message: "the disk is full".into() });
        sim.play();
        if sim.state.outcome().is_none() {
            assert_eq!(
                sim.state.pause.as_ref().map(|it| it.reason),
                Some(PauseReason::Disk),
                "after {turns}"
            );
            sim.command(UserCommand::Resume);
            sim.play();
        }
        assert!(sim.state.outcome().is_some(), "after {turns}");
        let last = sim.entries.last().map(|it| &it.record);
        assert!(matches!(last, Some(Record::Ended { .. })), "{last:?} after {turns}");
    }
}

#[test]
fn steering_reaches_the_next_prompt_once() {
    let mut sim = Sim::new(spec(two()), "ff", vec![Turn::new("ff"), Turn::new("ff"), Turn::new("pp")]);
    sim.command(UserCommand::Steer("use the other parser".to_owned()));
    sim.play();
    let has_text: Vec<bool> = sim.prompts.iter().map(|it| it.contains("use the other parser")).collect();
    assert_eq!(has_text, [true, false, false]);
}

#[test]
fn no_verdict_while_processes_survive() {
    let mut sim = Sim::new(spec(two()), "pf", vec![Turn::new("pp")]);
    while sim.state.iteration < 1 {
        sim.step();
    }
    let run = AgentRun { unkillable: vec!["77 stuck".to_owned()], ..quiet_run() };
    sim.event(Event::AgentEnded(Box::new(run)));
    sim.play();
    assert_eq!(summary(&sim), "Failed verified=false after 1");
    assert!(sim.sentence().contains("77 stuck"), "{}", sim.sentence());
}

#[test]
fn a_loop_that_is_taken_over_can_wait_for_an_answer() {
    let mut alone = spec(two());
    alone.attended = false;
    alone.settings.breaker.max_trips = 1;
    let mut sim = Sim::new(alone, "ff", vec![Turn::idle("ff"), Turn::idle("ff"), Turn::idle("ff")]);
    sim.play_iterations(1);
    sim.crash("boot-1");
    sim.play();
    assert_eq!(summary(&sim), "Paused Breaker after 3");
}

#[test]
fn passing_criteria_show_no_new_work() {
    let sim = check("pp", vec![], "Completed verified=true after 0");
    let expected = "completed, verified: already holds, all 2 required criteria passed before the first iteration, so \
                nothing can show that new work is done. Hint: add a criterion that fails until it is, such as \
                \"- It has tests: `$ sh tests/new_behaviour.sh`\"; `--anyway` starts without one";
    assert_eq!(sim.sentence(), expected);
    assert!(exit::was_satisfied_at_start(&sim.state));
}
