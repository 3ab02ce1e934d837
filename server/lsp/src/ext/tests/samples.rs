//! Samples of every message, one with every field and one with as few as possible. They are written field by field, so
//! that a new field does not compile until it is added here.

use std::collections::BTreeSet;

use loopkeeper_core::check::Status;
use loopkeeper_core::journal::{
    BreakerState, Outcome, OutcomeKind, PauseReason, QuestionKind, Role, StopVerdict, WaitReason,
};
use loopkeeper_core::plugin_loop::PluginLoop;
use loopkeeper_core::settings::Preset;
use loopkeeper_core::settings::preset::PresetSelection;
use loopkeeper_operations::transcript::TranscriptCursor;
use loopkeeper_task::criterion::CriterionId;
use loopkeeper_task::work_product::WorkProduct;
use loopkeeper_view::{
    BreakerCounts, BreakerStatus, CriteriaStatus, CriterionStatus, DisplayPhase, DisplayState, DriftStatus,
    GroupState, GroupStatus, KeeperStatus, LimitsStatus, LoopStatus, PauseStatus, PlanStatus, QuestionStatus,
    SessionStatus, SourceRange, SpawnStatus, StaleReason, SubagentState, SubagentStatus, TaskStatus,
    UsageStatus, WaitStatus, WeakenedStatus,
};
use lsp_types::Command;
use serde::Serialize;
use serde_json::{Value, json};

use crate::ext::{
    AlertKind, AlertParams, AlertQuestion, AlertSeverity, AnswerArgs, CancelChecksArgs, ChangedFile,
    CheckArgs, CommandResult, CriterionRow, DiffArgs, FeedbackArgs, FileChangeKind, ForeignLoop, HintCommand,
    HintCommandName, ImportArgs, IterationEntry, IterationsParams, IterationsResult, LoopArgs, LoopsParams,
    LoopsResult, NewTaskArgs, OutputArgs, OutputParams, PrioritizeArgs, RefusalCode, RefusalData,
    RefusedPath, ResumeArgs, RollbackArgs, ServerHealth, SkipArgs, StartArgs, StartLimits,
    StartPreviewParams, StartPreviewResult, StatusParams, SteerArgs, StopArgs, SubscribeParams,
    SubscribeResult, TaskEntry, TranscriptParams, TranscriptResult, TrustArgs, TrustCommand, TrustPageParams,
    TrustPageResult, UndoRollbackArgs, UntrustArgs, VERSION,
};

