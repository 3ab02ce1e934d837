//! Runs the final verdict: the checks of the loop in a clean room on the final tree, and a second time with the judges
//! of the start if some of them changed. Nothing that a check writes there reaches the work tree.

mod expected_values;
mod inputs;
pub(super) mod mutants;
mod programs;
mod reports;
mod room;
mod written_judges;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use loopkeeper_core::check::report::ReportingRunner;
use loopkeeper_core::check::{Status, test_order};
use loopkeeper_core::decide::final_verdict::{
    CleanRoomGoals, TestOrder, VerdictReply, VerdictRounds, judged_in_room,
};
use loopkeeper_core::decide::weakening::{self, WeakeningScan};
use loopkeeper_core::decide::{Event, LoopState};
use loopkeeper_core::journal::Round;
use loopkeeper_core::tamper::judge_files::{ChangedJudge, JudgeChange};
use loopkeeper_task::criterion::{Check, Criterion, CriterionId};
use loopkeeper_text::digest::sha256;
use loopkeeper_text::tr;
use tracing::debug_span;

use super::checks::{self, ReportChannels, RoundExtent, RoundParams};
use super::loop_context::LoopContext;
use super::run_context::{RunContext, SnapshotFailure, env_value};
use super::weakening_scan;
use inputs::VerdictInputs;
use loopkeeper_system::clean_room::{BuildFolders, CleanRoom, HomeContent};
use loopkeeper_system::durable;
use loopkeeper_system::http::HttpClient;
use loopkeeper_system::process::WardenPool;
use loopkeeper_system::snapshots::{SnapshotStore, TreeEntry};
use room::{PinnedEntry, RoomLayout, RoomSite};

/// The criteria and the tree to judge, and the state at the start.
pub(super) struct VerdictRequest {
    criteria: Vec<Criterion>,
    /// Goals that are judged again with grown test files.
    goals: CleanRoomGoals,
    scan: Option<WeakeningScan>,
    /// A file of the tree counts as weakened already.
    is_weakened: bool,
    /// The final tree, as judged by the last round.
    tree: String,
    iteration: u32,
    /// A criterion requires that git sees no new file.
    has_clean: bool,
    /// When the loop began.
    since: SystemTime,
    /// Runners that can be asked for a report.
    known_runners: BTreeMap<CriterionId, ReportingRunner>,
    /// Those of the runners that are asked for a report.
    asked_runners: BTreeMap<CriterionId, ReportingRunner>,
    /// The judges of the start, which no check should write.
    judges_of_start: Vec<PathBuf>,
    site: RoomSite,
}

impl VerdictRequest {
    pub(super) fn of_loop(state: &LoopState, criteria: &[Criterion]) -> Self {
        let runner = |it: &Criterion| {
            let runner = ReportingRunner::of_check(it, state.criteria.results.get(&it.id))?;
            Some((it.id.clone(), runner))
        };
        Self {
            known_runners: criteria.iter().filter_map(runner).collect(),
            asked_runners: BTreeMap::new(),
            judges_of_start: Vec::new(),
            site: RoomSite::default(),
            has_clean: criteria.iter().any(|it| matches!(it.check, Some(Check::Clean))),
            criteria: judged_in_room(criteria),
            goals: CleanRoomGoals::of(state),
            scan: weakening::inspection(state),
            is_weakened: weakening::has_unresolved(state),
            tree: state.tree.judged.clone(),
            iteration: state.iteration,
            since: UNIX_EPOCH + Duration::from_millis(state.time.started_at.wall),
        }
    }

    /// Derived from loop and tree, so that a repeated verdict has the same seed; the receipt contains it.
    fn seed(&self, runtime: &RunContext) -> u32 {
        let hash = sha256(format!("{} {}", runtime.spec.loop_id, self.tree).as_bytes());
        hash.get(..8).and_then(|it| u32::from_str_radix(it, 16).ok()).unwrap_or(1)
    }
}

/// Why there is no verdict.
enum NoVerdict {
    Disturbed,
    Unavailable(String),
    Workspace(SnapshotFailure),
}

