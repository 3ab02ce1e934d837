//! Performs the effects that the core decides. Every effect reports its result as an event.

use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Once};
use std::time::Duration;

use loopkeeper_agent::LoopMode;
use loopkeeper_core::decide::mutants::MutantPlan;
use loopkeeper_core::decide::{
    CommitOutcome, Effect, Event, LoopState, Phase, RefusalReason, SnapshotFacts, UserCommand, commits,
    weakening,
};
use loopkeeper_core::journal::GitHead;
use loopkeeper_text::message::Message;
use loopkeeper_text::sanitize;
use tokio::sync::oneshot;
use tracing::Instrument as _;

use super::agent::{AgentHandle, IterationStart};
use super::control::ControlReply;
use super::loop_context::LoopContext;
use super::run_context::{self, SnapshotFailure};
use super::signals::{StopSignal, StopSignals};
use super::{
    KeeperError, autorun_scan, calls, disk_room, final_verdict, rounds, spawn_boxed_local, task_reload,
    weakening_scan,
};
use loopkeeper_system::git;
use loopkeeper_system::git::executed_files::ExecutedFiles;
use loopkeeper_system::git::head_cache::HeadLookup;
use loopkeeper_system::process::orphans;
use loopkeeper_system::snapshots::{RestoreReport, SnapshotError, SnapshotStore, TreeEntry};

/// The tree hash taken at the end of a round is reused as the next snapshot if it is younger than this and no command
/// or wait came in between.
const SNAPSHOT_REUSE_TTL: Duration = Duration::from_millis(50);
/// Maximum length of a commit's subject.
const SUBJECT_CHARS: usize = 100;

/// Running work of the loop and its handles.
pub struct EffectRunner {
    pub context: LoopContext,
    pub signals: StopSignals,
    agent: Option<AgentHandle>,
    checks: Option<tokio::task::JoinHandle<()>>,
    /// A round has just ended, and no other event has occurred since.
    round_just_ended: bool,
}

impl EffectRunner {
    pub fn new(context: LoopContext, signals: StopSignals) -> Self {
        let is_attached = context.runtime.spec.settings.mode == LoopMode::Attach;
        let agent = is_attached.then(|| AgentHandle::attach(&context));
        Self { context, signals, agent, checks: None, round_just_ended: false }
    }

    /// Observes every event before the core decides.
    pub(super) fn observe(&mut self, event: &Event) {
        match event {
            Event::ChecksDone { .. } => self.round_just_ended = true,
            Event::Continued | Event::HookFailed { .. } => {}
            _ => self.round_just_ended = false,
        }
    }

    pub(super) fn perform(&mut self, state: &LoopState, effect: Effect) {
        match effect {
            Effect::TakeSnapshot => self.take_snapshot(state),
            Effect::TakeBranch { name } => self.take_branch(name),
            Effect::Commit(plan) => self.spawn_commit(state, *plan),
            Effect::ReadTask => self.read_task(state),
            Effect::RunChecks { criteria, repeats } => {
                let round = rounds::RoundRequest::of_loop(state, repeats, criteria);
                let round = rounds::run_and_report(self.context.clone(), round).in_current_span();
                self.checks = Some(spawn_boxed_local(round));
            }
            Effect::JudgeFinalTree { criteria } => {
                let request = final_verdict::VerdictRequest::of_loop(state, &criteria);
                let verdict = final_verdict::judge_and_report(self.context.clone(), request);
                self.checks = Some(spawn_boxed_local(verdict.in_current_span()));
            }
            Effect::TestMutants(plan) => self.test_mutants(state, plan),
            Effect::CancelChecks => self.cancel_checks(),
            Effect::TakeCallSlot { iteration, heeds_limits } => {
                calls::take_slot(&self.context, state, iteration, heeds_limits);
            }
            Effect::SpawnAgent { iteration, session, resumed, session_tokens, prompt } => {
                let plan = self.context.runtime.agent(&state.spec.agent.name);
                let budget_micros = Some(state.cost_left());
                self.start_agent(IterationStart {
                    plan,
                    iteration,
                    session,
                    resumed,
                    session_tokens,
                    budget_micros,
                    prompt,
                });
            }
            Effect::StopAgent { why, grace } => {
                if let Some(agent) = &self.agent {
                    agent.stop(why, grace);
                }
            }
            Effect::ReleaseAgent { why } => {
                if let Some(agent) = &self.agent {
                    agent.request_release(why);
                }
            }
            Effect::CheckActivity => self.check_activity(),
            // Performed by the main loop itself, because a caller waits for the result.
            Effect::Continue
            | Effect::PrepareRollback { .. }
            | Effect::Rollback { .. }
            | Effect::Refuse { .. }
            | Effect::AwaitUser
            | Effect::Permit(_)
            | Effect::Finish => {}
        }
    }

