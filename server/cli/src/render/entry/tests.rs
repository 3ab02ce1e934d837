//! Tests of one-line records in their order, with milestones and with everything.

use loopkeeper_agent::AgentRun;
use loopkeeper_agent::claims::{Claims, read};
use loopkeeper_agent::errors::Fingerprint;
use loopkeeper_agent::kind::Dialect;
use loopkeeper_agent::provider::LocalClock;
use loopkeeper_agent::reader::{AgentOutputReader, ProcessEnd};
use loopkeeper_core::check::{CheckResult, Location, Status};
use loopkeeper_core::journal::{
    BreakerCause, BreakerCounts, BreakerState, ChangeStats, Entry, ErrorOccurrence, FailingCriterion,
    IterationChanges, LineStats, Outcome, OutcomeKind, PauseReason, PinnedCriterion, Record, RecurringTree,
    Role, Round, SnapshotWhen, TakeoverReason, TripEvidence, WaitReason,
};
use loopkeeper_core::jury::JudgeUsage;
use loopkeeper_task::criterion::{Check, Criterion, CriterionId};
use loopkeeper_text::language::Language;
use loopkeeper_text::moment::Moment;

use super::{DetailLevel, EntryFormatter};
use crate::render::Glyphs;
use loopkeeper_operations::local_time::LocalZone;

/// 2026-11-20 12:00:00 UTC.
const NOON: u64 = 1_795_176_000_000;

fn entry(wall: u64, record: Record) -> Entry {
    Entry { seq: 1, epoch: 1, at: Moment { wall, awake: 0 }, record }
}

fn plain(lines: &[String]) -> Vec<String> {
    lines.iter().map(|it| anstream::adapter::strip_str(it).to_string()).collect()
}

fn result(id: &str, status: Status, fact: &str) -> CheckResult {
    CheckResult { duration_ms: 12, ..CheckResult::new(CriterionId(id.into()), status, fact) }
}

fn round() -> Round {
    Round {
        tree_before: "a".into(),
        tree_after: "a".into(),
        wrote: Vec::new(),
        judging: None,
        results: vec![
            result("aa", Status::Pass, "ok"),
            result("bb", Status::Fail, "exit 1"),
            result("cc", Status::Unverified, ""),
        ],
    }
}

fn pinned(id: &str, name: &str) -> PinnedCriterion {
    let criterion = Criterion::new(id, name, Some(Check::Clean));
    PinnedCriterion { criterion, role: Role::Goal }
}

fn baseline() -> Record {
    Record::Baseline {
        iteration: 0,
        criteria: vec![pinned("aa", "tests pass"), pinned("bb", "lint")],
        plan: Vec::new(),
        artefacts: Vec::new(),
        round: Some(Box::new(round())),
        untracked: Vec::new(),
        seen: Vec::new(),
    }
}

/// The line of a record in a journal that began with a baseline.
#[track_caller]
fn check(record: Record, expect: &str) {
    let mut formatter = EntryFormatter::new(LocalZone::utc(), Glyphs::Ascii);
    formatter.format_entry(&entry(NOON, baseline()), DetailLevel::Everything);
    let lines = formatter.format_entry(&entry(NOON + 1_000, record), DetailLevel::Everything);
    assert_eq!(plain(&lines), [format!("12:00:01 {expect}")]);
}

fn finished_run() -> AgentRun {
    AgentRun {
        duration_ms: 197_000,
        cost_micros: Some(120_000),
        survivors: vec!["4711 sleep".into()],
        ..AgentOutputReader::new(Dialect::Text).finish(ProcessEnd::exited(Some(0)), &LocalClock::utc(0))
    }
}

#[test]
fn an_iteration_reads_from_top_to_bottom() {
    let run = finished_run();
    let snapshot = Record::SnapshotTaken {
        iteration: 7,
        when: SnapshotWhen::After,
        tree: "0123456789abcdef".into(),
        head: None,
        not_covered: vec!["big.bin".into()],
        undoes: None,
    };
    let checks = Record::ChecksDone { iteration: Some(7), round: Box::new(round()) };
    let ended = "  #7  agent done after 3 min 17 s, $0.12; leftover processes ended: 4711 sleep";
    check(baseline(), "      checks before iteration 1: 1 of 2 pass; x lint: exit 1");
    check(Record::AgentEnded { iteration: 7, run: Box::new(run) }, ended);
    check(snapshot, "  #7  snapshot after: 0123456789, without 1 file");
    check(checks, "  #7  checks: 1 of 2 pass; x lint: exit 1");
}

