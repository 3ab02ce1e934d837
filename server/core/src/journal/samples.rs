//! One record of every type, for tests of the format.

mod settings;
mod verdicts;

use self::verdicts::{final_verdict, mutants, weakening_accepted};
use super::{
    AgentPlan, BreakerCause, BreakerCounts, BreakerState, ChangeStats, Claim, CommandSender, DriftShare,
    EarlierTask, Edit, Entry, ErrorOccurrence, FailingCriterion, GitHead, IterationChanges, LimitName,
    LineStats, LoopSpec, Outcome, OutcomeKind, PauseReason, PinnedCriterion, Proposal, QuestionKind, Record,
    RecurringTree, RestrictedCommand, Role, Round, SessionReason, SnapshotWhen, StopVerdict, TakeoverReason,
    TripEvidence, UnacceptedChange, WaitReason, Weakening,
};
use crate::check::{
    CheckResult, DependencyProvider, Location, MissingDependency, MissingKind, Status, TestCounts,
};
use crate::jury::JudgeUsage;
use crate::settings::LoopEvent;
use loopkeeper_agent::claims::read;
use loopkeeper_agent::errors::{Fingerprint, FingerprintedError};
use loopkeeper_agent::kind::Dialect;
use loopkeeper_agent::{
    AgentEnding, AgentExited, AgentRun, PermissionMode, PromptBy, ProviderClass, ProviderError,
};
use loopkeeper_task::criterion::{
    Check, Compare, Criterion, CriterionId, Expect, NumberRule, PatternKind, TextPattern,
};
use loopkeeper_task::{PlanItem, TaskId};
use loopkeeper_text::DocumentRange;
use loopkeeper_text::moment::Moment;

pub(crate) fn entry(seq: u64, record: Record) -> Entry {
    Entry { seq, epoch: 1, at: Moment { wall: 1_795_183_200_123 + seq, awake: 1_000 + seq }, record }
}

/// Every type once, in an order in which a loop could write them.
pub(crate) fn records() -> Vec<Record> {
    [first_iteration(), subagents(), around_iterations()].concat()
}

fn subagents() -> Vec<Record> {
    vec![
        Record::SubagentAsked {
            iteration: 1,
            by: Some("a1".to_owned()),
            call: Some("toolu_2".to_owned()),
            what: "look".to_owned(),
            refused: Some("not started".to_owned()),
        },
        Record::SubagentStarted {
            iteration: 1,
            by: Some("a0".to_owned()),
            call: Some("toolu_1".to_owned()),
            id: "a1".to_owned(),
            what: "general".to_owned(),
        },
        Record::SubagentEnded { iteration: 1, id: "a1".to_owned() },
    ]
}

fn agent_started() -> Record {
    let domain = "subreaper".to_owned();
    let network = Some("no-tcp".to_owned());
    Record::AgentStarted { iteration: 1, pid: 4711, agent_pid: Some(4713), domain, network, holds: Some(8) }
}

fn changes() -> ChangeStats {
    ChangeStats {
        count: 1,
        files: vec!["src/lib.rs".to_owned()],
        lines: Some(LineStats { added: 3, removed: 1 }),
        per_file: vec![LineStats { added: 3, removed: 1 }],
        autorun: vec![".envrc".to_owned()],
        strays: vec!["src/lib_old.rs".to_owned()],
        ..ChangeStats::default()
    }
}

