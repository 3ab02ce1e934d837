//! Builds the status of a loop from its state and from facts that are not in the journal.

use std::fmt::Write as _;

use super::{
    BreakerStatus, CriteriaStatus, DisplayPhase, DisplayState, DriftStatus, GroupState, GroupStatus,
    KeeperStatus, LimitsStatus, LoopStatus, PauseStatus, PlanStatus, QuestionStatus, SessionStatus,
    StaleReason, TaskStatus, UsageStatus, WaitStatus, WeakenedStatus, criteria, spawns,
};
use crate::sentences;
use loopkeeper_agent::LoopMode;
use loopkeeper_core::decide::early_warning::{WarningCause, early_warnings};
use loopkeeper_core::decide::groups::{self, GroupTally};
use loopkeeper_core::decide::{
    self, LoopState, Pause, branch_tracking, breaker, drift, forecast, shared_limits, takeover, weakening,
};
use loopkeeper_core::journal::{LoopSpec, PauseReason, QuestionKind, WaitReason, Weakening};
use loopkeeper_core::liveness::KeeperLiveness;
use loopkeeper_core::settings::LoopEvent;
use loopkeeper_text::clauses;
use loopkeeper_text::moment::Moment;
use loopkeeper_text::tr;
use loopkeeper_text::{sanitize, words};

/// Facts that are not in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StatusFacts {
    pub now: Moment,
    pub keeper: KeeperLiveness,
    /// Whether a line of the journal does not match its checksum.
    pub damaged: bool,
    /// The last observed activity of the agent, sanitised.
    pub activity: Option<String>,
}

/// The status of one loop at `facts.now`.
pub fn status(state: &LoopState, facts: &StatusFacts) -> LoopStatus {
    let (word, phase) = state_and_phase(state, facts);
    let limits = &state.spec.settings.limits;
    let cooldown_end = breaker::cooldown_end(state);
    LoopStatus {
        id: state.spec.loop_id.clone(),
        seq: state.position.seq,
        task: TaskStatus { uri: task_uri(&state.spec), title: sanitize::line(&state.spec.title) },
        agent: state.spec.agent.name.clone(),
        state: word,
        phase,
        iteration: state.iteration,
        limits: LimitsStatus {
            iterations: limits.iterations,
            duration_ms: limits.duration_ms,
            cost_micros: limits.cost_micros,
            tokens: limits.tokens,
            calls_per_hour: limits.calls_per_hour,
        },
        criteria: results(state),
        groups: group_states(state),
        plan: plan(state),
        breaker: BreakerStatus {
            state: state.breaker.state,
            reason: state.breaker.reason.clone(),
            counts: breaker::counts(state),
            resumes_at: cooldown_end.map(|it| words::rfc3339(it.wall)),
            trips: state.breaker.trips,
            preset: state.spec.preset.clone(),
        },
        session: session(state, phase),
        spawns: spawns::spawns(state),
        wait: wait(state).filter(|_| phase == DisplayPhase::Waiting),
        question: question(state, facts),
        pause: state.pause.as_ref().map(|it| PauseStatus { reason: it.reason, message: it.message.clone() }),
        spent: UsageStatus::of(&state.spent),
        started_at: words::rfc3339(state.time.started_at.wall),
        paused_ms: paused_ms(state, facts),
        activity: facts.activity.clone().filter(|_| word == DisplayState::Working),
        stale: stale_reason(state).is_some(),
        stale_reason: stale_reason(state),
        warnings: warnings(state),
        forecast: forecast::forecast(state),
        drift: drift_status(state),
        outcome: state.outcome().cloned(),
        branch: state.git.branch.home.as_deref().map(sanitize::line),
        away: branch_tracking::sentence(state).filter(|_| state.outcome().is_none()),
        weakened: weakened_status(state),
        keeper: KeeperStatus {
            pid: facts.keeper.pid(),
            alive: facts.keeper.is_alive(),
            stopped: facts.keeper.is_stopped(),
        },
    }
}

impl UsageStatus {
    pub fn of(spent: &decide::LoopUsage) -> Self {
        Self {
            cost_micros: spent.cost_micros,
            tokens: spent.tokens,
            calls: spent.calls,
            calls_this_hour: spent.calls_this_hour,
        }
    }
}

/// Why results are outdated. While the loop works they are about to be replaced.
fn stale_reason(state: &LoopState) -> Option<StaleReason> {
    let tree = &state.tree;
    let is_idle = state.outcome().is_some() || state.is_paused_between_iterations();
    // A resumed loop judges the same files again if a program was missing before.
    if !tree.is_unjudged || !is_idle || tree.last == tree.judged {
        return None;
    }
    let last = state.rollback.last.as_ref().filter(|it| !it.is_undo);
    let is_rollback = last.is_some_and(|it| it.after.as_ref() == Some(&tree.last));
    Some(if is_rollback { StaleReason::RolledBack } else { StaleReason::FilesChanged })
}