impl NoVerdict {
    /// Adds the earlier failure, as text.
    fn after(self, before: &str) -> Self {
        match self {
            Self::Unavailable(why) => {
                Self::Unavailable(tr!("{before}; in a copy at another path: {why}", before, why))
            }
            other => other,
        }
    }
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
pub(super) async fn judge_and_report(context: LoopContext, mut request: VerdictRequest) {
    let reply = match judge(&context.runtime, &mut request).await {
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

async fn judge(runtime: &RunContext, request: &mut VerdictRequest) -> Result<VerdictRounds, NoVerdict> {
    if let Some(why) = runtime.agent_domain.no_clean_room() {
        return Err(NoVerdict::Unavailable(why.to_owned()));
    }
    ensure_unchanged(runtime, request).await?;
    request.asked_runners = reports::choose_runners(runtime, request).await?;
    request.judges_of_start = written_judges::judges_of_start(runtime, request).await?;
    let mut judges = changed_judges(runtime, request).await?;
    let mut inputs = inputs::find_inputs(runtime, request).await?;
    judges.retain(|it| !inputs.unstored.contains(&it.path));
    judges.extend(inputs.judges.iter().cloned());
    let (mut final_round, layout, order) = run_final_round(runtime, request, &inputs).await?;
    leave_out_unable(request, &mut final_round)?;
    let request = &*request;
    let mut pinned = if judges.is_empty() {
        None
    } else {
        Some(with_pinned(runtime, request, &judges, &inputs, &layout).await?)
    };
    let rounds = std::iter::once(&mut final_round).chain(pinned.as_mut());
    let mut rounds: Vec<&mut Round> = rounds.collect();
    reports::apply_faults(runtime, request, &layout, &mut rounds).await?;
    written_judges::apply_writes(runtime, request, &layout, rounds).await?;
    // If something else contradicts the verdict, that is the better reason. A pass with the judges of the start resolves
    // weakenings.
    if pinned.as_ref().map_or(!request.is_weakened, |it| all_pass(it, &request.criteria)) {
        expected_values::apply_unnoticed(runtime, request, &layout, &mut final_round).await?;
    }
    programs::ask_versions(runtime, request, &layout, &mut inputs.ran).await;
    ensure_unchanged(runtime, request).await?;
    let copied = request.site.as_copy().cloned();
    Ok(VerdictRounds {
        final_round,
        pinned,
        judges,
        unrecorded: inputs.into_facts(&layout, &request.site),
        copied,
        order,
    })
}

/// The round on the tree as the agent left it, without ignored files that the agent built and with a new home folder. A
/// check that fails there and needs some of them runs again with them; also returns the layout of the room with what is
/// needed.
async fn run_final_round(
    runtime: &RunContext,
    request: &VerdictRequest,
    inputs: &VerdictInputs,
) -> Result<(Round, RoomLayout, TestOrder), NoVerdict> {
    let mut layout = inputs.layout(&[]);
    let (mut round, state, order) = run_in_another_order(runtime, request, &layout).await?;
    let missing: Vec<PathBuf> =
        inputs.changes.products.iter().filter(|it| !state.products.contains(*it)).cloned().collect();
    let (unlisted, built): (Vec<PathBuf>, Vec<PathBuf>) =
        missing.into_iter().partition(|it| inputs.unlisted.contains(it));
    if !built.is_empty() || state.lacks_builds {
        let builds = if state.lacks_builds { BuildFolders::Linked } else { BuildFolders::LeftOut };
        let more = RoomLayout { builds, ..inputs.layout(&built) };
        layout = run_failed_with(runtime, request, &mut round, (layout, more)).await?;
    }
    if state.lacks_home_files {
        let more = RoomLayout { home: HomeContent::Everything, ..layout.clone() };
        layout = run_failed_with(runtime, request, &mut round, (layout, more)).await?;
    }
    if !unlisted.is_empty() {
        let needed = [layout.needed.as_slice(), &unlisted].concat();
        let hidden = inputs.layout(&needed);
        let more = RoomLayout { needed, products: hidden.products, ..layout.clone() };
        layout = run_failed_with(runtime, request, &mut round, (layout, more)).await?;
    }
    if !layout.outside.is_empty() && request.site.visible_outside().is_none() {
        let shown = entries_to_name(&layout.outside, &round);
        let more = RoomLayout { outside: Vec::new(), shown, ..layout.clone() };
        layout = run_failed_with(runtime, request, &mut round, (layout, more)).await?;
    }
    Ok((round, layout, order))
}

/// New entries outside the work tree, those first that the output of a failed check names.
fn entries_to_name(entries: &[PathBuf], round: &Round) -> Vec<PathBuf> {
    let failed = || round.results.iter().filter(|it| it.status != Status::Pass);
    let is_named = |it: &PathBuf| {
        let path = it.to_string_lossy();
        failed().any(|it| it.head.contains(&*path) || it.tail.contains(&*path))
    };
    let mut entries = entries.to_vec();
    entries.sort_by_key(|it| !is_named(it));
    entries
}

/// The first round, with another order of tests than in the work tree. What fails there runs again in the usual one.
async fn run_in_another_order(
    runtime: &RunContext,
    request: &VerdictRequest,
    layout: &RoomLayout,
) -> Result<(Round, RoomState, TestOrder), NoVerdict> {
    let current = |name: &str| Some(env_value(&runtime.check_env, name)?.to_string_lossy().into_owned());
    let variables = test_order::variables(&request.criteria, request.seed(runtime), current);
    let seeds = variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let shuffled = variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    let shuffled = RoomLayout { order: shuffled, ..layout.clone() };
    let (mut round, state) = run_in_room(runtime, request, &request.criteria, &shuffled).await?;
    let mut order = TestOrder { seeds, dependent: Vec::new() };
    if !order.seeds.is_empty() {
        let failed = failed_criteria(&round, &request.criteria);
        run_failed_with(runtime, request, &mut round, (shuffled, layout.clone())).await?;
        let passes = |it: &&Criterion| round.result(&it.id).is_some_and(|it| it.status == Status::Pass);
        order.dependent = failed.iter().filter(passes).map(|it| it.name.clone()).collect();
    }
    Ok((round, state, order))
}

/// Repeats the failed checks in a room with more content. Returns the second layout if that made something pass.
async fn run_failed_with(
    runtime: &RunContext,
    request: &VerdictRequest,
    round: &mut Round,
    (layout, more): (RoomLayout, RoomLayout),
) -> Result<RoomLayout, NoVerdict> {
    let failed = failed_criteria(round, &request.criteria);
    if failed.is_empty() {
        return Ok(layout);
    }
    let (second, _) = run_in_room(runtime, request, &failed, &more).await?;
    let helped = second.results.iter().any(|it| it.status == Status::Pass);
    replace_results(round, second);
    Ok(if helped { more } else { layout })
}

/// A check that passes in the work tree and fails in a copy may only depend on its path, so its failure is no evidence.
fn leave_out_unable(request: &mut VerdictRequest, final_round: &mut Round) -> Result<(), NoVerdict> {
    let Some(copied) = request.site.as_copy() else { return Ok(()) };
    let unable = failed_criteria(final_round, &request.criteria);
    if let Some(it) = unable.iter().find(|it| it.required) {
        let why = tr!(
            "{why}, and \"{name}\" does not pass in a copy at another path",
            why = copied.why,
            name = it.name
        );
        return Err(NoVerdict::Unavailable(why));
    }
    let is_able = |id: &CriterionId| unable.iter().all(|it| it.id != *id);
    final_round.results.retain(|it| is_able(&it.criterion));
    request.criteria.retain(|it| is_able(&it.id));
    Ok(())
}

/// Whether everything that is required passes.
fn all_pass(round: &Round, criteria: &[Criterion]) -> bool {
    failed_criteria(round, criteria).iter().all(|it| !it.required)
}

fn failed_criteria(round: &Round, criteria: &[Criterion]) -> Vec<Criterion> {
    let failed = |it: &&Criterion| round.result(&it.id).is_some_and(|it| it.status != Status::Pass);
    criteria.iter().filter(failed).cloned().collect()
}

fn replace_results(round: &mut Round, newer: Round) {
    for result in newer.results {
        let same = round.results.iter_mut().filter(|it| it.criterion == result.criterion);
        same.for_each(|it| *it = result.clone());
    }
    round.wrote.extend(newer.wrote);
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
    inputs: &VerdictInputs,
    layout: &RoomLayout,
) -> Result<Round, NoVerdict> {
    let entries = start_entries(runtime, request, inputs, judges.iter()).await?;
    let (mut round, _) =
        run_in_room(runtime, request, &request.criteria, &layout.with_entries(entries)).await?;
    let again = request.goals.to_repeat(&round);
    if again.is_empty() || !judges.iter().any(|it| it.change == JudgeChange::OnlyAdded) {
        return Ok(round);
    }
    let entries = start_entries(
        runtime,
        request,
        inputs,
        judges.iter().filter(|it| it.change != JudgeChange::OnlyAdded),
    )
    .await?;
    let (second, _) = run_in_room(runtime, request, &again, &layout.with_entries(entries)).await?;
    replace_results(&mut round, second);
    Ok(round)
}

/// The judges at the start, or when the user last saved or accepted them.
async fn start_entries(
    runtime: &RunContext,
    request: &VerdictRequest,
    inputs: &VerdictInputs,
    judges: impl Iterator<Item = &ChangedJudge>,
) -> Result<Vec<PinnedEntry>, NoVerdict> {
    let Some(scan) = request.scan.clone() else { return Ok(Vec::new()) };
    let outside = inputs.outside.clone();
    let judges: Vec<(String, Option<String>)> =
        judges.map(|it| (it.path.clone(), it.composed.clone())).collect();
    let read = move |store: &mut SnapshotStore| {
        let entry = |(path, composed): &(String, Option<String>)| {
            if let Some(outside) = outside.get(path) {
                return Ok(outside.clone());
            }
            let entry = match composed {
                Some(text) => TreeEntry::File { bytes: text.clone().into_bytes(), executable: false },
                None => store.entry_at(scan.version_of(path), path.as_bytes())?,
            };
            Ok(PinnedEntry::Tree(PathBuf::from(path), entry))
        };
        judges.iter().map(entry).collect::<Result<Vec<_>, SnapshotFailure>>()
    };
    Ok(runtime.with_store(read).await?)
}

/// What a round left in its room, and what it lacked there.
struct RoomState {
    /// The hidden products that it made again.
    products: Vec<PathBuf>,
    /// The room is a copy without build folders.
    lacks_builds: bool,
    /// Its home folder is not all of the user's.
    lacks_home_files: bool,
}

/// Runs the criteria in a new room.
async fn run_in_room(
    runtime: &RunContext,
    request: &VerdictRequest,
    criteria: &[Criterion],
    layout: &RoomLayout,
) -> Result<(Round, RoomState), NoVerdict> {
    let opened = room::open_room(runtime, request, layout).await?;
    run_in_opened((runtime, request), opened, layout, (criteria, RoundExtent::All)).await
}

/// Runs the criteria in a room of this layout, and closes it.
async fn run_in_opened(
    (runtime, request): (&RunContext, &VerdictRequest),
    (room, wardens): (CleanRoom, WardenPool),
    layout: &RoomLayout,
    (criteria, extent): (&[Criterion], RoundExtent),
) -> Result<(Round, RoomState), NoVerdict> {
    let env = room::room_env(runtime, &room, layout)?;
    let output = runtime.outputs.join("verdict");
    durable::make_folder(&output)?;
    let settings = &runtime.spec.settings;
    let reports = ReportChannels { folder: room.reports(), runners: request.asked_runners.clone() };
    let plan = RoundParams {
        root: &room.root(),
        criteria,
        extent,
        timeout: Duration::from_millis(settings.check_timeout_ms),
        grace: Duration::from_millis(settings.limits.grace_ms),
        env: &env.variables,
        wardens: &wardens,
        redactor: &runtime.redactor,
        permit: &runtime.permit,
        asker: HttpClient {
            program: &runtime.request_program,
            domain: &runtime.request_domain,
            env: &env.variables,
        },
        servers: &settings.serve,
        untracked: &[],
        output: &output,
        number: request.iteration,
        reports: Some(&reports),
    };
    let before = room.file_states(&request.judges_of_start);
    let span = debug_span!("final verdict", pinned = layout.entries.len());
    let results = tracing::Instrument::instrument(checks::run_round(&plan), span).await;
    wardens.shutdown().await;
    let state = RoomState {
        products: layout.products.iter().filter(|it| room.is_written(it)).cloned().collect(),
        lacks_builds: room.copy_facts().is_some_and(|it| !it.left_out.is_empty()),
        lacks_home_files: env.lacks_home_files,
    };
    let wrote = written_judges::find_written(&room, &request.judges_of_start, &before);
    let tree = request.tree.clone();
    let round = Round { tree_before: tree.clone(), tree_after: tree, wrote, results, judging: None };
    Ok((round, state))
}
