//! Permission requests: which side decides, what the agent receives, and what is never allowed.

use crate::decide::sim::{Sim, Turn, criterion, spec};
use crate::decide::{Event, Phase, UserCommand, deadline, decide};
use crate::journal::{PauseReason, Record};
use loopkeeper_agent::PermissionMode;
use loopkeeper_agent::acp::client::PermissionAnswer;

const MINUTE: u64 = 60_000;
const REQUEST: &str = "run a command (not of the task): git push";

/// A loop whose agent is at work.
fn at_work(attended: bool) -> Sim {
    let mut spec = spec(vec![criterion("tests pass", "make test")]);
    spec.attended = attended;
    spec.agent.permissions = PermissionMode::Ask;
    let hangs = Turn { hangs: true, ..Turn::new("f") };
    let mut sim = Sim::new(spec, "f", vec![hangs.clone(), hangs]);
    until_it_works(&mut sim);
    perform(&mut sim);
    sim
}

fn until_it_works(sim: &mut Sim) {
    while !matches!(sim.state.phase, Phase::Iterating(_)) {
        assert!(sim.step());
    }
}

fn request_permission(sim: &mut Sim, text: &str) {
    sim.command(UserCommand::Permission(text.to_owned()));
    perform(sim);
}

fn asked() -> Sim {
    let mut sim = at_work(true);
    request_permission(&mut sim, REQUEST);
    assert!(sim.state.questions.permission().is_some());
    sim
}

fn answer(sim: &mut Sim, text: &str) {
    sim.command(UserCommand::Answer(text.to_owned()));
    perform(sim);
}

/// Performs the effects that are due, and passes no deadline.
fn perform(sim: &mut Sim) {
    while sim.is_busy() {
        sim.step();
    }
}

fn answers(sim: &Sim) -> Vec<Option<String>> {
    let of = |it: &Record| match it {
        Record::Answered { text, .. } => Some(text.clone()),
        _ => None,
    };
    sim.entries.iter().filter_map(|it| of(&it.record)).collect()
}