fn results(state: &LoopState) -> CriteriaStatus {
    let mut criteria = criteria(&state.criteria.pinned, |id| state.criteria.results.get(id));
    let is_stale = stale_reason(state).is_some();
    for item in &mut criteria.items {
        item.stale = is_stale && state.criteria.results.contains_key(&item.id);
    }
    criteria
}

fn state_and_phase(state: &LoopState, facts: &StatusFacts) -> (DisplayState, DisplayPhase) {
    if facts.damaged {
        return (DisplayState::NeedsYou, DisplayPhase::Damaged);
    }
    if state.outcome().is_some() {
        return (DisplayState::Done, DisplayPhase::Ended);
    }
    if !facts.keeper.is_alive() || facts.keeper.is_stopped() {
        return (DisplayState::NeedsYou, DisplayPhase::Interrupted);
    }
    let by_question = state.pause.as_ref().is_none_or(|it| it.reason == PauseReason::Question);
    if by_question
        && state.is_between_iterations()
        && state.stop.is_none()
        && state.questions.blocking_question().is_some()
    {
        return (DisplayState::NeedsYou, DisplayPhase::NeedsAnswer);
    }
    if state.questions.permission().is_some() {
        return (DisplayState::NeedsYou, DisplayPhase::NeedsAnswer);
    }
    match &state.pause {
        Some(pause) if state.is_between_iterations() => paused_display(pause),
        _ => (DisplayState::Working, working_phase(state)),
    }
}

/// Whether the loop waits for an action of the user. Assumes a running keeper.
pub(super) fn needs_user(state: &LoopState) -> bool {
    let kept = StatusFacts { keeper: KeeperLiveness::RUNNING, ..StatusFacts::default() };
    state_and_phase(state, &kept).0 == DisplayState::NeedsYou
}

/// The pause reason determines whether the user has to act.
fn paused_display(pause: &Pause) -> (DisplayState, DisplayPhase) {
    match pause.reason {
        PauseReason::User => (DisplayState::Paused, DisplayPhase::Paused),
        PauseReason::Trust => (DisplayState::NeedsYou, DisplayPhase::Untrusted),
        PauseReason::Breaker
        | PauseReason::Agent
        | PauseReason::Disk
        | PauseReason::Workspace
        | PauseReason::Missing
        | PauseReason::Question
        | PauseReason::Session
        | PauseReason::Other => (DisplayState::NeedsYou, DisplayPhase::Paused),
    }
}

fn working_phase(state: &LoopState) -> DisplayPhase {
    if state.stop.is_some() {
        return DisplayPhase::Stopping;
    }
    match state.phase {
        decide::Phase::Starting | decide::Phase::Baseline => DisplayPhase::Baseline,
        decide::Phase::Checking => DisplayPhase::Checking,
        decide::Phase::Boundary { .. } | decide::Phase::Preparing { .. } if wait(state).is_some() => {
            DisplayPhase::Waiting
        }
        decide::Phase::Boundary { .. }
        | decide::Phase::Preparing { .. }
        | decide::Phase::Iterating(_)
        | decide::Phase::Closing => DisplayPhase::Iterating,
        decide::Phase::Ended(_) => DisplayPhase::Ended,
    }
}

/// The wait between iterations; an open breaker takes precedence.
fn wait(state: &LoopState) -> Option<WaitStatus> {
    let breaker = breaker::cooldown_end(state).map(|it| (WaitReason::Breaker, it));
    let (reason, until) = breaker.or_else(|| state.phase.wait().map(|it| (it.reason, it.until)))?;
    Some(WaitStatus { reason, resumes_at: words::rfc3339(until.wall) })
}

fn group_states(state: &LoopState) -> Vec<GroupStatus> {
    let rule = state.spec.settings.exit.groups;
    let one = |(name, tally): (&str, GroupTally)| GroupStatus {
        name: sanitize::line(name),
        state: if tally.holds(rule) { GroupState::Holds } else { GroupState::Open },
        passed: tally.passing as u64,
        total: tally.total as u64,
    };
    groups::group_tallies(state).into_iter().map(one).collect()
}

fn plan(state: &LoopState) -> PlanStatus {
    PlanStatus {
        done: state.plan.iter().filter(|it| it.done).count() as u64,
        open: state.open_items().count() as u64,
        total: state.plan.len() as u64,
    }
}