#[test]
fn a_final_verdict_names_the_checks_that_no_clean_room_judged() {
    let verdict = |results: Vec<CheckResult>| {
        let as_left = serde_json::to_value(Round { results, ..round() }).unwrap();
        let fields = serde_json::json!({"iteration": 1, "tree": "a", "asLeft": as_left});
        serde_json::from_value::<Record>(serde_json::json!({"final-verdict": fields})).unwrap()
    };
    let (one, other) = (result("aa", Status::Pass, ""), result("bb", Status::Fail, "exit 1"));
    check(verdict(vec![one.clone(), other]), "      final verdict in a clean room: 1/2 pass");
    let partly = "      final verdict in a clean room: 1/1 pass, 1 other check was judged in the work tree";
    check(verdict(vec![one]), partly);
    let none = "      final verdict in a clean room: 0/0 pass, 2 other checks were judged in the work tree";
    check(verdict(Vec::new()), none);
}

#[test]
fn an_entry_is_in_the_language_of_the_user() {
    let run = finished_run();
    let until = Moment { wall: NOON + 3_600_000, awake: 0 };
    let open = Record::BreakerChanged {
        state: BreakerState::Open,
        reason: Some("循环没有更改文件".into()),
        cause: Some(BreakerCause::NoProgress),
        no_progress: 3,
        trips: 1,
        cooldown_ms: 0,
        resumes_at: Some(until),
        opening: None,
    };
    let ended = "  #7  代理在 3 分 17 秒后完成，$0.12；遗留并已终止的进程：4711 sleep";
    let retry = "；将在 13:00 再试一次，或用 `loopkeeper resume` 立即重试";
    Language::SimplifiedChinese.during(|| {
        check(Record::AgentEnded { iteration: 7, run: Box::new(run) }, ended);
        check(open, &format!("      断路器断开：循环没有更改文件{retry}"));
        check(Record::Stopping { now: false }, "      已要求在本次迭代后停止");
        check(
            Record::Recovered { boot: String::new(), version: String::new(), interrupted: Some(3) },
            "      已重新接管；第 3 次迭代被中断",
        );
    });
}

/// Independent of whether the breaker counts it.
#[test]
fn denied_tools_are_listed() {
    let run = AgentRun {
        duration_ms: 2_000,
        denials: 3,
        denied: vec!["Bash: git push".into(), "Write: /etc/x".into()],
        ..AgentOutputReader::new(Dialect::Text).finish(ProcessEnd::exited(Some(0)), &LocalClock::utc(0))
    };
    let agent_ended = Record::AgentEnded { iteration: 7, run: Box::new(run) };
    let denied = "; denied: `Bash: git push`, `Write: /etc/x`";
    check(agent_ended.clone(), &format!("  #7  agent done after 2.0 s{denied}"));
    // With milestones only, the iteration's own line contains it.
    let mut formatter = EntryFormatter::new(LocalZone::utc(), Glyphs::Ascii);
    formatter.format_entry(&entry(NOON, baseline()), DetailLevel::Milestones);
    assert_eq!(
        formatter.format_entry(&entry(NOON, agent_ended), DetailLevel::Milestones),
        Vec::<String>::new()
    );
    let over = formatter.format_entry(&entry(NOON, ended("edited 1 file", None)), DetailLevel::Milestones);
    assert!(plain(&over).concat().ends_with(denied), "{over:?}");
    let next = formatter.format_entry(&entry(NOON, ended("edited 1 file", None)), DetailLevel::Milestones);
    assert!(!plain(&next).concat().contains("denied"), "{next:?}");
}