    /// Continues the session of a held agent, or starts an agent.
    fn start_agent(&mut self, start: IterationStart) {
        let start = match &self.agent {
            Some(held) => held.send_iteration(start),
            None => Some(start),
        };
        if let Some(start) = start {
            self.agent = Some(AgentHandle::start(&self.context, start));
        }
    }

    fn test_mutants(&mut self, state: &LoopState, plan: MutantPlan) {
        let request = final_verdict::VerdictRequest::of_loop(state, &plan.criteria);
        let run = final_verdict::mutants::test_and_report(self.context.clone(), request, plan);
        self.checks = Some(spawn_boxed_local(run.in_current_span()));
    }

    fn take_snapshot(&self, state: &LoopState) {
        let before = state.tree_before().map(str::to_owned);
        let closing = state.phase == Phase::Closing;
        let inspection = weakening::inspection(state);
        // The HEAD before the agent ran; commits are listed only in the snapshot after it.
        let since = closing.then(|| state.git.head_before.clone());
        let max_age = if self.round_just_ended && matches!(state.phase, Phase::Boundary { .. }) {
            SNAPSHOT_REUSE_TTL
        } else {
            Duration::ZERO
        };
        let context = self.context.clone();
        if let Some(SnapshotFailure { reason, message, .. }) = disk_room::snapshot_refusal(&context) {
            return context.send_event(Event::SnapshotFailed { reason, message });
        }
        let (root, home) = (self.context.runtime.root(), run_context::home());
        let work = async move {
            let snapshot = context.runtime.with_store(move |store| {
                let mut snapshot = take_snapshot(store, max_age, before.as_deref())?;
                if let Some(before) = before.as_deref().filter(|_| closing) {
                    snapshot.autorun = autorun_scan::find_in_tree(store, before, &snapshot)?;
                }
                snapshot.lines = match &before {
                    Some(before) if closing => store.count_lines(before, &snapshot.tree)?,
                    Some(_) | None => None,
                };
                match &inspection {
                    Some(it) if closing => {
                        snapshot.weakened = weakening_scan::find_weakened(it, store, &snapshot)?;
                    }
                    Some(it) => snapshot.edited = weakening_scan::user_edited_paths(it, store, &snapshot)?,
                    None => {}
                }
                Ok((snapshot, ExecutedFiles::read(&root, home.as_deref())))
            });
            let snapshot = snapshot.await.map_err(|it| disk_room::with_shortage(&context, it));
            context.send_event(match snapshot {
                Ok((mut snapshot, executed)) => {
                    let outside = autorun_scan::changed_outside_tree(&context, executed);
                    if closing {
                        // A folder of the tree that git is configured to take hooks from is in both lists.
                        let is_new = |it: &String| !snapshot.autorun.contains(it);
                        let outside: Vec<String> = outside.into_iter().filter(is_new).collect();
                        snapshot.autorun.extend(outside);
                    }
                    let head = head(&context).await;
                    let commits = match since {
                        Some(since) => commits(&context, since, head.as_ref()).await,
                        None => Vec::new(),
                    };
                    Event::SnapshotTaken(SnapshotFacts { head, commits, ..snapshot })
                }
                Err(SnapshotFailure { reason, message, .. }) => Event::SnapshotFailed { reason, message },
            });
        };
        spawn_boxed_local(work.in_current_span());
    }

    fn take_branch(&self, name: String) {
        let (context, root) = (self.context.clone(), self.context.runtime.root());
        spawn_boxed_local(async move {
            let taken =
                tokio::task::spawn_blocking(move || git::branch::switch_to_branch(&root, &name)).await;
            context.send_event(match taken {
                Ok(Ok(branch)) => Event::BranchTaken(branch),
                Ok(Err(error)) => Event::BranchRefused { message: error.to_string() },
                Err(error) => Event::BranchRefused { message: error.to_string() },
            });
        });
    }

