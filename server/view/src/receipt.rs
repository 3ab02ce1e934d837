//! The receipt of a loop: what was verified, by which checks and judges, on which tree, so that a reviewer can run the
//! same again. Data and its Markdown page; files are read elsewhere.

mod page;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use loopkeeper_core::check::Status;
use loopkeeper_core::decide::LoopState;
use loopkeeper_core::decide::mutants;
use loopkeeper_core::journal::{
    CheckProgram, CleanRoomCopy, Entry, HollowTest, OutcomeKind, PinnedCriterion, Record, Round,
    SurvivingMutant,
};
use loopkeeper_core::loop_state::MutantRun;
use loopkeeper_core::settings::{MutantPolicy, SandboxMode};
use loopkeeper_task::criterion::Criterion;
use loopkeeper_text::clauses;
use loopkeeper_text::digest::sha256;
use loopkeeper_text::{tr, words};
use serde::{Deserialize, Serialize};

pub use page::{markdown, parse, status_word};

/// The version of the format.
const FORMAT: u32 = 1;

/// What `receipt --json` prints. Hashes are SHA-256 in hex.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    pub format: u32,
    /// The version of loopkeeper that ran the loop.
    pub loopkeeper: String,
    pub loop_id: String,
    /// Relative to the root, or `prompt:<hash>`.
    pub task: String,
    pub title: String,
    pub outcome: ReceiptOutcome,
    /// The commit that was checked out at the end; the tree may hold more.
    pub commit: Option<String>,
    pub branch: Option<String>,
    /// The final snapshot: the id of a Git tree of all files that Git does not ignore.
    pub tree: String,
    pub criteria: Vec<ReceiptCriterion>,
    pub verdict: ReceiptVerdict,
    /// The judges of the final tree; the first 2,000.
    pub judges: Vec<FileHash>,
    /// Files that the loop changed; the first 2,000.
    pub changed: Vec<FileHash>,
    /// Added files to which nothing in the final tree refers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strays: Vec<String>,
    /// A second configuration, lock file or test runner that the loop added; one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub duplicates: Vec<String>,
    /// Globs of judges that the task allows to change.
    pub may_change: Vec<String>,
    /// Judges and checks that the user accepted although they were weakened.
    pub accepted: Vec<String>,
    /// The same with who accepted it, and when. Absent in receipts of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acceptances: Vec<Acceptance>,
    pub environment: ReceiptEnvironment,
    pub journal: JournalDigest,
    /// Hash of all other fields as compact JSON.
    pub digest: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReceiptOutcome {
    pub kind: OutcomeKind,
    pub verified: bool,
    pub sentence: String,
    pub iterations: u32,
}

/// The files that the user accepted at one time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Acceptance {
    pub what: Vec<String>,
    /// `alice in a terminal`; absent where the client did not send it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// RFC 3339.
    pub at: String,
}