#[test]
fn events_between_iterations_have_their_lines() {
    let open = Record::BreakerChanged {
        state: BreakerState::Open,
        reason: Some("3 iterations without a change".into()),
        cause: Some(BreakerCause::NoProgress),
        no_progress: 3,
        trips: 1,
        cooldown_ms: 0,
        resumes_at: None,
        opening: None,
    };
    let until = Moment { wall: NOON + 3_600_000, awake: 0 };
    let quota = Record::Waiting { reason: WaitReason::Quota, until, met_by: None };
    let shared = Record::Waiting { reason: WaitReason::Quota, until, met_by: Some("20261120-abcdef".into()) };
    let soon = Moment { wall: NOON + 9_000, awake: 0 };
    let backoff = Record::Waiting { reason: WaitReason::Backoff, until: soon, met_by: None };
    let unchecked = Round { results: vec![result("cc", Status::Unverified, "")], ..round() };
    let unchecked = Record::ChecksDone { iteration: None, round: Box::new(unchecked) };
    let paused = Record::Paused { reason: PauseReason::User, message: "paused by the user".into() };
    let login = Record::Paused { reason: PauseReason::Agent, message: "claude is not logged in".into() };
    let back = Record::RolledBack {
        to: 0,
        tree: String::new(),
        from: String::new(),
        paths: Vec::new(),
        reason: None,
        restored: Vec::new(),
        after: None,
        undoes: None,
    };
    let outcome =
        Outcome { kind: OutcomeKind::Completed, verified: true, sentence: "both pass".into(), cause: None };
    check(open, "      breaker open: 3 iterations without a change");
    check(backoff, "      the agent failed, trying again at 12:00:09");
    check(unchecked, "      checks: nothing to check");
    check(quota, "      usage limit of the provider, waiting until 13:00");
    check(shared, "      usage limit of the provider, reached by loop 20261120-abcdef, waiting until 13:00");
    check(paused, "      paused by the user");
    check(login, "      paused: claude is not logged in");
    check(Record::Stopping { now: true }, "      asked to stop now");
    check(back, "      files restored to the start of the loop");
    check(Record::Ended { outcome }, "      ended: both pass");
}

#[test]
fn subagents_are_listed_with_their_parents() {
    let asked = |by: Option<&str>, refused: Option<&str>| Record::SubagentAsked {
        iteration: 7,
        by: by.map(str::to_owned),
        call: None,
        what: "look".into(),
        refused: refused.map(str::to_owned),
    };
    let started = |by: Option<&str>, call: Option<&str>, id: &str| Record::SubagentStarted {
        iteration: 7,
        by: by.map(str::to_owned),
        call: call.map(str::to_owned),
        id: id.into(),
        what: "general".into(),
    };
    check(asked(None, None), "  #7  the agent asked for a subagent (look): it may start");
    check(
        asked(Some("a"), Some("not started: no.")),
        "  #7  subagent a asked for a subagent (look): not started: no.",
    );
    check(started(Some("a"), Some("c1"), "b"), "  #7  subagent b started by subagent a with c1: general");
    check(started(None, None, ""), "  #7  subagent started by the agent: general");
    check(Record::SubagentEnded { iteration: 7, id: "b".into() }, "  #7  subagent b ended");
}

#[test]
fn a_takeover_says_who_why_and_until_when() {
    let changed = |reason, until: Option<u64>, message: Option<&str>| Record::AgentChanged {
        from: "claude".into(),
        to: "codex".into(),
        reason,
        until: until.map(|wall| Moment { wall, awake: 0 }),
        message: message.map(str::to_owned),
    };
    let quota = changed(TakeoverReason::Quota, Some(NOON + 3_600_000), Some("over\nit"));
    check(quota, "      codex takes over from claude until 13:00: its usage limit is reached (over it)");
    let login = changed(TakeoverReason::Login, None, None);
    check(login, "      codex takes over from claude: it is not logged in");
    check(changed(TakeoverReason::Back, None, None), "      codex works again and replaces claude");
}

#[test]
fn questions_to_judges_are_listed_with_their_cost() {
    let judging = Some(JudgeUsage { calls: 3, cost_micros: Some(30_000), tokens: Some(900) });
    let record = Record::ChecksDone { iteration: Some(1), round: Box::new(Round { judging, ..round() }) };
    let mut formatter = EntryFormatter::new(LocalZone::utc(), Glyphs::Ascii);
    let lines = plain(&formatter.format_entry(&entry(NOON, record), DetailLevel::Everything));
    assert_eq!(lines.last().map(|it| it.trim()), Some("judges: 3 calls, $0.03, 900 tokens"), "{lines:?}");
}