    fn spawn_commit(&self, state: &LoopState, plan: commits::CommitPlan) {
        let (context, artefacts) = (self.context.clone(), state.tree.artefacts.clone());
        let (iteration, runtime) = (plan.iteration, self.context.runtime.clone());
        let clean = |it: &str| runtime.redactor.redact(it);
        let plan = commits::CommitPlan { subject: clean(&plan.subject), body: clean(&plan.body), ..plan };
        let (root, store) = (runtime.root(), Arc::clone(&runtime.store));
        let in_progress = context.dir.commit_in_progress();
        spawn_boxed_local(async move {
            let work = move || {
                super::run_context::lock_store(&store)
                    .map(|it| commit_changes(&root, &it, &plan, &artefacts, &in_progress))
            };
            let made = tokio::task::spawn_blocking(work).await;
            let failed =
                |note: String| CommitOutcome { iteration, note: Some(note), ..CommitOutcome::default() };
            context.send_event(Event::Committed(match made {
                Ok(Ok(made)) => made,
                Ok(Err(problem)) => failed(problem.message.to_string()),
                Err(error) => failed(error.to_string()),
            }));
        });
    }

    fn read_task(&self, state: &LoopState) {
        let reading = task_reload::read(&self.context, state);
        self.context.send_event(Event::TaskRead(Box::new(reading)));
    }

    /// Dropping the task kills the running check's domain; processes that escaped it are searched immediately.
    fn cancel_checks(&mut self) {
        let Some(checks) = self.checks.take() else {
            return self.context.send_event(Event::ChecksCancelled);
        };
        checks.abort();
        let context = self.context.clone();
        spawn_boxed_local(async move {
            let _ = checks.await;
            orphans::wait_until_all_ended().await;
            context.send_event(Event::ChecksCancelled);
        });
    }

    /// CPU time and output are cheap to read; the tree is scanned only if neither changed.
    fn check_activity(&self) {
        let Some(agent) = &self.agent else { return };
        if agent.liveness.is_alive() {
            return self.context.send_event(Event::ActivityChecked { alive: true });
        }
        let (context, liveness) = (self.context.clone(), Rc::clone(&agent.liveness));
        spawn_boxed_local(async move {
            let tree = context
                .runtime
                .with_store(|store| store.take_snapshot().map_err(SnapshotFailure::from))
                .await;
            // A tree that cannot be read is no sign of a hanging agent, which the time limit of the iteration ends.
            let tree = tree.map(|it| it.tree).unwrap_or_default();
            let before = liveness.tree.replace(tree.clone());
            context.send_event(Event::ActivityChecked { alive: before.is_empty() || before != tree });
        });
    }

    /// Takes a snapshot of the tree before a rollback overwrites it.
    pub(super) fn snapshot_before_rollback(&self) -> Result<SnapshotFacts, Message> {
        let snapshot =
            self.context.runtime.with_store_now(|store| take_snapshot(store, Duration::ZERO, None));
        let head = head_or_note(git::head(&self.context.runtime.root()));
        snapshot.map(|it| SnapshotFacts { head, ..it }).map_err(|it| it.message)
    }

    /// Restores the work tree; only `paths`, or the differences `since` another snapshot.
    pub(super) fn roll_back(
        &self,
        tree: &str,
        paths: &[String],
        since: Option<&str>,
    ) -> Result<RestoreReport, Message> {
        let paths = (!paths.is_empty()).then_some(paths);
        let restored = self.context.runtime.with_store_now(|store| {
            Ok(match since {
                Some(since) => store.restore_since(tree, since)?,
                None => store.restore(tree, paths)?,
            })
        });
        restored.map_err(|it| it.message)
    }

    /// Ends all running work. No process of this loop is alive afterwards.
    pub(super) async fn shutdown(&mut self) {
        if let Some(checks) = self.checks.take() {
            checks.abort();
            let _ = checks.await;
        }
        if let Some(agent) = self.agent.take() {
            agent.end().await;
        }
        orphans::wait_until_all_ended().await;
        self.context.runtime.dismiss_wardens().await;
    }
}

