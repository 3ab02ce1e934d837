//! `decide`: maps one event and the current state to the decisions that follow, one function per event. The step after
//! an iteration is decided in [`super::between_iterations`].

use crate::journal::{Outcome, OutcomeKind, PauseReason, Record, SnapshotWhen};
use loopkeeper_agent::{AgentEnding, AgentRun};
use loopkeeper_task::criterion::Criterion;
use loopkeeper_text::message::Message;
use loopkeeper_text::moment::Moment;

use super::state::{LoopState, Phase, StopMode, VolatileState};
use super::{
    Decision, Effect, Event, KillMode, LoopBranch, SnapshotFacts, attached, between_iterations, breaker,
    calls, commits, documents, final_verdict, hook_session, limits, mutants, orders, permissions, regression,
    rounds, sessions, spawns, undo, weakening,
};

/// Number of checks for signs of life within `limits.idle_time`.
const IDLE_POLLS: u64 = 4;

/// The decisions for one event. Records come first and are durable before an effect is performed.
pub fn decide(state: &LoopState, live: &mut VolatileState, now: Moment, event: Event) -> Vec<Decision> {
    let steps = dispatch(state, live, now, event);
    let steps = permissions::withdraw_on_turn_end(state, live, now, steps);
    let mut steps = sessions::with_session_changes(state, hook_session::release_on_pause(state, live, steps));
    let ends = steps.iter().any(|it| matches!(it, Decision::Record(Record::Ended { .. })));
    if ends && !steps.iter().any(|it| matches!(it, Decision::Effect(Effect::GoOn | Effect::Finish))) {
        // The keeper exits, whatever ended the loop.
        steps.push(Decision::Effect(Effect::Finish));
    }
    steps
}

fn dispatch(state: &LoopState, live: &mut VolatileState, now: Moment, event: Event) -> Vec<Decision> {
    match event {
        // The first record creates the state; the keeper writes it before any decision.
        Event::Launched { .. } => vec![first_step(state)],
        Event::Reopened { boot, version } => recover_after_restart(state, boot, version),
        Event::WentOn => went_on(state, live, now),
        Event::SnapshotTaken(shot) => snapshot_taken(state, live, shot),
        Event::SnapshotFailed { reason, message } => snapshot_failed(state, live, reason, message),
        Event::BranchTaken(LoopBranch { name, from, made, note }) if state.phase == Phase::Starting => {
            let record = Record::BranchTaken { branch: name, from, made, note };
            vec![Decision::Record(record), Decision::Effect(Effect::TakeSnapshot)]
        }
        Event::BranchTaken(_) => Vec::new(),
        Event::BranchRefused { message } if state.phase == Phase::Starting => {
            vec![end_step(OutcomeKind::Failed, message, Some(PauseReason::Workspace))]
        }
        Event::BranchRefused { .. } => Vec::new(),
        Event::Committed(made) => commits::handle_committed(state, live, made),
        Event::TaskRead(reading) => documents::task_read(state, live, now, reading),
        Event::CallAnswered(slot) => calls::handle_slot(state, live, now, slot),
        Event::LimitKnown { until, met_by } => calls::handle_usage_limit(state, live, now, (until, met_by)),
        Event::AgentStarted { pid, agent_pid, domain, network, holds } => {
            let iteration = state.iteration;
            let started = Record::AgentStarted { iteration, pid, agent_pid, domain, network, holds };
            agent_started(state, live, now, started)
        }
        Event::AgentLeft(left) => hook_session::handle_agent_exit(state, live, left),
        Event::SessionCame(offer) => attached::accept_session(state, live, offer),
        Event::LifeSeen { alive } => life_seen(state, live, now, alive),
        Event::AgentEnded(run) => agent_ended(state, run),
        Event::ChecksDone { round, wrote, untracked } => {
            rounds::checks_done(state, live, rounds::RoundResult { round, wrote, untracked })
        }
        Event::FinalVerdict(reply) => final_verdict::handle_reply(state, live, reply),
        Event::MutantsTested(reply) => mutants::handle_reply(state, live, reply),
        Event::ChecksCancelled => rounds::checks_cancelled(state, live),
        Event::RollbackReady { to, shot, .. } if live.taking_back.is_some() => {
            regression::handle_snapshot(state, live, to, shot)
        }
        Event::RollbackReady { to, paths, shot } => rollback_ready(state, live, to, paths, shot),
        Event::RolledBack { to, paths, tree, from, after, refused } => {
            live.rollback_in_progress = false;
            let undoes = live.undoing.take();
            let reason = live.taking_back.take();
            let then = match reason {
                Some(_) => vec![regression::judge_again(state, live)],
                None => regression::goes_on(state),
            };
            let mended = weakening::restored_files(state, &tree, &paths, &refused);
            let after = Some(after).filter(|it| *it != tree);
            let record = Record::RolledBack { to, tree, from, paths, reason, mended, after, undoes };
            std::iter::once(Decision::Record(record)).chain(then).collect()
        }
        // Each command is reported once: a permanent failure would add no information.
        Event::HookFailed { event, .. } if state.hooks_failed.contains_key(&event) => Vec::new(),
        Event::HookFailed { event, message } => vec![Decision::Record(Record::HookFailed { event, message })],
        Event::RollbackFailed { message } => regression::handle_failure(state, live, message),
        Event::DiskFilled { message } => disk_filled(state, live, message),
        Event::DeadlinePassed => deadline_passed(state, live, now),
        Event::SubagentSeen(told) => spawns::handle_subagent(state, told),
        Event::AskerLeft => permissions::withdraw_question(state),
        Event::UserAsked(order) => orders::handle_command(state, live, now, order),
    }
}

