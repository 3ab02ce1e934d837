//! The status of simulated loops.

use loopkeeper_agent::PermissionMode;
use loopkeeper_core::decide::sim::{Sim, Turn, criterion, spec};
use loopkeeper_core::decide::{Phase, UserCommand};
use loopkeeper_core::journal::{AgentPlan, LoopSpec};
use loopkeeper_core::liveness::KeeperLiveness;

use super::{StatusFacts, status};
use crate::{DisplayState, LoopStatus, StaleReason, headline};

fn shown(sim: &Sim) -> LoopStatus {
    status(
        &sim.state,
        &StatusFacts { keeper: KeeperLiveness::RUNNING, now: sim.now, ..StatusFacts::default() },
    )
}

fn with_one_criterion() -> LoopSpec {
    spec(vec![criterion("tests pass", "make test")])
}

/// Runs until the agent works, or the loop waits because another loop met the usage limit of `mine`.
fn play_with_shared_limit(spec: LoopSpec) -> Sim {
    let mut sim = Sim::new(spec, "f", vec![Turn::new("p")]);
    sim.limited = vec![("mine", sim.now.wall + 7_200_000)];
    while sim.state.phase.wait().is_none() && sim.state.iteration == 0 {
        assert!(sim.step(), "{}", sim.sentence());
    }
    sim
}

#[test]
fn a_usage_limit_of_another_loop_is_a_warning_while_it_lasts() {
    let mut sim = play_with_shared_limit(with_one_criterion());
    let words =
        "loop 20261120-other2 reached the usage limit of `mine`: `loopkeeper resume` starts it anyway";
    assert_eq!(shown(&sim).warnings, [words]);
    sim.play();
    assert!(shown(&sim).warnings.is_empty());
}

#[test]
fn a_substitute_agent_is_a_warning() {
    let mut spec = with_one_criterion();
    spec.fallbacks = vec![AgentPlan { name: "other".to_owned(), ..spec.agent.clone() }];
    let status = shown(&play_with_shared_limit(spec));
    let words = "other takes over: mine is at its usage limit".to_owned();
    assert_eq!((status.agent.as_str(), status.warnings), ("other", vec![words]));
}

#[test]
fn iterations_off_the_topic_are_a_share_and_then_a_warning() {
    let act = || Turn { changed: vec!["src/theme.py", "src/menu.py", "README.md"], ..Turn::new("f") };
    let mut spec = with_one_criterion();
    spec.settings.limits.iterations = 20;
    let mut sim =
        Sim::new(spec, "f", vec![act(), act(), act(), Turn { changed: vec!["src/auth.py"], ..act() }]);
    sim.prompt = "Fix `src/auth.py`.";
    let play_until = |sim: &mut Sim, iteration: u32| {
        while sim.state.iteration < iteration {
            assert!(sim.step(), "{}", sim.sentence());
        }
    };
    play_until(&mut sim, 3);
    let drift = shown(&sim).drift.unwrap();
    assert_eq!((drift.iteration, drift.off, drift.total, drift.streak), (2, 2, 2, None));
    assert!(shown(&sim).warnings.is_empty());
    play_until(&mut sim, 4);
    let words = "the last 3 iterations changed no source that the task mentions (src/theme.py, src/menu.py)";
    assert_eq!(shown(&sim).warnings, [words]);
    assert_eq!(shown(&sim).drift.and_then(|it| it.streak), Some(3));
    assert_eq!(shown(&sim).state, DisplayState::Working);
    play_until(&mut sim, 5);
    let drift = shown(&sim).drift.unwrap();
    assert_eq!((drift.off, drift.total, drift.streak, shown(&sim).warnings.len()), (0, 1, None, 0));
}

#[test]
fn stale_results_have_the_reason_why_the_files_differ() {
    let turns = || vec![Turn { ticks: 1, ..Turn::new("f") }, Turn { ticks: 2, ..Turn::new("f") }];
    let play = |commands: &[UserCommand]| {
        let mut spec = with_one_criterion();
        spec.settings.limits.iterations = 9;
        let mut sim = Sim::new(spec, "f", turns());
        while sim.state.iteration < 2 {
            assert!(sim.step(), "{}", sim.sentence());
        }
        for it in commands {
            sim.command(it.clone());
            sim.play();
        }
        sim
    };
    let reason = |sim: &Sim| {
        let status = shown(sim);
        assert_eq!(status.stale, status.stale_reason.is_some());
        assert!(status.criteria.items.iter().all(|it| it.stale == status.stale));
        status.stale_reason
    };
    let back = || UserCommand::Rollback { to: 1, paths: Vec::new() };
    let (pause, undo) = (UserCommand::Pause, UserCommand::UndoRollback);
    assert_eq!(reason(&play(std::slice::from_ref(&pause))), None);
    assert_eq!(reason(&play(&[pause.clone(), back()])), Some(StaleReason::RolledBack));
    assert_eq!(reason(&play(&[pause.clone(), back(), undo])), None);
    // Files that the user changed are seen before the next iteration, which is then stopped.
    let mut edited = play(&[pause]);
    edited.edited("p");
    edited.command(UserCommand::Resume);
    while !edited.state.tree.is_unjudged {
        assert!(edited.step(), "{}", edited.sentence());
    }
    edited.command(UserCommand::StopNow);
    edited.play();
    assert_eq!(reason(&edited), Some(StaleReason::FilesChanged));
}

#[test]
fn a_permission_request_needs_the_user() {
    let mut spec = with_one_criterion();
    spec.attended = true;
    spec.agent.permissions = PermissionMode::Ask;
    let mut sim = Sim::new(spec, "f", vec![Turn { hangs: true, ..Turn::new("f") }]);
    while !matches!(sim.state.phase, Phase::Iterating(_)) || sim.is_busy() {
        assert!(sim.step());
    }
    let mut order = |command| {
        sim.command(command);
        while sim.is_busy() {
            sim.step();
        }
        (shown(&sim), status(&sim.state, &StatusFacts { now: sim.now, ..StatusFacts::default() }))
    };
    let request = "run a command (not of the task): git push";
    let (alive, dead) = order(UserCommand::Permission(request.to_owned()));
    assert_eq!((alive.state, dead.question), (DisplayState::NeedsYou, None));
    assert_eq!(
        headline(&alive).to_string(),
        "Needs you: iteration 1/25, its one criterion does not pass, the agent wants to \
         run a command (not of the task): git push"
    );
    let (alive, _) = order(UserCommand::Answer("allow".to_owned()));
    assert_eq!(alive.state, DisplayState::Working);
}