#[test]
fn an_opening_of_the_breaker_shows_what_it_was_judged_by() {
    let changes = ChangeStats { count: 2, files: vec!["a.rs".into()], ..ChangeStats::default() };
    let error = ErrorOccurrence {
        iteration: 2,
        fingerprint: Fingerprint("0123456789ab".into()),
        text: "error: no".into(),
    };
    let opening = TripEvidence {
        counts: BreakerCounts { no_progress: 3, ..BreakerCounts::default() },
        errors: vec![error],
        failing: vec![FailingCriterion {
            criterion: CriterionId("a".into()),
            name: "tests pass".into(),
            fingerprint: Fingerprint("ba9876543210".into()),
            fact: "3 of 9 fail".into(),
        }],
        changed: vec![
            IterationChanges { iteration: 1, changes },
            IterationChanges { iteration: 2, changes: ChangeStats::default() },
        ],
        trees: vec![RecurringTree { tree: "0123456789abcdef".into(), iterations: vec![1, 3] }],
        session_reset: true,
    };
    let open = Record::BreakerChanged {
        state: BreakerState::Open,
        reason: Some("3 iterations without a change".into()),
        cause: Some(BreakerCause::NoProgress),
        no_progress: 3,
        trips: 1,
        cooldown_ms: 1_800_000,
        resumes_at: Some(Moment { wall: NOON + 1_800_000, awake: 0 }),
        opening: Some(Box::new(opening)),
    };
    let mut formatter = EntryFormatter::new(LocalZone::utc(), Glyphs::Ascii);
    let lines = plain(&formatter.format_entry(&entry(NOON, open.clone()), DetailLevel::Everything));
    let expect = "\
12:00:00       breaker open: 3 iterations without a change; one trial at 12:30, or now by `loopkeeper resume`
                 counts: no progress 3, fast failures 0, same error 0, denied tools 0, less output 0, returned to earlier files 0
                 error 0123456789ab in #2: error: no
                 failure ba9876543210 of tests pass: 3 of 9 fail
                 #1 changed 2 files: a.rs, …
                 #2 changed nothing
                 tree 0123456789 after #1, #3
                 the agent's session was reset";
    assert_eq!(lines.get(1..).unwrap_or_default().join("\n"), expect);
    assert_eq!(formatter.format_entry(&entry(NOON, open), DetailLevel::Milestones).len(), 1);
}

#[test]
fn a_new_day_is_announced_once_and_unknown_records_are_silent() {
    let mut formatter = EntryFormatter::new(LocalZone::utc(), Glyphs::Ascii);
    let mut lines =
        |wall, record| plain(&formatter.format_entry(&entry(wall, record), DetailLevel::Everything)).len();
    assert_eq!(lines(NOON, Record::Resumed {}), 2);
    assert_eq!(lines(NOON, Record::Unknown), 0);
    assert_eq!(lines(NOON + 1, Record::Resumed {}), 1);
    assert_eq!(lines(NOON + 86_400_000, Record::Resumed {}), 2);
}

fn ended(sentence: &str, claims: Option<Box<Claims>>) -> Record {
    Record::IterationEnded {
        iteration: 7,
        changes: Box::new(ChangeStats {
            count: 3,
            files: vec!["a.rs".into(), "b.rs".into()],
            committed: false,
            lines: Some(LineStats { added: 5, removed: 1 }),
            per_file: vec![LineStats { added: 3, removed: 1 }, LineStats { added: 1, removed: 0 }],
            ..ChangeStats::default()
        }),
        claim: None,
        claims,
        test_only: false,
        matching: Vec::new(),
        proposed: Vec::new(),
        seen: None,
        plan: Vec::new(),
        edited_artefacts: Vec::new(),
        error: None,
        weakened: Vec::new(),
        sentence: sentence.into(),
        milestones: Vec::new(),
        commits: Vec::new(),
        near: Vec::new(),
        drift: None,
    }
}

#[test]
fn an_iteration_is_one_milestone_with_what_failed() {
    let mut formatter = EntryFormatter::new(LocalZone::utc(), Glyphs::Ascii);
    let mut lines = |record| plain(&formatter.format_entry(&entry(NOON, record), DetailLevel::Milestones));
    lines(baseline());
    let ended = || ended("nothing changed, 1 of 2 pass", None);
    assert_eq!(lines(Record::ChecksDone { iteration: Some(7), round: Box::new(round()) }), [""; 0]);
    assert_eq!(lines(ended()), ["12:00:00   #7  nothing changed, 1 of 2 pass; x lint: exit 1"]);
    assert_eq!(lines(ended()), ["12:00:00   #7  nothing changed, 1 of 2 pass"]);
    let asked = Record::ChecksDone { iteration: None, round: Box::new(round()) };
    assert_eq!(lines(asked), ["12:00:00       checks: 1 of 2 pass; x lint: exit 1"]);
}

