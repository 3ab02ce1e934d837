//! Questions: when the user is asked, how long the loop waits, and with which answer it continues.

use crate::decide::UserCommand;
use crate::decide::sim::{Sim, Turn, criterion, spec};
use crate::journal::{LoopSpec, OutcomeKind, PauseReason, QuestionKind, Record};
use crate::settings::{UnansweredPolicy, UsageLimitPolicy};
use loopkeeper_agent::ProviderClass;

const MINUTE: u64 = 60_000;

fn loop_spec(attended: bool) -> LoopSpec {
    LoopSpec { attended, ..spec(vec![criterion("tests pass", "make test")]) }
}

fn asks() -> Turn {
    Turn::new("f").says("I stopped here.\n\nWhich database do you want?")
}

/// Plays until a question is open.
fn until_asked(sim: &mut Sim) {
    while sim.state.questions.open.is_none() {
        assert!(sim.step(), "it asks nothing: {}", sim.sentence());
    }
}

fn answers(sim: &Sim) -> Vec<Option<&str>> {
    let answers = sim.entries.iter().filter_map(|it| match &it.record {
        Record::Answered { text, .. } => Some(text.as_deref()),
        _ => None,
    });
    answers.collect()
}

fn asked(sim: &Sim) -> Vec<(QuestionKind, bool)> {
    let of = |it: &Record| match it {
        Record::Asked { kind, until, .. } => Some((*kind, until.is_some())),
        _ => None,
    };
    sim.entries.iter().filter_map(|it| of(&it.record)).collect()
}

fn end(sim: &Sim) -> (OutcomeKind, u32) {
    let outcome = sim.state.outcome().unwrap_or_else(|| panic!("still open: {}", sim.sentence()));
    (outcome.kind, sim.state.iteration)
}

#[test]
fn an_answer_continues_the_loop_and_is_in_the_next_prompt() {
    let mut sim = Sim::new(loop_spec(true), "f", vec![asks(), Turn::new("p")]);
    until_asked(&mut sim);
    let began = sim.now;
    sim.command(UserCommand::Answer("SQLite, please".to_owned()));
    sim.play();
    assert!(sim.now.ms_since(began) < 2 * MINUTE, "the timeout is not waited for");
    assert_eq!(end(&sim), (OutcomeKind::Completed, 2));
    let (first, second) = (&sim.prompts[0], &sim.prompts[1]);
    assert!(
        second.contains("> Which database do you want?\n\nThe user answers:\n\nSQLite, please\n"),
        "{second}"
    );
    assert!(!first.contains("The user answers"), "{first}");
}

#[test]
fn an_answer_is_in_one_prompt() {
    let mut sim = Sim::new(loop_spec(true), "f", vec![asks(), Turn::new("f"), Turn::new("p")]);
    until_asked(&mut sim);
    sim.command(UserCommand::Answer("SQLite".to_owned()));
    sim.play();
    let has_answer: Vec<bool> = sim.prompts.iter().map(|it| it.contains("SQLite")).collect();
    assert_eq!(has_answer, [false, true, false]);
}

#[test]
fn without_an_answer_the_loop_continues() {
    let mut sim = Sim::new(loop_spec(true), "f", vec![asks(), Turn::new("p")]);
    until_asked(&mut sim);
    let worked = sim.state.time.worked_ms;
    sim.play();
    assert_eq!(end(&sim), (OutcomeKind::Completed, 2));
    assert_eq!((answers(&sim), asked(&sim)), (vec![None], vec![(QuestionKind::Agent, true)]));
    assert!(sim.prompts[1].contains("Nobody answered: decide yourself, and note what you assumed"));
    // The time that the loop waits for its user counts as a pause, not as work.
    assert!(sim.state.time.paused_ms >= 10 * MINUTE, "{}", sim.state.time.paused_ms);
    assert!(sim.state.time.worked_ms - worked < 5 * MINUTE, "{}", sim.state.time.worked_ms - worked);
}

#[test]
fn without_an_answer_the_loop_pauses_if_configured() {
    let pausing = |attended| {
        let mut spec = loop_spec(attended);
        spec.settings.questions.unanswered = UnansweredPolicy::Pause;
        Sim::new(spec, "f", vec![asks(), Turn::new("p")])
    };
    let resumed_by = |command: UserCommand| {
        let mut sim = pausing(true).run();
        assert_eq!(sim.state.pause.as_ref().map(|it| it.reason), Some(PauseReason::Question));
        assert_eq!(sim.sentence(), "unanswered question: Which database do you want?");
        sim.command(command);
        sim.play();
        assert_eq!(end(&sim), (OutcomeKind::Completed, 2));
        sim
    };
    assert!(resumed_by(UserCommand::Answer("SQLite".to_owned())).prompts[1].contains("SQLite"));
    // Resuming without an answer leaves the decision to the agent.
    assert!(resumed_by(UserCommand::Resume).prompts[1].contains("decide yourself"));
    // Without a user, the loop ends immediately.
    let sim = pausing(false).run();
    assert_eq!(end(&sim), (OutcomeKind::Failed, 1));
    let outcome = sim.state.outcome().unwrap();
    assert_eq!(outcome.sentence.to_string(), "unanswered question: Which database do you want?");
    assert_eq!(outcome.cause, Some(PauseReason::Question));
}

