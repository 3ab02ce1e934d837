//! `decide`: maps one event and the current state to the decisions that follow, one function per event. The step after
//! an iteration is decided in [`super::between_iterations`].

use crate::check::fingerprint;
use crate::journal::{OutcomeKind, PauseReason, Record, SnapshotWhen};
use crate::loop_state::{
    LoopState, Phase, Preparation, RunningAgent, SnapshotFacts, StopMode, VolatileState,
};
use loopkeeper_agent::{AgentEnding, AgentRun};
use loopkeeper_text::clauses::list;
use loopkeeper_text::message::Message;
use loopkeeper_text::moment::Moment;
use loopkeeper_text::tr;

use super::endings::{end_agent, end_by_user, end_now, pause_or_end, unkillable_record};
use super::{
    Decision, Effect, Event, LoopBranch, attached, autorun_note, between_iterations, breaker, calls, commits,
    documents, final_verdict, hook_session, limits, mutants, permissions, rollback, rounds, sessions, spawns,
    user_commands, weakening,
};

/// Number of activity checks within `limits.idle_time`.
const IDLE_POLLS: u64 = 4;
/// Maximum number of recorded paths that a snapshot does not cover.
const MAX_NOT_COVERED: usize = 50;

/// The decisions for one event. Records come first and are durable before an effect is performed.
pub fn decide(state: &LoopState, live: &mut VolatileState, now: Moment, event: Event) -> Vec<Decision> {
    let decisions = autorun_note::with_note(state, dispatch(state, live, now, event));
    // Many decisions leave the session: all that end the loop, open the breaker, or restore files from before it.
    let mut decisions = sessions::with_session_changes(state, decisions);
    store_fingerprints(&mut decisions);
    decisions
}

/// Computing them takes longer than everything else in replay.
fn store_fingerprints(decisions: &mut [Decision]) {
    for decision in decisions {
        if let Decision::Record(Record::ChecksDone { iteration: Some(_), round }) = decision {
            fingerprint::store_fingerprints(&mut round.results);
        }
    }
}

fn dispatch(state: &LoopState, live: &mut VolatileState, now: Moment, event: Event) -> Vec<Decision> {
    match event {
        // The first record creates the state; the keeper writes it before any decision.
        Event::Launched { .. } => vec![first_step(state)],
        Event::Reopened { boot, version } => recover_after_restart(state, boot, version),
        Event::Continued => continue_loop(state, live, now),
        Event::SnapshotTaken(snapshot) => snapshot_taken(state, live, snapshot),
        Event::SnapshotFailed { reason, message } => snapshot_failed(state, live, reason, message),
        Event::BranchTaken(LoopBranch { name, from, made, note }) if state.phase == Phase::Starting => {
            let record = Record::BranchTaken { branch: name, from, made, note };
            vec![Decision::Record(record), Decision::Effect(Effect::TakeSnapshot)]
        }
        Event::BranchTaken(_) => Vec::new(),
        Event::BranchRefused { message } if state.phase == Phase::Starting => {
            end_now(OutcomeKind::Failed, message, Some(PauseReason::Workspace))
        }
        Event::BranchRefused { .. } => Vec::new(),
        Event::Committed(made) => commits::handle_committed(state, live, made),
        Event::TaskRead(documents) => documents::task_read(state, live, now, documents),
        Event::CallAnswered(slot) => calls::handle_slot(state, live, now, slot),
        Event::UsageLimitShared { until, met_by } => {
            calls::handle_usage_limit(state, live, now, (until, met_by))
        }
        Event::AgentStarted { pid, agent_pid, domain, network, holds } => {
            let iteration = state.iteration;
            let started = Record::AgentStarted { iteration, pid, agent_pid, domain, network, holds };
            agent_started(state, live, now, started)
        }
        Event::AgentLeft(left) => hook_session::handle_agent_exit(state, live, left),
        Event::SessionOffered(offer) => attached::accept_session(state, live, offer),
        Event::ActivityChecked { alive } => activity_checked(state, live, now, alive),
        Event::AgentEnded(run) => agent_ended(state, live, now, run),
        Event::ChecksDone { round, wrote, untracked, strays } => {
            rounds::checks_done(state, live, rounds::RoundResult { round, wrote, untracked, strays })
        }
        Event::FinalVerdict(reply) => final_verdict::handle_reply(state, live, reply),
        Event::MutantsTested(reply) => mutants::handle_reply(state, live, reply),
        Event::ChecksCancelled => rounds::checks_cancelled(state, live),
        Event::RollbackReady { to, paths, snapshot } => {
            rollback::handle_snapshot(state, live, (to, paths), snapshot)
        }
        Event::RolledBack { to, paths, tree, from, after, refused } => {
            let restored = rollback::RestoredFiles { to, tree, from, after, paths, refused };
            rollback::handle_restored(state, live, restored)
        }
        // Each command is reported once: a permanent failure would add no information.
        Event::HookFailed { event, .. } if state.reported.hooks_failed.contains_key(&event) => Vec::new(),
        Event::HookFailed { event, message } => vec![Decision::Record(Record::HookFailed { event, message })],
        Event::RollbackFailed { message } => rollback::handle_failure(state, live, message),
        Event::DiskFilled { message } => disk_filled(state, live, now, message),
        Event::DeadlinePassed => deadline_passed(state, live, now),
        Event::SubagentSeen(event) => spawns::handle_subagent(state, event),
        Event::PermissionCallerDisconnected => permissions::withdraw_question(state, live, now),
        Event::UserAsked(command) => user_commands::handle_command(state, live, now, command),
    }
}