/// Warnings from records only, never from the clock, so that they do not change over time.
fn warnings(state: &LoopState) -> Vec<String> {
    let hook = |(event, why): (&LoopEvent, &String)| sentences::hook_failed(*event, why);
    let hooks = state.reported.hooks_failed.iter().map(hook).chain(attempts(state));
    let denied = denial_warning(state);
    let of_mutants =
        [sentences::unnoticed_mutants(state), sentences::hollow_tests(state)].into_iter().flatten();
    if let Some(outcome) = state.outcome() {
        // Required survivors are in the sentence already.
        let sentence = outcome.sentence.to_string();
        let of_mutants = of_mutants.filter(|it| !sentence.contains(it));
        return denied.into_iter().chain(hooks).chain(of_mutants).chain(sentences::strays(state)).collect();
    }
    let early = early_warnings(state).into_iter().filter(|it| it.cause != WarningCause::LoggedOut);
    let early = early.map(|it| sanitize::line(&it.sentence));
    let replaces_other = takeover::describe_replacement(state);
    let shared = shared_limits::sentence(state);
    replaces_other
        .into_iter()
        .chain(shared)
        .chain(early)
        .chain(drift_warning(state))
        .chain(state.reported.calls_note.clone())
        .chain(denied)
        .chain(hooks)
        .chain(of_mutants)
        .chain(sentences::strays(state))
        .collect()
}

/// `the last 3 iterations changed no source that the task mentions (src/theme.py)`
fn drift_warning(state: &LoopState) -> Option<String> {
    let streak = drift::streak(state)?;
    let paths: Vec<String> = streak.paths.iter().map(|it| sanitize::line(it)).collect();
    Some(tr!("{warning} ({paths})", warning = streak.sentence(), paths = clauses::list(&paths)))
}

fn drift_status(state: &LoopState) -> Option<DriftStatus> {
    // Of a long loop, as the streak.
    let mut rows = state.history.recent().iter().rev().filter(|it| !it.rolled_back);
    let (iteration, share) = rows.find_map(|it| Some((it.number, it.drift.as_ref()?)))?;
    Some(DriftStatus {
        iteration,
        off: share.off,
        total: share.total,
        paths: share.paths.iter().map(|it| sanitize::line(it)).collect(),
        streak: drift::streak(state).map(|it| it.iterations),
    })
}

/// `the agent tried to accept its own change (2 times)`.
fn attempts(state: &LoopState) -> impl Iterator<Item = String> {
    state.reported.attempts.counts.iter().map(|((by, command), count)| {
        let sentence = sentences::command_refused(*command, *by);
        if *count > 1 { tr!("{sentence} ({count} times)", sentence, count) } else { sentence }
    })
}

/// Denials of the last iteration with any, whether or not the breaker counts them.
fn denial_warning(state: &LoopState) -> Option<String> {
    let denied = state.history.outlines().rev().find(|it| it.figures.denials > 0)?;
    let row = state.history.find(denied.figures.number)?;
    let what = sentences::denied(&row.denied, row.denials)?;
    Some(tr!("the agent was denied {what} in iteration {number}", what, number = row.number))
}

fn weakened_status(state: &LoopState) -> Vec<WeakenedStatus> {
    let one = |it: &Weakening| WeakenedStatus {
        path: (!it.path.is_empty()).then(|| sanitize::line(&it.path)),
        what: sanitize::line(&it.what),
    };
    weakening::unreported(state).map(one).collect()
}

fn question(state: &LoopState, facts: &StatusFacts) -> Option<QuestionStatus> {
    let open = state.questions.open.as_ref().filter(|_| state.outcome().is_none())?;
    if open.kind == QuestionKind::Permission && !facts.keeper.is_alive() {
        // The agent that asked has ended as well.
        return None;
    }
    // A question that pauses the loop has no expiry.
    let until = open.until.filter(|_| state.pause.is_none());
    Some(QuestionStatus {
        id: open.id.clone(),
        kind: open.kind,
        text: open.text.clone(),
        expires_at: until.map(|it| words::rfc3339(it.wall)),
    })
}

/// The session that the next iterations resume, otherwise that of the running agent.
fn session(state: &LoopState, phase: DisplayPhase) -> Option<SessionStatus> {
    let (resets, own) = (state.session.resets, state.spec.settings.mode == LoopMode::Attach);
    if let Some(current) = &state.session.current {
        let started_at = words::rfc3339(current.started_at.wall);
        return Some(SessionStatus { id: current.id.clone(), started_at, resets, own });
    }
    let iteration = state.last_iteration().filter(|_| phase == DisplayPhase::Iterating)?;
    Some(SessionStatus {
        id: iteration.session.clone(),
        started_at: words::rfc3339(iteration.started_at.wall),
        resets,
        own,
    })
}

fn paused_ms(state: &LoopState, facts: &StatusFacts) -> u64 {
    let is_paused = facts.keeper.is_alive() && state.outcome().is_none() && state.waits_for_user();
    let since = if is_paused { facts.now.ms_since(state.time.last_at) } else { 0 };
    state.time.paused_ms.saturating_add(since)
}

/// A file URI, or the id of a task without a file.
fn task_uri(spec: &LoopSpec) -> String {
    let id = &spec.task.0;
    if id.starts_with("prompt:") { id.clone() } else { file_uri(&format!("{}/{id}", spec.root)) }
}

/// A file URI in which every byte with a special meaning is escaped.
pub fn file_uri(path: &str) -> String {
    let mut uri = String::from("file://");
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod simulated;
#[cfg(test)]
pub(super) mod tests;
