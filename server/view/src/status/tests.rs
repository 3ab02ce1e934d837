use loopkeeper_core::liveness::KeeperLiveness;
use serde_json::json;

use super::{StatusFacts, status};
use crate::{DisplayPhase, DisplayState, LoopStatus, QuestionStatus, headline};
use loopkeeper_core::decide::{LoopState, Phase, replay};
use loopkeeper_core::journal::{
    BreakerCause, BreakerState, CommandSender, Entry, LoopSpec, Outcome, OutcomeKind, PauseReason,
    QuestionKind, Record, RestrictedCommand, WaitReason,
};
use loopkeeper_core::settings::LoopEvent;
use loopkeeper_text::message::Message;
use loopkeeper_text::moment::Moment;

const NOON: u64 = 1_795_176_000_000;

fn spec() -> LoopSpec {
    serde_json::from_value(json!({
        "loopId": "20261120-abcdef", "version": "0.1.0", "task": "docs/das Ziel.md", "title": "The goal",
        "root": "/home/me/süß", "promise": "COMPLETE", "criteria": [], "plan": [
            {"id": "1", "title": "a", "done": true, "blocking": true, "place": {"file": "p", "range": {"start": 0, "end": 1}}},
            {"id": "2", "title": "b", "done": false, "blocking": false, "place": {"file": "p", "range": {"start": 0, "end": 1}}},
            {"id": "3", "title": "c", "done": false, "blocking": true, "place": {"file": "p", "range": {"start": 0, "end": 1}}}
        ],
        "anyway": false, "attended": true,
        "agent": {"name": "claude", "argv": ["claude"], "prompt": "stdin", "dialect": "claude", "permissions": "edits"},
        "settings": settings()
    }))
    .expect("a spec")
}

fn settings() -> serde_json::Value {
    json!({
        "agent": "auto", "taskFiles": [], "taskExclude": [], "protected": [], "checkTimeoutMs": 600_000,
        "limits": {
            "iterations": 25, "durationMs": 28_800_000, "costMicros": 25_000_000, "iterationMs": 1_800_000,
            "idleMs": 900_000, "betweenMs": 0, "graceMs": 10_000
        },
        "promise": "COMPLETE", "doneSignals": 2, "noProgress": 3, "sandbox": "auto", "keepLoops": 20,
        "keepDays": 60, "keepBytes": 1, "envPass": [], "envSet": [], "agents": []
    })
}

/// A loop with these records after its first, one second apart.
fn after(records: &[Record]) -> LoopState {
    let start = Record::LoopStarted { boot: "b".into(), spec: Box::new(spec()) };
    let entries: Vec<_> = std::iter::once(&start)
        .chain(records)
        .enumerate()
        .map(|(index, record)| Entry {
            seq: index as u64 + 1,
            epoch: 1,
            at: Moment { wall: NOON, awake: 0 }.plus_ms(index as u64 * 1000),
            record: record.clone(),
        })
        .collect();
    replay(&entries).expect("a loop")
}

/// The status of a loop that has just started.
pub(crate) fn idle() -> LoopStatus {
    status(&after(&[]), &alive())
}

const RUNNING: KeeperLiveness = KeeperLiveness::Alive { pid: Some(4711), stopped: false };

fn alive() -> StatusFacts {
    StatusFacts {
        now: Moment { wall: NOON, awake: 0 }.plus_ms(60_000),
        keeper: RUNNING,
        damaged: false,
        activity: Some("editing src/auth.rs".into()),
    }
}

fn baseline() -> Record {
    Record::Baseline {
        iteration: 0,
        criteria: Vec::new(),
        plan: spec().plan,
        artefacts: Vec::new(),
        round: None,
        untracked: Vec::new(),
        seen: Vec::new(),
    }
}

fn intended() -> Record {
    Record::IterationIntended {
        iteration: 1,
        session: "s".into(),
        resumed: false,
        prompt: "p".into(),
        tree: "t".into(),
        calls_this_hour: 4,
        calls_note: None,
    }
}

fn paused(reason: PauseReason) -> Record {
    Record::Paused { reason, message: "because".into() }
}

fn words(shown: &LoopStatus) -> (String, String) {
    let word = |value: serde_json::Value| value.as_str().expect("a word").to_owned();
    (word(json!(shown.state)), word(json!(shown.phase)))
}