/// When `decide` needs [`Event::DeadlinePassed`].
pub fn deadline(state: &LoopState, live: &VolatileState) -> Option<Moment> {
    match state.phase {
        Phase::Iterating(_) if state.questions.permission().is_some() => {
            state.questions.permission().and_then(|it| it.until)
        }
        Phase::Iterating(RunningAgent { since, .. }) if live.agent.ending.is_none() => {
            let end = limits::iteration_end(state, since);
            // A check made before this agent started does not apply to it.
            let last = live.agent.last_activity_check;
            let last = if last.awake < since.awake { since } else { last };
            let next_check = last.plus_ms(state.spec.settings.limits.idle_ms / IDLE_POLLS);
            Some(if next_check.awake < end.awake { next_check } else { end })
        }
        Phase::Boundary { .. }
            if state.pause.is_none()
                && live.work.preparation != Preparation::Snapshot
                && !live.work.is_checking()
                && !live.work.is_committing =>
        {
            if let Some(question) = state.questions.blocking_question() {
                return question.until;
            }
            let end = limits::loop_end(state);
            let until = breaker::cooldown_end(state).or_else(|| state.phase.wait().map(|it| it.until));
            let wait = until.map(|it| if it.awake < end.awake { it } else { end });
            let answer = state.questions.open.as_ref().and_then(|it| it.until);
            answer.into_iter().chain(wait).min_by_key(|it| it.awake)
        }
        Phase::Starting
        | Phase::Baseline
        | Phase::Boundary { .. }
        | Phase::Preparing { .. }
        | Phase::Iterating(_)
        | Phase::Closing
        | Phase::Checking
        | Phase::Ended(_) => None,
    }
}

fn recover_after_restart(state: &LoopState, boot: String, version: String) -> Vec<Decision> {
    if state.outcome().is_some() {
        return vec![Decision::Effect(Effect::Finish)];
    }
    let interrupted = matches!(state.phase, Phase::Iterating(_)).then_some(state.iteration);
    Decision::record_and_continue(Record::Recovered { boot, version, interrupted })
}

/// The branch comes first, because checking it out changes files. A keeper that takes over before it is on record
/// repeats the step, which changes nothing.
fn first_step(state: &LoopState) -> Decision {
    let name = state.spec.branch.clone().filter(|_| !state.git.has_branch);
    Decision::Effect(name.map_or(Effect::TakeSnapshot, |name| Effect::TakeBranch { name }))
}