fn first_iteration() -> Vec<Record> {
    vec![
        Record::LoopStarted { boot: "b0c1".to_owned(), spec: Box::new(spec()) },
        Record::BranchTaken {
            branch: Some("ralph/task".to_owned()),
            from: Some("main".to_owned()),
            made: true,
            note: Some("no remote".to_owned()),
        },
        Record::Baseline {
            iteration: 0,
            criteria: vec![PinnedCriterion { criterion: criterion(), role: Role::Goal }],
            plan: vec![plan_item()],
            artefacts: vec!["target".to_owned()],
            round: Some(Box::new(round(Status::Fail))),
            untracked: vec!["notes.txt".to_owned()],
            seen: vec![criterion()],
        },
        Record::SnapshotTaken {
            iteration: 1,
            when: SnapshotWhen::Before,
            tree: "aa".repeat(20),
            head: Some(GitHead {
                commit: "c".repeat(40),
                tree: "d".repeat(40),
                branch: Some("main".to_owned()),
            }),
            not_covered: vec!["big.bin".to_owned()],
            undoes: Some(7),
        },
        Record::IterationIntended {
            iteration: 1,
            session: "5d2c0d51-0000-4000-8000-000000000000".to_owned(),
            resumed: true,
            prompt: "e".repeat(64),
            tree: "aa".repeat(20),
            calls_this_hour: 7,
            calls_note: Some("the list of calls cannot be read".to_owned()),
        },
        agent_started(),
        Record::AgentLeft { iteration: 1, left: Box::new(left()) },
        Record::AgentEnded { iteration: 1, run: Box::new(run()) },
        Record::ChecksDone { iteration: Some(1), round: Box::new(round(Status::Pass)) },
        Record::IterationEnded {
            iteration: 1,
            changes: Box::new(changes()),
            plan: vec![plan_item()],
            proposed: vec![Proposal::new(Edit::Added, "a new line")],
            seen: Some(vec![criterion()]),
            edited_artefacts: vec!["target/x".to_owned()],
            claim: Some(Claim::Promise),
            claims: Some(Box::new(read("EXIT_SIGNAL: true\nAll done.", "COMPLETE", &[]))),
            test_only: true,
            matching: vec!["docs/*.md".to_owned()],
            error: Some(provider_error()),
            weakened: vec![Weakening {
                path: "tests/a.rs".to_owned(),
                what: "tests/a.rs lost 1 test".to_owned(),
                criterion: Some(CriterionId("0123456789".to_owned())),
                since: 1,
                by_verdict: false,
            }],
            sentence: "1 file changed, 1 of 1 criteria pass".to_owned(),
            milestones: vec!["now passes: tests pass".to_owned()],
            commits: vec!["feat: a thing".to_owned()],
            near: vec![LimitName::Cost],
            drift: Some(Box::new(DriftShare { off: 1, total: 2, paths: vec!["src/lib.rs".to_owned()] })),
        },
        Record::Committed {
            iteration: 1,
            commit: Some("e".repeat(40)),
            subject: Some("feat: US-001 - Login".to_owned()),
            note: Some("left out: big.bin".to_owned()),
        },
    ]
}

fn agent_changed() -> Record {
    Record::AgentChanged {
        from: "claude".to_owned(),
        to: "codex".to_owned(),
        reason: TakeoverReason::Quota,
        until: Some(Moment { wall: 1_795_183_200_000, awake: 5 }),
        message: Some("usage limit reached".to_owned()),
    }
}