fn denied(sim: &Sim) -> String {
    match sim.permits.last() {
        Some(PermissionAnswer::Denied(why)) => why.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_permission_is_answered_in_one_word() {
    let check = |text: &str, expect: &str| {
        let mut sim = asked();
        answer(&mut sim, text);
        assert_eq!(answers(&sim), [Some(expect.to_owned())], "{text}");
        assert!(sim.state.questions.open.is_none() && sim.refused.is_empty(), "{text}");
        sim
    };
    assert_eq!(check("allow", "allow").permits, [PermissionAnswer::Allowed]);
    assert_eq!(check(" Allow\n", "allow").permits, [PermissionAnswer::Allowed]);
    assert_eq!(check("always", "always").permits, [PermissionAnswer::Allowed]);
    assert_eq!(denied(&check("deny", "deny")), "the user did not allow it");
    for text in ["yes", "allow it", "wait", "allow always"] {
        let mut sim = asked();
        answer(&mut sim, text);
        assert!(sim.refused[0].contains("answer `allow`, `always` or `deny`"), "{text}: {:?}", sim.refused);
        assert!(sim.permits.is_empty() && sim.state.questions.permission().is_some(), "{text}");
    }
}

#[test]
fn a_single_permission_is_asked_again_a_lasting_one_is_not() {
    for (text, asks) in [("allow", true), ("deny", true), ("always", false)] {
        let mut sim = asked();
        answer(&mut sim, text);
        request_permission(&mut sim, REQUEST);
        assert_eq!(sim.state.questions.permission().is_some(), asks, "{text}");
        assert!(sim.refused.is_empty(), "{text}");
    }
    let mut sim = asked();
    answer(&mut sim, "always");
    request_permission(&mut sim, "run a command (not of the task): git push --force");
    assert!(sim.state.questions.permission().is_some(), "only the identical request is allowed");
}

#[test]
fn a_lasting_permission_applies_after_a_crash_and_in_later_iterations() {
    let mut sim = asked();
    answer(&mut sim, "always");
    sim.crash("boot-1");
    while sim.state.iteration == 1 {
        assert!(sim.step());
    }
    until_it_works(&mut sim);
    request_permission(&mut sim, REQUEST);
    assert_eq!((sim.state.questions.permission(), sim.refused.len()), (None, 0));
}

#[test]
fn without_an_answer_further_requests_are_denied() {
    let mut sim = asked();
    let due = deadline(&sim.state, &sim.live).unwrap();
    assert_eq!(due.ms_since(sim.now), 10 * MINUTE, "questions.timeout");
    sim.step();
    perform(&mut sim);
    assert_eq!(denied(&sim), "no answer came within 10 min");
    assert_eq!(answers(&sim), [None]);
    request_permission(&mut sim, "read (outside): /etc/passwd");
    assert_eq!(sim.refused, ["its earlier question was not answered"]);
    assert!(matches!(sim.state.phase, Phase::Iterating(_)), "the agent continues");
}

#[test]
fn the_wait_is_neither_idle_nor_iteration_time_nor_work() {
    let mut sim = asked();
    let worked = sim.state.time.worked_ms;
    let since = sim.state.phase.running_agent().unwrap().since;
    sim.now = sim.now.plus_ms(9 * MINUTE);
    answer(&mut sim, "allow");
    let after = sim.state.phase.running_agent().unwrap().since;
    assert!(after.ms_since(since) >= 9 * MINUTE, "{after:?}");
    assert!(sim.state.time.worked_ms - worked < MINUTE && sim.state.time.paused_ms >= 9 * MINUTE);
    let due = deadline(&sim.state, &sim.live).unwrap();
    let idle = sim.state.spec.settings.limits.idle_ms;
    assert_eq!(due.ms_since(sim.now), idle / 4, "the idle time starts again");
}

#[test]
fn a_stop_a_pause_and_a_full_disk_withdraw_the_question() {
    let check = |name: &str, act: &dyn Fn(&mut Sim)| {
        let mut sim = asked();
        act(&mut sim);
        assert_eq!(sim.state.questions.open, None, "{name}");
        perform(&mut sim);
        assert_eq!(sim.permits, [PermissionAnswer::Cancelled], "{name}");
        assert_eq!(answers(&sim), [None], "{name}");
        sim
    };
    let sim = check("pause", &|sim| sim.command(UserCommand::Pause));
    assert_eq!(sim.state.pause.as_ref().map(|it| it.reason), Some(PauseReason::User));
    check("stop", &|sim| sim.command(UserCommand::Stop));
    check("stop now", &|sim| sim.command(UserCommand::StopNow));
    check("full", &|sim| sim.event(Event::DiskFilled { message: "full".into() }));
    check("gone", &|sim| sim.event(Event::PermissionCallerDisconnected));
    for command in [UserCommand::Stop, UserCommand::Pause] {
        let mut sim = at_work(true);
        sim.command(command);
        request_permission(&mut sim, REQUEST);
        assert_eq!((sim.refused.len(), sim.state.questions.permission()), (1, None));
    }
}

#[test]
fn a_dead_keeper_allows_nothing_and_leaves_no_question() {
    for boot in ["boot-1", "boot-2"] {
        let mut sim = asked();
        sim.crash(boot);
        assert_eq!(sim.state.questions.open, None);
        assert!(!sim.state.waits_for_user() && sim.permits.is_empty());
        answer(&mut sim, "allow");
        assert!(sim.refused[0].contains("no open question"), "{:?}", sim.refused);
        assert!(sim.permits.is_empty(), "an answer that comes too late allows nothing");
    }
}

#[test]
fn an_answer_to_another_question_allows_nothing() {
    let mut sim = asked();
    let old = sim.state.questions.open.as_ref().unwrap().id.clone();
    answer(&mut sim, "deny");
    request_permission(&mut sim, "run a command (not of the task): rm -rf /");
    sim.command(UserCommand::AnswerTo { question: old, text: "allow".to_owned() });
    perform(&mut sim);
    assert!(sim.refused[0].contains("that question is no longer open"), "{:?}", sim.refused);
    assert_eq!(sim.permits.len(), 1, "{:?}", sim.permits);
    let open = sim.state.questions.open.as_ref().unwrap().id.clone();
    sim.command(UserCommand::AnswerTo { question: open, text: "allow".to_owned() });
    perform(&mut sim);
    assert_eq!(sim.permits.last(), Some(&PermissionAnswer::Allowed));
}

#[test]
fn a_question_that_the_user_cannot_answer_is_not_asked() {
    let check = |mut sim: Sim, why: &str| {
        let known = sim.entries.len();
        request_permission(&mut sim, "read (outside): /etc/passwd");
        assert_eq!(sim.refused, [why]);
        assert_eq!(sim.entries.len(), known, "nothing is on record");
    };
    check(at_work(false), "no user is present to answer");
    check(asked(), "the user is being asked about something else");
    let mut edits = at_work(true);
    edits.state.spec.agent.permissions = PermissionMode::Edits;
    let mut refused = Vec::new();
    for step in decide(
        &edits.state,
        &mut edits.live,
        edits.now,
        Event::UserAsked(UserCommand::Permission(REQUEST.to_owned())),
    ) {
        refused.push(format!("{step:?}"));
    }
    assert!(
        refused.len() == 1 && refused[0].contains("the configuration of this loop decides"),
        "{refused:?}"
    );
    let mut many = at_work(true);
    for _ in 0..50 {
        request_permission(&mut many, REQUEST);
        answer(&mut many, "deny");
    }
    check(many, "there were too many requests in this iteration");
}