fn continue_loop(state: &LoopState, live: &mut VolatileState, now: Moment) -> Vec<Decision> {
    match state.phase {
        Phase::Starting | Phase::Closing if state.stop == Some(StopMode::Now) => end_by_user(state),
        Phase::Starting => vec![first_step(state)],
        Phase::Closing => vec![Decision::Effect(Effect::TakeSnapshot)],
        Phase::Boundary { .. } | Phase::Preparing { .. } => between_iterations::next(state, live, now),
        Phase::Ended(_) => vec![Decision::Effect(Effect::Finish)],
        Phase::Baseline | Phase::Iterating(_) | Phase::Checking => Vec::new(),
    }
}

fn snapshot_taken(state: &LoopState, live: &mut VolatileState, snapshot: SnapshotFacts) -> Vec<Decision> {
    live.work.end_snapshot();
    let taken = |iteration, when| {
        Decision::Record(Record::SnapshotTaken {
            iteration,
            when,
            tree: snapshot.tree.clone(),
            head: snapshot.head.clone(),
            not_covered: snapshot.not_covered.iter().take(MAX_NOT_COVERED).cloned().collect(),
            undoes: None,
        })
    };
    match state.phase {
        Phase::Starting if state.stop.is_some() => {
            [vec![taken(0, SnapshotWhen::After)], end_by_user(state)].concat()
        }
        Phase::Starting => {
            let criteria = state.spec.criteria.clone();
            vec![taken(0, SnapshotWhen::After), Decision::Effect(Effect::RunChecks { criteria, repeats: 0 })]
        }
        Phase::Boundary { .. } | Phase::Preparing { .. } if state.stop.is_some() || state.pause.is_some() => {
            vec![Decision::Effect(Effect::Continue)]
        }
        Phase::Boundary { .. } | Phase::Preparing { .. } => {
            let before = taken(state.iteration + 1, SnapshotWhen::Before);
            weakening::user_edit_step(state, &snapshot)
                .into_iter()
                .chain([before, Decision::Effect(Effect::ReadTask)])
                .collect()
        }
        Phase::Closing => {
            let record = taken(state.iteration, SnapshotWhen::After);
            live.after_agent.snapshot = snapshot;
            live.discarded.count = 0;
            match state.stop {
                Some(StopMode::Now) => [vec![record], end_by_user(state)].concat(),
                Some(StopMode::AfterIteration) | None => vec![record, Decision::Effect(Effect::ReadTask)],
            }
        }
        // It was requested for an earlier phase.
        Phase::Baseline | Phase::Iterating(_) | Phase::Checking | Phase::Ended(_) => Vec::new(),
    }
}

fn agent_started(state: &LoopState, live: &mut VolatileState, now: Moment, started: Record) -> Vec<Decision> {
    live.agent.last_activity = now;
    live.agent.last_activity_check = now;
    live.agent.ending = None;
    live.disturbances = 0;
    let mut steps = vec![Decision::Record(started)];
    if state.stop == Some(StopMode::Now) {
        steps.extend(end_agent(live, AgentEnding::Stopped));
    }
    steps
}

fn activity_checked(state: &LoopState, live: &mut VolatileState, now: Moment, alive: bool) -> Vec<Decision> {
    if !matches!(state.phase, Phase::Iterating(_)) || live.agent.ending.is_some() {
        return Vec::new();
    }
    live.agent.last_activity_check = now;
    if alive {
        live.agent.last_activity = now;
    }
    if now.ms_since(live.agent.last_activity) >= state.spec.settings.limits.idle_ms {
        return end_agent(live, AgentEnding::Idle);
    }
    Vec::new()
}