fn around_iterations() -> Vec<Record> {
    vec![
        Record::BreakerChanged {
            state: BreakerState::Open,
            reason: Some("3 iterations without a change".to_owned()),
            cause: Some(BreakerCause::NoProgress),
            no_progress: 3,
            trips: 1,
            cooldown_ms: 1_800_000,
            resumes_at: Some(Moment { wall: 7, awake: 8 }),
            opening: Some(Box::new(opening())),
        },
        Record::Waiting {
            reason: WaitReason::Quota,
            until: Moment { wall: 5, awake: 6 },
            met_by: Some("20261120-abcdef".to_owned()),
        },
        Record::Paused { reason: PauseReason::Disk, message: "the disk is full".into() },
        Record::ChecksWaived { criteria: vec![CriterionId("0123456789".to_owned())] },
        Record::Resumed {},
        Record::Steered { text: "\"quoted\"\n\u{1b}[31m {\"v\":1} ünï 完成".to_owned() },
        Record::Asked {
            id: "agent-1".to_owned(),
            kind: QuestionKind::Agent,
            text: "Which database?".to_owned(),
            until: Some(Moment { wall: 5, awake: 6 }),
        },
        Record::Answered { id: "agent-1".to_owned(), text: Some("SQLite".to_owned()) },
        agent_changed(),
        Record::SessionChanged {
            from: Some("s1".to_owned()),
            to: Some("s2".to_owned()),
            reason: SessionReason::Expired,
        },
        Record::SessionJoined { session: "s3".to_owned(), holds: 8, tokens: Some(4) },
        Record::Stopping { now: true },
        weakening_accepted(),
        Record::ProtectedEdited { paths: vec!["tests/b.rs".to_owned()], all: false, tree: "aa".repeat(20) },
        final_verdict(),
        mutants(),
        Record::TrustChanged { message: "2 commands".to_owned() },
        Record::CommandRefused { iteration: 1, command: RestrictedCommand::Accept, by: CommandSender::Agent },
        Record::HookFailed { event: LoopEvent::NeedsYou, message: "failed with exit 3".to_owned() },
        Record::RolledBack {
            to: 0,
            tree: "aa".repeat(20),
            from: "bb".repeat(20),
            paths: vec!["src/lib.rs".to_owned()],
            reason: Some("iteration 1 broke tests pass".to_owned()),
            restored: vec!["src/lib.rs".to_owned()],
            after: Some("cc".repeat(20)),
            undoes: Some(7),
        },
    ]
    .into_iter()
    .chain(recovered_and_ended())
    .collect()
}

fn recovered_and_ended() -> Vec<Record> {
    vec![
        Record::Recovered { boot: "b0c2".to_owned(), version: "0.1.0".to_owned(), interrupted: Some(1) },
        Record::Ended {
            outcome: Outcome {
                kind: OutcomeKind::Completed,
                verified: true,
                sentence: "completed, verified".into(),
                cause: Some(PauseReason::User),
            },
        },
        Record::Feedback { verdict: StopVerdict::TooEarly, text: Some("no documentation".to_owned()) },
    ]
}

/// Fails to compile when a type is added, which then needs a sample above.
#[expect(dead_code, reason = "exists to be compiled")]
fn all_types_have_a_sample(record: &Record) {
    match record {
        Record::LoopStarted { .. } | Record::Baseline { .. } | Record::SnapshotTaken { .. } => {}
        Record::IterationIntended { .. } | Record::AgentStarted { .. } | Record::AgentEnded { .. } => {}
        Record::AgentLeft { .. } | Record::SubagentAsked { .. } => {}
        Record::SubagentStarted { .. } | Record::SubagentEnded { .. } => {}
        Record::ChecksDone { .. } | Record::IterationEnded { .. } | Record::BreakerChanged { .. } => {}
        Record::Waiting { .. } | Record::Paused { .. } | Record::Resumed {} | Record::Steered { .. } => {}
        Record::ChecksWaived { .. } => {}
        Record::Asked { .. }
        | Record::Answered { .. }
        | Record::SessionChanged { .. }
        | Record::SessionJoined { .. }
        | Record::AgentChanged { .. } => {}
        Record::WeakeningAccepted { .. } | Record::ProtectedEdited { .. } => {}
        Record::FinalVerdict { .. } | Record::Mutants { .. } => {}
        Record::Stopping { .. } | Record::TrustChanged { .. } | Record::RolledBack { .. } => {}
        Record::CommandRefused { .. } => {}
        Record::HookFailed { .. } | Record::BranchTaken { .. } | Record::Committed { .. } => {}
        Record::Recovered { .. } | Record::Ended { .. } | Record::Feedback { .. } | Record::Unknown => {}
    }
}

