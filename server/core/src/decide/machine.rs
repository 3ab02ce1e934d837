//! `decide`: one event, the state as it is, and what follows. A function per event; what happens between
//! iterations is in [`super::boundary`].

use sha2::{Digest, Sha256};

use crate::agent::{AgentEnding, AgentRun};
use crate::check::Status;
use crate::journal::{Claim, Outcome, OutcomeKind, PauseReason, Record, Role, Round, SnapshotWhen};
use crate::moment::Moment;
use crate::task::{Check, Criterion};

use super::state::{Live, Loop, Phase, Stop};
use super::{Effect, Event, Grace, Reading, Shot, Step, boundary, brief, limits, orders, pinned, progress};

/// A round on a moving tree is repeated this often before it counts as unstable.
const MAX_REPEATS: u32 = 2;
/// Signs of life are looked for this often within `limits.idle_time`.
const LOOKS: u64 = 4;

/// What follows from one event. Records come first and are durable before an effect is performed.
pub fn decide(state: &Loop, live: &mut Live, now: Moment, event: Event) -> Vec<Step> {
    let mut steps = follow(state, live, now, event);
    let ends = steps.iter().any(|it| matches!(it, Step::Record(Record::Ended { .. })));
    if ends && !steps.iter().any(|it| matches!(it, Step::Effect(Effect::GoOn | Effect::Finish))) {
        // Whatever ended the loop, its keeper goes.
        steps.push(Step::Effect(Effect::Finish));
    }
    steps
}

fn follow(state: &Loop, live: &mut Live, now: Moment, event: Event) -> Vec<Step> {
    match event {
        // The first record makes the state; the keeper writes it before there is anything to decide upon.
        Event::Launched { .. } => vec![Step::Effect(Effect::TakeSnapshot)],
        Event::Reopened { boot, version } => reopened(state, boot, version),
        Event::WentOn => went_on(state, live, now),
        Event::SnapshotTaken(shot) => snapshot_taken(state, live, shot),
        Event::SnapshotFailed { message } => {
            live.preparing = false;
            workspace_failed(state, &message)
        }
        Event::TaskRead(reading) => task_read(state, live, now, reading),
        Event::AgentStarted { pid, domain } => agent_started(state, live, now, pid, domain),
        Event::LifeSeen { alive } => life_seen(state, live, now, alive),
        Event::AgentEnded(run) => agent_ended(state, run),
        Event::ChecksDone { round, wrote, untracked } => {
            checks_done(state, live, now, Judged { round, wrote, untracked })
        }
        Event::ChecksCancelled => checks_cancelled(state, live),
        Event::RollbackReady { to, paths, shot } => rollback_ready(state, to, paths, shot),
        Event::RolledBack { to, tree, from } => vec![Step::Record(Record::RolledBack { to, tree, from })],
        Event::DiskFilled { message } => disk_filled(state, live, message),
        Event::DeadlinePassed => deadline_passed(state, live, now),
        Event::UserAsked(order) => orders::follow(state, live, order),
    }
}

/// When `decide` wants to hear [`Event::DeadlinePassed`].
pub fn deadline(state: &Loop, live: &Live) -> Option<Moment> {
    match state.phase {
        Phase::Iterating { since, .. } if live.ending.is_none() => {
            let end = limits::iteration_end(state, since);
            // A look from before this agent says nothing about it.
            let last = if live.last_look.awake < since.awake { since } else { live.last_look };
            let look = last.after(state.spec.settings.limits.idle_ms / LOOKS);
            Some(if look.awake < end.awake { look } else { end })
        }
        Phase::Boundary if state.pause.is_none() && !live.preparing => state.wait.map(|it| it.until),
        _ => None,
    }
}

struct Judged {
    round: Box<Round>,
    wrote: Vec<String>,
    untracked: Vec<String>,
}