/// Commits the changes of the plan's spans, without files written by checks, which are not part of the work.
fn commit_changes(
    root: &Path,
    store: &SnapshotStore,
    plan: &commits::CommitPlan,
    artefacts: &BTreeSet<String>,
    in_progress: &Path,
) -> CommitOutcome {
    let failed = |error: SnapshotError| CommitOutcome {
        iteration: plan.iteration,
        note: Some(error.to_string()),
        ..CommitOutcome::default()
    };
    let mut paths = BTreeSet::new();
    for span in &plan.spans {
        match store.files_changed(&span.from, &span.to) {
            Ok(changes) => {
                paths.extend(
                    changes.into_iter().filter(|it| !artefacts.contains(&it.shown)).map(|it| it.path),
                );
            }
            Err(error) => return failed(error),
        }
    }
    let now = plan.spans.last().map_or("", |it| it.to.as_str());
    let what = git::commit::CommitRequest {
        root,
        branch: plan.branch.as_deref(),
        iteration: plan.iteration,
        subject: &plan.subject,
        body: &plan.body,
        mark: &plan.mark,
        in_progress,
    };
    git::commit::commit_paths(&what, &paths, |path| store.entry_at(now, path).unwrap_or(TreeEntry::Unknown))
}

/// Takes a snapshot, without HEAD.
fn take_snapshot(
    store: &mut SnapshotStore,
    max_age: Duration,
    before: Option<&str>,
) -> Result<SnapshotFacts, SnapshotFailure> {
    let taken = store.take_or_reuse(max_age)?;
    let changed = match before {
        Some(before) => store.changed_paths(before, &taken.tree)?,
        None => Vec::new(),
    };
    let not_covered = taken.not_covered.into_iter().map(|it| it.path).collect();
    Ok(SnapshotFacts { tree: taken.tree, not_covered, changed, ..SnapshotFacts::default() })
}

/// Reads HEAD on a blocking thread, unless a cheap check shows that it did not change.
async fn head(context: &LoopContext) -> Option<GitHead> {
    let root = context.runtime.root();
    let lookup_result = context.head.borrow().lookup(&root);
    let fingerprint = match lookup_result {
        HeadLookup::Same(head) => return head,
        HeadLookup::Unknown(fingerprint) => fingerprint,
    };
    let there = root.clone();
    let read = tokio::task::spawn_blocking(move || head_or_note(git::head(&there))).await;
    let head = read.unwrap_or_default();
    context.head.borrow_mut().remember(&root, fingerprint, head.clone());
    head
}

/// Subjects of new commits, safe to show; empty if HEAD did not move.
async fn commits(context: &LoopContext, since: Option<GitHead>, head: Option<&GitHead>) -> Vec<String> {
    let from = since.map(|it| it.commit);
    let Some(to) = head.map(|it| it.commit.clone()).filter(|it| from.as_ref() != Some(it)) else {
        return Vec::new();
    };
    let root = context.runtime.root();
    let read = tokio::task::spawn_blocking(move || git::commit_subjects(&root, from.as_deref(), &to)).await;
    // They are shown to users and to the next iteration; nothing depends on them.
    let subjects = read.ok().and_then(Result::ok).unwrap_or_default();
    let clean = |it: &String| sanitize::line_within(&context.runtime.redactor.redact(it), SUBJECT_CHARS);
    subjects.iter().map(clean).collect()
}

/// Reads HEAD; if git itself refuses to read the repository (other owner, damaged), commits do not count as progress.
fn head_or_note(head: Result<Option<GitHead>, git::GitError>) -> Option<GitHead> {
    head.unwrap_or_else(|error| {
        // Log once; the condition is permanent for this repository.
        static WARN_ONCE: Once = Once::new();
        WARN_ONCE.call_once(|| tracing::warn!("commits do not count as progress here: {error}"));
        None
    })
}

/// Maps a signal to an event of this loop.
pub(super) fn on_signal(
    state: &LoopState,
    signal: StopSignal,
) -> Result<(Event, Option<oneshot::Sender<ControlReply>>), KeeperError> {
    if state.spec.attended {
        // A detached keeper receives signals at shutdown of the machine: the loop can be resumed.
        return Err(KeeperError::Terminated { signal: signal.name() });
    }
    Ok((Event::UserAsked(UserCommand::StopNow), None))
}

pub(super) fn refusal(code: RefusalReason, message: Message) -> ControlReply {
    let code = match code {
        RefusalReason::Conflict => "conflict",
        RefusalReason::BadArgument => "badArgument",
        RefusalReason::Forbidden => "forbidden",
    };
    ControlReply::Refused { code, message }
}
