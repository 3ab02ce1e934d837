//! Runs the final verdict: the checks of the loop in a clean room on the final tree, and a second time with the judges
//! of the start if some of them changed. Nothing that a check writes there reaches the work tree.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopkeeper_core::check::{CommandExit, Status};
use loopkeeper_core::decide::final_verdict::{
    VerdictReply, VerdictRounds, goals_that_may_want_tests, judged_in_room,
};
use loopkeeper_core::decide::weakening::{self, WeakeningScan};
use loopkeeper_core::decide::{Event, LoopState};
use loopkeeper_core::journal::Round;
use loopkeeper_core::tamper::judge_files::ChangedJudge;
use loopkeeper_task::criterion::Criterion;
use tracing::debug_span;

use super::checks::{self, RoundParams};
use super::effects::LoopContext;
use super::run_context::{EnvVars, RunContext, SnapshotFailure, extend_env};
use super::weakening_scan;
use loopkeeper_system::clean_room::CleanRoom;
use loopkeeper_system::durable;
use loopkeeper_system::http::HttpClient;
use loopkeeper_system::process::{Job, StdinSource, StreamLayout, WardenPool};
use loopkeeper_system::sandbox::Isolation;
use loopkeeper_system::snapshots::TreeEntry;
use loopkeeper_system::trust::permit::Approved;

/// Far above the time of a mount and a shell, which take milliseconds.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// The criteria and the tree to judge, and the state at the start.
pub(super) struct VerdictRequest {
    criteria: Vec<Criterion>,
    /// Goals that are judged again with grown test files.
    growing: Vec<Criterion>,
    scan: Option<WeakeningScan>,
    /// The final tree, as judged by the last round.
    tree: String,
    iteration: u32,
}

impl VerdictRequest {
    pub(super) fn of_loop(state: &LoopState, criteria: &[Criterion]) -> Self {
        Self {
            criteria: judged_in_room(criteria),
            growing: judged_in_room(&goals_that_may_want_tests(state)),
            scan: weakening::inspection(state),
            tree: state.judged_tree.clone(),
            iteration: state.iteration,
        }
    }
}

/// Why there is no verdict.
enum NoVerdict {
    Disturbed,
    Unavailable(String),
    Workspace(SnapshotFailure),
}

impl From<SnapshotFailure> for NoVerdict {
    fn from(failure: SnapshotFailure) -> Self {
        Self::Workspace(failure)
    }
}

impl From<io::Error> for NoVerdict {
    fn from(error: io::Error) -> Self {
        Self::Unavailable(error.to_string())
    }
}

/// Runs the verdict and reports it. On drop, running checks are killed and the room is removed.
pub(super) async fn judge_and_report(context: LoopContext, request: VerdictRequest) {
    let reply = match judge(&context.runtime, &request).await {
        Ok(rounds) => VerdictReply::Judged(Box::new(rounds)),
        Err(NoVerdict::Disturbed) => VerdictReply::Disturbed,
        Err(NoVerdict::Unavailable(why)) => {
            VerdictReply::Unavailable { why: context.runtime.redactor.redact(&why) }
        }
        Err(NoVerdict::Workspace(SnapshotFailure { reason, message, .. })) => {
            return context.send_event(Event::SnapshotFailed { reason, message });
        }
    };
    context.send_event(Event::FinalVerdict(reply));
}

async fn judge(runtime: &RunContext, request: &VerdictRequest) -> Result<VerdictRounds, NoVerdict> {
    if let Isolation::Subreaper { why, .. } = runtime.domain.as_ref() {
        let why = why.clone().unwrap_or_else(|| "the sandbox is off".to_owned());
        return Err(NoVerdict::Unavailable(why));
    }
    ensure_unchanged(runtime, request).await?;
    let judges = changed_judges(runtime, request).await?;
    let as_left = run_in_room(runtime, request, &request.criteria, Vec::new()).await?;
    let pinned = if judges.is_empty() { None } else { Some(with_pinned(runtime, request, &judges).await?) };
    ensure_unchanged(runtime, request).await?;
    Ok(VerdictRounds { as_left, pinned, judges })
}

/// The lower layer of an overlay must not change while it is mounted.
async fn ensure_unchanged(runtime: &RunContext, request: &VerdictRequest) -> Result<(), NoVerdict> {
    let now = runtime.with_store(|store| Ok(store.take_snapshot()?.tree)).await?;
    if now == request.tree { Ok(()) } else { Err(NoVerdict::Disturbed) }
}

async fn changed_judges(
    runtime: &RunContext,
    request: &VerdictRequest,
) -> Result<Vec<ChangedJudge>, NoVerdict> {
    let Some(scan) = request.scan.clone() else { return Ok(Vec::new()) };
    let tree = request.tree.clone();
    Ok(runtime.with_store(move |store| weakening_scan::find_changed_judges(&scan, store, &tree)).await?)
}