#[test]
fn an_unattended_loop_never_waits() {
    let sim = Sim::new(loop_spec(false), "f", vec![asks(), Turn::new("p")]).run();
    assert_eq!(end(&sim), (OutcomeKind::Completed, 2));
    assert_eq!((answers(&sim), asked(&sim)), (vec![None], vec![(QuestionKind::Agent, false)]));
    assert!(sim.prompts[1].contains("decide yourself"));
    assert!(sim.state.elapsed_ms(sim.now) < 5 * MINUTE);
}

#[test]
fn an_ended_loop_asks_nothing() {
    // The iteration that completes the loop.
    let sim = Sim::new(loop_spec(true), "f", vec![Turn::new("p").says("Shall I push it?")]).run();
    assert_eq!((end(&sim), asked(&sim)), ((OutcomeKind::Completed, 1), vec![]));
    // The last one that a limit allows.
    let mut spec = loop_spec(true);
    spec.settings.limits.iterations = 1;
    let sim = Sim::new(spec, "f", vec![asks()]).run();
    assert_eq!((end(&sim), asked(&sim)), ((OutcomeKind::Limit, 1), vec![]));
    // A message of an agent that failed is no question.
    let failed = Turn { error: Some(ProviderClass::Transient), ..asks() };
    let sim = Sim::new(loop_spec(true), "f", vec![failed, Turn::new("p")]).run();
    assert_eq!((end(&sim), asked(&sim)), ((OutcomeKind::Completed, 2), vec![]));
}

#[test]
fn an_answer_needs_a_question() {
    let mut sim = Sim::new(loop_spec(true), "f", vec![Turn::new("f"), Turn::new("p")]);
    sim.command(UserCommand::Answer("SQLite".to_owned()));
    sim.play();
    assert_eq!(
        sim.refused,
        ["the loop has no open question. Hint: `loopkeeper steer` sends the agent a message"]
    );
}

#[test]
fn commands_are_handled_while_a_question_is_open() {
    let paused = |answer: bool| {
        let mut sim = Sim::new(loop_spec(true), "f", vec![asks(), Turn::new("p")]);
        until_asked(&mut sim);
        sim.command(UserCommand::Pause);
        sim.play();
        assert_eq!(
            sim.state.pause.as_ref().map(|it| it.reason),
            Some(PauseReason::User),
            "the question has no deadline during a pause"
        );
        if answer {
            sim.command(UserCommand::Answer("SQLite".to_owned()));
            sim.play();
            assert!(sim.state.pause.is_some(), "an answer does not end the user's pause");
        }
        sim.command(UserCommand::Resume);
        sim.play();
        assert_eq!(end(&sim), (OutcomeKind::Completed, 2));
        answers(&sim).len()
    };
    assert_eq!((paused(true), paused(false)), (1, 1));
    let mut sim = Sim::new(loop_spec(true), "f", vec![asks()]);
    until_asked(&mut sim);
    sim.command(UserCommand::Check);
    sim.edited("p");
    sim.play();
    assert_eq!(end(&sim), (OutcomeKind::Completed, 1), "changes by the user meanwhile are judged");
    let mut sim = Sim::new(loop_spec(true), "f", vec![asks()]);
    until_asked(&mut sim);
    sim.command(UserCommand::Stop);
    sim.play();
    assert_eq!(end(&sim), (OutcomeKind::Stopped, 1));
}

#[test]
fn a_keeper_that_takes_over_an_unattended_loop_asks_the_user() {
    let mut sim = Sim::new(loop_spec(false), "f", vec![Turn::new("f"), asks(), Turn::new("p")]);
    sim.play_iterations(1);
    sim.crash("boot-1");
    sim.play();
    assert_eq!((end(&sim), asked(&sim)), ((OutcomeKind::Completed, 3), vec![(QuestionKind::Agent, true)]));
}

#[test]
fn a_keeper_that_takes_over_does_not_ask_again() {
    for boot in ["boot-1", "boot-2"] {
        let mut sim = Sim::new(loop_spec(true), "f", vec![asks(), Turn::new("p")]);
        until_asked(&mut sim);
        sim.crash(boot);
        let open = sim.state.questions.open.clone();
        while sim.state.position.boot != boot || sim.state.position.epoch != 2 {
            sim.step();
        }
        let due = sim.state.questions.open.as_ref().and_then(|it| it.until).unwrap();
        assert!(open.is_some() && due.ms_since(sim.now) <= 10 * MINUTE && due.ms_since(sim.now) > 9 * MINUTE);
        sim.play();
        assert_eq!(end(&sim), (OutcomeKind::Completed, 2));
        assert_eq!(asked(&sim).len(), 1, "asked once");
    }
}