fn reopened(state: &Loop, boot: String, version: String) -> Vec<Step> {
    if state.outcome.is_some() {
        return vec![Step::Effect(Effect::Finish)];
    }
    let interrupted = matches!(state.phase, Phase::Iterating { .. }).then_some(state.iteration);
    vec![Step::Record(Record::Recovered { boot, version, interrupted }), Step::Effect(Effect::GoOn)]
}

fn went_on(state: &Loop, live: &mut Live, now: Moment) -> Vec<Step> {
    match state.phase {
        Phase::Starting | Phase::Closing if state.stop == Some(Stop::Now) => vec![stopped(state)],
        Phase::Starting | Phase::Closing => vec![Step::Effect(Effect::TakeSnapshot)],
        Phase::Boundary | Phase::Preparing => boundary::next(state, live, now),
        Phase::Ended => vec![Step::Effect(Effect::Finish)],
        Phase::Baseline | Phase::Iterating { .. } | Phase::Checking => Vec::new(),
    }
}

fn snapshot_taken(state: &Loop, live: &mut Live, shot: Shot) -> Vec<Step> {
    live.preparing = false;
    let taken = |iteration, when| {
        Step::Record(Record::SnapshotTaken {
            iteration,
            when,
            tree: shot.tree.clone(),
            head: shot.head.clone(),
            not_covered: shot.not_covered.iter().take(50).cloned().collect(),
        })
    };
    match state.phase {
        Phase::Starting if state.stop.is_some() => vec![taken(0, SnapshotWhen::After), stopped(state)],
        Phase::Starting => {
            let criteria = state.spec.criteria.clone();
            vec![taken(0, SnapshotWhen::After), Step::Effect(Effect::RunChecks { criteria, repeats: 0 })]
        }
        Phase::Boundary | Phase::Preparing if state.stop.is_some() || state.pause.is_some() => {
            vec![Step::Effect(Effect::GoOn)]
        }
        Phase::Boundary | Phase::Preparing => {
            vec![taken(state.iteration + 1, SnapshotWhen::Before), Step::Effect(Effect::ReadTask)]
        }
        Phase::Closing => {
            let record = taken(state.iteration, SnapshotWhen::After);
            live.shot = shot;
            live.repeats = 0;
            match state.stop {
                Some(Stop::Now) => vec![record, stopped(state)],
                Some(Stop::AfterIteration) | None => vec![record, Step::Effect(Effect::ReadTask)],
            }
        }
        _ => Vec::new(),
    }
}

fn task_read(state: &Loop, live: &mut Live, now: Moment, reading: Box<Reading>) -> Vec<Step> {
    match state.phase {
        Phase::Checking => {
            live.reading = Some(reading);
            if nothing_new(state, live) {
                return iteration_over(state, live, now, None);
            }
            vec![Step::Effect(Effect::RunChecks { criteria: criteria_of(state), repeats: 0 })]
        }
        Phase::Preparing if state.stop.is_some() || state.pause.is_some() => vec![Step::Effect(Effect::GoOn)],
        Phase::Preparing => prepared(state, live, now, &reading),
        _ => Vec::new(),
    }
}

/// The agent failed and left the tree as the last round judged it: the same checks would say the same.
fn nothing_new(state: &Loop, live: &Live) -> bool {
    let failed = state.last_iteration().is_some_and(|it| it.error.is_some());
    failed && live.shot.tree == state.judged_tree
}

fn prepared(state: &Loop, live: &mut Live, now: Moment, reading: &Reading) -> Vec<Step> {
    if !reading.surfaces.is_empty() {
        return untrusted(state, &reading.surfaces);
    }
    if let Some(pinned) = pinned::with_user_changes(state, &reading.criteria) {
        let unknown = pinned.iter().filter(|it| reading.untrusted.contains(&it.criterion.id));
        let unknown: Vec<String> = unknown.map(|it| it.criterion.name.clone()).collect();
        if !unknown.is_empty() {
            return untrusted(state, &unknown);
        }
        let criteria = pinned.iter().map(|it| it.criterion.clone()).collect();
        live.pinning = Some(pinned);
        live.reading = Some(Box::new(reading.clone()));
        return vec![Step::Effect(Effect::RunChecks { criteria, repeats: 0 })];
    }
    let iteration = state.iteration + 1;
    let session = session_id(&state.spec.loop_id, iteration);
    let prompt = brief::prompt(state, reading, now);
    let tree = state.snapshots.last().map(|it| it.tree.clone()).unwrap_or_default();
    let record = Record::IterationIntended {
        iteration,
        session: session.clone(),
        prompt: hex(prompt.as_bytes()),
        tree,
    };
    vec![Step::Record(record), Step::Effect(Effect::SpawnAgent { iteration, session, prompt })]
}