impl Acceptance {
    /// `tests/a.py, by alice in a terminal at 2026-11-20T14:00:00.000Z`
    pub fn sentence(&self) -> String {
        let (what, at) = (clauses::list(&self.what), &self.at);
        match &self.by {
            Some(by) => tr!("{what}, by {by} at {at}", what, by, at),
            None => tr!("{what}, at {at}", what, at),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReceiptCriterion {
    pub id: String,
    pub name: String,
    /// The check with expectations and timeout; absent without a check.
    pub check: Option<String>,
    pub required: bool,
    /// In the last round.
    pub status: Status,
    pub fact: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReceiptVerdict {
    /// On the tree as the agent left it, in a clean room.
    #[serde(rename = "asLeft")]
    pub final_round: Option<RoundCount>,
    /// The same with the judges of the start, where some changed.
    pub pinned: Option<RoundCount>,
    pub changed_judges: Vec<String>,
    /// The end of the outcome's sentence.
    pub basis: String,
    /// Where the clean room was a copy of the tree at another path. Absent in receipts of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copied: Option<CleanRoomCopy>,
    /// Variables that changed the order of tests in the clean room, as `name=value`. Absent in receipts of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seeds: Vec<String>,
    /// The criteria that no clean room judged, and the reason.
    pub not_covered: Vec<String>,
    /// Absent in receipts of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutants: Option<ReceiptMutants>,
}

/// Small faults in the changed lines, on which the checks ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReceiptMutants {
    pub tried: u64,
    pub noticed: u64,
    pub survivors: Vec<SurvivingMutant>,
    /// Tests that the loop added and that notice none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hollow: Vec<HollowTest>,
    /// Why none was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_run: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundCount {
    pub passed: u64,
    pub total: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileHash {
    /// Relative to the root.
    pub path: String,
    /// Absent where the file was deleted.
    pub sha256: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReceiptEnvironment {
    pub agent: String,
    /// `auto`, `required` or `off`.
    pub sandbox: String,
    /// Names of variables that pass to agent and checks.
    pub passed: Vec<String>,
    /// Names of variables that are set for agent and checks.
    pub set: Vec<String>,
    /// The programs that the checks ran by name. Absent in receipts of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<CheckProgram>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalDigest {
    pub records: u64,
    pub sha256: String,
}

/// Facts that are not in the journal.
#[derive(Debug, Clone)]
pub struct ReceiptFiles {
    pub judges: Vec<FileHash>,
    pub changed: Vec<FileHash>,
    pub strays: Vec<String>,
    pub duplicates: Vec<String>,
    pub journal: JournalDigest,
}

impl Receipt {
    /// `None` while the loop has no outcome. `entries` are those that a receipt [`depends_on`](Self::depends_on).
    pub fn of_loop(state: &LoopState, entries: &[Entry], files: ReceiptFiles) -> Option<Self> {
        let outcome = state.outcome()?;
        let settings = &state.spec.settings;
        let head = entries.iter().rev().find_map(|it| match &it.record {
            Record::SnapshotTaken { head, .. } => head.clone(),
            _ => None,
        });
        let receipt = Self {
            format: FORMAT,
            loopkeeper: state.spec.version.clone(),
            loop_id: state.spec.loop_id.clone(),
            task: state.spec.task.0.clone(),
            title: state.spec.title.clone(),
            outcome: ReceiptOutcome {
                kind: outcome.kind,
                verified: outcome.verified,
                sentence: outcome.sentence.to_string(),
                iterations: state.iteration,
            },
            commit: head.as_ref().map(|it| it.commit.clone()),
            branch: head.and_then(|it| it.branch),
            tree: state.tree.judged.clone(),
            criteria: criteria(state),
            verdict: verdict(state, entries),
            judges: files.judges,
            changed: files.changed,
            strays: files.strays,
            duplicates: files.duplicates,
            may_change: settings.may_change.clone(),
            accepted: accepted_paths(entries),
            acceptances: acceptances(entries),
            environment: ReceiptEnvironment {
                agent: state.spec.agent.name.clone(),
                sandbox: sandbox_name(settings.sandbox).to_owned(),
                passed: settings.env_pass.clone(),
                set: settings.env_set.iter().map(|(name, _)| name.clone()).collect(),
                programs: programs(entries),
            },
            journal: files.journal,
            digest: String::new(),
        };
        Some(Self { digest: receipt.compute_digest(), ..receipt })
    }

    /// Whether a receipt depends on the record itself and not only on the state after it.
    pub fn depends_on(record: &Record) -> bool {
        matches!(
            record,
            Record::SnapshotTaken { .. } | Record::FinalVerdict { .. } | Record::WeakeningAccepted { .. }
        )
    }

    /// The same by the name of the record's type.
    pub fn depends_on_type(name: &str) -> bool {
        ["snapshot-taken", "final-verdict", "weakening-accepted"].contains(&name)
    }

    /// Whether the receipt is as it was written.
    pub fn is_intact(&self) -> bool {
        self.digest == self.compute_digest()
    }

    fn compute_digest(&self) -> String {
        let bare = Self { digest: String::new(), ..self.clone() };
        sha256(serde_json::to_string(&bare).unwrap_or_default().as_bytes())
    }
}

/// The hash of a criterion's check with its expectation.
pub fn check_hash(criterion: &Criterion) -> Option<String> {
    let check = criterion.check.as_ref()?;
    let text = serde_json::to_string(&(check, criterion.timeout_ms)).ok()?;
    Some(sha256(text.as_bytes()))
}

fn criteria(state: &LoopState) -> Vec<ReceiptCriterion> {
    let receipt = |it: &PinnedCriterion| {
        let criterion = &it.criterion;
        let result = state.criteria.results.get(&criterion.id);
        ReceiptCriterion {
            id: criterion.id.0.clone(),
            name: criterion.name.clone(),
            check: check_hash(criterion),
            required: criterion.required,
            status: result.map_or(Status::Unverified, |it| it.status),
            fact: result.map(|it| it.fact.clone()).unwrap_or_default(),
        }
    };
    state.criteria.pinned.iter().map(receipt).collect()
}

fn verdict(state: &LoopState, entries: &[Entry]) -> ReceiptVerdict {
    let is_final =
        |it: &&Record| matches!(it, Record::FinalVerdict { tree, .. } if *tree == state.tree.judged);
    let last = entries.iter().rev().map(|it| &it.record).find(is_final);
    let Some(Record::FinalVerdict {
        final_round,
        pinned,
        judges,
        basis,
        copied,
        seeds,
        outside: new_outside,
        unavailable,
        ..
    }) = last
    else {
        let not_covered = vec![tr!("no clean room was used: the checks in the work tree decided").to_owned()];
        return ReceiptVerdict {
            final_round: None,
            pinned: None,
            changed_judges: Vec::new(),
            basis: String::new(),
            copied: None,
            seeds: Vec::new(),
            not_covered,
            mutants: Some(mutants(state, false)),
        };
    };
    let judged: BTreeSet<_> = final_round.iter().flat_map(|it| &it.results).map(|it| &it.criterion).collect();
    let outside = state.criteria.pinned.iter().filter(|it| !judged.contains(&it.criterion.id));
    let outside = outside.map(|it| match it.criterion.check {
        Some(_) => tr!("\"{name}\" was judged in the work tree", name = it.criterion.name),
        None => tr!("\"{name}\" has no check", name = it.criterion.name),
    });
    let open =
        copied.as_deref().filter(|it| it.is_writable).map(|it| it.linked.as_slice()).unwrap_or_default();
    let open = open.iter().map(|it| tr!("checks could write to {path} of the work tree", path = it));
    let why = unavailable.iter().map(|it| tr!("there was no clean room: {reason}", reason = it));
    let visible = new_outside.iter().filter_map(|it| it.visible.as_ref());
    let visible = visible.map(|it| {
        tr!("files that are new outside the work tree were not hidden from the checks: {reason}", reason = it)
    });
    ReceiptVerdict {
        final_round: final_round.as_deref().map(count_round),
        pinned: pinned.as_deref().map(count_round),
        changed_judges: judges.clone(),
        basis: basis.clone(),
        copied: copied.as_deref().cloned(),
        seeds: seeds.clone(),
        not_covered: why.chain(visible).chain(open).chain(outside).collect(),
        mutants: Some(mutants(state, final_round.is_some())),
    }
}

fn mutants(state: &LoopState, has_room: bool) -> ReceiptMutants {
    if let Some(run) = mutants::current(state).cloned() {
        let MutantRun { tried, noticed, survivors, hollow, skipped: not_run, .. } = run;
        return ReceiptMutants { tried, noticed, survivors, hollow, not_run };
    }
    let why = match (state.spec.settings.mutants, has_room) {
        (MutantPolicy::Off, _) => tr!("turned off"),
        (_, false) => tr!("there was no clean room"),
        (_, true) => tr!("the loop did not complete as verified, or was stopped"),
    };
    ReceiptMutants {
        tried: 0,
        noticed: 0,
        survivors: Vec::new(),
        hollow: Vec::new(),
        not_run: Some(why.to_owned()),
    }
}

fn count_round(round: &Round) -> RoundCount {
    let passed = round.results.iter().filter(|it| it.status == Status::Pass).count();
    RoundCount { passed: passed as u64, total: round.results.len() as u64 }
}

/// The programs of the last final verdict.
fn programs(entries: &[Entry]) -> Vec<CheckProgram> {
    let all = entries.iter().rev().find_map(|it| match &it.record {
        Record::FinalVerdict { programs, .. } => Some(programs.clone()),
        _ => None,
    });
    all.unwrap_or_default()
}

fn accepted_paths(entries: &[Entry]) -> Vec<String> {
    acceptances(entries).into_iter().flat_map(|it| it.what).collect::<BTreeSet<_>>().into_iter().collect()
}

fn acceptances(entries: &[Entry]) -> Vec<Acceptance> {
    let one = |entry: &Entry| match &entry.record {
        Record::WeakeningAccepted { paths, criteria, by, .. } => {
            let criteria = criteria.iter().map(|it| tr!("criterion {id}", id = it.0));
            let what = paths.iter().cloned().chain(criteria).collect();
            Some(Acceptance { what, by: by.clone(), at: words::rfc3339(entry.at.wall) })
        }
        _ => None,
    };
    entries.iter().filter_map(one).collect()
}

fn sandbox_name(mode: SandboxMode) -> &'static str {
    match mode {
        SandboxMode::Auto => "auto",
        SandboxMode::Required => "required",
        SandboxMode::Off => "off",
    }
}