#[test]
fn denials_that_block_the_work_are_reported() {
    let push = ["Bash: git push"];
    let check = |turns: Vec<Turn>, expect: &[u32]| {
        let mut sim = Sim::new(loop_spec(true), "f", turns);
        sim.play();
        let about = |it: &Record| match it {
            Record::Asked { kind: QuestionKind::Denied, id, .. } => {
                id.rsplit('-').next().unwrap().parse().ok()
            }
            _ => None,
        };
        let found: Vec<u32> = sim.entries.iter().filter_map(|it| about(&it.record)).collect();
        assert_eq!(found, expect, "{}", sim.sentence());
        sim
    };
    let sim = check(vec![Turn::idle("f").denied(&push), Turn::new("p")], &[1]);
    let Some(Record::Asked { text, .. }) =
        sim.entries.iter().map(|it| &it.record).find(|it| matches!(it, Record::Asked { .. }))
    else {
        panic!("asked")
    };
    let expect = "The agent was denied `Bash: git push`. Allow it with `permissions` of `[agents.mine]`, or write the \
                  command as a check of the task";
    assert_eq!(text, expect);
    assert!(sim.prompts[1].contains("Nobody answered: find a way without it"), "{}", sim.prompts[1]);
    // Continuing work is not held up, unless the same is denied again.
    check(vec![Turn::new("f").denied(&push), Turn::new("p")], &[]);
    check(vec![Turn::new("f").denied(&push), Turn::new("f").denied(&["Bash: ls"]), Turn::new("p")], &[]);
    check(vec![Turn::new("f").denied(&push), Turn::new("f").denied(&push), Turn::new("p")], &[2]);
    // The same denial is reported once.
    let same = || Turn::new("f").denied(&push);
    check(vec![same(), same(), same(), same(), Turn::new("p")], &[2]);
    // A question takes precedence over a denial.
    let sim = Sim::new(loop_spec(true), "f", vec![asks().denied(&push), Turn::new("p")]).run();
    assert_eq!(asked(&sim), [(QuestionKind::Agent, true)]);
}

fn limited() -> Turn {
    Turn::fails(ProviderClass::Quota, "f")
}

fn at_limit(attended: bool, unanswered: UsageLimitPolicy) -> Sim {
    let mut spec = loop_spec(attended);
    spec.settings.usage_limit = unanswered;
    Sim::new(spec, "f", vec![limited(), Turn::new("p")])
}

#[test]
fn a_usage_limit_asks_whether_to_wait() {
    let answered = |text: &str| {
        let mut sim = at_limit(true, UsageLimitPolicy::Wait);
        until_asked(&mut sim);
        sim.command(UserCommand::Answer(text.to_owned()));
        sim.play();
        sim
    };
    let sim = answered("wait");
    assert_eq!((end(&sim), answers(&sim)), ((OutcomeKind::Completed, 2), vec![Some("wait")]));
    let sim = answered("Stop");
    assert_eq!(end(&sim), (OutcomeKind::Stopped, 1));
    assert_eq!(sim.sentence(), "stopped at the provider's usage limit, after 1 iteration");
    let sim = answered("perhaps");
    assert_eq!(sim.refused, ["the loop asks whether to wait. Hint: answer `wait` or `stop`"]);
    assert_eq!(end(&sim), (OutcomeKind::Completed, 2));
    // The prompt contains neither the question nor its answer.
    assert!(!sim.prompts[1].contains("asked"), "{}", sim.prompts[1]);
}

#[test]
fn an_unanswered_usage_limit_follows_the_setting() {
    let sim = at_limit(true, UsageLimitPolicy::Wait).run();
    assert_eq!((end(&sim), answers(&sim)), ((OutcomeKind::Completed, 2), vec![None]));
    assert!(sim.state.elapsed_ms(sim.now) > 60 * MINUTE, "a wait is work");
    let sim = at_limit(true, UsageLimitPolicy::Stop).run();
    assert_eq!(end(&sim), (OutcomeKind::Limit, 1));
    assert_eq!(sim.sentence(), "limit reached: the provider's usage limit, after 1 iteration");
    assert!(sim.state.elapsed_ms(sim.now) < 3 * MINUTE, "30 s after it was asked");
    // Without a user, no question is asked.
    let sim = at_limit(false, UsageLimitPolicy::Wait).run();
    assert_eq!((end(&sim), asked(&sim)), ((OutcomeKind::Completed, 2), vec![]));
    let sim = at_limit(false, UsageLimitPolicy::Stop).run();
    assert_eq!((end(&sim), asked(&sim)), ((OutcomeKind::Limit, 1), vec![]));
}