/// When `decide` needs [`Event::DeadlinePassed`].
pub fn deadline(state: &LoopState, live: &VolatileState) -> Option<Moment> {
    match state.phase {
        Phase::Iterating { .. } if state.questions.permission().is_some() => {
            state.questions.permission().and_then(|it| it.until)
        }
        Phase::Iterating { since, .. } if live.ending.is_none() => {
            let end = limits::iteration_end(state, since);
            // A check made before this agent started does not apply to it.
            let last = if live.last_look.awake < since.awake { since } else { live.last_look };
            let look = last.plus_ms(state.spec.settings.limits.idle_ms / IDLE_POLLS);
            Some(if look.awake < end.awake { look } else { end })
        }
        Phase::Boundary
            if state.pause.is_none() && !live.preparing && !live.checking_at_rest && !live.committing =>
        {
            if let Some(question) = state.questions.blocking_question() {
                return question.until;
            }
            let end = limits::loop_end(state);
            let until = breaker::rests_until(state).or_else(|| state.wait.map(|it| it.until));
            let wait = until.map(|it| if it.awake < end.awake { it } else { end });
            let answer = state.questions.open.as_ref().and_then(|it| it.until);
            answer.into_iter().chain(wait).min_by_key(|it| it.awake)
        }
        _ => None,
    }
}

fn recover_after_restart(state: &LoopState, boot: String, version: String) -> Vec<Decision> {
    if state.outcome.is_some() {
        return vec![Decision::Effect(Effect::Finish)];
    }
    let interrupted = matches!(state.phase, Phase::Iterating { .. }).then_some(state.iteration);
    vec![Decision::Record(Record::Recovered { boot, version, interrupted }), Decision::Effect(Effect::GoOn)]
}

/// The branch comes first, because checking it out changes files. A keeper that takes over before it is on record
/// repeats the step, which changes nothing.
fn first_step(state: &LoopState) -> Decision {
    let name = state.spec.branch.clone().filter(|_| !state.has_branch);
    Decision::Effect(name.map_or(Effect::TakeSnapshot, |name| Effect::TakeBranch { name }))
}

fn went_on(state: &LoopState, live: &mut VolatileState, now: Moment) -> Vec<Decision> {
    match state.phase {
        Phase::Starting | Phase::Closing if state.stop == Some(StopMode::Now) => vec![user_stop_step(state)],
        Phase::Starting => vec![first_step(state)],
        Phase::Closing => vec![Decision::Effect(Effect::TakeSnapshot)],
        Phase::Boundary | Phase::Preparing => between_iterations::next(state, live, now),
        Phase::Ended => vec![Decision::Effect(Effect::Finish)],
        Phase::Baseline | Phase::Iterating { .. } | Phase::Checking => Vec::new(),
    }
}