/// A round with the judges of the start. A goal that fails is judged again with test files that only gained tests.
async fn with_pinned(
    runtime: &RunContext,
    request: &VerdictRequest,
    judges: &[ChangedJudge],
) -> Result<Round, NoVerdict> {
    let entries = start_entries(runtime, request, judges.iter()).await?;
    let mut round = run_in_room(runtime, request, &request.criteria, entries).await?;
    let failed = |it: &&Criterion| round.result(&it.id).is_some_and(|it| it.status != Status::Pass);
    let again: Vec<Criterion> = request.growing.iter().filter(failed).cloned().collect();
    if again.is_empty() || !judges.iter().any(|it| it.only_grew) {
        return Ok(round);
    }
    let entries = start_entries(runtime, request, judges.iter().filter(|it| !it.only_grew)).await?;
    let second = run_in_room(runtime, request, &again, entries).await?;
    for result in second.results {
        round
            .results
            .iter_mut()
            .filter(|it| it.criterion == result.criterion)
            .for_each(|it| *it = result.clone());
    }
    Ok(round)
}

/// The judges at the start, or when the user last saved or accepted them.
async fn start_entries(
    runtime: &RunContext,
    request: &VerdictRequest,
    judges: impl Iterator<Item = &ChangedJudge>,
) -> Result<Vec<(PathBuf, TreeEntry)>, NoVerdict> {
    let Some(scan) = request.scan.clone() else { return Ok(Vec::new()) };
    let paths: Vec<String> = judges.map(|it| it.path.clone()).collect();
    let read = move |store: &mut loopkeeper_system::snapshots::SnapshotStore| {
        let entry = |path: &String| {
            Ok((PathBuf::from(path), store.entry_at(scan.version_of(path), path.as_bytes())?))
        };
        paths.iter().map(entry).collect::<Result<Vec<_>, SnapshotFailure>>()
    };
    Ok(runtime.with_store(read).await?)
}

async fn run_in_room(
    runtime: &RunContext,
    request: &VerdictRequest,
    criteria: &[Criterion],
    entries: Vec<(PathBuf, TreeEntry)>,
) -> Result<Round, NoVerdict> {
    let (room, wardens) = open_room(runtime, &entries).await?;
    let env = room_env(runtime, &room);
    let output = runtime.outputs.join("verdict");
    durable::make_folder(&output)?;
    let settings = &runtime.spec.settings;
    let plan = RoundParams {
        root: &runtime.root(),
        criteria,
        timeout: Duration::from_millis(settings.check_timeout_ms),
        grace: Duration::from_millis(settings.limits.grace_ms),
        env: &env,
        wardens: &wardens,
        redactor: &runtime.redactor,
        permit: &runtime.permit,
        asker: HttpClient { program: &runtime.messenger, domain: &runtime.domain, env: &env },
        servers: &settings.serve,
        untracked: &[],
        output: &output,
        number: request.iteration,
    };
    let span = debug_span!("final verdict", pinned = entries.len());
    let results = tracing::Instrument::instrument(checks::run_round(&plan), span).await;
    wardens.shutdown().await;
    let tree = request.tree.clone();
    Ok(Round { tree_before: tree.clone(), tree_after: tree, wrote: Vec::new(), results, judging: None })
}

/// Opens a clean room at the first location where the kernel supports an overlay, with `entries` laid over the work
/// tree.
async fn open_room(
    runtime: &RunContext,
    entries: &[(PathBuf, TreeEntry)],
) -> Result<(CleanRoom, WardenPool), NoVerdict> {
    let mut failure = None;
    for parent in [runtime.outputs.as_path(), Path::new("/dev/shm"), &std::env::temp_dir()] {
        match try_room(runtime, parent, entries).await {
            Ok(made) => return Ok(made),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    Err(failure.unwrap_or_else(|| io::Error::other("no folder for it")).into())
}

async fn try_room(
    runtime: &RunContext,
    parent: &Path,
    entries: &[(PathBuf, TreeEntry)],
) -> io::Result<(CleanRoom, WardenPool)> {
    let name = format!("room-{}", uuid::Uuid::new_v4().simple());
    let room = CleanRoom::create(&parent.join(name), &runtime.root())?;
    for (path, entry) in entries {
        room.write(path, entry)?;
    }
    let wardens = WardenPool::in_overlay(&runtime.domain, room.mount());
    let job = Job {
        argv: Approved::internal(["/bin/sh", "-c", ":"].map(OsString::from).to_vec()),
        cwd: runtime.root(),
        env: runtime.check_env.to_vec(),
        stdin: StdinSource::Null,
        grace: Duration::ZERO,
        output: None,
    };
    match wardens.run_to_end(&job, StreamLayout::Together, PROBE_TIMEOUT).await.ending {
        CommandExit::Exited(0) => Ok((room, wardens)),
        CommandExit::NotStarted(why) => Err(io::Error::other(why)),
        other => Err(io::Error::other(format!("its first process did not run: {other:?}"))),
    }
}

/// The environment of checks, with the room's folder for temporary files.
fn room_env(runtime: &RunContext, room: &CleanRoom) -> EnvVars {
    let mut env = runtime.check_env.as_ref().clone();
    let folder = OsString::from(room.temporary());
    extend_env(&mut env, ["TMPDIR", "TMP", "TEMP"].map(|it| (it.into(), folder.clone())).to_vec());
    env
}
