//! A usage limit that another loop reached: before an agent is started, the loop waits or switches to the next agent.

use crate::decide::sim::{Sim, Turn, criterion, spec};
use crate::decide::{Phase, UserCommand, shared_limits};
use crate::journal::{LoopSpec, OutcomeKind, QuestionKind, Record, TakeoverReason, WaitReason};

const HOUR: u64 = 3_600_000;

fn one() -> LoopSpec {
    spec(vec![criterion("tests pass", "make test")])
}

/// A loop whose agent is under a usage limit of another loop for some hours, played until its first wait or start.
fn limited(spec: LoopSpec, hours: u64) -> Sim {
    let mut sim = Sim::new(spec, "f", vec![Turn::new("p")]);
    sim.limited = vec![("mine", sim.now.wall + hours * HOUR)];
    while sim.state.phase.wait().is_none() && sim.state.iteration == 0 && sim.state.outcome().is_none() {
        assert!(sim.step(), "{}", sim.sentence());
    }
    sim
}

#[test]
fn a_shared_limit_is_waited_for() {
    let mut sim = limited(one(), 2);
    let wait = sim.state.phase.wait().expect("a wait");
    assert_eq!((wait.reason, wait.until.wall), (WaitReason::Quota, sim.limited[0].1));
    assert_eq!((sim.state.iteration, sim.state.spent.calls), (0, 0), "nothing was started");
    let open = sim.state.questions.open.as_ref().expect("a question");
    assert_eq!(open.kind, QuestionKind::UsageLimit);
    assert!(open.text.starts_with("Loop 20261120-other2 reached the usage limit of `mine`"), "{}", open.text);
    let words =
        "loop 20261120-other2 reached the usage limit of `mine`: `loopkeeper resume` starts it anyway";
    assert_eq!(shared_limits::sentence(&sim.state).as_deref(), Some(words));
    let begun = sim.now;
    sim.play();
    assert_eq!(sim.state.outcome().map(|it| it.kind), Some(OutcomeKind::Completed), "{}", sim.sentence());
    assert!(sim.now.wall >= begun.wall + 2 * HOUR - 60_000);
    assert_eq!(shared_limits::sentence(&sim.state), None);
}

#[test]
fn a_user_command_starts_the_agent_despite_the_limit() {
    let mut sim = limited(one(), 2);
    let begun = sim.now;
    sim.command(UserCommand::Resume);
    sim.play();
    assert_eq!(sim.state.iteration, 1, "{}", sim.sentence());
    assert!(sim.now.wall < begun.wall + HOUR, "it was not waited for");
}

#[test]
fn the_user_may_stop_meanwhile() {
    for command in [UserCommand::StopNow, UserCommand::Answer("stop".to_owned())] {
        let mut sim = limited(one(), 2);
        let begun = sim.now;
        sim.command(command);
        sim.play();
        assert_eq!(sim.state.outcome().map(|it| it.kind), Some(OutcomeKind::Stopped));
        assert!(sim.now.wall < begun.wall + HOUR && sim.state.iteration == 0);
    }
}

#[test]
fn a_loop_that_would_outlast_its_time_ends() {
    let mut spec = one();
    spec.settings.limits.duration_ms = HOUR;
    let mut sim = limited(spec, 2);
    sim.play();
    let sentence = sim.sentence();
    assert!(sentence.contains("the provider's usage limit lasts longer"), "{sentence}");
}

#[test]
fn the_next_agent_of_the_list_works_meanwhile() {
    let mut spec = one();
    let other = crate::journal::AgentPlan { name: "other".to_owned(), ..spec.agent.clone() };
    spec.fallbacks = vec![other];
    let sim = limited(spec, 2);
    assert_eq!(sim.state.spec.agent.name, "other");
    let change = sim.entries.iter().find_map(|it| match &it.record {
        Record::AgentChanged { reason, message, .. } => Some((*reason, message.clone())),
        _ => None,
    });
    let message = Some("reached by loop 20261120-other2".to_owned());
    assert_eq!(change, Some((TakeoverReason::Quota, message)));
    assert!(
        matches!(sim.state.phase, Phase::Preparing { .. } | Phase::Iterating(_)),
        "{:?}",
        sim.state.phase
    );
}
