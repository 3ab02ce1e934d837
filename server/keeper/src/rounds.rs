//! Runs a round: all checks sequentially on one tree, with the tree's hash taken before the first and after the last.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use loopkeeper_core::check::{CheckResult, Status};
use loopkeeper_core::decide::{Event, LoopState, Phase, sandbox_denies};
use loopkeeper_core::journal::{LoopSpec, Round};
use loopkeeper_core::jury::is_due;
use loopkeeper_task::criterion::{Check, Criterion, CriterionId};
use loopkeeper_text::clauses::append_clause;
use loopkeeper_text::sanitize;
use tracing::{debug, debug_span, warn};

use super::checks::{self, RoundExtent, RoundParams};
use super::event_log;
use super::judges::{self, JudgeContext};
use super::loop_context::LoopContext;
use super::run_context::{RunContext, SnapshotFailure};
use super::stray_search::StraySearch;
use loopkeeper_system::git;
use loopkeeper_system::http::HttpClient;
use loopkeeper_system::snapshots::SnapshotStore;

const NAMED_PATHS: usize = 200;

/// The criteria to check, and on which tree.
pub(super) struct RoundRequest {
    criteria: Vec<Criterion>,
    /// The tree hash of a recent snapshot; `None`: it must be taken again.
    tree: Option<String>,
    /// Part of the names of output files.
    iteration: u32,
    /// Files that `clean` tolerates; `None`: all files that are untracked now.
    untracked: Option<Vec<String>>,
    judging: JudgeContext,
    /// After an iteration: what to look for if the round could end the loop.
    strays: Option<StraySearch>,
}

impl RoundRequest {
    pub(super) fn of_loop(state: &LoopState, repeats: u32, criteria: Vec<Criterion>) -> Self {
        let first = state.phase == Phase::Baseline;
        // A repeated round, or one in a paused loop, starts on a tree that was not hashed yet.
        let just_taken = first || (state.phase == Phase::Checking && repeats == 0);
        let tree = state.tree.snapshots.last().filter(|_| just_taken).map(|it| it.tree.to_owned());
        let untracked = (!first).then(|| state.tree.untracked.clone());
        let judging = JudgeContext::of_loop(state);
        let strays = StraySearch::of_loop(state).filter(|_| state.phase == Phase::Checking);
        Self { criteria, tree, iteration: state.iteration, untracked, judging, strays }
    }

    /// A round without a loop, for which `clean` tolerates nothing.
    pub(super) fn without_loop(spec: &LoopSpec) -> Self {
        let (criteria, untracked) = (spec.criteria.clone(), Some(Vec::new()));
        let judging = JudgeContext::without_loop(spec);
        Self { criteria, tree: None, iteration: 0, untracked, judging, strays: None }
    }
}

/// Runs the round and reports the result. On drop, running checks are killed.
pub(super) async fn run_and_report(context: LoopContext, request: RoundRequest) {
    let untracked = match &request.untracked {
        Some(_) => Vec::new(),
        None => untracked_now(&context.runtime, &request.criteria).await,
    };
    let mut request =
        RoundRequest { untracked: request.untracked.or_else(|| Some(untracked.clone())), ..request };
    let search = request.strays.take();
    let required: HashSet<CriterionId> =
        request.criteria.iter().filter(|it| it.required).map(|it| it.id.clone()).collect();
    context.send_event(match run_round(&context.runtime, request).await {
        Ok((round, wrote)) => {
            let strays = find_strays(&context.runtime, search, &round, &required).await;
            Event::ChecksDone { round: Box::new(round), wrote, untracked, strays }
        }
        Err(SnapshotFailure { reason, message, .. }) => Event::SnapshotFailed { reason, message },
    });
}