/// The lines of all samples, as one journal.
pub(crate) fn journal() -> String {
    let mut chain = super::reading::ChecksumChain::default();
    let lines =
        records().into_iter().zip(1..).map(|(record, seq)| chain.append(&entry(seq, record)).unwrap());
    lines.collect()
}

fn opening() -> TripEvidence {
    TripEvidence {
        counts: BreakerCounts { no_progress: 3, ..BreakerCounts::default() },
        errors: vec![ErrorOccurrence {
            iteration: 1,
            fingerprint: Fingerprint("0123456789ab".to_owned()),
            text: "error: no".to_owned(),
        }],
        failing: vec![FailingCriterion {
            criterion: CriterionId("0123456789".to_owned()),
            name: "Coverage holds".to_owned(),
            fingerprint: Fingerprint("ba9876543210".to_owned()),
            fact: "exit 1".to_owned(),
        }],
        changed: vec![IterationChanges { iteration: 1, changes: ChangeStats::default() }],
        trees: vec![RecurringTree { tree: "aa".repeat(20), iterations: vec![1, 3] }],
        session_reset: true,
    }
}

pub(crate) fn criterion() -> Criterion {
    Criterion {
        id: CriterionId("0123456789".to_owned()),
        name: "Coverage holds".to_owned(),
        check: Some(Check::Command {
            command: "make cover".to_owned(),
            expect: vec![
                Expect::Number { compare: Compare::AtLeast, value: 0.1 + 0.2 },
                Expect::Matches {
                    pattern: TextPattern { source: "^ok$".to_owned(), kind: PatternKind::RegexIgnoreCase },
                },
            ],
        }),
        number_rules: vec![NumberRule::Rising, NumberRule::Baseline { compare: Compare::AtLeast }],
        required: true,
        timeout_ms: Some(600_000),
        group: Some("x".to_owned()),
        stage: Some(1),
        ticked: Some(false),
        plan_item: Some("US-1".to_owned()),
        place: DocumentRange { file: "PROMPT.md".to_owned(), range: 10..20 },
    }
}

fn plan_item() -> PlanItem {
    PlanItem {
        id: "US-1".to_owned(),
        title: "Story".to_owned(),
        done: false,
        blocking: true,
        place: DocumentRange { file: "prd.json".to_owned(), range: 0..5 },
        priority: Some(1_000),
        depends_on: vec!["US-0".to_owned()],
        done_field: None,
        done_value: None,
    }
}

fn round(status: Status) -> Round {
    Round {
        judging: Some(JudgeUsage { calls: 3, cost_micros: Some(30_000), tokens: Some(900) }),
        tree_before: "aa".repeat(20),
        tree_after: "aa".repeat(20),
        wrote: vec!["target/x".to_owned()],
        results: vec![CheckResult {
            criterion: CriterionId("0123456789".to_owned()),
            status,
            fact: "3 of 214 fail".to_owned(),
            duration_ms: 12,
            exit: Some(1),
            signal: Some(9),
            tests: Some(TestCounts { passed: 211, failed: 3, skipped: 0 }),
            number: Some(0.1 + 0.2),
            reported: Some(TestCounts { passed: 211, failed: 3, skipped: 0 }),
            head: "head".to_owned(),
            tail: "tail".to_owned(),
            left_out: Some(9),
            locations: vec![Location {
                file: "src/a.rs".to_owned(),
                line: 3,
                column: Some(1),
                message: "no".to_owned(),
                warning: true,
            }],
            survivors: vec!["12 sleep".to_owned()],
            missing: Some(MissingDependency {
                kind: MissingKind::Program,
                name: "shellcheck".to_owned(),
                owner: DependencyProvider::Machine,
                remedy: "install it".to_owned(),
            }),
            fingerprint: Some(Fingerprint("0123456789ab".to_owned())),
        }],
    }
}

fn provider_error() -> ProviderError {
    ProviderError {
        class: ProviderClass::Quota,
        message: "limit".to_owned(),
        status: Some(429),
        resets_at: Some(1),
    }
}