fn snapshot_taken(state: &LoopState, live: &mut VolatileState, shot: SnapshotFacts) -> Vec<Decision> {
    live.preparing = false;
    let taken = |iteration, when| {
        Decision::Record(Record::SnapshotTaken {
            iteration,
            when,
            tree: shot.tree.clone(),
            head: shot.head.clone(),
            not_covered: shot.not_covered.iter().take(50).cloned().collect(),
            undoes: None,
        })
    };
    match state.phase {
        Phase::Starting if state.stop.is_some() => vec![taken(0, SnapshotWhen::After), user_stop_step(state)],
        Phase::Starting => {
            let criteria = state.spec.criteria.clone();
            vec![taken(0, SnapshotWhen::After), Decision::Effect(Effect::RunChecks { criteria, repeats: 0 })]
        }
        Phase::Boundary | Phase::Preparing if state.stop.is_some() || state.pause.is_some() => {
            vec![Decision::Effect(Effect::GoOn)]
        }
        Phase::Boundary | Phase::Preparing => {
            let before = taken(state.iteration + 1, SnapshotWhen::Before);
            weakening::user_edit_step(&shot)
                .into_iter()
                .chain([before, Decision::Effect(Effect::ReadTask)])
                .collect()
        }
        Phase::Closing => {
            let record = taken(state.iteration, SnapshotWhen::After);
            live.shot = shot;
            live.repeats = 0;
            match state.stop {
                Some(StopMode::Now) => vec![record, user_stop_step(state)],
                Some(StopMode::AfterIteration) | None => vec![record, Decision::Effect(Effect::ReadTask)],
            }
        }
        _ => Vec::new(),
    }
}

fn agent_started(state: &LoopState, live: &mut VolatileState, now: Moment, started: Record) -> Vec<Decision> {
    live.last_sign = now;
    live.last_look = now;
    live.ending = None;
    let mut steps = vec![Decision::Record(started)];
    if state.stop == Some(StopMode::Now) {
        steps.extend(end_agent(live, AgentEnding::Stopped));
    }
    steps
}

fn life_seen(state: &LoopState, live: &mut VolatileState, now: Moment, alive: bool) -> Vec<Decision> {
    let Phase::Iterating { .. } = state.phase else { return Vec::new() };
    live.last_look = now;
    if alive {
        live.last_sign = now;
    }
    if now.ms_since(live.last_sign) >= state.spec.settings.limits.idle_ms {
        return end_agent(live, AgentEnding::Idle);
    }
    Vec::new()
}

fn deadline_passed(state: &LoopState, live: &mut VolatileState, now: Moment) -> Vec<Decision> {
    if let Some(steps) = permissions::expire_question(state, now) {
        return steps;
    }
    match state.phase {
        Phase::Iterating { since, .. } if live.ending.is_none() => {
            if now.awake >= limits::iteration_end(state, since).awake {
                return end_agent(live, AgentEnding::TimedOut);
            }
            // Request once: the answer may take a while.
            live.last_look = now;
            vec![Decision::Effect(Effect::LookForLife)]
        }
        Phase::Boundary => between_iterations::next(state, live, now),
        _ => Vec::new(),
    }
}

/// Asks the agent to exit, once for each reason that is more urgent than the previous one.
pub(super) fn end_agent(live: &mut VolatileState, why: AgentEnding) -> Vec<Decision> {
    live.ending = Some(why);
    vec![Decision::Effect(Effect::StopAgent { why, grace: KillMode::Given })]
}

fn agent_ended(state: &LoopState, run: Box<AgentRun>) -> Vec<Decision> {
    let Phase::Iterating { .. } = state.phase else { return Vec::new() };
    let iteration = state.iteration;
    let left = run.left.join(", ");
    let mut steps = vec![Decision::Record(Record::AgentEnded { iteration, run })];
    steps.push(if left.is_empty() {
        Decision::Effect(Effect::TakeSnapshot)
    } else {
        unkillable_processes(&left)
    });
    steps
}

/// A process that is still alive could change the tree under the checks.
pub(super) fn unkillable_processes(left: &str) -> Decision {
    let sentence = format!("failed: processes of the agent could not be ended: {left}; nothing was judged");
    end_step(OutcomeKind::Failed, sentence, Some(PauseReason::Agent))
}