fn untrusted(state: &Loop, what: &[String]) -> Vec<Step> {
    let first = what.first().map_or("", String::as_str);
    let more = if what.len() > 1 { format!(" and {} more", what.len() - 1) } else { String::new() };
    let message =
        format!("not trusted yet: {first}{more}. Hint: read it with `loopkeeper trust`, then resume");
    hold(state, PauseReason::Trust, message)
}

fn agent_started(state: &Loop, live: &mut Live, now: Moment, pid: u32, domain: String) -> Vec<Step> {
    live.last_sign = now;
    live.last_look = now;
    live.ending = None;
    let mut steps = vec![Step::Record(Record::AgentStarted { iteration: state.iteration, pid, domain })];
    if state.stop == Some(Stop::Now) {
        steps.extend(end_agent(live, AgentEnding::Stopped));
    }
    steps
}

fn life_seen(state: &Loop, live: &mut Live, now: Moment, alive: bool) -> Vec<Step> {
    let Phase::Iterating { .. } = state.phase else { return Vec::new() };
    live.last_look = now;
    if alive {
        live.last_sign = now;
    }
    if now.since(live.last_sign) >= state.spec.settings.limits.idle_ms {
        return end_agent(live, AgentEnding::Idle);
    }
    Vec::new()
}

fn deadline_passed(state: &Loop, live: &mut Live, now: Moment) -> Vec<Step> {
    match state.phase {
        Phase::Iterating { since, .. } if live.ending.is_none() => {
            if now.awake >= limits::iteration_end(state, since).awake {
                return end_agent(live, AgentEnding::TimedOut);
            }
            // Asked once: what answers may need a while.
            live.last_look = now;
            vec![Step::Effect(Effect::LookForLife)]
        }
        Phase::Boundary => boundary::next(state, live, now),
        _ => Vec::new(),
    }
}

/// Tells the agent to go, once for each reason that is more urgent than the last.
pub(super) fn end_agent(live: &mut Live, why: AgentEnding) -> Vec<Step> {
    live.ending = Some(why);
    vec![Step::Effect(Effect::StopAgent { why, grace: Grace::Given })]
}

fn agent_ended(state: &Loop, run: Box<AgentRun>) -> Vec<Step> {
    let Phase::Iterating { .. } = state.phase else { return Vec::new() };
    let iteration = state.iteration;
    vec![Step::Record(Record::AgentEnded { iteration, run }), Step::Effect(Effect::TakeSnapshot)]
}

fn checks_done(state: &Loop, live: &mut Live, now: Moment, judged: Judged) -> Vec<Step> {
    let mut judged = judged;
    if std::mem::take(&mut live.checking_at_rest) && state.at_rest() {
        mark_unstable(state, &mut judged.round, &judged.wrote);
        let round = judged.round;
        return vec![Step::Record(Record::ChecksDone { iteration: None, round }), Step::Effect(Effect::GoOn)];
    }
    match state.phase {
        Phase::Baseline => baseline_done(state, judged),
        Phase::Preparing => pinned_anew(state, live, judged),
        Phase::Checking if is_disturbed(state, &judged.wrote) && live.repeats < MAX_REPEATS => {
            live.repeats += 1;
            vec![Step::Effect(Effect::RunChecks { criteria: criteria_of(state), repeats: live.repeats })]
        }
        Phase::Checking => iteration_over(state, live, now, Some(judged)),
        _ => Vec::new(),
    }
}