/// The name, a sample with all fields, and for messages of the server a sample with only the required ones.
pub(super) type Message = (&'static str, Value, Option<Value>);

pub(super) fn messages() -> Vec<Message> {
    [notifications(), requests(), commands()].concat()
}

fn notifications() -> Vec<Message> {
    vec![
        ("StatusParams", json!(status(true)), Some(json!(status(false)))),
        ("LoopStatus", json!(a_loop(true)), Some(json!(a_loop(false)))),
        ("TaskEntry", json!(task(true)), Some(json!(task(false)))),
        ("ForeignLoop", json!(foreign(true)), Some(json!(foreign(false)))),
        ("ImportArgs", json!(import()), None),
        (
            "NewTaskArgs",
            json!(NewTaskArgs { folder: s(), sentence: s(), kind: Some(WorkProduct::Code) }),
            None,
        ),
        ("OutputParams", json!(OutputParams { loop_id: s(), iteration: 1, text: s() }), None),
        ("AlertParams", json!(alert(true)), Some(json!(alert(false)))),
        ("LoopsParams", json!(LoopsParams { all: true }), None),
        ("LoopsResult", json!(LoopsResult { loops: vec![a_loop(true)] }), None),
    ]
}

fn requests() -> Vec<Message> {
    vec![
        ("SubscribeParams", json!(SubscribeParams { loop_id: s(), on: true }), None),
        ("SubscribeResult", json!(SubscribeResult { subscribed: true }), None),
        ("IterationsParams", json!(IterationsParams { loop_id: s(), last: Some(1) }), None),
        ("IterationsResult", json!(iterations(true)), Some(json!(iterations(false)))),
        (
            "TranscriptParams",
            json!(TranscriptParams { loop_id: s(), after: Some(cursor()) }),
            Some(json!(TranscriptParams { loop_id: s(), after: None })),
        ),
        ("TranscriptResult", json!(transcript()), Some(json!(transcript()))),
        (
            "StartPreviewParams",
            json!(StartPreviewParams { task: s(), agent: Some(s()), limits: start().limits }),
            None,
        ),
        ("StartPreviewResult", json!(preview(true)), Some(json!(preview(false)))),
        ("TrustPageParams", json!(TrustPageParams { task: s() }), None),
        ("TrustPageResult", json!(page()), Some(json!(page()))),
    ]
}

fn commands() -> Vec<Message> {
    let refusal = |full: bool| json!(refusal(full));
    vec![
        ("CommandResult", json!(result()), Some(json!(CommandResult::default()))),
        ("RefusalData", refusal(true), Some(refusal(false))),
        ("ErrorData", refusal(true), Some(refusal(false))),
        ("StartArgs", json!(start()), None),
        ("StopArgs", json!(StopArgs { loop_id: s(), now: true }), None),
        ("LoopArgs", json!(LoopArgs { loop_id: s() }), None),
        ("ResumeArgs", json!(ResumeArgs { loop_id: s(), anyway: true, more: Some(1) }), None),
        (
            "FeedbackArgs",
            json!(FeedbackArgs { loop_id: s(), verdict: StopVerdict::Right, text: Some(s()) }),
            None,
        ),
        ("CheckArgs", json!(CheckArgs { task: s(), criterion: Some(s()) }), None),
        ("CancelChecksArgs", json!(CancelChecksArgs { task: s() }), None),
        (
            "OutputArgs",
            json!(OutputArgs { task: s(), criterion: Some(s()), iteration: Some(1), show: Some(false) }),
            None,
        ),
        ("SteerArgs", json!(SteerArgs { loop_id: s(), text: s() }), None),
        ("AnswerArgs", json!(AnswerArgs { loop_id: s(), text: Some(s()), question: Some(s()) }), None),
        (
            "RollbackArgs",
            json!(RollbackArgs { loop_id: s(), iteration: 1, paths: vec![s()], preview: Some(true) }),
            None,
        ),
        ("UndoRollbackArgs", json!(UndoRollbackArgs { loop_id: s(), preview: Some(true) }), None),
        ("DiffArgs", json!(DiffArgs { loop_id: s(), iteration: Some(1) }), None),
        ("SkipArgs", json!(SkipArgs { task: s(), item: s() }), None),
        ("PrioritizeArgs", json!(PrioritizeArgs { task: s(), item: s(), by: 1 }), None),
        ("TrustArgs", json!(TrustArgs { task: s(), hash: Some(s()) }), None),
        ("UntrustArgs", json!(UntrustArgs { task: s() }), None),
    ]
}

const QUESTIONS: [QuestionKind; 4] =
    [QuestionKind::Agent, QuestionKind::UsageLimit, QuestionKind::Denied, QuestionKind::Permission];

const COMMAND_NAMES: [HintCommandName; 10] = [
    HintCommandName::Run,
    HintCommandName::Status,
    HintCommandName::Watch,
    HintCommandName::Stop,
    HintCommandName::Pause,
    HintCommandName::Resume,
    HintCommandName::Steer,
    HintCommandName::Answer,
    HintCommandName::Rollback,
    HintCommandName::Trust,
];

const STATES: [DisplayState; 5] = [
    DisplayState::Working,
    DisplayState::NeedsYou,
    DisplayState::Paused,
    DisplayState::Done,
    DisplayState::Idle,
];

const STATUSES: [Status; 7] = [
    Status::Pass,
    Status::Fail,
    Status::TimedOut,
    Status::CouldNotRun,
    Status::NoTestsRan,
    Status::Unstable,
    Status::Unverified,
];

/// The fields that are string enums, with their values.
pub(super) fn words() -> Vec<(&'static str, &'static str, BTreeSet<String>)> {
    use DisplayPhase::{
        Baseline, Checking, Damaged, Ended, Interrupted, Iterating, NeedsAnswer, Stopping, Untrusted, Waiting,
    };
    let phases = [
        Baseline,
        Iterating,
        Checking,
        Waiting,
        Stopping,
        Untrusted,
        NeedsAnswer,
        Interrupted,
        Damaged,
        DisplayPhase::Paused,
        Ended,
    ];
    let kinds = [
        OutcomeKind::Completed,
        OutcomeKind::Stopped,
        OutcomeKind::Limit,
        OutcomeKind::Breaker,
        OutcomeKind::Failed,
    ];
    vec![
        ("StatusParams", "health", set(&[ServerHealth::Ok, ServerHealth::Warning, ServerHealth::Error])),
        ("AlertParams", "commands.name", set(&COMMAND_NAMES)),
        ("AlertParams", "kind", set(&[AlertKind::Ended, AlertKind::NeedsYou, AlertKind::Warning])),
        (
            "AlertParams",
            "severity",
            set(&[AlertSeverity::Info, AlertSeverity::Warning, AlertSeverity::Error]),
        ),
        ("FeedbackArgs", "verdict", set(&StopVerdict::ALL)),
        ("LoopStatus", "phase", set(&phases)),
        ("LoopStatus", "state", set(&STATES)),
        ("LoopStatus", "staleReason", set(&[StaleReason::RolledBack, StaleReason::FilesChanged])),
        (
            "LoopStatus",
            "breaker.state",
            set(&[BreakerState::Closed, BreakerState::Open, BreakerState::HalfOpen]),
        ),
        ("LoopStatus", "breaker.preset.name", set(&[Preset::Small, Preset::Large, Preset::Adaptive])),
        ("LoopStatus", "groups.state", set(&[GroupState::Holds, GroupState::Open])),
        ("LoopStatus", "outcome.kind", set(&kinds)),
        ("LoopStatus", "question.kind", set(&QUESTIONS)),
        ("LoopStatus", "criteria.items.role", set(&[Role::Goal, Role::Guard, Role::Open])),
        ("LoopStatus", "criteria.items.status", set(&STATUSES)),
        (
            "DiffResult",
            "files.kind",
            set(&[FileChangeKind::Added, FileChangeKind::Changed, FileChangeKind::Removed]),
        ),
    ]
}

pub(super) fn codes() -> BTreeSet<String> {
    use RefusalCode::{
        AgentMissing, BadArgument, Conflict, NoTask, TreeBusy, Unsaved, Unsupported, Untrusted,
    };
    set(&[Untrusted, Unsaved, TreeBusy, NoTask, AgentMissing, Conflict, Unsupported, BadArgument])
}

fn set<T: Serialize>(all: &[T]) -> BTreeSet<String> {
    all.iter().filter_map(|it| json!(it).as_str().map(str::to_owned)).collect()
}

fn s() -> String {
    "x".to_owned()
}

fn status(full: bool) -> StatusParams {
    StatusParams {
        version: VERSION,
        seq: 1,
        health: ServerHealth::Ok,
        message: full.then(s),
        trusted: true,
        loops: vec![a_loop(full)],
        tasks: vec![task(full)],
        foreign: if full { vec![foreign(true)] } else { Vec::new() },
        alerts: if full { vec![alert(true)] } else { Vec::new() },
    }
}

fn foreign(full: bool) -> ForeignLoop {
    let state = PluginLoop {
        iteration: 1,
        max_iterations: full.then_some(1),
        promise: full.then(s),
        started_at: full.then(s),
        prompt: s(),
    };
    ForeignLoop { uri: s(), root: s(), state }
}

fn task(full: bool) -> TaskEntry {
    TaskEntry {
        id: s(),
        uri: s(),
        root: s(),
        title: s(),
        state: DisplayState::Idle,
        loop_id: full.then(s),
        checking: false,
        rounds: u64::from(full),
        unknown_commands: 0,
        criteria: criteria(full),
    }
}

fn criteria(full: bool) -> CriteriaStatus {
    let item = CriterionStatus {
        id: CriterionId(s()),
        name: s(),
        required: true,
        role: full.then_some(Role::Goal),
        status: full.then_some(Status::Pass),
        fact: if full { s() } else { String::new() },
        expected: full.then(s),
        actual: full.then(s),
        duration_ms: 1,
        regressed: false,
        ticked: full.then_some(true),
        stale: false,
        place: SourceRange { file: s(), start: 0, length: 1 },
    };
    CriteriaStatus {
        passed: 1,
        failed: 0,
        unverified: 0,
        total: 1,
        summary: if full { "its one criterion passes".to_owned() } else { String::new() },
        brief: if full { "1/1 pass".to_owned() } else { String::new() },
        items: vec![item],
    }
}

fn spawns(full: bool) -> SpawnStatus {
    let s = String::new;
    let one = SubagentStatus {
        id: Some(s()),
        by: Some(s()),
        call: Some(s()),
        what: s(),
        depth: 1,
        state: SubagentState::Started,
    };
    let bare = SubagentStatus { id: None, by: None, call: None, ..one.clone() };
    let agents = if full { vec![one, bare] } else { Vec::new() };
    SpawnStatus { used: 0, budget: 12, depth: 0, in_iteration: 0, refused: 0, agents }
}

fn a_loop(full: bool) -> LoopStatus {
    let some = |value: u64| full.then_some(value);
    LoopStatus {
        id: s(),
        seq: 1,
        task: TaskStatus { uri: s(), title: s() },
        agent: s(),
        state: DisplayState::Working,
        phase: DisplayPhase::Iterating,
        iteration: 1,
        limits: LimitsStatus {
            iterations: 1,
            duration_ms: 1,
            cost_micros: 1,
            tokens: some(1),
            calls_per_hour: 1,
        },
        criteria: criteria(full),
        groups: if full { vec![group()] } else { Vec::new() },
        plan: PlanStatus { done: 0, open: 0, total: 0 },
        breaker: BreakerStatus {
            state: BreakerState::Closed,
            reason: full.then(s),
            counts: BreakerCounts::default(),
            resumes_at: full.then(s),
            trips: 0,
            preset: full.then(|| PresetSelection { name: Preset::Adaptive, because: s() }),
        },
        session: full.then(|| SessionStatus { id: s(), started_at: s(), resets: 0, own: true }),
        spawns: spawns(full),
        wait: full.then(|| WaitStatus { reason: WaitReason::Quota, resumes_at: s() }),
        question: full.then(|| QuestionStatus {
            id: s(),
            kind: QuestionKind::Agent,
            text: s(),
            expires_at: full.then(s),
        }),
        pause: full.then(|| PauseStatus { reason: PauseReason::User, message: s().into() }),
        spent: UsageStatus { cost_micros: some(1), tokens: some(1), calls: 1, calls_this_hour: 1 },
        started_at: s(),
        paused_ms: 0,
        activity: full.then(s),
        stale: full,
        stale_reason: full.then_some(StaleReason::RolledBack),
        warnings: if full { vec![s()] } else { Vec::new() },
        forecast: full.then(s),
        drift: full.then(drift),
        outcome: full.then(|| Outcome {
            kind: OutcomeKind::Stopped,
            verified: false,
            sentence: s().into(),
            cause: Some(PauseReason::Breaker),
        }),
        branch: full.then(s),
        away: full.then(s),
        weakened: if full { vec![WeakenedStatus { path: Some(s()), what: s() }] } else { Vec::new() },
        keeper: KeeperStatus { pid: full.then_some(1), alive: true, stopped: full },
    }
}

fn drift() -> DriftStatus {
    DriftStatus { iteration: 1, off: 1, total: 1, paths: vec![s()], streak: Some(3) }
}

fn group() -> GroupStatus {
    GroupStatus { name: s(), state: GroupState::Holds, passed: 1, total: 1 }
}

fn alert(full: bool) -> AlertParams {
    AlertParams {
        loop_id: s(),
        kind: AlertKind::Ended,
        severity: AlertSeverity::Info,
        message: s(),
        actions: vec![Command::new(s(), s(), None)],
        follow_up: full.then(|| AlertQuestion { message: s(), actions: vec![Command::new(s(), s(), None)] }),
        commands: hint_commands(full),
    }
}

fn iterations(full: bool) -> IterationsResult {
    let some = |value: u64| full.then_some(value);
    let entry = IterationEntry {
        iteration: 1,
        started_at: s(),
        duration_ms: some(1),
        cost_micros: some(1),
        changed: some(1),
        added: some(1),
        removed: some(1),
        milestones: if full { vec![s()] } else { Vec::new() },
        commit: full.then(s),
        rolled_back: full,
        passed: 1,
        total: 1,
        summary: if full { "its one criterion passes".to_owned() } else { String::new() },
    };
    let criteria = vec![CriterionRow { id: s(), name: s(), row: s() }];
    IterationsResult { loop_id: s(), criteria, iterations: vec![entry] }
}

fn cursor() -> TranscriptCursor {
    TranscriptCursor { seq: 1, iteration: 1, offset: 1 }
}

fn transcript() -> TranscriptResult {
    TranscriptResult { loop_id: s(), text: s(), cursor: cursor(), ended: true }
}

fn preview(full: bool) -> StartPreviewResult {
    StartPreviewResult {
        agent: s(),
        agents: vec![s()],
        iterations: 1,
        duration_ms: 1,
        cost_micros: 1,
        upper_bound: s(),
        history: full.then(s),
        grade: full.then(s),
        problem: full.then(s),
    }
}

fn page() -> TrustPageResult {
    let command = TrustCommand { kind: s(), title: s(), lines: vec![s()], trusted: true };
    TrustPageResult { hash: s(), trusted: true, commands: vec![command], text: s() }
}

fn import() -> ImportArgs {
    ImportArgs { file: Some(s()), text: Some(s()), folder: Some(s()) }
}

fn start() -> StartArgs {
    let limits = StartLimits { iterations: Some(1), duration: Some(s()), cost_usd: Some(1.0) };
    StartArgs { task: s(), agent: Some(s()), limits, anyway: true, continues: Some(s()) }
}

fn result() -> CommandResult {
    let file = ChangedFile { path: s(), kind: FileChangeKind::Added, before: Some(s()), after: Some(s()) };
    CommandResult {
        saved: Some(true),
        status: Some(status(false)),
        loop_id: Some(s()),
        uri: Some(s()),
        written: Some(1),
        removed: Some(1),
        refused: Some(vec![RefusedPath { path: s(), why: s() }]),
        edited: Some(vec![s()]),
        effect: Some(s()),
        patch: Some(s()),
        files: Some(vec![file]),
        document: Some(s()),
    }
}

fn refusal(full: bool) -> RefusalData {
    RefusalData {
        code: RefusalCode::Untrusted,
        task: full.then(s),
        hash: full.then(s),
        count: full.then_some(1),
        asked: full.then_some(true),
        uri: full.then(s),
        holder: full.then(s),
        line: full.then_some(1),
        commands: hint_commands(full),
    }
}

fn hint_commands(full: bool) -> Vec<HintCommand> {
    let command = HintCommand { text: s(), name: HintCommandName::Run };
    if full { vec![command] } else { Vec::new() }
}