fn deadline_passed(state: &LoopState, live: &mut VolatileState, now: Moment) -> Vec<Decision> {
    if let Some(steps) = permissions::expire_question(state, live, now) {
        return steps;
    }
    match state.phase {
        Phase::Iterating(RunningAgent { since, .. }) if live.agent.ending.is_none() => {
            if now.awake >= limits::iteration_end(state, since).awake {
                return end_agent(live, AgentEnding::TimedOut);
            }
            // Request once: the answer may take a while.
            live.agent.last_activity_check = now;
            vec![Decision::Effect(Effect::CheckActivity)]
        }
        Phase::Boundary { .. } => between_iterations::next(state, live, now),
        Phase::Starting
        | Phase::Baseline
        | Phase::Preparing { .. }
        | Phase::Iterating(_)
        | Phase::Closing
        | Phase::Checking
        | Phase::Ended(_) => Vec::new(),
    }
}

fn agent_ended(
    state: &LoopState,
    live: &mut VolatileState,
    now: Moment,
    run: Box<AgentRun>,
) -> Vec<Decision> {
    let Phase::Iterating(_) = state.phase else { return Vec::new() };
    let iteration = state.iteration;
    let unkillable = list(&run.unkillable);
    let mut steps = vec![Decision::Record(Record::AgentEnded { iteration, run })];
    let withdrawn = permissions::withdraw_question(state, live, now);
    if unkillable.is_empty() {
        steps.push(Decision::Effect(Effect::TakeSnapshot));
        steps.extend(withdrawn);
    } else {
        steps.push(unkillable_record(&unkillable));
        steps.extend(withdrawn);
        steps.push(Decision::Effect(Effect::Finish));
    }
    steps
}

/// Without a snapshot nothing can be judged, so the loop must not continue.
fn snapshot_failed(
    state: &LoopState,
    live: &mut VolatileState,
    reason: PauseReason,
    message: Message,
) -> Vec<Decision> {
    live.work.end_snapshot();
    live.work.end_pinning();
    if live.work.end_checks() && state.is_paused_between_iterations() {
        // The user's command ends without a result; the pause is unchanged.
        return Vec::new();
    }
    let is_disk_full = reason == PauseReason::Disk;
    let message = message.map_fact(|error| {
        if is_disk_full {
            tr!("the disk is full: {error}", error)
        } else {
            tr!("the workspace cannot be snapshotted: {error}", error)
        }
    });
    match state.phase {
        Phase::Boundary { .. } | Phase::Preparing { .. } if state.stop.is_some() => end_by_user(state),
        Phase::Boundary { .. } | Phase::Preparing { .. } => {
            let steps = pause_or_end(state, reason, message);
            hook_session::release_on_pause(state, live, steps)
        }
        // The next keeper resumes the step that this one interrupts, as after a crash.
        Phase::Starting | Phase::Baseline | Phase::Closing | Phase::Checking
            if is_disk_full && state.spec.attended =>
        {
            vec![Decision::Record(Record::Paused { reason, message }), Decision::Effect(Effect::Finish)]
        }
        Phase::Starting | Phase::Baseline | Phase::Closing | Phase::Checking => {
            end_now(OutcomeKind::Failed, message, Some(reason))
        }
        Phase::Iterating(_) | Phase::Ended(_) => Vec::new(),
    }
}

fn disk_filled(state: &LoopState, live: &mut VolatileState, now: Moment, message: Message) -> Vec<Decision> {
    let pause = state.pause.is_none().then_some(Record::Paused { reason: PauseReason::Disk, message });
    let mut steps: Vec<Decision> = pause.into_iter().map(Decision::Record).collect();
    match state.phase {
        // There was room for the last record after all.
        Phase::Ended(_) => Vec::new(),
        Phase::Iterating(_) => {
            let is_paused = !steps.is_empty();
            steps.extend(end_agent(live, AgentEnding::Stopped));
            if is_paused {
                steps.extend(permissions::withdraw_question(state, live, now));
            }
            steps
        }
        Phase::Boundary { .. } | Phase::Preparing { .. } => {
            hook_session::release_on_pause(state, live, steps)
        }
        Phase::Starting | Phase::Baseline | Phase::Closing | Phase::Checking => steps,
    }
}