#[test]
fn everything_shows_where_a_check_failed_or_what_it_printed_last() {
    let shown = |locations: Vec<Location>| {
        let mut formatter = EntryFormatter::new(LocalZone::utc(), Glyphs::Ascii);
        let mut round = round();
        for it in round.results.iter_mut().filter(|it| it.status == Status::Fail) {
            it.head = "one\ntwo\n\nthree\n".into();
            it.locations.clone_from(&locations);
        }
        let checks = Record::ChecksDone { iteration: Some(7), round: Box::new(round) };
        let lines = plain(&formatter.format_entry(&entry(NOON, checks), DetailLevel::Everything));
        let first = lines.iter().position(|it| it.contains("checks: ")).unwrap();
        lines[first + 1..].iter().map(|it| it.trim_start().to_owned()).collect::<Vec<_>>()
    };
    let place = |line| Location { file: "a.rs".into(), line, message: "no".into(), ..Location::default() };
    assert_eq!(shown(Vec::new()), ["?: two", "?: three"]);
    assert_eq!(shown(vec![place(3)]), ["?: a.rs:3: no"]);
    let many = shown((1..=5).map(place).collect());
    assert_eq!(many, ["?: a.rs:1: no", "?: a.rs:2: no", "?: a.rs:3: no", "?: and 2 more places"]);
}

#[test]
fn everything_shows_each_claim_with_its_weight() {
    let mut formatter = EntryFormatter::new(LocalZone::utc(), Glyphs::Ascii);
    let says = "EXIT_SIGNAL: true\nAll tests pass, about 80% done.";
    let ended = ended("nothing changed", Some(Box::new(read(says, "COMPLETE", &[]))));
    let lines = plain(&formatter.format_entry(&entry(NOON, ended), DetailLevel::Everything));
    assert!(lines.iter().any(|it| it.ends_with("claims: EXIT_SIGNAL: true · line · decisive")), "{lines:#?}");
    assert!(lines.iter().any(|it| it.contains("claims: progress 80 %")), "{lines:#?}");
    assert!(
        lines.iter().any(|it| it.ends_with("changed: +5 -1 lines: a.rs +3 -1, b.rs +1 -0, …")),
        "{lines:#?}"
    );
}

fn started_as(domain: &str, agent_pid: Option<u32>) -> Record {
    Record::AgentStarted {
        iteration: 1,
        pid: 5,
        agent_pid,
        domain: domain.into(),
        network: None,
        holds: None,
    }
}

#[test]
fn a_start_names_the_agents_own_process() {
    let check = |domain: &str, agent_pid, expect: &str| {
        let mut formatter = EntryFormatter::new(LocalZone::utc(), Glyphs::Ascii);
        let lines = plain(
            &formatter.format_entry(&entry(NOON, started_as(domain, agent_pid)), DetailLevel::Everything),
        );
        assert!(lines.iter().any(|it| it.ends_with(expect)), "{lines:#?}");
    };
    check("pid-namespace", Some(812), "agent started in its own PID namespace, process 812");
    check("pid-namespace", None, "agent started in its own PID namespace");
    check("landlock", Some(812), "agent started under Landlock, process 812");
    check("subreaper", Some(812), "agent started, process 812");
    check("subreaper", None, "agent started");
    check("yours", None, "agent working in your session, process 5");
}

#[test]
fn a_start_says_what_holds_of_a_closed_network() {
    let check = |iteration, network: &str, expect: &str, is_milestone| {
        let (domain, network) = ("subreaper".to_owned(), Some(network.to_owned()));
        let started =
            Record::AgentStarted { iteration, pid: 5, agent_pid: None, domain, network, holds: None };
        let mut formatter = EntryFormatter::new(LocalZone::utc(), Glyphs::Ascii);
        let lines = plain(&formatter.format_entry(&entry(NOON, started.clone()), DetailLevel::Everything));
        assert!(lines.iter().any(|it| it.ends_with(expect)), "{lines:#?}");
        let milestones = formatter.format_entry(&entry(NOON, started), DetailLevel::Milestones);
        assert_eq!(!milestones.is_empty(), is_milestone, "{milestones:#?}");
    };
    check(1, "closed", "agent started, without network", false);
    check(1, "limited to 2 hosts", "agent started; the network is limited to 2 hosts", false);
    check(1, "no-tcp", "agent started, without TCP connections", false);
    check(1, "open: no bubblewrap", "agent started; the network is open: no bubblewrap", true);
    check(2, "open: no bubblewrap", "agent started; the network is open: no bubblewrap", false);
}

#[test]
fn milestones_leave_out_the_machinery() {
    let mut formatter = EntryFormatter::new(LocalZone::utc(), Glyphs::Ascii);
    let started = started_as("subreaper", None);
    assert!(formatter.format_entry(&entry(NOON, started), DetailLevel::Milestones).is_empty());
    let between = Record::Waiting { reason: WaitReason::Between, until: Moment::default(), met_by: None };
    assert!(formatter.format_entry(&entry(NOON, between), DetailLevel::Milestones).is_empty());
    assert_eq!(formatter.format_entry(&entry(NOON, Record::Resumed {}), DetailLevel::Milestones).len(), 2);
}