fn baseline_done(state: &Loop, judged: Judged) -> Vec<Step> {
    let record = Record::Baseline {
        iteration: 0,
        criteria: with_roles(state.pinned.clone(), &judged.round),
        plan: state.plan.clone(),
        artefacts: judged.wrote,
        round: Some(judged.round),
        untracked: if needs_untracked(&state.spec.criteria) { judged.untracked } else { Vec::new() },
        seen: state.spec.criteria.clone(),
    };
    vec![Step::Record(record), Step::Effect(Effect::GoOn)]
}

fn pinned_anew(state: &Loop, live: &mut Live, judged: Judged) -> Vec<Step> {
    let (Some(pinned), Some(reading)) = (live.pinning.take(), live.reading.take()) else { return Vec::new() };
    let Judged { mut round, wrote, .. } = judged;
    mark_unstable(state, &mut round, &wrote);
    let record = Record::Baseline {
        iteration: state.iteration,
        criteria: with_roles(pinned, &round),
        plan: reading.plan,
        artefacts: Vec::new(),
        round: Some(round),
        untracked: Vec::new(),
        seen: reading.criteria,
    };
    vec![Step::Record(record), Step::Effect(Effect::GoOn)]
}

/// Goal or guard: what a criterion is for the rest of the loop is decided by its first result.
fn with_roles(mut pinned: Vec<crate::journal::Pinned>, round: &Round) -> Vec<crate::journal::Pinned> {
    for it in pinned.iter_mut().filter(|it| it.role == Role::Open) {
        match round.result(&it.criterion.id).map(|found| found.status) {
            Some(Status::Pass) => it.role = Role::Guard,
            Some(Status::Unverified) | None => {}
            Some(_) => it.role = Role::Goal,
        }
    }
    pinned
}

/// The end of an iteration, with or without a round of checks.
fn iteration_over(state: &Loop, live: &mut Live, now: Moment, judged: Option<Judged>) -> Vec<Step> {
    let wrote = judged.as_ref().map(|it| it.wrote.clone()).unwrap_or_default();
    let work = progress::of_iteration(state, live, &wrote);
    let reading = live.reading.take().unwrap_or_default();
    let row = state.last_iteration();
    let error = row.and_then(|it| it.error.clone());
    let round = judged.map(|mut it| {
        mark_unstable(state, &mut it.round, &it.wrote);
        it.round
    });
    let claim = claim(state, &reading);
    let sentence = brief::sentence(state, &work.changes, round.as_deref(), claim);
    let changed_documents = !state.seen.as_ref().is_some_and(|it| pinned::same(it, &reading.criteria));
    let wait = limits::wait_after(state, &work.changes, error.as_ref(), now);
    let mut steps = Vec::new();
    if let Some(round) = round {
        steps.push(Step::Record(Record::ChecksDone { iteration: Some(state.iteration), round }));
    }
    steps.push(Step::Record(Record::IterationEnded {
        iteration: state.iteration,
        changes: work.changes,
        proposed: pinned::proposals(state, &reading.criteria),
        claim,
        seen: changed_documents.then_some(reading.criteria),
        plan: reading.plan,
        edited_artefacts: work.edited_artefacts,
        error,
        sentence,
    }));
    steps.extend(wait.map(Step::Record));
    steps.push(Step::Effect(Effect::GoOn));
    steps
}

/// The strongest claim of the iteration that just ended. A failed agent claims nothing.
fn claim(state: &Loop, reading: &Reading) -> Option<Claim> {
    let row = state.last_iteration()?;
    if super::breaker::is_provider_trouble(row) {
        return None;
    }
    if crate::agent::claims::promise(&row.final_text, &state.spec.promise) {
        return Some(Claim::Promise);
    }
    let mut blocking = reading.plan.iter().filter(|it| it.blocking).peekable();
    (blocking.peek().is_some() && blocking.all(|it| it.done)).then_some(Claim::Plan)
}

fn is_disturbed(state: &Loop, wrote: &[String]) -> bool {
    !progress::disturbance(state, wrote).is_empty()
}