#[test]
fn state_and_phase_follow_the_records_and_the_facts() {
    let check = |records: &[Record], facts: StatusFacts, expect: (&str, &str)| {
        let shown = status(&after(records), &facts);
        assert_eq!(words(&shown), (expect.0.to_owned(), expect.1.to_owned()), "{records:?} {facts:?}");
    };
    let dead = || StatusFacts { keeper: KeeperLiveness::Gone, ..alive() };
    let outcome =
        Outcome { kind: OutcomeKind::Stopped, verified: false, sentence: "stopped".into(), cause: None };
    let ended = Record::Ended { outcome };
    let until = Moment { wall: NOON, awake: 0 }.plus_ms(90_000);
    check(&[], alive(), ("working", "baseline"));
    check(&[baseline()], alive(), ("working", "iterating"));
    check(&[baseline(), intended()], alive(), ("working", "iterating"));
    check(
        &[baseline(), Record::Waiting { reason: WaitReason::Quota, until, met_by: None }],
        alive(),
        ("working", "waiting"),
    );
    check(&[baseline(), Record::Stopping { now: false }], alive(), ("working", "stopping"));
    check(&[baseline(), paused(PauseReason::User)], alive(), ("paused", "paused"));
    check(&[baseline(), intended(), paused(PauseReason::User)], alive(), ("working", "iterating"));
    check(&[baseline(), paused(PauseReason::Breaker)], alive(), ("needsYou", "paused"));
    check(&[baseline(), paused(PauseReason::Agent)], alive(), ("needsYou", "paused"));
    check(&[baseline(), paused(PauseReason::Trust)], alive(), ("needsYou", "untrusted"));
    check(&[baseline(), paused(PauseReason::User)], dead(), ("needsYou", "interrupted"));
    check(&[baseline(), intended()], dead(), ("needsYou", "interrupted"));
    check(&[baseline(), ended.clone()], dead(), ("done", "ended"));
    check(&[baseline(), ended.clone()], alive(), ("done", "ended"));
    check(&[baseline(), ended], StatusFacts { damaged: true, ..dead() }, ("needsYou", "damaged"));
}

#[test]
fn the_status_has_the_shape_of_the_contract() {
    let shown = status(&after(&[baseline(), intended()]), &alive());
    let value = serde_json::to_value(&shown).expect("json");
    assert_eq!(
        value["task"],
        json!({"uri": "file:///home/me/s%C3%BC%C3%9F/docs/das%20Ziel.md", "title": "The goal"})
    );
    assert_eq!(value["startedAt"], "2026-11-20T12:00:00.000Z");
    assert_eq!(value["plan"], json!({"done": 1, "open": 1, "total": 3}));
    assert_eq!(value["keeper"], json!({"pid": 4711, "alive": true}));
    assert_eq!(
        value["breaker"],
        json!({"state": "closed", "trips": 0, "counts": {
            "noProgress": 0, "sameError": 0, "outputDecline": 0, "permissionDenials": 0, "oscillation": 0,
            "fastFailures": 0
        }})
    );
    assert_eq!(value["session"]["id"], "s");
    assert_eq!(value["spent"]["calls"], 1);
    assert_eq!(value["iteration"], 1);
    assert_eq!(value["activity"], "editing src/auth.rs");
    assert_eq!(serde_json::from_value::<LoopStatus>(value).expect("read back"), shown);
    let dead = status(&after(&[baseline()]), &StatusFacts { keeper: KeeperLiveness::Gone, ..alive() });
    let value = serde_json::to_value(&dead).expect("json");
    assert_eq!(value["keeper"], json!({"alive": false}));
    assert_eq!(value.get("activity"), None);
}

#[test]
fn headlines_say_the_state_first() {
    let check = |records: &[Record], expect: &str| {
        assert_eq!(headline(&status(&after(records), &alive())).to_string(), expect);
    };
    let open = Record::BreakerChanged {
        state: BreakerState::Open,
        reason: Some("because".into()),
        cause: None,
        no_progress: 3,
        trips: 1,
        cooldown_ms: 0,
        resumes_at: None,
        opening: None,
    };
    let outcome = Outcome {
        kind: OutcomeKind::Completed,
        verified: false,
        sentence: "completed, claimed, not verified: all boxes are ticked".into(),
        cause: None,
    };
    check(&[], "Working: checks before iteration 1, no criteria");
    check(&[baseline(), intended()], "Working: iteration 1/25, no criteria");
    check(&[baseline(), paused(PauseReason::User)], "Paused: iteration 0/25, no criteria");
    check(
        &[baseline(), open, paused(PauseReason::Breaker)],
        "Needs you: iteration 0/25, because, no criteria",
    );
    let message = Message::new("the agent crashed").with_hint("mend it");
    let broken = Record::Paused { reason: PauseReason::Agent, message };
    let expect = "Needs you: iteration 0/25, the agent crashed, no criteria. Hint: mend it";
    check(&[baseline(), broken], expect);
    check(&[baseline(), Record::Ended { outcome }], "Completed, claimed, not verified: all boxes are ticked");
}

#[test]
fn a_question_ends_its_sentence_in_a_headline() {
    let check = |text: &str, expect: &str| {
        let mut shown = status(&after(&[baseline(), intended()]), &alive());
        (shown.state, shown.phase) = (DisplayState::NeedsYou, DisplayPhase::NeedsAnswer);
        let text = text.to_owned();
        shown.question =
            Some(QuestionStatus { id: "1".to_owned(), kind: QuestionKind::Agent, text, expires_at: None });
        assert_eq!(headline(&shown).to_string(), expect);
    };
    check("Tabs or spaces?", "Needs you: iteration 1/25, the agent asks: Tabs or spaces? No criteria");
    check("Name the port. ", "Needs you: iteration 1/25, the agent asks: Name the port. No criteria");
    check("Which port", "Needs you: iteration 1/25, the agent asks: Which port, no criteria");
}