/// Records a snapshot of the current tree before any file is overwritten.
fn rollback_ready(
    state: &LoopState,
    live: &mut VolatileState,
    to: u32,
    paths: Vec<String>,
    shot: SnapshotFacts,
) -> Vec<Decision> {
    let rollback = if live.undoing.is_some() {
        let undone = undo::undoable_rollback(state).ok();
        undone.map(|it| Effect::Rollback { to, tree: it.from.clone(), paths, since: it.after.clone() })
    } else {
        let tree = state.tree_after(to).map(str::to_owned);
        tree.map(|tree| Effect::Rollback { to, tree, paths, since: None })
    };
    let Some(rollback) = rollback else {
        (live.rollback_in_progress, live.undoing) = (false, None);
        return regression::goes_on(state);
    };
    begin_rollback((state, live), shot, rollback)
}

/// Takes a snapshot of the current tree before the rollback changes it.
pub(super) fn begin_rollback(
    (state, live): (&LoopState, &VolatileState),
    shot: SnapshotFacts,
    how: Effect,
) -> Vec<Decision> {
    let record = Record::SnapshotTaken {
        iteration: state.iteration,
        when: SnapshotWhen::BeforeRollback,
        tree: shot.tree,
        head: shot.head,
        not_covered: shot.not_covered,
        undoes: live.undoing,
    };
    vec![Decision::Record(record), Decision::Effect(how)]
}

/// Without a snapshot nothing can be judged, so the loop must not continue.
fn snapshot_failed(
    state: &LoopState,
    live: &mut VolatileState,
    reason: PauseReason,
    message: Message,
) -> Vec<Decision> {
    live.preparing = false;
    live.pinning = None;
    if std::mem::take(&mut live.checking_at_rest) && state.is_paused_at_rest() {
        // The user's command ends without a result; the pause is unchanged.
        return Vec::new();
    }
    let full = reason == PauseReason::Disk;
    let what = if full { "the disk is full" } else { "the workspace cannot be snapshotted" };
    let message = message.map_fact(|it| format!("{what}: {it}"));
    match state.phase {
        Phase::Boundary | Phase::Preparing if state.stop.is_some() => vec![user_stop_step(state)],
        Phase::Boundary | Phase::Preparing => pause_or_end(state, reason, message),
        // The next keeper resumes the step that this one interrupts, as after a crash.
        Phase::Starting | Phase::Baseline | Phase::Closing | Phase::Checking
            if full && state.spec.attended =>
        {
            vec![Decision::Record(Record::Paused { reason, message }), Decision::Effect(Effect::Finish)]
        }
        Phase::Starting | Phase::Baseline | Phase::Closing | Phase::Checking => {
            vec![end_step(OutcomeKind::Failed, message, Some(reason))]
        }
        Phase::Iterating { .. } | Phase::Ended => Vec::new(),
    }
}

fn disk_filled(state: &LoopState, live: &mut VolatileState, message: Message) -> Vec<Decision> {
    let mut steps = match state.phase {
        // There was room for the last record after all.
        Phase::Ended => return Vec::new(),
        Phase::Iterating { .. } => end_agent(live, AgentEnding::Stopped),
        _ => Vec::new(),
    };
    if state.pause.is_none() {
        steps.insert(0, Decision::Record(Record::Paused { reason: PauseReason::Disk, message }));
    }
    steps
}

/// Pauses for the user, or ends if the loop is unattended.
pub(super) fn pause_or_end(
    state: &LoopState,
    reason: PauseReason,
    message: impl Into<Message>,
) -> Vec<Decision> {
    let message = message.into();
    if state.spec.attended {
        return vec![Decision::Record(Record::Paused { reason, message })];
    }
    let kind = if reason == PauseReason::Breaker { OutcomeKind::Breaker } else { OutcomeKind::Failed };
    vec![end_step(kind, message, Some(reason)), Decision::Effect(Effect::Finish)]
}

pub(super) fn end_step(
    kind: OutcomeKind,
    sentence: impl Into<Message>,
    cause: Option<PauseReason>,
) -> Decision {
    let sentence = sentence.into();
    Decision::Record(Record::Ended { outcome: Outcome { kind, verified: false, sentence, cause } })
}

/// Ends the loop by command of the user.
pub(super) fn user_stop_step(state: &LoopState) -> Decision {
    let when = match state.iteration {
        0 => "before the first iteration".to_owned(),
        n => format!("after {}", limits::iterations(n)),
    };
    end_step(OutcomeKind::Stopped, format!("stopped {when}"), None)
}

pub(super) fn criteria_of(state: &LoopState) -> Vec<Criterion> {
    state.pinned.iter().map(|it| it.criterion.clone()).collect()
}