/// Looks for strays if no required criterion failed. They decide nothing, so an error only means that none is named.
async fn find_strays(
    runtime: &RunContext,
    search: Option<StraySearch>,
    round: &Round,
    required: &HashSet<CriterionId>,
) -> Vec<String> {
    let holds = |it: &CheckResult| matches!(it.status, Status::Pass | Status::Unverified);
    let Some(search) =
        search.filter(|_| round.results.iter().filter(|it| required.contains(&it.criterion)).all(holds))
    else {
        return Vec::new();
    };
    let (tree, started) = (round.tree_after.clone(), Instant::now());
    let found = runtime.with_store(move |store| Ok(search.in_tree(store, &tree)?)).await;
    let found = found.unwrap_or_else(|failure| {
        warn!("the search for strays failed: {}", failure.message);
        Vec::new()
    });
    debug!(ms = started.elapsed().as_millis(), found = found.len(), "searched for strays");
    found.iter().map(|it| sanitize::line(&runtime.redactor.redact(it))).collect()
}

/// Adds to the fact of a check what the sandbox denied it, each path once in a round.
fn name_closed_paths(runtime: &RunContext, results: &mut [CheckResult]) {
    let mut closed = runtime.closed_to_checks();
    for result in results.iter_mut().filter(|it| it.status != Status::Pass) {
        let mut found = closed.find(&result.head);
        found.append(closed.find(&result.tail));
        for clause in sandbox_denies(&found.hidden, &found.read_only) {
            let clause = sanitize::line(&runtime.redactor.redact(&clause));
            result.fact = append_clause(&result.fact, &clause);
        }
    }
}

/// Runs the round and returns it with every path that it wrote.
pub(super) async fn run_round(
    runtime: &RunContext,
    request: RoundRequest,
) -> Result<(Round, Vec<String>), SnapshotFailure> {
    let take = |store: &mut SnapshotStore| Ok(store.take_snapshot()?.tree);
    let before = match request.tree {
        Some(tree) => tree,
        None => runtime.with_store(take).await?,
    };
    let settings = &runtime.spec.settings;
    let plan = RoundParams {
        root: &runtime.root(),
        criteria: &request.criteria,
        extent: RoundExtent::All,
        timeout: Duration::from_millis(settings.check_timeout_ms),
        grace: Duration::from_millis(settings.limits.grace_ms),
        env: &runtime.check_env,
        wardens: &runtime.check_wardens,
        redactor: &runtime.redactor,
        permit: &runtime.permit,
        asker: HttpClient {
            program: &runtime.request_program,
            domain: &runtime.request_domain,
            env: &runtime.check_env,
        },
        servers: &settings.serve,
        untracked: request.untracked.as_deref().unwrap_or_default(),
        output: &runtime.outputs,
        number: request.iteration,
        reports: None,
    };
    let mut results = checks::run_round(&plan).await;
    name_closed_paths(runtime, &mut results);
    let mut after = runtime.with_store(take).await?;
    let mut judging = None;
    if is_due(&request.criteria, &results) && request.judging.is_steady(runtime, (&before, &after)).await? {
        let judged = judges::run_judges(&plan, runtime, &request.judging, &after).await?;
        for result in judged.results {
            debug_span!("check", criterion = result.criterion.0).in_scope(|| event_log::log_check(&result));
            results
                .iter_mut()
                .filter(|it| it.criterion == result.criterion)
                .for_each(|it| *it = result.clone());
        }
        (judging, after) = (judged.spent, judged.tree);
    }
    let wrote = if before == after { Vec::new() } else { runtime.changed_paths(&before, &after).await? };
    let named = wrote.iter().take(NAMED_PATHS).cloned().collect();
    Ok((Round { tree_before: before, tree_after: after, wrote: named, results, judging }, wrote))
}

/// Untracked files; an error is ignored here because the check `clean` itself reports it.
async fn untracked_now(runtime: &RunContext, criteria: &[Criterion]) -> Vec<String> {
    if !criteria.iter().any(|it| matches!(it.check, Some(Check::Clean))) {
        return Vec::new();
    }
    let root = runtime.root();
    // In a thread, because git may take as long as its timeout.
    let read = tokio::task::spawn_blocking(move || git::untracked_paths(&root)).await;
    read.ok().and_then(Result::ok).flatten().unwrap_or_default()
}