/// Independent of the breaker's count, and after the end of the loop.
#[test]
fn denied_paths_are_shown() {
    let mut state = after(&[baseline(), intended()]);
    let shown = |state: &LoopState| status(state, &alive()).warnings;
    assert_eq!(shown(&state), Vec::<String>::new());
    let row = state.history.last_mut().expect("an iteration");
    (row.denials, row.denied) = (2, vec!["Bash: git push".to_owned()]);
    let expect = ["the agent was denied `Bash: git push` in iteration 1"];
    assert_eq!(shown(&state), expect);
    let outcome =
        Outcome { kind: OutcomeKind::Stopped, verified: false, sentence: "stopped".into(), cause: None };
    state.phase = Phase::Ended(outcome);
    assert_eq!(shown(&state), expect);
}

#[test]
fn limits_that_are_near_are_shown_while_it_lasts() {
    let mut state = after(&[baseline(), intended()]);
    let shown = |state: &LoopState| serde_json::to_value(status(state, &alive())).expect("json");
    let value = shown(&state);
    assert_eq!(
        (&value["limits"]["callsPerHour"], &value["spent"]["callsThisHour"]),
        (&json!(100), &json!(4))
    );
    assert_eq!((value.get("warnings"), value["limits"].get("tokens")), (None, None));
    state.spec.settings.limits.tokens = Some(1_000_000);
    state.spent.tokens = Some(850_000);
    state.spent.cost_micros = Some(25_000_000);
    state.spent.calls_this_hour = 80;
    state.reported.calls_note = Some("no list".into());
    let value = shown(&state);
    assert_eq!(value["limits"]["tokens"], 1_000_000);
    let expect = json!(["850 k of 1 M tokens used", "80 of 100 calls of this hour used", "no list"]);
    assert_eq!(value["warnings"], expect, "what is used up is no warning");
    state.phase = Phase::Ended(Outcome {
        kind: OutcomeKind::Stopped,
        verified: false,
        sentence: "stopped".into(),
        cause: None,
    });
    assert_eq!(shown(&state).get("warnings"), None);
    state.reported.hooks_failed.insert(LoopEvent::Ended, "failed with exit 3: no such host".into());
    let expect = json!(["the command of `on.ended` failed with exit 3: no such host"]);
    assert_eq!(shown(&state)["warnings"], expect, "the command for the end failed");
    state.reported.hooks_failed.clear();
    state.reported.attempts.counts.insert((CommandSender::Agent, RestrictedCommand::Accept), 2);
    state.reported.attempts.counts.insert((CommandSender::Job, RestrictedCommand::Accept), 1);
    let expect = json!([
        "the agent tried to accept its own change (2 times)",
        "a command of this loop tried to accept the agent's change"
    ]);
    assert_eq!(shown(&state)["warnings"], expect, "also after the end");
}

#[test]
fn an_open_breaker_that_tries_again_works_and_waits() {
    let resumes_at = Some(Moment { wall: NOON, awake: 0 }.plus_ms(1_800_000));
    let cooling = Record::BreakerChanged {
        state: BreakerState::Open,
        reason: Some("because".into()),
        cause: Some(BreakerCause::NoProgress),
        no_progress: 3,
        trips: 1,
        cooldown_ms: 1_800_000,
        resumes_at,
        opening: None,
    };
    let shown = status(&after(&[baseline(), cooling]), &alive());
    assert_eq!(words(&shown), ("working".to_owned(), "waiting".to_owned()));
    let at = "2026-11-20T12:30:00.000Z";
    assert_eq!(json!(shown.wait), json!({"reason": "breaker", "resumesAt": at}));
    assert_eq!((shown.breaker.resumes_at.as_deref(), shown.breaker.trips), (Some(at), 1));
    let line = "Breaker open at iteration 0/25 (because), retries automatically, no criteria";
    assert_eq!(headline(&shown).to_string(), line);
}

#[test]
fn the_time_since_a_keeper_died_is_not_used() {
    let state = after(&[baseline(), intended()]);
    let check = |keeper: KeeperLiveness, expect: &str| {
        let now = Moment { wall: NOON, awake: 0 }.plus_ms(3 * 3_600_000);
        let text = crate::budget(&status(&state, &StatusFacts { now, keeper, ..alive() }), Some(&state), now);
        assert!(text.contains(expect), "{text}");
    };
    check(RUNNING, "3 h of 8 h, 5 h left");
    check(KeeperLiveness::Gone, "2.0 s of 8 h, 7 h 59 min left");
}