/// On a tree that would not stand still a pass says nothing.
fn mark_unstable(state: &Loop, round: &mut Round, wrote: &[String]) {
    let Some(first) = progress::disturbance(state, wrote).first().copied().cloned() else { return };
    for result in round.results.iter_mut().filter(|it| it.status == Status::Pass) {
        result.status = Status::Unstable;
        result.fact = format!("passed, but {first} changed while the checks ran");
    }
}

fn checks_cancelled(state: &Loop, live: &mut Live) -> Vec<Step> {
    if std::mem::take(&mut live.checking_at_rest) || state.stop.is_none() {
        return vec![Step::Effect(Effect::GoOn)];
    }
    vec![stopped(state)]
}

/// The tree as it is becomes a snapshot on record before a byte of it is overwritten.
fn rollback_ready(state: &Loop, to: u32, paths: Vec<String>, shot: Shot) -> Vec<Step> {
    let Some(tree) = state.tree_after(to).map(str::to_owned) else { return Vec::new() };
    let record = Record::SnapshotTaken {
        iteration: state.iteration,
        when: SnapshotWhen::BeforeRollback,
        tree: shot.tree,
        head: shot.head,
        not_covered: shot.not_covered,
    };
    vec![Step::Record(record), Step::Effect(Effect::Rollback { to, tree, paths })]
}

fn workspace_failed(state: &Loop, message: &str) -> Vec<Step> {
    let message = format!("the workspace cannot be snapshotted: {message}");
    match state.phase {
        Phase::Boundary | Phase::Preparing => hold(state, PauseReason::Workspace, message),
        Phase::Starting | Phase::Closing => {
            // Without the tree after the agent nothing can be judged: the loop must not go on as if it were.
            vec![ended(OutcomeKind::Failed, message, Some(PauseReason::Workspace))]
        }
        _ => Vec::new(),
    }
}

fn disk_filled(state: &Loop, live: &mut Live, message: String) -> Vec<Step> {
    let mut steps = match state.phase {
        Phase::Iterating { .. } => end_agent(live, AgentEnding::Stopped),
        _ => Vec::new(),
    };
    if state.pause.is_none() {
        steps.insert(0, Step::Record(Record::Paused { reason: PauseReason::Disk, message }));
    }
    steps
}

/// Pauses for a person, or ends where nobody can answer.
pub(super) fn hold(state: &Loop, reason: PauseReason, message: String) -> Vec<Step> {
    if state.spec.attended {
        return vec![Step::Record(Record::Paused { reason, message })];
    }
    let kind = if reason == PauseReason::Breaker { OutcomeKind::Breaker } else { OutcomeKind::Failed };
    vec![ended(kind, message, Some(reason)), Step::Effect(Effect::Finish)]
}

pub(super) fn ended(kind: OutcomeKind, sentence: String, cause: Option<PauseReason>) -> Step {
    Step::Record(Record::Ended { outcome: Outcome { kind, verified: false, sentence, cause } })
}

/// The end by the user's word.
pub(super) fn stopped(state: &Loop) -> Step {
    let after = limits::iterations(state.iteration);
    ended(OutcomeKind::Stopped, format!("stopped by the user after {after}"), None)
}

pub(super) fn criteria_of(state: &Loop) -> Vec<Criterion> {
    state.pinned.iter().map(|it| it.criterion.clone()).collect()
}

fn needs_untracked(criteria: &[Criterion]) -> bool {
    criteria.iter().any(|it| matches!(it.check, Some(Check::Clean)))
}

/// A UUID that is the same in replay: agents want a session id of this shape, chosen before the start.
fn session_id(loop_id: &str, iteration: u32) -> String {
    let hash = hex(format!("{loop_id}:{iteration}").as_bytes());
    let part = |range: std::ops::Range<usize>| hash.get(range).unwrap_or_default();
    format!("{}-{}-4{}-8{}-{}", part(0..8), part(8..12), part(13..16), part(17..20), part(20..32))
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