fn run() -> AgentRun {
    AgentRun {
        ending: AgentEnding::Exited,
        exit: Some(0),
        signal: Some(15),
        duration_ms: 1,
        cost_micros: Some(2),
        tokens: Some(3),
        session_tokens: Some(4),
        session: Some("s".to_owned()),
        model: Some("m".to_owned()),
        final_text: "done".to_owned(),
        denials: 1,
        denied: vec!["Bash: git push".to_owned()],
        closed_paths: vec!["~/.ssh/id".to_owned()],
        read_only_paths: vec!["~/other/README.md".to_owned()],
        closed_hosts: vec!["example.org:443".to_owned()],
        program_missing: true,
        session_lost: true,
        error: Some(provider_error()),
        survivors: vec!["1 x".to_owned()],
        unkillable: vec!["1 stuck".to_owned()],
        files: vec!["src/a.rs".to_owned()],
        dropped: 0,
        errors: vec![FingerprintedError {
            fingerprint: Fingerprint("0123456789ab".to_owned()),
            text: "error: no".to_owned(),
        }],
        output_bytes: 4,
        tools: vec!["Bash".to_owned()],
        commands: vec!["cargo test".to_owned()],
        note: Some("resumed".to_owned()),
    }
}

fn left() -> AgentExited {
    AgentExited {
        exit: Some(0),
        signal: Some(15),
        cost_micros: Some(2),
        tokens: Some(3),
        note: Some("stayed".to_owned()),
        survivors: vec!["1 x".to_owned()],
        unkillable: vec!["1 stuck".to_owned()],
    }
}

fn spec() -> LoopSpec {
    LoopSpec {
        loop_id: "20261120-abcdef".to_owned(),
        version: "0.1.0".to_owned(),
        task: TaskId("PROMPT.md".to_owned()),
        title: "Title".to_owned(),
        root: "/home/u/project".to_owned(),
        inline_prompt: Some("do it".to_owned()),
        agent: AgentPlan {
            name: "mine".to_owned(),
            argv: vec!["./agent.sh".to_owned(), "{prompt_file}".to_owned()],
            prompt: PromptBy::File,
            dialect: Dialect::Text,
            permissions: PermissionMode::Edits,
            env: vec![("NAME".to_owned(), "value".to_owned())],
        },
        fallbacks: vec![AgentPlan {
            name: "other".to_owned(),
            argv: vec!["./other.sh".to_owned()],
            prompt: PromptBy::Stdin,
            dialect: Dialect::Text,
            permissions: PermissionMode::Edits,
            env: Vec::new(),
        }],
        judge: Some(AgentPlan {
            name: "claude".to_owned(),
            argv: vec!["/usr/bin/claude".to_owned(), "-p".to_owned()],
            prompt: PromptBy::Stdin,
            dialect: Dialect::Claude,
            permissions: PermissionMode::ReadOnly,
            env: Vec::new(),
        }),
        settings: settings::settings(),
        branch: Some("ralph/task".to_owned()),
        preset: Some(crate::settings::preset::PresetSelection {
            name: crate::settings::Preset::Adaptive,
            because: "small (12 tracked files)".to_owned(),
        }),
        promise: "COMPLETE".to_owned(),
        criteria: vec![criterion()],
        plan: vec![plan_item()],
        anyway: false,
        attended: true,
        unaccepted: vec![UnacceptedChange {
            path: "tests/a.rs".to_owned(),
            tree: "aa".repeat(20),
            loop_id: "20261119-abcdef".to_owned(),
            what: "tests/a.rs lost 1 test".to_owned(),
        }],
        earlier: vec![EarlierTask {
            title: "Login".into(),
            sentence: "all 2 criteria pass".into(),
            commits: vec!["add the form".into()],
            decisions: vec!["sessions last a day".into()],
            continued: true,
        }],
    }
}
